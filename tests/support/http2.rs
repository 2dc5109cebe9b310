//! HTTP/2 with prior knowledge, frame by frame: RFC 9113.

use super::PATIENCE;
use super::http::read;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A connection with streams.
pub struct Http2 {
    pub stream: TcpStream,
    next_stream: u32,
}

/// What may come that a test looks at.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// The answer's status.
    Headers {
        stream: u32,
        status: u16,
        end: bool,
    },
    Data {
        stream: u32,
        bytes: Vec<u8>,
        end: bool,
    },
    Reset {
        stream: u32,
        code: u32,
    },
    GoAway,
}

/// A whole answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header field by the number of its name in the static table, not indexed, not compressed.
fn field(name: u8, value: &str) -> Vec<u8> {
    assert!(name < 15 && value.len() < 127);
    [&[name, value.len() as u8], value.as_bytes()].concat()
}

impl Http2 {
    #[track_caller]
    pub fn connect(address: SocketAddr) -> Http2 {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).expect("a connection");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut http2 = Http2 {
            stream,
            next_stream: 1,
        };
        http2.send(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat());
        // Unread bytes would make a RST of the client's FIN.
        while http2.frame() != Some((SETTINGS, ACK, 0, vec![])) {}
        http2
    }

    #[track_caller]
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("to be sent");
    }

    /// The frames of a request on a new stream, to be sent.
    pub fn request(&mut self, method: &str, path: &str, end: bool) -> (u32, Vec<u8>) {
        let (id, method) = (self.next_stream, field(2, method));
        self.next_stream += 2;
        // 0x86 is ":scheme: http".
        let fields = [method, vec![0x86], field(1, "localhost"), field(4, path)].concat();
        let flags = END_HEADERS | if end { END_STREAM } else { 0 };
        (id, frame(HEADERS, flags, id, &fields))
    }

    /// Sends a GET on a new stream.
    #[track_caller]
    pub fn get(&mut self, path: &str) -> u32 {
        let (id, frame) = self.request("GET", path, true);
        self.send(&frame);
        id
    }

    /// Takes a request back: RST_STREAM with CANCEL.
    #[track_caller]
    pub fn cancel(&mut self, stream: u32) {
        self.send(&Http2::cancelling(stream));
    }

    pub fn cancelling(stream: u32) -> Vec<u8> {
        frame(RST_STREAM, 0, stream, &8u32.to_be_bytes())
    }

    pub fn data(stream: u32, bytes: &[u8], end: bool) -> Vec<u8> {
        frame(DATA, u8::from(end), stream, bytes)
    }

    /// Starts no more streams.
    #[track_caller]
    pub fn go_away(&mut self) {
        self.send(&frame(GOAWAY, 0, 0, &[0; 8]));
    }

    /// Goes with a FIN.
    pub fn close(self) {
        self.stream.shutdown(std::net::Shutdown::Both).unwrap();
    }

    /// Kind, flags, stream and payload of the next frame; `None` at the end of the connection.
    fn frame(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let mut head = [0; 9];
        match read(&mut self.stream, &mut head[..1]).expect("a frame") {
            0 => return None,
            _ => self.stream.read_exact(&mut head[1..]).expect("a head"),
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).expect("a payload");
        let (kind, flags) = (head[3], head[4]);
        if (kind, flags) == (SETTINGS, 0) {
            self.send(&frame(SETTINGS, ACK, 0, &[]));
        }
        Some((kind, flags, stream, payload))
    }

    /// The next frame of interest; `None` when the server has closed the connection.
    pub fn next(&mut self) -> Option<Frame> {
        loop {
            let (kind, flags, stream, payload) = self.frame()?;
            let end = flags & END_STREAM != 0;
            return Some(match kind {
                DATA => Frame::Data {
                    stream,
                    bytes: payload,
                    end,
                },
                HEADERS => {
                    let status = status(&payload);
                    Frame::Headers {
                        stream,
                        status,
                        end,
                    }
                }
                RST_STREAM => {
                    let code = payload.try_into().expect("a code of four bytes");
                    let code = u32::from_be_bytes(code);
                    Frame::Reset { stream, code }
                }
                GOAWAY => Frame::GoAway,
                _ => continue,
            });
        }
    }

    /// Reads so many whole answers, in the order in which they end.
    #[track_caller]
    pub fn answers(&mut self, count: usize) -> Vec<(u32, Answer)> {
        let mut open: BTreeMap<u32, Answer> = BTreeMap::new();
        let mut whole = Vec::new();
        while whole.len() < count {
            let (ended, end) = match self.next().expect("the connection stays open") {
                Frame::Headers {
                    stream,
                    status,
                    end,
                } => {
                    open.entry(stream).or_default().status = status;
                    (stream, end)
                }
                Frame::Data { stream, bytes, end } => {
                    open.entry(stream).or_default().body.extend(bytes);
                    (stream, end)
                }
                // A worker that shuts down announces it and answers what it has.
                Frame::GoAway => continue,
                other => panic!("{other:?} between answers"),
            };
            if end {
                whole.push((ended, open.remove(&ended).unwrap_or_default()));
            }
        }
        whole
    }
}

/// The status of a header block as nginx writes it: first, after a change of the table's size,
/// from the static table or as three digits.
fn status(block: &[u8]) -> u16 {
    let block = match block {
        [first, rest @ ..] if first & 0xe0 == 0x20 => rest,
        block => block,
    };
    match block {
        [indexed @ 0x88..=0x8e, ..] => {
            [200, 204, 206, 304, 400, 404, 500][usize::from(indexed - 0x88)]
        }
        [0x08 | 0x48, 3, digits @ ..] => std::str::from_utf8(&digits[..3])
            .expect("digits")
            .parse()
            .expect("a status"),
        block => panic!("no status at the start of {}", block.escape_ascii()),
    }
}
