# rust_ignore_client_abort: what becomes of a wait when its client goes away. Off, as for proxy_ignore_client_abort: the
# request ends at once, with 499 in the access log. On: the answer is made.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: a client that closes ends the wait
--- http_config
    log_format waited 'status $status after $request_time';
--- config
    location = /t {
        content_by_rust reply delay=5s;
        access_log logs/access.log waited;
    }
--- raw_request eval
"GET /t HTTP/1.1\r\nHost: localhost\r\n\r\n"
--- timeout: 200ms
--- abort
--- ignore_response
--- wait: 0.1
--- access_log eval
qr/^status 499 after [0-3]\.\d{3}$/
--- error_log eval
qr/client (?:prematurely )?closed connection/
--- no_error_log
[error]
[alert]



=== TEST 2: a client that closes its half, in the packet of the request
--- http_config
    log_format waited 'status $status after $request_time';
--- config
    location = /t {
        content_by_rust reply delay=5s;
        access_log logs/access.log waited;
    }
--- request
GET /t
--- shutdown: 1
--- error_code:
--- access_log eval
qr/^status 499 after [0-3]\.\d{3}$/
--- no_error_log
[error]
[alert]



=== TEST 3: the same while ok waits
--- http_config
    log_format waited 'status $status of $uri';
--- config
    location = /t {
        content_by_rust ok;
        access_log logs/access.log waited;
    }
--- raw_request eval
"GET /t HTTP/1.1\r\nHost: localhost\r\n\r\n"
--- shutdown: 1
--- error_code:
--- access_log
status 499 of /t
--- no_error_log
[error]
[alert]



=== TEST 4: the same with a body half sent
--- http_config
    log_format waited 'status $status of $uri';
--- config
    location = /t {
        content_by_rust reply delay=5s;
        access_log logs/access.log waited;
    }
--- raw_request eval
"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345"
--- timeout: 200ms
--- abort
--- ignore_response
--- wait: 0.1
--- access_log
status 499 of /t
--- no_error_log
[error]
[alert]



=== TEST 5: with on a client that closes its half gets its answer, and 200 in the log
--- http_config
    log_format waited 'status $status of $uri';
--- config
    location = /t {
        rust_ignore_client_abort on;
        content_by_rust ok;
        access_log logs/access.log waited;
    }
--- request
GET /t
--- shutdown: 1
--- response_body
OK
--- access_log
status 200 of /t
--- no_error_log
[error]
[alert]



=== TEST 6: with on the answer to a client that has gone is made
--- http_config
    log_format waited 'status $status of $uri';
--- config
    location = /t {
        rust_ignore_client_abort on;
        content_by_rust reply delay=300ms body="made\n";
        access_log logs/access.log waited;
    }
    location = /hasty {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("GET /t HTTP/1.0\r\n\r\n"))
            socket:close()
            ngx.sleep(0.6)
            ngx.say("gone")
        }
        access_log off;
    }
--- request
GET /hasty
--- response_body
gone
--- access_log
status 200 of /t
--- no_error_log
[error]
[alert]



=== TEST 7: off as it is by default: the same client, 499 at once
--- http_config
    log_format waited 'status $status of $uri after $request_time';
--- config
    location = /t {
        content_by_rust reply delay=30s body="made\n";
        access_log logs/access.log waited;
    }
    location = /hasty {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("GET /t HTTP/1.0\r\n\r\n"))
            if ngx.var.arg_wait then
                ngx.sleep(0.1)
            end
            socket:close()
            ngx.sleep(0.2)
            ngx.say("gone")
        }
        access_log off;
    }
--- request eval
["GET /hasty", "GET /hasty?wait=1"]
--- response_body eval
["gone\n", "gone\n"]
--- access_log eval
qr/^status 499 of \/t after [0-3]\.\d{3}$/
--- no_error_log
[error]
[alert]



=== TEST 8: a client that has sent a second request in the pipeline has gone as well: that one never begins
--- http_config
    log_format waited 'status $status of $uri';
