//! `examples/fan-out`: three servers asked at once.

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use support::http::{Client, get, request, text};
use support::{accessed, eventually, module, nginx_with, process, quits_in_peace};
use test_nginx::Server;

/// A server that fans out to these, of which one is itself where it begins with a slash.
fn server(limit: &str, upstreams: [&str; 3]) -> Server {
    let [first, second, third] = upstreams.map(|upstream| match upstream.strip_prefix('/') {
        Some(path) => format!("http://127.0.0.1:$TEST_NGINX_SERVER_PORT/{path}"),
        None => upstream.to_owned(),
    });
    let server = Server::builder().nginx(nginx_with([module("fan-out")]));
    let server = support::start(server.master(true).log_level("info").config(format!(
        // The client may open a connection and then find that it has another: nginx waits for a
        // request on it, at a quit as well.
        "client_header_timeout 1s;
         location = /fan-out {{
             content_by_rust fan_out first={first} second={second} third={third} limit={limit};
         }}
         location = /a {{ content_by_rust reply body=a; }}
         location = /b {{ content_by_rust reply body=b delay=30ms status=404; }}
         location = /c {{ content_by_rust reply body='c\"\\n' delay=10ms; }}
         location = /long {{ content_by_rust reply body=long delay=5m; }}
         location = /ok {{ content_by_rust ok; }}"
    )));
    assert_eq!(text(&server, "/ok"), "OK\n");
    server
}

fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().unwrap().port()
}

/// Servers that answer when the test says so.
fn by_hand() -> ([TcpListener; 3], [String; 3]) {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let urls = [0, 1, 2].map(|n| format!("http://127.0.0.1:{}/{n}?q=1", port(&listeners[n])));
    (listeners, urls)
}

/// Reads the head of a request.
fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

#[test]
fn what_three_said_is_answered_as_json() {
    let server = server("40s", ["/a", "/b", "/c"]);
    for _ in 0..3 {
        let answer = get(&server, "/fan-out");
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("Content-Type"), Some("application/json"));
        assert_eq!(
            answer.text(),
            r#"{"first":{"body":"a","status":200},"second":{"body":"b","status":404},"third":{"body":"c\"\n","status":200}}"#
        );
    }
    quits_in_peace(server);
}

#[test]
fn all_three_are_asked_before_one_has_answered() {
    let (listeners, urls) = by_hand();
    let server = server("40s", [&urls[0], &urls[1], &urls[2]]);
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/fan-out"));
    let mut streams = listeners.map(|listener| listener.accept().unwrap().0);
    for (n, stream) in streams.iter_mut().enumerate() {
        let head = head(stream);
        assert!(
            head.starts_with(&format!("GET /{n}?q=1 HTTP/1.1\r\n")),
            "{head}"
        );
    }
    // While it waits, the worker answers others.
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert!(client.is_silent());
    for (n, stream) in streams.iter_mut().enumerate().rev() {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{n}");
        stream.write_all(answer.as_bytes()).unwrap();
    }
    let answer = client.read();
    assert_eq!(
        answer.text(),
        r#"{"first":{"body":"0","status":200},"second":{"body":"1","status":200},"third":{"body":"2","status":200}}"#
    );
    drop(client);
    quits_in_peace(server);
}

#[test]
fn one_that_is_late_does_not_hold_the_others_up() {
    let server = server("200ms", ["/a", "/long", "/c"]);
    let begun = Instant::now();
    let answer = text(&server, "/fan-out");
    assert!(begun.elapsed() >= Duration::from_millis(199));
    assert_eq!(
        answer,
        r#"{"first":{"body":"a","status":200},"second":{"error":"no answer within 200ms"},"third":{"body":"c\"\n","status":200}}"#
    );
    // Its connection has been given up with it.
    accessed(&server, "GET /long HTTP/1.1\" 499 ", 1);
    quits_in_peace(server);
}

#[test]
fn one_that_is_not_there_or_talks_nonsense_is_an_error_of_its_own() {
    let nobody = port(&TcpListener::bind("127.0.0.1:0").unwrap());
    let nonsense = TcpListener::bind("127.0.0.1:0").unwrap();
    let urls = [nobody, port(&nonsense)].map(|port| format!("http://127.0.0.1:{port}/"));
    let server = server("40s", [&urls[0], &urls[1], "/a"]);
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/fan-out"));
    let (mut stream, _) = nonsense.accept().unwrap();
    head(&mut stream);
    stream.write_all(b"what?\r\n\r\n").unwrap();
    let answer = client.read();
    let text = answer.text();
    assert_eq!(answer.status, 200);
    assert_eq!(text.matches(r#"{"error":""#).count(), 2, "{text}");
    assert!(
        text.ends_with(r#""third":{"body":"a","status":200}}"#),
        "{text}"
    );
    drop(client);
    quits_in_peace(server);
}

#[test]
fn an_endless_answer_is_cut_off() {
    let endless = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/", port(&endless));
    let server = server("40s", [&url, "/a", "/a"]);
    let writer = std::thread::spawn(move || {
        let (mut stream, _) = endless.accept().unwrap();
        head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        // Until it is given up.
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    });
    let answer = text(&server, "/fan-out");
    assert!(
        answer.starts_with(r#"{"first":{"error":"length limit exceeded"}"#),
        "{answer}"
    );
    writer.join().unwrap();
    quits_in_peace(server);
}

#[test]
fn all_three_are_given_up_when_the_client_goes() {
    let (listeners, urls) = by_hand();
    let server = server("5m", [&urls[0], &urls[1], &urls[2]]);
    let worker = process::worker(&server);
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/fan-out"));
    let mut streams = listeners.map(|listener| listener.accept().unwrap().0);
    for stream in &mut streams {
        head(stream);
    }
    let busy = process::descriptors(worker).len();
    client.close();
    accessed(&server, "GET /fan-out HTTP/1.1\" 499 ", 1);
    for stream in &mut streams {
        stream.set_read_timeout(Some(support::PATIENCE)).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed");
    }
    eventually("four descriptors fewer", || {
        process::descriptors(worker).len() == busy - 4
    });
    quits_in_peace(server);
}

#[test]
fn an_upstream_must_be_given() {
    let server = Server::builder().nginx(nginx_with([module("fan-out")]));
    let config = "location / { content_by_rust fan_out first=http://a/ third=http://b/; }";
    let error = server.config(config).start().unwrap_err().to_string();
    assert!(error.contains("\"second\""), "{error}");
}
