//! `make test SANITIZE=1`: the tests with a sanitizer around nginx and the modules.
//!
//! For each [`Sanitizer`] an nginx is made like the chosen one, and the modules for it, in a directory of their own
//! below `target/nginx/`. The nginx gives each piece of a pool memory of its own (NGX_DEBUG_PALLOC), so that a step
//! beyond one shows. Then the tests run as ever, and what the sanitizer wrote is looked at: one [`Reports`] fails.

mod distribution;
mod nginx;
mod reports;
pub mod toolchain;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use self::reports::Reports;
use crate::install::{self, Need};
use crate::nginx::Nginx;
use crate::{build, project, shell, test};

/// The module with one fault for each kind of report: `tests/sanitizers.rs` asks for them.
const FAULTS: &str = "test-sanitizers";

/// What watches nginx and the modules at work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sanitizer {
    /// AddressSanitizer with LeakSanitizer over C and Rust, UndefinedBehaviorSanitizer over C.
    Address,
    /// valgrind's memcheck, which knows what was never written.
    Memcheck,
}

impl Sanitizer {
    /// Of the directory, and of its faults' tests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Memcheck => "memcheck",
        }
    }

    /// What C is compiled with, nginx and the module's shim alike.
    fn c_flags(self) -> &'static str {
        match self {
            Self::Address => "-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined",
            Self::Memcheck => "-g -O1 -fno-omit-frame-pointer",
        }
    }

    /// Has cargo build a module: with debug assertions, among them those of the standard library for unsafe code.
    pub fn build(self, cargo: &mut Command) -> Result<()> {
        cargo.arg("build").env("CFLAGS", self.c_flags());
        if self == Self::Address {
            cargo
                // A target that is named keeps the flag away from build scripts.
                .args(["--target", &toolchain::host()?])
                .env("RUSTUP_TOOLCHAIN", toolchain::NIGHTLY)
                .env("RUSTFLAGS", "-Zsanitizer=address");
        }
        Ok(())
    }
}

/// Not under AddressSanitizer: they ask compilers, or make an nginx of their own.
const NOT_UNDER_ADDRESS: [&str; 2] = ["compile_fail", "configure"];

/// Every other test of the module, under AddressSanitizer.
pub fn address(plain: &Nginx) -> Result<()> {
    toolchain::install()?;
    let mut arguments = vec!["--lib".to_owned()];
    for entry in fs::read_dir(project::root().join("tests"))? {
        let file = entry?.file_name();
        if let Some(test) = file.to_string_lossy().strip_suffix(".rs")
            && !NOT_UNDER_ADDRESS.contains(&test)
        {
            arguments.push(format!("--test={test}"));
        }
    }
    run(plain, Sanitizer::Address, &arguments)
}

/// Some of them under memcheck, where each takes a hundred times as long. None that looks for a worker: valgrind does
/// not show the title that nginx gives its processes.
pub fn memcheck(plain: &Nginx) -> Result<()> {
    install::install(&[Need::Counting])?;
    let tests = ["greeter", "redirect", "request", "response"];
    let arguments = tests.map(|test| format!("--test={test}"));
    run(plain, Sanitizer::Memcheck, &arguments)
}

fn run(plain: &Nginx, sanitizer: Sanitizer, tests: &[String]) -> Result<()> {
    let reports = Reports::in_dir(&plain.dir.join(sanitizer.name()).join("reports"))?;
    let nginx = nginx::prepare(plain, sanitizer, &reports)?;
    for package in [build::SHIPPED, FAULTS].iter().chain(&test::FOR_TESTS) {
        build::module(&nginx, package)?;
    }

    // A sanitizer that finds nothing must have shown that it can.
    reports.clear()?;
    let faults = ["--test", "sanitizers", "--", "--ignored", sanitizer.name()];
    shell::run(cargo_test(plain, &nginx, reports.dir())?.args(faults))?;

    reports.clear()?;
    let passed = shell::run(
        cargo_test(plain, &nginx, reports.dir())?
            .arg("--no-fail-fast")
            .args(tests),
    );
    reports.check()?;
    passed
}

/// The tests themselves are built as ever, and for the plain nginx: it is a program beside them.
fn cargo_test(plain: &Nginx, nginx: &Nginx, reports: &Path) -> Result<Command> {
    let mut cargo = test::with_modules(plain, nginx)?;
    cargo
        .arg("test")
        .args(test::FEATURES)
        .env("SANITIZER_REPORTS", reports);
    Ok(cargo)
}
