//! `examples/events`: server-sent events until the client goes.

mod support;

use std::time::{Duration, Instant};
use support::http::{Client, request, text};
use support::{accessed, eventually, module, nginx_with, process, quits_in_peace};
use test_nginx::Server;

fn server() -> Server {
    let server = Server::builder().nginx(nginx_with([module("events")]));
    let server = support::start(server.master(true).log_level("info").config(
        "location = /events { content_by_rust events; }
         location = /ok { content_by_rust ok; }",
    ));
    assert_eq!(text(&server, "/ok"), "OK\n");
    server
}

/// Reads from the connection until what came ends with `end`.
#[track_caller]
fn read_until(client: &mut Client, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let mut byte = [0];
        std::io::Read::read_exact(&mut client.stream, &mut byte).expect("more");
        text.push(char::from(byte[0]));
    }
    text
}

#[test]
fn a_tick_comes_each_100_ms() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send("GET /events HTTP/1.0\r\n\r\n");
    let head = read_until(&mut client, "\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(
        head.contains("\r\nContent-Type: text/event-stream\r\n"),
        "{head}"
    );
    assert!(head.contains("\r\nCache-Control: no-store\r\n"), "{head}");
    for n in 0..3 {
        let event = read_until(&mut client, "\n\n");
        assert_eq!(event, format!("event: tick\ndata: {n}\n\n"));
    }
    // The clock of the first may have been late, as on a busy machine; those behind it are not
    // early.
    let third = Instant::now();
    for n in 3..6 {
        let event = read_until(&mut client, "\n\n");
        assert_eq!(event, format!("event: tick\ndata: {n}\n\n"));
    }
    assert!(third.elapsed() > Duration::from_millis(150));
    drop(client);
    quits_in_peace(server);
}

#[test]
fn they_end_with_their_client() {
    let server = server();
    let worker = process::worker(&server);
    let before = process::descriptors(worker);
    let clients: Vec<_> = (0..10)
        .map(|_| {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", "/events"));
            client.wait_for_byte();
            client
        })
        .collect();
    for (n, client) in clients.into_iter().enumerate() {
        match n % 2 {
            0 => client.close(),
            _ => client.reset(),
        }
    }
    // The head had been sent: the status is its own.
    accessed(&server, "GET /events HTTP/1.1\" 200 ", 10);
    eventually("no more descriptors than before", || {
        process::descriptors(worker).len() <= before.len()
    });
    assert_eq!(process::worker(&server), worker);
    quits_in_peace(server);
}
