//! What a generator printed of one run.

use super::number::Number;
use crate::result::Figures;

/// Everything that was found, each where it was printed. Times are in milliseconds, but for `seconds`.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    pub url: Option<String>,
    pub connections: Option<u32>,
    pub threads: Option<u32>,
    /// h2load's "Application protocol".
    pub protocol: Option<String>,
    /// Answers and failures that the rate counts.
    pub requests: Option<u64>,
    pub seconds: Option<Number>,
    /// As long as the run was to take.
    pub asked_seconds: Option<Number>,
    pub rate: Option<Number>,
    /// What the generator itself counts as failed.
    pub failed: Option<u64>,
    /// Those of them that are only of another length than the first answer (ab).
    pub other_length: u64,
    /// Answers with a status other than 2xx (ab), or of 400 and more (wrk).
    pub non_2xx: Option<u64>,
    /// Status, or a hundredth of it where classes are printed, and how many answers had it.
    pub statuses: Vec<(u16, u64)>,
    /// Errors without any answer, by name.
    pub errors: Vec<(String, u64)>,
    /// Requests that the end of the run cut off: no failures of the server (oha).
    pub cut_off: u64,
    /// What the generator said when it gave up.
    pub gave_up: Option<String>,
    /// Requests on connections that were kept (ab -k).
    pub kept: Option<u64>,
    /// Bytes of all answers with their heads.
    pub answer_bytes: Option<Number>,
    /// Bytes of all bodies.
    pub body_bytes: Option<Number>,
    /// Bytes of one body: of the first (ab), or of a mean one (hey, oha).
    pub body_each: Option<Number>,
    /// Bytes a second of answers with their heads.
    pub byte_rate: Option<Number>,
    pub min: Option<Number>,
    pub mean: Option<Number>,
    pub deviation: Option<Number>,
    pub max: Option<Number>,
    /// Part of the latencies within one standard deviation, percent.
    pub within: Option<Number>,
    /// ab's "Time per request", which it computes from rate and concurrency, and the one "across all".
    pub by_rate: [Option<Number>; 2],
    /// Rank from 0 to 100, and milliseconds.
    pub percentiles: Vec<(f64, Number)>,
    /// The counts of a printed histogram.
    pub histogram: Vec<u64>,
    /// Mean rate of one thread (wrk's "Req/Sec").
    pub thread_rate: Option<Number>,
    /// The lines behind the counts are there too, so that a line that is only printed for failures is known to be
    /// missing because there were none.
    pub whole: bool,
    /// Columns of a table, where its head names them.
    pub columns: Vec<String>,
}

impl Printed {
    /// Answers with another status than 2xx, as far as it is printed.
    pub fn not_2xx(&self) -> Option<u64> {
        if self.statuses.is_empty() {
            return self.non_2xx;
        }
        let other = self
            .statuses
            .iter()
            .filter(|(status, _)| !matches!(status, 2 | 200..=299));
        Some(other.map(|(_, count)| count).sum())
    }

    pub fn errors(&self) -> u64 {
        self.errors.iter().map(|(_, count)| count).sum()
    }
}

impl From<&Printed> for Figures {
    fn from(printed: &Printed) -> Self {
        let value = |number: Option<Number>| number.map(|number| number.value);
        let percentiles = printed.percentiles.iter();
        Self {
            tool: None,
            connections: printed.connections,
            threads: printed.threads,
            requests: printed.requests,
            seconds: value(printed.seconds),
            rate: value(printed.rate),
            failed: printed.failed,
            non_2xx: printed.not_2xx(),
            socket_errors: printed.whole.then(|| printed.errors()),
            body_bytes: printed.body_bytes.map(|bytes| bytes.value as u64),
            answer_bytes: None,
            min_ms: value(printed.min),
            mean_ms: value(printed.by_rate[0].or(printed.mean)),
            max_ms: value(printed.max),
            percentiles_ms: percentiles.map(|(rank, ms)| (*rank, ms.value)).collect(),
        }
    }
}
