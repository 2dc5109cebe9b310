//! `cargo deny`: what the dependencies are allowed to be, as `deny.toml` says, and whether one of them is known to be
//! faulty.

use std::process::Command;

use anyhow::{Context, Result};

use crate::{project, shell};

/// Checks licences, sources and versions; advisories where their database, which is a git repository elsewhere, can be
/// had.
pub fn run() -> Result<()> {
    let deny = installed()?;
    shell::run(deny().args(["check", "licenses", "bans", "sources"]))?;
    match shell::quiet(deny().args(["check", "advisories"])) {
        Err(error) if is_unreachable(&error.to_string()) => {
            eprintln!("advisories were NOT checked: their database cannot be reached from here");
            Ok(())
        }
        checked => checked.map(|_| eprintln!("no advisories")),
    }
}

/// The command, which is built where it is missing: that takes two minutes, once.
fn installed() -> Result<impl Fn() -> Command> {
    let tools = project::target().join("tools");
    let program = match shell::find("cargo-deny") {
        Some(program) => program,
        None => {
            let mut cargo = shell::command("cargo");
            cargo
                .args(["install", "cargo-deny", "--locked", "--root"])
                .arg(&tools);
            shell::run(&mut cargo).context("cargo-deny is missing, and cannot be installed")?;
            tools.join("bin/cargo-deny")
        }
    };
    Ok(move || {
        let mut deny = shell::command(&program);
        deny.args(["--workspace", "--locked", "--log-level", "error"]);
        deny.current_dir(project::root());
        deny
    })
}

/// Whether this is said of the database, and not of a dependency.
fn is_unreachable(said: &str) -> bool {
    said.contains("failed to fetch advisory database")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_fetched_is_no_finding() {
        assert!(is_unreachable(
            "2026-01-01 00:00:00 [ERROR] failed to fetch advisory database https://example.com/db with cli"
        ));
        assert!(!is_unreachable(
            "error[vulnerability]: Use-after-free\nadvisories FAILED"
        ));
    }
}
