//! The process between rerun and a contender: `rerun keep`, for rerun's own use.
//!
//! Invariants:
//! 1. Every process of the contender descends from the keeper, orphans too: the keeper is their subreaper.
//! 2. The keeper ends them all, and itself, when its standard input ends; nothing else ends it in order.
//! 3. It has no child left when it ends, and the contender's folder is gone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};
use serde::{Deserialize, Serialize};

use super::tree;
use crate::contender::command;

/// The command that makes rerun a keeper.
pub const NAME: &str = "keep";

/// The file in the contender's folder with all that it writes.
pub const LOG: &str = "output.log";

/// How long a contender may take to end by itself after SIGTERM.
pub const GRACE: Duration = Duration::from_secs(2);

/// More than this of a contender's output is thrown away.
const LOG_BYTES: u64 = 256 * 1024;

/// What to start and where: one line of JSON on the keeper's standard input.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    pub commands: Vec<Vec<String>>,
    pub env: BTreeMap<String, String>,
    pub work: PathBuf,
    pub cpus: Vec<usize>,
}

/// Keeps one contender until standard input ends. Each command that ends before is a line on standard output.
pub fn run() -> Result<()> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let plan: Plan = serde_json::from_str(&line).context("a keeper is started by rerun alone")?;
    // A session of its own: a signal for its process group reaches nobody else, and it has no terminal.
    let _ = setsid();
    nix::sys::prctl::set_child_subreaper(true)?;
    raise_open_files();
    pin(&plan.cpus)?;
    let stop = when_input_ends();
    let kept = start(&plan).map(|mut commands| watch(&mut commands, &stop));
    if let Err(error) = &kept {
        report(&format!("{error:#}"));
        // The reason is not lost while rerun still reads.
        while !stop.load(Ordering::Acquire) {
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
    end_all();
    let _ = fs::remove_dir_all(&plan.work);
    Ok(())
}

/// rerun has gone, or wants the contender to end.
fn when_input_ends() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let main = std::thread::current();
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        flag.store(true, Ordering::Release);
        main.unpark();
    });
    stop
}

/// The commands by process id.
fn start(plan: &Plan) -> Result<BTreeMap<i32, String>> {
    // rerun reads this line before it goes on: from here on the keeper is a subreaper.
    report("ready");
    let (reader, writer) = io::pipe()?;
    let log = File::create(plan.work.join(LOG))?;
    std::thread::spawn(move || keep_output(reader, log));
    let mut commands = BTreeMap::new();
    for words in &plan.commands {
        let mut command = command::command(words);
        command
            .current_dir(&plan.work)
            .envs(&plan.env)
            .stdout(Stdio::from(writer.try_clone()?))
            .stderr(Stdio::from(writer.try_clone()?));
        // Should the keeper itself be killed, nobody is left to end them in order: the kernel does.
        // SAFETY: prctl is async-signal-safe, and the closure touches no memory of the keeper.
        unsafe {
            command.pre_exec(|| Ok(nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?));
        }
        let child = command.spawn().with_context(|| words[0].clone())?;
        let name = Path::new(&words[0]).file_name().unwrap_or_default();
        commands.insert(child.id() as i32, name.to_string_lossy().into_owned());
    }
    Ok(commands)
}

fn keep_output(mut reader: impl Read, mut log: File) {
    let _ = io::copy(&mut (&mut reader).take(LOG_BYTES), &mut log);
    if log.metadata().is_ok_and(|data| data.len() >= LOG_BYTES) {
        let _ = log.write_all(b"\n(what it wrote after this was thrown away)\n");
    }
    let _ = io::copy(&mut reader, &mut io::sink());
}

/// Waits for the end of the input, and reports commands that end before.
fn watch(commands: &mut BTreeMap<i32, String>, stop: &AtomicBool) {
    let begun = Instant::now();
    while !stop.load(Ordering::Acquire) {
        // Often while it starts; later too seldom to be seen in a measurement.
        let starts = begun.elapsed() < Duration::from_secs(3);
        std::thread::park_timeout(Duration::from_millis(if starts { 20 } else { 250 }));
        while let Some((process, how)) = reap() {
            if let Some(name) = commands.remove(&process) {
                report(&format!("{name}: {how}"));
            }
        }
    }
}

/// A child that has ended, adopted ones too.
fn reap() -> Option<(i32, String)> {
    match waitpid(None::<Pid>, Some(WaitPidFlag::WNOHANG)) {
        Ok(WaitStatus::Exited(process, code)) => {
            Some((process.as_raw(), format!("exit status {code}")))
        }
        Ok(WaitStatus::Signaled(process, signal, _)) => {
            Some((process.as_raw(), format!("killed by {signal}")))
        }
        _ => None,
    }
}

/// SIGTERM to the contender's processes, and SIGKILL to those that are still there when the grace is over.
fn end_all() {
    let me = std::process::id();
    let begun = Instant::now();
    for process in tree::descendants(me) {
        tree::terminate(process);
    }
    loop {
        match waitpid(None::<Pid>, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return,
            Ok(WaitStatus::StillAlive) => {}
            _ => continue,
        }
        if begun.elapsed() > GRACE {
            for process in tree::descendants(me) {
                tree::kill(process);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The limits of a shell are not the contender's: each gets as many open files as the machine lets it have.
fn raise_open_files() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

fn pin(cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set).context("pinning to its cores")
}

/// Fails only when rerun has gone, and then the input has ended too.
fn report(line: &str) {
    let line = line.replace('\n', "; ");
    let _ = writeln!(io::stdout(), "{line}");
    let _ = io::stdout().flush();
}
