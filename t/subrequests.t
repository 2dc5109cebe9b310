# A handler as a part of another request's answer: SSI, addition, mirror, echo, Lua's capture.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: SSI: one
--- config
    ssi on;
    ssi_types text/plain;
    location = /wait { content_by_rust reply body="[$arg_a waited]" delay=2ms; }
    location = /now { content_by_rust reply body="[$arg_a now]"; }
--- user_files
>>> wait.txt
before <!--# include virtual="/wait?a=1" --> behind
>>> now.txt
before <!--# include virtual="/now?a=1" --> behind
--- request eval
["GET /wait.txt", "GET /now.txt"]
--- response_body eval
["before [1 waited] behind\n", "before [1 now] behind\n"]
--- no_error_log
[error]



=== TEST 2: SSI: two in one page, in order though the first waits longer
--- config
    ssi on;
    ssi_types text/plain;
    location = /long { content_by_rust reply body="[long]" delay=50ms; }
    location = /short { content_by_rust reply body="[short]" delay=1ms; }
    location = /now { content_by_rust reply body="[now]"; }
--- user_files
>>> page.txt
1 <!--# include virtual="/long" --> 2 <!--# include virtual="/short" --> 3 <!--# include virtual="/now" --> 4 <!--# include virtual="/long" --> 5
--- request
GET /page.txt
--- response_body
1 [long] 2 [short] 3 [now] 4 [long] 5
--- no_error_log
[error]



=== TEST 3: SSI: two wait at the same time
--- http_config
    log_format waited 'waited $request_time';
--- config
    ssi on;
    ssi_types text/plain;
    location = /t { content_by_rust reply body="[$arg_a]" delay=500ms; }
    location = /page.txt {
        access_log logs/access.log waited;
    }
--- user_files
>>> page.txt
<!--# include virtual="/t?a=1" --><!--# include virtual="/t?a=2" --><!--# include virtual="/t?a=3" --><!--# include virtual="/t?a=4" -->
--- request
GET /page.txt
--- response_body
[1][2][3][4]
--- access_log eval
qr/^waited (?:0\.499|0\.[5-9]\d\d|1\.[0-8]\d\d)$/
--- no_error_log
[error]



=== TEST 4: SSI: wait="yes" and set
--- config
    ssi on;
    ssi_types text/plain;
    location = /t { content_by_rust reply body="value" delay=5ms; }
--- user_files
>>> page.txt
<!--# include virtual="/t" set="v" --><!--# if expr="$v = value" -->it is <!--# echo var="v" --><!--# endif --> <!--# include virtual="/t" wait="yes" -->
--- request
GET /page.txt
--- response_body
it is value value
--- no_error_log
[error]



=== TEST 5: SSI: an empty body, an error, a bad value, no content
--- config
    ssi on;
    ssi_types text/plain;
    location = /empty { content_by_rust reply body="" delay=1ms; }
    location = /empty-now { content_by_rust reply body=""; }
    location = /503 { content_by_rust reply body="busy" status=503 delay=1ms; }
    location = /204 { content_by_rust reply status=204 body="" delay=1ms; }
    location = /bad { content_by_rust reply status=$arg_s; }
--- user_files
>>> page.txt
[<!--# include virtual="/empty" -->][<!--# include virtual="/empty-now" -->][<!--# include virtual="/503" -->][<!--# include virtual="/204" -->]
>>> bad.txt
[<!--# include virtual="/bad?s=x" -->]
--- request eval
["GET /page.txt", "GET /bad.txt"]
--- response_body_like eval
['^\[\]\[\]\[busy\]\[\]\n$', '^\[.*400 Bad Request.*\]\n$']
--- no_error_log
[error]



=== TEST 6: SSI in an answer of a handler
--- config
    ssi on;
    location = /page {
        content_by_rust reply body="<p><!--# include virtual=\"/part?a=$arg_a\" --></p>\n" type=text/html delay=2ms;
    }
    location = /part { content_by_rust reply body="part $arg_a" delay=2ms; }
--- request
GET /page?a=1
--- response_body
<p>part 1</p>
--- no_error_log
[error]



=== TEST 7: SSI: HEAD
--- config
    ssi on;
    ssi_types text/plain;
    location = /t { content_by_rust reply body="[t]" delay=2ms; }
--- user_files
>>> page.txt
<!--# include virtual="/t" -->
--- request
HEAD /page.txt
--- response_body
--- no_error_log
[error]



=== TEST 8: SSI: a client that goes away while a part waits: the page ends with it
--- http_config
    log_format status 'status $status of $uri after $request_time';
--- config
    location = /t { content_by_rust reply body="[t]" delay=30s; }
    location = /page.txt {
        ssi on;
        ssi_types text/plain;
        access_log logs/access.log status;
    }
    location = /hasty {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("GET /page.txt HTTP/1.0\r\n\r\n"))
            ngx.sleep(0.05)
            socket:close()
            ngx.sleep(0.1)
            ngx.say("gone")
        }
        access_log off;
    }
