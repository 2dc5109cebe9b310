//! Futures combined, woken from everywhere, and of every shape.

mod support;

use support::http::{Client, get, request, text};
use support::process;
use support::{accessed, alarms, logged, logged_times, quits_in_peace};
use test_nginx::Server;

fn server() -> Server {
    support::start(
        support::server()
            .master(true)
            .log_level("info")
            .worker_connections(300)
            .config(
                "location = /ok { content_by_rust ok; }
         location = /join { content_by_rust join; }
         location = /unordered { content_by_rust unordered; }
         location = /race { content_by_rust race; }
         location = /timeouts { content_by_rust timeouts; }
         location = /moved { content_by_rust moved; }
         location = /changes_waker { content_by_rust changes_waker; }
         location = /drops_early { content_by_rust drops_early; }
         location = /large { content_by_rust large; }
         location = /aligned { content_by_rust aligned; }
         location = /thread_wakes { content_by_rust thread_wakes; }
         location = /storm { content_by_rust storm; }
         location = /keep_waker { content_by_rust keep_waker; }
         location = /wake_kept { content_by_rust wake_kept; }
         location = /release { content_by_rust release; }
         location = /receive { content_by_rust receive; }
         location = /send { content_by_rust send; }
         location = /zero_sleeps { content_by_rust zero_sleeps; }
         location = /wakes_itself { content_by_rust wakes_itself; }
         location = /stop { content_by_rust stop; }",
            ),
    )
}

/// Many clients at once, each with several requests; then the worker has nothing left to wait for.
#[track_caller]
fn answers(path: &str, expected: &str) {
    let server = server();
    let mut clients: Vec<_> = (0..10).map(|_| Client::connect(server.addr())).collect();
    for _ in 0..3 {
        clients
            .iter_mut()
            .for_each(|client| client.send(request("GET", path)));
        for client in &mut clients {
            let answer = client.read();
            assert_eq!((answer.status, answer.text()), (200, expected));
        }
    }
    drop(clients);
    quits_in_peace(server);
}

#[test]
fn two_hundred_sleeps_of_one_request_end_together() {
    answers("/join", "200\n");
}

#[test]
fn the_shorter_of_unordered_sleeps_ends_first() {
    answers("/unordered", "10 90 170\n");
}

#[test]
fn the_loser_of_a_race_is_dropped_and_holds_nobody() {
    answers("/race", "short\n");
}

#[test]
fn timeouts_nest() {
    answers("/timeouts", "None Some(None) Some(Some(7))\n");
}

#[test]
fn a_sleep_under_way_can_be_moved_in_its_box() {
    answers("/moved", "moved\n");
}

#[test]
fn a_sleep_wakes_whoever_polled_it_last_and_stays_ready() {
    answers("/changes_waker", "woken\n");
}

#[test]
fn sleeps_may_be_dropped_in_any_order() {
    for order in ["first", "last", "middle", "all"] {
        answers(&format!("/drops_early?order={order}"), "dropped\n");
    }
}

#[test]
fn a_future_of_100_kb_is_kept_in_place() {
    answers("/large", "kept\n");
}

#[test]
fn a_future_with_strict_alignment_is_aligned() {
    answers("/aligned", "aligned\n");
}

#[test]
fn a_thread_wakes_once() {
    answers("/thread_wakes", "woken\n");
}

#[test]
fn a_thread_wakes_twice() {
    answers("/thread_wakes?how=twice", "woken\n");
}

#[test]
fn a_thread_wakes_before_the_poll_has_returned() {
    answers("/thread_wakes?how=before", "woken\n");
}

#[test]
fn thousands_of_wakes_from_several_threads_lose_none() {
    answers("/storm", "calm\n");
}

/// A request leaves its waker behind and is aborted; another one takes its place.
#[track_caller]
fn wakes_after_the_end(from: &str) {
    let server = server();
    let worker = process::worker(&server);
    let mut gone = Client::connect(server.addr());
    gone.send(request("GET", "/keep_waker"));
    logged(&server, "left its waker");
    gone.close();
    accessed(&server, "/keep_waker HTTP/1.1\" 499 ", 1);
    assert_eq!(text(&server, &format!("/wake_kept?from={from}")), "1\n");

    // The successor has the slot of the one that has gone: wakes meant for that must not reach it.
    let mut successor = Client::connect(server.addr());
    successor.send(request("GET", "/keep_waker?successor"));
    logged_times(&server, "left its waker", 2);
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert_eq!(text(&server, &format!("/wake_kept?from={from}")), "2\n");
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert!(successor.is_silent());
    assert_eq!(text(&server, "/release"), "released\n");
    // One poll at the start, one for the release.
    assert_eq!(successor.read().text(), "2\n");
    assert_eq!(process::worker(&server), worker);
    drop(successor);
    quits_in_peace(server);
}

