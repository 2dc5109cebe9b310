//! `make test`: named steps, each of which can also be run alone with `cargo xtask test STEP`.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::install::{self, Need};
use crate::nginx::{self, Choice, Nginx};
use crate::sanitize::{self, toolchain};
use crate::{build, deny, fuzz, image, matrix, project, publish, shell, soak};

/// Module crates that tests load.
pub const FOR_TESTS: [&str; 9] = [
    "test-handlers",
    "test-tokio-handlers",
    "test-background-tasks",
    "test-from-lua",
    "greeter",
    "events",
    "fan-out",
    "redis-counter",
    soak::MODULE,
];

/// All default features but `vendored`: the nginx is known, and what would build another is much to compile.
pub const FEATURES: [&str; 3] = [
    "--no-default-features",
    "--features",
    "content-by-rust/tokio",
];

/// One kind of test. To add one, write its function and name it in [`STEPS`].
struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Nginx) -> Result<()>,
}

const STEPS: [Step; 16] = [
    Step {
        name: "none",
        about: "nothing but the build of the modules, which comes first anyway",
        run: |_| Ok(()),
    },
    Step {
        name: "fmt",
        about: "the code is formatted",
        run: fmt,
    },
    Step {
        name: "clippy",
        about: "no warning in any target",
        run: clippy,
    },
    Step {
        name: "test",
        about: "cargo test of the workspace, with the modules in the system's nginx",
        run: test,
    },
    Step {
        name: "soak",
        about: "a minute of everything at once",
        run: |nginx| soak::soak(nginx, "1", ""),
    },
    Step {
        name: "loom",
        about: "the door to other threads, in every order of its threads",
        run: loom,
    },
    Step {
        name: "miri",
        about: "what has no FFI, under Miri, where a nightly toolchain has it",
        run: miri,
    },
    Step {
        name: "fuzz",
        about: "a minute of search for bytes that break a reader, for each of eight targets",
        run: |_| fuzz::all(60),
    },
    Step {
        name: "deny",
        about: "licences, sources and advisories of the dependencies",
        run: |_| deny::run(),
    },
    Step {
        name: "doc",
        about: "the documentation builds without a warning",
        run: doc,
    },
    Step {
        name: "address",
        about: "cargo test over AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer",
        run: sanitize::address,
    },
    Step {
        name: "memcheck",
        about: "a part of cargo test over valgrind's memcheck",
        run: sanitize::memcheck,
    },
    Step {
        name: "vendored",
        about: "the module builds and loads without the system's nginx",
        run: vendored,
    },
    Step {
        name: "matrix",
        about: "one row of make matrix: an nginx with the module linked into it",
        run: |_| matrix::one_static(),
    },
    Step {
        name: "publish",
        about: "the crates for others can be published, and build with nothing around them",
        run: |_| publish::test(),
    },
    Step {
        name: "image",
        about: "the package is installed, removed and purged, and the Dockerfile's image serves",
        run: image::test,
    },
];

/// The steps of `make test SANITIZE=1`: they need no modules but their own.
const SANITIZE: [&str; 4] = ["address", "memcheck", "miri", "loom"];

/// What `make test` leaves out.
const ONLY_BY_NAME: [&str; 3] = ["none", "address", "memcheck"];

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
    /// Run the steps that look for what C and unsafe Rust may do to memory
    #[arg(long, conflicts_with = "steps")]
    sanitize: bool,
    /// The steps to run; without any all of `make test`
    #[arg(value_parser = STEPS.map(|step| step.name), long_help = list())]
    steps: Vec<String>,
}

fn list() -> String {
    STEPS
        .map(|step| format!("{}: {}\n", step.name, step.about))
        .concat()
}

impl Options {
    fn wants(&self, step: &Step) -> bool {
        match self.steps.as_slice() {
            [] if self.sanitize => SANITIZE.contains(&step.name),
            [] => !ONLY_BY_NAME.contains(&step.name),
            named => named.iter().any(|name| name == step.name),
        }
    }
}