--- user_files
>>> page.txt
before <!--# include virtual="/t" --> behind
--- request
GET /hasty
--- response_body
gone
--- access_log eval
qr/^status 499 of \/page\.txt after [0-3]\.\d{3}$/
--- no_error_log
[error]
[alert]



=== TEST 9: add_before_body and add_after_body
--- config
    location = /t.html {
        types { text/html html; }
        add_before_body /before;
        add_after_body /after;
        content_by_rust reply body="middle\n" delay=2ms;
    }
    location = /before { content_by_rust reply body="before\n" delay=5ms; }
    location = /after { content_by_rust reply body="after\n"; }
--- request
GET /t.html
--- response_body
before
middle
after
--- no_error_log
[error]



=== TEST 10: mirror: the original is answered, the copy as well
--- http_config
    log_format mirrored '$uri $status $request_method';
--- config
    log_subrequest on;
    location = /t {
        mirror /copy;
        content_by_rust reply body="original\n" delay=2ms;
    }
    location = /copy {
        internal;
        content_by_rust reply body="never seen\n" status=202 delay=5ms;
        access_log logs/access.log mirrored;
    }
--- request
GET /t
--- response_body
original
--- wait: 0.1
--- access_log
/copy 202 GET
--- no_error_log
[error]



=== TEST 11: mirror: with a body, the next request on the connection after the copy is done
--- config
    location = /t {
        mirror /copy;
        content_by_rust reply body="original $connection_requests\n" delay=2ms;
    }
    location = /copy {
        internal;
        content_by_rust reply delay=20ms;
    }
--- pipelined_requests eval
["POST /t\nabcdef", "GET /t", "POST /t\nabc"]
--- response_body eval
["original 1\n", "original 2\n", "original 3\n"]
--- no_error_log
[error]



=== TEST 12: mirror: the copy is made of an answer that is not ours
--- config
    location = /file.txt {
        mirror /copy;
    }
    location = /copy {
        internal;
        content_by_rust ok;
    }
--- user_files
>>> file.txt
a file
--- request
GET /file.txt
--- response_body
a file
--- no_error_log
[error]



=== TEST 13: echo_location: one after the other, and among echo's own words
--- config
    location = /t {
        echo before;
        echo_location /wait a=1;
        echo_location /now a=2;
        echo_location /wait a=3;
        echo behind;
    }
    location = /wait { content_by_rust reply body="$arg_a waited\n" delay=2ms; }
    location = /now { content_by_rust reply body="$arg_a now\n"; }
--- request
GET /t
--- response_body
before
1 waited
2 now
3 waited
behind
--- no_error_log
[error]



=== TEST 14: echo_location_async
--- config
    location = /t {
        echo_location_async /long;
        echo_location_async /short;
        echo behind;
    }
    location = /long { content_by_rust reply body="long\n" delay=50ms; }
    location = /short { content_by_rust reply body="short\n" delay=1ms; }
--- request
GET /t
--- response_body
long
short
behind
--- no_error_log
[error]



=== TEST 15: echo_subrequest: a method and a body of its own
--- config
    location = /t {
        echo_subrequest PUT /sub -b "a body";
    }
    location = /sub { content_by_rust reply body="$echo_request_method $request_body\n" delay=2ms; }
--- request
GET /t
--- response_body
PUT a body
--- no_error_log
[error]



=== TEST 16: echo_before_body and echo_after_body: filters of an answer of ours
--- config
    location = /t {
        echo_before_body before;
        content_by_rust reply body="middle\n" delay=2ms;
        echo_after_body behind;
    }
--- request
GET /t
--- response_body
before
middle
behind
--- no_error_log
[error]



