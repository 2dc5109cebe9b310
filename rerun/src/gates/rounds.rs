//! Gate 12: at least five interleaved rounds.

use super::Gate;
use crate::result::Verdict;

pub const GATE: Gate = Gate(12, "interleaved rounds");

pub const LEAST: usize = 5;

/// `turns` are the places of this row's rounds in the order of all measurements of its table.
pub fn judge(turns: &[u32], rows: usize) -> Verdict {
    if turns.len() < LEAST {
        return GATE.no_rate(format!(
            "{} of the {LEAST} rounds that an interval needs: measure again with more",
            turns.len()
        ));
    }
    if rows > 1
        && turns
            .windows(2)
            .any(|pair| pair[1] == pair[0] + 1 && rows > 2)
    {
        return GATE.no_rate("its rounds followed each other: let the rows take turns");
    }
    GATE.pass(format!("{} rounds, the rows taking turns", turns.len()))
}

/// Of a published row, which is one run, or the mean of some.
pub fn published() -> Verdict {
    GATE.no_rate("one figure without a spread: repeat in turns with its rivals, and print medians and intervals")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    #[test]
    fn rounds() {
        assert_eq!(judge(&[0, 5, 7, 10, 14], 3).outcome, Outcome::Pass);
        assert_eq!(judge(&[0, 3, 7, 10], 3).outcome, Outcome::NoRate);
        assert_eq!(judge(&[0, 1, 2, 3, 4], 3).outcome, Outcome::NoRate);
        assert_eq!(judge(&[0, 1, 2, 3, 4], 1).outcome, Outcome::Pass);
    }
}
