//! Background tasks: where they run, and how they end.

mod support;

use std::collections::BTreeSet;
use support::http::{Client, request, text};
use support::{PATIENCE, alarms, eventually, logged, logged_times, module, nginx_with, process};
use test_nginx::{Server, ServerBuilder, Signal};

const CONFIG: &str = "
    location = /after_answer { content_by_rust after_answer; }
    location = /spawn_panics { content_by_rust spawn_panics; }
    location = /spawn_many { content_by_rust spawn_many; }
    location = /spawn_endless { content_by_rust spawn_endless; }
    location = /wait { content_by_rust wait; }
    location = /ask { content_by_rust ask; }
    location = /answer { content_by_rust answer; }
    location = /elsewhere { content_by_rust elsewhere; }";

fn builder() -> ServerBuilder {
    Server::builder()
        .nginx(nginx_with([module("test-background-tasks")]))
        .master(true)
        .log_level("info")
        .config(CONFIG)
}

fn server() -> Server {
    support::start(builder())
}

/// The lines of the error log with this text.
fn lines(server: &Server, text: &str) -> Vec<String> {
    let log = server.error_log();
    let with_text = log.lines().filter(|line| line.contains(text));
    with_text.map(str::to_owned).collect()
}

/// The process that wrote a line of the error log.
#[track_caller]
fn writer(line: &str) -> u32 {
    let (_, rest) = line.split_once("] ").expect("a level");
    let (pid, _) = rest.split_once('#').expect("a process");
    pid.parse().expect("a number")
}

fn writers(server: &Server, text: &str) -> BTreeSet<u32> {
    lines(server, text)
        .iter()
        .map(|line| writer(line))
        .collect()
}

/// Waits until the endless task has gone on.
#[track_caller]
fn goes_on(server: &Server) {
    let before = lines(server, "endless goes on").len();
    logged_times(server, "endless goes on", before + 1);
}

/// A worker that exits has dropped its tasks, each once, and none that had ended before.
#[track_caller]
fn dropped_by(server: &Server, worker: u32) {
    let by_worker = |text: &str| {
        let lines = lines(server, text).into_iter();
        lines.filter(|line| writer(line) == worker).count()
    };
    for task in ["endless", "alone", "naps", "late"] {
        assert_eq!(by_worker(&format!("{task} is dropped")), 1, "{task}");
    }
    assert_eq!(by_worker("late is polled"), 0);
    let panic = "background task \"panics_at_exit\" panicked";
    assert_eq!(by_worker(panic), 1);
}

#[test]
fn a_task_runs_in_every_worker_and_in_no_other_process() {
    let server = support::start(
        builder()
            .workers(3)
            .http_config("proxy_cache_path cache keys_zone=cache:1m loader_sleep=1ms;"),
    );
    eventually("a cache manager", || {
        server
            .error_log()
            .matches("start cache manager process")
            .count()
            == 1
    });
    logged_times(&server, "endless begins", 3);
    for worker in ["0 of 3", "1 of 3", "2 of 3"] {
        let begins = format!("endless begins in {worker}");
        assert_eq!(lines(&server, &begins).len(), 1, "{worker}");
    }
    let workers = BTreeSet::from_iter(server.worker_pids());
    assert_eq!(workers.len(), 3);
    assert_eq!(writers(&server, "endless begins"), workers);
    logged_times(&server, "naps wakes up", 3);
    assert_eq!(lines(&server, "alone begins").len(), 1);
    support::quits_in_peace(server);
}

#[test]
fn without_a_master_tasks_run_and_survive_a_reload() {
    let mut server = support::start(builder().master(false));
    logged(&server, "endless begins in 0 of 1");
    logged(&server, "naps wakes up");
    server.reload(|builder| builder).unwrap();
    logged_times(&server, "using the \"epoll\" event method", 2);
    goes_on(&server);
    assert_eq!(lines(&server, "endless begins").len(), 1);
    let pid = server.pid();
    server.signal(Signal::QUIT).unwrap();
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(alarms(&server), [""; 0]);
    dropped_by(&server, pid);
}

