//! The table of instructions, and what it must be.

use std::fmt::Write;

use super::callgrind::Profile;
use super::spread::Spread;
use super::{Counted, Row};

/// What was counted for one row, round by round.
pub struct Result {
    pub row: Row,
    rounds: Vec<Numbers>,
}

/// Instructions for one request.
#[derive(Clone, Copy)]
struct Numbers {
    total: f64,
    heap: f64,
    module: f64,
    header_bytes: u64,
}

impl Result {
    pub fn new(row: Row) -> Self {
        Self {
            row,
            rounds: vec![],
        }
    }

    pub fn add(&mut self, counted: Counted) {
        let profile: &Profile = &counted.profile;
        self.rounds.push(Numbers {
            total: profile.total(),
            heap: profile.heap().instructions,
            module: profile.module(),
            header_bytes: counted.header_bytes,
        });
    }

    fn spread(&self, of: impl Fn(&Numbers) -> f64) -> Spread {
        Spread::of(self.rounds.iter().map(of))
    }

    fn total(&self) -> Spread {
        self.spread(|numbers| numbers.total)
    }

    /// The total with the heap at a given price.
    fn level(&self, heap: f64) -> f64 {
        self.spread(|numbers| numbers.total - numbers.heap).median + heap
    }
}

/// A ratio that must not be passed.
struct Bound {
    of: (&'static str, u64),
    by: (&'static str, u64),
    at_most: f64,
}

const fn bound(of: (&'static str, u64), by: (&'static str, u64), at_most: f64) -> Bound {
    Bound { of, by, at_most }
}

const BOUNDS: [Bound; 6] = [
    bound(("hello", 10), ("return", 10), 1.05),
    bound(("hello", 10), ("empty_gif", 10), 0.88),
    bound(("ok", 100), ("return (at once)", 100), 1.16),
    bound(("ok", 100), ("ngx.sleep", 100), 0.69),
    bound(("ok", 100), ("echo_sleep", 100), 0.76),
    bound(("ok", 1000), ("ok", 100), 1.03),
];

/// What the heap costs a request in the middle of all rows and rounds.
fn heap_price(results: &[Result]) -> f64 {
    let all = results.iter().flat_map(|result| &result.rounds);
    Spread::of(all.map(|numbers| numbers.heap)).median
}

pub fn render(parts: &[(&str, &[Row])], results: &[Result]) -> String {
    let heap = heap_price(results);
    let mut out = String::new();
    let mut rest = results;
    for (title, rows) in parts {
        let (part, others) = rest.split_at(rows.len());
        rest = others;
        let _ = writeln!(
            out,
            "{title:<42}{:>6} {:>15}{:>8}{:>8}{:>8}{:>9}{:>8}",
            "total", "(least-most)", "malloc", "module", "header", "/ return", "(level)"
        );
        let first = &part[0];
        for result in part {
            let total = result.total();
            let _ = writeln!(
                out,
                "  {:<40}{:>6.0} {:>15}{:>8.0}{:>8.0}{:>8}{:>9.3}{:>8.3}",
                result.row.name,
                total.median,
                format!("({:.0}-{:.0})", total.min, total.max),
                result.spread(|numbers| numbers.heap).median,
                result.spread(|numbers| numbers.module).median,
                format!("{} B", result.rounds[0].header_bytes),
                total.median / first.total().median,
                result.level(heap) / first.level(heap),
            );
        }
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "{:<42}{:>6} {:>15}{:>8}{:>8}   holds",
        "must be", "", "here", "", "(level)"
    );
    for bound in &BOUNDS {
        if let Some(line) = bound.line(results, heap) {
            let _ = writeln!(out, "{line}");
        }
    }
    let _ = writeln!(
        out,
        "- malloc: libc's malloc and free, whoever called; module: functions of ngx_http_rust_module.so themselves; \
         header: of one answer\n- level: with malloc at {heap:.0} instructions in every row; the rows make the same \
         calls, and the layout of the heap\n  decides what they cost\n- the modules of echo and Lua know no length \
         before the end, so their answers are chunked"
    );
    out
}

impl Bound {
    fn line(&self, results: &[Result], heap: f64) -> Option<String> {
        let find = |(name, connections): (&str, u64)| {
            let is_meant =
                |result: &&Result| result.row.name == name && result.row.connections == connections;
            results.iter().find(is_meant)
        };
        let (of, by) = (find(self.of)?, find(self.by)?);
        let here = of.total().median / by.total().median;
        let level = of.level(heap) / by.level(heap);
        Some(format!(
            "  {:<40}{:>6} {here:>15.3}{:>8}{level:>8.3}   {}",
            format!("{} / {}", named(self.of), named(self.by)),
            format!("<={:.2}", self.at_most),
            "",
            verdict(here, level, self.at_most)
        ))
    }
}

fn named((name, connections): (&str, u64)) -> String {
    format!("{name} (c = {connections})").replace(" (at once)", "")
}

/// Compared as it is printed in the bound: to the second digit behind the point nothing is cut off.
fn verdict(here: f64, level: f64, at_most: f64) -> &'static str {
    match (here <= at_most, level <= at_most) {
        (true, true) => "yes",
        (true, false) => "yes, but by the heap's layout alone",
        (false, true) => "NO, but by the heap's layout alone",
        (false, false) => "NO",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &'static str, connections: u64, rounds: &[(f64, f64)]) -> Result {
        let numbers = |&(total, heap): &(f64, f64)| Numbers {
            total,
            heap,
            module: 300.0,
            header_bytes: 150,
        };
        Result {
            row: Row::new(name, "/", connections),
            rounds: rounds.iter().map(numbers).collect(),
        }
    }

    #[test]
    fn a_ratio_is_one_of_medians() {
        let results = [
            result(
                "return",
                10,
                &[(9_000.0, 1_000.0), (9_200.0, 1_200.0), (9_100.0, 1_100.0)],
            ),
            result(
                "hello",
                10,
                &[(9_300.0, 1_000.0), (9_400.0, 1_100.0), (9_900.0, 1_600.0)],
            ),
        ];
        assert_eq!(heap_price(&results), 1_100.0);
        let line = BOUNDS[0].line(&results, 1_100.0).unwrap();
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>().join(" "),
            "hello (c = 10) / return (c = 10) <=1.05 1.033 1.033 yes"
        );
    }

