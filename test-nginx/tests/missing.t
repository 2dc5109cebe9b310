# What becomes of these where TEST_NGINX_IGNORE_MISSING_DIRECTIVES is set is in their titles.

use Test::Nginx::Socket 'no_plan';

run_tests();

__DATA__

=== TEST 1: ignored
--- config
location = /t { no_such_directive; }
--- request
GET /t



=== TEST 2: ignored, too: it is not this that it must die of
--- config
location = /t { no_such_directive; return 1000; }
--- must_die
--- error_log
invalid return code



=== TEST 3: ok: it must die of this
--- config
location = /t { no_such_directive; }
--- must_die
--- error_log
unknown directive



=== TEST 4: FAILED: nothing is missing
--- config
location = /t { return 200 "ok"; }
--- must_die
