//! Which plots a table has, and what is in them.

use maud::Markup;

use super::svg::{Bar, Bars, CURVES, Curve, Curves, Figure, Label};
use super::view::{Reason, Table, View, number};
use crate::gates::n;
use crate::result::{Histogram, Round, Row};
use crate::stats::{Interval, median_interval};

/// A plot and the sentence under it.
pub struct Plot {
    pub title: String,
    pub drawing: Markup,
    pub caption: String,
}

/// The plots of a table that has figures. `index` is the table's, `client` the rate that the client can do at most.
pub fn of(view: &View, table: &Table, index: usize, client: Option<f64>) -> Vec<Plot> {
    let plots = Plots { view, table, index };
    let mut all = Vec::new();
    all.extend(plots.cpu());
    all.extend(plots.latency());
    all.extend(plots.rate(client));
    all.extend(plots.memory());
    all
}

struct Plots<'a> {
    view: &'a View<'a>,
    table: &'a Table<'a>,
    index: usize,
}

impl Plots<'_> {
    fn cpu(&self) -> Option<Plot> {
        self.bars(
            "cpu",
            "CPU time for each answer",
            CPU,
            None,
            |row| self.view.reason(row),
            |row| {
                let rounds: Vec<f64> = row.rounds.iter().map(Round::cpu_us).collect();
                let value = row.summary.as_ref()?.cpu_us.median;
                let interval = median_interval(&rounds);
                let range = interval.map_or_else(String::new, |Interval { low, high, .. }| {
                    format!(" ({}-{})", number(low), number(high))
                });
                Some(Figure {
                    value,
                    text: format!("{} µs{range}", number(value)),
                    interval: interval.map(|interval| (interval.low, interval.high)),
                })
            },
        )
    }

    fn memory(&self) -> Option<Plot> {
        self.bars(
            "memory",
            "Memory of a connection",
            MEMORY,
            None,
            |row| self.view.reason(row),
            |row| {
                let value = row.summary.as_ref()?.per_connection_bytes? / 1024.0;
                Some(Figure {
                    value,
                    text: format!("{} KB", number(value)),
                    interval: None,
                })
            },
        )
    }

    fn rate(&self, client: Option<f64>) -> Option<Plot> {
        let (task, load) = (&self.table.data.task, &self.table.data.load);
        let limit = if task.delay_ms > 0.0 {
            let ceiling = f64::from(load.connections) / task.delay_ms * 1e3;
            Some((
                ceiling,
                format!("the ceiling c/D: {} answers/s", n(ceiling)),
            ))
        } else {
            // It was measured with kept connections.
            let client = client.filter(|_| load.keep_alive);
            client.map(|rate| (rate, format!("the client's ceiling: {} answers/s", n(rate))))
        };
        self.bars(
            "rate",
            "Answers a second",
            RATE,
            limit,
            |row| self.view.no_rate(row),
            |row| {
                let value = row.summary.as_ref()?.rate.as_ref()?.median;
                Some(Figure {
                    value,
                    text: format!("{}/s", n(value)),
                    interval: None,
                })
            },
        )
    }

    /// None if no row has this figure: then the tables say all there is.
    fn bars(
        &self,
        id: &str,
        title: &str,
        caption: &str,
        limit: Option<(f64, String)>,
        why_not: impl Fn(&Row) -> Option<Reason>,
        figure: impl Fn(&Row) -> Option<Figure>,
    ) -> Option<Plot> {
        let view = self.view;
        let rows: Vec<Bar> = self
            .table
            .data
            .rows
            .iter()
            .map(|row| Bar {
                name: row.contender.clone(),
                figure: figure(row).ok_or_else(|| match why_not(row) {
                    Some(reason) => reason.full,
                    None => view.say("not measured"),
                }),
            })
            .collect();
        if rows.iter().all(|row| row.figure.is_err()) {
            return None;
        }
        let words = rows.iter().map(|row| {
            let (name, figure) = (&row.name, row.figure.as_ref());
            let text = figure.map_or_else(|reason| reason.as_str(), |figure| &figure.text);
            format!("{name}{}{text}", view.colon)
        });
        let bars = Bars {
            label: self.label(id, title, words),
            rows,
            limit: limit.map(|(at, name)| (at, view.say(&name))),
        };
        Some(Plot {
            title: view.say(title),
            drawing: bars.draw(),
            caption: view.say(caption),
        })
    }

    /// As many plots as there are sets of curves that can be told apart, all with the same axes.
    fn latency(&self) -> Vec<Plot> {
        let view = self.view;
        let delay_ms = self.table.data.task.delay_ms;
        let mut curves = Vec::new();
        let mut without = Vec::new();
        for row in &self.table.data.rows {
            match (&row.summary, view.reason(row)) {
                (Some(_), _) => curves.push(curve(row, delay_ms)),
                (None, reason) => without.push((
                    row.contender.clone(),
                    reason.map_or_else(String::new, |reason| reason.full),
                )),
            }
        }
        let values = curves.iter().flat_map(|curve| &curve.points);
        let values: Vec<f64> = values.map(|(_, value)| *value).collect();
        let most = values.iter().copied().fold(LEAST * 10.0, f64::max);
        let (up, title) = match delay_ms > 0.0 {
            true => ("ms over the delay", "Latency over the delay"),
            false => ("ms", "Latency"),
        };
        let mut plots = Vec::new();
        while !curves.is_empty() {
            let rest = curves.split_off(curves.len().min(CURVES));
            let words = curves.iter().map(|curve| {
                let at = |part: f64| {
                    let mut points = curve.points.iter().rev();
                    let point = points.find(|(from, _)| *from <= part);
                    point.map_or_else(String::new, |(_, value)| number(*value))
                };
                format!("{}: p50 {}, p99 {} ms", curve.name, at(0.5), at(0.99))
            });
            let without = match rest.is_empty() {
                true => std::mem::take(&mut without),
                false => Vec::new(),
            };
            let drawn = Curves {
                label: self.label(&format!("latency-{}", plots.len()), title, words),
                up: view.say(up),
                right: view.say("part of the answers that took no longer"),
                curves,
                without,
                least: LEAST,
                most,
            };
            plots.push(Plot {
                title: view.say(title),
                drawing: drawn.draw(),
                caption: view.say(LATENCY),
            });
            curves = rest;
        }
        plots
    }

    fn label(&self, id: &str, title: &str, words: impl Iterator<Item = String>) -> Label {
        Label {
            id: format!("{id}-{}", self.index),
            title: format!(
                "{}{}{}",
                self.view.say(title),
                self.view.colon,
                self.table.title
            ),
            description: words.collect::<Vec<_>>().join("; "),
        }
    }
}

