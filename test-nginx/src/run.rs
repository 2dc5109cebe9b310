//! Running one block: its server, its requests, its checks.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Completion, Failed};
use rustix::process::Signal;

use crate::block::Block;
use crate::check::{Checks, Nth};
use crate::conf::Conf;
use crate::expand::{Variables, find};
use crate::log::{self, Log};
use crate::missing;
use crate::nginx::Nginx;
use crate::perl::Perl;
use crate::port::{self, Fixed};
use crate::process::{Process, StartError};
use crate::report::indent;
use crate::room::Room;
use crate::user_files;
use crate::value::Value;

/// How often a block is tried again when its port was lost.
const ATTEMPTS: usize = 5;

/// Why a block ended early.
pub(crate) enum Stop {
    /// Another process has its port: start over with another one.
    PortTaken,
    /// It does not apply to this nginx.
    Skipped(String),
    /// It cannot go on.
    Broken(String),
}

impl From<String> for Stop {
    fn from(message: String) -> Stop {
        Stop::Broken(message)
    }
}

/// Runs block number `index` of `file`.
pub(crate) fn run(
    nginx: &Nginx,
    env: &BTreeMap<String, String>,
    file: &Path,
    index: usize,
    line: usize,
) -> Result<Completion, Failed> {
    let at = format!("{}:{line}", file.display());
    for _ in 0..ATTEMPTS {
        let mut room = Room::new().map_err(|e| format!("{at}: no directory for the test: {e}"))?;
        let mut failures = Vec::new();
        let mut said = String::new();
        let result = run_in(nginx, env, file, index, &room, &mut failures, &mut said);
        match result {
            Err(Stop::PortTaken) => continue,
            Err(Stop::Skipped(reason)) => return Ok(Completion::ignored_with(reason)),
            Err(Stop::Broken(message)) => failures.push(message),
            Ok(()) => {}
        }
        let name = "TEST_NGINX_NO_CLEAN";
        let keep = env.get(name).cloned().or_else(|| env::var(name).ok());
        let keep = keep.is_some_and(|value| !value.is_empty());
        if keep || !failures.is_empty() {
            room.keep();
        }
        if failures.is_empty() {
            return Ok(Completion::Completed);
        }
        return Err(message(&at, &failures, &said, &room).into());
    }
    Err(format!("{at}: {ATTEMPTS} ports were lost to other processes").into())
}

fn message(at: &str, failures: &[String], said: &str, room: &Room) -> String {
    let mut text = format!("{at}:");
    for failure in failures {
        text.push_str(&format!("\n{failure}"));
    }
    text.push_str(&format!("\nnginx.conf: {}", room.conf().display()));
    let mut section = |name: &str, content: String| {
        if !content.is_empty() {
            text.push_str(&format!("\n{name}:\n{}", indent(&content)));
        }
    };
    let error_log = log::text(&room.error_log());
    section("error.log", log::tail(&error_log, 20));
    if error_log.is_empty() {
        section("nginx", log::tail(&log::text(&room.stderr()), 20));
    }
    section("perl", log::tail(said, 20));
    text
}

fn run_in(
    nginx: &Nginx,
    env: &BTreeMap<String, String>,
    file: &Path,
    index: usize,
    room: &Room,
    failures: &mut Vec<String>,
    said: &mut String,
) -> Result<(), Stop> {
    let given = port::free().map_err(|e| format!("no free port: {e}"))?;
    let perl = Perl::start(file, room.dir(), nginx, &perl_env(env, room, given));
    let perl = Arc::new(perl.map_err(|e| e.to_string())?);
    let result = perl.ask("block", &[Value::text(index.to_string())]);
    let result = result.map_err(Stop::Broken).and_then(|block| {
        let block = Block::new(&block);
        let result = run_block(nginx, file, &block, &perl, room, given, failures);
        if let (Some(line), false) = (block.inherited, failures.is_empty()) {
            failures.push(format!(
                "(the configuration is that of the block in line {line})"
            ));
        }
        result
    });
    *said = perl.said();
    result
}

/// What the file's Perl finds in its environment.
fn perl_env(env: &BTreeMap<String, String>, room: &Room, port: u16) -> BTreeMap<String, String> {
    let mut env = env.clone();
    env.insert("TEST_NGINX_SERVER_PORT".to_owned(), port.to_string());
    env.insert(
        "TEST_NGINX_SERVROOT".to_owned(),
        room.root().display().to_string(),
    );
    for name in ["TEST_NGINX_PORT", "TEST_NGINX_CLIENT_PORT"] {
        if env.contains_key(name) || env::var_os(name).is_some() {
            env.insert(name.to_owned(), port.to_string());
        }
    }
    env
}

