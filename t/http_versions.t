# HTTP/0.9, HTTP/1.0, HTTP/1.1 with one request after the other and with many at once.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: HTTP/1.0 closes the connection behind the answer
--- config
    location = /ok { content_by_rust ok; }
    location = /hello { content_by_rust hello; }
--- raw_request eval
"GET /ok HTTP/1.0\r\n\r\n"
--- response_body
OK
--- response_headers
Connection: close
Content-Length: 3
--- no_error_log
[error]



=== TEST 2: the same without a wait
--- config
    location = /hello { content_by_rust hello; }
--- raw_request eval
"GET /hello HTTP/1.0\r\n\r\n"
--- response_body
<h1>HelloWorld</h1>
--- response_headers
Connection: close
Content-Length: 20
--- no_error_log
[error]



=== TEST 3: HTTP/1.0 with keep-alive: the connection stays
--- config
    location = /ok { content_by_rust reply body="ok $connection_requests\n" delay=2ms; }
    location = /hello { content_by_rust reply body="hello $connection_requests\n"; }
    location = /t {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            for _, path in ipairs { "/ok", "/hello", "/ok", "/hello" } do
                assert(socket:send("GET " .. path .. " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"))
                local header = socket:receiveuntil("\r\n\r\n")()
                local length = tonumber(header:match("Content%-Length: (%d+)"))
                ngx.print(header:match("Connection: (%S+)"), " ", socket:receive(length))
            end
        }
    }
--- request
GET /t
--- response_body
keep-alive ok 1
keep-alive hello 2
keep-alive ok 3
keep-alive hello 4
--- no_error_log
[error]



=== TEST 4: HTTP/0.9 has no header, and waits as well
--- config
    location = /ok { content_by_rust ok; }
--- raw_request eval
"GET /ok\r\n"
--- http09
--- response_body
OK
--- no_error_log
[error]



=== TEST 5: HTTP/1.1 without Connection: keep-alive
--- config
    location = /ok { content_by_rust ok; }
--- request
GET /ok
--- more_headers
Connection: close
--- response_headers
Connection: close
Content-Length: 3
! Transfer-Encoding
--- response_body
OK
--- no_error_log
[error]



=== TEST 6: two waits in one packet answer in order, the long one first
--- config
    location /long { content_by_rust reply body="long\n" delay=100ms; }
    location /short { content_by_rust reply body="short\n" delay=1ms; }
    location /none { content_by_rust reply body="none\n"; }
--- pipelined_requests eval
["GET /long", "GET /short", "GET /none", "GET /short", "GET /none"]
--- response_body eval
["long\n", "short\n", "none\n", "short\n", "none\n"]
--- no_error_log
[error]



=== TEST 7: forty in one packet
--- config
    location /ok { content_by_rust reply body="$arg_i\n" delay=1ms; }
    location /hello { content_by_rust reply body="$arg_i\n"; }
--- pipelined_requests eval
[map { ("GET /ok?i=$_", "GET /hello?i=$_") } 1 .. 20]
--- response_body eval
[map { ("$_\n", "$_\n") } 1 .. 20]
--- timeout: 10s
--- no_error_log
[error]



=== TEST 8: bodies between them
--- config
    location /wait { content_by_rust reply body="waited\n" delay=2ms; }
    location /now { content_by_rust reply body="now\n"; }
--- pipelined_requests eval
["POST /wait\nGET /now HTTP/1.1", "POST /now\nGET /wait HTTP/1.1", "GET /wait"]
--- response_body eval
["waited\n", "now\n", "waited\n"]
--- no_error_log
[error]



=== TEST 9: many requests on a connection, one after the other, while others wait
--- config
    location = /ok { content_by_rust reply body="$connection_requests\n" delay=1ms; }
    location = /t {
        content_by_lua_block {
            local function client()
                local socket = ngx.socket.tcp()
                assert(socket:connect("127.0.0.1", ngx.var.server_port))
                for i = 1, 50 do
                    assert(socket:send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"))
                    local header = socket:receiveuntil("\r\n\r\n")()
                    local length = tonumber(header:match("Content%-Length: (%d+)"))
                    if socket:receive(length) ~= i .. "\n" then
                        return "wrong"
                    end
                end
                socket:close()
                return "right"
            end
            local clients = {}
            for i = 1, 4 do
                clients[i] = ngx.thread.spawn(client)
            end
            for i = 1, 4 do
                local _, result = ngx.thread.wait(clients[i])
                ngx.say(result)
            end
        }
    }
--- request
GET /t
--- response_body
right
right
right
right
--- timeout: 10s
--- no_error_log
[error]



=== TEST 10: a request whose first line comes in two packets
--- config
    location = /ok { content_by_rust ok; }
--- raw_request eval
["GET /o", "k HTTP/1.1\r\nHost: localhost\r\nConn", "ection: close\r\n\r\n"]
--- raw_request_middle_delay: 0.02
--- response_body
OK
--- no_error_log
[error]
