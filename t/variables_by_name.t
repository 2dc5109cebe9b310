# $rust_handler and $rust_wait where nothing in the configuration names them: asked for while nginx runs.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: Lua, in the answer's filters and in the log
--- config
    location = /t {
        content_by_rust reply delay=200ms;
        header_filter_by_lua_block { ngx.header["X-Handler"] = ngx.var.rust_handler }
        log_by_lua_block { ngx.log(ngx.WARN, "told ", ngx.var.rust_handler, " ", ngx.var.rust_wait) }
    }
--- request
GET /t
--- response_headers
X-Handler: reply
--- error_log eval
qr/told reply (?:0\.[2-9]\d\d|[1-9]\d*\.\d{3})/



=== TEST 2: Lua, where no handler ran
--- config
    location = /t {
        return 204;
        log_by_lua_block { ngx.log(ngx.WARN, "told ", ngx.var.rust_handler, " ", ngx.var.rust_wait) }
    }
--- request
GET /t
--- error_code: 204
--- error_log
told nil nil



=== TEST 3: Lua, after handlers of two locations
--- config
    location = /t {
        error_page 404 = /page;
        content_by_rust reply delay=100ms status=404;
    }
    location = /page {
        content_by_rust reply body=page delay=100ms;
        log_by_lua_block { ngx.log(ngx.WARN, "told ", ngx.var.rust_handler, " ", ngx.var.rust_wait) }
    }
--- request
GET /t
--- response_body chomp
page
--- error_log eval
qr/told reply (?:0\.[2-9]\d\d|[1-9]\d*\.\d{3})/

