//! The measuring client: one thread, epoll, every status and every byte of every body checked.
//!
//! - [`judge`]: whether some bytes are the right answer. Pure.
//! - [`Pace`](pace::Pace): when a request is due. Pure.
//! - [`Connection`](connection::Connection): one socket and where its exchange stands.
//! - [`engine`]: the loop that moves them all, through warm-up, measured window and drain.
//! - [`tally`]: what was counted.
//! - [`ceiling`]: how fast all this is against a server that does nothing ([`null`]).
//!
//! # What is counted
//!
//! The rate is of answers that ended within the window. The latencies are of the requests that began (closed loop) or
//! were due (open loop) within it; they are waited for after its end, so a slow answer is not lost because it was slow.
//! An answer that is wrong is a failure of its kind and neither in the rate nor in the latencies. After a failure its
//! connection rests for a moment, so failing fast is never measured as being fast.

pub mod ceiling;
mod chunked;
mod connection;
mod engine;
mod expect;
pub mod judge;
mod null;
mod pace;
mod pin;
mod tally;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, anyhow};

use crate::result::ClientSample;

use engine::run;
pub use expect::Expect;
pub use pin::pin;
pub use tally::Usage;

/// One round: whom to ask, what, how often, for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    pub address: SocketAddr,
    pub path: String,
    pub expect: Expect,
    pub connections: u32,
    /// Otherwise each connection is for one request.
    pub keep_alive: bool,
    /// Requests a second of an open loop; none for a closed one.
    pub open_rate: Option<f64>,
    pub warm_up: Duration,
    pub until: Until,
    /// A request that takes longer has failed.
    pub timeout: Duration,
}

/// What ends the measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Until {
    Elapsed(Duration),
    /// So many requests have been answered or have failed.
    Requests(u64),
}

/// Where a round stands, for whoever samples the server at the same moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The warm-up is over; the window begins when the callback returns.
    Begin,
    /// The window has ended; all connections are still open.
    End,
}

/// Runs one round in a thread of its own on these cores: what the caller starts later is not bound to them.
pub fn on(
    cpus: &[usize],
    plan: &Plan,
    at: &mut (dyn FnMut(Moment) -> Result<()> + Send),
) -> Result<ClientSample> {
    std::thread::scope(|scope| {
        let client = std::thread::Builder::new().name("client".into());
        let client = client.spawn_scoped(scope, || {
            pin(cpus)?;
            run(plan, at)
        })?;
        let ended = client.join();
        ended.map_err(|_| anyhow!("the client's thread has panicked"))?
    })
}
