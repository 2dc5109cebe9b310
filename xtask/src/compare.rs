//! `make compare`: the module, built for one nginx, measured by [`rerun compare`](../../rerun/src/compare.rs) beside
//! what else answers there.

use anyhow::Result;

use crate::install::{self, Need};
use crate::nginx::{self, Choice};
use crate::{build, project, shell};

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
    /// What `rerun compare` is told: names of contenders, options
    #[arg(last = true)]
    rerun: Vec<String>,
}

pub fn run(options: &Options) -> Result<()> {
    install::install(&[Need::Toolchain, Need::Comparing])?;
    let nginx = nginx::prepare(&options.choice)?;
    // It leaves behind which nginx this is and which modules there are, for rerun to find.
    build::shipped(&nginx)?;
    shell::run(
        shell::command("cargo")
            .args([
                "run",
                "--release",
                "--quiet",
                "--package",
                "rerun",
                "--",
                "compare",
            ])
            .args(&options.rerun)
            .current_dir(project::root()),
    )
}
