//! `docs/from-lua.md`: the programs of each part, in Lua and in Rust, answer alike, and as the page says.

#[path = "from-lua/src/page.rs"]
mod page;
mod support;

use page::Part;
use std::fmt::Write;
use support::http::{Answer, Client, request};
use support::{alarms, companions, eventually, module, nginx_with};
use test_nginx::Server;

/// Those of two answers that may differ: when, how long, by how many pieces.
const MAY_DIFFER: [&str; 4] = ["Date", "Content-Length", "Transfer-Encoding", "Connection"];

/// A request and what is answered: nothing, where the client goes.
#[derive(Default)]
struct Exchange {
    request: Vec<String>,
    answer: Vec<String>,
}

impl Exchange {
    fn all(text: &str) -> Vec<Exchange> {
        let mut all: Vec<Exchange> = Vec::new();
        for line in text.lines() {
            let (side, rest) = line.split_at(1);
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            let begins = rest.starts_with(|c: char| c.is_ascii_uppercase())
                && rest
                    .split(' ')
                    .nth(1)
                    .is_some_and(|path| path.starts_with('/'));
            match side {
                ">" if begins => all.push(Exchange {
                    request: vec![rest.to_owned()],
                    answer: vec![],
                }),
                ">" => all
                    .last_mut()
                    .expect("a request")
                    .request
                    .push(rest.to_owned()),
                "<" => all
                    .last_mut()
                    .expect("a request")
                    .answer
                    .push(rest.to_owned()),
                _ => panic!("{line:?} is neither sent nor answered"),
            }
        }
        all
    }

    /// The request, for the program in this language.
    fn request(&self, language: &str) -> String {
        let (method, path) = self.request[0]
            .split_once(' ')
            .expect("a method and a path");
        let (head, body) = split(&self.request[1..]);
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {language}\r\n");
        for line in head {
            let _ = write!(request, "{line}\r\n");
        }
        if let Some(body) = &body {
            let _ = write!(request, "Content-Length: {}\r\n", body.len());
        }
        request + "\r\n" + &body.unwrap_or_default()
    }

    /// What is wrong with an answer.
    fn fault(&self, answer: &Answer) -> Option<String> {
        let (head, body) = split(&self.answer);
        if head[0] != answer.status.to_string() {
            return Some(format!("status {}, not {}", answer.status, head[0]));
        }
        for line in &head[1..] {
            let (name, value) = line.split_once(": ").expect("a header line");
            if !answer.all(name).contains(&value) {
                return Some(format!("no {line:?} in {:?}", answer.headers));
            }
        }
        let body = body? + "\n";
        (answer.text() != body).then(|| format!("{:?}, not {body:?}", answer.text()))
    }
}

/// What stands before the empty line, and behind it.
fn split(lines: &[String]) -> (&[String], Option<String>) {
    match lines.iter().position(String::is_empty) {
        Some(at) => (&lines[..at], Some(lines[at + 1..].join("\n"))),
        None => (lines, None),
    }
}

/// All programs in one nginx, which has a server of each language's name.
fn server(parts: &[Part]) -> Server {
    let all = |language| -> String { parts.iter().map(|part| part.block(language)).collect() };
    let common = all("nginx server");
    let mut http = all("nginx http");
    for language in ["lua", "rust"] {
        let mut locations = String::new();
        for part in parts {
            let (name, own) = (part.handler(), part.block("nginx location"));
            let content = match language {
                "lua" => format!("content_by_lua_block {{\n{}}}", part.block("lua")),
                _ => format!("content_by_rust {name};"),
            };
            let _ = writeln!(locations, "location = /{name} {{ {own} {content} }}");
        }
        let _ = writeln!(
            http,
            "server {{
                 listen $TEST_NGINX_SERVER_PORT;
                 server_name {language};
                 default_type text/plain;
                 absolute_redirect off;
                 {common} {locations}
             }}"
        );
    }
    let mut modules = companions();
    modules.push(module("test-from-lua"));
    let server = Server::builder().nginx(nginx_with(modules)).master(true);
    support::start(server.log_level("info").http_config(http).config(common))
}

fn ask(server: &Server, request: &str) -> Answer {
    let mut client = Client::connect(server.addr());
    client.send(request);
    client.read()
}

/// The header lines that must be equal, in an order of their own: Lua and nginx sort them
/// differently.
fn comparable(answer: &Answer) -> Vec<(String, String)> {
    let mut lines: Vec<_> = answer.headers.clone();
    lines.retain(|(name, _)| {
        !MAY_DIFFER
            .iter()
            .any(|other| name.eq_ignore_ascii_case(other))
    });
    lines.sort();
    lines
}

#[test]
fn programs_in_both_languages_answer_as_the_page_says() {
    let text = std::fs::read_to_string(support::root().join("docs/from-lua.md")).expect("a page");
    let parts = Part::all(&text);
    let server = server(&parts);
    for part in &parts {
        let title = part.title;
        let exchanges = Exchange::all(part.block("text"));
        assert!(
            exchanges.iter().any(|one| !one.answer.is_empty()),
            "{title}: nothing is asked"
        );
        let mut left = false;
        for exchange in exchanges {
            if exchange.answer.is_empty() {
                for language in ["lua", "rust"] {
                    let mut client = Client::connect(server.addr());
                    client.send(exchange.request(language));
                    // Lua does not see a FIN that comes together with the request: by the time that
                    // another is answered the worker has seen the first.
                    ask(&server, &request("GET", "/"));
                    client.close();
                }
                left = true;
                continue;
            }
            let answers = ["lua", "rust"].map(|language| {
                let request = exchange.request(language);
                if left {
                    eventually(&format!("{title} in {language}"), || {
                        exchange.fault(&ask(&server, &request)).is_none()
                    });
                }
                let answer = ask(&server, &request);
                let fault = exchange.fault(&answer);
                assert_eq!(fault, None, "{title} in {language}: {request:?}");
                answer
            });
            let [lua, rust] = answers;
            assert_eq!(comparable(&lua), comparable(&rust), "{title}");
            assert_eq!(lua.body, rust.body, "{title}");
        }
    }
    assert_eq!(alarms(&server), Vec::<String>::new());
}

#[test]
fn the_table_leads_to_each_part() {
    let text = std::fs::read_to_string(support::root().join("docs/from-lua.md")).expect("a page");
    for part in Part::all(&text) {
        let anchor: String = part
            .title
            .to_lowercase()
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                c => c.is_alphanumeric().then_some(c),
            })
            .collect();
        let link = format!("(#{anchor})");
        assert!(text.contains(&link), "the table has no link to {link}");
    }
}
