//! h2load, with `--h1` for HTTP/1.1. Its rate counts answers of any status.

use super::lines::{Line, noise, skip, strong, weak};
use super::number::{Number, count, number, plain, size, time};
use super::printed::Printed;

pub static LINES: &[Line] = &[
    strong("starting benchmark", "starting benchmark...", skip),
    strong(
        "spawning thread #",
        "spawning thread #0: 20 total client(s). 3000 total requests",
        |run, rest| {
            let (thread, rest) = count(rest)?;
            let (clients, rest) = count(rest.strip_prefix(':')?)?;
            rest.trim_start()
                .starts_with("total client")
                .then_some(())?;
            let clients: u32 = clients.try_into().ok()?;
            let before = run.threads.unwrap_or(0);
            run.threads = Some(before.checked_add(1)?);
            // Where the line of a thread is missing the sum is not known.
            run.connections = match (run.connections, thread == u64::from(before)) {
                (None, true) if before == 0 => Some(clients),
                (Some(sum), true) => sum.checked_add(clients),
                _ => None,
            };
            Some(())
        },
    )
    .repeated(),
    noise("progress:"),
    noise("Warm-up "),
    noise("Main benchmark duration "),
    noise("Stopped all clients "),
    weak("TLS Protocol:", "", skip),
    weak("Cipher:", "", skip),
    weak("Server Temp Key:", "", skip),
    strong(
        "Application protocol:",
        "Application protocol: http/1.1",
        |run, rest| {
            run.protocol = Some(rest.split_whitespace().next()?.to_owned());
            Some(())
        },
    ),
    strong(
        "finished in ",
        "finished in 3.22s, 933.06 req/s, 153.99KB/s",
        |run, rest| {
            let (seconds, rest) = duration(rest)?;
            let (rate, rest) = plain(rest.trim_start().strip_prefix(',')?)?;
            let rest = rest.trim_start().strip_prefix("req/s")?;
            run.seconds = Some(seconds);
            run.rate = Some(rate);
            let bytes = rest.strip_prefix(',').and_then(size);
            run.byte_rate = bytes.map(|(bytes, _)| bytes);
            Some(())
        },
    ),
    strong(
        "requests:",
        "requests: 2000 total, 2000 started, 2000 done, 1990 succeeded, 10 failed, 0 errored, 0 timeout",
        |run, rest| {
            run.requests = Some(counted(rest, "done")?);
            run.failed = Some(counted(rest, "failed")?);
            let errored = counted(rest, "errored").unwrap_or(0);
            let late = counted(rest, "timeout").unwrap_or(0);
            // Those that ran into the timeout are among the errored.
            run.errors.push(("timeout".into(), late));
            run.errors
                .push(("error".into(), errored.saturating_sub(late)));
            Some(())
        },
    ),
    strong(
        "status codes:",
        "status codes: 1990 2xx, 0 3xx, 10 4xx, 0 5xx",
        |run, rest| {
            for (class, name) in [(2, "2xx"), (3, "3xx"), (4, "4xx"), (5, "5xx")] {
                let count = counted(rest, name);
                run.statuses.extend(count.map(|count| (class, count)));
            }
            run.whole = run.requests.is_some();
            run.statuses.first()?;
            Some(())
        },
    ),
    strong(
        "traffic:",
        "traffic: 495.12KB (507000) total, 342.77KB (351000) headers (space savings 0.00%), 8.79KB (9000) data",
        |run, rest| {
            let exact = |name: &str| {
                let part = rest
                    .split(',')
                    .find(|part| part.trim_end().ends_with(name))?;
                let whole = part.split_once('(').map(|(_, inner)| inner);
                let (bytes, _) = count(whole.unwrap_or(part))?;
                Some(Number::exact(bytes as f64))
            };
            run.answer_bytes = Some(exact("total")?);
            run.body_bytes = Some(exact("data")?);
            Some(())
        },
    ),
    weak("min ", "", |run, rest| {
        run.columns = std::iter::once("min")
            .chain(rest.split_whitespace())
            .map(str::to_owned)
            .collect();
        Some(())
    }),
    strong(
        "time for request:",
        "time for request:    19.30ms     34.99ms     21.41ms      2.11ms    82.77%",
        times,
    ),
    strong("time for connect:", "", skip),
    strong("time to 1st byte:", "", skip),
    weak(
        "req/s",
        "req/s           :      46.69       46.70       46.70        0.00    65.00%",
        clients,
    ),
];

/// A client's mean rate tells how many there were: fewer than that are the clients of threads whose lines are missing.
fn clients(run: &mut Printed, rest: &str) -> Option<()> {
    let (_, rest) = number(rest.trim_start().strip_prefix(':')?)?;
    let (_, rest) = number(rest)?;
    let (mean, _) = number(rest)?;
    let told = run.rate.map(|rate| rate.value / mean.high());
    if run
        .connections
        .zip(told)
        .is_some_and(|(sum, told)| f64::from(sum) < told * 0.8)
    {
        run.connections = None;
    }
    Some(())
}

