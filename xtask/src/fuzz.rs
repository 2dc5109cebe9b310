//! `cargo xtask fuzz`: libFuzzer searches for bytes that break a promise of a reader's.
//!
//! The compiler's own coverage passes do it, on a stable toolchain: what is searched has no unsafe code, so that no
//! sanitizer is needed to see it break.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};

use crate::install::{self, Need};
use crate::{project, shell};

/// What the compiler puts into the code, so that libFuzzer sees which branches were taken and what was compared.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Bytes of an input, at most; a few inputs of this size are read in a second.
const LONGEST: u32 = 64 * 1024;

/// An input that takes so many seconds has found something that is not linear.
const SLOWEST: u32 = 10;

#[derive(clap::Args)]
pub struct Options {
    /// The targets: all of them when none is named
    targets: Vec<String>,
    /// How long each is searched
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

pub fn run(options: &Options) -> Result<()> {
    let known = targets()?;
    if let Some(other) = options.targets.iter().find(|name| !known.contains(name)) {
        bail!("no target \"{other}\", there are: {}", known.join(", "));
    }
    let chosen = match options.targets.is_empty() {
        true => &known,
        false => &options.targets,
    };
    search(chosen, options.seconds)
}

/// All targets for so many seconds each.
pub fn all(seconds: u32) -> Result<()> {
    search(&targets()?, seconds)
}

fn seeds() -> PathBuf {
    project::root().join("fuzz/seeds")
}

/// A target has a folder of seeds; a test of the crate `fuzz` sees to that.
fn targets() -> Result<Vec<String>> {
    let folders = fs::read_dir(seeds()).context("reading fuzz/seeds")?;
    let mut names = Vec::new();
    for folder in folders {
        names.extend(folder?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// As many at a time as there are cores.
fn search(targets: &[String], seconds: u32) -> Result<()> {
    install::install(&[Need::Fuzzing])?;
    let program = build()?;
    let waiting = Mutex::new(targets.iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().expect("no panic while locked").next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(target) = next() {
                    if let Err(error) = one(&program, target, seconds) {
                        eprintln!("{error:#}");
                        failed
                            .lock()
                            .expect("no panic while locked")
                            .push(target.as_str());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic while locked");
    ensure!(
        failed.is_empty(),
        "promises are broken: {}",
        failed.join(", ")
    );
    Ok(())
}

/// In a target directory of its own: the flags are for every crate, but not for build scripts, hence the triple.
fn build() -> Result<PathBuf> {
    let version = shell::quiet(shell::command("rustc").arg("-vV"))?.stdout;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc -vV names no host")?;
    let dir = project::target().join("fuzz");
    shell::run(
        shell::command("cargo")
            .args(["build", "--package", "fuzz", "--bin", "fuzz"])
            .args(["--features", "libfuzzer", "--profile", "fuzz"])
            .args(["--target", host])
            .env("RUSTFLAGS", COVERAGE.join(" "))
            .env("CARGO_TARGET_DIR", &dir)
            .current_dir(project::root()),
    )?;
    Ok(dir.join(host).join("fuzz/fuzz"))
}

/// Searches from the seeds and from what earlier calls have found, which is kept in `target/`.
fn one(program: &Path, target: &str, seconds: u32) -> Result<()> {
    let dir = project::target().join("fuzz");
    let (corpus, found) = (dir.join("corpus").join(target), dir.join("found"));
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&found)?;
    let more = project::root().join("rerun/tests/audit");
    let output = shell::command(program)
        .env("FUZZ_TARGET", target)
        .args([&corpus, &seeds().join(target)])
        .args((target == "output").then_some(more))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={SLOWEST}"))
        .arg(format!("-max_len={LONGEST}"))
        .arg(format!("-artifact_prefix={}/{target}-", found.display()))
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success()
        && let Some(summary) = summary(&said)
    {
        eprintln!("{target}: {summary}");
        return Ok(());
    }
    let lines: Vec<&str> = said.lines().collect();
    bail!(
        "{}\n{target}: {}",
        lines[lines.len().saturating_sub(40)..].join("\n"),
        advice(&said, target)
    )
}

/// The last line of libFuzzer's own figures: `#12345 DONE cov: 678 ft: 901 ...`.
fn summary(said: &str) -> Option<&str> {
    said.lines()
        .rev()
        .find(|line| line.starts_with('#') && line.contains("DONE"))
}

/// What to do with the bytes that were found.
fn advice(said: &str, target: &str) -> String {
    let file = said
        .lines()
        .find_map(|line| line.split_once("Test unit written to "));
    match file {
        Some((_, file)) => format!(
            "keep these bytes, and `cargo test -p fuzz` tries them each time:\n    cp {} fuzz/seeds/{target}/WHAT-IT-IS",
            file.trim()
        ),
        None => "it ended before it had searched, or wrote down what broke it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_says() {
        let said = "#8\tINITED cov: 100\n#4096\tpulse  cov: 120\n#9000\tDONE   cov: 130 ft: 400\nDone 9000 runs\n";
        assert_eq!(summary(said), Some("#9000\tDONE   cov: 130 ft: 400"));
        assert_eq!(summary(""), None);
        let said = "==1== ERROR: libFuzzer: deadly signal\nartifact_prefix='x'; Test unit written to /x/output-crash-1\n";
        assert!(
            advice(said, "output").ends_with("cp /x/output-crash-1 fuzz/seeds/output/WHAT-IT-IS")
        );
        assert!(advice("", "output").contains("ended"));
    }

    #[test]
    fn targets_are_folders() {
        assert!(targets().unwrap().iter().any(|name| name == "output"));
    }
}
