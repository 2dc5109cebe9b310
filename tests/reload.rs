//! Quit, reload and worse, while requests wait.

mod support;

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use support::http::{Client, request, text};
use support::{PATIENCE, alarms, eventually, logged, logged_times, process};
use test_nginx::{Server, Signal};

const CONFIG: &str = "
    location = /wait { content_by_rust wait; }
    location = /reply { content_by_rust reply body=$arg_n delay=$arg_delay; }
    location = /byte { content_by_rust byte; }
    location = /status { stub_status; }
    location = /ok { content_by_rust ok; }";

fn server() -> Server {
    support::start(
        support::server()
            .master(true)
            .log_level("info")
            .config(CONFIG),
    )
}

/// How many requests the worker is busy with, this one left out.
fn busy(server: &Server) -> usize {
    support::busy(&text(server, "/status"))
}

/// Five hundred clients whose requests wait; each is told its own number.
fn five_hundred(server: &Server, delay: &str) -> Vec<Client> {
    let clients: Vec<_> = (0..500)
        .map(|n| {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", &format!("/reply?n={n}&delay={delay}")));
            client
        })
        .collect();
    eventually("500 requests wait", || busy(server) == 500);
    clients
}

/// Each gets its answer; gives the moment of the last.
fn all_answered(clients: Vec<Client>) -> Instant {
    for (n, mut client) in clients.into_iter().enumerate() {
        let answer = client.read();
        assert_eq!((answer.status, answer.text()), (200, &*n.to_string()));
    }
    Instant::now()
}

fn five_hundred_server() -> Server {
    let server = support::server()
        .master(true)
        .log_level("notice")
        .worker_connections(1100);
    support::start(server.config(CONFIG))
}

/// A listener for the handler `byte`, and the request that leads there.
fn telephone() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let path = format!("/byte?port={}", listener.local_addr().unwrap().port());
    (listener, path)
}

/// A request that only another thread can wake: no timer of nginx's runs for it.
fn on_the_telephone(server: &Server) -> (Client, TcpStream) {
    let (listener, path) = telephone();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", &path));
    (client, listener.accept().unwrap().0)
}

