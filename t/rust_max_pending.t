# rust_max_pending: as many requests of a worker may wait, and no more begin then.

use Test::Nginx::Socket 'no_plan';

# /hold waits, and /t asks it twice and then others, so that two wait already. It tells the
# statuses of the others.
add_block_preprocessor(sub {
    my $block = shift;
    my $asks = $block->asks;
    return unless defined $asks;
    my $all = join ", ", map { "{\"$_\"}" } split ' ', $asks;
    $block->set_value("config", $block->config . <<"_EOC_");
    location = /hold { content_by_rust reply delay=50ms; }
    location = /t {
        content_by_lua_block {
            local all = { ngx.location.capture_multi { {"/hold"}, {"/hold"}, $all } }
            for i = 3, #all do
                local retry = all[i].header["Retry-After"]
                ngx.say(all[i].status, retry and " " .. tostring(retry) or "")
            end
        }
    }
_EOC_
    $block->set_value("request", "GET /t");
});

no_shuffle();
run_tests();

__DATA__

=== TEST 1: without it there is no limit
--- config
    location = /a { content_by_rust hello; }
--- asks
/a
--- response_body
200
--- no_error_log
[warn]
[error]



=== TEST 2: as many wait: the next is refused, is told when to come again, and the log says so
--- config
    location = /a { rust_max_pending 2; content_by_rust hello; }
--- asks
/a
--- response_body
503 1
--- error_log eval
qr/\[warn\] .*refused by "rust_max_pending", requests that wait: 2, client: .*, subrequest: "\/a"/
--- no_error_log
[error]



=== TEST 3: fewer wait: the next begins
--- config
    location = /a { rust_max_pending 3; content_by_rust hello; }
--- asks
/a /a
--- response_body
200
200
--- no_error_log
[warn]
[error]



=== TEST 4: a request that waits counts for the next, in whatever location
--- config
    location = /a { rust_max_pending 3; content_by_rust ok; }
    location = /b { rust_max_pending 3; content_by_rust ok; }
--- asks
/a /b /a
--- response_body
200
503 1
503 1
--- no_error_log
[error]



=== TEST 5: 0 is no limit, within a server that has one
--- config
    rust_max_pending 1;
    location = /a { rust_max_pending 0; content_by_rust hello; }
    location = /b { content_by_rust hello; }
    location = /c { return 204; }
--- asks
/a /b /c
--- response_body
200
503 1
204
--- no_error_log
[error]



=== TEST 6: the handler of a refused request does not run: its arguments are not looked at
--- config
    location = /a { rust_max_pending 2; content_by_rust reply status=$arg_s; }
    location = /b { content_by_rust reply status=$arg_s; }
--- asks
/a?s=x /b?s=x
--- response_body
503 1
400
--- no_error_log
[error]



=== TEST 7: an error_page whose location refuses as well: nginx's own page, and the header once
--- config
    rust_max_pending 1;
    error_page 503 /busy;
    recursive_error_pages on;
    location = /busy { error_page 503 /busier; content_by_rust hello; }
    location = /busier { error_page 404 /no; content_by_rust hello; }
    location = /a { content_by_rust hello; }
--- asks
/a
--- response_body
503 1
--- no_error_log
[error]



=== TEST 8: location before server before http
--- http_config
    rust_max_pending 1;
--- config
    rust_max_pending 2;
    location = /a { rust_max_pending 3; content_by_rust hello; }
    location = /b { content_by_rust hello; }
--- asks
/a /b
--- response_body
200
503 1
--- no_error_log
[error]



=== TEST 9: that of http is its servers'
--- http_config
    rust_max_pending 2;
--- config
    location = /a { content_by_rust hello; }
--- asks
/a
--- response_body
503 1
--- no_error_log
[error]



=== TEST 10: 0 in http is no limit
--- http_config
    rust_max_pending 0;
--- config
    location = /a { content_by_rust hello; }
--- asks
/a
--- response_body
200
--- no_error_log
[warn]
[error]



=== TEST 11: a location's is that of its nested locations, and of its if
--- config
    location /outer {
        rust_max_pending 2;
        content_by_rust hello;
        if ($arg_i) {
            set $dummy 1;
        }
        location /outer/inner { content_by_rust hello; }
        location /outer/open { rust_max_pending 0; content_by_rust hello; }
    }
--- asks
/outer?i=1 /outer/inner /outer/open
--- response_body
503 1
503 1
200
--- no_error_log
[error]



=== TEST 12: an if with a handler of its own has its location's limit
--- config
    location = /a {
        rust_max_pending 2;
        if ($arg_i) {
            content_by_rust hello;
        }
        content_by_rust reply status=202;
    }
--- asks
/a?i=1 /a
--- response_body
503 1
503 1
--- no_error_log
[error]



=== TEST 13: the location that answers decides, not the one that the request came to
--- config
    location = /a { rewrite ^ /b last; }
    location = /b { rust_max_pending 2; content_by_rust hello; }
    location = /c { rust_max_pending 2; rewrite ^ /d last; }
    location = /d { content_by_rust hello; }
--- asks
/a /c
--- response_body
503 1
200
--- no_error_log
[error]



=== TEST 14: return beside it answers as ever
--- config
    location = /a { rust_max_pending 2; return 201; content_by_rust hello; }
--- asks
/a
--- response_body
201
--- no_error_log
[warn]
[error]



=== TEST 15: SSI: what a page includes is refused, not the page
--- config
    ssi on;
    ssi_types text/plain;
    location = /h { content_by_rust reply body="[held]" delay=50ms; }
    location = /a { error_page 503 = @busy; rust_max_pending 1; content_by_rust hello; }
    location @busy { return 200 "[busy]"; }
--- user_files
>>> page.txt
<!--# include virtual="/h" --><!--# include virtual="/a" -->
--- request
GET /page.txt
--- response_body
[held][busy]
--- no_error_log
[error]



=== TEST 16: given twice
--- config
    location = /t {
        rust_max_pending 1;
        rust_max_pending 1;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive is duplicate in \S+nginx\.conf:\d+$/



=== TEST 17: 0 given twice
--- config
    rust_max_pending 0;
    rust_max_pending 0;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive is duplicate in /



=== TEST 18: no number
--- config
    rust_max_pending many;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive invalid number in \S+nginx\.conf:\d+$/



=== TEST 19: a negative number
--- config
    rust_max_pending -1;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive invalid number in /



=== TEST 20: a number with a unit
--- config
    rust_max_pending 1k;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive invalid number in /



=== TEST 21: a number beyond all numbers
--- config
    rust_max_pending 9223372036854775808;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive invalid number in /



=== TEST 22: a variable
--- config
    rust_max_pending $arg_n;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive invalid number in /



=== TEST 23: no value
--- config
    rust_max_pending;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid number of arguments in "rust_max_pending" directive in \S+nginx\.conf:\d+$/



=== TEST 24: two values
--- config
    rust_max_pending 1 2;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid number of arguments in "rust_max_pending" directive in /



=== TEST 25: it does not stand in an if block
--- config
    location = /t {
        if ($arg_a) {
            rust_max_pending 1;
        }
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive is not allowed here in /



=== TEST 26: nor outside http
--- main_config
    rust_max_pending 1;
--- config
    location = /t { return 200; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_pending" directive is not allowed here in /
