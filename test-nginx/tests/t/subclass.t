use lib 'tests/lib';
use Greeting 'no_plan';

our $Said = greeting();

run_tests();

__DATA__

=== TEST 1: a class of the project's own sets up its blocks
--- request
GET /t
--- response_body eval
"$::Said\n"
