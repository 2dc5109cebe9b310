# How a request comes to a location with a handler, and leaves it: if, nested and named locations, rewrite, try_files,
# internal, post_action.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: an if block without a handler answers with its location's
--- config
    location = /t {
        content_by_rust reply body="body $arg_i\n" status=201 type=text/x-if delay=2ms;
        if ($arg_i) {
            set $dummy 1;
        }
    }
--- request eval
["GET /t?i=1", "GET /t"]
--- error_code eval
[201, 201]
--- response_body eval
["body 1\n", "body \n"]
--- response_headers eval
["Content-Type: text/x-if", "Content-Type: text/x-if"]
--- no_error_log
[error]



=== TEST 2: wherever in its location it stands
--- config
    location = /t {
        if ($arg_i) {
            set $dummy 1;
        }
        content_by_rust reply body="body\n" status=201;
    }
--- request eval
["GET /t?i=1", "GET /t"]
--- error_code eval
[201, 201]
--- response_body eval
["body\n", "body\n"]
--- no_error_log
[error]



=== TEST 3: an if block may have a handler of its own
--- config
    location = /t {
        content_by_rust reply body="location\n";
        if ($arg_i) {
            content_by_rust reply body="if $arg_i\n" delay=2ms;
        }
        if ($arg_j) {
            content_by_rust hello;
        }
    }
--- request eval
["GET /t", "GET /t?i=1", "GET /t?j=1", "GET /t?i=1&j=1"]
--- response_body eval
["location\n", "if 1\n", "<h1>HelloWorld</h1>\n", "<h1>HelloWorld</h1>\n"]
--- no_error_log
[error]



=== TEST 4: only the if block has one
--- config
    location /file {
        if ($arg_i) {
            content_by_rust reply body="if\n";
        }
    }
--- user_files
>>> file.txt
a file
--- request eval
["GET /file.txt", "GET /file.txt?i=1"]
--- response_body eval
["a file\n", "if\n"]
--- no_error_log
[error]



=== TEST 5: if blocks of a server go before the location
--- config
    if ($arg_i = 403) {
        return 403;
    }
    location = /t { content_by_rust ok; }
--- request eval
["GET /t", "GET /t?i=403"]
--- error_code eval
[200, 403]
--- no_error_log
[alert]



=== TEST 6: return in an if block goes before the handler
--- config
    location = /t {
        if ($arg_i) {
            return 418 "returned\n";
        }
        content_by_rust ok;
    }
--- request eval
["GET /t?i=1", "GET /t"]
--- error_code eval
[418, 200]
--- response_body eval
["returned\n", "OK\n"]
--- no_error_log
[error]



=== TEST 7: nested locations
--- config
    location /a {
        content_by_rust reply body="a\n";
        location /a/b {
            content_by_rust reply body="b\n" delay=2ms;
            location ~ /(?<c>c+)$ {
                content_by_rust reply body="$c\n";
            }
        }
    }
--- request eval
["GET /a", "GET /a/b", "GET /a/b/x", "GET /a/b/ccc", "GET /a/ccc"]
--- response_body eval
["a\n", "b\n", "b\n", "ccc\n", "a\n"]
--- no_error_log
[error]



=== TEST 8: rewrite ... last into it
--- config
    location /from {
        rewrite ^/from/(.*)$ /to/$1?x=$1 last;
    }
    location /to {
        content_by_rust reply body="$uri $arg_x $request_uri\n" delay=2ms;
    }
--- request
GET /from/here
--- response_body
/to/here here /from/here
--- no_error_log
[error]



=== TEST 9: rewrite ... last out of it: the other location answers
--- config
    location = /from {
        rewrite ^ /to last;
        content_by_rust reply body="never\n";
    }
    location = /to {
        content_by_rust reply body="to\n";
    }
--- request
GET /from
--- response_body
to
--- no_error_log
[error]



=== TEST 10: rewrite ... redirect goes before the handler
--- config
    location = /t {
        rewrite ^ /elsewhere redirect;
        content_by_rust ok;
    }
--- request
GET /t
--- error_code: 302
--- response_headers_like
Location: http://.*/elsewhere
--- no_error_log
[error]



