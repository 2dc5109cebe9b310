//! One request, and what is wrong with its answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// nginx's clock ticks in milliseconds and may be one behind, so a timer may end that much early.
const CLOCK: Duration = Duration::from_millis(1);

/// What an answer must be.
pub struct Expected {
    pub body: &'static str,
    /// Where it is not left to nginx's configuration.
    pub content_type: Option<&'static str>,
    /// How long it must take at least.
    pub delay: Duration,
}

pub struct Answer {
    status: u16,
    content_type: String,
    body: Option<String>,
    took: Duration,
}

/// Asks with HTTP/1.1, as the generator does.
pub fn get(address: &str, path: &str) -> Result<Answer> {
    let mut stream =
        TcpStream::connect(address).with_context(|| format!("connecting to {address}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let begun = Instant::now();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut bytes = Vec::new();
    stream
        .read_to_end(&mut bytes)
        .with_context(|| format!("reading the answer to {path}"))?;
    let took = begun.elapsed();
    parse(&String::from_utf8_lossy(&bytes), took)
        .with_context(|| format!("{path} did not answer with HTTP"))
}

fn parse(text: &str, took: Duration) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    let header = |name: &str| {
        let value = |line: &str| {
            Some(
                line.split_once(": ")
                    .filter(|(n, _)| n.eq_ignore_ascii_case(name))?
                    .1
                    .to_owned(),
            )
        };
        head.lines().find_map(value)
    };
    let body = if header("Transfer-Encoding").is_some_and(|coding| coding == "chunked") {
        unchunk(body)
    } else {
        let length = header("Content-Length").and_then(|length| length.parse::<usize>().ok());
        length
            .is_none_or(|length| length == body.len())
            .then(|| body.to_owned())
    };
    Some(Answer {
        status,
        content_type: header("Content-Type").unwrap_or_default(),
        body,
        took,
    })
}

fn unchunk(mut rest: &str) -> Option<String> {
    let mut body = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n")?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.push_str(after.get(..size)?);
        rest = after.get(size..)?.strip_prefix("\r\n")?;
    }
}

impl Answer {
    /// The body, unless it was cut short.
    pub fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    /// What is wrong with it, if anything.
    pub fn fault(&self, expected: &Expected) -> Option<String> {
        if self.status != 200 {
            return Some(format!("answers with status {}", self.status));
        }
        let Some(body) = &self.body else {
            return Some("answers with a body cut short".into());
        };
        if body != expected.body {
            return Some(format!("answers {body:?}, not {:?}", expected.body));
        }
        if expected
            .content_type
            .is_some_and(|wanted| self.content_type != wanted)
        {
            return Some(format!(
                "is of type {:?}, not {:?}",
                self.content_type,
                expected.content_type.unwrap_or_default()
            ));
        }
        if self.took + CLOCK < expected.delay {
            return Some(format!(
                "answers after {:?}: it has not waited {:?}",
                self.took, expected.delay
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(answer: &str, took: u64, task: usize) -> String {
        let answer = parse(answer, Duration::from_millis(took)).unwrap();
        let expected = [&super::super::HELLO, &super::super::OK][task];
        answer.fault(expected).unwrap_or_default()
    }

    #[test]
    fn right_answers() {
        let counted = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nContent-Length: 20\r\n\r\n<h1>HelloWorld</h1>\n";
        assert_eq!(fault(counted, 0, 0), "");
        let chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n1\r\n\n\r\n0\r\n\r\n";
        assert_eq!(fault(chunked, 20, 1), "");
    }

    #[test]
    fn wrong_answers() {
        assert_eq!(
            fault("HTTP/1.1 404 Not Found\r\n\r\n", 20, 1),
            "answers with status 404"
        );
        assert_eq!(
            fault("HTTP/1.1 200 OK\r\n\r\nOK", 20, 1),
            "answers \"OK\", not \"OK\\n\""
        );
        assert_eq!(
            fault("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nOK\n", 20, 1),
            "answers with a body cut short"
        );
        assert_eq!(
            fault(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nOK\n",
                20,
                1
            ),
            "answers with a body cut short"
        );
        assert!(
            fault(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nOK\n",
                3,
                1
            )
            .contains("has not waited 20ms")
        );
        assert!(
            fault(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n<h1>HelloWorld</h1>\n",
                0,
                0
            )
            .contains("type")
        );
        assert!(parse("", Duration::ZERO).is_none());
    }
}
