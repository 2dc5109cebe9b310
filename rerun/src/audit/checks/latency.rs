//! Latencies: in order, possible, and no shorter than the wait that was meant.

use super::super::case::Case;
use super::super::finding::{Finding, Kind, ms, short};
use crate::gates::{delay, n};
use crate::tools::Tool;
use crate::tools::number::Number;

/// Rank from 0 to 100, and milliseconds.
type Ranked = (f64, Number);

pub fn check(case: &Case) -> Vec<Finding> {
    let ranked = ranked(case);
    let mut found = Vec::new();
    match order(&ranked) {
        Some(finding) => found.push(finding),
        None => match mean(case, &ranked).or_else(|| deviation(case)) {
            Some(finding) => found.push(finding),
            None if ranked.len() >= 2 => {
                found.push(Kind::Proves.says("latencies are in order, and the mean is possible"));
            }
            None => (),
        },
    }
    found.extend(within(case));
    found.extend(waited(case, &ranked));
    found.extend(tail(case));
    found
}

/// All that are printed, the least and the greatest too.
fn ranked(case: &Case) -> Vec<Ranked> {
    let printed = case.printed();
    let mut all: Vec<Ranked> = printed.min.map(|min| (0.0, min)).into_iter().collect();
    all.extend(&printed.percentiles);
    all.extend(max(case).map(|max| (100.0, max)));
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    all
}

fn max(case: &Case) -> Option<Number> {
    let max = case.printed().max?;
    // It keeps three digits.
    Some(if case.tool() == Tool::Wrk2 {
        max.within(0.002)
    } else {
        max
    })
}

fn name((rank, time): &Ranked) -> String {
    let time = ms(*time);
    match rank {
        0.0 => format!("the least latency is {time} ms"),
        100.0 => format!("the greatest latency is {time} ms"),
        rank => format!("p{rank} is {time} ms"),
    }
}

fn order(ranked: &[Ranked]) -> Option<Finding> {
    let pair = ranked.windows(2).find(|pair| {
        let (one, other) = (pair[0].1, pair[1].1);
        let is_same = pair[0].0 == pair[1].0;
        one.low() > other.high() || (is_same && other.low() > one.high())
    })?;
    Some(Kind::Impossible.says(format!(
        "{}, and {}: the figures are of different runs, or mistyped",
        name(&pair[0]),
        name(&pair[1])
    )))
}

/// All latencies between two percentiles are at least the lower of them, and at most the upper. A percentile of few
/// answers may be off by one of them.
fn mean(case: &Case, ranked: &[Ranked]) -> Option<Finding> {
    // hey divides by less than it has added up.
    let mean = case.printed().mean.filter(|_| !case.hey_forgot())?;
    if let Some(min) = case.printed().min
        && mean.high() < min.low()
    {
        return Some(Kind::Impossible.says(format!(
            "a mean of {} ms is below the least latency, {} ms: the figures are of different runs, or mistyped",
            ms(mean),
            ms(min)
        )));
    }
    let one = 100.0 / case.answers().unwrap_or(1).max(1) as f64;
    let (mut low, mut below) = (0.0, 0.0);
    let mut at = 0.0;
    for (rank, time) in ranked {
        let rank = if *rank == 0.0 {
            0.0
        } else {
            (rank + one).min(100.0)
        };
        low += (rank - at) * below / 100.0;
        (at, below) = (rank, time.low());
    }
    low += (100.0 - at) * below / 100.0;
    if mean.high() < low * 0.999 {
        return Some(Kind::Impossible.says(format!(
            "a mean of {} ms is too low for these percentiles, which make at least {} ms",
            ms(mean),
            short(low)
        )));
    }
    let max = max(case)?;
    if mean.low() > max.high() {
        return Some(Kind::Impossible.says(format!(
            "a mean of {} ms is above the greatest latency, {} ms: the figures are of different runs, or mistyped",
            ms(mean),
            ms(max)
        )));
    }
    let (mut high, mut at) = (0.0, 0.0);
    for (rank, time) in ranked {
        let rank = if *rank == 100.0 {
            100.0
        } else {
            (rank - one).max(0.0)
        };
        high += (rank - at) * time.high() / 100.0;
        at = rank;
    }
    (mean.low() > high * 1.001).then(|| {
        Kind::Impossible.says(format!(
            "a mean of {} ms is too high for these percentiles, which make at most {} ms",
            ms(mean),
            short(high)
        ))
    })
}

