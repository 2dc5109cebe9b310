//! The disk takes no body that nginx spools for another module: a handler that reads the body
//! after it gets no half of it.

mod support;

use rustix::process::Resource;
use std::fs;
use support::http::Client;
use support::{alarms, binary, logged, module, process, wrapped_with};
use test_nginx::Server;

const BODY: usize = 300_000;

fn server() -> Server {
    // The system says so by a signal, which ends a process that does not ignore it.
    let script = format!("trap '' XFSZ; exec '{}' \"$@\"", binary().display());
    let builder = support::server_with(
        "client_body_buffer_size 1k;
         location = /spooled { mirror /mirror; content_by_rust body_echo; }
         location = /mirror { internal; return 204; }
         location = /read { content_by_rust body_echo; }",
    );
    support::start(builder.nginx(wrapped_with(&script, [module("test-handlers")])))
}

/// Sends a body; the status, and whether the body came back whole.
fn post(server: &Server, path: &str) -> (u16, bool) {
    let mut client = Client::connect(server.addr());
    let body: String = (0..BODY / 10).map(|n| format!("{n:09}\n")).collect();
    client.send(format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BODY}\r\n\r\n{body}"
    ));
    let answer = client.read();
    (answer.status, answer.body == body.as_bytes())
}

/// The errors of nginx's, and no other, are in the log.
#[track_caller]
fn recovers(server: &Server, worker: u32, error: &str) {
    logged(server, error);
    assert_eq!(post(server, "/spooled"), (200, true));
    assert_eq!(process::worker(server), worker);
    let mut alarms = alarms(server);
    alarms.retain(|line| !line.contains(error));
    assert_eq!(alarms, [""; 0]);
}

#[test]
fn no_file_can_grow() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(post(&server, "/spooled"), (200, true));
    process::limit(worker, Resource::Fsize, Some(BODY as u64 / 2));
    assert_eq!(post(&server, "/spooled"), (500, false));
    assert_eq!(post(&server, "/read"), (200, true), "it needs no file");
    process::limit(worker, Resource::Fsize, None);
    recovers(&server, worker, "failed (27: File too large)");
}

#[test]
fn there_is_no_place_for_files() {
    let server = server();
    let worker = process::worker(&server);
    let place = server.root().join("client_body_temp");
    let away = server.root().join("away");
    fs::rename(&place, &away).expect("a directory to move");
    assert_eq!(post(&server, "/spooled"), (500, false));
    assert_eq!(post(&server, "/read"), (200, true), "it needs no file");
    fs::rename(&away, &place).expect("a directory to move back");
    recovers(&server, worker, "failed (2: No such file or directory)");
}
