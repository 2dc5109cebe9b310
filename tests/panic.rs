//! A handler that panics: its own request is a 500, and nobody else notices.

mod support;

use support::http::{Client, get, request, text};
use support::{accessed, logged, process, quits_in_peace};
use test_nginx::Server;

fn server() -> Server {
    support::start(support::server().master(true).log_level("info").config(
        "location = /at_once { content_by_rust panic_at_once; }
         location = /after_wait { content_by_rust panic_after_wait; }
         location = /before_future { content_by_rust panic_before_future; }
         location = /number { content_by_rust panic_with_number; }
         location = /in_drop { content_by_rust panic_in_drop; }
         location = /in_payload { content_by_rust panic_in_payload; }
         location = /part { content_by_rust panic_in_part; }
         location = /page { ssi on; ssi_types *; content_by_rust reply
             body='<<!--# include virtual=\"/part?$args\" -->>'; }
         location = /auth { auth_request /part; content_by_rust ok; }
         location = /own_page { error_page 500 /sorry; content_by_rust panic_after_wait; }
         location = /own_page_at_once { error_page 500 =503 /sorry; content_by_rust panic_at_once; }
         location = /sorry { internal; content_by_rust reply body=sorry delay=5ms; }
         location = /page_panics { error_page 500 /after_wait; content_by_rust panic_at_once; }
         location = /ok { content_by_rust ok; }",
    ))
}

/// Asks twice on one connection for a handler that panics.
#[track_caller]
fn panics(path: &str, message: &str) {
    let server = server();
    let worker = process::worker(&server);
    for _ in 0..2 {
        let mut client = Client::connect(server.addr());
        let answer = client.get(path);
        assert_eq!(answer.status, 500);
        assert!(answer.text().contains("500 Internal Server Error"));
        assert!(
            !answer.text().contains(message),
            "the client must not see it"
        );
    }
    let line = logged(&server, message);
    assert!(line.contains("[error]"), "{line}");
    assert!(line.contains("src/panics.rs:"), "{line}");
    assert!(
        line.contains(&format!("request: \"GET {path} HTTP/1.1\"")),
        "{line}"
    );
    assert_eq!(server.error_log().matches(message).count(), 2);
    lives(server, worker);
}

#[track_caller]
fn lives(server: Server, worker: u32) {
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert_eq!(
        process::worker(&server),
        worker,
        "the worker's pid has changed"
    );
    assert!(!server.error_log().contains("exited on signal"));
    quits_in_peace(server);
}

#[test]
fn before_its_wait() {
    panics("/at_once", "before the wait");
}

#[test]
fn after_its_wait() {
    panics("/after_wait", "after the wait");
}

#[test]
fn before_there_is_a_future() {
    panics("/before_future", "no future at all");
}

#[test]
fn a_handler_that_panicked_once_answers_the_next_time() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(get(&server, "/before_future").status, 500);
    assert_eq!(text(&server, "/before_future?calm"), "calm\n");
    lives(server, worker);
}

#[test]
fn with_a_payload_that_is_no_text() {
    panics("/number", "no message");
}

#[test]
fn with_a_payload_that_panics_as_well() {
    // The first panic's payload has no text, the second's is lost with it: each has its line.
    panics("/in_payload", "no message");
}

#[test]
fn in_a_destructor_on_the_way_out() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(get(&server, "/in_drop?after=answer").status, 500);
    let line = logged(&server, "in a destructor");
    assert!(line.contains("[error]"), "{line}");
    lives(server, worker);
}

#[test]
fn in_a_destructor_when_the_client_has_gone() {
    let server = server();
    let worker = process::worker(&server);
    let mut client = Client::connect(server.addr());
    process::frozen(worker, || client.send(request("GET", "/in_drop")));
    client.close();
    accessed(&server, "/in_drop HTTP/1.1\" 499 ", 1);
    let line = logged(&server, "in a destructor");
    assert!(line.contains("[error]"), "{line}");
    lives(server, worker);
}

#[test]
fn in_a_part_of_a_page_the_rest_of_the_page_comes() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/page?calm"), "<part>");
    let answer = get(&server, "/page");
    assert_eq!(answer.status, 200);
    let text = answer.text();
    assert!(
        text.starts_with('<') && text.ends_with('>') && !text.contains("part"),
        "{text}"
    );
    let line = logged(&server, "in a part of a page");
    assert!(line.contains("subrequest: \"/part\""), "{line}");
    lives(server, worker);
}

#[test]
fn in_an_auth_request_nobody_is_let_in() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(get(&server, "/auth").status, 500);
    lives(server, worker);
}

#[test]
fn the_location_has_a_page_of_its_own() {
    let server = server();
    let worker = process::worker(&server);
    let answer = get(&server, "/own_page");
    assert_eq!((answer.status, answer.text()), (500, "sorry"));
    let answer = get(&server, "/own_page_at_once");
    assert_eq!((answer.status, answer.text()), (503, "sorry"));
    logged(&server, "after the wait");
    lives(server, worker);
}

#[test]
fn the_page_for_the_panic_panics() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(get(&server, "/page_panics").status, 500);
    logged(&server, "before the wait");
    logged(&server, "after the wait");
    lives(server, worker);
}

#[test]
fn those_who_wait_meanwhile_get_their_answers() {
    let server = server();
    let worker = process::worker(&server);
    let mut waiting: Vec<_> = (0..20).map(|_| Client::connect(server.addr())).collect();
    process::frozen(worker, || {
        for (n, client) in waiting.iter_mut().enumerate() {
            client.send(request("GET", ["/ok", "/after_wait", "/at_once"][n % 3]));
        }
    });
    for (n, client) in waiting.iter_mut().enumerate() {
        assert_eq!(client.read().status, if n % 3 == 0 { 200 } else { 500 });
    }
    drop(waiting);
    lives(server, worker);
}
