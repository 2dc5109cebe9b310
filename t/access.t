# What goes before the handler: access, auth_request, satisfy, limits; and the handler as the one that is asked.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: deny and allow
--- config
    location = /deny {
        deny all;
        content_by_rust ok;
    }
    location = /allow {
        allow 127.0.0.1;
        deny all;
        content_by_rust ok;
    }
--- request eval
["GET /deny", "GET /allow"]
--- error_code eval
[403, 200]
--- no_error_log
[alert]



=== TEST 2: auth_request asks a handler, with and without a wait
--- config
    location /now {
        set $ask $arg_s;
        auth_request /ask-now;
        content_by_rust reply body="let in\n";
    }
    location /wait {
        set $ask $arg_s;
        auth_request /ask-wait;
        content_by_rust reply body="let in\n" delay=2ms;
    }
    location = /ask-now {
        internal;
        content_by_rust reply status=$ask body="never seen\n";
    }
    location = /ask-wait {
        internal;
        content_by_rust reply status=$ask body="never seen\n" delay=2ms;
    }
--- request eval
[map { ("GET /now?s=$_", "GET /wait?s=$_") } 200, 204, 401, 403]
--- error_code eval
[200, 200, 200, 200, 401, 401, 403, 403]
--- response_body_like eval
[("^let in\n\$") x 4, ("401 Authorization Required") x 2, ("403 Forbidden") x 2]
--- no_error_log
[alert]



=== TEST 3: one that is asked with a bad value: auth_request does not know 400
--- config
    location /t {
        set $ask abc;
        auth_request /ask;
        content_by_rust reply body="never seen\n";
    }
    location = /ask {
        internal;
        content_by_rust reply status=$ask;
    }
--- request
GET /t
--- error_code: 500
--- error_log
auth request unexpected status: 400
--- no_error_log
[alert]



=== TEST 4: a status that auth_request does not know is 500
--- config
    location /t {
        auth_request /ask;
        content_by_rust ok;
    }
    location = /ask {
        internal;
        content_by_rust reply status=503 delay=2ms;
    }
--- request
GET /t
--- error_code: 500
--- error_log
auth request unexpected status: 503
--- no_error_log
[alert]



=== TEST 5: auth_request_set: a variable out of the one that is asked
--- config
    location /t {
        auth_request /ask;
        auth_request_set $type $sent_http_content_type;
        content_by_rust reply body="$type\n";
    }
    location = /ask {
        internal;
        content_by_rust reply type=text/x-asked delay=2ms;
    }
--- request
GET /t
--- response_body
text/x-asked
--- no_error_log
[error]



=== TEST 6: a request with a body
--- config
    location /t {
        auth_request /ask;
        content_by_rust reply body="let in\n" delay=2ms;
    }
    location = /ask {
        internal;
        content_by_rust reply status=204 delay=2ms;
    }
--- pipelined_requests eval
["POST /t\nabcdef", "GET /t", "PUT /t\nabc", "GET /t"]
--- response_body eval
[("let in\n") x 4]
--- no_error_log
[error]



=== TEST 7: satisfy any: either lets in
--- config
    location /t {
        satisfy any;
        deny all;
        set $ask $arg_s;
        auth_request /ask;
        content_by_rust reply body="let in\n" delay=2ms;
    }
    location = /ask {
        internal;
        content_by_rust reply status=$ask delay=2ms;
    }
    location = /allowed {
        satisfy any;
        allow 127.0.0.1;
        deny all;
        auth_basic "closed";
        auth_basic_user_file none;
        content_by_rust reply body="let in\n" delay=2ms;
    }
--- request eval
["GET /t?s=204", "GET /t?s=403", "GET /allowed"]
--- error_code eval
[200, 403, 200]
--- no_error_log
[alert]



=== TEST 8: satisfy all: both must
--- config
    location /t {
        satisfy all;
        allow 127.0.0.1;
        deny all;
        auth_request /ask;
        content_by_rust ok;
    }
    location = /ask {
        internal;
        content_by_rust reply status=401 delay=2ms;
    }
--- request
GET /t
--- error_code: 401
--- no_error_log
[alert]



=== TEST 9: auth_basic
--- config
    location = /t {
        auth_basic "closed";
        auth_basic_user_file ../html/users;
        content_by_rust reply body="hi $remote_user\n" delay=2ms;
    }
--- user_files
>>> users
joe:{PLAIN}secret
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["Authorization: Basic am9lOndyb25n\n", "Authorization: Basic am9lOnNlY3JldA==\n"]
--- error_code eval
[401, 200]
--- response_body_like eval
['401 Authorization Required', '^hi joe\n$']
--- no_error_log
[alert]



=== TEST 10: auth_delay before it
--- config
    location = /t {
        auth_delay 50ms;
        auth_request /ask;
        content_by_rust ok;
    }
    location = /ask {
        internal;
        content_by_rust reply status=401 delay=2ms;
    }
