//! A handler that has another location answer, or sends the client elsewhere.

mod support;

use support::http::{Answer, Client, get, request, text};
use support::http2::{Frame, Http2};
use support::{accessed, alarms, eventually, logged, logged_times, quits_in_peace};
use test_nginx::{Server, ServerBuilder};

const CONFIG: &str = "
    recursive_error_pages on;
    location = /go { content_by_rust go; }
    location = /go_chunk { client_body_buffer_size 1k; content_by_rust go; }
    location = /circle { content_by_rust go; }
    location = /circle_page { error_page 500 = /page; content_by_rust go; }
    location = /page { internal; content_by_rust reply body='page of $uri' status=500; }
    location = /arrived { internal; content_by_rust arrived; }
    location /spaced { content_by_rust arrived; }
    location @named { content_by_rust arrived; }
    location @proxied { rewrite ^ /behind break; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT; }
    location /names/ { content_by_rust go_under; }
    location /under/ { internal; content_by_rust under; }
    location = /alone { content_by_rust arrived_alone; }
    location = /fixed { return 418 'fixed'; }
    location = /proxied { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/behind?$args; }
    location = /behind { content_by_rust arrived; }
    location = /paged { error_page 403 = /proxied; content_by_rust go_wrong; }
    location = /refused { error_page 403 = /proxied; content_by_rust with_status; }
    location = /status { content_by_rust with_status; }
    location = /paged_too { error_page 403 = /proxied; content_by_rust go_wrong; }
    location = /part { content_by_rust reply body=part delay=$arg_delay; }
    location = /by_hand { content_by_rust go_by_hand; }
    location = /too_late { content_by_rust go_too_late; }
    location = /outside { content_by_rust go_outside; }
    location = /relative { absolute_redirect off; content_by_rust go_outside; }
    location = /ask { content_by_rust ask; }
    location = /ssi {
        ssi on; ssi_types *;
        content_by_rust reply body='[<!--# include virtual=\"/go?$args\" -->]';
    }
    location = /wait { content_by_rust wait; }
    location = /alive { content_by_rust alive; }
    location = /ok { content_by_rust ok; }";

fn builder() -> ServerBuilder {
    support::server_with(CONFIG)
}

fn server() -> Server {
    support::start(builder())
}

#[track_caller]
fn nothing_is_left(server: Server) {
    eventually("the handlers to be dropped", || {
        text(&server, "/alive") == "0\n"
    });
    quits_in_peace(server);
}

/// A POST whose body comes with the head, or after it.
#[track_caller]
fn post(server: &Server, path: &str, body: &str, at_once: bool) -> Answer {
    let mut client = Client::connect(server.addr());
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
    match at_once {
        true => client.send(head + body),
        false => {
            client.send(head);
            std::thread::sleep(std::time::Duration::from_millis(20));
            client.send(body);
        }
    }
    client.read()
}

#[test]
fn to_a_uri_with_its_arguments_at_once_and_later() {
    let server = server();
    for ms in ["", "&ms=2"] {
        for (to, seen) in [
            ("/arrived", "GET /arrived? length None body \"\" by /go\n"),
            (
                "/arrived%3Fa=b%2526c%26d",
                "GET /arrived?a=b%26c&d length None body \"\" by /go\n",
            ),
            (
                "/spaced%2520out%2525",
                "GET /spaced out%? length None body \"\" by /go\n",
            ),
            (
                "/arrived%3Fwait=2",
                "GET /arrived?wait=2 length None body \"\" by /go\n",
            ),
        ] {
            let answer = get(&server, &format!("/go?to={to}{ms}"));
            assert_eq!((answer.status, answer.text()), (200, seen), "{to}");
            assert_eq!(answer.header("X-Gone"), Some("on"), "{to}");
        }
        let answer = get(&server, &format!("/go?to=/fixed{ms}"));
        assert_eq!((answer.status, answer.text()), (418, "fixed"));
        assert_eq!(get(&server, &format!("/go?to=/nowhere{ms}")).status, 404);
    }
    nothing_is_left(server);
}

#[test]
fn to_a_name_with_the_path_and_arguments_that_there_are() {
    let server = server();
    for ms in ["", "&ms=2"] {
        let answer = text(&server, &format!("/go?to=@named{ms}"));
        let args = format!("to=@named{ms}");
        assert_eq!(
            answer,
            format!("GET /go?{args} length None body \"\" by /go\n")
        );
        let answer = text(&server, &format!("/go?to=@proxied{ms}"));
        assert!(answer.starts_with("GET /behind"), "{answer}");
    }
    nothing_is_left(server);
}

