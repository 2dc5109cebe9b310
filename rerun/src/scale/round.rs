//! One row once: a server of its own, its samples, its end.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::client::{self, Moment, Plan, Wave};
use super::data::{Protocol, Round, Table};
use crate::contender::Contender;
use crate::process::{self, Options};
use crate::result::{Budget, Histogram};
use crate::system::tree::{self, Used};

/// Fewer answers than this say little of a 99th percentile: waves are repeated until there are as many.
const ANSWERS: u32 = 500;

/// Where the contenders speak HTTP/2, at the port that they have got.
const HTTP2: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Measures a contender that has the delay of the table, or none.
pub fn measure(
    contender: &Contender,
    table: &Table,
    budget: &Budget,
    rate: f64,
) -> Result<(Vec<String>, Round)> {
    let options = Options {
        cpus: budget.server_cpus.clone(),
        ..Options::default()
    };
    let mut server = process::start(contender, &options)?;
    let endpoint = contender
        .manifest
        .delay
        .as_ref()
        .context("no delay in its manifest")?;
    let waits = contender.name != super::FLOOR;
    let plan = Plan {
        address: match table.protocol {
            Protocol::Http1 => server.address,
            Protocol::Http2 => SocketAddr::new(HTTP2.into(), server.address.port()),
        },
        protocol: table.protocol,
        path: endpoint.path.get_ref().clone(),
        waiting: table.waiting,
        connections: table.connections,
        delay: Duration::from_secs(if waits { table.delay_s.into() } else { 0 }),
        rate,
    };
    // The first request makes what a worker has once.
    let first = Plan {
        waiting: 1,
        connections: 1,
        delay: plan.delay.min(Duration::from_secs(1)),
        ..plan.clone()
    };
    client::wave(&budget.client_cpus, &first, &mut |_| ())?;

    let (root, processes) = (server.root(), server.tree());
    let before = tree::memory(&processes).context("no smaps_rollup of the server's processes")?;
    let mut memory_bytes = None;
    let mut cpu_ns = 0;
    let mut waves: Vec<Wave> = Vec::new();
    for _ in 0..ANSWERS.div_ceil(plan.waiting) {
        let mut used = Used::default();
        let mut sample = |moment| match moment {
            Moment::Open => used = Used::before(root, &processes),
            // Later waves find memory that the first has left behind.
            Moment::Waiting if memory_bytes.is_none() => {
                let grown = tree::memory(&processes).map(|now| now as f64 - before as f64);
                memory_bytes = grown.map(|grown| grown / f64::from(plan.waiting));
            }
            Moment::Waiting => {}
            Moment::Answered => cpu_ns += Used::after(root, &processes).since(&used).cpu_ns,
        };
        waves.push(client::wave(&budget.client_cpus, &plan, &mut sample)?);
    }
    ensure!(
        memory_bytes.is_some() || !waits,
        "no smaps_rollup of the server's processes"
    );
    let commands = server.commands.clone();
    let said = server.end()?;
    ensure!(!is_alarming(&said), "it wrote:\n{said}");

    let answers = plan.waiting * waves.len() as u32;
    let latency = Histogram::sum(waves.iter().map(|wave| &wave.latency));
    let lateness = latency
        .over(plan.delay.as_secs_f64() * 1e3)
        .context("no answers")?;
    let round = Round {
        answers,
        memory_bytes,
        cpu_us: cpu_ns as f64 / 1e3 / f64::from(answers),
        client_busy: waves.iter().map(|wave| wave.busy).sum::<f64>() / waves.len() as f64,
        lateness,
    };
    Ok((commands, round))
}

/// Whether nginx says that something has gone wrong.
fn is_alarming(log: &str) -> bool {
    ["[error]", "[crit]", "[alert]", "[emerg]"]
        .iter()
        .any(|level| log.contains(level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_no_alarm() {
        assert!(!is_alarming(
            "nginx: [warn] the \"listen ... http2\" directive is deprecated\n"
        ));
        assert!(is_alarming(
            "2026/11/30 [alert] 7#7: 20000 worker_connections are not enough\n"
        ));
    }
}
