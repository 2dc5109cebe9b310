//! The load: connections, the ceiling c/D, Little's law, how long and by what kind of a loop.

use super::super::case::{AtATime, Case};
use super::super::finding::{Finding, Kind, short};
use crate::gates::{ceiling, connections, n};
use crate::tools::Tool;
use crate::tools::number::Number;

/// As in gate 5: three parts in a hundred.
const TOLERANCE: f64 = 0.03;

/// Above this, one thread of ab may itself be the limit, requests a second.
const AB_BUSY: f64 = 10_000.0;

/// From this part of the ceiling on a rate says little.
const NEAR: f64 = 0.9;

/// A shorter run is mostly its beginning, seconds.
const SHORT: f64 = 5.0;

/// For how long wrk2 only calibrates, seconds.
const CALIBRATION: f64 = 10.0;

pub fn check(case: &Case) -> Vec<Finding> {
    let checks = [
        at_ceiling,
        little,
        opened,
        said_twice,
        all_requests,
        kept,
        held,
        length,
        busy,
    ];
    checks.iter().filter_map(|check| check(case)).collect()
}

/// What is impossible for one request at a time on each connection. Streams are often asked for, scripts of wrk that
/// send several are rare.
fn or_else(case: &Case, found: Finding, limit: AtATime) -> Finding {
    let Some(unless) = limit.unless.filter(|_| found.kind == Kind::Impossible) else {
        return found;
    };
    let kind = match case.tool() {
        Tool::Wrk | Tool::Wrk2 => Kind::Impossible,
        _ => Kind::Careful,
    };
    kind.says(format!("{}, unless {unless}", found.text))
}

/// Gate 4.
fn at_ceiling(case: &Case) -> Option<Finding> {
    let delay = case.meant.delay_ms.filter(|delay| *delay > 0.0)?;
    let rate = case.printed().rate?;
    let Some(limit) = case.at_a_time() else {
        return Some(Kind::Cannot.says(
            "how near the rate is to its ceiling: how many requests were under way at a time is not printed; give \
             --connections, or publish the command line",
        ));
    };
    let found = ceiling::judge(Some(rate.value), Some(limit.requests), delay, None).into();
    let part = rate.value * delay / 1e3 / f64::from(limit.requests);
    match found {
        Finding {
            kind: Kind::Proves,
            text,
        } if part >= NEAR => Some(Kind::Rank.says(format!(
            "{text}: had every answer waited, no rival could be {} % faster; raise c",
            n((100.0 / part - 100.0).ceil())
        ))),
        found => Some(or_else(case, found, limit)),
    }
}

/// Gate 5, where the mean is measured. ab's "Time per request" is computed from the rate, so its "Total" is taken.
fn little(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let (rate, mean, limit) = (printed.rate?, printed.mean?, case.at_a_time()?);
    if case.tool() == Tool::Wrk2 || case.hey_forgot() {
        return None;
    }
    // Failures are in the rate, and not in the mean.
    let part = match (case.answers(), printed.requests) {
        (Some(answers), Some(requests @ 1..)) => answers as f64 / requests as f64,
        _ => 1.0,
    };
    let at_a_time = Number {
        value: rate.value * mean.value / 1e3 * part,
        step: 0.0,
    };
    let (low, high) = (
        rate.low() * mean.low() / 1e3 * part,
        rate.high() * mean.high() / 1e3 * part,
    );
    let limit_f = f64::from(limit.requests);
    let product = format!(
        "{} requests/s x {} ms = {} requests at a time",
        n(rate.value * part),
        short(mean.value),
        n(at_a_time.value)
    );
    if low > limit_f * (1.0 + TOLERANCE) {
        if case
            .run
            .command
            .as_ref()
            .is_some_and(|command| command.script)
        {
            return None;
        }
        if case.tool() == Tool::Wrk {
            return Some(or_else(case, corrected(case, &product, limit), limit));
        }
        if is_paced(case) && case.tool() == Tool::Oha {
            return None;
        }
        let text = format!("{product}, and there were {limit_f}: {MIXED}");
        return Some(or_else(case, Kind::Impossible.says(text), limit));
    }
    if high < limit_f * (1.0 - TOLERANCE) {
        // Requests that ran into a timeout or an error are in no mean.
        if is_paced(case) || printed.errors() > 0 {
            return None;
        }
        return Some(Kind::Careful.says(format!(
            "{product}, of {limit_f} that could be: connections stood idle, were opened anew or were fewer, or the \
             generator was too busy. Look at its CPU time"
        )));
    }
    let is_sharp = high - low <= limit_f * 2.0 * TOLERANCE;
    is_sharp.then(|| Kind::Proves.says(format!("{product}, of {limit_f}: Little's law holds")))
}

