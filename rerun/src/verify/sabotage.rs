//! A server that does one thing wrong, or none: two pages as a contender has them, a thread a connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::contender::manifest::DELAY;

/// What a server does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    Nothing,
    NotFound,
    WrongBody,
    WrongNowAndThen,
    Impatient,
    ShortBody,
    EmptyBody,
    WrongType,
    NoType,
    NoSleep,
    EarlySleep,
    SleepBeforeRequest,
    SleepEveryOther,
    SharedTick,
    HeadFirst,
    BlockingSleep,
    PoolOf(u32),
    EarlyClose,
    CloseAtOnce,
    LengthTooShort,
    LengthTooLong,
    BrokenChunks,
    CloseEach,
    Garbage,
    SlowDelay,
    LongDelay,
    NoSleepUnderLoad,
    SlowHello,
    Silent,
    FailsUnderLoad,
}

/// A server with a thread for each connection; it ends when it is dropped.
pub struct Server {
    pub address: SocketAddr,
    ends: Arc<AtomicBool>,
}

/// What all connections of a server share.
struct Shared {
    sabotage: Sabotage,
    begun: Instant,
    requests: AtomicU32,
    /// Requests that are answered at this moment.
    open: AtomicU32,
    /// How many may still sleep.
    free: Mutex<u32>,
    freed: Condvar,
}

