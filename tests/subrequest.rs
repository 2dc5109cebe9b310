//! A handler that asks other locations.

mod support;

use std::time::{Duration, Instant};
use support::http::{Client, get, request, text};
use support::http2::Http2;
use support::{PATIENCE, accessed, alarms, eventually, logged, process, quits_in_peace};
use test_nginx::{Server, ServerBuilder, Signal};

const CONFIG: &str = "
    location = /ask { content_by_rust ask; }
    location = /ask_again { content_by_rust ask_again; }
    location = /ask_all { content_by_rust ask_all; }
    location = /ask_any { content_by_rust ask_any; }
    location = /ask_for_a_while { content_by_rust ask_for_a_while; }
    location = /ask_another { content_by_rust ask_another; }
    location = /ask_and_wait { content_by_rust ask_and_wait; }
    location = /ask_bravely { content_by_rust ask_bravely; }
    location = /ask_and_stream { content_by_rust ask_and_stream; }
    location = /ask_with { content_by_rust ask_with; }
    location = /ask_as_user {
        auth_basic ask; auth_basic_user_file $TEST_NGINX_SERVER_ROOT/users;
        content_by_rust ask_with;
    }
    location = /post_all { content_by_rust post_all; }
    location = /seen { internal; content_by_rust seen; }
    location = /seen_behind { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/seen_outside$is_args$args; }
    location = /seen_outside { content_by_rust seen; }
    location = /lines { content_by_rust lines; }
    location = /lines_behind { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/lines; }
    location = /known {
        content_by_rust reply body='$http_user_agent|$http_cookie|$cookie_a|$http_x_forwarded_for|$remote_user|$http_via|';
    }
    location = /digits_behind {
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/digits;
    }
    location = /digits {
        gzip on; gzip_types *; gzip_min_length 1; gzip_http_version 1.0;
        default_type text/plain;
        alias $TEST_NGINX_SERVER_ROOT/digits;
    }
    location = /echoed { content_by_rust body_echo; }
    location = /seen_echoed { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/echoed; }
    location = /part {
        internal;
        content_by_rust reply body='part $arg_n' delay=$arg_delay;
    }
    location = /wait { internal; content_by_rust wait; }
    location = /empty { content_by_rust reply body=''; }
    location = /status { content_by_rust reply body='status $arg_n' status=$arg_n delay=$arg_delay; }
    location = /missing { return 404; }
    location = /paged { error_page 404 /page; return 404; }
    location = /changed { error_page 404 =202 /page; return 404; }
    location = /page { internal; content_by_rust reply body=page delay=2ms; }
    location = /moved { return 302 /part; }
    location = /proxied { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/behind?$args; }
    location = /behind { add_header X-Part behind; content_by_rust reply body='behind $arg_n' delay=$arg_delay; }
    location = /late { proxy_read_timeout 100ms; proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/behind?$args; }
    location = /refused { proxy_pass http://127.0.0.1:1/; }
    location = /file { try_files /page.html =404; }
    location = /read_elsewhere {
        aio threads; sendfile off; output_buffers 1 1k;
        subrequest_output_buffer_size 100k;
        alias $TEST_NGINX_SERVER_ROOT/html/read_elsewhere;
    }
    location = /large { subrequest_output_buffer_size 300k; content_by_rust big; }
    location = /too_large { subrequest_output_buffer_size 1k; content_by_rust big; }
    location = /too_large_proxied {
        subrequest_output_buffer_size 1k;
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/large?$args;
    }
    location = /header { content_by_rust header; }
    location = /ssi {
        ssi on; ssi_types *;
        content_by_rust reply body='[<!--# include virtual=\"/ask?$args\" -->]';
    }
    location = /ssi_two {
        ssi on; ssi_types *;
        content_by_rust reply body='[<!--# include virtual=\"/ask_again?n=2&uri=%2Fpart%3Fn=1%26delay=20ms\" --> <!--# include virtual=\"/ask_again?n=2&uri=%2Fpart%3Fn=2\" -->]';
    }
    location = /set { set $mine old; content_by_rust set_variable; }
    location = /var { content_by_rust reply body='mine=$mine'; }
    recursive_error_pages on;
    location = /visit { error_page 418 = /visit_again?$args; content_by_rust visit; }
    location = /visit_again { error_page 418 = /visit_last?$args; content_by_rust visit; }
    location = /visit_last { content_by_rust visit; }
    location = /visits_dropped { content_by_rust visits_dropped; }
    location = /alive { content_by_rust alive; }
    location = /ok { content_by_rust ok; }";

fn builder() -> ServerBuilder {
    support::server_with(CONFIG)
}

fn server() -> Server {
    support::start(builder())
}

/// Encodes what goes into the query.
fn encoded(uri: &str) -> String {
    let bytes = uri.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    bytes.collect()
}

fn ask(path: &str, uris: &[&str]) -> String {
    let uris = uris.iter().map(|uri| format!("&uri={}", encoded(uri)));
    let separator = if path.contains('?') { "" } else { "?" };
    format!("{path}{separator}{}", uris.collect::<String>())
}

#[track_caller]
fn nothing_is_left(server: Server) {
    eventually("the handlers to be dropped", || {
        text(&server, "/alive") == "0\n"
    });
    quits_in_peace(server);
}

#[test]
fn status_headers_and_body() {
    let server = server();
    for (uri, answer) in [
        ("/part?n=1", "200 part 1\n"),
        ("/part?n=1&delay=5ms", "200 part 1\n"),
        ("/empty", "200 \n"),
        ("/status?n=201", "201 status 201\n"),
        ("/status?n=503&delay=2ms", "503 status 503\n"),
        ("/paged", "404 page\n"),
        ("/changed", "202 page\n"),
        (
            "/header?X-Part=7&Set-Cookie=a",
            "200 X-Part=7 Set-Cookie=a with headers\\n\n",
        ),
    ] {
        assert_eq!(text(&server, &ask("/ask", &[uri])), answer, "{uri}");
    }
    nothing_is_left(server);
}

#[test]
fn an_errors_own_page_is_an_answer() {
    let server = server();
    for (uri, status) in [
        ("/missing", "404 "),
        ("/nowhere", "404 "),
        ("/moved", "302 "),
        ("/refused", "502 "),
        ("/late?delay=60s", "504 "),
    ] {
        let answer = text(&server, &ask("/ask", &[uri]));
        assert!(answer.starts_with(status), "{uri}: {answer}");
    }
    let answer = text(&server, &ask("/ask", &["/moved"]));
    assert!(answer.contains("Location="), "{answer}");
    assert_eq!(alarms(&server), [""; 0]);
    nothing_is_left(server);
}

/// Asks for what a subrequest sees, here or behind a proxy, in a request with these lines.
#[track_caller]
fn seen(server: &Server, uri: &str, with: &str, head: &str) -> String {
    let mut client = Client::connect(server.addr());
    let path = format!("{}{with}", ask("/ask_with", &[uri]));
    client.send(head.replacen("PATH", &path, 1));
    let answer = client.read();
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.text().replace("\\\"", "\"");
    let (_, seen) = answer.split_once(' ').unwrap();
    // Behind a proxy, there are header lines before it.
    let method = ["GET", "POST", "PUT", "PATCH"]
        .iter()
        .find_map(|method| seen.find(method));
    seen[method.expect("a method")..].to_owned()
}

const GET: &str = "GET PATH HTTP/1.1\r\nHost: localhost\r\nX-Own: mine\r\n\r\n";
const POST: &str = "POST PATH HTTP/1.1\r\nHost: localhost\r\nX-Own: mine\r\n\
                    Content-Type: text/x-own\r\nContent-Length: 6\r\n\r\nparent";
const CHUNKED: &str = "POST PATH HTTP/1.1\r\nHost: localhost\r\nX-Own: mine\r\n\
                       Content-Type: text/x-own\r\nTransfer-Encoding: chunked\r\n\r\n\
                       6\r\nparent\r\n0\r\n\r\n";

#[test]
fn a_method_and_a_body_of_its_own() {
    let server = server();
    for uri in ["/seen", "/seen_behind"] {
        assert_eq!(
            seen(&server, uri, "&method=POST&body=hello&type=text/x", GET),
            "POST? length Some(\"5\") type Some(\"text/x\") body \"hello\" x Some(\"mine\")\\n\n",
            "{uri}"
        );
        assert_eq!(
            seen(&server, uri, "&method=PUT&body=", GET),
            "PUT? length Some(\"0\") type None body \"\" x Some(\"mine\")\\n\n",
            "{uri}"
        );
        for head in [POST, CHUNKED] {
            for read in ["", "&read"] {
                assert_eq!(
                    seen(
                        &server,
                        uri,
                        &format!("&method=PATCH&body=its+own{read}"),
                        head
                    ),
                    "PATCH? length Some(\"7\") type Some(\"text/x-own\") body \"its own\" \
                     x Some(\"mine\")\\n\n",
                    "{uri} {head}"
                );
            }
        }
    }
    nothing_is_left(server);
}

#[test]
fn without_a_body_of_its_own_it_has_none() {
    let server = server();
    for uri in ["/seen", "/seen_behind"] {
        for head in [POST, CHUNKED] {
            for with in ["", "&read"] {
                assert_eq!(
                    seen(&server, uri, with, head),
                    "GET? length None type Some(\"text/x-own\") body \"\" x Some(\"mine\")\\n\n",
                    "{uri} {with} {head}"
                );
            }
        }
    }
    nothing_is_left(server);
}

#[test]
fn arguments_are_added_and_encoded() {
    let server = server();
    let end = " length None type None body \"\" x Some(\"mine\")\\n\n";
    assert_eq!(
        seen(&server, "/seen", "&arg=%26%3D+%25%C3%A4", GET),
        format!("GET?a+b=%26%3D+%25%C3%A4{end}")
    );
    assert_eq!(
        seen(&server, "/seen?x=y", "&arg=1&arg=", GET),
        format!("GET?x=y&a+b=1&a+b={end}")
    );
    nothing_is_left(server);
}

#[test]
fn a_method_or_a_type_that_is_none_is_an_error() {
    let server = server();
    for with in [
        "&method=",
        "&method=P%20X",
        "&method=A%0D%0A",
        "&type=a%0D%0Ab",
    ] {
        let path = ask("/ask_with", &["/seen"]) + with;
        assert_eq!(get(&server, &path).status, 500, "{with}");
    }
    logged(&server, "invalid method \"P X\"");
    logged(&server, "of header \"Content-Type\"");
    // Any token is one, if only the other location knows it.
    let path = ask("/ask_with", &["/seen"]) + "&method=BREW&body=x";
    assert!(text(&server, &path).contains("BREW? length Some("));
    nothing_is_left(server);
}

/// What a subrequest that lacks these lines is answered, in a request that has them.
#[track_caller]
fn without(server: &Server, uri: &str, names: &[&str], lines: &str) -> String {
    let mut client = Client::connect(server.addr());
    let names = names.iter().map(|name| format!("&without={name}"));
    let path = ask("/ask_with?x", &[uri]) + &names.collect::<String>();
    client.send(format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n"
    ));
    let answer = client.read();
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.text().replace("\\n", "\n")
}

