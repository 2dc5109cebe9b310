//! Gate 8: the connections that were asked for were opened, and those opened were accepted.

use super::Gate;
use crate::result::Verdict;

pub const GATE: Gate = Gate(8, "connections opened");

/// Those that a generator opens of those that it was asked for: wrk gives each thread the same whole number.
pub fn opened(tool: &str, asked: u32, threads: Option<u32>) -> u32 {
    match (tool, threads) {
        ("wrk" | "wrk2", Some(threads)) if (1..=asked).contains(&threads) => {
            asked / threads * threads
        }
        _ => asked,
    }
}

/// Of a generator's command line.
pub fn by_tool(tool: Option<&str>, connections: Option<u32>, threads: Option<u32>) -> Verdict {
    let (Some(connections), Some(tool)) = (connections, tool) else {
        return GATE.unknown("the number of connections was not printed");
    };
    match (tool, threads) {
        ("wrk" | "wrk2", Some(threads @ 1..)) => {
            let opened = opened(tool, connections, Some(threads));
            if opened == connections {
                GATE.unknown(format!(
                    "{tool} opens {opened}, as asked; those accepted were not printed"
                ))
            } else {
                GATE.warn(format!(
                    "{tool} -t{threads} -c{connections} opens {opened} connections: make -c a multiple of -t"
                ))
            }
        }
        _ => GATE.unknown("how many connections were opened and accepted was not printed"),
    }
}

/// Of what was measured here: the most that were open at a time, and what the client and the kernel counted.
///
/// The kernel counts for the whole machine: others' connections may be among the accepted ones, so more is no fault.
pub fn by_counts(
    asked: u32,
    most_open: u32,
    opened: u64,
    accepted: u64,
    keep_alive: bool,
    not_kept: u64,
) -> Verdict {
    if most_open < asked {
        return GATE.no_rate(format!(
            "{most_open} of {asked} connections were open at most: raise the server's listen queue or its limits"
        ));
    }
    if accepted < opened {
        return GATE.no_rate(format!(
            "{opened} connections were opened and {accepted} accepted: the listen queue overflowed; raise it"
        ));
    }
    if keep_alive && not_kept > 0 {
        return GATE.warn(format!(
            "the server closed {not_kept} connections that were to be kept; opening {opened} is part of the cost"
        ));
    }
    GATE.pass(format!("{opened} opened, all accepted, {asked} at a time"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    /// `concurrency`: `wrk -t8 -c500 -d30s`.
    #[test]
    fn wrk_of_the_third_article() {
        let verdict = by_tool(Some("wrk"), Some(500), Some(8));
        assert_eq!(verdict.outcome, Outcome::Warn);
        assert!(verdict.text.contains("opens 496 connections"));
        assert!(
            by_tool(Some("wrk"), Some(100), Some(8))
                .text
                .contains("opens 96")
        );
        assert_eq!(
            by_tool(Some("wrk"), Some(100), Some(4)).outcome,
            Outcome::Unknown
        );
        assert_eq!(
            by_tool(Some("ab"), Some(100), None).outcome,
            Outcome::Unknown
        );
    }

    #[test]
    fn counts() {
        assert_eq!(
            by_counts(100, 100, 100, 100, true, 0).outcome,
            Outcome::Pass
        );
        assert_eq!(
            by_counts(100, 100, 100, 103, true, 0).outcome,
            Outcome::Pass
        );
        assert_eq!(
            by_counts(100, 99, 100, 100, true, 0).outcome,
            Outcome::NoRate
        );
        assert_eq!(
            by_counts(100, 100, 5000, 4990, false, 0).outcome,
            Outcome::NoRate
        );
        assert_eq!(
            by_counts(100, 100, 5000, 5000, true, 4900).outcome,
            Outcome::Warn
        );
        assert_eq!(
            by_counts(100, 100, 5000, 5000, false, 0).outcome,
            Outcome::Pass
        );
    }
}
