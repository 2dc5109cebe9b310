//! From the request sections of a block to the bytes on the wire.

use std::time::Duration;

use crate::expand::find;
use crate::value::Value;

/// Bytes to send, after a pause.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Packet {
    pub bytes: Vec<u8>,
    pub delay: Option<Duration>,
}

/// One connection's worth of packets.
pub(crate) type Request = Vec<Packet>;

/// What the sections say about requests.
pub(crate) struct Sections<'a> {
    pub request: &'a Value,
    pub raw_request: &'a Value,
    pub pipelined: &'a Value,
    pub more_headers: &'a Value,
    pub server_name: &'a str,
}

/// All requests of a block; each is sent on a connection of its own.
pub(crate) fn build(sections: &Sections) -> Result<Vec<Request>, String> {
    match (sections.raw_request, sections.pipelined, sections.request) {
        (Value::List(packets), _, _) => {
            let packets = packets
                .iter()
                .map(|packet| Ok(plain(bytes(packet, "raw_request")?)));
            Ok(vec![packets.collect::<Result<_, String>>()?])
        }
        (Value::Undef, Value::Undef, Value::Undef) => Err(
            "the block has no request: no --- request, raw_request or pipelined_requests"
                .to_owned(),
        ),
        (Value::Undef, Value::Undef, Value::List(requests)) => requests
            .iter()
            .enumerate()
            .map(|(i, request)| sections.one(i, "close", request))
            .collect(),
        (Value::Undef, Value::Undef, request) => {
            let request = strip_comments(bytes(request, "request")?);
            Ok(vec![sections.one(0, "close", &Value::text(request))?])
        }
        (Value::Undef, Value::List(requests), _) => {
            let mut all = Vec::new();
            for (i, request) in requests.iter().enumerate() {
                let last = i + 1 == requests.len();
                let connection = if last { "close" } else { "keep-alive" };
                for packet in sections.one(i, connection, request)? {
                    all.extend(packet.bytes);
                }
            }
            Ok(vec![vec![plain(&all)]])
        }
        (Value::Undef, _, _) => Err("--- pipelined_requests must be an array".to_owned()),
        (raw, _, _) => Ok(vec![vec![plain(bytes(raw, "raw_request")?)]]),
    }
}

impl Sections<'_> {
    /// Request number `i`: a string, or an array of packets.
    fn one(&self, i: usize, connection: &str, request: &Value) -> Result<Request, String> {
        let headers = match self.more_headers {
            Value::List(list) => match list.get(i) {
                Some(Value::Undef) | None => {
                    return Err(format!("--- more_headers has no entry for request {i}"));
                }
                Some(headers) => bytes(headers, "more_headers")?,
            },
            Value::Undef => b"",
            headers => bytes(headers, "more_headers")?,
        };
        let packets = match request {
            Value::List(packets) => packets.iter().map(packet).collect::<Result<Vec<_>, _>>()?,
            request => vec![plain(bytes(request, "request")?)],
        };
        complete(packets, headers, connection, self.server_name)
    }
}

/// A packet is a string, or a hash with `value` and perhaps `delay_before`.
fn packet(value: &Value) -> Result<Packet, String> {
    match value {
        Value::Map(map) => {
            let text = map
                .get("value")
                .ok_or("--- request: a packet has no 'value'")?;
            let delay = map.get("delay_before").and_then(Value::str);
            let delay = delay.map(|seconds| {
                let seconds = seconds.trim().parse().ok();
                let delay = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                delay.ok_or("--- request: bad 'delay_before'")
            });
            let delay = delay.transpose()?;
            Ok(Packet {
                bytes: bytes(text, "request")?.to_vec(),
                delay,
            })
        }
        text => Ok(plain(bytes(text, "request")?)),
    }
}

fn plain(bytes: &[u8]) -> Packet {
    Packet {
        bytes: bytes.to_vec(),
        delay: None,
    }
}

fn bytes<'a>(value: &'a Value, section: &str) -> Result<&'a [u8], String> {
    value
        .bytes()
        .ok_or_else(|| format!("--- {section} holds {value:?} where a string is due"))
}

/// The space and the `#` lines in front of a request are not part of it.
fn strip_comments(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        if text.first() != Some(&b'#') {
            return text;
        }
        match text.iter().position(|&c| c == b'\n') {
            Some(end) if end > 1 => text = &text[end..],
            _ => return text,
        }
    }
}

/// The parts of a request as a test file writes it, each with its place.
struct Parsed {
    before: usize,
    method: (usize, Vec<u8>),
    after_method: usize,
    url: (usize, Vec<u8>),
    after_url: usize,
    version: (usize, Vec<u8>),
    after_version: usize,
    body: Vec<u8>,
}

