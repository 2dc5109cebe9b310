//! Soak: one nginx with every handler, under mixed load, while its configuration changes, its workers are killed, its
//! clients go and Redis comes and goes. See docs/soak.md.
//!
//! Three parts. In the storm all of that happens. In the calm the same load goes on and nothing is disturbed, so that
//! what grows in a worker shows. At the end everybody leaves, and nothing may be left behind.

mod cases;
mod client;
mod judge;
mod ledger;
mod log;
mod partners;
mod processes;
mod redis;
mod report;
mod samples;
mod server;
mod slope;
mod soak;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

#[derive(Parser)]
#[command(
    name = "soak",
    about = "The module under everything at once, for a while"
)]
struct Options {
    /// The nginx to soak
    #[arg(long)]
    nginx: PathBuf,
    /// The module of the package soak-handlers, built for it
    #[arg(long)]
    module: PathBuf,
    /// How long, two thirds of it the storm
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Repeats the choices of another run
    #[arg(long)]
    seed: Option<u64>,
    /// How many clients there are at a time
    #[arg(long, default_value_t = 48)]
    clients: u64,
    /// Seconds without a byte after which an answer counts as never given
    #[arg(long, default_value_t = 60.0)]
    patience: f64,
    /// For the soak's own tests: a handler that does wrong now and then, in the place of `greet`
    #[arg(long, hide = true, default_value = "greet")]
    greet: String,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    let plan = soak::Plan {
        nginx: options.nginx,
        module: options.module,
        time: Duration::from_secs_f64(60.0 * options.minutes),
        seed,
        clients: options.clients,
        patience: Duration::from_secs_f64(options.patience),
        greet: options.greet,
    };
    eprintln!("soak for {:.0} s, SEED={seed}", plan.time.as_secs_f64());
    match soak::run(plan) {
        Ok(report) => {
            print!("{report}");
            match report.violations.is_empty() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(error) => {
            eprintln!("error: {error:#}\nSEED={seed}");
            ExitCode::FAILURE
        }
    }
}
