//! Gate 5: Little's law. In a closed loop every connection is always waiting for an answer, so rate x mean latency is
//! the number of connections (J. D. C. Little, "A Proof for the Queuing Formula L = λW", Operations Research 9, 1961).

use super::{Gate, n};
use crate::result::Verdict;

pub const GATE: Gate = Gate(5, "Little's law");

/// Three parts in a hundred.
const TOLERANCE: f64 = 0.03;

pub fn judge(rate: Option<f64>, mean_ms: Option<f64>, connections: Option<u32>) -> Verdict {
    let (Some(rate), Some(mean), Some(connections)) = (rate, mean_ms, connections) else {
        return GATE.unknown("rate, mean latency or connections were not printed: print all three");
    };
    let busy = rate * mean / 1e3;
    let asked = f64::from(connections);
    let off = (busy - asked) / asked;
    let product = format!(
        "{} requests/s x {} ms = {} requests at a time",
        n(rate),
        n(mean),
        n(busy)
    );
    if off.abs() <= TOLERANCE {
        GATE.pass(format!("{product}, of {connections} connections"))
    } else if off < 0.0 {
        GATE.no_rate(format!(
            "{product}, and not {connections}: connections stood idle, were fewer, or answers were left out of the \
             mean; raise the generator's cores or count what failed"
        ))
    } else {
        GATE.no_rate(format!(
            "{product}, and not {connections}: more at a time than there were connections is impossible; one of the \
             figures is not what it says"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    /// `go-vs-openresty`: ab computes its mean from rate and c, so the law cannot but hold.
    #[test]
    fn rows_of_the_first_article() {
        for (rate, mean, connections) in [
            (4685.38, 21.343, 100),
            (5893.87, 84.834, 500),
            (4593.43, 217.702, 1000),
            (3010.62, 33.216, 100),
            (381.0, 524.941, 200),
            (5271.80, 189.688, 1000),
        ] {
            let verdict = judge(Some(rate), Some(mean), Some(connections));
            assert_eq!(verdict.outcome, Outcome::Pass, "{}", verdict.text);
        }
    }

    #[test]
    fn figures_that_do_not_fit_together() {
        // Rows of two runs mixed up: Go's rate at c = 500 with the mean at c = 100.
        let verdict = judge(Some(5893.87), Some(21.343), Some(500));
        assert_eq!(verdict.outcome, Outcome::NoRate);
        assert!(
            verdict
                .text
                .contains("= 126 requests at a time, and not 500")
        );
        let verdict = judge(Some(5893.87), Some(84.834), Some(100));
        assert!(verdict.text.contains("impossible"));
        assert_eq!(judge(None, Some(1.0), Some(1)).outcome, Outcome::Unknown);
    }
}
