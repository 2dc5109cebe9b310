//! What a report says, in the order in which it says it: figures rounded, sentences translated, and no markup yet.
//!
//! The terminal, Markdown and HTML print the same view, so they cannot differ in a figure.

use std::time::{Duration, UNIX_EPOCH};

use super::lang::{Lang, Speech};
use crate::client::ceiling;
use crate::gates::{limiter, n, reason};
use crate::result::{self, Outcome, Replay, Row, Run, Verdict};
use crate::stats::median_interval;

pub struct View<'a> {
    pub lang: Lang,
    pub title: String,
    /// The machine and the run: a name and what is to be said of it.
    pub facts: Vec<(String, String)>,
    /// What a reader must know of the whole run.
    pub warnings: Vec<String>,
    pub published: Option<Published>,
    pub tables: Vec<Table<'a>>,
    pub contenders: Vec<Contender<'a>>,
    /// The command that measures all this again.
    pub again: String,
    /// Between a name and what is said of it.
    pub colon: String,
    speech: Speech,
}

/// An article's rows, each beside what was measured here.
pub struct Published {
    pub source: String,
    pub meant: String,
    pub rows: Vec<PublishedRow>,
}

pub struct PublishedRow {
    pub label: String,
    /// `c = 100`, where it is known.
    pub connections: String,
    pub rate: String,
    /// Why nobody can vouch for the rate.
    pub reason: String,
    /// The row that was measured here in its place.
    pub meant: Option<Meant>,
}

/// A row as meant, in a few words.
pub struct Meant {
    pub contender: String,
    pub connections: String,
    pub figures: Result<String, String>,
}

/// One task under one load.
pub struct Table<'a> {
    pub title: String,
    pub load: String,
    /// Costs, then latencies.
    pub grids: [Grid; 2],
    pub lines: Vec<Line>,
    /// For whoever draws it.
    pub data: &'a result::Table,
}

/// Figures in rows and columns.
pub struct Grid {
    pub title: String,
    pub columns: Vec<Column>,
    pub rows: Vec<GridRow>,
}

pub struct Column {
    pub head: String,
    /// What the figures are.
    pub means: String,
}

pub struct GridRow {
    pub contender: String,
    /// A cell a column, or why there are none.
    pub cells: Result<Vec<Cell>, Reason>,
}

pub enum Cell {
    Figure(String),
    /// Nothing was measured.
    Empty,
    /// A gate refuses the figure.
    Refused(String),
}

impl Cell {
    pub fn text(&self) -> &str {
        match self {
            Self::Figure(text) | Self::Refused(text) => text,
            Self::Empty => "-",
        }
    }
}

/// Why a row has no figures.
pub struct Reason {
    /// For a cell: `gate 2, verified under load`.
    pub short: String,
    pub full: String,
}

/// A sentence under a table.
pub struct Line {
    pub mark: Mark,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A gate refuses a row, or its rate.
    Refused,
    /// The figures stand, and a reader must know this of them.
    Warn,
    /// Two rows compared, or what a search found.
    Result,
    /// Another generator's run.
    Replay,
    Note,
}

/// A contender as it ran.
pub struct Contender<'a> {
    pub name: &'a str,
    pub title: &'a str,
    /// What it is, and what limits it: a name and a text each.
    pub facts: Vec<(String, String)>,
    /// Commands and files by name, word for word.
    pub texts: Vec<(String, &'a str)>,
}

impl<'a> View<'a> {
    pub fn new(run: &'a Run, lang: Lang) -> Self {
        let speech = lang.speech();
        let say = |text: &str| speech.say(text);
        Self {
            lang,
            title: format!("rerun {}{}{}", run.name, say(": "), say(&run.title)),
            facts: facts(run, &speech),
            warnings: run.warnings.iter().map(|text| say(text)).collect(),
            published: run
                .published
                .as_ref()
                .map(|shown| published(shown, &run.tables, &speech)),
            tables: run
                .tables
                .iter()
                .map(|shown| table(shown, &speech))
                .collect(),
            contenders: run
                .contenders
                .iter()
                .map(|(name, shown)| contender(name, shown, &speech))
                .collect(),
            again: again(&run.command),
            colon: say(": "),
            speech,
        }
    }

    /// The report's own words, in its language.
    pub fn say(&self, english: &str) -> String {
        self.speech.say(english)
    }

