//! A process as the system sees it.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, kill_process, prlimit};
use std::fs;
use test_nginx::{Server, Signal};

/// The server's only worker.
#[track_caller]
pub fn worker(server: &Server) -> u32 {
    let mut pids = Vec::new();
    // Shortly after the start the master may not have made it yet.
    super::eventually("a single worker", || {
        pids = server.worker_pids();
        pids.len() == 1
    });
    pids[0]
}

#[track_caller]
pub fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).expect("no pid is 0");
    kill_process(pid, signal).expect("the process is there");
}

/// Stops the process while `during` runs: what happens meanwhile it finds all at once.
#[track_caller]
pub fn frozen<R>(pid: u32, during: impl FnOnce() -> R) -> R {
    signal(pid, Signal::STOP);
    super::eventually("the process to stop", || state(pid) == Some('T'));
    let result = during();
    signal(pid, Signal::CONT);
    result
}

/// What the descriptors of the process are, in a fixed order.
#[track_caller]
pub fn descriptors(pid: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).expect("the process is there");
    let mut targets: Vec<_> = files
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    targets.sort();
    targets
}

/// As [`descriptors`], but for sockets: clients come and go.
#[track_caller]
pub fn files(pid: u32) -> Vec<String> {
    let mut files = descriptors(pid);
    files.retain(|file| !file.starts_with("socket:"));
    files
}

/// How many sockets the process has.
#[track_caller]
pub fn sockets(pid: u32) -> usize {
    descriptors(pid).len() - files(pid).len()
}

/// Limits what the process may have of something, as `ulimit` does for those that a shell starts;
/// `None` is the most that there may be.
#[track_caller]
pub fn limit(pid: u32, resource: Resource, current: Option<u64>) {
    let maximum = getrlimit(resource).maximum;
    let current = current.or(maximum);
    let pid = Pid::from_raw(pid as i32);
    prlimit(pid, resource, Rlimit { current, maximum }).expect("a process of our own");
}

/// The numbers of the process's descriptors that are `target`.
#[track_caller]
pub fn numbers_of(pid: u32, target: &str) -> Vec<u32> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).expect("the process is there");
    let mut numbers: Vec<u32> = files
        .flatten()
        .filter(|file| {
            fs::read_link(file.path()).is_ok_and(|link| link.display().to_string() == target)
        })
        .filter_map(|file| file.file_name().to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}

pub fn exists(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != 'Z')
}

fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn state(pid: u32) -> Option<char> {
    stat(pid)?.first()?.chars().next()
}

pub fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.get(1)?.parse().ok()
}

/// How much processor time it has used, in ticks of a hundredth of a second.
#[track_caller]
pub fn ticks(pid: u32) -> u64 {
    let stat = stat(pid).expect("the process is there");
    stat[11..=12]
        .iter()
        .map(|ticks| ticks.parse::<u64>().expect("a number"))
        .sum()
}

/// How often it went to sleep by itself.
#[track_caller]
pub fn sleeps(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok())
        .expect("a number of switches")
}
