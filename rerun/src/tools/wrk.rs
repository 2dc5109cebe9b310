//! wrk. Its rate counts answers of any status, and requests that failed on their socket are counted beside it.

use super::{after, ms};
use crate::result::Figures;

pub fn parse(text: &str) -> Figures {
    let words = |start: &str| -> Vec<&str> {
        let line = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(start));
        line.unwrap_or_default().split_whitespace().collect()
    };
    let latency = words("Latency ");
    let done = text
        .lines()
        .find_map(|line| line.split_once(" requests in "));
    let errors = words("Socket errors:");
    let sum = errors
        .iter()
        .filter_map(|word| word.trim_end_matches(',').parse::<u64>().ok());
    let shape = text
        .lines()
        .find_map(|line| line.split_once(" threads and "));
    let ranks = text
        .lines()
        .skip_while(|line| !line.contains("Latency Distribution"));
    let percentiles = ranks.skip(1).map_while(|line| {
        let (rank, time) = line.trim_start().split_once('%')?;
        Some((rank.parse().ok()?, ms(time)?))
    });
    Figures {
        threads: shape.and_then(|(threads, _)| threads.trim().parse().ok()),
        connections: shape.and_then(|(_, rest)| rest.split(' ').next()?.parse().ok()),
        requests: done.and_then(|(count, _)| count.trim().parse().ok()),
        seconds: done.and_then(|(_, rest)| Some(ms(rest.split(',').next()?)? / 1e3)),
        rate: after(text, "Requests/sec:"),
        non_2xx: Some(after(text, "Non-2xx or 3xx responses:").map_or(0, |count| count as u64)),
        socket_errors: Some(sum.sum()),
        mean_ms: latency.first().and_then(|time| ms(time)),
        max_ms: latency.get(2).and_then(|time| ms(time)),
        percentiles_ms: percentiles.collect(),
        ..Figures::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wrk_prints() {
        let text = "Running 1s test @ http://127.0.0.1:8099/\n  2 threads and 10 connections\n  \
            Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     0.89ms    1.69ms  16.45ms   87.98%\n    \
            Req/Sec    26.57k    20.06k   66.35k    80.00%\n  Latency Distribution\n     50%  112.00us\n     99%    \
            8.40ms\n  53120 requests in 1.03s, 8.46MB read\n  Socket errors: connect 0, read 53120, write 0, timeout 2\n  \
            Non-2xx or 3xx responses: 7\nRequests/sec:  51822.27\nTransfer/sec:      8.25MB\n";
        let figures = parse(text);
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