#[test]
fn the_future_is_dropped_before_the_other_location_begins() {
    let server = server();
    for path in [
        "/go?to=/alone",
        "/go?to=/alone&ms=2",
        "/go?to=/alone&ask=/part",
        "/by_hand",
        "/by_hand?ms=1",
    ] {
        assert_eq!(text(&server, path), "0 alive\n", "{path}");
    }
    nothing_is_left(server);
}

#[test]
fn a_client_that_goes_while_the_other_location_waits_is_499() {
    let server = server();
    for ms in ["", "&ms=2"] {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", &format!("/go?to=/wait{ms}")));
        logged_times(&server, "waits now", if ms.is_empty() { 1 } else { 2 });
        client.close();
    }
    accessed(&server, " HTTP/1.1\" 499 ", 2);
    nothing_is_left(server);
}

#[test]
fn a_circle_ends_in_nginxs_own_500() {
    let server = server();
    for ms in ["", "%26ms=1"] {
        // Each round adds the next round's argument, until it is encoded often enough.
        let mut path = "/arrived".to_owned();
        for _ in 0..12 {
            path = format!(
                "/circle?to={}",
                path.replace('%', "%25").replace('?', "%3F")
            );
        }
        assert_eq!(get(&server, &format!("{path}{ms}")).status, 500);
    }
    logged_times(&server, "rewrite or internal redirection cycle", 2);
    nothing_is_left(server);
}

#[test]
fn a_name_that_there_is_not_ends_in_nginxs_own_500() {
    let server = server();
    for path in ["/go?to=@nowhere", "/go?to=@nowhere&ms=2", "/go?to=@"] {
        assert_eq!(get(&server, path).status, 500, "{path}");
    }
    logged_times(&server, "could not find named location \"@nowhere\"", 2);
    let answer = get(&server, "/circle_page?to=@nowhere&ms=1");
    assert_eq!((answer.status, answer.text()), (500, "page of /page"));
    nothing_is_left(server);
}

#[test]
fn a_uri_that_is_none_is_500_without_the_header_lines() {
    let server = server();
    for to in [
        "",
        "arrived",
        "/../etc/passwd",
        "/a/%252e%252e/../../b",
        "/a%2500b",
    ] {
        for ms in ["", "&ms=2"] {
            let answer = get(&server, &format!("/go?to={to}{ms}"));
            assert_eq!(answer.status, 500, "{to}");
            assert_eq!(answer.header("X-Gone"), None, "{to}");
        }
    }
    logged(
        &server,
        "internal redirect \"arrived\" is not a URI of this server",
    );
    let answer = get(&server, "/go?to=named&by=name");
    assert_eq!((answer.status, answer.header("X-Gone")), (500, None));
    logged(
        &server,
        "named location \"named\" does not begin with \"@\"",
    );
    nothing_is_left(server);
}

#[test]
fn a_body_that_nobody_has_read_goes_along() {
    let server = server();
    for at_once in [true, false] {
        for ms in ["", "&ms=2"] {
            let answer = post(&server, &format!("/go?to=/arrived{ms}"), "abc", at_once);
            let seen = "POST /arrived? length Some(\"3\") body \"abc\" by /go\n";
            assert_eq!((answer.status, answer.text()), (200, seen), "{at_once}{ms}");
            let answer = post(&server, &format!("/go?to=/proxied{ms}"), "abc", at_once);
            let seen = "POST /behind? length Some(\"3\") body \"abc\" by \n";
            assert_eq!((answer.status, answer.text()), (200, seen), "{at_once}{ms}");
        }
    }
    nothing_is_left(server);
}

#[test]
fn a_body_that_nobody_has_read_is_there_for_an_error_page() {
    let server = server();
    for at_once in [true, false] {
        for wait in ["", "&wait"] {
            let path = format!("/refused?status=403{wait}");
            let answer = post(&server, &path, "abc", at_once);
            assert_eq!(answer.status, 200, "{path} {at_once}");
            assert!(
                answer.text().contains("length Some(\"3\") body \"abc\""),
                "{answer:?}"
            );
        }
    }
    nothing_is_left(server);
}