#[test]
fn header_lines_can_be_left_out() {
    let server = server();
    let many: String = (0..50).map(|n| format!("X-{n}: {n}\r\n")).collect();
    let lines = format!("Range: bytes=0-1\r\n{many}X-Own: mine\r\nx-own: more\r\nX-Last: z\r\n");
    for uri in ["/lines", "/lines_behind"] {
        let all = without(&server, uri, &[], &lines);
        for line in [
            "Range: bytes=0-1\n",
            "X-Own: mine\n",
            "x-own: more\n",
            "X-Last: z\n",
        ] {
            assert!(all.contains(line), "{all}");
        }
        let left = without(&server, uri, &["RANGE", "X-oWN", "X-7", "None"], &lines);
        for line in ["Range", "X-Own", "x-own", "X-7:"] {
            assert!(!left.contains(line), "{line} in {left}");
        }
        for n in (0..50).filter(|n| *n != 7) {
            assert!(left.contains(&format!("X-{n}: {n}\n")), "{n} in {left}");
        }
        assert!(left.contains("X-Last: z\n"), "{left}");
    }
    let path = ask("/ask_with", &["/lines"]) + "&without=a%3Ab";
    assert_eq!(get(&server, &path).status, 500);
    logged(&server, "invalid header name \"a:b\"");
    nothing_is_left(server);
}

