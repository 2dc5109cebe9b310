//! `$rust_handler`, `$rust_wait` and `$rust_pending` of requests that no `.t` file can make.

mod support;

use support::http::{Client, get, request, text};
use support::http2::Http2;
use support::logged;
use test_nginx::{Server, ServerBuilder};

const FORMAT: &str = "log_format told '$status $uri <$rust_handler> <$rust_wait> <$rust_pending>';";

const CONFIG: &str = "
    access_log logs/access.log told;
    location = /wait { content_by_rust wait; }
    location = /hello { content_by_rust hello; }
    location = /panic { content_by_rust panic_at_once; }
    location = /panic_later { content_by_rust panic_after_wait; }
    location = /body { client_body_timeout 200ms; content_by_rust body_error; }
    location = /go { content_by_rust go; }
    location = /plain { return 204; }
    location = /variable { content_by_rust variable; }";

fn server(change: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Server {
    support::start(change(support::server_with(CONFIG).http_config(FORMAT)))
}

/// The first line of the access log that begins so, once it is there: handler, wait, pending.
#[track_caller]
fn told(server: &Server, begin: &str) -> (String, f64, String) {
    support::accessed(server, begin, 1);
    let log = server.access_log();
    let line = log.lines().find(|line| line.starts_with(begin));
    let values: Vec<_> = line.expect("a line").split(['<', '>']).collect();
    let wait = values[3];
    let (_, decimals) = wait.split_once('.').expect("a decimal number");
    assert_eq!(decimals.len(), 3, "{wait}");
    (
        values[1].to_owned(),
        wait.parse().unwrap(),
        values[5].to_owned(),
    )
}

#[test]
fn a_client_that_goes() {
    let server = server(|builder| builder);
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/wait"));
    logged(&server, "waits now");
    assert_eq!(get(&server, "/wait?ms=200").text(), "waited\n");
    client.close();
    let (handler, wait, pending) = told(&server, "499 /wait ");
    assert_eq!((&*handler, &*pending), ("wait", "0"));
    assert!((0.19..60.0).contains(&wait), "{wait}");
    let (handler, wait, pending) = told(&server, "200 /wait ");
    assert_eq!((&*handler, &*pending), ("wait", "1"));
    assert!((0.2..60.0).contains(&wait), "{wait}");
    support::quits_in_peace(server);
}

#[test]
fn streams_of_http2_each_have_their_own() {
    let server = server(|builder| builder.http2(true));
    let mut client = Http2::connect(server.addr());
    let stream = client.get("/wait");
    logged(&server, "waits now");
    client.get("/wait?ms=200");
    client.get("/hello");
    client.get("/nowhere");
    client.answers(3);
    client.cancel(stream);
    let (handler, wait, pending) = told(&server, "499 /wait ");
    assert_eq!((&*handler, &*pending), ("wait", "0"));
    assert!((0.19..60.0).contains(&wait), "{wait}");
    let (_, wait, _) = told(&server, "200 /wait ");
    assert!((0.2..60.0).contains(&wait), "{wait}");
    assert_eq!(told(&server, "200 /hello ").0, "hello");
    support::accessed(&server, "404 /nowhere <-> <-> <2>", 1);
    client.close();
    support::quits_in_peace(server);
}

#[test]
fn a_body_that_stops_coming() {
    let server = server(|builder| builder);
    let mut client = Client::connect(server.addr());
    client.send("POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n123");
    let (handler, wait, _) = told(&server, "408 /body ");
    assert_eq!(handler, "body_error");
    assert!((0.19..60.0).contains(&wait), "{wait}");
    support::quits_in_peace(server);
}

#[test]
fn a_panic() {
    let server = server(|builder| builder);
    assert_eq!(get(&server, "/panic").status, 500);
    let line = "500 /panic <panic_at_once> <0.000> <0>";
    support::accessed(&server, line, 1);
    assert_eq!(get(&server, "/panic_later").status, 500);
    let (handler, wait, _) = told(&server, "500 /panic_later ");
    assert_eq!(handler, "panic_after_wait");
    assert!(wait < 60.0, "{wait}");
}

#[test]
fn another_location_that_a_handler_leads_to() {
    let server = server(|builder| builder);
    assert_eq!(get(&server, "/go?ms=200&to=/plain").status, 204);
    let (handler, wait, _) = told(&server, "204 /plain ");
    assert_eq!(handler, "go");
    assert!((0.2..60.0).contains(&wait), "{wait}");
    assert_eq!(get(&server, "/go?ms=200&to=/wait%3Fms=200").status, 200);
    let (handler, wait, _) = told(&server, "200 /wait ");
    assert_eq!(handler, "wait");
    assert!((0.4..60.0).contains(&wait), "both of them: {wait}");
    support::quits_in_peace(server);
}

#[test]
fn a_handler_reads_its_own() {
    let server = server(|builder| builder);
    for (name, value) in [("rust_handler", "variable"), ("rust_wait", "0.000")] {
        let told = text(&server, &format!("/variable?name={name}"));
        assert!(told.starts_with(&format!("Some(\"{value}\")")), "{told}");
    }
}

#[test]
fn a_configuration_without_handlers() {
    let config = "access_log logs/access.log told; location = /t { return 204; }";
    let server = server(|builder| builder.config(config));
    assert_eq!(get(&server, "/t").status, 204);
    support::accessed(&server, "204 /t <-> <-> <0>", 1);
    let mut client = Client::connect(server.addr());
    client.send("nonsense\r\n\r\n");
    support::accessed(&server, "400 - <-> <-> <0>", 1);
    support::quits_in_peace(server);
}
