package Greeting;

use Test::Nginx::Socket -Base;

our @EXPORT = qw(greeting);

repeat_each(2);

add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(config => "location = /t { return 200 '" . greeting() . "\n'; }")
        unless defined $block->config;
});

sub greeting() {
    return 'hello';
}

1;