#[test]
fn what_nginx_knows_of_a_header_line_goes_with_it() {
    let server = server();
    let lines = "User-Agent: u\r\nCookie: a=1\r\nCookie: b=2\r\nX-Forwarded-For: 10.0.0.1\r\n\
                 Authorization: Basic YTpi\r\nVia: v\r\n";
    let known = without(&server, "/known", &[], lines);
    assert!(known.ends_with(" u|a=1; b=2|1|10.0.0.1|a|v|\n"), "{known}");
    let names = [
        "user-agent",
        "cookie",
        "x-forwarded-for",
        "authorization",
        "via",
    ];
    let known = without(&server, "/known", &names, lines);
    assert!(known.ends_with(" ||||||\n"), "{known}");
    // The user, too, where nginx has read the line already.
    std::fs::write(server.root().join("users"), "a:{PLAIN}b\n").expect("a file");
    for (with, known) in [("", " ||||a||\n"), ("&without=Authorization", " ||||||\n")] {
        let mut client = Client::connect(server.addr());
        let path = ask("/ask_as_user", &["/known"]) + with;
        let head = "GET PATH HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic YTpi\r\n\r\n";
        client.send(head.replacen("PATH", &path, 1));
        let answer = client.read();
        assert!(answer.text().ends_with(known), "{answer:?}");
    }
    nothing_is_left(server);
}

