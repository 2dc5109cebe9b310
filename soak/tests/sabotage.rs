//! A soak fails where a handler does wrong now and then, and says what.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A short soak with this handler in the place of `greet`.
fn soak(greet: &str) -> Output {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let modules = set("CONTENT_BY_RUST_MODULES_DIR")
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/module"));
    let module = modules.join("soak-handlers/ngx_http_rust_module.so");
    assert!(
        module.is_file(),
        "cargo xtask test none builds {}",
        module.display()
    );
    Command::new(env!("CARGO_BIN_EXE_soak"))
        .arg("--nginx")
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
        ])
        .output()
        .expect("soak runs")
}

/// Fails, with a line that has all of these.
#[track_caller]
fn fails(greet: &str, because: &[&str]) {
    let output = soak(greet);
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
