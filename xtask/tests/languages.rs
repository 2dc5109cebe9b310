//! What is said in two languages is the same: headings, commands, directives, code, figures and links, section by
//! section.

mod support;

use std::collections::BTreeSet;
use std::fs;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use support::root;

/// English, and its Chinese beside it.
const PAIRS: [(&str, &str); 3] = [
    ("README.md", "README.zh-CN.md"),
    ("xtask/src/results/en.md", "xtask/src/results/zh-CN.md"),
    ("docs/results.md", "docs/results.zh-CN.md"),
];

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// What a heading has below it, in any language.
#[derive(Debug, Default, PartialEq)]
struct Section {
    level: usize,
    /// Code between backticks.
    spans: BTreeSet<String>,
    /// Language and text of each block, without comments.
    blocks: Vec<(String, String)>,
    /// Numbers in sentences and tables, sorted, as words have another order in another language.
    figures: Vec<String>,
    links: BTreeSet<String>,
    /// Rows and columns of each table.
    tables: Vec<(usize, usize)>,
    items: usize,
}

fn events(markdown: &str) -> Parser<'_> {
    Parser::new_ext(
        markdown,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
    )
}

fn sections(markdown: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut block = None;
    for event in events(markdown) {
        if let Event::Start(Tag::Heading { level, .. }) = event {
            sections.push(Section {
                level: level as usize,
                ..Section::default()
            });
        }
        let section = sections.last_mut().unwrap();
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                block = Some((language.into_string(), String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                section.blocks.extend(block.take().map(|(language, text)| {
                    let code = without_comments(&language, &text);
                    (language, code)
                }))
            }
            Event::Text(text) => match &mut block {
                Some((_, code)) => *code += &text,
                None => section.figures.extend(figures(&text)),
            },
            Event::Code(code) => section.spans.extend([code.into_string()]),
            Event::Start(Tag::Link { dest_url, .. }) => section.links.extend([target(&dest_url)]),
            Event::Start(Tag::Table(columns)) => section.tables.push((0, columns.len())),
            Event::Start(Tag::TableRow) => section.tables.last_mut().unwrap().0 += 1,
            Event::Start(Tag::Item) => section.items += 1,
            _ => (),
        }
    }
    for section in &mut sections {
        section.figures.sort();
    }
    sections
}

/// Where a link leads, whatever the language: without the anchor, which is a heading's words.
fn target(link: &str) -> String {
    let file = link.split('#').next().unwrap_or_default();
    file.replace(".zh-CN.md", ".md")
}

/// The numbers in a text: `12,000` and `1.1`, but not the `p99` and `SHA256` that are names.
fn figures(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ",._".contains(c);
    let words = text
        .split(|c| !is_part(c))
        .map(|word| word.trim_matches([',', '.', '_']));
    let figures = words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    figures.map(|word| word.replace(',', "")).collect()
}

/// Comments are of a language; what a program prints is not.
fn without_comments(language: &str, code: &str) -> String {
    let mark = match language {
        "sh" | "toml" | "nginx" => "#",
        "rust" => "//",
        _ => return code.to_owned(),
    };
    let bare = code.lines().map(|line| {
        let comment = line.match_indices(mark).find(|(at, _)| {
            line[..*at]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace)
        });
        comment
            .map_or(line, |(at, _)| &line[..at])
            .trim_end()
            .to_owned()
            + "\n"
    });
    bare.collect()
}

/// How two documents differ, section by section; nothing if they do not.
fn differences(one: &str, other: &str) -> Vec<String> {
    let (one, other) = (sections(one), sections(other));
    let levels = |all: &[Section]| all.iter().map(|section| section.level).collect::<Vec<_>>();
    if levels(&one) != levels(&other) {
        return vec![format!(
            "headings: {:?}\n{:?}",
            levels(&one),
            levels(&other)
        )];
    }
    let pairs = one
        .iter()
        .zip(&other)
        .enumerate()
        .filter(|(_, (one, other))| one != other);
    pairs
        .map(|(number, (one, other))| {
            let (a, b) = (format!("{one:#?}"), format!("{other:#?}"));
            let (a, b) = (only_in(&a, &b), only_in(&b, &a));
            format!("section {number}\n{a}\n-- and\n{b}")
        })
        .collect()
}

/// The lines of a text that another does not have, or not as often.
fn only_in(text: &str, other: &str) -> String {
    let mut others: Vec<&str> = other.lines().collect();
    let lines = text.lines().filter(|line| {
        let found = others.iter().position(|other| other == line);
        found.map(|at| others.swap_remove(at)).is_none()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn both_languages_say_the_same() {
    for (english, chinese) in PAIRS {
        let found = differences(&read(english), &read(chinese));
        assert!(
            found.is_empty(),
            "{english} and {chinese} differ:\n{}",
            found.join("\n")
        );
    }
}

#[test]
fn what_differs_is_found() {
    let one = "# a\n\nIt takes 20 ms with `make x`, see [b](b.md#c).\n\n- one\n\n```sh\nmake x   # builds\n```\n\
               \n| a | b |\n| - | - |\n| 1 | 2 |\n";
    let same = one
        .replace("It takes", "用时")
        .replace("# builds", "# 构建")
        .replace("# a", "# 甲")
        .replace("b.md#c", "b.zh-CN.md#丙");
    assert_eq!(differences(one, &same), Vec::<String>::new());
    for (what, instead) in [
        ("20 ms", "21 ms"),
        ("20 ms", "20 ms, 20 ms"),
        ("with `make x`", "with `make y`"),
        ("make x   #", "make y   #"),
        ("```sh", "```text"),
        ("(b.", "(c."),
        ("- one\n", "- one\n- two\n"),
        ("| 1 | 2 |\n", ""),
        ("# 甲\n", "## 甲\n"),
        ("# 甲\n", "# 甲\n\n## 乙\n"),
    ] {
        assert_ne!(
            differences(one, &same.replace(what, instead)),
            Vec::<String>::new(),
            "{what} {instead}"
        );
    }
}
