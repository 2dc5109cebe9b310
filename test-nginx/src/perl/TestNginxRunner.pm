# Stands in for Test::Nginx::Socket in the perl that reads a .t file.
#
# The file's own Perl (the part before __DATA__, `eval` sections, block
# preprocessors, qr// patterns) runs here, so that it means what it always
# meant. Everything with nginx or a socket in it is done by the Rust program
# that started this perl: run_tests() answers its questions until it hangs up.
#
# Started as: perl -I DIR -MTestNginxRunner=NGINX,OPENSSL,PCRE t/file.t

# Code out of a test file is evaluated before any lexical of ours is in scope,
# in the packages where Test::Base and Test::Nginx evaluate it.
package Test::Base::Filter;
use strict;
use warnings;
our $arguments;
sub TestNginxRunner::eval_section { my @v = eval $_[0]; die $@ if $@; return @v }

package Test::Nginx::Util;
use strict;
use warnings;
our (
    $ServerPort, $ServerPortForClient, $ServerAddr, $ServerName,
    $ServRoot,   $LogDir,              $HtmlDir,    $ConfDir,
    $ConfFile,   $ErrLogFile,          $AccLogFile, $PidFile,
    $Workers,    $WorkerConnections,   $LogLevel,   $MasterProcessEnabled,
    $RepeatEach, $Timeout,             $TestNginxSleep, $NoRootLocation,
    $ConfigPreamble, $CheckAccumErrLog, $NoNginxManager, $NoLongString,
    $NginxVersion, $OpenSSLVersion, $PcreVersion, $NginxBinary,
    $FilterHttpConfig, $UseHup, $UseHttp2, $UseStap, $UseValgrind,
    $BuildSlaveName, $Verbose,
    @EnvToNginx, @BlockPreprocessors, @CleanupHandlers, @TestCleanupHandlers,
);
sub TestNginxRunner::eval_util { my $v = eval $_[0]; die $@ if $@; return $v }

package TestNginxRunner;
use Scalar::Util ();

our ( @Failures, @BodyChecks, @Regexes, @Codes, %Read, $Preprocessing );
our ( @Filters, %FiltersOf, $Blocks, $SkipAll, $Ran );
our ( $BlockDelim, $DataDelim ) = ( '===', '---' );
our ( $From, $To );

BEGIN {
    @Filters = qw(norm trim);

    # The dialogue has handles of its own; what the file prints is a diagnostic.
    open $From, '<&', \*STDIN  or die "dup stdin: $!";
    open $To,   '>&', \*STDOUT or die "dup stdout: $!";
    binmode $_ for $From, $To;
    open STDIN,  '<',  '/dev/null' or die "/dev/null: $!";
    open STDOUT, '>&', \*STDERR    or die "dup stderr: $!";

    $INC{$_} = __FILE__ for qw(
        Test/Base.pm Test/Nginx/Util.pm Test/Nginx/Socket.pm
        Test/Nginx/Socket/Lua.pm
    );

    package Test::Nginx::Util;
    $ServerPort          = $ENV{TEST_NGINX_SERVER_PORT};
    $ServerPortForClient = $ServerPort;
    $ServerAddr          = '127.0.0.1';
    $ServerName          = 'localhost';
    $ServRoot            = $ENV{TEST_NGINX_SERVROOT};
    $LogDir              = "$ServRoot/logs";
    $HtmlDir             = "$ServRoot/html";
    $ConfDir             = "$ServRoot/conf";
    $ConfFile            = "$ConfDir/nginx.conf";
    $ErrLogFile          = "$LogDir/error.log";
    $AccLogFile          = "$LogDir/access.log";
    $PidFile             = "$LogDir/nginx.pid";
    $NginxBinary         = $ENV{TEST_NGINX_BINARY} || 'nginx';
    $Workers             = 1;
    $WorkerConnections   = 64;
    $LogLevel            = $ENV{TEST_NGINX_LOG_LEVEL} || 'debug';
    $MasterProcessEnabled = $ENV{TEST_NGINX_MASTER_PROCESS} || 'off';
    $RepeatEach          = 1;
    $Timeout             = $ENV{TEST_NGINX_TIMEOUT} || 3;
    $TestNginxSleep      = $ENV{TEST_NGINX_SLEEP} || 0.015;
    $CheckAccumErrLog    = $ENV{TEST_NGINX_CHECK_ACCUM_ERR_LOG};
    $UseHttp2            = $ENV{TEST_NGINX_USE_HTTP2};
    $BuildSlaveName      = $ENV{TEST_NGINX_BUILDSLAVE};
    $ConfigPreamble      = '';
    $ENV{TEST_NGINX_SERVER_ROOT} = $ServRoot;
}

