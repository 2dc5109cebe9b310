//! An article's rows, each beside what was measured here.

use super::reason::{by_gate, no_figures};
use super::{connections, number, per_second};
use crate::gates::{n, reason};
use crate::report::lang::Speech;
use crate::result::{self, Row};

/// An article's rows, each beside what was measured here.
pub struct Published {
    pub source: String,
    pub meant: String,
    pub rows: Vec<PublishedRow>,
}

pub struct PublishedRow {
    pub label: String,
    /// `c = 100`, where it is known.
    pub connections: String,
    pub rate: String,
    /// Why nobody can vouch for the rate.
    pub reason: String,
    /// The row that was measured here in its place.
    pub meant: Option<Meant>,
}

/// A row as meant, in a few words.
pub struct Meant {
    pub contender: String,
    pub connections: String,
    pub figures: Result<String, String>,
}

pub(super) fn published(
    published: &result::Published,
    tables: &[result::Table],
    speech: &Speech,
) -> Published {
    let rows = published.rows.iter().map(|row| PublishedRow {
        label: speech.say(&row.label),
        connections: connections(row.figures.connections),
        rate: per_second(row.figures.rate, speech),
        reason: reason(&row.verdicts)
            .map_or_else(String::new, |verdict| by_gate(verdict, speech).full),
        meant: nearest(row, tables).map(|(table, row)| Meant {
            contender: row.contender.clone(),
            connections: connections(Some(table.load.connections)),
            figures: match (&row.summary, no_figures(row, speech)) {
                (Some(summary), _) => Ok(in_short(row, summary, speech)),
                (None, reason) => Err(reason.map_or_else(String::new, |reason| reason.full)),
            },
        }),
    });
    Published {
        source: published.source.clone(),
        meant: speech.say(&published.meant),
        rows: rows.collect(),
    }
}

/// A measured row in one sentence.
fn in_short(row: &Row, summary: &result::Summary, speech: &Speech) -> String {
    let cpu = number(summary.cpu_us.median);
    let over = number(summary.over_ms.p99);
    let rate = match (&summary.rate, reason(&row.verdicts)) {
        (Some(rate), _) if summary.rate_is_lower_bound() => {
            format!("\u{2265}{} answers/s", n(rate.median))
        }
        (Some(rate), _) => format!("{} answers/s", n(rate.median)),
        (None, Some(verdict)) => format!("no rate: gate {}", verdict.gate),
        (None, None) => "no rate".into(),
    };
    speech.say(&format!(
        "{cpu} µs of CPU time for each answer, p99 {over} ms over the delay, {rate}"
    ))
}

/// The row that was measured here for a published one: with its connections, or as near to them as there is. Of two
/// tables the later one is meant: the earlier shows how the article had it.
fn nearest<'a>(
    published: &result::PublishedRow,
    tables: &'a [result::Table],
) -> Option<(&'a result::Table, &'a Row)> {
    let asked = published.figures.connections?;
    let rows = tables.iter().rev().filter_map(|table| {
        let mut rows = table.rows.iter();
        let row = rows.find(|row| row.contender == published.contender)?;
        Some((table, row))
    });
    rows.min_by(|(one, _), (other, _)| {
        let far = |table: &result::Table| {
            let times = f64::from(table.load.connections) / f64::from(asked.max(1));
            times.ln().abs()
        };
        far(one).total_cmp(&far(other))
    })
}
