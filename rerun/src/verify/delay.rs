//! The delay: no answer comes before it is over, and none long after.

use std::net::SocketAddr;
use std::time::Duration;

use super::connection::{Asker, Connection, check};
use super::fault::Fault;
use super::{Expected, Page};

/// Requests that are timed, one after the other.
const REQUESTS: usize = 25;

/// nginx's clock ticks in milliseconds and may be one behind, so a timer may end that much early.
pub const CLOCK: Duration = Duration::from_millis(1);

/// Requests on new connections that are timed then.
const CONNECTIONS: usize = 5;

/// The shortest and the middle time of some requests.
pub fn prove(
    address: SocketAddr,
    expected: &Expected,
    page: &Page,
) -> Result<(Duration, Duration), Fault> {
    let wait = expected.wait;
    let mut found = times(address, expected, page)?;
    // A machine that is busy with something else may be late every time; a server that waits too long is.
    for _ in 0..2 {
        if found.0 > longest(wait) {
            found = times(address, expected, page)?;
        }
    }
    match found {
        (shortest, median) if shortest > longest(wait) => Err(Fault::Slow { median, wait }),
        found => Ok(found),
    }
}

/// The shortest time may not be longer.
fn longest(wait: Duration) -> Duration {
    wait * 3 / 2
}

fn times(
    address: SocketAddr,
    expected: &Expected,
    page: &Page,
) -> Result<(Duration, Duration), Fault> {
    let wait = expected.wait;
    let mut asker = Asker::new(address, expected);
    let mut times = Vec::with_capacity(REQUESTS + CONNECTIONS);
    for turn in 0..REQUESTS {
        let timed = asker.ask(page)?;
        early(timed.first_byte, timed.last_byte, wait)?;
        times.push(timed.last_byte);
        if times.len() == 5 {
            slow(&times, wait)?;
        }
        // At another moment each time: one clock for all requests, or a wait that began with the last answer, would
        // be in step with us otherwise.
        let pause = wait * (turn as u32 * 7 % 10) / 10;
        std::thread::sleep(pause);
    }
    for turn in 0..CONNECTIONS {
        let mut connection = Connection::open(address)?;
        if turn == 0 {
            // The wait begins with the request, not with the connection.
            std::thread::sleep(wait * 2);
        }
        let timed = connection.ask(page)?;
        check(&timed.answer, page)?;
        early(timed.first_byte, timed.last_byte, wait)?;
        times.push(timed.last_byte);
    }
    slow(&times, wait)?;
    times.sort();
    Ok((times[0], times[times.len() / 2]))
}

/// Most of the requests took several times as long as they should.
fn slow(times: &[Duration], wait: Duration) -> Result<(), Fault> {
    let mut times = times.to_owned();
    times.sort();
    match times[times.len() / 2] {
        median if median > wait * 5 => Err(Fault::Slow { median, wait }),
        _ => Ok(()),
    }
}

/// Whether an answer, or its beginning, came too soon.
fn early(first_byte: Duration, last_byte: Duration, wait: Duration) -> Result<(), Fault> {
    if last_byte + CLOCK < wait {
        Err(Fault::TooEarly {
            after: last_byte,
            wait,
        })
    } else if first_byte + CLOCK < wait {
        Err(Fault::BeganEarly {
            after: first_byte,
            wait,
        })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_by_more_than_a_tick() {
        let ms = Duration::from_millis;
        assert_eq!(early(ms(19), ms(19), ms(20)), Ok(()));
        assert_eq!(
            early(ms(18), ms(18), ms(20)),
            Err(Fault::TooEarly {
                after: ms(18),
                wait: ms(20)
            })
        );
        assert_eq!(
            early(ms(1), ms(21), ms(20)),
            Err(Fault::BeganEarly {
                after: ms(1),
                wait: ms(20)
            })
        );
    }
}
