//! Running other programs.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A command without what `make` and `cargo run` left in the environment for xtask alone.
///
/// `NGINX` must not reach nginx: a running nginx hands its listening sockets to the next one in a variable of this
/// name. cargo's variables would make a build script that watches them run again on every change of the caller.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_meant_for_xtask) {
            command.env_remove(name);
        }
    }
    command
}

fn is_meant_for_xtask(name: &str) -> bool {
    matches!(
        name,
        "NGINX"
            | "NGINX_SOURCE_DIR"
            | "NGINX_BUILD_DIR"
            | "MAKEFLAGS"
            | "MAKELEVEL"
            | "MAKEOVERRIDES"
            | "MFLAGS"
            | "CARGO_BIN_NAME"
            | "CARGO_CRATE_NAME"
            | "CARGO_PRIMARY_PACKAGE"
            | "OUT_DIR"
    ) || name.starts_with("CARGO_MANIFEST_")
        || name.starts_with("CARGO_PKG_")
}

/// Prints the command, runs it, and fails if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", display(command));
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("running {}", display(command)))?;
    if !status.success() {
        bail!("{} failed: {status}", display(command));
    }
    Ok(())
}

/// Runs the command in silence and gives what it wrote to its standard output and standard error; when it fails, the
/// last lines of both are the error.
pub fn quiet(command: &mut Command) -> Result<Output> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("running {}", display(command)))?;
    let output = Output {
        success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    if !output.success {
        let said = format!("{}{}", output.stdout, output.stderr);
        let lines: Vec<&str> = said.trim_end().lines().collect();
        bail!(
            "{} failed:\n{}",
            display(command),
            lines[lines.len().saturating_sub(15)..].join("\n")
        );
    }
    Ok(output)
}

/// What a program wrote.
pub struct Output {
    success: bool,
    pub stdout: String,
    pub stderr: String,
}

/// Whether a program of this name is in PATH.
pub fn has(program: &str) -> bool {
    find(program).is_some()
}

/// The program of this name in PATH, or in the `sbin` directories that only root's PATH has.
pub fn find(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into()])
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

/// Makes the kernel end the child when xtask ends, however xtask ends: Ctrl-C, an error, SIGKILL.
pub fn dies_with_us(command: &mut Command) -> &mut Command {
    // SAFETY: prctl is async-signal-safe, and the closure touches no memory of the parent.
    unsafe {
        command.pre_exec(|| {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) == 0 {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        })
    }
}

/// The command as one would type it.
pub fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    shlex::try_join(words.iter().map(|word| word.as_ref())).unwrap_or_else(|_| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_typed() {
        assert_eq!(
            display(Command::new("make").args(["-j", "a b"])),
            "make -j 'a b'"
        );
    }

    #[test]
    fn nginx_never_sees_our_nginx_variable() {
        assert!(is_meant_for_xtask("NGINX"));
        assert!(is_meant_for_xtask("CARGO_PKG_NAME"));
        assert!(!is_meant_for_xtask("CARGO_HOME"));
        assert!(!is_meant_for_xtask("PATH"));
    }

    #[test]
    fn a_failure_tells_what_the_program_said() {
        let error = quiet(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]))
            .err()
            .unwrap();
        assert!(error.to_string().ends_with("failed:\nout\nerr"), "{error}");
    }
}
