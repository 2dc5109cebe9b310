//! The client: sends the packets of one request, reads until nginx hangs up.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::request::Packet;

/// How a request is sent.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    pub address: &'a str,
    pub port: u16,
    /// How long nothing may happen.
    pub timeout: Duration,
    /// The pause before a packet that names none of its own.
    pub delay: Option<Duration>,
    /// What to shut down once all is sent.
    pub shutdown: Option<Shutdown>,
}

/// What came of a request.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub response: Vec<u8>,
    pub timed_out: bool,
    /// What the system said when a read or write failed.
    pub error: Option<String>,
}

/// Sends `packets` on a connection of their own.
pub(crate) fn send(packets: &[Packet], options: &Options) -> io::Result<Outcome> {
    let mut stream = connect(options)?;
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    let mut outcome = Outcome::default();
    let mut packets = packets.iter();
    let mut unsent = packets.next().map_or(&[][..], |packet| &packet.bytes);
    let mut sending = true;

    loop {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, sending);
        let timeout = Timespec::try_from(options.timeout).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(&stream, flags)];
        let ready = match poll(&mut fds, Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => continue,
            ready => ready?,
        };
        if ready == 0 {
            outcome.timed_out = true;
            return Ok(outcome);
        }
        let ready = fds[0].revents();

        if ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            match receive(&mut stream, &mut outcome.response) {
                Ok(true) => {}
                Ok(false) => return Ok(outcome),
                Err(e) => {
                    outcome.error = Some(format!("read failed: {e}"));
                    return Ok(outcome);
                }
            }
        }
        if sending && ready.contains(PollFlags::OUT) {
            match stream.write(unsent) {
                Ok(sent) => unsent = &unsent[sent..],
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => continue,
                Err(e) => {
                    outcome.error = Some(format!("write failed: {e}"));
                    return Ok(outcome);
                }
            }
            if !unsent.is_empty() {
                continue;
            }
            match packets.next() {
                Some(packet) => {
                    unsent = &packet.bytes;
                    if let Some(delay) = packet.delay.or(options.delay) {
                        sleep(delay);
                    }
                }
                None => {
                    sending = false;
                    if let Some(how) = options.shutdown {
                        stream.shutdown(how)?;
                    }
                }
            }
        }
    }
}

/// Connects; nginx may still be about to open the port.
fn connect(options: &Options) -> io::Result<TcpStream> {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let addresses = (options.address, options.port).to_socket_addrs()?;
        let mut last = io::Error::other("the server's name has no address");
        for address in addresses {
            match TcpStream::connect_timeout(&address, options.timeout) {
                Ok(stream) => return Ok(stream),
                Err(e) => last = e,
            }
        }
        if last.kind() != io::ErrorKind::ConnectionRefused || Instant::now() > deadline {
            return Err(last);
        }
        sleep(Duration::from_millis(20));
    }
}

/// Reads what there is; false at the end.
fn receive(stream: &mut TcpStream, response: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 16384];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(read) => response.extend_from_slice(&buffer[..read]),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    fn options(port: u16) -> Options<'static> {
        Options {
            address: "127.0.0.1",
            port,
            timeout: Duration::from_millis(300),
            delay: None,
            shutdown: None,
        }
    }

    fn packet(text: &str) -> Packet {
        Packet {
            bytes: text.as_bytes().to_vec(),
            delay: None,
        }
    }

    #[test]
    fn reads_until_the_server_hangs_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut got = vec![0; 4];
            client.read_exact(&mut got).unwrap();
            client.write_all(b"pong").unwrap();
            got
        });
        let outcome = send(&[packet("pi"), packet("ng")], &options(port)).unwrap();
        assert_eq!(outcome.response, b"pong");
        assert!(!outcome.timed_out);
        assert_eq!(server.join().unwrap(), b"ping");
    }

    #[test]
    fn silence_is_a_timeout() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(send(&[packet("x")], &options(port)).unwrap().timed_out);
    }

    #[test]
    fn shutdown_ends_the_request() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let mut got = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut got).unwrap();
            got
        });
        let options = Options {
            shutdown: Some(Shutdown::Write),
            ..options(port)
        };
        assert!(!send(&[packet("x")], &options).unwrap().timed_out);
        assert_eq!(server.join().unwrap(), b"x");
    }
}