sub import {
    my ( undef, @versions ) = @_;
    ( $NginxVersion, $OpenSSLVersion, $PcreVersion ) =
      map { $_ eq '' ? undef : $_ } @versions;
}

# ---------------------------------------------------------------- dialogue

sub put {
    my ($v) = @_;
    my $ref = ref $v;
    if ( !defined $v )         { print $To 'U' }
    elsif ( $ref eq 'ARRAY' )  { print $To 'A', scalar @$v, "\n"; put($_) for @$v }
    elsif ( $ref eq 'HASH' ) {
        print $To 'H', scalar keys %$v, "\n";
        for my $key ( sort keys %$v ) { put($key); put( $v->{$key} ) }
    }
    elsif ( $ref eq 'CODE' ) { push @Codes, $v; print $To "C$#Codes\n" }
    elsif ( $ref eq 'Regexp' ) {
        push @Regexes, $v;
        print $To "R$#Regexes\n";
        put("$v");
    }
    else {
        my $bytes = "$v";
        utf8::downgrade( $bytes, 1 ) or utf8::encode($bytes);
        print $To 'S', length $bytes, "\n", $bytes;
    }
}

sub get {
    my $head = readline $From;
    return unless defined $head;
    my ( $kind, $n ) = $head =~ /\A([SAR])(\d+)\n\z/ or die "bad message";
    return [ map { scalar get() } 1 .. $n ] if $kind eq 'A';
    return $Regexes[$n] if $kind eq 'R';
    my $bytes = '';
    while ( $n > length $bytes ) {
        read $From, $bytes, $n - length $bytes, length $bytes or exit 1;
    }
    return $bytes;
}

sub answer { put( $_[0] ); $To->flush }

sub serve {
    require IO::Handle;
    $Ran = 1;
    while ( my $question = get() ) {
        my ( $name, @args ) = @$question;
        my $code   = TestNginxRunner::Answer->can($name);
        my $result = eval { $code->(@args) };
        if ($@) { my $error = $@; print $To 'E'; answer("$error") }
        else    { answer($result) }
    }
    exit 0;
}

END {
    if ( !$Ran && !$? ) {
        print STDERR "the file ended without calling run_tests()\n";
        $? = 1;
    }
}

# ---------------------------------------------------------------- parsing

# The text after __DATA__ and the number of the line it starts on.
sub spec {
    no warnings 'once';
    my $line = 1;
    if ( open my $source, '<', $0 ) {
        my $before = '';
        read $source, $before, tell(main::DATA) if defined fileno main::DATA;
        $line += $before =~ tr/\n//;
    }
    local $/;
    return ( defined fileno main::DATA ? scalar <main::DATA> : '' ) // '', $line;
}

sub blocks_of_file {
    return $Blocks if $Blocks;
    my ( $text, $line ) = spec();
    my ( @found, $hunk );
    for my $row ( split /^/, $text ) {
        if ( index( $row, $BlockDelim ) == 0 ) {
            push @found, $hunk = { line => $line, text => '' };
        }
        $hunk->{text} .= $row if $hunk;
        $line++;
    }

    $Blocks = [];
    my $stop;
    for my $hunk (@found) {
        my $block = parse_block($hunk);
        my $meta  = $block->{_meta};
        push @$Blocks, $block;
        if    ($stop)          { $meta->{left_out} = $stop }
        elsif ( $block->{SKIP} ) { $meta->{left_out} = '--- SKIP' }
        elsif ( $block->{ONLY} ) {
            $_->{_meta}{left_out} ||= 'another block is marked --- ONLY' for @$Blocks;
            delete $meta->{left_out};
            $meta->{only} = 1;
            $stop = 'another block is marked --- ONLY';
        }
        elsif ( $block->{LAST} ) { $stop = 'it is after --- LAST' }
    }
    my $seq = 0;
    $_->{_meta}{seq} = ++$seq for @$Blocks;
    return $Blocks;
}

