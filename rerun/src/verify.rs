//! `rerun verify`: starts contenders and proves that they answer right and wait as they should; and proves, with
//! servers that do it wrong, that the proof can fail.
//!
//! [`answer`] reads one answer strictly, [`connection`] asks for some, [`answers`], [`delay`] and [`at_once`] each prove
//! one thing. [`controls`] are the servers that must not pass, made by [`sabotage`].

pub mod answer;
mod answers;
mod at_once;
mod connection;
mod controls;
mod delay;
mod fault;
mod sabotage;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;

use crate::contender::manifest::{DELAY, Manifest};
use crate::contender::{Contender, Contenders, list};
use crate::process::{self, Failure};
use crate::stop;
pub use at_once::AtOnce;
pub use fault::Fault;

#[derive(Args)]
pub struct Options {
    /// The contenders to verify; all where none is named
    names: Vec<String>,

    /// Start each on this port rather than on a free one
    #[arg(long)]
    port: Option<u16>,

    /// Leave out the proof that the proof can fail, for when it has just been given
    #[arg(long)]
    skip_controls: bool,
}

/// What a server must do.
#[derive(Clone, Debug)]
pub struct Expected {
    pub hello: Page,
    pub delay: Option<Page>,
    pub wait: Duration,
    /// It keeps connections for further requests.
    pub keep_alive: bool,
    /// So many requests can wait at the same time; without limit where there is none.
    pub at_once: Option<u32>,
}

/// One address and its exact answer.
#[derive(Clone, Debug)]
pub struct Page {
    pub path: String,
    pub body: Vec<u8>,
    pub media_type: String,
}

impl Expected {
    pub fn of(manifest: &Manifest) -> Self {
        let page = |path: &str, (body, media_type): (&str, &str)| Page {
            path: path.to_owned(),
            body: body.as_bytes().to_owned(),
            media_type: media_type.to_owned(),
        };
        let delay = manifest.delay.as_ref().zip(manifest.delay());
        Self {
            hello: page(manifest.hello.path.get_ref(), manifest.hello()),
            delay: delay.map(|(endpoint, answer)| page(endpoint.path.get_ref(), answer)),
            wait: DELAY,
            keep_alive: manifest.keep_alive,
            at_once: manifest.limits.at_once,
        }
    }
}

/// What has been seen of a server that passed.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// The shortest and the middle time of its delay, where it has one.
    pub delay: Option<(Duration, Duration)>,
    pub at_once: Option<AtOnce>,
    /// What is not wrong, but good to know: one phrase each.
    pub remarks: Vec<String>,
}

/// Proves all of it, or says what is wrong first.
pub fn prove(address: SocketAddr, expected: &Expected) -> Result<Proof, Fault> {
    let mut proof = Proof::default();
    answers::prove(address, expected, &expected.hello, &mut proof.remarks)?;
    if let Some(page) = &expected.delay {
        answers::prove_same(address, expected, page)?;
        proof.delay = Some(delay::prove(address, expected, page)?);
        let (at_once, shortest) = at_once::prove(address, expected, page)?;
        proof.at_once = Some(at_once);
        if shortest + delay::CLOCK < expected.wait {
            let ms = shortest.as_secs_f64() * 1e3;
            let remark = format!("with many at once it waits {ms:.1} ms only: its clock is coarse");
            proof.remarks.push(remark);
        }
    }
    Ok(proof)
}

impl Proof {
    /// `20.1 ms, at once; chunked`.
    fn words(&self) -> String {
        let mut words = Vec::new();
        if let Some((shortest, middle)) = self.delay {
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            words.push(format!(
                "waits {:.1} ms (median {:.1})",
                ms(shortest),
                ms(middle)
            ));
        } else {
            words.push("has no delay".to_owned());
        }
        words.extend(self.at_once.map(|at_once| at_once.to_string()));
        words.extend(self.remarks.iter().cloned());
        words.join("; ")
    }
}

pub fn run(options: &Options) -> Result<()> {
    let contenders = Contenders::load()?;
    let chosen = contenders.choose(&options.names)?;
    let uncaught = match options.skip_controls {
        true => Vec::new(),
        false => controls::run()?,
    };
    let width = chosen.iter().map(|contender| contender.name.len()).max();
    let width = width.unwrap_or_default();
    let mut counts = [0; 3];
    for contender in chosen {
        let row = row(contender, options.port)?;
        println!(
            "{:width$}  {}",
            contender.name,
            indented(&row.text(), width + 2)
        );
        counts[row.index()] += 1;
    }
    let [verified, missing, failed] = counts;
    println!("{verified} verified, {failed} failed, {missing} not here");
    if !uncaught.is_empty() {
        bail!(
            "verify itself cannot be trusted: it has not judged right {}",
            uncaught.join(", ")
        );
    }
    if failed > 0 {
        bail!("{failed} of the contenders that are here do not pass");
    }
    Ok(())
}

/// How one contender came out.
enum Row {
    Verified(String),
    Missing(String),
    Failed(String),
}

impl Row {
    fn text(&self) -> String {
        match self {
            Self::Verified(words) => format!("verified  {words}"),
            Self::Missing(words) => format!("not here  {words}"),
            Self::Failed(words) => format!("FAILED    {words}"),
        }
    }

    fn index(&self) -> usize {
        match self {
            Self::Verified(_) => 0,
            Self::Missing(_) => 1,
            Self::Failed(_) => 2,
        }
    }
}

/// An error only if a signal asked to stop: all else is the row's own matter.
fn row(contender: &Contender, port: Option<u16>) -> Result<Row> {
    let options = process::Options {
        cpus: Vec::new(),
        port,
        ..process::Options::default()
    };
    let mut started = match process::start(contender, &options) {
        Ok(started) => started,
        Err(Failure::Missing(what)) => return Ok(Row::Missing(what)),
        Err(failure) => {
            stop::check()?;
            return Ok(Row::Failed(failure.to_string()));
        }
    };
    let proof = prove(started.address, &Expected::of(&contender.manifest));
    stop::check()?;
    // A server that dies of its requests has failed, however it answered before; its keeper tells of it a little later.
    let begun = Instant::now();
    let mut ended = started.ended();
    while ended.is_none() && proof.is_err() && begun.elapsed() < Duration::from_millis(500) {
        std::thread::sleep(Duration::from_millis(20));
        ended = started.ended();
    }
    if let Some(how) = ended {
        let output = started.output();
        return Ok(Row::Failed(Failure::Ended { how, output }.to_string()));
    }
    Ok(match proof {
        Ok(proof) => Row::Verified(format!("{}\n{}", list::versions(contender), proof.words())),
        Err(fault) => Row::Failed(fault.to_string()),
    })
}

fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{:by$}", ""))
}
