//! The kernel refuses threads or an eventfd, as it does in a sandbox or at a limit.

mod support;

use rustix::process::Resource;
use std::fs;
use support::http::{Client, get, text};
use support::{faults, logged, logged_times, module, process, quits_in_peace};
use test_nginx::{Nginx, Server};

const CONFIG: &str = "
    location = /ok { content_by_rust ok; }
    location = /hello { content_by_rust hello; }
    location = /fixed { return 200 fixed; }
    location = /naps { content_by_rust naps; }
    location = /offloads { content_by_rust offloads; }
    location = /offload_blocks { content_by_rust offload_blocks; }";

fn server(nginx: Nginx) -> Server {
    let builder = Server::builder().nginx(nginx).master(true);
    support::start(builder.log_level("info").config(CONFIG))
}

/// A line of what the kernel tells of a process.
fn status(pid: u32, name: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.expect("a line of this name").trim().to_owned()
}

#[test]
fn threads_are_refused() {
    let server = server(faults::refused("threads", [module("test-tokio-handlers")]));
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/ok"), "OK\n");
    let signals = status(worker, "SigBlk:");
    let before = process::files(worker);
    for _ in 0..20 {
        assert_eq!(get(&server, "/naps?ms=1").status, 500);
    }
    logged_times(
        &server,
        "tokio's threads cannot be started: Resource temporarily unavailable",
        20,
    );
    assert_eq!(process::files(worker), before);
    assert_eq!(status(worker, "SigBlk:"), signals);
    assert_eq!(status(worker, "Threads:"), "1");
    assert_eq!(text(&server, "/ok"), "OK\n");
    quits_in_peace(server);
}

/// The stack of a thread finds no room, but what is smaller does.
fn without_room<R>(pid: u32, during: impl FnOnce() -> R) -> R {
    let size = status(pid, "VmSize:");
    let size: u64 = size.trim_end_matches(" kB").parse().expect("kilobytes");
    process::limit(pid, Resource::As, Some((size + 1024) * 1024));
    let result = during();
    process::limit(pid, Resource::As, None);
    result
}

#[test]
fn threads_are_refused_for_a_while() {
    let server = server(support::nginx_with([module("test-tokio-handlers")]));
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/ok"), "OK\n");
    without_room(worker, || {
        assert_eq!(get(&server, "/naps?ms=1").status, 500);
        assert_eq!(text(&server, "/ok"), "OK\n");
    });
    logged(
        &server,
        "tokio's threads cannot be started: Resource temporarily unavailable",
    );
    assert_eq!(text(&server, "/naps?ms=1"), "awake\n");
    assert_eq!(process::worker(&server), worker);
    quits_in_peace(server);
}

#[test]
fn a_thread_for_blocking_work_is_refused_for_a_while() {
    let server = server(support::nginx_with([module("test-tokio-handlers")]));
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/naps?ms=1"), "awake\n");
    let mut client = Client::connect(server.addr());
    without_room(worker, || {
        assert_eq!(client.get("/offloads?how=closure").status, 500);
    });
    assert_eq!(text(&server, "/offloads?how=closure"), "closure\n");
    assert_eq!(process::worker(&server), worker);
    quits_in_peace(server);
}

#[test]
fn an_eventfd_is_refused() {
    let server = server(faults::refused("eventfd", [module("test-tokio-handlers")]));
    let worker = process::worker(&server);
    for path in ["/ok", "/hello", "/naps?ms=1"] {
        assert_eq!(get(&server, path).status, 500);
        assert_eq!(text(&server, "/fixed"), "fixed");
    }
    logged_times(
        &server,
        "content_by_rust cannot start in this worker: eventfd() failed: Operation not permitted",
        3,
    );
    assert_eq!(process::worker(&server), worker);
}

#[test]
fn background_tasks_have_no_eventfd() {
    let nginx = faults::refused("eventfd", [module("test-background-tasks")]);
    let builder = Server::builder().nginx(nginx).master(true);
    let server = support::start(builder.config("location = /fixed { return 200 fixed; }"));
    let worker = process::worker(&server);
    logged(
        &server,
        "background tasks cannot start in this worker: eventfd() failed: ",
    );
    assert_eq!(text(&server, "/fixed"), "fixed");
    assert_eq!(process::worker(&server), worker);
}
