//! Where things are in this repository.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// The repository's root.
pub fn root() -> PathBuf {
    let manifest_dir =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(manifest_dir)
        .parent()
        .expect("xtask is inside the repository")
        .to_owned()
}

/// Always `target/` in the repository, wherever CARGO_TARGET_DIR points: the configurations name files in it.
pub fn target() -> PathBuf {
    root().join("target")
}

/// What `make build` leaves behind: the module, the list of modules to load and the environment of the tests.
pub fn module_dir() -> PathBuf {
    target().join("module")
}

/// Pid file and temporary files of an nginx that runs with one of `nginx-conf/`.
pub fn run_dir() -> PathBuf {
    target().join("run")
}

/// Waits until no other call prepares an nginx in this checkout; the next one may begin when the file is dropped.
pub fn lock() -> Result<File> {
    fs::create_dir_all(target())?;
    let path = target().join("xtask.lock");
    let file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
    // SAFETY: the descriptor is open, as `file` lives.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } != 0 {
        return Err(std::io::Error::last_os_error())
            .with_context(|| format!("locking {}", path.display()));
    }
    Ok(file)
}
