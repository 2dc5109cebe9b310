//! Contenders that run: each in a session of its own, on a free loopback port, in a private folder, and gone without a
//! trace however rerun ends.
//!
//! What holds this is the [`keeper`]: a second rerun between us and the contender. It adopts every process that
//! descends from it (`PR_SET_CHILD_SUBREAPER`), so that a daemon cannot slip away, and it waits for the end of a pipe
//! that only we hold: an error, a panic, Ctrl-C or SIGKILL all close it. Then it ends the whole tree, SIGTERM first,
//! and removes the folder.

pub mod keeper;
pub mod port;
mod tree;

use std::fs::{self, DirBuilder};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::contender::presence::{self, Presence};
use crate::contender::{Contender, build, command};
use crate::stop;
use keeper::Plan;

/// This program, even if its file has been replaced by a newer one.
const SELF: &str = "/proc/self/exe";

/// How long it may answer something else than HTTP and 200 before it is given up.
const WRONG: Duration = Duration::from_secs(3);

/// How long it may take to end in order, when it is asked to.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a contender is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The cores that all its processes run on; every core where none is named.
    pub cpus: Vec<usize>,
    /// The port, where it must be this one.
    pub port: Option<u16>,
    /// What its commands are run by.
    pub around: Around,
}

/// Words before and behind each of a contender's commands.
#[derive(Clone, Debug, Default)]
pub struct Around {
    pub before: Vec<String>,
    pub behind: Vec<String>,
}

/// A contender that answers. It ends when this is dropped.
#[derive(Debug)]
pub struct Started {
    pub address: SocketAddr,
    /// Its commands as they were typed, but for this machine's folders, which are `{placeholders}` again.
    pub commands: Vec<String>,
    keeper: Child,
    /// Its end is the keeper's sign to end the contender.
    rope: Option<ChildStdin>,
    events: Receiver<String>,
    work: PathBuf,
}

/// Why a contender does not run. Each is one sentence or two for its row.
#[derive(Debug)]
pub enum Failure {
    /// What it needs is not here.
    Missing(String),
    /// It cannot be compiled or prepared.
    Build(String),
    /// Somebody else listens on its port.
    PortTaken { port: u16, holder: String },
    /// It has ended by itself: how, and the last lines that it wrote.
    Ended { how: String, output: String },
    /// It has not answered in time: what it did instead, and the last lines that it wrote.
    NoAnswer { what: String, output: String },
    /// A signal has asked to stop.
    Stopped,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let said = |f: &mut std::fmt::Formatter, output: &str| match output {
            "" => write!(f, "; it wrote nothing"),
            output => write!(f, "; it wrote:\n{output}"),
        };
        match self {
            Self::Missing(what) => f.write_str(what),
            Self::Build(error) => write!(f, "cannot be built: {error}"),
            Self::PortTaken { port, holder } => {
                write!(f, "its port {port} is taken by {holder}: end that first")
            }
            Self::Ended { how, output } => {
                write!(f, "ended by itself ({how})")?;
                said(f, output)
            }
            Self::NoAnswer { what, output } => {
                f.write_str(what)?;
                said(f, output)
            }
            Self::Stopped => f.write_str("stopped by a signal"),
        }
    }
}

impl std::error::Error for Failure {}

/// Builds the contender if that is still to be done, starts it, and waits until it answers.
pub fn start(contender: &Contender, options: &Options) -> Result<Started, Failure> {
    if let missing @ Presence::Missing { .. } = presence::of(contender) {
        return Err(Failure::Missing(missing.missing().unwrap_or_default()));
    }
    build::build(contender).map_err(|error| Failure::Build(format!("{error:#}")))?;
    let first = start_once(contender, options);
    match first {
        // Somebody took it between our look and the contender's: once more, on another.
        Err(Failure::PortTaken { .. }) if options.port.is_none() => start_once(contender, options),
        first => first,
    }
}

