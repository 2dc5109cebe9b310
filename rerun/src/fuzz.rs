//! Readers of this crate, given any bytes: for the crate `fuzz`.

use std::path::Path;

use unicode_width::UnicodeWidthStr;

use crate::audit::{self, Body, Meant};
use crate::client::Expect;
use crate::client::judge::{Judgement, judge};
use crate::contender::manifest::Manifest;
use crate::contender::places::Places;
use crate::process::port;
use crate::result::Figures;
use crate::system::{cpus, network, tree};
use crate::tools::{Tool, number};
use crate::verify::Fault;
use crate::verify::answer;
use crate::{report, result};

/// What a generator prints, and what stands around it.
pub fn output(data: &[u8]) {
    let text = audit::decoded(data);
    audit_is_in_order(&text, &meant(data.len()));
    for tool in Tool::ALL {
        figures_are_figures(&tool.figures(&text));
    }
    for line in text.lines() {
        a_number_is_what_stands_there(line);
    }
}

/// One of several, by a number of no meaning.
fn meant(number: usize) -> Meant {
    let of = |all: &[Option<f64>], number: usize| all[number % all.len()];
    let bodies = ["", "0", "OK\\n", "99999999999999999999"];
    Meant {
        delay_ms: of(&[None, Some(0.0), Some(20.0), Some(1e12)], number),
        connections: of(&[None, Some(1.0), Some(1e9)], number / 4).map(|number| number as u32),
        body: Body::parse(bodies[number / 12 % bodies.len()]).ok(),
    }
}

/// What must be so whatever was pasted.
pub(crate) fn audit_is_in_order(text: &str, meant: &Meant) {
    let (report, code) = audit::judge(text, meant);
    assert!(code <= 2);
    for line in report.lines() {
        assert!(line.width() <= 100, "{} columns: {line}", line.width());
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

fn figures_are_figures(figures: &Figures) {
    let times = [figures.min_ms, figures.mean_ms, figures.max_ms];
    let others = [figures.seconds, figures.rate];
    let ranked = figures.percentiles_ms.iter().map(|(_, ms)| *ms);
    for figure in times.into_iter().chain(others).flatten().chain(ranked) {
        assert!(figure.is_finite() && figure >= 0.0, "{figures:?}");
    }
    let ranks = figures.percentiles_ms.iter().map(|(rank, _)| *rank);
    assert!(ranks.into_iter().all(|rank| (0.0..=100.0).contains(&rank)));
}

fn a_number_is_what_stands_there(line: &str) {
    let Some((number, rest)) = number::number(line) else {
        return;
    };
    assert!(number.value >= 0.0 && number.step > 0.0);
    let printed = line.trim_start().strip_suffix(rest);
    let printed = printed.expect("the rest is the end").replace(',', "");
    assert_eq!(printed.parse(), Ok(number.value), "{line:?}");
}

/// What a server sends: both readers of answers say the same of it, and no byte more changes what was said.
pub fn answer(data: &[u8]) {
    if let Ok(Some((answer, length))) = answer::parse(data, true, false)
        && !begins_interim(data)
    {
        let expect = Expect {
            status: answer.status,
            ..Expect::body(answer.body.clone())
        };
        let closes = !answer.keeps();
        let right = Judgement::Right { length, closes };
        assert_eq!(judge(data, true, &expect), right);
    }
    let expect = Expect::body("OK\n");
    let whole = judge(data, false, &expect);
    if let Judgement::Right { length, closes } = whole
        && !begins_interim(data)
    {
        match answer::parse(data, false, false) {
            Ok(Some((answer, same))) => {
                assert_eq!((same, answer.status), (length, 200));
                assert_eq!(answer.body, b"OK\n");
                assert_eq!(answer.keeps(), !closes);
            }
            // What one of the two is stricter about: trailers, and Content-Length twice.
            Err(Fault::Garbage(_)) => (),
            other => panic!("{other:?}"),
        }
    }
    for cut in (0..data.len()).step_by(1 + data.len() / 32) {
        match judge(&data[..cut], false, &expect) {
            Judgement::More => (),
            Judgement::Right { length, closes } => {
                assert_eq!(whole, Judgement::Right { length, closes }, "cut at {cut}");
            }
            Judgement::Wrong(..) => {
                assert!(
                    matches!(whole, Judgement::Wrong(..)),
                    "cut at {cut}: {whole:?}"
                );
            }
        }
    }
}

/// An interim answer is an answer for one of the two, as it is none that a contender may send.
fn begins_interim(data: &[u8]) -> bool {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    head.parse(data).is_ok() && head.code.is_some_and(|code| (100..200).contains(&code))
}

/// A contender's manifest, and what the kernel tells in words.
pub fn manifest(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(error) = Manifest::parse(&text, Path::new("/nowhere")) {
        let error = error.to_string();
        let line = error.split(':').next().and_then(|line| line.parse().ok());
        let lines = text.split('\n').count();
        assert!(
            line.is_some_and(|line| (1..=lines).contains(&line)),
            "{error}"
        );
    }
    assert_eq!(Places::default().fill_known(&text), text);
    for cpu in cpus::parse(&text) {
        assert!(cpu < cpus::MOST);
    }
    for inode in port::listeners(&text, 80) {
        assert!(text.contains(&inode));
    }
    for (group, name) in [("Tcp:", "PassiveOpens"), ("TcpExt:", "ListenDrops")] {
        let count = network::counter(&text, group, name);
        assert!(count.is_none_or(|_| text.matches(group).count() >= 2));
    }
    assert!(network::time_wait(&text).is_none_or(|count| text.contains(&count.to_string())));
    assert!(tree::Ticks::parse(&text).is_none_or(|_| text.contains(')')));
}

/// A result of another's: its report has nothing in it that a terminal or a browser acts on.
pub fn result(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(run) = result::parse(&text, &"it") else {
        return;
    };
    for [terminal, markdown, html] in report::every(&run) {
        for text in [&terminal, &markdown] {
            let mut controls = text.chars().filter(|c| c.is_control());
            let other = controls.find(|c| !matches!(c, '\n' | '\t'));
            assert_eq!(other, None, "{text:?}");
        }
        for tag in ["<script", "<iframe", "<img", "javascript:"] {
            assert!(!html.to_ascii_lowercase().contains(tag), "{tag}");
        }
    }
}