    /// What the columns mean.
    pub fn legend(&self) -> Vec<(&str, &str)> {
        let grids = self
            .tables
            .first()
            .map_or([].as_slice(), |table| &table.grids);
        let columns = grids.iter().flat_map(|grid| &grid.columns);
        let columns = columns.filter(|column| !column.means.is_empty());
        columns
            .map(|column| (&*column.head, &*column.means))
            .collect()
    }

    /// Why a row has no figures; none if it has.
    pub fn reason(&self, row: &Row) -> Option<Reason> {
        no_figures(row, &self.speech)
    }

    /// Why a row has no rate; none if it has one.
    pub fn no_rate(&self, row: &Row) -> Option<Reason> {
        match &row.summary {
            Some(summary) if summary.rate.is_some() => None,
            Some(_) => reason(&row.verdicts).map(|verdict| by_gate(verdict, &self.speech)),
            None => self.reason(row),
        }
    }
}

fn facts(run: &Run, speech: &Speech) -> Vec<(String, String)> {
    let machine = &run.machine;
    let budget = &run.budget;
    let mut facts = Vec::new();
    let mut add = |name: &str, text: String| facts.push((speech.say(name), speech.say(&text)));
    let kind = match machine.virtual_machine {
        true => ", a virtual machine",
        false => "",
    };
    let cores = machine.cpus.len();
    let cpu = &machine.cpu;
    add("machine", format!("{cpu}, {cores} cores{kind}"));
    add("memory", format!("{} MB", megabytes(machine.memory_bytes)));
    add(
        "operating system",
        format!("{}; {}", machine.system, machine.kernel),
    );
    let shared = match budget.shared() {
        true => ": SHARED",
        false => "",
    };
    let (server, client) = (list(&budget.server_cpus), list(&budget.client_cpus));
    add(
        "cores",
        format!("server on core {server}, client on core {client}{shared}"),
    );
    add(
        "limits",
        format!(
            "{} open files, local ports {} to {}, listen queues of {}",
            n(machine.open_files as f64),
            machine.local_ports.0,
            machine.local_ports.1,
            n(machine.listen_queue as f64)
        ),
    );
    let began = UNIX_EPOCH + Duration::from_secs(run.started_s);
    let began = humantime::format_rfc3339_seconds(began);
    let took = n(run.took_s.round());
    add("measured", format!("{began}, in {took} s"));
    add("rerun", run.version.clone());
    if let Some(quick) = &run.quick {
        add("quick", quick.clone());
    }
    if let Some(measured) = &run.ceiling {
        for line in ceiling::words(measured).lines() {
            add("client", line.into());
        }
    }
    facts
}

fn published(
    published: &result::Published,
    tables: &[result::Table],
    speech: &Speech,
) -> Published {
    let rows = published.rows.iter().map(|row| PublishedRow {
        label: speech.say(&row.label),
        connections: connections(row.figures.connections),
        rate: per_second(row.figures.rate, speech),
        reason: reason(&row.verdicts)
            .map_or_else(String::new, |verdict| by_gate(verdict, speech).full),
        meant: nearest(row, tables).map(|(table, row)| Meant {
            contender: row.contender.clone(),
            connections: connections(Some(table.load.connections)),
            figures: match (&row.summary, no_figures(row, speech)) {
                (Some(summary), _) => Ok(in_short(row, summary, speech)),
                (None, reason) => Err(reason.map_or_else(String::new, |reason| reason.full)),
            },
        }),
    });
    Published {
        source: published.source.clone(),
        meant: speech.say(&published.meant),
        rows: rows.collect(),
    }
}

/// A measured row in one sentence.
fn in_short(row: &Row, summary: &result::Summary, speech: &Speech) -> String {
    let cpu = number(summary.cpu_us.median);
    let over = number(summary.over_ms.p99);
    let rate = match (&summary.rate, reason(&row.verdicts)) {
        (Some(rate), _) => format!("{} answers/s", n(rate.median)),
        (None, Some(verdict)) => format!("no rate: gate {}", verdict.gate),
        (None, None) => "no rate".into(),
    };
    speech.say(&format!(
        "{cpu} µs of CPU time for each answer, p99 {over} ms over the delay, {rate}"
    ))
}

