//! Everything that is needed to judge a run, in one JSON file: `RESULT.json`.
//!
//! Its schema is published as `rerun/schema.json`, which a test keeps true. A report can be made from the file alone,
//! years later and on another machine, so nothing here refers to a path, a process or an address that must still exist.
//!
//! Units are part of the names: `_s` seconds, `_ms` milliseconds, `_us` microseconds, `_ns` nanoseconds, `_bytes`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of this format. It goes up when a reader of the old one would misread the new one.
pub const FORMAT: u32 = 1;

/// One run of `rerun compare` or `rerun article`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// See [`FORMAT`].
    pub format: u32,
    /// What was run: `compare`, or the name of an article.
    pub name: String,
    /// One line for a heading.
    pub title: String,
    /// The version of rerun.
    pub version: String,
    /// The command line of rerun.
    pub command: Vec<String>,
    /// When it began, seconds since 1970-01-01 UTC.
    pub started_s: u64,
    /// How long it took.
    pub took_s: f64,
    /// The counts and durations were scaled down by `--quick`: the words that say so.
    pub quick: Option<String>,
    pub machine: Machine,
    pub budget: Budget,
    /// What the client can do at most, measured before the contenders were.
    pub ceiling: Option<Ceiling>,
    /// The contenders by name, those that could not run too.
    pub contenders: BTreeMap<String, Contender>,
    /// An article's rows as they were published, with what the gates find in them.
    pub published: Option<Published>,
    /// What was measured here: one table a task and load.
    pub tables: Vec<Table>,
    /// What a reader must know of the whole run, one sentence each that says what to do.
    pub warnings: Vec<String>,
}

/// The machine, its kernel, and the limits that decide whether a load fits on it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// `PRETTY_NAME` of `/etc/os-release`.
    pub system: String,
    /// `uname -srvm`.
    pub kernel: String,
    /// The model name in `/proc/cpuinfo`.
    pub cpu: String,
    /// The cores that this process may use.
    pub cpus: Vec<usize>,
    pub memory_bytes: u64,
    /// The CPU says that it runs under a hypervisor: neighbours may take its time unseen.
    pub virtual_machine: bool,
    /// The frequency governor of the first core, where there is one.
    pub governor: Option<String>,
    /// The load average over one minute before the run: other work on this machine.
    pub load_average: f64,
    /// Soft limit on open files of the client, after rerun raised it.
    pub open_files: u64,
    /// `net.ipv4.ip_local_port_range`.
    pub local_ports: (u16, u16),
    /// `net.core.somaxconn`: the longest listen queue.
    pub listen_queue: u64,
    /// `net.ipv4.tcp_tw_reuse`.
    pub time_wait_reuse: u64,
}

/// Which cores whom: gate 11.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Every contender, all of its processes, runs on these and on no other.
    pub server_cpus: Vec<usize>,
    /// The client runs on these.
    pub client_cpus: Vec<usize>,
}

impl Budget {
    /// Whether server and client must share a core, so that each takes the other's time.
    pub fn shared(&self) -> bool {
        self.server_cpus
            .iter()
            .any(|cpu| self.client_cpus.contains(cpu))
    }
}

/// How fast the client can go at all on its cores: against a server that does next to nothing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ceiling {
    /// Connections of both loads.
    pub connections: u32,
    /// Answers a second, each verified, with kept connections. One figure a round.
    pub rates: Vec<f64>,
    /// CPU time of the client for each request, nanoseconds. One figure a round.
    pub client_ns: Vec<f64>,
    /// The same by `wrk -t1`, which verifies nothing, in the same rounds; empty where wrk is not installed.
    pub wrk_rates: Vec<f64>,
    /// wrk's CPU time for each request, nanoseconds.
    pub wrk_ns: Vec<f64>,
    /// What `wrk --version` says.
    pub wrk_version: Option<String>,
}

/// One contender as it ran, whole enough to run it again.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// What a reader calls it.
    pub title: String,
    /// What it stands for, in which article.
    pub stands_for: String,
    /// Name and version of everything that took part, in the words of the program itself.
    pub versions: BTreeMap<String, String>,
    /// The command line that built it, if any.
    pub build: Vec<String>,
    /// The command line that started it.
    pub start: Vec<String>,
    /// Configurations and sources by name, as they were used.
    pub files: BTreeMap<String, String>,
    /// What limits it by its nature, in words: "one request at a time", "50 children".
    pub limited_by: Option<String>,
    /// At most so many requests wait at the same time, where it has such a limit.
    pub at_once: Option<u32>,
    /// Why it could not run: what is missing, and the command that installs it.
    pub missing: Option<String>,
    /// What a reader must know to judge it, in the words of its manifest. Results of older versions have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

