//! Reading a response as HTTP::Response and Test::Nginx read it.

/// One response.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Response {
    /// The status, if it is a number.
    pub code: Option<String>,
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Status line and headers as they came.
    pub raw_headers: Vec<u8>,
    pub body: Vec<u8>,
}

/// A response, what follows it, and what is amiss with it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parsed {
    /// None if the chunks of the body are broken.
    pub response: Option<Response>,
    pub left: Vec<u8>,
    pub error: Option<String>,
}

impl Response {
    /// The values of a header, joined. As there, `_` in the name stands for `-`.
    pub fn header(&self, name: &str) -> Option<Vec<u8>> {
        let name = name.replace('_', "-");
        let is_it = |(key, _): &&(Vec<u8>, _)| key.eq_ignore_ascii_case(name.as_bytes());
        let values: Vec<_> = self
            .headers
            .iter()
            .filter(is_it)
            .map(|(_, value)| value.as_slice())
            .collect();
        (!values.is_empty()).then(|| values.join(&b", "[..]))
    }
}

/// Reads the first response out of what a connection gave.
pub(crate) fn parse(text: &[u8]) -> Parsed {
    let mut response = Response::default();
    let mut rest = text;
    if let Some(end) = crate::expand::find(text, b"\r\n\r\n") {
        response.raw_headers = text[..end + 2].to_vec();
    }

    let status = String::from_utf8_lossy(line(&mut rest)).into_owned();
    let is_code = |code: &&str| !code.is_empty() && code.bytes().all(|c| c.is_ascii_digit());
    let mut words = status.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    let code = if first.len() == 3 && is_code(&first) {
        Some(first)
    } else {
        words.next()
    };
    response.code = code.filter(is_code).map(str::to_owned);
    headers(&mut response, &mut rest);
    response.body = rest.to_vec();

    if matches!(response.code.as_deref(), Some("304" | "101")) {
        return Parsed {
            response: Some(response),
            ..Parsed::default()
        };
    }
    if response.header("Transfer-Encoding").as_deref() == Some(b"chunked") {
        let trailers = response.header("Trailer").is_some();
        return match unchunk(&response.body, trailers) {
            Ok((body, left)) => {
                response.body = body;
                Parsed {
                    response: Some(response),
                    left,
                    error: None,
                }
            }
            Err(error) => Parsed {
                response: None,
                left: Vec::new(),
                error: Some(error),
            },
        };
    }
    let length = response.header("Content-Length").and_then(|length| {
        std::str::from_utf8(&length)
            .ok()
            .and_then(|length| length.trim().parse::<usize>().ok())
    });
    let mut left = Vec::new();
    if let Some(length) = length.filter(|&length| length < response.body.len()) {
        left = response.body.split_off(length);
    }
    Parsed {
        response: Some(response),
        left,
        error: None,
    }
}

/// Takes one line, without its end.
fn line<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = rest.iter().position(|&c| c == b'\n');
    let line = &rest[..end.unwrap_or(rest.len())];
    *rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn headers(response: &mut Response, rest: &mut &[u8]) {
    loop {
        let mut after = *rest;
        let text = line(&mut after);
        if matches!(text.first(), Some(b' ' | b'\t')) && !response.headers.is_empty() {
            let (_, value) = response.headers.last_mut().expect("there is one");
            value.push(b'\n');
            value.extend_from_slice(text);
            *rest = after;
            continue;
        }
        let colon = text.iter().position(|&c| c == b':');
        let name = text[..colon.unwrap_or(0)].trim_ascii_end();
        if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            if text.is_empty() {
                *rest = after;
            }
            return;
        }
        let value = &text[colon.unwrap_or(0) + 1..];
        let value = value.strip_prefix(b" ").unwrap_or(value);
        response.headers.push((name.to_vec(), value.to_vec()));
        *rest = after;
    }
}

/// The body out of its chunks, and what follows the last one.
fn unchunk(text: &[u8], trailers: bool) -> Result<(Vec<u8>, Vec<u8>), String> {
    let mut body = Vec::new();
    let mut rest = text;
    loop {
        let Some(end) = crate::expand::find(rest, b"\r\n") else {
            return Err(if rest.is_empty() {
                "the last chunk is missing".to_owned()
            } else {
                format!("a bad chunk: {:?}", String::from_utf8_lossy(rest))
            });
        };
        let size = std::str::from_utf8(&rest[..end]).ok();
        let size =
            size.and_then(|size| usize::from_str_radix(size.trim_matches([' ', '\t']), 16).ok());
        let size = size.ok_or_else(|| {
            format!(
                "a bad chunk size: {:?}",
                String::from_utf8_lossy(&rest[..end])
            )
        })?;
        rest = &rest[end + 2..];
        if size == 0 {
            while trailers && !rest.starts_with(b"\r\n") {
                let end = crate::expand::find(rest, b"\r\n").ok_or("a bad trailer")?;
                rest = &rest[end + 2..];
            }
            let left = rest
                .strip_prefix(b"\r\n")
                .ok_or("no CRLF after the last chunk")?;
            return Ok((body, left.to_vec()));
        }
        if rest.len() < size {
            return Err(format!("a chunk of {size} bytes has only {}", rest.len()));
        }
        body.extend_from_slice(&rest[..size]);
        rest = rest[size..]
            .strip_prefix(b"\r\n")
            .ok_or("no CRLF after a chunk")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(text: &str) -> Response {
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.error, None);
        parsed.response.unwrap()
    }

    #[test]
    fn reads_status_headers_and_body() {
        let got = response("HTTP/1.1 404 Not Found\r\nA: b\r\nX:  y\r\nA: c\r\n\r\nbody");
        assert_eq!(got.code.as_deref(), Some("404"));
        assert_eq!(got.header("a").unwrap(), b"b, c");
        assert_eq!(got.header("x").unwrap(), b" y");
        assert_eq!(got.header("none"), None);
        assert_eq!(got.body, b"body");
        assert_eq!(
            got.raw_headers,
            b"HTTP/1.1 404 Not Found\r\nA: b\r\nX:  y\r\nA: c\r\n"
        );
    }

    #[test]
    fn nothing_has_no_status() {
        assert_eq!(response("").code, None);
        assert_eq!(response("write failed: reset").code, None);
    }

    #[test]
    fn a_length_ends_the_body() {
        let parsed = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1");
        assert_eq!(parsed.response.unwrap().body, b"ab");
        assert_eq!(parsed.left, b"HTTP/1.1");
        assert_eq!(
            response("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab").body,
            b"ab"
        );
    }

    #[test]
    fn chunks_are_joined() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let parsed =
            parse(format!("{head}3\r\nabc\r\nA \r\n0123456789\r\n0\r\n\r\nmore").as_bytes());
        assert_eq!(parsed.response.unwrap().body, b"abc0123456789");
        assert_eq!(parsed.left, b"more");
        for broken in ["", "3\r\nab", "x\r\n", "3\r\nabcd\r\n0\r\n\r\n", "0\r\n"] {
            assert!(
                parse(format!("{head}{broken}").as_bytes()).error.is_some(),
                "{broken:?}"
            );
        }
    }

    #[test]
    fn trailers_are_passed_over() {
        let head = "HTTP/1.1 200 OK\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(
            response(&format!("{head}1\r\na\r\n0\r\nX: y\r\n\r\n")).body,
            b"a"
        );
    }

    #[test]
    fn a_304_has_no_body_to_cut() {
        let got = response("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!(got.code.as_deref(), Some("304"));
    }
}
