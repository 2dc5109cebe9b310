//! A report in Markdown as GitHub reads it: CommonMark and its tables.

use std::fmt::Write;

use super::view::{Contender, Grid, Mark, Published, Table, View, spaced};

pub fn render(view: &View) -> String {
    let say = |text: &str| escaped(&view.say(text));
    let colon = &view.colon;
    let mut out = format!("# {}\n\n", escaped(&view.title));
    for warning in &view.warnings {
        let _ = writeln!(out, "> **!** {}\n", escaped(warning));
    }
    if let Some(shown) = &view.published {
        published(&mut out, view, shown);
    }
    for shown in &view.tables {
        table(&mut out, shown);
    }
    let _ = writeln!(out, "## {}\n", say("How to read it"));
    for (head, means) in view.legend() {
        let _ = writeln!(out, "- **{}**{colon}{}", escaped(head), escaped(means));
    }
    let _ = writeln!(out, "\n## {}\n", say("Machine and run"));
    for (name, text) in &view.facts {
        let _ = writeln!(out, "- {}{colon}{}", escaped(name), escaped(text));
    }
    let _ = writeln!(
        out,
        "\n{}{}\n",
        say("To measure it again"),
        colon.trim_end()
    );
    let _ = writeln!(out, "{}", block("sh", &view.again));
    let _ = writeln!(out, "## {}\n", say("Contenders"));
    for shown in &view.contenders {
        contender(&mut out, shown, colon);
    }
    out
}

fn published(out: &mut String, view: &View, published: &Published) {
    let say = |text: &str| escaped(&view.say(text));
    let (title, meant) = (say("As published"), say("As meant"));
    let _ = writeln!(out, "## {title} / {meant}\n");
    let _ = writeln!(out, "{}\n", escaped(&published.source));
    let _ = writeln!(out, "{}\n", escaped(&published.meant));
    let why = say("Why nobody can vouch for it");
    let _ = writeln!(
        out,
        "| | {title} | {why} | {meant} |\n| --- | --- | --- | --- |"
    );
    for row in &published.rows {
        let meant = row.meant.as_ref().map_or_else(String::new, |meant| {
            let (Ok(text) | Err(text)) = &meant.figures;
            let what = spaced(&[&meant.contender, &meant.connections]);
            inline(&format!("{what}{}{text}", view.colon))
        });
        let rate = spaced(&[&row.connections, &row.rate]);
        let _ = writeln!(
            out,
            "| {} | ~~{}~~ | {} | {meant} |",
            inline(&row.label),
            inline(&rate),
            inline(&row.reason)
        );
    }
    out.push('\n');
}

fn table(out: &mut String, table: &Table) {
    let _ = writeln!(out, "## {}\n", escaped(&table.title));
    let _ = writeln!(out, "{}\n", escaped(&table.load));
    for shown in &table.grids {
        grid(out, shown);
    }
    for line in &table.lines {
        let mark = match line.mark {
            Mark::Refused => "**x** ",
            Mark::Warn => "**!** ",
            Mark::Result | Mark::Replay | Mark::Note => "",
        };
        let _ = writeln!(out, "- {mark}{}", escaped(&line.text));
    }
    out.push('\n');
}

pub fn grid(out: &mut String, grid: &Grid) {
    let heads: Vec<String> = grid
        .columns
        .iter()
        .map(|column| inline(&column.head))
        .collect();
    let _ = writeln!(out, "| {} | {} |", inline(&grid.title), heads.join(" | "));
    let _ = writeln!(out, "| --- {}|", "| ---: ".repeat(heads.len()));
    for row in &grid.rows {
        let cells = match &row.cells {
            Ok(cells) => cells.iter().map(|cell| inline(cell.text())).collect(),
            // Markdown has no cell across columns.
            Err(reason) => vec![inline(&reason.full)],
        };
        let _ = writeln!(
            out,
            "| {} | {} |",
            inline(&row.contender),
            cells.join(" | ")
        );
    }
    out.push('\n');
}

