# $rust_pending, $rust_handler and $rust_wait: what the access log tells of a handler.

use Test::Nginx::Socket 'no_plan';

add_block_preprocessor(sub {
    my $block = shift;
    return if defined $block->must_die;
    $block->set_value("http_config", ($block->http_config // "")
        . "    log_format told '\$status <\$rust_handler> <\$rust_wait> <\$rust_pending>';\n");
    $block->set_value("config", "    access_log logs/access.log told;\n" . $block->config);
});

no_shuffle();
run_tests();

__DATA__

=== TEST 1: a handler that waits
--- config
    location = /t { content_by_rust reply delay=200ms; }
--- request
GET /t
--- access_log eval
qr/^200 <reply> <(?:0\.[2-9]\d\d|[1-9]\d*\.\d{3})> <0>$/
--- no_error_log
[error]



=== TEST 2: one that does not
--- config
    location = /t { content_by_rust hello; }
--- request
GET /t
--- access_log
200 <hello> <0.000> <0>
--- no_error_log
[error]



=== TEST 3: no handler
--- config
    location = /t { return 204; }
--- request
GET /t
--- error_code: 204
--- access_log
204 <-> <-> <0>
--- no_error_log
[error]



=== TEST 4: a handler that did not run: return, access, a redirect
--- config
    location = /return { return 202; content_by_rust hello; }
    location = /deny { deny all; content_by_rust hello; }
    location = /rewrite { rewrite ^ /else redirect; content_by_rust hello; }
--- pipelined_requests eval
["GET /return", "GET /deny", "GET /rewrite"]
--- error_code eval
[202, 403, 302]
--- access_log
202 <-> <-> <0>
403 <-> <-> <0>
302 <-> <-> <0>



=== TEST 5: no location at all: a bad request
--- config
    location = /t { content_by_rust hello; }
--- raw_request eval
"GET /t HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"
--- error_code: 400
--- access_log
400 <-> <-> <0>
--- no_error_log
[error]



=== TEST 6: after an error_page, the handler that it came from, and its wait
--- config
    location = /t {
        error_page 404 /page;
        content_by_rust reply status=404 delay=200ms;
    }
    location = /page { return 200 "page\n"; }
--- request
GET /t
--- error_code: 404
--- response_body
page
--- access_log eval
qr/^404 <reply> <(?:0\.[2-9]\d\d|[1-9]\d*\.\d{3})> <0>$/
--- no_error_log
[error]



=== TEST 7: after an error_page to a handler, that handler, and all waits
--- config
    location = /t {
        error_page 404 = /page;
        content_by_rust reply status=404 delay=100ms;
    }
    location = /page { content_by_rust ok; }
--- request
GET /t
--- access_log eval
qr/^200 <ok> <(?:0\.1[2-9]\d|0\.[2-9]\d\d|[1-9]\d*\.\d{3})> <0>$/
--- no_error_log
[error]



=== TEST 8: an error_page of a filter's: a condition that is not met
--- config
    location = /t {
        error_page 412 /page;
        content_by_rust reply delay=200ms;
    }
    location = /page { return 200; }
--- request
GET /t
--- more_headers
If-Match: "no"
--- error_code: 412
--- access_log eval
qr/^412 <reply> <(?:0\.[2-9]\d\d|[1-9]\d*\.\d{3})> <0>$/
--- no_error_log
[error]



=== TEST 9: refused: no handler ran
--- config
    location = /page.txt { ssi on; ssi_types text/plain; log_subrequest on; }
    location = /hold { log_subrequest on; content_by_rust reply body=held delay=50ms; }
    location = /limited { log_subrequest on; rust_max_pending 1; content_by_rust hello; }
--- user_files
>>> page.txt
<!--# include virtual="/hold" --><!--# include virtual="/limited" -->
--- request
GET /page.txt
--- response_body_like: ^held
--- access_log eval
[qr/^503 <-> <-> <\d>$/, qr/^200 <reply> <\d+\.\d{3}> <\d>$/, qr/^200 <-> <-> <0>$/]
--- no_error_log
[error]



=== TEST 10: subrequests and their page each have their own
--- config
    log_subrequest on;
    location = /page.txt { ssi on; ssi_types text/plain; }
    location = /a { content_by_rust reply body=a delay=200ms; }
    location = /b { content_by_rust hello; }
    location = /c { return 200 c; }
--- user_files
>>> page.txt
<!--# include virtual="/a" --><!--# include virtual="/b" --><!--# include virtual="/c" -->
--- request
GET /page.txt
--- response_body_like: ^a<h1>HelloWorld</h1>
--- access_log eval
[qr/^200 <reply> <(?:0\.[2-9]\d\d|[1-9]\d*\.\d{3})> <\d>$/, qr/^200 <hello> <0\.000> <\d>$/, qr/^200 <-> <-> <\d>$/]
--- no_error_log
[error]



=== TEST 11: in other directives: before the handler nothing is known, in its answer's head all is
--- config
    location = /t {
        set $before "<$rust_handler>";
        add_header X-Told "$before $rust_handler $rust_pending";
        add_header X-Wait $rust_wait;
        content_by_rust ok;
    }
--- request
GET /t
--- response_headers_like
X-Told: <> ok 0
X-Wait: \d+\.\d\d\d
--- access_log eval
qr/^200 <ok> <(?:0\.0[2-9]\d|0\.[1-9]\d\d|[1-9]\d*\.\d{3})> <0>$/
--- no_error_log
[error]



=== TEST 12: pipelined requests and kept connections
--- config
    location = /a { content_by_rust reply body=a delay=200ms; }
    location = /b { content_by_rust hello; }
    location = /c { return 204; }
--- pipelined_requests eval
["GET /a", "GET /b", "GET /c"]
--- error_code eval
[200, 200, 204]
--- access_log eval
[qr/^200 <reply> <(?:0\.[2-9]\d\d|[1-9]\d*\.\d{3})> <0>$/, qr/^200 <hello> <0\.000> <0>$/, qr/^204 <-> <-> <0>$/]
--- no_error_log
[error]



=== TEST 13: a bad argument is the handler's answer, too
--- config
    location = /t { content_by_rust reply status=$arg_s; }
--- request
GET /t?s=x
--- error_code: 400
--- access_log
400 <reply> <0.000> <0>
--- no_error_log
[error]



=== TEST 14: Lua asks by name
--- config
    location = /t {
        content_by_rust hello;
        log_by_lua_block {
            ngx.log(ngx.WARN, "told ", ngx.var.rust_handler, " ", ngx.var.rust_wait, " ", ngx.var.rust_pending)
        }
    }
--- request
GET /t
--- error_log
told hello 0.000 0



=== TEST 15: they cannot be set
--- config
    location = /t { set $rust_wait 1; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*the duplicate "rust_wait" variable in /
