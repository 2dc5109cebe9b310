# HTTP/2 with prior knowledge. nginx itself is the client, by grpc_pass: it sends a request as it came, over HTTP/2.

use Test::Nginx::Socket 'no_plan';

$ENV{TEST_NGINX_HTML_DIR} ||= html_dir();

no_shuffle();
add_block_preprocessor(sub {
    my $block = shift;
    $block->set_value('config', 'location / { grpc_pass grpc://unix:$TEST_NGINX_HTML_DIR/h2.sock; }')
        unless defined $block->config;
});
no_root_location();
worker_connections(256);
run_tests();

__DATA__

=== TEST 1: a wait, and none
--- http_config
    server {
        listen unix:$TEST_NGINX_HTML_DIR/h2.sock http2;
        location = /ok { content_by_rust ok; }
        location = /hello { content_by_rust hello; }
        location = /t { content_by_rust reply body="$server_protocol $http2\n" delay=2ms; }
    }
--- request eval
["GET /ok", "GET /hello", "GET /t"]
--- response_body eval
["OK\n", "<h1>HelloWorld</h1>\n", "HTTP/2.0 h2c\n"]
--- response_headers eval
["Content-Length: 3\nContent-Type: text/plain", "Content-Length: 20\nContent-Type: text/html", "Content-Length: 13"]
--- no_error_log
[error]



=== TEST 2: HEAD
--- http_config
    log_format stream 'stream $request_method $status $sent_http_content_type $sent_http_content_length $body_bytes_sent';
    server {
        listen unix:$TEST_NGINX_HTML_DIR/h2.sock http2;
        access_log logs/access.log stream;
        location = /ok { content_by_rust ok; }
        location = /hello { content_by_rust hello; }
    }
--- request eval
["HEAD /hello", "HEAD /ok"]
--- response_body eval
["", ""]
--- access_log
stream HEAD 200 text/html 20 0
--- no_error_log
[error]



=== TEST 3: a body that nobody reads
--- http_config
    server {
        listen unix:$TEST_NGINX_HTML_DIR/h2.sock http2;
        location = /ok { content_by_rust ok; }
        location = /hello { content_by_rust hello; }
    }
--- request eval
["POST /ok\n" . ("x" x 20000), "POST /hello\n" . ("x" x 20000)]
--- response_body eval
["OK\n", "<h1>HelloWorld</h1>\n"]
--- no_error_log
[error]



=== TEST 4: an error, a bad value, no content, an error_page
--- http_config
    server {
        listen unix:$TEST_NGINX_HTML_DIR/h2.sock http2;
        location = /t {
            content_by_rust reply status=$arg_s delay=1ms;
            error_page 502 =200 /page;
        }
        location = /page { content_by_rust reply body="page\n" delay=1ms; }
    }
--- request eval
["GET /t?s=503", "GET /t?s=abc", "GET /t?s=204", "GET /t?s=502"]
--- error_code eval
[503, 400, 204, 200]
--- response_body_like eval
['^OK\n$', '400 Bad Request', '^$', '^page\n$']
--- no_error_log
[error]



=== TEST 5: a body of many frames
--- http_config
    server {
        listen unix:$TEST_NGINX_HTML_DIR/h2.sock http2;
        location = /t {
            set_by_lua_block $million { return string.rep("0123456789abcde\n", 65536) }
            content_by_rust reply body=$million delay=1ms;
        }
    }
--- request
GET /t
--- response_body eval
"0123456789abcde\n" x 65536
--- response_headers
Content-Length: 1048576
--- timeout: 10s
--- no_error_log
[error]



=== TEST 6: many at once
--- http_config
    server {
        listen unix:$TEST_NGINX_HTML_DIR/h2.sock http2;
        location /t { content_by_rust reply body="$arg_i\n" delay=5ms; }
    }
--- config
    location /t { grpc_pass grpc://unix:$TEST_NGINX_HTML_DIR/h2.sock; }
    location = /all {
        content_by_lua_block {
            local requests = {}
            for i = 1, 50 do
                requests[i] = { "/t?i=" .. i }
            end
            local right = 0
            for i, answer in ipairs { ngx.location.capture_multi(requests) } do
                if answer.status == 200 and answer.body == i .. "\n" then
                    right = right + 1
                end
            end
            ngx.say(right, " are right")
        }
    }
--- request
GET /all
--- response_body
50 are right
--- no_error_log
[error]



=== TEST 7: a client that ends the stream while it waits
--- http_config
    log_format stream 'stream $status $uri';
    server {
        listen unix:$TEST_NGINX_HTML_DIR/h2.sock http2;
        access_log logs/access.log stream;
        location = /off { content_by_rust reply delay=30s; }
        location = /on {
            rust_ignore_client_abort on;
            content_by_rust reply delay=200ms;
        }
    }
--- config
    location / {
        grpc_read_timeout 50ms;
        grpc_pass grpc://unix:$TEST_NGINX_HTML_DIR/h2.sock;
    }
--- request eval
["GET /off", "GET /on"]
--- error_code eval
[504, 504]
--- wait: 0.4
--- access_log eval
qr/^stream 499 \/off$/
--- error_log
upstream timed out
--- no_error_log
[alert]