    #[test]
    fn luck_with_the_heap_is_called_so() {
        assert_eq!(verdict(1.04, 1.05, 1.05), "yes");
        assert_eq!(
            verdict(1.04, 1.06, 1.05),
            "yes, but by the heap's layout alone"
        );
        assert_eq!(
            verdict(1.06, 1.04, 1.05),
            "NO, but by the heap's layout alone"
        );
        assert_eq!(verdict(1.051, 1.051, 1.05), "NO");
    }

    #[test]
    fn each_part_is_divided_by_its_first_row() {
        const ROWS: &[Row] = &[Row::new("return", "/", 10), Row::new("echo", "/", 10)];
        let results = [
            result("return", 10, &[(9_000.0, 1_000.0)]),
            result("echo", 10, &[(12_000.0, 1_500.0)]),
        ];
        let table = render(&[("hello", ROWS)], &results);
        assert!(
            table.contains("(12000-12000)    1500     300   150 B    1.333   1.270\n"),
            "{table}"
        );
    }

    #[test]
    fn every_bound_is_of_rows_that_there_are() {
        let results: Vec<Result> = super::super::PARTS
            .iter()
            .flat_map(|(_, rows)| *rows)
            .map(|row| result(row.name, row.connections, &[(1.0, 0.0)]))
            .collect();
        assert!(
            BOUNDS
                .iter()
                .all(|bound| bound.line(&results, 0.0).is_some())
        );
    }
}