#[test]
fn who_is_refused_with_nginxs_page_is_not_told_to_go_on() {
    let server = server();
    for wait in ["", "&wait"] {
        let mut client = Client::connect(server.addr());
        client.send(format!(
            "POST /status?status=403{wait} HTTP/1.1\r\nHost: localhost\r\n\
             Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        ));
        assert_eq!(client.read().status, 403);
        client.send("abc");
        assert_eq!(client.get("/ok").text(), "OK\n");
    }
    nothing_is_left(server);
}

#[test]
fn a_body_that_was_read_is_gone_however_it_came() {
    let server = server();
    for at_once in [true, false] {
        for ms in ["", "&ms=2"] {
            let path = format!("/go?read=whole&to=/arrived{ms}");
            let answer = post(&server, &path, "abc", at_once);
            let seen = "POST /arrived? length None body \"\" by /go\n";
            assert_eq!((answer.status, answer.text()), (200, seen), "{at_once}{ms}");
            let path = format!("/go?read=whole&to=/proxied{ms}");
            let answer = post(&server, &path, "abc", at_once);
            let seen = "POST /behind? length None body \"\" by \n";
            assert_eq!((answer.status, answer.text()), (200, seen), "{at_once}{ms}");
        }
        // An error page of nginx's is another location, too.
        for path in ["/paged?", "/paged_too?ms=2"] {
            let answer = post(&server, path, "abc", at_once);
            assert_eq!(answer.status, 200, "{path} {at_once}");
            assert!(
                answer.text().contains("length None body \"\""),
                "{answer:?}"
            );
        }
    }
    nothing_is_left(server);
}

#[test]
fn a_body_that_was_read_can_be_replaced() {
    let server = server();
    for at_once in [true, false] {
        let path = "/go?read=passed+on&to=/arrived";
        let answer = post(&server, path, "abc", at_once);
        let seen = "POST /arrived? length Some(\"3\") body \"cba\" by /go\n";
        assert_eq!((answer.status, answer.text()), (200, seen), "{at_once}");
        let answer = post(&server, "/go?read=passed+on&to=/proxied", "abcd", at_once);
        let seen = "POST /behind? length Some(\"4\") body \"dcba\" by \n";
        assert_eq!((answer.status, answer.text()), (200, seen), "{at_once}");
    }
    // A client that sent none.
    let answer = text(&server, "/go?read=not&to=/arrived");
    assert_eq!(
        answer,
        "GET /arrived? length Some(\"7\") body \"instead\" by /go\n"
    );
    // One that has not been read cannot be replaced.
    assert_eq!(
        post(&server, "/go?read=not&to=/arrived", "abc", true).status,
        500
    );
    logged(&server, "the request's body has not been read");
    nothing_is_left(server);
}

#[test]
fn the_rest_of_a_body_that_was_begun_is_not_for_the_other_location() {
    let server = server();
    let body = "x".repeat(40_000);
    for to in ["/arrived", "/proxied"] {
        for ms in ["", "&ms=2"] {
            let mut client = Client::connect(server.addr());
            let path = format!("/go_chunk?read=chunk&to={to}{ms}");
            client.send(format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40000\r\n\r\n{}",
                &body[..500]
            ));
            let answer = client.read();
            assert_eq!(answer.status, 200, "{path}");
            assert!(
                answer.text().contains("length None body \"\""),
                "{answer:?}"
            );
            assert_eq!(answer.header("Connection"), Some("close"), "{path}");
            client.send(&body[500..]);
            client.half_close();
            assert_eq!(client.read_to_end(), b"");
        }
    }
    let mut client = Client::connect(server.addr());
    client.send(
        "POST /go_chunk?read=chunk&to=/arrived HTTP/1.1\r\nHost: localhost\r\n\
         Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    );
    let answer = client.read();
    assert!(
        answer.text().contains("length None body \"\""),
        "{answer:?}"
    );
    drop(client);
    nothing_is_left(server);
}

#[test]
fn from_a_subrequest() {
    let server = server();
    for ms in ["", "%26ms=2"] {
        let answer = text(&server, &format!("/ask?uri=/go%3Fto=/part{ms}"));
        assert_eq!(answer, "200 X-Gone=on part\n");
        let answer = text(&server, &format!("/ask?uri=/go%3Fto=@named{ms}"));
        assert!(
            answer.starts_with("200 X-Gone=on GET /go?to=@named"),
            "{answer}"
        );
        let answer = text(&server, &format!("/ask?uri=/go%3Fto=@nowhere{ms}"));
        assert!(answer.starts_with("500 "), "{answer}");
    }
    for ms in ["", "&ms=2"] {
        let page = text(&server, &format!("/ssi?to=/part%3Fdelay=2ms{ms}"));
        assert_eq!(page, "[part]");
    }
    nothing_is_left(server);
}

#[test]
fn after_a_subrequest_of_its_own() {
    let server = server();
    for ask in ["/part", "/part%3Fdelay=2ms"] {
        let answer = text(&server, &format!("/go?to=/arrived&ask={ask}"));
        assert_eq!(answer, "GET /arrived? length None body \"\" by /go\n");
    }
    nothing_is_left(server);
}

#[test]
fn while_a_subrequest_that_nobody_awaits_goes_on() {
    let server = server();
    for (begin, ms) in [
        ("/part", ""),
        ("/part%3Fdelay=20ms", ""),
        ("/part%3Fdelay=20ms", "&ms=2"),
    ] {
        for to in [
            "/part",
            "/part%3Fdelay=2ms",
            "/part%3Fdelay=40ms",
            "/proxied",
        ] {
            let answer = get(&server, &format!("/go?to={to}&begin={begin}{ms}"));
            assert_eq!(answer.status, 200, "{to} {begin}");
            match to {
                "/proxied" => assert!(answer.text().starts_with("GET /behind"), "{answer:?}"),
                _ => assert_eq!(answer.text(), "part", "{to} {begin}"),
            }
        }
    }
    nothing_is_left(server);
}

#[test]
fn to_lua_and_from_there() {
    let Some(nginx) = support::nginx_with_lua() else {
        return;
    };
    let server = builder().nginx(nginx);
    let server = support::start(server.config(format!(
        "{CONFIG}
         location = /lua {{
             content_by_lua_block {{
                 ngx.req.read_body()
                 ngx.sleep(0.002)
                 ngx.say(ngx.var.uri, ' ', ngx.req.get_body_data())
             }}
         }}
         location = /lua_exec {{
             content_by_lua_block {{ ngx.sleep(0.002) ngx.exec('/go', {{ to = '/arrived' }}) }}
         }}"
    )));
    for ms in ["", "&ms=2"] {
        let answer = post(&server, &format!("/go?to=/lua{ms}"), "abc", false);
        assert_eq!(answer.text(), "/lua abc\n");
        let answer = post(
            &server,
            &format!("/go?to=/lua{ms}&read=whole"),
            "abc",
            false,
        );
        assert_eq!(answer.text(), "/lua nil\n");
        let answer = post(
            &server,
            &format!("/go?to=/lua{ms}&read=passed+on"),
            "abc",
            true,
        );
        assert_eq!(answer.text(), "/lua cba\n");
    }
    let answer = text(&server, "/lua_exec");
    assert_eq!(answer, "GET /arrived? length None body \"\" by /go\n");
    nothing_is_left(server);
}

#[test]
fn after_the_head_it_is_too_late() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send("GET /too_late HTTP/1.0\r\n\r\n");
    let answer = client.read();
    assert_eq!((answer.status, answer.text()), (200, "begun"));
    logged(&server, "the handler returned a second answer");
    nothing_is_left(server);
}

#[test]
fn a_kept_connection_goes_on() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for n in 0..20 {
        let path = format!("/go?to=/arrived%3F{n}&ms={}", n % 2);
        assert!(
            client
                .get(&path)
                .text()
                .starts_with(&format!("GET /arrived?{n} "))
        );
    }
    client.send(request("HEAD", "/go?to=/part&ms=1"));
    let head = client.read_head();
    assert_eq!(
        (head.status, head.header("Content-Length")),
        (200, Some("4"))
    );
    assert_eq!(client.get("/ok").text(), "OK\n");
    drop(client);
    nothing_is_left(server);
}

