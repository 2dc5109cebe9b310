//! `rerun ceiling`: how fast the client is against a server that does nothing, beside wrk.
use super::null::{BODY, Null};
use super::{Expect, Plan, Until, pin, run as client};
use anyhow::Result;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Options {
    #[arg(long)]
    close: bool,
    #[arg(long)]
    rate: Option<f64>,
    #[arg(long, default_value_t = 100)]
    connections: u32,
    #[arg(long)]
    target: Option<std::net::SocketAddr>,
}

pub fn run(options: &Options) -> Result<()> {
    let null = Null::start(&[0])?;
    pin(&[1])?;
    let plan = Plan {
        address: options.target.unwrap_or(null.address),
        path: "/".into(),
        expect: Expect::body(BODY),
        connections: options.connections,
        keep_alive: !options.close,
        open_rate: options.rate,
        warm_up: Duration::from_millis(300),
        until: Until::Elapsed(Duration::from_secs(3)),
        timeout: Duration::from_secs(5),
    };
    let sample = client(&plan, &mut |_| Ok(()))?;
    let pairs = &sample.latency.0;
    let total: u64 = pairs.iter().map(|p| p.1).sum();
    println!(
        "{} /s, {:.0} ns cpu, busy {:.3} user {:.3} opened {} notkept {} conns {} unsent {} fail {:?} {:?} latencies {total} max {:?}",
        sample.answers as f64 / sample.seconds,
        (sample.user_ns + sample.system_ns) as f64 / sample.answers as f64,
        (sample.user_ns + sample.system_ns) as f64 / 1e9 / sample.seconds,
        sample.user_ns as f64 / 1e9 / sample.seconds,
        sample.opened,
        sample.not_kept,
        sample.connections,
        sample.unsent,
        sample.failures,
        sample.examples,
        pairs.last()
    );
    if options.target.is_none() {
        let _ = std::process::Command::new("wrk")
            .args(["-t1", "-c100", "-d3s", &format!("http://{}/", null.address)])
            .status();
    }
    Ok(())
}
