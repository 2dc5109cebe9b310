# rust_max_delay: how long a client may have the server wait.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: a longer delay out of a variable is cut to it
--- http_config
    log_format waited 'waited $request_time';
--- config
    location = /t {
        rust_max_delay 100ms;
        content_by_rust reply delay=$arg_d;
        access_log logs/access.log waited;
    }
--- request
GET /t?d=1h
--- response_body
OK
--- access_log eval
qr/^waited (?:0\.099|0\.[1-9]\d\d|[1-9]\d?\.\d{3})$/
--- no_error_log
[error]



=== TEST 2: the longest time that there is does not reach the timer
--- config
    location = /t {
        rust_max_delay 10ms;
        content_by_rust reply delay=$arg_d;
    }
--- request eval
["GET /t?d=9223372036854775807ms", "GET /t?d=3600000000", "GET /t?d=1000M"]
--- response_body eval
["OK\n", "OK\n", "OK\n"]
--- no_error_log
[error]



=== TEST 3: a shorter one is not made longer
--- config
    location = /t {
        rust_max_delay 1h;
        content_by_rust reply delay=$arg_d;
    }
--- request
GET /t?d=1ms
--- response_body
OK
--- timeout: 2s
--- no_error_log
[error]



=== TEST 4: a constant delay is the configuration's own, and may be longer
--- http_config
    log_format waited 'waited $request_time';
--- config
    location = /t {
        rust_max_delay 1ms;
        content_by_rust reply delay=100ms;
        access_log logs/access.log waited;
    }
--- request
GET /t
--- response_body
OK
--- access_log eval
qr/^waited (?:0\.099|0\.[1-9]\d\d|[1-9]\d*\.\d{3})$/
--- no_error_log
[error]



=== TEST 5: ok waits its 20 ms, whatever is said
--- http_config
    log_format waited 'waited $request_time';
--- config
    location = /t {
        rust_max_delay 0;
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



=== TEST 6: with 0 no client has the server wait
--- config
    location = /t {
        rust_max_delay 0;
        content_by_rust reply delay=$arg_d;
    }
--- request
GET /t?d=1h
--- response_body
OK
--- no_error_log
[error]



=== TEST 7: a bad value is 400 all the same
--- config
    location = /t {
        rust_max_delay 0;
        content_by_rust reply delay=$arg_d;
    }
--- request
GET /t?d=soon
--- error_code: 400
--- no_error_log
[error]



=== TEST 8: a variable that the configuration sets is cut as well
--- config
    location = /t {
        set $d 1h;
        rust_max_delay 1ms;
        content_by_rust reply delay=$d;
    }
--- request
GET /t
--- response_body
OK
--- no_error_log
[error]



=== TEST 9: location before server before http
--- http_config
    rust_max_delay 1h;
--- config
    rust_max_delay 1h;
    location = /t {
        rust_max_delay 1ms;
        content_by_rust reply delay=$arg_d;
    }
--- request
GET /t?d=1h
--- response_body
OK
--- no_error_log
[error]



=== TEST 10: the server's is its locations', also of those within one another
--- http_config
    rust_max_delay 1h;
--- config
    rust_max_delay 1ms;
    location = /t { content_by_rust reply delay=$arg_d; }
    location /outer {
        location /outer/inner { content_by_rust reply delay=$arg_d; }
    }
--- request eval
["GET /t?d=1h", "GET /outer/inner?d=1h"]
--- response_body eval
["OK\n", "OK\n"]
--- no_error_log
[error]



=== TEST 11: that of http is its servers'
--- http_config
    rust_max_delay 1ms;
--- config
    location = /t { content_by_rust reply delay=$arg_d; }
--- request
GET /t?d=1h
--- response_body
OK
--- no_error_log
[error]



=== TEST 12: a location's is that of its nested locations, of its if and of its limit_except
--- config
    location /outer {
        rust_max_delay 1ms;
        content_by_rust reply delay=$arg_d;

        if ($arg_i) {
            set $dummy 1;
        }
        limit_except GET {
            allow all;
        }
        location /outer/inner {
            content_by_rust reply delay=$arg_d;
        }
    }
--- request eval
["GET /outer/inner?d=1h", "GET /outer?d=1h&i=1", "POST /outer?d=1h"]
--- response_body eval
["OK\n", "OK\n", "OK\n"]
--- no_error_log
[error]



=== TEST 13: the location that answers decides, not the one that the request came to
--- config
    location = /t {
        rust_max_delay 1h;
        rewrite ^ /u last;
    }
    location = /u {
        rust_max_delay 1ms;
        content_by_rust reply delay=$arg_d;
    }
--- request
GET /t?d=1h
--- response_body
OK
--- no_error_log
[error]



=== TEST 14: given twice
--- config
    location = /t {
        rust_max_delay 1s;
        rust_max_delay 1s;
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_delay" directive is duplicate in \S+nginx\.conf:\d+$/



=== TEST 15: no time
--- config
    rust_max_delay soon;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_delay" directive invalid value in \S+nginx\.conf:\d+$/



=== TEST 16: a negative time
--- config
    rust_max_delay -1;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_delay" directive invalid value in /



=== TEST 17: a variable
--- config
    rust_max_delay $arg_d;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_delay" directive invalid value in /



=== TEST 18: no value
--- config
    rust_max_delay;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid number of arguments in "rust_max_delay" directive in \S+nginx\.conf:\d+$/



=== TEST 19: two values
--- config
    rust_max_delay 1s 2s;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid number of arguments in "rust_max_delay" directive in /



=== TEST 20: it does not stand in an if block
--- config
    location = /t {
        if ($arg_a) {
            rust_max_delay 1s;
        }
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_delay" directive is not allowed here in /



=== TEST 21: nor outside http
--- main_config
    rust_max_delay 1s;
--- config
    location = /t { return 200; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*"rust_max_delay" directive is not allowed here in /



=== TEST 22: a delay beyond all clocks waits, and does not wrap around to none
--- config
    rust_max_delay 9223372036854775807ms;
    location = /constant { content_by_rust reply delay=9223372036854775807ms; }
    location = /variable { content_by_rust reply delay=$arg_d; }
    location = /t {
        content_by_lua_block {
            for _, path in ipairs {
                "/constant", "/variable?d=9223372036854775807ms", "/variable?d=9223372036854775s", "/variable?d=50d"
            } do
                local socket = ngx.socket.tcp()
                socket:settimeout(50)
                assert(socket:connect("127.0.0.1", ngx.var.server_port))
                assert(socket:send("GET " .. path .. " HTTP/1.0\r\n\r\n"))
                local _, why = socket:receive()
                ngx.say(path, " ", why)
                socket:close()
            end
        }
        lua_socket_log_errors off;
    }
--- request
GET /t
--- response_body
/constant timeout
/variable?d=9223372036854775807ms timeout
/variable?d=9223372036854775s timeout
/variable?d=50d timeout
--- no_error_log
[error]
[alert]
