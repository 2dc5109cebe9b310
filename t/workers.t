# A master and two workers.

use Test::Nginx::Socket 'no_plan';

workers(2);
master_on();
no_shuffle();
worker_connections(256);
run_tests();

__DATA__

=== TEST 1: each worker waits for itself
--- config
    location = /t { content_by_rust reply body="$pid\n" delay=$arg_d; }
--- request eval
["GET /t?d=20ms", "GET /t?d=1ms", "GET /t", "GET /t?d=20ms"]
--- response_body_like eval
[('^\d+\n$') x 4]
--- no_error_log
[error]
[alert]



=== TEST 2: requests that wait in both of them
--- config
    location = /t { content_by_rust reply body="$arg_i\n" delay=5ms; }
    location = /all {
        content_by_lua_block {
            local function get(i)
                local socket = ngx.socket.tcp()
                assert(socket:connect("127.0.0.1", ngx.var.server_port))
                assert(socket:send("GET /t?i=" .. i .. " HTTP/1.0\r\n\r\n"))
                return (assert(socket:receive("*a")):match("\r\n\r\n(%d+)\n$"))
            end
            local threads, right = {}, 0
            for i = 1, 100 do
                threads[i] = ngx.thread.spawn(get, i)
            end
            for i = 1, 100 do
                local _, answer = ngx.thread.wait(threads[i])
                if answer == tostring(i) then
                    right = right + 1
                end
            end
            ngx.say(right)
        }
    }
--- request
GET /all
--- response_body
100
--- timeout: 10s
--- no_error_log
[error]
[alert]



=== TEST 3: a bad configuration ends the master
--- config
    location = /t { content_by_rust nosuch; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown handler "nosuch", there are: /
