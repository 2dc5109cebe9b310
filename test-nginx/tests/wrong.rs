//! Wrong expectations fail, each with a message that says what is wrong.

use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_test-nginx"));
    // A failed block keeps its directory: here, where all go in the end.
    let room = tempfile::tempdir().unwrap();
    command
        .env("TMPDIR", room.path())
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Each title of the file is `what -> message`.
fn each_block_fails(file: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    let output = stdout(&run(&[file]));
    let titles: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("=== "))
        .collect();
    let mut wrong = Vec::new();
    for title in &titles {
        let (_, message) = title.split_once(" -> ").expect("the title has an arrow");
        let head = format!("---- {file}: {title} ----\n");
        let failure = output
            .split_once(&head)
            .map(|(_, rest)| rest.split("\n---- ").next());
        match failure.flatten() {
            None => wrong.push(format!("{title}: it did not fail")),
            Some(failure) if !failure.contains(message) => {
                wrong.push(format!("{title}: it said\n{failure}"));
            }
            Some(failure) => {
                assert!(
                    failure.starts_with(&format!("{file}:")),
                    "{title}: no place: {failure}"
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(
        output.contains(&format!("0 passed; {} failed", titles.len())),
        "{output}"
    );
}

#[test]
fn each_wrong_expectation_is_found() {
    each_block_fails("tests/wrong.t");
}

#[test]
fn each_broken_block_is_found() {
    each_block_fails("tests/broken.t");
}

/// Runs a file of this text; the answer is what was printed.
fn run_text(text: &str, arguments: &[&str]) -> (bool, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.t");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let output = run(&[&[file, "--"], arguments].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), stdout(&output), stderr)
}

const BLOCKS: &str = r#"
=== one
--- config
location = /t { return 200 ok; }
--- request
GET /t
--- response_body chomp
ok

=== two
--- config
location = /t { return 200 ok; }
--- request
GET /t
--- response_body chomp
ok
"#;

fn with_prologue(prologue: &str) -> String {
    format!("use Test::Nginx::Socket 'no_plan';\n{prologue}\n__DATA__\n{BLOCKS}")
}

#[test]
fn a_file_that_is_no_perl_fails() {
    let (success, out, _) = run_text(&with_prologue("no_such_sub('a'); run_tests();"), &[]);
    assert!(
        !success && out.contains("no_such_sub") && out.contains("cannot be read"),
        "{out}"
    );
}

#[test]
fn a_file_that_runs_no_tests_fails() {
    let (success, out, _) = run_text(&with_prologue(""), &[]);
    assert!(
        !success && out.contains("without calling run_tests()"),
        "{out}"
    );
}

#[test]
fn a_file_without_blocks_fails() {
    let text = "use Test::Nginx::Socket 'no_plan';\nrun_tests();\n__DATA__\n";
    let (success, out, _) = run_text(text, &[]);
    assert!(
        !success && out.contains("the file has no test blocks"),
        "{out}"
    );
}

#[test]
fn a_path_without_files_fails() {
    let output = run(&["tests/no-such-file.t"]);
    assert!(!output.status.success());
    let output = run(&["src/perl"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("there are no .t files"));
}

#[test]
fn a_name_selects_blocks() {
    let (success, out, _) = run_text(&with_prologue("run_tests();"), &["two"]);
    assert!(
        success && out.contains("1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered"),
        "{out}"
    );
}

#[test]
fn only_runs_alone_and_loudly() {
    let text = with_prologue("run_tests();").replace("=== two\n", "=== two\n--- ONLY\n");
    let (success, out, err) = run_text(&text, &[]);
    assert!(
        success && out.contains("1 passed; 0 failed; 1 ignored"),
        "{out}"
    );
    assert!(err.contains("--- ONLY"), "{err}");
}

#[test]
fn a_file_may_skip_itself() {
    let (success, out, _) = run_text(&with_prologue("plan(skip_all => 'not now');"), &[]);
    assert!(
        success && out.contains("0 passed; 0 failed; 2 ignored"),
        "{out}"
    );
}

#[test]
fn a_repeated_section_is_spoken_of() {
    let text =
        with_prologue("run_tests();").replacen("--- request", "--- config\n\n--- request", 1);
    let (_, _, err) = run_text(&text, &[]);
    assert!(err.contains("--- config is repeated"), "{err}");
}

#[test]
fn a_repeated_request_is_told_apart() {
    let text = with_prologue("repeat_each(2); run_tests();").replace("chomp\nok", "chomp\nno");
    let (_, out, _) = run_text(&text, &[]);
    assert!(
        out.contains("[repeat 1] response_body") && out.contains("[repeat 2]"),
        "{out}"
    );
}

#[test]
fn a_mode_that_is_not_supported_is_refused() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_test-nginx"));
    let output = command
        .arg("tests/t")
        .env("TEST_NGINX_USE_VALGRIND", "1")
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("TEST_NGINX_USE_VALGRIND"));
}

#[test]
fn a_failure_leaves_its_directory_and_a_success_none() {
    let room = tempfile::tempdir().unwrap();
    let run = |filter: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_test-nginx"));
        command
            .env("TMPDIR", room.path())
            .args(["tests/wrong.t", "tests/t", "--", filter]);
        stdout(&command.output().unwrap())
    };
    let count = || std::fs::read_dir(room.path()).unwrap().count();
    assert!(run("a time in milliseconds").contains("1 passed"));
    assert_eq!(count(), 0);
    let out = run("wrong.t: a body like");
    assert_eq!(count(), 1);
    let path = out
        .lines()
        .find_map(|line| line.strip_prefix("nginx.conf: "))
        .unwrap();
    assert!(Path::new(path).exists(), "{out}");
}

/// Cut off anywhere, without any of its lines, with any byte in the place of another: it is read, or refused in words.
#[test]
fn no_file_is_too_strange() {
    let text = with_prologue("run_tests();")
        .replace("--- response_body chomp\n", "--- timeout: 2\n--- abort\n");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let without = (0..lines.len()).map(|at| [&lines[..at], &lines[at + 1..]].concat().concat());
    let cut = (0..text.len()).step_by(9).map(|at| text[..at].to_owned());
    let blocks = text.find("===").unwrap();
    let places = (blocks..text.len()).step_by(5);
    let changed = places.zip(["\0", "\r", "(", ":", "\u{fffd}", "-"].into_iter().cycle());
    let changed = changed.map(|(at, with)| format!("{}{with}{}", &text[..at], &text[at + 1..]));
    for strange in without.chain(cut).chain(changed) {
        let (success, out, err) = run_text(&strange, &["--list"]);
        assert!(!err.contains("panicked"), "{strange:?}: {err}");
        let is_said = out.contains("cannot be read") || !err.is_empty();
        assert!(success || is_said, "{strange:?}: {out}{err}");
    }
}
