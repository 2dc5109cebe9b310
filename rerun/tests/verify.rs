//! The contenders of this repository that can run here as it is: nothing is installed for this test, and no libraries
//! are fetched. Those left out are said aloud.

use std::process::Command;

const RERUN: &str = env!("CARGO_BIN_EXE_rerun");

/// One of each kind, so that this takes less than 40 s: `rerun verify` without names does them all.
const KINDS: [&str; 9] = [
    "nginx-rust",
    "nginx-lua",
    "nginx-njs",
    "nginx-return",
    "php-fpm",
    "go-http",
    "java-httpserver",
    "node-cluster",
    "rust-threads",
];

fn rerun(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(RERUN).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn every_contender_has_a_row() {
    let (listed, text) = rerun(&["contenders"]);
    assert!(listed, "{text}");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/contenders");
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if !entry.path().is_dir() {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")))
            .unwrap_or_else(|| panic!("no row for {name} in\n{text}"));
        let (_, said) = row.split_once(": ").unwrap();
        assert!(
            said.contains("needs ") || said.contains(|c: char| c.is_ascii_digit()),
            "neither a version nor what it needs: {row}"
        );
    }
}

#[test]
fn those_that_are_here_answer_right() {
    let (_, listed) = rerun(&["contenders"]);
    let missing = |name: &str| {
        let row = listed
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        row.is_none_or(|row| row.contains(": needs "))
    };
    let (left_out, here): (Vec<&str>, Vec<&str>) = KINDS.iter().partition(|name| missing(name));
    for name in left_out {
        eprintln!("SKIPPED: {name} is not here; `rerun contenders` tells what it needs");
    }
    if here.is_empty() {
        return;
    }
    // The controls are a unit test.
    let arguments = [&["verify", "--skip-controls"], &here[..]].concat();
    let (passed, text) = rerun(&arguments);
    assert!(passed, "{text}");
    eprintln!("{text}");
    assert!(
        text.contains(&format!("{} verified, 0 failed", here.len())),
        "{text}"
    );
}
