//! oha. Its success rate counts every answer, whatever its status; its rate counts failures too.

use super::hey;
use super::lines::{Line, Weight, bracket, like, rank, skip, strong, weak};
use super::number::{count, size};
use super::printed::Printed;

pub static LINES: &[Line] = &[
    strong("Summary:", "Summary:", skip),
    strong("Success rate:", "Success rate:\t100.00%", skip),
    hey::TOTAL,
    hey::SLOWEST,
    hey::FASTEST,
    hey::AVERAGE,
    hey::RATE,
    weak("Total data:", "Total data:\t5.86 KiB", |run, rest| {
        run.body_bytes = Some(size(rest)?.0);
        Some(())
    }),
    hey::SIZE,
    strong("Size/sec:", "Size/sec:\t6.57 KiB", skip),
    hey::HISTOGRAM,
    hey::BAR,
    weak("Response time distribution:", "", skip),
    hey::RANKS,
    // By status, with --stats-success-breakdown.
    weak("Response time histogram (2xx", "", skip),
    like(bar, Weight::Weak, "", skip).repeated(),
    weak("Response time distribution (2xx", "", skip),
    like(rank, Weight::Weak, "", skip).repeated(),
    weak("Response time histogram (4xx", "", skip),
    like(bar, Weight::Weak, "", skip).repeated(),
    weak("Response time distribution (4xx", "", skip),
    like(rank, Weight::Weak, "", skip).repeated(),
    hey::DETAILS,
    weak("DNS+dialup:", "", skip),
    weak("DNS-lookup:", "", skip),
    hey::STATUS_HEAD,
    hey::STATUS,
    hey::ERROR_HEAD,
    like(bracket, Weight::Weak, "[6] aborted due to deadline", error).repeated(),
];

fn error(run: &mut Printed, rest: &str) -> Option<()> {
    if !rest.contains("aborted due to deadline") {
        return hey::error(run, rest);
    }
    let (cut_off, _) = count(rest)?;
    run.cut_off = cut_off;
    run.requests = Some(run.requests.unwrap_or(0).checked_add(cut_off)?);
    Some(())
}

fn bar(text: &str) -> Option<&str> {
    hey::BAR.rest(text)
}

#[cfg(test)]
mod tests {
    use crate::tools::Tool;

    #[test]
    fn what_oha_prints() {
        let text = "Summary:\n  Success rate:\t100.00%\n  Total:\t2001.0 ms\n  Slowest:\t26.2 ms\n  Fastest:\t0.01 ms\n  \
            Average:\t0.4 ms\n  Requests/sec:\t44850.9250\n\n  Total data:\t13.09 MiB\n  Size/request:\t153 B\n  \
            Size/sec:\t6.54 MiB\n\nResponse time histogram:\n    0.003 ms [86139] |■\n\nResponse time distribution:\n  \
            99.90% in 13.7 ms\n\nStatus code distribution:\n  [404] 89741 responses\n\nError distribution:\n  \
            [6] aborted due to deadline\n";
        let figures = Tool::Oha.figures(text);
        assert_eq!(figures.requests, Some(89_747));
        assert_eq!(
            (figures.non_2xx, figures.socket_errors),
            (Some(89_741), Some(0))
        );
        assert_eq!(figures.percentiles_ms, [(99.9, 13.7)]);
        assert_eq!(figures.seconds.map(|s| (s * 1e3).round()), Some(2001.0));
    }
}