=== TEST 11: try_files falls back to it: a location, a named one
--- config
    location /file {
        try_files $uri /fallback?from=$uri;
    }
    location /named {
        try_files $uri @named;
    }
    location = /fallback { content_by_rust reply body="fallback of $arg_from\n" delay=2ms; }
    location @named { content_by_rust reply body="named of $uri\n" delay=2ms; }
--- user_files
>>> file.txt
a file
>>> named.txt
another file
--- request eval
["GET /file.txt", "GET /file.none", "GET /named.txt", "GET /named.none", "POST /named.none\nabc"]
--- response_body eval
["a file\n", "fallback of /file.none\n", "another file\n", "named of /named.none\n", "named of /named.none\n"]
--- no_error_log
[error]



=== TEST 12: try_files in its own location: the file it finds is the request's path
--- config
    location /t {
        try_files $uri /index.html =404;
        content_by_rust reply body="$uri\n" delay=1ms;
    }
--- user_files
>>> t.txt
never seen
--- request eval
["GET /t.txt", "GET /t.none"]
--- response_body eval
["/t.txt\n", "/index.html\n"]
--- no_error_log
[error]



=== TEST 13: try_files ends with a status
--- config
    location /t {
        try_files $uri =404;
        content_by_rust ok;
    }
--- request
GET /t.none
--- error_code: 404
--- response_body_like: 404 Not Found
--- no_error_log
[alert]



=== TEST 14: an index file is looked for before: it leads to the handler of the file's location
--- config
    location = /dir/index.html { content_by_rust reply body="$uri\n" delay=1ms; }
--- user_files
>>> dir/index.html
never seen
--- request
GET /dir/
--- response_body
/dir/index.html
--- no_error_log
[error]



=== TEST 15: an internal location is none for a client
--- config
    location = /t {
        internal;
        content_by_rust ok;
    }
    location = /u { rewrite ^ /t last; }
--- request eval
["GET /t", "GET /u"]
--- error_code eval
[404, 200]
--- no_error_log
[alert]



