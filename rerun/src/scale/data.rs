//! `scale.json`: all that was measured, and all that the page is made of.
//!
//! Units are part of the names, as in `RESULT.json`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::result::{Budget, Contender, Machine, Percentiles};

/// The version of this format. It goes up when a reader of the old one would misread the new one.
pub const FORMAT: u32 = 1;

/// One run of `rerun scale`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// See [`FORMAT`].
    pub format: u32,
    /// The version of rerun.
    pub version: String,
    /// The command line of rerun.
    pub command: Vec<String>,
    /// When it began, seconds since 1970-01-01 UTC.
    pub started_s: u64,
    pub took_s: f64,
    pub machine: Machine,
    pub budget: Budget,
    /// So many requests are started each second, until all wait.
    pub rate: f64,
    /// How often each row is measured.
    pub rounds: u32,
    pub contenders: BTreeMap<String, Contender>,
    pub tables: Vec<Table>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// A connection for each request.
    #[serde(rename = "HTTP/1.1")]
    Http1,
    /// A connection for many streams.
    #[serde(rename = "HTTP/2")]
    Http2,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        })
    }
}

/// So many requests that wait at once, by contender.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub protocol: Protocol,
    pub waiting: u32,
    pub connections: u32,
    /// How long each request waits.
    pub delay_s: u32,
    pub rows: Vec<Row>,
}

/// One contender in a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Key into [`Scale::contenders`].
    pub contender: String,
    /// Why it has no figures: an answer was wrong or missing, or it is not here.
    pub fault: Option<String>,
    pub rounds: Vec<Round>,
}

/// One server from its start to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// All of them right.
    pub answers: u32,
    /// What the server's memory has grown by for each request, when all wait; none where nobody waits.
    pub memory_bytes: Option<f64>,
    /// CPU time of the server for each request, from the first request to the last answer.
    pub cpu_us: f64,
    /// The part of its time in which the client was busy, while the answers came.
    pub client_busy: f64,
    /// How much later than its start and its delay each answer was there, whole, milliseconds.
    pub lateness: Percentiles,
}

impl Scale {
    pub fn load(file: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let scale: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is not of this format", file.display()))?;
        ensure!(
            scale.format == FORMAT,
            "{}: format {}, not {FORMAT}",
            file.display(),
            scale.format
        );
        Ok(scale)
    }

    /// The tables of a protocol, from few that wait to many.
    pub fn of(&self, protocol: Protocol) -> impl DoubleEndedIterator<Item = &Table> {
        let tables = self.tables.iter();
        tables.filter(move |table| table.protocol == protocol)
    }

    pub fn save(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(file, text).with_context(|| format!("writing {}", file.display()))
    }
}

impl Row {
    /// A figure of each round, if all rounds have one and the row has no fault.
    pub fn figures(&self, of: impl Fn(&Round) -> Option<f64>) -> Option<Vec<f64>> {
        let figures: Vec<f64> = self.rounds.iter().map(of).collect::<Option<_>>()?;
        (self.fault.is_none() && !figures.is_empty()).then_some(figures)
    }
}

#[cfg(test)]
pub mod examples {
    use super::*;

    /// Bytes, CPU time and a 99th percentile.
    pub fn round(memory_bytes: f64, cpu_us: f64, p99: f64) -> Round {
        Round {
            answers: 500,
            memory_bytes: Some(memory_bytes),
            cpu_us,
            client_busy: 0.25,
            lateness: Percentiles {
                min: -0.5,
                mean: 1.0,
                p50: 1.0,
                p90: 1.5,
                p99,
                p999: 5.0,
                max: 6.0,
            },
        }
    }

    pub fn row(contender: &str, rounds: &[Round]) -> Row {
        Row {
            contender: contender.into(),
            fault: None,
            rounds: rounds.into(),
        }
    }

    pub fn table(protocol: Protocol, waiting: u32, rows: Vec<Row>) -> Table {
        Table {
            protocol,
            waiting,
            connections: 1,
            delay_s: 2,
            rows,
        }
    }

    pub fn scale(tables: Vec<Table>) -> Scale {
        Scale {
            format: FORMAT,
            version: "0".into(),
            command: vec!["rerun".into(), "scale".into()],
            started_s: 0,
            took_s: 1.0,
            machine: Machine {
                cpus: vec![0, 1],
                memory_bytes: 16 << 30,
                ..Machine::default()
            },
            budget: Budget::default(),
            rate: 10_000.0,
            rounds: 3,
            contenders: BTreeMap::new(),
            tables,
        }
    }
}