/// An article's figures, and what is wrong with them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    pub title: String,
    /// Where the figures are from.
    pub source: String,
    /// What the article meant to compare, in a sentence.
    pub meant: String,
    pub rows: Vec<PublishedRow>,
}

/// One published row.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// The system in the article's words.
    pub label: String,
    /// The contender that stands for it here.
    pub contender: String,
    /// The command line as published, if it was.
    pub command: Option<String>,
    pub figures: Figures,
    /// What the gates say of the figures.
    pub verdicts: Vec<Verdict>,
}

/// The figures that a generator printed, as many as are known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Figures {
    /// The generator: `ab`, `wrk`, `drill` …
    pub tool: Option<String>,
    pub connections: Option<u32>,
    pub threads: Option<u32>,
    /// Requests that were counted.
    pub requests: Option<u64>,
    pub seconds: Option<f64>,
    /// Requests a second.
    pub rate: Option<f64>,
    /// Answers that the generator itself counts as failed.
    pub failed: Option<u64>,
    /// Answers with a status other than 2xx (ab), or other than 2xx and 3xx (wrk).
    pub non_2xx: Option<u64>,
    /// Socket errors of all kinds.
    pub socket_errors: Option<u64>,
    /// Bytes of all bodies (ab's "HTML transferred").
    pub body_bytes: Option<u64>,
    /// Bytes of one whole answer with its head.
    pub answer_bytes: Option<u64>,
    pub min_ms: Option<f64>,
    pub mean_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// Percentile (0 to 100) and milliseconds.
    pub percentiles_ms: Vec<(f64, f64)>,
}

/// Rivals under one task and one load.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub title: String,
    pub task: Task,
    pub load: Load,
    pub rows: Vec<Row>,
    /// Each row against the first that has figures.
    pub comparisons: Vec<Comparison>,
    /// What a reader must know of this table.
    pub notes: Vec<String>,
}

/// What every answer in a table must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// `hello` or `delay`.
    pub name: String,
    /// The exact body.
    pub body: String,
    /// The wait before the answer.
    pub delay_ms: f64,
}

/// What is asked of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub connections: u32,
    /// Connections are kept; otherwise each is for one request.
    pub keep_alive: bool,
    /// Open loop: requests are due at this rate, and latency counts from when a request was due. Otherwise the loop is
    /// closed: each connection asks again when it has its answer.
    pub open_rate: Option<f64>,
    /// Seconds that are measured, or
    pub seconds: Option<f64>,
    /// requests that are measured.
    pub requests: Option<u64>,
    pub warm_up_s: f64,
    /// A request that takes longer has failed.
    pub timeout_s: f64,
    /// How often each row is measured, the rows taking turns.
    pub rounds: u32,
}

/// One contender under the table's load.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Key into [`Run::contenders`].
    pub contender: String,
    /// Why it could not be measured: it did not start, it died, it answered wrong.
    pub fault: Option<String>,
    /// What the gates say of this row. One that refuses means that the row has no figures.
    pub verdicts: Vec<Verdict>,
    /// The raw samples.
    pub rounds: Vec<Round>,
    /// Medians over the rounds; none if a gate refuses.
    pub summary: Option<Summary>,
    /// Output of a generator other than our own, word for word: the article as its author ran it.
    pub replays: Vec<Replay>,
}

/// One round of one row.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The how manieth measurement of the table this was: shows that the rounds are interleaved.
    pub turn: u32,
    pub client: ClientSample,
    pub server: ServerSample,
    pub network: NetworkSample,
}

impl Round {
    /// Answers a second.
    pub fn rate(&self) -> f64 {
        self.client.answers as f64 / self.client.seconds
    }

    /// CPU time of the server for each answer, microseconds.
    pub fn cpu_us(&self) -> f64 {
        self.server.cpu_ns as f64 / 1e3 / self.client.answers as f64
    }
}

