//! `make scale`: what it costs one worker that many requests wait in it, measured by
//! [`rerun scale`](../../rerun/src/scale/mod.rs), which writes docs/scale.md, docs/scale.json and plots.

use anyhow::Result;

use crate::install::{self, Need};
use crate::nginx::{self, Choice};
use crate::{build, rerun, shell};

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
    /// Measure nothing: write the page again, from docs/scale.json
    #[arg(long)]
    page: bool,
    /// What `rerun scale` is told beside that
    #[arg(last = true)]
    rerun: Vec<String>,
}

pub fn run(options: &Options) -> Result<()> {
    if !options.page {
        install::install(&[Need::Toolchain])?;
        let nginx = nginx::prepare(&options.choice)?;
        // It leaves behind which nginx this is and which modules there are, for rerun to find.
        build::shipped(&nginx)?;
    }
    let mut command = rerun::command(&rerun::compile()?);
    command.args(["scale", "--output", "docs"]);
    if options.page {
        command.arg("--page");
    }
    shell::run(command.args(&options.rerun))
}
