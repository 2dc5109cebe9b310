//! How many requests can wait at the same time: many are sent at once, and the times of their answers tell.
//!
//! Who is answered before two waits are over has not waited for another. So these have all waited at the same time, at
//! least, however busy the machine is; where a pool or a wait that blocks holds the others back, there are no more.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};

use super::answer;
use super::connection::{PATIENCE, check, request};
use super::fault::Fault;
use super::{Expected, Page};
use crate::stop;

/// Enough to see a pool of 100.
const REQUESTS: u32 = 128;

/// Where all cannot be told, so many prove that the wait does not block.
const ENOUGH: u32 = 30;

/// As many are sent then.
const FEW: u32 = 32;

/// Other work on the machine spreads the answers, so the best try counts. A server that passes needs one or two.
const TRYING: Duration = Duration::from_secs(3);

/// How many wait at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// All that were sent.
    All(u32),
    /// No fewer than these; the requests themselves cost so much that no more can be told.
    AtLeast(u32),
    /// So many, and the others after them.
    Pool(u32),
    Serial,
}

impl fmt::Display for AtOnce {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::All(count) => write!(f, "{count} at once"),
            Self::AtLeast(count) => write!(f, "at least {count} at once"),
            Self::Pool(count) => write!(f, "pool of {count}"),
            Self::Serial => f.write_str("serial"),
        }
    }
}

/// Finds it, and compares it with what the manifest says; and gives the shortest time of all waits.
pub fn prove(
    address: SocketAddr,
    expected: &Expected,
    page: &Page,
) -> Result<(AtOnce, Duration), Fault> {
    let wait = expected.wait;
    // More than fit into a pool, so that its limit shows.
    let most = REQUESTS.max(expected.at_once.unwrap_or(0) * 3 / 2);
    let begun = Instant::now();
    let mut seen = Seen {
        requests: most,
        proved: 0,
        costly: false,
    };
    let mut without = PATIENCE;
    let mut shortest = Duration::MAX;
    for tries in 0.. {
        // What the requests cost without a wait is not the wait's. Where they cost too much, fewer tell more.
        for _ in 0..3 {
            let hello = wave(address, &expected.hello, most, Duration::ZERO, PATIENCE)?;
            without = without.min(last(&hello.times));
        }
        seen.costly = tries > 2 && without > wait / 2;
        let requests = if seen.costly { FEW } else { most };
        let wave = wave(address, page, requests, wait, wait * requests + PATIENCE)?;
        shortest = shortest.min(wave.shortest);
        let times = wave.times;
        seen.proved = seen.proved.max(at_least(&times, wait));
        let verdict = seen.judge(expected.at_once);
        let hopeless = last(&times) > wait * requests / 2 && without < wait;
        if verdict.is_ok() || hopeless || begun.elapsed() > TRYING || stop::requested() {
            return verdict.map(|at_once| (at_once, shortest));
        }
    }
    unreachable!("the tries end")
}

/// What the tries have shown.
struct Seen {
    requests: u32,
    /// So many have certainly waited at the same time.
    proved: u32,
    /// The requests themselves cost so much, by the server's nature or as the machine is busy with something else, that
    /// all cannot be told.
    costly: bool,
}

impl Seen {
    fn judge(&self, expected: Option<u32>) -> Result<AtOnce, Fault> {
        let proved = self.proved;
        match expected {
            _ if proved == self.requests => Ok(AtOnce::All(proved)),
            Some(1) => Ok(match proved {
                0 | 1 => AtOnce::Serial,
                more => AtOnce::Pool(more),
            }),
            // A few that came late are not counted.
            Some(pool) if proved * 5 >= pool * 4 => Ok(AtOnce::Pool(proved)),
            _ if self.costly && proved >= ENOUGH => Ok(AtOnce::AtLeast(proved)),
            expected => Err(Fault::NotAtOnce {
                found: proved.max(1),
                expected,
            }),
        }
    }
}

/// What is certain however busy the machine is: who is answered before two waits are over has not waited for another.
fn at_least(times: &[Duration], wait: Duration) -> u32 {
    let tick = Duration::from_millis(2);
    times.iter().filter(|&&time| time + tick < wait * 2).count() as u32
}

fn last(times: &[Duration]) -> Duration {
    times.last().copied().unwrap_or_default()
}

/// Requests that were sent at once.
struct Wave {
    /// When each was answered, from the moment before the first was sent; in order.
    times: Vec<Duration>,
    /// The shortest time between a request and its answer.
    shortest: Duration,
}

