//! What was counted.

use std::collections::BTreeMap;

use anyhow::Result;
use hdrhistogram::Histogram;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::result::{self, ClientSample, Failure};

/// Counters of one round.
pub struct Tally {
    pub answers: u64,
    pub failures: BTreeMap<Failure, u64>,
    pub examples: BTreeMap<Failure, String>,
    pub opened: u64,
    pub most_open: u32,
    pub not_kept: u64,
    pub unsent: u64,
    /// How long requests were under way within the window, nanoseconds in all.
    pub took: u64,
    latency: Histogram<u64>,
}

impl Tally {
    pub fn new() -> Self {
        Self {
            answers: 0,
            failures: BTreeMap::new(),
            examples: BTreeMap::new(),
            opened: 0,
            most_open: 0,
            not_kept: 0,
            unsent: 0,
            took: 0,
            latency: Histogram::new_with_bounds(1, 3_600_000_000, 3)
                .expect("an hour in microseconds to three digits is a valid range"),
        }
    }

    /// Latency of a right answer in nanoseconds.
    pub fn latency(&mut self, ns: u64) {
        self.latency.saturating_record((ns + 500) / 1_000);
    }

    pub fn failure(&mut self, failure: Failure, seen: impl FnOnce() -> String) {
        *self.failures.entry(failure).or_default() += 1;
        self.examples.entry(failure).or_insert_with(seen);
    }

    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// The counters with the length of the window in nanoseconds, and what the thread used in it.
    pub fn sample(self, window: u64, usage: Usage) -> ClientSample {
        ClientSample {
            seconds: window as f64 / 1e9,
            answers: self.answers,
            mean_us: self.took as f64 / 1e3 / self.answers.max(1) as f64,
            failures: self.failures,
            examples: self.examples,
            connections: self.most_open,
            opened: self.opened,
            not_kept: self.not_kept,
            unsent: self.unsent,
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            waited_ns: usage.waited_ns,
            latency: compact(&self.latency),
        }
    }
}

/// The recorded values and how often each.
fn compact(histogram: &Histogram<u64>) -> result::Histogram {
    let recorded = histogram.iter_recorded();
    result::Histogram(
        recorded
            .map(|step| {
                let value = step.value_iterated_to();
                (histogram.median_equivalent(value), step.count_at_value())
            })
            .collect(),
    )
}

/// What the calling thread has used, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub user_ns: u64,
    pub system_ns: u64,
    /// Ready to run, and another thread had its core: the second figure of `/proc/thread-self/schedstat`.
    pub waited_ns: Option<u64>,
}

impl Usage {
    pub fn of_this_thread() -> Result<Self> {
        let usage = getrusage(UsageWho::RUSAGE_THREAD)?;
        let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        Ok(Self {
            user_ns: usage.user_time().num_microseconds() as u64 * 1_000,
            system_ns: usage.system_time().num_microseconds() as u64 * 1_000,
            waited_ns: schedstat.and_then(|text| text.split(' ').nth(1)?.parse().ok()),
        })
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            waited_ns: self
                .waited_ns
                .zip(before.waited_ns)
                .map(|(after, before)| after.saturating_sub(before)),
        }
    }
}
