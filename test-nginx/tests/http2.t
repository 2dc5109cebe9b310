# Not with the files in t: the original writes "http2 on;" for nginx from 1.19.9
# on, while nginx itself knows it from 1.25.1 on.

use Test::Nginx::Socket 'no_plan';

run_tests();

__DATA__

=== TEST 1: a request over HTTP/2
--- http2
--- config
location = /t { return 200 "$server_protocol $http_x_a\n"; }
--- more_headers
X-A: b
--- request
GET /t
--- response_body
HTTP/2.0 b
--- response_headers
Content-Length: 11



=== TEST 2: a body over HTTP/2
--- http2
--- config
location = /t { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- http_config
server { listen $TEST_NGINX_RAND_PORT_1; return 200 "$http_content_length\n"; }
--- request eval
"POST /t\n" . "x" x 1000
--- response_body
1000



=== TEST 3: a request that takes too long
--- http2
--- config
location = /slow { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_reply_delay: 10
--- tcp_reply
too late
--- request
GET /slow
--- timeout: 0.3
--- curl_error: timed out
--- ignore_response
