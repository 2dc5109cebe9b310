//! Requests that wait on the streams of one HTTP/2 connection.

mod support;

use support::http2::{Answer, Frame, Http2};
use support::process::{self, frozen};
use support::{accessed, eventually, logged, logged_times, quits_in_peace};
use test_nginx::Server;

fn server() -> Server {
    support::start(
        support::server()
            .master(true)
            .log_level("info")
            .http2(true)
            .config(
                "location = /wait { content_by_rust wait; }
         location = /reply { content_by_rust reply body=$arg_n delay=$arg_delay; }
         location = /byte { rust_ignore_client_abort on; content_by_rust byte; }
         location = /ok { content_by_rust ok; }",
            ),
    )
}

fn answered(body: impl Into<Vec<u8>>) -> Answer {
    Answer {
        status: 200,
        body: body.into(),
    }
}

/// What is still there when nobody is left: the descriptors, and a worker that may end.
#[track_caller]
fn nothing_is_left(server: Server, before: &[String]) {
    let worker = process::worker(&server);
    eventually("the descriptors as they were", || {
        process::descriptors(worker) == before
    });
    quits_in_peace(server);
}

/// The descriptors that the worker has without a client, after its first request.
fn descriptors(server: &Server) -> Vec<String> {
    let worker = process::worker(server);
    let mut client = Http2::connect(server.addr());
    let id = client.get("/ok");
    assert_eq!(client.answers(1), [(id, answered("OK\n"))]);
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
fn twenty_streams_wait_side_by_side() {
    let server = server();
    let before = descriptors(&server);
    let mut client = Http2::connect(server.addr());
    // The first waits longer than each of the twenty that follow, and not longer than two of them
    // would one after the other: it ends last all the same.
    let long = client.get("/reply?n=long&delay=1900ms");
    let twenty: Vec<_> = (0..20)
        .map(|n| client.get(&format!("/reply?n={n}&delay=1s")))
        .collect();
    let mut answers = client.answers(21);
    assert_eq!(answers.pop(), Some((long, answered("long"))));
    answers.sort_by_key(|(id, _)| *id);
    let expected: Vec<_> = twenty
        .iter()
        .enumerate()
        .map(|(n, id)| (*id, answered(n.to_string())))
        .collect();
    assert_eq!(answers, expected);
    drop(client);
    nothing_is_left(server, &before);
}

#[test]
fn a_stream_that_is_reset_is_499_at_once_and_the_others_are_answered() {
    let server = server();
    let before = descriptors(&server);
    let mut client = Http2::connect(server.addr());
    let stream = client.get("/wait");
    logged(&server, "waits now");
    client.cancel(stream);
    accessed(&server, "/wait HTTP/2.0\" 499 ", 1);
    logged(&server, "waits no more");
    let other = client.get("/ok");
    assert_eq!(client.answers(1), [(other, answered("OK\n"))]);
    drop(client);
    nothing_is_left(server, &before);
}

#[test]
fn a_stream_that_is_reset_in_the_packet_of_its_request_is_499() {
    let server = server();
    let before = descriptors(&server);
    let mut client = Http2::connect(server.addr());
    let (stream, request) = client.request("GET", "/wait", true);
    client.send(&[request, Http2::cancelling(stream)].concat());
    accessed(&server, "/wait HTTP/2.0\" 499 ", 1);
    let other = client.get("/ok");
    assert_eq!(client.answers(1), [(other, answered("OK\n"))]);
    drop(client);
    nothing_is_left(server, &before);
}

#[test]
fn a_stream_that_is_reset_in_the_middle_of_its_body_is_499() {
    let server = server();
    let before = descriptors(&server);
    let mut client = Http2::connect(server.addr());
    let (stream, request) = client.request("POST", "/wait", false);
    client.send(&[request, Http2::data(stream, b"half", false)].concat());
    logged(&server, "waits now");
    client.send(&Http2::data(stream, b" a body", false));
    client.cancel(stream);
    accessed(&server, "/wait HTTP/2.0\" 499 ", 1);
    logged(&server, "waits no more");
    drop(client);
    nothing_is_left(server, &before);
}

#[test]
fn half_of_the_streams_are_reset_and_the_other_half_is_answered() {
    let server = server();
    let before = descriptors(&server);
    let mut client = Http2::connect(server.addr());
    let streams: Vec<_> = (0..20).map(|_| client.get("/wait?ms=2000")).collect();
    logged_times(&server, "waits now", 20);
    let (reset, kept): (Vec<_>, Vec<_>) = streams.iter().partition(|id| *id % 4 == 1);
    let resets: Vec<_> = reset.iter().flat_map(|id| Http2::cancelling(*id)).collect();
    client.send(&resets);
    accessed(&server, "/wait?ms=2000 HTTP/2.0\" 499 ", reset.len());
    let mut answers = client.answers(kept.len());
    answers.sort_by_key(|(id, _)| *id);
    let expected: Vec<_> = kept.iter().map(|id| (*id, answered("waited\n"))).collect();
    assert_eq!(answers, expected);
    accessed(&server, "/wait?ms=2000 HTTP/2.0\" 200 ", kept.len());
    drop(client);
    nothing_is_left(server, &before);
}

#[test]
fn a_connection_that_closes_ends_all_that_waits_on_it() {
    for with_rst in [false, true] {
        let server = server();
        let before = descriptors(&server);
        let mut client = Http2::connect(server.addr());
        for _ in 0..20 {
            client.get("/wait");
        }
        logged_times(&server, "waits now", 20);
        if with_rst {
            let linger = Some(std::time::Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&client.stream, linger).unwrap();
            drop(client);
        } else {
            client.close();
        }
        accessed(&server, "/wait HTTP/2.0\" 499 ", 20);
        logged_times(&server, "waits no more", 20);
        nothing_is_left(server, &before);
    }
}

#[test]
fn a_connection_that_closes_in_the_packet_of_its_requests_leaves_nothing() {
    let server = server();
    let before = descriptors(&server);
    let worker = process::worker(&server);
    let mut client = Http2::connect(server.addr());
    frozen(worker, || {
        for _ in 0..20 {
            client.get("/wait");
        }
        client.close();
    });
    accessed(&server, "/wait HTTP/2.0\" 499 ", 20);
    nothing_is_left(server, &before);
}

#[test]
fn after_a_goaway_what_waits_is_answered() {
    let server = server();
    let before = descriptors(&server);
    let mut client = Http2::connect(server.addr());
    let stream = client.get("/wait?ms=300");
    logged(&server, "waits now");
    client.go_away();
    assert_eq!(client.answers(1), [(stream, answered("waited\n"))]);
    drop(client);
    nothing_is_left(server, &before);
}

#[test]
fn with_rust_ignore_client_abort_a_reset_stream_is_answered_and_logged_as_200() {
    let server = server();
    let before = descriptors(&server);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let path = format!("/byte?port={}", listener.local_addr().unwrap().port());
    let mut client = Http2::connect(server.addr());
    let stream = client.get(&path);
    let (mut thread, _) = listener.accept().unwrap();
    client.cancel(stream);
    // Whoever is answered after the reset shows that it has been seen.
    let other = client.get("/ok");
    assert_eq!(client.answers(1), [(other, answered("OK\n"))]);
    assert!(!server.access_log().contains("/byte"), "nothing has ended");
    std::io::Write::write_all(&mut thread, b"b").unwrap();
    accessed(&server, &format!("{path} HTTP/2.0\" 200 "), 1);
    drop(client);
    nothing_is_left(server, &before);
}

#[test]
fn a_worker_that_quits_answers_the_streams_that_wait() {
    let mut server = server();
    descriptors(&server);
    let mut client = Http2::connect(server.addr());
    let streams: Vec<_> = (0..20).map(|_| client.get("/wait?ms=1000")).collect();
    logged_times(&server, "waits now", 20);
    server.signal(test_nginx::Signal::QUIT).unwrap();
    let mut answered = 0;
    let mut said_goodbye = false;
    while let Some(frame) = client.next() {
        match frame {
            Frame::Headers { status, .. } => assert_eq!(status, 200),
            Frame::Data { bytes, end, .. } => {
                assert!(bytes.is_empty() || bytes == b"waited\n");
                answered += usize::from(end);
            }
            Frame::GoAway => said_goodbye = true,
            other => panic!("{other:?}"),
        }
    }
    assert!(said_goodbye);
    assert_eq!(answered, streams.len());
    assert!(server.wait(support::PATIENCE).unwrap().success());
    assert_eq!(support::alarms(&server), [""; 0]);
}