#[test]
fn a_proxied_server_is_asked_for_the_whole_and_as_it_is() {
    let server = server();
    std::fs::write(server.root().join("digits"), "0123456789").expect("a file");
    let lines = "Range: bytes=2-4\r\nAccept-Encoding: gzip\r\n";
    let digits = |names: &[&str], lines| without(&server, "/digits_behind", names, lines);
    assert!(digits(&[], "Range: bytes=2-4\r\n").starts_with("206 "));
    assert!(digits(&["Range"], lines).contains("Content-Encoding=gzip"));
    let whole = digits(&["Range", "Accept-Encoding"], lines);
    assert!(whole.starts_with("200 "), "{whole}");
    assert!(whole.ends_with(" 0123456789\n"), "{whole}");
    // The header lines of a body of its own are its own.
    let mut client = Client::connect(server.addr());
    let path = ask("/ask_with?body=abc&type=text/x", &["/lines_behind"]);
    let path = path + "&without=Content-Type&without=Content-Length";
    client.send(POST.replacen("PATH", &path, 1));
    let lines = client.read().text().to_ascii_lowercase();
    assert_eq!(lines.matches("content-length: 3\\n").count(), 1, "{lines}");
    assert_eq!(lines.matches("content-length:").count(), 1, "{lines}");
    assert!(lines.contains("content-type: text/x\\n"), "{lines}");
    nothing_is_left(server);
}

#[test]
fn a_type_of_its_own_takes_the_place_of_the_requests() {
    let server = server();
    for uri in ["/lines", "/lines_behind"] {
        let mut client = Client::connect(server.addr());
        let path = ask("/ask_with?method=POST&body=abc&type=text/x", &[uri]);
        client.send(POST.replacen("PATH", &path, 1));
        let lines = client.read().text().to_owned();
        assert_eq!(lines.matches("Content-Type:").count(), 1, "{lines}");
        assert!(lines.contains("Content-Type: text/x\\n"), "{lines}");
    }
    nothing_is_left(server);
}

#[test]
fn a_head_has_an_end() {
    let server = server();
    for uri in ["/part?n=1", "/behind?n=1", "/proxied?n=1"] {
        let path = ask("/ask_with?method=HEAD", &[uri]);
        let answer = text(&server, &path);
        assert!(answer.starts_with("200 "), "{answer}");
    }
    nothing_is_left(server);
}

#[test]
fn several_with_bodies_at_once() {
    let server = server();
    for uri in ["/echoed", "/seen_echoed"] {
        let path = ask("/post_all?bodies=abcde", &[uri]);
        assert_eq!(text(&server, &path), "abbcccddddeeeee", "{uri}");
    }
    nothing_is_left(server);
}

