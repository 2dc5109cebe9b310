//! The example of `contenders/README.md`, taken out of it as somebody new would take it: rerun lists it and verifies it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// A folder that is gone when this is dropped.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The first block of code in this language.
fn block(markdown: &str, language: &str) -> String {
    let mut events = Parser::new(markdown);
    let is_start = |event: &Event| matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(name))) if &**name == language);
    assert!(events.any(|event| is_start(&event)), "no {language}");
    let within = events.take_while(|event| !matches!(event, Event::End(TagEnd::CodeBlock)));
    let text = within.filter_map(|event| match event {
        Event::Text(text) => Some(text.into_string()),
        _ => None,
    });
    text.collect()
}

/// What rerun says about the contenders in this folder.
fn rerun(place: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rerun"))
        .args(arguments)
        .env("RERUN_CONTENDERS", place.join("contenders"))
        .env("RERUN_BUILD_DIR", place.join("built"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said.into_owned()
}

#[test]
fn the_example_is_a_contender() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/contenders/README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let name = format!("rerun-example-{}", std::process::id());
    let place = Place(std::env::temp_dir().join(name));
    let dir = place.0.join("contenders/perl");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("server.pl"), block(&readme, "perl")).unwrap();
    fs::write(dir.join("contender.toml"), block(&readme, "toml")).unwrap();

    // All that the example shows of it, but for its version and its folder.
    let told = rerun(&place.0, &["contenders", "perl"]);
    let shown = readme.split("contenders perl\n").nth(1).unwrap();
    let shown = shown.split("    folder").next().unwrap().lines().skip(1);
    let shown: Vec<&str> = shown.collect();
    assert_eq!(shown.len(), 5, "{shown:?}");
    for line in shown {
        assert!(told.contains(line), "{line}\n{told}");
    }

    let row = rerun(&place.0, &["verify", "--skip-controls", "perl"]);
    assert!(row.contains("1 verified, 0 failed, 0 not here"), "{row}");
    assert!(row.contains("at once"), "{row}");
}