fn contender(out: &mut String, contender: &Contender, colon: &str) {
    let (name, title) = (escaped(contender.name), escaped(contender.title));
    let _ = writeln!(out, "### {name}{colon}{title}\n");
    for (name, text) in &contender.facts {
        let _ = writeln!(out, "- {}{colon}{}", escaped(name), escaped(text));
    }
    out.push('\n');
    for (name, text) in &contender.texts {
        let _ = writeln!(out, "<details><summary>{}</summary>\n", html(name));
        let _ = writeln!(out, "{}\n</details>\n", block("", text));
    }
}

/// Text in which nothing is markup, wherever it stands.
fn escaped(text: &str) -> String {
    let mut out = inline(text);
    // At the start of a line these begin a list or a rule.
    let digits = out.len() - out.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut rest = out[digits..].chars();
    let list = match (digits, rest.next()) {
        (0, Some('-' | '+' | '=')) => true,
        (1.., Some('.' | ')')) => rest.next().is_none_or(|next| next == ' '),
        _ => false,
    };
    if list {
        out.insert(digits, '\\');
    }
    out
}

/// The same within a line, as in a table's cell. It is on one line, since a row is.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        for c in word.chars() {
            if "\\`*_~[]<>|&#$".contains(c) {
                out.push('\\');
            }
            out.push(c);
        }
    }
    out
}

/// The same between the tags that Markdown does not have itself.
fn html(text: &str) -> String {
    maud::html! { (text) }.into_string()
}

/// Text word for word, behind a fence that is longer than any in it.
fn block(language: &str, text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    const NASTY: [&str; 12] = [
        "a | b || c",
        "<script>alert(1)</script> & &lt;",
        "*bold* **bolder** _thin_ ~~gone~~ snake_case",
        "`code` ``more`` \\`",
        "[link](http://x/) ![image](y) [x]: z",
        "# heading",
        "- list",
        "1. first",
        "2) second",
        "+ plus",
        "=== rule",
        "\\| already \\ escaped $x$",
    ];

    fn text(events: &[Event]) -> String {
        let text = events.iter().filter_map(|event| match event {
            Event::Text(text) => Some(text.to_string()),
            _ => None,
        });
        text.collect()
    }

    #[test]
    fn escaped_text_is_text() {
        for nasty in NASTY {
            let all = Options::all();
            let paragraph = escaped(nasty);
            let events: Vec<Event> = Parser::new_ext(&paragraph, all).collect();
            assert_eq!(text(&events), nasty, "{paragraph}");
            let tags = events
                .iter()
                .filter(|event| !matches!(event, Event::Text(_)));
            assert_eq!(tags.count(), 2, "{events:?}");
        }
    }

    #[test]
    fn escaped_text_is_one_cell() {
        for nasty in NASTY {
            let table = format!("| a | b |\n| --- | --- |\n| {} | c |\n", inline(nasty));
            let events: Vec<Event> = Parser::new_ext(&table, Options::all()).collect();
            let cells: Vec<usize> = (0..events.len())
                .filter(|at| matches!(events[*at], Event::Start(Tag::TableCell)))
                .collect();
            assert_eq!(cells.len(), 4, "{table}");
            let cell = events[cells[2]..].split(|e| matches!(e, Event::End(TagEnd::TableCell)));
            assert_eq!(text(cell.into_iter().next().unwrap()), nasty, "{table}");
        }
    }

    #[test]
    fn lines_become_one() {
        assert_eq!(inline("a\n  b\r\n\tc "), "a b c");
    }

    #[test]
    fn a_fence_is_longer_than_those_within() {
        let text = "```\nwithin\n````\n";
        let block = block("", text);
        let events: Vec<Event> = Parser::new(&block).collect();
        let within: String = events
            .iter()
            .filter_map(|event| match event {
                Event::Text(text) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        assert_eq!(within, text);
        assert_eq!(
            events.iter().filter(|e| matches!(e, Event::End(_))).count(),
            1
        );
    }
}
