//! The figures of a row, and rows against each other.

use crate::gates::{gravest, limiter, measured};
use crate::result::{Comparison, Outcome, Round, Row, Spread, Summary, Verdict};
use crate::stats::{compare, median, spread};

/// Medians of a row; none if a gate refuses it.
pub fn summary(row: &measured::Row, verdicts: &[Verdict]) -> Option<Summary> {
    let outcome = gravest(verdicts);
    if outcome == Outcome::Refuse || row.rounds.is_empty() {
        return None;
    }
    let cpu_us = row.cpu_us();
    let shares: Vec<f64> = row
        .rounds
        .iter()
        .filter_map(|round| round.server.user_share)
        .collect();
    let user_share = (!shares.is_empty()).then(|| median(&shares));
    let scaled = |by: f64| Spread {
        median: median(&cpu_us) * by,
        min: spread(&cpu_us).min * by,
        max: spread(&cpu_us).max * by,
    };
    let cores = row.budget.server_cpus.len().max(1) as f64;
    let seconds = |ns: u64| ns as f64 / 1e9;
    let idle = row.rounds.first()?.server.idle_bytes;
    let kept = row.rounds.iter().filter(|_| row.load.keep_alive);
    let grown = kept.filter_map(|round| {
        let server = &round.server;
        let grown = server.loaded_bytes?.saturating_sub(idle?);
        Some(grown as f64 / f64::from(round.client.connections.max(1)))
    });
    let grown: Vec<f64> = grown.collect();
    Some(Summary {
        rate: (outcome < Outcome::NoRate).then(|| spread(&row.each(Round::rate))),
        user_us: user_share.map(scaled),
        system_us: user_share.map(|user| scaled(1.0 - user)),
        cpu_us: spread(&cpu_us),
        busy: spread(
            &row.each(|round| seconds(round.server.cpu_ns) / round.client.seconds / cores),
        ),
        client_busy: spread(&row.each(|round| {
            seconds(round.client.user_ns + round.client.system_ns) / round.client.seconds
        })),
        switches: spread(&row.each(|round| {
            let server = &round.server;
            (server.voluntary_switches + server.involuntary_switches) as f64
                / round.client.answers as f64
        })),
        over_ms: row.latency().over(row.task.delay_ms)?,
        peak_bytes: row
            .rounds
            .iter()
            .filter_map(|round| round.server.peak_bytes)
            .max(),
        idle_bytes: idle,
        per_connection_bytes: (!grown.is_empty()).then(|| median(&grown)),
        instructions: None,
        slo: None,
        limiter: limiter::find(&row.facts()).name().into(),
    })
}

/// Every row that has figures against the first of them.
pub fn comparisons(rows: &[Row]) -> Vec<Comparison> {
    let mut with_figures = rows.iter().filter(|row| row.summary.is_some());
    let Some(first) = with_figures.next() else {
        return Vec::new();
    };
    let each = |row: &Row, figure: fn(&Round) -> f64| -> Vec<f64> {
        row.rounds.iter().map(figure).collect()
    };
    // Of two rates of which one may be higher, none is better.
    let has_rate = |row: &Row| {
        row.summary
            .as_ref()
            .is_some_and(|summary| summary.rate.is_some() && !summary.rate_is_lower_bound())
    };
    let mut comparisons = Vec::new();
    for row in with_figures {
        let (one, other) = (each(row, Round::cpu_us), each(first, Round::cpu_us));
        comparisons.extend(compare(
            "cpu_us",
            (&row.contender, &one),
            (&first.contender, &other),
            true,
        ));
        if has_rate(row) && has_rate(first) {
            let (one, other) = (each(row, Round::rate), each(first, Round::rate));
            comparisons.extend(compare(
                "rate",
                (&row.contender, &one),
                (&first.contender, &other),
                false,
            ));
        }
    }
    comparisons
}