pub fn run(options: &Options) -> Result<()> {
    install::install(&[Need::Toolchain, Need::Testing, Need::Browser])?;
    let nginx = nginx::prepare(&options.choice)?;
    let wanted: Vec<&Step> = STEPS.iter().filter(|step| options.wants(step)).collect();
    if !wanted.iter().all(|step| SANITIZE.contains(&step.name)) {
        build_modules(&nginx)?;
    }

    let mut failed = Vec::new();
    for step in wanted {
        eprintln!("\n== {}: {}", step.name, step.about);
        let begun = Instant::now();
        match (step.run)(&nginx) {
            Ok(()) => eprintln!("== {}: passed in {:.0?}", step.name, begun.elapsed()),
            Err(error) => {
                eprintln!("== {}: FAILED: {error:#}", step.name);
                failed.push(step.name);
            }
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    eprintln!("\nall passed");
    Ok(())
}

fn build_modules(nginx: &Nginx) -> Result<()> {
    build::shipped(nginx)?;
    for package in FOR_TESTS {
        build::module(nginx, package)?;
    }
    Ok(())
}

fn fmt(_: &Nginx) -> Result<()> {
    component("fmt", "rustfmt")?;
    shell::run(
        shell::command("cargo")
            .args(["fmt", "--all", "--check"])
            .current_dir(project::root()),
    )
}

fn clippy(nginx: &Nginx) -> Result<()> {
    component("clippy", "clippy")?;
    shell::run(
        nginx
            .cargo()
            .args(["clippy", "--workspace", "--all-targets"])
            .args(FEATURES)
            .args(["--", "-D", "warnings"]),
    )?;
    // Without tokio, as a user's crate may have it.
    shell::run(
        nginx
            .cargo()
            .args(["clippy", "--package", "content-by-rust", "--lib"])
            .args(["--no-default-features", "--", "-D", "warnings"]),
    )
}

fn test(nginx: &Nginx) -> Result<()> {
    shell::run(
        with_modules(nginx, nginx)?
            .args(["test", "--workspace", "--no-fail-fast"])
            .args(FEATURES),
    )
}

/// In a target directory of its own: the flag is for every crate.
fn loom(_: &Nginx) -> Result<()> {
    let target = project::target().join("loom");
    shell::run(
        shell::command("cargo")
            .args(["test", "--package", "model"])
            .env("RUSTFLAGS", "--cfg loom")
            .env("CARGO_TARGET_DIR", target)
            .current_dir(project::root()),
    )
}

/// What has no FFI, in the model and in the module's own tests.
fn miri(nginx: &Nginx) -> Result<()> {
    if let Err(error) = toolchain::install() {
        eprintln!("skipped: {error:#}");
        return Ok(());
    }
    let target = project::target().join("miri");
    shell::run(
        nginx
            .cargo()
            .args(["miri", "test", "--lib"])
            .args(["--package", "model", "--package", "content-by-rust"])
            .args(FEATURES)
            .env("RUSTUP_TOOLCHAIN", toolchain::NIGHTLY)
            .env("CARGO_TARGET_DIR", target),
    )
}

fn doc(nginx: &Nginx) -> Result<()> {
    shell::run(
        nginx
            .cargo()
            .env("RUSTDOCFLAGS", "-D warnings")
            .args(["doc", "--workspace", "--no-deps"])
            .args(FEATURES),
    )
}

/// With no environment at all, as an editor calls cargo, and with NGINX=vendored. Leaves target/module/ as it found it: for the chosen nginx.
fn vendored(nginx: &Nginx) -> Result<()> {
    shell::run(
        shell::command("cargo")
            .args(["check", "--package", "ngx-http-rust-module"])
            .current_dir(project::root()),
    )?;
    build::shipped(&nginx::prepare(&Choice::vendored())?)?;
    build::shipped(nginx)?;
    Ok(())
}

/// cargo for one nginx, with what the test.env of another, or of the same, tells of its modules.
pub fn with_modules(nginx: &Nginx, tested: &Nginx) -> Result<Command> {
    let file = tested.module_dir().join("test.env");
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let mut cargo = nginx.cargo();
    cargo.envs(text.lines().filter_map(|line| line.split_once('=')));
    Ok(cargo)
}

/// Installs a part of the Rust toolchain that rustup left out.
fn component(subcommand: &str, name: &str) -> Result<()> {
    if shell::quiet(shell::command("cargo").args([subcommand, "--version"])).is_ok() {
        return Ok(());
    }
    shell::run(shell::command("rustup").args(["component", "add", name]))
        .with_context(|| format!("this Rust toolchain has no {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_names_of_their_own() {
        let mut names = STEPS.map(|step| step.name).to_vec();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn sets_of_steps_name_steps() {
        let is_a_step = |name: &&str| STEPS.iter().any(|step| step.name == *name);
        assert!(SANITIZE.iter().chain(&ONLY_BY_NAME).all(is_a_step));
    }

    #[test]
    fn the_readme_names_them() {
        let readme = std::fs::read_to_string(project::root().join("README.md")).unwrap();
        let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = |names: &[&str]| {
            let (last, others) = names.split_last().unwrap();
            format!("`{}` and `{last}`", others.join("`, `"))
        };
        let all = STEPS.map(|step| step.name);
        let all: Vec<&str> = all
            .into_iter()
            .filter(|name| !ONLY_BY_NAME.contains(name))
            .collect();
        assert!(readme.contains(&format!("Its steps are {};", said(&all))));
        assert!(readme.contains(&format!("SANITIZE=1` has {}.", said(&SANITIZE))));
    }
}
