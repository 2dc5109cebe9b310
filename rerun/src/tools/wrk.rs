//! wrk, and wrk2, which prints the same lines and more.
//!
//! Their rate counts answers of any status; requests that failed on their socket are counted beside it. wrk adds
//! latencies that it believes to have missed (`stats_correct`), so its mean may exceed what Little's law allows; wrk2
//! counts from when a request was due, after ten seconds of calibration.

use super::lines::{Line, Weight, like, noise, rank, skip, strong, weak};
use super::number::{count, metric, number, plain, size, time};
use super::printed::Printed;

pub static WRK: &[Line] = &[
    RUNNING,
    GAVE_UP,
    SHAPE,
    HEADINGS,
    LATENCY,
    THREAD_RATE,
    DISTRIBUTION,
    RANKS,
    DONE,
    SOCKETS,
    STATUSES,
    RATE,
    TRANSFER,
];

pub static WRK2: &[Line] = &[
    RUNNING,
    GAVE_UP,
    SHAPE,
    noise("Thread calibration:"),
    HEADINGS,
    LATENCY,
    THREAD_RATE,
    strong("Latency Distribution (HdrHistogram - Recorded", "", skip),
    RANKS,
    weak("Detailed Percentile spectrum:", "", skip),
    weak("Value", "", skip),
    like(
        spectrum,
        Weight::Weak,
        "0.921     0.000000            1         1.00",
        |run, text| {
            let mut words = text.split_whitespace();
            let (ms, _) = number(words.next()?)?;
            let rank: f64 = words.next()?.parse().ok()?;
            if rank == 0.0 {
                run.min = Some(ms.within(RESOLUTION));
            }
            Some(())
        },
    )
    .repeated(),
    strong(
        "#[",
        "#[Mean    =        6.462, StdDeviation   =        1.934]",
        skip,
    )
    .repeated(),
    weak("-----", "", skip),
    weak("Latency Distribution (HdrHistogram - Uncorrected", "", skip),
    like(rank, Weight::Weak, "50.000%    6.67ms", skip).repeated(),
    weak("Detailed Percentile spectrum:", "", skip),
    weak("Value", "", skip),
    like(spectrum, Weight::Weak, "", skip).repeated(),
    strong("#[", "", skip).repeated(),
    weak("-----", "", skip),
    DONE,
    SOCKETS,
    STATUSES,
    RATE,
    TRANSFER,
];

/// wrk2 keeps three significant digits.
const RESOLUTION: f64 = 0.002;

const RUNNING: Line = like(
    running,
    Weight::Strong,
    "Running 30s test @ http://127.0.0.1:8080/",
    |run, rest| {
        let (ms, rest) = time(rest)?;
        let rest = rest.trim_start().strip_prefix("test @ ")?;
        run.asked_seconds = Some(ms.times(1e-3));
        run.url = rest.split_whitespace().next().map(str::to_owned);
        // On the same line where a page has lost its line breaks.
        if rest.contains(" threads and ") {
            shape(run, rest)?;
        }
        Some(())
    },
);

const GAVE_UP: Line = strong(
    "unable to connect to ",
    "unable to connect to 127.0.0.1:8080 Connection refused",
    |run, rest| {
        run.gave_up = Some(format!("unable to connect to {rest}"));
        Some(())
    },
);

const SHAPE: Line = like(
    |text| text.contains(" threads and ").then_some(text),
    Weight::Strong,
    "2 threads and 10 connections",
    shape,
);

/// A variant of wrk2 has `99%` where others have `Max`.
const HEADINGS: Line = weak("Thread Stats", "", |run, rest| {
    run.columns = rest.split_whitespace().map(str::to_owned).collect();
    Some(())
});

const LATENCY: Line = like(
    |text| figures(text, "Latency"),
    Weight::Strong,
    "Latency     0.89ms    1.69ms  16.45ms   87.98%",
    |run, rest| {
        let (mean, rest) = time(rest)?;
        let (deviation, rest) = time(rest)?;
        let (max, rest) = time(rest)?;
        run.mean = Some(mean);
        run.deviation = Some(deviation);
        if run.columns.iter().any(|column| column == "99%") {
            run.percentiles.push((99.0, max.within(RESOLUTION)));
        } else {
            run.max = Some(max);
        }
        run.within = number(rest).map(|(percent, _)| percent);
        if rest.contains("nan") {
            // Nothing was answered, and all of them are zero.
            (run.mean, run.deviation, run.max) = (None, None, None);
        }
        Some(())
    },
);

const THREAD_RATE: Line = like(
    |text| figures(text, "Req/Sec"),
    Weight::Strong,
    "Req/Sec    26.57k    20.06k   66.35k    80.00%",
    |run, rest| {
        if !rest.contains("nan") {
            run.thread_rate = Some(metric(rest)?.0);
        }
        Some(())
    },
);