#[test]
fn lua_sees_the_method_and_the_body() {
    let Some(nginx) = support::nginx_with_lua() else {
        return;
    };
    let server = builder().nginx(nginx);
    let server = support::start(server.config(format!(
        "{CONFIG}
         location = /lua {{
             content_by_lua_block {{
                 ngx.req.read_body()
                 ngx.print(ngx.req.get_method(), ' ', ngx.req.get_body_data(), ' ',
                           ngx.var.content_length, ' ', ngx.var.http_content_length, ' ',
                           ngx.req.get_post_args().a)
             }}
         }}"
    )));
    for head in [GET, POST] {
        assert_eq!(
            seen(&server, "/lua", "&method=PUT&body=a=bc", head),
            "PUT a=bc 4 4 bc\n"
        );
        assert_eq!(seen(&server, "/lua", "", head), "GET nil nil nil nil\n");
    }
    nothing_is_left(server);
}

#[test]
fn a_proxied_one() {
    let server = server();
    for uri in ["/proxied?n=1", "/proxied?n=1&delay=20ms"] {
        let answer = text(&server, &ask("/ask", &[uri]));
        assert!(answer.starts_with("200 "), "{answer}");
        assert!(answer.contains(" X-Part=behind "), "{answer}");
        assert!(answer.ends_with(" behind 1\n"), "{answer}");
    }
    nothing_is_left(server);
}

#[test]
fn a_file_that_other_threads_read() {
    let server = server();
    let content = "0123456789".repeat(9_000);
    std::fs::write(server.root().join("html/read_elsewhere"), &content).expect("a file");
    let answer = text(&server, &ask("/ask_all", &["/read_elsewhere", "/part?n=1"]));
    assert!(answer == content + " part 1 ", "{} bytes", answer.len());
    nothing_is_left(server);
}

#[test]
fn several_at_once_and_one_after_the_other() {
    let server = server();
    let uris = [
        "/part?n=1&delay=60ms",
        "/proxied?n=2&delay=30ms",
        "/part?n=3",
        "/part?n=4&delay=1ms",
        "/empty",
    ];
    let all = text(&server, &ask("/ask_all", &uris));
    assert_eq!(all, "part 1 behind 2 part 3 part 4  ");
    let path = format!("/ask_again?n=20&uri={}", encoded("/part?n=x&delay=1ms"));
    assert_eq!(text(&server, &path), "part x".repeat(20));
    let path = format!("/ask_again?n=20&uri={}", encoded("/part?n=x"));
    assert_eq!(text(&server, &path), "part x".repeat(20));
    nothing_is_left(server);
}

#[test]
fn they_come_in_the_order_in_which_they_end() {
    let server = server();
    let uris = [
        "/part?n=1&delay=300ms",
        "/part?n=2&delay=1ms",
        "/part?n=3&delay=150ms",
    ];
    let answer = text(&server, &ask("/ask_any", &uris));
    assert_eq!(answer, "part 2 part 3 part 1 ");
    nothing_is_left(server);
}

#[test]
fn one_that_is_dropped_goes_on_and_the_answer_waits_for_its_end() {
    let server = server();
    let begun = Instant::now();
    let path = ask("/ask_for_a_while?ms=10", &["/part?n=1&delay=400ms"]);
    assert_eq!(text(&server, &path), "given up\n");
    assert!(begun.elapsed() >= Duration::from_millis(399));
    let path = ask("/ask_for_a_while?ms=60000", &["/part?n=1&delay=10ms"]);
    assert_eq!(text(&server, &path), "part 1");
    let path = format!(
        "/ask_another?uri={}&other={}",
        encoded("/part?n=1&delay=20ms"),
        encoded("/part?n=2&delay=2ms")
    );
    assert_eq!(text(&server, &path), "part 2");
    nothing_is_left(server);
}

#[test]
fn an_answer_without_a_body_is_over_in_whatever_order_they_end() {
    let server = server();
    let (fast, slow) = ("/part?delay=1ms", "/part?delay=30ms");
    for path in [
        ask("/ask_all", &[slow, fast]),
        ask("/ask_all", &[fast, slow]),
        ask("/ask_all", &[slow, fast, "/proxied?delay=10ms", "/part"]),
        ask("/ask_any", &[fast, slow, "/part"]),
        ask("/ask_for_a_while?ms=5", &[slow]),
    ] {
        let mut client = Client::connect(server.addr());
        client.send(request("HEAD", &path));
        assert_eq!(client.read_head().status, 200, "{path}");
        assert_eq!(client.get("/ok").text(), "OK\n", "{path}");
    }
    nothing_is_left(server);
}

