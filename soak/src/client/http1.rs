//! HTTP/1.0 and HTTP/1.1, one request behind the other or several at once.

use super::reader::{End, Reader};
use super::{Exchange, Manners, connect};
use crate::cases::Case;
use crate::ledger::{Outcome, Protocol};
use crate::world::{Connection, World};
use fastrand::Rng;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::WriteHalf;
use tokio::time::sleep;

/// Sends the cases over one connection, and over others where the server closes it between two of them.
pub async fn session(
    world: &World,
    rng: &mut Rng,
    protocol: Protocol,
    cases: Vec<Case>,
    manners: Manners,
) {
    let mut left = cases;
    while !left.is_empty() {
        let begun = Instant::now();
        let stream = match connect(world.http1, &manners).await {
            Ok(stream) => stream,
            Err(e) => {
                return world.ledger.wrong(
                    protocol,
                    left[0].handler,
                    &format!("no connection: {e}"),
                );
            }
        };
        let client = stream.local_addr().expect("it is connected").port();
        let connection = world.connections.open((world.http1.port(), client), begun);
        let exchanges = left.drain(..).map(Exchange::new).collect();
        left = Session {
            world,
            protocol,
            manners: &manners,
            connection,
            exchanges,
            begun: AtomicUsize::new(0),
            answered: 0,
        }
        .run(stream, rng)
        .await;
    }
}

/// One connection.
struct Session<'a> {
    world: &'a World,
    protocol: Protocol,
    manners: &'a Manners,
    connection: Connection<'a>,
    exchanges: Vec<Exchange>,
    /// How many requests have been sent, at least in part.
    begun: AtomicUsize,
    answered: usize,
}

impl Session<'_> {
    /// Gives back the cases that want another connection.
    async fn run(mut self, mut stream: TcpStream, rng: &mut Rng) -> Vec<Case> {
        let abort = self.manners.abort.clone();
        let time = abort.as_ref().map_or(Duration::MAX, |abort| abort.time);
        let end = tokio::select! {
            end = self.talk(&mut stream, rng) => end,
            () = sleep(time) => End::Left,
        };
        if abort.is_some_and(|abort| abort.reset) {
            // A failure would only make it a FIN.
            let _ = stream.set_zero_linger();
        }
        let begun = self.begun.load(Ordering::Relaxed);
        let rest = self.exchanges.split_off(self.answered);
        let worker = self.exchanges.last().and_then(Exchange::worker);
        let (open, unsent) = rest.split_at(begun - self.answered);
        let ended = |outcome| {
            for exchange in open {
                exchange.ended(self.world, self.protocol, outcome);
            }
        };
        let again = match (end, rest.first()) {
            (End::Done, _) => &[],
            (End::Left, _) => {
                ended(Outcome::Aborted);
                &[]
            }
            (End::Announced, _) => {
                ended(Outcome::SentAgain);
                &rest[..]
            }
            (End::Closed(_), _) if self.connection.is_cut() => {
                ended(Outcome::Cut);
                unsent
            }
            // Some may have been answered: the RST that the unread ones make takes answers along.
            (End::Closed(e), Some(first))
                if is_reset(&e) && open.len() > 1 && worker.or(first.worker()).is_some() =>
            {
                self.is_left(worker.or(first.worker()), first, &e);
                ended(Outcome::Reset);
                unsent
            }
            // Between two requests, and before any byte of an answer.
            (End::Closed(e), Some(first)) if worker.is_some() && first.is_untouched() => {
                self.is_left(worker, first, &e);
                ended(Outcome::SentAgain);
                &rest[..]
            }
            (End::Closed(e), first) => self.is_wrong(first, &told(&e)),
            (End::Wrong(why), first) => self.is_wrong(first, &why),
        };
        again.iter().map(|exchange| exchange.case.clone()).collect()
    }

    /// Says that the worker has closed the connection before it answered `first`.
    fn is_left(&self, worker: Option<u32>, first: &Exchange, e: &Option<io::Error>) {
        let why = format!("{}: {}", first.shown(), told(e));
        let worker = worker.unwrap_or_default();
        self.world.seen.closed_without_a_word(worker, why);
    }

    /// Counts the first that has not been answered as wrong, or else the last; there is nothing to send again.
    fn is_wrong(&self, first: Option<&Exchange>, why: &str) -> &'static [Exchange] {
        let first = first.unwrap_or_else(|| &self.exchanges[self.answered - 1]);
        first.wrong(self.world, self.protocol, why);
        &[]
    }

    async fn talk(&mut self, stream: &mut TcpStream, rng: &mut Rng) -> End {
        let (read, write) = stream.split();
        let mut reader = Reader {
            read,
            unread: Vec::new(),
            slowly: self.manners.reads_slowly,
            patience: self.manners.patience,
        };
        let mut writer = Writer {
            write,
            slowly: self.manners.writes_slowly,
            left: self
                .manners
                .abort
                .as_ref()
                .map_or(usize::MAX, |abort| abort.bytes),
        };
        let all = self.exchanges.len();
        let at_once = if self.protocol == Protocol::Pipelined {
            rng.usize(2..9)
        } else {
            1
        };
        while self.answered < all {
            let group = self.answered..all.min(self.answered + at_once);
            let keep = rng.u8(0..4) > 0 || group.end < all;
            let requests = group
                .clone()
                .map(|n| request(&self.exchanges[n].case, self.protocol, keep, rng));
            let requests: Vec<Vec<u8>> = requests.collect();
            for exchange in &mut self.exchanges[group.clone()] {
                exchange.asked = Instant::now();
            }
            let begun = &self.begun;
            let mut fork = rng.fork();
            let writes = async {
                for request in requests {
                    begun.fetch_add(1, Ordering::Relaxed);
                    if !writer.send(&request, &mut fork).await {
                        return false;
                    }
                }
                true
            };
            let (exchanges, answered) = (&mut self.exchanges, &mut self.answered);
            let reads = async {
                for n in group {
                    let kept = match reader.answer(&mut exchanges[n], self.protocol).await {
                        Ok(kept) => kept,
                        Err(end) => return end,
                    };
                    exchanges[n].answered(self.world, self.protocol);
                    *answered = n + 1;
                    if !kept {
                        return reader.end().await;
                    }
                }
                End::Done
            };
            let mut reads = std::pin::pin!(reads);
            let end = tokio::select! {
                end = &mut reads => end,
                wants_more = writes => match wants_more {
                    true => reads.await,
                    false => End::Left,
                },
            };
            match end {
                End::Done => {}
                end => return end,
            }
        }
        match reader.unread.is_empty() {
            true => End::Done,
            false => {
                let more = format!(
                    "behind the last answer: \"{}\"",
                    reader.unread.escape_ascii()
                );
                self.exchanges[all - 1].wrong(self.world, self.protocol, &more);
                End::Done
            }
        }
    }
}

