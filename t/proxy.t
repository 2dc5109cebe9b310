# The handler as the upstream of another location, and beside one.

use Test::Nginx::Socket 'no_plan';

$ENV{TEST_NGINX_HTML_DIR} ||= html_dir();

no_shuffle();
worker_connections(256);
run_tests();

__DATA__

=== TEST 1: proxy_pass to it: status, header, body
--- config
    location /front/ { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/; }
    location = /wait {
        content_by_rust reply body="$arg_a $http_host\n" status=299 type=text/x-a delay=2ms;
        add_header X-Back 1 always;
    }
    location = /now { content_by_rust reply body="$arg_a\n" status=404; }
    location = /bad { content_by_rust reply status=$arg_a; }
--- request eval
["GET /front/wait?a=1", "GET /front/now?a=2", "GET /front/bad?a=3"]
--- error_code eval
[299, 404, 400]
--- response_body_like eval
['^1 127.0.0.1:\d+\n$', '^2\n$', '400 Bad Request']
--- response_headers eval
["Content-Type: text/x-a\nX-Back: 1", "Content-Type: text/plain", "Content-Type: text/html"]
--- no_error_log
[error]



=== TEST 2: with upstream keep-alive: many requests over one connection
--- http_config
    upstream back {
        server unix:$TEST_NGINX_HTML_DIR/back.sock;
        keepalive 1;
    }
    server {
        listen unix:$TEST_NGINX_HTML_DIR/back.sock;
        location = /ok { content_by_rust reply body="$connection_requests\n" delay=$arg_d; }
    }
--- config
    location /ok {
        proxy_pass http://back;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
    }
--- request eval
["GET /ok?d=2ms", "GET /ok", "POST /ok?d=2ms\nabc", "HEAD /ok?d=2ms", "GET /ok"]
--- response_body eval
["1\n", "2\n", "3\n", "", "5\n"]
--- no_error_log
[error]



=== TEST 3: many at once over kept connections
--- http_config
    upstream back {
        server unix:$TEST_NGINX_HTML_DIR/back.sock;
        keepalive 8;
    }
    server {
        listen unix:$TEST_NGINX_HTML_DIR/back.sock;
        location = /ok { content_by_rust reply body="$arg_i\n" delay=2ms; }
    }
--- config
    location /ok {
        proxy_pass http://back;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
    }
    location = /t {
        content_by_lua_block {
            local right = 0
            for round = 1, 5 do
                local requests = {}
                for i = 1, 20 do
                    requests[i] = { "/ok?i=" .. i }
                end
                for i, answer in ipairs { ngx.location.capture_multi(requests) } do
                    if answer.status == 200 and answer.body == i .. "\n" then
                        right = right + 1
                    end
                end
            end
            ngx.say(right)
        }
    }
--- request
GET /t
--- response_body
100
--- timeout: 10s
--- no_error_log
[error]



=== TEST 4: proxy_read_timeout ends the request in front; the wait behind ends with 499
--- http_config
    log_format back 'back $status';
    server {
        listen unix:$TEST_NGINX_HTML_DIR/back.sock;
        access_log logs/access.log back;
        location = /t { content_by_rust reply delay=30s; }
    }
--- config
    location = /t {
        proxy_read_timeout 50ms;
        proxy_pass http://unix:$TEST_NGINX_HTML_DIR/back.sock;
    }
--- request
GET /t
--- error_code: 504
--- wait: 0.2
--- access_log
back 499
--- no_error_log
[alert]



=== TEST 5: proxy_next_upstream: an error status of one handler leads to the next
--- http_config
    upstream back {
        server unix:$TEST_NGINX_HTML_DIR/1.sock;
        server unix:$TEST_NGINX_HTML_DIR/2.sock backup;
    }
    server {
        listen unix:$TEST_NGINX_HTML_DIR/1.sock;
        location = /t { content_by_rust reply status=503 delay=2ms; }
    }
    server {
        listen unix:$TEST_NGINX_HTML_DIR/2.sock;
        location = /t { content_by_rust reply body="the second\n" delay=2ms; }
    }
--- config
    location = /t {
        proxy_next_upstream http_503;
        proxy_pass http://back;
    }
--- request
GET /t
--- response_body
the second
--- no_error_log
[alert]



=== TEST 6: proxy_cache: one wait for many requests
--- http_config
    proxy_cache_path cache keys_zone=one:1m;
    log_format back 'back $request_uri';
    server {
        listen unix:$TEST_NGINX_HTML_DIR/back.sock;
        access_log logs/access.log back;
        location = /t {
            content_by_rust reply body="$msec\n" delay=50ms;
            expires 1h;
        }
    }
--- config
    access_log off;
    location = /t {
        proxy_cache one;
        proxy_cache_lock on;
        proxy_pass http://unix:$TEST_NGINX_HTML_DIR/back.sock;
    }
    location = /all {
        content_by_lua_block {
            local a, b, c = ngx.location.capture_multi { { "/t" }, { "/t" }, { "/t" } }
            ngx.say(a.body == b.body and b.body == c.body and a.status)
        }
    }
--- request
GET /all
--- response_body
200
--- no_error_log
[error]



=== TEST 7: proxy_pass of a body that is larger than the socket's buffers
--- http_config
    server {
        listen unix:$TEST_NGINX_HTML_DIR/back.sock;
        location = /t {
            set_by_lua_block $million { return string.rep("0123456789abcde\n", 65536) }
            content_by_rust reply body=$million delay=2ms;
        }
    }
--- config
    location = /t {
        proxy_pass http://unix:$TEST_NGINX_HTML_DIR/back.sock;
        proxy_max_temp_file_size 0;
    }
--- request
GET /t
--- response_body eval
"0123456789abcde\n" x 65536
--- timeout: 10s
--- no_error_log
[error]



=== TEST 8: an upstream of the location's server block: PROXY protocol
--- http_config
    server {
        listen unix:$TEST_NGINX_HTML_DIR/back.sock proxy_protocol;
        set_real_ip_from unix:;
        real_ip_header proxy_protocol;
        location = /t { content_by_rust reply body="$proxy_protocol_addr $remote_addr\n" delay=2ms; }
    }
--- config
    location = /all {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("unix:$TEST_NGINX_HTML_DIR/back.sock"))
            assert(socket:send("PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\nGET /t HTTP/1.0\r\n\r\n"))
            ngx.print(assert(socket:receive("*a")):match("\r\n\r\n(.*)$"))
        }
    }
--- request
GET /all
--- response_body
192.0.2.7 192.0.2.7
--- no_error_log
[error]
