//! `rerun contenders`: every contender, whether it can run here, its version, and the command that installs it.

use anyhow::Result;
use clap::Args;

use super::presence::{self, Presence};
use super::{Contender, Contenders, command, install};
use crate::stop;

#[derive(Args)]
pub struct Options {
    /// Tell all about these; a line about each where none is named
    names: Vec<String>,

    /// Install what these contenders need; nothing else is installed
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "names")]
    install: Vec<String>,
}

pub fn run(options: &Options) -> Result<()> {
    let contenders = Contenders::load()?;
    if !options.install.is_empty() {
        return install::run(&contenders, &options.install);
    }
    if !options.names.is_empty() {
        for contender in contenders.choose(&options.names)? {
            println!("{}", all_about(contender));
        }
        return Ok(());
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

/// Everything that its manifest says to a reader.
fn all_about(contender: &Contender) -> String {
    let manifest = &contender.manifest;
    let mut text = format!("{}: {}\n", contender.name, line(contender));
    let mut add = |what: &str, words: &str| {
        if !words.is_empty() {
            text += &format!("    {what:10}  {words}\n");
        }
    };
    add("notes", &manifest.notes);
    for (article, row) in &manifest.stands_for {
        add("stands for", &format!("{row} ({article})"));
    }
    add("limit", manifest.limits.by.as_deref().unwrap_or_default());
    let delay = manifest.delay.as_ref();
    add("hello", manifest.hello.path.get_ref());
    add("delay", delay.map_or("none", |delay| delay.path.get_ref()));
    for words in &manifest.build.run {
        add("build", &command::quote_all(words));
    }
    for words in &manifest.start.run {
        add("start", &command::quote_all(words));
    }
    add("folder", &contender.dir.display().to_string());
    text
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
        return "here, version unknown".to_owned();
    }
    let versions = versions.iter();
    let versions: Vec<String> = versions
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    versions.join(", ")
}
