//! What the tests need to know of the build, which nginx and which modules, and what they need
//! to watch an nginx at work: clients, processes, and patience.

#![allow(dead_code)]

pub mod faults;
pub mod http;
pub mod http2;
pub mod process;
pub mod source;

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};
use test_nginx::{Nginx, Server, ServerBuilder};

/// How long a test waits for what must come; shorter than any wait of a minute that it must cut
/// short, and longer than a busy machine needs.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// The workspace.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Sets the `TEST_NGINX_*` variables that `make build` and `make test` leave in
/// `target/module/test.env`, unless they are set. Builds the modules first where nobody has.
/// For a test program's `main`, before it starts threads.
pub fn prepare() {
    if std::env::var_os("TEST_NGINX_LOAD_MODULES").is_some() {
        return;
    }
    for (name, value) in settings() {
        // SAFETY: by what is said above, nobody reads the environment meanwhile.
        unsafe { std::env::set_var(name, value) };
    }
}

/// What `target/module/test.env` says, overruled by the environment.
fn settings() -> &'static HashMap<String, String> {
    static SETTINGS: OnceLock<HashMap<String, String>> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        const NAMES: [&str; 3] = [
            "TEST_NGINX_BINARY",
            "TEST_NGINX_LOAD_MODULES",
            "CONTENT_BY_RUST_MODULES_DIR",
        ];
        let set = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        if let Some(all) = NAMES.into_iter().map(set).collect() {
            return all;
        }
        build_modules();
        let file = root().join("target/module/test.env");
        let text = std::fs::read_to_string(&file).expect("target/module/test.env can be read");
        text.lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .chain(NAMES.into_iter().filter_map(set))
            .collect()
    })
}

/// What `make build` calls each package's module.
const FILE: &str = "ngx_http_rust_module.so";

