//! Answers that a handler writes piece by piece.

mod support;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::http::{self, Client, get, request, text};
use support::http2::{Frame, Http2};
use support::{PATIENCE, accessed, alarms, eventually, logged, process, quits_in_peace};
use test_nginx::{Server, ServerBuilder, Signal};

const CONFIG: &str = "
    location = /bytes { content_by_rust stream_bytes; }
    location = /text { content_by_rust stream_text; }
    location = /ends { content_by_rust stream_ends; }
    location = /head { content_by_rust stream_head; }
    location = /head_page { error_page 500 /sorry; content_by_rust stream_head; }
    location = /sorry { content_by_rust reply body=sorry status=500; }
    location = /gives_up { content_by_rust stream_gives_up; }
    location = /body { content_by_rust stream_body; }
    location = /gzip { gzip on; gzip_types text/plain; content_by_rust stream_text; }
    location = /gzip_bytes { gzip on; gzip_types text/plain; content_by_rust stream_bytes; }
    location = /limited { limit_rate 20k; content_by_rust stream_bytes; }
    location = /added { add_header X-Added yes; content_by_rust stream_text; }
    location = /hasty { send_timeout 300ms; content_by_rust stream_bytes; }
    location = /rests { send_timeout 300ms; content_by_rust stream_gives_up; }
    location = /impatient { send_timeout 400ms; content_by_rust stream_impatient; }
    location = /ignores { rust_ignore_client_abort on; content_by_rust stream_bytes; }
    location = /page {
        ssi on; ssi_types *;
        content_by_rust reply body='[<!--# include virtual=\"/text?text=a&n=4&ms=3\" --> <!--# include virtual=\"/text?text=b&n=4\" -->]';
    }
    location = /slow_page {
        ssi on; ssi_types *; send_timeout 300ms;
        content_by_rust reply body='[<!--# include virtual=\"/text?text=a&n=3&ms=400\" --> <!--# include virtual=\"/text?text=b&n=3\" -->]';
    }
    location = /large_page {
        ssi on; ssi_types *;
        content_by_rust reply body='<!--# include virtual=\"/bytes?n=40&size=10000\" -->|<!--# include virtual=\"/bytes?n=40&size=10000&ms=1\" -->';
    }
    location = /closed_head { error_page 412 /closed; content_by_rust stream_head; }
    location = /closed { return 444; }
    location = /waiting_head { error_page 412 /waits; content_by_rust stream_head; }
    location = /waits { content_by_rust reply body=waited delay=30ms; }
    location = /given_up { content_by_rust given_up; }
    location = /written { content_by_rust written; }
    location = /alive { content_by_rust alive; }
    location = /ok { content_by_rust ok; }";

fn builder() -> ServerBuilder {
    support::server_with(CONFIG)
}

fn server() -> Server {
    support::start(builder())
}

/// What `stream_bytes` writes.
fn bytes(length: usize) -> Vec<u8> {
    let lines = (0..=length / 8).flat_map(|n| format!("{n:07x}\n").into_bytes());
    lines.take(length).collect()
}

#[track_caller]
fn nobody_is_left(server: &Server) {
    eventually("the handlers to be dropped", || {
        text(server, "/alive") == "0\n"
    });
}

fn written(server: &Server) -> usize {
    text(server, "/written").trim().parse().expect("a number")
}

/// Waits until a writer goes on no more; gives how much it has written.
#[track_caller]
fn stalled(server: &Server) -> usize {
    let mut last = (written(server), Instant::now());
    eventually("the writer to be held up", || {
        let now = written(server);
        if now != last.0 {
            last = (now, Instant::now());
        }
        now > 0 && last.1.elapsed() > Duration::from_millis(500)
    });
    last.0
}

/// What of a process is in memory, in KB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kb.expect("a size").trim().parse().expect("a number")
}

