//! `rerun scale`: what it costs one worker that many requests wait in it at once, and how these costs grow.
//!
//! The contenders are in `rerun/waiting/`. A round is a server of its own on a core of its own ([`round`]). The client
//! ([`client`]) starts requests at an even rate until all wait, has the server sampled, and judges every answer. The
//! figures are kept in `scale.json` ([`data`]), of which the page is made ([`page`]): tables ([`tables`]), plots, and a
//! calculation of what hosts can carry ([`capacity`]).

mod capacity;
mod client;
mod data;
mod page;
mod round;
mod tables;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::contender::{Contender, Contenders, presence, root};
use crate::progress::Progress;
use crate::stop;
use crate::system::{cpus, machine};
use data::{FORMAT, Protocol, Row, Scale, Table};

/// The contender that does not wait.
const FLOOR: &str = "nginx-return";

/// In this order in all tables.
const CONTENDERS: [&str; 4] = ["nginx-rust", "nginx-lua", "nginx-echo", FLOOR];

/// So many connections are what 20,000 descriptors of a process allow: nginx closes idle connections when less than
/// one in sixteen is left, and needs some for itself.
const MOST_CONNECTIONS: u32 = 18_000;

/// Streams of a connection.
const STREAMS: u32 = 1_000;

#[derive(clap::Args)]
pub struct Options {
    /// Contenders of rerun/waiting; all of them where none is named
    #[arg(value_parser = CONTENDERS)]
    names: Vec<String>,
    /// So many requests wait at once; in HTTP/1.1, where each has a connection, at most 18,000
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1_000, 10_000, 100_000])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    waiting: Vec<u32>,
    /// How often each row is measured, in turns
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Requests that are started each second, until all wait
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// A folder for scale.md, scale.json and plots
    #[arg(long, value_name = "FOLDER", default_value = "target/rerun/scale")]
    output: PathBuf,
    /// Measure nothing: write the page again, from scale.json in that folder
    #[arg(long)]
    page: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let file = options.output.join("scale.json");
    let scale = match options.page {
        true => Scale::load(&file)?,
        false => {
            fs::create_dir_all(&options.output)
                .with_context(|| format!("creating {}", options.output.display()))?;
            let scale = measure(options)?;
            scale.save(&file)?;
            scale
        }
    };
    print!("{}", tables::terminal(&scale));
    page::write(&scale, &options.output)
}

fn measure(options: &Options) -> Result<Scale> {
    let contenders = Contenders::load_from(&root().join("rerun/waiting"))?;
    let names = match options.names.is_empty() {
        true => CONTENDERS.map(String::from).to_vec(),
        false => options.names.clone(),
    };
    let contenders = contenders.choose(&names)?;
    let machine = machine::describe();
    let mut scale = Scale {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        command: std::env::args().collect(),
        started_s: std::time::UNIX_EPOCH
            .elapsed()
            .map_or(0, |time| time.as_secs()),
        took_s: 0.0,
        budget: cpus::share(&machine.cpus, 1),
        machine,
        rate: options.rate.into(),
        rounds: options.rounds,
        contenders: contenders
            .iter()
            .map(|contender| (contender.name.clone(), contender.about(Vec::new())))
            .collect(),
        tables: Vec::new(),
    };
    let began = Instant::now();
    let mut tables = tables(&options.waiting, options.rate);
    let steps = tables.len() as u64 * contenders.len() as u64 * u64::from(options.rounds);
    let progress = Progress::new(steps);
    for table in &mut tables {
        add_rows(table, &contenders, &mut scale, &progress)?;
    }
    drop(progress);
    scale.tables = tables;
    scale.took_s = began.elapsed().as_secs_f64();
    Ok(scale)
}

/// HTTP/1.1 and HTTP/2 with so many waiting, without rows.
fn tables(waiting: &[u32], rate: u32) -> Vec<Table> {
    let table = |protocol, waiting: u32, connections| Table {
        protocol,
        waiting,
        connections,
        // All wait for a second before the first is due.
        delay_s: waiting.div_ceil(rate) + 1,
        rows: Vec::new(),
    };
    // From few to many, each once.
    let of_http1: BTreeSet<u32> = waiting.iter().map(|n| (*n).min(MOST_CONNECTIONS)).collect();
    let of_http2: BTreeSet<u32> = waiting.iter().copied().collect();
    let http1 = of_http1.into_iter().map(|n| table(Protocol::Http1, n, n));
    let http2 = of_http2
        .into_iter()
        .map(|n| table(Protocol::Http2, n, n.div_ceil(STREAMS)));
    http1.chain(http2).collect()
}

/// Measures the contenders in turns. What has gone wrong is said in its row, which is not measured again.
fn add_rows(
    table: &mut Table,
    contenders: &[&Contender],
    scale: &mut Scale,
    progress: &Progress,
) -> Result<()> {
    table.rows = contenders
        .iter()
        .map(|contender| Row {
            contender: contender.name.clone(),
            fault: fault(contender, table, scale),
            rounds: Vec::new(),
        })
        .collect();
    for round in 1..=scale.rounds {
        for (at, contender) in contenders.iter().enumerate() {
            stop::check()?;
            progress.step();
            if table.rows[at].fault.is_some() {
                continue;
            }
            let (protocol, waiting) = (table.protocol, table.waiting);
            progress.say(&format!(
                "{protocol}, {waiting} waiting, round {round}: {}",
                contender.name
            ));
            match round::measure(contender, table, &scale.budget, scale.rate) {
                Ok((commands, round)) => {
                    let about = scale.contenders.get_mut(&contender.name);
                    about.context("a contender without a name")?.start = commands;
                    table.rows[at].rounds.push(round);
                }
                Err(error) => {
                    stop::check()?;
                    table.rows[at].fault = Some(format!("round {round}: {error:#}"));
                }
            }
        }
    }
    Ok(())
}

/// Why a row cannot be measured at all.
fn fault(contender: &Contender, table: &Table, scale: &Scale) -> Option<String> {
    // Each connection has an end here and one there; the rest is for whatever else is open.
    let needed = u64::from(table.connections) * 16 / 15 + 100;
    let open_files = scale.machine.open_files;
    if open_files < needed {
        return Some(format!(
            "{needed} files must be open, and {open_files} may be: ulimit -n {needed}"
        ));
    }
    presence::of(contender).missing()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http1_ends_where_descriptors_do() {
        let tables = tables(&[100, 100_000, 20_000, 100], 10_000);
        let shown: Vec<_> = tables
            .iter()
            .map(|t| (t.protocol, t.waiting, t.connections, t.delay_s))
            .collect();
        assert_eq!(
            shown,
            [
                (Protocol::Http1, 100, 100, 2),
                (Protocol::Http1, 18_000, 18_000, 3),
                (Protocol::Http2, 100, 1, 2),
                (Protocol::Http2, 20_000, 20, 3),
                (Protocol::Http2, 100_000, 100, 11),
            ]
        );
    }

    #[test]
    fn every_contender_has_a_folder() {
        let contenders = Contenders::load_from(&root().join("rerun/waiting")).unwrap();
        let chosen = contenders.choose(&CONTENDERS.map(String::from)).unwrap();
        assert!(
            chosen
                .iter()
                .all(|contender| contender.manifest.delay.is_some())
        );
        assert_eq!(contenders.iter().count(), CONTENDERS.len());
    }
}