/// The row that was measured here for a published one: with its connections, or as near to them as there is. Of two
/// tables the later one is meant: the earlier shows how the article had it.
fn nearest<'a>(
    published: &result::PublishedRow,
    tables: &'a [result::Table],
) -> Option<(&'a result::Table, &'a Row)> {
    let asked = published.figures.connections?;
    let rows = tables.iter().rev().filter_map(|table| {
        let mut rows = table.rows.iter();
        let row = rows.find(|row| row.contender == published.contender)?;
        Some((table, row))
    });
    rows.min_by(|(one, _), (other, _)| {
        let far = |table: &result::Table| {
            let times = f64::from(table.load.connections) / f64::from(asked.max(1));
            times.ln().abs()
        };
        far(one).total_cmp(&far(other))
    })
}

fn table<'a>(table: &'a result::Table, speech: &Speech) -> Table<'a> {
    let load = &table.load;
    let kept = match load.keep_alive {
        true => "kept",
        false => "one request each",
    };
    let long = match (load.requests, load.seconds) {
        (Some(requests), _) => format!("{} requests", n(requests as f64)),
        (None, seconds) => format!("{} s", seconds.unwrap_or(0.0)),
    };
    let (connections, rounds) = (load.connections, load.rounds);
    let load = format!(
        "{connections} connections, {kept}; {rounds} rounds of {long}, the rows taking turns"
    );
    Table {
        title: speech.say(&format!("{}, c = {connections}", table.title)),
        load: speech.say(&load),
        grids: [costs(table, speech), latencies(table, speech)],
        lines: lines(table, speech),
        data: table,
    }
}

/// A column: its head, what it means, and the figure of a row.
type Figure<'a> = (&'a str, &'a str, &'a dyn Fn(&Row, &result::Summary) -> Cell);

fn costs(table: &result::Table, speech: &Speech) -> Grid {
    let figures: [Figure; 9] = [
        (
            "CPU µs",
            "CPU time of all of the server's processes for each answer, microseconds: the median of the rounds",
            &|_, summary| figure(summary.cpu_us.median),
        ),
        (
            "95 %",
            "the bootstrap interval of this median",
            &|row, _| {
                let rounds: Vec<f64> = row.rounds.iter().map(result::Round::cpu_us).collect();
                match median_interval(&rounds) {
                    Some(found) => {
                        Cell::Figure(format!("{}-{}", number(found.low), number(found.high)))
                    }
                    None => Cell::Empty,
                }
            },
        ),
        ("user", "its part in user mode", &|_, summary| {
            known(summary.user_us.map(|us| us.median))
        }),
        ("system", "its part in the kernel", &|_, summary| {
            known(summary.system_us.map(|us| us.median))
        }),
        (
            "answers/s",
            "verified answers a second: the median of the rounds",
            &|row, summary| match (&summary.rate, reason(&row.verdicts)) {
                (Some(rate), _) => Cell::Figure(n(rate.median)),
                (None, Some(verdict)) => {
                    Cell::Refused(speech.say(&format!("gate {}", verdict.gate)))
                }
                (None, None) => Cell::Empty,
            },
        ),
        (
            "switches",
            "context switches for each answer",
            &|_, summary| figure(summary.switches.median),
        ),
        (
            "KB/conn.",
            "what the server's memory grew by since before its first load, for each connection",
            &|_, summary| known(summary.per_connection_bytes.map(|bytes| bytes / 1024.0)),
        ),
        (
            "peak MB",
            "the peak memory of all of its processes",
            &|_, summary| match summary.peak_bytes {
                Some(bytes) => Cell::Figure(megabytes(bytes)),
                None => Cell::Empty,
            },
        ),
        ("limit", "what limited the rate", &|_, summary| {
            Cell::Figure(speech.say(&summary.limiter))
        }),
    ];
    let mut figures = figures.to_vec();
    let counted = |row: &Row| {
        row.summary
            .as_ref()
            .is_some_and(|s| s.instructions.is_some())
    };
    if table.rows.iter().any(counted) {
        figures.insert(
            4,
            (
                "instr.",
                "user instructions for each answer",
                &|_, summary| known(summary.instructions),
            ),
        );
    }
    grid("Cost of an answer", &figures, table, speech)
}

