//! Counts, times and rates that must fit each other.

use super::super::case::Case;
use super::super::finding::{Finding, Kind, short};
use crate::gates::n;
use crate::tools::Tool;
use crate::tools::number::Number;

/// What figures that are printed from the same run cannot do.
const MIXED: &str = "the figures are of different runs, or mistyped";

pub fn check(case: &Case) -> Vec<Finding> {
    let checks = [
        rate,
        by_rate,
        byte_rate,
        counts,
        sizes,
        histogram,
        threads,
        length_of_run,
    ];
    checks.iter().filter_map(|check| check(case)).collect()
}

/// Whether the bounds of two figures meet, with a thousandth for what is counted at the ends of a run.
fn meet(one: (f64, f64), other: (f64, f64)) -> bool {
    one.0 <= other.1 * 1.001 + 1e-9 && other.0 <= one.1 * 1.001 + 1e-9
}

fn bounds(number: Number) -> (f64, f64) {
    (number.low(), number.high())
}

/// Count by time is the rate.
fn rate(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let (rate, seconds) = (printed.rate?, printed.seconds?);
    let requests = printed.requests?;
    if case.hey_forgot() {
        return Some(Kind::Careful.says(
            "hey keeps latencies and statuses of the first 1,000,000 answers only, and divides the sum of all by \
             that: its average is too high, and later failures are not in the distribution. Take fewer requests",
        ));
    }
    let within = rate.low() * seconds.low()..=rate.high() * seconds.high();
    let errors = printed.errors();
    let candidates = match case.tool() {
        // Whether those that failed are counted differs between versions.
        Tool::H2load => vec![requests, requests.saturating_sub(errors), requests + errors],
        _ => vec![requests],
    };
    let fits = candidates.iter().any(|count| {
        let count = *count as f64;
        meet((count - 1.0, count + 1.0), (*within.start(), *within.end()))
    });
    let told = format!(
        "{} requests in {} s",
        n(requests as f64),
        short(seconds.value)
    );
    if fits {
        let text = format!("{told} and {} requests/s fit each other", n(rate.value));
        return Some(Kind::Proves.says(text));
    }
    if matches!(case.tool(), Tool::Hey | Tool::Oha) && (requests as f64) < *within.start() {
        return Some(Kind::Careful.says(format!(
            "statuses and errors count {} requests, and {} requests/s in {} s are {}: the others failed, or their \
             lines are missing",
            n(requests as f64),
            n(rate.value),
            short(seconds.value),
            n(rate.value * seconds.value)
        )));
    }
    let each = requests as f64 / seconds.value;
    Some(Kind::Impossible.says(format!(
        "{told} are {} requests/s, and {} are printed: {MIXED}",
        n(each),
        n(rate.value)
    )))
}

/// ab's "Time per request" is concurrency by rate, and one by rate.
fn by_rate(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let rate = printed.rate.filter(|rate| rate.low() > 0.0)?;
    let factors = [printed.connections.map(f64::from), Some(1.0)];
    printed.by_rate.iter().zip(factors).find_map(|(time, factor)| {
        let (time, factor) = ((*time)?, factor?);
        let computed = (factor * 1e3 / rate.high(), factor * 1e3 / rate.low());
        (!meet(bounds(time), computed)).then(|| {
            Kind::Impossible.says(format!(
                "ab computes \"Time per request\" from the rate: {} at a time and {} requests/s would be {} ms, not {}: {MIXED}",
                n(factor),
                n(rate.value),
                short(factor * 1e3 / rate.value),
                short(time.value)
            ))
        })
    })
}

/// Bytes by time is the transfer rate.
fn byte_rate(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let (rate, seconds, bytes) = (printed.byte_rate?, printed.seconds?, printed.answer_bytes?);
    let computed = (rate.low() * seconds.low(), rate.high() * seconds.high());
    (!meet(bounds(bytes), computed)).then(|| {
        Kind::Impossible.says(format!(
            "{} bytes in {} s are {} bytes/s, and the transfer rate is {}: {MIXED}",
            n(bytes.value),
            short(seconds.value),
            n(bytes.value / seconds.value),
            n(rate.value)
        ))
    })
}

/// No part is more than the whole.
fn counts(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let requests = printed.requests?;
    // Those that were under way at the end may be in one count and not in the other.
    let most = requests + u64::from(case.asked().unwrap_or(0));
    let not_2xx = printed
        .not_2xx()
        .map(|count| (count, "answers of another status than 2xx"));
    // ab counts one request under several kinds of failure.
    let failed = printed.failed.filter(|_| case.tool() != Tool::Ab);
    let parts = [not_2xx, failed.map(|count| (count, "failed requests"))];
    let (count, what) = parts
        .into_iter()
        .flatten()
        .find(|(count, _)| *count > most)?;
    Some(Kind::Impossible.says(format!(
        "{} {what} of {} requests: {MIXED}",
        n(count as f64),
        n(requests as f64)
    )))
}

/// Mean size by answers is all data (hey, oha).
fn sizes(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    if !matches!(case.tool(), Tool::Hey | Tool::Oha) || case.hey_forgot() {
        return None;
    }
    let (each, all, answers) = (printed.body_each?, printed.body_bytes?, case.answers()?);
    let answers = answers as f64;
    // Statuses may be missing in the paste.
    (all.high() < each.low() * answers * 0.999).then(|| {
        Kind::Impossible.says(format!(
            "{} answers of {} bytes are {} bytes, and {} are printed: {MIXED}",
            n(answers),
            short(each.value),
            n(answers * each.value),
            n(all.value)
        ))
    })
}

/// The bars of a whole histogram are all answers (hey, oha).
fn histogram(case: &Case) -> Option<Finding> {
    const BARS: usize = 11;
    let printed = case.printed();
    let answers = case.answers().filter(|_| printed.histogram.len() == BARS)?;
    let bars: f64 = printed.histogram.iter().map(|count| *count as f64).sum();
    // Statuses may be missing in the paste.
    (bars < answers as f64).then(|| {
        Kind::Impossible.says(format!(
            "the histogram counts {} answers, and the statuses {}: {MIXED}",
            n(bars),
            n(answers as f64)
        ))
    })
}

/// wrk's rates of one thread are means over tenths of a second: they are near the whole, not equal.
fn threads(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let (each, rate) = (printed.thread_rate?, printed.rate?);
    let threads = f64::from(printed.threads?);
    if printed.seconds?.low() < 2.0 || each.value == 0.0 {
        return None;
    }
    let all = each.value * threads;
    let ratio = all / rate.value;
    (!(0.5..=2.0).contains(&ratio)).then(|| {
        Kind::Careful.says(format!(
            "{} threads of {} requests/s each are {}, and the whole is {}: are these lines of one run?",
            n(threads),
            n(each.value),
            n(all),
            n(rate.value)
        ))
    })
}

/// A run that took another time than it was asked to.
fn length_of_run(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let (asked, took) = (printed.asked_seconds?, printed.seconds?);
    let text = if took.high() < asked.low() * 0.98 {
        "it was broken off"
    } else if took.low() > asked.high() * 1.1 + 0.5 {
        "the generator was too busy to stop in time, so give it more of the machine"
    } else {
        return None;
    };
    Some(Kind::Careful.says(format!(
        "a run of {} s took {} s: {text}",
        short(asked.value),
        short(took.value)
    )))
}
