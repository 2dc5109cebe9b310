//! What a report says, in the order in which it says it: figures rounded, sentences translated, and no markup yet.
//!
//! The terminal, Markdown and HTML print the same view, so they cannot differ in a figure.

mod about;
pub mod grids;
mod lines;
mod published;
mod reason;

pub use about::Contender;
pub use grids::{Cell, Grid, GridRow};
pub use lines::{Line, Mark};
pub use published::Published;
pub use reason::Reason;

use super::lang::{Lang, Speech};
use crate::gates::{self, n};
use crate::result::{self, Row, Run};

pub struct View<'a> {
    pub lang: Lang,
    pub title: String,
    /// The machine and the run: a name and what is to be said of it.
    pub facts: Vec<(String, String)>,
    /// What a reader must know of the whole run.
    pub warnings: Vec<String>,
    pub published: Option<Published>,
    pub tables: Vec<Table<'a>>,
    pub contenders: Vec<Contender<'a>>,
    /// The command that measures all this again.
    pub again: String,
    /// Between a name and what is said of it.
    pub colon: String,
    speech: Speech,
}

/// One task under one load.
pub struct Table<'a> {
    pub title: String,
    pub load: String,
    /// Costs, then latencies.
    pub grids: [Grid; 2],
    pub lines: Vec<Line>,
    /// For whoever draws it.
    pub data: &'a result::Table,
}

impl<'a> View<'a> {
    pub fn new(run: &'a Run, lang: Lang) -> Self {
        let speech = lang.speech();
        let say = |text: &str| speech.say(text);
        Self {
            lang,
            title: format!("rerun {}{}{}", run.name, say(": "), say(&run.title)),
            facts: about::facts(run, &speech),
            warnings: run.warnings.iter().map(|text| say(text)).collect(),
            published: run
                .published
                .as_ref()
                .map(|shown| published::published(shown, &run.tables, &speech)),
            tables: run
                .tables
                .iter()
                .map(|shown| table(shown, &speech))
                .collect(),
            contenders: run
                .contenders
                .iter()
                .map(|(name, shown)| about::contender(name, shown, &speech))
                .collect(),
            again: about::again(&run.command),
            colon: say(": "),
            speech,
        }
    }

    /// The report's own words, in its language.
    pub fn say(&self, english: &str) -> String {
        self.speech.say(english)
    }

    /// What the columns mean.
    pub fn legend(&self) -> Vec<(&str, &str)> {
        let grids = self
            .tables
            .first()
            .map_or([].as_slice(), |table| &table.grids);
        let columns = grids.iter().flat_map(|grid| &grid.columns);
        let columns = columns.filter(|column| !column.means.is_empty());
        columns
            .map(|column| (&*column.head, &*column.means))
            .collect()
    }

    /// Why a row has no figures; none if it has.
    pub fn reason(&self, row: &Row) -> Option<Reason> {
        reason::no_figures(row, &self.speech)
    }

    /// Why a row has no rate; none if it has one.
    pub fn no_rate(&self, row: &Row) -> Option<Reason> {
        match &row.summary {
            Some(summary) if summary.rate.is_some() => None,
            Some(_) => {
                gates::reason(&row.verdicts).map(|verdict| reason::by_gate(verdict, &self.speech))
            }
            None => self.reason(row),
        }
    }
}

fn table<'a>(table: &'a result::Table, speech: &Speech) -> Table<'a> {
    let load = &table.load;
    let kept = match load.keep_alive {
        true => "kept",
        false => "one request each",
    };
    let long = match (load.requests, load.seconds) {
        (Some(requests), _) => format!("{} requests", n(requests as f64)),
        (None, seconds) => format!("{} s", seconds.unwrap_or(0.0)),
    };
    let (connections, rounds) = (load.connections, load.rounds);
    let load = format!(
        "{connections} connections, {kept}; {rounds} rounds of {long}, the rows taking turns"
    );
    Table {
        title: speech.say(&format!("{}, c = {connections}", table.title)),
        load: speech.say(&load),
        grids: [grids::costs(table, speech), grids::latencies(table, speech)],
        lines: lines::lines(table, speech),
        data: table,
    }
}

fn connections(connections: Option<u32>) -> String {
    connections.map_or_else(String::new, |c| format!("c = {c}"))
}

fn per_second(rate: Option<f64>, speech: &Speech) -> String {
    match rate {
        Some(rate) => format!("{}/s", n(rate)),
        None => speech.say("no rate"),
    }
}

fn megabytes(bytes: u64) -> String {
    number(bytes as f64 / 1024.0 / 1024.0)
}

/// What is there of some words.
pub fn spaced(words: &[&str]) -> String {
    let words: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !word.is_empty())
        .collect();
    words.join(", ")
}

/// A number for a table: about three digits, and never less than its hundredths.
pub fn number(number: f64) -> String {
    // Not "-0.00".
    let number = if number.abs() < 0.005 { 0.0 } else { number };
    match number.abs() {
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => n(number),
    }
}
