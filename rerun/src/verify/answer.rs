//! One HTTP/1 answer, read strictly from the bytes that have come so far.

use super::fault::Fault;

/// Heads and bodies here are small: more than this is not what was asked for.
const MOST: usize = 1 << 20;

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// The minor version of HTTP/1.
    pub minor: u8,
    pub content_types: Vec<String>,
    /// The options of `Connection`, in lower case.
    pub connection: Vec<String>,
    pub framing: Framing,
    pub body: Vec<u8>,
}

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length,
    Chunked,
    Close,
}

impl Answer {
    /// Whether the server will read another request from this connection.
    pub fn keeps(&self) -> bool {
        let has = |name| self.connection.iter().any(|option| option == name);
        self.framing != Framing::Close
            && match self.minor {
                0 => has("keep-alive") && !has("close"),
                _ => !has("close"),
            }
    }
}

/// The answer at the beginning of these bytes and its length, if it is whole; none if more must come.
///
/// `ended`: the server has closed, so that no more can come. `head`: it answers HEAD and has no body.
pub fn parse(bytes: &[u8], ended: bool, head: bool) -> Result<Option<(Answer, usize)>, Fault> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let garbage = |why: &dyn std::fmt::Display| {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        Fault::Garbage(format!("{why} in {start:?}"))
    };
    let more = || {
        if bytes.len() > MOST {
            Err(garbage(&"no end"))
        } else if ended {
            Err(Fault::EarlyClose { got: bytes.len() })
        } else {
            Ok(None)
        }
    };
    let start = match response.parse(bytes) {
        Ok(httparse::Status::Complete(start)) => start,
        Ok(httparse::Status::Partial) => return more(),
        Err(error) => return Err(garbage(&error)),
    };
    let mut answer = Answer {
        status: response.code.unwrap_or_default(),
        minor: response.version.unwrap_or_default(),
        content_types: Vec::new(),
        connection: Vec::new(),
        framing: Framing::Close,
        body: Vec::new(),
    };
    let mut length = None;
    for header in response.headers.iter() {
        let value = String::from_utf8_lossy(header.value).into_owned();
        match header.name.to_ascii_lowercase().as_str() {
            "content-type" => answer.content_types.push(value),
            "connection" => {
                let options = value
                    .split(',')
                    .map(|option| option.trim().to_ascii_lowercase());
                answer.connection.extend(options);
            }
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => {
                answer.framing = Framing::Chunked;
            }
            "transfer-encoding" => return Err(garbage(&format!("Transfer-Encoding {value:?}"))),
            "content-length" => match number(&value) {
                Some(_) if length.is_some() => return Err(garbage(&"two Content-Length")),
                Some(number) if number <= MOST => length = Some(number),
                _ => return Err(garbage(&format!("Content-Length {value:?}"))),
            },
            _ => {}
        }
    }
    if length.is_some() && answer.framing == Framing::Chunked {
        return Err(garbage(&"both Content-Length and Transfer-Encoding"));
    }
    if length.is_some() {
        answer.framing = Framing::Length;
    }
    let body = &bytes[start..];
    if head {
        return Ok(Some((answer, start)));
    }
    let taken = match (answer.framing, length) {
        (Framing::Length, Some(length)) if body.len() >= length => {
            answer.body = body[..length].to_owned();
            Some(length)
        }
        (Framing::Chunked, _) => unchunk(body, &mut answer.body).map_err(|why| garbage(&why))?,
        (Framing::Close, _) if ended => {
            answer.body = body.to_owned();
            Some(body.len())
        }
        _ => None,
    };
    match taken {
        Some(taken) => Ok(Some((answer, start + taken))),
        None => more(),
    }
}

/// Digits alone: the standard library takes a sign.
fn number(value: &str) -> Option<usize> {
    let is_number = value.bytes().all(|c| c.is_ascii_digit());
    value.parse().ok().filter(|_| is_number)
}

/// Puts the chunks together and gives the length of all of them, if the last has come.
fn unchunk(bytes: &[u8], body: &mut Vec<u8>) -> Result<Option<usize>, String> {
    let mut at = 0;
    loop {
        // httparse takes a line without a digit for the last chunk.
        if bytes.get(at).is_some_and(|c| !c.is_ascii_hexdigit()) {
            return Err("a chunk without its size".to_owned());
        }
        let (after, size) = match httparse::parse_chunk_size(&bytes[at..]) {
            Ok(httparse::Status::Complete((after, size))) => (after, size as usize),
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err("a bad chunk size".to_owned()),
        };
        if size > MOST {
            return Err("a chunk too large".to_owned());
        }
        at += after;
        let Some(end) = bytes.get(at + size..at + size + 2) else {
            return Ok(None);
        };
        if end != b"\r\n" {
            return Err("a chunk longer than its size".to_owned());
        }
        body.extend(&bytes[at..at + size]);
        at += size + 2;
        if size == 0 {
            return Ok(Some(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

    fn whole(text: &str) -> (Answer, usize) {
        parse(text.as_bytes(), false, false).unwrap().unwrap()
    }

    #[test]
    fn counted() {
        let text = format!("{HEAD}Content-Length: 3\r\n\r\nOK\nmore");
        let (answer, length) = whole(&text);
        assert_eq!((answer.status, &answer.body[..]), (200, &b"OK\n"[..]));
        assert_eq!(length, text.len() - 4);
        assert!(answer.keeps());
        for cut in 0..length {
            assert_eq!(
                parse(&text.as_bytes()[..cut], false, false),
                Ok(None),
                "{cut}"
            );
            let ended = parse(&text.as_bytes()[..cut], true, false);
            assert_eq!(ended, Err(Fault::EarlyClose { got: cut }));
        }
    }

    #[test]
    fn chunked() {
        let text =
            format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n1\r\n\n\r\n0\r\n\r\n");
        let (answer, length) = whole(&text);
        assert_eq!(answer.body, b"OK\n");
        assert_eq!(answer.framing, Framing::Chunked);
        assert_eq!(length, text.len());
        for cut in 0..length {
            assert_eq!(
                parse(&text.as_bytes()[..cut], false, false),
                Ok(None),
                "{cut}"
            );
        }
        for (right, wrong) in [("2\r\n", "1\r\n"), ("0\r\n", ";\r\n"), ("0\r\n", "\r\n")] {
            let broken = parse(text.replace(right, wrong).as_bytes(), false, false);
            assert!(
                matches!(broken, Err(Fault::Garbage(_))),
                "{wrong:?} {broken:?}"
            );
        }
    }

    #[test]
    fn until_it_closes() {
        let text = "HTTP/1.0 200 OK\r\n\r\nOK\n";
        assert_eq!(parse(text.as_bytes(), false, false), Ok(None));
        let (answer, _) = parse(text.as_bytes(), true, false).unwrap().unwrap();
        assert_eq!(answer.body, b"OK\n");
        assert!(!answer.keeps());
    }

    #[test]
    fn garbage() {
        for text in [
            "\x16\x03\x01",
            "SSH-2.0-x\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            let fault = parse(text.as_bytes(), false, false);
            assert!(
                matches!(fault, Err(Fault::Garbage(_))),
                "{text:?} {fault:?}"
            );
        }
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let text = format!("{HEAD}Content-Length: 3\r\n\r\n");
        let (answer, _) = parse(text.as_bytes(), false, true).unwrap().unwrap();
        assert!(answer.body.is_empty());
    }
}
