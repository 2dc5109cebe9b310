//! One socket, and where its exchange stands.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use mio::net::TcpStream;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};

/// Enough for the answer of a small benchmark; it grows for others.
const BUFFER: usize = 2 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No socket. It is opened when its turn comes.
    Closed,
    /// Being opened.
    Connecting,
    /// Open, without a request.
    Idle,
    /// The request is on its way, and its answer is awaited.
    Waiting,
    /// The right answer has come; the server closes, as it was asked to.
    Closing,
}

pub struct Connection {
    pub stream: Option<TcpStream>,
    pub state: State,
    /// What has come of the answer: `buffer[..filled]`.
    pub buffer: Vec<u8>,
    pub filled: usize,
    /// Kept, and without its first answer.
    pub fresh: bool,
    /// Right answers that have come on this socket.
    pub answers: u64,
    /// How much of the request has been sent.
    pub written: usize,
    /// When the request was due, was sent, and when its answer was whole. Nanoseconds since the start of the round.
    pub due: u64,
    pub sent: u64,
    pub answered: u64,
}

/// What reading brought.
#[derive(Debug, PartialEq)]
pub enum Input {
    /// So many bytes; there may be more.
    Bytes(usize),
    /// Nothing now.
    Nothing,
    End,
    Failed(ErrorKind),
}

impl Connection {
    pub fn new() -> Self {
        Self {
            stream: None,
            state: State::Closed,
            buffer: vec![0; BUFFER],
            filled: 0,
            fresh: false,
            answers: 0,
            written: 0,
            due: 0,
            sent: 0,
            answered: 0,
        }
    }

    /// What was seen of its end. A server may close a kept connection when it likes, but a client that has not been told
    /// loses a request by it.
    pub fn end(&self, seen: String) -> String {
        match (self.filled, self.answers) {
            (0, answers @ 1..) => {
                format!("{seen} behind {answers} answers, without \"Connection: close\" before")
            }
            _ => seen,
        }
    }

    /// Reads once, behind what is there already.
    pub fn read(&mut self) -> Input {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let Some(stream) = &mut self.stream else {
            return Input::Nothing;
        };
        match stream.read(&mut self.buffer[self.filled..]) {
            Ok(0) => Input::End,
            Ok(n) => {
                self.filled += n;
                Input::Bytes(n)
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Input::Nothing,
                kind => Input::Failed(kind),
            },
        }
    }

    /// Sends what is left of the request, as far as the socket takes it.
    pub fn write(&mut self, request: &[u8]) -> io::Result<()> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        while self.written < request.len() {
            match stream.write(&request[self.written..]) {
                Ok(n) => self.written += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Begins to connect. `turn` spreads connections to the loopback network over several source addresses, so that ports
/// do not run out where each connection is for one request.
pub fn connect(address: SocketAddr, turn: Option<u64>) -> io::Result<TcpStream> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM.nonblocking().cloexec(),
        Some(Protocol::TCP),
    )?;
    socket.set_tcp_nodelay(true)?;
    if let (Some(turn), IpAddr::V4(ip)) = (turn, address.ip())
        && ip.is_loopback()
    {
        // The port is chosen when both ends are known: it may be one that is in use towards another server.
        setsockopt(&socket, sockopt::IpBindAddressNoPort, &true)?;
        let source = Ipv4Addr::new(127, 0, 0, 1 + (turn % SOURCES) as u8);
        socket.bind(&SocketAddr::from((source, 0)).into())?;
    }
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(nix::libc::EINPROGRESS) => Err(error),
        _ => Ok(TcpStream::from_std(socket.into())),
    }
}

/// Source addresses 127.0.0.1 to 127.0.0.16: sixteen times the local ports.
const SOURCES: u64 = 16;

/// Closes without leaving the port in TIME_WAIT: only after a whole answer, when nobody waits for anything.
pub fn abandon(stream: TcpStream) {
    // A socket that does not take the option is closed all the same.
    let _ = socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO));
}