fn run_block(
    nginx: &Nginx,
    file: &Path,
    block: &Block,
    perl: &Arc<Perl>,
    room: &Room,
    given: u16,
    failures: &mut Vec<String>,
) -> Result<(), Stop> {
    if let Some(reason) = &block.skip {
        return Err(Stop::Skipped(reason.clone()));
    }
    let unknown = block.unknown_sections();
    if !unknown.is_empty() {
        let unknown = unknown
            .iter()
            .map(|(line, what)| format!("{}:{line}: {what}", file.display()));
        return Err(Stop::Broken(unknown.collect::<Vec<_>>().join("\n")));
    }
    if block.setting("no_nginx_manager").is_true() {
        return Err(Stop::Broken(
            "no_nginx_manager() is not supported".to_owned(),
        ));
    }
    for section in ["raw_request", "pipelined_requests"] {
        if block.has("http2") && block.has(section) {
            let message = format!("--- http2 cannot be used with --- {section}");
            return Err(Stop::Broken(message));
        }
    }
    if !block.has("config") {
        let message = "the block has no --- config, and no block before it has one";
        return Err(Stop::Broken(message.to_owned()));
    }
    let is_ours = |(name, _): &(&String, &String)| name.starts_with("TEST_NGINX_");
    let vars = block
        .env
        .iter()
        .filter(is_ours)
        .map(|(k, v)| (k.clone(), v.clone()));
    let vars = Variables::new(vars.collect());
    let port: u16 = block
        .setting_text("server_port")
        .parse()
        .map_err(|_| "bad server_port()".to_owned())?;

    // Addresses that the file fixes are in use by one block at a time.
    let mut fixed = Vec::new();
    for section in ["main_config", "http_config", "config", "post_main_config"] {
        let text = vars.expand(&block.bytes(section))?;
        fixed.extend(port::listened(&String::from_utf8_lossy(&text)));
    }
    for section in ["tcp_listen", "udp_listen"] {
        let text = vars.expand(&block.bytes(section))?;
        fixed.push(String::from_utf8_lossy(&text).trim().to_owned());
    }
    if port != given {
        fixed.push(port.to_string());
    }
    fixed.retain(|address| !address.is_empty());
    fixed.sort();
    fixed.dedup();
    let _fixed = Fixed::hold(fixed);

    if block.has("post_setup_server_root") {
        eval_section(perl, block, "post_setup_server_root")?;
    }
    user_files::write(block.section("user_files"), &room.html(), &vars)?;
    let conf = Conf::of(block).render(nginx, &room.root(), port, &vars)?;
    fs::write(room.conf(), conf).map_err(|e| format!("{}: {e}", room.conf().display()))?;

    let test = Test {
        nginx,
        block,
        perl,
        room,
        checks: Checks {
            block,
            perl,
            vars: &vars,
            port,
        },
        repeats: block.setting_text("repeat_each").parse().unwrap_or(1),
    };
    let result = match block.has("must_die") {
        true => test.dies(failures),
        false => test.serves(failures),
    };
    if block.setting("cleanups").is_true() {
        perl.ask("cleanup", &[])?;
    }
    result
}

/// Runs a section that is Perl to be run at its moment.
fn eval_section(perl: &Perl, block: &Block, name: &str) -> Result<(), String> {
    let result = perl.ask("eval_perl", &[block.section(name).clone()]);
    result.map(drop).map_err(|e| format!("--- {name}: {e}"))
}

/// A block at work.
pub(crate) struct Test<'a> {
    pub nginx: &'a Nginx,
    pub block: &'a Block,
    pub perl: &'a Arc<Perl>,
    pub room: &'a Room,
    pub checks: Checks<'a>,
    pub repeats: usize,
}