#[test]
fn nginx_quits_and_terminates_while_tasks_wait() {
    for signal in [Signal::QUIT, Signal::TERM] {
        let mut server = server();
        let worker = process::worker(&server);
        logged(&server, "naps wakes up");
        server.signal(signal).unwrap();
        let status = server.wait(PATIENCE).expect("no task keeps it");
        assert!(status.success(), "{status}");
        assert_eq!(alarms(&server), [""; 0]);
        dropped_by(&server, worker);
        assert_eq!(lines(&server, "brief is dropped").len(), 1);
    }
}

#[test]
fn a_reload_ends_the_tasks_of_the_old_worker_and_starts_them_in_the_new() {
    let mut server = server();
    let old = process::worker(&server);
    logged(&server, "naps wakes up");
    server.reload(|builder| builder).unwrap();
    eventually("the old worker to go", || !process::exists(old));
    dropped_by(&server, old);
    logged_times(&server, "alone begins", 2);
    let new = process::worker(&server);
    assert_eq!(writers(&server, "alone begins"), BTreeSet::from([old, new]));
    support::quits_in_peace(server);
}

#[test]
fn a_request_that_waits_keeps_its_worker_and_the_tasks_go_on_until_it_is_answered() {
    let mut server = server();
    let old = process::worker(&server);
    logged(&server, "naps wakes up");
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/wait?ms=1500"));
    logged(&server, "waits now");
    server.reload(|builder| builder).unwrap();
    logged(&server, "gracefully shutting down");
    let line = logged(&server, "diligent ends");
    assert_eq!(writer(&line), old, "every() has noticed");
    assert!(process::exists(old));
    assert_eq!(lines(&server, "endless is dropped").len(), 0);
    assert_eq!(client.read().text(), "waited\n");
    eventually("the old worker to go", || !process::exists(old));
    dropped_by(&server, old);
    assert_eq!(lines(&server, "diligent runs").len(), 0);
    support::quits_in_peace(server);
}

