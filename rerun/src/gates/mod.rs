//! The thirteen gates between a measurement and a printed figure.
//!
//! Each is a pure function in a file of its own, and its text says what was found and what to do. [`published`] asks
//! them about figures that somebody else printed, [`measured`] about a row that was measured here.

pub mod bodies;
pub mod budget;
pub mod ceiling;
pub mod complete;
pub mod connections;
pub mod delay;
pub mod limiter;
pub mod little;
pub mod measured;
pub mod percentiles;
pub mod published;
pub mod queues;
pub mod rounds;
pub mod traps;
pub mod verified;

use crate::result::{Outcome, Verdict};

/// Number and name of a gate.
#[derive(Clone, Copy, Debug)]
pub struct Gate(pub u8, pub &'static str);

impl Gate {
    fn verdict(self, outcome: Outcome, text: impl Into<String>) -> Verdict {
        Verdict {
            gate: self.0,
            name: self.1.into(),
            outcome,
            text: text.into(),
        }
    }

    pub fn pass(self, text: impl Into<String>) -> Verdict {
        self.verdict(Outcome::Pass, text)
    }

    pub fn unknown(self, text: impl Into<String>) -> Verdict {
        self.verdict(Outcome::Unknown, text)
    }

    pub fn warn(self, text: impl Into<String>) -> Verdict {
        self.verdict(Outcome::Warn, text)
    }

    pub fn no_rate(self, text: impl Into<String>) -> Verdict {
        self.verdict(Outcome::NoRate, text)
    }

    pub fn refuse(self, text: impl Into<String>) -> Verdict {
        self.verdict(Outcome::Refuse, text)
    }
}

/// The gravest of some outcomes.
pub fn gravest(verdicts: &[Verdict]) -> Outcome {
    let outcomes = verdicts.iter().map(|verdict| verdict.outcome);
    outcomes.max().unwrap_or(Outcome::Unknown)
}

/// The text of the first verdict that is as grave as the gravest: the reason that is printed instead of a figure.
pub fn reason(verdicts: &[Verdict]) -> Option<&Verdict> {
    let worst = gravest(verdicts);
    verdicts.iter().find(|verdict| verdict.outcome == worst)
}

/// A number for a sentence: thousands apart, no decimals that mean nothing.
pub fn n(number: f64) -> String {
    let digits = match number.abs() {
        x if x >= 100.0 || x == x.trunc() => 0,
        x if x >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{number:.digits$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, whole) = whole.split_at(whole.len() - whole.trim_start_matches('-').len());
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_sentences() {
        let numbers = [1_286_460_000.0, 4685.38, 498.7, 33.216, 5.0, -1234.0, 0.123];
        let texts = numbers.map(n);
        assert_eq!(
            texts,
            [
                "1,286,460,000",
                "4,685",
                "499",
                "33.2",
                "5",
                "-1,234",
                "0.12"
            ]
        );
    }

    #[test]
    fn the_gravest_verdict_is_the_reason() {
        let gate = Gate(1, "x");
        let verdicts = [
            gate.pass("a"),
            gate.refuse("b"),
            gate.no_rate("c"),
            gate.refuse("d"),
        ];
        assert_eq!(gravest(&verdicts), Outcome::Refuse);
        assert_eq!(reason(&verdicts).unwrap().text, "b");
        assert_eq!(gravest(&[]), Outcome::Unknown);
    }
}