/// wrk's mean, which is more than the connections allow.
///
/// wrk takes each latency v of at least twice the mean interval e between the answers of a connection for a stall, and
/// adds v - e, v - 2e and so on (`stats_correct` in `wrk.c`). The latencies that it measured have a mean of e at most, so
/// the most that this can make of them is where a part e/M of them takes M, the maximum, and the others nothing.
fn corrected(case: &Case, product: &str, limit: AtATime) -> Finding {
    let printed = case.printed();
    let rate = printed.rate.map_or(0.0, Number::low);
    let interval = f64::from(limit.requests) / rate * 1e3;
    let most = printed.max.map(|max| {
        let max = max.high().max(interval);
        if max < 2.0 * interval {
            return interval;
        }
        max * (max + interval) / (2.0 * (2.0 * max - interval))
    });
    // An interval more for those that are not whole.
    let most = most.map(|most| (most + interval) * 1.05);
    let found = printed
        .mean
        .zip(most)
        .filter(|(mean, most)| mean.low() > *most);
    if let Some((mean, most)) = found {
        return Kind::Impossible.says(format!(
            "a mean of {} ms: {product}, and there were {}. Even with the latencies that wrk adds for stalls it is {} \
             ms at most",
            short(mean.value),
            limit.requests,
            short(most)
        ));
    }
    Kind::Cannot.says(format!(
        "the mean latency: {product}, and there were {}. wrk adds latencies that it believes to have missed; with \
         these answers' own the mean would be about {} ms",
        limit.requests,
        short(interval)
    ))
}

const MIXED: &str = "more than there were is impossible; one of the figures is not of this run";

/// Gate 8, as far as a command line tells.
fn opened(case: &Case) -> Option<Finding> {
    let verdict = connections::by_tool(
        Some(case.tool().name()),
        case.asked(),
        case.printed().threads,
    );
    let found = Finding::from(verdict);
    (found.kind == Kind::Careful).then_some(found)
}

/// `--connections` is for runs that do not print them.
fn said_twice(case: &Case) -> Option<Finding> {
    let said = case.meant.connections?;
    let printed = case
        .printed()
        .connections
        .filter(|printed| *printed != said)?;
    Some(Kind::Careful.says(format!(
        "the run prints {printed} connections, and --connections says {said}: judged by what it prints"
    )))
}

/// As many requests as the command line asked for.
fn all_requests(case: &Case) -> Option<Finding> {
    let command = case.run.command.as_ref()?;
    let (asked, done) = (command.requests?, case.printed().requests?);
    if case.tool() == Tool::Hey {
        // Each of its workers takes the same whole number.
        let each = u64::from(command.connections.unwrap_or(50)).max(1);
        let sent = asked / each * each;
        return (sent != asked && done == sent).then(|| {
            Kind::Careful.says(format!(
                "hey -n {asked} -c {each} sends {sent} requests: make -n a multiple of -c"
            ))
        });
    }
    (done < asked).then(|| {
        Kind::Careful.says(format!(
            "{} requests were asked for, and {} done: it was broken off, or the lines are of another run",
            n(asked as f64),
            n(done as f64)
        ))
    })
}

/// ab speaks HTTP/1.0, and keeps connections with -k only.
fn kept(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    if case.tool() != Tool::Ab || !printed.whole {
        return None;
    }
    let requests = printed.requests.filter(|requests| *requests > 0)?;
    match printed.kept {
        None => Some(Kind::Careful.says(
            "ab opened a connection for each request (HTTP/1.0 without -k): the figure is of connecting as much as \
             of answering",
        )),
        Some(kept) if kept * 100 < requests * 99 => Some(Kind::Careful.says(format!(
            "{} of {} requests were on kept connections, though ab -k asked for it: the server closes them",
            n(kept as f64),
            n(requests as f64)
        ))),
        Some(_) => None,
    }
}

