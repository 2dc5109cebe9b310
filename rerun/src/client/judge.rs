//! Whether some bytes are the right answer, the beginning of it, or wrong.
//!
//! Message framing is that of RFC 9112, section 6.3, for an answer to GET.

use super::Expect;
use super::chunked;
use crate::result::Failure;

/// A head that is longer than this is none.
const LONGEST_HEAD: usize = 64 * 1024;

#[derive(Debug, PartialEq)]
pub enum Judgement {
    /// Right so far, and not whole.
    More,
    /// The first `length` bytes are the right answer.
    Right {
        length: usize,
        /// The server will close the connection, or has.
        closes: bool,
    },
    /// What is wrong, and what was seen.
    Wrong(Failure, String),
}

use Judgement::{More, Right, Wrong};

/// Judges all bytes of an answer that have come so far; `ended` says that no more will.
pub fn judge(bytes: &[u8], ended: bool, expect: &Expect) -> Judgement {
    let early = || Wrong(Failure::EarlyClose, closed_after(bytes));
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    let at = match head.parse(bytes) {
        Ok(httparse::Status::Complete(at)) => at,
        Ok(httparse::Status::Partial) if bytes.len() > LONGEST_HEAD => {
            return Wrong(Failure::Malformed, "a head of more than 64 KiB".into());
        }
        Ok(httparse::Status::Partial) if ended => return early(),
        Ok(httparse::Status::Partial) => return More,
        Err(error) => {
            return Wrong(Failure::Malformed, format!("{error}: {}", excerpt(bytes)));
        }
    };
    let status = head.code.unwrap_or(0);
    // An interim answer comes before the answer.
    if is_interim(status) {
        let at = at + interim(&bytes[at..]);
        if at > LONGEST_HEAD {
            let what = "interim answers of more than 64 KiB";
            return Wrong(Failure::Malformed, what.into());
        }
        return match judge(&bytes[at..], ended, expect) {
            Right { length, closes } => Right {
                length: at + length,
                closes,
            },
            other => other,
        };
    }
    let body = &bytes[at..];
    if status != expect.status {
        let reason = head.reason.unwrap_or("");
        let seen = format!("{status} {reason}: {}", excerpt(body));
        return Wrong(Failure::WrongStatus, seen);
    }
    let framing = match Framing::of(&head) {
        Ok(framing) => framing,
        Err(what) => return Wrong(Failure::Malformed, what),
    };
    match framing.body {
        Body::Length(length) if length != expect.body.len() as u64 => Wrong(
            Failure::WrongLength,
            format!(
                "{length} bytes, not {}: {}",
                expect.body.len(),
                excerpt(body)
            ),
        ),
        Body::Length(_) if body.len() < expect.body.len() => {
            if !expect.body.starts_with(body) {
                wrong_body(body)
            } else if ended {
                early()
            } else {
                More
            }
        }
        Body::Length(length) => {
            let length = length as usize;
            if body[..length] == expect.body[..] {
                Right {
                    length: at + length,
                    closes: framing.closes,
                }
            } else {
                wrong_body(&body[..length])
            }
        }
        Body::Chunked => match chunked::compare(body, &expect.body) {
            chunked::Compared::More if ended => early(),
            chunked::Compared::More => More,
            chunked::Compared::Equal(length) => Right {
                length: at + length,
                closes: framing.closes,
            },
            chunked::Compared::Differs => wrong_body(body),
            chunked::Compared::Length => Wrong(
                Failure::WrongLength,
                format!("not {} bytes: {}", expect.body.len(), excerpt(body)),
            ),
            chunked::Compared::Broken(what) => Wrong(Failure::Malformed, what.into()),
        },
        Body::UntilClose if body.len() > expect.body.len() => {
            let seen = format!("more than {} bytes: {}", expect.body.len(), excerpt(body));
            Wrong(Failure::WrongLength, seen)
        }
        Body::UntilClose if !expect.body.starts_with(body) => wrong_body(body),
        Body::UntilClose if !ended => More,
        Body::UntilClose if body.len() < expect.body.len() => early(),
        Body::UntilClose => Right {
            length: bytes.len(),
            closes: true,
        },
    }
}

fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

/// How many bytes of interim answers there are before what is none.
fn interim(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut head = httparse::Response::new(&mut headers);
        match head.parse(&bytes[at..]) {
            Ok(httparse::Status::Complete(length)) if head.code.is_some_and(is_interim) => {
                at += length;
            }
            _ => return at,
        }
    }
}

fn wrong_body(body: &[u8]) -> Judgement {
    Wrong(Failure::WrongBody, excerpt(body))
}

fn closed_after(bytes: &[u8]) -> String {
    match bytes.len() {
        0 => "closed before the first byte".into(),
        n => format!("closed after {n} bytes: {}", excerpt(bytes)),
    }
}

/// The beginning of some bytes, printable, for an error message.
fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 60;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
    let more = if bytes.len() > LONGEST { "…" } else { "" };
    format!("{:?}{more}", text.trim_end_matches('\u{fffd}'))
}

struct Framing {
    body: Body,
    closes: bool,
}

enum Body {
    Length(u64),
    Chunked,
    UntilClose,
}

