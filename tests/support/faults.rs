//! Faults of the machine: nginx with `tests/faults` preloaded, and the file that tells it which.

use std::fs::File;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use test_nginx::Nginx;

/// Whose allocations count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// nginx's own: its pools.
    Nginx = 1,
    /// The module's: Rust's heap.
    Module = 2,
}

/// What goes wrong, in all processes of an nginx.
pub struct Faults {
    path: PathBuf,
    file: File,
}

impl Faults {
    pub fn new() -> Faults {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (pid, n) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{pid}-{n}"));
        let file = File::create_new(&path).expect("a file for the faults");
        file.set_len(5 * 8).expect("a file for the faults");
        Faults { path, file }
    }

    /// An nginx with these modules that has the faults.
    pub fn nginx(&self, modules: impl IntoIterator<Item = String>) -> Nginx {
        preloaded(&format!("TEST_FAULTS='{}'", self.path.display()), modules)
    }

    fn write(&self, word: u64, value: u64) {
        let written = self.file.write_all_at(&value.to_ne_bytes(), word * 8);
        written.expect("the file of the faults");
    }

    /// Has the allocations of these numbers fail, counted from now on.
    pub fn refuse(&self, whose: Whose, numbers: RangeInclusive<u64>) {
        self.write(1, *numbers.start());
        self.write(2, *numbers.end());
        self.write(3, 0);
        self.write(0, whose as u64);
    }

    /// Has none fail any more; how many have been counted.
    pub fn relent(&self) -> u64 {
        self.write(0, 0);
        let mut count = [0; 8];
        let read = self.file.read_exact_at(&mut count, 3 * 8);
        read.expect("the file of the faults");
        u64::from_ne_bytes(count)
    }

    /// Steps the time of day: so many seconds from the right one.
    pub fn step_clock(&self, seconds: i64) {
        self.write(4, seconds as u64);
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// An nginx with these modules whom the kernel refuses `threads` or `eventfd`, for good.
pub fn refused(calls: &str, modules: impl IntoIterator<Item = String>) -> Nginx {
    preloaded(&format!("TEST_REFUSED='{calls}'"), modules)
}

fn preloaded(settings: &str, modules: impl IntoIterator<Item = String>) -> Nginx {
    let script = format!(
        "{settings} LD_PRELOAD='{}' exec '{}' \"$@\"",
        library().display(),
        super::binary().display()
    );
    super::wrapped_with(&script, modules)
}

/// Builds the library that is preloaded.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("faults");
        let status = Command::new("cargo")
            .args(["build", "--quiet", "--package", "test-faults"])
            .arg("--target-dir")
            .arg(&target)
            .current_dir(super::root())
            .status()
            .expect("cargo runs");
        assert!(status.success(), "tests/faults cannot be built");
        target.join("debug/libtest_faults.so")
    })
}
