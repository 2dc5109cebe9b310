//! A handler that reads the request's body.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::http::{Answer, Client, text};
use support::http2::{Frame, Http2};
use support::{accessed, eventually, logged, process, quits_in_peace};
use test_nginx::{Server, ServerBuilder};

const CONFIG: &str = "
    client_body_buffer_size 8k;
    location = /echo { content_by_rust body_echo; }
    location = /chunks { content_by_rust body_chunks; }
    location = /halves { content_by_rust body_halves; }
    location = /resumed { content_by_rust body_resumed; }
    location = /got { content_by_rust got; }
    location = /begun { content_by_rust body_begun; }
    location = /or_sleep { content_by_rust body_or_sleep; }
    location = /among_others { content_by_rust body_among_others; }
    location = /twice { content_by_rust body_twice; }
    location = /begun_large { client_max_body_size 100m; content_by_rust body_begun; }
    location = /small { client_max_body_size 10; content_by_rust body_echo; }
    location = /small_page { client_max_body_size 10; error_page 413 /sorry; content_by_rust body_error; }
    location = /sorry { content_by_rust reply body=sorry status=413; }
    location = /hasty { client_body_timeout 200ms; content_by_rust body_error; }
    location = /busy { client_body_timeout 200ms; content_by_rust body_chunks; }
    location = /error { content_by_rust body_error; }
    location = /anyway { client_max_body_size 10; content_by_rust body_anyway; }
    location = /alive { content_by_rust alive; }
    location = /ok { content_by_rust ok; }";

fn builder() -> ServerBuilder {
    support::server_with(CONFIG)
}

fn server() -> Server {
    support::start(builder())
}

/// Bytes of which no stretch is like another.
fn bytes(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// What the handler `body_chunks` counts.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add((*byte).into())
    })
}

/// Head of a POST, with more lines.
fn head(path: &str, lines: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n")
}

fn with_length(path: &str, body: &[u8]) -> Vec<u8> {
    let head = head(path, &format!("Content-Length: {}\r\n", body.len()));
    [head.as_bytes(), body].concat()
}

/// Waits until the handlers have got so many bytes.
#[track_caller]
fn got(server: &Server, bytes: usize) {
    eventually(&format!("{bytes} bytes to be got"), || {
        text(server, "/got") == format!("{bytes}\n")
    });
}

/// A chunk for each of the pieces, and the end.
fn chunked(path: &str, pieces: &[&[u8]]) -> Vec<u8> {
    let mut all = head(path, "Transfer-Encoding: chunked\r\n").into_bytes();
    for piece in pieces {
        all.extend(chunk(piece));
    }
    all.extend(b"0\r\n\r\n");
    all
}

fn chunk(piece: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
}

#[track_caller]
fn answered(client: &mut Client, body: &[u8]) {
    let answer = client.read();
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body == body, "{} bytes", answer.body.len());
}

/// No handler is left, and the descriptors are as before.
#[track_caller]
fn nothing_is_left(server: Server, before: &[String]) {
    eventually("the handlers to be dropped", || {
        text(&server, "/alive") == "0\n"
    });
    let worker = process::worker(&server);
    eventually("the descriptors as they were", || {
        process::descriptors(worker) == before
    });
    quits_in_peace(server);
}

/// What the worker has open when nobody is there.
fn descriptors(server: &Server) -> Vec<String> {
    let mut client = Client::connect(server.addr());
    client.get("/ok");
    let worker = process::worker(server);
    let with_client = process::descriptors(worker).len();
    drop(client);
    let mut now = Vec::new();
    eventually("the client's descriptor to go", || {
        now = process::descriptors(worker);
        now.len() < with_client
    });
    now
}

#[test]
fn without_a_body_it_is_empty() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for path in ["/echo", "/echo?before=2", "/halves"] {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.text()), (200, ""), "{path}");
    }
    assert_eq!(client.get("/chunks").text(), "0 0 0 []\n");
    assert_eq!(client.get("/twice").text(), "0 0\n");
    client.send(with_length("/echo", b""));
    answered(&mut client, b"");
    client.send(chunked("/echo", &[]));
    answered(&mut client, b"");
    drop(client);
    quits_in_peace(server);
}

