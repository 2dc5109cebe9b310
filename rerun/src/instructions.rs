//! `--instructions`: the user instructions that nginx takes for a request, counted by valgrind's callgrind.
//!
//! Two runs are made, of few and of many requests, and their difference is divided by the requests between them: what
//! starting, connecting and ending take is in both and goes out.

use anyhow::{Context, Result, bail, ensure};

use crate::client::{self, Expect, Plan};
use crate::contender::{Contender, presence};
use crate::gates::n;
use crate::measure::{Bench, plan};
use crate::process::{self, Around};
use crate::progress::Progress;
use crate::result::{Load, Table};
use crate::rival::{Asked, Rival};
use crate::stop;

/// The run of few has at least so many requests, and so many for each connection.
const FEW: u64 = 500;
const EACH: u64 = 5;
/// The run of many has so many more.
const MORE: u64 = 3000;

/// A request may take so long under valgrind.
const PATIENCE_S: f64 = 60.0;

/// In front of nginx. libc is told to keep all freed blocks of a size at hand: how they happen to lie moves a request by
/// 4 % otherwise.
const BEFORE: [&str; 5] = [
    "env",
    "GLIBC_TUNABLES=glibc.malloc.tcache_count=20000",
    "valgrind",
    "--tool=callgrind",
    "--callgrind-out-file=callgrind.out",
];
/// Behind it: one process does everything.
const BEHIND: [&str; 2] = ["-g", "master_process off;"];

/// Whether instructions can be counted here.
///
/// # Errors
///
/// What to install.
pub fn check() -> Result<()> {
    if presence::find("valgrind").is_none() {
        bail!("--instructions needs valgrind: apt-get install valgrind");
    }
    Ok(())
}

/// Counts for every row that has figures and is nginx alone, and adds what was found to its summary.
pub fn add(
    bench: &Bench,
    contenders: &[&Contender],
    asked: Asked,
    table: &mut Table,
    rivals: &[Rival],
    progress: &Progress,
) -> Result<()> {
    let few = FEW.max(EACH * u64::from(table.load.connections));
    let many = few + MORE;
    let mut counted = false;
    for (contender, rival) in contenders.iter().zip(rivals) {
        let mut rows = table.rows.iter_mut();
        let row = rows.find(|row| row.contender == rival.name);
        let Some(summary) = row.and_then(|row| row.summary.as_mut()) else {
            continue;
        };
        let Some(endpoint) = rival.endpoint(asked).filter(|_| is_nginx(contender)) else {
            continue;
        };
        progress.say(&format!("counting the instructions of {}", rival.name));
        let count = |requests| count(bench, contender, &endpoint, &table.load, requests);
        match count(few).and_then(|few| Ok((few, count(many)?))) {
            Ok((few, many)) => {
                summary.instructions = Some((many - few) / MORE as f64);
                counted = true;
            }
            Err(error) => {
                stop::check()?;
                let note = format!("{}: instructions were not counted: {error:#}", rival.name);
                table.notes.push(note);
            }
        }
    }
    if counted {
        table.notes.push(format!(
            "instr.: callgrind, the difference of runs of {} and {} requests by one nginx process without a master; \
             a request has a Host line and no other",
            n(few as f64),
            n(many as f64)
        ));
    }
    Ok(())
}

/// Its only command is nginx, so that one process can do all of its work.
fn is_nginx(contender: &Contender) -> bool {
    matches!(contender.manifest.start.run.as_slice(), [words] if words[0] == "{nginx}")
}

/// Instructions of a whole run with so many requests.
fn count(
    bench: &Bench,
    contender: &Contender,
    (path, expect): &(String, Expect),
    load: &Load,
    requests: u64,
) -> Result<f64> {
    let options = process::Options {
        cpus: bench.budget.server_cpus.clone(),
        port: None,
        around: Around {
            before: BEFORE.map(String::from).to_vec(),
            behind: BEHIND.map(String::from).to_vec(),
        },
    };
    let mut started = process::start(contender, &options)?;
    let load = Load {
        requests: Some(requests),
        // Every request counts.
        warm_up_s: 0.0,
        timeout_s: PATIENCE_S,
        ..load.clone()
    };
    let plan = Plan {
        expect: expect.clone(),
        ..plan(started.address, path.clone(), &load)
    };
    let sample = client::on(&bench.budget.client_cpus, &plan, &mut |_| Ok(()))?;
    if let Some((kind, seen)) = sample.examples.first_key_value() {
        bail!("an answer was not right: {kind:?}: {seen}");
    }
    ensure!(
        sample.answers == requests,
        "{} of {requests} requests were answered",
        sample.answers
    );
    let said = started.end()?;
    collected(&said).with_context(|| format!("valgrind says what is not understood:\n{said}"))
}

/// The number in `==7== Collected : 12345`.
fn collected(said: &str) -> Option<f64> {
    let (_, after) = said.rsplit_once("Collected : ")?;
    after.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_valgrind_prints() {
        let said = "==7== For interactive control, run 'callgrind_control -h'.\n==7== \n==7== Events    : Ir\n\
                    ==7== Collected : 12345678\n==7== \n==7== I   refs:      12,345,678\n";
        assert_eq!(collected(said), Some(12_345_678.0));
        assert_eq!(collected("valgrind: no such tool"), None);
    }

    #[test]
    fn php_fpm_is_not_nginx_alone() {
        let contenders = crate::contender::Contenders::load().unwrap();
        let is = |name| is_nginx(contenders.get(name).unwrap());
        assert!(is("nginx-return") && is("nginx-rust"));
        assert!(!is("php-fpm") && !is("node"));
    }
}