=== TEST 17: ngx.location.capture: status, header, body
--- config
    location = /t {
        content_by_lua_block {
            for _, path in ipairs { "/wait", "/now" } do
                local answer = ngx.location.capture(path, { args = { a = 1 } })
                ngx.say(path, " ", answer.status, " ", answer.header["Content-Type"], " ",
                    answer.header["Content-Length"], " ", answer.truncated, " ", (answer.body:gsub("\n", "")))
            end
        }
    }
    location = /wait { content_by_rust reply body="$arg_a waited\n" status=201 type=text/x-a delay=2ms; }
    location = /now { content_by_rust reply body="$arg_a now\n" status=599; }
--- request
GET /t
--- response_body
/wait 201 text/x-a 9 false 1 waited
/now 599 text/plain 6 false 1 now
--- no_error_log
[error]



=== TEST 18: ngx.location.capture_multi: all at the same time
--- http_config
    log_format waited 'waited $request_time';
--- config
    location = /t {
        content_by_lua_block {
            local requests = {}
            for i = 1, 20 do
                requests[i] = { "/sub", { args = { i = i } } }
            end
            for i, answer in ipairs { ngx.location.capture_multi(requests) } do
                if answer.body ~= i .. "\n" then
                    ngx.say(i, " is wrong: ", answer.body)
                end
            end
            ngx.say("done")
        }
        access_log logs/access.log waited;
    }
    location = /sub { content_by_rust reply body="$arg_i\n" delay=100ms; }
--- request
GET /t
--- response_body
done
--- access_log eval
qr/^waited (?:0\.099|0\.[1-9]\d\d|1\.\d\d\d)$/
--- no_error_log
[error]



=== TEST 19: ngx.location.capture: methods
--- config
    location = /t {
        content_by_lua_block {
            for _, method in ipairs { "GET", "HEAD", "POST", "PUT", "DELETE" } do
                local answer = ngx.location.capture("/sub", { method = ngx["HTTP_" .. method], body = "abc" })
                ngx.say(answer.status, " ", answer.header["Content-Length"], " ", (answer.body:gsub("\n", "")))
            end
        }
    }
    location = /sub { content_by_rust reply body="$echo_request_method $request_body\n" delay=2ms; }
--- request
POST /t
the client's body
--- response_body
200 8 GET abc
200 9 
200 9 POST abc
200 8 PUT abc
200 11 DELETE abc
--- no_error_log
[error]



=== TEST 20: a subrequest of a subrequest
--- config
    ssi on;
    ssi_types text/plain;
    location = /outer { content_by_rust reply body="(<!--# include virtual=\"/inner\" -->)" delay=2ms; }
    location = /inner { content_by_rust reply body="(<!--# include virtual=\"/part\" -->)"; }
    location = /part { content_by_rust reply body="part" delay=2ms; }