#[test]
fn worker_shutdown_timeout_ends_a_worker_with_tasks() {
    let mut server = support::start(builder().main_config("worker_shutdown_timeout 1s;"));
    let worker = process::worker(&server);
    logged(&server, "naps wakes up");
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/wait"));
    logged(&server, "waits now");
    server.signal(Signal::QUIT).unwrap();
    assert!(client.is_closed(), "there is no answer");
    assert!(server.wait(PATIENCE).unwrap().success());
    dropped_by(&server, worker);
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn a_killed_worker_is_replaced_and_the_tasks_begin_anew() {
    let server = server();
    let killed = process::worker(&server);
    logged(&server, "alone begins");
    process::signal(killed, Signal::KILL);
    logged_times(&server, "alone begins", 2);
    logged_times(&server, "endless begins in 0 of 1", 2);
    let new = process::worker(&server);
    assert_eq!(
        writers(&server, "alone begins"),
        BTreeSet::from([killed, new])
    );
}

#[test]
fn a_panic_ends_its_task_and_not_the_worker() {
    let server = server();
    let worker = process::worker(&server);
    let line = logged(&server, "background task \"panics\" panicked at ");
    assert!(line.contains("[error]"), "{line}");
    assert!(line.contains("src/lib.rs:"), "{line}");
    assert!(line.ends_with(": in a background task"), "{line}");
    logged(&server, "panics is dropped");
    assert_eq!(text(&server, "/spawn_panics"), "answered\n");
    let line = logged(&server, "in a spawned task");
    assert!(line.contains("background task of "), "{line}");
    assert!(!line.contains("client:"), "{line}");
    goes_on(&server);
    assert_eq!(process::worker(&server), worker);
    support::quits_in_peace(server);
}

#[test]
fn every_goes_on_after_a_run_that_panics() {
    let server = server();
    logged(&server, "run 9 is over");
    for message in [
        "run 1 panics",
        "run 2 panics",
        "in a background task's drop",
    ] {
        let line = logged(&server, message);
        assert!(
            line.contains("background task \"ticks\" panicked"),
            "{line}"
        );
    }
    for run in 0..10 {
        let begins = format!(": run {run}");
        let begun = lines(&server, &begins)
            .iter()
            .filter(|line| line.ends_with(&begins))
            .count();
        assert_eq!(begun, 1, "run {run}");
    }
    assert_eq!(lines(&server, "is over").len(), 8);
    support::quits_in_peace(server);
}

#[test]
fn a_period_may_be_longer_than_any_clock() {
    let server = server();
    logged(&server, "rarely runs");
    logged(&server, "naps wakes up");
    assert_eq!(lines(&server, "rarely is dropped").len(), 0);
    support::quits_in_peace(server);
}

#[test]
fn a_task_goes_on_after_the_answer() {
    let server = server();
    assert_eq!(text(&server, "/after_answer?id=1"), "answered\n");
    logged(&server, "long after 1");
    let line = logged(&server, "with the request");
    assert!(line.contains("GET /after_answer?id=1"), "{line}");
    assert!(logged(&server, "before the answer").contains("client:"));
    let line = logged(&server, ": after 1");
    assert!(
        line.contains("[notice]") && !line.contains("client:"),
        "{line}"
    );
    let log = server.error_log();
    assert!(log.find("before the answer") < log.find(": after 1"));
    support::quits_in_peace(server);
}

#[test]
fn tasks_start_tasks() {
    let server = server();
    assert_eq!(text(&server, "/spawn_many"), "answered\n");
    logged(&server, "a thousand are over");
    support::quits_in_peace(server);
}

#[test]
fn what_a_handler_has_started_does_not_keep_its_worker() {
    let server = server();
    assert_eq!(text(&server, "/spawn_endless"), "answered\n");
    logged(&server, "spawned begins");
    assert_eq!(lines(&server, "spawned is dropped").len(), 0);
    quits_and_drops(server, "spawned");
}

#[track_caller]
fn quits_and_drops(mut server: Server, task: &str) {
    server.signal(Signal::QUIT).unwrap();
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(lines(&server, &format!("{task} is dropped")).len(), 1);
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn a_task_wakes_a_request() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/ask"));
    logged(&server, "asks");
    assert!(client.is_silent());
    assert_eq!(text(&server, "/answer"), "answered\n");
    assert_eq!(client.read().text(), "asked\n");
    support::quits_in_peace(server);
}

#[test]
fn a_task_awaits_tokio_and_other_threads() {
    let server = server();
    for message in ["naps wakes up", "offloads is back", "woken is awake"] {
        logged(&server, message);
    }
    let line = logged(&server, "offloaded work: ");
    assert!(line.contains("elsewhere"), "{line}");
    support::quits_in_peace(server);
}

#[test]
fn other_threads_start_no_task_and_write_to_standard_error() {
    let server = server();
    assert_eq!(text(&server, "/elsewhere"), "true true true\n");
    logged(&server, r"elsewhere\x0Ais heard");
    support::quits_in_peace(server);
}

/// The listening socket, and the connection to the master: nothing is left for the module.
#[test]
fn where_connections_are_short_the_worker_says_so_and_lives() {
    let mut server = support::start(builder().worker_connections(2));
    let worker = process::worker(&server);
    let line = logged(&server, "background tasks cannot start in this worker: ");
    assert!(
        line.ends_with("worker_connections are not enough"),
        "{line}"
    );
    assert!(line.contains("[alert]"), "{line}");
    assert_eq!(process::worker(&server), worker);
    server.signal(Signal::QUIT).unwrap();
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(
        writers(&server, "exit"),
        BTreeSet::from([worker, server.pid()])
    );
}

/// The second of them is tokio's: with fewer descriptors than it has, tokio cannot start.
#[test]
fn where_tokio_cannot_start_the_tasks_end_and_the_worker_lives() {
    let before = server();
    let worker = process::worker(&before);
    logged(&before, "naps wakes up");
    let polls = process::numbers_of(worker, "anon_inode:[eventpoll]");
    support::quits_in_peace(before);

    let limit = format!("worker_rlimit_nofile {};", polls[1]);
    let mut server = support::start(builder().main_config(limit));
    let worker = process::worker(&server);
    let line = logged(&server, "background task \"naps\" ends: ");
    assert!(
        line.contains("tokio's threads cannot be started: "),
        "{line}"
    );
    assert!(line.contains("[alert]"), "{line}");
    logged(&server, "background task \"woken\" ends: ");
    assert_eq!(process::worker(&server), worker);
    server.signal(Signal::QUIT).unwrap();
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(lines(&server, "exited on signal").len(), 0);
}
