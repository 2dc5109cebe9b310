//! `rerun`, compiled and run for a command that writes what it measured into `docs/`.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{project, shell};

/// Compiles rerun, and gives the program.
pub fn compile() -> Result<PathBuf> {
    let mut cargo = shell::command("cargo");
    cargo
        .args(["build", "--release", "--package", "rerun"])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(project::root());
    eprintln!("$ {}", shell::display(&cargo));
    let output = cargo.stderr(Stdio::inherit()).output();
    let output = output.context("running cargo")?;
    ensure!(output.status.success(), "rerun does not compile");
    executable(&String::from_utf8_lossy(&output.stdout)).context("cargo names no program")
}

/// The program in cargo's messages.
fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut programs =
        messages.filter_map(|message: Value| message["executable"].as_str().map(PathBuf::from));
    programs.next()
}

/// Its name and the paths that it is given are kept in the result: they must mean something on other machines, too.
pub fn command(program: &Path) -> Command {
    let mut command = shell::command(program);
    command.arg0("rerun").current_dir(project::root());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_one_that_cargo_names() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":\"/t/release/rerun\"}\n\
                        {\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(executable(messages), Some("/t/release/rerun".into()));
        assert_eq!(executable("warning: no JSON\n"), None);
    }
}
