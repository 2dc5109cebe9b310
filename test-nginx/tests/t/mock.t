use Test::Nginx::Socket 'no_plan';

run_tests();

__DATA__

=== TEST 1: nginx talks to a server
--- config
location = /t {
    proxy_http_version 1.0;
    proxy_set_header Host mock;
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
--- tcp_listen: $TEST_NGINX_RAND_PORT_1
--- tcp_query eval
"GET /t HTTP/1.0\r\nHost: mock\r\nConnection: close\r\n\r\n"
--- tcp_reply eval
"HTTP/1.0 200 OK\r\n\r\nfrom the mock\n"
--- request
GET /t
--- response_body
from the mock



=== TEST 2: a reply that depends on the query
--- config
location = /t { proxy_pass http://unix:$TEST_NGINX_SERVER_ROOT/html/mock.sock; }
--- tcp_listen: $TEST_NGINX_SERVER_ROOT/html/mock.sock
--- tcp_query_len: 55
--- tcp_reply eval
sub { "HTTP/1.0 200 OK\r\n\r\n" . length(shift) . "\n" }
--- tcp_reply_delay: 50ms
--- request
GET /t
--- response_body
55



=== TEST 3: datagrams
--- config
resolver 127.0.0.1:$TEST_NGINX_RAND_PORT_1 ipv6=off;
resolver_timeout 5s;
location = /t { set $name example.org; proxy_pass http://$name; }
--- udp_listen: $TEST_NGINX_RAND_PORT_1
--- udp_reply eval
sub { my $query = shift; substr($query, 0, 2) . "\x81\x83" . substr($query, 4) }
--- request
GET /t
--- error_code: 502
--- error_log
could not be resolved (3: Host not found)
