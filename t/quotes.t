# Quotes around a whole argument, which nginx takes off, and quotes behind the =, which the module takes off.

use Test::Nginx::Socket 'no_plan';

no_shuffle();
run_tests();

__DATA__

=== TEST 1: quotes behind the = hold a value together, with every space in it
--- config
    location = /double { content_by_rust reply body="two  words,	a tab\n"; }
    location = /single { content_by_rust reply body='two  words\n'; }
    location = /before { content_by_rust reply body="two  words\n" status=201; }
    location = /behind { content_by_rust reply status=201 body="two  words\n"; }
    location = /space  { content_by_rust reply body="two  words\n" ; }
    location = /both   { content_by_rust reply body="two  words\n" type='text/x-a  b'; }
--- request eval
["GET /double", "GET /single", "GET /before", "GET /behind", "GET /space", "GET /both"]
--- response_body eval
["two  words,\ta tab\n", "two  words\n", "two  words\n", "two  words\n", "two  words\n", "two  words\n"]
--- error_code eval
[200, 200, 201, 201, 200, 200]
--- no_error_log
[error]



=== TEST 2: without quotes, with quotes around the argument, with quotes behind the =: the same
--- config
    location = /1 { content_by_rust reply body=word; }
    location = /2 { content_by_rust reply "body=word"; }
    location = /3 { content_by_rust reply 'body=word'; }
    location = /4 { content_by_rust reply body="word"; }
    location = /5 { content_by_rust reply body='word'; }
    location = /6 { "content_by_rust" "reply" "body=word"; }
--- request eval
["GET /1", "GET /2", "GET /3", "GET /4", "GET /5", "GET /6"]
--- response_body eval
["word", "word", "word", "word", "word", "word"]
--- no_error_log
[error]



=== TEST 3: nothing between the quotes is an empty value
--- config
    location = /double { content_by_rust reply body=""; }
    location = /single { content_by_rust reply body=''; }
    location = /whole  { content_by_rust reply "body="; }
--- request eval
["GET /double", "GET /single", "GET /whole"]
--- response_body eval
["", "", ""]
--- no_error_log
[error]



=== TEST 4: one kind of quotes holds the other
--- config
    location = /1 { content_by_rust reply body="it's so"; }
    location = /2 { content_by_rust reply body='say:"so"'; }
    location = /3 { content_by_rust reply "body=say 'so'"; }
    location = /4 { content_by_rust reply 'body="so"'; }
