//! The nginx that is measured: started on a core of its own, and ended however the measuring ends.

use std::fmt;
use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::nginx::Nginx;
use crate::{run, shell};

/// Where the configurations in nginx-conf/ listen.
pub const ADDRESS: &str = "127.0.0.1:8080";

/// One core for the server and another for the generator, where there are two.
pub struct Cores(Option<(usize, usize)>);

impl Cores {
    pub fn choose() -> Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
            .unwrap_or_default();
        let cores = cores(list);
        Ok(Self(cores.first().copied().zip(cores.get(1).copied())))
    }

    pub fn server(&self, command: Command) -> Command {
        pin(self.0.map(|cores| cores.0), command)
    }

    pub fn generator(&self, command: Command) -> Command {
        pin(self.0.map(|cores| cores.1), command)
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            Some((server, generator)) => write!(
                f,
                "one worker on core {server}, the generator on core {generator}"
            ),
            None => write!(
                f,
                "one worker, WHICH SHARES THE ONLY CORE WITH THE GENERATOR"
            ),
        }
    }
}

/// The cores in `0-2,5`.
fn cores(list: &str) -> Vec<usize> {
    let range = |part: &str| -> Option<Vec<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some((first.parse().ok()?..=last.parse().ok()?).collect())
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

fn pin(core: Option<usize>, command: Command) -> Command {
    let Some(core) = core else { return command };
    let mut pinned = shell::command("taskset");
    pinned
        .args(["-c", &core.to_string()])
        .arg(command.get_program())
        .args(command.get_args());
    pinned
}

pub struct Server {
    master: Child,
    worker: u32,
}

impl Server {
    pub fn start(nginx: &Nginx, conf: &str, cores: &Cores) -> Result<Self> {
        if TcpStream::connect(ADDRESS).is_ok() {
            bail!("something else listens on {ADDRESS}: end it first");
        }
        let mut command = cores.server(run::command(nginx, conf));
        shell::dies_with_us(&mut command).stdin(Stdio::null());
        let master = command.spawn().context("starting nginx")?;
        let mut server = Self { master, worker: 0 };
        let begun = Instant::now();
        loop {
            if let Some(status) = server.master.try_wait()? {
                bail!("nginx ended at once: {status}");
            }
            if TcpStream::connect(ADDRESS).is_ok()
                && let [worker] = children(server.master.id())?[..]
            {
                server.worker = worker;
                return Ok(server);
            }
            if begun.elapsed() > Duration::from_secs(10) {
                bail!("nginx does not answer on {ADDRESS}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The worker's time on the processor, in user and kernel mode, to the nanosecond: /proc/PID/stat counts in steps
    /// of 10 ms and by sampling.
    pub fn cpu_time(&self) -> Result<Duration> {
        let file = format!("/proc/{}/schedstat", self.worker);
        let text = fs::read_to_string(&file)
            .with_context(|| format!("reading {file}: has the worker gone?"))?;
        let nanoseconds = text
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok());
        nanoseconds
            .map(Duration::from_nanos)
            .with_context(|| format!("no time in {file}: {text}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: the child has not been waited for, so the id is still its own.
        unsafe { libc::kill(self.master.id() as libc::pid_t, libc::SIGTERM) };
        let _ = self.master.wait();
    }
}

/// The processes whose parent this is.
fn children(parent: u32) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if parent_in(&stat) == Some(parent) {
            found.push(pid);
        }
    }
    Ok(found)
}

/// The fourth word of /proc/PID/stat; the second is a name in parentheses that may hold anything.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores() {
        assert_eq!(cores("\t0-1\n"), [0, 1]);
        assert_eq!(cores("3,5-6"), [3, 5, 6]);
        assert_eq!(cores("2"), [2]);
        assert_eq!(cores(""), Vec::<usize>::new());
    }

    #[test]
    fn the_parent_of_a_process_with_a_nasty_name() {
        assert_eq!(parent_in("12 (a) b (c) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in(""), None);
    }
}
