# nginx's header and body filters behind the handler: they do to its answer what they do to that of "return".

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: types: the type by the path's extension, default_type without one
--- config
    location /t {
        types {
            text/html html;
            application/x-a a;
        }
        default_type application/x-default;
        content_by_rust reply;
    }
--- request eval
["GET /t.html", "GET /t.a", "GET /t.b", "GET /t", "GET /t.a/b"]
--- response_headers eval
["Content-Type: text/html", "Content-Type: application/x-a", "Content-Type: application/x-default", "Content-Type: application/x-default", "Content-Type: application/x-default"]
--- no_error_log
[error]



=== TEST 2: an empty default_type: no type at all, with the wait running, too
--- config
    types { }
    default_type "";
    location = /now { content_by_rust reply; }
    location = /ok { content_by_rust ok; }
    location = /given { content_by_rust reply type=text/x-given; }
--- request eval
["GET /now", "GET /ok", "GET /given"]
--- response_headers eval
["! Content-Type", "! Content-Type", "Content-Type: text/x-given"]
--- no_error_log
[error]



=== TEST 3: there is one Content-Type, whatever types says
--- config
    types { text/x-types html; }
    location = /t.html { content_by_rust hello; }
--- request
GET /t.html
--- raw_response_headers_like: Content-Type: text/html\r\n
--- raw_response_headers_unlike: (?s)Content-Type.*Content-Type
--- no_error_log
[error]



=== TEST 4: charset
--- config
    charset utf-8;
    charset_types text/x-b;
    location = /html { content_by_rust hello; }
    location = /a { content_by_rust reply type=text/x-a; }
    location = /b { content_by_rust reply type=text/x-b; }
    location = /c { content_by_rust reply "type=text/x-b; charset=koi8-r"; }
    location = /d { content_by_rust reply "type=text/x-b;charset=koi8-r" delay=2ms; }
--- request eval
["GET /html", "GET /a", "GET /b", "GET /c", "GET /d"]
--- response_headers eval
["Content-Type: text/html; charset=utf-8", "Content-Type: text/x-a", "Content-Type: text/x-b; charset=utf-8", "Content-Type: text/x-b; charset=koi8-r", "Content-Type: text/x-b;charset=koi8-r"]
--- no_error_log
[error]



=== TEST 5: charset: recoding
--- http_config
    charset_map x-a x-b { 61 62; }
--- config
    location = /t {
        charset x-b;
        source_charset x-a;
        charset_types text/plain;
        content_by_rust reply body="aca\n" delay=2ms;
    }
--- request
GET /t
--- response_headers
Content-Type: text/plain; charset=x-b
--- response_body
bcb
--- no_error_log
[error]



=== TEST 6: gzip, for a client that takes it
--- config
    gzip on;
    gzip_min_length 1;
    gzip_types text/x-a;
    location = /html { content_by_rust reply body="$arg_a\n" type=text/html delay=2ms; }
    location = /a { content_by_rust reply body="$arg_a\n" "type=text/x-a; charset=utf-8"; }
    location = /b { content_by_rust reply body="$arg_a\n" type=text/x-b; }
--- request eval
[map "GET $_?a=" . ("x" x 200), "/html", "/a", "/b"]
--- more_headers
Accept-Encoding: gzip
--- response_headers eval
["Content-Encoding: gzip\n! Content-Length", "Content-Encoding: gzip\n! Content-Length", "! Content-Encoding\nContent-Length: 201"]
--- response_body_like eval
['^\x1f\x8b', '^\x1f\x8b', '^x{200}\n$']
--- no_error_log
[error]



=== TEST 7: gzip: a client that does not take it, a body that is too short, an error status
--- config
    gzip on;
    gzip_min_length 100;
    location = /t { content_by_rust reply body="$arg_a\n" type=text/html status=$arg_s delay=2ms; }
--- request eval
["GET /t?a=" . ("x" x 200), "GET /t?a=x", "GET /t?s=500&a=" . ("x" x 200), "GET /t?s=404&a=" . ("x" x 200)]
--- more_headers eval
["", "Accept-Encoding: gzip\n", "Accept-Encoding: gzip\n", "Accept-Encoding: gzip\n"]
--- error_code eval
[200, 200, 500, 404]
--- response_headers eval
["! Content-Encoding", "! Content-Encoding", "! Content-Encoding", "Content-Encoding: gzip"]
--- no_error_log
[error]



=== TEST 8: gzip and gunzip give the body back
--- config
    location = /t {
        gunzip on;
        proxy_pass http://127.0.0.1:$server_port/zipped?$args;
        proxy_http_version 1.1;
        proxy_set_header Accept-Encoding gzip;
    }
    location = /zipped {
        gzip on;
        gzip_min_length 1;
        gzip_http_version 1.0;
        content_by_rust reply body="$arg_a\n" type=text/html delay=2ms;
    }
