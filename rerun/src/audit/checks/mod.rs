//! What can be said of one run. Each check is a pure function of what was printed and what was meant.

mod answers;
mod arithmetic;
mod bodies;
mod latency;
mod load;

use super::case::Case;
use super::finding::{Finding, Kind};
use crate::gates::{budget, complete, limiter, rounds};
use load::is_closed_loop;

/// Everything that is found in one run, gravest first.
pub fn all(case: &Case) -> Vec<Finding> {
    let mut found = Vec::new();
    for line in case.run.unread.iter().filter(|line| line.is_negative()) {
        found.push(Kind::Impossible.says(format!(
            "{:?} is less than nothing: a counter of the generator has overflowed",
            line.text
        )));
    }
    let checks = [
        answers::check,
        bodies::check,
        arithmetic::check,
        latency::check,
        load::check,
    ];
    found.extend(checks.iter().flat_map(|check| check(case)));
    // Of figures that contradict each other nothing follows.
    if found.iter().any(|finding| finding.kind == Kind::Impossible) {
        found.retain(|finding| finding.kind != Kind::Proves);
    }
    found.sort_by_key(|finding| finding.kind);
    found
}

/// What nothing that these generators print can tell, once for all runs.
pub fn of_every_run(cases: &[Case]) -> Vec<Finding> {
    let mut found: Vec<Finding> = [
        limiter::unknown(),
        budget::published(),
        rounds::published(),
        complete::published(),
    ]
    .map(Finding::from)
    .into();
    if cases.iter().any(is_closed_loop) {
        found.push(Kind::Cannot.says(
            "how long users would wait: in a closed loop a server that stalls is asked nothing, so high percentiles \
             are too low. Send at a rate (wrk2 -R, oha -q with --latency-correction)",
        ));
    }
    found
}
