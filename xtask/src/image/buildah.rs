//! Images and containers without a daemon: buildah, with its storage in `target/`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{project, shell};

/// A storage of its own, which is removed in the end, and a Debian that debootstrap made.
pub struct Buildah {
    storage: PathBuf,
    /// The image of that Debian, as it is named where there is a registry: `debian:12`.
    pub base: String,
}

impl Buildah {
    /// Debian of this release (`bookworm`, `12`), as its image in a registry is: it has little, and starts no services.
    pub fn new(codename: &str, version: &str) -> Result<Self> {
        let buildah = Self {
            storage: project::target().join("image/storage"),
            base: format!("debian:{version}"),
        };
        buildah.clear()?;
        let debian = debian(codename)?;
        let base = buildah.container("scratch")?;
        shell::quiet(
            buildah
                .command("add")
                .arg(&base.name)
                .args([&debian, Path::new("/")]),
        )?;
        shell::quiet(buildah.command("commit").args([&base.name, &buildah.base]))?;
        drop(base);
        Ok(buildah)
    }

    pub fn command(&self, name: &str) -> Command {
        let mut buildah = shell::command("buildah");
        buildah.arg("--root").arg(self.storage.join("root"));
        buildah.arg("--runroot").arg(self.storage.join("run"));
        // What needs no more of the kernel than chroot does.
        buildah.args(["--storage-driver", "vfs", name]);
        buildah.env("BUILDAH_ISOLATION", "chroot");
        buildah
    }

    pub fn container(&self, image: &str) -> Result<Container<'_>> {
        let name = shell::quiet(self.command("from").args(["--pull-never", image]))?.stdout;
        let name = name.trim().to_owned();
        let root = shell::quiet(self.command("mount").arg(&name))?.stdout;
        Ok(Container {
            buildah: self,
            root: root.trim().into(),
            name,
        })
    }

    fn clear(&self) -> Result<()> {
        match fs::remove_dir_all(&self.storage) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(e).with_context(|| format!("removing {}", self.storage.display()))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Buildah {
    fn drop(&mut self) {
        if let Err(error) = self.clear() {
            eprintln!("{error:#}");
        }
    }
}

/// A container, which has gone when this is dropped.
pub struct Container<'a> {
    buildah: &'a Buildah,
    name: String,
    /// Where its files are, seen from outside.
    pub root: PathBuf,
}

impl Container<'_> {
    /// A command in the container, as the image's user.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.buildah.command("run");
        command.args([&self.name, "--"]).args(words);
        command
    }

    /// Runs a command in silence, and gives what it printed.
    pub fn run(&self, words: &[&str]) -> Result<String> {
        shell::quiet(&mut self.command(words)).map(|said| said.stdout)
    }

    /// Puts a file into a folder of the container.
    pub fn copy(&self, file: &Path, folder: &str) -> Result<()> {
        let name = file.file_name().context("a file has a name")?;
        let to = self.root.join(folder.trim_start_matches('/')).join(name);
        fs::copy(file, &to).with_context(|| format!("copying {}", file.display()))?;
        Ok(())
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        if let Err(error) = shell::quiet(self.buildah.command("rm").arg(&self.name)) {
            eprintln!("{error:#}");
        }
    }
}

/// The files of a new Debian. They are made once in a checkout.
fn debian(codename: &str) -> Result<PathBuf> {
    let done = project::target().join("image").join(codename);
    if done.is_dir() {
        return Ok(done);
    }
    let unfinished = done.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    fs::create_dir_all(&unfinished)?;
    let mut debootstrap = shell::command("debootstrap");
    debootstrap
        .args(["--variant=minbase", codename])
        .arg(&unfinished);
    if let Some(mirror) = mirror()? {
        debootstrap.arg(mirror);
    }
    eprintln!("$ {}", shell::display(&debootstrap));
    shell::quiet(&mut debootstrap)?;
    for package in fs::read_dir(unfinished.join("var/cache/apt/archives"))? {
        let path = package?.path();
        if path.is_file() {
            fs::remove_file(path)?;
        }
    }
    // As Debian's image in a registry has them.
    fs::write(
        unfinished.join("etc/dpkg/dpkg.cfg.d/unsafe-io"),
        "force-unsafe-io\n",
    )?;
    let policy = unfinished.join("usr/sbin/policy-rc.d");
    fs::write(&policy, "#!/bin/sh\nexit 101\n")?;
    fs::set_permissions(&policy, PermissionsExt::from_mode(0o755))?;
    fs::rename(&unfinished, &done)?;
    Ok(done)
}

/// Where this machine gets Debian from.
fn mirror() -> Result<Option<String>> {
    let mut targets = shell::command("apt-get");
    targets.args(["indextargets", "--format", "$(REPO_URI)"]);
    targets.args(["Origin: Debian", "Label: Debian"]);
    let targets = shell::quiet(&mut targets)?.stdout;
    Ok(targets.lines().next().map(String::from))
}
