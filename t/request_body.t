# The body of a request, which nobody here reads: nginx throws it away once the answer is made.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: a body that comes with the header
--- config
    location = /now { content_by_rust hello; }
    location = /wait { content_by_rust ok; }
--- request eval
["POST /now\nabc", "POST /wait\nabc"]
--- response_body eval
["<h1>HelloWorld</h1>\n", "OK\n"]
--- no_error_log
[error]



=== TEST 2: a body that comes later, in two halves, while the answer waits
--- config
    location = /t { content_by_rust reply body="answered\n" delay=100ms; }
--- raw_request eval
["POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nConnection: close\r\n\r\n", "12345", "67890"]
--- raw_request_middle_delay: 0.02
--- response_body
answered
--- no_error_log
[error]



=== TEST 3: a body whose second half comes after the answer: the next request on the connection is right
--- config
    location = /wait { content_by_rust reply body="waited\n" delay=1ms; }
    location = /now { content_by_rust reply body="now\n"; }
--- raw_request eval
["POST /wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345", "6789", "0POST /now HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345", "67890GET /wait HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]
--- raw_request_middle_delay: 0.05
--- http09
--- response_body_like eval
qr/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nwaited\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nnow\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nwaited\n$/s
--- no_error_log
[error]



=== TEST 4: a body of which a part is never sent: the answer comes all the same
--- config
    location = /t { content_by_rust reply body="answered\n" delay=50ms; }
    lingering_timeout 100ms;
--- raw_request eval
"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nConnection: close\r\n\r\n12345"
--- response_body
answered
--- no_error_log
[error]



=== TEST 5: half a body, and a wait longer than lingering_timeout
--- config
    lingering_timeout 100ms;
    location = /t { content_by_rust reply body="answered\n" delay=500ms; }
--- raw_request eval
"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nConnection: close\r\n\r\n12345"
--- response_body
answered
--- no_error_log
[error]



=== TEST 6: half a body, and a wait of 8 seconds, with nginx's own lingering_timeout of 5
--- config
    location = /wait { content_by_rust reply body="answered\n" delay=8s; }
    location = /t {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            socket:settimeout(20000)
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345"))
            local header = assert(socket:receiveuntil("\r\n\r\n")())
            ngx.say(header:match("^[^\r]+"))
            ngx.say(socket:receive())
            socket:close()
        }
    }
--- request
GET /t
--- timeout: 20s
--- response_body
HTTP/1.1 200 OK
answered
--- no_error_log
[error]



=== TEST 7: nor does client_body_timeout end the wait
--- config
    client_body_timeout 50ms;
    lingering_timeout 100ms;
    location = /t { content_by_rust reply body="answered\n" delay=300ms; }
--- raw_request eval
"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nConnection: close\r\n\r\n12345"
--- response_body
answered
--- no_error_log
[error]



=== TEST 8: longer than client_max_body_size: 413, without a wait
--- config
    location = /now {
        client_max_body_size 10;
        content_by_rust hello;
    }
    location = /wait {
        client_max_body_size 10;
        content_by_rust reply delay=1h;
    }
--- request eval
["POST /now\n12345678901", "POST /wait\n12345678901"]
--- error_code eval
[413, 413]
--- error_log
client intended to send too large body: 11 bytes
--- no_error_log
[alert]