#[test]
fn one_that_comes_with_the_head_is_there_at_once_or_later() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for path in ["/echo", "/echo?before=2", "/halves"] {
        client.send(with_length(path, b"hello"));
        answered(&mut client, b"hello");
        client.send(chunked(path, &[b"hel", b"l", b"o"]));
        answered(&mut client, b"hello");
    }
    client.send(with_length("/chunks", b"hello"));
    let counted = format!("5 {} 5 [5]\n", sum(b"hello"));
    answered(&mut client, counted.as_bytes());
    drop(client);
    quits_in_peace(server);
}

#[test]
fn halves_are_given_as_they_come() {
    let server = server();
    for framing in ["Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"] {
        let mut client = Client::connect(server.addr());
        let halves = match framing.starts_with('C') {
            true => [&b"first"[..], b"later"].map(<[u8]>::to_vec),
            false => [b"first".as_slice(), b"later"].map(chunk),
        };
        let seen: usize = text(&server, "/got").trim().parse().unwrap();
        client.send(head("/halves", framing));
        client.send(&halves[0]);
        got(&server, seen + 5);
        assert!(client.is_silent());
        client.send(&halves[1]);
        got(&server, seen + 10);
        if !framing.starts_with('C') {
            assert!(client.is_silent());
            client.send("0\r\n\r\n");
        }
        answered(&mut client, b"firstlater");
        // And the connection is in order.
        assert_eq!(client.get("/ok").text(), "OK\n");
    }
    quits_in_peace(server);
}

#[test]
fn byte_by_byte() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(head("/halves", "Content-Length: 20\r\n"));
    for n in 1..=20 {
        client.send("x");
        got(&server, n);
    }
    answered(&mut client, &[b'x'; 20]);
    drop(client);
    quits_in_peace(server);
}

#[test]
fn a_large_one_comes_in_chunks_no_larger_than_the_buffer() {
    let server = server();
    let body = bytes(900_000);
    let mut client = Client::connect(server.addr());
    for path in ["/echo", "/echo?before=5"] {
        for request in [
            with_length(path, &body),
            chunked(path, &body.chunks(7001).collect::<Vec<_>>()),
        ] {
            client.send(request);
            answered(&mut client, &body);
        }
    }
    for request in [
        with_length("/chunks?quiet", &body),
        chunked("/chunks?quiet", &body.chunks(7001).collect::<Vec<_>>()),
    ] {
        client.send(request);
        let answer = client.read();
        let words: Vec<&str> = answer.text().split(' ').collect();
        assert_eq!(words[..2], ["900000", &*sum(&body).to_string()]);
        let longest: usize = words[2].parse().unwrap();
        assert!((1..=8192).contains(&longest), "{longest}");
    }
    drop(client);
    // None of it went through a file.
    assert!(!server.error_log().contains("temporary file"));
    quits_in_peace(server);
}

#[test]
fn while_nobody_asks_the_client_has_to_wait() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(head(
        "/begun_large?ms=60000",
        "Content-Length: 100000000\r\n",
    ));
    client.send("begun");
    logged(&server, "got 5 bytes");
    // The sockets' buffers are not as large.
    let piece = vec![b'x'; 1 << 20];
    client
        .stream
        .set_write_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let mut sent = 0;
    while client.stream.write_all(&piece).is_ok() && sent < 90 {
        sent += 1;
    }
    assert!(sent < 90, "all of it was taken, though nobody asked");
    // A FIN would have to wait behind what nobody reads.
    client.reset();
    accessed(&server, "/begun_large?ms=60000 HTTP/1.1\" 499 ", 1);
    quits_in_peace(server);
}

