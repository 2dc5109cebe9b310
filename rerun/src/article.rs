//! `rerun article`: each published row, what is wrong with it, and the row as meant, measured here.
//!
//! The rows and what they meant are data: `rerun/articles/NAME.toml`.

mod data;
mod replay;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;

use crate::client::ceiling;
use crate::compare::{begin, finish, start};
use crate::contender::{Contender, Contenders};
use crate::instructions;
use crate::measure::{self, Bench};
use crate::progress::Progress;
use crate::report::Outputs;
use data::{Article, Name};

#[derive(clap::Args)]
pub struct Options {
    /// Which article
    name: Name,
    /// Fewer requests and shorter rounds, in minutes instead of hours: still five rounds in turns, and still valid
    #[arg(long)]
    quick: bool,
    /// Only these contenders
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Do not run ab, wrk and drill as the author did
    #[arg(long)]
    no_replay: bool,
    /// Also count user instructions for each request of those that are nginx, by valgrind
    #[arg(long)]
    instructions: bool,
    /// Cores of each server
    #[arg(long, default_value_t = 1)]
    server_cores: usize,
    /// Where the result is written
    #[arg(long, value_name = "RESULT.json")]
    output: Option<PathBuf>,
    #[command(flatten)]
    report: Outputs,
}

/// How often each row is measured.
const ROUNDS: u32 = 5;
/// Seconds of a round, in full and quick.
const SECONDS: f64 = 5.0;
const QUICK: f64 = 0.5;

pub fn run(options: &Options) -> Result<()> {
    options.report.check()?;
    if options.instructions {
        instructions::check()?;
    }
    let article = Article::load(options.name)?;
    let contenders = Contenders::load()?;
    let chosen = choose(&article, &contenders, &options.only)?;
    let began = Instant::now();
    let mut run = begin(options.name.text(), &article.title, options.server_cores);
    run.quick = options.quick.then(|| {
        format!(
            "--quick: rounds of {QUICK} s instead of {SECONDS} s, and fewer requests by the author's own generators; \
             as many rounds, the same connections, the same gates"
        )
    });
    run.published = Some(article.published());
    let seconds = if options.quick { QUICK } else { SECONDS };
    let rounds = article.tables.len() as u64 * u64::from(ROUNDS);
    let steps = chosen.len() as u64 * (1 + rounds) + 3;
    let progress = Progress::new(steps);
    run.ceiling = Some(ceiling::measure(&run.budget, 100, 3, 1, &progress)?);
    let mut rivals = start(&chosen, &mut run, &progress)?;
    for (index, spec) in article.tables.iter().enumerate() {
        let mut load = measure::load(spec.connections, seconds, ROUNDS);
        load.keep_alive = spec.keep_alive;
        let bench = Bench {
            machine: &run.machine,
            budget: &run.budget,
            ceiling: run.ceiling.as_ref(),
        };
        let mut table = bench.table(&spec.title, spec.task, &load, &mut rivals, &progress)?;
        if options.instructions {
            instructions::add(&bench, &chosen, spec.task, &mut table, &rivals, &progress)?;
        }
        if !options.no_replay {
            let specs = article
                .replays
                .iter()
                .filter(|replay| replay.table == index);
            for spec in specs {
                let replayed = replay::Replayed {
                    article: &article,
                    spec,
                    quick: options.quick,
                    cpus: &run.budget.client_cpus,
                };
                replayed.run(&mut table, &mut rivals, &progress)?;
            }
        }
        run.tables.push(table);
    }
    drop((rivals, progress));
    run.took_s = began.elapsed().as_secs_f64();
    finish(&run, options.output.clone(), &options.report)
}

/// Those of the rows in their order, and those beside them; or those of them that were named.
fn choose<'a>(
    article: &Article,
    contenders: &'a Contenders,
    only: &[String],
) -> Result<Vec<&'a Contender>> {
    let mut names: Vec<&str> = Vec::new();
    let rows = article.rows.iter().map(|row| row.contender.as_str());
    for name in rows.chain(article.extra.iter().map(String::as_str)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // A name that is not a contender's is an error, not an empty comparison.
    for name in only {
        contenders.get(name)?;
    }
    if !only.is_empty() {
        names = only.iter().map(String::as_str).collect();
    }
    names.into_iter().map(|name| contenders.get(name)).collect()
}
