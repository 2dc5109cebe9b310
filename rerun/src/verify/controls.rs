//! Servers that do it wrong on purpose, each of which must be caught, and one that does it right and must pass. A proof
//! that cannot fail proves nothing.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::fault::Fault;
use super::{Expected, Page, prove};
use crate::contender::manifest::DELAY;
use crate::stop;

/// So many sabotaged servers are judged at the same time.
const AT_A_TIME: usize = 5;

/// What a server does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sabotage {
    Nothing,
    NotFound,
    WrongBody,
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

/// How each must be judged.
struct Control {
    name: &'static str,
    sabotage: Sabotage,
    /// Whether the verdict is the right one: caught, and for the right reason.
    right: fn(&Result<super::Proof, Fault>) -> bool,
}

macro_rules! control {
    ($name:literal, $sabotage:expr, $pattern:pat) => {
        Control {
            name: $name,
            sabotage: $sabotage,
            right: |verdict| matches!(verdict, $pattern),
        }
    };
}

const CONTROLS: [Control; 28] = [
    Control {
        name: "an honest server",
        sabotage: Sabotage::Nothing,
        right: Result::is_ok,
    },
    control!("a 404 page", Sabotage::NotFound, Err(Fault::Status(404))),
    control!("a wrong body", Sabotage::WrongBody, Err(Fault::Body { .. })),
    control!(
        "a body cut short, with its length",
        Sabotage::ShortBody,
        Err(Fault::Body { .. })
    ),
    control!("an empty 200", Sabotage::EmptyBody, Err(Fault::Body { .. })),
    control!(
        "a wrong Content-Type",
        Sabotage::WrongType,
        Err(Fault::Type { .. })
    ),
    control!("no Content-Type", Sabotage::NoType, Err(Fault::Type { .. })),
    control!("no sleep", Sabotage::NoSleep, Err(Fault::TooEarly { .. })),
    control!(
        "a sleep that ends early",
        Sabotage::EarlySleep,
        Err(Fault::TooEarly { .. })
    ),
    control!(
        "a sleep before the request",
        Sabotage::SleepBeforeRequest,
        Err(Fault::TooEarly { .. })
    ),
    control!(
        "a sleep for every other request",
        Sabotage::SleepEveryOther,
        Err(Fault::TooEarly { .. })
    ),
    control!(
        "a sleep until a common tick",
        Sabotage::SharedTick,
        Err(Fault::TooEarly { .. })
    ),
    control!(
        "a head first and a sleep then",
        Sabotage::HeadFirst,
        Err(Fault::BeganEarly { .. })
    ),
    control!(
        "a blocking sleep",
        Sabotage::BlockingSleep,
        Err(Fault::NotAtOnce { found: 1..=9, .. })
    ),
    control!(
        "a pool of 20",
        Sabotage::PoolOf(20),
        Err(Fault::NotAtOnce { .. })
    ),
    control!(
        "a close in the answer",
        Sabotage::EarlyClose,
        Err(Fault::EarlyClose { got: 1.. })
    ),
    control!(
        "a close without an answer",
        Sabotage::CloseAtOnce,
        Err(Fault::EarlyClose { got: 0 })
    ),
    control!(
        "a length that is too short",
        Sabotage::LengthTooShort,
        Err(Fault::Body { .. } | Fault::ExtraBytes(_))
    ),
    control!(
        "a length that is too long",
        Sabotage::LengthTooLong,
        Err(Fault::NoAnswer { got: 1.., .. })
    ),
    control!(
        "broken chunks",
        Sabotage::BrokenChunks,
        Err(Fault::Garbage(_))
    ),
    control!(
        "a close after each answer",
        Sabotage::CloseEach,
        Err(Fault::NotKept)
    ),
    control!("garbage", Sabotage::Garbage, Err(Fault::Garbage(_))),
    control!(
        "a sleep that is too long",
        Sabotage::LongDelay,
        Err(Fault::Slow { .. })
    ),
    control!(
        "no sleep under load",
        Sabotage::NoSleepUnderLoad,
        Err(Fault::UnderLoad { .. })
    ),
    control!("a slow delay", Sabotage::SlowDelay, Err(Fault::Slow { .. })),
    control!(
        "a slow answer",
        Sabotage::SlowHello,
        Err(Fault::Slow { .. })
    ),
    control!(
        "no answer at all",
        Sabotage::Silent,
        Err(Fault::NoAnswer { got: 0, .. })
    ),
    control!(
        "errors under load only",
        Sabotage::FailsUnderLoad,
        Err(Fault::UnderLoad { .. })
    ),
];

