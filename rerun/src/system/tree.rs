//! What a server uses: the sum over its whole process tree.
//!
//! - CPU time is each process's own CPU clock (`clock_getcpuclockid(3)`: nanoseconds, with the threads that have
//!   ended), and for children that have ended what `/proc/PID/stat` says of them (ticks).
//! - The share of user time is of the ticks in `/proc/PID/stat`.
//! - The time without a processor is the second figure of `/proc/PID/task/*/schedstat`: of threads that are still there.
//! - Context switches are of `/proc/PID/task/*/status`: of threads that are still there.
//! - Memory is the proportional set size in `/proc/PID/smaps_rollup`, so that pages which workers share count once, and
//!   the peak is `VmHWM`, in which they count once a process.

use std::fs;

use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

use super::number;
use crate::result::ServerSample;

/// Nanoseconds in a tick of /proc: `USER_HZ` is 100 on every architecture that Linux has today.
const TICK: u64 = 10_000_000;

/// What some processes have used since they started. The root above them counts only for children of its own that have
/// ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    pub cpu_ns: u64,
    user_ticks: u64,
    system_ticks: u64,
    waited_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    pub processes: u32,
    threads: u32,
}

impl Used {
    /// The CPU time is read last: at the beginning of a window nothing is between it and the window.
    pub fn before(root: u32, processes: &[u32]) -> Self {
        let mut used = Self::default();
        used.add_threads(processes);
        used.add_cpu(root, processes);
        used
    }

    /// The CPU time is read first.
    pub fn after(root: u32, processes: &[u32]) -> Self {
        let mut used = Self::default();
        used.add_cpu(root, processes);
        used.add_threads(processes);
        used
    }

    fn add_cpu(&mut self, root: u32, processes: &[u32]) {
        for process in processes {
            let clock = clock_getcpuclockid(Pid::from_raw(*process as i32));
            if let Ok(time) = clock.and_then(|clock| clock.now()) {
                self.cpu_ns += time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64;
                self.processes += 1;
            }
            let stat = Ticks::of(*process).unwrap_or_default();
            self.cpu_ns += stat.of_ended_children * TICK;
            self.user_ticks += stat.user;
            self.system_ticks += stat.system;
        }
        self.cpu_ns += Ticks::of(root).unwrap_or_default().of_ended_children * TICK;
    }

    fn add_threads(&mut self, processes: &[u32]) {
        for process in processes {
            let tasks = fs::read_dir(format!("/proc/{process}/task"));
            for task in tasks.into_iter().flatten().flatten() {
                let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
                let waited = fs::read_to_string(task.path().join("schedstat")).ok();
                let waited = waited.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
                self.threads += 1;
                self.waited_ns += waited.unwrap_or(0);
                self.voluntary_switches += number(&status, "voluntary_ctxt_switches:").unwrap_or(0);
                self.involuntary_switches +=
                    number(&status, "nonvoluntary_ctxt_switches:").unwrap_or(0);
            }
        }
    }

    /// What was used between two moments.
    pub fn since(&self, before: &Self) -> ServerSample {
        let user = self.user_ticks.saturating_sub(before.user_ticks);
        let system = self.system_ticks.saturating_sub(before.system_ticks);
        ServerSample {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            // One tick in twenty is 5 %.
            user_share: (user + system >= 20).then(|| user as f64 / (user + system) as f64),
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
            processes: self.processes,
            threads: self.threads,
            ..ServerSample::default()
        }
    }
}

/// All processes below the root, without it, from `/proc/PID/task/*/children`.
pub fn below(root: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(process) = next.pop() {
        let tasks = fs::read_dir(format!("/proc/{process}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children
                .split(' ')
                .filter_map(|word| word.parse::<u32>().ok());
            next.extend(children);
        }
        if process != root {
            found.push(process);
        }
    }
    found
}

/// Proportional set size of these processes, bytes.
pub fn memory(processes: &[u32]) -> Option<u64> {
    processes
        .iter()
        .map(|process| {
            let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
            Some(number(&rollup, "Pss:")? * 1024)
        })
        .sum()
}

/// Sum of the peaks of the resident sets of these processes, bytes.
pub fn peak(processes: &[u32]) -> Option<u64> {
    processes
        .iter()
        .map(|process| {
            let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
            Some(number(&status, "VmHWM:")? * 1024)
        })
        .sum()
}

/// The least limit on open files among these processes.
pub fn open_files(processes: &[u32]) -> Option<u64> {
    let limits = processes.iter().filter_map(|process| {
        let limits = fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
        match number(&limits, "Max open files") {
            Some(number) => Some(number),
            None => limits.contains("Max open files").then_some(u64::MAX),
        }
    });
    limits.min()
}

#[derive(Default)]
pub struct Ticks {
    user: u64,
    system: u64,
    of_ended_children: u64,
}

impl Ticks {
    fn of(process: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// Words 14 to 17 of `/proc/PID/stat`; the second is a name in parentheses that may hold anything.
    pub fn parse(stat: &str) -> Option<Self> {
        let (_, words) = stat.rsplit_once(')')?;
        let mut words = words.split_whitespace().skip(11);
        let mut next = || words.next()?.parse::<u64>().ok();
        Some(Self {
            user: next()?,
            system: next()?,
            of_ended_children: next()?.saturating_add(next()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn ticks() {
        let stat = "12 (a b) c) S 1 12 12 0 -1 4194560 100 200 0 0 7 8 30 4 20 0 1 0 99 1 2";
        let ticks = Ticks::parse(stat).unwrap();
        assert_eq!(
            (ticks.user, ticks.system, ticks.of_ended_children),
            (7, 8, 34)
        );
        assert!(Ticks::parse("").is_none());
    }

    #[test]
    fn a_busy_child_is_counted_and_so_is_one_that_has_ended() {
        // A shell that burns some time in a child that ends, then waits for its input.
        let script = "sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; echo; read x";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut byte = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut byte).unwrap();
        assert!(below(std::process::id()).contains(&child.id()));
        let processes = [child.id()];
        let used = Used::after(std::process::id(), &processes);
        let (memory, peak) = (memory(&processes), peak(&processes));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(used.cpu_ns > 5_000_000, "{used:?}");
        assert_eq!((used.processes, used.threads), (1, 1));
        assert!(
            memory > Some(10_000) && peak > Some(100_000),
            "{memory:?} {peak:?}"
        );
        assert!(open_files(&[std::process::id()]) > Some(0));
    }
}
