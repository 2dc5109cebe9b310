# Beside Lua: its phases before the handler, its filters behind it, its variables in the handler's arguments.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: a variable that Lua sets in the body
--- config
    location = /t {
        set $who "";
        access_by_lua_block { ngx.var.who = "Lua's " .. ngx.var.arg_a }
        content_by_rust reply body="$who\n" delay=2ms;
    }
--- request
GET /t?a=friend
--- response_body
Lua's friend
--- no_error_log
[error]



=== TEST 2: set_by_lua: every argument
--- config
    location = /t {
        set_by_lua_block $my_status { return 200 + 3 }
        set_by_lua_block $my_delay { return 2 .. "ms" }
        set_by_lua_block $my_type { return "text/x-lua" }
        set_by_lua_block $my_body { return "body\0of\nLua" }
        content_by_rust reply status=$my_status delay=$my_delay type=$my_type body=$my_body;
    }
--- request
GET /t
--- error_code: 203
--- response_headers
Content-Type: text/x-lua
--- response_body eval
"body\0of\nLua"
--- no_error_log
[error]



=== TEST 3: rewrite_by_lua and access_by_lua that wait, before a wait
--- config
    location = /t {
        rewrite_by_lua_block { ngx.sleep(0.005) }
        access_by_lua_block { ngx.sleep(0.005) }
        content_by_rust reply body="waited\n" delay=5ms;
    }
--- pipelined_requests eval
["GET /t", "POST /t\nabc", "GET /t"]
--- response_body eval
["waited\n", "waited\n", "waited\n"]
--- no_error_log
[error]



=== TEST 4: a header filter: status, type, a header more, one less
--- config
    location /t {
        content_by_rust reply body="body\n" delay=$arg_d;
        header_filter_by_lua_block {
            ngx.status = 201
            ngx.header["X-Lua"] = ngx.header.content_length
            ngx.header.content_type = "text/x-lua"
            ngx.header.content_length = nil
        }
    }
--- request eval
["GET /t", "GET /t?d=2ms"]
--- error_code eval
[201, 201]
--- response_headers eval
["X-Lua: 5\nContent-Type: text/x-lua\nTransfer-Encoding: chunked\n! Content-Length", "X-Lua: 5\nContent-Type: text/x-lua\nTransfer-Encoding: chunked\n! Content-Length"]
--- response_body eval
["body\n", "body\n"]
--- no_error_log
[error]



=== TEST 5: a body filter sees the body whole, and its end
--- config
    location /t {
        content_by_rust reply body="body" delay=$arg_d;
        header_filter_by_lua_block { ngx.header.content_length = nil }
        body_filter_by_lua_block {
            ngx.arg[1] = "<" .. ngx.arg[1] .. (ngx.arg[2] and " end" or "") .. ">"
        }
    }
--- request eval
["GET /t", "GET /t?d=2ms"]
--- response_body eval
["<body end>", "<body end>"]
--- no_error_log
[error]



=== TEST 6: a body filter behind an empty body
--- config
    location /t {
        content_by_rust reply body="" delay=$arg_d;
        header_filter_by_lua_block { ngx.header.content_length = nil }
        body_filter_by_lua_block {
            ngx.arg[1] = "[" .. ngx.arg[1] .. "]"
        }
    }
--- request eval
["GET /t", "GET /t?d=2ms"]
--- response_body eval
["[]", "[]"]
--- no_error_log
[error]



=== TEST 7: a filter that changes a body does not change the configuration's
--- config
    location /t {
        content_by_rust reply body="body\n";
        header_filter_by_lua_block { ngx.header.content_length = nil }
        body_filter_by_lua_block {
            ngx.arg[1] = ngx.arg[1]:upper()
        }
    }
--- pipelined_requests eval
["GET /t", "GET /t", "GET /t"]
--- response_body eval
["BODY\n", "BODY\n", "BODY\n"]
--- no_error_log
[error]



=== TEST 8: a header filter that fails ends the connection without a byte, as it does behind "return"
--- config
    header_filter_by_lua_block { error("broken") }
    location = /return { return 200 "body\n"; }
    location = /now { content_by_rust reply body="body\n"; }
    location = /wait { content_by_rust reply body="body\n" delay=2ms; }
--- request eval
["GET /return", "GET /now", "GET /wait"]
--- http09
--- response_body eval
["", "", ""]
--- error_log
broken
--- no_error_log
[alert]