fn told(e: &Option<io::Error>) -> String {
    e.as_ref().map_or("closed".to_owned(), io::Error::to_string)
}

fn is_reset(e: &Option<io::Error>) -> bool {
    matches!(e, Some(e) if e.kind() == ErrorKind::ConnectionReset)
}

/// The bytes of a request.
fn request(case: &Case, protocol: Protocol, keep: bool, rng: &mut Rng) -> Vec<u8> {
    let method = if case.body.is_some() { "POST" } else { "GET" };
    let (version, kept) = match protocol {
        Protocol::Http10 => (
            "1.0",
            if keep {
                "Connection: keep-alive\r\n"
            } else {
                ""
            },
        ),
        _ => ("1.1", if keep { "" } else { "Connection: close\r\n" }),
    };
    let head = format!(
        "{method} {} HTTP/{version}\r\nHost: localhost\r\nX-Number: {}\r\n{kept}",
        case.target, case.number
    );
    let mut bytes = head.into_bytes();
    match &case.body {
        None => bytes.extend(b"\r\n"),
        Some(body) if protocol != Protocol::Http10 && rng.bool() => {
            bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
            for chunk in body.chunks(rng.usize(1..20_000)) {
                bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                bytes.extend(chunk);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\n\r\n");
        }
        Some(body) => {
            bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
            bytes.extend(body);
        }
    }
    bytes
}

struct Writer<'a> {
    write: WriteHalf<'a>,
    slowly: bool,
    /// How many bytes are sent before the client goes.
    left: usize,
}

impl Writer<'_> {
    /// Whether the client wants to go on.
    async fn send(&mut self, mut bytes: &[u8], rng: &mut Rng) -> bool {
        while !bytes.is_empty() {
            let some = if self.slowly {
                rng.usize(1..3000)
            } else {
                bytes.len()
            };
            let some = some.min(bytes.len()).min(self.left);
            // Where the server reads no more, its answer tells why, or that there is none.
            if self.write.write_all(&bytes[..some]).await.is_err() {
                return true;
            }
            bytes = &bytes[some..];
            self.left -= some;
            if self.left == 0 {
                return false;
            }
            if self.slowly {
                sleep(Duration::from_micros(rng.u64(0..3000))).await;
            }
        }
        true
    }
}
