//! What a handler sees of its request, told over real sockets.

mod support;

use support::http::{Client, get, request, text};
use support::{alarms, logged, quits_in_peace};
use test_nginx::Server;

fn server() -> Server {
    support::start(
        support::server()
            .master(true)
            .log_level("debug")
            .http_config("map $uri $mapped { default \"mapped $uri\"; }")
            .config(
                "location /tell { content_by_rust tell; }
                 location = /real {
                     set_real_ip_from 127.0.0.1; content_by_rust tell;
                 }
                 location = /arguments { content_by_rust arguments; }
                 location = /headers { content_by_rust headers; }
                 location = /counts { content_by_rust counts; }
                 location = /form { content_by_rust form; }
                 location = /small_form { client_max_body_size 4; content_by_rust form; }
                 location = /variable { set $own \"its own\"; set $none \"\"; content_by_rust variable; }
                 location = /levels { content_by_rust log_levels; }
                 location = /value { content_by_rust evaluate value=\"a=$arg_a b=$mapped\"; }
                 location = /constants { content_by_rust constants number=7 delay=1s500ms; }
                 location = /no_constants { content_by_rust constants; }
                 location /texts/ { content_by_rust evaluate value=$uri; }
                 location = /constant { content_by_rust evaluate value=constant; }
                 location = /page { ssi on; ssi_types *; content_by_rust reply
                     body='<!--# include virtual=\"/tell/part?x=y\" -->'; }
                 location = /ok { content_by_rust ok; }",
            ),
    )
}

/// The body of the answer to a request of these lines.
fn ask(server: &Server, lines: &[u8]) -> String {
    let mut client = Client::connect(server.addr());
    client.send([lines, b"\r\nHost: localhost\r\n\r\n"].concat());
    let answer = client.read();
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.text().to_owned()
}

#[test]
fn method_path_query_and_client() {
    let server = server();
    assert_eq!(
        ask(&server, b"GET /tell HTTP/1.1"),
        "method GET\npath /tell\npath bytes /tell\nquery \nclient 127.0.0.1\n"
    );
    assert_eq!(
        ask(
            &server,
            b"PURGE /tell/x/../a%20b//c%2fd?q=%20&?x#no HTTP/1.1"
        ),
        "method PURGE\npath /tell/a b/c/d\npath bytes /tell/a b/c/d\nquery q=%20&?x\nclient 127.0.0.1\n"
    );
    quits_in_peace(server);
}

#[test]
fn a_path_that_is_no_utf_8_is_replaced_in_texts_and_kept_in_bytes() {
    let server = server();
    let told = ask(&server, b"GET /tell/%ff%C3%A4 HTTP/1.1");
    assert!(told.contains("path /tell/\u{fffd}ä\n"), "{told}");
    assert!(
        told.contains("path bytes /tell/\\xff\\xc3\\xa4\n"),
        "{told}"
    );
    quits_in_peace(server);
}

#[test]
fn the_clients_address_is_what_realip_says() {
    let server = server();
    let told = ask(&server, b"GET /real HTTP/1.1\r\nX-Real-IP: 192.0.2.7");
    assert!(told.ends_with("client 192.0.2.7\n"), "{told}");
    quits_in_peace(server);
}

#[test]
fn a_subrequest_has_a_path_and_a_query_of_its_own() {
    let server = server();
    let told = text(&server, "/page?of=page");
    assert!(told.contains("path /tell/part\n"), "{told}");
    assert!(told.contains("query x=y\n"), "{told}");
    quits_in_peace(server);
}

#[test]
fn arguments_raw_and_decoded() {
    let server = server();
    assert_eq!(
        text(
            &server,
            "/arguments?a=1+2%20%C3%A4&b&=c&a=second&%61=3&&d=x=y"
        ),
        "decoded \"a\" \"1 2 ä\"\n\
         decoded \"b\" \"\"\n\
         decoded \"\" \"c\"\n\
         decoded \"a\" \"second\"\n\
         decoded \"a\" \"3\"\n\
         decoded \"d\" \"x=y\"\n\
         raw a 1+2%20%C3%A4\n\
         raw b \n\
         raw  c\n\
         raw a second\n\
         raw %61 3\n\
         raw d x=y\n\
         a is Some(\"1 2 ä\")\n\
         raw a is Some(\"1+2%20%C3%A4\")\n"
    );
    assert_eq!(text(&server, "/arguments"), "a is None\nraw a is None\n");
    assert_eq!(text(&server, "/arguments?"), "a is None\nraw a is None\n");
    quits_in_peace(server);
}

#[test]
fn arguments_that_are_no_utf_8() {
    let server = server();
    assert_eq!(
        ask(&server, b"GET /arguments?a=%ff%fe&%=%zz&\xff=\xe4 HTTP/1.1"),
        "decoded \"a\" \"\u{fffd}\u{fffd}\"\n\
         decoded \"%\" \"%zz\"\n\
         decoded \"\u{fffd}\" \"\u{fffd}\"\n\
         raw a %ff%fe\n\
         raw % %zz\n\
         raw \\xff \\xe4\n\
         a is Some(\"\u{fffd}\u{fffd}\")\n\
         raw a is Some(\"%ff%fe\")\n"
    );
    quits_in_peace(server);
}

#[test]
fn headers_in_their_order_and_by_name_in_any_case() {
    let server = server();
    let lines = b"GET /headers HTTP/1.1\r\nX-Two: 2\r\nX-One: first\r\nX-One: second\r\nX-Empty:";
    assert_eq!(
        ask(&server, lines),
        "X-Two: 2\nX-One: first\nX-One: second\nX-Empty: \n\
         one is Some(\"first\"), in bytes Some(\"first\")\nnone is None\n"
    );
    // More than nginx keeps in one piece of its list.
    let many: String = (0..60).map(|n| format!("X-Number: {n}\r\n")).collect();
    let told = ask(
        &server,
        format!("GET /headers HTTP/1.1\r\n{many}X-One: last").as_bytes(),
    );
    let expected: String = (0..60).map(|n| format!("X-Number: {n}\n")).collect();
    assert_eq!(
        told,
        expected + "X-One: last\none is Some(\"last\"), in bytes Some(\"last\")\nnone is None\n"
    );
    quits_in_peace(server);
}

/// How many there are, when this many are sent: arguments, raw ones and header lines; and lines in
/// the log.
#[track_caller]
fn counts(server: &Server, args: usize, headers: usize, limit: &str) -> (String, Vec<String>) {
    let args: String = (1..args).map(|n| format!("a{n}&")).collect();
    let lines: String = (2..headers).map(|n| format!("X-{n}: {n}\r\n")).collect();
    let before = server.error_log().len();
    let told = ask(
        server,
        format!("GET /counts?{limit}{args}last=x HTTP/1.1\r\n{lines}X-Last: y").as_bytes(),
    );
    let log = server.error_log()[before..].to_owned();
    let lines = log.lines().filter(|line| line.contains("client sent more"));
    let lines = lines.map(|line| {
        assert!(
            line.contains("[warn]") && line.contains("client: 127.0.0.1"),
            "{line}"
        );
        let (_, said) = line.split_once("client sent ").unwrap();
        said.split(", client").next().unwrap().to_owned()
    });
    (told, lines.collect())
}

#[test]
fn a_hundred_arguments_and_header_lines_and_the_rest_is_said_aloud() {
    let server = server();
    // The Host line is one.
    let (told, said) = counts(&server, 100, 100, "");
    assert_eq!(told, "100 100 100, Some(\"x\") Some(1) Some(\"y\")\n");
    assert_eq!(said, [""; 0]);
    let (told, said) = counts(&server, 103, 101, "");
    assert_eq!(told, "100 100 100, Some(\"x\") Some(1) Some(\"y\")\n");
    let args = "more than 100 arguments, 3 are left out";
    let headers = "more than 100 header lines, 1 are left out";
    assert_eq!(said, [args, args, headers]);
    quits_in_peace(server);
}

#[test]
fn as_many_arguments_and_header_lines_as_the_handler_wants() {
    let server = server();
    let all = usize::MAX;
    let (told, said) = counts(&server, 400, 150, &format!("limit={all}&"));
    assert_eq!(told, "401 401 150, Some(\"x\") Some(1) Some(\"y\")\n");
    assert_eq!(said, [""; 0]);
    let (told, said) = counts(&server, 5, 5, "limit=4&");
    assert_eq!(told, "4 4 4, Some(\"x\") Some(1) Some(\"y\")\n");
    assert_eq!(said.len(), 3, "{said:?}");
    assert_eq!(said[0], "more than 4 arguments, 2 are left out");
    let (told, _) = counts(&server, 1, 1, "limit=0&");
    assert_eq!(told, "0 0 0, Some(\"x\") Some(1) Some(\"y\")\n");
    quits_in_peace(server);
}

/// What becomes of a form; with `content_type` where it has one.
#[track_caller]
fn form(server: &Server, path: &str, content_type: &str, body: &[u8]) -> (u16, String) {
    let mut client = Client::connect(server.addr());
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{content_type}Content-Length: {length}\r\n\r\n"
    );
    client.send([head.as_bytes(), body].concat());
    let answer = client.read();
    (answer.status, answer.text().to_owned())
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

#[test]
fn arguments_of_a_form() {
    let server = server();
    let body = b"b=1+2%20%C3%A4&a&=c&a=second&%61=3&&d=x=y&e=%ff\xe4";
    let told = "7 Some(\"\") {\"b\": \"1 2 \u{e4}\", \"a\": \"\", \"\": \"c\", \"a\": \"second\", \
                \"a\": \"3\", \"d\": \"x=y\", \"e\": \"\u{fffd}\u{fffd}\"}\n";
    for content_type in [
        FORM,
        "content-type: APPLICATION/x-www-form-urlencoded; charset=UTF-8\r\n",
        "",
    ] {
        let answer = form(&server, "/form", content_type, body);
        assert_eq!(answer, (200, told.to_owned()), "{content_type}");
    }
    assert_eq!(
        form(&server, "/form", FORM, b""),
        (200, "0 None {}\n".to_owned())
    );
    assert_eq!(text(&server, "/form"), "0 None {}\n");
    quits_in_peace(server);
}

#[test]
fn a_body_that_is_no_form_is_415_and_one_that_is_too_long_413() {
    let server = server();
    for other in ["multipart/form-data; boundary=x", "text/plain", ""] {
        let line = format!("Content-Type: {other}\r\n");
        assert_eq!(form(&server, "/form", &line, b"a=b").0, 415, "{other}");
    }
    logged(&server, "\"text/plain\" is no form's type");
    assert_eq!(form(&server, "/small_form", FORM, b"a=b&c").0, 413);
    assert_eq!(form(&server, "/small_form", FORM, b"a=bc").0, 200);
    quits_in_peace(server);
}

#[test]
fn a_hundred_arguments_of_a_form_and_the_rest_is_said_aloud() {
    let server = server();
    let body = "a=b&".repeat(102).into_bytes();
    assert!(
        form(&server, "/form", FORM, &body[..400])
            .1
            .starts_with("100 ")
    );
    assert!(!server.error_log().contains("client sent more"));
    assert!(form(&server, "/form", FORM, &body).1.starts_with("100 "));
    let line = logged(
        &server,
        "client sent more than 100 arguments in a form, 2 are left out",
    );
    assert!(line.contains("[warn]"), "{line}");
    let all = format!("/form?limit={}", usize::MAX);
    assert!(form(&server, &all, FORM, &body).1.starts_with("102 "));
    assert!(
        form(&server, "/form?limit=3", FORM, &body)
            .1
            .starts_with("3 ")
    );
    logged(&server, "more than 3 arguments in a form, 99 are left out");
    quits_in_peace(server);
}

#[test]
fn a_header_that_is_no_utf_8_is_replaced_in_texts_and_kept_in_bytes() {
    let server = server();
    let told = ask(&server, b"GET /headers HTTP/1.1\r\nX-One: a\xffb");
    assert!(
        told.contains("one is Some(\"a\u{fffd}b\"), in bytes Some(\"a\\\\xffb\")"),
        "{told}"
    );
    quits_in_peace(server);
}

#[test]
fn variables_by_name() {
    let server = server();
    for (name, value) in [
        ("own", "its own"),
        ("mapped", "mapped /variable"),
        ("arg_x", "y"),
        ("http_x_one", "one"),
        ("request_method", "GET"),
        ("REQUEST_METHOD", "GET"),
        ("none", ""),
    ] {
        let line = format!("GET /variable?name={name}&x=y HTTP/1.1\r\nX-One: one");
        let told = ask(&server, line.as_bytes());
        assert_eq!(
            told,
            format!("Some({value:?}), in bytes Some({value:?})\n"),
            "{name}"
        );
    }
    for name in [
        "nothing_like_it",
        "arg_z",
        "http_z",
        "cookie_z",
        "1",
        "",
        "own%00",
        "%ff",
    ] {
        let told = text(&server, &format!("/variable?name={name}"));
        assert_eq!(told, "None, in bytes None\n", "{name:?}");
    }
    let told = text(&server, "/variable?name=arg_x&x=%ff");
    assert_eq!(told, "Some(\"%ff\"), in bytes Some(\"%ff\")\n");
    quits_in_peace(server);
}

#[test]
fn values_of_the_configuration() {
    let server = server();
    assert_eq!(text(&server, "/value?a=1"), "a=1 b=mapped /value");
    assert_eq!(text(&server, "/value"), "a= b=mapped /value");
    assert_eq!(text(&server, "/constant"), "constant");
    let answer = get(&server, "/value?text&a=1");
    assert_eq!(answer.header("X-Text"), Some("a=1 b=mapped /value"));
    let answer = get(&server, "/texts/%C3%A4%FF?text");
    assert_eq!(answer.header("X-Text"), Some("/texts/ä\u{fffd}"));
    assert_eq!(answer.body, b"/texts/\xc3\xa4\xff");
    quits_in_peace(server);
}

#[test]
fn an_argument_that_takes_no_variables() {
    let server = server();
    assert_eq!(text(&server, "/constants"), "Some(7) Some(1.5s) of 60s\n");
    assert_eq!(text(&server, "/no_constants"), "None None of 60s\n");
    quits_in_peace(server);
    for (given, wrong) in [
        (
            "number=$arg_n",
            "invalid value \"$arg_n\" in \"number\" parameter, it must be a constant in ",
        ),
        (
            "delay=${arg_n}ms",
            "invalid value \"${arg_n}ms\" in \"delay\" parameter, it must be a constant in ",
        ),
        (
            "number=x",
            "invalid value \"x\" in \"number\" parameter, it must be a number in ",
        ),
        ("number=", "invalid value \"\" in \"number\" parameter"),
        ("number=1 number=2", "duplicate \"number\" parameter"),
    ] {
        let config = format!("location = /a {{ content_by_rust constants {given}; }}");
        let error = support::server().config(config).start().unwrap_err();
        assert!(error.to_string().contains(wrong), "{given}: {error}");
    }
}

/// Each unit or none, with spaces behind it or without, and perhaps a number without a unit. There are no months, which
/// nginx documents, but which its own directives in milliseconds refuse.
fn times() -> Vec<String> {
    const UNITS: [&str; 6] = ["w", "d", "h", "m", "s", "ms"];
    let mut times = Vec::new();
    for which in 1..1 << UNITS.len() {
        let of = |space: &str| -> String {
            let units = UNITS.iter().enumerate();
            let units = units.filter(|(at, _)| which & (1 << at) != 0);
            units
                .map(|(at, unit)| format!("{}{unit}{space}", 3 * at + 1))
                .collect()
        };
        times.extend([of(""), of("  ")]);
        if which < 1 << 4 {
            times.extend([of("") + "5", of(" ") + "0070 "]);
        }
    }
    times
}

#[test]
fn a_time_is_what_nginxs_own_directives_make_of_it() {
    let times = times();
    let locations = times.iter().enumerate().map(|(at, time)| {
        format!(
            "location = /{at} {{ rust_max_delay \"{time}\"; content_by_rust constants \"delay={time}\"; }}\n"
        )
    });
    let server = support::start(support::server().config(locations.collect::<String>()));
    for (at, time) in times.iter().enumerate() {
        let told = text(&server, &format!("/{at}"));
        let (delay, most) = told.trim_end().split_once(" of ").unwrap();
        assert_eq!(delay, format!("None Some({most})"), "{time:?}");
    }
}

#[test]
fn the_log_at_nginxs_levels_names_the_connection_and_the_request() {
    let server = server();
    assert_eq!(text(&server, "/levels?x"), "logged\n");
    let connection = {
        let line = logged(&server, "a line at Error");
        let (_, rest) = line.split_once(" *").expect("a connection's number");
        rest.split(' ').next().unwrap().to_owned()
    };
    for level in [
        "Emerg", "Alert", "Crit", "Error", "Warn", "Notice", "Info", "Debug",
    ] {
        let line = logged(&server, &format!("a line at {level}"));
        assert!(
            line.contains(&format!("[{}]", level.to_lowercase())),
            "{line}"
        );
        assert!(line.contains(&format!(
            " *{connection} a line at {level} with 100 %s and text"
        )));
        if level != "Debug" {
            assert!(
                line.contains("client: 127.0.0.1, server: localhost"),
                "{line}"
            );
            assert!(
                line.contains("request: \"GET /levels?x HTTP/1.1\""),
                "{line}"
            );
        }
    }
    // Another connection has another number.
    assert_eq!(get(&server, "/levels?y").status, 200);
    assert!(
        !server.error_log().lines().any(|line| {
            line.contains(&format!(" *{connection} ")) && line.contains("/levels?y")
        })
    );
    assert_eq!(alarms(&server).len(), 6, "the three levels of alarm, twice");
}

#[test]
fn the_log_leaves_out_what_the_configuration_does() {
    let config = "location = /levels { content_by_rust log_levels; }";
    let server = support::start(support::server().log_level("warn").config(config));
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/levels"));
    assert_eq!(client.read().status, 200);
    let log = server.error_log();
    let lines = log.lines().filter(|line| line.contains("a line at"));
    assert_eq!(lines.count(), 5, "{log}");
}
