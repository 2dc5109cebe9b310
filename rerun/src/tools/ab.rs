//! ApacheBench, with `-w` too, which prints the same words as HTML.
//!
//! Latencies are whole milliseconds. "Time per request" is computed from the rate and no measurement of its own.

use super::lines::{Line, Weight, like, noise, rank, skip, strong, weak};
use super::number::{Number, count, number, plain, size};
use super::printed::Printed;

pub static LINES: &[Line] = &[
    strong(
        "This is ApacheBench",
        "This is ApacheBench, Version 2.3 <$Revision: 1879490 $>",
        skip,
    ),
    weak("Copyright", "", skip),
    weak("Licensed to", "", skip),
    weak("Benchmarking ", "Benchmarking 127.0.0.1 (be patient)", skip),
    noise("Completed "),
    weak("Finished ", "Finished 10000 requests", skip),
    strong(
        "apr_",
        "apr_socket_recv: Connection reset by peer (104)",
        |run, rest| {
            let (_, error) = rest.split_once(": ")?;
            run.gave_up = Some(error.trim().to_owned());
            Some(())
        },
    )
    .repeated(),
    like(
        total_of,
        Weight::Strong,
        "Total of 5023 requests completed",
        |run, rest| {
            run.requests = Some(count(rest)?.0);
            run.gave_up.get_or_insert("an error".into());
            Some(())
        },
    ),
    strong(
        "Server Software:",
        "Server Software:        nginx/1.22.1",
        skip,
    ),
    strong(
        "Server Hostname:",
        "Server Hostname:        127.0.0.1",
        |run, rest| {
            run.url = Some(rest.split_whitespace().next()?.to_owned());
            Some(())
        },
    ),
    strong(
        "Server Port:",
        "Server Port:            8080",
        |run, rest| {
            let (port, _) = count(rest)?;
            let host = run.url.take().unwrap_or_default();
            run.url = Some(format!("{host}:{port}"));
            Some(())
        },
    ),
    weak("SSL/TLS Protocol:", "", skip),
    weak("Server Temp Key:", "", skip),
    weak("TLS Server Name:", "", skip),
    strong(
        "Document Path:",
        "Document Path:          /test",
        |run, rest| {
            let path = rest.split_whitespace().next().unwrap_or_default();
            let host = run.url.take().unwrap_or_default();
            run.url = Some(format!("{host}{path}"));
            Some(())
        },
    ),
    strong(
        "Document Length:",
        "Document Length:        3 bytes",
        |run, rest| {
            if !rest.trim().starts_with("Variable") {
                run.body_each = Some(Number::exact(count(rest)?.0 as f64));
            }
            Some(())
        },
    ),
    strong(
        "Concurrency Level:",
        "Concurrency Level:      100",
        |run, rest| {
            run.connections = Some(count(rest)?.0.try_into().ok()?);
            Some(())
        },
    ),
    strong(
        "Time taken for tests:",
        "Time taken for tests:   2.134 seconds",
        |run, rest| {
            run.seconds = Some(plain(rest)?.0);
            Some(())
        },
    ),
    strong(
        "Complete requests:",
        "Complete requests:      10000",
        |run, rest| {
            run.requests = Some(count(rest)?.0);
            Some(())
        },
    ),
    strong(
        "Failed requests:",
        "Failed requests:        0",
        |run, rest| {
            run.failed = Some(count(rest)?.0);
            Some(())
        },
    ),
    weak(
        "(Connect:",
        "(Connect: 0, Receive: 0, Length: 12, Exceptions: 0)",
        |run, rest| {
            run.other_length = count(rest.split_once("Length:")?.1)?.0;
            Some(())
        },
    ),
    weak("Write errors:", "Write errors:           0", |run, rest| {
        run.errors.push(("write".into(), count(rest)?.0));
        Some(())
    }),
    strong(
        "Non-2xx responses:",
        "Non-2xx responses:      10000",
        |run, rest| {
            run.non_2xx = Some(count(rest)?.0);
            Some(())
        },
    ),
    strong(
        "Keep-Alive requests:",
        "Keep-Alive requests:    10000",
        |run, rest| {
            run.kept = Some(count(rest)?.0);
            Some(())
        },
    ),
    strong(
        "Total transferred:",
        "Total transferred:      1530000 bytes",
        |run, rest| {
            run.answer_bytes = Some(size(rest)?.0);
            run.whole = run.failed.is_some();
            if run.whole {
                run.non_2xx.get_or_insert(0);
            }
            Some(())
        },
    ),
    weak("Total body sent:", "", skip),
    strong(
        "HTML transferred:",
        "HTML transferred:       30000 bytes",
        |run, rest| {
            run.body_bytes = Some(size(rest)?.0);
            Some(())
        },
    ),
    strong(
        "Requests per second:",
        "Requests per second:    4685.38 [#/sec] (mean)",
        |run, rest| {
            run.rate = Some(plain(rest)?.0);
            Some(())
        },
    ),
    strong(
        "Time per request:",
        "Time per request:       21.343 [ms] (mean)",
        |run, rest| {
            let (ms, rest) = plain(rest)?;
            (!rest.contains("across")).then_some(())?;
            run.by_rate[0] = Some(ms);
            Some(())
        },
    ),
    strong(
        "Time per request:",
        "Time per request:       0.213 [ms] (mean, across all concurrent requests)",
        |run, rest| {
            run.by_rate[1] = Some(plain(rest)?.0);
            Some(())
        },
    ),
    strong(
        "Transfer rate:",
        "Transfer rate:          1234.56 [Kbytes/sec] received",
        |run, rest| {
            let (rate, unit) = plain(rest)?;
            if unit.contains("[Kbytes/sec] received") {
                run.byte_rate = Some(rate.times(1024.0));
            }
            Some(())
        },
    ),
    weak("Connection Times (ms)", "", skip),
    weak("min ", "", skip),
    weak(
        "Connect:",
        "Connect:        0    0   0.1      0       2",
        skip,
    ),
    weak(
        "Processing:",
        "Processing:     0    2   1.5      1       8",
        skip,
    ),
    weak(
        "Waiting:",
        "Waiting:        0    2   1.5      1       8",
        skip,
    ),
    weak(
        "Total:",
        "Total:          0    2   1.5      1       8",
        total,
    ),
    weak("Percentage of the requests", "", skip),
    like(rank, Weight::Weak, "50%      1", |run, text| {
        let (rank, rest) = text.split_once('%')?;
        let rank: f64 = rank.parse().ok()?;
        let (ms, rest) = plain(rest)?;
        let rest = rest.trim();
        (rest.is_empty() || rest == "ms" || rest.contains("longest")).then_some(())?;
        if rank == 100.0 {
            run.max = Some(run.max.unwrap_or(ms));
        }
        run.percentiles.push((rank, ms));
        Some(())
    })
    .repeated(),
];

