//! All gates about a row that somebody else printed.

use super::{
    bodies, budget, ceiling, complete, connections, delay, limiter, little, percentiles, rounds,
    traps, verified,
};
use crate::result::{Figures, Verdict};

/// What a published row meant to measure.
#[derive(Clone, Debug, Default)]
pub struct Meant<'a> {
    /// The exact body, where it is known.
    pub body: Option<&'a str>,
    pub delay_ms: f64,
    /// The server answers at most so many requests at a time, whatever the connections.
    pub at_once: Option<u32>,
    /// Its configuration by name and text, as far as it was published.
    pub files: &'a [(&'a str, &'a str)],
}

/// Gates 1 to 13 without 9, about whose subject nothing is ever printed.
pub fn judge(figures: &Figures, meant: &Meant) -> Vec<Verdict> {
    let tool = figures.tool.as_deref().unwrap_or_default();
    let connections = figures.connections;
    let connections = connections.map(|asked| connections::opened(tool, asked, figures.threads));
    let at_a_time = match (connections, meant.at_once) {
        (Some(connections), Some(limit)) => Some(connections.min(limit)),
        (connections, limit) => connections.or(limit),
    };
    let percentile = |rank: f64| {
        let found = figures.percentiles_ms.iter().find(|(at, _)| *at == rank);
        found.map(|(_, ms)| *ms)
    };
    let body = match meant.body {
        Some(body) => bodies::by_bytes(figures.body_bytes, figures.requests, body),
        None => bodies::GATE.unknown("the body that was meant is not known: give it with --body"),
    };
    let load = traps::Load {
        connections: connections.unwrap_or(0),
        per_connection: 0,
        delay_ms: meant.delay_ms,
    };
    vec![
        body,
        verified::by_counts(
            figures.requests,
            figures.failed,
            figures.non_2xx,
            figures.socket_errors,
        ),
        delay::judge(
            meant.delay_ms,
            figures.min_ms,
            percentile(50.0),
            figures.mean_ms,
        ),
        ceiling::judge(figures.rate, at_a_time, meant.delay_ms, None),
        little(tool, figures, connections),
        limiter::unknown(),
        percentiles::judge(
            figures.min_ms,
            // ab's "Time per request" is the connections by the rate, pauses between requests included.
            figures.mean_ms.filter(|_| tool != "ab"),
            &figures.percentiles_ms,
            figures.max_ms,
        ),
        connections::by_tool(
            Some(tool).filter(|tool| !tool.is_empty()),
            figures.connections,
            figures.threads,
        ),
        traps::judge(&traps::find(meant.files.iter().copied(), load)),
        budget::published(),
        rounds::published(),
        complete::published(),
    ]
}

/// wrk's mean is too high, as it adds latencies that it believes to have missed, and wrk2's counts from when a request
/// was due: neither can break the law, and wrk's can only fall short of it.
fn little(tool: &str, figures: &Figures, connections: Option<u32>) -> Verdict {
    let busy = figures
        .rate
        .zip(figures.mean_ms)
        .map(|(rate, mean)| rate * mean / 1e3);
    let is_above = busy
        .zip(connections)
        .is_some_and(|(busy, c)| busy > f64::from(c));
    match tool {
        "wrk" if is_above => little::GATE.unknown(
            "wrk adds latencies that it believes to have missed, so its mean is not of these answers alone",
        ),
        "wrk2" => little::GATE.unknown("latencies that count from when a request was due do not tell"),
        _ => little::judge(figures.rate, figures.mean_ms, connections),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::{gravest, reason};
    use crate::result::Outcome;

    /// `go-vs-openresty`: Java at c = 1000. It answered 404 pages, and could never have been so fast.
    #[test]
    fn a_row_of_the_first_article() {
        let figures = Figures {
            tool: Some("ab".into()),
            connections: Some(1000),
            requests: Some(100_000),
            seconds: Some(18.969),
            rate: Some(5271.80),
            failed: Some(0),
            non_2xx: Some(100_000),
            body_bytes: Some(5_000_000),
            mean_ms: Some(189.688),
            ..Figures::default()
        };
        let meant = Meant {
            body: Some("OK\n"),
            delay_ms: 20.0,
            at_once: Some(1),
            files: &[("Server.java", "server.setExecutor(null);")],
        };
        let verdicts = judge(&figures, &meant);
        assert_eq!(gravest(&verdicts), Outcome::Refuse);
        assert!(reason(&verdicts).unwrap().text.contains("50 bytes"));
        let refused: Vec<u8> = verdicts
            .iter()
            .filter(|verdict| verdict.outcome == Outcome::Refuse)
            .map(|verdict| verdict.gate)
            .collect();
        assert_eq!(refused, [1, 2, 4]);
    }

    /// The example of wrk's own README: 748,868 requests/s x 635.91 us are 476 requests at a time.
    #[test]
    fn what_ab_calls_a_mean_has_the_pauses_in_it() {
        let percentiles_ms = vec![(50.0, 21.0), (99.0, 22.0), (100.0, 22.0)];
        let figures = |tool: &str| Figures {
            tool: Some(tool.into()),
            mean_ms: Some(24.117),
            max_ms: Some(22.0),
            percentiles_ms: percentiles_ms.clone(),
            ..Figures::default()
        };
        let is_refused = |tool| {
            let verdicts = judge(&figures(tool), &Meant::default());
            verdicts
                .iter()
                .any(|verdict| verdict.gate == 7 && verdict.outcome == Outcome::Refuse)
        };
        assert!(!is_refused("ab"));
        assert!(is_refused("drill"));
    }

    #[test]
    fn means_of_wrk_are_too_high() {
        let figures = Figures {
            tool: Some("wrk".into()),
            connections: Some(400),
            threads: Some(12),
            rate: Some(748_868.53),
            mean_ms: Some(0.635_91),
            ..Figures::default()
        };
        let of_gate = |figures: &Figures| {
            let verdicts = judge(figures, &Meant::default());
            verdicts
                .into_iter()
                .find(|verdict| verdict.gate == 5)
                .unwrap()
                .outcome
        };
        assert_eq!(of_gate(&figures), Outcome::Unknown);
        let hey = Figures {
            tool: Some("hey".into()),
            ..figures
        };
        assert_eq!(of_gate(&hey), Outcome::NoRate);
    }
}
