//! The nightly toolchain, which alone has rustc's sanitizers and Miri.

use anyhow::{Context, Result};

use crate::shell;

pub const NIGHTLY: &str = "nightly";

/// Installs it through rustup where it, or Miri in it, is missing.
///
/// # Errors
///
/// There is no rustup, or it cannot reach its server.
pub fn install() -> Result<()> {
    let mut miri = shell::command("cargo");
    miri.args(["miri", "--version"])
        .env("RUSTUP_TOOLCHAIN", NIGHTLY);
    if shell::quiet(&mut miri).is_ok() {
        return Ok(());
    }
    let words = ["toolchain", "install", NIGHTLY, "--profile", "minimal"];
    let parts = ["--component", "miri", "--component", "rust-src"];
    shell::run(shell::command("rustup").args(words).args(parts)).context(
        "rustc's sanitizers and Miri are in the nightly toolchain alone, and it is not here",
    )
}

/// What it calls this machine: `x86_64-unknown-linux-gnu`.
pub fn host() -> Result<String> {
    let mut rustc = shell::command("rustc");
    rustc.arg("-vV").env("RUSTUP_TOOLCHAIN", NIGHTLY);
    shell::quiet(&mut rustc)?
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("rustc -vV names no host")
}
