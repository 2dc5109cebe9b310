//! An audit as text of 100 columns.

use std::fmt::Write;

use super::case::{Case, Meant};
use super::checks;
use super::finding::{Finding, ms, short};
use crate::gates::n;
use crate::tools::Tool;
use crate::tools::read::{Paste, Unread};

/// Nothing is wider.
const WIDTH: usize = 100;

/// Where a sentence begins, behind its label.
const LABEL: usize = 14;

/// Of a line that is quoted, characters.
const QUOTE: usize = 60;

pub fn render(paste: &Paste, cases: &[Case], found: &[Vec<Finding>], side: &[Finding]) -> String {
    let mut out = String::new();
    for (index, case) in cases.iter().enumerate() {
        head(&mut out, index, case);
        for finding in &found[index] {
            labelled(&mut out, finding.kind.label(), &finding.text);
        }
        for line in case.run.unread.iter().filter(|line| !line.is_negative()) {
            labelled(&mut out, "not read", &unread(line));
        }
        out.push('\n');
    }
    if !side.is_empty() {
        out.push_str("side by side\n");
        table(&mut out, cases);
        for finding in side {
            labelled(&mut out, finding.kind.label(), &finding.text);
        }
        out.push('\n');
    }
    if !paste.unread.is_empty() {
        out.push_str("outside of any run\n");
        for line in &paste.unread {
            labelled(&mut out, "not read", &unread(line));
        }
        out.push('\n');
    }
    if cases.is_empty() {
        let tools: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
        let text = format!(
            "no output of a generator was found in this text. audit reads what {} print: paste the whole output, as \
             it stands in the terminal",
            tools.join(", ")
        );
        wrapped(&mut out, "", &text);
        return out;
    }
    let every = if cases.len() > 1 {
        "every run"
    } else {
        "besides"
    };
    let _ = writeln!(out, "{every}");
    for finding in checks::of_every_run(cases) {
        labelled(&mut out, finding.kind.label(), &finding.text);
    }
    if let Some(text) = missing(cases) {
        labelled(&mut out, "give", &text);
    }
    out
}

/// Which run it is, and its figures as they were printed.
fn head(out: &mut String, index: usize, case: &Case) {
    let printed = case.printed();
    let (first, last) = case.run.lines;
    let mut title = format!(
        "run {}, lines {first}-{last}: {}",
        index + 1,
        case.tool().name()
    );
    if let Some(connections) = case.asked() {
        let _ = write!(title, ", {connections} connections");
    }
    if let Some(url) = &printed.url {
        let _ = write!(title, ", {}", quoted(url));
    }
    wrapped(out, "", &title);
    let mut figures = Vec::new();
    if let Some(rate) = printed.rate {
        figures.push(format!("{} requests/s", n(rate.value)));
    }
    let requests = printed.requests.filter(|_| !case.hey_forgot());
    match (requests, printed.seconds) {
        (Some(requests), Some(seconds)) => {
            figures.push(format!(
                "{} requests in {} s",
                n(requests as f64),
                short(seconds.value)
            ));
        }
        (Some(requests), None) => figures.push(format!("{} requests", n(requests as f64))),
        (None, Some(seconds)) => figures.push(format!("{} s", short(seconds.value))),
        (None, None) => (),
    }
    if let Some(mean) = printed.by_rate[0].or(printed.mean) {
        figures.push(format!("mean {} ms", ms(mean)));
    }
    if let Some((_, p99)) = printed.percentiles.iter().find(|(rank, _)| *rank == 99.0) {
        figures.push(format!("p99 {} ms", ms(*p99)));
    }
    if let Some(each) = case.body_each() {
        figures.push(format!("bodies of {} bytes", short(each.value)));
    } else if let Some(each) = case.answer_each() {
        figures.push(format!(
            "answers of {} bytes with their heads",
            short(each.value)
        ));
    }
    if !figures.is_empty() {
        labelled(out, "as printed", &figures.join(", "));
    }
}

fn table(out: &mut String, cases: &[Case]) {
    let _ = writeln!(
        out,
        "  {:>4}  {:6} {:>11} {:>14} {:>14} {:>10} {:>10}",
        "run", "by", "connections", "requests/s", "not failed", "mean ms", "p99 ms"
    );
    for (index, case) in cases.iter().enumerate() {
        let printed = case.printed();
        let dash = || "-".to_owned();
        let rate = printed.rate.map(|rate| rate.value);
        let right = match (rate, case.right(), printed.requests) {
            (Some(rate), Some(right), Some(all @ 1..)) => n(rate * right as f64 / all as f64),
            _ => dash(),
        };
        let p99 = printed.percentiles.iter().find(|(rank, _)| *rank == 99.0);
        let _ = writeln!(
            out,
            "  {:>4}  {:6} {:>11} {:>14} {:>14} {:>10} {:>10}",
            index + 1,
            case.tool().name(),
            case.connections()
                .map_or_else(dash, |connections| connections.to_string()),
            rate.map_or_else(dash, n),
            right,
            printed.by_rate[0].or(printed.mean).map_or_else(dash, ms),
            p99.map_or_else(dash, |(_, p99)| ms(*p99)),
        );
    }
}

/// What would let more be judged.
fn missing(cases: &[Case]) -> Option<String> {
    let Meant { delay_ms, body, .. } = cases.first()?.meant;
    let mut words = Vec::new();
    if delay_ms.is_none() {
        words.push("--delay if the answers were to wait");
    }
    if cases.iter().any(|case| case.asked().is_none()) {
        words.push("--connections, which not all runs print");
    }
    if body.is_none() {
        words.push("--body, so that the answers' length can be judged");
    }
    (!words.is_empty()).then(|| words.join("; "))
}

fn unread(line: &Unread) -> String {
    let what = format!(
        "line {}, {:?}, looks like {}'s",
        line.line,
        quoted(&line.text),
        line.tool.name()
    );
    if line.expected.is_empty() {
        return what;
    }
    format!(
        "{what}, which prints {:?}",
        line.expected.replace('\t', " ")
    )
}

/// The beginning of a line.
fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(QUOTE).collect();
    if text.chars().count() > QUOTE {
        return shown + "…";
    }
    shown
}

fn labelled(out: &mut String, label: &str, text: &str) {
    wrapped(out, &format!("  {label:LABEL$}", LABEL = LABEL - 2), text);
}

/// Breaks at spaces, the later lines under the first.
fn wrapped(out: &mut String, start: &str, text: &str) {
    let indent = " ".repeat(start.len());
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(start)
        .subsequent_indent(&indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let _ = writeln!(out, "{}", textwrap::fill(text, options));
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::audit::finding::Kind;

    #[test]
    fn nothing_is_too_wide() {
        for text in ["word ".repeat(60), "x".repeat(450), "中文".repeat(90)] {
            let mut out = String::new();
            labelled(&mut out, Kind::Cannot.label(), &text);
            assert!(out.lines().all(|line| line.width() <= WIDTH), "{out}");
            let left = out.matches(['w', 'x', '中']).count();
            assert_eq!(left, text.matches(['w', 'x', '中']).count());
        }
    }
}
