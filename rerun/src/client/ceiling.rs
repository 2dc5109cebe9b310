//! How fast the client is at all: against a server that does nothing, beside `wrk -t1`, which verifies nothing.
//!
//! Both drive the same server on the same cores in turns. The server may be the limit of both; so the CPU time that
//! each takes for a request is the figure that tells them apart.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::null::{BODY, Null};
use super::{Expect, Plan, Until, on, pin};
use crate::contender::presence;
use crate::gates::n;
use crate::progress::Progress;
use crate::result::{Budget, Ceiling};
use crate::stats::{median, ratio};
use crate::stop;
use crate::system::cpus;

#[derive(clap::Args)]
pub struct Options {
    /// Connections of both
    #[arg(long, default_value_t = 100)]
    connections: u32,
    /// How often each is measured, in turns
    #[arg(long, default_value_t = 7)]
    rounds: u32,
    /// Seconds of one measurement
    #[arg(long, default_value_t = 1)]
    seconds: u32,
}

pub fn run(options: &Options) -> Result<()> {
    let budget = cpus::share(&cpus::allowed(), 1);
    let progress = Progress::new(u64::from(options.rounds));
    let ceiling = measure(
        &budget,
        options.connections,
        options.rounds,
        options.seconds,
        &progress,
    )?;
    drop(progress);
    println!("{}", words(&ceiling));
    Ok(())
}

/// `rounds` times `seconds` of each.
pub fn measure(
    budget: &Budget,
    connections: u32,
    rounds: u32,
    seconds: u32,
    progress: &Progress,
) -> Result<Ceiling> {
    let null = Null::start(&budget.server_cpus)?;
    let plan = Plan {
        address: null.address,
        path: "/".into(),
        expect: Expect::body(BODY),
        connections,
        keep_alive: true,
        open_rate: None,
        warm_up: Duration::from_millis(100),
        until: Until::Elapsed(Duration::from_secs(seconds.into())),
        timeout: Duration::from_secs(5),
    };
    let wrk = presence::find("wrk");
    let mut ceiling = Ceiling {
        connections,
        rates: Vec::new(),
        client_ns: Vec::new(),
        wrk_rates: Vec::new(),
        wrk_ns: Vec::new(),
        wrk_version: None,
    };
    progress.say("the client's ceiling");
    for _ in 0..rounds {
        let sample = on(&budget.client_cpus, &plan, &mut |_| Ok(()))?;
        if let Some((kind, seen)) = sample.examples.first_key_value() {
            anyhow::bail!("the null server was not answered right: {kind:?}: {seen}");
        }
        let answers = sample.answers as f64;
        ceiling.rates.push(answers / sample.seconds);
        let used = (sample.user_ns + sample.system_ns) as f64;
        ceiling.client_ns.push(used / answers);
        if wrk.is_some() {
            let round = by_wrk(budget, &null, connections, seconds)?;
            ceiling.wrk_rates.push(round.rate);
            ceiling.wrk_ns.push(round.ns);
            ceiling.wrk_version = Some(round.version);
        }
        stop::check()?;
        progress.step();
    }
    Ok(ceiling)
}

/// Two lines for a reader.
pub fn words(ceiling: &Ceiling) -> String {
    let ours = format!(
        "The client, verifying every byte: {} requests/s against a null server, {} ns of CPU time each.",
        n(median(&ceiling.rates)),
        n(median(&ceiling.client_ns)),
    );
    if ceiling.wrk_rates.is_empty() {
        return format!("{ours}\nwrk is not installed, so there is nothing to compare it with.");
    }
    let times = match ratio(&ceiling.client_ns, &ceiling.wrk_ns) {
        Some(ratio) => format!(
            "; ours takes {:.2} ({:.2}-{:.2}) of wrk's CPU time",
            ratio.middle, ratio.low, ratio.high
        ),
        None => String::new(),
    };
    format!(
        "{ours}\nwrk -t1 in the same rounds, verifying nothing: {} requests/s, {} ns each{times}.",
        n(median(&ceiling.wrk_rates)),
        n(median(&ceiling.wrk_ns)),
    )
}

struct Wrk {
    rate: f64,
    ns: f64,
    version: String,
}

fn by_wrk(budget: &Budget, null: &Null, connections: u32, seconds: u32) -> Result<Wrk> {
    let before = children_ns()?;
    let output = std::thread::scope(|scope| {
        // What a thread starts runs where the thread may run.
        let ran = scope.spawn(|| -> Result<_> {
            pin(&budget.client_cpus)?;
            let mut wrk = Command::new("wrk");
            wrk.args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}s")])
                .arg(format!("http://{}/", null.address))
                .arg("--version")
                .stdin(Stdio::null());
            wrk.output().context("wrk")
        });
        ran.join().expect("a thread that starts wrk does not panic")
    })?;
    let used = children_ns()?.saturating_sub(before);
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text, used).with_context(|| format!("wrk says what is not understood:\n{text}"))
}

fn parse(text: &str, used: u64) -> Option<Wrk> {
    let of = |start: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(start))?;
        line.trim().parse::<f64>().ok()
    };
    let requests = text.lines().find_map(|line| {
        line.trim()
            .split_once(" requests in ")?
            .0
            .parse::<f64>()
            .ok()
    })?;
    let version = text.lines().find(|line| line.starts_with("wrk "))?;
    Some(Wrk {
        rate: of("Requests/sec:")?,
        ns: used as f64 / requests,
        version: version.split(" Copyright").next()?.to_owned(),
    })
}

/// CPU time of the children that have ended, nanoseconds.
fn children_ns() -> Result<u64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(micros as u64 * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wrk_prints() {
        let text = "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nRunning 3s test @ http://x/\n  \
                    1 threads and 100 connections\n  114464 requests in 3.04s, 9.17MB read\nRequests/sec:  37694.89\n";
        let wrk = parse(text, 114_464_000).unwrap();
        assert_eq!((wrk.rate, wrk.ns), (37694.89, 1000.0));
        assert_eq!(wrk.version, "wrk debian/4.1.0-3+b2 [epoll]");
        assert!(parse("unable to connect", 1).is_none());
    }

    #[test]
    fn the_null_server_is_answered_right() {
        let ceiling = measure(&Budget::default(), 3, 1, 1, &Progress::new(1)).unwrap();
        assert!(ceiling.rates[0] > 0.0);
        assert!(words(&ceiling).contains("verifying every byte"));
    }
}
