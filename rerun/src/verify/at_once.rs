//! How many requests can wait at the same time: many are sent at once, and the times at which they are answered tell.
//!
//! All come after about one delay: at once. They come in waves, one delay apart: a pool, and the first wave is its
//! size. One by one: serial, as when a wait blocks the only thread.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};

use super::answer;
use super::connection::{PATIENCE, check, request};
use super::delay;
use super::fault::Fault;
use super::{Expected, Page};
use crate::stop;

/// Enough to see a pool of 100.
const REQUESTS: u32 = 128;

/// Other work on the machine spreads the answers, so the best try counts. A server that passes needs one or two.
const TRYING: Duration = Duration::from_secs(3);

/// How many wait at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// All that were sent.
    All(u32),
    /// No fewer than these; the machine is too busy to see more.
    AtLeast(u32),
    /// One wave.
    Pool(u32),
    Serial,
}

impl fmt::Display for AtOnce {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::All(count) => write!(f, "{count} at once"),
            Self::AtLeast(count) => {
                write!(f, "at least {count} at once, on a machine too busy to tell")
            }
            Self::Pool(count) => write!(f, "pool of {count}"),
            Self::Serial => f.write_str("serial"),
        }
    }
}

/// Finds it, and compares it with what the manifest says.
pub fn prove(address: SocketAddr, expected: &Expected, page: &Page) -> Result<AtOnce, Fault> {
    let wait = expected.wait;
    // Three waves of a pool, so that they can be told from slow answers.
    let requests = REQUESTS.max(expected.at_once.unwrap_or(0) * 5 / 2);
    let begun = Instant::now();
    // What the requests cost without a wait is not the wait's.
    let mut without = PATIENCE;
    let mut best = Vec::new();
    loop {
        for _ in 0..3 {
            let times = wave(address, &expected.hello, requests, Duration::ZERO, PATIENCE)?;
            without = without.min(last(&times));
        }
        let times = wave(address, page, requests, wait, wait * requests + PATIENCE)?;
        if best.is_empty() || last(&times) < last(&best) {
            best = times;
        }
        let found = if last(&best) < without + wait * 3 / 2 {
            AtOnce::All(requests)
        } else {
            waves(&best, wait)
        };
        let verdict = judge(found, expected.at_once);
        let hopeless = last(&best) > wait * requests / 2;
        let settled = match (&verdict, expected.at_once) {
            // Two waves that have run into each other.
            (Ok(AtOnce::Pool(count)), Some(pool)) => count * 5 <= pool * 6,
            (verdict, _) => verdict.is_ok(),
        };
        if settled || hopeless || begun.elapsed() > TRYING || stop::requested() {
            let proved = at_least(&best, wait);
            return match verdict {
                Err(_) if without > wait / 2 && proved >= REQUESTS / 4 => {
                    Ok(AtOnce::AtLeast(proved))
                }
                verdict => verdict,
            };
        }
    }
}

fn judge(found: AtOnce, expected: Option<u32>) -> Result<AtOnce, Fault> {
    let count = match found {
        AtOnce::All(_) | AtOnce::AtLeast(_) => return Ok(found),
        AtOnce::Pool(count) => count,
        AtOnce::Serial => 1,
    };
    // A wave that came late in part is counted short.
    match expected {
        Some(expected) if count * 5 >= expected * 4 => Ok(found),
        expected => Err(Fault::NotAtOnce {
            found: count,
            expected,
        }),
    }
}

/// What these times of answers, in order, say.
fn waves(times: &[Duration], wait: Duration) -> AtOnce {
    let Some(&first) = times.first() else {
        return AtOnce::Serial;
    };
    let in_first = times.iter().filter(|&&time| time < first + wait / 2);
    match in_first.count() as u32 {
        1 => AtOnce::Serial,
        count if (count as usize) < times.len() => AtOnce::Pool(count),
        count => AtOnce::All(count),
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

/// Sends so many requests at once, each on a connection of its own that is closed when its answer has come, and gives
/// the times of the answers in order. None may come before its wait is over.
fn wave(
    address: SocketAddr,
    page: &Page,
    requests: u32,
    wait: Duration,
    patience: Duration,
) -> Result<Vec<Duration>, Fault> {
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
) -> Result<Vec<Duration>, Fault> {
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
                delay::early(asked.elapsed(), asked.elapsed(), wait)?;
                times.push(begun.elapsed());
                *slot = None;
            }
        }
    }
    Ok(times)
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
    fn waves_tell_the_pool() {
        assert_eq!(waves(&times(&[20, 21, 22, 23]), WAIT), AtOnce::All(4));
        assert_eq!(waves(&times(&[20, 21, 40, 42, 61]), WAIT), AtOnce::Pool(2));
        assert_eq!(waves(&times(&[20, 40, 60]), WAIT), AtOnce::Serial);
        assert_eq!(waves(&[], WAIT), AtOnce::Serial);
    }

    #[test]
    fn an_answer_before_two_waits_has_not_waited_for_another() {
        assert_eq!(at_least(&times(&[20, 25, 36, 39, 41]), WAIT), 3);
    }

    #[test]
    fn what_the_manifest_says_must_be_true() {
        assert!(judge(AtOnce::All(128), None).is_ok());
        assert!(judge(AtOnce::All(128), Some(50)).is_ok());
        assert!(judge(AtOnce::Pool(48), Some(50)).is_ok());
        assert!(judge(AtOnce::Serial, Some(1)).is_ok());
        assert!(judge(AtOnce::Serial, None).is_err());
        assert!(judge(AtOnce::Pool(20), Some(50)).is_err());
    }
}
