//! Figures in rows and columns: what an answer costs, and how late it comes.

use super::reason::{Reason, no_figures};
use super::{megabytes, number};
use crate::gates::{n, reason};
use crate::report::lang::Speech;
use crate::result::{self, Row};
use crate::stats::median_interval;

/// Figures in rows and columns.
pub struct Grid {
    pub title: String,
    pub columns: Vec<Column>,
    pub rows: Vec<GridRow>,
}

pub struct Column {
    pub head: String,
    /// What the figures are.
    pub means: String,
}

pub struct GridRow {
    pub contender: String,
    /// A cell a column, or why there are none.
    pub cells: Result<Vec<Cell>, Reason>,
}

pub enum Cell {
    Figure(String),
    /// Nothing was measured.
    Empty,
    /// A gate refuses the figure.
    Refused(String),
}

impl Cell {
    pub fn text(&self) -> &str {
        match self {
            Self::Figure(text) | Self::Refused(text) => text,
            Self::Empty => "-",
        }
    }
}

/// A column: its head, what it means, and the figure of a row.
type Figure<'a> = (&'a str, &'a str, &'a dyn Fn(&Row, &result::Summary) -> Cell);

pub(super) fn costs(table: &result::Table, speech: &Speech) -> Grid {
    let figures: [Figure; 9] = [
        (
            "CPU µs",
            "CPU time of all of the server's processes for each answer, microseconds: the median of the rounds",
            &|_, summary| figure(summary.cpu_us.median),
        ),
        (
            "95 %",
            "the bootstrap interval of this median",
            &|row, _| {
                let rounds: Vec<f64> = row.rounds.iter().map(result::Round::cpu_us).collect();
                match median_interval(&rounds) {
                    Some(found) => {
                        Cell::Figure(format!("{}-{}", number(found.low), number(found.high)))
                    }
                    None => Cell::Empty,
                }
            },
        ),
        ("user", "its part in user mode", &|_, summary| {
            known(summary.user_us.map(|us| us.median))
        }),
        ("system", "its part in the kernel", &|_, summary| {
            known(summary.system_us.map(|us| us.median))
        }),
        (
            "answers/s",
            "verified answers a second: the median of the rounds; a lower bound behind \u{2265}",
            &|row, summary| match (&summary.rate, reason(&row.verdicts)) {
                (Some(rate), _) if summary.rate_is_lower_bound() => {
                    Cell::Figure(format!("\u{2265}{}", n(rate.median)))
                }
                (Some(rate), _) => Cell::Figure(n(rate.median)),
                (None, Some(verdict)) => {
                    Cell::Refused(speech.say(&format!("gate {}", verdict.gate)))
                }
                (None, None) => Cell::Empty,
            },
        ),
        (
            "switches",
            "context switches for each answer",
            &|_, summary| figure(summary.switches.median),
        ),
        (
            "KB/conn.",
            "what the server's memory grew by since before its first load, for each connection",
            &|_, summary| known(summary.per_connection_bytes.map(|bytes| bytes / 1024.0)),
        ),
        (
            "peak MB",
            "the peak memory of all of its processes",
            &|_, summary| match summary.peak_bytes {
                Some(bytes) => Cell::Figure(megabytes(bytes)),
                None => Cell::Empty,
            },
        ),
        ("limit", "what limited the rate", &|_, summary| {
            Cell::Figure(speech.say(&summary.limiter))
        }),
    ];
    let mut figures = figures.to_vec();
    let counted = |row: &Row| {
        row.summary
            .as_ref()
            .is_some_and(|s| s.instructions.is_some())
    };
    if table.rows.iter().any(counted) {
        figures.insert(
            4,
            (
                "instr.",
                "user instructions for each answer",
                &|_, summary| known(summary.instructions),
            ),
        );
    }
    grid("Cost of an answer", &figures, table, speech)
}

pub(super) fn latencies(table: &result::Table, speech: &Speech) -> Grid {
    let title = match table.task.delay_ms > 0.0 {
        true => format!("Latency over the delay of {} ms, ms", table.task.delay_ms),
        false => "Latency, ms".into(),
    };
    let figures: [Figure; 7] = [
        (
            "least",
            "the least latency of all rounds together, counted from the end of the delay; a clock of 1 ms may be early",
            &|_, summary| figure(summary.over_ms.min),
        ),
        ("mean", "", &|_, summary| figure(summary.over_ms.mean)),
        ("p50", "", &|_, summary| figure(summary.over_ms.p50)),
        ("p90", "", &|_, summary| figure(summary.over_ms.p90)),
        ("p99", "", &|_, summary| figure(summary.over_ms.p99)),
        (
            "p99.9",
            "of 1,000 answers 999 take no longer; p50, p90 and p99 likewise",
            &|_, summary| figure(summary.over_ms.p999),
        ),
        ("max", "", &|_, summary| figure(summary.over_ms.max)),
    ];
    grid(&title, &figures, table, speech)
}

fn grid(title: &str, figures: &[Figure], table: &result::Table, speech: &Speech) -> Grid {
    let columns = figures.iter().map(|(head, means, _)| Column {
        head: speech.say(head),
        means: speech.say(means),
    });
    let rows = table.rows.iter().map(|row| GridRow {
        contender: row.contender.clone(),
        cells: match (&row.summary, no_figures(row, speech)) {
            (Some(summary), _) => Ok(figures.iter().map(|(_, _, of)| of(row, summary)).collect()),
            (None, reason) => Err(reason.unwrap_or_else(|| Reason {
                short: String::new(),
                full: String::new(),
            })),
        },
    });
    Grid {
        title: speech.say(title),
        columns: columns.collect(),
        rows: rows.collect(),
    }
}

fn known(number: Option<f64>) -> Cell {
    number.map_or(Cell::Empty, figure)
}

fn figure(figure: f64) -> Cell {
    Cell::Figure(number(figure))
}