#[test]
fn http_1_1_frames_it_in_chunks_and_keeps_the_connection() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for path in ["/bytes?n=5&size=100", "/bytes?n=5&size=100&ms=2"] {
        let answer = client.get(path);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("Transfer-Encoding"), Some("chunked"));
        assert_eq!(answer.header("Content-Length"), None);
        assert_eq!(answer.header("X-Streamed"), Some("yes"));
        assert!(answer.body == bytes(500));
    }
    for (n, size) in [
        (0, 1),
        (1, 0),
        (3, 0),
        (1, 1),
        (100, 1),
        (1, 32_768),
        (2, 32_769),
        (3, 200_000),
    ] {
        let answer = client.get(&format!("/bytes?n={n}&size={size}"));
        assert!(answer.body == bytes(n * size), "{n} pieces of {size}");
    }
    drop(client);
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn each_piece_comes_when_it_is_written() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/bytes?n=2&size=8&ms=60000"));
    assert_eq!(client.read_head().status, 200);
    // A minute before the next.
    let mut piece = [0; 13];
    client.wait_for_byte();
    assert_eq!(written(&server), 8);
    client
        .stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    assert!(http::read(&mut client.stream, &mut piece).is_err());
    drop(client);
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn http_1_0_is_ended_by_the_connections_end() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send("GET /bytes?n=50&size=1000&ms=1 HTTP/1.0\r\n\r\n");
    let answer = client.read();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("Transfer-Encoding"), None);
    assert_eq!(answer.header("Connection"), Some("close"));
    assert!(answer.body == bytes(50_000));
    quits_in_peace(server);
}

#[test]
fn head_and_statuses_without_a_body_have_none() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for path in ["/bytes?n=50&size=1000", "/bytes?n=3&size=1000&ms=1"] {
        client.send(request("HEAD", path));
        let head = client.read_head();
        assert_eq!((head.status, head.header("X-Streamed")), (200, Some("yes")));
    }
    for status in [204, 304] {
        for late in ["", "&late"] {
            let answer = client.get(&format!("/head?what={status}{late}"));
            assert_eq!(answer.status, status);
        }
    }
    assert_eq!(client.get("/ok").text(), "OK\n");
    drop(client);
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn a_client_that_waits_for_100_continue_does_not_find_it_within_the_answer() {
    let server = server();
    for path in ["/text?text=a&n=2", "/text?text=a&n=2&ms=3"] {
        let mut client = Client::connect(server.addr());
        client.send(format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n\
             Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        ));
        let answer = client.read();
        assert_eq!((answer.status, answer.text()), (200, "aa"), "{path}");
        client.send("hello");
        assert_eq!(client.get("/ok").text(), "OK\n");
    }
    quits_in_peace(server);
}

#[test]
fn one_that_is_taken_at_once_and_never_ends_starves_nobody() {
    let server = server();
    let mut client = Client::connect(server.addr());
    // It writes until a write has to wait, and none has.
    client.send(request("HEAD", "/gives_up?size=65536&ms=60000"));
    assert_eq!(client.read_head().status, 200);
    assert_eq!(text(&server, "/ok"), "OK\n");
    client.close();
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn a_body_of_the_heads_is_not_sent() {
    let server = server();
    let answer = get(&server, "/head?what=body");
    assert_eq!((answer.status, answer.text()), (200, "streamed\n"));
    let answer = get(&server, "/head?what=404");
    assert_eq!((answer.status, answer.text()), (404, "streamed\n"));
    quits_in_peace(server);
}

#[test]
fn the_body_of_the_request_can_be_read_before() {
    let server = server();
    let body = bytes(50_000);
    let mut client = Client::connect(server.addr());
    for _ in 0..2 {
        let head = "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n";
        client.send(head);
        client.send(&body);
        assert!(client.read().body == body);
    }
    drop(client);
    quits_in_peace(server);
}

fn unzipped(zipped: &[u8]) -> Vec<u8> {
    let mut gzip = Command::new("gzip")
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gzip runs");
    let mut stdin = gzip.stdin.take().unwrap();
    let zipped = zipped.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&zipped));
    let output = gzip.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[test]