=== TEST 16: X-Accel-Redirect into it, from an upstream
--- config
    location = /front { proxy_pass http://127.0.0.1:$server_port/upstream; }
    location = /upstream {
        add_header X-Accel-Redirect /inside?a=1;
        return 200 "never seen\n";
    }
    location = /inside {
        internal;
        content_by_rust reply body="inside $arg_a\n" delay=2ms;
    }
--- request
GET /front
--- response_body
inside 1
--- no_error_log
[error]



=== TEST 17: X-Accel-Redirect out of it
--- config
    location = /front { proxy_pass http://127.0.0.1:$server_port/upstream; }
    location = /upstream {
        content_by_rust reply body="never seen\n" delay=1ms;
        add_header X-Accel-Redirect /inside;
    }
    location = /inside {
        internal;
        return 200 "inside\n";
    }
--- request
GET /front
--- response_body
inside
--- no_error_log
[error]



=== TEST 18: an internal redirect from Lua, before a body is read
--- config
    location = /from { content_by_lua_block { ngx.exec("/to", "a=1") } }
    location = /named { content_by_lua_block { ngx.exec("@to") } }
    location = /to { content_by_rust reply body="to $arg_a\n" delay=2ms; }
    location @to { content_by_rust reply body="named\n" delay=2ms; }
--- request eval
["GET /from", "GET /named", "POST /from\nabc"]
--- response_body eval
["to 1\n", "named\n", "to 1\n"]
--- no_error_log
[error]



=== TEST 19: an internal redirect from echo
--- config
    location = /from { echo_exec /to a=1; }
    location = /to { content_by_rust reply body="to $arg_a\n" delay=2ms; }
--- request
GET /from
--- response_body
to 1
--- no_error_log
[error]



=== TEST 20: post_action: a handler, after an answer of another one
--- http_config
    log_format action 'action $uri $status';
--- config
    location = /t {
        content_by_rust reply body="answer\n" delay=2ms;
        post_action /after;
    }
    location = /after {
        content_by_rust reply body="never seen\n" delay=2ms;
        access_log logs/access.log action;
    }
--- request
GET /t
--- response_body
answer
--- wait: 0.1
--- access_log
action /after 200
--- no_error_log
[error]
[alert]



=== TEST 21: post_action of an answer that is not ours
--- http_config
    log_format action 'action $uri $status';
--- config
    location = /t {
        return 200 "answer\n";
        post_action /after;
    }
    location = /file.txt {
        post_action /after;
    }
    location = /after {
        content_by_rust ok;
        access_log logs/access.log action;
    }
--- user_files
>>> file.txt
a file
--- request
GET /file.txt
--- response_body
a file
--- wait: 0.1
--- access_log
action /after 200
--- no_error_log
[error]
[alert]



=== TEST 22: alias, root and index say nothing to it
--- config
    location /t/ {
        alias /nowhere/;
        index none.html;
        content_by_rust reply body="$uri $request_filename\n";
    }
--- request eval
["GET /t/", "GET /t/a/../b"]
--- response_body eval
["/t/ /nowhere/\n", "/t/b /nowhere/b\n"]
--- no_error_log
[error]



=== TEST 23: a path with a slash at its end goes to it, as it does to every content handler
--- config
    location /t { content_by_rust reply body="$uri\n"; }
--- request eval
["GET /t", "GET /t/", "GET /t/a/?b"]
--- response_body eval
["/t\n", "/t/\n", "/t/a/\n"]
--- no_error_log
[error]



=== TEST 24: an if block with another module's handler, in a location with ours, and the other way round
--- config
    location = /ours {
        content_by_rust reply body="ours\n" delay=2ms;
        if ($arg_a = proxy) {
            proxy_pass http://127.0.0.1:$server_port;
            rewrite ^ /back break;
        }
        if ($arg_a = echo) {
            echo echo;
        }
    }
    location = /theirs {
        echo theirs;
        if ($arg_a) {
            content_by_rust reply body="ours\n" delay=2ms;
        }
    }
    location = /back { return 200 "back\n"; }
--- request eval
["GET /ours", "GET /ours?a=proxy", "GET /ours?a=echo", "GET /theirs", "GET /theirs?a=1"]
--- response_body_like eval
['^ours\n$', '^back\n$', '^echo\n$', '^theirs\n$', '^ours\n$']
--- no_error_log
[error]



=== TEST 25: an if block in a nested location without a handler does not take that of the location around it
--- config
    location /outer {
        content_by_rust reply body="outer\n";
        location /outer/inner {
            if ($arg_a) {
                set $dummy 1;
            }
        }
    }
--- user_files
>>> outer/inner/file.txt
a file
--- request eval
["GET /outer/inner/file.txt", "GET /outer/inner/file.txt?a=1"]
--- response_body eval
["a file\n", "a file\n"]
--- no_error_log
[error]



=== TEST 26: if blocks in if blocks are not allowed; two in a row are, and the last that holds decides
--- config
    location = /t {
        content_by_rust reply body="$arg_a none\n";
        if ($arg_a ~ "^(.)") {
            content_by_rust reply body="first $1\n";
        }
        if ($arg_a ~ "(.)$") {
            content_by_rust reply body="last $1\n" delay=2ms;
        }
        if ($arg_a = "xyz") {
            set $dummy 1;
        }
    }
--- request eval
["GET /t?a=ab", "GET /t?a=xyz", "GET /t"]
--- response_body eval
["last b\n", "xyz none\n", " none\n"]
--- no_error_log
[error]



=== TEST 27: limit_except in a nested location without a handler does not take that of the location around it
--- config
    location /outer {
        content_by_rust reply body="outer\n";
        location /outer/inner {
            limit_except GET {
                allow all;
            }
        }
        location /outer/gif {
            empty_gif;
            limit_except GET {
                allow all;
            }
        }
    }
--- user_files
>>> outer/inner/file.txt
a file
--- request eval
["GET /outer/inner/file.txt", "POST /outer/inner/file.txt", "POST /outer/gif"]
--- error_code eval
[200, 405, 404]
--- no_error_log
[alert]
