//! Whatever keeps a sanitizer or Miri silent has a reason above it.

mod support;

use support::texts;

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

#[test]
fn whatever_is_silenced_has_a_reason() {
    let folders = ["src", "model/src", "tests", "xtask/src"];
    let files = folders.map(|folder| texts(folder, &[".c", ".h", ".rs"]));
    assert!(files[3].contains_key("sanitize/options.c"));
    let without = files.iter().flatten();
    let without = without.flat_map(|(file, text)| without_reason(file, text));
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
