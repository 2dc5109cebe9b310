# The directive itself: which handlers there are, and where it may stand.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: ok answers OK after 20 ms, with the type that nginx gives the location
--- config
    location = /t {
        content_by_rust ok;
    }
--- request
GET /t
--- response_body
OK
--- response_headers
Content-Type: text/plain
Content-Length: 3
! Accept-Ranges
! Transfer-Encoding
--- no_error_log
[error]
[warn]



=== TEST 2: ok waits: nginx counts no less than 20 ms, but for what its clock rounds
--- http_config
    log_format waited 'waited $request_time';
--- config
    location = /t {
        content_by_rust ok;
        access_log logs/access.log waited;
    }
--- request
GET /t
--- response_body
OK
--- access_log eval
qr/^waited (?:0\.019|0\.0[2-9]\d|0\.[1-9]\d\d|[1-9]\d*\.\d{3})$/
--- no_error_log
[error]



=== TEST 3: hello answers HTML at once
--- config
    default_type application/x-other;

    location = /t {
        content_by_rust hello;
    }
--- request
GET /t
--- response_body
<h1>HelloWorld</h1>
--- response_headers
Content-Type: text/html
Content-Length: 20
--- no_error_log
[error]



=== TEST 4: reply answers OK where nothing else is said
--- config
    location = /t {
        content_by_rust reply;
    }
--- request
GET /t
--- response_body
OK
--- response_headers
Content-Type: text/plain
Content-Length: 3
--- no_error_log
[error]



=== TEST 5: locations have handlers of their own
--- config
    location /a { content_by_rust reply body="a\n"; }
    location /b { content_by_rust hello; }
    location = /c { content_by_rust reply body="c\n"; }
    location ~ \.d$ { content_by_rust reply body="d\n"; }
--- request eval
["GET /a", "GET /b/x", "GET /c", "GET /x.d", "GET /a"]
--- response_body eval
["a\n", "<h1>HelloWorld</h1>\n", "c\n", "d\n", "a\n"]
--- no_error_log
[error]



=== TEST 6: a location that says nothing does not take the handler of the location around it
--- config
    location /outer {
        content_by_rust reply body="outer\n";

        location /outer/inner {
        }
    }
--- user_files
>>> outer/inner/file.txt
a file
--- request eval
["GET /outer/file.txt", "GET /outer/inner/file.txt"]
--- response_body eval
["outer\n", "a file\n"]
--- no_error_log
[error]



=== TEST 7: a nested location has a handler of its own
--- config
    location /outer {
        content_by_rust reply body="outer\n";

        location /outer/inner {
            content_by_rust reply body="inner\n";
        }
    }
--- request eval
["GET /outer/inner", "GET /outer/other"]
--- response_body eval
["inner\n", "outer\n"]
--- no_error_log
[error]



=== TEST 8: an unknown handler is refused, and those there are are listed
--- config
    location = /t {
        content_by_rust nosuch;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown handler "nosuch", there are: (?:\w+, )*hello, (?:\w+, )*ok, (?:\w+, )*reply\b.* in \S+nginx\.conf:\d+$/



=== TEST 9: a handler's name is case-sensitive
--- config
    location = /t {
        content_by_rust OK;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown handler "OK", there are: /



=== TEST 10: an empty name is an unknown handler
--- config
    location = /t {
        content_by_rust "";
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown handler "", there are: /



=== TEST 11: a name that would tear the line of the log is escaped
--- config
    location = /t {
        content_by_rust "no\nsuch";
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown handler "no\\nsuch", there are: /



=== TEST 12: the message names the file and the line of the directive
--- config
    include ../html/bad.conf;
--- user_files
>>> bad.conf
# first

location = /t {
    content_by_rust
        nosuch;
}
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown handler "nosuch", there are: .* in \S+bad\.conf:5$/



=== TEST 13: the handler has to be named
--- config
    location = /t {
        content_by_rust;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid number of arguments in "content_by_rust" directive in \S+nginx\.conf:\d+$/



=== TEST 14: the directive does not stand in http
--- http_config
    content_by_rust ok;
--- config
    location = /t { return 200; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is not allowed here in \S+nginx\.conf:\d+$/



=== TEST 15: it does not stand in a server
--- config
    content_by_rust ok;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is not allowed here in /



=== TEST 16: it does not stand in an if of a server
--- config
    if ($arg_a) {
        content_by_rust ok;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is not allowed here in /



=== TEST 17: it does not stand in limit_except
--- config
    location = /t {
        limit_except GET {
            content_by_rust ok;
        }
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is not allowed here in /



=== TEST 18: it does not stand outside http
--- main_config
    content_by_rust ok;
--- config
    location = /t { return 200; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is not allowed here in /



=== TEST 19: it does not stand in an upstream
--- http_config
    upstream u {
        content_by_rust ok;
    }
--- config
    location = /t { return 200; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is not allowed here in /



=== TEST 20: it takes no block
--- config
    location = /t {
        content_by_rust ok { }
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*directive "content_by_rust" is not terminated by ";" in /



=== TEST 21: of two content handlers the later one answers, as everywhere in nginx
--- config
    location = /rust {
        empty_gif;
        content_by_rust reply body="rust\n";
    }
    location = /gif {
        content_by_rust reply body="rust\n";
        empty_gif;
    }
--- request eval
["GET /rust", "GET /gif"]
--- response_body_like eval
['^rust\n$', '^GIF89a']
--- no_error_log
[error]



=== TEST 22: the location's own checks of the path stay: a trailing slash, an exact match
--- config
    location /prefix/ { content_by_rust reply body="prefix\n"; }
    location = /exact { content_by_rust reply body="exact\n"; }
--- request eval
["GET /prefix/", "GET /prefix/a", "GET /exact", "GET /exact/"]
--- response_body_like eval
['^prefix\n$', '^prefix\n$', '^exact\n$', '404 Not Found']
--- error_code eval
[200, 200, 200, 404]



=== TEST 23: two handlers in a location are one too many
--- config
    location = /t {
        content_by_rust ok;
        content_by_rust hello;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is duplicate in \S+nginx\.conf:\d+$/



=== TEST 24: the same handler twice is one too many
--- config
    location = /t {
        content_by_rust ok;
        content_by_rust ok;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is duplicate in /



=== TEST 25: the same in an if block
--- config
    location = /t {
        if ($arg_a) {
            content_by_rust ok;
            content_by_rust ok;
        }
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"content_by_rust" directive is duplicate in /
