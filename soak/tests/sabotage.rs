//! A soak fails where a handler does wrong now and then, and says what; and it leaves no process, however it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A short soak with this handler in the place of `greet`.
fn soak(greet: &str) -> Command {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let modules = set("CONTENT_BY_RUST_MODULES_DIR")
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/module"));
    let module = modules.join("soak-handlers/ngx_http_rust_module.so");
    assert!(
        module.is_file(),
        "cargo xtask test none builds {}",
        module.display()
    );
    let mut soak = Command::new(env!("CARGO_BIN_EXE_soak"));
    soak.arg("--nginx")
        .arg(set("TEST_NGINX_BINARY").unwrap_or("/usr/sbin/nginx".into()))
        .arg("--module")
        .arg(module)
        .args([
            "--minutes",
            "0.1",
            "--clients",
            "16",
            "--patience",
            "4",
            "--greet",
            greet,
        ]);
    soak
}

/// Fails, with a line that has all of these.
#[track_caller]
fn fails(greet: &str, because: &[&str]) {
    let output = soak(greet).output().expect("soak runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{said}");
    let mut wrong = said.lines().filter(|line| line.starts_with("WRONG: "));
    assert!(
        wrong.any(|line| because.iter().all(|part| line.contains(part))),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn an_answer_for_somebody_else() {
    fails("lies", &["greet", "is wrong: \"hi you\\n\" and not \"hi "]);
}

#[test]
fn a_descriptor_that_is_forgotten() {
    fails(
        "leaks_descriptors",
        &["is left with Descriptors", "files: "],
    );
}

#[test]
fn memory_that_is_forgotten() {
    fails("leaks_memory", &["resident memory of the workers, KB grow"]);
}

#[test]
fn a_wake_that_is_lost() {
    fails("loses_wakes", &["greet", " within 4s"]);
}

#[test]
fn a_worker_that_crashes() {
    fails("crashes", &["exited on signal 6 and not with code 0"]);
}

/// The processes that a process has started, and those that they have.
fn descendants(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let children = threads
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: String = children.collect();
    let children = children.split_whitespace().map(|pid| pid.parse().unwrap());
    children
        .flat_map(|pid| [vec![pid], descendants(pid)].concat())
        .collect()
}

/// One that has ended, and for which nobody has waited, has none.
fn has_arguments(pid: &u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

#[track_caller]
fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_soak_that_is_killed_leaves_no_process() {
    let mut soak = soak("greet").stderr(Stdio::null()).spawn().unwrap();
    let mut started = Vec::new();
    eventually("Redis, nginx and two workers", || {
        started = descendants(soak.id());
        started.len() >= 4
    });
    soak.kill().unwrap();
    soak.wait().unwrap();
    eventually("all of them to end", || !started.iter().any(has_arguments));
}
