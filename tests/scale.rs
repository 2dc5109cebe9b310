//! Thousands of requests that wait in one worker.

mod support;

use rustix::process::{Resource, getrlimit, setrlimit};
use std::thread;
use std::time::{Duration, Instant};
use support::http::{Client, request, text};
use support::http2::{Answer, Http2};
use support::{PATIENCE, alarms, busy, eventually, logged, process, quits_in_peace};
use test_nginx::{Server, ServerBuilder, Signal};

/// Connections of HTTP/1.1.
const CONNECTIONS: usize = 2_000;

/// Streams of one connection of HTTP/2.
const STREAMS: usize = 500;

/// Connections of HTTP/2: twenty, or as many as `WAITING_STREAMS` takes.
fn connections() -> usize {
    let streams = std::env::var("WAITING_STREAMS").ok();
    let streams = streams.map_or(10_000, |n| n.parse().expect("a number of streams"));
    streams / STREAMS
}

/// `/wait` is long enough for all to wait at once, and `/long` longer than any test.
fn server() -> ServerBuilder {
    support::server_with(
        "location = /wait { content_by_rust reply body=$arg_n delay=12s; }
         location = /long { content_by_rust reply delay=60s; }
         location = /heavy { content_by_rust heavy; }
         location = /status { stub_status; }
         location = /ok { content_by_rust ok; }",
    )
    .log_level("notice")
}

fn http2() -> Server {
    support::start(
        server()
            .http2(true)
            .worker_connections(connections() + 100)
            .http_config("http2_max_concurrent_streams 500;"),
    )
}

/// What `path` answers on a connection of its own.
#[track_caller]
fn get(server: &Server, path: &str) -> String {
    let mut client = Http2::connect(server.addr());
    client.get(path);
    let (_, answer) = client.answers(1).remove(0);
    assert_eq!(answer.status, 200, "{path}");
    String::from_utf8(answer.body).expect("a text")
}

/// Connections whose streams all wait.
fn waiting(server: &Server, connections: usize, path: &str) -> Vec<Http2> {
    let mut clients: Vec<_> = (0..connections)
        .map(|_| Http2::connect(server.addr()))
        .collect();
    for (at, client) in clients.iter_mut().enumerate() {
        let numbers = at * STREAMS..(at + 1) * STREAMS;
        let requests = numbers.map(|n| client.request("GET", &format!("{path}?n={n}"), true).1);
        let requests = requests.collect::<Vec<_>>().concat();
        client.send(&requests);
    }
    all_wait(clients.len() * STREAMS, || get(server, "/status"));
    clients
}

/// Waits until so many requests do.
#[track_caller]
fn all_wait(requests: usize, status: impl Fn() -> String) {
    eventually("all to wait at once", || busy(&status()) == requests);
}

/// Each stream gets its own answer.
fn all_answered(clients: Vec<Http2>) {
    for (at, mut client) in clients.into_iter().enumerate() {
        let mut answers = client.answers(STREAMS);
        answers.sort_by_key(|(stream, _)| *stream);
        let answered = |index: usize| Answer {
            status: 200,
            body: (at * STREAMS + index).to_string().into(),
        };
        let expected = (0..STREAMS).map(|index| (2 * index as u32 + 1, answered(index)));
        assert_eq!(answers, expected.collect::<Vec<_>>());
    }
}

#[test]
fn two_thousand_connections_wait_and_each_gets_its_own_answer() {
    // Here and in nginx, which inherits it: many systems start with a limit of 1024.
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    // nginx closes idle connections when less than one in sixteen is left.
    let server = support::start(server().worker_connections(CONNECTIONS * 5 / 4));
    let mut clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| Client::connect(server.addr()))
        .collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.send(request("GET", &format!("/wait?n={n}")));
    }
    all_wait(CONNECTIONS, || text(&server, "/status"));
    for (n, mut client) in clients.into_iter().enumerate() {
        let answer = client.read();
        assert_eq!((answer.status, answer.text()), (200, &*n.to_string()));
    }
    quits_in_peace(server);
}

#[test]
fn ten_thousand_streams_wait_and_each_gets_its_own_answer() {
    let server = http2();
    all_answered(waiting(&server, connections(), "/wait"));
    quits_in_peace(server);
}

#[test]
fn on_reload_ten_thousand_streams_are_answered_and_the_old_worker_goes_with_the_last() {
    let mut server = http2();
    let worker = process::worker(&server);
    let clients = waiting(&server, connections(), "/wait");
    server.reload(|builder| builder).unwrap();
    logged(&server, "gracefully shutting down");
    assert_eq!(get(&server, "/ok"), "OK\n", "there are new workers");
    all_answered(clients);
    eventually("the old worker to go", || !process::exists(worker));
    quits_in_peace(server);
}

#[test]
fn ten_thousand_streams_that_go_at_once_leave_nothing_behind() {
    let server = http2();
    assert_eq!(get(&server, "/ok"), "OK\n");
    let worker = process::worker(&server);
    let clients = waiting(&server, connections(), "/long");
    process::frozen(worker, || drop(clients));
    all_wait(0, || get(&server, "/status"));
    assert_eq!(get(&server, "/ok"), "OK\n");
    quits_in_peace(server);
}

#[test]
fn a_worker_that_must_exit_drops_ten_thousand_streams() {
    let mut server = http2();
    let clients = waiting(&server, connections(), "/long");
    server.signal(Signal::TERM).unwrap();
    assert!(server.wait(PATIENCE).unwrap().success());
    for mut client in clients {
        while client.next().is_some() {}
    }
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn however_many_are_due_at_once_others_get_their_turn() {
    let server = http2();
    let worker = process::worker(&server);
    let mut other = Http2::connect(server.addr());
    let clients = waiting(&server, 6, "/heavy");
    let last = Instant::now();
    process::frozen(worker, || {
        other.get("/status");
        // When it goes on, the worker finds all of them due.
        thread::sleep(Duration::from_secs(4).saturating_sub(last.elapsed()));
    });
    other.answers(1);
    // The loop has turned, and would come back to this one when all the others are done.
    other.get("/status");
    let (_, status) = other.answers(1).remove(0);
    assert!(busy(std::str::from_utf8(&status.body).unwrap()) > 0);
    for mut client in clients {
        client.answers(STREAMS);
    }
    quits_in_peace(server);
}