--- user_files
>>> page.txt
[<!--# include virtual="/outer" -->][<!--# include virtual="/outer" -->]
--- request
GET /page.txt
--- response_body
[((part))][((part))]
--- no_error_log
[error]



=== TEST 21: log_subrequest: subrequests in the access log, each with its own status and path
--- http_config
    log_format sub '$uri $status';
--- config
    log_subrequest on;
    access_log logs/access.log sub;
    location = /t {
        echo_location /wait;
        echo_location /now;
    }
    location = /wait { content_by_rust reply body="waited\n" status=203 delay=2ms; }
    location = /now { content_by_rust reply body="now\n" status=206; }
--- request
GET /t
--- response_body
waited
now
--- access_log
/wait 203
/now 206
/t 200
--- no_error_log
[error]



=== TEST 22: an error_page within a subrequest
--- config
    ssi on;
    ssi_types text/plain;
    location = /part {
        content_by_rust reply status=503 delay=2ms;
        error_page 503 = /instead;
    }
    location = /instead { content_by_rust reply body="instead" delay=2ms; }
--- user_files
>>> page.txt
[<!--# include virtual="/part" -->]
--- request
GET /page.txt
--- response_body
[instead]
--- no_error_log
[error]



=== TEST 23: a hundred parts
--- config
    ssi on;
    ssi_types text/plain;
    location = /wait { content_by_rust reply body="$arg_i," delay=2ms; }
    location = /now { content_by_rust reply body="$arg_i,"; }
--- user_files eval
[["page.txt" => CORE::join('', map { '<!--# include virtual="/' . ($_ % 3 ? 'wait' : 'now') . "?i=$_\" -->" } 1 .. 100)]]
--- request
GET /page.txt
--- response_body eval
CORE::join('', map "$_,", 1 .. 100)
--- no_error_log
[error]



=== TEST 24: what a subrequest is answered is what "return" answers it
--- config eval
my @codes = (200, 201, 204, 206, 299, 304, 400, 404, 444, 499, 500, 503, 599, 999);
my $returns = CORE::join("\n", map "location = /return/$_ { return $_ \"a body\\n\"; }", @codes);
qq{
    $returns
    location = /return/0200 { return 200 ""; }
    location = /rust/0200 { content_by_rust reply body=""; }
    location = /wait/0200 { content_by_rust reply body="" delay=1ms; }
    location ~ ^/rust/(.+) { content_by_rust reply status=\$1 body="a body\\n"; }
    location ~ ^/wait/(.+) { content_by_rust reply status=\$1 body="a body\\n" delay=1ms; }

    location = /t {
        content_by_lua_block {
            local function sub(path)
                local answer = ngx.location.capture(path)
                local header = {}
                for name, value in pairs(answer.header) do
                    header[#header + 1] = name .. ": " .. value
                end
                table.sort(header)
                return answer.status .. tostring(answer.truncated) .. table.concat(header, ";") .. answer.body
            end

            for _, status in ipairs { "0200", @{[CORE::join ", ", @codes]} } do
                local expected = sub("/return/" .. status)
                for _, path in ipairs { "/rust/", "/wait/" } do
                    local got = sub(path .. status)
                    if got ~= expected then
                        ngx.say(path, status, ": ", got, " is not ", expected)
                    end
                end
            end
            ngx.say("done")
        }
    }
}
--- request
GET /t
--- response_body
done
--- no_error_log
[error]



=== TEST 25: a page of parts that gzip packs
--- config
    location = /page.txt {
        gzip on;
        gzip_types text/plain;
        gzip_min_length 1;
        ssi on;
        ssi_types text/plain;
    }
    location = /t {
        gunzip on;
        proxy_pass http://127.0.0.1:$server_port/page.txt;
        proxy_set_header Accept-Encoding gzip;
        proxy_http_version 1.1;
    }
    location = /wait { content_by_rust reply body="waited" delay=2ms; }
    location = /now { content_by_rust reply body="now"; }
--- user_files
>>> page.txt
<!--# include virtual="/wait" --> <!--# include virtual="/now" --> <!--# include virtual="/wait" -->
--- request
GET /t
--- response_body
waited now waited
--- no_error_log
[error]



=== TEST 26: SSI: with rust_ignore_client_abort on in the part's location the page is made to its end
--- http_config
    log_format status 'status $status of $uri after $request_time';
--- config
    location = /t {
        rust_ignore_client_abort on;
        content_by_rust reply body="[t]" delay=200ms;
    }
    location = /page.txt {
        ssi on;
        ssi_types text/plain;
        access_log logs/access.log status;
    }
    location = /hasty {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("GET /page.txt HTTP/1.0\r\n\r\n"))
            ngx.sleep(0.05)
            socket:close()
            ngx.sleep(0.4)
            ngx.say("gone")
        }
        access_log off;
    }
--- user_files
>>> page.txt
before <!--# include virtual="/t" --> behind
--- request
GET /hasty
--- response_body
gone
--- access_log eval
qr/^status 200 of \/page\.txt after (?:0\.199|0\.[2-9]\d\d|[1-9]\d*\.\d{3})$/
--- no_error_log
[error]
[alert]



=== TEST 27: echo_location: a client that goes away while the first part waits: the second never begins
--- http_config
    log_format status 'status $status of $uri';
--- config
    log_subrequest on;
    access_log logs/access.log status;
    location = /1 { content_by_rust reply delay=30s; }
    location = /2 { content_by_rust reply; }
    location = /page {
        echo_location /1;
        echo_location /2;
    }
    location = /hasty {
        content_by_lua_block {
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", ngx.var.server_port))
            assert(socket:send("GET /page HTTP/1.0\r\n\r\n"))
            ngx.sleep(0.05)
            socket:close()
            ngx.sleep(0.1)
            ngx.say("gone")
        }
        access_log off;
    }
--- request
GET /hasty
--- response_body
gone
--- access_log
status 499 of /page
--- no_access_log
of /2
--- no_error_log
[error]
[alert]
