//! Signals come in numbers, while requests wait and are woken by other threads.

mod support;

use std::thread;
use support::http::Client;
use support::{accessed, module, nginx_with, process, quits_in_peace};
use test_nginx::{Server, Signal};

const CLIENTS: usize = 8;
const ASKED: usize = 50;

#[test]
fn logs_are_reopened_and_clocks_ring_all_the_time() {
    let server = support::start(
        Server::builder()
            .nginx(nginx_with([module("test-tokio-handlers")]))
            .master(true)
            .log_level("info")
            .main_config("timer_resolution 1ms;")
            .config(
                "location = /ok { content_by_rust ok; }
                 location = /naps { content_by_rust naps; }",
            ),
    );
    let worker = process::worker(&server);
    thread::scope(|scope| {
        for n in 0..CLIENTS {
            let server = &server;
            scope.spawn(move || {
                let mut client = Client::connect(server.addr());
                for _ in 0..ASKED {
                    // Files are opened anew, and a signal of no consequence. No more of them than
                    // requests: 64 between two looks at the clock turn nginx's time into 0, which
                    // its logs take for the second in which the disk was full (`ngx_times.c`).
                    for signal in [Signal::USR1, Signal::HUP, Signal::ALARM] {
                        process::signal(worker, signal);
                    }
                    match n % 2 {
                        0 => assert_eq!(client.get("/ok").text(), "OK\n"),
                        _ => assert_eq!(client.get("/naps?ms=5").text(), "awake\n"),
                    }
                }
            });
        }
    });
    accessed(&server, "\" 200 ", CLIENTS * ASKED);
    assert_eq!(process::worker(&server), worker);
    quits_in_peace(server);
}
