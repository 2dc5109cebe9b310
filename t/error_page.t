# error_page into a location with a handler, and out of one.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: into a named location, a path, with =200, with =, for an error of nginx's own
--- config
    location = /named {
        error_page 403 @page;
        return 403;
    }
    location = /path {
        error_page 403 /page?of=path;
        return 403;
    }
    location = /200 {
        error_page 403 =200 /page?of=200;
        return 403;
    }
    location = /as {
        error_page 403 = /as-it-says;
        return 403;
    }
    location @page { content_by_rust reply body="named page of $uri\n" delay=2ms; }
    location = /page { content_by_rust reply body="page of $arg_of\n" delay=2ms; }
    location = /as-it-says { content_by_rust reply body="as it says\n" status=418; }
--- request eval
["GET /named", "GET /path", "GET /200", "GET /as"]
--- error_code eval
[403, 403, 200, 418]
--- response_body eval
["named page of /named\n", "page of path\n", "page of 200\n", "as it says\n"]
--- no_error_log
[error]



=== TEST 2: what the page itself says of its status does not count without =
--- config
    location = /t {
        error_page 403 /page;
        return 403;
    }
    location = /page { content_by_rust reply body="page\n" status=201; }
--- request
GET /t
--- error_code: 403
--- response_body
page
--- no_error_log
[error]



=== TEST 3: for a file that there is not
--- config
    error_page 404 /page;
    location = /page {
        internal;
        content_by_rust reply body="no $request_uri\n" type=text/x-none delay=2ms;
    }
--- request
GET /none.html
--- error_code: 404
--- response_body
no /none.html
--- response_headers
Content-Type: text/x-none
--- no_error_log
[alert]



=== TEST 4: HEAD, POST with a body
--- config
    location = /t {
        error_page 403 /page;
        return 403;
    }
    location = /page { content_by_rust reply body="page of $request_method\n" delay=2ms; }
--- request eval
["HEAD /t", "POST /t\nabc"]
--- error_code eval
[403, 403]
--- response_body eval
["", "page of GET\n"]
--- no_error_log
[error]



=== TEST 5: into it for an error of an upstream
--- config
    location = /front {
        proxy_pass http://127.0.0.1:$server_port/back;
        proxy_intercept_errors on;
        error_page 503 =200 @page;
    }
    location = /back { return 503; }
    location @page { content_by_rust reply body="page\n" delay=2ms; }
--- request
GET /front
--- response_body
page
--- no_error_log
[error]



=== TEST 6: into it for a body that is too large, and for a bad request line's length
--- config
    location = /t {
        client_max_body_size 1;
        error_page 413 /page;
    }
    location = /page { content_by_rust reply body="page $status\n" delay=2ms; }
--- request
POST /t
abc
--- error_code: 413
--- response_body
page 413
--- no_error_log
[alert]



=== TEST 7: out of it: an error status without a body has the location's page
--- config
    location = /path {
        content_by_rust reply status=503;
        error_page 503 /page;
    }
    location = /wait {
        content_by_rust reply status=503 delay=2ms;
        error_page 503 /page;
    }
    location = /named {
        content_by_rust reply status=404 delay=2ms;
        error_page 404 @page;
    }
    location = /200 {
        content_by_rust reply status=404 delay=2ms;
        error_page 404 =200 /page;
    }
    location = /redirect {
        content_by_rust reply status=404 delay=2ms;
        error_page 404 =302 http://example.org/;
    }
    location = /page { return 200 "page\n"; }
    location @page { return 200 "named page\n"; }
--- request eval
["GET /path", "GET /wait", "GET /named", "GET /200", "GET /redirect"]
--- error_code eval
[503, 503, 404, 200, 302]
--- response_body_like eval
['^page\n$', '^page\n$', '^named page\n$', '^page\n$', '302 Found']
--- no_error_log
[error]



=== TEST 8: an error status with a body has its own
--- config
    error_page 404 503 /page;
    location = /now { content_by_rust reply status=404 body="own\n"; }
    location = /wait { content_by_rust reply status=503 body="own\n" delay=2ms; }
    location = /empty { content_by_rust reply status=503 body=""; }
    location = /variable { content_by_rust reply status=503 body=$arg_none; }
    location = /return { return 404 "own\n"; }
    location = /page { return 200 "page\n"; }
--- request eval
["GET /now", "GET /wait", "GET /empty", "GET /variable", "GET /return"]
--- error_code eval
[404, 503, 503, 503, 404]
--- response_body eval
["own\n", "own\n", "", "", "own\n"]
--- no_error_log
[error]



=== TEST 9: a page for another status is none
--- config
    error_page 404 /page;
    location = /t { content_by_rust reply status=503; }
    location = /page { return 200 "page\n"; }
--- request
GET /t
--- error_code: 503
--- response_body
OK
--- no_error_log
[error]



=== TEST 10: a status below 400 asks for no page
--- config
    error_page 301 302 304 /page;
    location = /t { content_by_rust reply status=$arg_s; }
    location = /page { return 200 "page\n"; }