/// wrk2 sends at a rate; latencies of a server that does not hold it are those of a queue that grows.
fn held(case: &Case) -> Option<Finding> {
    if case.tool() != Tool::Wrk2 {
        return None;
    }
    let printed = case.printed();
    let asked = case.run.command.as_ref().and_then(|command| command.rate);
    if let (Some(asked), Some(rate)) = (asked, printed.rate)
        && rate.value < asked as f64 * 0.97
    {
        return Some(Kind::Careful.says(format!(
            "{} requests/s were to be sent and {} were answered: the latencies are those of a queue that grows as \
             long as the run. Lower -R",
            n(asked as f64),
            n(rate.value)
        )));
    }
    let seconds = printed
        .seconds
        .filter(|seconds| seconds.high() < 2.0 * CALIBRATION)?;
    Some(Kind::Careful.says(format!(
        "wrk2 calibrates for {CALIBRATION} s, and its latencies are of the other {} s: take at least 30 s",
        short((seconds.value - CALIBRATION).max(0.0))
    )))
}

fn length(case: &Case) -> Option<Finding> {
    let seconds = case
        .printed()
        .seconds
        .filter(|seconds| seconds.high() < SHORT)?;
    Some(Kind::Careful.says(format!(
        "it took {} s, which is short: connecting, warming up and chance weigh. Take at least 10 s after a warm-up",
        if seconds.value > 0.0 { short(seconds.value) } else { format!("under {}", short(seconds.high())) }
    )))
}

fn busy(case: &Case) -> Option<Finding> {
    let rate = case.printed().rate.filter(|rate| rate.value > AB_BUSY)?;
    (case.tool() == Tool::Ab).then(|| {
        Kind::Careful.says(format!(
            "ab has one thread: at {} requests/s it may itself be the limit. Look at its CPU time, or take wrk or \
             h2load with several",
            n(rate.value)
        ))
    })
}

/// Whether latencies are printed of a loop in which a server that stalls is asked nothing.
pub fn is_closed_loop(case: &Case) -> bool {
    let printed = case.printed();
    let has_tail =
        printed.percentiles.iter().any(|(rank, _)| *rank >= 90.0) || printed.max.is_some();
    case.tool() != Tool::Wrk2 && !is_paced(case) && has_tail
}

fn is_paced(case: &Case) -> bool {
    case.run
        .command
        .as_ref()
        .is_some_and(|command| command.rate.is_some())
}

#[cfg(test)]
mod tests {
    use crate::audit::case::{Case, Meant};
    use crate::audit::finding::Kind;
    use crate::tools::read;

    fn kinds(text: &str) -> Vec<Kind> {
        let paste = read::all(text);
        let meant = Meant::default();
        let case = Case {
            run: &paste.runs[0],
            meant: &meant,
        };
        super::little(&case)
            .iter()
            .map(|found| found.kind)
            .collect()
    }

    fn wrk(mean: &str, max: &str) -> String {
        format!(
            "2 threads and 100 connections\nLatency  {mean}  1.00ms  {max}  90.00%\n\
             100000 requests in 10.00s, 15.00MB read\nRequests/sec:  10000.00\n"
        )
    }

    /// 100 connections and 10,000 requests/s leave 10 ms for each.
    #[test]
    fn what_wrk_may_add() {
        assert_eq!(kinds(&wrk("10.00ms", "15.00ms")), [Kind::Proves]);
        assert_eq!(kinds(&wrk("7.00ms", "15.00ms")), [Kind::Careful]);
        // Stalls of a second may be made to 250 ms.
        assert_eq!(kinds(&wrk("50.00ms", "1.00s")), [Kind::Cannot]);
        assert_eq!(kinds(&wrk("400.00ms", "1.00s")), [Kind::Impossible]);
        // There was no stall.
        assert_eq!(kinds(&wrk("30.00ms", "35.00ms")), [Kind::Impossible]);
    }

    #[test]
    fn others_add_nothing() {
        let hey = |average: &str| {
            format!(
                "$ hey -n 100000 -c 100 http://localhost/\nSummary:\n Total:\t10.0000 secs\n Average:\t{average} secs\n \
                 Requests/sec:\t10000.0000\nStatus code distribution:\n [200]\t100000 responses\n"
            )
        };
        assert_eq!(kinds(&hey("0.0100")), [Kind::Proves]);
        assert_eq!(kinds(&hey("0.0120")), [Kind::Impossible]);
        assert_eq!(kinds(&hey("0.0080")), [Kind::Careful]);
        // -q limits the rate, and connections stand idle.
        assert_eq!(
            kinds(&hey("0.0080").replace("-c 100", "-c 100 -q 1000")),
            []
        );
    }
}