sub parse_block {
    my ($hunk) = @_;
    my ( $head, @rows ) = split /^/, $hunk->{text};
    my ($name) = $head =~ /\A\Q$BlockDelim\E[ \t]*(.*)/;
    $name =~ s/\s+\z//;
    my $block = bless { name => [$name] }, 'Test::Base::Block';
    my $meta  = $block->{_meta} =
      { line => $hunk->{line}, order => [], filters => {}, lines => {} };

    my ( $description, $section, %text, $inline ) = ('');
    my $row_number = $hunk->{line};
    for my $row (@rows) {
        $row_number++;
        if ( $row =~ /\A\Q$DataDelim\E +\(?(\w+)\)? *(.*)\n/ ) {
            ( $section, my $rest ) = ( $1, $2 );
            push @{ $meta->{order} }, $section;
            $meta->{lines}{$section} = $row_number;
            $inline = $rest =~ /:(?:\s|\z)/;
            my $value = '';
            if ($inline) {
                ( $rest, $value ) = split /\s*:(?:\s+|\z)/, $rest, 2;
                $value = '' unless defined $value;
                $value =~ s/\A\s+|\s+\z//g;
            }
            $meta->{filters}{$section} = $rest;
            $block->{$section} = [$value];
        }
        elsif ( !defined $section ) { $description .= $row }
        elsif ( !$inline )          { $block->{$section}[0] .= $row }
        elsif ( $row =~ /\S/ ) {
            $meta->{error} = "line $row_number: '--- $section:' has its value on"
              . " the same line, so no lines may follow";
        }
    }
    $description =~ s/\s+\z//;
    $block->{description} = [ $description =~ /\S/ ? $description : $name ];
    return $block;
}

sub filter_block {
    my ($block) = @_;
    my $meta = $block->{_meta};
    return if $meta->{filtered}++;
    for my $section ( @{ $meta->{order} } ) {
        my @values = @{ $block->{$section} };
        for my $filter ( filters_for( $section, $meta->{filters}{$section} ) ) {
            my ( $name, $arguments ) = split /=/, $filter, 2;
            local $Test::Base::Filter::arguments = $arguments;
            @values = eval { apply_filter( $name, @values ) };
            die "--- $section $filter: $@" if $@;
            $block->{$section} = [@values];
        }
    }
}

sub filters_for {
    my ( $section, $text ) = @_;
    my $mapped = $FiltersOf{$section} || [];
    my ( @filters, @late );
    for my $filter ( @Filters, ref $mapped ? @$mapped : $mapped, split ' ', $text ) {
        if    ( $filter =~ /\A-(.*)/ )  { my $no = $1; @filters = grep { $_ ne $no } @filters }
        elsif ( $filter =~ /\A\+(.*)/ ) { push @late, $1 }
        else                            { push @filters, $filter }
    }
    return @filters, @late;
}

sub argument {
    my $text = $Test::Base::Filter::arguments;
    return unless defined $text;
    my %escape = ( n => "\n", t => "\t", r => "\r", s => ' ', 0 => "\0" );
    $text =~ s/\\([a-z0-9])/exists $escape{$1} ? $escape{$1} : "\\$1"/ge;
    return $text;
}

