//! The table of one task, and what its numbers cannot tell.

use std::fmt::Write;

use super::stats::{self, Sample, Spread};
use super::{CONNECTIONS, Row, Task};

/// From this part of the ceiling on, a rate tells only that the wait was kept.
const AT_THE_CEILING: f64 = 0.98;
/// Below this part of the time, the worker waited for the generator.
const BUSY: f64 = 0.95;

/// What is printed of one row.
struct Line<'a> {
    contender: &'a str,
    samples: &'a [Sample],
    rate: Spread,
    cpu: Spread,
    busy: f64,
}

pub fn render(task: &Task, rows: &[Row]) -> String {
    let measured = rows.iter().filter(|row| row.refused.is_none());
    let lines: Vec<Line> = measured
        .map(|row| Line {
            contender: row.contender,
            samples: &row.samples,
            rate: Spread::of(row.samples.iter().map(|sample| sample.rate)),
            cpu: Spread::of(row.samples.iter().map(|sample| sample.cpu)),
            busy: Spread::of(row.samples.iter().map(|sample| sample.busy)).median,
        })
        .collect();
    // With each of c connections waiting D for its answer there are never more than c/D answers a second.
    let ceiling = (!task.expected.delay.is_zero())
        .then(|| f64::from(CONNECTIONS) / task.expected.delay.as_secs_f64());

    let mut out = format!("{}\n", task.title);
    let headings = [
        "",
        "requests/s",
        "(least-most)",
        "CPU us/request",
        "(least-most)",
        "busy",
        "/ lua",
        "/ return",
    ];
    let _ = writeln!(
        out,
        "{:8}{:>11} {:>17}{:>16} {:>13}{:>6}{:>8}{:>10}",
        headings[0],
        headings[1],
        headings[2],
        headings[3],
        headings[4],
        headings[5],
        headings[6],
        headings[7]
    );
    for line in &lines {
        let _ = writeln!(
            out,
            "{:8}{:>11.0} {:>17}{:>16.2} {:>13}{:>5.0}%{:>8}{:>10}",
            line.contender,
            line.rate.median,
            format!("({:.0}-{:.0})", line.rate.min, line.rate.max),
            line.cpu.median,
            format!("({:.2}-{:.2})", line.cpu.min, line.cpu.max),
            line.busy * 100.0,
            ratio(&lines, line, "lua"),
            ratio(&lines, line, "return"),
        );
    }
    for row in rows {
        if let Some(fault) = &row.refused {
            let _ = writeln!(out, "{:8} no numbers: {fault}", row.contender);
        }
    }
    for note in notes(&lines, ceiling) {
        let _ = writeln!(out, "- {note}");
    }
    out
}

/// The line's CPU time by that of another.
fn ratio(lines: &[Line], line: &Line, of: &str) -> String {
    let other = lines.iter().find(|other| other.contender == of);
    other.map_or("-".into(), |other| {
        format!("{:.2}", line.cpu.median / other.cpu.median)
    })
}

/// What a reader must know before ranking by these numbers.
fn notes(lines: &[Line], ceiling: Option<f64>) -> Vec<String> {
    let mut notes = vec![
        "the ratios are of CPU time for a request: below 1 is less than the other needs".to_owned(),
    ];
    if let Some(ceiling) = ceiling {
        let most = lines
            .iter()
            .map(|line| line.rate.median / ceiling)
            .fold(0.0, f64::max);
        notes.push(format!(
            "no server can pass {ceiling:.0} requests/s here ({CONNECTIONS} connections by the delay); the best reaches \
             {:.1} % of it",
            most * 100.0
        ));
        let at_ceiling = named(lines, |line| line.rate.median >= AT_THE_CEILING * ceiling);
        if !at_ceiling.is_empty() {
            notes.push(format!(
                "{at_ceiling}: at the ceiling, this rate cannot rank anyone"
            ));
        }
    }
    let idle = named(lines, |line| line.busy < BUSY);
    if !idle.is_empty() {
        notes.push(match ceiling {
            Some(_) => format!("{idle}: the worker was idle part of the time, the rate is the delay's and not the server's"),
            None => format!("{idle}: the worker waited for the generator, the rate cannot rank anyone"),
        });
    }
    let pairs = lines
        .iter()
        .enumerate()
        .flat_map(|(at, one)| lines[at + 1..].iter().map(move |other| (one, other)));
    let tied: Vec<String> = pairs
        .filter(|(one, other)| !stats::ranks(one.samples, other.samples))
        .map(|(one, other)| format!("{} and {}", one.contender, other.contender))
        .collect();
    if !tied.is_empty() {
        notes.push(format!(
            "CPU time cannot rank {}: which needs less differs from round to round",
            tied.join(", ")
        ));
    }
    notes
}

fn named(lines: &[Line], which: impl Fn(&Line) -> bool) -> String {
    let names: Vec<_> = lines
        .iter()
        .filter(|line| which(line))
        .map(|line| line.contender)
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::TASKS;
    use super::*;

    fn row(contender: &'static str, rate: f64, cpu: [f64; 2], busy: f64) -> Row {
        let samples = cpu
            .into_iter()
            .map(|cpu| Sample { rate, cpu, busy })
            .collect();
        Row {
            contender,
            samples,
            refused: None,
        }
    }

    #[test]
    fn ratios_and_a_clear_order() {
        let rows = [
            row("rust", 60e3, [10.0, 12.0], 1.0),
            row("lua", 40e3, [20.0, 24.0], 1.0),
        ];
        let table = render(&TASKS[0], &rows);
        assert!(
            table.contains("11.00 (10.00-12.00)  100%    0.50         -\n"),
            "{table}"
        );
        assert!(!table.contains("cannot rank"), "{table}");
    }

    #[test]
    fn at_the_ceiling_a_rate_ranks_nobody() {
        let rows = [
            row("rust", 4950.0, [10.0, 12.0], 0.05),
            row("lua", 4800.0, [20.0, 24.0], 0.1),
        ];
        let table = render(&TASKS[1], &rows);
        assert!(
            table.contains("- no server can pass 5000 requests/s"),
            "{table}"
        );
        assert!(table.contains("the best reaches 99.0 % of it"), "{table}");
        assert!(
            table.contains("- rust: at the ceiling, this rate cannot rank anyone"),
            "{table}"
        );
    }

    #[test]
    fn rounds_that_disagree_rank_nobody() {
        let rows = [
            row("rust", 60e3, [10.0, 25.0], 1.0),
            row("lua", 40e3, [20.0, 24.0], 1.0),
        ];
        assert!(render(&TASKS[0], &rows).contains("- CPU time cannot rank rust and lua:"));
    }

    #[test]
    fn a_generator_that_is_too_slow_shows() {
        let rows = [
            row("rust", 60e3, [10.0, 12.0], 0.5),
            row("lua", 40e3, [20.0, 24.0], 1.0),
        ];
        assert!(render(&TASKS[0], &rows).contains("- rust: the worker waited for the generator"));
    }

    #[test]
    fn a_refused_row_has_no_numbers() {
        let mut bad = row("lua", 90e3, [1.0, 1.0], 1.0);
        bad.refused = Some("9 of 9 answers were errors".into());
        let table = render(&TASKS[0], &[row("rust", 60e3, [10.0, 12.0], 1.0), bad]);
        assert!(
            table.contains("lua      no numbers: 9 of 9 answers were errors"),
            "{table}"
        );
        assert!(!table.contains("90000"), "{table}");
    }
}