#[test]
fn a_wake_on_the_event_thread_after_the_request_has_gone_does_nothing() {
    wakes_after_the_end("here");
}

#[test]
fn a_wake_on_another_thread_after_the_request_has_gone_does_nothing() {
    wakes_after_the_end("thread");
}

#[test]
fn a_request_wakes_another() {
    let server = server();
    let mut listeners: Vec<_> = (0..50).map(|_| Client::connect(server.addr())).collect();
    for (n, listener) in listeners.iter_mut().enumerate() {
        listener.send(request("GET", &format!("/receive?name={n}")));
    }
    logged_times(&server, "listens", 50);
    let mut speaker = Client::connect(server.addr());
    for n in (0..50).rev() {
        let sent = speaker.get(&format!("/send?name={n}&text=to+{n}"));
        assert_eq!(sent.text(), "Some(Ok(()))\n");
        assert_eq!(listeners[n].read().text(), format!("to {n}\n"));
    }
    drop((listeners, speaker));
    quits_in_peace(server);
}

#[test]
fn a_request_whose_receiver_has_gone_is_told() {
    let server = server();
    let mut listener = Client::connect(server.addr());
    listener.send(request("GET", "/receive?name=a"));
    logged(&server, "listens");
    listener.close();
    accessed(&server, "/receive?name=a HTTP/1.1\" 499 ", 1);
    assert_eq!(text(&server, "/send?name=a&text=b"), "Some(Err(\"b\"))\n");
    assert_eq!(text(&server, "/send?name=a&text=b"), "None\n");

    let mut listener = Client::connect(server.addr());
    listener.send(request("GET", "/receive?name=a"));
    logged_times(&server, "listens", 2);
    // The second who listens under the name drops the sender to the first.
    let mut second = Client::connect(server.addr());
    second.send(request("GET", "/receive?name=a"));
    assert_eq!(listener.read().status, 500);
    logged(&server, "oneshot canceled");
    second.close();
    accessed(&server, "/receive?name=a HTTP/1.1\" 499 ", 2);
    quits_in_peace(server);
}

/// A request that is never done and always ready lets all others go on, and can be aborted.
#[track_caller]
fn does_not_starve_others(path: &str, begun: &str) {
    let server = server();
    let mut endless = Client::connect(server.addr());
    endless.send(request("GET", path));
    logged(&server, begun);
    let mut aborted = Client::connect(server.addr());
    aborted.send(request("GET", path));
    logged_times(&server, begun, 2);
    for _ in 0..20 {
        assert_eq!(text(&server, "/ok"), "OK\n");
    }
    aborted.close();
    accessed(&server, &format!("{path} HTTP/1.1\" 499 "), 1);
    assert!(endless.is_silent());
    assert_eq!(text(&server, "/stop"), "stopped\n");
    let turns: u64 = endless.read().text().trim().parse().expect("a number");
    assert!(turns >= 20, "it went on meanwhile, {turns} turns");
    drop(endless);
    quits_in_peace(server);
}

#[test]
fn a_task_that_always_wakes_itself_does_not_starve_others() {
    does_not_starve_others("/wakes_itself", "wakes itself");
}

#[test]
fn sleeps_of_no_length_in_a_loop_do_not_starve_others() {
    does_not_starve_others("/zero_sleeps", "sleeps for no time");
}

#[test]
fn everything_at_once_in_one_worker() {
    let server = server();
    let worker = process::worker(&server);
    let paths = [
        "/join",
        "/race",
        "/timeouts",
        "/moved",
        "/thread_wakes",
        "/storm",
        "/large",
        "/aligned",
        "/unordered",
        "/changes_waker",
        "/ok",
        "/drops_early?order=middle",
    ];
    let mut clients: Vec<_> = (0..96).map(|_| Client::connect(server.addr())).collect();
    for (client, path) in clients.iter_mut().zip(paths.iter().cycle()) {
        client.send(request("GET", path));
    }
    for client in &mut clients {
        assert_eq!(client.read().status, 200);
    }
    assert_eq!(get(&server, "/ok").status, 200);
    assert_eq!(process::worker(&server), worker);
    assert_eq!(alarms(&server), [""; 0]);
    drop(clients);
    quits_in_peace(server);
}