fn latencies(table: &result::Table, speech: &Speech) -> Grid {
    let title = match table.task.delay_ms > 0.0 {
        true => format!("Latency over the delay of {} ms, ms", table.task.delay_ms),
        false => "Latency, ms".into(),
    };
    let figures: [Figure; 7] = [
        (
            "least",
            "the least latency of all rounds together, counted from the end of the delay; a clock of 1 ms may be early",
            &|_, summary| figure(summary.over_ms.min),
        ),
        ("mean", "", &|_, summary| figure(summary.over_ms.mean)),
        ("p50", "", &|_, summary| figure(summary.over_ms.p50)),
        ("p90", "", &|_, summary| figure(summary.over_ms.p90)),
        ("p99", "", &|_, summary| figure(summary.over_ms.p99)),
        (
            "p99.9",
            "of 1,000 answers 999 take no longer; p50, p90 and p99 likewise",
            &|_, summary| figure(summary.over_ms.p999),
        ),
        ("max", "", &|_, summary| figure(summary.over_ms.max)),
    ];
    grid(&title, &figures, table, speech)
}

fn grid(title: &str, figures: &[Figure], table: &result::Table, speech: &Speech) -> Grid {
    let columns = figures.iter().map(|(head, means, _)| Column {
        head: speech.say(head),
        means: speech.say(means),
    });
    let rows = table.rows.iter().map(|row| GridRow {
        contender: row.contender.clone(),
        cells: match (&row.summary, no_figures(row, speech)) {
            (Some(summary), _) => Ok(figures.iter().map(|(_, _, of)| of(row, summary)).collect()),
            (None, reason) => Err(reason.unwrap_or_else(|| Reason {
                short: String::new(),
                full: String::new(),
            })),
        },
    });
    Grid {
        title: speech.say(title),
        columns: columns.collect(),
        rows: rows.collect(),
    }
}

/// What is to be said under a table.
fn lines(table: &result::Table, speech: &Speech) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in &table.rows {
        lines.extend(of_row(row, speech));
    }
    lines.extend(limiters(&table.rows, speech));
    for comparison in &table.comparisons {
        let figure = match comparison.figure.as_str() {
            "cpu_us" => "CPU time",
            _ => "answers/s",
        };
        let text = format!(
            "{} / {}, {figure}: {:.2} ({:.2}-{:.2}): {}",
            comparison.contender,
            comparison.against,
            comparison.ratio,
            comparison.low,
            comparison.high,
            comparison.words
        );
        lines.push(line(Mark::Result, &text, speech));
    }
    for row in &table.rows {
        let found = row
            .summary
            .as_ref()
            .and_then(|summary| summary.slo.as_ref());
        if let Some(found) = found {
            let text = match found.rate {
                Some(rate) => format!(
                    "{}: {} holds at {} requests/s in an open loop, and not 3 % above",
                    row.contender,
                    found.asked,
                    n(rate)
                ),
                None => format!(
                    "{}: {} does not hold even at the least rate that was tried",
                    row.contender, found.asked
                ),
            };
            lines.push(line(Mark::Result, &text, speech));
        }
        let replays = row.replays.iter();
        lines.extend(replays.map(|shown| replay(&row.contender, shown, speech)));
    }
    lines.extend(
        table
            .notes
            .iter()
            .map(|note| line(Mark::Note, note, speech)),
    );
    lines
}

fn line(mark: Mark, text: &str, speech: &Speech) -> Line {
    Line {
        mark,
        text: speech.say(text),
    }
}

/// Why there is no figure, or no rate, and what a reader must know of those that there are.
fn of_row(row: &Row, speech: &Speech) -> Vec<Line> {
    let colon = speech.say(": ");
    let named = |text: &str| format!("{}{colon}{text}", row.contender);
    if let Some(reason) = no_figures(row, speech) {
        return vec![Line {
            mark: Mark::Refused,
            text: named(&reason.full),
        }];
    }
    let verdicts = row
        .verdicts
        .iter()
        .filter(|verdict| !is_of_limiter(verdict));
    let lines = verdicts.filter_map(|verdict| {
        let mark = match verdict.outcome {
            Outcome::NoRate | Outcome::Refuse => Mark::Refused,
            Outcome::Warn => Mark::Warn,
            Outcome::Pass | Outcome::Unknown => return None,
        };
        let text = named(&by_gate(verdict, speech).full);
        Some(Line { mark, text })
    });
    lines.collect()
}

