//! Contenders that nobody has seen before: a new folder is enough, its faults stay in its own row, and nothing is left
//! behind.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const RERUN: &str = env!("CARGO_BIN_EXE_rerun");

/// A folder of contenders, a place to build them, and a place for their private folders.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let name = format!("rerun-test-{}-{test}", std::process::id());
        let place = Self(std::env::temp_dir().join(name));
        for folder in ["contenders", "built", "tmp"] {
            fs::create_dir_all(place.0.join(folder)).unwrap();
        }
        place
    }

    /// A contender that does what `habit` says.
    fn add(&self, name: &str, habit: &str) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/main.rs");
        let dir = self.0.join("contenders").join(name);
        fs::create_dir(&dir).unwrap();
        fs::copy(source, dir.join("main.rs")).unwrap();
        let manifest = format!(
            r#"
title = "A server that {habit}"

[programs]
rustc = "rustc"

[versions]
rustc = ["{{rustc}}", "--version"]

[build]
run = [["{{rustc}}", "--edition", "2024", "-o", "{{built}}/server", "{{dir}}/main.rs"]]

[start]
run = [["{{built}}/server", "{{port}}", "{habit}"]]
seconds = 5

[hello]
path = "/hello"

[delay]
path = "/test"
"#
        );
        fs::write(dir.join("contender.toml"), manifest).unwrap();
    }

    fn rerun(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(RERUN);
        command
            .args(arguments)
            .env("RERUN_CONTENDERS", self.0.join("contenders"))
            .env("RERUN_BUILD_DIR", self.0.join("built"))
            .env("TMPDIR", self.0.join("tmp"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn verify(&self, arguments: &[&str]) -> (bool, String) {
        let arguments = [&["verify", "--skip-controls"], arguments].concat();
        let Output {
            status,
            stdout,
            stderr,
        } = self.rerun(&arguments).output().unwrap();
        let text =
            String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
        (status.success(), text)
    }

    /// Processes that run a file of this place, and private folders that are still there.
    fn left_behind(&self) -> Vec<String> {
        let here = self.0.to_str().unwrap();
        let mut left = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            if words.contains(here) {
                left.push(words);
            }
        }
        let folders = fs::read_dir(self.0.join("tmp")).unwrap().flatten();
        left.extend(folders.map(|entry| entry.path().display().to_string()));
        left
    }

    #[track_caller]
    fn assert_nothing_left(&self) {
        let begun = Instant::now();
        while !self.left_behind().is_empty() {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "left behind: {:?}",
                self.left_behind()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The lines of one row.
fn row<'a>(text: &'a str, name: &str) -> &'a str {
    let start = text
        .find(&format!("{name} "))
        .unwrap_or_else(|| panic!("no row {name} in\n{text}"));
    let rest = &text[start..];
    let end = rest.match_indices('\n').find(|(at, _)| {
        let next = &rest[at + 1..];
        !next.starts_with(' ')
    });
    &rest[..end.map_or(rest.len(), |(at, _)| at)]
}

#[test]
fn a_new_contender_is_a_new_folder_and_nothing_else() {
    let place = Place::new("new");
    place.add("mine", "works");
    let listed = place.rerun(&["contenders"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.starts_with("mine  A server that works: rustc 1."),
        "{listed}"
    );

    let (passed, text) = place.verify(&[]);
    assert!(passed, "{text}");
    assert!(row(&text, "mine").contains("verified"), "{text}");
    assert!(text.contains(" at once"), "{text}");
    place.assert_nothing_left();

    let sources = fs::read_dir(place.0.join("contenders/mine")).unwrap();
    assert_eq!(
        sources.count(),
        2,
        "something was built inside the source folder"
    );
}

#[test]
fn a_fault_stays_in_its_row() {
    let place = Place::new("faults");
    for habit in ["dies", "dies-later", "forks", "garbage", "hangs", "works"] {
        place.add(habit, habit);
    }
    let (passed, text) = place.verify(&[]);
    assert!(!passed);
    let has = |name: &str, words: &str| {
        assert!(
            row(&text, name).contains(words),
            "{name}: {words} in\n{text}"
        );
    };
    has("dies", "ended by itself (server: exit status 3)");
    has("dies", "no such file: answers.txt");
    has("dies-later", "ended by itself (server: exit status 7)");
    has(
        "garbage",
        "answers /hello with no HTTP but \"SSH-2.0-nothing",
    );
    has("hangs", "has not answered in 5 s; it wrote nothing");
    // It took its server to another session, and shrugs off SIGTERM: it works, and it is ended all the same.
    has("forks", "verified");
    has("works", "verified");
    assert!(text.contains("2 verified, 4 failed, 0 not here"), "{text}");
    place.assert_nothing_left();
}

#[test]
fn a_port_that_is_taken() {
    let place = Place::new("port");
    place.add("works", "works");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (passed, text) = place.verify(&["--port", &port]);
    assert!(!passed);
    let me = format!("(process {}): end that first", std::process::id());
    assert!(
        row(&text, "works").contains(&format!("its port {port} is taken by")),
        "{text}"
    );
    assert!(text.contains(&me), "{text}");
    place.assert_nothing_left();
}

#[test]
fn nothing_is_left_behind_at_any_moment() {
    let place = Place::new("signals");
    place.add("forks", "forks");
    place.add("works", "works");
    // Build first, so that the moments below are those of starting and asking.
    let (passed, text) = place.verify(&[]);
    assert!(passed, "{text}");
    for (turn, signal) in ["INT", "TERM", "KILL", "INT", "TERM", "KILL"]
        .iter()
        .enumerate()
    {
        let child = place.rerun(&["verify", "--skip-controls"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(40 + 230 * turn as u64));
        end(child, signal);
        place.assert_nothing_left();
    }
}

fn end(mut child: Child, signal: &str) {
    let id = child.id().to_string();
    Command::new("kill")
        .args(["-s", signal, &id])
        .status()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "SIG{signal} does not end it"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn bad_manifests_name_file_and_line() {
    let place = Place::new("manifest");
    place.add("mine", "works");
    let file = place.0.join("contenders/mine/contender.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("path = \"/test\"", "path = \"test\"")).unwrap();
    let (passed, said) = place.verify(&[]);
    assert!(!passed);
    assert!(
        said.contains("contenders/mine/contender.toml:21: path \"test\": expected a path"),
        "{said}"
    );
}

#[test]
fn unknown_names_are_told_the_known_ones() {
    let place = Place::new("names");
    place.add("mine", "works");
    let (passed, said) = place.verify(&["yours"]);
    assert!(!passed);
    assert!(
        said.contains("no contender \"yours\"; there are: mine"),
        "{said}"
    );
}
