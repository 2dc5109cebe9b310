# vi:ft=

use lib 'lib';
use Test::Nginx::Socket::Lua;

master_on();
workers(2);
repeat_each(2);
log_level('warn');
no_shuffle();
no_root_location();
worker_connections(128);
env_to_nginx('TEST_NGINX_COLOUR=blue');

plan tests => repeat_each() * (blocks() * 2 + 1);

our $HtmlDir = html_dir . '/';
$HtmlDir =~ s{/\z}{};
$ENV{TEST_NGINX_HTML_DIR} ||= $HtmlDir;
$ENV{TEST_NGINX_WORD} = 'word';

our $HttpConfig = <<'_EOC_';
map $uri $mapped { default "mapped"; }
_EOC_

sub shout { uc shift }

filters { response_body => 'shout' };

add_block_preprocessor(sub {
    my $block = shift;

    if (defined $block->answer) {
        $block->set_value(config => 'location = /t { return 200 "' . $block->answer . '\n"; }');
    }
});

add_block_preprocessor {
    my $block = shift;

    $block->set_value(request => 'GET /t') unless defined $block->request;
};

run_tests;

__DATA__

=== TEST 1: variables of the file
--- http_config eval: $::HttpConfig
--- config eval
"location = /t { return 200 '\$mapped $::HtmlDir\n'; }"
--- request
GET /t
--- response_body eval -shout
"mapped $::HtmlDir\n"



=== TEST 2: variables of the environment
--- config
location = /t { return 200 "$TEST_NGINX_HTML_DIR $TEST_NGINX_WORD\n"; }
--- request
GET /t
--- response_body eval -shout
"$ENV{TEST_NGINX_HTML_DIR} word\n"



=== TEST 3: a section of the file's own
--- answer: FORTY-TWO
--- response_body
forty-two



=== TEST 4: a filter of the file's own, two workers
--- config
location = /t { return 200 "LOUD\n"; }
location = /none { root html; }
--- request
GET /t
--- response_body
loud
--- no_error_log
[error]
