# Every block of this file fails here, in the words after the arrow; the
# original passes over some of these and gives up the whole file at others.

use Test::Nginx::Socket 'no_plan';

our $Config = 'location = /t { return 200 "hello\n"; }';

run_tests();

__DATA__

=== no configuration -> the block has no --- config
--- request
GET /t



=== an unknown section -> broken.t:22: unknown section "respond_body"
--- config eval: $::Config
--- request
GET /t
--- respond_body
goodbye



=== a section that is not supported -> section "stap" is not supported
--- config eval: $::Config
--- request
GET /t
--- stap
F(ngx_http_handler)



=== an unknown filter -> there is no filter of this name
--- config eval: $::Config
--- request
GET /t
--- response_body evil
"hello\n"



=== perl that does not compile -> --- request eval: syntax error
--- config eval: $::Config
--- request eval
"GET /t" . . "?a"



=== no request -> the block has no request
--- config eval: $::Config



=== a bad request line -> the request line is not 'METHOD [URL [VERSION]]'
--- config eval: $::Config
--- request
GET /t HTTP/1.1 and more



=== lines after a value -> '--- error_code:' has its value on the same line
--- config eval: $::Config
--- request
GET /t
--- error_code: 200
300



=== an undefined variable -> $TEST_NGINX_UNDEFINED is not defined
--- config
location = /t { return 200 "$TEST_NGINX_UNDEFINED"; }
--- request
GET /t



=== a bad time -> --- timeout: "soon" is not a time
--- config eval: $::Config
--- request
GET /t
--- timeout: soon



=== half of grep -> --- grep_error_log needs --- grep_error_log_out
--- config eval: $::Config
--- request
GET /t
--- grep_error_log: a



=== HTTP/2 -> expected: "goodbye\n"
--- config eval: $::Config
--- http2
--- request
GET /t
--- response_body
goodbye



=== HTTP/2, too slow -> curl got no response
--- config
location = /slow { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_reply_delay: 10
--- tcp_reply
too late
--- http2
--- request
GET /slow
--- timeout: 0.2
--- curl_error: another error



=== HTTP/2, raw -> --- http2 cannot be used with --- raw_request
--- config eval: $::Config
--- http2
--- raw_request eval
"GET /t HTTP/1.1\r\n\r\n"
