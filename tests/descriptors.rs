//! Descriptors and connections run out, and come back.

mod support;

use rustix::process::Resource;
use std::io::{Read, Write};
use std::net::TcpListener;
use support::http::{Client, request, text};
use support::{eventually, logged, logged_times, module, nginx_with, process, quits_in_peace};
use test_nginx::{Server, ServerBuilder};

/// Runs `during` while the worker can open nothing: with clients that it has let in before, each
/// for one error, as nginx closes the connection then.
fn without_descriptors(server: &Server, during: impl FnOnce(&mut dyn Iterator<Item = Client>)) {
    let clients = (0..25).map(|_| {
        let mut client = Client::connect(server.addr());
        assert_eq!(client.get("/fixed").text(), "fixed");
        client
    });
    let clients: Vec<Client> = clients.collect();
    let worker = process::worker(server);
    process::limit(worker, Resource::Nofile, Some(0));
    during(&mut clients.into_iter());
    process::limit(worker, Resource::Nofile, None);
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
    assert_eq!(text(&server, "/ok"), "OK\n");
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
    // What is left is the port's and the master's.
    eventually("all clients to have gone", || process::sockets(worker) == 2);
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert_eq!(process::worker(&server), worker);
}

#[test]
fn the_status_finds_no_descriptor_to_see_who_lives() {
    let config = format!("{CONFIG} location = /status {{ content_by_rust status; }}");
    let server = support::start(support::server_with(&config));
    let mut waiting = Client::connect(server.addr());
    waiting.send(request("GET", "/wait"));
    logged(&server, "waits now");
    let worker = process::worker(&server);
    let own = "\"pending\":1,\"answered\":0,\"aborted\":0,\"panicked\":0,\"refused\":0";
    without_descriptors(&server, |clients| {
        let mut client = clients.next().expect("a client");
        let answer = client.get("/status");
        assert_eq!(answer.status, 200);
        let page = answer.text();
        let end = format!("[{{\"worker\":0,\"pid\":{worker},\"exiting\":false,{own}}}]}}\n");
        assert!(
            page.starts_with(&format!("{{\"total\":{{{own}}}")),
            "{page}"
        );
        assert!(page.ends_with(&end), "{page}");
    });
    drop(waiting);
    quits_in_peace(server);
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
    assert_eq!(text(&server, "/ok"), "OK\n");
    let before = process::files(worker);
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
    assert_eq!(process::files(worker), before);
    assert_eq!(text(&server, "/naps?ms=1"), "awake\n");
    quits_in_peace(server);
}

#[test]
fn a_handler_finds_no_descriptor_for_its_client() {
    let server = support::start(with_tokio());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let path = format!("/echo?text=abc&port={port}");
    assert_eq!(text(&server, "/naps?ms=1"), "awake\n");
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
    process::limit(worker, Resource::Nofile, Some(32));
    let mut clients: Vec<Client> = (0..60).map(|_| Client::connect(server.addr())).collect();
    for client in &mut clients {
        client.send(request("GET", "/wait"));
    }
    logged(&server, "accept4() failed (24: Too many open files)");
    drop(clients);
    process::limit(worker, Resource::Nofile, None);
    assert_eq!(text(&server, "/ok"), "OK\n");
    // What is left is the port's and the master's.
    eventually("all clients to have gone", || process::sockets(worker) == 2);
    assert_eq!(process::worker(&server), worker);
}
