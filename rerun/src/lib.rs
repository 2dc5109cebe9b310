//! `rerun`: published server comparisons, rerun honestly, on one machine, with one command.
//!
//! Every command tells the same story: start contenders, prove that their answers are right, measure them in
//! interleaved rounds with a client that verifies every byte, ask thirteen gates whether a figure can be vouched for,
//! and print either the figure or the reason why there is none.

mod article;
mod audit;
mod client;
mod compare;
mod contender;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
mod gates;
mod instructions;
mod measure;
mod process;
mod progress;
mod report;
mod result;
mod rival;
mod scale;
mod schema;
mod slo;
mod stats;
mod stop;
mod summary;
mod system;
mod tools;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "rerun", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure contenders side by side: the module, Lua, echo, njs, return and php-fpm unless others are named
    Compare(compare::Options),
    /// An article's rows: as published, what is wrong with them, and as meant, measured here
    Article(article::Options),
    /// Every contender: there or not, version, and the command that installs it
    Contenders(contender::list::Options),
    /// Start contenders, prove their answers and their delay, and prove that the proof can fail
    Verify(verify::Options),
    /// What the figures of pasted benchmark output prove, what they cannot, and which are impossible
    Audit(audit::Options),
    /// Print the report of a run again, from its own data
    Report(report::Options),
    /// Print the JSON schema of RESULT.json
    Schema,
    /// How fast the client is against a server that does nothing, beside wrk
    Ceiling(client::ceiling::Options),
    /// What it costs one nginx worker that many requests wait in it at once, and how these costs grow
    Scale(scale::Options),
    /// For rerun's own use: keeps one contender
    #[command(name = process::keeper::NAME, hide = true)]
    Keep,
}

/// What the program does, and its exit code.
pub fn main() -> ExitCode {
    stop::on_signals();
    let done = match Cli::parse().command {
        Command::Compare(options) => compare::run(&options),
        Command::Article(options) => article::run(&options),
        Command::Contenders(options) => contender::list::run(&options),
        Command::Verify(options) => verify::run(&options),
        Command::Keep => process::keeper::run(),
        Command::Audit(options) => return audit::run(&options),
        Command::Report(options) => report::run(&options),
        Command::Schema => schema::print(),
        Command::Ceiling(options) => client::ceiling::run(&options),
        Command::Scale(options) => scale::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
