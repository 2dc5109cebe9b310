//! Pasted text as lines that a generator may have printed: without colours, quotes, bullets, HTML and Markdown.

use super::Tool;
use super::lines::{Mark, Weight};

/// A line's number in the paste, and its text.
pub type Numbered = (usize, String);

/// One line of the paste is several here where a page has lost its line breaks.
pub fn lines(text: &str) -> Vec<Numbered> {
    let mut lines = Vec::new();
    let numbered = text.split('\n').enumerate();
    let pieces = numbered.flat_map(|(at, line)| line.split('\r').map(move |piece| (at + 1, piece)));
    for (number, piece) in pieces {
        let plain = characters(&without_escapes(piece));
        let rows: Vec<String> = if plain.contains("<t") {
            plain.split("<tr").map(without_tags).collect()
        } else {
            vec![plain]
        };
        for row in rows {
            let row = table_row(&bare(without_log(&row)));
            lines.extend(
                apart(&row)
                    .into_iter()
                    .map(|part| (number, part.trim().to_owned())),
            );
        }
    }
    lines
}

/// Without what a terminal takes for itself: colours, cursors, titles.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            Some(']') => while chars.next().is_some_and(|c| c != '\u{7}' && c != '\\') {},
            _ => (),
        }
    }
    out
}

/// Full-width characters, spaces of all kinds, and entities as generators print them; no Markdown emphasis, and nothing
/// that a terminal would act on.
fn characters(text: &str) -> String {
    let text = text
        .replace("&nbsp;", " ")
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&amp;", "&")
        .replace("<br>", " ")
        .replace("<br/>", " ")
        .replace("**", "");
    text.chars()
        .filter(|c| c.is_whitespace() || !c.is_control())
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '`'))
        .map(|c| match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            c if c.is_whitespace() => ' ',
            c => c,
        })
        .collect()
}

/// Tags are spaces; a row of ab's HTML begins within one.
fn without_tags(text: &str) -> String {
    let mut inside = !text.trim_start().starts_with('<') && text.contains('>');
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => inside = true,
            '>' => {
                inside = false;
                out.push(' ');
            }
            c if !inside => out.push(c),
            _ => (),
        }
    }
    out
}

/// Without what a log writes before each line: the time, or the name of a container and a bar.
fn without_log(text: &str) -> &str {
    let trimmed = text.trim_start();
    let (first, rest) = trimmed.split_once(' ').unwrap_or((trimmed, ""));
    let is_time = first.ends_with('Z')
        && first.contains('T')
        && first.starts_with(|c: char| c.is_ascii_digit());
    if is_time {
        return rest;
    }
    match rest.trim_start().strip_prefix("| ") {
        Some(line) if first.contains(['_', '-']) && !rest.ends_with('|') => line,
        _ => text,
    }
}

/// Without quotes, bullets, comments and the frame of a box.
fn bare(text: &str) -> String {
    let mut text = text.trim();
    loop {
        let mut chars = text.chars();
        let first = chars.next();
        let next = chars.clone().next();
        let is_mark = match first {
            Some('>' | '│' | '•') => true,
            // `#[Mean` is wrk2's, `----` a line of its own, `-5` a number.
            Some('#' | '*' | '-' | '/') => next.is_none_or(|c| c == ' ' || c == '#' || c == '/'),
            _ => false,
        };
        if !is_mark {
            break;
        }
        text = chars.as_str().trim_start();
    }
    text.trim_end_matches(['\\', '│', ' ']).to_owned()
}

/// `| Requests per second | 4685.38 |` as `Requests per second: 4685.38`.
fn table_row(text: &str) -> String {
    if !text.starts_with('|') {
        return text.to_owned();
    }
    let cells: Vec<&str> = text
        .split('|')
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    match *cells {
        [name, figure] => format!("{}: {figure}", name.trim_end_matches(':')),
        _ => cells.join(" "),
    }
}

/// Broken before every mark that a figure follows.
fn apart(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = marks()
        .flat_map(|mark| {
            text.match_indices(mark)
                .map(move |(at, _)| (at, at + mark.len()))
        })
        .filter(|(at, end)| {
            let before = text[..*at].chars().next_back();
            let after = text[*end..].trim_start().chars().next();
            before.is_some_and(|c| !c.is_ascii_alphanumeric() && c != '/')
                && after.is_some_and(|c| c.is_ascii_digit())
        })
        .map(|(at, _)| at)
        .collect();
    // `12 requests in 1.00s`, behind other figures.
    if let Some(at) = text.find(" requests in ") {
        let before = &text[..at];
        let digits = before
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == ',')
            .len();
        starts.extend((before[..digits].ends_with(' ') && digits < at).then_some(digits));
    }
    starts.sort_unstable();
    starts.dedup();
    let mut parts = Vec::new();
    let mut from = 0;
    for start in starts {
        parts.push(&text[from..start]);
        from = start;
    }
    parts.push(&text[from..]);
    parts
}

/// Those that stand for themselves wherever they are.
fn marks() -> impl Iterator<Item = &'static str> {
    let all = Tool::ALL.iter().flat_map(|tool| tool.lines());
    let marks = all.filter_map(|line| match line.mark {
        // `requests:` is the end of others.
        Mark::Starts(start) if line.weight == Weight::Strong && start.ends_with(':') => {
            start.contains(' ').then_some(start)
        }
        _ => None,
    });
    let more = [
        "Latency ",
        "Req/Sec ",
        "Requests/sec:",
        "Transfer/sec:",
        "Average:",
        "Fastest:",
        "finished in ",
        "Running ",
        "Socket errors: connect ",
    ];
    marks.chain(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> Vec<String> {
        let lines = lines(text).into_iter().map(|(_, line)| line);
        lines.filter(|line| !line.is_empty()).collect()
    }

    #[test]
    fn what_is_around_output() {
        for text in [
            "Requests/sec: 1.5",
            "> > Requests/sec: 1.5\r",
            "\u{1b}[38;5;10m\u{1b}[1m  Requests/sec: 1.5\u{1b}[0m",
            "  - **Requests/sec:** 1.5",
            "| Requests/sec | 1.5 |",
            "// Requests/sec: 1.5",
            "Requests/sec:\u{7} 1.5\u{0}",
            "Ｒequests/sec： 1.5",
            "<tr><th>Requests/sec:</th> <td>1.5</td></tr>",
            "2022-11-28T12:54:33.9710971Z Requests/sec: 1.5",
            "bench_1        | Requests/sec: 1.5",
        ] {
            let lines = clean(text);
            assert_eq!(lines.len(), 1, "{text}: {lines:?}");
            let words: Vec<&str> = lines[0].split_whitespace().collect();
            assert_eq!(words, ["Requests/sec:", "1.5"], "{text}");
        }
        assert_eq!(clean("#[Mean = 1]"), ["#[Mean = 1]"]);
        assert_eq!(clean("-----"), ["-----"]);
    }

    #[test]
    fn lost_line_breaks() {
        let text = "Running 1s test @ http://x/ 2 threads and 10 connections Latency 1.00ms 2.00ms 3.00ms 90% \
                    Req/Sec 1k 1k 1k 90% 120 requests in 1.00s, 1.00MB read Requests/sec: 120.00 Transfer/sec: 1.00MB";
        assert_eq!(clean(text).len(), 6, "{:#?}", clean(text));
        let text = "  3,180,234 requests in 30.00s, 1.23GB read";
        assert_eq!(clean(text), [text.trim()]);
        // A word of prose is not a mark.
        assert_eq!(clean("see Requests/sec: it is high").len(), 1);
    }
}
