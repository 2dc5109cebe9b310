//! The figures in rows and columns, for the terminal and for the page.

use super::FLOOR;
use super::data::{Protocol, Round, Row, Scale, Table};
use crate::gates::n;
use crate::report::view::grids::Column;
use crate::report::view::{Cell, Grid, GridRow, Reason, number};
use crate::report::{markdown, terminal};
use crate::result::Percentiles;
use crate::stats::{median, spread};

/// All tables for a terminal.
pub fn terminal(scale: &Scale) -> String {
    let mut out = String::new();
    for table in &scale.tables {
        terminal::grid(&mut out, &grid(table));
        out.push('\n');
    }
    terminal::grid(&mut out, &growth(scale));
    out
}

/// The tables of a protocol in Markdown.
pub fn markdown(scale: &Scale, protocol: Protocol) -> String {
    let mut out = String::new();
    for table in scale.of(protocol) {
        markdown::grid(&mut out, &grid(table));
        for Row {
            contender, fault, ..
        } in &table.rows
        {
            if let Some(fault) = fault {
                out += &format!(
                    "`{contender}` has no figures: {}\n\n",
                    fault.replace('\n', " ")
                );
            }
        }
    }
    out.trim_end().to_owned()
}

fn grid(table: &Table) -> Grid {
    let heads = [
        "bytes each",
        "min-max",
        "CPU µs",
        "min-max",
        "least",
        "p50",
        "p99",
        "min-max",
        "max",
        "client",
    ];
    let rows = table.rows.iter().map(|row| GridRow {
        contender: row.contender.clone(),
        cells: cells(row),
    });
    Grid {
        title: format!("{}, {}", table.protocol, n(table.waiting.into())),
        columns: heads.map(column).into(),
        rows: rows.collect(),
    }
}

pub fn column(head: &str) -> Column {
    Column {
        head: head.into(),
        means: String::new(),
    }
}

fn cells(row: &Row) -> Result<Vec<Cell>, Reason> {
    if let Some(fault) = &row.fault {
        return Err(Reason {
            short: fault.clone(),
            full: "no figures: see below".into(),
        });
    }
    let memory = row.figures(|round| round.memory_bytes);
    let (bytes, bytes_range) = match &memory {
        Some(bytes) => (
            figure(n(median(bytes).round())),
            range(bytes, |bytes| n(bytes.round())),
        ),
        None => (Cell::Empty, Cell::Empty),
    };
    let of_rounds = |of: fn(&Round) -> f64| -> Vec<f64> { row.rounds.iter().map(of).collect() };
    let lateness = |of: fn(&Percentiles) -> f64| -> Vec<f64> {
        row.rounds.iter().map(|round| of(&round.lateness)).collect()
    };
    let cpu = of_rounds(|round| round.cpu_us);
    let p99 = lateness(|late| late.p99);
    let busy = of_rounds(|round| round.client_busy * 100.0);
    Ok(vec![
        bytes,
        bytes_range,
        figure(number(median(&cpu))),
        range(&cpu, number),
        figure(number(spread(&lateness(|late| late.min)).min)),
        figure(number(median(&lateness(|late| late.p50)))),
        figure(number(median(&p99))),
        range(&p99, number),
        figure(number(spread(&lateness(|late| late.max)).max)),
        figure(format!("{:.0} %", median(&busy))),
    ])
}

fn figure(text: String) -> Cell {
    Cell::Figure(text)
}

fn range(numbers: &[f64], text: impl Fn(f64) -> String) -> Cell {
    let spread = spread(numbers);
    Cell::Figure(format!("{}-{}", text(spread.min), text(spread.max)))
}

/// How many times as much each figure is with the most waiting as with a thousand.
pub fn growth(scale: &Scale) -> Grid {
    let mut rows = Vec::new();
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let Some((few, most)) = ends(scale, protocol) else {
            continue;
        };
        let waiting = format!("{} to {}", n(few.waiting.into()), n(most.waiting.into()));
        for (few, most) in few
            .rows
            .iter()
            .zip(&most.rows)
            .filter(|(row, _)| row.contender != FLOOR)
        {
            let times = |of: &dyn Fn(&Round) -> Option<f64>| {
                let (few, most) = (few.figures(of)?, most.figures(of)?);
                Some(Cell::Figure(number(median(&most) / median(&few))))
            };
            let cells = vec![
                Cell::Figure(waiting.clone()),
                times(&|round| round.memory_bytes).unwrap_or(Cell::Empty),
                times(&|round| Some(round.cpu_us)).unwrap_or(Cell::Empty),
                times(&|round| Some(round.lateness.p50)).unwrap_or(Cell::Empty),
                times(&|round| Some(round.lateness.p99)).unwrap_or(Cell::Empty),
            ];
            rows.push(GridRow {
                contender: format!("{protocol}, {}", few.contender),
                cells: Ok(cells),
            });
        }
    }
    Grid {
        title: "times as much".into(),
        columns: ["from", "bytes each", "CPU", "p50", "p99"]
            .map(column)
            .into(),
        rows,
    }
}

/// A protocol's first table with a thousand waiting, and the one with the most.
fn ends(scale: &Scale, protocol: Protocol) -> Option<(&Table, &Table)> {
    let most = scale.of(protocol).last()?;
    let few = scale
        .of(protocol)
        .find(|table| table.waiting >= 1_000.min(most.waiting))?;
    Some((few, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::data::examples::{round, row, scale, table};

    #[test]
    fn a_row_with_a_fault_has_no_figures() {
        let mut bad = row("nginx-lua", &[round(10_000.0, 20.0, 1.0)]);
        bad.fault = Some("round 2: request 7 was answered 500".into());
        let scale = scale(vec![table(Protocol::Http2, 100, vec![bad])]);
        let (shown, page) = (terminal(&scale), markdown(&scale, Protocol::Http2));
        for text in [shown, page] {
            assert!(text.contains("request 7 was answered 500"), "{text}");
            assert!(!text.contains("10,000") && !text.contains("20.0"), "{text}");
        }
    }

    #[test]
    fn a_row_is_the_medians_of_its_rounds() {
        let rounds = [
            round(9_000.0, 10.0, 1.0),
            round(9_200.0, 14.0, 3.0),
            round(9_100.0, 11.0, 2.0),
        ];
        let text = terminal(&scale(vec![table(
            Protocol::Http2,
            1_000,
            vec![row("nginx-rust", &rounds)],
        )]));
        let line = text
            .lines()
            .find(|line| line.starts_with("nginx-rust"))
            .unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        let expected =
            "nginx-rust 9,100 9,000-9,200 11.0 10.0-14.0 -0.50 1.00 2.00 1.00-3.00 6.00 25 %";
        assert_eq!(cells.join(" "), expected);
    }

    #[test]
    fn growth_is_from_a_thousand_to_the_most() {
        let tables = [
            (100, 20_000.0),
            (1_000, 9_000.0),
            (10_000, 9_100.0),
            (100_000, 9_900.0),
        ];
        let tables = tables.map(|(waiting, bytes)| {
            let rows = vec![
                row("nginx-rust", &[round(bytes, 10.0, 2.0)]),
                row(FLOOR, &[round(bytes, 1.0, 1.0)]),
            ];
            table(Protocol::Http2, waiting, rows)
        });
        let grid = growth(&scale(tables.into()));
        assert_eq!(grid.rows.len(), 1);
        let cells = grid.rows[0].cells.as_ref().ok().unwrap();
        let cells: Vec<&str> = cells.iter().map(Cell::text).collect();
        assert_eq!(cells, ["1,000 to 100,000", "1.10", "1.00", "1.00", "1.00"]);
    }
}
