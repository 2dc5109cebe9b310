//! What became of every request.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

/// How it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    Http10,
    Http11,
    Pipelined,
    Http2,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Http10 => "HTTP/1.0",
            Protocol::Http11 => "HTTP/1.1",
            Protocol::Pipelined => "HTTP/1.1, pipelined",
            Protocol::Http2 => "HTTP/2",
        })
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Whole and right.
    Answered,
    /// The client went first; what it had got was right.
    Aborted,
    /// A worker was killed that had the connection.
    Cut,
    /// 502 for want of Redis, while it was down.
    WithoutRedis,
    /// 502 after the example's own limit for Redis.
    SlowRedis,
    /// Not begun by a worker that was about to quit, so sent again.
    SentAgain,
    /// Taken along by the RST of a worker that was about to quit, whose client had sent more than one.
    Reset,
    /// Anything else.
    Wrong,
}

/// All outcomes, in the order of the table's columns, and their heads.
pub const OUTCOMES: [(Outcome, &str); 8] = [
    (Outcome::Answered, "answered"),
    (Outcome::Aborted, "aborted by us"),
    (Outcome::Cut, "cut by a kill"),
    (Outcome::WithoutRedis, "no Redis"),
    (Outcome::SlowRedis, "slow Redis"),
    (Outcome::SentAgain, "sent again"),
    (Outcome::Reset, "taken by a RST"),
    (Outcome::Wrong, "wrong"),
];

/// How many of each outcome there were.
pub type Counts = BTreeMap<Outcome, u64>;

/// Where all clients write what became of their requests.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    counts: BTreeMap<(Protocol, &'static str), Counts>,
    wrongs: Vec<String>,
}

impl Ledger {
    pub fn count(&self, protocol: Protocol, handler: &'static str, outcome: Outcome) {
        let mut entries = self.0.lock().expect("no client panics here");
        let counts = entries.counts.entry((protocol, handler)).or_default();
        *counts.entry(outcome).or_default() += 1;
    }

    /// Counts a wrong one, and keeps why.
    pub fn wrong(&self, protocol: Protocol, handler: &'static str, why: &str) {
        self.count(protocol, handler, Outcome::Wrong);
        let mut entries = self.0.lock().expect("no client panics here");
        entries.wrongs.push(format!("{handler}, {protocol}: {why}"));
    }

    /// What was wrong, in the order in which it was found.
    pub fn wrongs(&self) -> Vec<String> {
        self.0.lock().expect("no client panics here").wrongs.clone()
    }

    /// How many requests ended so.
    pub fn total(&self, outcome: Outcome) -> u64 {
        let entries = self.0.lock().expect("no client panics here");
        entries
            .counts
            .values()
            .filter_map(|counts| counts.get(&outcome))
            .sum()
    }

    /// The counts of all requests, by what `key` makes of protocol and handler.
    pub fn by<K: Ord>(&self, key: impl Fn(Protocol, &'static str) -> K) -> BTreeMap<K, Counts> {
        let entries = self.0.lock().expect("no client panics here");
        let mut sums: BTreeMap<K, Counts> = BTreeMap::new();
        for ((protocol, handler), counts) in &entries.counts {
            let sum = sums.entry(key(*protocol, handler)).or_default();
            for (outcome, count) in counts {
                *sum.entry(*outcome).or_default() += count;
            }
        }
        sums
    }
}
