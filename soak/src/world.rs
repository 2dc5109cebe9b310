//! What all clients and those who disturb them know of each other.

use crate::cases::Ports;
use crate::ledger::Ledger;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Shared by everyone.
#[derive(Debug)]
pub struct World {
    /// Where HTTP/1 is spoken, and where HTTP/2.
    pub http1: SocketAddr,
    pub http2: SocketAddr,
    pub ports: Ports,
    pub ledger: Ledger,
    pub connections: Connections,
    pub outages: Outages,
    pub seen: Seen,
    over: AtomicBool,
}

impl World {
    pub fn new(http1: SocketAddr, http2: SocketAddr, ports: Ports) -> World {
        World {
            http1,
            http2,
            ports,
            ledger: Ledger::default(),
            connections: Connections::default(),
            outages: Outages::default(),
            seen: Seen::default(),
            over: AtomicBool::new(false),
        }
    }

    /// Asks the clients to come to an end.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// The server's port and the client's: two connections to different ports may have one at the other end.
pub type Ends = (u16, u16);

/// The clients' connections, and those that a kill has cut.
#[derive(Debug, Default)]
pub struct Connections {
    open: Mutex<BTreeMap<Ends, u64>>,
    cut: Mutex<BTreeSet<u64>>,
    /// What each kill has cut.
    kills: Mutex<Vec<(Instant, BTreeSet<Ends>)>>,
    next: AtomicU64,
}

/// A connection that is open until this is dropped.
#[derive(Debug)]
pub struct Connection<'a> {
    all: &'a Connections,
    ends: Ends,
    id: u64,
}

impl Connections {
    /// A connection that the client has begun to make at `begun`. A worker may have been killed since that had it.
    pub fn open(&self, ends: Ends, begun: Instant) -> Connection<'_> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut open = self.open.lock().expect("nobody panics here");
        open.insert(ends, id);
        let kills = self.kills.lock().expect("nobody panics here");
        if kills
            .iter()
            .any(|(time, cut)| *time >= begun && cut.contains(&ends))
        {
            self.cut.lock().expect("nobody panics here").insert(id);
        }
        Connection {
            all: self,
            ends,
            id,
        }
    }

    /// Says that the worker which has these connections is about to be killed; how many there are.
    pub fn cut(&self, all: BTreeSet<Ends>) -> usize {
        let open = self.open.lock().expect("nobody panics here");
        let ids = all.iter().filter_map(|ends| open.get(ends).copied());
        self.cut.lock().expect("nobody panics here").extend(ids);
        let count = all.len();
        self.kills
            .lock()
            .expect("nobody panics here")
            .push((Instant::now(), all));
        count
    }
}

impl Connection<'_> {
    /// Whether a kill has cut it.
    pub fn is_cut(&self) -> bool {
        self.all
            .cut
            .lock()
            .expect("nobody panics here")
            .contains(&self.id)
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        let mut open = self.all.open.lock().expect("nobody panics here");
        // The system may have given the ports to another connection meanwhile.
        if open.get(&self.ends) == Some(&self.id) {
            open.remove(&self.ends);
        }
    }
}

/// When Redis was down: from before it was stopped until it answered again.
#[derive(Debug, Default)]
pub struct Outages(Mutex<Vec<(Instant, Option<Instant>)>>);

impl Outages {
    pub fn begin(&self) {
        self.0
            .lock()
            .expect("nobody panics here")
            .push((Instant::now(), None));
    }

    pub fn end(&self) {
        if let Some(last) = self.0.lock().expect("nobody panics here").last_mut() {
            last.1 = Some(Instant::now());
        }
    }

    pub fn count(&self) -> usize {
        self.0.lock().expect("nobody panics here").len()
    }

    /// Whether Redis was down at any time since then.
    pub fn since(&self, then: Instant) -> bool {
        let all = self.0.lock().expect("nobody panics here");
        all.iter().any(|(_, end)| end.is_none_or(|end| end >= then))
    }
}

/// What the clients have seen of workers, to be compared with the error log at the end.
#[derive(Debug, Default)]
pub struct Seen {
    workers: Mutex<BTreeSet<u32>>,
    quitting: Mutex<BTreeMap<u32, String>>,
}

impl Seen {
    /// A worker has answered.
    pub fn worker(&self, pid: u32) {
        self.workers.lock().expect("nobody panics here").insert(pid);
    }

    /// A worker has closed a kept connection without a word, which only one that quits may do.
    pub fn closed_without_a_word(&self, pid: u32, request: String) {
        self.quitting
            .lock()
            .expect("nobody panics here")
            .entry(pid)
            .or_insert(request);
    }

    pub fn workers(&self) -> BTreeSet<u32> {
        self.workers.lock().expect("nobody panics here").clone()
    }

    /// Those who closed a kept connection without a word, with one of the requests.
    pub fn quitting(&self) -> BTreeMap<u32, String> {
        self.quitting.lock().expect("nobody panics here").clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_kill_cuts_the_connections_of_its_worker_and_no_others() {
        let all = Connections::default();
        let begun = Instant::now();
        let (one, other) = (all.open((80, 1), begun), all.open((80, 2), begun));
        assert_eq!(all.cut([(80, 1), (80, 4)].into()), 2);
        assert!(one.is_cut() && !other.is_cut());
        // One to another of the server's ports, from the same port.
        let elsewhere = all.open((81, 2), begun);
        all.cut([(80, 2)].into());
        assert!(other.is_cut() && !elsewhere.is_cut());
        drop(elsewhere);
        // Ports that are used again belong to another connection.
        let again = all.open((80, 1), Instant::now() + Duration::from_nanos(1));
        drop(one);
        assert!(!again.is_cut());
        all.cut([(80, 1)].into());
        assert!(again.is_cut());
        // One that its client has not heard of when its worker was killed.
        assert!(all.open((80, 4), begun).is_cut());
    }

    #[test]
    fn an_outage_excuses_whoever_asked_before_its_end() {
        let outages = Outages::default();
        let before = Instant::now();
        assert!(!outages.since(before));
        outages.begin();
        assert!(outages.since(before) && outages.since(Instant::now()));
        outages.end();
        assert!(outages.since(before));
        let after = Instant::now() + Duration::from_nanos(1);
        assert!(!outages.since(after));
    }
}
