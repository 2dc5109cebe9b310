//! Gate 11: an equal CPU budget: the same cores for every server, others for the client, and shown.

use super::Gate;
use crate::result::{Budget, Verdict};

pub const GATE: Gate = Gate(11, "equal CPU budget");

pub fn judge(budget: &Budget) -> Verdict {
    let list = |cpus: &[usize]| {
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        format!(
            "{} {}",
            if cpus.len() == 1 { "core" } else { "cores" },
            cpus.join(", ")
        )
    };
    if budget.server_cpus.is_empty() || budget.client_cpus.is_empty() {
        return GATE.no_rate("server and client were not pinned: give each its cores");
    }
    let text = format!(
        "server on {}, client on {}",
        list(&budget.server_cpus),
        list(&budget.client_cpus)
    );
    if budget.shared() {
        return GATE.warn(format!(
            "{text}: they share it, so each takes the other's time. Rank by CPU time per request, or use two cores"
        ));
    }
    GATE.pass(text)
}

/// Of a published row: nothing about cores was printed.
pub fn published() -> Verdict {
    GATE.unknown("which cores server and generator had was not printed: pin both")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    #[test]
    fn budgets() {
        let mut budget = Budget {
            server_cpus: vec![0],
            client_cpus: vec![1],
        };
        assert_eq!(judge(&budget).text, "server on core 0, client on core 1");
        budget.client_cpus = vec![0];
        assert_eq!(judge(&budget).outcome, Outcome::Warn);
        assert_eq!(judge(&Budget::default()).outcome, Outcome::NoRate);
    }
}
