//! `make test`.
use anyhow::Result;
#[derive(clap::Args)]
pub struct Options {}
pub fn run(_: &Options) -> Result<()> {
    anyhow::bail!("not written yet")
}