#[test]
fn a_client_that_goes_while_a_dropped_one_goes_on_ends_both() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", &ask("/ask_for_a_while?ms=5", &["/wait"])));
    logged(&server, "given up");
    client.close();
    accessed(&server, "GET /ask_for_a_while", 1);
    logged(&server, "waits no more");
    nothing_is_left(server);
}

#[test]
fn an_answer_that_is_too_long_ends_the_request() {
    let server = server();
    let answer = text(&server, &ask("/ask_again?n=1", &["/large?size=2"]));
    assert_eq!(answer, "\0\u{1}");
    let answer = text(&server, &ask("/ask", &["/large?size=300000"]));
    assert!(answer.len() > 300_000, "{} bytes", answer.len());
    for uri in ["/too_large?size=1025", "/too_large_proxied?size=5000"] {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", &ask("/ask_bravely", &[uri])));
        assert!(client.is_closed());
        accessed(&server, &encoded(uri), 1);
    }
    support::logged_times(&server, "too big subrequest response", 2);
    nothing_is_left(server);
}

#[test]
fn a_uri_that_is_none_is_an_error() {
    let server = server();
    for uri in [
        "",
        "/../etc/passwd",
        "/a/../../b",
        "/a/..?b",
        "/a/%2e.?b",
        "/a%00b",
        "/\u{1}\0",
    ] {
        assert_eq!(
            text(&server, &ask("/ask_bravely", &[uri])),
            "failed\n",
            "{uri:?}"
        );
        assert_eq!(get(&server, &ask("/ask", &[uri])).status, 500, "{uri:?}");
    }
    logged(&server, "is not a URI of this server");
    nothing_is_left(server);
}

#[test]
fn from_a_part_of_a_page() {
    let server = server();
    for uri in ["/part?n=1", "/part?n=1&delay=5ms", "/proxied?n=1&delay=5ms"] {
        let page = text(&server, &format!("/ssi?uri={}", encoded(uri)));
        assert!(page.starts_with("[200 "), "{page}");
        assert!(page.ends_with(" 1\n]"), "{page}");
    }
    assert_eq!(text(&server, "/ssi_two"), "[part 1part 1 part 2part 2]");
    nothing_is_left(server);
}

#[test]
fn an_answer_can_be_passed_on_piece_by_piece() {
    let server = server();
    let path = ask("/ask_and_stream", &["/part?n=abcdefgh&delay=1ms"]);
    assert_eq!(text(&server, &path), "part abcdefgh\n");
    nothing_is_left(server);
}

#[test]
fn a_client_that_goes_meanwhile_is_499_at_once() {
    for uri in ["/wait", "/proxied?n=1&delay=60s"] {
        for with_rst in [false, true] {
            let server = server();
            let worker = process::worker(&server);
            assert_eq!(text(&server, "/alive"), "0\n");
            let before = process::descriptors(worker).len();
            let mut client = Client::connect(server.addr());
            client.send(request("GET", &ask("/ask", &[uri])));
            logged(&server, "asks");
            match with_rst {
                true => client.reset(),
                false => client.close(),
            }
            accessed(&server, "GET /ask?", 1);
            let log = server.access_log();
            let line = log.lines().find(|line| line.contains("GET /ask?")).unwrap();
            assert!(line.contains("\" 499 "), "{line}");
            eventually("the descriptors as they were", || {
                process::descriptors(worker).len() <= before
            });
            nothing_is_left(server);
        }
    }
}

#[test]
fn a_client_that_goes_in_the_sleep_behind_it_is_499_at_once() {
    for uri in [
        "/part?n=1",
        "/part?n=1&delay=5ms",
        "/proxied?n=1",
        "/missing",
    ] {
        let server = server();
        let mut client = Client::connect(server.addr());
        client.send(request("GET", &ask("/ask_and_wait", &[uri])));
        logged(&server, "has ");
        client.close();
        accessed(&server, "GET /ask_and_wait?", 1);
        assert!(server.access_log().contains(" HTTP/1.1\" 499 "), "{uri}");
        nothing_is_left(server);
    }
}

