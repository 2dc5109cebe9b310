//! `rerun contenders --install NAME…`: installs what was asked for, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Result, bail};

use super::command;
use super::presence::{self, Presence};
use super::{Contender, Contenders};

/// What it takes to get one contender's needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Packages of the distribution that are not installed.
    pub packages: Vec<String>,
    /// Whether the manifest has commands of its own.
    pub commands: bool,
}

impl Plan {
    /// An error where this distribution's packages are not known.
    pub fn of(contender: &Contender) -> Result<Self> {
        let manifest = &contender.manifest;
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let known = ids(&release).find_map(|id| manifest.packages.get(id));
        let packages = match known {
            Some(packages) if presence::find("apt-get").is_some() => packages,
            None if manifest.packages.is_empty() => &BTreeMap::new(),
            _ => bail!(
                "its packages are known for {} only: with this system's package manager install {}",
                join(manifest.packages.keys()),
                join(manifest.packages.values().flat_map(BTreeMap::keys))
            ),
        };
        let places = contender.places();
        let absent = packages
            .iter()
            .filter(|(program, _)| !places.has(program) && presence::find(program).is_none());
        let wanted: Vec<String> = absent.flat_map(|(_, names)| names.clone()).collect();
        Ok(Self {
            packages: not_installed(&wanted),
            commands: !manifest.install.run.is_empty(),
        })
    }

    pub fn is_empty(&self) -> bool {
        self.packages.is_empty() && !self.commands
    }
}

fn join<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.cloned().collect::<Vec<_>>().join(", ")
}

/// Installs the needs of those named. What is already here is left as it is.
pub fn run(contenders: &Contenders, names: &[String]) -> Result<()> {
    let chosen = contenders.choose(names)?;
    for contender in chosen {
        if presence::of(contender) == Presence::Here {
            eprintln!("{}: is here", contender.name);
            continue;
        }
        install(contender)?;
        match presence::of(contender) {
            Presence::Here => eprintln!("{}: installed", contender.name),
            Presence::Missing { needs, .. } => bail!("{}: still needs {needs}", contender.name),
        }
    }
    Ok(())
}

fn install(contender: &Contender) -> Result<()> {
    let plan = Plan::of(contender)
        .map_err(|error| error.context(format!("cannot install {}", contender.name)))?;
    if plan.is_empty() {
        let Presence::Missing { needs, .. } = presence::of(contender) else {
            return Ok(());
        };
        bail!("rerun cannot install {}: it needs {needs}", contender.name);
    }
    if !plan.packages.is_empty() {
        apt(&["update"])?;
        let install = ["install", "-y", "--no-install-recommends", "--no-remove"];
        let packages = plan.packages.iter().map(String::as_str);
        apt(&install.into_iter().chain(packages).collect::<Vec<_>>())?;
    }
    if plan.commands {
        fs::create_dir_all(&contender.built)?;
    }
    for words in &contender.manifest.install.run {
        // The programs that the packages and the commands before have brought are known only now.
        let words = contender.places().fill_all(words)?;
        command::aloud(command::command(&words))?;
    }
    Ok(())
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut words: Vec<String> = Vec::new();
    if !nix::unistd::geteuid().is_root() {
        if presence::find("sudo").is_none() {
            bail!(
                "this is not root and there is no sudo. As root, run: apt-get {}",
                arguments.join(" ")
            );
        }
        words.extend(["sudo".into(), "-n".into()]);
    }
    words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"].map(String::from));
    words.extend(arguments.iter().map(ToString::to_string));
    command::aloud(command::command(&words))
}

/// `ID` of an os-release file, then each word of `ID_LIKE`.
fn ids(release: &str) -> impl Iterator<Item = &str> {
    let values = |name: &str| {
        let line = release
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default()
            .trim_matches('"')
            .split_whitespace()
    };
    values("ID")
        .chain(values("ID_LIKE"))
        .collect::<Vec<_>>()
        .into_iter()
}

fn not_installed(wanted: &[String]) -> Vec<String> {
    if wanted.is_empty() {
        return Vec::new();
    }
    // dpkg-query fails when it does not know one of them, and lists the others all the same.
    let known = Command::new("dpkg-query")
        .args(["-W", "-f", "${Package} ${db:Status-Status}\n"])
        .args(wanted)
        .output();
    let known = known.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    );
    missing_in(wanted, &known)
}

/// Those that dpkg-query (`name status` lines) does not call installed.
fn missing_in(wanted: &[String], dpkg: &str) -> Vec<String> {
    let installed = |package: &str| {
        dpkg.lines()
            .any(|line| line.split_once(' ') == Some((package, "installed")))
    };
    let missing = wanted.iter().filter(|package| !installed(package));
    missing.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_and_what_they_are_like() {
        let ubuntu = "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n";
        assert_eq!(ids(ubuntu).collect::<Vec<_>>(), ["ubuntu", "debian"]);
        let mint = "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n";
        assert_eq!(
            ids(mint).collect::<Vec<_>>(),
            ["linuxmint", "ubuntu", "debian"]
        );
        assert_eq!(ids("").count(), 0);
    }

    #[test]
    fn only_what_is_not_installed_is_missing() {
        let wanted = ["go", "php", "erlang"].map(String::from);
        let dpkg = "go installed\nphp config-files\n";
        assert_eq!(missing_in(&wanted, dpkg), ["php", "erlang"]);
    }
}
