use Test::Nginx::Socket 'no_plan';

log_level('info');
repeat_each(2);
run_tests();

__DATA__

=== TEST 1: lines that must be there
--- config
location /none { root html; }
--- request
GET /none/a
--- error_code: 404
--- error_log
No such file or directory
request: "GET /none/a HTTP/1.1"
--- no_error_log
[alert]
/none/b



=== TEST 2: patterns
--- config
location /none { root html; }
--- request
GET /none/a
--- error_code: 404
--- error_log eval
[qr/ open \(\) \s ".* NONE.a" /xi, "[error]"]
--- no_error_log eval
qr/none.b/



=== TEST 3: the log of each request counts for itself
--- config
location /none { root html; }
--- request eval
["GET /none/a", "GET /none/a"]
--- error_code eval
[404, 404]
--- error_log: none/a



=== TEST 4: what a pattern matches
--- config
location /none { root html; }
--- request
GET /none/abc
--- error_code: 404
--- grep_error_log eval: qr/none\/\w+|client: [\d.]+/
--- grep_error_log_out
none/abc



=== TEST 5: what a pattern matches each time
--- config
location /none { root html; }
--- request
GET /none/abc
--- error_code: 404
--- grep_error_log chomp
none/abc
--- grep_error_log_out eval
["none/abc\n", qr/\Anone.abc\n\z/]



=== TEST 6: a grave line that is spoken of
--- config
location = /t {
    client_body_in_file_only on;
    proxy_pass http://127.0.0.1:$server_port/u;
}
location = /u { return 200; }
--- init
rmdir server_root() . "/client_body_temp" or die $!;
--- request
POST /t
hello
--- error_code: 500
--- error_log
[crit]
client_body_temp



=== TEST 7: the access log
--- config
location = /t { return 200 ok; }
--- request
GET /t?a
--- response_body chomp
ok
--- access_log
"GET /t?a HTTP/1.1" 200 2
--- no_access_log
"GET /t?b



=== TEST 8: the log of the exit
--- config
location = /t { return 200 ok; }
--- log_level: notice
--- request
GET /t
--- response_body chomp
ok
--- shutdown_error_log
[notice]
--- no_shutdown_error_log
[emerg]



=== TEST 9: nothing asks for a response
--- config
location = /t { return 444; }
--- request
GET /t
--- ignore_response
--- no_error_log
[error]