impl Server {
    pub fn start(sabotage: Sabotage) -> Result<Self> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("starting a control server")?;
        let address = listener.local_addr()?;
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let shared = Arc::new(Shared {
            sabotage,
            begun: Instant::now(),
            requests: AtomicU32::new(0),
            open: AtomicU32::new(0),
            free: Mutex::new(match sabotage {
                Sabotage::BlockingSleep => 1,
                Sabotage::PoolOf(count) => count,
                _ => u32::MAX,
            }),
            freed: Condvar::new(),
        });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A connection that breaks is the client's affair.
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Ok(Self { address, ends })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        // Nobody keeps a connection longer: the thread must end.
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let mut writer = stream.try_clone().ok()?;
        let mut reader = BufReader::new(stream);
        loop {
            if self.sabotage == Sabotage::SleepBeforeRequest {
                std::thread::sleep(DELAY);
            }
            let mut first = String::new();
            reader
                .read_line(&mut first)
                .ok()
                .filter(|&count| count > 0)?;
            let path = first.split_whitespace().nth(1).unwrap_or_default();
            let early = self.sabotage == Sabotage::Impatient;
            if !early {
                read_head(&mut reader)?;
            }
            let open = self.open.fetch_add(1, Ordering::AcqRel);
            let goes_on = self.answer(&mut writer, path, open);
            self.open.fetch_sub(1, Ordering::AcqRel);
            goes_on?;
            if early {
                read_head(&mut reader)?;
            }
            // HTTP/1.0 ends with the connection.
            if !first.trim_end().ends_with("1.1") {
                return Some(());
            }
        }
    }

    /// Nothing when the connection is to be closed.
    fn answer(&self, writer: &mut TcpStream, path: &str, open: u32) -> Option<()> {
        let number = self.requests.fetch_add(1, Ordering::AcqRel);
        let (mut body, mut media_type) = match path {
            "/hello" => ("<h1>HelloWorld</h1>\n", "text/html"),
            "/delay" => ("OK\n", "text/plain"),
            _ => return send(writer, "404 Not Found", "text/plain", "no\n"),
        };
        let delayed = path == "/delay";
        match self.sabotage {
            Sabotage::NotFound => return send(writer, "404 Not Found", media_type, body),
            Sabotage::FailsUnderLoad if open > 20 => {
                return send(writer, "503 Service Unavailable", media_type, body);
            }
            Sabotage::WrongNowAndThen if number % 100 == 99 => body = "<h1>HelloWorlds</h1>",
            Sabotage::WrongBody => body = "<h1>HelloWorlds</h1>",
            Sabotage::ShortBody => body = &body[..body.len() - 1],
            Sabotage::EmptyBody => body = "",
            Sabotage::WrongType => media_type = "application/octet-stream",
            Sabotage::HeadFirst if delayed => {
                writer
                    .write_all(head("200 OK", media_type, body.len()).as_bytes())
                    .ok()?;
                std::thread::sleep(DELAY);
                return writer.write_all(body.as_bytes()).ok();
            }
            Sabotage::Garbage => return writer.write_all(b"\x00\x01garbage\r\n\r\n").ok(),
            Sabotage::SlowHello if !delayed => std::thread::sleep(Duration::from_millis(600)),
            Sabotage::Silent => {
                std::thread::sleep(Duration::from_secs(3));
                return None;
            }
            Sabotage::CloseAtOnce => return None,
            _ => {}
        }
        if delayed {
            self.sleep(number, open);
        }
        let whole = head("200 OK", media_type, body.len()) + body;
        match self.sabotage {
            Sabotage::NoType => {
                let line = format!("Content-Type: {media_type}\r\n");
                writer.write_all(whole.replace(&line, "").as_bytes()).ok()
            }
            Sabotage::EarlyClose => {
                writer
                    .write_all(&whole.as_bytes()[..whole.len() - 2])
                    .ok()?;
                None
            }
            Sabotage::LengthTooShort => {
                let head = head("200 OK", media_type, body.len() - 1);
                writer.write_all((head + body).as_bytes()).ok()
            }
            Sabotage::LengthTooLong => {
                let head = head("200 OK", media_type, body.len() + 1);
                writer.write_all((head + body).as_bytes()).ok()
            }
            Sabotage::BrokenChunks => {
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
                writer.write_all((head.to_owned() + body).as_bytes()).ok()
            }
            Sabotage::CloseEach => {
                writer.write_all(whole.as_bytes()).ok()?;
                None
            }
            _ => writer.write_all(whole.as_bytes()).ok(),
        }
    }

    fn sleep(&self, number: u32, open: u32) {
        match self.sabotage {
            Sabotage::NoSleep | Sabotage::SleepBeforeRequest => {}
            Sabotage::EarlySleep => std::thread::sleep(DELAY * 3 / 4),
            Sabotage::SleepEveryOther if number.is_multiple_of(2) => {}
            Sabotage::NoSleepUnderLoad if open > 20 => {}
            Sabotage::LongDelay => std::thread::sleep(DELAY * 2),
            Sabotage::SlowDelay => std::thread::sleep(DELAY * 20),
            Sabotage::SharedTick => {
                let now = self.begun.elapsed().as_micros() as u64;
                let tick = DELAY.as_micros() as u64;
                std::thread::sleep(Duration::from_micros(tick - now % tick));
            }
            Sabotage::BlockingSleep | Sabotage::PoolOf(_) => {
                let Ok(mut free) = self.free.lock() else {
                    return;
                };
                while *free == 0 {
                    match self.freed.wait(free) {
                        Ok(woken) => free = woken,
                        Err(_) => return,
                    }
                }
                *free -= 1;
                drop(free);
                std::thread::sleep(DELAY);
                if let Ok(mut free) = self.free.lock() {
                    *free += 1;
                }
                self.freed.notify_one();
            }
            _ => std::thread::sleep(DELAY),
        }
    }
}

/// Reads to the empty line that ends a head.
fn read_head(reader: &mut impl BufRead) -> Option<()> {
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 0 {
        if line.trim_end().is_empty() {
            return Some(());
        }
        line.clear();
    }
    None
}

fn send(writer: &mut TcpStream, status: &str, media_type: &str, body: &str) -> Option<()> {
    let whole = head(status, media_type, body.len()) + body;
    writer.write_all(whole.as_bytes()).ok()
}

fn head(status: &str, media_type: &str, length: usize) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n")
}