/// Builds those modules that are missing or older than their source.
fn build_modules() {
    let modules = root().join("target/module");
    let shared = newest(&root().join("src"));
    for (package, source) in [
        ("ngx-http-rust-module", "module"),
        ("test-handlers", "tests/handlers"),
        ("test-tokio-handlers", "tests/tokio-handlers"),
        ("test-background-tasks", "tests/background-tasks"),
        ("test-from-lua", "tests/from-lua"),
        ("greeter", "examples/greeter"),
        ("events", "examples/events"),
        ("fan-out", "examples/fan-out"),
        ("redis-counter", "examples/redis-counter"),
    ] {
        let file = match source {
            "module" => Path::new("").join(FILE),
            _ => Path::new(package).join(FILE),
        };
        let built = modified(&modules.join(file));
        let page = match package {
            // Out of which its programs are taken.
            "test-from-lua" => "docs/from-lua.md",
            _ => source,
        };
        let is_new = |built| built > shared && built > newest(&root().join(source));
        if built.is_some_and(is_new) && built > modified(&root().join(page)) {
            continue;
        }
        let status = Command::new("cargo")
            .args(["xtask", "build", "--package", package])
            .current_dir(root())
            .status()
            .expect("cargo runs");
        assert!(status.success(), "{package} cannot be built");
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// When a file in or below a directory was last changed.
fn newest(dir: &Path) -> SystemTime {
    let entries = std::fs::read_dir(dir).expect("a directory of the workspace");
    entries
        .flatten()
        .map(|entry| match entry.path() {
            path if path.is_dir() => newest(&path),
            path => modified(&path).unwrap_or(SystemTime::UNIX_EPOCH),
        })
        .max()
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The nginx under test.
pub fn binary() -> &'static Path {
    Path::new(&settings()["TEST_NGINX_BINARY"])
}

/// Where a sanitizer around nginx writes its reports, if there is one.
pub fn sanitizer_reports() -> Option<PathBuf> {
    std::env::var_os("SANITIZER_REPORTS").map(PathBuf::from)
}

/// The module of a package, or the shipped one where no package is named.
pub fn module(package: &str) -> String {
    let dir = Path::new(&settings()["CONTENT_BY_RUST_MODULES_DIR"]);
    let file = dir.join(package).join("ngx_http_rust_module.so");
    assert!(file.is_file(), "{} is not built", file.display());
    file.display().to_string()
}

/// The modules that are loaded beside the shipped one where there are any: Lua among them.
pub fn companions() -> Vec<String> {
    let all = &settings()["TEST_NGINX_LOAD_MODULES"];
    let all = all.split_whitespace();
    all.filter(|file| !file.ends_with("/ngx_http_rust_module.so"))
        .map(str::to_owned)
        .collect()
}

/// The nginx under test with these modules.
pub fn nginx_with(modules: impl IntoIterator<Item = String>) -> Nginx {
    static PLAIN: OnceLock<Nginx> = OnceLock::new();
    let plain = PLAIN.get_or_init(|| Nginx::new(binary()).expect("an nginx"));
    plain.clone().modules(modules)
}

/// The nginx under test with the test handlers, started by a shell script that gets nginx's
/// arguments.
pub fn wrapped(script: &str) -> Nginx {
    wrapped_with(script, [module("test-handlers")])
}

/// The nginx under test with these modules, started by a shell script.
pub fn wrapped_with(script: &str, modules: impl IntoIterator<Item = String>) -> Nginx {
    let mut hasher = DefaultHasher::new();
    script.hash(&mut hasher);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = dir.join(format!("nginx-{:016x}.sh", hasher.finish()));
    let version = format!("[ \"$1\" = -V ] && exec \"{}\" -V", binary().display());
    static WRITTEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut written = WRITTEN.lock().unwrap_or_else(|e| e.into_inner());
    if written.insert(file.clone()) {
        let text = file.with_extension(std::process::id().to_string());
        std::fs::write(&text, format!("#!/bin/sh\n{version}\n{script}\n")).expect("a script");
        // A file that is open for writing cannot be run: not even where only a process has it
        // open that another thread here starts. So the writing is another process's.
        let program = text.with_extension("program");
        let mut install = Command::new("install");
        install.args(["-m", "755"]).arg(&text).arg(&program);
        assert!(install.status().expect("install runs").success());
        std::fs::rename(&program, &file).expect("a script");
        std::fs::remove_file(&text).expect("a script");
    }
    drop(written);
    let nginx = Nginx::new(&file).expect("an nginx");
    nginx.modules(modules)
}

/// A server with the handlers that only tests want.
pub fn server() -> ServerBuilder {
    Server::builder().nginx(nginx_with([module("test-handlers")]))
}

/// As [`server`], with a master and this configuration, and a log from `info` on.
pub fn server_with(config: &str) -> ServerBuilder {
    server().master(true).log_level("info").config(config)
}

/// The nginx under test with the test handlers and all its other modules, if Lua is among them.
pub fn nginx_with_lua() -> Option<Nginx> {
    let modules = companions();
    if !modules.iter().any(|file| file.contains("lua")) {
        eprintln!("skipped: there is no Lua module for this nginx");
        return None;
    }
    let modules = modules.into_iter().chain([module("test-handlers")]);
    Some(nginx_with(modules))
}

/// Starts it. What went wrong is the test's failure.
pub fn start(builder: ServerBuilder) -> Server {
    builder.start().expect("nginx starts")
}

/// Waits until the condition holds; fails the test where it does not in time.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for a line of the error log.
#[track_caller]
pub fn logged(server: &Server, text: &str) -> String {
    server
        .wait_for_log(text, PATIENCE)
        .expect("a line in the log")
}

/// Waits until the error log has so many lines with this text.
#[track_caller]
pub fn logged_times(server: &Server, text: &str, times: usize) {
    eventually(&format!("{text:?} in the log {times} times"), || {
        server.error_log().matches(text).count() >= times
    });
}

/// Waits until the access log has so many lines with this text.
#[track_caller]
pub fn accessed(server: &Server, text: &str, times: usize) {
    eventually(&format!("{text:?} in the access log {times} times"), || {
        server.access_log().matches(text).count() >= times
    });
}

/// How many requests a worker is busy with, by its page of `stub_status`, the page itself left out.
#[track_caller]
pub fn busy(status: &str) -> usize {
    let (_, writing) = status.split_once("Writing: ").expect("a status");
    let number = writing
        .split(' ')
        .next()
        .and_then(|n| n.parse::<usize>().ok());
    number.expect("a number") - 1
}

/// The lines of the error log at `alert` and above, and those with which nginx tells of a leak.
pub fn alarms(server: &Server) -> Vec<String> {
    let log = server.error_log();
    let is_alarm = |line: &&str| {
        [
            "[alert]",
            "[emerg]",
            "[crit]",
            "open socket",
            "exited on signal",
        ]
        .iter()
        .any(|sign| line.contains(sign))
    };
    log.lines().filter(is_alarm).map(str::to_owned).collect()
}

/// Has the server quit, which must not take longer than nobody waiting allows, and must leave no
/// line of alarm.
#[track_caller]
pub fn quits_in_peace(mut server: Server) {
    server.signal(test_nginx::Signal::QUIT).expect("it runs");
    let status = server.wait(PATIENCE).expect("nobody waits, so it ends");
    assert!(status.success(), "{status}");
    assert_eq!(alarms(&server), [""; 0]);
}