--- request eval
["GET /1", "GET /2", "GET /3", "GET /4"]
--- response_body eval
[q{it's so}, q{say:"so"}, q{say 'so'}, q{"so"}]
--- no_error_log
[error]



=== TEST 5: a $ stands for a variable, with or without a backslash before it
--- config
    location = /t { content_by_rust reply body="costs \$ 5"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid variable name in \S+nginx\.conf:\d+$/



=== TEST 6: nginx's escapes; a backslash before anything else stands for itself
--- config
    location = /1 { content_by_rust reply body="say \"so\"\t\\\r\n"; }
    location = /2 { content_by_rust reply body='it\'s\n'; }
    location = /3 { content_by_rust reply "body=say \"so\"\t\\\r\n"; }
    location = /4 { content_by_rust reply body=\"so\"; }
    location = /5 { content_by_rust reply body="\q \a\b"; }
--- request eval
["GET /1", "GET /2", "GET /3", "GET /4", "GET /5"]
--- response_body eval
["say \"so\"\t\\\r\n", "it's\n", "say \"so\"\t\\\r\n", "\"so\"", '\q \a\b']
--- no_error_log
[error]



=== TEST 7: variables between the quotes
--- config
    location = /t {
        content_by_rust reply body="<h1>Hi ${arg_a}ling, you are $arg_b</h1>\n" type="text/$arg_c";
    }
--- request
GET /t?a=dar&b=here&c=html
--- response_body
<h1>Hi darling, you are here</h1>
--- response_headers
Content-Type: text/html
--- no_error_log
[error]



=== TEST 8: quotes around the argument hold what ends a directive
--- config
    location = /t { content_by_rust reply "body=a; b { c } # d\n"; }
--- request
GET /t
--- response_body
a; b { c } # d
--- no_error_log
[error]



=== TEST 9: quotes behind the = do not hold a ;
--- config
    location = /t { content_by_rust reply body="two  words; no"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unbalanced quotes in parameter "body=\\"two", a value with ";", "\{" or " #" needs them around the whole parameter in \S+nginx\.conf:\d+$/



=== TEST 10: nor one in the first word
--- config
    location = /t { content_by_rust reply body='a;'; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unbalanced quotes in parameter "body=\\'a", a value with ";", "\{" or " #" needs them around the whole parameter in /



=== TEST 11: the message names the first parameter with such quotes
--- config
    location = /t { content_by_rust reply status=200 body="a b" type="text/plain; charset=utf-8"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unbalanced quotes in parameter "(?:body|type)=\\"\S+, a value with ";", /



=== TEST 12: quotes behind the = do not hold a {
--- config
    location = /t { content_by_rust reply body="a {b}"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*directive "content_by_rust" is not terminated by ";" in \S+nginx\.conf:\d+$/



=== TEST 13: nor a # behind a space
--- config
    location = /t {
        content_by_rust reply body="a # b";
    }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unexpected "\}" in \S+nginx\.conf:\d+$/



=== TEST 14: a } and a # within a word are parts of it
--- config
    location = /t { content_by_rust reply body="a} b#c d}"; }
--- request
GET /t
--- response_body: a} b#c d}
--- no_error_log
[error]



=== TEST 15: a word of the value that begins with a quote is nginx's to read
--- config
    location = /t { content_by_rust reply body='say "so"'; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unexpected "'" in \S+nginx\.conf:\d+$/



=== TEST 16: so is the closing quote behind a space
--- config
    location = /t {
        content_by_rust reply body="two words ";
    }
    location = /u { return 200 "a"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unexpected "a" in \S+nginx\.conf:\d+$/



=== TEST 17: quotes around the argument hold both
--- config
    location = /1 { content_by_rust reply 'body=say "so"'; }
    location = /2 { content_by_rust reply "body=two words "; }
--- request eval
["GET /1", "GET /2"]
--- response_body eval
['say "so"', "two words "]
--- no_error_log
[error]



=== TEST 18: quotes that are not closed
--- config
    location = /t { content_by_rust reply body="a b; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unbalanced quotes in parameter "body=\\"a", /



=== TEST 19: quotes that are closed by another kind
--- config
    location = /t { content_by_rust reply body="a b'; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unbalanced quotes in parameter "body=\\"a", /



=== TEST 20: a word goes on behind the quotes
--- config
    location = /t { content_by_rust reply body="a b"c; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unbalanced quotes in parameter "body=\\"a", /



=== TEST 21: the next argument begins behind the quotes without a space
--- config
    location = /t { content_by_rust reply body="a"status=201; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unbalanced quotes in parameter "body=\\"a\\"status=201", /



=== TEST 22: nginx's own message for quotes around an argument that a word follows
--- config
    location = /t { content_by_rust reply "body=a b"c; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unexpected "c" in \S+nginx\.conf:\d+$/



=== TEST 23: quotes within a value are part of it
--- config
    location = /t { content_by_rust reply body=a"b"; }
--- request
GET /t
--- response_body: a"b"
--- no_error_log
[error]



=== TEST 24: a value of several lines, comments between arguments
--- config
    location = /t {
        content_by_rust reply # a comment with body="x y";
            body="one
two	 three"  # content_by_rust reply body="x y";
            status=201;
    }
--- request
GET /t
--- error_code: 201
--- response_body eval
"one\ntwo\t three"
--- no_error_log
[error]



=== TEST 25: lines that end with CR LF
--- config
    include ../html/dos.conf;
--- user_files eval
[["dos.conf" => "location = /t {\r\n  content_by_rust reply\r\n  body=\"a  b\"\r\n status=201;\r\n}\r\n"]]
--- request
GET /t
--- error_code: 201
--- response_body: a  b
--- no_error_log
[error]



=== TEST 26: directives side by side, alike, and in a comment
--- config
    # content_by_rust reply body="no  no";
    location = /1 { content_by_rust reply body="a  b"; } location = /2 { content_by_rust reply body="a b"; }
    location = /3 { content_by_rust reply body="a content_by_rust reply  b"; }
    location = /4 { set $a "content_by_rust reply body=\"a   b\""; content_by_rust reply body="a    b"; }
    location = /5 { if ($arg_a) { content_by_rust reply body="a     b"; } }
--- request eval
["GET /1", "GET /2", "GET /3", "GET /4", "GET /5?a=1"]
--- response_body eval
["a  b", "a b", "a content_by_rust reply  b", "a    b", "a     b"]
--- no_error_log
[error]



=== TEST 27: bytes beyond ASCII
--- config
    location = /t { content_by_rust reply body="größer als  ∞\n" "type=text/plain; charset=utf-8"; }
--- request
GET /t
--- response_body
größer als  ∞
--- no_error_log
[error]



=== TEST 28: wherever in the directive nginx fills its buffer of 4096 bytes again
--- config
    include ../html/many.conf;

    location = /t {
        content_by_lua_block {
            local right = 0
            for i = 0, 79 do
                local answer = ngx.location.capture("/" .. i)
                if answer.body == i .. " two  words,\ta \"tab\"\n" then
                    right = right + 1
                else
                    ngx.say(i, ": ", answer.status, " ", answer.body)
                end
            end
            ngx.say(right, " are right")
        }
    }
--- user_files eval
my $text = '';
for my $i (0 .. 79) {
    my $head = "location = /$i {\n";
    # The directive begins $i bytes before the end of a buffer.
    my $pad = 4096 * ($i + 1) - $i - length($text) - length($head) - 2;
    $text .= '#' . ('x' x $pad) . "\n" . $head;
    $text .= "content_by_rust reply body=\"$i two  words,\ta \\\"tab\\\"\\n\" status=200;\n}\n";
}
[["many.conf" => $text]]
--- request
GET /t
--- response_body
80 are right
--- no_error_log
[error]



=== TEST 29: a value longer than nginx's buffer, whose words are not
--- config
    include ../html/long.conf;

    location = /t {
        content_by_lua_block {
            local answer = ngx.location.capture("/long")
            local expected = string.rep("a word or  two ", 2000) .. "end"
            ngx.say(answer.body == expected, " ", #answer.body)
        }
    }
--- user_files eval
[["long.conf" => 'location = /long { content_by_rust reply body="' . ('a word or  two ' x 2000) . 'end"; }']]
--- request
GET /t
--- response_body
true 30003
--- no_error_log
[error]



=== TEST 30: an argument that is too long for nginx
--- config
    include ../html/long.conf;
--- user_files eval
[["long.conf" => 'location = /long { content_by_rust reply "body=' . ('a word or  two ' x 500) . '"; }']]
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*too long parameter, probably missing terminating """ character in \S+long\.conf:1$/



=== TEST 31: files that are included in files that are included
--- config
    location = /1 { content_by_rust reply body="1  1"; }
    include ../html/a.conf;
    location = /4 { content_by_rust reply body="4  4"; }
--- user_files
>>> a.conf
location = /2 {
    include ../html/b.conf;
    content_by_rust reply body="2  2"
        type="text/plain;";
}
>>> b.conf
# content_by_rust reply body="2   2";
rust_max_delay 1s;
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unbalanced quotes in parameter "(?:body|type)=\S+, .* in \S+a\.conf:4$/



=== TEST 32: each file is read for itself
--- config
    location = /1 { content_by_rust reply body="1  1"; }
    include ../html/a.conf;
    location = /5 { content_by_rust reply body="5  5"; }
--- user_files
>>> a.conf
location = /2 {
    include ../html/b.conf;
    content_by_rust reply body="2  2";
}
include ../html/c*.conf;
>>> b.conf
# content_by_rust reply body="2   2";
rust_max_delay 1s;
>>> c1.conf
location = /3 { content_by_rust reply body="3  3"; }
>>> c2.conf
location = /4 { content_by_rust reply body="4  4"; }
--- request eval
["GET /1", "GET /2", "GET /3", "GET /4", "GET /5"]
--- response_body eval
["1  1", "2  2", "3  3", "4  4", "5  5"]
--- no_error_log
[error]



=== TEST 33: the handler's name has no value to hold together
--- config
    location = /t { content_by_rust reply="a b"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*unknown handler "reply=\\"a", there are: /



=== TEST 34: an unknown argument is shown with its whole value
--- config
    location = /t { content_by_rust reply nosuch="two  words" body=x; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "nosuch=two  words" in /



=== TEST 35: a name without = takes no quotes
--- config
    location = /t { content_by_rust reply body"a b"; }
--- must_die: 1
--- error_log eval
qr/\[emerg\] .*invalid parameter "body\\"a", it must be name=value in /



=== TEST 36: a long value in a file that has many, and the same words before it
--- config
    include ../html/many.conf;
--- user_files eval
my $words = 'a word or  two ' x 200 . 'end';
[["many.conf" => CORE::join('', map { "location = /$_ { content_by_rust reply body=\"$_ $words\"; }\n" } 1 .. 40)]]
--- request eval
["GET /1", "GET /17", "GET /40"]
--- response_body eval
my $words = 'a word or  two ' x 200 . 'end';
["1 $words", "17 $words", "40 $words"]
--- no_error_log
[error]



=== TEST 37: quotes of both places in one directive
--- config
    location = /1 { content_by_rust reply "body=a \"b\" c" type="text/x  y"; }
    location = /2 { content_by_rust reply "body=a x=\"b" type="text/x  y"; }
    location = /3 { content_by_rust reply 'body="so; it {is}"' type="text/x  y"; }
    location = /4 { content_by_rust reply body="a b='c d' e" 'type=text/x  y'; }
    location = /5 { content_by_rust reply body="a  b\\" type="text/x  y"; }
    location = /6 { content_by_rust reply body="a ${arg_x}b ${arg_y}" "type=text/x  y"; }
--- request eval
["GET /1", "GET /2", "GET /3", "GET /4", "GET /5", "GET /6?x=1&y=2"]
--- response_body eval
['a "b" c', 'a x="b', '"so; it {is}"', "a b='c d' e", 'a  b\\', "a 1b 2"]
--- response_headers eval
[("Content-Type: text/x  y") x 6]
--- no_error_log
[error]



=== TEST 38: the directive's name in quotes
--- config
    location = /t { "content_by_rust" reply body="a  b"; }
--- request
GET /t
--- response_body: a  b
--- no_error_log
[error]



=== TEST 39: a value longer than 64 KB, whose words are not
--- config
    include ../html/long.conf;
--- user_files eval
[["long.conf" => 'location = /t { content_by_rust reply body="' . ('a word or  two ' x 5000) . 'end"; }']]
--- request
GET /t
--- response_body eval
'a word or  two ' x 5000 . 'end'
--- no_error_log
[error]