=== TEST 9: a body filter that fails ends the connection
--- config
    location /t {
        content_by_rust reply body="body\n" delay=$arg_d;
        body_filter_by_lua_block { return ngx.ERROR }
    }
    location = /all {
        content_by_lua_block {
            for _, path in ipairs { "/t", "/t?d=2ms" } do
                local socket = ngx.socket.tcp()
                assert(socket:connect("127.0.0.1", ngx.var.server_port))
                assert(socket:send("GET " .. path .. " HTTP/1.1\r\nHost: x\r\n\r\n"))
                local answer = socket:receive("*a") or ""
                ngx.say(answer:match("body") or "none")
            end
        }
    }
--- request
GET /all
--- response_body
none
none
--- no_error_log
[alert]



=== TEST 10: log_by_lua: the status, the time, the bytes
--- config
    location = /t {
        content_by_rust reply body="12345" status=299 delay=50ms;
        log_by_lua_block {
            ngx.log(ngx.WARN, "logged ", ngx.status, " ", tonumber(ngx.var.request_time) >= 0.049,
                " ", ngx.var.body_bytes_sent)
        }
    }
--- request
GET /t
--- error_code: 299
--- response_body: 12345
--- error_log
logged 299 true 5
--- no_error_log
[error]



=== TEST 11: ngx.ctx goes with the request through the wait
--- config
    location = /t {
        access_by_lua_block { ngx.ctx.word = "kept" }
        content_by_rust reply body="body\n" delay=2ms;
        header_filter_by_lua_block { ngx.header["X-Word"] = ngx.ctx.word }
    }
--- request
GET /t
--- response_headers
X-Word: kept
--- response_body
body
--- no_error_log
[error]



=== TEST 12: Lua's timers, sleeps and answers beside waits
--- config
    location = /rust { content_by_rust reply body="rust\n" delay=5ms; }
    location = /lua { content_by_lua_block { ngx.sleep(0.005) ngx.say("lua") } }
    location = /echo { echo_sleep 0.005; echo echo; }
    location = /t {
        content_by_lua_block {
            local count = 0
            for i = 1, 10 do
                local all = { ngx.location.capture_multi { { "/rust" }, { "/lua" }, { "/echo" }, { "/rust" } } }
                if all[1].body == "rust\n" and all[2].body == "lua\n" and all[3].body == "echo\n"
                    and all[4].body == "rust\n"
                then
                    count = count + 1
                end
            end
            ngx.say(count)
        }
    }
--- request
GET /t
--- response_body
10
--- no_error_log
[error]



=== TEST 13: the error page's handler after Lua has said which
--- config
    location = /t {
        access_by_lua_block { return ngx.exit(ngx.HTTP_FORBIDDEN) }
        error_page 403 = /page;
        content_by_rust reply body="never seen\n";
    }
    location = /page { content_by_rust reply body="page\n" delay=2ms; }
--- request
GET /t
--- response_body
page
--- no_error_log
[alert]



=== TEST 14: Lua changes the request that the handler sees: path, arguments, header, method
--- config
    location = /t {
        access_by_lua_block {
            ngx.req.set_uri("/changed")
            ngx.req.set_uri_args("a=1")
            ngx.req.set_header("X-A", "header")
            ngx.req.set_method(ngx.HTTP_PUT)
        }
        content_by_rust reply body="$uri $arg_a $http_x_a $request_method\n" delay=2ms;
    }
--- request
GET /t
--- response_body
/changed 1 header PUT
--- no_error_log
[error]



=== TEST 15: the last to say so answers: content_by_lua or content_by_rust
--- config
    location = /rust {
        content_by_lua_block { ngx.say("lua") }
        content_by_rust reply body="rust\n";
    }
    location = /lua {
        content_by_rust reply body="rust\n";
        content_by_lua_block { ngx.say("lua") }
    }
--- request eval
["GET /rust", "GET /lua"]
--- response_body eval
["rust\n", "lua\n"]
--- no_error_log
[error]



=== TEST 16: njs: a variable, and filters
--- http_config
    js_path "html";
    js_import part from ../html/part.js;
--- config
    js_set $word part.word;
    location = /t {
        content_by_rust reply body="$word\n" delay=2ms;
        js_header_filter part.header;
    }
--- user_files
>>> part.js
function word(r) { return "njs " + r.args.a; }
function header(r) { r.headersOut["X-Njs"] = "1"; }
export default { word, header };
--- request
GET /t?a=1
--- response_body
njs 1
--- response_headers
X-Njs: 1
--- no_error_log
[error]
