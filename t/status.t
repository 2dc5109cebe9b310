# The status of reply is what nginx's own "return" makes of it.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: with a body: byte by byte what "return" answers, for every status that is no redirect
--- config eval
my @codes = grep { $_ !~ /^30[12378]$/ } 200 .. 999;
my $returns = CORE::join("\n", map "location = /return/$_ { return $_ \"a body\\n\"; }", @codes);
qq{
    error_log logs/error.log warn;
    access_log off;
    $returns

    location ~ ^/rust/(.+) { content_by_rust reply status=\$1 body="a body\\n"; }

    location = /t {
        content_by_lua_block {
            local function raw(uri)
                local socket = ngx.socket.tcp()
                assert(socket:connect("127.0.0.1", ngx.var.server_port))
                assert(socket:send("GET " .. uri .. " HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"))
                local answer = assert(socket:receive("*a"))
                socket:close()
                return (answer:gsub("Date: [^\\r]*", "Date"))
            end

            local same, head = 0, "HTTP/1.1 %d"
            for status = 200, 999 do
                if not (status >= 301 and status <= 303 or status == 307 or status == 308) then
                    local ours, theirs = raw("/rust/" .. status), raw("/return/" .. status)
                    if ours == theirs and ours:sub(1, 12) == head:format(status) then
                        same = same + 1
                    else
                        ngx.say(ours, " is not ", theirs)
                    end
                end
            end
            ngx.say(same, " are the same")
        }
    }
}
--- request
GET /t
--- response_body
795 are the same
--- timeout: 20s
--- no_error_log
[error]



=== TEST 2: 200 and those like it
--- config
    location = /200 { content_by_rust reply status=200 body="b\n"; }
    location = /201 { content_by_rust reply status=201 body="b\n"; }
    location = /202 { content_by_rust reply status=202 body="b\n"; }
    location = /203 { content_by_rust reply status=203 body="b\n"; }
    location = /206 { content_by_rust reply status=206 body="b\n"; }
    location = /299 { content_by_rust reply status=299 body="b\n"; }
--- request eval
[map "GET /$_", 200, 201, 202, 203, 206, 299]
--- error_code eval
[200, 201, 202, 203, 206, 299]
--- raw_response_headers_like eval
[map "^HTTP/1\\.1 $_\\r\n.*Content-Length: 2\r\n", "200 OK", "201 Created", "202 Accepted", "203 ?\\S*", "206 Partial Content", "299 ?"]
--- response_body eval
[("b\n") x 6]
--- no_error_log
[error]



=== TEST 3: 204 has neither body nor length nor type
--- config
    location = /rust { content_by_rust reply status=204 body="never seen\n"; }
    location = /wait { content_by_rust reply status=204 delay=1ms; }
    location = /return { return 204 "never seen\n"; }
--- request eval
["GET /rust", "GET /wait", "GET /return"]
--- error_code eval
[204, 204, 204]
--- response_headers eval
["! Content-Length\n! Content-Type\n! Transfer-Encoding", "! Content-Length\n! Content-Type\n! Transfer-Encoding", "! Content-Length\n! Content-Type\n! Transfer-Encoding"]
--- response_body eval
["", "", ""]
--- no_error_log
[error]



=== TEST 4: 304 has no body
--- config
    location = /rust { content_by_rust reply status=304 body="never seen\n"; }
    location = /wait { content_by_rust reply status=304 delay=1ms; }
    location = /return { return 304 "never seen\n"; }
--- request eval
["GET /rust", "GET /wait", "GET /return"]
--- error_code eval
[304, 304, 304]
--- response_body eval
["", "", ""]
--- no_error_log
[error]



=== TEST 5: answers without a body leave the connection to the next request
--- config
    location = /204 { content_by_rust reply status=204 delay=1ms; }
    location = /304 { content_by_rust reply status=304; }
    location = /200 { content_by_rust hello; }
    location = /t {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            for _, request in ipairs { "GET /204", "GET /304", "HEAD /200", "GET /200" } do
                local close = request == "GET /200" and "Connection: close\r\n" or ""
                assert(socket:send(request .. " HTTP/1.1\r\nHost: x\r\n" .. close .. "\r\n"))
            end
            for line in assert(socket:receive("*a")):gmatch("[^\n]+\n") do
                if line:match("^HTTP") or line:match("^<") then
                    ngx.print((line:gsub("\r", "")))
                end
            end
        }
    }
--- request
GET /t
--- response_body
HTTP/1.1 204 No Content
HTTP/1.1 304 Not Modified
HTTP/1.1 200 OK
HTTP/1.1 200 OK
<h1>HelloWorld</h1>
--- no_error_log
[error]



=== TEST 6: a redirect is a status and a body: there is no Location in reply
--- config
    location = /301 { content_by_rust reply status=301 body="moved\n"; }
    location = /308 { content_by_rust reply status=308; }
    location = /added {
        content_by_rust reply status=302 body="found\n";
        add_header Location https://example.org/ always;
    }
--- request eval
["GET /301", "GET /308", "GET /added"]
--- error_code eval
[301, 308, 302]
--- response_body eval
["moved\n", "OK\n", "found\n"]
--- response_headers eval
["! Location", "! Location", "Location: https://example.org/"]
--- no_error_log
[error]



=== TEST 7: an error says OK where nobody wrote a body and the location has no error_page for it
--- config
    error_page 502 /never;
    location = /404 { content_by_rust reply status=404; }
    location = /503 { content_by_rust reply status=503 delay=1ms; }
    location = /420 { content_by_rust reply status=420; }
    location = /599 { content_by_rust reply status=599; }
    location = /999 { content_by_rust reply status=999; }
--- request eval
["GET /404", "GET /503", "GET /420", "GET /599", "GET /999"]
--- error_code eval
[404, 503, 420, 599, 999]
--- response_body eval
[("OK\n") x 5]
--- no_error_log
[error]



=== TEST 8: a status of nginx's own that closes the connection elsewhere is answered here
--- config
    location = /444 { content_by_rust reply status=444 body="b\n"; }
    location = /499 { content_by_rust reply status=499 body="b\n"; }
    location = /return { return 444 "b\n"; }
--- request eval
["GET /444", "GET /499", "GET /return"]
--- error_code eval
[444, 499, 444]
--- response_body eval
["b\n", "b\n", "b\n"]
--- no_error_log
[error]



=== TEST 9: errors keep the connection: only nginx's own pages for some of them close it
--- config
    location = /t { content_by_rust reply status=$arg_s body="$arg_s $connection_requests\n"; }
--- pipelined_requests eval
["GET /t?s=400", "GET /t?s=413", "GET /t?s=500", "GET /t?s=503", "GET /t?s=200"]
--- error_code eval
[400, 413, 500, 503, 200]
--- response_body eval
["400 1\n", "413 2\n", "500 3\n", "503 4\n", "200 5\n"]
--- no_error_log
[error]



=== TEST 10: a 400 by a bad value closes the connection, as every 400 of nginx does
--- config
    location = /t { content_by_rust reply status=$arg_s; }
--- request
GET /t?s=x HTTP/1.1
--- more_headers
Connection: keep-alive
--- error_code: 400
--- response_headers
Connection: close
--- no_error_log
[error]



=== TEST 11: the log has the status that the client got
--- http_config
    log_format brief 'log $status $body_bytes_sent $sent_http_content_length';
--- config
    location = /t {
        content_by_rust reply status=599 body="four" delay=1ms;
        access_log logs/access.log brief;
    }
--- request
GET /t
--- error_code: 599
--- response_body: four
--- access_log
log 599 4 4
--- no_error_log
[error]
