//! `make deb`: the module as a package of Debian's, made as Debian makes its own modules for nginx.
//!
//! debhelper makes it, and dh_nginx of nginx-dev what is special to a module: `modules-available/`, the scripts that
//! link it into `modules-enabled/`, and the dependency on the ABI of nginx (`nginx-abi-…`), so that apt installs it
//! beside the right nginx alone. `SOURCE_DATE_EPOCH` is the package's date, and `DEBFULLNAME` and `DEBEMAIL` name its
//! maintainer, as for Debian's other tools; the same module and date make the same bytes.

mod copyright;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::build::{self, Package};
use crate::nginx::{self, Choice};
use crate::{project, shell};

/// The package of the shipped module; that of another crate has the crate's name behind it.
const NAME: &str = "libnginx-mod-http-rust";

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
    /// A module crate anywhere, by its folder, in place of the shipped one
    #[arg(long = "crate", env = "CRATE")]
    folder: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<()> {
    ensure!(
        options.choice.is_system(),
        "a package is for the nginx of Debian's package: leave NGINX and NGINX_SOURCE_DIR out"
    );
    let nginx = nginx::prepare(&options.choice)?;
    let (package, module) = build::chosen(&nginx, options.folder.as_deref())?;
    let folder = project::target().join("deb");
    let deb = make(&package, &module, &Entry::of_environment(), &folder)?;
    println!("{} is for {}", build::shown(&deb), nginx.name);
    Ok(())
}

/// Who made a package, and when, as its changelog says.
pub struct Entry {
    /// `Name <address>`
    pub maintainer: String,
    /// As date(1) reads it.
    pub date: String,
}

impl Entry {
    fn of_environment() -> Self {
        let name = env::var("DEBFULLNAME").unwrap_or_else(|_| "Unknown".into());
        let address = env::var("DEBEMAIL").unwrap_or_else(|_| "unknown@localhost".into());
        Self {
            maintainer: format!("{name} <{address}>"),
            date: env::var("SOURCE_DATE_EPOCH").map_or("now".into(), |epoch| format!("@{epoch}")),
        }
    }
}

/// Makes the package of a built module, and gives its file, which is in this folder.
pub fn make(package: &Package, module: &Path, entry: &Entry, folder: &Path) -> Result<PathBuf> {
    let name = name(package);
    let tree = folder.join(&name);
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    let debian = tree.join("debian");
    fs::create_dir_all(&debian)?;
    let write = |file: &str, text: &str| {
        fs::write(debian.join(file), text).with_context(|| format!("writing {file}"))
    };
    // dh_nginx knows a module by this name of its file.
    let file = format!("{}_module.so", name.replace("libnginx-mod", "ngx")).replace('-', "_");
    fs::copy(module, tree.join(&file)).with_context(|| format!("copying {}", module.display()))?;
    if let Some(changes) = package.changes() {
        fs::copy(changes, tree.join("CHANGELOG.md"))?;
    }
    write("control", &control(package, &entry.maintainer))?;
    write("changelog", &changelog(package, entry)?)?;
    write("copyright", &copyright::of(package)?)?;
    write("install", &format!("{file} usr/lib/nginx/modules\n"))?;
    write("rules", include_str!("rules"))?;
    shell::quiet(
        shell::command("dpkg-buildpackage")
            // What it checks for beside what is installed for a build is a C++ compiler.
            .args(["--build=binary", "--no-sign", "--no-check-builddeps"])
            // There is nothing in a release's module that a debugger could use.
            .env("DEB_BUILD_OPTIONS", "noautodbgsym")
            .current_dir(&tree),
    )?;
    let architecture = shell::quiet(shell::command("dpkg").arg("--print-architecture"))?.stdout;
    let deb = format!("{name}_{}_{}.deb", version(package), architecture.trim());
    Ok(folder.join(deb))
}

fn name(package: &Package) -> String {
    match package.is_shipped() {
        true => NAME.into(),
        false => format!("{NAME}-{}", package.name.replace('_', "-")),
    }
}

fn version(package: &Package) -> String {
    // Debian sorts what is behind a tilde before what has none, as Cargo does with a pre-release.
    format!("{}-1", package.version.replacen('-', "~", 1))
}

fn control(package: &Package, maintainer: &str) -> String {
    // nginx loads one module with content_by_rust.
    let relations = match package.is_shipped() {
        true => String::new(),
        false => format!("Conflicts: {NAME}\nProvides: {NAME}\n"),
    };
    let title = package.description.split_whitespace();
    let title = title.collect::<Vec<_>>().join(" ");
    include_str!("control")
        .replace("@NAME@", &name(package))
        .replace("@MAINTAINER@", maintainer)
        .replace("@RELATIONS@", &relations)
        .replace("@TITLE@", title.strip_prefix("The ").unwrap_or(&title))
}

fn changelog(package: &Package, entry: &Entry) -> Result<String> {
    let date = ["-u", "-R", "-d", &entry.date];
    let date = shell::quiet(shell::command("date").args(date))?.stdout;
    Ok(format!(
        "{} ({}) unstable; urgency=medium\n\n  * Built from {} {}.\n\n -- {}  {date}",
        name(package),
        version(package),
        package.name,
        package.version,
        entry.maintainer
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str) -> Package {
        Package {
            name: name.into(),
            version: version.into(),
            description: "The nginx module".into(),
            ..Package::default()
        }
    }

    #[test]
    fn names_are_as_debian_writes_them() {
        assert_eq!(
            name(&package("ngx-http-rust-module", "1.0.0")),
            "libnginx-mod-http-rust"
        );
        assert_eq!(
            name(&package("my_greeter", "1.0.0")),
            "libnginx-mod-http-rust-my-greeter"
        );
        assert_eq!(version(&package("x", "1.0.0-rc.1")), "1.0.0~rc.1-1");
    }

    #[test]
    fn only_another_module_conflicts() {
        let shipped = control(&package("ngx-http-rust-module", "1.0.0"), "A <a@b>");
        assert!(!shipped.contains("Conflicts"), "{shipped}");
        assert!(
            shipped.contains("\nDescription: nginx module\n"),
            "{shipped}"
        );
        let other = control(&package("greeter", "1.0.0"), "A <a@b>");
        assert!(other.contains("\nConflicts: libnginx-mod-http-rust\n"));
        assert!(
            !other.contains('@') || other.matches('@').count() == 1,
            "{other}"
        );
    }
}