#[test]
fn a_kept_connection_goes_on() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for n in 0..20 {
        let path = ask("/ask", &[&format!("/part?n={n}&delay=1ms")]);
        assert_eq!(client.get(&path).text(), format!("200 part {n}\n"));
    }
    let two = request("GET", &ask("/ask", &["/part?n=1"])) + &request("GET", "/ok");
    client.send(two);
    assert_eq!(client.read().text(), "200 part 1\n");
    assert_eq!(client.read().text(), "OK\n");
    client.send(request("HEAD", &ask("/ask", &["/part?n=1&delay=1ms"])));
    let head = client.read_head();
    assert_eq!(
        (head.status, head.header("Content-Length")),
        (200, Some("11"))
    );
    assert_eq!(client.get("/ok").text(), "OK\n");
    drop(client);
    nothing_is_left(server);
}

#[test]
fn http2() {
    let server = support::start(builder().http2(true));
    let mut client = Http2::connect(server.addr());
    let uris = ["/part?n=1&delay=30ms", "/part?n=2"];
    let ids: Vec<_> = (0..10)
        .map(|_| client.get(&ask("/ask_all", &uris)))
        .collect();
    let mut answers = client.answers(10);
    answers.sort_by_key(|(id, _)| *id);
    for (id, (answered, answer)) in ids.iter().zip(answers) {
        assert_eq!((*id, answer.status), (answered, 200));
        assert_eq!(answer.body, b"part 1 part 2 ");
    }
    let waits = client.get(&ask("/ask", &["/wait"]));
    let sleeps = client.get(&ask("/ask_and_wait", &["/part?n=1"]));
    logged(&server, "waits now");
    logged(&server, "has 200");
    client.cancel(waits);
    client.cancel(sleeps);
    accessed(&server, " HTTP/2.0\" 499 ", 2);
    logged(&server, "waits no more");
    let alive = client.get("/alive");
    let answers = client.answers(1);
    assert_eq!((answers[0].0, &answers[0].1.body[..]), (alive, &b"0\n"[..]));
    drop(client);
    quits_in_peace(server);
}

#[test]
fn quit_waits_for_them() {
    let mut server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", &ask("/ask", &["/part?n=1&delay=1500ms"])));
    logged(&server, "asks");
    server.signal(Signal::QUIT).unwrap();
    logged(&server, "gracefully shutting down");
    assert_eq!(client.read().text(), "200 part 1\n");
    assert!(server.wait(PATIENCE).unwrap().success());
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn a_variable_that_is_set_is_seen_here_and_in_subrequests() {
    let server = server();
    let path = format!("/set?name=mine&value=new&uri={}", encoded("/var"));
    assert_eq!(text(&server, &path), "Some(\"new\")\nmine=new");
    assert_eq!(text(&server, "/set?name=MINE&value="), "Some(\"\")\n");
    // What nginx sets itself.
    let args = text(&server, "/set?name=args&value=a%3Db");
    assert_eq!(args, "Some(\"a=b\")\n");
    for name in ["uri", "none", "remote_addr", ""] {
        let answer = get(&server, &format!("/set?name={name}&value=new"));
        assert_eq!(answer.status, 500, "{name}");
        logged(&server, &format!("variable \"{name}\" cannot be set"));
    }
    nothing_is_left(server);
}

#[test]
fn data_lives_through_an_internal_redirect_and_no_longer_than_the_request() {
    let server = server();
    for slow in ["", "&slow"] {
        for _ in 0..2 {
            let answer = text(&server, &format!("/visit?fail=1{slow}"));
            assert_eq!(answer, "2: /visit /visit_again\n");
            let answer = text(&server, &format!("/visit?fail=2{slow}"));
            assert_eq!(answer, "3: /visit /visit_again /visit_last\n");
            assert_eq!(text(&server, &format!("/visit?{slow}")), "1: /visit\n");
        }
    }
    // Each request had one, which went with it.
    eventually("all data to be dropped", || {
        text(&server, "/visits_dropped") == "12\n"
    });
    nothing_is_left(server);
}
