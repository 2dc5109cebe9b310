//! What a handler can answer, and what it cannot.

mod support;

use support::http::{Answer, Client, get, request, text};
use support::{logged, quits_in_peace};
use test_nginx::Server;

fn server() -> Server {
    support::start(
        support::server()
            .master(true)
            .log_level("info")
            .http_config("types { text/x-typed typed; }")
            .config(
                "location /body { content_by_rust body; }
                 location = /header { content_by_rust header; }
                 location = /status { content_by_rust with_status; }
                 location = /big { content_by_rust big; }
                 location = /slow { limit_rate 1m; sendfile_max_chunk 0; content_by_rust big; }
                 location = /conditional { content_by_rust conditional; }
                 location = /encoded { gzip on; gzip_types *; gzip_min_length 1; content_by_rust encoded; }
                 location = /zipped { gzip on; gzip_types *; gzip_min_length 1; content_by_rust big; }
                 location = /fail { content_by_rust fail; }
                 location = /fail_with { content_by_rust fail_with; }
                 location /pages {
                     error_page 404 /pages/404.html;
                     error_page 502 =200 /pages/502.html;
                     location = /pages/404.html { internal; return 200 'own 404'; }
                     location = /pages/502.html { internal; return 200 'own 502'; }
                     location = /pages/status { content_by_rust with_status; }
                     location = /pages/fail { content_by_rust fail; }
                 }
                 location = /stash { content_by_rust stash value=\"$arg_text and more\"; }
                 location = /unstash { content_by_rust unstash; }
                 location = /page { ssi on; ssi_types *; content_by_rust reply
                     body='<<!--# include virtual=\"/status?$args\" -->>'; }
                 location = /ok { content_by_rust ok; }",
            ),
    )
}

fn head(server: &Server, path: &str) -> Answer {
    let mut client = Client::connect(server.addr());
    client.send(request("HEAD", path) + &request("GET", "/body?of=str"));
    let answer = client.read_head();
    // Nothing but the next answer follows.
    assert_eq!(client.read().text(), "a static text\n");
    answer
}

/// The handler's answer is refused: the client gets 500, the log the reason.
#[track_caller]
fn is_refused(server: &Server, path: &str, reason: &str) {
    let mut client = Client::connect(server.addr());
    let answer = client.get(path);
    assert_eq!(answer.status, 500, "{answer:?}");
    assert!(answer.text().contains("500 Internal Server Error"));
    // nginx closes the connection after a 500: one answer has come, and nothing else.
    assert!(client.is_closed());
    let line = logged(server, reason);
    assert!(
        line.contains("[error]") && line.contains("request: \""),
        "{line}"
    );
}

#[test]
fn bodies_of_every_kind() {
    let server = server();
    for (of, body, content_type) in [
        ("str", &b"a static text\n"[..], "text/plain"),
        ("bytes", b"\xff\x00static bytes", "text/plain"),
        ("string", b"a string\n", "text/plain"),
        ("vec", b"\xfe\x00v", "text/plain"),
        ("empty", b"", "text/plain"),
        ("none", b"", "text/plain"),
        ("text", b"text", "text/plain"),
        ("html", b"<p>", "text/html"),
        ("json", b"{}", "application/json"),
        ("type", b"typed", "text/x-own; charset=utf-8"),
    ] {
        let path = format!("/body?of={of}");
        for answer in [get(&server, &path), head(&server, &path)] {
            assert_eq!(answer.status, 200);
            assert_eq!(
                answer.header("Content-Length"),
                Some(&*body.len().to_string()),
                "{of}"
            );
            assert_eq!(answer.header("Content-Type"), Some(content_type), "{of}");
        }
        assert_eq!(get(&server, &path).body, body, "{of}");
    }
    let typed = get(&server, "/body/a.typed?of=str");
    assert_eq!(typed.header("Content-Type"), Some("text/x-typed"));
    is_refused(&server, "/body?of=bad+type", "Content-Type");
    quits_in_peace(server);
}

#[test]
fn headers_are_sent_as_they_are_and_may_come_again() {
    let server = server();
    let answer = get(
        &server,
        "/header?X-One=1&Set-Cookie=a&X-Empty=&Set-Cookie=b&X-Latin=%C3%A4",
    );
    assert_eq!(answer.text(), "with headers\n");
    assert_eq!(answer.all("Set-Cookie"), ["a", "b"]);
    assert_eq!(answer.header("X-One"), Some("1"));
    assert_eq!(answer.header("X-Latin"), Some("ä"));
    assert_eq!(answer.header("X-Empty"), Some(""));
    quits_in_peace(server);
}

#[test]
fn a_header_that_nginx_writes_itself_takes_its_place() {
    let server = server();
    let answer = get(&server, "/header?sErVeR=own&Date=today&Server=last");
    assert_eq!(answer.header("Server"), Some("last"));
    assert_eq!(answer.header("Date"), Some("today"));
    quits_in_peace(server);
}

#[test]
fn a_header_cannot_split_an_answer() {
    let server = server();
    for path in [
        "/header?X-One=a%0d%0aX-Evil:+1",
        "/header?X-One=a%0d%0a%0d%0aHTTP/1.1+200+OK",
        "/header?X-One=a%0aX-Evil:+1",
        "/header?X-One=a%0d",
        "/header?X-One=a%00b",
        "/header?X-One=a%7fb",
    ] {
        is_refused(&server, path, "X-One");
    }
    for path in [
        "/header?X-Evil:+1%0d%0aX=a",
        "/header?=a",
        "/header?a+b=c",
        "/header?X%3a=c",
        "/header?gr%C3%B6sse=c",
    ] {
        is_refused(&server, path, "invalid header name");
    }
    assert!(
        !server
            .error_log()
            .lines()
            .any(|line| line.starts_with("X-Evil"))
    );
    quits_in_peace(server);
}

#[test]
fn what_is_nginxs_business_is_refused() {
    let server = server();
    for name in [
        "Content-Length",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Keep-Alive",
        "Content-Type",
    ] {
        is_refused(
            &server,
            &format!("/header?{name}=1"),
            &format!("header \"{name}\""),
        );
    }
    quits_in_peace(server);
}

#[test]
fn a_good_header_before_a_bad_one_does_not_reach_the_client() {
    let server = server();
    let answer = get(&server, "/header?X-Secret=1&Connection=close");
    assert_eq!(answer.status, 500);
    assert_eq!(answer.all("X-Secret"), [""; 0]);
    quits_in_peace(server);
}

#[test]
fn redirects_have_nginxs_page_and_an_absolute_location() {
    let server = server();
    for status in [301, 302, 303, 307, 308] {
        let answer = get(&server, &format!("/status?status={status}&location=/there"));
        assert_eq!(answer.status, status);
        let there = format!("http://localhost:{}/there", server.port());
        assert_eq!(answer.header("Location"), Some(&*there));
        assert!(answer.text().contains(&status.to_string()), "nginx's page");
        let answer = get(
            &server,
            &format!("/status?status={status}&location=https://a.b/c"),
        );
        assert_eq!(answer.header("Location"), Some("https://a.b/c"));
    }
    let answer = get(&server, "/status?status=201&location=/made&body=made");
    assert_eq!((answer.status, answer.text()), (201, "made"));
    assert!(answer.header("Location").unwrap().ends_with("/made"));
    quits_in_peace(server);
}

#[test]
fn statuses_without_a_body() {
    let server = server();
    for wait in ["", "&wait"] {
        let mut client = Client::connect(server.addr());
        for status in [200, 201, 204, 304] {
            let answer = client.get(&format!("/status?status={status}{wait}"));
            assert_eq!(answer.status, status);
            match status {
                200 | 201 => assert_eq!(answer.header("Content-Length"), Some("0")),
                204 => assert_eq!(answer.header("Content-Length"), None),
                // nginx's own "return 304" has a length of 0.
                _ => {}
            }
            assert_eq!(answer.body, b"");
        }
        // A body where there must be none does not get into the next answer's way.
        for status in [204, 304] {
            assert_eq!(
                client
                    .get(&format!("/status?status={status}&body=no{wait}"))
                    .status,
                status
            );
        }
        assert_eq!(client.get("/ok").text(), "OK\n");
    }
    quits_in_peace(server);
}

#[test]
fn errors_without_a_body_get_the_locations_page_or_nginxs_own() {
    let server = server();
    for path in [
        "/pages/status?status=404",
        "/pages/fail?status=404",
        "/pages/status?status=404&wait",
    ] {
        let answer = get(&server, path);
        assert_eq!((answer.status, answer.text()), (404, "own 404"), "{path}");
    }
    let answer = get(&server, "/pages/status?status=502");
    assert_eq!((answer.status, answer.text()), (200, "own 502"));
    let answer = get(&server, "/pages/status?status=404&body=mine");
    assert_eq!((answer.status, answer.text()), (404, "mine"));
    for status in [400, 403, 404, 405, 418, 429, 500, 502, 503, 504] {
        let answer = get(&server, &format!("/status?status={status}"));
        assert_eq!(answer.status, status);
        let answer = get(&server, &format!("/status?status={status}&body=mine"));
        assert_eq!((answer.status, answer.text()), (status, "mine"));
    }
    quits_in_peace(server);
}

#[test]
fn a_status_that_is_none_is_refused() {
    let server = server();
    for status in [0, 99, 100, 101, 199, 1000, 65535] {
        let reason = format!("invalid status {status}");
        is_refused(&server, &format!("/status?status={status}&body=x"), &reason);
    }
    assert_eq!(get(&server, "/status?status=999&body=x").status, 999);
    quits_in_peace(server);
}

#[test]
fn an_error_is_its_status_and_a_line_that_the_client_does_not_see() {
    let server = server();
    for (status, level) in [
        (400, "[info]"),
        (404, "[info]"),
        (500, "[error]"),
        (503, "[error]"),
    ] {
        let path = format!("/fail?status={status}");
        let answer = get(&server, &path);
        assert_eq!(answer.status, status);
        assert!(!answer.text().contains("because of a test"));
        let log = server.error_log();
        let line = log
            .lines()
            .find(|line| line.contains("because of a test") && line.contains(&path));
        assert!(line.is_some_and(|line| line.contains(level)), "{log}");
    }
    is_refused(
        &server,
        "/fail?status=200",
        "status 200, which is no error's",
    );
    is_refused(&server, "/fail_with", "invalid digit found in string");
    quits_in_peace(server);
}

#[test]
fn what_the_client_has_is_not_sent_again() {
    let server = server();
    let ask = |path: &str, header: &str| {
        let mut client = Client::connect(server.addr());
        client.send(format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n"
        ));
        let answer = client.read();
        match answer.status {
            // For nginx's own files as well.
            412 => assert!(client.is_closed()),
            _ => assert_eq!(client.get("/ok").text(), "OK\n"),
        }
        answer
    };
    let dated = "/conditional?date";
    const DATE: &str = "Tue, 15 Nov 1994 12:45:26 GMT";

    let whole = get(&server, dated);
    assert_eq!(
        (whole.header("ETag"), whole.header("Last-Modified")),
        (Some("\"v1\""), Some(DATE))
    );
    assert_eq!(whole.text(), "the page\n");
    for path in ["/conditional", dated] {
        let answer = ask(path, "If-None-Match: \"v1\"");
        assert_eq!(
            (answer.status, answer.header("ETag")),
            (304, Some("\"v1\"")),
            "{path}"
        );
        assert_eq!(answer.header("Content-Length"), None);
        assert_eq!(ask(path, "If-None-Match: \"v2\"").text(), "the page\n");
        assert_eq!(ask(path, "If-Match: \"v2\"").status, 412);
        assert_eq!(ask(path, "If-Match: \"v1\"").text(), "the page\n");
    }
    assert_eq!(
        ask(dated, &format!("If-Modified-Since: {DATE}")).status,
        304
    );
    assert_eq!(
        ask(dated, "If-Modified-Since: Mon, 14 Nov 1994 12:45:26 GMT").status,
        200
    );
    assert_eq!(
        ask(dated, "If-Unmodified-Since: Mon, 14 Nov 1994 12:45:26 GMT").status,
        412
    );
    is_refused(&server, "/header?Last-Modified=yesterday", "Last-Modified");
    quits_in_peace(server);
}

