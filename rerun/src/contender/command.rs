//! Running a manifest's commands to their end.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::stop;

/// A command without what `make` and `cargo run` left in the environment for rerun alone: nginx takes a variable
/// `NGINX` for inherited sockets, and cargo's variables make build scripts run again.
pub fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_meant_for_rerun) {
            command.env_remove(name);
        }
    }
    command
}

fn is_meant_for_rerun(name: &str) -> bool {
    matches!(
        name,
        "NGINX"
            | "MAKEFLAGS"
            | "MAKELEVEL"
            | "MAKEOVERRIDES"
            | "MFLAGS"
            | "OUT_DIR"
            | "CARGO_BIN_NAME"
            | "CARGO_CRATE_NAME"
            | "CARGO_PRIMARY_PACKAGE"
            | "CARGO_TARGET_DIR"
    ) || name.starts_with("CARGO_MANIFEST_")
        || name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_BIN_EXE_")
}

/// Runs it in silence and gives what it wrote; ends it when it takes too long or a signal asks to stop. When it fails,
/// the last lines that it wrote are the error.
pub fn quiet(mut command: Command, limit: Duration) -> Result<String> {
    let shown = display(&command);
    let mut output = tempfile()?;
    command
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        .process_group(0);
    let mut child = command.spawn().with_context(|| shown.clone())?;
    let begun = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break Ok(status);
        }
        if stop::requested() || begun.elapsed() > limit {
            let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
            let _ = child.wait();
            stop::check()?;
            break Err(format!("took more than {} s", limit.as_secs()));
        }
        // Short commands should not cost a whole turn.
        let pause =
            (begun.elapsed() / 10).clamp(Duration::from_millis(1), Duration::from_millis(50));
        std::thread::sleep(pause);
    };
    let mut text = Vec::new();
    output.seek(SeekFrom::Start(0))?;
    output.read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    match ended {
        Ok(status) if status.success() => Ok(text),
        Ok(status) => bail!("{shown} failed ({status}):\n{}", last_lines(&text, 15)),
        Err(why) => bail!("{shown} {why}:\n{}", last_lines(&text, 15)),
    }
}

/// Runs it with its output on the terminal.
pub fn aloud(mut command: Command) -> Result<()> {
    let shown = display(&command);
    eprintln!("$ {shown}");
    let status = command.status().with_context(|| shown.clone())?;
    stop::check()?;
    if !status.success() {
        bail!("{shown} failed: {status}");
    }
    Ok(())
}

pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// The command as one would type it.
pub fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| quote(&word.to_string_lossy())).collect();
    words.join(" ")
}

/// Words as one would type them.
pub fn quote_all(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    words.join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%^~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A file without a name: a pipe that nobody reads could stop a talkative compiler.
fn tempfile() -> Result<File> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let file = memfd_create(c"rerun-output", MFdFlags::MFD_CLOEXEC)?;
    Ok(File::from(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        command(&["sh".into(), "-c".into(), script.into()])
    }

    #[test]
    fn a_failure_tells_what_the_program_said() {
        let error = quiet(sh("echo out; echo err >&2; exit 3"), Duration::from_secs(5))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("(exit status: 3):\nout\nerr"), "{error}");
    }

    #[test]
    fn a_command_that_hangs_is_ended() {
        let begun = Instant::now();
        let error = quiet(sh("sleep 60 & sleep 60"), Duration::from_millis(200)).unwrap_err();
        assert!(error.to_string().contains("took more than"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_command_is_shown_as_typed() {
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote_all(&["a".into(), "b c".into()]), "a 'b c'");
    }

    #[test]
    fn what_is_meant_for_rerun_is_not_passed_on() {
        assert!(is_meant_for_rerun("NGINX"));
        assert!(is_meant_for_rerun("CARGO_PKG_NAME"));
        assert!(!is_meant_for_rerun("CARGO_HOME"));
        assert!(!is_meant_for_rerun("PATH"));
    }
}
