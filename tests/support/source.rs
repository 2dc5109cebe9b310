//! The source of the nginx under test, for tests that build against it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command without what cargo tells a test program: build scripts that watch it would run again.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command
}

/// The source of the nginx under test, and where it has been configured: named by the environment,
/// or else where `make build` has put them.
pub fn configured() -> (PathBuf, PathBuf) {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    if let (Some(source), Some(objs)) = (named("NGINX_SOURCE_DIR"), named("NGINX_BUILD_DIR")) {
        return (source, objs);
    }
    let version = format!("\"{}\"", super::nginx_with([]).version());
    let all =
        fs::read_dir(super::root().join("target/nginx")).expect("the nginx that was prepared");
    let prepared = all.flatten().map(|entry| entry.path()).find(|dir| {
        let header = fs::read_to_string(dir.join("source/src/core/nginx.h"));
        dir.join("objs/Makefile").is_file() && header.is_ok_and(|text| text.contains(&version))
    });
    let prepared = prepared.expect("the source of this nginx in target/nginx");
    (prepared.join("source"), prepared.join("objs"))
}

/// Copies what is new, so that nothing is compiled twice.
pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_tree(&from, &to);
        } else if !to.exists() {
            fs::copy(&from, &to).expect("a copy");
        }
    }
}