#[test]
fn on_quit_500_who_wait_are_answered_and_the_worker_goes_with_the_last() {
    let mut server = five_hundred_server();
    let worker = process::worker(&server);
    let clients = five_hundred(&server, "4s");
    server.signal(Signal::QUIT).unwrap();
    logged(&server, "gracefully shutting down");
    let last = all_answered(clients);
    assert!(server.wait(PATIENCE).unwrap().success());
    // Within a second, says the promise; the rest is for a busy machine. Nothing in nginx or the
    // module waits for anything between one second and a minute.
    assert!(last.elapsed() < Duration::from_secs(20));
    assert!(!process::exists(worker));
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn on_reload_500_who_wait_are_answered_and_the_old_worker_goes_with_the_last() {
    let mut server = five_hundred_server();
    let worker = process::worker(&server);
    let clients = five_hundred(&server, "4s");
    server.reload(|builder| builder).unwrap();
    logged(&server, "gracefully shutting down");
    assert_eq!(text(&server, "/ok"), "OK\n", "there are new workers");
    assert!(process::exists(worker));
    let last = all_answered(clients);
    eventually("the old worker to go", || !process::exists(worker));
    assert!(last.elapsed() < Duration::from_secs(20));
    assert_ne!(process::worker(&server), worker);
    support::quits_in_peace(server);
}

#[test]
fn worker_shutdown_timeout_ends_a_wait_without_an_alert() {
    let mut server = support::start(
        support::server()
            .master(true)
            .log_level("info")
            .main_config("worker_shutdown_timeout 1s;")
            .config(CONFIG),
    );
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/wait"));
    logged(&server, "waits now");
    let begun = Instant::now();
    server.signal(Signal::QUIT).unwrap();
    assert!(client.is_closed(), "there is no answer");
    // The minute is far from over, and the second is.
    assert!(server.wait(PATIENCE).unwrap().success());
    assert!(begun.elapsed() > Duration::from_millis(900));
    logged(&server, "waits no more");
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn worker_shutdown_timeout_ends_a_wait_for_a_thread_without_an_alert() {
    let mut server = support::start(
        support::server()
            .master(true)
            .log_level("info")
            .main_config("worker_shutdown_timeout 1s;")
            .config(CONFIG),
    );
    let (mut client, _thread) = on_the_telephone(&server);
    server.signal(Signal::QUIT).unwrap();
    assert!(client.is_closed(), "there is no answer");
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn a_reload_takes_effect_for_new_requests_only() {
    let mut server = support::start(support::server().master(true).log_level("info").config(
        "location = /a { content_by_rust reply body=\"old $arg_n\" delay=2s; }
                 location = /ok { content_by_rust ok; }",
    ));
    let worker = process::worker(&server);
    let mut old = Client::connect(server.addr());
    process::frozen(worker, || old.send(request("GET", "/a?n=1")));
    assert_eq!(text(&server, "/ok"), "OK\n", "the one before has begun");
    server
        .reload(|builder| {
            builder.config("location = /a { content_by_rust reply body=\"new $arg_n\" delay=1ms; }")
        })
        .unwrap();
    logged(&server, "gracefully shutting down");
    assert_eq!(text(&server, "/a?n=2"), "new 2");
    assert!(old.is_silent());
    assert_eq!(old.read().text(), "old 1");
    eventually("the old worker to go", || !process::exists(worker));
    support::quits_in_peace(server);
}

#[test]
fn a_request_that_waits_for_a_thread_keeps_its_worker_through_quit() {
    let mut server = server();
    assert_eq!(text(&server, "/ok"), "OK\n");
    let worker = process::worker(&server);
    let (mut client, mut thread) = on_the_telephone(&server);
    server.signal(Signal::QUIT).unwrap();
    logged(&server, "gracefully shutting down");
    // Nothing else is there to keep it: without the request the worker would be gone.
    std::thread::sleep(Duration::from_millis(300));
    assert!(process::exists(worker));
    assert!(client.is_silent());
    thread.write_all(b"q").unwrap();
    assert_eq!(client.read().text(), "q\n");
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn a_request_that_waits_for_a_thread_keeps_its_worker_through_two_reloads() {
    let mut server = server();
    let first = process::worker(&server);
    let (mut one, mut one_thread) = on_the_telephone(&server);
    server.reload(|builder| builder).unwrap();
    logged_times(&server, "gracefully shutting down", 1);
    eventually("a second worker", || server.worker_pids().len() == 2);
    assert_eq!(text(&server, "/ok"), "OK\n");
    let second = *server
        .worker_pids()
        .iter()
        .find(|pid| **pid != first)
        .unwrap();
    let (mut two, mut two_thread) = on_the_telephone(&server);
    server.reload(|builder| builder).unwrap();
    logged_times(&server, "gracefully shutting down", 2);
    eventually("a third worker", || server.worker_pids().len() == 3);
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert!(process::exists(first) && process::exists(second));

    two_thread.write_all(b"2").unwrap();
    assert_eq!(two.read().text(), "2\n");
    eventually("the second worker to go", || !process::exists(second));
    assert!(process::exists(first));
    one_thread.write_all(b"1").unwrap();
    assert_eq!(one.read().text(), "1\n");
    eventually("the first worker to go", || !process::exists(first));
    support::quits_in_peace(server);
}

#[test]
fn a_worker_that_never_had_a_request_goes_at_once() {
    support::quits_in_peace(server());
}

#[test]
fn a_worker_with_nothing_but_past_requests_goes_at_once() {
    let server = server();
    let mut kept = Client::connect(server.addr());
    for _ in 0..3 {
        assert_eq!(kept.get("/ok").text(), "OK\n");
    }
    support::quits_in_peace(server);
    assert!(kept.is_closed());
}

#[test]
fn term_with_requests_waiting_leaves_no_alert() {
    let mut server = server();
    let (_client, _thread) = on_the_telephone(&server);
    let mut others: Vec<_> = (0..20).map(|_| Client::connect(server.addr())).collect();
    others
        .iter_mut()
        .for_each(|client| client.send(request("GET", "/wait")));
    logged_times(&server, "waits now", 20);
    server.signal(Signal::TERM).unwrap();
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn term_with_requests_waiting_and_no_master_leaves_no_alert() {
    for signal in [Signal::TERM, Signal::QUIT] {
        let mut server = support::start(support::server().config(CONFIG));
        let (_client, _thread) = on_the_telephone(&server);
        let mut other = Client::connect(server.addr());
        other.send(request("GET", "/wait"));
        logged(&server, "waits now");
        server.signal(signal).unwrap();
        assert!(server.wait(PATIENCE).unwrap().success());
        assert_eq!(alarms(&server), [""; 0]);
    }
}

#[test]
fn a_killed_worker_is_replaced() {
    let server = server();
    let worker = process::worker(&server);
    let (mut client, _thread) = on_the_telephone(&server);
    let mut other = Client::connect(server.addr());
    other.send(request("GET", "/wait"));
    logged(&server, "waits now");
    process::signal(worker, Signal::KILL);
    assert!(client.is_closed() && other.is_closed());
    eventually("another worker", || {
        let workers = server.worker_pids();
        !workers.is_empty() && !workers.contains(&worker)
    });
    assert_eq!(text(&server, "/ok"), "OK\n");
    let alarms = alarms(&server);
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert!(alarms[0].contains("exited on signal 9"));
}

/// An nginx without a master reads a configuration itself, and goes on with events that were made
/// under the old one. (Not twice: nginx looks at the connections of all old cycles, and only the
/// first has any.)
#[test]
fn without_a_master_what_waits_is_answered_after_a_reload() {
    let mut server = support::start(support::server().config(CONFIG));
    let pid = server.pid();
    let mut sleeping = Client::connect(server.addr());
    sleeping.send(request("GET", "/wait?ms=1500"));
    logged(&server, "waits now");
    let (mut calling, mut thread) = on_the_telephone(&server);
    server.reload(|builder| builder).unwrap();
    logged_times(&server, "using the \"epoll\" event method", 2);
    thread.write_all(b"m").unwrap();
    assert_eq!(calling.read().text(), "m\n");
    assert_eq!(sleeping.read().text(), "waited\n");
    assert!(process::exists(pid));
    server.signal(Signal::QUIT).unwrap();
    let status = server.wait(PATIENCE).unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(alarms(&server), [""; 0]);
}

/// nginx takes USR2 for its business only where its parent has gone, as a daemon's has. This one
/// is left to its own by the shell that starts it.
#[test]
fn the_binary_is_replaced_while_a_request_waits() {
    let script = "(\"$NGINX\" \"$@\" & sleep 0.5); exec sleep 3600".replace(
        "$NGINX",
        support::binary().to_str().expect("a path that is text"),
    );
    let nginx = support::wrapped(&script);
    let server = support::start(
        support::server()
            .nginx(nginx)
            .master(true)
            .log_level("info")
            .config(CONFIG),
    );
    let pid_file = server.root().join("logs/nginx.pid");
    let pid = || {
        std::fs::read_to_string(&pid_file)
            .unwrap_or_default()
            .trim()
            .parse::<u32>()
            .ok()
    };
    let old = pid().expect("the pid of the master");
    // The shell's child has become init's.
    eventually("nginx to be alone", || process::parent(old) == Some(1));
    let (mut client, mut thread) = on_the_telephone(&server);
    process::signal(old, Signal::USR2);
    eventually("the new master", || pid().is_some_and(|new| new != old));
    let new = pid().expect("the pid of the new master");
    process::signal(old, Signal::QUIT);
    logged(&server, "gracefully shutting down");
    assert_eq!(text(&server, "/ok"), "OK\n", "the new worker answers");
    assert!(client.is_silent());
    thread.write_all(b"u").unwrap();
    assert_eq!(client.read().text(), "u\n");
    eventually("the old master to go", || !process::exists(old));
    assert_eq!(text(&server, "/ok"), "OK\n");
    process::signal(new, Signal::QUIT);
    eventually("the new master to go", || !process::exists(new));
    assert_eq!(alarms(&server), [""; 0]);
}
