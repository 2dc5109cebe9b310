//! What holds of any text, real outputs and what becomes of them in a paste.

use std::fs;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::case::{Body, Meant};
use super::finding::Kind;
use super::{Case, checks, read};
use crate::fuzz::audit_is_in_order as is_in_order;

/// Outputs as the generators printed them, by the names of their files.
fn outputs() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/audit");
    let files = fs::read_dir(folder).unwrap().flatten();
    let mut outputs: Vec<(String, String)> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    outputs.sort();
    assert!(outputs.len() > 20);
    outputs
}

fn output() -> impl Strategy<Value = (String, String)> {
    select(outputs())
}

fn meant() -> impl Strategy<Value = Meant> {
    let delay = proptest::option::of(select(vec![0.0, 0.5, 20.0, 1e12]));
    let connections = proptest::option::of(select(vec![1, 50, u32::MAX]));
    let body = proptest::option::of(select(vec!["0", "3", "OK\\n", "", "99999999999999999999"]));
    (delay, connections, body).prop_map(|(delay_ms, connections, body)| Meant {
        delay_ms,
        connections,
        body: body.and_then(|body| Body::parse(body).ok()),
    })
}

/// Kind and text of everything that is found, run by run.
fn found(text: &str) -> Vec<Vec<(Kind, String)>> {
    let paste = read::all(text);
    let meant = Meant::default();
    let runs = paste.runs.iter();
    runs.map(|run| {
        let found = checks::all(&Case { run, meant: &meant });
        found
            .into_iter()
            .map(|finding| (finding.kind, finding.text))
            .collect()
    })
    .collect()
}

fn impossible(text: &str) -> Vec<String> {
    let all = found(text).into_iter().flatten();
    all.filter(|(kind, _)| *kind == Kind::Impossible)
        .map(|(_, text)| text)
        .collect()
}

/// What a number in an output may become.
const STRANGE: [&str; 16] = [
    "NaN",
    "-nan",
    "inf",
    "-1",
    "-0.00",
    "1e308",
    "1e-308",
    "0",
    "0.00",
    "00000000000000000000000000000001",
    "99999999999999999999999999999999999999999",
    "18446744073709551616",
    "4294967296",
    "1,000,000,000",
    "9.99999999999999999999999999999999",
    ".",
];

/// Swaps the nth number for another word.
fn with_number(text: &str, nth: Index, word: &str) -> String {
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|(at, c)| {
            let before = text[..*at].chars().next_back();
            c.is_ascii_digit() && !before.is_some_and(|c| c.is_ascii_digit() || c == '.')
        })
        .map(|(at, _)| at)
        .collect();
    if starts.is_empty() {
        return text.to_owned();
    }
    let at = *nth.get(&starts);
    let rest = text[at..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    format!("{}{word}{rest}", &text[..at])
}

/// Removes lines from one on.
fn without_lines(text: &str, from: Index, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = from.index(lines.len());
    let until = (from + count).min(lines.len());
    [&lines[..from], &lines[until..]].concat().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>(), meant in meant()) {
        is_in_order(&text, &meant);
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300), meant in meant()) {
        is_in_order(&super::decoded(&bytes), &meant);
    }

    #[test]
    fn strange_numbers(
        (_, mut text) in output(),
        changes in proptest::collection::vec((any::<Index>(), select(STRANGE.to_vec())), 1..6),
        meant in meant(),
    ) {
        for (nth, word) in changes {
            text = with_number(&text, nth, word);
        }
        is_in_order(&text, &meant);
    }

    #[test]
    fn torn_output((_, text) in output(), cuts in proptest::collection::vec(any::<Index>(), 1..8), meant in meant()) {
        let mut chars: Vec<char> = text.chars().collect();
        for cut in cuts {
            if !chars.is_empty() {
                let at = cut.index(chars.len());
                chars.rotate_left(at);
                chars.truncate(chars.len() - at / 2);
            }
        }
        is_in_order(&chars.into_iter().collect::<String>(), &meant);
    }

    /// Missing lines are no contradiction.
    #[test]
    fn cut_lines_accuse_nobody((name, text) in output(), from in any::<Index>(), count in 1_usize..40) {
        // One distribution of wrk2's looks like the other, if all between them is gone.
        prop_assume!(name != "wrk2-over");
        let cut = without_lines(&text, from, count);
        prop_assert_eq!(impossible(&cut), Vec::<String>::new());
    }

    #[test]
    fn truncation_accuses_nobody((_, text) in output(), at in any::<Index>()) {
        let lines: Vec<&str> = text.lines().collect();
        let at = at.index(lines.len() + 1);
        for part in [&lines[..at], &lines[at..]] {
            prop_assert_eq!(impossible(&part.join("\n")), Vec::<String>::new());
        }
    }

    /// Two outputs after each other are two runs, and each is judged as it is alone.
    #[test]
    fn runs_are_kept_apart((_, one) in output(), (_, other) in output(), between in select(vec!["", "\n", "\n对比如下：\n"])) {
        let both = found(&format!("{one}{between}{other}"));
        prop_assert_eq!(both, [found(&one), found(&other)].concat());
    }

    /// Quotes, indentation, line ends, colours, fences and prose change nothing.
    #[test]
    fn what_is_around_output_changes_nothing(
        (_, text) in output(),
        start in select(vec!["", "> ", "    ", "\t", "> > ", "\u{1b}[32m", "\u{feff}", "│ ", "bench_1  | ", "2022-11-28T12:54:33.9710971Z "]),
        end in select(vec!["", "\r", "  ", "\u{1b}[0m", "\u{a0}", "<br>"]),
        around in select(vec![("", ""), ("```\n", "```\n"), ("Node.js 比 Go 慢 3 倍：\n", "结论 100%\n")]),
    ) {
        let lines: String = text.lines().map(|line| format!("{start}{line}{end}\n")).collect();
        let pasted = format!("{}{lines}{}", around.0, around.1);
        prop_assert_eq!(found(&pasted), found(&text));
    }
}

#[test]
fn real_output_is_read_whole_and_accused_of_nothing() {
    for (name, text) in outputs() {
        let paste = read::all(&text);
        assert_eq!(paste.runs.len(), 1, "{name}");
        assert!(
            paste.unread.is_empty() && paste.runs[0].unread.is_empty(),
            "{name}: {paste:?}"
        );
        assert!(
            name.starts_with(&format!("{}-", paste.runs[0].tool.name())),
            "{name}"
        );
        assert_eq!(impossible(&text), Vec::<String>::new(), "{name}");
    }
}