fn gzip_packs_each_piece_for_itself() {
    let server = server();
    let asks = |path: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
    };
    let mut client = Client::connect(server.addr());
    for (path, expected) in [
        ("/gzip?text=hello&n=3", b"hellohellohello".to_vec()),
        ("/gzip?text=hello&n=3&ms=2", b"hellohellohello".to_vec()),
        ("/gzip?text=&n=3", Vec::new()),
        (
            "/gzip_bytes?type=text/plain&n=20&size=50000",
            bytes(1_000_000),
        ),
        (
            "/gzip_bytes?type=text/plain&n=20&size=500&ms=1",
            bytes(10_000),
        ),
    ] {
        client.send(asks(path));
        let answer = client.read();
        assert_eq!(answer.header("Content-Encoding"), Some("gzip"), "{path}");
        assert!(unzipped(&answer.body) == expected, "{path}");
    }
    // Something can be seen of it while the handler waits.
    client.send(asks("/gzip_bytes?type=text/plain&n=2&size=5000&ms=60000"));
    client.read_head();
    client.wait_for_byte();
    drop(client);
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn add_header_and_limit_rate_apply() {
    let server = server();
    let answer = get(&server, "/added?text=a");
    assert_eq!(
        (answer.text(), answer.header("X-Added")),
        ("a", Some("yes"))
    );
    let begun = Instant::now();
    let answer = get(&server, "/limited?n=5&size=10000");
    assert!(answer.body == bytes(50_000));
    assert!(
        begun.elapsed() > Duration::from_millis(1400),
        "{:?}",
        begun.elapsed()
    );
    quits_in_peace(server);
}

#[test]
fn a_reader_that_stops_holds_the_handler_and_not_the_memory() {
    let server = server();
    let worker = process::worker(&server);
    let before = resident(worker);
    // A gigabyte.
    let mut client = Client::connect(server.addr());
    client.send("GET /bytes?n=16384&size=65536 HTTP/1.0\r\n\r\n");
    let held = stalled(&server);
    assert!(held < 100 << 20, "{held} bytes are under way");
    // It goes on with the reader.
    let mut read = 0;
    let mut buffer = vec![0; 1 << 16];
    while read < 64 << 20 {
        let n = http::read(&mut client.stream, &mut buffer).expect("more");
        assert!(n > 0);
        read += n;
    }
    assert!(written(&server) > held);
    stalled(&server);
    let grown = resident(worker).saturating_sub(before);
    // A sanitizer keeps some of what was given back.
    let most = if support::sanitizer_reports().is_some() {
        64
    } else {
        8
    };
    assert!(grown < most * 1024, "{grown} KB more than before");
    client.close();
    accessed(&server, "/bytes?n=16384&size=65536 HTTP/1.0\" 200 ", 1);
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn a_reader_that_stops_and_goes_on_gets_all_of_it() {
    let server = server();
    let length = 50_000 * 400;
    let mut client = Client::connect(server.addr());
    client.send("GET /bytes?n=400&size=50000 HTTP/1.0\r\n\r\n");
    stalled(&server);
    let answer = client.read();
    assert!(answer.body == bytes(length));
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn one_piece_that_is_larger_than_all_buffers() {
    let server = server();
    let answer = get(&server, "/bytes?n=1&size=30000000");
    assert!(answer.body == bytes(30_000_000));
    quits_in_peace(server);
}

#[test]
fn a_client_that_goes_ends_the_handler_whatever_it_waits_for() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/alive"), "0\n");
    let before = process::descriptors(worker).len();
    for (n, path) in ["/bytes?n=16384&size=65536", "/bytes?n=2&size=8&ms=60000"]
        .into_iter()
        .enumerate()
    {
        for with_rst in [false, true] {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", path));
            client.read_head();
            match n {
                0 => drop(stalled(&server)),
                _ => client.wait_for_byte(),
            }
            match with_rst {
                false => client.close(),
                true => client.reset(),
            }
            nobody_is_left(&server);
        }
        accessed(&server, &format!("{path} HTTP/1.1\" 200 "), 2);
    }
    eventually("the descriptors as they were", || {
        process::descriptors(worker).len() <= before
    });
    quits_in_peace(server);
}

#[test]
fn with_rust_ignore_client_abort_the_next_write_fails() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/ignores?n=1000000&size=8&ms=5"));
    client.wait_for_byte();
    client.reset();
    accessed(&server, "/ignores?n=1000000&size=8&ms=5 HTTP/1.1\" ", 1);
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn send_timeout_ends_a_reader_that_takes_nothing() {
    let server = server();
    let begun = Instant::now();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/hasty?n=16384&size=65536"));
    accessed(&server, "/hasty?n=16384&size=65536 HTTP/1.1\" ", 1);
    assert!(begun.elapsed() >= Duration::from_millis(290));
    logged(&server, "client timed out");
    nobody_is_left(&server);
    drop(client);
    quits_in_peace(server);
}

#[test]
fn send_timeout_counts_though_the_handler_does_other_things_meanwhile() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/impatient"));
    accessed(&server, "/impatient HTTP/1.1\" ", 1);
    logged(&server, "client timed out");
    nobody_is_left(&server);
    drop(client);
    quits_in_peace(server);
}

