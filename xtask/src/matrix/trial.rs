//! One row: nginx and the module are built, the module is loaded, and `t/` runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::rows::{Configuration, Linked};
use super::sources::Source;
use crate::nginx::{self, Choice};
use crate::{build, configure, project, shell, source};

/// A row as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub struct Trial {
    /// `nginx/1.28.3`.
    pub nginx: String,
    /// Where its source or binary is from.
    pub origin: String,
    pub linked: String,
    pub configured: String,
    pub outcome: Outcome,
    /// How long it all took.
    pub seconds: u64,
}

/// How far it came.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    DoesNotBuild,
    DoesNotLoad,
    Tested(Counts),
}

/// Blocks of `t/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub passed: u32,
    pub failed: u32,
    /// They use a directive of a module that this nginx does not have.
    pub skipped: u32,
}

impl Trial {
    pub fn is_static(&self) -> bool {
        self.linked == Linked::Statically.to_string()
    }

    pub fn passed(&self) -> bool {
        matches!(self.outcome, Outcome::Tested(counts) if counts.failed == 0)
    }
}

/// The system's nginx, as it is packaged, with Lua, echo and njs beside it.
pub fn of_the_system() -> Result<Trial> {
    let begun = Instant::now();
    let mut nginx = nginx::prepare(&Choice::default())?;
    nginx.cargo_target = target();
    let outcome = match build::compiled(&nginx) {
        Ok(library) => {
            loaded_and_tested(&nginx.binary, Some(library), &nginx.companions, &nginx.dir)?
        }
        Err(error) => told(&error, Outcome::DoesNotBuild),
    };
    Ok(Trial {
        nginx: nginx.name,
        origin: "package nginx".into(),
        linked: Linked::MakeBuild.to_string(),
        configured: "as packaged".into(),
        outcome,
        seconds: begun.elapsed().as_secs(),
    })
}

/// A source, configured so, in an empty directory.
pub fn of_a_source(source: &Source, configuration: Configuration, dir: &Path) -> Result<Trial> {
    eprintln!(
        "\n== {}, {} {configuration}",
        source.name, configuration.linked
    );
    let begun = Instant::now();
    let outcome = match built(source, configuration, dir) {
        Ok((binary, library)) => loaded_and_tested(&binary, library, &[], dir)?,
        Err(error) => told(&error, Outcome::DoesNotBuild),
    };
    Ok(Trial {
        nginx: source.name.clone(),
        origin: source.origin.into(),
        linked: configuration.linked.to_string(),
        configured: configuration.to_string(),
        outcome,
        seconds: begun.elapsed().as_secs(),
    })
}

/// What all rows share of what cargo makes: all but what depends on nginx is made once.
fn target() -> PathBuf {
    project::target().join("matrix/cargo")
}

/// The binary, and the shared object unless the module is in the binary.
fn built(
    source: &Source,
    configuration: Configuration,
    dir: &Path,
) -> Result<(PathBuf, Option<PathBuf>)> {
    let (copy, objs) = (dir.join("source"), dir.join("objs"));
    fs::create_dir_all(dir)?;
    source::copy(&source.tree, &copy)?;
    configure::run(&copy, &objs, &configuration.arguments())?;
    let targets: &[&str] = match configuration.linked {
        Linked::Dynamically => &["binary", "modules"],
        Linked::MakeBuild | Linked::Statically => &["binary"],
    };
    configure::make(&copy, &objs, targets, &[("CARGO_TARGET_DIR", &target())])?;
    let binary = objs.join("nginx");
    let library = match configuration.linked {
        Linked::MakeBuild => Some(of_make_build(&binary, &copy)?),
        Linked::Dynamically => Some(objs.join("ngx_http_rust_module.so")),
        Linked::Statically => None,
    };
    Ok((binary, library))
}

fn of_make_build(binary: &Path, source: &Path) -> Result<PathBuf> {
    let mut nginx = nginx::prepare(&Choice::of(binary, source))?;
    nginx.cargo_target = target();
    let library = build::compiled(&nginx)?;
    fs::remove_dir_all(&nginx.dir)?;
    Ok(library)
}

