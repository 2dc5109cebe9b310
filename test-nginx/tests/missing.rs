//! Blocks that need a directive which this nginx does not have.

use std::process::Command;

fn run(environment: &[(&str, &str)]) -> String {
    let room = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_test-nginx"));
    command
        .env("TMPDIR", room.path())
        .envs(environment.iter().copied())
        .arg("tests/missing.t");
    String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
}

#[test]
fn they_are_ignored_where_that_is_wished() {
    let said = run(&[("TEST_NGINX_IGNORE_MISSING_DIRECTIVES", "1")]);
    for outcome in ["ignored", "ok", "FAILED"] {
        let title = said
            .lines()
            .find(|line| line.contains(&format!(": {outcome}")));
        let end = title.and_then(|line| line.rsplit(" ... ").next());
        assert!(end.is_some_and(|end| end.starts_with(outcome)), "{said}");
    }
    assert!(said.contains("1 passed; 1 failed; 2 ignored;"), "{said}");
    assert_eq!(
        said.matches("(there is no directive no_such_directive)")
            .count(),
        2,
        "{said}"
    );
}

#[test]
fn they_fail_elsewhere() {
    let said = run(&[]);
    assert!(said.contains("1 passed; 3 failed; 0 ignored;"), "{said}");
}
