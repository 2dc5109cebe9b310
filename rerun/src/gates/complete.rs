//! Gate 13: all that is needed to judge is in the result.

use super::Gate;
use crate::result::{Contender, Machine, Round, Verdict};

pub const GATE: Gate = Gate(13, "everything is kept");

pub fn judge(machine: &Machine, contender: &Contender, rounds: &[Round]) -> Verdict {
    let missing: Vec<&str> = [
        ("the kernel", machine.kernel.is_empty()),
        (
            "the processor",
            machine.cpu.is_empty() && machine.cpus.is_empty(),
        ),
        ("the versions", contender.versions.is_empty()),
        ("the command line", contender.start.is_empty()),
        ("sources and configurations", contender.files.is_empty()),
        ("the raw samples", rounds.is_empty()),
    ]
    .into_iter()
    .filter_map(|(what, missing)| missing.then_some(what))
    .collect();
    if missing.is_empty() {
        GATE.pass(
            "versions, commands, configurations, machine and raw samples are in the result file",
        )
    } else {
        GATE.warn(format!("not in the result file: {}", missing.join("; ")))
    }
}

/// Of a published row.
pub fn published() -> Verdict {
    GATE.unknown("configurations, machine and raw samples were not published in full")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    #[test]
    fn what_is_missing_is_named() {
        let verdict = judge(&Machine::default(), &Contender::default(), &[]);
        assert_eq!(verdict.outcome, Outcome::Warn);
        assert!(verdict.text.contains("the kernel") && verdict.text.contains("the raw samples"));
    }
}