/// In the order of the table's head, which newer versions have changed.
fn times(run: &mut Printed, rest: &str) -> Option<()> {
    let names = run.columns.join(" ");
    let names = if names.is_empty() {
        "min max mean sd"
    } else {
        &names
    };
    let mut rest = rest;
    for name in names.split(' ') {
        let Some((ms, after)) = time(rest) else { break };
        rest = after;
        match name {
            "min" => run.min = Some(ms),
            "max" => run.max = Some(ms),
            "mean" => run.mean = Some(ms),
            "sd" => run.deviation = Some(ms),
            "median" => run.percentiles.push((50.0, ms)),
            name => {
                let rank = name.strip_prefix('p').and_then(|rank| rank.parse().ok());
                run.percentiles.extend(rank.map(|rank: f64| (rank, ms)));
            }
        }
    }
    run.within = number(rest)
        .filter(|(_, unit)| unit.starts_with('%'))
        .map(|(part, _)| part);
    run.mean.map(|_| ())
}

/// `107.98ms`, or as long ago `1 sec, 23 millisec and 456 microsec`; in seconds.
fn duration(text: &str) -> Option<(Number, &str)> {
    if let Some((ms, rest)) = time(text)
        && !rest.contains("millisec")
    {
        return Some((ms.times(1e-3), rest));
    }
    let (seconds, rest) = count(text)?;
    let (millis, rest) = count(rest.trim_start().strip_prefix("sec,")?)?;
    let (micros, rest) = count(rest.trim_start().strip_prefix("millisec and")?)?;
    let rest = rest.trim_start().strip_prefix("microsec")?;
    let seconds = seconds as f64 + millis as f64 * 1e-3 + micros as f64 * 1e-6;
    Some((
        Number {
            value: seconds,
            step: 1e-6,
        },
        rest,
    ))
}

/// `10` of `5 total, 10 failed`.
fn counted(list: &str, name: &str) -> Option<u64> {
    list.split(',').find_map(|part| {
        let (count, rest) = count(part)?;
        (rest.trim() == name).then_some(count)
    })
}

#[cfg(test)]
mod tests {
    use crate::tools::Tool;

    const TEXT: &str = "finished in 107.98ms, 18521.43 req/s, 2.95MB/s\n\
        requests: 2000 total, 2000 started, 2000 done, 1990 succeeded, 10 failed, 0 errored, 0 timeout\n\
        status codes: 1990 2xx, 0 3xx, 10 4xx, 0 5xx\n\
        traffic: 326.17KB (334000) total, 210.94KB (216000) headers (space savings 0.00%), 39.06KB (40000) data\n";

    #[test]
    fn what_h2load_prints() {
        let text = format!(
            "{TEXT}                     min         max         mean         sd        +/- sd\n\
             time for request:       31us     14.29ms       518us      1.72ms    93.80%\n"
        );
        let figures = Tool::H2load.figures(&text);
        assert_eq!(
            (figures.requests, figures.rate),
            (Some(2000), Some(18521.43))
        );
        assert_eq!((figures.failed, figures.non_2xx), (Some(10), Some(10)));
        assert_eq!(figures.body_bytes, Some(40_000));
        assert_eq!(
            (figures.min_ms, figures.mean_ms),
            (Some(0.031), Some(0.518))
        );
    }

    #[test]
    fn columns_are_told_by_their_names() {
        let text = format!(
            "{TEXT}                     min         max      median         p95         p99        mean\n\
             time for request:       31us     14.29ms       500us      1.72ms      2.5ms      518us\n"
        );
        let figures = Tool::H2load.figures(&text);
        assert_eq!(figures.mean_ms, Some(0.518));
        assert_eq!(
            figures.percentiles_ms,
            [(50.0, 0.5), (95.0, 1.72), (99.0, 2.5)]
        );
    }

    /// Four threads with five clients each; a line of one may be missing.
    #[test]
    fn clients_of_all_threads() {
        let connections = |threads: &[u32]| {
            let lines: String = threads
                .iter()
                .map(|thread| {
                    format!("spawning thread #{thread}: 5 total client(s). 500 total requests\n")
                })
                .collect();
            let text = format!(
                "{lines}finished in 2.00s, 1000.00 req/s, 2.95MB/s\n\
                 req/s           :      49.00       51.00       50.00        0.67    75.00%\n"
            );
            Tool::H2load.figures(&text).connections
        };
        assert_eq!(connections(&[0, 1, 2, 3]), Some(20));
        assert_eq!(connections(&[0, 1, 2]), None);
        assert_eq!(connections(&[1, 2, 3]), None);
        assert_eq!(connections(&[0, 2, 3]), None);
    }

    #[test]
    fn an_old_version() {
        let text = "finished in 1 sec, 23 millisec and 456 microsec, 9776 req/s, 1234 kbytes/s\n";
        let figures = Tool::H2load.figures(text);
        assert_eq!(
            (figures.seconds, figures.rate),
            (Some(1.023456), Some(9776.0))
        );
    }
}
