//! `make compare`: Rust, Lua, echo and `return` give the same answers in one nginx; each answer is checked, then all
//! are measured in interleaved rounds, the server on one core and the load generator on another.

pub mod http;
mod server;
pub mod stats;
mod table;
mod wrk;

use std::time::Duration;

use anyhow::{Result, bail};

use crate::install::{self, Need};
use crate::nginx::{self, Choice};
use crate::{build, run};
use server::Server;
use stats::Sample;

/// Connections of the generator.
const CONNECTIONS: u32 = 100;

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
    /// How often each address is measured; the order of the addresses changes from round to round
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(5..))]
    rounds: u32,
    /// Seconds of one measurement
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

/// One answer that several contenders give.
struct Task {
    title: &'static str,
    path: &'static str,
    contenders: &'static [&'static str],
    expected: http::Expected,
}

const TASKS: [Task; 2] = [
    Task {
        title: "hello",
        path: "hello",
        contenders: &["rust", "lua", "echo", "return"],
        expected: http::Expected {
            body: "<h1>HelloWorld</h1>\n",
            content_type: Some("text/html"),
            delay: Duration::ZERO,
        },
    },
    Task {
        title: "OK after 20 ms",
        path: "ok",
        contenders: &["rust", "lua", "echo"],
        expected: http::Expected {
            body: "OK\n",
            content_type: None,
            delay: Duration::from_millis(20),
        },
    },
];

/// What was measured at one address.
struct Row {
    contender: &'static str,
    samples: Vec<Sample>,
    /// Why the numbers of this row are none: the generator met errors.
    refused: Option<String>,
}

pub fn run(options: &Options) -> Result<()> {
    install::install(&[Need::Toolchain, Need::Measuring])?;
    let nginx = nginx::prepare(&options.choice)?;
    build::shipped(&nginx)?;
    let conf = run::conf(&nginx);
    if !conf.ends_with("/compare.conf") {
        bail!(
            "{} has no Lua or no echo module to compare with",
            nginx.binary.display()
        );
    }
    let cores = server::Cores::choose()?;
    let server = Server::start(&nginx, conf, &cores)?;
    check(server::ADDRESS)?;
    println!("every answer's status, type, body and wait is right\n");

    let seconds = options.rounds
        * options.seconds
        * TASKS
            .iter()
            .map(|task| task.contenders.len() as u32)
            .sum::<u32>();
    eprintln!("measuring for {seconds} s");
    let rows = measure(&server, &cores, options)?;
    // A server that went wrong under load must not have its numbers printed.
    check(server::ADDRESS)?;
    println!(
        "{}, {cores}; wrk with {CONNECTIONS} connections kept alive, {} interleaved rounds of {} s",
        nginx.name, options.rounds, options.seconds
    );
    for (task, rows) in TASKS.iter().zip(&rows) {
        print!("\n{}", table::render(task, rows));
    }
    if rows.iter().flatten().any(|row| row.refused.is_some()) {
        bail!("not every row could be measured");
    }
    Ok(())
}

/// Asks every address once, and fails at the first wrong answer.
fn check(address: &str) -> Result<()> {
    for task in &TASKS {
        for contender in task.contenders {
            let path = format!("/{contender}/{}", task.path);
            let answer = http::get(address, &path)?;
            if let Some(fault) = answer.fault(&task.expected) {
                bail!("{path} {fault}");
            }
        }
    }
    Ok(())
}

fn measure(server: &Server, cores: &server::Cores, options: &Options) -> Result<Vec<Vec<Row>>> {
    let row = |contender: &&'static str| Row {
        contender,
        samples: vec![],
        refused: None,
    };
    let mut rows: Vec<Vec<Row>> = TASKS
        .iter()
        .map(|task| task.contenders.iter().map(row).collect())
        .collect();
    for round in 0..options.rounds as usize {
        for (task, rows) in TASKS.iter().zip(&mut rows) {
            // Each round begins with another contender: none always follows the same one.
            let count = rows.len();
            for row in (0..count).map(|at| (at + round) % count) {
                let row = &mut rows[row];
                let url = format!("http://{}/{}/{}", server::ADDRESS, row.contender, task.path);
                let before = server.cpu_time()?;
                let result = wrk::run(cores, &url, CONNECTIONS, options.seconds)?;
                let cpu_time = server.cpu_time()? - before;
                match result.fault() {
                    Some(fault) => row.refused = Some(fault),
                    None => row.samples.push(Sample::new(&result, cpu_time)),
                }
            }
        }
    }
    Ok(rows)
}