const DISTRIBUTION: Line = like(
    |text| (text.trim() == "Latency Distribution").then_some(text),
    Weight::Strong,
    "",
    skip,
);

const RANKS: Line = like(rank, Weight::Weak, "50%  112.00us", |run, text| {
    let (rank, rest) = text.split_once('%')?;
    let rank: f64 = rank.parse().ok()?;
    let (ms, rest) = time(rest)?;
    rest.trim().is_empty().then_some(())?;
    run.percentiles.push((rank, ms.within(RESOLUTION)));
    Some(())
})
.repeated();

const DONE: Line = like(
    |text| text.contains(" requests in ").then_some(text),
    Weight::Strong,
    "53120 requests in 1.03s, 8.46MB read",
    |run, text| {
        let (before, after) = text.split_once(" requests in ")?;
        let (done, rest) = count(before.split_whitespace().next_back()?)?;
        rest.is_empty().then_some(())?;
        let (ms, rest) = time(after)?;
        let (bytes, _) = size(rest.strip_prefix(',')?)?;
        run.requests = Some(done);
        run.seconds = Some(ms.times(1e-3));
        run.answer_bytes = Some(bytes);
        Some(())
    },
);

const SOCKETS: Line = strong(
    "Socket errors:",
    "Socket errors: connect 0, read 53120, write 0, timeout 2",
    |run, rest| {
        for name in ["connect", "read", "write", "timeout"] {
            let (count, _) = count(rest.split_once(name)?.1)?;
            run.errors.push((name.into(), count));
        }
        Some(())
    },
);

const STATUSES: Line = strong(
    "Non-2xx or 3xx responses:",
    "Non-2xx or 3xx responses: 7",
    |run, rest| {
        run.non_2xx = Some(count(rest)?.0);
        Some(())
    },
);

/// Failures are printed before it, if there are any.
const RATE: Line = strong("Requests/sec:", "Requests/sec:  51822.27", |run, rest| {
    run.rate = Some(plain(rest)?.0);
    run.whole = run.requests.is_some();
    if run.whole {
        run.non_2xx.get_or_insert(0);
    }
    Some(())
});

const TRANSFER: Line = strong("Transfer/sec:", "Transfer/sec:      8.25MB", |run, rest| {
    run.byte_rate = Some(size(rest)?.0);
    Some(())
});

fn running(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Running ")?;
    rest.contains(" test @ ").then_some(rest)
}

/// `2 threads and 10 connections`.
fn shape(run: &mut Printed, text: &str) -> Option<()> {
    let (before, after) = text.split_once(" threads and ")?;
    let (threads, rest) = count(before.split_whitespace().next_back()?)?;
    rest.is_empty().then_some(())?;
    let (connections, rest) = count(after)?;
    rest.trim_start().starts_with("connections").then_some(())?;
    run.threads = Some(threads.try_into().ok()?);
    run.connections = Some(connections.try_into().ok()?);
    Some(())
}

/// What follows the name of a row, if that is a figure.
fn figures<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(name)?;
    let is_figure = rest
        .trim_start()
        .starts_with(|c: char| c.is_ascii_digit() || c == '-');
    (rest.starts_with(char::is_whitespace) && is_figure).then_some(rest)
}

/// Value, percentile, count, 1/(1-percentile).
fn spectrum(text: &str) -> Option<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let are_numbers = words
        .iter()
        .all(|word| *word == "inf" || number(word).is_some());
    ((3..=4).contains(&words.len()) && are_numbers).then_some(text)
}

#[cfg(test)]
mod tests {
    use crate::tools::Tool;

    #[test]
    fn what_wrk_prints() {
        let text = "Running 1s test @ http://127.0.0.1:8099/\n  2 threads and 10 connections\n  \
            Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     0.89ms    1.69ms  16.45ms   87.98%\n    \
            Req/Sec    26.57k    20.06k   66.35k    80.00%\n  Latency Distribution\n     50%  112.00us\n     99%    \
            8.40ms\n  53120 requests in 1.03s, 8.46MB read\n  Socket errors: connect 0, read 53120, write 0, timeout 2\n  \
            Non-2xx or 3xx responses: 7\nRequests/sec:  51822.27\nTransfer/sec:      8.25MB\n";
        let figures = Tool::Wrk.figures(text);
        assert_eq!((figures.threads, figures.connections), (Some(2), Some(10)));
        assert_eq!(
            (figures.requests, figures.seconds),
            (Some(53120), Some(1.03))
        );
        assert_eq!(figures.rate, Some(51822.27));
        assert_eq!(
            (figures.socket_errors, figures.non_2xx),
            (Some(53122), Some(7))
        );
        assert_eq!((figures.mean_ms, figures.max_ms), (Some(0.89), Some(16.45)));
        assert_eq!(figures.percentiles_ms, [(50.0, 0.112), (99.0, 8.4)]);
    }
}
