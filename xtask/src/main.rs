//! The commands behind `make`: build the module for one nginx, run it, compare it, count what it costs, test it.
//!
//! `build` is the heart: [`install`] what is missing, read `nginx -V` ([`nginx_v`]), find and copy the matching
//! source ([`source`]), configure the copy as the binary was ([`configure`]), compile the module against it and
//! prove it with `nginx -t` ([`build`]). `run`, `compare`, `results`, `instructions`, `scale` and `test` begin with a build.

mod build;
mod compare;
mod configure;
mod deb;
mod deny;
mod fuzz;
mod image;
mod install;
mod instructions;
mod matrix;
mod nginx;
mod nginx_v;
mod project;
mod publish;
mod rerun;
mod results;
mod run;
mod sanitize;
mod scale;
mod shell;
mod soak;
mod source;
mod test;
mod vendored;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The commands behind make")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the module for exactly one nginx, and prove it with `nginx -t`
    Build(build::Options),
    /// Make a Debian package of the module, for the system's nginx
    Deb(deb::Options),
    /// Run nginx in the foreground on 127.0.0.1:8080 with the module
    Run(nginx::Choice),
    /// Check and measure the module beside Lua, echo, njs, return and php-fpm
    Compare(compare::Options),
    /// Run the three articles again, and write docs/results.md and docs/results.zh-CN.md
    Results(results::Options),
    /// Count what a request costs: instructions, memory, system calls
    Instructions(instructions::Options),
    /// Let libFuzzer search for bytes that break what a reader promises
    Fuzz(fuzz::Options),
    /// Everything at once for a while: load, reloads, kills, clients that go, Redis that comes and goes
    Soak(soak::Options),
    /// Build, load and test the module for every nginx, and write the tables of what came out
    Matrix(matrix::Options),
    /// Measure what it costs that many requests wait in one worker, and write docs/scale.md
    Scale(scale::Options),
    /// Run every test of the project, or the named steps
    Test(test::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Build(options) => build::run(&options),
        Command::Deb(options) => deb::run(&options),
        Command::Run(choice) => run::run(&choice),
        Command::Compare(options) => compare::run(&options),
        Command::Results(options) => results::run(&options),
        Command::Instructions(options) => instructions::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Soak(options) => soak::run(&options),
        Command::Matrix(options) => matrix::run(&options),
        Command::Scale(options) => scale::run(&options),
        Command::Test(options) => test::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
