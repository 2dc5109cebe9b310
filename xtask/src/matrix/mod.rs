//! `make matrix`: the module built for, loaded into and tested in every nginx, and tables of what came out.
//!
//! [`sources`] finds the nginx there are, [`rows`] says how each is configured and the module linked, [`trial`] tries
//! one row, and [`report`] keeps what came out and writes the tables.

mod report;
mod rows;
mod sources;
mod trial;

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::install::{self, Need};
use crate::project;
use report::Report;
use rows::{COVERING, Configuration, Linked};
use sources::Source;
use trial::Trial;

#[derive(clap::Args)]
pub struct Options {
    /// Source trees besides: nginx's, or OpenResty's with nginx's in `bundle/` or `build/`
    #[arg(env = "MATRIX", value_delimiter = ' ')]
    trees: Vec<PathBuf>,
}

pub fn run(options: &Options) -> Result<()> {
    install::install(&[Need::Toolchain, Need::SystemNginx, Need::Testing])?;
    let sources = sources::all(&options.trees)?;

    let mut report = Report::default();
    report.add(trial::of_the_system()?);
    report.publish()?;
    for source in &sources {
        for configuration in COVERING {
            report.add(row(source, configuration)?);
            // A run that is interrupted has told what it knows.
            report.publish()?;
        }
    }
    println!("{}", report.page());
    ensure!(
        report.all_passed(),
        "the module does not pass in every nginx"
    );
    Ok(())
}

/// The row that CI has of the matrix: nginx-src's nginx with the module linked into it.
pub fn one_static() -> Result<()> {
    let configuration = COVERING
        .into_iter()
        .find(|row| row.linked == Linked::Statically && !row.bare)
        .expect("one row is so");
    let mut report = Report::default();
    report.add(row(&sources::locked()?, configuration)?);
    ensure!(report.all_passed(), "{}", report.page());
    Ok(())
}

/// Tries a row in a directory of its own, which stays where it fails.
fn row(source: &Source, configuration: Configuration) -> Result<Trial> {
    let name = format!("{} {} {configuration}", source.name, configuration.linked);
    let dir = project::target()
        .join("matrix")
        .join(name.replace(['/', ' '], "-"));
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    let trial = trial::of_a_source(source, configuration, &dir)?;
    if trial.passed() {
        fs::remove_dir_all(&dir)?;
    }
    Ok(trial)
}
