use Test::Nginx::Socket 'no_plan';

add_block_preprocessor(sub {
    my $block = shift;
    $block->set_value(config => <<'_EOC_') unless defined $block->config;
location /t { return 200 "$request_method $uri?$args $http_x_a\n"; }
location = /body {
    proxy_set_header X-A $http_x_a;
    proxy_pass http://127.0.0.1:$server_port/echo;
}
location = /echo { return 200 "$request_method $http_content_length $http_x_a\n"; }
location = /host { return 200 "$host $http_connection $server_protocol\n"; }
_EOC_
});

run_tests();

__DATA__

=== TEST 1: a request line is completed
--- request
GET /host
--- response_body
localhost close HTTP/1.1



=== TEST 2: a comment before the request is no part of it
--- request
# the path says it
GET /t?a=b
--- response_body
GET /t?a=b 



=== TEST 3: more headers, Host and Connection among them
--- more_headers
X-A: yes
# X-A: no
Host: example.com
Connection: CLOSE
--- request
GET /host
--- response_body
example.com CLOSE HTTP/1.1



=== TEST 4: a header on the line of the section
--- more_headers: X-A: one
--- request
HEAD /t
--- response_headers
Content-Length: 13
--- response_body:



=== TEST 5: a body is measured without the space around it
--- request
POST /body
hello
--- response_body
POST 5 



=== TEST 6: a body is evaluated
--- request eval
"POST /body\n" . "x" x 100000
--- response_body
POST 100000 



=== TEST 7: a body in chunks is sent as it is
--- more_headers
Transfer-Encoding: chunked
--- request eval
"POST /body
5\r
hello\r
0\r
\r
"
--- response_body
POST 5 



=== TEST 8: several requests, each on its own connection
--- request eval
["GET /t?1", "HEAD /t?2", "GET /none"]
--- more_headers eval
["X-A: a", "X-A: b", ""]
--- response_body eval
["GET /t?1 a\n", "", qr/404 Not Found/]
--- error_code eval
[200, 200, 404]
--- response_headers eval
["Content-Length: 11", "!X-A", "Content-Type: text/html"]



=== TEST 9: pipelined requests share one
--- pipelined_requests eval
["GET /t?1", "GET /none", "GET /t?3"]
--- response_body eval
["GET /t?1 \n", qr/404 Not Found/, "GET /t?3 \n"]
--- error_code eval
[200, 404, 200]
--- response_headers eval
["Connection: keep-alive", "Connection: keep-alive", "Connection: close"]



=== TEST 10: a raw request is sent as it is
--- raw_request eval
"GET /t?raw HTTP/1.0\r\nX-A: r\r\n\r\n"
--- response_body
GET /t?raw r



=== TEST 11: a raw request in packets, with a pause between them
--- raw_request eval
["GET /t", "?raw HTT", "P/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"]
--- raw_request_middle_delay: 0.05
--- response_body
GET /t?raw 



=== TEST 12: a request in packets is completed
--- request eval
[["GET /t?", {value => "a HTTP/1.0\n", delay_before => 0.05}]]
--- response_body
GET /t?a 



=== TEST 13: HTTP/0.9 has a body only
--- raw_request eval
"GET /t\r\n"
--- http09
--- response_body
GET /t? 



=== TEST 14: the client shuts down its side
--- config
location = /t { return 200 "ok\n"; }
--- raw_request eval
"GET /t HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
--- shutdown: 1
--- ignore_response



=== TEST 15: the client goes away
--- config
location = /slow { limit_rate 1; return 200 "this takes a while\n"; }
--- request
GET /slow
--- abort
--- timeout: 0.1
--- ignore_response



=== TEST 16: the timeout is for silence, not for the whole response
--- config
location = /slow { limit_rate 100; return 200 "this takes a while or so\n"; }
--- request
GET /slow
--- timeout: 1900ms
--- response_headers
Content-Length: 25



=== TEST 17: a time in milliseconds
--- request
GET /t
--- timeout: 2500ms
--- wait: 0.01
--- response_body
GET /t? 
