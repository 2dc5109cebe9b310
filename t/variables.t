# Every argument of reply takes nginx's variables. What a variable brings is checked when it comes: a value that the
# argument cannot have is the client's mistake, 400, and a line at info.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: an argument of the request in the body
--- config
    location = /t { content_by_rust reply body="hi $arg_name\n"; }
--- request eval
["GET /t?name=you", "GET /t", "GET /t?name=", "GET /t?name=a%20b"]
--- response_body eval
["hi you\n", "hi \n", "hi \n", "hi a%20b\n"]
--- no_error_log
[error]



=== TEST 2: a body of many parts
--- config
    location = /t {
        set $mine "mine";
        content_by_rust reply body="$request_method ${uri}?$args $mine:${mine}s $http_x_a $remote_addr $server_protocol\n";
    }
--- request
GET /t?a=1&b=2
--- more_headers
X-A: header
--- response_body
GET /t?a=1&b=2 mine:mines header 127.0.0.1 HTTP/1.1
--- no_error_log
[error]



=== TEST 3: a body that is nothing but a variable
--- config
    location = /t { content_by_rust reply body=$arg_a; }
--- request eval
["GET /t?a=x", "GET /t"]
--- response_body eval
["x", ""]
--- response_headers eval
["Content-Length: 1", "Content-Length: 0"]
--- no_error_log
[error]



=== TEST 4: the status out of a variable
--- config
    location = /t { content_by_rust reply status=$arg_s body="$arg_s\n"; }
--- request eval
["GET /t?s=200", "GET /t?s=201", "GET /t?s=404", "GET /t?s=503", "GET /t?s=999"]
--- error_code eval
[200, 201, 404, 503, 999]
--- response_body eval
["200\n", "201\n", "404\n", "503\n", "999\n"]
--- no_error_log
[error]



=== TEST 5: an empty variable is the default: 200, no delay, nginx's own type
--- config
    location = /t.html {
        types { text/html html; }
        content_by_rust reply body="x\n" status=$arg_s delay=$arg_d type=$arg_t;
    }
--- request eval
["GET /t.html", "GET /t.html?s=&d=&t="]
--- response_body eval
["x\n", "x\n"]
--- response_headers eval
["Content-Type: text/html", "Content-Type: text/html"]
--- no_error_log
[error]



=== TEST 6: the type out of a variable
--- config
    location = /t { content_by_rust reply type=text/$arg_t; }
--- request eval
["GET /t?t=html", "GET /t?t=x-any;charset=utf-8"]
--- response_headers eval
["Content-Type: text/html", "Content-Type: text/x-any;charset=utf-8"]
--- response_body eval
["OK\n", "OK\n"]
--- no_error_log
[error]



=== TEST 7: the delay out of a variable
--- http_config
    log_format waited 'waited $request_time';
--- config
    location = /t {
        content_by_rust reply delay=$arg_d;
        access_log logs/access.log waited;
    }
--- request
GET /t?d=100ms
--- response_body
OK
--- access_log eval
qr/^waited (?:0\.099|0\.[1-9]\d\d|[1-9]\d*\.\d{3})$/
--- no_error_log
[error]



=== TEST 8: a time with spaces comes out of a variable as it does out of the configuration
--- config
    location = /t {
        set $d "0s 10ms";
        content_by_rust reply delay=$d;
    }
--- request
GET /t
--- response_body
OK
--- no_error_log
[error]



=== TEST 9: a status that is none is 400
--- config
    location = /t { content_by_rust reply status=$arg_s; }
--- request
GET /t?s=abc
--- error_code: 400
--- response_body_like: 400 Bad Request
--- response_headers
Content-Type: text/html
--- error_log eval
qr/\[info\] .*invalid value "abc" in "status" parameter, it must be a status from 200 to 999,? .*client: 127\.0\.0\.1, server: localhost, request: "GET \/t\?s=abc HTTP\/1\.1"/
--- no_error_log
[error]
[warn]



