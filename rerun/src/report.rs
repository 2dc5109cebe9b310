//! `rerun report`: the report of a run again, from its own data.

use std::path::PathBuf;

use anyhow::Result;

use crate::{result, terminal};

#[derive(clap::Args)]
pub struct Options {
    /// What `compare` or `article` wrote
    #[arg(value_name = "RESULT.json")]
    file: PathBuf,
}

pub fn run(options: &Options) -> Result<()> {
    print!("{}", terminal::render(&result::load(&options.file)?));
    Ok(())
}