# What each filter of Test::Base does to the list of a section's values.
my %FILTER;
%FILTER = (
    norm => sub {
        my $text = defined $_[0] ? $_[0] : '';
        $text =~ s/\r\n?/\n/g;
        return $text;
    },
    trim => sub {
        my @out = @_;
        for (@out) { s/\A(?:[ \t]*\n)+//; s/(?<=\n)\s+\z// }
        return @out;
    },
    chomp   => sub { my @out = @_; chomp @out; @out },
    unchomp => sub { map { "$_\n" } @_ },
    chop    => sub { my @out = @_; chop @out; @out },
    eval    => sub { eval_section( $_[0] ) },
    lines   => sub { split /^/, $_[0] },
    array   => sub { [@_] },
    hash    => sub { +{@_} },
    append  => sub { my $tail = argument() // ''; map { $_ . $tail } @_ },
    prepend => sub { my $head = argument() // ''; map { $head . $_ } @_ },
    join    => sub { join argument() // '', @_ },
    split   => sub {
        my $by = argument();
        return split ' ', $_[0] if !defined $by || $by eq '';
        $by = $1 if $by =~ m{\A/(.*)/\z};
        return split /$by/, $_[0];
    },
    sort    => sub { sort @_ },
    reverse => sub { reverse @_ },
    head    => sub { splice @_, 0, argument() || 1 },
    tail    => sub { my $n = argument() || 1; splice @_, -$n },
    slice   => sub {
        my ( $from, $to ) = ( argument() // '' ) =~ /\A(\d+)(?:,(\d+))?\z/
          or die "bad arguments\n";
        return @_[ $from .. ( defined $to ? $to : $from ) ];
    },
    flatten => sub {
        ref $_[0] eq 'HASH' ? map { $_, $_[0]{$_} } sort keys %{ $_[0] } : @{ $_[0] };
    },
    escape => sub { my $text = $_[0]; $text =~ s/(\\.)/eval qq{"$1"}/ge; $text },
    regexp => sub {
        my $text  = $_[0];
        my $flags = argument();
        if ( $text =~ /\n.*\n/s ) { $flags = 'xism' unless defined $flags }
        else                      { chomp $text }
        $flags = '' unless defined $flags;
        my $regexp = eval "qr{$text}$flags";
        die $@ if $@;
        return $regexp;
    },
    strict        => sub { "use strict;\nuse warnings;\n$_[0]" },
    base64_decode => sub { require MIME::Base64; MIME::Base64::decode_base64( $_[0] ) },
    base64_encode => sub { require MIME::Base64; MIME::Base64::encode_base64( $_[0] ) },
    read_file     => sub {
        chomp( my $name = $_[0] );
        open my $file, '<', $name or die "cannot open '$name': $!\n";
        local $/;
        return scalar <$file>;
    },
    dumper => sub {
        require Data::Dumper;
        return Data::Dumper->new( [@_] )->Sortkeys(1)->Indent(1)->Terse(1)->Dump;
    },
);

sub apply_filter {
    my ( $name, @values ) = @_;

    # A sub of the file's own comes first. One that returns nothing, or a mere
    # number, is taken to have changed $_.
    no strict 'refs';
    if ( defined &{"main::$name"} ) {
        local $_ = @values == 1 && !defined $values[0] ? undef : join '', @values;
        my @out = &{"main::$name"}(@values);
        @out = ($_)
          if !@out || @out == 1 && defined $out[0] && $out[0] =~ /\A\d*\z/;
        return @out;
    }
    return $FILTER{$name}->(@values) if $FILTER{$name};
    if ( my $method = Test::Base::Filter->can($name) ) {
        return $method->( bless( {}, 'Test::Base::Filter' ), @values );
    }
    die "there is no filter of this name\n";
}

# ---------------------------------------------------------------- skipping

sub version_test {
    my ( $have, $op, $want ) = @_;
    return $op =~ /\A</ unless defined $have;
    return
        $op eq '<'  ? $have < $want
      : $op eq '<=' ? $have <= $want
      : $op eq '>'  ? $have > $want
      :               $have >= $want;
}

my $OP = qr/([<>]=?)\s*(\d+)\.(\d+)\.(\d+)/;
sub canon { sprintf '%d.%03d%03d', @_ }

# Why this block is not run on this nginx, or undef.
sub skip_reason {
    my ($block) = @_;
    my $have = $Test::Nginx::Util::NginxVersion;
    my ( $reason, $value );

    if ( defined( $value = $block->skip_eval ) ) {
        if ( $value =~ /\A\s*\d+\s*:\s*(.*)/s ) {
            $reason = 'skip_eval' if eval_util($1);
        }
    }
    if ( defined( $value = $block->skip_nginx ) ) {
        $value =~ /\A\s*\d+\s*:\s*$OP(?:\s*:\s*(.*))?\s*\z/
          or die "bad --- skip_nginx: $value";
        my $why = $5 || "nginx version $1 $2.$3.$4";
        $reason = $why if version_test( $have, $1, canon( $2, $3, $4 ) );
    }
    elsif ( defined( $value = $block->skip_nginx2 ) ) {
        $value =~ /\A\s*\d+\s*:\s*$OP\s*(or|and)\s*$OP(?:\s*:\s*(.*))?\s*\z/
          or die "bad --- skip_nginx2: $value";
        my $why = $10 || 'nginx version';
        my ( $one, $both, $two ) = (
            version_test( $have, $1, canon( $2, $3, $4 ) ), $5 eq 'and',
            version_test( $have, $6, canon( $7, $8, $9 ) )
        );
        $reason = $why if $both ? $one && $two : $one || $two;
    }
    elsif ( defined( $value = $block->skip_slave ) && defined $Test::Nginx::Util::BuildSlaveName ) {
        my ($names) = $value =~ /\A\s*\d+\s*:\s*([\w\s]+)/
          or die "bad --- skip_slave: $value";
        $reason = 'skip_slave'
          if grep { $_ eq 'all' || $_ eq $Test::Nginx::Util::BuildSlaveName } split ' ', $names;
    }
    if ( defined( $value = $block->skip_openssl ) ) {
        $value =~ /\A\s*\d+\s*:\s*$OP([a-z])?(?:\s*:\s*(.*))?\s*\z/
          or die "bad --- skip_openssl: $value";
        my $want = canon( $2, $3, $4 );
        $want .= sprintf '%03d', ord($5) - ord 'a' if defined $5;
        my $ssl = $Test::Nginx::Util::OpenSSLVersion;
        my $why = $6 || ( defined $ssl ? "OpenSSL version $1 $2.$3.$4" : 'no OpenSSL' );
        $reason = $why if !defined $ssl || version_test( $ssl, $1, $want );
    }
    if ( defined( $value = $block->todo_nginx ) ) {
        $value =~ /\A\s*$OP(?:\s*:\s*(.*))?\s*\z/ or die "bad --- todo_nginx: $value";
        my $why = $5 || 'todo_nginx';
        $reason = "todo: $why" if version_test( $have, $1, canon( $2, $3, $4 ) );
    }
    if ( defined( $value = $block->todo ) ) {
        $value =~ /\A\s*\d+\s*:\s*(.*)/s or die "bad --- todo: $value";
        $reason = "todo: $1";
    }
    $reason =~ s/\s+\z// if defined $reason;
    return $reason;
}

# ---------------------------------------------------------------- answers

package TestNginxRunner::Answer;

our $Current;

# Names, lines and skips of all blocks; nothing is filtered or evaluated yet
# but the conditions of skip_* sections.
sub list {
    my @out;
    for my $block ( @{ TestNginxRunner::blocks_of_file() } ) {
        my $meta   = $block->{_meta};
        my $reason = $TestNginxRunner::SkipAll // $meta->{left_out};
        $reason = eval { TestNginxRunner::skip_reason($block) } unless defined $reason;
        my %seen;
        push @out, {
            name     => $block->name,
            line     => $meta->{line},
            skip     => $reason,
            only     => $meta->{only},
            repeated => [ grep { $seen{$_}++ == 1 } @{ $meta->{order} } ],
        };
    }
    return \@out;
}

# One block as it is to be run.
sub block {
    my ($number) = @_;
    my $blocks = TestNginxRunner::blocks_of_file();
    for my $block ( grep { !$_->{_meta}{left_out} } @$blocks ) {
        next if $block->{_meta}{error};
        eval { TestNginxRunner::filter_block($block); 1 }
          or $block->{_meta}{error} = $@;
    }
    my $block = $Current = $blocks->[$number];
    die $block->{_meta}{error} if $block->{_meta}{error};
    TestNginxRunner::filter_block($block);
    $ENV{TEST_NGINX_SERVER_PORT} = $Test::Nginx::Util::ServerPort;

    prepare($block);
    my $skip = TestNginxRunner::skip_reason($block);
    my %sections = map { $_ => scalar $block->$_ }
      grep { !/\A_/ && !/\A(?:name|description)\z/ && defined scalar $block->$_ } keys %$block;

    # No config means the one in force: that of the block before.
    my $inherited;
    if ( !defined $sections{config} ) {
        for my $before ( reverse @$blocks[ 0 .. $number - 1 ] ) {
            next if $before->{_meta}{left_out} || $before->{_meta}{error};
            prepare($before);
            next unless defined $before->config;
            $inherited = $before->{_meta}{line};
            for my $part (qw(config http_config main_config post_main_config user_files
                log_level error_log_file server_name post_setup_server_root)) {
                $sections{$part} = $before->$part if defined $before->$part;
            }
            last;
        }
    }
    if ( my $filter = $Test::Nginx::Util::FilterHttpConfig ) {
        $sections{http_config} = $filter->( $sections{http_config} // '' );
    }
    if ( my $charset = $block->charset ) {
        require Encode;
        my $body = $sections{response_body};
        Encode::from_to( $_, 'UTF-8', $charset ) for ref $body ? @$body : $body;
        $sections{response_body} = $body;
    }

    package Test::Nginx::Util;
    return {
        name      => $block->name,
        line      => $block->{_meta}{line},
        lines     => $block->{_meta}{lines},
        sections  => \%sections,
        skip      => $skip,
        inherited => $inherited,
        own       => [ sort keys %TestNginxRunner::Read ],
        env       => {%ENV},
        settings  => {
            server_port        => $ServerPort,
            client_port        => $ServerPortForClient,
            server_addr        => $ServerAddr,
            server_name        => $ServerName,
            workers            => $Workers,
            worker_connections => $WorkerConnections,
            log_level          => $LogLevel,
            master             => $MasterProcessEnabled,
            repeat_each        => $RepeatEach,
            timeout            => $Timeout,
            sleep              => $TestNginxSleep,
            no_root_location   => $NoRootLocation,
            preamble           => $ConfigPreamble,
            accumulate_log     => $CheckAccumErrLog,
            no_nginx_manager   => $NoNginxManager,
            use_http2          => $UseHttp2,
            env_to_nginx       => \@EnvToNginx,
            body_checks        => scalar @TestNginxRunner::BodyChecks,
            cleanups           => @CleanupHandlers + @TestCleanupHandlers,
        },
    };
}

sub prepare {
    my ($block) = @_;
    return if $block->{_meta}{prepared}++;
    local $TestNginxRunner::Preprocessing = 1;
    $_->($block) for @Test::Nginx::Util::BlockPreprocessors;
    $block->set_value( name => "$0 " . $block->name );
}

sub compile {
    my ( $pattern, $flags ) = @_;
    return
        $flags eq 's'     ? qr/$pattern/s
      : $flags eq 'sm'    ? qr/$pattern/sm
      : $flags eq 'whole' ? qr/^$pattern$/
      :                     qr/$pattern/;
}

sub match {
    my ( $pattern, $flags, $text ) = @_;
    my $regex = compile( $pattern, $flags );
    return $text =~ $regex ? 1 : 0;
}

# For each line the pattern matches: its number and what was matched.
sub grep_lines {
    my ( $pattern, $text ) = @_;
    my ( $n, @out ) = (0);
    for my $line ( split /^/, $text ) {
        push @out, [ $n, $& ] if $line =~ /$pattern/ || $line =~ /\Q$pattern\E/;
        $n++;
    }
    return \@out;
}

sub transform_body {
    my ( $index, $body ) = @_;
    my $filters = $Current->response_body_filters;
    $filters = [ split ' ', $filters ] if !ref $filters;
    $filters = [$filters] if ref $filters ne 'ARRAY';
    if ( ref $filters->[0] eq 'ARRAY' ) {
        $filters = $filters->[$index];
        die "--- response_body_filters has no entry for request $index\n" unless $filters;
    }
    for my $filter (@$filters) {
        if ( ref $filter eq 'CODE' ) { $body = $filter->($body) }
        elsif ( $filter eq 'md5_hex' )  { require Digest::MD5; $body = Digest::MD5::md5_hex($body) }
        elsif ( $filter eq 'sha1_hex' ) { require Digest::SHA; $body = Digest::SHA::sha1_hex($body) }
        elsif ( $filter eq 'uc' )       { $body = uc $body }
        elsif ( $filter eq 'lc' )       { $body = lc $body }
        elsif ( $filter eq 'ucfirst' )  { $body = ucfirst $body }
        elsif ( $filter eq 'lcfirst' )  { $body = lcfirst $body }
        elsif ( $filter eq 'length' )   { $body = length $body }
        else { die "--- response_body_filters: there is no filter '$filter'\n" }
    }
    return $body;
}

sub sort_json {
    my ($text) = @_;
    require JSON::PP;
    my $json = JSON::PP->new->canonical(1)->loose(1);
    my $data = eval { $json->decode($text) };
    return $@ ? $text : $json->encode($data) . "\n";
}

sub check_body {
    my ( $body, $index, $repeat ) = @_;
    @TestNginxRunner::Failures = ();
    $_->( $Current, $body, $index, $repeat, undef ) for @TestNginxRunner::BodyChecks;
    return [@TestNginxRunner::Failures];
}

sub eval_perl { TestNginxRunner::eval_util( $_[0] ); return 1 }

sub call_code { my ( $id, @args ) = @_; return $TestNginxRunner::Codes[$id]->(@args) }

sub cleanup {
    $_->($Current) for @Test::Nginx::Util::TestCleanupHandlers;
    $_->()         for @Test::Nginx::Util::CleanupHandlers;
    return 1;
}

# ---------------------------------------------------------------- blocks

package Test::Base::Block;

our $AUTOLOAD;

sub AUTOLOAD {
    my $self = shift;
    ( my $name = $AUTOLOAD ) =~ s/.*:://;
    return if $name eq 'DESTROY';
    $TestNginxRunner::Read{$name} = 1 if $TestNginxRunner::Preprocessing;
    my $values = $self->{$name} or return;
    return wantarray ? @$values : $values->[0];
}

sub set_value { my ( $self, $name, @values ) = @_; $self->{$name} = [@values]; return }
sub seq_num   { $_[0]{_meta}{seq} }

# ------------------------------------------ what a test file may call

package Test::Base;
our @ISA;

package Test::Nginx::Socket;
our @ISA = ('Test::Base');

package Test::Nginx::Socket::Lua;
our @ISA = ('Test::Nginx::Socket');

package Test::Nginx::Util;

my %API = (
    run_tests => \&TestNginxRunner::serve,
    blocks    => sub {
        my @own = grep { !$_->{_meta}{left_out} } @{ TestNginxRunner::blocks_of_file() };
        @own = grep { $_->{ $_[0] } } @own if @_;
        return wantarray ? @own : scalar @own;
    },
    plan => sub {
        my %plan = @_ % 2 ? () : @_;
        return unless exists $plan{skip_all};
        $TestNginxRunner::SkipAll = $plan{skip_all} // 'skip_all';
        TestNginxRunner::serve();
    },
    repeat_each => sub { $RepeatEach        = shift if @_; $RepeatEach },
    workers     => sub { $Workers           = shift if @_; $Workers },
    log_level   => sub { $LogLevel          = shift if @_; $LogLevel },
    timeout     => sub { $Timeout           = shift if @_; $Timeout },
    server_addr => sub { $ServerAddr        = shift if @_; $ServerAddr },
    server_name => sub { $ServerName        = shift if @_; $ServerName },
    server_port => sub { $ServerPort        = shift if @_; $ServerPort },
    server_port_for_client => sub { $ServerPortForClient = shift if @_; $ServerPortForClient },
    worker_connections     => sub { $WorkerConnections   = shift if @_; $WorkerConnections },
    master_on              => sub { $MasterProcessEnabled = 'on' },
    master_off             => sub { $MasterProcessEnabled = 'off' },
    master_process_enabled => sub {
        $MasterProcessEnabled = shift() ? 'on' : 'off' if @_;
        $MasterProcessEnabled;
    },
    no_root_location      => sub { $NoRootLocation   = 1 },
    check_accum_error_log => sub { $CheckAccumErrLog = 1 },
    no_nginx_manager      => sub { $NoNginxManager   = 1 },
    config_preamble       => sub { $ConfigPreamble   = shift },
    server_root           => sub { $ServRoot },
    html_dir              => sub { $HtmlDir },
    env_to_nginx          => sub { push @EnvToNginx, @_ },
    add_block_preprocessor    => sub { unshift @BlockPreprocessors,  shift },
    add_cleanup_handler       => sub { unshift @CleanupHandlers,     shift },
    add_test_cleanup_handler  => sub { unshift @TestCleanupHandlers, shift },
    add_response_body_check   => sub { push @TestNginxRunner::BodyChecks, shift },
    filters => sub {
        if ( ref $_[0] eq 'HASH' ) { %TestNginxRunner::FiltersOf = %{ $_[0] } }
        else                       { push @TestNginxRunner::Filters, @_ }
    },
    filter_arguments => sub { $Test::Base::Filter::arguments },
    delimiters       => sub {
        $TestNginxRunner::BlockDelim = shift if @_;
        $TestNginxRunner::DataDelim  = shift if @_;
    },
    bail_out => sub { die join( '', 'bail out: ', @_ ), "\n" },
    diag     => sub { print STDERR map { "# $_\n" } @_ },
    note     => sub { print STDERR map { "# $_\n" } @_ },

    # How the comparison of long strings is shown and in which order blocks
    # run is the runner's own affair.
    map { $_ => sub { } }
      qw(no_long_string no_shuffle no_diff no_diag_on_only use_hup filters_delay),
);

sub verdict {
    my ( $ok, $name, $detail ) = @_;
    $name = 'a check of the test file' unless defined $name && length $name;
    push @TestNginxRunner::Failures, join "\n", $name, $detail // () unless $ok;
    return $ok;
}

sub shown { defined $_[0] ? "'$_[0]'" : 'undef' }

$API{ok}   = sub { verdict(@_) };
$API{pass} = sub { 1 };
$API{fail} = sub { verdict( 0, @_ ) };
$API{is}   = $API{is_str} = sub {
    my ( $got, $want, $name ) = @_;
    return $API{like}->(@_) if ref $want eq 'Regexp';
    my $same = defined $got && defined $want ? $got eq $want : !defined $got && !defined $want;
    verdict( $same, $name, 'got ' . shown($got) . ', expected ' . shown($want) );
};
$API{isnt} = sub {
    my ( $got, $other, $name ) = @_;
    verdict( shown($got) ne shown($other), $name, 'got ' . shown($got) );
};
$API{like} = sub {
    my ( $got, $regex, $name ) = @_;
    verdict( defined $got && $got =~ $regex, $name, shown($got) . " does not match $regex" );
};
$API{unlike} = sub {
    my ( $got, $regex, $name ) = @_;
    verdict( !defined $got || $got !~ $regex, $name, shown($got) . " matches $regex" );
};

# Files call some of these without parentheses, or with a bare block.
my %PROTOTYPE = (
    add_block_preprocessor => '&',
    map( { $_ => '$' } qw(
            add_cleanup_handler add_response_body_check add_test_cleanup_handler
            config_preamble
    ) ),
    map( { $_ => '' } qw(
            check_accum_error_log html_dir master_off master_on no_long_string
            no_nginx_manager no_root_location no_shuffle run_tests server_root use_hup
    ) ),
);

for my $name ( keys %API ) {
    no strict 'refs';
    if ( defined $PROTOTYPE{$name} ) {
        my $code = $API{$name};
        $API{$name} = sub { $code->(@_) };
        &Scalar::Util::set_prototype( $API{$name}, $PROTOTYPE{$name} );
    }
    *{"Test::Nginx::Util::$name"} = *{"Test::Nginx::Socket::$name"} = $API{$name};
}

sub Test::Nginx::Socket::set_http_config_filter { $FilterHttpConfig = shift }

sub Test::Base::import {
    my ( $class, @args ) = @_;
    my $caller = caller;
    strict->import;
    warnings->import;
    my $is_base = grep { /\A-base\z/i } @args;
    @args = grep { !/\A-/ } @args;

    no strict 'refs';
    *{"${caller}::$_"} = $API{$_} for keys %API;
    for my $name ( @{"${class}::EXPORT"} ) {
        *{"${caller}::$name"} = \&{"${class}::$name"};
    }
    if ($is_base) {
        push @{"${caller}::ISA"}, $class unless $caller->isa($class);
        self_filter();
    }
    elsif (@args) { $API{plan}->(@args) }

    if ( $class->isa('Test::Nginx::Socket::Lua') && $ENV{TEST_NGINX_INIT_BY_LUA} ) {
        $FilterHttpConfig = \&with_init_by_lua;
    }
}

# Spiffy, on which -Base rests, gives each sub without a prototype its $self.
sub self_filter {
    require Filter::Util::Call;
    my $over;
    Filter::Util::Call::filter_add( sub {
        my $status = Filter::Util::Call::filter_read();
        return $status if $status <= 0 || $over;
        $over = 1 if /\A__(?:END|DATA)__\s*\z/;
        s/\A(\s*sub\s+\w+\s*\{)/$1 my \$self = shift;/;
        return $status;
    } );
}

# TEST_NGINX_INIT_BY_LUA is run first in whatever init_by_lua there is.
sub with_init_by_lua {
    my ($config) = @_;
    my $code = $ENV{TEST_NGINX_INIT_BY_LUA};
    return $config if $config =~ /init_by_lua_file/;
    ( my $quoted = $code ) =~ s/\\/\\\\/g;
    $quoted =~ s/(['"])/\\$1/g;
    return $config if $config =~ s/^([^#\n]*\binit_by_lua_block\s*\{)/$1 $code /m;
    return $config if $config =~ s/^([^#\n]*\binit_by_lua\s*['"])/$1$quoted /m;
    return "$config\ninit_by_lua '$quoted';\n";
}

1;
