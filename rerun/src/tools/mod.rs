//! Other generators, run as an article's author ran them, and what they print.

mod ab;
pub mod cmdline;
mod drill;
mod h2load;
pub mod hey;
mod lines;
pub mod number;
mod oha;
mod paste;
pub mod printed;
pub mod read;
mod wrk;

use std::time::Duration;

use anyhow::{Context, Result};

use crate::client::pin;
use crate::contender::{command, presence};
use crate::result::{Figures, Replay};

/// The generators that can be driven, and whose output can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    Ab,
    Wrk,
    Wrk2,
    Hey,
    Oha,
    H2load,
    Drill,
}

impl Tool {
    /// Those that print the same lines in the order in which they are taken for the one that printed them.
    pub const ALL: [Self; 7] = [
        Self::Ab,
        Self::Wrk,
        Self::Wrk2,
        Self::Hey,
        Self::Oha,
        Self::H2load,
        Self::Drill,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ab => "ab",
            Self::Wrk => "wrk",
            Self::Wrk2 => "wrk2",
            Self::Hey => "hey",
            Self::Oha => "oha",
            Self::H2load => "h2load",
            Self::Drill => "drill",
        }
    }

    pub fn is_here(self) -> bool {
        presence::find(self.name()).is_some()
    }

    /// The lines that it prints, in their order.
    fn lines(self) -> &'static [lines::Line] {
        match self {
            Self::Ab => ab::LINES,
            Self::Wrk => wrk::WRK,
            Self::Wrk2 => wrk::WRK2,
            Self::Hey => hey::LINES,
            Self::Oha => oha::LINES,
            Self::H2load => h2load::LINES,
            Self::Drill => drill::LINES,
        }
    }

    /// What it prints, in figures; what it does not print, or not as expected, is left out.
    pub fn figures(self, text: &str) -> Figures {
        let mut figures = Figures::from(&read::one(self, text));
        figures.tool = Some(self.name().into());
        figures
    }

    /// Runs it on these cores, and ends it after `limit`. The words are its arguments; `{url}` stands for the address.
    pub fn run(
        self,
        arguments: &[String],
        url: &str,
        cpus: &[usize],
        limit: Duration,
    ) -> Result<Replay> {
        let plan = match self {
            Self::Drill => Some(drill::Plan::write(arguments, url)?),
            _ => None,
        };
        let mut words = vec![self.name().to_owned()];
        match &plan {
            Some(plan) => words.extend(plan.arguments()),
            None => words.extend(arguments.iter().map(|word| word.replace("{url}", url))),
        }
        let output = on(cpus, || command::quiet(command::command(&words), limit))?;
        let mut figures = self.figures(&output);
        figures.connections = figures.connections.or(connections(arguments));
        Ok(Replay {
            command: words,
            version: self.version().unwrap_or_default(),
            output,
            figures,
            verdicts: Vec::new(),
        })
    }

    fn version(self) -> Option<String> {
        let option = if self == Self::Ab { "-V" } else { "--version" };
        let words = [self.name().to_owned(), option.to_owned()];
        // wrk says its version and fails.
        let output = command::command(&words).output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let first = said.lines().next()?;
        Some(first.split(" Copyright").next()?.to_owned())
    }
}

/// Of `-c100` or `-c 100`.
fn connections(arguments: &[String]) -> Option<u32> {
    let at = arguments.iter().position(|word| word.starts_with("-c"))?;
    let attached = &arguments[at][2..];
    let word = if attached.is_empty() {
        arguments.get(at + 1)?
    } else {
        attached
    };
    word.parse().ok()
}

fn on<T: Send>(cpus: &[usize], work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let pinned = scope.spawn(|| {
            pin(cpus)?;
            work()
        });
        let ended = pinned.join();
        ended.map_err(|_| anyhow::anyhow!("a thread has panicked"))?
    })
    .context("running another generator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_command_lines() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(connections(&words("-n 100 -c 10 {url}")), Some(10));
        assert_eq!(connections(&words("-t8 -c500 -d30s {url}")), Some(500));
        assert_eq!(connections(&words("-n 100 {url}")), None);
    }
}
