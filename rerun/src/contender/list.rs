//! `rerun contenders`: every contender, whether it can run here, its version, and the command that installs it.

use anyhow::Result;
use clap::Args;

use super::presence::{self, Presence};
use super::{Contender, Contenders, install};
use crate::stop;

#[derive(Args)]
pub struct Options {
    /// Install what these contenders need; nothing else is installed
    #[arg(long, value_name = "NAME", num_args = 1..)]
    install: Vec<String>,
}

pub fn run(options: &Options) -> Result<()> {
    let contenders = Contenders::load()?;
    if !options.install.is_empty() {
        return install::run(&contenders, &options.install);
    }
    let width = contenders
        .iter()
        .map(|contender| contender.name.len())
        .max()
        .unwrap_or_default();
    for contender in contenders.iter() {
        stop::check()?;
        println!("{:width$}  {}", contender.name, line(contender));
    }
    Ok(())
}

fn line(contender: &Contender) -> String {
    let title = &contender.manifest.title;
    match presence::of(contender) {
        Presence::Here => format!("{title}: {}", versions(contender)),
        missing => format!("{title}: {}", missing.missing().unwrap_or_default()),
    }
}

/// `nginx 1.22.1, lua 0.10.23`.
pub fn versions(contender: &Contender) -> String {
    let versions = presence::versions(contender, &contender.places());
    if versions.is_empty() {
        return "here".to_owned();
    }
    let versions = versions.iter();
    let versions: Vec<String> = versions
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    versions.join(", ")
}
