//! Where things are in this repository.

use std::path::PathBuf;

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