fn parse(text: &[u8]) -> Result<Parsed, String> {
    let end = text
        .iter()
        .position(|&c| c == b'\n')
        .map_or(text.len(), |i| i + 1);
    let (line, body) = text.split_at(end);
    let blank = |text: &[u8]| text.iter().take_while(|c| c.is_ascii_whitespace()).count();
    let spaces = |text: &[u8]| text.iter().take_while(|&&c| c == b' ').count();
    let word = |text: &[u8]| text.iter().take_while(|c| !c.is_ascii_whitespace()).count();

    let mut at = blank(line);
    let mut take = |default: &str| {
        let length = word(&line[at..]);
        let text = if length > 0 {
            &line[at..at + length]
        } else {
            default.as_bytes()
        };
        at += length;
        let gap = spaces(&line[at..]);
        at += gap;
        ((length, text.to_vec()), gap)
    };
    let (method, after_method) = take("");
    let (url, after_url) = take("/");
    let (version, after_version) = take("HTTP/1.1");
    let rest = line.len() - at;
    if method.0 == 0 || blank(&line[at..]) != rest {
        let line = String::from_utf8_lossy(line);
        return Err(format!(
            "the request line is not 'METHOD [URL [VERSION]]': {line:?}"
        ));
    }
    Ok(Parsed {
        before: blank(line),
        method,
        after_method,
        url,
        after_url,
        version,
        after_version: after_version + rest,
        body: body.to_vec(),
    })
}

/// Gives a request the URL, version and headers it lacks. The packets keep
/// their borders: what is added goes into the packet where it belongs.
fn complete(
    packets: Vec<Packet>,
    more_headers: &[u8],
    connection: &str,
    server_name: &str,
) -> Result<Request, String> {
    let text: Vec<u8> = packets
        .iter()
        .flat_map(|packet| packet.bytes.clone())
        .collect();
    let parsed = parse(&text)?;
    let (headers, chunked) = headers_of(more_headers);

    let mut body = parsed.body.as_slice();
    let mut head = Vec::new();
    let has = |name: &str| {
        let lower = headers.to_ascii_lowercase();
        lower.starts_with(name.as_bytes()) || find(&lower, format!("\n{name}").as_bytes()).is_some()
    };
    if !has("host:") {
        head.extend(format!("Host: {server_name}\r\n").bytes());
    }
    if !has("connection") {
        head.extend(format!("Connection: {connection}\r\n").bytes());
    }
    head.extend_from_slice(&headers);
    let own_length =
        headers.starts_with(b"Content-Length:") || find(&headers, b"\nContent-Length:").is_some();
    if !chunked && !body.is_empty() && !own_length {
        body = body.trim_ascii();
        head.extend(format!("Content-Length: {}\r\n", body.len()).bytes());
    }
    head.extend(b"\r\n");

    let with = |text: &[u8], end: &[u8]| [text, end].concat();
    let edits = [
        (parsed.before, Vec::new()),
        (parsed.method.0, with(&parsed.method.1, b" ")),
        (parsed.after_method, Vec::new()),
        (parsed.url.0, with(&parsed.url.1, b" ")),
        (parsed.after_url, Vec::new()),
        (parsed.version.0, with(&parsed.version.1, b"\r\n")),
        (parsed.after_version, Vec::new()),
        (0, head),
        (parsed.body.len(), body.to_vec()),
    ];
    Ok(rewrite(packets, &edits))
}

/// Replaces, one after the other, so many bytes by such text. Text that
/// replaces bytes of several packets is shared out among them.
fn rewrite(packets: Vec<Packet>, edits: &[(usize, Vec<u8>)]) -> Request {
    let mut edits = edits
        .iter()
        .map(|(size, text)| (*size, text.as_slice()))
        .peekable();
    let mut pending = edits.next();
    let mut out = Vec::new();
    for packet in packets {
        let mut rest = packet.bytes.as_slice();
        let mut bytes = Vec::new();
        while let Some((size, text)) = pending {
            if size > rest.len() {
                let share = text.len().min(rest.len());
                bytes.extend_from_slice(&text[..share]);
                pending = Some((size - rest.len(), &text[share..]));
                rest = &[];
                break;
            }
            bytes.extend_from_slice(text);
            rest = &rest[size..];
            pending = edits.next();
        }
        bytes.extend_from_slice(rest);
        if !bytes.is_empty() || packet.bytes.is_empty() {
            out.push(Packet {
                bytes,
                delay: packet.delay,
            });
        }
    }
    out
}