/// Sends so many requests at once, each on a connection of its own that is closed when its answer has come.
fn wave(
    address: SocketAddr,
    page: &Page,
    requests: u32,
    wait: Duration,
    patience: Duration,
) -> Result<Wave, Fault> {
    send(address, page, requests, wait, patience).map_err(|fault| Fault::UnderLoad {
        of: requests as usize,
        fault: Box::new(fault),
    })
}

fn send(
    address: SocketAddr,
    page: &Page,
    requests: u32,
    wait: Duration,
    patience: Duration,
) -> Result<Wave, Fault> {
    let connect = |error: std::io::Error| Fault::Connect(error.to_string());
    let mut poll = Poll::new().map_err(connect)?;
    let mut waiting = Vec::new();
    for index in 0..requests as usize {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(connect)?;
        stream.set_nonblocking(true).map_err(connect)?;
        let mut stream = mio::net::TcpStream::from_std(stream);
        poll.registry()
            .register(&mut stream, Token(index), Interest::READABLE)
            .map_err(connect)?;
        waiting.push(Some((stream, Vec::new(), Instant::now())));
    }
    let request = request(address, page);
    let begun = Instant::now();
    for (stream, _, asked) in waiting.iter_mut().flatten() {
        *asked = Instant::now();
        stream.write_all(request.as_bytes()).map_err(connect)?;
    }
    let mut times = Vec::with_capacity(waiting.len());
    let mut shortest = Duration::MAX;
    let mut events = Events::with_capacity(256);
    while times.len() < waiting.len() {
        let left = patience.saturating_sub(begun.elapsed());
        if left.is_zero() || stop::requested() {
            return Err(Fault::NoAnswer {
                waited: begun.elapsed(),
                got: 0,
            });
        }
        match poll.poll(&mut events, Some(left.min(Duration::from_millis(200)))) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(connect(error)),
            _ => {}
        }
        for event in &events {
            let slot = &mut waiting[event.token().0];
            let Some((stream, bytes, asked)) = slot else {
                continue;
            };
            if read(stream, bytes, page)? {
                let took = asked.elapsed();
                // A server's cached clock is as old as its turn, which is longer with many at once: see `shortest`.
                if took < wait * 3 / 4 {
                    return Err(Fault::TooEarly { after: took, wait });
                }
                shortest = shortest.min(took);
                times.push(begun.elapsed());
                *slot = None;
            }
        }
    }
    Ok(Wave { times, shortest })
}

/// Reads what has come; whether the answer is whole, and right.
fn read(stream: &mut mio::net::TcpStream, bytes: &mut Vec<u8>, page: &Page) -> Result<bool, Fault> {
    let mut buffer = [0; 4096];
    let mut ended = false;
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => {
                ended = true;
                break;
            }
            Ok(count) => bytes.extend(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Fault::EarlyClose { got: bytes.len() }),
        }
    }
    match answer::parse(bytes, ended, false)? {
        Some((answer, length)) if length == bytes.len() => {
            check(&answer, page)?;
            Ok(true)
        }
        Some((_, length)) => Err(Fault::ExtraBytes(bytes[length..].to_owned())),
        None => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_millis(20);

    fn times(ms: &[u64]) -> Vec<Duration> {
        ms.iter().map(|&ms| Duration::from_millis(ms)).collect()
    }

    #[test]
    fn an_answer_before_two_waits_has_not_waited_for_another() {
        assert_eq!(at_least(&times(&[20, 25, 36, 39, 41]), WAIT), 3);
    }

    #[test]
    fn what_the_manifest_says_must_be_true() {
        let judge = |proved, costly, expected| {
            let seen = Seen {
                requests: 128,
                proved,
                costly,
            };
            seen.judge(expected).ok()
        };
        assert_eq!(judge(128, false, None), Some(AtOnce::All(128)));
        assert_eq!(judge(128, false, Some(50)), Some(AtOnce::All(128)));
        assert_eq!(judge(70, true, None), Some(AtOnce::AtLeast(70)));
        assert_eq!(judge(70, false, None), None);
        assert_eq!(judge(48, false, Some(50)), Some(AtOnce::Pool(48)));
        assert_eq!(judge(20, false, Some(50)), None);
        assert_eq!(judge(1, false, Some(1)), Some(AtOnce::Serial));
        assert_eq!(judge(1, false, None), None);
    }
}