--- request eval
"GET /t?a=" . ("x" x 500)
--- response_body eval
("x" x 500) . "\n"
--- no_error_log
[error]



=== TEST 9: ranges: as "return", none
--- config
    location = /return { return 200 "0123456789"; }
    location = /now { content_by_rust reply body="0123456789"; }
    location = /wait { content_by_rust reply body="0123456789" delay=2ms; }
--- request eval
["GET /return", "GET /now", "GET /wait"]
--- more_headers
Range: bytes=2-4
--- error_code eval
[200, 200, 200]
--- response_headers eval
[("! Accept-Ranges\n! Content-Range\nContent-Length: 10") x 3]
--- response_body eval
[("0123456789") x 3]
--- no_error_log
[error]



=== TEST 10: If-Unmodified-Since: as "return", 412
--- config
    location = /return { return 200 "body\n"; }
    location = /now { content_by_rust reply body="body\n"; }
    location = /wait { content_by_rust reply body="body\n" delay=2ms; }
--- request eval
["GET /return", "GET /now", "GET /wait"]
--- more_headers
If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT
--- error_code eval
[412, 412, 412]
--- response_body_like eval
[('412 Precondition Failed') x 3]
--- no_error_log
[error]
[alert]



=== TEST 11: the 412 has the location's error_page, as with "return"
--- config
    error_page 412 /page;
    location = /return { return 200 "body\n"; }
    location = /now { content_by_rust reply body="body\n"; }
    location = /wait { content_by_rust reply body="body\n" delay=2ms; }
    location = /page { content_by_rust reply body="page\n"; }
--- request eval
["GET /return", "GET /now", "GET /wait"]
--- more_headers
If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT
--- error_code eval
[412, 412, 412]
--- response_body eval
["page\n", "page\n", "page\n"]
--- no_error_log
[error]
[alert]



=== TEST 12: If-Modified-Since and If-None-Match: as "return", 200
--- config
    location = /return { return 200 "body\n"; }
    location = /now { content_by_rust reply body="body\n"; }
    location = /wait { content_by_rust reply body="body\n" delay=2ms; }
--- request eval
["GET /return", "GET /now", "GET /wait"]
--- more_headers
If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT
If-None-Match: *
--- response_body eval
[("body\n") x 3]
--- no_error_log
[error]



=== TEST 13: If-Match: as "return", 412
--- config
    location = /return { return 200 "body\n"; }
    location = /now { content_by_rust reply body="body\n"; }
    location = /wait { content_by_rust reply body="body\n" delay=2ms; }
--- request eval
["GET /return", "GET /now", "GET /wait"]
--- more_headers
If-Match: "tag"
--- error_code eval
[412, 412, 412]
--- no_error_log
[error]
[alert]



=== TEST 14: add_header: for those statuses that it is for, with always for all
--- config
    location = /t {
        add_header X-Some "some $arg_s";
        add_header X-All "all $arg_s" always;
        content_by_rust reply status=$arg_s delay=2ms;
    }
--- request eval
["GET /t?s=200", "GET /t?s=404", "GET /t?s=bad"]
--- error_code eval
[200, 404, 400]
--- response_headers eval
["X-Some: some 200\nX-All: all 200", "! X-Some\nX-All: all 404", "! X-Some\nX-All: all bad"]
--- no_error_log
[error]



=== TEST 15: expires
--- config
    location = /hour {
        expires 1h;
        content_by_rust ok;
    }
    location = /epoch {
        expires epoch;
        content_by_rust hello;
    }
    location = /off {
        expires off;
        content_by_rust hello;
    }
    location = /error {
        expires 1h;
        content_by_rust reply status=404;
    }
--- request eval
["GET /hour", "GET /epoch", "GET /off", "GET /error"]
--- error_code eval
[200, 200, 200, 404]
--- response_headers eval
["Cache-Control: max-age=3600", "Cache-Control: no-cache\nExpires: Thu, 01 Jan 1970 00:00:01 GMT", "! Cache-Control\n! Expires", "! Cache-Control\n! Expires"]
--- no_error_log
[error]



=== TEST 16: sub_filter
--- config
    location /t {
        sub_filter "two words" "one";
        sub_filter_once off;
        sub_filter_types text/plain;
        content_by_rust reply body="[two words] [two  words] [two words]\n" delay=$arg_d;
    }
--- request eval
["GET /t", "GET /t?d=2ms"]
--- response_headers eval
["! Content-Length\nTransfer-Encoding: chunked", "! Content-Length\nTransfer-Encoding: chunked"]
--- response_body eval
["[one] [two  words] [one]\n", "[one] [two  words] [one]\n"]
--- no_error_log
[error]



=== TEST 17: chunked_transfer_encoding off: the end of the connection ends the body
--- config
    location /t {
        chunked_transfer_encoding off;
        sub_filter "a" "b";
        sub_filter_types text/plain;
        content_by_rust reply body="a\n" delay=2ms;
    }