#[test]
fn http2() {
    let server = support::start(builder().http2(true));
    let mut client = Http2::connect(server.addr());
    let mut asked = Vec::new();
    for path in [
        "/go?to=/part",
        "/go?to=/part%3Fdelay=3ms&ms=3",
        "/go?to=/part&ask=/part",
        "/go?to=@nowhere",
    ] {
        asked.push(client.get(path));
    }
    let mut answers = client.answers(4);
    answers.sort_by_key(|(id, _)| *id);
    for (n, (id, answer)) in answers.iter().enumerate() {
        assert_eq!(*id, asked[n]);
        match n {
            3 => assert_eq!(answer.status, 500),
            _ => assert_eq!((answer.status, &answer.body[..]), (200, &b"part"[..])),
        }
    }
    let waits = client.get("/go?to=/wait&ms=1");
    logged(&server, "waits now");
    client.cancel(waits);
    accessed(&server, " HTTP/2.0\" 499 ", 1);
    let alive = client.get("/alive");
    let answers = client.answers(1);
    assert_eq!((answers[0].0, &answers[0].1.body[..]), (alive, &b"0\n"[..]));
    drop(client);
    quits_in_peace(server);
}

/// The body of one stream's answer. Others' frames, and nginx's word that it wants no more of a
/// request, are passed over.
#[track_caller]
fn body_of(client: &mut Http2, wanted: u32) -> String {
    let mut body = Vec::new();
    loop {
        if let Frame::Data { stream, bytes, end } = client.next().expect("a frame")
            && stream == wanted
        {
            body.extend(bytes);
            if end {
                return String::from_utf8(body).expect("a text");
            }
        }
    }
}

