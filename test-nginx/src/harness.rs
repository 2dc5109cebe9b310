//! Every block of every file becomes a test of libtest-mimic.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use libtest_mimic::{Arguments, Trial};

use crate::nginx::Nginx;
use crate::perl::Perl;
use crate::room::Room;
use crate::run;
use crate::value::Value;

/// Modes of Test::Nginx that would make a run mean something else.
const UNSUPPORTED: &[&str] = &[
    "TEST_NGINX_BENCHMARK",
    "TEST_NGINX_CHECK_LEAK",
    "TEST_NGINX_LD_PRELOAD",
    "TEST_NGINX_NO_NGINX_MANAGER",
    "TEST_NGINX_USE_HTTP3",
    "TEST_NGINX_USE_RR",
    "TEST_NGINX_USE_STAP",
    "TEST_NGINX_USE_VALGRIND",
];

/// Runs Test::Nginx::Socket files.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     test_nginx::Harness::new().path("t").env("TEST_NGINX_SLEEP", "0.01").run()
/// }
/// ```
#[derive(Debug, Default, Clone)]
pub struct Harness {
    paths: Vec<PathBuf>,
    env: BTreeMap<String, String>,
}

impl Harness {
    /// A harness without any files yet.
    pub fn new() -> Harness {
        Harness::default()
    }

    /// Adds a `.t` file, or all `.t` files in and below a directory.
    pub fn path(mut self, path: impl AsRef<Path>) -> Harness {
        self.paths.push(path.as_ref().to_owned());
        self
    }

    /// Sets an environment variable for the files, for nginx, and for this
    /// harness: `TEST_NGINX_LOAD_MODULES`, for one.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Harness {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Runs the tests as the arguments of this process ask, which are those of
    /// any `cargo test` binary. Without `--test-threads`, two tests run for
    /// each core, since most of the time a test waits.
    pub fn run(&self) -> ExitCode {
        self.run_with(env::args())
    }

    /// The same, as `arguments` ask; the first is the name of the program.
    pub fn run_with(&self, arguments: impl IntoIterator<Item = String>) -> ExitCode {
        let mut arguments = Arguments::from_iter(arguments);
        if arguments.test_threads.is_none() {
            let cores = thread::available_parallelism().map_or(1, |n| n.get());
            arguments.test_threads = Some(2 * cores);
        }
        match self.trials() {
            Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
            Err(e) => {
                eprintln!("test-nginx: {e}");
                ExitCode::FAILURE
            }
        }
    }

    /// The tests themselves, for a harness of your own to run.
    pub fn trials(&self) -> io::Result<Vec<Trial>> {
        let var = |name: &str| self.env.get(name).cloned().or_else(|| env::var(name).ok());
        if let Some(name) = UNSUPPORTED
            .iter()
            .find(|name| var(name).is_some_and(|v| !v.is_empty() && v != "0"))
        {
            return Err(io::Error::other(format!(
                "{name} is set, but not supported here"
            )));
        }
        let nginx = Arc::new(Nginx::from_vars(var)?);
        let mut files = Vec::new();
        for path in &self.paths {
            find_files(path, &mut files)
                .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        }
        if files.is_empty() {
            return Err(io::Error::other(format!(
                "there are no .t files in {:?}",
                self.paths
            )));
        }
        // Reading is perl's work, and each file has a perl of its own.
        let mut trials = Vec::new();
        for file in files {
            trials.extend(self.trials_of(&nginx, file)?);
        }
        Ok(trials)
    }

    fn trials_of(&self, nginx: &Arc<Nginx>, file: PathBuf) -> io::Result<Vec<Trial>> {
        let shown = file.display().to_string();
        let list = {
            let room = Room::new()?;
            let mut env = self.env.clone();
            env.insert("TEST_NGINX_SERVER_PORT".to_owned(), "1984".to_owned());
            env.insert(
                "TEST_NGINX_SERVROOT".to_owned(),
                room.root().display().to_string(),
            );
            Perl::start(&file, room.dir(), nginx, &env)?.ask("list", &[])
        };
        let list = match list {
            Ok(list) => list,
            Err(e) => {
                return Ok(vec![Trial::test(shown.clone(), move || {
                    Err(format!("{shown}: the file cannot be read: {e}").into())
                })]);
            }
        };
        let blocks = list.list().unwrap_or_default();
        if blocks.is_empty() {
            return Ok(vec![Trial::test(shown.clone(), move || {
                Err(format!("{shown}: the file has no test blocks").into())
            })]);
        }
        let mut names = BTreeSet::new();
        let mut trials = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let str = |key: &str| block.get(key).str().unwrap_or_default().into_owned();
            let line: usize = str("line").parse().unwrap_or_default();
            let mut name = format!("{shown}: {}", str("name"));
            if !names.insert(name.clone()) {
                name = format!("{name} (line {line})");
            }
            if block.get("only").is_true() {
                eprintln!("{shown}:{line}: --- ONLY: the other blocks of the file do not run");
            }
            for section in block.get("repeated").list().unwrap_or_default() {
                let section = section.str().unwrap_or_default();
                eprintln!("{shown}:{line}: --- {section} is repeated: only the last one counts");
            }
            let skip = *block.get("skip") != Value::Undef;
            let (nginx, env, file) = (nginx.clone(), self.env.clone(), file.clone());
            let trial =
                Trial::ignorable_test(name, move || run::run(&nginx, &env, &file, index, line));
            trials.push(trial.with_ignored_flag(skip));
        }
        Ok(trials)
    }
}

/// A file that is named is taken as it is; a directory gives its `.t` files.
fn find_files(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        fs::metadata(path)?;
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(path)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|extension| extension == "t") {
            find_files(&entry, files)?;
        }
    }
    Ok(())
}
