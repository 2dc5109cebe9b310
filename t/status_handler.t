# status: what all workers have counted. tests/stats.rs has workers that come and go.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: JSON, with each handler there is, and a worker's own figures
--- config
    location = /t { content_by_rust status; }
--- request
GET /t
--- response_headers
Content-Type: application/json
--- response_body_like eval
my $none = '"pending":0,"answered":0,"aborted":0,"panicked":0,"refused":0';
qr/^\{"total":\{$none\},"handlers":\{"hello":\{$none\},"ok":\{$none\},"reply":\{$none\},"status":\{$none\}(,"tokio_ok":\{$none\})?\},"workers":\[\{"worker":0,"pid":\d+,"exiting":false,$none\}\]\}$/
--- no_error_log
[error]



=== TEST 2: a request is counted when its handler has ended
--- config
    location = /status { content_by_rust status; }
    location = /hello { content_by_rust hello; }
    location = /ok { content_by_rust ok; }
    location = /refused { rust_max_pending 1; content_by_rust hello; }
    location = /t {
        content_by_lua_block {
            ngx.location.capture("/hello")
            ngx.location.capture_multi { {"/ok"}, {"/refused"} }
            local status = ngx.location.capture("/status").body
            ngx.say(status:match('"hello":%b{}'))
            ngx.say(status:match('"ok":%b{}'))
        }
    }
--- request
GET /t
--- response_body
"hello":{"pending":0,"answered":1,"aborted":0,"panicked":0,"refused":1}
"ok":{"pending":0,"answered":1,"aborted":0,"panicked":0,"refused":0}
--- no_error_log
[error]



=== TEST 3: Prometheus
--- config
    location = /t { content_by_rust status format=prometheus; }
--- request
GET /t
--- response_headers
Content-Type: text/plain; version=0.0.4; charset=utf-8
--- response_body_like eval
qr/^# HELP content_by_rust_pending Requests whose handlers wait\.
# TYPE content_by_rust_pending gauge
content_by_rust_pending\{handler="hello"\} 0
content_by_rust_pending\{handler="ok"\} 0
(?s:.*)
# TYPE content_by_rust_worker_answered_total counter
content_by_rust_worker_answered_total\{worker="0",pid="\d+"\} 0
(?s:.*)
# TYPE content_by_rust_worker_exiting gauge
content_by_rust_worker_exiting\{worker="0",pid="\d+"\} 0
$/
--- no_error_log
[error]



=== TEST 4: the format out of a variable, JSON where there is none
--- config
    location = /t { content_by_rust status format=$arg_f; }
--- request eval
["GET /t?f=json", "GET /t?f=prometheus", "GET /t", "GET /t?f=xml"]
--- error_code eval
[200, 200, 200, 400]
--- response_body_like eval
['^\{"total"', '^# HELP', '^\{"total"', '400 Bad Request']
--- no_error_log
[error]



=== TEST 5: HEAD
--- config
    location = /t { content_by_rust status; }
--- request
HEAD /t
--- response_headers_like
Content-Length: \d{3,}
--- response_body
--- no_error_log
[error]



=== TEST 6: several locations, with one scoreboard
--- config
    location = /a { content_by_rust status; }
    location = /b { content_by_rust status format=prometheus; }
--- request eval
["GET /a", "GET /b"]
--- response_body_like eval
['"status":\{"pending":0,"answered":0,', 'answered_total\{handler="status"\} 1\n']
--- no_error_log
[error]



=== TEST 7: an unknown format
--- config
    location = /t { content_by_rust status format=xml; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "xml" in "format" parameter, it must be "json" or "prometheus" in \S+nginx\.conf:\d+$/



=== TEST 8: an unknown argument
--- config
    location = /t { content_by_rust status workers=all; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "workers=all" in /
