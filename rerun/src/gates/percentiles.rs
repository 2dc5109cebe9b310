//! Gate 7: percentiles are in order, and the mean is possible.

use super::Gate;
use crate::result::Verdict;

pub const GATE: Gate = Gate(7, "percentiles possible");

/// Latencies in milliseconds, as far as they are known; percentiles with their rank from 0 to 100.
pub fn judge(
    min: Option<f64>,
    mean: Option<f64>,
    percentiles: &[(f64, f64)],
    max: Option<f64>,
) -> Verdict {
    let mut all: Vec<(f64, f64)> = Vec::new();
    all.extend(min.map(|ms| (0.0, ms)));
    all.extend(percentiles);
    all.extend(max.map(|ms| (100.0, ms)));
    if all.len() + usize::from(mean.is_some()) < 2 {
        return GATE
            .unknown("no percentiles were printed: print p50, p90, p99, p99.9 and the maximum");
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in all.windows(2) {
        if pair[1].1 < pair[0].1 {
            return GATE.refuse(format!(
                "p{} is {} ms and p{} only {} ms: the figures are of different runs, or mistyped",
                pair[0].0, pair[0].1, pair[1].0, pair[1].1
            ));
        }
    }
    let Some(mean) = mean else {
        return GATE.pass("in order");
    };
    // All between two percentiles are at least the lower of them, and at most the upper.
    let bound = |upper: bool| {
        let first = all.first().map_or(0.0, |first| first.0);
        let below = if upper {
            all.first().map_or(0.0, |first| first.1)
        } else {
            min.unwrap_or(0.0)
        };
        let between = all
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0) * pair[usize::from(upper)].1);
        let last = all.last().map_or((100.0, 0.0), |last| *last);
        (first * below + between.sum::<f64>() + (100.0 - last.0) * last.1) / 100.0
    };
    let low = bound(false);
    // Printed figures are rounded.
    if mean < low * 0.98 - 0.5 {
        return GATE.refuse(format!(
            "a mean of {mean} ms is too low for these percentiles, which make at least {low:.1} ms"
        ));
    }
    if max.is_some() && mean > bound(true) * 1.02 + 0.5 {
        return GATE.refuse(format!(
            "a mean of {mean} ms is too high for these percentiles, which make at most {:.1} ms",
            bound(true)
        ));
    }
    GATE.pass("in order, and the mean fits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    #[test]
    fn in_order() {
        let percentiles = [(50.0, 20.5), (90.0, 21.0), (99.0, 24.0)];
        let verdict = judge(Some(19.6), Some(20.8), &percentiles, Some(40.0));
        assert_eq!(verdict.outcome, Outcome::Pass, "{}", verdict.text);
        assert_eq!(judge(None, Some(21.3), &[], None).outcome, Outcome::Unknown);
    }

    #[test]
    fn out_of_order() {
        let percentiles = [(50.0, 20.5), (90.0, 25.0), (99.0, 24.0)];
        let verdict = judge(None, None, &percentiles, None);
        assert_eq!(verdict.outcome, Outcome::Refuse);
        assert!(verdict.text.starts_with("p90 is 25 ms and p99 only 24 ms"));
        assert_eq!(
            judge(None, None, &[(99.0, 24.0)], Some(20.0)).outcome,
            Outcome::Refuse
        );
    }

    #[test]
    fn means_that_cannot_be() {
        // Half of all took 20 ms or more: the mean is at least 10 ms.
        assert_eq!(
            judge(None, Some(5.0), &[(50.0, 20.0)], None).outcome,
            Outcome::Refuse
        );
        // All took at most 30 ms.
        assert_eq!(
            judge(Some(1.0), Some(35.0), &[], Some(30.0)).outcome,
            Outcome::Refuse
        );
        // 90 % took at most 2 ms, the rest at most 10 ms.
        let verdict = judge(Some(1.0), Some(9.0), &[(90.0, 2.0)], Some(10.0));
        assert_eq!(verdict.outcome, Outcome::Refuse, "{}", verdict.text);
        // A heavy tail may lift the mean above p90, if the maximum allows it.
        assert_eq!(
            judge(Some(1.0), Some(9.0), &[(90.0, 2.0)], Some(1000.0)).outcome,
            Outcome::Pass
        );
        // Without a maximum nothing is too high.
        assert_eq!(
            judge(None, Some(900.0), &[(90.0, 2.0)], None).outcome,
            Outcome::Pass
        );
    }
}