=== TEST 10: so are those that nginx cannot answer with
--- config
    location = /t { content_by_rust reply status=$arg_s; }
--- request eval
[map "GET /t?s=$_", qw(0 -1 99 100 101 199 1000 0200 20 2000 200.0 +200 20x 18446744073709551816), "%20200"]
--- error_code eval
[(400) x 15]
--- no_error_log
[error]



=== TEST 11: a delay that is none is 400
--- config
    location = /t { content_by_rust reply delay=$arg_d; }
--- request
GET /t?d=soon
--- error_code: 400
--- response_body_like: 400 Bad Request
--- error_log eval
qr/\[info\] .*invalid value "soon" in "delay" parameter, it must be a time such as "20ms",? .*client: 127\.0\.0\.1/
--- no_error_log
[error]
[warn]



=== TEST 12: so are all the others
--- config
    location = /t { content_by_rust reply delay=$arg_d; }
--- request eval
[map "GET /t?d=$_", "1,5s", qw(-1 -1ms +1 1.5 20msec 20MS 1s1m 1s1s 1y ms s 0x10 99999999999999999999 9223372036854775808ms 1%20ms)]
--- error_code eval
[(400) x 16]
--- no_error_log
[error]
[alert]



=== TEST 13: a bad delay is answered at once, not after a wait
--- config
    location = /t { content_by_rust reply status=$arg_s delay=1h; }
--- request
GET /t?s=abc
--- error_code: 400



=== TEST 14: a type with a control character is 400
--- config
    location = /t {
        set_by_lua_block $t { return "text/plain\r\nX-Injected: 1" }
        content_by_rust reply type=$t;
    }
--- request
GET /t
--- error_code: 400
--- raw_response_headers_unlike: X-Injected
--- error_log eval
qr/\[info\] .*invalid header value "text\/plain\\r\\nX-Injected: 1"/
--- no_error_log
[error]



=== TEST 15: whichever it is; a tab is none
--- config
    location = /t {
        set_by_lua_block $t { return "text/plain" .. string.char(ngx.var.arg_c) }
        content_by_rust reply type=$t;
    }
--- request eval
[map "GET /t?c=$_", 0, 1, 8, 9, 10, 13, 31, 127, 32]
--- error_code eval
[400, 400, 400, 200, 400, 400, 400, 400, 200]
--- no_error_log
[error]



=== TEST 16: a captured %0d%0a is one as well
--- config
    location ~ (?s)^/t/(.*)$ {
        content_by_rust reply type=$1;
    }
--- request eval
["GET /t/text/x%0d%0aSet-Cookie:a=b", "GET /t/text/x"]
--- error_code eval
[400, 200]
--- raw_response_headers_unlike eval
["Set-Cookie", "Set-Cookie"]
--- no_error_log
[error]



=== TEST 17: the value in the log is escaped: it stays one line
--- config
    location ~ (?s)^/t/(.*)$ {
        content_by_rust reply status=$1;
    }
--- request
GET /t/a%0Ab%22c
--- error_code: 400
--- error_log eval
qr/\[info\] .*invalid value "a\\nb\\"c" in "status" parameter/
--- no_error_log
[error]



=== TEST 18: a body may hold any byte
--- config
    location ~ (?s)^/t/(.*)$ {
        content_by_rust reply body="[$1]" type=application/octet-stream;
    }
--- request
GET /t/%01%0d%0a%7f%80%ff
--- response_body eval
"[\x01\r\n\x7f\x80\xff]"
--- response_headers
Content-Length: 8
--- no_error_log
[error]



=== TEST 19: captures of the location's regex, by number and by name
--- config
    location ~ "^/(\d+)/(?<word>[a-z]+)/(.*)$" {
        content_by_rust reply body="$1 $2 $3 $word\n";
    }
