# The arguments of reply as nginx reads them: constants are checked before nginx starts, with the words that nginx
# itself uses.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: body, status, type and delay, in any order
--- config
    location = /a { content_by_rust reply body="a\n" status=203 type=text/x-a delay=1ms; }
    location = /b { content_by_rust reply delay=1ms type=text/x-b status=404 body="b\n"; }
    location = /c { content_by_rust reply type=text/x-c body="c\n"; }
--- request eval
["GET /a", "GET /b", "GET /c"]
--- response_body eval
["a\n", "b\n", "c\n"]
--- error_code eval
[203, 404, 200]
--- response_headers eval
["Content-Type: text/x-a", "Content-Type: text/x-b", "Content-Type: text/x-c"]
--- no_error_log
[error]



=== TEST 2: a ; without quotes ends the directive, as everywhere in nginx
--- config
    location = /t { content_by_rust reply body=a=b==c type=text/plain;charset=x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown directive "charset=x" in /



=== TEST 3: what follows the first = is the value, and may hold more of them
--- config
    location = /t { content_by_rust reply body=a=b==c "type=text/plain; charset=x"; }
--- request
GET /t
--- response_body: a=b==c
--- response_headers
Content-Type: text/plain; charset=x
--- no_error_log
[error]



=== TEST 4: an empty body is a body
--- config
    location = /t { content_by_rust reply body=; }
--- request
GET /t
--- response_body:
--- response_headers
Content-Length: 0
Content-Type: text/plain
--- no_error_log
[error]



=== TEST 5: an unknown argument
--- config
    location = /t { content_by_rust reply bdy=x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "bdy=x" in \S+nginx\.conf:\d+$/



=== TEST 6: names are case-sensitive
--- config
    location = /t { content_by_rust reply Body=x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "Body=x" in /



=== TEST 7: an argument without =
--- config
    location = /t { content_by_rust reply body; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "body", it must be name=value in \S+nginx\.conf:\d+$/



=== TEST 8: a value alone
--- config
    location = /t { content_by_rust reply hello; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "hello", it must be name=value in /



=== TEST 9: an = without a name
--- config
    location = /t { content_by_rust reply =x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "=x", it must be name=value in /



=== TEST 10: an = alone
--- config
    location = /t { content_by_rust reply body = x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "body", it must be name=value in /



=== TEST 11: an = after a space
--- config
    location = /t { content_by_rust reply body= =x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "=x", it must be name=value in /



=== TEST 12: an empty argument
--- config
    location = /t { content_by_rust reply ""; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "", it must be name=value in /



=== TEST 13: a name that is a variable
--- config
    location = /t { content_by_rust reply $arg_a=x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "\$arg_a=x" in /



=== TEST 14: a space before the = belongs to the name
--- config
    location = /t { content_by_rust reply "body =x"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "body =x" in /



=== TEST 15: an argument that would tear the line of the log is escaped
--- config
    location = /t { content_by_rust reply "a\nb=\"c\""; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "a\\nb=\\"c\\"" in /



=== TEST 16: an argument given twice
--- config
    location = /t { content_by_rust reply body=a body=b; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*duplicate "body" parameter in \S+nginx\.conf:\d+$/



=== TEST 17: an argument given twice with the same value
--- config
    location = /t { content_by_rust reply status=200 delay=0 status=200; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*duplicate "status" parameter in /



=== TEST 18: an unknown argument given twice
--- config
    location = /t { content_by_rust reply x=1 x=2; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*duplicate "x" parameter in /



=== TEST 19: ok takes no arguments
--- config
    location = /t { content_by_rust ok delay=1s; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "delay=1s" in /



=== TEST 20: hello takes no arguments
--- config
    location = /t { content_by_rust hello body=x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "body=x" in /



=== TEST 21: not even a word
--- config
    location = /t { content_by_rust hello hello; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "hello", it must be name=value in /



=== TEST 22: a delay that is no time
--- config
    location = /t { content_by_rust reply delay=soon; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "soon" in "delay" parameter, it must be a time such as "20ms" in \S+nginx\.conf:\d+$/



=== TEST 23: an empty delay
--- config
    location = /t { content_by_rust reply delay=; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "" in "delay" parameter, it must be a time such as "20ms" in /



=== TEST 24: a negative delay
--- config
    location = /t { content_by_rust reply delay=-1; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "-1" in "delay" parameter, it must be a time such as "20ms" in /



=== TEST 25: a fraction of a second
--- config
    location = /t { content_by_rust reply delay=0.02; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "0\.02" in "delay" parameter, it must be a time such as "20ms" in /



=== TEST 26: an unknown unit
--- config
    location = /t { content_by_rust reply delay=20msec; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "20msec" in "delay" parameter, it must be a time such as "20ms" in /



=== TEST 27: a delay that no number of nginx's holds
--- config
    location = /t { content_by_rust reply delay=99999999999999999999s; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "99999999999999999999s" in "delay" parameter, it must be a time such as "20ms" in /



=== TEST 28: a number alone counts seconds; units go from the largest down
--- config
    location = /no { content_by_rust reply body="no\n" delay=0; }
    location = /none { content_by_rust reply body="none\n" delay=0s; }
    location = /ms { content_by_rust reply body="ms\n" delay=0s1ms; }
    location = /spaces { content_by_rust reply body="spaces\n" "delay=0h 0m 0s 1ms"; }
--- request eval
["GET /no", "GET /none", "GET /ms", "GET /spaces"]
--- response_body eval
["no\n", "none\n", "ms\n", "spaces\n"]
--- no_error_log
[error]



=== TEST 29: units the wrong way round
--- config
    location = /t { content_by_rust reply delay=1ms1s; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "1ms1s" in "delay" parameter, it must be a time such as "20ms" in /



=== TEST 30: a status that is no number
--- config
    location = /t { content_by_rust reply status=OK; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "OK" in "status" parameter, it must be a status from 200 to 999 in \S+nginx\.conf:\d+$/



=== TEST 31: a status with two digits
--- config
    location = /t { content_by_rust reply status=99; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "99" in "status" parameter, it must be a status from 200 to 999 in /



=== TEST 32: a status that only announces an answer
--- config
    location = /t { content_by_rust reply status=100; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "100" in "status" parameter, it must be a status from 200 to 999 in /



=== TEST 33: the last of these
--- config
    location = /t { content_by_rust reply status=199; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "199" in "status" parameter, it must be a status from 200 to 999 in /



=== TEST 34: a status with four digits
--- config
    location = /t { content_by_rust reply status=1000; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "1000" in "status" parameter, it must be a status from 200 to 999 in /



=== TEST 35: a status with a zero before it
--- config
    location = /t { content_by_rust reply status=0200; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "0200" in "status" parameter, it must be a status from 200 to 999 in /



=== TEST 36: an empty status
--- config
    location = /t { content_by_rust reply status=; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "" in "status" parameter, it must be a status from 200 to 999 in /



=== TEST 37: the first and the last status
--- config
    location = /200 { content_by_rust reply status=200; }
    location = /999 { content_by_rust reply status=999; }
--- request eval
["GET /200", "GET /999"]
--- error_code eval
[200, 999]
--- response_body eval
["OK\n", "OK\n"]
--- no_error_log
[error]



=== TEST 38: an empty type
--- config
    location = /t { content_by_rust reply type=; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "" in "type" parameter, it must be a line of text in \S+nginx\.conf:\d+$/



=== TEST 39: a type of two lines
--- config
    location = /t { content_by_rust reply "type=text/plain\r\nX-Injected: 1"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "text\/plain\\r\\nX-Injected: 1" in "type" parameter, it must be a line of text in /



=== TEST 40: a type of two lines, the second behind a variable
--- config
    location = /t { content_by_rust reply "type=$arg_a\nX-Injected: 1"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "\$arg_a\\nX-Injected: 1" in "type" parameter, it must be a line of text in /



=== TEST 41: a variable that there is not
--- config
    location = /t { content_by_rust reply body=$no_such_variable; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown "no_such_variable" variable$/



=== TEST 42: a variable that there is not, in each of the arguments: delay
--- config
    location = /t { content_by_rust reply delay=$no_such_variable; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown "no_such_variable" variable$/



=== TEST 43: status
--- config
    location = /t { content_by_rust reply status=$no_such_variable; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown "no_such_variable" variable$/



=== TEST 44: type
--- config
    location = /t { content_by_rust reply type=$no_such_variable; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown "no_such_variable" variable$/



=== TEST 45: a variable's name that does not end
--- config
    location = /t { content_by_rust reply "body=${arg_a"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*the closing bracket in "arg_a" variable is missing in \S+nginx\.conf:\d+$/



=== TEST 46: the same at the end of quotes behind the =
--- config
    location = /t { content_by_rust reply body="${arg_a"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*the closing bracket in "arg_a" variable is missing in \S+nginx\.conf:\d+$/



=== TEST 47: a $ without a name
--- config
    location = /t { content_by_rust reply "body=costs 5$"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid variable name in \S+nginx\.conf:\d+$/



=== TEST 48: the same at the end of quotes behind the =
--- config
    location = /t { content_by_rust reply body="costs 5$"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid variable name in \S+nginx\.conf:\d+$/



=== TEST 49: a capture that the location's regex does not have is empty, as everywhere in nginx
--- config
    location ~ ^/t(a)?$ { content_by_rust reply body="[$1][$2]\n"; }
--- request eval
["GET /ta", "GET /t"]
--- response_body eval
["[a][]\n", "[][]\n"]
--- no_error_log
[error]



=== TEST 50: a mistake in an if block is found as well
--- config
    location = /t {
        if ($arg_a) {
            content_by_rust reply status=abc;
        }
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "abc" in "status" parameter, it must be a status from 200 to 999 in \S+nginx\.conf:\d+$/



=== TEST 51: the message names the file and the line where the directive ends
--- config
    include ../html/bad.conf;
--- user_files
>>> bad.conf
location = /t {
    content_by_rust reply
        body=x
        status=abc
        type=text/plain;
}
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid value "abc" in "status" parameter, it must be a status from 200 to 999 in \S+bad\.conf:5$/