#[test]
fn over_client_max_body_size_is_413_in_either_framing() {
    let server = server();
    let many: &[&[u8]] = &[b"123456", b"789012"];
    for path in ["/small", "/small?before=2"] {
        for request in [
            with_length(path, b"12345678901"),
            chunked(path, many),
            chunked(path, &[b"12345678901"]),
        ] {
            let mut client = Client::connect(server.addr());
            client.send(request);
            assert_eq!(client.read().status, 413);
        }
        let mut client = Client::connect(server.addr());
        client.send(with_length(path, b"1234567890"));
        answered(&mut client, b"1234567890");
        client.send(chunked(path, &[b"12345", b"67890"]));
        answered(&mut client, b"1234567890");
    }
    // The part that is too long comes later.
    let mut client = Client::connect(server.addr());
    client.send(head("/small", "Transfer-Encoding: chunked\r\n"));
    client.send(chunk(b"123456"));
    logged(&server, "reads the body");
    client.send(chunk(b"123456"));
    assert_eq!(client.read().status, 413);
    // error_page answers it.
    let mut client = Client::connect(server.addr());
    client.send(chunked("/small_page", many));
    let answer = client.read();
    assert_eq!((answer.status, answer.text()), (413, "sorry"));
    logged(&server, "client intended to send too large chunked body");
    drop(client);
    quits_in_peace(server);
}

#[test]
fn expect_100_continue_is_heeded_when_the_reading_begins() {
    let server = server();
    for path in ["/echo", "/echo?before=20", "/halves"] {
        for framing in ["Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"] {
            let mut client = Client::connect(server.addr());
            client.send(head(path, &format!("Expect: 100-continue\r\n{framing}")));
            assert_eq!(client.read_head().status, 100);
            match framing.starts_with('C') {
                true => client.send("hello"),
                false => client.send("5\r\nhello\r\n0\r\n\r\n"),
            }
            answered(&mut client, b"hello");
            assert_eq!(client.get("/ok").text(), "OK\n");
        }
    }
    // Who is refused is not told to go on.
    let mut client = Client::connect(server.addr());
    client.send(head(
        "/small",
        "Expect: 100-continue\r\nContent-Length: 50\r\n",
    ));
    assert_eq!(client.read_head().status, 413);
    drop(client);
    quits_in_peace(server);
}

#[test]
fn one_that_stops_coming_is_408_after_client_body_timeout() {
    let server = server();
    for framing in ["Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"] {
        let mut client = Client::connect(server.addr());
        let begun = Instant::now();
        client.send(head("/hasty", framing) + "5\r\n12");
        let answer = client.read_to_end();
        assert!(begun.elapsed() >= Duration::from_millis(190));
        let answer = String::from_utf8_lossy(&answer);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 408 "),
            "{answer}"
        );
    }
    accessed(&server, "/hasty HTTP/1.1\" 408 ", 2);
    assert_eq!(text(&server, "/alive"), "0\n");
    quits_in_peace(server);
}

/// The timeout is for a client that is waited for, not for a handler that is busy.
#[test]
fn a_handler_may_take_longer_for_a_piece_than_client_body_timeout() {
    let server = server();
    for framing in ["Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n"] {
        let pieces = match framing.starts_with("Content") {
            true => ["12", "34"],
            false => ["2\r\n12\r\n", "2\r\n34\r\n0\r\n\r\n"],
        };
        let mut client = Client::connect(server.addr());
        client.send(head("/busy?ms=500", framing) + pieces[0]);
        logged(&server, "reads chunks");
        client.send(pieces[1]);
        let answer = client.read();
        assert_eq!(answer.status, 200, "{framing}");
        assert!(answer.text().starts_with("4 "), "{}", answer.text());
    }
    quits_in_peace(server);
}

#[test]
fn malformed_chunks_are_400() {
    let server = server();
    for path in ["/echo", "/echo?before=2", "/halves", "/error"] {
        let mut client = Client::connect(server.addr());
        client.send(head(path, "Transfer-Encoding: chunked\r\n") + "x\r\n");
        assert_eq!(client.read().status, 400, "{path}");
        assert!(client.is_closed());
    }
    let mut client = Client::connect(server.addr());
    client.send(head("/halves", "Transfer-Encoding: chunked\r\n"));
    client.send("5\r\nhello\r\n");
    got(&server, 5);
    client.send("5\r\nhello, world\r\n");
    assert_eq!(client.read().status, 400);
    assert_eq!(text(&server, "/alive"), "0\n");
    quits_in_peace(server);
}

