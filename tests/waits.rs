//! How long a wait is, and what it costs.

mod support;

use std::thread;
use std::time::{Duration, Instant};
use support::http::{Client, request, text};
use support::{logged_times, process};
use test_nginx::Server;

fn server() -> Server {
    support::start(
        support::server()
            .master(true)
            .log_level("notice")
            .worker_connections(600)
            .config(
                "keepalive_requests 100000;
             location = /ok { content_by_rust ok; }
             location = /wait { content_by_rust wait; }
             location = /reply { content_by_rust reply delay=$arg_delay; }
             location = /at_once { content_by_rust reply delay=0; }",
            ),
    )
}

/// Asks again and again on one connection; no answer may begin before the delay is over, by the
/// client's clock, but for the millisecond that nginx's clock is coarse.
fn ask(server: &Server, path: &str, delay: Duration, times: usize) {
    let mut client = Client::connect(server.addr());
    let asked = request("GET", path);
    for _ in 0..times {
        let begun = Instant::now();
        client.send(&asked);
        client.wait_for_byte();
        let waited = begun.elapsed();
        assert_eq!(client.read().status, 200);
        assert!(
            waited + Duration::from_millis(1) >= delay,
            "{path}: only {waited:?}"
        );
    }
}

#[test]
fn no_wait_is_more_than_a_millisecond_too_short() {
    let server = server();
    for clients in [1, 20, 200] {
        thread::scope(|scope| {
            for n in 0..clients {
                let server = &server;
                scope.spawn(move || match n % 4 {
                    0 => ask(server, "/ok", Duration::from_millis(20), 20),
                    1 => ask(server, "/reply?delay=1ms", Duration::from_millis(1), 100),
                    2 => ask(server, "/reply?delay=7ms", Duration::from_millis(7), 40),
                    _ => ask(server, "/wait?ms=33", Duration::from_millis(33), 10),
                });
            }
        });
    }
    support::quits_in_peace(server);
}

#[test]
fn a_delay_of_zero_starves_nobody() {
    let server = server();
    let mut greedy = Client::connect(server.addr());
    let many = request("GET", "/at_once").repeat(5_000);
    thread::scope(|scope| {
        let mut sender = greedy.stream.try_clone().unwrap();
        scope.spawn(move || std::io::Write::write_all(&mut sender, many.as_bytes()).unwrap());
        greedy.wait_for_byte();
        // While one client has thousands of requests under way, another gets its turn.
        let mut patient = Client::connect(server.addr());
        for _ in 0..10 {
            assert_eq!(patient.get("/ok").text(), "OK\n");
        }
        for _ in 0..5_000 {
            assert_eq!(greedy.read().text(), "OK\n");
        }
    });
    support::quits_in_peace(server);
}

/// What the worker does in a second in which nothing happens.
#[track_caller]
fn rests(server: &Server) {
    let worker = process::worker(server);
    let (ticks, sleeps) = (process::ticks(worker), process::sleeps(worker));
    thread::sleep(Duration::from_secs(1));
    let (ticks, sleeps) = (
        process::ticks(worker) - ticks,
        process::sleeps(worker) - sleeps,
    );
    // A worker that waits in earnest uses none and is woken by nothing. One that spins uses a
    // hundred ticks, one that polls each millisecond is woken a thousand times.
    assert!(
        ticks <= 5,
        "{ticks} hundredths of a second of processor time"
    );
    assert!(sleeps <= 10, "the event loop was woken {sleeps} times");
}

#[test]
fn a_hundred_who_wait_cost_no_time() {
    let server = server();
    let mut clients: Vec<_> = (0..100).map(|_| Client::connect(server.addr())).collect();
    clients
        .iter_mut()
        .for_each(|client| client.send(request("GET", "/wait")));
    logged_times(&server, "waits now", 100);
    rests(&server);
    drop(clients);
    logged_times(&server, "waits no more", 100);
    support::quits_in_peace(server);
}

#[test]
fn after_delays_of_zero_the_worker_rests() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for _ in 0..100 {
        assert_eq!(client.get("/at_once").text(), "OK\n");
        assert_eq!(client.get("/reply?delay=0").text(), "OK\n");
    }
    rests(&server);
    drop(client);
    support::quits_in_peace(server);
}

#[test]
fn a_thousand_lengths_of_waiting_leave_a_worker_that_rests() {
    let server = server();
    thread::scope(|scope| {
        for n in 0..20 {
            let server = &server;
            scope.spawn(move || {
                let mut client = Client::connect(server.addr());
                for m in 0..50 {
                    let path = format!("/reply?delay={}ms", 1 + (n * 50 + m) % 97);
                    assert_eq!(client.get(&path).status, 200);
                }
            });
        }
    });
    assert_eq!(text(&server, "/ok"), "OK\n");
    rests(&server);
    support::quits_in_peace(server);
}
