use Test::Nginx::Socket 'no_plan';

no_shuffle();
repeat_each(2);
run_tests();

__DATA__

=== TEST 1: nginx must not start
--- config
no_such_directive;
--- must_die
--- error_log
unknown directive "no_such_directive"
--- no_error_log
[alert]



=== TEST 2: nginx must end with a code
--- http_config
no_such_directive;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .* unknown \s directive/x



=== TEST 3: the main part of the configuration
--- main_config
env TEST_NGINX_UNSET;
worker_rlimit_core 0;
--- post_main_config
timer_resolution 100ms;
--- config
location = /t { return 200 "ok\n"; }
--- request
GET /t
--- response_body
ok



=== TEST 4: a name for the server
--- server_name: example.org
--- http_config
server {
    listen $TEST_NGINX_RAND_PORT_1;
    return 200 "$TEST_NGINX_RAND_PORT_1 $server_port\n";
}
--- config
location = /t { return 200 "$server_name\n"; }
location = /rand { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- request eval
["GET /t", "GET /rand"]
--- response_body eval
["example.org\n", qr/\A(\d+) \1\n\z/]



=== TEST 5: a block without a configuration goes on with the last one
--- request
GET /t
--- response_body
example.org



=== TEST 6: perl before the first request
--- config
location = /t { root html; }
--- init
open my $out, '>', html_dir() . '/t' or die $!;
print $out "written\n";
--- request
GET /t
--- response_body
written



=== TEST 7: each time the files are as they were
--- config
location = /t { root html; }
location = /two { return 200 "two\n"; }
location = /store {
    proxy_pass http://127.0.0.1:$server_port/two;
    proxy_store $TEST_NGINX_SERVER_ROOT/html/t;
}
--- user_files
>>> t
one
--- request eval
["GET /t", "GET /store", "GET /t"]
--- response_body eval
["one\n", "two\n", "two\n"]



=== TEST 8: not for this nginx
--- skip_nginx: 2: > 0.1.0
--- config
no_such_directive;
--- request
GET /t



=== TEST 9: for this nginx
--- skip_nginx: 2: < 0.1.0
--- skip_eval: 2: 0
--- config
location = /t { return 200 "ok\n"; }
--- request
GET /t
--- response_body
ok



=== TEST 10: not now
--- SKIP
--- config
no_such_directive;
--- request
GET /t



=== TEST 11: one day
--- todo
2: this will be
--- config
location = /t { return 200 "not yet\n"; }
--- request
GET /t
--- response_body
ok



=== TEST 12: the last one
--- LAST
--- config
location = /t { return 200 "ok\n"; }
--- request
GET /t
--- response_body
ok



=== TEST 13: after the last one
--- config
no_such_directive;
--- request
GET /t