--- config
    location /t {
        content_by_rust ok;
        access_log logs/access.log waited;
    }
--- raw_request eval
"GET /t/1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /t/2 HTTP/1.1\r\nHost: localhost\r\n\r\n"
--- shutdown: 1
--- error_code:
--- access_log
status 499 of /t/1
--- no_access_log
of /t/2
--- no_error_log
[error]
[alert]



=== TEST 9: an answer without a wait does not ask whether the client is still there
--- config
    location = /t { content_by_rust hello; }
--- request
GET /t
--- shutdown: 1
--- response_body
<h1>HelloWorld</h1>
--- no_error_log
[error]
[alert]



=== TEST 10: location before server before http
--- http_config
    rust_ignore_client_abort off;
--- config
    rust_ignore_client_abort off;
    location = /t {
        rust_ignore_client_abort on;
        content_by_rust ok;
    }
--- request
GET /t
--- shutdown: 1
--- response_body
OK
--- no_error_log
[error]



=== TEST 11: the server's is its locations', also of those within one another
--- http_config
    rust_ignore_client_abort off;
--- config
    rust_ignore_client_abort on;
    location /outer {
        location /outer/inner { content_by_rust ok; }
    }
--- request
GET /outer/inner
--- shutdown: 1
--- response_body
OK
--- no_error_log
[error]



=== TEST 12: that of http is its servers'
--- http_config
    rust_ignore_client_abort on;
--- config
    location = /t { content_by_rust ok; }
--- request
GET /t
--- shutdown: 1
--- response_body
OK
--- no_error_log
[error]



=== TEST 13: a location can take it back
--- http_config
    rust_ignore_client_abort on;
    log_format waited 'status $status of $uri';
--- config
    location = /t {
        rust_ignore_client_abort off;
        content_by_rust ok;
        access_log logs/access.log waited;
    }
--- request
GET /t
--- shutdown: 1
--- error_code:
--- access_log
status 499 of /t
--- no_error_log
[error]



=== TEST 14: an if block has its location's
--- config
    location = /t {
        rust_ignore_client_abort on;
        content_by_rust ok;
        if ($arg_i) {
            set $dummy 1;
        }
    }
--- request
GET /t?i=1
--- shutdown: 1
--- response_body
OK
--- no_error_log
[error]



=== TEST 15: a value that is neither on nor off
--- config
    rust_ignore_client_abort yes;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "yes" in "rust_ignore_client_abort" directive, it must be "on" or "off" in \S+nginx\.conf:\d+$/



=== TEST 16: a number
--- config
    rust_ignore_client_abort 1;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "1" in "rust_ignore_client_abort" directive, it must be "on" or "off" in /



=== TEST 17: a variable
--- config
    rust_ignore_client_abort $arg_a;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "\$arg_a" in "rust_ignore_client_abort" directive, it must be "on" or "off" in /



=== TEST 18: ON is on, as everywhere in nginx
--- config
    location = /t {
        rust_ignore_client_abort ON;
        content_by_rust ok;
    }
--- request
GET /t
--- shutdown: 1
--- response_body
OK
--- no_error_log
[error]



=== TEST 19: given twice
--- config
    location = /t {
        rust_ignore_client_abort on;
        rust_ignore_client_abort off;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_ignore_client_abort" directive is duplicate in \S+nginx\.conf:\d+$/



=== TEST 20: no value
--- config
    rust_ignore_client_abort;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid number of arguments in "rust_ignore_client_abort" directive in \S+nginx\.conf:\d+$/



=== TEST 21: two values
--- config
    rust_ignore_client_abort on off;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid number of arguments in "rust_ignore_client_abort" directive in /



=== TEST 22: it does not stand in an if block
--- config
    location = /t {
        if ($arg_a) {
            rust_ignore_client_abort on;
        }
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_ignore_client_abort" directive is not allowed here in /



=== TEST 23: nor outside http
--- main_config
    rust_ignore_client_abort on;
--- config
    location = /t { return 200; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_ignore_client_abort" directive is not allowed here in /