/// What is drawn lowest, milliseconds: below, the client's own clock is what is seen.
const LEAST: f64 = 0.1;

const CPU: &str = "CPU time of all of the server's processes for each answer, microseconds: less is better. The thin \
                   line is the 95 % interval of the median; where two overlap, the list says whether they can be told apart.";
const LATENCY: &str = "How many of the answers took no longer than this: lower is better, and flat is better than steep. \
                       Both axes are logarithmic; below 0.1 ms nothing is told apart.";
const RATE: &str = "Verified answers a second beside what cannot be passed, however fast the server is: near it, a rate \
                    ranks nobody.";
const MEMORY: &str =
    "What the server's memory grew by for each connection that was open under this load, KB.";

/// The whole distribution: from each part of the answers on, the value that they are not above.
fn curve(row: &Row, delay_ms: f64) -> Curve {
    let latency = Histogram::sum(row.rounds.iter().map(|round| &round.client.latency));
    let all = latency.count() as f64;
    let mut below = 0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (us, count) in &latency.0 {
        let (part, value) = (below as f64 / all, *us as f64 / 1e3 - delay_ms);
        if points
            .last()
            .is_none_or(|last| differs(*last, (part, value)))
        {
            points.push((part, value));
        }
        below += count;
    }
    // The greatest, as far to the right as one answer of all is rare.
    if let (Some((us, _)), true) = (latency.0.last(), all > 1.0) {
        points.push((1.0 - 1.0 / all, *us as f64 / 1e3 - delay_ms));
    }
    Curve {
        name: row.contender.clone(),
        points,
    }
}

/// Whether two points of a curve can be told apart by the eye: a hundredth of a power of ten, either way.
fn differs((part, value): (f64, f64), (other_part, other_value): (f64, f64)) -> bool {
    let apart = |one: f64, other: f64| (one.log10() - other.log10()).abs() > 0.01;
    apart(1.0 - part, 1.0 - other_part) || apart(value.max(LEAST), other_value.max(LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{ClientSample, NetworkSample, ServerSample};

    #[test]
    fn a_curve_is_the_distribution() {
        let client = ClientSample {
            latency: Histogram(vec![(21_000, 90), (25_000, 9), (120_000, 1)]),
            ..ClientSample::default()
        };
        let row = Row {
            contender: "a".into(),
            fault: None,
            verdicts: Vec::new(),
            rounds: vec![Round {
                turn: 0,
                client,
                server: ServerSample::default(),
                network: NetworkSample::default(),
            }],
            summary: None,
            replays: Vec::new(),
        };
        assert_eq!(
            curve(&row, 20.0).points,
            [(0.0, 1.0), (0.9, 5.0), (0.99, 100.0), (0.99, 100.0)]
        );
    }
}
