//! Running one block: its server, its requests, its checks.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use libtest_mimic::{Completion, Failed};
use rustix::process::Signal;

use crate::block::Block;
use crate::check::{Checks, Nth};
use crate::client::{self, Options};
use crate::conf::Conf;
use crate::curl;
use crate::expand::{Variables, find};
use crate::log::{self, Log};
use crate::mock::{Mock, shutdown_of};
use crate::nginx::Nginx;
use crate::perl::Perl;
use crate::port::{self, Fixed};
use crate::process::{Process, StartError};
use crate::report::indent;
use crate::request::{self, Request};
use crate::response::{self, Response};
use crate::room::Room;
use crate::user_files;
use crate::value::Value;

/// How often a block is tried again when its port was lost.
const ATTEMPTS: usize = 5;

/// Why a block ended early.
enum Stop {
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
    let conf = conf(block).render(nginx, &room.root(), port, &vars)?;
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

fn conf(block: &Block) -> Conf {
    let env = |name: &str| {
        block
            .env
            .get(name)
            .filter(|value| !value.is_empty())
            .cloned()
    };
    let name = block
        .text("server_name")
        .unwrap_or_else(|| block.setting_text("server_name"));
    let variables = block
        .setting("env_to_nginx")
        .list()
        .unwrap_or_default()
        .iter();
    Conf {
        workers: block.setting_text("workers"),
        worker_connections: block.setting_text("worker_connections"),
        master: block.setting_text("master") == "on",
        log_level: block
            .text("log_level")
            .unwrap_or_else(|| block.setting_text("log_level")),
        error_log: block
            .has("error_log_file")
            .then(|| block.bytes("error_log_file")),
        server_name: name.into_bytes(),
        root_location: !block.setting("no_root_location").is_true(),
        http2: uses_http2(block),
        reuseport: env("TEST_NGINX_REUSE_PORT").is_some(),
        main_config: block.bytes("main_config"),
        http_config: block.bytes("http_config"),
        preamble: block
            .setting("preamble")
            .bytes()
            .unwrap_or_default()
            .to_vec(),
        config: block.bytes("config"),
        post_main_config: block.bytes("post_main_config"),
        env: variables
            .filter_map(|v| v.str().map(|v| v.into_owned()))
            .collect(),
        event_type: env("TEST_NGINX_EVENT_TYPE"),
        postpone_output: env("TEST_NGINX_POSTPONE_OUTPUT"),
        worker_user: env("TEST_NGINX_WORKER_USER"),
    }
}

/// Whether requests go over HTTP/2: the block says so, or
/// `TEST_NGINX_USE_HTTP2` does and nothing in the block is against it.
fn uses_http2(block: &Block) -> bool {
    if block.has("no_http2") || block.has("http2") {
        return block.has("http2") && !block.has("no_http2");
    }
    let against = [
        "$server_port",
        "$TEST_NGINX_SERVER_PORT",
        "ngx.req.raw_header",
        "lua_check_client_abort",
        "ngx.req.socket",
        "ngx.req.read_body",
    ];
    let speaks_against = |section: &str| {
        let text = block.text(section).unwrap_or_default();
        against.iter().any(|word| text.contains(word))
    };
    block.setting("use_http2").is_true()
        && block.has("request")
        && !block.has("raw_request")
        && !block.has("pipelined_requests")
        && !block
            .text("request")
            .unwrap_or_default()
            .contains("HTTP/1.0")
        && !["config", "http_config", "user_files"]
            .into_iter()
            .any(speaks_against)
}

struct Test<'a> {
    nginx: &'a Nginx,
    block: &'a Block,
    perl: &'a Arc<Perl>,
    room: &'a Room,
    checks: Checks<'a>,
    repeats: usize,
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
        }
        Ok(())
    }

    fn serves(&self, failures: &mut Vec<String>) -> Result<(), Stop> {
        let mut process = match self.start() {
            Ok(process) => process,
            Err(StartError::PortTaken) => return Err(Stop::PortTaken),
            Err(StartError::Io(e)) => return Err(Stop::Broken(e.to_string())),
            Err(StartError::Exited(status)) => {
                let said = log::text(&self.room.stderr());
                let missing = said
                    .split("unknown directive \"")
                    .nth(1)
                    .and_then(|s| s.split('"').next());
                let ignore = self.block.env.get("TEST_NGINX_IGNORE_MISSING_DIRECTIVES");
                return Err(match (missing, ignore) {
                    (Some(name), Some(_)) => Stop::Skipped(format!("there is no directive {name}")),
                    _ => Stop::Broken(format!("nginx does not start: {status}")),
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

    /// All requests of one repetition, with their checks.
    fn requests(
        &self,
        repeat: usize,
        log: &mut Log,
        failures: &mut Vec<String>,
    ) -> Result<(), Stop> {
        let mocks = Mock::start_all(self.block, self.perl, |text| self.checks.vars.expand(text))?;
        if repeat > 0 {
            // The requests may have changed them.
            let files = self.block.section("user_files");
            user_files::write(files, &self.room.html(), self.checks.vars)?;
        }
        let pipelined = self.pipelined()?;
        let name = self.block.setting_text("server_name");
        let requests = request::build(&request::Sections {
            request: self.block.section("request"),
            raw_request: self.block.section("raw_request"),
            pipelined: &pipelined,
            more_headers: self.block.section("more_headers"),
            server_name: &name,
        })?;
        let responses = match &pipelined {
            Value::List(list) if !self.block.has("raw_request") => list.len(),
            _ => 1,
        };
        let several = pipelined != Value::Undef || requests.len() > 1;
        let count = requests.len().max(responses);
        let wait = self.block.time("wait")?.unwrap_or_default();
        let mut nth = Nth {
            request: 0,
            repeat,
            several,
        };
        for request in &requests {
            let mut left = self.send(request, failures)?;
            for _ in 0..responses {
                let before = failures.len();
                if !self.block.has("ignore_response") {
                    left = self.respond(left, nth, failures)?;
                }
                sleep(wait);
                failures.extend(self.checks.error_log(log, nth, None)?);
                if !self.block.has("ignore_response") {
                    let access = Log::new(self.room.access_log());
                    failures.extend(self.checks.access_log(&access)?);
                }
                if count > 1 {
                    for failure in &mut failures[before..] {
                        *failure = format!("[request {}] {failure}", nth.request + 1);
                    }
                }
                nth.request += 1;
            }
        }
        for mock in mocks {
            failures.extend(mock.finish(self.perl));
        }
        Ok(())
    }

    fn pipelined(&self) -> Result<Value, Stop> {
        let Value::List(requests) = self.block.section("pipelined_requests") else {
            return Ok(self.block.section("pipelined_requests").clone());
        };
        let expand = |request: &Value| match request {
            Value::Bytes(text) => self.checks.vars.expand(text).map(Value::Bytes),
            other => Ok(other.clone()),
        };
        Ok(Value::List(
            requests.iter().map(expand).collect::<Result<_, _>>()?,
        ))
    }

    /// Checks the first response in `text`; what follows it is the answer.
    fn respond(
        &self,
        text: Vec<u8>,
        nth: Nth,
        failures: &mut Vec<String>,
    ) -> Result<Vec<u8>, Stop> {
        let (mut response, left) = if self.block.has("http09") {
            let code = Some("200".to_owned());
            (
                Response {
                    code,
                    body: text,
                    ..Response::default()
                },
                Vec::new(),
            )
        } else {
            let parsed = response::parse(&text);
            failures.extend(
                parsed
                    .error
                    .map(|error| format!("the response has {error}")),
            );
            match parsed.response {
                Some(response) => (response, parsed.left),
                None => return Ok(parsed.left),
            }
        };
        failures.extend(self.checks.response(&mut response, nth)?);
        Ok(left)
    }

    /// Sends one request, and returns all that came back.
    fn send(&self, request: &Request, failures: &mut Vec<String>) -> Result<Vec<u8>, Stop> {
        let timeout = self.block.time("timeout")?;
        let timeout = timeout.unwrap_or_else(|| self.block.setting_time("timeout"));
        let address = self.block.text("server_addr_for_client");
        let address = address.unwrap_or_else(|| self.block.setting_text("server_addr"));
        let address = address.trim();
        if uses_http2(self.block) || self.block.has("curl") {
            let server = format!("{address}:{}", self.checks.port);
            let protocol = self
                .block
                .text("curl_protocol")
                .unwrap_or_else(|| "http".to_owned());
            let mut arguments =
                curl::arguments(request, &server, timeout, protocol.trim(), self.room.dir())?;
            if let Some(options) = self.block.text("curl_options") {
                let url = arguments.len() - 1;
                arguments.insert(url, options.trim_end().to_owned());
            }
            if uses_http2(self.block) {
                return Ok(self.curl(&arguments, failures)?);
            }
            arguments.retain(|argument| argument != "--http2-prior-knowledge");
            eprintln!("# curl {arguments:?}");
        }
        let shutdown = self
            .block
            .text("shutdown")
            .map(|how| shutdown_of(&how))
            .transpose()?;
        let options = Options {
            address,
            port: self.checks.port,
            timeout,
            delay: self.block.time("raw_request_middle_delay")?,
            shutdown,
        };
        let outcome = client::send(request, &options)
            .map_err(|e| format!("{address}:{}: {e}", self.checks.port))?;
        if outcome.timed_out {
            if self.block.has("abort") {
                sleep(Duration::from_millis(5));
            } else {
                failures.push(format!(
                    "the client timed out: nothing came for {timeout:?}"
                ));
            }
        }
        if let (Some(error), true) = (outcome.error, outcome.response.is_empty()) {
            // As a text without a status line, it fails the check of the status.
            return Ok(error.into_bytes());
        }
        Ok(outcome.response)
    }

    fn curl(&self, arguments: &[String], failures: &mut Vec<String>) -> Result<Vec<u8>, String> {
        let (response, complaint) = curl::run(arguments).map_err(|e| e.to_string())?;
        if response.is_empty() {
            let expected = match self.block.section("curl_error") {
                Value::Undef => false,
                pattern @ Value::Regex { .. } => {
                    self.perl.matches(pattern, "", complaint.as_bytes())?
                }
                text => find(complaint.as_bytes(), text.bytes().unwrap_or_default()).is_some(),
            };
            if !expected {
                failures.push(format!("curl got no response: {complaint}"));
            }
        }
        Ok(response)
    }
}