--- request eval
["GET /12/abc/x/y", "GET /3/z/"]
--- response_body eval
["12 abc x/y abc\n", "3 z  z\n"]
--- no_error_log
[error]



=== TEST 20: set, and rewrite's captures
--- config
    location /t {
        set $a $arg_a;
        set $b "$a-$a";
        rewrite ^/t/(\w+)$ /t/x?c=$1 break;
        content_by_rust reply body="$b $uri $arg_c\n";
    }
--- request
GET /t/abc?a=1
--- response_body
1-1 /t/x abc
--- no_error_log
[error]



=== TEST 21: map: a status, a delay, a type and a body by the request
--- http_config
    map $arg_k $status_of { default 200; none 404; busy 503; }
    map $arg_k $delay_of { default 0; busy 10ms; }
    map $arg_k $type_of { default text/plain; none text/html; }
    map $arg_k $body_of { default "fine\n"; none "<p>none\n"; busy "busy\n"; }
--- config
    location = /t { content_by_rust reply status=$status_of delay=$delay_of type=$type_of body=$body_of; }
--- request eval
["GET /t", "GET /t?k=none", "GET /t?k=busy"]
--- error_code eval
[200, 404, 503]
--- response_body eval
["fine\n", "<p>none\n", "busy\n"]
--- response_headers eval
["Content-Type: text/plain", "Content-Type: text/html", "Content-Type: text/plain"]
--- no_error_log
[error]



=== TEST 22: geo
--- http_config
    geo $where { default far; 127.0.0.0/8 near; }
    geo $arg_ip $there { default far; 10.0.0.0/8 near; }
--- config
    location = /t { content_by_rust reply body="$where $there\n"; }
--- request eval
["GET /t?ip=10.1.2.3", "GET /t?ip=11.1.2.3"]
--- response_body eval
["near near\n", "near far\n"]
--- no_error_log
[error]



=== TEST 23: split_clients
--- http_config
    split_clients "$arg_k" $all { 100% "all"; }
    split_clients "$arg_k" $none { 0.01% "some"; * "none"; }
--- config
    location = /t { content_by_rust reply body="$all $none\n"; }
--- request
GET /t?k=1
--- response_body
all none
--- no_error_log
[error]



=== TEST 24: the body's variables are read when the wait is over, those of the status before it
--- config
    location = /t {
        set $v before;
        content_by_rust reply body="$v $request_time\n" delay=100ms;
    }
--- request
GET /t
--- response_body_like eval
qr/^before (?:0\.099|0\.[1-9]\d\d|[1-9]\d*\.\d{3})\n$/
--- no_error_log
[error]



=== TEST 25: what only the answer has is empty in its own body
--- config
    location = /t { content_by_rust reply body="[$sent_http_content_type][$body_bytes_sent]\n"; }
--- request
GET /t
--- response_body
[][0]
--- no_error_log
[error]



=== TEST 26: the request's body has not been read
--- config
    location = /t { content_by_rust reply body="[$request_body][$content_length]\n"; }
--- request
POST /t
abc
--- response_body
[][3]
--- no_error_log
[error]



=== TEST 27: many arguments of the request; the last bytes of the request line
--- config
    location = /t { content_by_rust reply body="$arg_a$arg_b$arg_c$arg_d$arg_e$arg_f$arg_g$arg_h$is_args$args\n"; }
--- request
GET /t?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8
--- response_body
12345678?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8
--- no_error_log
[error]



=== TEST 28: requests one after the other on a connection see their own variables
--- config
    location = /t { content_by_rust reply body="$arg_a $connection_requests\n" delay=$arg_d status=$arg_s; }
--- pipelined_requests eval
["GET /t?a=1&d=5ms&s=201", "GET /t?a=2", "GET /t?a=3&s=404", "GET /t?a=4&d=1ms"]
--- error_code eval
[201, 200, 404, 200]
--- response_body eval
["1 1\n", "2 2\n", "3 3\n", "4 4\n"]
--- no_error_log
[error]
