//! Every link between documents of this repository leads somewhere.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use support::root;

/// Documents that are not where they are read: the frames of what `make results` and `make scale` write.
const FRAMES: [&str; 2] = ["xtask/src/results/", "rerun/src/scale/"];

fn events(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES)
}

/// All Markdown of this repository by its path in it.
fn documents() -> BTreeMap<String, String> {
    let mut all = support::texts("", &[".md"]);
    all.retain(|file, _| !FRAMES.iter().any(|folder| file.starts_with(folder)));
    all
}

/// The anchors that GitHub gives a document: of headings its words, of `<a id>` the id.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in events(markdown) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) if heading.is_some() => {
                heading.as_mut().unwrap().push_str(&text)
            }
            Event::End(TagEnd::Heading(_)) => {
                let slug = slug(&heading.take().unwrap_or_default());
                let mut unique = slug.clone();
                for number in 1.. {
                    if anchors.insert(unique) {
                        break;
                    }
                    unique = format!("{slug}-{number}");
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let id = html
                    .split_once("<a id=\"")
                    .and_then(|(_, rest)| rest.split_once('"'));
                anchors.extend(id.map(|(id, _)| id.to_owned()));
            }
            _ => (),
        }
    }
    anchors
}

fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c })
        .collect::<String>()
        .to_lowercase()
}

#[test]
fn headings_have_the_anchors_of_github() {
    let page = "# content_by_rust\n\n## What it `needs`: all, at once\n\n### content_by_rust\n\n## 运行要求\n\n<a id=\"here\"></a>\n";
    let found = anchors(page);
    let expected = [
        "content_by_rust",
        "content_by_rust-1",
        "here",
        "what-it-needs-all-at-once",
        "运行要求",
    ];
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn links_lead_somewhere() {
    let documents = documents();
    let mut broken = Vec::new();
    for (file, text) in &documents {
        for event in events(text) {
            let Event::Start(Tag::Link { dest_url, .. }) = event else {
                continue;
            };
            if dest_url.contains("://") {
                continue;
            }
            let (path, anchor) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
            let folder = Path::new(file).parent().unwrap();
            let target = if path.is_empty() {
                file.clone()
            } else {
                plain(&folder.join(path))
            };
            let is_there = root().join(&target).exists();
            let has_anchor = anchor.is_empty()
                || documents
                    .get(&target)
                    .is_some_and(|text| anchors(text).contains(anchor));
            if !is_there || !has_anchor {
                broken.push(format!("{file}: {dest_url}"));
            }
        }
    }
    assert!(documents.contains_key("README.md"), "no documents");
    assert!(
        broken.is_empty(),
        "these lead nowhere:\n{}",
        broken.join("\n")
    );
}

/// A link to a test in SECURITY.md is called as the test is.
#[test]
fn promises_have_the_tests_that_they_name() {
    let security = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let (mut target, mut name, mut tests, mut wrong) = (None, String::new(), 0, Vec::new());
    for event in events(&security) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                let is_test = |url: &str| url.ends_with(".rs") || url.ends_with(".t");
                target = Some(dest_url.into_string()).filter(|url| is_test(url));
                name.clear();
            }
            Event::Text(text) => name += &text,
            Event::End(TagEnd::Link) => {
                let Some(file) = target.take().filter(|_| name != "fuzz/src") else {
                    continue;
                };
                let text = fs::read_to_string(root().join(&file)).unwrap_or_default();
                let is_there = text.contains(&format!("fn {name}("))
                    || text
                        .lines()
                        .any(|line| line.starts_with("=== ") && line.ends_with(&name));
                tests += 1;
                if !is_there {
                    wrong.push(format!("{file}: {name}"));
                }
            }
            _ => (),
        }
    }
    assert!(tests > 20, "{tests} tests");
    assert!(
        wrong.is_empty(),
        "there are no such tests:\n{}",
        wrong.join("\n")
    );
}

/// `docs/../README.md` is `README.md`.
fn plain(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.iter().filter_map(|part| part.to_str()) {
        match part {
            ".." => drop(parts.pop()),
            "." => (),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