#[test]
fn send_timeout_does_not_count_while_the_handler_does_not_write() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send("GET /rests?n=1&ms=50&size=3000000&rest=900 HTTP/1.0\r\n\r\n");
    eventually("a write to be given up", || {
        text(&server, "/given_up") == "1\n"
    });
    let answer = client.read();
    assert!(
        answer.text().contains("\n1 given up, "),
        "the end is missing"
    );
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn send_timeout_does_not_count_while_a_part_of_a_page_waits_for_its_turn() {
    let server = server();
    assert_eq!(text(&server, "/slow_page"), "[aaa bbb]");
    nobody_is_left(&server);
    quits_in_peace(server);
}

/// All that comes on a connection that asks for an answer that breaks off.
fn broken(server: &Server, path: &str) -> String {
    let mut client = Client::connect(server.addr());
    client.send(request("GET", path));
    String::from_utf8(client.read_to_end()).unwrap()
}

#[test]
fn one_that_fails_in_the_middle_is_cut_off() {
    let server = server();
    let worker = process::worker(&server);
    for (how, message) in [
        ("error", "no more of it"),
        ("error%20later", "no more of it"),
        ("panic", "in the middle"),
        ("panic%20later", "in the middle"),
        ("second", "the handler returned a second answer"),
        ("second%20later", "the handler returned a second answer"),
    ] {
        let times = server.error_log().matches(message).count();
        let answer = broken(&server, &format!("/ends?how={how}"));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{how}: {answer}");
        assert!(
            answer.ends_with("\r\n\r\n6\r\nbegun\n\r\n"),
            "{how}: {answer}"
        );
        support::logged_times(&server, message, times + 1);
    }
    assert_eq!(text(&server, "/ends?how=well"), "begun\n");
    assert_eq!(text(&server, "/ends?how=at%20once"), "");
    assert_eq!(process::worker(&server), worker);
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn a_head_that_cannot_be_sent_is_500() {
    let server = server();
    for what in ["length", "split", "status"] {
        for late in ["", "&late"] {
            let answer = get(&server, &format!("/head?what={what}{late}"));
            assert_eq!(answer.status, 500, "{what}{late}");
            assert!(!answer.text().contains("streamed"), "{answer:?}");
            let answer = get(&server, &format!("/head_page?what={what}{late}"));
            assert_eq!((answer.status, answer.text()), (500, "sorry"));
        }
    }
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn a_condition_that_is_not_met_is_nginxs_answer() {
    let server = server();
    for late in ["", "?late"] {
        for (condition, year, status, body) in [
            ("If-Unmodified-Since", 1969, 412, None),
            ("If-Unmodified-Since", 1970, 200, Some("streamed\n")),
            ("If-Modified-Since", 1970, 304, Some("")),
            ("If-Modified-Since", 1969, 200, Some("streamed\n")),
        ] {
            let mut client = Client::connect(server.addr());
            client.send(format!(
                "GET /head{late} HTTP/1.1\r\nHost: x\r\n{condition}: Mon, 28 Sep {year} 06:00:00 GMT\r\n\r\n"
            ));
            let answer = client.read();
            assert_eq!(answer.status, status, "{condition}: {year}");
            match body {
                Some(body) => assert_eq!(answer.text(), body),
                // nginx's own page, and nothing behind it.
                None => {
                    assert!(answer.text().contains("412 Precondition Failed"));
                    assert!(client.is_closed());
                }
            }
        }
    }
    nobody_is_left(&server);
    quits_in_peace(server);
}

/// nginx ends the request inside of the handler's poll.
#[test]
fn a_condition_whose_page_closes_the_connection_leaves_nobody_waiting() {
    let server = server();
    for path in ["/closed_head", "/waiting_head"] {
        for late in ["", "?late"] {
            let mut client = Client::connect(server.addr());
            client.send(format!(
                "GET {path}{late} HTTP/1.1\r\nHost: x\r\nIf-Unmodified-Since: Mon, 28 Sep 1969 06:00:00 GMT\r\n\r\n"
            ));
            assert_eq!(client.read_to_end(), b"", "{path}{late}");
        }
    }
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn two_that_are_parts_of_a_page_come_in_their_order() {
    let server = server();
    for _ in 0..3 {
        assert_eq!(text(&server, "/page"), "[aaaa bbbb]");
    }
    let whole = String::from_utf8(bytes(400_000)).unwrap();
    assert!(text(&server, "/large_page") == format!("{whole}|{whole}"));
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn a_write_that_is_dropped_loses_and_doubles_nothing() {
    let server = server();
    let mut given_up = 0;
    for size in [1000, 32_768, 100_000, 3_000_000] {
        let mut client = Client::connect(server.addr());
        client.send(format!(
            "GET /gives_up?n=5&ms=20&size={size} HTTP/1.0\r\n\r\n"
        ));
        // It gives up when the socket's buffers are full, and goes on when they are not.
        given_up += 5;
        eventually("five writes to be given up", || {
            text(&server, "/given_up") == format!("{given_up}\n")
        });
        let answer = client.read();
        let (letters, last) = answer.text().split_once('\n').expect("the last line");
        let numbers: Vec<usize> = last
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        assert_eq!(numbers[0], 5, "{last}");
        // Runs of one letter, in order: whole pieces, and five at most that were given up, which
        // end where the buffer ended.
        let mut partial = 0;
        let mut whole = 0;
        for run in letters.as_bytes().chunk_by(|a, b| a == b) {
            match run.len() {
                length if length == size => whole += 1,
                length => {
                    assert!(length < size && length % 32_768 == 0, "{length} of {size}");
                    partial += 1;
                }
            }
        }
        assert!(partial <= 5, "{partial} partial");
        // One that was given up may have gone out whole.
        assert!(
            (numbers[1]..=numbers[1] + 5).contains(&whole),
            "{whole} of {last}"
        );
    }
    nobody_is_left(&server);
    quits_in_peace(server);
}

#[test]
fn quit_waits_for_its_end() {
    let mut server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/bytes?n=100&size=8&ms=20"));
    client.wait_for_byte();
    server.signal(Signal::QUIT).unwrap();
    logged(&server, "gracefully shutting down");
    assert!(client.read().body == bytes(800));
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn reload_waits_for_its_end_even_while_the_reader_stops() {
    let mut server = server();
    let old = process::worker(&server);
    let mut client = Client::connect(server.addr());
    client.send("GET /bytes?n=400&size=50000 HTTP/1.0\r\n\r\n");
    stalled(&server);
    server.reload(|builder| builder).unwrap();
    logged(&server, "gracefully shutting down");
    assert_eq!(text(&server, "/ok"), "OK\n", "there are new workers");
    assert!(process::exists(old));
    assert!(client.read().body == bytes(50_000 * 400));
    eventually("the old worker to go", || !process::exists(old));
    quits_in_peace(server);
}

fn window_update(stream: u32, more: u32) -> Vec<u8> {
    let head = [&[0, 0, 4, 8, 0], &stream.to_be_bytes()[..]].concat();
    [head, more.to_be_bytes().to_vec()].concat()
}

#[test]
fn http2_streams_beside_each_other() {
    let server = support::start(builder().http2(true));
    let mut client = Http2::connect(server.addr());
    let slow = client.get("/bytes?n=20&size=100&ms=10");
    let fast = client.get("/bytes?n=20&size=100");
    let empty = client.get("/bytes?n=0");
    let answers = client.answers(3);
    for (id, answer) in answers {
        assert_eq!(answer.status, 200);
        let length = if id == empty { 0 } else { 2000 };
        assert!(
            answer.body == bytes(length),
            "{id} of {slow} {fast} {empty}"
        );
    }
    drop(client);
    quits_in_peace(server);
}

#[test]
fn http2_a_window_holds_the_handler_until_it_is_opened() {
    let server = support::start(builder().http2(true));
    let mut client = Http2::connect(server.addr());
    let id = client.get("/bytes?n=100&size=5000");
    let mut body = Vec::new();
    let mut ended = false;
    while !ended {
        match client.next().expect("the connection stays open") {
            Frame::Headers { status, .. } => assert_eq!(status, 200),
            Frame::Data { bytes, end, .. } => {
                body.extend(bytes);
                ended = end;
                // Not before it is used up.
                if body.len() % 65_535 == 0 {
                    client.send(&[window_update(0, 65_535), window_update(id, 65_535)].concat());
                }
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(body == bytes(500_000), "{} bytes", body.len());
    drop(client);
    quits_in_peace(server);
}

#[test]
fn http2_one_that_fails_in_the_middle_is_a_reset_stream() {
    let server = support::start(builder().http2(true));
    let mut client = Http2::connect(server.addr());
    for how in ["error", "error%20later", "panic", "panic%20later", "second"] {
        let id = client.get(&format!("/ends?how={how}"));
        loop {
            match client.next().expect("the connection stays open") {
                Frame::Headers { end, .. } | Frame::Data { end, .. } => {
                    assert!(!end, "{how}: the client must see that the end is missing");
                }
                Frame::Reset { stream, .. } => {
                    assert_eq!(stream, id);
                    break;
                }
                Frame::GoAway => panic!("{how}: the connection ends"),
            }
        }
    }
    let id = client.get("/text?text=a");
    let answers = client.answers(1);
    assert_eq!((answers[0].0, &answers[0].1.body[..]), (id, &b"a"[..]));
    drop(client);
    quits_in_peace(server);
}

#[test]
fn http2_a_reset_stream_ends_its_handler() {
    let server = support::start(builder().http2(true));
    let mut client = Http2::connect(server.addr());
    for (n, path) in ["/bytes?n=100&size=50000", "/bytes?n=2&size=8&ms=60000"]
        .into_iter()
        .enumerate()
    {
        let id = client.get(path);
        let mut got = 0;
        // All that the window takes, or the first piece.
        while got < [65_535, 8][n] {
            if let Some(Frame::Data { bytes, .. }) = client.next() {
                got += bytes.len();
            }
        }
        client.cancel(id);
        accessed(&server, &format!("{path} HTTP/2.0\" 200 "), 1);
        client.send(&window_update(0, 65_535));
    }
    let alive = client.get("/alive");
    let answers = client.answers(1);
    assert_eq!((answers[0].0, &answers[0].1.body[..]), (alive, &b"0\n"[..]));
    drop(client);
    quits_in_peace(server);
}

/// nginx calls only the read handler of a stream that is gone, which nobody wants here otherwise.
#[test]
fn http2_with_rust_ignore_client_abort_a_write_that_waits_fails_when_its_stream_is_gone() {
    let server = support::start(builder().http2(true));
    for closes in [false, true] {
        let path = format!("/ignores?n=100&size=50000&closes={closes}");
        let mut client = Http2::connect(server.addr());
        let id = client.get(&path);
        let mut got = 0;
        // All that the window takes.
        while got < 65_535 {
            if let Some(Frame::Data { bytes, .. }) = client.next() {
                got += bytes.len();
            }
        }
        match closes {
            true => client.close(),
            false => client.cancel(id),
        }
        // Long before send_timeout.
        accessed(&server, &format!("{path} HTTP/2.0\" 200 "), 1);
    }
    quits_in_peace(server);
}