/// The lines of `--- more_headers` as they are sent, and whether they say that
/// the body comes in chunks.
fn headers_of(text: &[u8]) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let mut chunked = false;
    for line in text.split(|&c| c == b'\n').filter(|line| !line.is_empty()) {
        if line.trim_ascii_start().first() == Some(&b'#') {
            continue;
        }
        let colon = line.iter().position(|&c| c == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii_start();
        chunked |= name.eq_ignore_ascii_case(b"transfer-encoding") && value == b"chunked";
        out.extend_from_slice(&[name, b": ", value, b"\r\n"].concat());
    }
    (out, chunked)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Value = Value::Undef;

    fn built(request: Value, more_headers: Value) -> Vec<Vec<String>> {
        let sections = Sections {
            request: &request,
            raw_request: &NONE,
            pipelined: &NONE,
            more_headers: &more_headers,
            server_name: "localhost",
        };
        texts(build(&sections).unwrap())
    }

    fn texts(requests: Vec<Request>) -> Vec<Vec<String>> {
        let text = |packet: Packet| String::from_utf8(packet.bytes).unwrap();
        requests
            .into_iter()
            .map(|r| r.into_iter().map(text).collect())
            .collect()
    }

    #[test]
    fn a_request_line_is_completed() {
        let head = "Host: localhost\r\nConnection: close\r\n\r\n";
        for (request, line) in [
            ("GET /a\n", "GET /a HTTP/1.1\r\n"),
            ("GET\n", "GET / HTTP/1.1\r\n"),
            ("  GET   /a  HTTP/1.0 \n", "GET /a HTTP/1.0\r\n"),
            ("# a comment\n\n  # another\nGET /a", "GET /a HTTP/1.1\r\n"),
        ] {
            assert_eq!(
                built(Value::text(request), NONE),
                [[format!("{line}{head}")]]
            );
        }
    }

    #[test]
    fn a_body_is_trimmed_and_measured() {
        let got = built(Value::text("POST /a\nhello\n"), Value::text("X: y\n"));
        let want = "POST /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: y\r\n\
                    Content-Length: 5\r\n\r\nhello";
        assert_eq!(got, [[want]]);
    }

    #[test]
    fn a_body_with_headers_of_its_own_is_left_alone() {
        let headers = Value::text("Transfer-Encoding: chunked\nHost: h\nConnection: x");
        let got = built(Value::text("POST /a\n1\r\nx\r\n0\r\n\r\n"), headers);
        let want = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: h\r\n\
                    Connection: x\r\n\r\n1\r\nx\r\n0\r\n\r\n";
        assert_eq!(got, [[want]]);
    }

    #[test]
    fn packets_keep_their_borders() {
        let delayed = Value::Map(
            [
                ("value".into(), Value::text("T /foo")),
                ("delay_before".into(), Value::text("0.1")),
            ]
            .into(),
        );
        let packets = Value::List(vec![Value::text("GE"), delayed]);
        let got = built(Value::List(vec![packets.clone()]), NONE);
        let head = "Host: localhost\r\nConnection: close\r\n\r\n";
        assert_eq!(
            got,
            [["GE".to_owned(), format!("T /foo HTTP/1.1\r\n{head}")]]
        );

        let list = packets.list().unwrap();
        assert_eq!(
            packet(&list[1]).unwrap().delay,
            Some(Duration::from_millis(100))
        );
        for none in ["-1", "nan", "1e99", "soon"] {
            let wrong = Value::Map(
                [
                    ("value".into(), Value::text("x")),
                    ("delay_before".into(), Value::text(none)),
                ]
                .into(),
            );
            assert!(packet(&wrong).is_err(), "{none}");
        }
    }

    #[test]
    fn each_request_has_its_headers() {
        let requests = Value::List(vec![Value::text("GET /a"), Value::text("GET /b")]);
        let headers = Value::List(vec![Value::text("A: 1"), Value::text("B: 2")]);
        let got = built(requests.clone(), headers);
        assert!(
            got[0][0].contains("A: 1\r\n") && got[1][0].contains("B: 2\r\n"),
            "{got:?}"
        );

        let short = Value::List(vec![Value::text("A: 1")]);
        let sections = Sections {
            request: &requests,
            raw_request: &NONE,
            pipelined: &NONE,
            more_headers: &short,
            server_name: "localhost",
        };
        assert_eq!(
            build(&sections).unwrap_err(),
            "--- more_headers has no entry for request 1"
        );
    }

    #[test]
    fn pipelined_requests_share_a_connection() {
        let requests = Value::List(vec![Value::text("GET /a"), Value::text("GET /b")]);
        let sections = Sections {
            request: &NONE,
            raw_request: &NONE,
            pipelined: &requests,
            more_headers: &NONE,
            server_name: "localhost",
        };
        let got = texts(build(&sections).unwrap());
        assert_eq!(got.len(), 1);
        assert!(got[0][0].contains("GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive"));
        assert!(got[0][0].contains("GET /b HTTP/1.1\r\nHost: localhost\r\nConnection: close"));
    }

    #[test]
    fn a_bad_line_is_an_error() {
        assert!(parse(b"GET /a HTTP/1.1 x\n").is_err());
        assert!(parse(b"GET\t/a\n").is_err());
        assert!(parse(b"").is_err());
    }
}