/// Why a row has no figures; none if it has.
fn no_figures(row: &Row, speech: &Speech) -> Option<Reason> {
    if row.summary.is_some() {
        return None;
    }
    if let Some(fault) = &row.fault {
        return Some(Reason {
            short: speech.say("it could not be measured"),
            full: speech.say(fault),
        });
    }
    reason(&row.verdicts).map(|verdict| by_gate(verdict, speech))
}

fn by_gate(
    Verdict {
        gate, name, text, ..
    }: &Verdict,
    speech: &Speech,
) -> Reason {
    Reason {
        short: speech.say(&format!("gate {gate}, {name}")),
        full: speech.say(&format!("gate {gate}, {text}")),
    }
}

/// What [`limiters`] says of several rows at once.
fn is_of_limiter(verdict: &Verdict) -> bool {
    verdict.gate == limiter::GATE.0 && verdict.outcome == Outcome::Warn
}

/// Rates that are lower bounds, or a pool's, one line for all rows of a kind.
fn limiters(rows: &[Row], speech: &Speech) -> Vec<Line> {
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
    let lines = kinds.iter().filter_map(|(kind, words)| {
        let names = of(kind).join(", ");
        (!names.is_empty()).then(|| line(Mark::Warn, &format!("{names}: gate 6, {words}"), speech))
    });
    lines.collect()
}

fn replay(contender: &str, replay: &Replay, speech: &Speech) -> Line {
    let command = replay.command.join(" ");
    let rate = per_second(replay.figures.rate, speech);
    let reason = reason(&replay.verdicts).map_or_else(String::new, |verdict| {
        format!("gate {}, {}", verdict.gate, verdict.text)
    });
    line(
        Mark::Replay,
        &format!("{contender}: {command} printed {rate}: {reason}"),
        speech,
    )
}

fn contender<'a>(
    name: &'a str,
    contender: &'a result::Contender,
    speech: &Speech,
) -> Contender<'a> {
    let mut facts = Vec::new();
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            facts.push((speech.say(name), speech.say(text)));
        }
    };
    add("notes", &contender.notes);
    add("stands for", &contender.stands_for);
    add("limited by", contender.limited_by.as_deref().unwrap_or(""));
    add("missing", contender.missing.as_deref().unwrap_or(""));
    let versions = contender.versions.iter();
    let versions: Vec<String> = versions
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    add("versions", &versions.join(", "));
    let commands = [("build", &contender.build), ("start", &contender.start)];
    let commands = commands.iter().flat_map(|(name, commands)| {
        let commands = commands.iter();
        commands.map(|command| (speech.say(name), command.as_str()))
    });
    let files = contender.files.iter();
    let files = files.map(|(name, text)| (name.clone(), text.as_str()));
    Contender {
        name,
        title: &contender.title,
        facts,
        texts: commands.chain(files).collect(),
    }
}

/// The command line, wherever the program was.
fn again(command: &[String]) -> String {
    let arguments = command.iter().skip(1).map(String::as_str);
    let words = std::iter::once("rerun").chain(arguments);
    // Only a NUL cannot be quoted, and no argument of a process has one.
    shlex::try_join(words).unwrap_or_default()
}

fn connections(connections: Option<u32>) -> String {
    connections.map_or_else(String::new, |c| format!("c = {c}"))
}

fn per_second(rate: Option<f64>, speech: &Speech) -> String {
    match rate {
        Some(rate) => format!("{}/s", n(rate)),
        None => speech.say("no rate"),
    }
}

fn list(cpus: &[usize]) -> String {
    let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    cpus.join(", ")
}

fn megabytes(bytes: u64) -> String {
    number(bytes as f64 / 1024.0 / 1024.0)
}

fn known(number: Option<f64>) -> Cell {
    number.map_or(Cell::Empty, figure)
}

fn figure(figure: f64) -> Cell {
    Cell::Figure(number(figure))
}

/// What is there of some words.
pub fn spaced(words: &[&str]) -> String {
    let words: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !word.is_empty())
        .collect();
    words.join(", ")
}

/// A number for a table: about three digits, and never less than its hundredths.
pub fn number(number: f64) -> String {
    // Not "-0.00".
    let number = if number.abs() < 0.005 { 0.0 } else { number };
    match number.abs() {
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => n(number),
    }
}
