//! A server that does as little as a server can: the other side of the client's ceiling.
//!
//! One thread, epoll; whatever ends with an empty line is answered with the same bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use super::pin;

pub const BODY: &str = "<h1>HelloWorld</h1>\n";

const LISTENER: Token = Token(usize::MAX - 1);

/// Runs until it is dropped.
pub struct Null {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Null {
    /// Listens on any port of 127.0.0.1 and answers on these cores.
    pub fn start(cpus: &[usize]) -> Result<Self> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut listener = TcpListener::bind(any).context("listening for the null server")?;
        let address = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (cpus, asked) = (cpus.to_vec(), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("null server".into())
            .spawn(move || {
                // Without its cores it still answers; the ceiling is lower then.
                let _ = pin(&cpus);
                serve(poll, &listener, &asked);
            })?;
        Ok(Self {
            address,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Null {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(mut poll: Poll, listener: &TcpListener, stop: &AtomicBool) {
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut streams: Vec<Option<TcpStream>> = Vec::new();
    let mut free = Vec::new();
    let mut events = Events::with_capacity(1024);
    while !stop.load(Ordering::Relaxed) {
        if poll
            .poll(&mut events, Some(Duration::from_millis(50)))
            .is_err()
        {
            continue;
        }
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    let index = free.pop().unwrap_or_else(|| {
                        streams.push(None);
                        streams.len() - 1
                    });
                    let registered =
                        poll.registry()
                            .register(&mut stream, Token(index), Interest::READABLE);
                    if registered.is_ok() {
                        streams[index] = Some(stream);
                    }
                }
                continue;
            }
            let index = event.token().0;
            if let Some(stream) = &mut streams[index]
                && !exchange(stream, answer.as_bytes())
            {
                streams[index] = None;
                free.push(index);
            }
        }
    }
}

/// Whether the connection is kept.
fn exchange(stream: &mut TcpStream, answer: &[u8]) -> bool {
    let mut buffer = [0; 4096];
    match stream.read(&mut buffer) {
        Ok(0) => false,
        Ok(n) if buffer[..n].ends_with(b"\r\n\r\n") => {
            stream.write_all(answer).is_ok()
                && !buffer[..n]
                    .windows(17)
                    .any(|window| window == b"Connection: close")
        }
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    }
}