/// What ab says when it gives up.
fn total_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Total of ")?;
    rest.contains(" requests completed").then_some(rest)
}

/// Minimum, mean, deviation, median, maximum; `-w` and `-S` leave deviation and median out.
fn total(run: &mut Printed, rest: &str) -> Option<()> {
    let mut all = Vec::new();
    let mut rest = rest;
    while let Some((number, after)) = number(rest) {
        all.push(number);
        rest = after;
    }
    let [min, mean, ..] = *all else { return None };
    rest.trim().is_empty().then_some(())?;
    (run.min, run.mean) = (Some(min), Some(mean));
    match *all {
        [_, _, deviation, _, max] => (run.deviation, run.max) = (Some(deviation), Some(max)),
        [_, _, max] => run.max = Some(max),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::tools::Tool;

    #[test]
    fn what_ab_prints() {
        let text = "Concurrency Level:      10\nTime taken for tests:   0.335 seconds\nComplete requests:      2000\n\
            Failed requests:        0\nNon-2xx responses:      2000\nTotal transferred:      324000 bytes\n\
            HTML transferred:       40000 bytes\nRequests per second:    5973.02 [#/sec] (mean)\n\
            Time per request:       1.674 [ms] (mean)\n\
            Time per request:       0.167 [ms] (mean, across all concurrent requests)\n\
            Connection Times (ms)\n              min  mean[+/-sd] median   max\n\
            Total:          0    2   1.5      1       8\n\
            Percentage of the requests served within a certain time (ms)\n  50%      1\n  99%      6\n \
            100%      8 (longest request)\n";
        let figures = Tool::Ab.figures(text);
        assert_eq!(figures.connections, Some(10));
        assert_eq!(figures.rate, Some(5973.02));
        assert_eq!(figures.mean_ms, Some(1.674));
        assert_eq!((figures.failed, figures.non_2xx), (Some(0), Some(2000)));
        assert_eq!((figures.min_ms, figures.max_ms), (Some(0.0), Some(8.0)));
        assert_eq!(
            figures.percentiles_ms,
            [(50.0, 1.0), (99.0, 6.0), (100.0, 8.0)]
        );
        assert_eq!(figures.body_bytes, Some(40_000));
    }

    #[test]
    fn what_ab_prints_as_html() {
        let text = "<table ><tr ><th colspan=2 bgcolor=white>Complete requests:</th><td colspan=2 bgcolor=white>500\
            </td></tr>\n<tr ><th colspan=2 bgcolor=white>Requests per second:</th><td colspan=2 bgcolor=white>\
            12000.50</td></tr>\n<tr ><th bgcolor=white>Total:</th><td bgcolor=white>    0</td><td bgcolor=white>    1\
            </td><td bgcolor=white>    3</td></tr></table>";
        let figures = Tool::Ab.figures(text);
        assert_eq!((figures.requests, figures.rate), (Some(500), Some(12000.5)));
        assert_eq!(figures.max_ms, Some(3.0));
    }

    #[test]
    fn garbage() {
        let figures = Tool::Ab.figures("<table <tr< > %% 5%\nTotal:");
        assert_eq!((figures.rate, figures.max_ms), (None, None));
    }
}