/// Judges every control, prints what came out, and gives those that were not judged right.
pub fn run() -> Result<Vec<&'static str>> {
    // The honest server alone, as a contender is judged alone; most of the others only take time.
    let (honest, sabotaged) = CONTROLS.split_at(1);
    let mut wrong = judge_all(honest.iter())?;
    let shares: Vec<_> = std::thread::scope(|scope| {
        let share = |first| {
            let share = sabotaged.iter().skip(first).step_by(AT_A_TIME);
            scope.spawn(move || judge_all(share))
        };
        let threads: Vec<_> = (0..AT_A_TIME).map(share).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.collect()
    });
    for share in shares {
        match share {
            Ok(names) => wrong.extend(names?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    println!(
        "{} of {} servers that do it wrong on purpose are caught, and the honest one {}",
        sabotaged.len() - wrong.iter().filter(|name| **name != honest[0].name).count(),
        sabotaged.len(),
        if wrong.contains(&honest[0].name) {
            "is not"
        } else {
            "passes"
        }
    );
    Ok(wrong)
}

/// The names of those that were not judged right.
fn judge_all<'a>(controls: impl Iterator<Item = &'a Control>) -> Result<Vec<&'static str>> {
    let mut wrong = Vec::new();
    for control in controls {
        let server = Server::start(control.sabotage)?;
        let verdict = prove(server.address, &expected());
        stop::check()?;
        if !(control.right)(&verdict) {
            let verdict = match verdict {
                Ok(_) => "passed".to_owned(),
                Err(fault) => fault.to_string(),
            };
            println!("control NOT judged right: {}: {verdict}", control.name);
            wrong.push(control.name);
        }
    }
    Ok(wrong)
}

fn expected() -> Expected {
    let page = |path: &str, body: &str, media_type: &str| Page {
        path: path.to_owned(),
        body: body.into(),
        media_type: media_type.to_owned(),
    };
    Expected {
        hello: page("/hello", "<h1>HelloWorld</h1>\n", "text/html"),
        delay: Some(page("/delay", "OK\n", "text/plain")),
        wait: DELAY,
        keep_alive: true,
        at_once: None,
    }
}

/// A server with a thread for each connection; it ends when it is dropped.
struct Server {
    address: SocketAddr,
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
    fn start(sabotage: Sabotage) -> Result<Self> {
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
            let mut line = first.clone();
            while !line.trim_end().is_empty() {
                line.clear();
                reader
                    .read_line(&mut line)
                    .ok()
                    .filter(|&count| count > 0)?;
            }
            let open = self.open.fetch_add(1, Ordering::AcqRel);
            let path = first.split_whitespace().nth(1).unwrap_or_default();
            let goes_on = self.answer(&mut writer, path, open);
            self.open.fetch_sub(1, Ordering::AcqRel);
            goes_on?;
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

fn send(writer: &mut TcpStream, status: &str, media_type: &str, body: &str) -> Option<()> {
    let whole = head(status, media_type, body.len()) + body;
    writer.write_all(whole.as_bytes()).ok()
}

fn head(status: &str, media_type: &str, length: usize) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_is_judged_right() {
        assert_eq!(run().unwrap(), Vec::<&str>::new());
    }
}
