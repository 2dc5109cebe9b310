//! A run as text for a terminal of 100 columns.

use std::fmt::Write;

use crate::client::ceiling;
use crate::gates::{limiter, n, reason};
use crate::result::{Outcome, Published, Replay, Row, Run, Spread, Table, Verdict};

/// Nothing is wider.
const WIDTH: usize = 100;

pub fn render(run: &Run) -> String {
    let mut out = String::new();
    let machine = &run.machine;
    let _ = writeln!(
        out,
        "{}, {} cores, {}; {}",
        machine.cpu,
        machine.cpus.len(),
        machine.kernel,
        machine.system
    );
    let _ = writeln!(
        out,
        "server on core {}, client on core {}{}",
        list(&run.budget.server_cpus),
        list(&run.budget.client_cpus),
        if run.budget.shared() { ": SHARED" } else { "" }
    );
    if let Some(quick) = &run.quick {
        wrapped(&mut out, "", quick);
    }
    if let Some(measured) = &run.ceiling {
        for line in ceiling::words(measured).lines() {
            wrapped(&mut out, "", line);
        }
    }
    for warning in &run.warnings {
        wrapped(&mut out, "! ", warning);
    }
    if let Some(shown) = &run.published {
        published(&mut out, shown);
    }
    for shown in &run.tables {
        out.push('\n');
        table(&mut out, shown);
    }
    out.push('\n');
    out
}

/// What was printed, and the gravest thing that is wrong with it.
fn published(out: &mut String, published: &Published) {
    out.push('\n');
    wrapped(out, "", &format!("As published: {}", published.source));
    wrapped(out, "", &published.meant);
    let mut last = "";
    for row in &published.rows {
        if row.label != last {
            let _ = writeln!(out, "{}", row.label);
            last = &row.label;
        }
        let connections = row.figures.connections.map(|c| format!("c = {c}, "));
        let rate = row.figures.rate.map_or_else(String::new, n);
        let reason = reason(&row.verdicts).map_or("", |verdict| &verdict.text);
        let text = format!("{}{rate}/s: {reason}", connections.unwrap_or_default());
        wrapped(out, "  x ", &text);
    }
}

fn replay(out: &mut String, contender: &str, replay: &Replay) {
    let rate = replay.figures.rate.map_or_else(|| "no rate".into(), n);
    let reason = reason(&replay.verdicts).map_or("", |verdict| &verdict.text);
    let command = replay.command.join(" ");
    wrapped(
        out,
        "> ",
        &format!("{contender}: {command}: {rate}/s: {reason}"),
    );
}

fn table(out: &mut String, table: &Table) {
    let load = &table.load;
    let kept = if load.keep_alive {
        "kept"
    } else {
        "one request each"
    };
    let _ = writeln!(
        out,
        "{}\n{} connections, {kept}; {} rounds of {} s, the rows taking turns",
        table.title,
        load.connections,
        load.rounds,
        load.seconds.unwrap_or(0.0)
    );
    let _ = writeln!(
        out,
        "{:20} {:>7} {:>15} {:>9} {:>11} {:>15} {:>8} {:>7}",
        "", "CPU us", "(least-most)", "answers/s", "+ms at p50", "p99 / p99.9", "KB/conn.", "limit"
    );
    for row in &table.rows {
        let _ = writeln!(out, "{:20} {}", row.contender, figures(row));
    }
    for row in &table.rows {
        notes(out, row);
    }
    limiters(out, &table.rows);
    for comparison in &table.comparisons {
        let figure = match comparison.figure.as_str() {
            "cpu_us" => "CPU time",
            _ => "answers/s",
        };
        wrapped(
            out,
            "= ",
            &format!(
                "{} / {}, {figure}: {:.2} ({:.2}-{:.2}): {}",
                comparison.contender,
                comparison.against,
                comparison.ratio,
                comparison.low,
                comparison.high,
                comparison.words
            ),
        );
    }
    for row in &table.rows {
        if let Some(slo) = row
            .summary
            .as_ref()
            .and_then(|summary| summary.slo.as_ref())
        {
            let text = match slo.rate {
                Some(rate) => format!(
                    "holds at {} requests/s in an open loop, and not 3 % above",
                    n(rate)
                ),
                None => "does not hold even at the least rate that was tried".into(),
            };
            wrapped(
                out,
                "= ",
                &format!("{}: {} {text}", row.contender, slo.asked),
            );
        }
        for shown in &row.replays {
            replay(out, &row.contender, shown);
        }
    }
    for note in &table.notes {
        wrapped(out, "- ", note);
    }
}

