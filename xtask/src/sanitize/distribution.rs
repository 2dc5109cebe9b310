//! The whole source of the distribution's nginx: its package nginx-dev has the headers alone.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::install::{self, Need};
use crate::{shell, source};

/// The source of the nginx with this name, brought by `apt-get source` and unpacked below `dir`, once.
///
/// # Errors
///
/// apt knows of none, or of that of another version only.
pub fn source(dir: &Path, name: &str) -> Result<PathBuf> {
    let unpacked = dir.join(name.replace('/', "-"));
    if !unpacked.is_dir() {
        install::install(&[Need::Unpacking])?;
        eprintln!("bringing the source of {name}");
        fetch(dir).with_context(|| {
            format!("the source of {name} is not to be had: give its tree as NGINX_SOURCE_DIR, or NGINX=vendored")
        })?;
    }
    let found = source::name(&unpacked)?;
    anyhow::ensure!(
        found == name,
        "{} is the source of {found}, not of {name}",
        unpacked.display()
    );
    Ok(unpacked)
}

/// Asks the system's package sources for the source, in directories of our own: the system's lists stay as they are.
fn fetch(dir: &Path) -> Result<()> {
    let (parts, lists) = (dir.join("sources.list.d"), dir.join("lists"));
    fs::create_dir_all(&parts)?;
    fs::create_dir_all(lists.join("partial"))?;
    let system = fs::read_dir("/etc/apt/sources.list.d")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    for file in system
        .chain(["/etc/apt/sources.list".into()])
        .filter(|file| file.is_file())
    {
        let name = file.file_name().expect("a file has a name");
        fs::write(parts.join(name), of_sources(&fs::read_to_string(&file)?))?;
    }
    let apt = |arguments: &[&str]| {
        let mut apt = shell::command("apt-get");
        apt.args(["-o", "Dir::Etc::SourceList=/dev/null", "-o"])
            .arg(format!("Dir::Etc::SourceParts={}", parts.display()))
            .arg("-o")
            .arg(format!("Dir::State::Lists={}", lists.display()))
            .arg("-o")
            .arg(format!("Dir::Cache={}", dir.display()))
            .args(arguments)
            .current_dir(dir);
        shell::quiet(&mut apt)
    };
    apt(&["update"])?;
    // The newest, and where a mirror has lost it that of the release itself.
    let release = fs::read_to_string("/etc/os-release")?;
    let codename = release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    apt(&["source", "nginx"])
        .or_else(|_| apt(&["source", &format!("nginx/{}", codename.unwrap_or_default())]))?;
    Ok(())
}

/// The same package sources, asked for source packages: in apt's one-line format as in the deb822 format.
fn of_sources(list: &str) -> String {
    let lines = list
        .lines()
        .map(|line| match line.split_once(char::is_whitespace) {
            Some(("deb", rest)) => format!("deb-src {rest}\n"),
            Some(("Types:", _)) => "Types: deb-src\n".to_owned(),
            _ => format!("{line}\n"),
        });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_of_package_sources() {
        let line = "# deb x\ndeb [arch=amd64] http://mirror.example/debian bookworm main\n";
        assert_eq!(of_sources(line), line.replace("\ndeb ", "\ndeb-src "));
        let deb822 = "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n";
        assert_eq!(
            of_sources(deb822),
            deb822.replace("Types: deb", "Types: deb-src")
        );
    }
}
