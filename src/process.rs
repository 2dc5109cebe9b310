//! Which of nginx's processes this is, and which of them live.

use crate::abi;
use crate::stats::scoreboard::Process;
use crate::worker;
use std::fs;

/// The number of this worker, from 0, as `ngx.worker.id()` tells it: the same for a worker that
/// takes the place of one that died.
///
/// A reload starts another worker of each number, while the one before may still answer requests:
/// see [`worker_exiting`].
pub fn worker_id() -> usize {
    abi::worker_number()
}

/// How many workers there are, as `ngx.worker.count()` tells it: `worker_processes`, or 1 with
/// `master_process off`; 0 in a destructor that runs when the process exits and has given its
/// configuration up.
///
/// # Panics
///
/// On a thread that is not nginx's event thread.
pub fn worker_count() -> usize {
    worker::here().expect("worker_count() outside nginx's event thread");
    abi::worker_count()
}

/// Whether this worker shuts down, as `ngx.worker.exiting()` tells it: it was told to quit, or a
/// reload has replaced it, and it lives on for the requests that it must answer.
pub fn worker_exiting() -> bool {
    abi::is_exiting()
}

/// This process.
pub(crate) fn this() -> Process {
    let pid = std::process::id();
    let started = stat(pid).map_or(0, |stat| stat.started);
    Process { pid, started }
}

/// Whether a process lives. Where `/proc` cannot be read, for want of a descriptor for instance, a
/// process that has its number is taken for it.
pub(crate) fn lives(process: Process) -> bool {
    match stat(process.pid) {
        Some(stat) => !stat.is_zombie && [0, stat.started].contains(&process.started),
        None => abi::exists(process.pid),
    }
}

/// Of what proc_pid_stat(5) says.
struct Stat {
    /// It has ended, and its parent has not looked yet.
    is_zombie: bool,
    /// When it was started: the 22nd field.
    started: u64,
}

/// `None` where there is no such process, or that cannot be known.
fn stat(pid: u32) -> Option<Stat> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name, in parentheses and with anything in it.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    Some(Stat {
        is_zombie: fields.next()? == "Z",
        started: fields.nth(18)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    // Miri starts no processes.
    #[cfg_attr(miri, ignore)]
    fn a_process_lives_until_it_has_ended() {
        assert!(lives(this()));
        let mut child = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        let process = Process {
            pid,
            started: stat(pid).unwrap().started,
        };
        assert!(lives(process));
        assert!(!lives(Process {
            started: process.started - 1,
            ..process
        }));
        let unknown = Process {
            started: 0,
            ..process
        };
        assert!(lives(unknown));
        drop(child.stdin.take());
        while lives(process) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!lives(process) && !lives(unknown));
    }
}
