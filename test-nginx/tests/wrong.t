# Every block of this file fails, and says so in the words after the arrow.

use Test::Nginx::Socket 'no_plan';

log_level('info');

add_block_preprocessor(sub {
    my $block = shift;
    $block->set_value(config => <<'_EOC_') unless defined $block->config;
location = /t { add_header X-A b; return 200 "hello\n"; }
location /none { root html; }
location = /slow { limit_rate 1; return 200 "this takes a while\n"; }
_EOC_
    $block->set_value(request => 'GET /t')
        unless grep { defined $block->$_ } qw(request raw_request pipelined_requests);
});

run_tests();

__DATA__

=== a status -> error_code:
--- error_code: 404



=== no status but 200 -> expected: "200"
--- request
GET /none
--- no_error_log
[alert]



=== a status like -> error_code_like: does not match
--- error_code_like: ^5



=== a body -> expected: "goodbye\n"
--- response_body
goodbye



=== a body without its end -> expected: "hello"
--- response_body chomp
hello



=== a long body -> -three
--- response_body
one
two
three



=== a body that is a regex -> response_body: does not match
--- response_body eval
qr/^HELLO/



=== a body like -> response_body_like: does not match
--- response_body_like: ^ello



=== a body unlike -> response_body_unlike: matches, but must not
--- response_body_unlike: ell



=== a filtered body -> expected: "hello\n"
--- response_body_filters: uc
--- response_body
hello



=== a header -> response_headers: X-A
--- response_headers
X-A: c



=== a header that is not there -> response_headers: X-B
--- response_headers
X-B: c



=== a header that must not be there -> response_headers: X-A is there: "b"
--- response_headers
! X-A



=== a header like, in full -> response_headers_like: X-A: does not match
--- response_headers_like
X-A: a?



=== raw headers -> raw_response_headers_like: does not match
--- raw_response_headers_like: X-B



=== raw headers unlike -> raw_response_headers_unlike: matches, but must not
--- raw_response_headers_unlike: X-A



=== a line of the log -> error_log: no line of error.log has "none/b"
--- request
GET /none/a
--- error_code: 404
--- error_log
none/a
none/b



=== a pattern of the log -> error_log: no line of error.log has "(?^:NONE)"
--- request
GET /none
--- error_code: 404
--- error_log eval
[qr/none/, qr/NONE/]



=== a line of the second log -> [request 2] error_log: no line of error.log has "none"
--- request eval
["GET /none", "GET /t"]
--- error_code eval
[404, 200]
--- error_log
none



=== a forbidden line -> no_error_log: error.log has "[error]"
--- request
GET /none
--- error_code: 404
--- no_error_log
[error]



=== a forbidden pattern -> no_error_log: error.log has "(?^:none)"
--- request
GET /none
--- error_code: 404
--- no_error_log eval
qr/none/



=== a grave line -> error.log has an [crit] line
--- config
location = /t {
    client_body_in_file_only on;
    proxy_pass http://127.0.0.1:$server_port/u;
}
--- init
rmdir server_root() . "/client_body_temp" or die $!;
--- request
POST /t
hello
--- error_code: 500



=== what a pattern matches -> grep_error_log_out:
--- request
GET /none
--- error_code: 404
--- grep_error_log eval: qr/GET \S+/
--- grep_error_log_out
GET /t



=== a line of the access log -> access_log: no line of access.log has "GET /u"
--- access_log
GET /u



=== a line of the access log, of a request whose answer does not matter -> access_log: no line of access.log has "GET /v"
--- ignore_response
--- access_log
GET /v



=== a forbidden line of the access log -> no_access_log: access.log has "GET /t"
--- no_access_log
GET /t



=== a line of the exit -> shutdown_error_log: no line of error.log, from nginx's exit on, has "farewell"
--- shutdown_error_log
farewell



=== a forbidden line of the exit -> no_shutdown_error_log: error.log, from nginx's exit on, has "[notice]"
--- log_level: notice
--- no_shutdown_error_log
[notice]



=== a good configuration -> must_die: nginx runs
--- must_die



=== another code -> must_die: exit status: 1, expected code
--- config
no_such_directive;
--- must_die: 2



=== another message -> error_log: no line of error.log has "such an error"
--- config
no_such_directive;
--- must_die
--- error_log
such an error



=== a bad configuration -> nginx does not start: exit status: 1
--- config
no_such_directive;



=== a timeout -> the client timed out: nothing came for 100ms
--- request
GET /slow
--- timeout: 0.1



=== a timeout of a raw request -> the client timed out
--- raw_request eval
"GET /t HTTP/1.1\r\nHost: h\r\n\r\n"
--- timeout: 100ms



=== an aborted response is still looked at -> expected: "this takes a while\n"
--- request
GET /slow
--- abort
--- timeout: 0.2
--- response_body
this takes a while



=== no response -> expected: "200"
--- config
location = /t { return 444; }



=== the second of the pipelined requests -> [request 2] response_body:
--- pipelined_requests eval
["GET /t", "GET /t", "GET /t"]
--- response_body eval
["hello\n", "goodbye\n", "hello\n"]



=== a pipelined request too many -> error_code must be an array
--- pipelined_requests eval
["GET /t", "GET /t"]
--- error_code: 200



=== a raw request that is bad -> got: "400"
--- raw_request eval
["GET /t HTTP/1.1\r\n", "\r\n"]
--- raw_request_middle_delay: 0.01



=== other headers -> got: "400"
--- more_headers
Content-Length: x



=== another time of a file -> response_headers: Last-Modified
--- config
location = /t { root html; }
--- user_files
>>> t 199801171935.33
--- response_headers
Last-Modified: Sat, 17 Jan 1998 19:35:34 GMT



=== another file -> expected: "b\n"
--- config
location = /t { root html; }
--- user_files
>>> t
a
--- response_body
b



=== a query -> tcp_query:
--- config
location = /t { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_query eval
"GET /u"
--- tcp_reply eval
"HTTP/1.0 200 OK\r\n\r\n"



=== a length of a query -> tcp_query_len: expected 10
--- config
location = /t { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_query_len: 10
--- tcp_reply eval
"HTTP/1.0 200 OK\r\n\r\n"



=== a datagram -> udp_query:
--- config
resolver 127.0.0.1:$TEST_NGINX_RAND_PORT_1 ipv6=off;
location = /t { set $name example.org; proxy_pass http://$name; }
--- udp_listen: $TEST_NGINX_RAND_PORT_1
--- udp_query: what?
--- udp_reply eval
sub { my $query = shift; substr($query, 0, 2) . "\x81\x83" . substr($query, 4) }
--- error_code: 502



=== perl that dies -> --- init: no such luck
--- init
die "no such luck\n";
