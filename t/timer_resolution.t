# timer_resolution rounds every wait: nginx warns, when it reads its configuration, where a constant delay is shorter.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: the shortest of the constant delays is named
--- main_config
    timer_resolution 100ms;
--- config
    location = /a { content_by_rust reply delay=20ms; }
    location = /b { content_by_rust reply delay=3ms; }
    location = /c { content_by_rust reply delay=1s; }
    location = /d { content_by_rust reply delay=0; }
--- request
GET /b
--- response_body
OK
--- error_log eval
qr/\[warn\] .*with "timer_resolution" of 100ms a delay of 3ms takes up to 100ms longer/
--- no_error_log
[error]
a delay of 0ms
a delay of 20ms



=== TEST 2: a delay in an if block counts as well
--- main_config
    timer_resolution 50ms;
--- config
    location = /t {
        if ($arg_i) {
            content_by_rust reply delay=10ms;
        }
        return 200 "OK\n";
    }
--- request
GET /t
--- response_body
OK
--- error_log eval
qr/\[warn\] .*with "timer_resolution" of 50ms a delay of 10ms takes up to 50ms longer/
--- no_error_log
[error]



=== TEST 3: the wait takes no less than it says
--- main_config
    timer_resolution 100ms;
--- http_config
    log_format waited 'waited $request_time';
--- config
    location = /t {
        content_by_rust reply body="$arg_n\n" delay=150ms;
        access_log logs/access.log waited;
    }
    location = /all {
        content_by_lua_block {
            local clock = require("ffi")
            clock.cdef [[
                typedef struct { long sec, nsec; } cbr_time;
                int clock_gettime(int clock, cbr_time *time);
            ]]
            local now = clock.new("cbr_time")
            local function seconds()
                clock.C.clock_gettime(1, now)
                return tonumber(now.sec) + tonumber(now.nsec) / 1e9
            end

            local start = seconds()
            ngx.location.capture("/t")
            local waited = seconds() - start
            ngx.say(waited >= 0.149 and "long enough" or "only " .. waited)
        }
        access_log off;
    }
--- request
GET /all
--- response_body
long enough
--- no_error_log
[error]
[warn]



=== TEST 4: no warning where no delay is shorter
--- main_config
    timer_resolution 20ms;
--- config
    location = /t { content_by_rust ok; }
    location = /u { content_by_rust hello; }
    location = /v { content_by_rust reply delay=0; }
--- request
GET /t
--- response_body
OK
--- no_error_log
[error]
[warn]



=== TEST 5: none for a delay out of a variable, which nobody knows yet
--- main_config
    timer_resolution 100ms;
--- config
    location = /t { content_by_rust reply delay=$arg_d; }
--- request
GET /t?d=1ms
--- response_body
OK
--- no_error_log
[error]
[warn]



=== TEST 6: none without timer_resolution
--- config
    location = /t { content_by_rust ok; }
--- request
GET /t
--- response_body
OK
--- no_error_log
[error]
[warn]



=== TEST 7: ok's 20 ms are shorter than 100 ms
--- main_config
    timer_resolution 100ms;
--- config
    location = /t { content_by_rust ok; }
--- request
GET /t
--- response_body
OK
--- error_log eval
qr/\[warn\] .*with "timer_resolution" of 100ms a delay of 20ms takes up to 100ms longer/
--- no_error_log
[error]
