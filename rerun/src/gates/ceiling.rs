//! Gate 4: c connections, each waiting D for its answer, never get more than c/D answers a second. Close to that, every
//! server ties.

use super::{Gate, n};
use crate::result::Verdict;

pub const GATE: Gate = Gate(4, "ceiling c/D");

/// From this part of the ceiling on a rate ranks nobody.
pub const TIE: f64 = 0.98;

/// `capable`: what the server could do if it did not wait, requests a second, where that is known.
pub fn judge(
    rate: Option<f64>,
    connections: Option<u32>,
    delay_ms: f64,
    capable: Option<f64>,
) -> Verdict {
    if delay_ms == 0.0 {
        return GATE.pass("no delay, no ceiling");
    }
    let (Some(rate), Some(connections)) = (rate, connections) else {
        return GATE.unknown("the rate or the number of connections was not printed");
    };
    let ceiling = f64::from(connections) / (delay_ms / 1e3);
    let part = rate / ceiling;
    let limit = format!(
        "{connections} connections / {} ms = {} requests/s",
        n(delay_ms),
        n(ceiling)
    );
    // A clock of a millisecond's resolution may be early by 1 ms, a count by a few requests at the ends.
    if rate > f64::from(connections) / ((delay_ms - 1.0).max(delay_ms * 0.9) / 1e3) * 1.01 {
        return GATE.refuse(format!(
            "{} requests/s are more than {limit}: impossible, so {} ms were not waited",
            n(rate),
            n(delay_ms)
        ));
    }
    if part >= TIE {
        let enough = capable.unwrap_or(2.0 * ceiling).max(1.1 * ceiling) * delay_ms / 1e3 / 0.8;
        // Two digits are enough for an advice.
        let scale = 10_f64.powf(enough.log10().floor() - 1.0);
        let raised = (enough / scale).ceil() * scale;
        return GATE.no_rate(format!(
            "cannot rank: {:.0} % of {limit}; raise c to {}",
            part * 100.0,
            n(raised)
        ));
    }
    GATE.pass(format!("{:.0} % of {limit}", part * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    /// `go-vs-openresty` as meant: 20 ms.
    #[test]
    fn rows_of_the_first_article() {
        let verdict = judge(Some(4685.38), Some(100), 20.0, None);
        assert_eq!(verdict.outcome, Outcome::Pass);
        assert_eq!(
            verdict.text,
            "94 % of 100 connections / 20 ms = 5,000 requests/s"
        );
        assert_eq!(
            judge(Some(5893.87), Some(500), 20.0, None).outcome,
            Outcome::Pass
        );
        assert_eq!(
            judge(Some(381.0), Some(200), 20.0, None).outcome,
            Outcome::Pass
        );
    }

    /// `go-vs-openresty`: Java with the default executor serves one request at a time, so its c is 1 at any c of ab.
    #[test]
    fn a_serial_server_has_a_ceiling_of_fifty() {
        let verdict = judge(Some(3171.68), Some(1), 20.0, None);
        assert_eq!(verdict.outcome, Outcome::Refuse);
        assert!(
            verdict
                .text
                .contains("are more than 1 connections / 20 ms = 50 requests/s")
        );
    }

    /// `concurrency`: ab -c 100, one request in ten sleeps two seconds: 200 ms on average.
    #[test]
    fn ab_of_the_third_article_cannot_rank() {
        for rate in [498.7, 498.4, 498.5, 498.3, 497.8, 498.6, 496.2] {
            let verdict = judge(Some(rate), Some(100), 200.0, None);
            assert_eq!(verdict.outcome, Outcome::NoRate, "{}", verdict.text);
        }
        let verdict = judge(Some(498.7), Some(100), 200.0, Some(100_000.0));
        assert!(verdict.text.starts_with("cannot rank: 100 % of"));
        assert!(
            verdict.text.ends_with("raise c to 25,000"),
            "{}",
            verdict.text
        );
        // Node cluster.
        assert_eq!(
            judge(Some(485.0), Some(100), 200.0, None).outcome,
            Outcome::Pass
        );
    }

    #[test]
    fn nothing_to_judge() {
        assert_eq!(judge(None, Some(100), 20.0, None).outcome, Outcome::Unknown);
        assert_eq!(judge(Some(1e6), Some(1), 0.0, None).outcome, Outcome::Pass);
    }
}