fn figures(row: &Row) -> String {
    let Some(summary) = &row.summary else {
        return "no figures".into();
    };
    let rate = match &summary.rate {
        Some(rate) => n(rate.median),
        None => "-".into(),
    };
    let over = &summary.over_ms;
    let Spread { median, min, max } = summary.cpu_us;
    format!(
        "{median:>7.2} {:>15} {rate:>9} {:>11.2} {:>15} {:>8} {:>7}",
        format!("({min:.1}-{max:.1})"),
        over.p50,
        format!("{:.1} / {:.1}", over.p99, over.p999),
        match summary.per_connection_bytes {
            Some(bytes) => format!("{:.1}", bytes / 1024.0),
            None => "-".into(),
        },
        summary.limiter,
    )
}

/// Why there is no figure, or no rate, and what a reader must know of those that there are.
fn notes(out: &mut String, row: &Row) {
    if let Some(fault) = &row.fault {
        return wrapped(out, "x ", &format!("{}: {fault}", row.contender));
    }
    if row.summary.is_none() {
        if let Some(verdict) = reason(&row.verdicts) {
            let text = format!("{}: gate {}, {}", row.contender, verdict.gate, verdict.text);
            wrapped(out, "x ", &text);
        }
        return;
    }
    for verdict in &row.verdicts {
        if is_of_limiter(verdict) {
            continue;
        }
        let mark = match verdict.outcome {
            Outcome::NoRate | Outcome::Refuse => "x ",
            Outcome::Warn => "! ",
            Outcome::Pass | Outcome::Unknown => continue,
        };
        let text = format!("{}: gate {}, {}", row.contender, verdict.gate, verdict.text);
        wrapped(out, mark, &text);
    }
}

/// What [`limiters`] says of several rows at once.
fn is_of_limiter(verdict: &Verdict) -> bool {
    verdict.gate == limiter::GATE.0 && verdict.outcome == Outcome::Warn
}

/// Rates that are lower bounds, or a pool's, one line for all rows of a kind.
fn limiters(out: &mut String, rows: &[Row]) {
    let of = |limiter: &str| {
        let rows = rows.iter().filter(|row| {
            let summary = row.summary.as_ref();
            summary.is_some_and(|summary| summary.limiter == limiter)
                && row.verdicts.iter().any(is_of_limiter)
        });
        rows.map(|row| row.contender.as_str()).collect::<Vec<_>>()
    };
    let kinds = [
        (
            "unknown",
            "neither server nor client was at its limit, so these rates are lower bounds",
        ),
        (
            "pool",
            "its own pool limits it: a larger pool is another row",
        ),
    ];
    for (kind, words) in kinds {
        let names = of(kind);
        if !names.is_empty() {
            wrapped(out, "! ", &format!("{}: gate 6, {words}", names.join(", ")));
        }
    }
}

fn list(cpus: &[usize]) -> String {
    let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    cpus.join(", ")
}

/// Breaks lines at spaces, the later ones indented under the first.
fn wrapped(out: &mut String, mark: &str, text: &str) {
    let indent = " ".repeat(mark.chars().count());
    let mut start = mark;
    for line in text.lines() {
        let mut column = 0;
        for word in line.split(' ') {
            let width = word.chars().count();
            if column == 0 || column + 1 + width > WIDTH {
                if column > 0 {
                    out.push('\n');
                    start = &indent;
                }
                out.push_str(start);
                column = indent.len();
            } else {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += width;
        }
        out.push('\n');
        start = &indent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken() {
        let mut out = String::new();
        wrapped(&mut out, "! ", &"word ".repeat(50));
        assert!(
            out.lines().all(|line| line.chars().count() <= WIDTH),
            "{out}"
        );
        assert!(out.starts_with("! word") && out.lines().nth(1).unwrap().starts_with("  word"));
    }
}
