//! A contender in a comparison: started, its answers proved, or the reason why not.

use std::time::Duration;

use anyhow::Result;

use crate::client::Expect;
use crate::contender::Contender;
use crate::contender::manifest::DELAY;
use crate::process::{self, Started};
use crate::result;
use crate::stop;
use crate::system::tree;
use crate::verify::{self, Expected};

pub struct Rival {
    pub name: String,
    pub about: result::Contender,
    /// Its memory before its first load.
    pub idle_bytes: Option<u64>,
    expected: Expected,
    /// Why it is not measured, once there is a reason.
    pub state: Result<Started, String>,
}

/// What is asked of each rival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    Hello,
    Delay,
}

impl Asked {
    pub fn name(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Delay => "delay",
        }
    }

    pub fn wait(self) -> Duration {
        match self {
            Self::Hello => Duration::ZERO,
            Self::Delay => DELAY,
        }
    }
}

impl Rival {
    /// Starts it on these cores and proves its answers. An error only if a signal has asked to stop: all else is the
    /// row's own matter.
    pub fn start(contender: &Contender, cpus: &[usize]) -> Result<Self> {
        let options = process::Options {
            cpus: cpus.to_vec(),
            port: None,
            ..process::Options::default()
        };
        let started = process::start(contender, &options);
        stop::check()?;
        let expected = Expected::of(&contender.manifest);
        let mut start = Vec::new();
        let mut idle_bytes = None;
        let state = started
            .map_err(|failure| failure.to_string())
            .and_then(|started| {
                start.clone_from(&started.commands);
                // The proof opens connections, and what they took may not be given back.
                idle_bytes = tree::memory(&tree::below(started.root()));
                match verify::prove(started.address, &expected) {
                    Ok(_) => Ok(started),
                    Err(fault) => Err(format!("its answers are not right: {fault}")),
                }
            });
        stop::check()?;
        Ok(Self {
            name: contender.name.clone(),
            about: contender.about(start),
            idle_bytes,
            expected,
            state,
        })
    }

    /// The path and the answer, if it has this endpoint.
    pub fn endpoint(&self, asked: Asked) -> Option<(String, Expect)> {
        let page = match asked {
            Asked::Hello => Some(&self.expected.hello),
            Asked::Delay => self.expected.delay.as_ref(),
        }?;
        let expect = Expect::body(page.body.clone()).after(asked.wait());
        Some((page.path.clone(), expect))
    }

    /// Takes note of its end, if it has ended.
    pub fn look(&mut self) {
        let Ok(started) = &mut self.state else { return };
        if let Some(how) = started.ended() {
            let output = started.output();
            self.state = Err(process::Failure::Ended { how, output }.to_string());
        }
    }
}
