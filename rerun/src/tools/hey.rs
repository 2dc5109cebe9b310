//! hey, and boom as it was called before.
//!
//! Its rate counts failures. It keeps latencies, statuses and sizes of the first million answers only, and divides the
//! sums of all by that many.

use super::lines::{Line, Weight, bracket, like, rank, skip, strong, weak};
use super::number::{count, number, plain, size, time};
use super::printed::Printed;

/// Answers of which hey keeps latency and status.
pub const KEPT: u64 = 1_000_000;

pub static LINES: &[Line] = &[
    strong("Summary:", "Summary:", skip),
    TOTAL,
    SLOWEST,
    FASTEST,
    AVERAGE,
    RATE,
    weak("Total data:", "Total data:\t12000 bytes", |run, rest| {
        run.body_bytes = Some(size(rest)?.0);
        Some(())
    }),
    SIZE,
    HISTOGRAM,
    BAR,
    weak("Latency distribution:", "", skip),
    RANKS,
    DETAILS,
    weak("DNS+dialup:", "", skip),
    weak("DNS-lookup:", "", skip),
    weak("req write:", "", skip),
    weak("resp wait:", "", skip),
    weak("resp read:", "", skip),
    STATUS_HEAD,
    STATUS,
    ERROR_HEAD,
    ERROR,
];

pub const TOTAL: Line = weak("Total:", "Total:\t0.1090 secs", |run, rest| {
    run.seconds = Some(time(rest)?.0.times(1e-3));
    Some(())
});

pub const SLOWEST: Line = strong("Slowest:", "Slowest:\t0.0187 secs", |run, rest| {
    run.max = latency(rest)?;
    Some(())
});

pub const FASTEST: Line = strong("Fastest:", "Fastest:\t0.0001 secs", |run, rest| {
    run.min = latency(rest)?;
    Some(())
});

pub const AVERAGE: Line = strong("Average:", "Average:\t0.0023 secs", |run, rest| {
    run.mean = latency(rest)?;
    if run.mean.is_none() {
        // Nothing was answered, and the others are zero.
        (run.min, run.max) = (None, None);
    }
    Some(())
});

pub const RATE: Line = strong("Requests/sec:", "Requests/sec:\t18354.4584", |run, rest| {
    run.rate = Some(plain(rest)?.0);
    Some(())
});

pub const SIZE: Line = strong("Size/request:", "Size/request:\t6 bytes", |run, rest| {
    if !is_nan(rest) {
        run.body_each = Some(size(rest)?.0);
    }
    Some(())
});

pub const HISTOGRAM: Line = weak("Response time histogram:", "", skip);

pub const BAR: Line = like(
    bar,
    Weight::Weak,
    "0.002 [1410]\t|■■■■",
    |run, text| {
        let (_, rest) = text.split_once('[')?;
        run.histogram.push(count(rest)?.0);
        Some(())
    },
)
.repeated();

pub const DETAILS: Line = weak("Details (", "", skip);

/// `10% in 0.0002 secs`; `0% in 0.0000 secs` stands for a rank that too few answers have.
pub const RANKS: Line = like(rank, Weight::Weak, "50% in 0.0008 secs", |run, text| {
    let (rank, rest) = text.split_once('%')?;
    let rank: f64 = rank.parse().ok()?;
    let (_, rest) = rest.split_once("in ")?;
    if let Some(ms) = latency(rest)?
        && rank > 0.0
    {
        run.percentiles.push((rank, ms));
    }
    Some(())
})
.repeated();

pub const STATUS_HEAD: Line = weak("Status code distribution:", "", |run, _| {
    run.whole = true;
    Some(())
});

pub const STATUS: Line = like(
    bracket,
    Weight::Weak,
    "[200]\t2000 responses",
    |run, rest| {
        let (status, rest) = count(rest)?;
        let (answers, rest) = count(rest.strip_prefix(']')?)?;
        rest.trim_start().starts_with("responses").then_some(())?;
        run.statuses.push((u16::try_from(status).ok()?, answers));
        add(run, answers)
    },
)
.repeated();

pub const ERROR_HEAD: Line = weak("Error distribution:", "", skip);

const ERROR: Line = like(
    bracket,
    Weight::Weak,
    "[3]\tdial tcp: connection refused",
    error,
)
.repeated();

/// `[3] Get "http://…": dial tcp …: connection refused`.
pub fn error(run: &mut Printed, rest: &str) -> Option<()> {
    let (errors, rest) = count(rest)?;
    let message = rest.strip_prefix(']')?.trim();
    let name = message.rsplit(": ").next().unwrap_or_default();
    run.errors.push((name.to_owned(), errors));
    add(run, errors)
}

fn add(run: &mut Printed, more: u64) -> Option<()> {
    run.requests = Some(run.requests.unwrap_or(0).checked_add(more)?);
    Some(())
}

/// A latency, or none where nothing was answered.
fn latency(text: &str) -> Option<Option<super::number::Number>> {
    if is_nan(text) {
        return Some(None);
    }
    time(text).map(|(ms, _)| Some(ms))
}

fn is_nan(text: &str) -> bool {
    text.trim_start().starts_with("NaN")
}

fn bar(text: &str) -> Option<&str> {
    let (_, rest) = number(text)?;
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c.is_alphabetic());
    (rest.starts_with('[') && rest.contains('|')).then_some(text)
}

#[cfg(test)]
mod tests {
    use crate::tools::Tool;

    #[test]
    fn what_hey_prints() {
        let text = "Summary:\n  Total:\t0.1090 secs\n  Slowest:\t0.0187 secs\n  Fastest:\t0.0002 secs\n  \
            Average:\t0.0023 secs\n  Requests/sec:\t18354.4584\n\n  Total data:\t12000 bytes\n  \
            Size/request:\t6 bytes\n\nResponse time histogram:\n  0.002 [1997]\t|■■\n\nLatency distribution:\n  \
            50%% in 0.0008 secs\n  0% in 0.0000 secs\n\nStatus code distribution:\n  [200]\t1990 responses\n  \
            [404]\t7 responses\n\nError distribution:\n  [3]\tGet \"http://x/\": dial tcp: connection refused\n";
        let figures = Tool::Hey.figures(text);
        assert_eq!(figures.requests, Some(2000));
        assert_eq!((figures.non_2xx, figures.socket_errors), (Some(7), Some(3)));
        assert_eq!(figures.min_ms, Some(0.2));
        assert_eq!(figures.percentiles_ms, [(50.0, 0.8)]);
        assert_eq!(figures.body_bytes, Some(12_000));
    }

    #[test]
    fn nothing_answered() {
        let text = "Summary:\n Total:\t0.1 secs\n Slowest:\t0.0000 secs\n Fastest:\t0.0000 secs\n Average:\t NaN secs\n";
        let figures = Tool::Hey.figures(text);
        assert_eq!((figures.min_ms, figures.max_ms), (None, None));
    }
}