fn start_once(contender: &Contender, options: &Options) -> Result<Started, Failure> {
    if stop::requested() {
        return Err(Failure::Stopped);
    }
    let unprepared = |error: anyhow::Error| Failure::Build(format!("{error:#}"));
    let port = match options.port {
        Some(port) => port,
        None => port::free().map_err(unprepared)?,
    };
    if let Some(holder) = port::holder(port, &[]) {
        return Err(Failure::PortTaken { port, holder });
    }
    let mut started = Started::spawn(contender, options, port).map_err(unprepared)?;
    let patience = Duration::from_secs(contender.manifest.start.seconds.into());
    let begun = Instant::now();
    let mut wrong_since = None;
    loop {
        let failure = match first_answer(started.address, contender.manifest.hello.path.get_ref()) {
            Answer::Right => break,
            Answer::None => "has not answered".to_owned(),
            Answer::Other(what) => {
                wrong_since.get_or_insert_with(Instant::now);
                what
            }
        };
        if stop::requested() {
            return Err(Failure::Stopped);
        }
        if let Some(how) = started.ended() {
            if let Some(holder) = port::holder(port, &started.tree()) {
                return Err(Failure::PortTaken { port, holder });
            }
            let output = started.output();
            return Err(Failure::Ended { how, output });
        }
        let waited = begun.elapsed();
        if waited > patience || wrong_since.is_some_and(|since| since.elapsed() > WRONG) {
            if let Some(holder) = port::holder(port, &started.tree()) {
                return Err(Failure::PortTaken { port, holder });
            }
            return Err(Failure::NoAnswer {
                what: format!("{failure} in {:.0} s", waited.as_secs_f64()),
                output: started.output(),
            });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // An answer proves nothing if it is somebody else's.
    match port::holder(port, &started.tree()) {
        Some(holder) => Err(Failure::PortTaken { port, holder }),
        None => Ok(started),
    }
}

impl Started {
    fn spawn(contender: &Contender, options: &Options, port: u16) -> Result<Self> {
        let work = work_dir(&contender.name)?;
        let started = prepare(contender, options, port, &work).and_then(|(plan, commands)| {
            let (keeper, rope, events) = keep(&plan)?;
            Ok(Self {
                address: (Ipv4Addr::LOCALHOST, port).into(),
                commands,
                keeper,
                rope: Some(rope),
                events,
                work: work.clone(),
            })
        });
        if started.is_err() {
            let _ = fs::remove_dir_all(&work);
        }
        started
    }

    /// The keeper's process id. The contender is all that descends from it, and not the keeper itself.
    pub fn root(&self) -> u32 {
        self.keeper.id()
    }

    /// The contender's processes as they are now.
    pub fn tree(&self) -> Vec<u32> {
        tree::descendants(self.keeper.id())
    }

    /// How one of its commands has ended, if one has: it should not have.
    pub fn ended(&mut self) -> Option<String> {
        match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(mpsc::TryRecvError::Empty) => None,
            Err(mpsc::TryRecvError::Disconnected) => Some("its keeper has gone".to_owned()),
        }
    }

    /// Has it end in order, and gives the last lines that it has written.
    ///
    /// # Errors
    ///
    /// When it takes too long, or says that it has failed.
    pub fn end(&mut self) -> Result<String> {
        for process in self.tree() {
            tree::terminate(process);
        }
        let how = self.events.recv_timeout(PATIENCE);
        let (how, output) = (how.context("it does not end")?, self.output());
        ensure!(how.ends_with("exit status 0"), "{how}; it wrote:\n{output}");
        Ok(output)
    }

    /// The last lines that it has written.
    pub fn output(&self) -> String {
        // What it wrote just before its end is still on its way through the keeper.
        std::thread::sleep(Duration::from_millis(30));
        let file = self.work.join(keeper::LOG);
        let text = fs::read(file).unwrap_or_default();
        command::last_lines(&String::from_utf8_lossy(&text), 12)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.rope.take());
        let begun = Instant::now();
        while begun.elapsed() < keeper::GRACE + Duration::from_secs(5) {
            if let Ok(Some(_)) = self.keeper.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // It never takes as long; but nothing may be left behind even then.
        for process in self.tree() {
            tree::kill(process);
        }
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
        let _ = fs::remove_dir_all(&self.work);
    }
}

/// A new private folder.
fn work_dir(name: &str) -> Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("rerun-{}-{number}-{name}", std::process::id());
    let work = std::env::temp_dir().join(name);
    DirBuilder::new()
        .mode(0o700)
        .create(&work)
        .with_context(|| format!("creating {}", work.display()))?;
    Ok(work)
}