#[test]
fn what_is_left_of_a_body_that_failed_is_no_request() {
    let server = server();
    let other = support::http::request("GET", "/ok");
    let head = head("/anyway", "Transfer-Encoding: chunked\r\n");
    let (too_long, malformed) = (chunk(other.as_bytes()), ["x\r\n", &other].concat());
    for (body, status) in [(too_long, "413"), (malformed.into_bytes(), "400")] {
        for comes_at_once in [true, false] {
            let mut client = Client::connect(server.addr());
            match comes_at_once {
                true => client.send([head.as_bytes(), &body].concat()),
                false => {
                    client.send([head.as_bytes(), &chunk(b"hello")].concat());
                    client.send(&body);
                }
            }
            let answer = client.read();
            let text = format!("{status}\n{status}\n");
            assert_eq!((answer.status, answer.text()), (200, &*text));
            assert_eq!(answer.header("Connection"), Some("close"));
            client.half_close();
            assert!(client.is_closed());
        }
    }
    quits_in_peace(server);
}

#[test]
fn a_client_that_goes_half_way_ends_the_handler() {
    let server = server();
    let before = descriptors(&server);
    for (path, begun) in [
        ("/echo", "reads the body"),
        ("/halves", "begins"),
        ("/among_others", "begins"),
        ("/chunks", "reads chunks"),
    ] {
        for (n, framing) in ["Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"]
            .into_iter()
            .enumerate()
        {
            let times = server.error_log().matches(begun).count();
            let mut client = Client::connect(server.addr());
            client.send(head(path, framing) + "5\r\n12");
            support::logged_times(&server, begun, times + 1);
            match n {
                0 => client.close(),
                _ => client.reset(),
            }
        }
    }
    eventually("the requests to end", || {
        server.access_log().matches("POST /").count() == 8
    });
    assert!(!server.access_log().contains(" 200 5"));
    nothing_is_left(server, &before);
}

#[test]
fn a_client_that_goes_while_the_handler_sleeps_in_the_middle_of_the_body_ends_it() {
    let server = server();
    let before = descriptors(&server);
    for n in 0..4 {
        let mut client = Client::connect(server.addr());
        client.send(head("/begun?ms=60000", "Content-Length: 10\r\n"));
        client.send("half");
        support::logged_times(&server, "got 4 bytes", n + 1);
        if n % 2 == 0 {
            client.close();
        } else {
            client.reset();
        }
    }
    accessed(&server, "/begun?ms=60000 HTTP/1.1\" 499 ", 4);
    nothing_is_left(server, &before);
}

#[test]
fn a_request_behind_the_body_in_the_same_packet_is_the_next() {
    let server = server();
    let mut client = Client::connect(server.addr());
    let large = bytes(100_000);
    for path in ["/echo", "/echo?before=5", "/halves"] {
        for body in [&b"hello"[..], &large] {
            let chunks: Vec<&[u8]> = body.chunks(1000).collect();
            client.send(
                [
                    with_length(path, body),
                    chunked(path, &chunks),
                    support::http::request("GET", "/ok").into_bytes(),
                ]
                .concat(),
            );
            answered(&mut client, body);
            answered(&mut client, body);
            assert_eq!(client.read().text(), "OK\n");
        }
    }
    drop(client);
    quits_in_peace(server);
}

#[test]
fn one_that_is_given_up_half_way_does_not_spoil_the_answer() {
    let server = server();
    for path in ["/begun", "/begun?ms=5"] {
        for length in [10, 200_000] {
            let body = bytes(length);
            let mut client = Client::connect(server.addr());
            client.send(head(path, &format!("Content-Length: {length}\r\n")));
            client.send(&body[..5]);
            let answer = client.read();
            assert_eq!((answer.status, answer.text()), (200, "5, enough\n"));
            assert_eq!(answer.header("Connection"), Some("close"));
            // nginx ends such a connection, with the patience that the client gets its answer.
            client.send(&body[5..]);
            assert!(client.is_closed());
            // All of it at once: what did not come with the head is for nobody.
            let mut client = Client::connect(server.addr());
            client.send(with_length(path, &body));
            assert!(client.read().text().ends_with(", enough\n"));
        }
        let mut client = Client::connect(server.addr());
        client.send(head(path, "Transfer-Encoding: chunked\r\n"));
        client.send("5\r\nhello\r\n");
        assert_eq!(client.read().text(), "5, enough\n");
        client.send("5\r\nhello\r\n0\r\n\r\n");
        assert!(client.is_closed());
    }
    // One that came with the head leaves the connection as it is.
    let mut client = Client::connect(server.addr());
    for _ in 0..2 {
        client.send(with_length("/begun", b"hello"));
        assert_eq!(client.read().text(), "5, enough\n");
    }
    drop(client);
    quits_in_peace(server);
}

