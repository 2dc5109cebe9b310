//! What an audit says.

use crate::gates::n;
use crate::result::{Outcome, Verdict};
use crate::tools::number::Number;

/// Gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The figures contradict each other, or what was said of the run.
    Impossible,
    /// Requests failed, or were not answered as was meant.
    Failed,
    /// The figures stand, and mean something else than a reader may think.
    Careful,
    /// Why the rate ranks nobody.
    Rank,
    /// What the figures do not tell.
    Cannot,
    /// What follows from the figures.
    Proves,
}

impl Kind {
    pub fn label(self) -> &'static str {
        match self {
            Self::Impossible => "impossible",
            Self::Failed => "failed",
            Self::Careful => "careful",
            Self::Rank => "cannot rank",
            Self::Cannot => "cannot say",
            Self::Proves => "proves",
        }
    }

    pub fn says(self, text: impl Into<String>) -> Finding {
        Finding {
            kind: self,
            text: text.into(),
        }
    }
}

/// One sentence, and what kind of a sentence it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    pub text: String,
}

/// A gate's verdict; what it refuses is impossible.
impl From<Verdict> for Finding {
    fn from(verdict: Verdict) -> Self {
        let kind = match verdict.outcome {
            Outcome::Pass => Kind::Proves,
            Outcome::Unknown => Kind::Cannot,
            Outcome::NoRate => Kind::Rank,
            Outcome::Warn => Kind::Careful,
            Outcome::Refuse => Kind::Impossible,
        };
        // The label says so already.
        let text = verdict.text.trim_start_matches("cannot rank: ");
        kind.says(text.trim_start_matches("unknown: "))
    }
}

/// Milliseconds for a sentence.
pub fn ms(number: Number) -> String {
    short(number.value)
}

/// Three digits, and no more decimals than they need.
pub fn short(number: f64) -> String {
    if number >= 1.0 || number == 0.0 {
        return n(number);
    }
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