/// Fills in the placeholders of commands and files.
fn prepare(
    contender: &Contender,
    options: &Options,
    port: u16,
    work: &Path,
) -> Result<(Plan, Vec<String>)> {
    let start = &contender.manifest.start;
    let mut places = contender.places();
    let cpus = match options.cpus.len() {
        0 => std::thread::available_parallelism()?.get(),
        chosen => chosen,
    };
    places.set("port", port);
    places.set("cpus", cpus);
    places.set("work", work.display());
    places.set("user", user()?);
    places.set("group", group()?);
    for name in &start.files {
        let name = name.get_ref();
        let text = fs::read_to_string(contender.dir.join(name))?;
        fs::write(work.join(name), places.fill_known(&text))?;
    }
    let around = &options.around;
    let commands: Vec<Vec<String>> = start
        .run
        .iter()
        .map(|words| Ok([&around.before[..], &places.fill_all(words)?, &around.behind].concat()))
        .collect::<Result<_>>()?;
    let typed = commands
        .iter()
        .map(|words| places.without_folders(&command::quote_all(words)))
        .collect();
    let variables = start.env.iter();
    let env = variables
        .map(|(name, value)| Ok((name.clone(), places.fill(value)?)))
        .collect::<Result<_>>()?;
    let plan = Plan {
        commands,
        env,
        work: work.to_owned(),
        cpus: options.cpus.clone(),
    };
    Ok((plan, typed))
}

fn user() -> Result<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid())?;
    Ok(user.context("this process's user has no name")?.name)
}

fn group() -> Result<String> {
    let group = nix::unistd::Group::from_gid(nix::unistd::getegid())?;
    Ok(group.context("this process's group has no name")?.name)
}

/// Starts a keeper with this plan.
fn keep(plan: &Plan) -> Result<(Child, ChildStdin, Receiver<String>)> {
    let mut command = Command::new(SELF);
    command
        .arg(keeper::NAME)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Ctrl-C on the terminal is for us; the keeper hears of it by the pipe.
        .process_group(0);
    let mut keeper = command.spawn().context("starting rerun as a keeper")?;
    let (Some(mut rope), Some(events)) = (keeper.stdin.take(), keeper.stdout.take()) else {
        unreachable!("both are piped");
    };
    let mut line = serde_json::to_string(plan)?;
    line.push('\n');
    let (sender, receiver) = mpsc::channel();
    let mut events = BufReader::new(events).lines();
    rope.write_all(line.as_bytes())
        .and_then(|()| events.next().unwrap_or(Ok(String::new())).map(drop))
        .context("talking to the keeper")?;
    std::thread::spawn(move || {
        for event in events.map_while(Result::ok) {
            if sender.send(event).is_err() {
                break;
            }
        }
    });
    Ok((keeper, rope, receiver))
}

/// What came back when the contender was asked for the first time.
enum Answer {
    /// The beginning of an answer with status 200.
    Right,
    /// Nothing yet.
    None,
    /// Something else.
    Other(String),
}

fn first_answer(address: SocketAddr, path: &str) -> Answer {
    let ask = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(200))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )?;
        let mut head = Vec::new();
        stream.take(4096).read_to_end(&mut head)?;
        Ok(head)
    };
    match ask() {
        Err(_) => Answer::None,
        Ok(head) if head.is_empty() => Answer::None,
        Ok(head) => {
            let status = head
                .strip_prefix(b"HTTP/1.")
                .and_then(|rest| std::str::from_utf8(rest.get(2..5)?).ok());
            match status {
                Some("200") => Answer::Right,
                Some(status) => Answer::Other(format!("answers {path} with status {status} only")),
                None => {
                    let start = String::from_utf8_lossy(&head[..head.len().min(40)]).into_owned();
                    Answer::Other(format!("answers {path} with no HTTP but {start:?}"))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_sentences() {
        let taken = Failure::PortTaken {
            port: 8080,
            holder: "nginx (process 7)".into(),
        };
        assert_eq!(
            taken.to_string(),
            "its port 8080 is taken by nginx (process 7): end that first"
        );
        let ended = Failure::Ended {
            how: "exit status: 1".into(),
            output: String::new(),
        };
        assert_eq!(
            ended.to_string(),
            "ended by itself (exit status: 1); it wrote nothing"
        );
    }

    #[test]
    fn work_folders_differ() {
        let one = work_dir("x").unwrap();
        let two = work_dir("x").unwrap();
        assert_ne!(one, two);
        for folder in [one, two] {
            fs::remove_dir(folder).unwrap();
        }
    }
}
