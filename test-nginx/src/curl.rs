//! Requests over HTTP/2, sent by curl as Test::Nginx has it.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::request::Request;

/// The arguments of a curl that sends `request`; a body goes into `room`.
pub(crate) fn arguments(
    request: &Request,
    server: &str,
    timeout: Duration,
    protocol: &str,
    room: &Path,
) -> Result<Vec<String>, String> {
    let text: Vec<u8> = request
        .iter()
        .flat_map(|packet| packet.bytes.clone())
        .collect();
    let end = crate::expand::find(&text, b"\r\n\r\n").ok_or("the request has no end of headers")?;
    let head = String::from_utf8_lossy(&text[..end]);
    let body = &text[end + 4..];
    let mut lines = head.split("\r\n");
    let line: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let [method, uri, version] = line[..] else {
        return Err(format!(
            "the request line {line:?} is not one that curl can send"
        ));
    };

    // curl sends only what the test says.
    let mut arguments: Vec<String> = [
        "-i",
        "-sS",
        "-H",
        "User-Agent:",
        "-H",
        "Accept:",
        "-H",
        "Host:",
    ]
    .map(str::to_owned)
    .into();
    let mut add = |argument: &str| arguments.push(argument.to_owned());
    add("--http2-prior-knowledge");
    match method {
        "HEAD" => add("-I"),
        "GET" => {}
        method => {
            add("-X");
            add(method);
        }
    }
    if version != "HTTP/1.1" {
        add("-0");
    }
    let is_header = |header: &&str, name: &str| {
        header
            .split(':')
            .next()
            .is_some_and(|h| h.trim().eq_ignore_ascii_case(name))
    };
    let headers: Vec<&str> = lines
        .filter(|header| !is_header(header, "connection"))
        .collect();
    for header in &headers {
        add("-H");
        add(header);
    }
    if !body.is_empty() {
        if !headers
            .iter()
            .any(|header| is_header(header, "content-type"))
        {
            add("-H");
            add("Content-Type:");
        }
        let file = room.join("curl.data");
        fs::write(&file, body).map_err(|e| format!("{}: {e}", file.display()))?;
        add("--data-binary");
        add(&format!("@{}", file.display()));
    }
    let seconds = timeout.as_secs_f64().to_string();
    for argument in ["--connect-timeout", &seconds, "--max-time", &seconds] {
        add(argument);
    }
    add(&format!("{protocol}://{server}{uri}"));
    Ok(arguments)
}

/// What curl prints of the response, and what it complains of.
pub(crate) fn run(arguments: &[String]) -> io::Result<(Vec<u8>, String)> {
    let output = Command::new("curl").args(arguments).output().map_err(|e| {
        io::Error::new(
            e.kind(),
            format!("cannot run curl, which --- http2 needs: {e}"),
        )
    })?;
    let complaint = String::from_utf8_lossy(&output.stderr)
        .trim_end()
        .to_owned();
    Ok((output.stdout, complaint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Packet;

    fn command(text: &str) -> String {
        let request = vec![Packet {
            bytes: text.as_bytes().to_vec(),
            delay: None,
        }];
        let room = tempfile::tempdir().unwrap();
        arguments(
            &request,
            "127.0.0.1:81",
            Duration::from_secs(3),
            "http",
            room.path(),
        )
        .unwrap()
        .join(" ")
        .replace(&room.path().display().to_string(), "ROOM")
    }

    #[test]
    fn headers_are_handed_on() {
        let got = command("GET /a?b HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX: y\r\n\r\n");
        assert!(
            got.contains("-H Host: h -H X: y --connect-timeout 3"),
            "{got}"
        );
        assert!(got.ends_with("http://127.0.0.1:81/a?b"), "{got}");
        assert!(!got.contains("Connection"), "{got}");
    }

    #[test]
    fn a_body_is_sent_from_a_file() {
        let got = command("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
        assert!(got.contains("-X POST"), "{got}");
        assert!(got.contains("--data-binary @ROOM/curl.data"), "{got}");
    }
}
