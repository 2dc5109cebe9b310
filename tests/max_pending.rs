//! More requests than `rust_max_pending` lets wait.

mod support;

use support::http::{Client, get, request, text};
use support::http2::Http2;
use support::{eventually, logged, logged_times};
use test_nginx::Server;

const CONFIG: &str = "
    rust_max_pending 3;
    location = /wait { content_by_rust wait; }
    location = /limited { content_by_rust hello; }
    location = /own { error_page 503 /busy; content_by_rust hello; }
    location = /named { error_page 503 @busy; content_by_rust hello; }
    location = /other { error_page 503 = /handled; content_by_rust hello; }
    location = /both { error_page 503 /limited; content_by_rust hello; }
    location = /busy { return 200 \"busy\\n\"; }
    location @busy { return 503 \"named\\n\"; }
    location = /handled { rust_max_pending 0; content_by_rust reply body=handled status=429; }
    location = /upload { content_by_rust reply; }
    location = /free { rust_max_pending 0; content_by_rust reply body=$rust_pending; }";

/// So many clients whose requests wait.
fn waiting(server: &Server, count: usize) -> Vec<Client> {
    let mut clients: Vec<_> = (0..count).map(|_| Client::connect(server.addr())).collect();
    for client in &mut clients {
        client.send(request("GET", "/wait"));
    }
    eventually("all to wait", || text(server, "/free") == count.to_string());
    clients
}

fn full_server() -> (Server, Vec<Client>) {
    let server = support::start(support::server_with(CONFIG));
    let clients = waiting(&server, 3);
    (server, clients)
}

#[test]
fn the_next_is_refused_until_one_has_gone() {
    let (server, mut clients) = full_server();
    let refused = get(&server, "/limited");
    assert_eq!(
        (refused.status, refused.header("Retry-After")),
        (503, Some("1"))
    );
    assert!(
        refused
            .text()
            .contains("503 Service Temporarily Unavailable")
    );
    logged(
        &server,
        "refused by \"rust_max_pending\", requests that wait: 3, client: ",
    );
    clients.pop();
    eventually("one to have gone", || text(&server, "/free") == "2");
    let begun = get(&server, "/limited");
    assert_eq!((begun.status, begun.header("Retry-After")), (200, None));
    drop(clients);
    support::quits_in_peace(server);
}

#[test]
fn error_page_has_its_say_and_the_header_stays() {
    let (server, clients) = full_server();
    for (path, status, body) in [
        ("/own", 503, "busy\n"),
        ("/named", 503, "named\n"),
        ("/other", 429, "handled"),
    ] {
        let answer = get(&server, path);
        assert_eq!((answer.status, answer.text()), (status, body), "{path}");
        assert_eq!(answer.header("Retry-After"), Some("1"), "{path}");
    }
    // The page's location is full, too.
    let answer = get(&server, "/both");
    assert_eq!(
        (answer.status, answer.header("Retry-After")),
        (503, Some("1"))
    );
    drop(clients);
    support::quits_in_peace(server);
}

#[test]
fn a_refused_request_leaves_its_connection_for_the_next() {
    let (server, clients) = full_server();
    let mut client = Client::connect(server.addr());
    client.send(request("HEAD", "/limited"));
    let head = client.read_head();
    assert_eq!((head.status, head.header("Retry-After")), (503, Some("1")));
    let body = "x".repeat(100_000);
    client.send(format!(
        "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    assert_eq!(client.read().status, 503);
    client.send([request("GET", "/limited"), request("GET", "/free")].concat());
    assert_eq!(client.read().status, 503);
    assert_eq!(client.read().text(), "3");
    drop(clients);
    support::quits_in_peace(server);
}

#[test]
fn http2_streams_wait_and_are_refused_each_for_itself() {
    let server = support::start(support::server_with(CONFIG).http2(true));
    let mut client = Http2::connect(server.addr());
    let waiting = [(); 3].map(|()| client.get("/wait"));
    logged_times(&server, "waits now", 3);
    let refused = client.get("/own");
    let answers = client.answers(1);
    assert_eq!((answers[0].0, answers[0].1.status), (refused, 503));
    assert_eq!(answers[0].1.body, b"busy\n");
    client.cancel(waiting[1]);
    logged(&server, "waits no more");
    let begun = client.get("/own");
    let answers = client.answers(1);
    assert_eq!((answers[0].0, answers[0].1.status), (begun, 200));
    client.close();
    support::quits_in_peace(server);
}

#[test]
fn the_log_has_no_two_lines_in_a_second_and_tells_of_each_that_was_refused() {
    let (server, clients) = full_server();
    let mut client = Client::connect(server.addr());
    for _ in 0..100 {
        assert_eq!(client.get("/limited").status, 503);
    }
    const FIRST: &str = "refused by \"rust_max_pending\", requests that wait: 3, client: ";
    const SINCE: &str = "refused by \"rust_max_pending\" since the last line: ";
    let told = || {
        let log = server.error_log();
        let counts = log.lines().filter_map(|line| line.split_once(SINCE));
        let counts = counts.map(|(_, count)| count.parse::<usize>().expect("a number"));
        counts.sum::<usize>() + log.matches(FIRST).count()
    };
    eventually("all to be told", || told() == 100);
    let log = server.error_log();
    let warnings = log.lines().filter(|line| line.contains("[warn]"));
    let times: Vec<_> = warnings
        .map(|line| &line[.."2026/12/01 00:00:00".len()])
        .collect();
    let mut distinct = times.clone();
    distinct.dedup();
    assert_eq!(times, distinct);
    drop(clients);
    support::quits_in_peace(server);
}
