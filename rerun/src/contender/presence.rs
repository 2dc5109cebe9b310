//! Whether this machine has what a contender needs, and which version of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Contender;
use super::command;
use super::install;
use super::nginx;
use super::places::{Places, names};

/// How long a program may take to say its version, or a check to say yes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether a contender can run here.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// All that it needs is here; it is compiled when it is first started.
    Here,
    /// It cannot run: what it needs, and the command that gets it, if one can.
    Missing {
        needs: String,
        install: Option<String>,
    },
}

impl Presence {
    /// What is missing and what to do about it, in a sentence.
    pub fn missing(&self) -> Option<String> {
        match self {
            Self::Here => None,
            Self::Missing {
                needs,
                install: Some(command),
            } => Some(format!("needs {needs}. Install: {command}")),
            Self::Missing {
                needs,
                install: None,
            } => Some(format!("needs {needs}")),
        }
    }
}

/// Looks for the programs, then asks the checks.
pub fn of(contender: &Contender) -> Presence {
    let places = contender.places();
    let manifest = &contender.manifest;
    if !places.has("nginx") && uses_nginx(contender) {
        return Presence::Missing {
            needs: nginx::HINT.to_owned(),
            install: None,
        };
    }
    let absent: Vec<&str> = manifest
        .programs
        .keys()
        .map(String::as_str)
        .filter(|name| !places.has(name))
        .collect();
    if !absent.is_empty() {
        return missing(contender, &absent.join(", "));
    }
    for check in &manifest.needs.check {
        let passes = places
            .fill_all(check)
            .and_then(|words| command::quiet(command::command(&words), PATIENCE));
        if passes.is_err() {
            return missing(contender, &check.join(" "));
        }
    }
    Presence::Here
}

fn missing(contender: &Contender, what: &str) -> Presence {
    let words = &contender.manifest.needs.what;
    Presence::Missing {
        needs: if words.is_empty() { what } else { words }.to_owned(),
        install: install::Plan::of(contender)
            .ok()
            .filter(|plan| !plan.is_empty())
            .map(|_| format!("rerun contenders --install {}", contender.name)),
    }
}

fn uses_nginx(contender: &Contender) -> bool {
    let manifest = &contender.manifest;
    let commands = manifest.start.run.iter().chain(&manifest.needs.check);
    commands
        .flatten()
        .flat_map(|word| names(word))
        .any(|name| name == "nginx" || name.starts_with("modules"))
}

/// What each program says of its version. A program that is not there, or says nothing, is left out.
pub fn versions(contender: &Contender, places: &Places) -> BTreeMap<String, String> {
    let asked = contender
        .manifest
        .versions
        .iter()
        .filter_map(|(name, words)| {
            let words = places.fill_all(words).ok()?;
            let said = command::quiet(command::command(&words), PATIENCE).ok()?;
            Some((name.clone(), version_in(&said)?))
        });
    asked.collect()
}

/// The first word with a number in it, rid of what surrounds the number: `1.26.8` of `go version go1.26.8 linux/amd64`.
fn version_in(said: &str) -> Option<String> {
    let bare = |word: &str| -> Option<String> {
        let word = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = word
            .find(|c: char| !(c.is_ascii_alphanumeric() || ".+-~:_".contains(c)))
            .unwrap_or(word.len());
        let word = word[..end].trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        (!word.is_empty()).then(|| word.to_owned())
    };
    let words = || said.split(|c: char| c.is_whitespace() || c == '/' || c == '"');
    words()
        .filter_map(bare)
        .find(|word| word.contains('.'))
        .or_else(|| words().find_map(bare))
}

/// The file of this name: a path as it is, or else looked up in PATH and in the `sbin` folders that only root's PATH has.
pub fn find(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| file.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from))
        .map(|dir| dir.join(program))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let cases = [
            ("go version go1.26.8 linux/amd64\n", "1.26.8"),
            ("nginx version: nginx/1.22.1\nbuilt with", "1.22.1"),
            ("openjdk version \"17.0.15\" 2025-04-15\n", "17.0.15"),
            ("v20.20.2\n", "20.20.2"),
            ("25", "25"),
            ("Python 3.11.7", "3.11.7"),
            ("0.10.23-1+deb12u1", "0.10.23-1+deb12u1"),
            ("name = \"tokio\"\nversion = \"1.54.0\"\n", "1.54.0"),
            ("PHP 8.2.36 (fpm-fcgi) (built: Jan 1)", "8.2.36"),
        ];
        for (said, version) in cases {
            assert_eq!(version_in(said).as_deref(), Some(version), "{said}");
        }
        assert_eq!(version_in("no number"), None);
    }

    #[test]
    fn programs_are_looked_up() {
        assert!(find("sh").is_some());
        assert!(find("/bin/sh").is_some());
        assert!(find("no-such-program").is_none());
        assert!(find("/bin").is_none());
    }
}