#[test]
fn a_body_with_an_encoding_of_its_own_is_not_zipped() {
    let server = server();
    let ask = |path: &str| {
        let mut client = Client::connect(server.addr());
        client.send(format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
        ));
        client.read()
    };
    let answer = ask("/encoded");
    assert_eq!(answer.header("Content-Encoding"), Some("x-own"));
    assert!(answer.text().starts_with("not really gzip"));
    assert_eq!(
        ask("/zipped?size=10000").header("Content-Encoding"),
        Some("gzip")
    );
    quits_in_peace(server);
}

fn counting(size: usize) -> Vec<u8> {
    (0..size).map(|n| (n % 251) as u8).collect()
}

#[test]
fn a_megabyte_reaches_slow_readers_whole() {
    let server = server();
    let expected = counting(1 << 20);
    let mut clients: Vec<_> = (0..5).map(|_| Client::connect(server.addr())).collect();
    for client in &mut clients {
        rustix::net::sockopt::set_socket_recv_buffer_size(&client.stream, 65536).unwrap();
        client.send(request("GET", "/big?size=1048576"));
    }
    clients.iter_mut().for_each(Client::wait_for_byte);
    // They read one after the other, so that the last one's answer has to wait in nginx.
    for client in &mut clients {
        assert!(client.read().body == expected, "the body is another");
    }
    drop(clients);
    quits_in_peace(server);
}

