//! What is to be said under a table.

use super::per_second;
use super::reason::{by_gate, no_figures};
use crate::gates::{limiter, n, reason};
use crate::report::lang::Speech;
use crate::result::{self, Outcome, Replay, Row, Verdict};

/// A sentence under a table.
pub struct Line {
    pub mark: Mark,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A gate refuses a row, or its rate.
    Refused,
    /// The figures stand, and a reader must know this of them.
    Warn,
    /// Two rows compared, or what a search found.
    Result,
    /// Another generator's run.
    Replay,
    Note,
}

/// What is to be said under a table.
pub(super) fn lines(table: &result::Table, speech: &Speech) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in &table.rows {
        lines.extend(of_row(row, speech));
    }
    lines.extend(limiters(&table.rows, speech));
    for comparison in &table.comparisons {
        let figure = match comparison.figure.as_str() {
            "cpu_us" => "CPU time",
            _ => "answers/s",
        };
        let text = format!(
            "{} / {}, {figure}: {:.2} ({:.2}-{:.2}): {}",
            comparison.contender,
            comparison.against,
            comparison.ratio,
            comparison.low,
            comparison.high,
            comparison.words
        );
        lines.push(line(Mark::Result, &text, speech));
    }
    for row in &table.rows {
        let found = row
            .summary
            .as_ref()
            .and_then(|summary| summary.slo.as_ref());
        if let Some(found) = found {
            let text = match (found.rate, found.above()) {
                (Some(rate), above) => {
                    let above = above.map_or("more was not tried".into(), |rate| {
                        format!("at {} requests/s it does not", n(rate))
                    });
                    format!(
                        "{}: {} holds at {} requests/s in an open loop, {} times for {} s; {above}",
                        row.contender,
                        found.asked,
                        n(rate),
                        found.windows,
                        n(found.window_s)
                    )
                }
                (None, _) => format!(
                    "{}: {} does not hold even at the least rate that was tried",
                    row.contender, found.asked
                ),
            };
            lines.push(line(Mark::Result, &text, speech));
        }
        let replays = row.replays.iter();
        lines.extend(replays.map(|shown| replay(&row.contender, shown, speech)));
    }
    lines.extend(
        table
            .notes
            .iter()
            .map(|note| line(Mark::Note, note, speech)),
    );
    lines
}

fn line(mark: Mark, text: &str, speech: &Speech) -> Line {
    Line {
        mark,
        text: speech.say(text),
    }
}

/// Why there is no figure, or no rate, and what a reader must know of those that there are.
fn of_row(row: &Row, speech: &Speech) -> Vec<Line> {
    let colon = speech.say(": ");
    let named = |text: &str| format!("{}{colon}{text}", row.contender);
    if let Some(reason) = no_figures(row, speech) {
        return vec![Line {
            mark: Mark::Refused,
            text: named(&reason.full),
        }];
    }
    let verdicts = row
        .verdicts
        .iter()
        .filter(|verdict| !is_of_limiter(verdict));
    let lines = verdicts.filter_map(|verdict| {
        let mark = match verdict.outcome {
            Outcome::NoRate | Outcome::Refuse => Mark::Refused,
            Outcome::Warn => Mark::Warn,
            Outcome::Pass | Outcome::Unknown => return None,
        };
        let text = named(&by_gate(verdict, speech).full);
        Some(Line { mark, text })
    });
    lines.collect()
}

/// What [`limiters`] says of several rows at once.
fn is_of_limiter(verdict: &Verdict) -> bool {
    verdict.gate == limiter::GATE.0 && verdict.outcome == Outcome::Warn
}

/// Rates that are lower bounds, or a pool's, one line for all rows of a kind.
fn limiters(rows: &[Row], speech: &Speech) -> Vec<Line> {
    let of = |limiter: &str| {
        let rows = rows.iter().filter(|row| {
            let summary = row.summary.as_ref();
            summary.is_some_and(|summary| summary.limiter == limiter)
                && row.verdicts.iter().any(is_of_limiter)
        });
        rows.map(|row| row.contender.as_str()).collect::<Vec<_>>()
    };
    let kinds = [
        (
            "unknown",
            "neither server nor client was at its limit, so these rates are lower bounds",
        ),
        (
            "client",
            "the client was at its limit and the server not, so these rates are lower bounds",
        ),
        (
            "pool",
            "its own pool limits it: a larger pool is another row",
        ),
    ];
    let lines = kinds.iter().filter_map(|(kind, words)| {
        let names = of(kind).join(", ");
        (!names.is_empty()).then(|| line(Mark::Warn, &format!("{names}: gate 6, {words}"), speech))
    });
    lines.collect()
}

fn replay(contender: &str, replay: &Replay, speech: &Speech) -> Line {
    let command = replay.command.join(" ");
    let rate = per_second(replay.figures.rate, speech);
    let reason = reason(&replay.verdicts).map_or_else(String::new, |verdict| {
        format!("gate {}, {}", verdict.gate, verdict.text)
    });
    line(
        Mark::Replay,
        &format!("{contender}: {command} printed {rate}: {reason}"),
        speech,
    )
}
