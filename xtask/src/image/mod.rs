//! The package of `make deb` and the image of the Dockerfile, tried as a user has them: on a Debian that debootstrap
//! makes, in containers that buildah runs. No daemon is wanted, and nothing is left on this machine but in `target/`.

mod buildah;
mod container;
mod package;
mod server;

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use self::buildah::Buildah;
use crate::install::{self, Need};
use crate::nginx::{self, Choice, Nginx};
use crate::test::FEATURES;
use crate::{build, deb, project, shell};

const IMAGE: &str = "content-by-rust";

/// Needs root, as chroot does, and Debian, whose nginx the package is for.
pub fn test(nginx: &Nginx) -> Result<()> {
    let Some((codename, version)) = install::debian_release() else {
        eprintln!("skipped: the package and the image are for Debian, and this is another system");
        return Ok(());
    };
    if !install::is_root() {
        eprintln!(
            "skipped: buildah and debootstrap want root here; run \"sudo cargo xtask test image\""
        );
        return Ok(());
    }
    install::install(&[Need::Containers])?;
    let deb = same_twice()?;
    shell::run(
        shell::command("lintian")
            .args(["--fail-on", "error,warning", "--allow-root"])
            // That one is for a package's way into Debian.
            .args(["--suppress-tags", "initial-upload-closes-no-bugs"])
            .arg(&deb),
    )?;
    let buildah = Buildah::new(&codename, &version)?;
    package::check(&buildah, &deb)?;
    shell::run(
        buildah
            .command("build")
            .args(["--pull-never", "--format", "docker", "--tag", IMAGE])
            .args(["--build-arg", &format!("BASE={}", buildah.base)])
            .args(toolchain()?)
            // The stage that takes minutes to compile, and is no more than that: the tests' rerun stands in for it.
            .arg(format!("--build-context=rerun={}", rerun(nginx)?.display()))
            .arg(project::root()),
    )?;
    container::check(&buildah, IMAGE)
}

/// The folder with rerun in it, as `cargo test` compiles it.
fn rerun(nginx: &Nginx) -> Result<PathBuf> {
    let folder = project::target().join("image/rerun");
    fs::create_dir_all(&folder)?;
    shell::run(
        nginx
            .cargo()
            .args(["build", "--workspace", "--bin", "rerun"])
            .args(FEATURES),
    )?;
    fs::copy(nginx.cargo_target.join("debug/rerun"), folder.join("rerun"))?;
    Ok(folder)
}

/// The package, of which two that are made of the same module with the same date have the same bytes.
fn same_twice() -> Result<PathBuf> {
    let nginx = nginx::prepare(&Choice::default())?;
    let (package, module) = build::chosen(&nginx, None)?;
    let entry = deb::Entry {
        maintainer: "A test <test@example.org>".into(),
        date: "@1700000000".into(),
    };
    let make = |folder| {
        let folder = project::target().join("image").join(folder);
        deb::make(&package, &module, &entry, &folder)
    };
    let (first, second) = (make("first")?, make("second")?);
    ensure!(
        fs::read(&first)? == fs::read(&second)?,
        "{} and {} differ",
        first.display(),
        second.display()
    );
    Ok(first)
}

/// Has the Dockerfile find this machine's Rust where it would install its own.
fn toolchain() -> Result<Vec<String>> {
    let home = PathBuf::from(env::var_os("HOME").context("HOME is not set")?);
    let volume = |(variable, folder)| {
        let path = env::var_os(variable).map_or_else(|| home.join(folder), PathBuf::from);
        format!("--volume={}:/root/{folder}", path.display())
    };
    Ok([("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")]
        .map(volume)
        .into())
}