--- request eval
["GET /t?s=301", "GET /t?s=302", "GET /t?s=203"]
--- error_code eval
[301, 302, 203]
--- response_body eval
["OK\n", "OK\n", "OK\n"]
--- no_error_log
[error]



=== TEST 11: the page is that of the server, of http, of the location around
--- http_config
    error_page 501 /page;
--- config
    location /outer {
        error_page 502 /page;
        location /outer/none { content_by_rust reply status=501; }
        location /outer/inner { content_by_rust reply status=502; }
    }
    location = /server { content_by_rust reply status=501; }
    location = /page { return 200 "page\n"; }
--- request eval
["GET /outer/none", "GET /outer/inner", "GET /server"]
--- error_code eval
[501, 502, 501]
--- response_body eval
["OK\n", "page\n", "page\n"]
--- no_error_log
[error]



=== TEST 12: a 400 by a bad value has the location's page
--- config
    location = /status {
        content_by_rust reply status=$arg_s;
        error_page 400 /page;
    }
    location = /delay {
        content_by_rust reply delay=$arg_s;
        error_page 400 =200 @page;
    }
    location = /type {
        set_by_lua_block $t { return "a\nb" }
        content_by_rust reply type=$t;
        error_page 400 /page;
    }
    location = /page { content_by_rust reply body="page $status\n" delay=2ms; }
    location @page { content_by_rust reply body="named page $status\n" delay=2ms; }
--- request eval
["GET /status?s=x", "GET /delay?s=x", "GET /type"]
--- error_code eval
[400, 200, 400]
--- response_body eval
["page 400\n", "named page 200\n", "page 400\n"]
--- no_error_log
[error]



=== TEST 13: out of one into another
--- config
    location = /t {
        content_by_rust reply status=503 delay=2ms;
        error_page 503 /page;
    }
    location = /page { content_by_rust reply body="page $status\n" delay=2ms; }
--- request
GET /t
--- error_code: 503
--- response_body
page 503
--- no_error_log
[error]



=== TEST 14: a page that fails itself ends there, unless recursive_error_pages is on
--- config
    error_page 502 /last;
    location = /off {
        content_by_rust reply status=503 delay=2ms;
        error_page 503 /page;
    }
    location = /on {
        recursive_error_pages on;
        content_by_rust reply status=503 delay=2ms;
        error_page 503 /page-on;
    }
    location = /page {
        content_by_rust reply status=502 delay=2ms;
    }
    location = /page-on {
        recursive_error_pages on;
        content_by_rust reply status=502 delay=2ms;
    }
    location = /last { content_by_rust reply body="last\n" delay=2ms; }
--- request eval
["GET /off", "GET /on"]
--- error_code eval
[502, 502]
--- response_body_like eval
['502 Bad Gateway', '^last\n$']
--- no_error_log
[error]



=== TEST 15: nginx's own page where the handler fails: HTML, with the length
--- config
    location = /t { content_by_rust reply status=$arg_s; }
--- request
GET /t?s=x
--- error_code: 400
--- response_headers
Content-Type: text/html
--- response_body_like: <center><h1>400 Bad Request</h1></center>
--- no_error_log
[error]



=== TEST 16: the answer's type and headers of the first location do not follow to the page
--- config
    location = /t {
        content_by_rust reply status=503 type=text/x-first delay=2ms;
        error_page 503 /page;
        add_header X-First 1 always;
    }
    location = /page {
        content_by_rust reply body="page\n" delay=2ms;
        add_header X-Page 1 always;
    }
--- request
GET /t
--- error_code: 503
--- response_headers
Content-Type: text/plain
X-Page: 1
! X-First
--- response_body
page
--- no_error_log
[error]



=== TEST 17: on a connection that is kept, the next request is right
--- config
    location = /t {
        content_by_rust reply status=$arg_s delay=2ms;
        error_page 503 /page;
    }
    location = /page { content_by_rust reply body="page $connection_requests\n" delay=2ms; }
--- pipelined_requests eval
["GET /t?s=503", "POST /t?s=503\nabc", "GET /t?s=200"]
--- error_code eval
[503, 503, 200]
--- response_body eval
["page 1\n", "page 2\n", "OK\n"]
--- no_error_log
[error]



=== TEST 18: a malformed body, found when the answer is ready: its page, which waits
--- config
    error_page 400 /page;
    location /t { content_by_rust reply body="never seen\n" delay=$arg_d; }
    location = /page { content_by_rust reply body="page\n" delay=2ms; }
--- raw_request eval
"POST /t?d=2ms HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nxyz\r\nabcde\r\n0\r\n\r\n"
--- error_code: 400
--- response_body
page
--- error_log
client sent invalid chunked body
--- no_error_log
[alert]



=== TEST 19: the same without a wait before it
--- config
    error_page 400 /page;
    location /t { content_by_rust reply body="never seen\n"; }
    location = /page { content_by_rust reply body="page\n" delay=2ms; }
--- raw_request eval
"POST /t HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nxyz\r\nabcde\r\n0\r\n\r\n"
--- error_code: 400
--- response_body
page
--- error_log
client sent invalid chunked body
--- no_error_log
[alert]