/// The variance is at most (max - mean) x (mean - min) (R. Bhatia and C. Davis, "A Better Bound on the Variance",
/// American Mathematical Monthly 107, 2000).
fn deviation(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let (mean, deviation, max) = (printed.mean?, printed.deviation?, max(case)?);
    if case.hey_forgot() {
        return None;
    }
    let min = printed.min.map_or(0.0, Number::low);
    let answers = case.answers().unwrap_or(2).max(2) as f64;
    let spread = (max.high() - mean.low()).max(0.0) * (mean.high() - min).max(0.0);
    let most = (spread * answers / (answers - 1.0)).sqrt();
    (deviation.low() > most * 1.001).then(|| {
        Kind::Impossible.says(format!(
            "a standard deviation of {} ms is impossible with a mean of {} ms and a maximum of {} ms: {} ms are the most",
            ms(deviation),
            ms(mean),
            ms(max),
            short(most)
        ))
    })
}

fn within(case: &Case) -> Option<Finding> {
    let part = case.printed().within.filter(|part| part.low() > 100.0)?;
    Some(Kind::Impossible.says(format!(
        "{} % of the latencies are within one deviation",
        part.value
    )))
}

/// The wait that was meant. A clock of nginx's may be a millisecond behind.
fn waited(case: &Case, ranked: &[Ranked]) -> Option<Finding> {
    let delay = case.meant.delay_ms.filter(|delay| *delay > 0.0)?;
    let least = delay - 1.0;
    let short_ones = ranked
        .iter()
        .filter(|(rank, time)| *rank > 0.0 && time.high() < least);
    if let Some(found) = short_ones.max_by(|one, other| one.0.total_cmp(&other.0)) {
        return Some(Kind::Impossible.says(format!(
            "{}, and no right answer takes less than {} ms: {} ms were not waited",
            name(found),
            short(least),
            short(delay)
        )));
    }
    let printed = case.printed();
    if let Some(min) = printed.min
        && min.low() < least
        && min.high() >= least
    {
        return Some(Kind::Cannot.says(format!(
            "whether every answer waited {} ms: the least latency is printed as {} ms, and is rounded",
            short(delay),
            ms(min)
        )));
    }
    // Rounding alone accuses nobody.
    let careful = |time: Option<Number>| {
        time.map(|time| {
            if time.high() < least {
                time.value
            } else {
                time.value.max(least)
            }
        })
    };
    Some(delay::judge(delay, careful(printed.min), None, careful(printed.mean)).into())
}

/// A percentile that rests on a handful of answers.
fn tail(case: &Case) -> Option<Finding> {
    const ENOUGH: f64 = 10.0;
    let answers = case.answers().filter(|answers| *answers > 0)? as f64;
    let above = |rank: f64| answers * (100.0 - rank) / 100.0;
    let ranks = case.printed().percentiles.iter().map(|(rank, _)| *rank);
    let rank = ranks
        .filter(|rank| *rank >= 90.0 && *rank < 100.0 && above(*rank) < ENOUGH)
        .min_by(f64::total_cmp)?;
    Some(Kind::Careful.says(format!(
        "p{rank} of {} answers rests on the slowest {}: take at least {} requests, or leave it out",
        n(answers),
        above(rank).ceil(),
        n((ENOUGH * 100.0 / (100.0 - rank)).round())
    )))
}
