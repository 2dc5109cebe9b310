//! An HTTP/1.1 client that does as it is told.

use super::PATIENCE;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;
use test_nginx::Server;

/// A connection, and what came on it that nobody has read.
pub struct Client {
    pub stream: TcpStream,
    unread: Vec<u8>,
}

/// What the server said.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The header of this name, which must be there once if at all.
    pub fn header(&self, name: &str) -> Option<&str> {
        let all = self.all(name);
        assert!(all.len() <= 1, "{name} more than once in {self:?}");
        all.first().copied()
    }

    pub fn all(&self, name: &str) -> Vec<&str> {
        let named = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a text")
    }
}

/// A request without a body.
pub fn request(method: &str, path: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// Asks on a connection of its own.
#[track_caller]
pub fn get(server: &Server, path: &str) -> Answer {
    Client::connect(server.addr()).get(path)
}

/// The body of a 200.
#[track_caller]
pub fn text(server: &Server, path: &str) -> String {
    let answer = get(server, path);
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.text().to_owned()
}

impl Client {
    #[track_caller]
    pub fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).expect("a connection");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client {
            stream,
            unread: Vec::new(),
        }
    }

    #[track_caller]
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("to be sent");
    }

    #[track_caller]
    pub fn get(&mut self, path: &str) -> Answer {
        self.send(request("GET", path));
        self.read()
    }

    /// The next answer.
    #[track_caller]
    pub fn read(&mut self) -> Answer {
        let mut answer = self.read_head();
        if answer.status < 200 || matches!(answer.status, 204 | 304) {
            return answer;
        }
        answer.body = match answer.header("Content-Length") {
            Some(length) => self.take(length.parse().expect("a length")),
            None if answer.header("Transfer-Encoding") == Some("chunked") => self.read_chunks(),
            None => self.read_to_end(),
        };
        answer
    }

    /// The next answer, where it must have no body: to HEAD.
    #[track_caller]
    pub fn read_head(&mut self) -> Answer {
        let head = String::from_utf8(self.take_until(b"\r\n\r\n")).expect("a head that is text");
        let mut lines = head.trim_end().split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            (name.to_owned(), value.to_owned())
        });
        Answer {
            status: status.unwrap_or_else(|| panic!("no status line in {head:?}")),
            headers: headers.collect(),
            body: Vec::new(),
        }
    }

    fn read_chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let line = String::from_utf8(self.take_until(b"\r\n")).expect("a chunk's length");
            let length = usize::from_str_radix(line.trim_end(), 16).expect("a chunk's length");
            body.extend(self.take(length));
            assert_eq!(self.take(2), b"\r\n");
            if length == 0 {
                return body;
            }
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        while self.unread.len() < length {
            assert!(
                self.fill().expect("an answer"),
                "only {:?} came",
                self.shown()
            );
        }
        self.unread.drain(..length).collect()
    }

    fn take_until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            let found = self
                .unread
                .windows(end.len())
                .position(|window| window == end);
            if let Some(at) = found {
                return self.take(at + end.len());
            }
            assert!(
                self.fill().expect("an answer"),
                "only {:?} came",
                self.shown()
            );
        }
    }

    fn shown(&self) -> String {
        self.unread.escape_ascii().to_string()
    }

    /// All that comes until the server closes.
    pub fn read_to_end(&mut self) -> Vec<u8> {
        while self.fill().expect("the connection's end") {}
        std::mem::take(&mut self.unread)
    }

    /// Whether the server closes the connection without another word.
    pub fn is_closed(&mut self) -> bool {
        match self.fill() {
            Ok(more) => !more && self.unread.is_empty(),
            Err(e) => e.kind() == ErrorKind::ConnectionReset,
        }
    }

    /// Whether nothing has come so far.
    pub fn is_silent(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let filled = self.fill();
        self.stream.set_nonblocking(false).unwrap();
        filled.is_err_and(|e| e.kind() == ErrorKind::WouldBlock) && self.unread.is_empty()
    }

    /// Waits for the first byte of an answer.
    pub fn wait_for_byte(&mut self) {
        if self.unread.is_empty() {
            assert!(self.fill().expect("an answer"), "closed without an answer");
        }
    }

    fn fill(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16384];
        let read = read(&mut self.stream, &mut buffer)?;
        self.unread.extend_from_slice(&buffer[..read]);
        Ok(read > 0)
    }

    /// Sends no more: a FIN, while answers can still be read.
    pub fn half_close(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Goes with a FIN.
    pub fn close(self) {
        self.stream.shutdown(Shutdown::Both).unwrap();
    }

    /// Goes with a RST.
    pub fn reset(self) {
        rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO)).unwrap();
    }
}

/// Reads from a socket with a time limit: there the system does not go on by itself with what was
/// interrupted, as by a debugger or a stop of the whole machine.
pub fn read(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(buffer) {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
