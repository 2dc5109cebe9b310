//! `rerun compare` with servers that are right only as long as they are proved: each fault is its own row's, the others
//! go on, the result file has it all, and nothing is left behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const RERUN: &str = env!("CARGO_BIN_EXE_rerun");

/// A folder with everything that a run needs, gone when this is dropped.
struct Place(PathBuf);

impl Place {
    fn new(test: &str, habits: &[&str]) -> Self {
        let name = format!("rerun-compare-{}-{test}", std::process::id());
        let place = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(place.0.join("tmp")).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/under_load/main.rs");
        let sign = place.sign();
        let sign = sign.display();
        for habit in habits {
            let dir = place.0.join("contenders").join(habit);
            fs::create_dir_all(&dir).unwrap();
            fs::copy(&source, dir.join("main.rs")).unwrap();
            let manifest = format!(
                "title = \"A server that {habit}\"\n[programs]\nrustc = \"rustc\"\n\
                 [versions]\nrustc = [\"{{rustc}}\", \"--version\"]\n\
                 [build]\nrun = [[\"{{rustc}}\", \"--edition\", \"2024\", \"-o\", \"{{built}}/server\", \
                 \"{{dir}}/main.rs\"]]\n\
                 [start]\nrun = [[\"{{built}}/server\", \"{{port}}\", \"{habit}\", \"{sign}\"]]\n\
                 [hello]\npath = \"/hello\"\n[delay]\npath = \"/test\"\n"
            );
            fs::write(dir.join("contender.toml"), manifest).unwrap();
        }
        place
    }

    /// The file that has the servers turn bad.
    fn sign(&self) -> PathBuf {
        self.0.join("sign")
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

    /// Private folders of contenders, and processes that were started out of this place.
    fn left_behind(&self) -> Vec<String> {
        let folders = fs::read_dir(self.0.join("tmp")).unwrap().flatten();
        let mut left: Vec<String> = folders
            .map(|entry| entry.path().display().to_string())
            .collect();
        let built = self.0.join("built").display().to_string();
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            if command.starts_with(&built) {
                left.push(command);
            }
        }
        left
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn row<'a>(table: &'a serde_json::Value, contender: &str) -> &'a serde_json::Value {
    let rows = table["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["contender"] == contender)
        .unwrap()
}

/// Runs it, and has the servers turn bad when they have been proved and are measured.
fn turning_bad(mut command: Command, place: &Place) -> Output {
    let mut child = command.spawn().unwrap();
    let mut said = Vec::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    while lines.read_until(b'\n', &mut said).unwrap() > 0 {
        if String::from_utf8_lossy(&said).contains("round 2 of 5") {
            fs::write(place.sign(), "").unwrap();
        }
    }
    let output = child.wait_with_output().unwrap();
    Output {
        stderr: said,
        ..output
    }
}

#[test]
fn each_fault_is_its_own_rows() {
    let place = Place::new("faults", &["answers", "dies", "errs"]);
    let file = place.0.join("result.json");
    let file = file.to_str().unwrap();
    let arguments = [
        "compare",
        "answers",
        "dies",
        "errs",
        "--rounds",
        "5",
        "--seconds",
        "0.2",
    ];
    let mut command = place.rerun(&arguments);
    command.args(["--connections", "10", "--output", file]);
    let output = turning_bad(command, &place);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    // No progress bar in a pipe.
    assert!(
        !output.stderr.contains(&0x1b) && !output.stderr.contains(&b'\r'),
        "{output:?}"
    );
    assert!(
        printed.lines().all(|line| line.chars().count() <= 100),
        "{printed}"
    );

    let run: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let (hello, delay) = (&run["tables"][0], &run["tables"][1]);
    let right = row(hello, "answers");
    assert_eq!(right["rounds"].as_array().unwrap().len(), 5);
    assert!(right["summary"]["cpu_us"]["median"].as_f64().unwrap() > 0.0);
    assert!(
        row(delay, "answers")["summary"]["over_ms"]["min"]
            .as_f64()
            .unwrap()
            >= -1.0
    );

    let dead = row(hello, "dies");
    assert!(
        dead["fault"].as_str().unwrap().contains("exit status 7"),
        "{dead}"
    );
    assert!(dead["summary"].is_null() && row(delay, "dies")["summary"].is_null());

    let wrong = row(hello, "errs");
    assert!(wrong["summary"].is_null());
    let verdicts = wrong["verdicts"].as_array().unwrap();
    let refused = verdicts
        .iter()
        .find(|verdict| verdict["outcome"] == "refuse")
        .unwrap();
    assert_eq!(refused["gate"], 2);
    assert!(
        refused["text"].as_str().unwrap().contains("wrong body"),
        "{refused}"
    );
    // It is wrong at one address only.
    assert!(row(delay, "errs")["summary"].is_object());

    // The report can be made again from the file alone.
    let report = place.rerun(&["report", file]).output().unwrap();
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(printed.starts_with(&report), "{report}\n\n{printed}");
    assert_eq!(place.left_behind(), [""; 0]);
}

/// While the server is compiled or started, and while it is measured.
#[test]
fn a_signal_at_any_moment() {
    let place = Place::new("signal", &["answers"]);
    let measuring = "measuring answers, round 1 of 7";
    for (signal, moment) in [
        ("INT", "starting answers"),
        ("INT", measuring),
        ("TERM", measuring),
        ("KILL", measuring),
    ] {
        let arguments = ["compare", "answers", "--seconds", "2", "--rounds", "7"];
        let mut rerun = place.rerun(&arguments).spawn().unwrap();
        let said = BufReader::new(rerun.stderr.take().unwrap());
        let mut lines = said.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.starts_with(moment)), "{moment}");
        let id = rerun.id().to_string();
        let kill = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(kill.unwrap().success());
        assert!(!rerun.wait().unwrap().success());
        for _ in 0..500 {
            if place.left_behind().is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(place.left_behind(), [""; 0], "{signal} while {moment}");
    }
}

#[test]
fn instructions_need_valgrind() {
    let place = Place::new("valgrind", &[]);
    let mut command = place.rerun(&["compare", "--instructions"]);
    let output = command.env("PATH", "").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains("--instructions needs valgrind: apt-get install"),
        "{said}"
    );
}