#[test]
fn http2_and_the_rest_of_a_body() {
    let server = support::start(builder().http2(true));
    let mut client = Http2::connect(server.addr());
    for to in ["/arrived", "/arrived%3Fwait=5"] {
        let path = format!("/go_chunk?read=chunk&to={to}");
        let (stream, begin) = client.request("POST", &path, false);
        client.send(&[begin, Http2::data(stream, b"begun", false)].concat());
        let body = body_of(&mut client, stream);
        assert!(body.contains("length None body \"\""), "{body}");
        client.send(&Http2::data(stream, &[b'x'; 5000], true));
    }
    // The connection goes on.
    let ok = client.get("/ok");
    assert_eq!(body_of(&mut client, ok), "OK\n");
    let alive = client.get("/alive");
    assert_eq!(body_of(&mut client, alive), "0\n");
    drop(client);
    quits_in_peace(server);
}

#[test]
fn a_path_that_is_encoded_says_nothing_but_itself() {
    let server = server();
    let names: [&[u8]; 8] = [
        b"plain.txt",
        b"a b%41?x.txt",
        b"100%",
        b"%2e%2e",
        b"#&;+=",
        "größe".as_bytes(),
        b"\xff\xfe",
        b"...",
    ];
    for name in names {
        let encoded: String = name.iter().map(|byte| format!("%{byte:02x}")).collect();
        let found = format!("/under/{}?own\n", name.escape_ascii());
        for with in ["", "?ask"] {
            let answer = text(&server, &format!("/names/{encoded}{with}"));
            assert_eq!(answer, found, "{with}");
        }
    }
    // What leads out of the root is refused.
    for name in ["..", "../etc", "a/../../b", "a%00b"] {
        for with in ["", "&ask"] {
            let answer = get(&server, &format!("/names/?name={name}{with}"));
            assert_eq!(answer.status, 500, "{name}{with}");
        }
    }
    nothing_is_left(server);
}

#[test]
fn the_client_is_sent_elsewhere() {
    let server = server();
    for status in [301, 302, 303, 307, 308] {
        let answer = get(&server, &format!("/relative?to=/there&status={status}"));
        assert_eq!(
            (answer.status, answer.header("Location")),
            (status, Some("/there"))
        );
    }
    let answer = get(&server, "/outside?to=/there");
    let location = format!("http://localhost:{}/there", server.addr().port());
    assert_eq!(answer.header("Location"), Some(&*location));
    let answer = get(&server, "/outside?to=https://other/%3Fa=b");
    assert_eq!(answer.header("Location"), Some("https://other/?a=b"));
    assert_eq!(get(&server, "/outside?to=/a%0D%0AX-Evil:1").status, 500);
    assert_eq!(get(&server, "/outside?to=/there&status=304").status, 500);
    // The place is the handler's, not the library's.
    let line = logged(&server, "status 304 is no redirect's");
    assert!(line.contains("redirects.rs:"), "{line}");
    assert_eq!(alarms(&server), [""; 0]);
    nothing_is_left(server);
}
