//! Gate 3: the delay is proved.
//!
//! A minimum of D - 1 ms: nginx's clock, and others', ticks in milliseconds and may be one behind.

use super::Gate;
use crate::result::Verdict;

pub const GATE: Gate = Gate(3, "delay proved");

/// What clocks of a millisecond's resolution may be early, ms.
const CLOCK: f64 = 1.0;

/// Of latencies as far as they are known, milliseconds.
pub fn judge(
    delay_ms: f64,
    min_ms: Option<f64>,
    median_ms: Option<f64>,
    mean_ms: Option<f64>,
) -> Verdict {
    if delay_ms == 0.0 {
        return GATE.pass("no delay is asked for");
    }
    let least = delay_ms - CLOCK;
    let figures = [("least", min_ms), ("median", median_ms), ("mean", mean_ms)];
    for (name, figure) in figures {
        if let Some(figure) = figure.filter(|figure| *figure < least) {
            return GATE.refuse(format!(
                "the {name} latency is {figure:.1} ms, and no right answer takes less than {least:.0} ms: \
                 {delay_ms:.0} ms were not waited"
            ));
        }
    }
    match min_ms {
        Some(min) => GATE.pass(format!("no answer before {min:.1} ms")),
        None => GATE.unknown(format!(
            "no least latency was printed, so it is not known that every answer waited {delay_ms:.0} ms: print it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    /// `go-vs-openresty`: the means alone do not show that no 20 ms ran.
    #[test]
    fn means_of_the_first_article_prove_nothing() {
        for mean in [21.343, 84.834, 217.702, 33.216, 63.058] {
            assert_eq!(
                judge(20.0, None, None, Some(mean)).outcome,
                Outcome::Unknown
            );
        }
    }

    #[test]
    fn a_wait_that_was_not_waited() {
        let verdict = judge(20.0, Some(0.3), None, Some(25.0));
        assert_eq!(verdict.outcome, Outcome::Refuse);
        assert!(verdict.text.starts_with("the least latency is 0.3 ms"));
        assert_eq!(judge(20.0, None, None, Some(5.2)).outcome, Outcome::Refuse);
        assert_eq!(judge(20.0, None, Some(18.9), None).outcome, Outcome::Refuse);
    }

    /// nginx's timer, seen by its client.
    #[test]
    fn a_clock_may_be_one_millisecond_behind() {
        assert_eq!(judge(20.0, Some(19.44), None, None).outcome, Outcome::Pass);
        assert_eq!(
            judge(20.0, Some(18.99), None, None).outcome,
            Outcome::Refuse
        );
        assert_eq!(judge(0.0, None, None, None).outcome, Outcome::Pass);
    }
}