#[test]
fn one_that_is_given_up_and_asked_for_again_comes_to_its_end() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(head("/resumed", "Content-Length: 200000\r\n"));
    for piece in bytes(200_000).chunks(10_000) {
        client.send(piece);
        std::thread::sleep(Duration::from_millis(3));
    }
    let answer = client.read();
    assert_eq!(answer.status, 200);
    assert!(answer.text().ends_with(", true\n"), "{answer:?}");
    assert_eq!(client.get("/ok").text(), "OK\n");
    drop(client);
    quits_in_peace(server);
}

#[test]
fn a_sleep_that_wins_leaves_the_body_for_later() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(head("/or_sleep?ms=20&then=read", "Content-Length: 10\r\n"));
    logged(&server, "sleep has won");
    assert!(client.is_silent());
    client.send("hello");
    client.send("world");
    let late = client.read();
    assert_eq!((late.status, late.text()), (200, "late: 10\n"));
    assert_eq!(client.get("/ok").text(), "OK\n");
    // The body wins.
    client.send(with_length("/or_sleep?ms=60000", b"hello"));
    assert_eq!(client.read().text(), "hello");
    // Never read.
    client.send(head("/or_sleep?ms=20", "Content-Length: 10\r\n"));
    client.send("hello");
    assert_eq!(client.read().text(), "too late\n");
    client.send("world");
    assert!(client.is_closed());
    quits_in_peace(server);
}

#[test]
fn it_can_be_awaited_among_others() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(with_length("/among_others", b"hello"));
    assert_eq!(client.read().text(), "read 5 slept slept slept ");
    client.send(head("/among_others", "Content-Length: 50000\r\n"));
    logged(&server, "begins");
    client.send(bytes(50_000));
    let answer = client.read();
    let text = answer.text();
    assert_eq!(text.matches("slept ").count(), 3, "{text}");
    assert!(text.contains("read 50000 "), "{text}");
    assert_eq!(client.get("/ok").text(), "OK\n");
    drop(client);
    quits_in_peace(server);
}

#[test]
fn with_rust_ignore_client_abort_a_client_that_goes_half_way_ends_the_reading() {
    let server = support::start(builder().config(format!("rust_ignore_client_abort on; {CONFIG}")));
    let before = descriptors(&server);
    for n in 0..2 {
        let mut client = Client::connect(server.addr());
        client.send(head("/error", "Content-Length: 10\r\n"));
        client.send("half");
        assert_eq!(text(&server, "/alive"), "1\n");
        match n {
            0 => client.close(),
            _ => client.reset(),
        }
        accessed(&server, "POST /error HTTP/1.1\" ", n + 1);
    }
    nothing_is_left(server, &before);
}

#[test]
fn a_worker_that_quits_waits_for_the_body() {
    let mut server = server();
    let mut client = Client::connect(server.addr());
    client.send(head("/halves", "Content-Length: 10\r\n"));
    client.send("hello");
    got(&server, 5);
    server.signal(test_nginx::Signal::QUIT).unwrap();
    logged(&server, "gracefully shutting down");
    client.send("world");
    answered(&mut client, b"helloworld");
    assert!(server.wait(support::PATIENCE).unwrap().success());
    assert_eq!(support::alarms(&server), [""; 0]);
}

