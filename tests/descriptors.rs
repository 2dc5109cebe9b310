//! Descriptors and connections run out, and come back.

mod support;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::io::{Read, Write};
use std::net::TcpListener;
use support::http::{Client, get, request, text};
use support::{eventually, logged, logged_times, module, nginx_with, process, quits_in_peace};
use test_nginx::{Server, ServerBuilder};

/// How many descriptors a process may have.
fn limit_descriptors(pid: u32, limit: u64) {
    let pid = Pid::from_raw(pid as i32);
    let before = getrlimit(Resource::Nofile);
    let limit = Rlimit {
        current: Some(limit),
        maximum: before.maximum,
    };
    prlimit(pid, Resource::Nofile, limit).expect("a limit for a process of our own");
}

/// Runs `during` while the process can open nothing: with clients that it has let in before, each
/// for one error, as nginx closes the connection then.
fn without_descriptors<R>(
    server: &Server,
    during: impl FnOnce(&mut dyn Iterator<Item = Client>) -> R,
) -> R {
    let clients: Vec<Client> = (0..25)
        .map(|_| {
            let mut client = Client::connect(server.addr());
            assert_eq!(client.get("/fixed").text(), "fixed");
            client
        })
        .collect();
    let worker = process::worker(server);
    limit_descriptors(worker, 0);
    let result = during(&mut clients.into_iter());
    limit_descriptors(worker, 1024);
    result
}

const CONFIG: &str = "
    location = /ok { content_by_rust ok; }
    location = /fixed { return 200 fixed; }
    location = /wait { content_by_rust wait; }";

/// The error with which a client is answered on a connection that it has.
#[track_caller]
fn refused(clients: &mut dyn Iterator<Item = Client>, path: &str) {
    let mut client = clients.next().expect("a client");
    assert_eq!(client.get(path).status, 500);
}

#[track_caller]
fn answered(server: &Server, path: &str, body: &str) {
    assert_eq!(text(server, path), body);
}

#[test]
fn the_first_request_finds_no_descriptor() {
    let server = support::start(support::server_with(CONFIG));
    let worker = process::worker(&server);
    without_descriptors(&server, |clients| {
        refused(clients, "/ok");
        refused(clients, "/ok");
        let mut client = clients.next().expect("a client");
        assert_eq!(client.get("/fixed").text(), "fixed");
    });
    let line = logged(&server, "content_by_rust cannot start in this worker: ");
    assert!(
        line.contains("eventfd() failed: Too many open files"),
        "{line}"
    );
    answered(&server, "/ok", "OK\n");
    assert_eq!(process::worker(&server), worker);
}

#[test]
fn the_first_request_finds_no_connection() {
    let server = support::start(support::server_with(CONFIG).worker_connections(8));
    let worker = process::worker(&server);
    // Two of the eight are for the port and the master. nginx closes who has nothing to say when it
    // is short of connections, but not who has begun.
    let mut clients: Vec<Client> = (0..6).map(|_| Client::connect(server.addr())).collect();
    for client in &mut clients {
        client.send(request("GET", "/fixed") + "GET /ok HTTP/1.1\r\n");
        assert_eq!(client.read().text(), "fixed");
    }
    let mut first = clients.remove(0);
    first.send("Host: localhost\r\n\r\n");
    assert_eq!(first.read().status, 500);
    logged(
        &server,
        "content_by_rust cannot start in this worker: worker_connections are not enough",
    );
    drop(clients);
    eventually("a connection to be free", || {
        get(&server, "/fixed").status == 200
    });
    answered(&server, "/ok", "OK\n");
    assert_eq!(process::worker(&server), worker);
}

fn with_tokio() -> ServerBuilder {
    Server::builder()
        .nginx(nginx_with([module("test-tokio-handlers")]))
        .master(true)
        .log_level("info")
        .config(
            "location = /ok { content_by_rust ok; }
             location = /fixed { return 200 fixed; }
             location = /naps { content_by_rust naps; }
             location = /echo { content_by_rust echo; }",
        )
}

#[test]
fn tokio_finds_no_descriptor_to_start_with() {
    let server = support::start(with_tokio());
    let worker = process::worker(&server);
    answered(&server, "/ok", "OK\n");
    let others = || {
        let mut files = process::descriptors(worker);
        files.retain(|file| !file.starts_with("socket:"));
        files
    };
    let before = others();
    without_descriptors(&server, |clients| {
        for _ in 0..20 {
            refused(clients, "/naps?ms=1");
        }
        let mut client = clients.next().expect("a client");
        assert_eq!(client.get("/ok").text(), "OK\n");
    });
    logged_times(
        &server,
        "tokio's threads cannot be started: Too many open files",
        20,
    );
    assert_eq!(others(), before, "but for those of clients");
    answered(&server, "/naps?ms=1", "awake\n");
    quits_in_peace(server);
}

#[test]
fn a_handler_finds_no_descriptor_for_its_client() {
    let server = support::start(with_tokio());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let path = format!("/echo?text=abc&port={port}");
    answered(&server, "/naps?ms=1", "awake\n");
    without_descriptors(&server, |clients| refused(clients, &path));
    logged(&server, "Too many open files (os error 24)");
    let mut client = Client::connect(server.addr());
    client.send(request("GET", &path));
    logged(&server, "connected");
    let (mut peer, _) = listener.accept().expect("the handler");
    let mut text = [0; 3];
    peer.read_exact(&mut text).expect("a text");
    peer.write_all(&text).expect("to be sent");
    assert_eq!(client.read().text(), "abc");
    drop(client);
    quits_in_peace(server);
}

#[test]
fn more_clients_come_than_there_are_descriptors() {
    let server = support::start(support::server_with(CONFIG));
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/ok"), "OK\n");
    limit_descriptors(worker, 32);
    let mut clients: Vec<Client> = (0..60).map(|_| Client::connect(server.addr())).collect();
    for client in &mut clients {
        client.send(request("GET", "/wait"));
    }
    logged(&server, "accept4() failed (24: Too many open files)");
    drop(clients);
    limit_descriptors(worker, 1024);
    eventually("a client to be let in", || {
        get(&server, "/ok").text() == "OK\n"
    });
    eventually("all others to have gone", || {
        text(&server, "/ok") == "OK\n"
            && process::descriptors(worker)
                .iter()
                .filter(|file| file.starts_with("socket:"))
                .count()
                < 10
    });
    assert_eq!(process::worker(&server), worker);
}
