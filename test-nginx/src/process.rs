//! One running nginx: from its start to its end, with nothing left behind.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};

use crate::expand::find;
use crate::nginx::{Nginx, Version};
use crate::room::Room;

const STEP: Duration = Duration::from_millis(5);
const START: Duration = Duration::from_secs(30);
/// Its memory may be looked at when it ends, by a sanitizer.
const END: Duration = Duration::from_secs(15);

/// An nginx, child of this process, that runs in the foreground.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    root: PathBuf,
    ended: Option<ExitStatus>,
}

/// Why nginx does not run.
#[derive(Debug)]
pub(crate) enum StartError {
    /// Someone else has the port by now.
    PortTaken,
    /// It ended before it had opened its sockets.
    Exited(ExitStatus),
    Io(io::Error),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> StartError {
        StartError::Io(error)
    }
}

impl Process {
    /// Starts nginx on the configuration in `room`, and returns once it
    /// listens. `env`, if given, is its whole environment.
    pub fn start(
        nginx: &Nginx,
        room: &Room,
        port: u16,
        env: Option<&BTreeMap<String, String>>,
    ) -> Result<Process, StartError> {
        let deadline = Instant::now() + START;
        loop {
            let before = fs::metadata(room.error_log()).map_or(0, |log| log.len() as usize);
            let result = Process::start_once(nginx, room, port, env, deadline);
            let Err(StartError::Exited(_)) = result else {
                return result;
            };

            // Some other address of the configuration may still be closing.
            let log = fs::read(room.error_log()).unwrap_or_default();
            let log = &log[before.min(log.len())..];
            let in_use = find(log, b"failed (98: ").is_some();
            if !in_use || Instant::now() > deadline {
                return result;
            }
        }
    }

    fn start_once(
        nginx: &Nginx,
        room: &Room,
        port: u16,
        env: Option<&BTreeMap<String, String>>,
        deadline: Instant,
    ) -> Result<Process, StartError> {
        let _ = fs::remove_file(room.pid_file());
        let mut command = Command::new(&nginx.binary);
        if nginx.version >= Version(1, 19, 5) {
            command.arg("-e").arg(room.error_log());
        }
        command
            .arg("-p")
            .arg(format!("{}/", room.root().display()))
            .arg("-c")
            .arg(room.conf());
        if let Some(env) = env {
            command.env_clear().envs(env);
        }
        let stderr: File = OpenOptions::new()
            .create(true)
            .append(true)
            .open(room.stderr())?;
        let before = fs::metadata(room.error_log()).map_or(0, |log| log.len() as usize);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr);
        let child = spawn(command)?;
        let mut process = Process {
            child,
            root: room.root(),
            ended: None,
        };

        let taken = format!(":{port} failed (98: ");
        loop {
            // nginx writes its pid once all sockets are open.
            if fs::metadata(room.pid_file()).is_ok_and(|file| file.len() > 0) {
                return Ok(process);
            }
            let ended = process.ended()?;
            let log = fs::read(room.error_log()).unwrap_or_default();
            if find(&log[before.min(log.len())..], taken.as_bytes()).is_some() {
                return Err(StartError::PortTaken);
            }
            if let Some(status) = ended {
                return Err(StartError::Exited(status));
            }
            if Instant::now() > deadline {
                let message = format!("nginx was not ready within {START:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, message).into());
            }
            sleep(STEP);
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How nginx ended, if it did.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Waits until nginx ends; `None` if it does not within `patience`.
    pub fn wait(&mut self, patience: Duration) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + patience;
        loop {
            let ended = self.ended()?;
            if ended.is_some() || Instant::now() >= deadline {
                return Ok(ended);
            }
            sleep(STEP);
        }
    }

    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Asks nginx to end with `signal`, and insists after `patience`.
    pub fn stop(&mut self, signal: Signal, patience: Duration) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended()? {
            self.kill_orphans(status);
            return Ok(status);
        }
        for (signal, patience) in [(signal, patience), (Signal::TERM, END)] {
            self.signal(signal)?;
            if let Some(status) = self.wait(patience)? {
                self.kill_orphans(status);
                return Ok(status);
            }
        }
        for pid in children(self.pid()) {
            kill(pid);
        }
        self.child.kill()?;
        let status = self.child.wait()?;
        self.ended = Some(status);
        self.kill_orphans(status);
        Ok(status)
    }

