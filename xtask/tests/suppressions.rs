//! Whatever keeps a sanitizer or Miri silent has a reason above it.

use std::fs;
use std::path::{Path, PathBuf};

/// How lines that do so are known: LeakSanitizer's, the compilers', Miri's.
const SIGNS: [&str; 5] = [
    "\"leak:",
    "-fno-sanitize",
    "miri, ignore",
    "no_sanitize",
    "sanitize(",
];

/// The lines that silence something and have no comment above them.
fn without_reason(name: &str, text: &str) -> Vec<String> {
    let is_comment = |line: &str| line.starts_with("//") || line.ends_with("*/");
    let silences = |line: &str| !is_comment(line) && SIGNS.iter().any(|sign| line.contains(sign));
    let mut above = "";
    let mut found = Vec::new();
    for (n, line) in text.lines().map(str::trim).enumerate() {
        if silences(line) && !is_comment(above) {
            found.push(format!("{name}:{}: {line}", n + 1));
        }
        above = line;
    }
    found
}

/// The text files in which something may be silenced.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut found, mut waiting) = (Vec::new(), Vec::new());
    waiting.extend(["src", "model/src", "tests", "xtask/src"].map(|folder| root.join(folder)));
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path
            .extension()
            .is_some_and(|extension| ["c", "h", "rs"].iter().any(|e| extension == *e))
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn whatever_is_silenced_has_a_reason() {
    let files = files();
    assert!(
        files
            .iter()
            .any(|file| file.ends_with("sanitize/options.c"))
    );
    let without = files.iter().flat_map(|file| {
        let name = file.to_string_lossy();
        without_reason(&name, &fs::read_to_string(file).unwrap())
    });
    assert_eq!(without.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_line_without_a_reason_is_found() {
    let count = |name, text| without_reason(name, text).len();
    assert_eq!(count("a.c", "return\n  \"leak:x\\n\";"), 1);
    assert_eq!(
        count("a.c", "/* nginx's own */\n\"leak:x\\n\"\n\"leak:y\\n\";"),
        1
    );
    assert_eq!(count("a.rs", "#[test]\n#[cfg_attr(miri, ignore)]"), 1);
    assert_eq!(
        count(
            "a.rs",
            "// Miri knows no eventfd.\n#[cfg_attr(miri, ignore)]"
        ),
        0
    );
    assert_eq!(
        count("a.rs", "/// Why.\nconst FLAG: &str = \"-fno-sanitize=x\";"),
        0
    );
}
