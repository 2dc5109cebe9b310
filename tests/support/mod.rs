//! What the tests need to know of the build: which nginx, which modules.

#![allow(dead_code)]

use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;

/// The workspace.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Sets the `TEST_NGINX_*` variables that `make build` and `make test` leave in
/// `target/module/test.env`, unless they are set. Builds the modules first where nobody has.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("TEST_NGINX_LOAD_MODULES").is_some() {
            return;
        }
        let file = root().join("target/module/test.env");
        if !file.exists() {
            let status = Command::new("cargo")
                .args(["xtask", "test", "none"])
                .current_dir(root())
                .status()
                .expect("cargo runs");
            assert!(status.success(), "the modules cannot be built");
        }
        let text = std::fs::read_to_string(&file).expect("target/module/test.env can be read");
        for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
            // SAFETY: tests call this before they start threads that read the environment.
            unsafe { std::env::set_var(name, value) };
        }
    });
}
