# What the access log says of a request that a handler answered: the wait is part of its time.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: nginx's own format
--- config
    location = /t { content_by_rust ok; }
--- request
GET /t
--- more_headers
User-Agent: test
--- response_body
OK
--- access_log eval
qr/^127\.0\.0\.1 - - \[\S+ \S+\] "GET \/t HTTP\/1\.1" 200 3 "-" "test"$/
--- no_error_log
[error]



=== TEST 2: $request_time has the wait in it
--- http_config
    log_format all '$status $body_bytes_sent $request_time $request_completion';
--- config
    location = /t {
        content_by_rust reply body="12345" status=203 delay=200ms;
        access_log logs/access.log all;
    }
--- request
GET /t
--- error_code: 203
--- access_log eval
qr/^203 5 (?:0\.199|0\.[2-9]\d\d|[1-9]\d*\.\d{3}) OK$/
--- no_error_log
[error]



=== TEST 3: without a wait there is none in it
--- http_config
    log_format all 'time $request_time';
--- config
    location = /t {
        content_by_rust hello;
        access_log logs/access.log all;
    }
--- request
GET /t
--- access_log eval
qr/^time [0-2]\.\d{3}$/
--- no_error_log
[error]



=== TEST 4: HEAD has sent no byte of its body
--- http_config
    log_format all '$request_method $status $body_bytes_sent $sent_http_content_length';
--- config
    location = /t {
        content_by_rust reply body="12345" delay=2ms;
        access_log logs/access.log all;
    }
--- request
HEAD /t
--- access_log
HEAD 200 0 5
--- no_error_log
[error]



=== TEST 5: a 400 by a bad value
--- http_config
    log_format all '$request $status $sent_http_content_type';
--- config
    location = /t {
        content_by_rust reply status=$arg_s;
        access_log logs/access.log all;
    }
--- request
GET /t?s=x
--- error_code: 400
--- access_log
GET /t?s=x HTTP/1.1 400 text/html
--- no_error_log
[error]



=== TEST 6: access_log off, with a condition
--- http_config
    log_format all 'logged $uri';
    map $status $loggable { 200 0; default 1; }
--- config
    access_log logs/access.log all if=$loggable;
    location = /200 { content_by_rust ok; }
    location = /404 { content_by_rust reply status=404 delay=2ms; }
--- request eval
["GET /404", "GET /200"]
--- error_code eval
[404, 200]
--- access_log
logged /404
--- no_access_log
logged /200
--- no_error_log
[error]



=== TEST 7: an internal redirect is one line, that of where it ended
--- http_config
    log_format all '$uri $status';
--- config
    access_log logs/access.log all;
    location = /from { rewrite ^ /to last; }
    location = /to { content_by_rust ok; }
--- request
GET /from
--- access_log
/to 200
--- no_access_log
/from
--- no_error_log
[error]



=== TEST 8: subrequests are in it with log_subrequest alone
--- http_config
    log_format all '$uri $status';
--- config
    access_log logs/access.log all;
    location = /t { echo_location /sub; }
    location = /sub { content_by_rust ok; }
--- request
GET /t
--- response_body
OK
--- access_log
/t 200
--- no_access_log
/sub
--- no_error_log
[error]