--- request
GET /t
--- error_code: 401
--- no_error_log
[alert]



=== TEST 11: limit_req delays, then the handler waits
--- http_config
    limit_req_zone $server_name zone=one:1m rate=2r/s;
    log_format waited 'waited $request_time $limit_req_status';
--- config
    location = /t {
        limit_req zone=one burst=10;
        content_by_rust reply body="let in\n" delay=50ms;
        access_log logs/access.log waited;
    }
    location = /all {
        content_by_lua_block {
            local function get()
                local socket = ngx.socket.tcp()
                assert(socket:connect("127.0.0.1", ngx.var.server_port))
                assert(socket:send("GET /t HTTP/1.0\r\n\r\n"))
                return assert(socket:receive("*a")):match("^HTTP/1.1 (%d+)")
            end
            local first, second = ngx.thread.spawn(get), ngx.thread.spawn(get)
            local _, a = ngx.thread.wait(first)
            local _, b = ngx.thread.wait(second)
            ngx.say(a, " ", b)
        }
        access_log off;
    }
--- request
GET /all
--- response_body
200 200
--- access_log eval
[qr/^waited \d+\.\d{3} PASSED$/, qr/^waited (?:0\.[2-9]\d\d|[1-9]\d*\.\d{3}) DELAYED$/]
--- no_error_log
[error]



=== TEST 12: limit_req refuses at once
--- http_config
    limit_req_zone $server_name zone=one:1m rate=1r/m;
--- config
    location = /t {
        limit_req zone=one;
        content_by_rust reply body="let in\n" delay=2ms;
    }
--- request eval
["GET /t", "GET /t"]
--- error_code eval
[200, 503]
--- no_error_log
[alert]



=== TEST 13: limit_conn counts those that wait, and no longer
--- http_config
    limit_conn_zone $server_name zone=one:1m;
--- config
    location = /t {
        limit_conn one 1;
        content_by_rust reply body="let in\n" delay=500ms;
    }
    location = /all {
        content_by_lua_block {
            local function get()
                local socket = ngx.socket.tcp()
                assert(socket:connect("127.0.0.1", ngx.var.server_port))
                assert(socket:send("GET /t HTTP/1.0\r\n\r\n"))
                return assert(socket:receive("*a")):match("^HTTP/1.1 (%d+)")
            end
            local first = ngx.thread.spawn(get)
            ngx.sleep(0.05)
            local during = get()
            local _, before = ngx.thread.wait(first)
            ngx.say(before, " ", during, " ", get())
        }
    }
--- request
GET /all
--- response_body
200 503 200
--- no_error_log
[alert]



=== TEST 14: a client that went away while it waited is not counted any more
--- http_config
    limit_conn_zone $server_name zone=one:1m;
--- config
    location = /t {
        limit_conn one 1;
        content_by_rust reply body="let in\n" delay=$arg_d;
    }
    location = /all {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("GET /t?d=30s HTTP/1.0\r\n\r\n"))
            ngx.sleep(0.03)
            socket:close()
            ngx.sleep(0.03)
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("GET /t HTTP/1.0\r\n\r\n"))
            ngx.say(assert(socket:receive("*a")):match("^HTTP/1.1 (%d+)"))
        }
    }
--- request
GET /all
--- response_body
200
--- no_error_log
[error]



=== TEST 15: Lua before it: lets go, refuses, answers itself, waits
--- config
    location /t {
        access_by_lua_block {
            local what = ngx.var.arg_do
            if what == "refuse" then
                return ngx.exit(403)
            elseif what == "answer" then
                ngx.say("Lua's answer")
                return ngx.exit(200)
            elseif what == "wait" then
                ngx.sleep(0.002)
            end
        }
        content_by_rust reply body="Rust's answer\n" delay=2ms;
    }
--- request eval
["GET /t", "GET /t?do=wait", "GET /t?do=refuse", "GET /t?do=answer"]
--- error_code eval
[200, 200, 403, 200]
--- response_body_like eval
["^Rust's answer\n\$", "^Rust's answer\n\$", "403 Forbidden", "^Lua's answer\n\$"]
--- no_error_log
[alert]



=== TEST 16: realip: the address that the handler's variables give
--- config
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Real-IP;
    location = /t { content_by_rust reply body="$remote_addr $realip_remote_addr\n" delay=2ms; }
--- request
GET /t
--- more_headers
X-Real-IP: 192.0.2.7
--- response_body
192.0.2.7 127.0.0.1
--- no_error_log
[error]



=== TEST 17: valid_referers and its like
--- config
    location = /t {
        valid_referers example.org;
        if ($invalid_referer) {
            return 403;
        }
        content_by_rust reply body="let in\n" delay=2ms;
    }
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["Referer: http://example.org/\n", "Referer: http://example.com/\n"]
--- error_code eval
[200, 403]
--- no_error_log
[error]