#[test]
fn a_subrequest_has_the_main_requests_body_where_that_was_read() {
    let server = support::start(builder().config(format!(
        "{CONFIG}
         location = /page {{
             ssi on; ssi_types *;
             content_by_rust reply body='[<!--# include virtual=\"/twice\" -->]';
         }}"
    )));
    let mut client = Client::connect(server.addr());
    for body in [&b"hello"[..], &bytes(100_000)] {
        client.send(with_length("/page", body));
        let answer = client.read();
        // Nobody has read it.
        assert_eq!((answer.status, answer.text()), (200, "[0 0\n]"));
        assert_eq!(client.get("/ok").text(), "OK\n");
    }
    assert_eq!(client.get("/page").text(), "[0 0\n]");
    drop(client);
    quits_in_peace(server);
}

#[test]
fn one_that_lua_has_read_before_is_read_again() {
    let mut modules = support::companions();
    if !modules.iter().any(|file| file.contains("lua")) {
        eprintln!("skipped: there is no Lua module for this nginx");
        return;
    }
    modules.push(support::module("test-handlers"));
    let reads = "access_by_lua_block { ngx.req.read_body() }";
    let in_file = "client_body_in_file_only clean;";
    let server = Server::builder()
        .nginx(support::nginx_with(modules))
        .master(true)
        .log_level("info");
    let server = support::start(server.config(format!(
        "{CONFIG}
         location = /memory {{ client_body_buffer_size 1m; {reads} content_by_rust body_echo; }}
         location = /file {{ {in_file} {reads} content_by_rust body_echo; }}
         location = /large {{ {reads} content_by_rust body_chunks; }}
         location = /again {{ {reads} content_by_rust body_twice; }}
         location = /changed {{
             access_by_lua_block {{ ngx.req.read_body() ngx.req.set_body_data('changed') }}
             content_by_rust body_echo;
         }}
         location = /page {{
             ssi on; ssi_types *; {reads}
             content_by_rust reply body='[<!--# include virtual=\"/twice\" -->]';
         }}"
    )));
    let mut client = Client::connect(server.addr());
    for length in [0, 5, 100_000] {
        let body = bytes(length);
        let pieces: Vec<&[u8]> = body.chunks(900).collect();
        for path in ["/memory", "/memory?before=5", "/file", "/file?before=5"] {
            client.send(with_length(path, &body));
            answered(&mut client, &body);
            client.send(chunked(path, &pieces));
            answered(&mut client, &body);
        }
        client.send(with_length("/large", &body));
        let counted = format!("{length} {} ", sum(&body));
        let answer = client.read();
        assert!(answer.text().starts_with(&counted), "{answer:?}");
        client.send(with_length("/again", &body));
        answered(&mut client, format!("{length} {length}\n").as_bytes());
        client.send(with_length("/page", &body));
        answered(&mut client, format!("[{length} {length}\n]").as_bytes());
        client.send(with_length("/changed", &body));
        answered(&mut client, b"changed");
    }
    assert_eq!(client.get("/ok").text(), "OK\n");
    drop(client);
    quits_in_peace(server);
}

/// The next frame, as it is.
fn raw_frame(stream: &mut TcpStream) -> (u8, u8, u32, Vec<u8>) {
    let mut head = [0; 9];
    stream.read_exact(&mut head).expect("a frame");
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).expect("a payload");
    (head[3], head[4], id, payload)
}

const WINDOW_UPDATE: u8 = 8;

/// Sends the body as the server's window allows, and gives the answer.
fn post_http2(client: &mut Http2, path: &str, body: &[u8], piece: usize) -> Answer {
    let (id, request) = client.request("POST", path, body.is_empty());
    client.send(&request);
    let mut rest = body;
    let (mut window, mut answer) = (65_535usize, Vec::new());
    let mut status = None;
    loop {
        while !rest.is_empty() && window > 0 {
            let length = rest.len().min(piece).min(window);
            let (now, later) = rest.split_at(length);
            client.send(&Http2::data(id, now, later.is_empty()));
            (rest, window) = (later, window - length);
        }
        let (kind, flags, stream, payload) = raw_frame(&mut client.stream);
        match (kind, stream == id) {
            (WINDOW_UPDATE, true) => {
                let more = u32::from_be_bytes(payload.try_into().unwrap());
                window += more as usize;
            }
            (1, true) => {
                // An indexed status: 200 is 8.
                status = payload.iter().find(|byte| **byte & 0xe0 != 0x20).copied();
                if flags & 1 != 0 {
                    break;
                }
            }
            (0, true) => {
                answer.extend(payload);
                if flags & 1 != 0 {
                    break;
                }
            }
            (3 | 7, _) => panic!("a frame {kind} on {stream}: {payload:?}"),
            _ => {}
        }
    }
    assert_eq!(status, Some(0x88), "the status 200");
    Answer {
        status: 200,
        headers: Vec::new(),
        body: answer,
    }
}

