//! h2load, with `--h1` for HTTP/1.1.

use super::ms;
use crate::result::Figures;

pub fn parse(text: &str) -> Figures {
    let line = |start: &str| {
        text.lines()
            .find_map(|line| line.trim_start().strip_prefix(start))
    };
    let finished = line("finished in ").unwrap_or_default();
    let mut finished = finished.split(", ");
    let seconds = finished.next().and_then(ms).map(|ms| ms / 1e3);
    let rate = finished
        .next()
        .and_then(|rate| rate.split(' ').next()?.parse().ok());
    let requests = line("requests:").unwrap_or_default();
    let statuses = line("status codes:").unwrap_or_default();
    let counted = |list: &str, what: &str| {
        list.split(',').find_map(|part| {
            let (count, name) = part.trim().split_once(' ')?;
            (name == what).then(|| count.parse::<u64>().ok())?
        })
    };
    let other = ["3xx", "4xx", "5xx"].map(|class| counted(statuses, class));
    let times: Vec<f64> = line("time for request:")
        .unwrap_or_default()
        .split_whitespace()
        .map_while(ms)
        .collect();
    let failed = counted(requests, "failed");
    Figures {
        requests: counted(requests, "done"),
        seconds,
        rate,
        failed,
        non_2xx: other.iter().copied().sum(),
        body_bytes: line("traffic:").and_then(|line| {
            let data = line.rsplit_once('(')?.1.split(')').next()?;
            data.parse().ok()
        }),
        // min, max, mean
        min_ms: times.first().copied(),
        max_ms: times.get(1).copied(),
        mean_ms: times.get(2).copied(),
        ..Figures::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_h2load_prints() {
        let text = "finished in 107.98ms, 18521.43 req/s, 2.95MB/s\n\
            requests: 2000 total, 2000 started, 2000 done, 1990 succeeded, 10 failed, 0 errored, 0 timeout\n\
            status codes: 1990 2xx, 0 3xx, 10 4xx, 0 5xx\n\
            traffic: 326.17KB (334000) total, 210.94KB (216000) headers (space savings 0.00%), 39.06KB (40000) data\n                     \
            min         max         mean         sd        +/- sd\n\
            time for request:       31us     14.29ms       518us      1.72ms    93.80%\n";
        let figures = parse(text);
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
}
