//! Why there is no figure.

use crate::gates::reason;
use crate::report::lang::Speech;
use crate::result::{Row, Verdict};

/// Why a row has no figures.
pub struct Reason {
    /// For a cell: `gate 2, verified under load`.
    pub short: String,
    pub full: String,
}

/// Why a row has no figures; none if it has.
pub(super) fn no_figures(row: &Row, speech: &Speech) -> Option<Reason> {
    if row.summary.is_some() {
        return None;
    }
    if let Some(fault) = &row.fault {
        return Some(Reason {
            short: speech.say("it could not be measured"),
            full: speech.say(fault),
        });
    }
    reason(&row.verdicts).map(|verdict| by_gate(verdict, speech))
}

pub(super) fn by_gate(
    Verdict {
        gate, name, text, ..
    }: &Verdict,
    speech: &Speech,
) -> Reason {
    Reason {
        short: speech.say(&format!("gate {gate}, {name}")),
        full: speech.say(&format!("gate {gate}, {text}")),
    }
}
