//! Gate 2: every answer under load verified, and none a failure.

use super::{Gate, n};
use crate::result::{ClientSample, Verdict};

pub const GATE: Gate = Gate(2, "verified under load");

/// Of what a generator counts as failed, as far as it was printed.
pub fn by_counts(
    requests: Option<u64>,
    failed: Option<u64>,
    non_2xx: Option<u64>,
    socket_errors: Option<u64>,
) -> Verdict {
    let of = match requests {
        Some(requests) => format!("of {}", n(requests as f64)),
        None => "of all requests".into(),
    };
    let counted = |count: Option<u64>| {
        count
            .filter(|count| *count > 0)
            .map(|count| n(count as f64))
    };
    if let Some(count) = counted(non_2xx) {
        return GATE.refuse(format!(
            "{count} {of} answers were error pages, counted in the rate all the same: check the address"
        ));
    }
    if let Some(count) = counted(failed) {
        return GATE.refuse(format!(
            "{count} {of} failed, counted in the rate all the same: find out why before measuring again"
        ));
    }
    if let Some(count) = counted(socket_errors) {
        return GATE.refuse(format!(
            "{count} socket errors beside {of}: the server closes connections that the generator keeps, or refuses them"
        ));
    }
    match failed.or(non_2xx).or(socket_errors) {
        Some(_) => GATE.unknown(
            "no failure was counted, and no answer was looked at: verify bodies under load",
        ),
        None => GATE.unknown("failures were not printed: publish them"),
    }
}

/// Of the rounds that were measured here.
pub fn by_rounds<'a>(rounds: impl IntoIterator<Item = &'a ClientSample>) -> Verdict {
    let mut answers = 0;
    let mut kinds = std::collections::BTreeMap::new();
    let mut silent = 0;
    for round in rounds {
        answers += round.answers;
        silent += u32::from(round.answers == 0);
        for (kind, count) in &round.failures {
            let example = round.examples.get(kind).cloned().unwrap_or_default();
            kinds.entry(*kind).or_insert((0, example)).0 += count;
        }
        if round.unsent > 0 {
            return GATE.no_rate(format!(
                "{} requests of the open loop were due and never sent: the rate is more than the server can do",
                n(round.unsent as f64)
            ));
        }
    }
    if silent > 0 && kinds.is_empty() {
        return GATE.refuse(format!(
            "{silent} rounds without any answer: is the window shorter than an answer takes?"
        ));
    }
    if kinds.is_empty() {
        return GATE.pass(format!("{} answers, each byte verified", n(answers as f64)));
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, (count, example))| {
            let name = serde_json::to_value(kind).ok();
            let name = name
                .as_ref()
                .and_then(|name| name.as_str())
                .unwrap_or("failure");
            format!(
                "{} {} ({example})",
                n(*count as f64),
                name.replace('_', " ")
            )
        })
        .collect();
    GATE.refuse(format!(
        "failures beside {} right answers: {}",
        n(answers as f64),
        kinds.join("; ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Failure, Outcome};

    /// `go-vs-openresty`: ab's "Failed requests: 0" beside "Non-2xx responses: 10000".
    #[test]
    fn error_pages_of_the_first_article() {
        let verdict = by_counts(Some(10_000), Some(0), Some(10_000), None);
        assert_eq!(verdict.outcome, Outcome::Refuse);
        assert!(
            verdict
                .text
                .starts_with("10,000 of 10,000 answers were error pages")
        );
        // OpenResty's rows: no failure, and yet another page than the one that was meant.
        assert_eq!(
            by_counts(Some(10_000), Some(0), None, None).outcome,
            Outcome::Unknown
        );
    }

    /// `concurrency`: drill at 2000 connections counts failures as throughput.
    #[test]
    fn failures_of_the_third_article() {
        let verdict = by_counts(Some(1_000_000), Some(346_700), None, None);
        assert!(verdict.text.starts_with("346,700 of 1,000,000 failed"));
        assert_eq!(by_counts(None, None, None, None).outcome, Outcome::Unknown);
        assert_eq!(
            by_counts(None, None, None, Some(9)).outcome,
            Outcome::Refuse
        );
    }

    #[test]
    fn rounds_measured_here() {
        let mut round = ClientSample {
            answers: 5,
            ..ClientSample::default()
        };
        assert_eq!(by_rounds([&round]).outcome, Outcome::Pass);
        round.failures.insert(Failure::WrongBody, 2);
        round.examples.insert(Failure::WrongBody, "\"KO\"".into());
        let verdict = by_rounds([&round, &round]);
        assert_eq!(verdict.outcome, Outcome::Refuse);
        assert_eq!(
            verdict.text,
            "failures beside 10 right answers: 4 wrong body (\"KO\")"
        );
        assert_eq!(
            by_rounds([&ClientSample::default()]).outcome,
            Outcome::Refuse
        );
    }
}