    /// A master that was killed leaves its workers: they hold its log open.
    fn kill_orphans(&self, status: ExitStatus) {
        if status.signal().is_none() {
            return;
        }
        for pid in pids() {
            let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else {
                continue;
            };
            let mut targets = files
                .flatten()
                .filter_map(|file| fs::read_link(file.path()).ok());
            if pid != std::process::id() && targets.any(|target| target.starts_with(&self.root)) {
                kill(pid);
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.stop(Signal::TERM, Duration::from_secs(2));
    }
}

/// Starts a child that the kernel ends by `SIGTERM` when this program ends, however that ends: one
/// that is killed leaves no process behind.
///
/// # Errors
///
/// As [`Command::spawn`].
pub fn spawn(mut command: Command) -> io::Result<Child> {
    type Order = (Command, Sender<io::Result<Child>>);
    // The kernel means the thread that forks: it is one that lives as long as the program.
    static FORKING: LazyLock<Sender<Order>> = LazyLock::new(|| {
        let (sender, orders) = channel::<Order>();
        thread::spawn(move || {
            for (mut command, started) in orders {
                let _ = started.send(command.spawn());
            }
        });
        sender
    });
    // SAFETY: prctl() is async-signal-safe, and the closure touches no memory of the parent.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?));
    }
    let (started, child) = channel();
    FORKING
        .send((command, started))
        .expect("the thread does not panic");
    child.recv().expect("the thread does not panic")
}

/// The worker processes of the master `pid`.
pub(crate) fn workers(pid: u32) -> Vec<u32> {
    let is_worker = |pid: &u32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|title| title.starts_with(b"nginx: worker process"))
    };
    children(pid).into_iter().filter(is_worker).collect()
}

fn children(pid: u32) -> Vec<u32> {
    let is_child = |child: &u32| {
        // The name, in parentheses, may hold anything; state and parent follow it.
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let parent = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(1));
        parent.and_then(|parent| parent.parse().ok()) == Some(pid)
    };
    pids().filter(is_child).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn kill(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conf::Conf;
    use crate::expand::Variables;
    use std::net::{Ipv4Addr, TcpListener};
    use std::path::Path;

    #[test]
    fn a_child_outlives_the_thread_that_wanted_it() {
        let (mut child, thread) = thread::spawn(|| {
            let mut command = Command::new("sh");
            command
                .args(["-c", "read line; exit 7"])
                .stdin(Stdio::piped());
            (
                spawn(command).unwrap(),
                fs::read_link("/proc/thread-self").unwrap(),
            )
        })
        .join()
        .unwrap();
        while fs::exists(Path::new("/proc").join(&thread)).unwrap() {
            sleep(STEP);
        }
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }

    #[test]
    fn a_port_that_is_taken_is_told_from_other_failures() {
        let room = Room::new().unwrap();
        let nginx = Nginx::from_env().unwrap();
        let other = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let port = other.local_addr().unwrap().port();
        let vars = Variables::default();
        let start = |conf: Conf| {
            let text = conf.render(&nginx, &room.root(), port, &vars).unwrap();
            fs::write(room.conf(), text).unwrap();
            Process::start(&nginx, &room, port, None)
        };
        assert!(matches!(start(Conf::default()), Err(StartError::PortTaken)));

        drop(other);
        let config = b"no_such_directive;".to_vec();
        let bad = start(Conf {
            config,
            ..Conf::default()
        });
        assert!(matches!(bad, Err(StartError::Exited(status)) if status.code() == Some(1)));
        assert!(start(Conf::default()).is_ok());
    }
}