--- request
GET /t
--- response_headers
! Content-Length
! Transfer-Encoding
Connection: close
--- response_body
b
--- no_error_log
[error]



=== TEST 18: Server and Date, server_tokens
--- config
    location = /on { content_by_rust ok; }
    location = /off {
        server_tokens off;
        content_by_rust ok;
    }
    location = /bad {
        server_tokens off;
        content_by_rust reply status=$arg_s;
    }
--- request eval
["GET /on", "GET /off", "GET /bad?s=x"]
--- error_code eval
[200, 200, 400]
--- raw_response_headers_like eval
my $date = 'Date: (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n';
my $name = '(?:nginx|openresty)';
["Server: $name/[\\d.]+\\r\\n$date", "Server: $name\\r\\n$date", "Server: $name\\r\\n$date"]
--- no_error_log
[error]



=== TEST 19: a body of 1 MB
--- config
    location /t {
        set_by_lua_block $million { return string.rep("0123456789abcde\n", 65536) }
        content_by_rust reply body=$million delay=$arg_d;
    }
--- request eval
["GET /t", "GET /t?d=2ms"]
--- response_headers eval
["Content-Length: 1048576", "Content-Length: 1048576"]
--- response_body eval
["0123456789abcde\n" x 65536, "0123456789abcde\n" x 65536]
--- timeout: 10s
--- no_error_log
[error]



=== TEST 20: a body of 1 MB with limit_rate, for a client that reads it slowly
--- config
    location = /million {
        set_by_lua_block $million { return string.rep("0123456789abcde\n", 65536) }
        limit_rate 4m;
        limit_rate_after 64k;
        content_by_rust reply body=$million delay=2ms;
    }
    location = /t {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("GET /million HTTP/1.0\r\n\r\n"))
            socket:receiveuntil("\r\n\r\n")()
            local right = 0
            while true do
                local piece = socket:receive(65536)
                if not piece then break end
                if piece == string.rep("0123456789abcde\n", 4096) then
                    right = right + 1
                end
                ngx.sleep(0.01)
            end
            ngx.say(right)
        }
    }
--- request
GET /t
--- response_body
16
--- timeout: 10s
--- no_error_log
[error]



=== TEST 21: binary bytes, an empty body, a long constant
--- config
    location = /binary { content_by_rust reply "body=Ā\t\r\n\\" type=application/octet-stream; }
    location = /empty { content_by_rust reply body="" delay=2ms; }
    include ../html/long.conf;
--- user_files eval
[["long.conf" => 'location = /long { content_by_rust reply "body=' . ('long ' x 800) . '"; }']]
--- request eval
["GET /binary", "GET /empty", "GET /long"]
--- response_body eval
["\xc4\x80\t\r\n\\", "", 'long ' x 800]
--- response_headers eval
["Content-Length: 6", "Content-Length: 0", "Content-Length: 4000"]
--- no_error_log
[error]



=== TEST 22: output_buffers, postpone_output, sendfile, tcp_nopush, directio say nothing to it
--- config
    location = /t {
        output_buffers 1 1k;
        postpone_output 4k;
        sendfile on;
        tcp_nopush on;
        tcp_nodelay off;
        directio 1k;
        content_by_rust reply body="body\n" delay=2ms;
    }
--- pipelined_requests eval
["GET /t", "GET /t", "GET /t"]
--- response_body eval
["body\n", "body\n", "body\n"]
--- no_error_log
[error]



=== TEST 23: keepalive_disable, keepalive_requests
--- config
    location = /t {
        keepalive_requests 2;
        content_by_rust reply body="$connection_requests\n" delay=2ms;
    }
--- pipelined_requests eval
["GET /t", "GET /t"]
--- response_headers eval
["Connection: keep-alive", "Connection: close"]
--- response_body eval
["1\n", "2\n"]
--- no_error_log
[error]



=== TEST 24: two filters, one of which asks another handler
--- config
    location = /t {
        add_after_body /after;
        sub_filter "b" "c";
        sub_filter_types text/plain;
        addition_types text/plain;
        content_by_rust reply body="b\n" delay=2ms;
    }
    location = /after { content_by_rust reply body="after b\n" delay=2ms; }
--- request
GET /t
--- response_body
c
after b
--- no_error_log
[error]



=== TEST 25: behind a 412 that was born in a header filter nothing more is sent
--- config
    location = /return { return 200 "body\n"; }
    location = /now { content_by_rust reply body="body\n"; }
    location = /wait { content_by_rust reply body="body\n" delay=2ms; }
--- request eval
["GET /return", "GET /now", "GET /wait"]
--- more_headers
If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT
--- http09
--- response_body_like eval
[('^HTTP/1\.1 412 Precondition Failed\r\n(?!.*HTTP/).*</html>\r\n$') x 3]
--- no_error_log
[error]
[alert]
