use Test::Nginx::Socket 'no_plan';

no_long_string();
run_tests();

__DATA__

=== TEST 1: a body, with its variables
--- config
location = /t { return 200 "$server_port\n"; }
--- request
GET /t
--- response_body
$ServerPort



=== TEST 2: a body from its environment
--- config
location = /t { return 200 "$TEST_NGINX_SERVER_PORT\n"; }
--- request
GET /t
--- response_body eval
'$TEST_NGINX_SERVER_PORT' . "\n"



=== TEST 3: a body without its last line feed
--- config
location = /t { return 200 "a\nb"; }
--- request
GET /t
--- response_body chomp
a
b



=== TEST 4: a body like
--- config
location = /t { return 200 "one\ntwo\nthree\n"; }
--- request
GET /t
--- response_body_like: ^one.two.three$



=== TEST 5: a body like, with flags of its own
--- config
location = /t { return 200 "one\ntwo\nthree\n"; }
--- request
GET /t
--- response_body_like eval
qr/ ^ TWO $ (?! \n two ) /xmi



=== TEST 6: a body unlike
--- config
location = /t { return 200 "one\ntwo\n"; }
--- request
GET /t
--- response_body_unlike: four



=== TEST 7: a body is a regex
--- config
location = /t { return 200 "port $server_port\n"; }
--- request
GET /t
--- response_body eval
qr/\Aport \d+\n\z/



=== TEST 8: headers
--- config
location = /t { add_header X-A "b c"; add_header X-A d; add_header X-Port $server_port; return 200 ok; }
--- request
GET /t
--- response_headers
X-A: b c, d
X-Port: $ServerPort
! X-B
!X-C
--- response_body chomp
ok



=== TEST 9: headers like
--- config
location = /t { add_header X-A "abc123"; return 204; }
--- request
GET /t
--- response_headers_like
X-A: abc\d+
X-B:
--- error_code: 204



=== TEST 10: raw headers
--- config
location = /t { add_header X-A b; return 200; }
--- request
GET /t
--- raw_response_headers_like eval
qr{\AHTTP/1.1 200 OK\r\n.*X-A: b\r\n\z}s
--- raw_response_headers_unlike: X-B



=== TEST 11: a status like
--- config
location = /t { return 503; }
--- request
GET /t
--- error_code_like: ^50\d$



=== TEST 12: chunks are put together
--- config
location = /t { sub_filter a bb; sub_filter_types *; sub_filter_once off; root html; }
--- user_files
>>> t
banana
--- request
GET /t
--- response_headers
Transfer-Encoding: chunked
! Content-Length
--- response_body
bbbnbbnbb



=== TEST 13: no headers of its own end a body of HTTP/1.0
--- config
location = /t { sub_filter a b; sub_filter_types *; root html; }
--- user_files
>>> t
a
--- request
GET /t HTTP/1.0
--- response_headers
! Transfer-Encoding
--- response_body
b



=== TEST 14: filters of the response
--- config
location = /t { return 200 "hello"; }
--- request eval
["GET /t", "GET /t"]
--- response_body_filters eval
[["uc"], ["md5_hex", sub { substr shift, 0, 4 }]]
--- response_body eval
["HELLO", "5d41"]



=== TEST 15: the order of keys does not matter
--- config
location = /t { return 200 '{"b":1, "a":[2]}'; }
--- request
GET /t
--- response_body_json_sort
--- response_body
{"a":[2],"b":1}



=== TEST 16: files to be served
--- config
location /f/ { alias html/f/; }
--- user_files eval
[
    ["f/a.txt", "a\x00b", "199801171935.33"],
    ["f/b.txt", "b\n"],
]
--- request eval
["GET /f/a.txt", "GET /f/b.txt", "GET /index.html"]
--- response_body eval
["a\0b", "b\n", qr/It works!/]
--- response_headers eval
["Last-Modified: Sat, 17 Jan 1998 19:35:33 GMT", "Content-Length: 2", "Content-Type: text/html"]



=== TEST 17: a body of 304 is none
--- config
location = /t { root html; }
--- user_files
>>> t 199801171935.33
hello
--- more_headers
If-Modified-Since: Sat, 17 Jan 1998 19:35:33 GMT
--- request
GET /t
--- error_code: 304
--- response_body:
