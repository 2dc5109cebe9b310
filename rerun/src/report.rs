//! The report of a run: in the terminal, in Markdown, and as one HTML file, in English and in Chinese.
//!
//! `rerun report` makes it from a result file alone; `rerun compare` and `rerun article` make it from what they have
//! just measured. [`view`] says what is in it, the others how it looks.

mod html;
mod lang;
pub mod markdown;
mod plots;
pub mod svg;
pub mod terminal;
pub mod view;

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::result::{self, Run};
use crate::stats::median;
use lang::Lang;
use view::View;

#[derive(clap::Args)]
pub struct Options {
    /// What `compare` or `article` wrote
    #[arg(value_name = "RESULT.json")]
    file: PathBuf,
    #[command(flatten)]
    outputs: Outputs,
}

/// Where else a report goes, and in which language.
#[derive(clap::Args, Clone, Debug)]
pub struct Outputs {
    /// Also write the report as Markdown; "-" prints it instead of the tables for a terminal
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Also write the report as one HTML file with plots; "-" prints it instead of the tables for a terminal
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Language of the report
    #[arg(long, value_enum, default_value_t)]
    lang: Lang,
}

pub fn run(options: &Options) -> Result<()> {
    options.outputs.check()?;
    options.outputs.write(&result::load(&options.file)?)
}

impl Outputs {
    /// Finds before anything is measured what could not be written afterwards.
    pub fn check(&self) -> Result<()> {
        let printed = self.files().filter(|file| is_stdout(file)).count();
        ensure!(
            printed < 2,
            "--markdown - and --html -: only one of them can be printed"
        );
        for file in self.files().filter(|file| !is_stdout(file)) {
            ensure!(!file.is_dir(), "{} is a directory", file.display());
        }
        Ok(())
    }

    fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.markdown, &self.html]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }

    pub fn write(&self, run: &Run) -> Result<()> {
        let view = View::new(run, self.lang);
        if !self.files().any(is_stdout) {
            print(&printable(&terminal::render(&view)))?;
        }
        if let Some(file) = &self.markdown {
            put(file, &printable(&markdown::render(&view)))?;
        }
        if let Some(file) = &self.html {
            let client = run.ceiling.as_ref().map(|ceiling| median(&ceiling.rates));
            put(file, &printable(&html::render(&view, client)))?;
        }
        Ok(())
    }
}

/// Nothing that a terminal acts on: a result may be another's.
fn printable(text: &str) -> String {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.replace(acts, "\u{fffd}")
}

/// The report in every language and form: for the terminal, Markdown, HTML.
#[cfg(any(test, feature = "fuzz"))]
pub fn every(run: &Run) -> Vec<[String; 3]> {
    let forms = |lang| {
        let view = View::new(run, lang);
        [
            terminal::render(&view),
            markdown::render(&view),
            html::render(&view, None),
        ]
        .map(|text| printable(&text))
    };
    [Lang::En, Lang::Zh].map(forms).into()
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

fn put(file: &Path, text: &str) -> Result<()> {
    if is_stdout(file) {
        return print(text);
    }
    result::replace(file, text).with_context(|| format!("writing {}", file.display()))
}

/// Whoever reads it may stop before its end, as `head` does.
fn print(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
