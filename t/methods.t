# Any method, with and without a wait.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: GET, POST, PUT, DELETE, OPTIONS, PATCH, and one that nobody knows
--- config
    location = /now { content_by_rust reply body="$request_method now\n"; }
    location = /wait { content_by_rust reply body="$request_method waited\n" delay=2ms; }
--- request eval
[map { ("$_ /now", "$_ /wait") } qw(GET POST PUT DELETE OPTIONS PATCH PROPFIND BREW)]
--- response_body eval
[map { ("$_ now\n", "$_ waited\n") } qw(GET POST PUT DELETE OPTIONS PATCH PROPFIND BREW)]
--- no_error_log
[error]



=== TEST 2: HEAD has the header that GET has, and no body
--- config
    location = /now { content_by_rust reply body="12345" type=text/x-head; }
    location = /wait { content_by_rust reply body="12345" type=text/x-head delay=2ms; }
    location = /ok { content_by_rust ok; }
    location = /hello { content_by_rust hello; }
--- request eval
["HEAD /now", "HEAD /wait", "HEAD /ok", "HEAD /hello"]
--- response_headers eval
["Content-Length: 5\nContent-Type: text/x-head", "Content-Length: 5\nContent-Type: text/x-head", "Content-Length: 3", "Content-Length: 20\nContent-Type: text/html"]
--- response_body eval
["", "", "", ""]
--- no_error_log
[error]



=== TEST 3: HEAD with an error status, an empty body, a bad value
--- config
    location = /t { content_by_rust reply body=$arg_b status=$arg_s; }
--- request eval
["HEAD /t?b=abc&s=404", "HEAD /t?s=200", "HEAD /t?b=abc&s=abc"]
--- error_code eval
[404, 200, 400]
--- response_headers eval
["Content-Length: 3", "Content-Length: 0", "Content-Type: text/html"]
--- response_body eval
["", "", ""]
--- no_error_log
[error]



=== TEST 4: a method in lower case is not nginx's to take
--- config
    location = /t { content_by_rust ok; }
--- request
get /t
--- error_code: 400
--- no_error_log
[error]



=== TEST 5: TRACE is not allowed, as everywhere in nginx
--- config
    location = /t { content_by_rust ok; }
--- request
TRACE /t
--- error_code: 405
--- no_error_log
[alert]



=== TEST 6: a method that the server asks for a body with has its body thrown away
--- config
    location = /now { content_by_rust reply body="$request_method now\n"; }
    location = /wait { content_by_rust reply body="$request_method waited\n" delay=2ms; }
--- pipelined_requests eval
["PUT /now\nabcde", "DELETE /wait\nabcde", "BREW /now\nabcde", "GET /wait\nabcde", "GET /now"]
--- response_body eval
["PUT now\n", "DELETE waited\n", "BREW now\n", "GET waited\n", "GET now\n"]
--- no_error_log
[error]



=== TEST 7: limit_except: those that it lets through are answered, the others refused
--- config
    location = /t {
        limit_except GET {
            deny all;
        }
        content_by_rust reply body="$request_method\n" delay=1ms;
    }
--- request eval
["GET /t", "HEAD /t", "POST /t", "DELETE /t"]
--- error_code eval
[200, 200, 403, 403]
--- no_error_log
[alert]



=== TEST 8: limit_except without a refusal: its block answers with its location's handler
--- config
    location = /t {
        limit_except GET {
            allow all;
        }
        content_by_rust reply body="$request_method\n" status=201 delay=1ms;
    }
    location = /before {
        content_by_rust reply body="$request_method\n" status=201;
        limit_except POST {
            auth_basic off;
        }
    }
--- request eval
["GET /t", "POST /t", "GET /before", "POST /before"]
--- response_body eval
["GET\n", "POST\n", "GET\n", "POST\n"]
--- error_code eval
[201, 201, 201, 201]
--- no_error_log
[error]



=== TEST 9: limit_except with an if around it
--- config
    location = /t {
        content_by_rust reply body="outer\n";
        limit_except GET {
            allow all;
        }
        if ($arg_i) {
            content_by_rust reply body="if\n";
        }
    }
--- request eval
["GET /t", "POST /t", "GET /t?i=1"]
--- response_body eval
["outer\n", "outer\n", "if\n"]
--- no_error_log
[error]
