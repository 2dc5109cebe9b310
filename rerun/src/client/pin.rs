//! Putting a thread on its cores.

use anyhow::{Context, Result};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread, and threads and processes that it starts from now on, run on these cores only. None: anywhere.
pub fn pin(cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu)
            .with_context(|| format!("core {cpu} is too high a number"))?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)
        .with_context(|| format!("running on the cores {cpus:?} only"))
}
