//! `rerun compare`: contenders under the same two tasks, side by side.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::client::ceiling;
use crate::contender::{Contender, Contenders, build_dir};
use crate::instructions;
use crate::measure::{self, Bench};
use crate::progress::Progress;
use crate::report::Outputs;
use crate::result::{self, FORMAT, Machine, Run};
use crate::rival::{Asked, Rival};
use crate::slo::Objective;
use crate::system::{cpus, machine};

/// The module beside what it is compared with.
const DEFAULT: [&str; 6] = [
    "nginx-rust",
    "nginx-lua",
    "nginx-echo",
    "nginx-njs",
    "nginx-return",
    "php-fpm",
];

#[derive(clap::Args)]
pub struct Options {
    /// The contenders; without any: the module, Lua, echo, njs, return and php-fpm
    names: Vec<String>,
    /// Connections
    #[arg(short, long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// How often each row is measured, the rows taking turns
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of one measurement
    #[arg(long, default_value_t = 0.8, value_parser = seconds)]
    seconds: f64,
    /// Cores of each server
    #[arg(long, default_value_t = 1)]
    server_cores: usize,
    /// Also search for the highest rate that holds this latency, as in p99=25ms
    #[arg(long, value_name = "pN=TIME")]
    slo: Option<Objective>,
    /// Also count user instructions for each request of those that are nginx, by valgrind
    #[arg(long)]
    instructions: bool,
    /// One request a connection
    #[arg(long)]
    no_keep_alive: bool,
    /// Where the result is written
    #[arg(long, value_name = "RESULT.json")]
    output: Option<PathBuf>,
    #[command(flatten)]
    report: Outputs,
}

pub fn run(options: &Options) -> Result<()> {
    options.report.check()?;
    if options.instructions {
        instructions::check()?;
    }
    let contenders = Contenders::load()?;
    let names = match options.names.is_empty() {
        true => DEFAULT.map(String::from).to_vec(),
        false => options.names.clone(),
    };
    let chosen = contenders.choose(&names)?;
    let mut run = begin("compare", "Side by side", options.server_cores);
    let began = Instant::now();
    let tables = [
        (Asked::Hello, "hello: <h1>HelloWorld</h1> at once"),
        (Asked::Delay, "delay: OK after 20 ms"),
    ];
    let steps = chosen.len() as u64 * (1 + 2 * u64::from(options.rounds)) + 3;
    let progress = Progress::new(steps);
    run.ceiling = Some(ceiling::measure(&run.budget, 100, 3, 1, &progress)?);
    let mut rivals = start(&chosen, &mut run, &progress)?;
    let mut load = measure::load(options.connections, options.seconds, options.rounds);
    load.keep_alive = !options.no_keep_alive;
    for (asked, title) in tables {
        if rivals.iter().all(|rival| rival.endpoint(asked).is_none()) {
            continue;
        }
        let bench = Bench {
            machine: &run.machine,
            budget: &run.budget,
            ceiling: run.ceiling.as_ref(),
        };
        let mut table = bench.table(title, asked, &load, &mut rivals, &progress)?;
        if let (Asked::Delay, Some(objective)) = (asked, &options.slo) {
            objective.add(&bench, asked, &mut table, &rivals, &progress)?;
        }
        if options.instructions {
            instructions::add(&bench, &chosen, asked, &mut table, &rivals, &progress)?;
        }
        run.tables.push(table);
    }
    drop((rivals, progress));
    run.took_s = began.elapsed().as_secs_f64();
    finish(&run, options.output.clone(), &options.report)
}

/// Everything that is known before anything is measured.
pub fn begin(name: &str, title: &str, server_cores: usize) -> Run {
    let machine = machine::describe();
    let budget = cpus::share(&machine.cpus, server_cores);
    let mut warnings = Vec::new();
    warnings.extend(busy(&machine));
    if budget.shared() {
        warnings.push(
            "this machine has one core: client and server share it, so each takes the other's time"
                .into(),
        );
    }
    Run {
        format: FORMAT,
        name: name.into(),
        title: title.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        command: std::env::args().collect(),
        started_s: std::time::UNIX_EPOCH
            .elapsed()
            .map_or(0, |time| time.as_secs()),
        took_s: 0.0,
        quick: None,
        machine,
        budget,
        ceiling: None,
        contenders: Default::default(),
        published: None,
        tables: Vec::new(),
        warnings,
    }
}

/// What a reader must know of a machine that had other work.
pub fn busy(machine: &Machine) -> Option<String> {
    let load = machine.load_average / machine.cpus.len() as f64;
    (load > 0.5).then(|| {
        format!(
            "other work kept this machine busy (load average {:.1} on {} cores): rates and latencies are of a busy \
             machine; CPU time per request is not much disturbed. Measure again on an idle one",
            machine.load_average,
            machine.cpus.len()
        )
    })
}

/// Starts each, proves its answers, and takes it into the result.
pub fn start(chosen: &[&Contender], run: &mut Run, progress: &Progress) -> Result<Vec<Rival>> {
    let mut rivals = Vec::new();
    for contender in chosen {
        progress.say(&format!("starting {}", contender.name));
        let rival = Rival::start(contender, &run.budget.server_cpus)?;
        run.contenders
            .insert(rival.name.clone(), rival.about.clone());
        rivals.push(rival);
        progress.step();
    }
    Ok(rivals)
}

/// Writes the result and its report.
pub fn finish(run: &Run, output: Option<PathBuf>, report: &Outputs) -> Result<()> {
    let output = match output {
        Some(file) => file,
        None => build_dir().join(format!("{}.json", run.name)),
    };
    result::save(run, &output).with_context(|| format!("writing {}", output.display()))?;
    report.write(run)?;
    eprintln!("Everything needed to judge this: {}", output.display());
    Ok(())
}

/// A length of time that a clock can be told.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    let possible = |seconds: &f64| (0.001..=86_400.0).contains(seconds);
    seconds
        .filter(possible)
        .ok_or_else(|| "it must be seconds, from 0.001 to 86400".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_a_time() {
        assert_eq!(seconds("0.8"), Ok(0.8));
        for text in ["0", "-1", "nan", "inf", "1e300", "", "1s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
