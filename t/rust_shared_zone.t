# rust_shared_zone: where it may stand, and what nginx -t refuses, in nginx's own words.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: zones of several sizes, beside those of other modules
--- http_config
    rust_shared_zone one 32k;
    rust_shared_zone two 1m;
    rust_shared_zone three 65536;
    limit_req_zone $remote_addr zone=four:1m rate=1000r/s;
--- config
    location = /t { content_by_rust reply; }
--- request
GET /t
--- response_body
OK
--- no_error_log
[error]
[alert]



=== TEST 2: a zone, and no handler at all
--- http_config
    rust_shared_zone one 1m;
--- config
    location = /t { return 200 "none\n"; }
--- request
GET /t
--- response_body
none
--- no_error_log
[error]
[alert]



=== TEST 3: twice
--- http_config
    rust_shared_zone one 1m;
    rust_shared_zone one 1m;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*duplicate zone "one" in \S+nginx\.conf:\d+$/



=== TEST 4: twice with another size
--- http_config
    rust_shared_zone one 1m;
    rust_shared_zone one 2m;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*the size 2097152 of shared memory zone "one" conflicts with already declared size 1048576 in /



=== TEST 5: a name that another module has
--- http_config
    limit_req_zone $remote_addr zone=one:1m rate=1r/s;
    rust_shared_zone one 1m;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*the shared memory zone "one" is already declared for a different use in /



=== TEST 6: the name that another module wants then
--- http_config
    rust_shared_zone one 1m;
    limit_req_zone $remote_addr zone=one:1m rate=1r/s;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*the shared memory zone "one" is already declared for a different use in /



=== TEST 7: too small
--- http_config
    rust_shared_zone one 31k;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*zone "one" is too small in \S+nginx\.conf:\d+$/



=== TEST 8: nothing at all is too small
--- http_config
    rust_shared_zone one 0;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*zone "one" is too small in /



=== TEST 9: no size
--- http_config
    rust_shared_zone one large;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid zone size "large" in \S+nginx\.conf:\d+$/



=== TEST 10: a size that no machine has
--- http_config
    rust_shared_zone one 9999999999999999999;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid zone size "9999999999999999999" in /



=== TEST 11: below zero
--- http_config
    rust_shared_zone one -1m;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid zone size "-1m" in /



=== TEST 12: no name
--- http_config
    rust_shared_zone "" 1m;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid zone name "" in \S+nginx\.conf:\d+$/



=== TEST 13: a name alone
--- http_config
    rust_shared_zone one;
--- config
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid number of arguments in "rust_shared_zone" directive in /



=== TEST 14: not in a server
--- config
    rust_shared_zone one 1m;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_shared_zone" directive is not allowed here in /