fn loaded_and_tested(
    binary: &Path,
    library: Option<PathBuf>,
    companions: &[PathBuf],
    dir: &Path,
) -> Result<Outcome> {
    let modules: Vec<PathBuf> = companions.iter().cloned().chain(library.clone()).collect();
    if let Err(error) = build::test_conf(binary, library.as_deref(), true, &dir.join("proof")) {
        return Ok(told(&error, Outcome::DoesNotLoad));
    }
    Ok(Outcome::Tested(tested(binary, &modules)?))
}

/// Prints why, and gives the outcome.
fn told(error: &anyhow::Error, outcome: Outcome) -> Outcome {
    eprintln!("{error:#}");
    outcome
}

/// Runs `t/`. A block with a directive that this nginx does not have is skipped.
fn tested(binary: &Path, modules: &[PathBuf]) -> Result<Counts> {
    let modules: Vec<_> = modules.iter().map(|file| file.to_string_lossy()).collect();
    let mut cargo = shell::command("cargo");
    cargo
        .args(["run", "--quiet", "--package", "test-nginx", "--", "t"])
        .current_dir(project::root())
        .env("CARGO_TARGET_DIR", target())
        .env("TEST_NGINX_BINARY", binary)
        .env("TEST_NGINX_LOAD_MODULES", modules.join(" "))
        .env("TEST_NGINX_IGNORE_MISSING_DIRECTIVES", "1")
        .stderr(Stdio::inherit());
    eprintln!("$ {}", shell::display(&cargo));
    let output = cargo.output().context("running cargo")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let counts = counts(&said)?;
    if counts.failed > 0 {
        eprintln!("{said}");
    }
    Ok(counts)
}

/// What the last line of a test program says.
fn counts(said: &str) -> Result<Counts> {
    let ours = ["content_by_rust", "rust_"];
    if let Some(line) = said.lines().find(|line| {
        let missing = line.split("(there is no directive ").nth(1);
        missing.is_some_and(|name| ours.iter().any(|ours| name.starts_with(ours)))
    }) {
        bail!("the module is not in this nginx: {line}");
    }
    let result = said.lines().rfind(|line| line.starts_with("test result: "));
    let result = result.context("the runner of t/ does not say how it ended")?;
    let number = |name: &str| -> Result<u32> {
        let before = result.split(name).next().filter(|before| *before != result);
        let number = before.and_then(|before| before.split_whitespace().last());
        let number = number.and_then(|number| number.parse().ok());
        number.with_context(|| format!("no number before{name}in: {result}"))
    };
    let counts = Counts {
        passed: number(" passed;")?,
        failed: number(" failed;")?,
        skipped: number(" ignored;")?,
    };
    ensure!(
        counts.passed + counts.failed > 0,
        "no block of t/ was run: {result}"
    );
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "running 415 tests\n\
        test t/access.t: TEST 1: x ... ok\n\
        test t/access.t: TEST 2: y ... ignored (there is no directive auth_request)\n\n\
        test result: ok. 339 passed; 1 failed; 76 ignored; 0 measured; 0 filtered out; finished in 21.58s\n";

    #[test]
    fn the_runner_tells_how_many() {
        let wanted = Counts {
            passed: 339,
            failed: 1,
            skipped: 76,
        };
        assert_eq!(counts(SAID).unwrap(), wanted);
        assert!(counts("error: could not compile `test-nginx`").is_err());
    }

    #[test]
    fn an_nginx_without_the_module_does_not_pass() {
        for name in ["content_by_rust", "rust_max_delay"] {
            let error = counts(&SAID.replace("auth_request", name)).unwrap_err();
            assert!(
                error.to_string().contains("is not in this nginx"),
                "{error}"
            );
        }
    }

    #[test]
    fn all_skipped_is_no_success() {
        let none = SAID.replace("339 passed; 1 failed", "0 passed; 0 failed");
        assert!(counts(&none).unwrap_err().to_string().contains("no block"));
    }

    #[test]
    fn a_row_passes_where_no_block_fails() {
        let passed = |outcome| {
            let trial = Trial {
                nginx: "nginx/1.28.3".into(),
                origin: "nginx-src".into(),
                linked: "make build".into(),
                configured: String::new(),
                outcome,
                seconds: 1,
            };
            trial.passed()
        };
        let mut counts = Counts {
            passed: 3,
            failed: 0,
            skipped: 1,
        };
        assert!(passed(Outcome::Tested(counts)));
        counts.failed = 1;
        assert!(!passed(Outcome::Tested(counts)));
        assert!(!passed(Outcome::DoesNotLoad));
    }
}