/// What the client counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientSample {
    /// Length of the measured window.
    pub seconds: f64,
    /// Verified answers in the window.
    pub answers: u64,
    /// How long requests were under way within the window, for each of these answers: what Little's law is about.
    pub mean_us: f64,
    /// Failures by kind, the warm-up's too.
    pub failures: BTreeMap<Failure, u64>,
    /// An example of each kind of failure: what was seen.
    pub examples: BTreeMap<Failure, String>,
    /// The most connections that were open at the same time.
    pub connections: u32,
    /// Connections opened in the whole round.
    pub opened: u64,
    /// Answers after which the server closed a connection that was to be kept.
    pub not_kept: u64,
    /// Requests that were due in an open loop and were never sent.
    pub unsent: u64,
    /// CPU time of the client's thread in the window.
    pub user_ns: u64,
    pub system_ns: u64,
    /// Time in which the client stood still because its processor did something else, where the kernel tells.
    pub waited_ns: Option<u64>,
    /// Latency of every verified answer.
    pub latency: Histogram,
}

/// Why a request did not count.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The connection was refused, or could not be made.
    Connect,
    /// No local port or no descriptor was left for another connection: the client's machine, not the server.
    Ports,
    /// The connection was reset.
    Reset,
    /// No whole answer within the timeout.
    Timeout,
    /// The connection ended before the answer did.
    EarlyClose,
    /// The status is another one.
    WrongStatus,
    /// As many bytes as expected, but others.
    WrongBody,
    /// More or fewer bytes than expected.
    WrongLength,
    /// No HTTP head, or a body whose framing is broken.
    Malformed,
    /// Bytes after the end of the answer.
    ExtraBytes,
    /// A right answer that came before its delay was over.
    TooEarly,
}

/// What the server's process tree used in the window.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerSample {
    /// CPU time of all processes and threads of the tree, those that ended in the window as far as the kernel tells.
    pub cpu_ns: u64,
    /// The share of it in user mode, from the kernel's ticks: 0 to 1; none where there were too few ticks.
    pub user_share: Option<f64>,
    /// Time that its threads were ready to run and had no processor, summed over threads.
    pub waited_ns: u64,
    /// Context switches, because a thread waited.
    pub voluntary_switches: u64,
    /// Context switches, because the kernel took the processor away.
    pub involuntary_switches: u64,
    pub processes: u32,
    pub threads: u32,
    /// Memory of the tree with shared pages counted once (proportional set size), before its first load.
    pub idle_bytes: Option<u64>,
    /// The same under the load.
    pub loaded_bytes: Option<u64>,
    /// Sum of each process's peak resident set.
    pub peak_bytes: Option<u64>,
    /// The least limit on open files of its processes.
    pub open_files: Option<u64>,
}

/// What the kernel counted between the start and the end of the round: for the whole machine, but for `own_drops`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSample {
    /// Of listen queues, of all programs.
    pub listen_overflows: u64,
    pub listen_drops: u64,
    /// Connections that the server's own listening sockets dropped; none where the kernel does not tell, and in results
    /// of older versions.
    #[serde(default)]
    pub own_drops: Option<u64>,
    /// Connections accepted (`PassiveOpens`).
    pub accepted: u64,
    /// Connections opened (`ActiveOpens`).
    pub opened: u64,
    pub retransmits: u64,
    /// Sockets in TIME_WAIT after the round.
    pub time_wait: u64,
}

/// Latencies: pairs of microseconds and how many, ascending. Three significant digits, as HdrHistogram keeps them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Histogram(pub Vec<(u64, u64)>);

/// Medians over a row's rounds, and latencies of all rounds together.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Answers a second; none if a gate says that it ranks nobody.
    pub rate: Option<Spread>,
    /// CPU time of the server for each request.
    pub cpu_us: Spread,
    pub user_us: Option<Spread>,
    pub system_us: Option<Spread>,
    /// Part of the server's cores that it used: 0 to 1.
    pub busy: Spread,
    /// Part of the client's core that it used.
    pub client_busy: Spread,
    /// Context switches of the server for each request.
    pub switches: Spread,
    /// Latency over the delay.
    pub over_ms: Percentiles,
    pub peak_bytes: Option<u64>,
    pub idle_bytes: Option<u64>,
    /// What the memory grew by since before the first load, for each connection.
    pub per_connection_bytes: Option<f64>,
    /// User instructions a request, if they were asked for.
    pub instructions: Option<f64>,
    /// The highest open-loop rate that holds a stated latency, if it was asked for.
    pub slo: Option<Slo>,
    /// What limited this row: gate 6.
    pub limiter: String,
}

impl Summary {
    /// Whether the rate is a lower bound: it was not the server that limited it.
    pub fn rate_is_lower_bound(&self) -> bool {
        matches!(self.limiter.as_str(), "client" | "unknown")
    }
}

/// Median, least and greatest of the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

/// Of all rounds together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Percentiles {
    pub min: f64,
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

