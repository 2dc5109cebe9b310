use Test::Nginx::Socket 'no_plan';

run_tests();

__DATA__

=== TEST 1: a body
--- config
location = /t { return 200 "hello\n"; }
--- request
GET /t
--- response_body
hello