#[test]
fn a_megabyte_at_a_limited_rate_is_whole() {
    let server = server();
    assert!(get(&server, "/slow?size=1500000").body == counting(1_500_000));
    assert_eq!(text(&server, "/ok"), "OK\n");
    quits_in_peace(server);
}

#[test]
fn a_reader_that_goes_in_the_middle_leaves_nothing_behind() {
    let server = server();
    assert_eq!(text(&server, "/ok"), "OK\n");
    for reset in [false, true] {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/big?size=10000000"));
        client.wait_for_byte();
        if reset {
            client.reset();
        } else {
            client.close();
        }
    }
    support::accessed(&server, "/big?size=10000000 HTTP/1.1\" 200 ", 2);
    quits_in_peace(server);
}

#[test]
fn what_belongs_to_another_request_is_refused() {
    let server = server();
    for what in ["body", "header", "name", "type"] {
        let mut client = Client::connect(server.addr());
        assert_eq!(client.get("/stash?text=secret").text(), "stashed\n");
        drop(client);
        is_refused(
            &server,
            &format!("/unstash?what={what}"),
            "a value of another request",
        );
    }
    quits_in_peace(server);
}

#[test]
fn a_value_of_another_location_is_refused() {
    let server = server();
    assert_eq!(text(&server, "/stash?text=secret"), "stashed\n");
    is_refused(
        &server,
        "/unstash?what=value",
        "a value of another location",
    );
    quits_in_peace(server);
}

#[test]
fn parts_of_a_page() {
    let server = server();
    assert_eq!(text(&server, "/page?status=200&body=part"), "<part>");
    assert_eq!(text(&server, "/page?status=200&body=part&wait"), "<part>");
    assert_eq!(text(&server, "/page?status=200&wait"), "<>");
    let failed = text(&server, "/page?status=503&wait");
    assert!(failed.starts_with('<') && failed.ends_with('>'), "{failed}");
    quits_in_peace(server);
}