impl Framing {
    fn of(head: &httparse::Response) -> Result<Self, String> {
        let mut length = None;
        let mut chunked = false;
        let (mut close, mut keep_alive) = (false, false);
        for header in head.headers.iter() {
            let value = header.value.trim_ascii();
            if header.name.eq_ignore_ascii_case("content-length") {
                let number =
                    number(value).ok_or_else(|| format!("Content-Length: {}", excerpt(value)))?;
                if length.is_some_and(|length| length != number) {
                    return Err("two different Content-Lengths".into());
                }
                length = Some(number);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                if chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(format!("Transfer-Encoding: {}", excerpt(value)));
                }
                chunked = true;
            } else if header.name.eq_ignore_ascii_case("connection") {
                for option in value.split(|byte| *byte == b',') {
                    let option = option.trim_ascii();
                    close |= option.eq_ignore_ascii_case(b"close");
                    keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
        }
        let body = match (length, chunked) {
            (Some(_), true) => return Err("Content-Length beside Transfer-Encoding".into()),
            (Some(length), false) => Body::Length(length),
            (None, true) => Body::Chunked,
            (None, false) => Body::UntilClose,
        };
        // RFC 9112, section 9.3: close counts, whatever else is there.
        let closes = close || (head.version == Some(0) && !keep_alive);
        Ok(Self { body, closes })
    }
}

/// Digits only: no sign, no list, no overflow.
fn number(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, ended: bool) -> Judgement {
        judge(text.as_bytes(), ended, &Expect::body("OK\n"))
    }

    fn failure(judgement: Judgement) -> Failure {
        match judgement {
            Wrong(failure, _) => failure,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn right_answers() {
        for (text, closes) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n", false),
            (
                "HTTP/1.1 200 OK\r\ncontent-length:3\r\nConnection: Close\r\n\r\nOK\n",
                true,
            ),
            (
                "HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 3\r\n\r\nOK\n",
                true,
            ),
            (
                "HTTP/1.1 200 OK\r\nConnection: close, keep-alive\r\nContent-Length: 3\r\n\r\nOK\n",
                true,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nOK\n\r\n0\r\n\r\n",
                false,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\nO\r\n02\r\nK\n\r\n00\r\nX: y\r\n\r\n",
                false,
            ),
            ("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nOK\n", true),
            (
                "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nOK\n",
                false,
            ),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n",
                false,
            ),
        ] {
            let length = text.len();
            assert_eq!(of(text, false), Right { length, closes }, "{text}");
            for short in 0..length {
                assert_eq!(of(&text[..short], false), More, "{:?}", &text[..short]);
                assert_eq!(failure(of(&text[..short], true)), Failure::EarlyClose);
            }
            assert_eq!(of(&format!("{text}x"), false), Right { length, closes });
        }
    }

    #[test]
    fn answer_that_ends_with_its_connection() {
        let text = "HTTP/1.1 200 OK\r\n\r\nOK\n";
        assert_eq!(of(text, false), More);
        let length = text.len();
        assert_eq!(
            of(text, true),
            Right {
                length,
                closes: true
            }
        );
        assert_eq!(
            failure(of("HTTP/1.1 200 OK\r\n\r\nOK", true)),
            Failure::EarlyClose
        );
        assert_eq!(
            failure(of("HTTP/1.1 200 OK\r\n\r\nKO", true)),
            Failure::WrongBody
        );
        assert_eq!(
            failure(of("HTTP/1.1 200 OK\r\n\r\nOK\nx", true)),
            Failure::WrongLength
        );
    }

    #[test]
    fn interim_answers_without_end() {
        let interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
        let text = interim.repeat(3) + "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n";
        let length = text.len();
        let closes = false;
        assert_eq!(of(&text, false), Right { length, closes });
        assert_eq!(of(&interim.repeat(3), false), More);
        let endless = interim.repeat(LONGEST_HEAD / interim.len() + 1);
        assert_eq!(failure(of(&endless, false)), Failure::Malformed);
    }

    #[test]
    fn the_articles_404_pages() {
        // Go's own, which the published table counts as 5,893.87 requests a second.
        let go = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\n\
                  X-Content-Type-Options: nosniff\r\nContent-Length: 19\r\n\r\n404 page not found\n";
        let Wrong(failure, seen) = of(go, false) else {
            panic!()
        };
        assert_eq!(failure, Failure::WrongStatus);
        assert_eq!(seen, r#"404 Not Found: "404 page not found\n""#);
    }

    #[test]
    fn wrong_answers() {
        use Failure::*;
        for (expected, text) in [
            (
                WrongStatus,
                "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nOK\n",
            ),
            (WrongStatus, "HTTP/1.1 204 No Content\r\n\r\n"),
            (
                WrongBody,
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nKO\n",
            ),
            (WrongBody, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nK"),
            (
                WrongLength,
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK",
            ),
            (
                WrongLength,
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\nOK",
            ),
            (
                WrongBody,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nOKO\r\n0\r\n\r\n",
            ),
            (
                WrongLength,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nOK\n\n\r\n0\r\n\r\n",
            ),
            (
                WrongLength,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n",
            ),
            (
                Malformed,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            ),
            (
                Malformed,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nOK\n\r\n",
            ),
            (
                Malformed,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            ),
            (
                Malformed,
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nOK\n",
            ),
            (
                Malformed,
                "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nOK\n",
            ),
            (
                Malformed,
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            ),
            (Malformed, "garbage\r\n\r\n"),
            (Malformed, "SSH-2.0-OpenSSH_9.2\r\n"),
        ] {
            assert_eq!(failure(of(text, false)), expected, "{text}");
        }
        assert_eq!(failure(of("", true)), EarlyClose);
    }
}
