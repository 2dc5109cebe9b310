//! The kernel refuses threads or an eventfd, as it does in a sandbox or at a limit.

mod support;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
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
    let files = || {
        let mut files = process::descriptors(worker);
        files.retain(|file| !file.starts_with("socket:"));
        files
    };
    let before = files();
    for _ in 0..20 {
        assert_eq!(get(&server, "/naps?ms=1").status, 500);
    }
    logged_times(
        &server,
        "tokio's threads cannot be started: Resource temporarily unavailable",
        20,
    );
    assert_eq!(files(), before, "but for those of clients");
    assert_eq!(status(worker, "SigBlk:"), signals);
    assert_eq!(status(worker, "Threads:"), "1");
    assert_eq!(text(&server, "/ok"), "OK\n");
    quits_in_peace(server);
}

/// The stack of a thread finds no room, but what is smaller does.
fn without_room<R>(pid: u32, during: impl FnOnce() -> R) -> R {
    let size = status(pid, "VmSize:");
    let size: u64 = size.trim_end_matches(" kB").parse().expect("kilobytes");
    let raw = Pid::from_raw(pid as i32);
    let maximum = getrlimit(Resource::As).maximum;
    let limit = |current| Rlimit { current, maximum };
    prlimit(raw, Resource::As, limit(Some((size + 1024) * 1024))).expect("a limit");
    let result = during();
    prlimit(raw, Resource::As, limit(maximum)).expect("no limit");
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
    eprintln!("{}", server.error_log());
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
