//! `make soak`: the module under everything at once, for a while. What it does is in [`soak/`](../../soak/src/main.rs).

use anyhow::Result;

use crate::install::{self, Need};
use crate::nginx::{self, Choice, Nginx};
use crate::{build, shell};

/// The package of the module with all handlers.
pub const MODULE: &str = "soak-handlers";

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
    /// How long
    #[arg(long, env = "MINUTES", default_value = "10")]
    minutes: String,
    /// Repeats the choices of another run
    #[arg(long, env = "SEED", default_value = "")]
    seed: String,
}

pub fn run(options: &Options) -> Result<()> {
    install::install(&[Need::Toolchain, Need::Testing])?;
    let nginx = nginx::prepare(&options.choice)?;
    soak(&nginx, &options.minutes, &options.seed)
}

/// With no seed one is drawn.
pub fn soak(nginx: &Nginx, minutes: &str, seed: &str) -> Result<()> {
    let module = build::module(nginx, MODULE)?;
    let mut cargo = nginx.cargo();
    cargo
        .args(["run", "--quiet", "--package", "soak", "--", "--nginx"])
        .arg(&nginx.binary)
        .arg("--module")
        .arg(module)
        .args(["--minutes", minutes]);
    if !seed.is_empty() {
        cargo.args(["--seed", seed]);
    }
    shell::run(&mut cargo)
}
