//! A report for a terminal of 100 columns.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::view::{Contender, Grid, GridRow, Mark, Published, Table, View, spaced};

/// Nothing is wider.
const WIDTH: usize = 100;

pub fn render(view: &View) -> String {
    let mut out = String::new();
    wrapped(&mut out, "", &view.title);
    let colon = &view.colon;
    for (name, text) in &view.facts {
        wrapped(&mut out, &format!("{name}{colon}"), text);
    }
    contenders(&mut out, view);
    for warning in &view.warnings {
        wrapped(&mut out, "! ", warning);
    }
    if let Some(shown) = &view.published {
        published(&mut out, view, shown);
    }
    for shown in &view.tables {
        table(&mut out, shown);
    }
    out.push('\n');
    let again = view.say("To measure it again");
    wrapped(&mut out, &format!("{again}{colon}"), &view.again);
    out
}

/// What was printed, and the gravest thing that is wrong with it.
fn published(out: &mut String, view: &View, published: &Published) {
    out.push('\n');
    let title = view.say("As published");
    let colon = &view.colon;
    wrapped(out, &format!("{title}{colon}"), &published.source);
    wrapped(out, "", &published.meant);
    let mut last = "";
    for row in &published.rows {
        if row.label != last {
            wrapped(out, "", &row.label);
            last = &row.label;
        }
        let text = format!(
            "{}{colon}{}",
            spaced(&[&row.connections, &row.rate]),
            row.reason
        );
        wrapped(out, "  x ", &text);
        if let Some(meant) = &row.meant {
            let what = spaced(&[&meant.contender, &meant.connections]);
            let (Ok(text) | Err(text)) = &meant.figures;
            let title = view.say("As meant");
            wrapped(out, "    ", &format!("{title}{colon}{what}{colon}{text}"));
        }
    }
}

fn table(out: &mut String, table: &Table) {
    out.push('\n');
    wrapped(out, "", &table.title);
    wrapped(out, "", &table.load);
    for shown in &table.grids {
        grid(out, shown);
    }
    for line in &table.lines {
        wrapped(out, mark(line.mark), &line.text);
    }
}

fn mark(mark: Mark) -> &'static str {
    match mark {
        Mark::Refused => "x ",
        Mark::Warn => "! ",
        Mark::Result => "= ",
        Mark::Replay => "> ",
        Mark::Note => "- ",
    }
}

/// Columns as wide as what is in them. Where that is too much, a name has a line of its own.
pub fn grid(out: &mut String, grid: &Grid) {
    let widths: Vec<usize> = (0..grid.columns.len())
        .map(|column| {
            let rows = grid.rows.iter().filter_map(|row| row.cells.as_ref().ok());
            let cells = rows.filter_map(|cells| cells.get(column));
            let cells = cells.map(|cell| cell.text().width());
            cells
                .max()
                .unwrap_or(0)
                .max(grid.columns[column].head.width())
        })
        .collect();
    let names = grid.rows.iter().map(|row| row.contender.width());
    let names = names.chain([grid.title.width()]).max().unwrap_or(0);
    let figures: usize = widths.iter().sum();
    let left = WIDTH.saturating_sub(names + figures);
    let gap = (left / widths.len().max(1)).clamp(1, 3);
    let figures = figures + gap * widths.len();
    let room = WIDTH.saturating_sub(figures).min(names);
    let line = |out: &mut String, name: &str, cells: &[&str]| {
        let mut name = name;
        if name.width() > room {
            wrapped(out, "", name);
            name = "";
        }
        out.push_str(name);
        out.push_str(&" ".repeat(room - name.width()));
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(out, "{}{cell}", " ".repeat(gap + width - cell.width()));
        }
        out.push('\n');
    };
    let heads: Vec<&str> = grid.columns.iter().map(|column| &*column.head).collect();
    line(out, &grid.title, &heads);
    for GridRow { contender, cells } in &grid.rows {
        match cells {
            Ok(cells) => {
                let cells: Vec<&str> = cells.iter().map(|cell| cell.text()).collect();
                line(out, contender, &cells);
            }
            Err(reason) => {
                let gap = " ".repeat(room.saturating_sub(contender.width()) + gap);
                wrapped(out, &format!("{contender}{gap}"), &reason.short);
            }
        }
    }
}

fn contenders(out: &mut String, view: &View) {
    let colon = &view.colon;
    for Contender {
        name, title, facts, ..
    } in &view.contenders
    {
        wrapped(out, "", &format!("{name}{colon}{title}"));
        for (name, text) in facts {
            wrapped(out, "  ", &format!("{name}{colon}{text}"));
        }
    }
}

/// Breaks lines, the later ones indented under the mark, or by two where that would leave little room.
fn wrapped(out: &mut String, mark: &str, text: &str) {
    let indent = " ".repeat(if mark.width() > 4 { 2 } else { mark.width() });
    let options = textwrap::Options::new(WIDTH)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent(mark)
        .subsequent_indent(&indent);
    for line in textwrap::wrap(text, options) {
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::grids::Column;
    use super::super::view::{Cell, Reason};
    use super::*;

    fn fits(out: &str) {
        assert!(out.lines().all(|line| line.width() <= WIDTH), "{out}");
    }

    #[test]
    fn long_lines_are_broken() {
        let mut out = String::new();
        wrapped(&mut out, "! ", &"word ".repeat(50));
        wrapped(&mut out, "! ", &"w".repeat(250));
        wrapped(&mut out, "! ", &"每个字占两列".repeat(50));
        fits(&out);
        assert!(out.starts_with("! word") && out.lines().nth(1).unwrap().starts_with("  word"));
    }

    #[test]
    fn a_table_fits_whatever_is_in_it() {
        let columns = (0..9).map(|index| Column {
            head: format!("head {index}"),
            means: String::new(),
        });
        let name = "a-contender-with-a-very-long-name-indeed";
        let figures = (0..9).map(|_| Cell::Figure("1,234,567".into()));
        let mut out = String::new();
        let row = |contender: &str, cells| GridRow {
            contender: contender.into(),
            cells,
        };
        let refused = Reason {
            short: "a reason ".repeat(30),
            full: String::new(),
        };
        grid(
            &mut out,
            &Grid {
                title: "costs".into(),
                columns: columns.collect(),
                rows: vec![row(name, Ok(figures.collect())), row("b", Err(refused))],
            },
        );
        fits(&out);
        assert!(out.contains(&format!("{name}\n")), "{out}");
        let figures = out.lines().find(|line| line.contains("1,234,567")).unwrap();
        assert_eq!(figures.split_whitespace().count(), 9);
        assert!(!out.contains("b 1,234,567"));
    }
}