=== TEST 9: Expect: 100-continue, and a body that comes then: as with "return"
--- config
    location = /return { return 200 "returned\n"; }
    location = /now { content_by_rust reply body="now\n"; }
    location = /wait { content_by_rust reply body="waited\n" delay=50ms; }
    location = /t {
        content_by_lua_block {
            for _, path in ipairs { "/return", "/now", "/wait" } do
                local socket = ngx.socket.tcp()
                assert(socket:connect("127.0.0.1", ngx.var.server_port))
                assert(socket:send("POST " .. path .. " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                    .. "Content-Length: 5\r\nConnection: close\r\n\r\n"))
                local first = assert(socket:receive())
                assert(socket:receive())
                assert(socket:send("12345"))
                local answer = assert(socket:receive("*a"))
                ngx.say(first, ", ", answer:match("^[^\r]+"), ", ", answer:match("\n(%w+)\n$"))
                socket:close()
            end
        }
    }
--- request
GET /t
--- response_body
HTTP/1.1 100 Continue, HTTP/1.1 200 OK, returned
HTTP/1.1 100 Continue, HTTP/1.1 200 OK, now
HTTP/1.1 100 Continue, HTTP/1.1 200 OK, waited
--- no_error_log
[error]



=== TEST 10: Expect: 100-continue, and a body that comes at once
--- config
    location = /t { content_by_rust ok; }
--- raw_request eval
"POST /t HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n12345"
--- http09
--- response_body_like eval
qr/^HTTP\/1\.1 (?:100 Continue\r\n\r\nHTTP\/1\.1 )?200 OK\r\n.*\r\n\r\nOK\n$/s
--- no_error_log
[error]



=== TEST 11: a chunked body
--- config
    location = /now { content_by_rust reply body="now\n"; }
    location = /wait { content_by_rust reply body="waited\n" delay=2ms; }
--- raw_request eval
"POST /now HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"
. "POST /wait HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"
--- http09
--- response_body_like eval
qr/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nnow\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nwaited\n$/s
--- no_error_log
[error]



=== TEST 12: a chunked body that comes chunk by chunk while the answer waits, and after it
--- config
    location = /wait { content_by_rust reply body="waited\n" delay=50ms; }
    location = /now { content_by_rust reply body="now\n"; }
--- raw_request eval
["POST /wait HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "cde\r\n3", "\r\nfgh\r\n", "0\r\n", "\r\nGET /now HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]
--- raw_request_middle_delay: 0.03
--- http09
--- response_body_like eval
qr/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nwaited\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nnow\n$/s
--- no_error_log
[error]



=== TEST 13: a malformed chunk is 400
--- config
    location = /now { content_by_rust hello; }
    location = /wait { content_by_rust ok; }
--- raw_request eval
"POST /now HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nxyz\r\nabcde\r\n0\r\n\r\n"
--- error_code: 400
--- error_log
client sent invalid chunked body
--- no_error_log
[alert]



=== TEST 14: the same after a wait
--- config
    location = /wait { content_by_rust ok; }
--- raw_request eval
"POST /wait HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nxyz\r\nabcde\r\n0\r\n\r\n"
--- error_code: 400
--- error_log
client sent invalid chunked body
--- no_error_log
[alert]



=== TEST 15: a length that is none is 400 before any handler sees it
--- config
    location = /t { content_by_rust ok; }
--- raw_request eval
"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\nConnection: close\r\n\r\nabc"
--- error_code: 400
--- no_error_log
[alert]



=== TEST 16: a body of 1 MB
--- config
    location = /now { content_by_rust hello; }
    location = /wait { content_by_rust ok; }
--- request eval
["POST /now\n" . ("x" x 1048576), "POST /wait\n" . ("x" x 1048576)]
--- response_body eval
["<h1>HelloWorld</h1>\n", "OK\n"]
--- timeout: 10s
--- no_error_log
[error]



=== TEST 17: a body that Lua has read before
--- config
    location = /t {
        access_by_lua_block { ngx.req.read_body() }
        content_by_rust reply body="[$request_body]\n" delay=2ms;
    }
--- pipelined_requests eval
["POST /t\nabc", "POST /t\n", "PUT /t\ndefg", "GET /t"]
--- response_body eval
["[abc]\n", "[]\n", "[defg]\n", "[]\n"]
--- no_error_log
[error]



=== TEST 18: a body that Lua has thrown away before
--- config
    location = /t {
        access_by_lua_block { ngx.req.discard_body() }
        content_by_rust ok;
    }
--- pipelined_requests eval
["POST /t\nabc", "GET /t"]
--- response_body eval
["OK\n", "OK\n"]
--- no_error_log
[error]



=== TEST 19: no body where the length says 0
--- config
    location = /t { content_by_rust ok; }
--- raw_request eval
"POST /t HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\nGET /t HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
--- http09
--- response_body_like eval
qr/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nOK\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nOK\n$/s
--- no_error_log
[error]