#[test]
fn http2_bodies_small_and_large() {
    let server = support::start(builder().http2(true));
    for (path, length, piece) in [
        ("/echo", 0, 1),
        ("/echo", 5, 5),
        ("/echo", 50_000, 1000),
        ("/halves", 50_000, 16_384),
        ("/echo?before=5", 5, 2),
        ("/echo?before=5", 50_000, 16_384),
        ("/echo?before=5", 0, 1),
        ("/echo?before=50", 60_000, 16_384),
    ] {
        let body = bytes(length);
        let mut client = Http2::connect(server.addr());
        let answer = post_http2(&mut client, path, &body, piece);
        assert!(answer.body == body, "{path} {length} {}", answer.body.len());
    }
    quits_in_peace(server);
}

#[test]
fn http2_bodies_larger_than_the_window_are_read_as_they_are_asked_for() {
    let server = support::start(builder().http2(true));
    for path in ["/chunks?quiet", "/chunks?quiet&ms=1"] {
        let body = bytes(900_000);
        let mut client = Http2::connect(server.addr());
        let answer = post_http2(&mut client, path, &body, 16_384);
        let begins = format!("900000 {} ", sum(&body));
        let text = answer.text();
        assert!(text.starts_with(&begins), "{text} is not {begins}");
        let other = client.get("/ok");
        let answers = client.answers(1);
        assert_eq!((answers[0].0, answers[0].1.status), (other, 200));
    }
    quits_in_peace(server);
}

#[test]
fn http2_a_stream_that_is_reset_half_way_ends_the_handler() {
    let server = support::start(builder().http2(true));
    let worker = process::worker(&server);
    let mut client = Http2::connect(server.addr());
    for (n, (path, begun)) in [
        ("/echo", "reads the body"),
        ("/halves", "begins"),
        ("/begun?ms=60000", "got 4 bytes"),
        ("/among_others", "begins"),
    ]
    .into_iter()
    .enumerate()
    {
        let times = server.error_log().matches(begun).count();
        let (id, request) = client.request("POST", path, false);
        client.send(&[request, Http2::data(id, b"half", false)].concat());
        support::logged_times(&server, begun, times + 1);
        client.cancel(id);
        eventually("the request to end", || {
            server.access_log().matches("POST /").count() == n + 1
        });
    }
    let alive = client.get("/alive");
    let answers = client.answers(1);
    assert_eq!((answers[0].0, &answers[0].1.body[..]), (alive, &b"0\n"[..]));
    // The connection's end in the middle of a body.
    let (id, request) = client.request("POST", "/begun?ms=60000", false);
    client.send(&[request, Http2::data(id, b"half", false)].concat());
    support::logged_times(&server, "got 4 bytes", 2);
    let busy = process::descriptors(worker).len();
    client.close();
    eventually("the descriptor to go", || {
        process::descriptors(worker).len() < busy
    });
    quits_in_peace(server);
}

#[test]
fn http2_one_that_is_too_large_is_413() {
    let server = support::start(builder().http2(true));
    let mut client = Http2::connect(server.addr());
    let (id, request) = client.request("POST", "/small", false);
    client.send(&[request, Http2::data(id, b"12345678901", true)].concat());
    match client.next() {
        Some(Frame::Headers { stream, status, .. }) => assert_eq!((stream, status), (id, 413)),
        other => panic!("{other:?}"),
    }
    drop(client);
    quits_in_peace(server);
}