impl Test<'_> {
    fn start(&self) -> Result<Process, StartError> {
        Process::start(
            self.nginx,
            self.room,
            self.checks.port,
            Some(&self.block.env),
        )
    }

    /// A block with `--- must_die`: nginx is not to come up.
    fn dies(&self, failures: &mut Vec<String>) -> Result<(), Stop> {
        let mut log = Log::new(self.room.error_log());
        let wanted = self
            .block
            .text("must_die")
            .unwrap_or_default()
            .trim()
            .parse::<i32>()
            .ok();
        for repeat in 0..self.repeats {
            match self.start() {
                Err(StartError::PortTaken) => return Err(Stop::PortTaken),
                Err(StartError::Io(e)) => return Err(Stop::Broken(e.to_string())),
                Err(StartError::Exited(status)) => {
                    let code = status.code();
                    if let Some(signal) = status.signal() {
                        failures.push(format!("must_die: nginx was ended by signal {signal}"));
                    } else if wanted.is_some() && code != wanted {
                        failures.push(format!("must_die: {status}, expected code {wanted:?}"));
                    } else if wanted.is_none() && code == Some(0) {
                        failures.push("must_die: nginx ended without an error".to_owned());
                    }
                }
                Ok(mut process) => {
                    if wanted != Some(0) {
                        failures.push("must_die: nginx runs".to_owned());
                    }
                    let _ = process.stop(Signal::TERM, Duration::from_secs(2));
                }
            }
            let said = fs::read(self.room.stderr()).unwrap_or_default();
            let nth = Nth {
                request: 0,
                repeat,
                several: false,
            };
            failures.extend(self.checks.error_log(&mut log, nth, Some(&said))?);
            // It is dead, but for another reason.
            if !failures.is_empty()
                && let Some(reason) = self.missing(&String::from_utf8_lossy(&said))
            {
                return Err(Stop::Skipped(reason));
            }
        }
        Ok(())
    }

    /// What this nginx would need, where a block that needs more than there is is skipped.
    fn missing(&self, said: &str) -> Option<String> {
        let name = "TEST_NGINX_IGNORE_MISSING_DIRECTIVES";
        self.block.env.get(name).and_then(|_| missing::reason(said))
    }

    fn serves(&self, failures: &mut Vec<String>) -> Result<(), Stop> {
        let mut process = match self.start() {
            Ok(process) => process,
            Err(StartError::PortTaken) => return Err(Stop::PortTaken),
            Err(StartError::Io(e)) => return Err(Stop::Broken(e.to_string())),
            Err(StartError::Exited(status)) => {
                let said = log::text(&self.room.stderr());
                return Err(match self.missing(&said) {
                    Some(reason) => Stop::Skipped(reason),
                    None => Stop::Broken(format!("nginx does not start: {status}")),
                });
            }
        };
        if self.block.has("init") {
            eval_section(self.perl, self.block, "init")?;
        }
        let mut log = Log::new(self.room.error_log());
        for repeat in 0..self.repeats {
            let before = failures.len();
            let result = self.requests(repeat, &mut log, failures);
            if self.repeats > 1 {
                for failure in &mut failures[before..] {
                    *failure = format!("[repeat {}] {failure}", repeat + 1);
                }
            }
            result?;
            if let Some(status) = process.ended().map_err(|e| e.to_string())? {
                failures.push(format!("nginx ended during the test: {status}"));
                return Ok(());
            }
        }
        self.ends(process, &log, failures)
    }

    /// Stops nginx, and looks at how it went.
    fn ends(
        &self,
        mut process: Process,
        log: &Log,
        failures: &mut Vec<String>,
    ) -> Result<(), Stop> {
        let speaks =
            self.block.has("shutdown_error_log") || self.block.has("no_shutdown_error_log");
        let patience = if speaks {
            self.block.setting_time("timeout")
        } else {
            Duration::from_secs(1)
        };
        let fast = self
            .block
            .env
            .get("TEST_NGINX_FAST_SHUTDOWN")
            .is_some_and(|v| !v.is_empty());
        let signal = if fast { Signal::TERM } else { Signal::QUIT };
        let status = process.stop(signal, patience).map_err(|e| e.to_string())?;
        if let Some(signal) = status.signal() {
            failures.push(format!("nginx did not end by itself: signal {signal}"));
        }
        let rest = log.rest();
        let crash = log::lines(&rest).find(|line| find(line, b" exited on signal ").is_some());
        if let Some(line) = crash {
            let line = String::from_utf8_lossy(line);
            failures.push(format!(
                "a process of nginx crashed:\n    {}",
                line.trim_end()
            ));
        }
        failures.extend(self.checks.shutdown_log(log)?);
        Ok(())
    }
}