/// The highest rate at which the latency still holds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slo {
    /// As it was asked for: `p99=25ms`.
    pub asked: String,
    /// Requests a second, each due at its time; none if even the least rate did not hold.
    pub rate: Option<f64>,
    /// In so many windows of `rate`, one after the other, the latency held.
    #[serde(default = "one_window")]
    pub windows: u32,
    /// Seconds of a window.
    #[serde(default = "one_second")]
    pub window_s: f64,
    /// Rate, latency in milliseconds and failures of each window of the search.
    pub steps: Vec<(f64, f64, u64)>,
}

/// As results of older versions were measured.
fn one_window() -> u32 {
    1
}

fn one_second() -> f64 {
    1.0
}

impl Slo {
    /// The least rate that was tried above the one that held.
    pub fn above(&self) -> Option<f64> {
        let held = self.rate?;
        let above = self.steps.iter().map(|step| step.0);
        above.filter(|rate| *rate > held).min_by(f64::total_cmp)
    }
}

/// Two rows of a table, one figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub contender: String,
    pub against: String,
    /// What is compared: `cpu_us` or `rate`.
    pub figure: String,
    /// `contender`'s median over `against`'s.
    pub ratio: f64,
    /// Bootstrap 95 % interval of the ratio.
    pub low: f64,
    pub high: f64,
    /// What that means: "cannot tell apart" if the interval spans 1.
    pub words: String,
}

/// What one gate says of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// 1 to 13.
    pub gate: u8,
    /// The gate's name.
    pub name: String,
    pub outcome: Outcome,
    /// What was found, and what to do.
    pub text: String,
}

/// What follows from a verdict.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The gate is passed.
    Pass,
    /// Nothing is known that the gate could judge by.
    Unknown,
    /// The figures stand, and a reader must know this of them.
    Warn,
    /// The row has figures; its rate must not be printed or compared.
    NoRate,
    /// The row has no figures.
    Refuse,
}

/// One run of another generator, as an article's author ran it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    pub command: Vec<String>,
    pub version: String,
    pub output: String,
    pub figures: Figures,
    /// What the gates say of these figures.
    pub verdicts: Vec<Verdict>,
}

/// Writes a result as JSON.
pub fn save(run: &Run, file: &Path) -> Result<()> {
    replace(file, &(serde_json::to_string(run)? + "\n"))
}

/// Writes the whole file, or leaves what was there.
pub fn replace(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    std::fs::write(&name, text)?;
    std::fs::rename(&name, file)?;
    Ok(())
}

/// What every result says of itself, whatever its format.
#[derive(Deserialize)]
struct Head {
    format: u32,
    version: String,
}

/// Reads a file of this format.
pub fn load(file: &Path) -> Result<Run> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {name}"))?;
    parse(&text, &name)
}

/// Reads the text of a file that is called so in errors.
pub fn parse(text: &str, name: &dyn Display) -> Result<Run> {
    let head: Head =
        serde_json::from_str(text).with_context(|| format!("{name} is no result of rerun"))?;
    let version = head.version;
    ensure!(
        head.format == FORMAT,
        "{name} has format {}, of rerun {version}; this rerun reads format {FORMAT}",
        head.format
    );
    serde_json::from_str(text).with_context(|| {
        format!("{name} is damaged, or of another rerun {version} than this one: measure again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let name = format!("rerun-result-{}-{}.json", std::process::id(), text.len());
        let file = std::env::temp_dir().join(name);
        replace(&file, text).unwrap();
        let error = load(&file).unwrap_err();
        std::fs::remove_file(&file).unwrap();
        format!("{error:#}")
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        assert!(message("{}").contains("is no result of rerun: missing field `format`"));
        let of_the_future = r#"{"format": 99, "version": "9.0", "new": []}"#;
        let said = message(of_the_future);
        assert!(
            said.contains("has format 99, of rerun 9.0; this rerun reads format 1"),
            "{said}"
        );
        let damaged = r#"{"format": 1, "version": "0.1.0", "name": "compare"}"#;
        let said = message(damaged);
        assert!(
            said.contains("is damaged") && said.contains("missing field"),
            "{said}"
        );
    }

    #[test]
    fn a_contender_of_an_older_result_has_no_notes() {
        let mut older = serde_json::to_value(Contender::default()).unwrap();
        older.as_object_mut().unwrap().remove("notes");
        let read: Contender = serde_json::from_value(older).unwrap();
        assert_eq!(read.notes, "");
    }
}
