//! A connection to the server that is judged: requests as they are written, answers with their times.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::answer::{self, Answer, Framing};
use super::fault::Fault;
use super::{Expected, Page};

/// How long any answer may take. Everything here answers in milliseconds.
pub const PATIENCE: Duration = Duration::from_secs(2);

pub struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    /// What has come and was not part of an answer yet.
    bytes: Vec<u8>,
    ended: bool,
    asked: Instant,
}

/// An answer, and when it came, from the end of the request on.
pub struct Timed {
    pub answer: Answer,
    pub first_byte: Duration,
    pub last_byte: Duration,
}

impl Connection {
    pub fn open(address: SocketAddr) -> Result<Self, Fault> {
        let connect = || {
            let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        Ok(Self {
            address,
            stream: connect().map_err(|error: std::io::Error| Fault::Connect(error.to_string()))?,
            bytes: Vec::new(),
            ended: false,
            asked: Instant::now(),
        })
    }

    /// Writes these bytes; the clock starts here.
    pub fn write(&mut self, request: &str) -> Result<(), Fault> {
        self.asked = Instant::now();
        // A server that has closed says so by its answer, or by the lack of one.
        match self.stream.write_all(request.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                Err(Fault::EarlyClose { got: 0 })
            }
            _ => Ok(()),
        }
    }

    /// Reads the next answer.
    pub fn read(&mut self, head: bool) -> Result<Timed, Fault> {
        let mut first_byte = (!self.bytes.is_empty()).then_some(Duration::ZERO);
        loop {
            if let Some((answer, length)) = answer::parse(&self.bytes, self.ended, head)? {
                self.bytes.drain(..length);
                let last_byte = self.asked.elapsed();
                return Ok(Timed {
                    answer,
                    first_byte: first_byte.unwrap_or(last_byte),
                    last_byte,
                });
            }
            let left = PATIENCE.saturating_sub(self.asked.elapsed());
            if !self.fill(left)? {
                return Err(Fault::NoAnswer {
                    waited: PATIENCE,
                    got: self.bytes.len(),
                });
            }
            first_byte.get_or_insert_with(|| self.asked.elapsed());
        }
    }

    /// Waits for something to come; false if nothing has.
    fn fill(&mut self, left: Duration) -> Result<bool, Fault> {
        if left.is_zero() {
            return Ok(false);
        }
        let mut buffer = [0; 16384];
        let _ = self.stream.set_read_timeout(Some(left));
        match self.stream.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(count) => self.bytes.extend(&buffer[..count]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(false),
                ErrorKind::Interrupted => {}
                _ => {
                    return Err(Fault::EarlyClose {
                        got: self.bytes.len(),
                    });
                }
            },
        }
        Ok(true)
    }

    /// Whether nothing more comes: bytes after an answer are a fault.
    pub fn quiet_for(&mut self, time: Duration) -> Result<(), Fault> {
        let until = Instant::now() + time;
        while self.bytes.is_empty() && !self.ended {
            if !self.fill(until.saturating_duration_since(Instant::now()))? {
                return Ok(());
            }
        }
        match self.bytes.is_empty() {
            true => Ok(()),
            false => Err(Fault::ExtraBytes(std::mem::take(&mut self.bytes))),
        }
    }

    /// Whether the server has closed its side.
    pub fn ended(&self) -> bool {
        self.ended
    }

    pub fn ask(&mut self, page: &Page) -> Result<Timed, Fault> {
        self.write(&request(self.address, page))?;
        self.read(false)
    }
}

/// A request as a generator writes it.
pub fn request(address: SocketAddr, page: &Page) -> String {
    format!("GET {} HTTP/1.1\r\nHost: {address}\r\n\r\n", page.path)
}

/// Asks with a connection that is kept if the server keeps any, or else with a new one each time.
pub struct Asker<'a> {
    address: SocketAddr,
    expected: &'a Expected,
    kept: Option<Connection>,
}

impl<'a> Asker<'a> {
    pub fn new(address: SocketAddr, expected: &'a Expected) -> Self {
        Self {
            address,
            expected,
            kept: None,
        }
    }

    /// An answer that has been checked.
    pub fn ask(&mut self, page: &Page) -> Result<Timed, Fault> {
        let mut connection = match self.kept.take() {
            Some(kept) => kept,
            None => Connection::open(self.address)?,
        };
        let timed = connection.ask(page)?;
        check(&timed.answer, page)?;
        if self.expected.keep_alive && timed.answer.framing != Framing::Close {
            self.kept = Some(connection);
        }
        Ok(timed)
    }
}

/// Status, body and type, each exact.
pub fn check(answer: &Answer, page: &Page) -> Result<(), Fault> {
    if answer.status != 200 {
        return Err(Fault::Status(answer.status));
    }
    if answer.body != page.body {
        return Err(Fault::Body {
            got: answer.body.clone(),
            expected: page.body.clone(),
        });
    }
    // Parameters, as `charset=utf-8`, are the server's own matter.
    let bare = |value: &String| {
        let media_type = value.split(';').next().unwrap_or_default();
        media_type.trim().to_ascii_lowercase()
    };
    let types: Vec<String> = answer.content_types.iter().map(bare).collect();
    if types != [page.media_type.clone()] {
        return Err(Fault::Type {
            got: answer.content_types.join(", "),
            expected: page.media_type.clone(),
        });
    }
    Ok(())
}
