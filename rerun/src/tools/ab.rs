//! ApacheBench, with `-w` too, which prints the same words as HTML.

use super::after;
use crate::result::Figures;

pub fn parse(text: &str) -> Figures {
    let text = &plain(text);
    let count = |start: &str| after(text, start).map(|number| number as u64);
    let total: Vec<f64> = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("Total:"))
        .map(|line| {
            line.split_whitespace()
                .map_while(|word| word.parse().ok())
                .collect()
        })
        .unwrap_or_default();
    // min, mean, deviation, median, max; `-w` leaves deviation and median out.
    let at = |index: usize| total.get(index).copied();
    let max = if total.len() >= 5 { at(4) } else { at(2) };
    Figures {
        connections: after(text, "Concurrency Level:").map(|number| number as u32),
        requests: count("Complete requests:"),
        seconds: after(text, "Time taken for tests:"),
        rate: after(text, "Requests per second:"),
        failed: count("Failed requests:"),
        non_2xx: count("Non-2xx responses:"),
        body_bytes: count("HTML transferred:"),
        min_ms: at(0),
        mean_ms: after(text, "Time per request:"),
        max_ms: max,
        percentiles_ms: percentiles(text),
        ..Figures::default()
    }
}

/// Whole milliseconds: too coarse for the minimum to prove more than that.
fn percentiles(text: &str) -> Vec<(f64, f64)> {
    let lines = text.lines().filter_map(|line| {
        let (rank, rest) = line.trim_start().split_once('%')?;
        let ms = rest.split_whitespace().next()?.parse().ok()?;
        Some((rank.parse().ok()?, ms))
    });
    lines.filter(|(rank, _)| *rank < 100.0).collect()
}

/// Without tags, one table row a line.
fn plain(text: &str) -> String {
    if !text.contains("<table") {
        return text.to_owned();
    }
    let mut out = String::new();
    for part in text.replace('\n', " ").split("<tr") {
        let mut inside = true;
        for c in part.chars() {
            match c {
                '<' => inside = true,
                '>' => {
                    inside = false;
                    out.push(' ');
                }
                c if !inside => out.push(c),
                _ => (),
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let figures = parse(text);
        assert_eq!(figures.connections, Some(10));
        assert_eq!(figures.rate, Some(5973.02));
        assert_eq!(figures.mean_ms, Some(1.674));
        assert_eq!((figures.failed, figures.non_2xx), (Some(0), Some(2000)));
        assert_eq!((figures.min_ms, figures.max_ms), (Some(0.0), Some(8.0)));
        assert_eq!(figures.percentiles_ms, [(50.0, 1.0), (99.0, 6.0)]);
        assert_eq!(figures.body_bytes, Some(40_000));
    }

    #[test]
    fn what_ab_prints_as_html() {
        let text = "<table ><tr ><th colspan=2 bgcolor=white>Complete requests:</th><td colspan=2 bgcolor=white>500\
            </td></tr>\n<tr ><th colspan=2 bgcolor=white>Requests per second:</th><td colspan=2 bgcolor=white>\
            12000.50</td></tr>\n<tr ><th bgcolor=white>Total:</th><td bgcolor=white>    0</td><td bgcolor=white>    1\
            </td><td bgcolor=white>    3</td></tr></table>";
        let figures = parse(text);
        assert_eq!((figures.requests, figures.rate), (Some(500), Some(12000.5)));
        assert_eq!(figures.max_ms, Some(3.0));
    }

    #[test]
    fn garbage() {
        assert_eq!(parse("<table <tr< > %% 5%\nTotal:"), Figures::default());
    }
}
