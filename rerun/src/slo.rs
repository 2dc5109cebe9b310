//! The highest rate of an open loop at which a stated latency still holds.

use std::str::FromStr;

use anyhow::Result;

use crate::client;
use crate::measure::{Bench, plan};
use crate::progress::Progress;
use crate::result::{ClientSample, Load, Slo, Table};
use crate::rival::{Asked, Rival};
use crate::stop;

/// A rate holds if it does in so many windows, one after the other.
const WINDOWS: u32 = 3;
/// Seconds of a window.
const WINDOW: f64 = 1.0;
/// At most so many rates are tried.
const TRIES: u32 = 12;

/// `p99=25ms`: of all requests, 99 in 100 are answered within 25 ms of when they were due.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    quantile: f64,
    limit_ms: f64,
    text: String,
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (rank, limit) = text.strip_prefix('p')?.split_once('=')?;
            let rank: f64 = rank.parse().ok()?;
            let (number, unit) = match limit.strip_suffix("ms") {
                Some(number) => (number, 1.0),
                None => (limit.strip_suffix('s')?, 1e3),
            };
            let limit_ms = number.parse::<f64>().ok()? * unit;
            let possible = rank > 0.0 && rank <= 100.0 && limit_ms > 0.0 && limit_ms.is_finite();
            possible.then(|| Self {
                quantile: rank / 100.0,
                limit_ms,
                text: text.to_owned(),
            })
        };
        parse().ok_or_else(|| "expected a percentile and a time, as in p99=25ms".into())
    }
}

/// One window of a rate that was tried.
struct Step {
    rate: f64,
    latency_ms: f64,
    /// Wrong answers, and requests that were never sent.
    failures: u64,
}

impl Objective {
    fn step(&self, rate: f64, sample: &ClientSample) -> Step {
        let latency = sample.latency.quantile_us(self.quantile);
        Step {
            rate,
            latency_ms: latency.map_or(f64::MAX, |us| us as f64 / 1e3),
            failures: sample.failures.values().sum::<u64>() + sample.unsent,
        }
    }

    fn holds(&self, step: &Step) -> bool {
        step.failures == 0 && step.latency_ms <= self.limit_ms
    }

    /// Halves the distance between a rate that holds and one that does not, until they are 3 % apart. `most` is more
    /// than the server can do.
    fn search(&self, most: f64, mut ask: impl FnMut(f64) -> Result<Step>) -> Result<Slo> {
        let (mut holds, mut fails) = (None, most);
        let mut steps = Vec::new();
        for tries in 0..TRIES {
            if holds.is_some_and(|rate| fails <= rate * 1.03) {
                break;
            }
            let rate = match holds {
                Some(rate) => f64::midpoint(rate, fails),
                None => fails * if tries == 0 { 0.6 } else { 0.4 },
            };
            if self.holds_at(rate, &mut ask, &mut steps)? {
                holds = Some(rate);
            } else {
                fails = rate;
            }
        }
        Ok(Slo {
            asked: self.text.clone(),
            rate: holds,
            windows: WINDOWS,
            window_s: WINDOW,
            steps,
        })
    }

    /// One good window may be luck, and one bad one other work's: a rate holds in so many windows one after the other,
    /// and it does not if it fails twice at that.
    fn holds_at(
        &self,
        rate: f64,
        ask: &mut impl FnMut(f64) -> Result<Step>,
        steps: &mut Vec<(f64, f64, u64)>,
    ) -> Result<bool> {
        let (mut held, mut failed) = (0, 0);
        while held < WINDOWS && failed < 2 {
            let step = ask(rate)?;
            steps.push((step.rate, step.latency_ms, step.failures));
            if self.holds(&step) {
                held += 1;
            } else {
                (held, failed) = (0, failed + 1);
            }
        }
        Ok(held == WINDOWS)
    }

    /// Searches for every row that has figures, and adds what was found to its summary.
    pub fn add(
        &self,
        bench: &Bench,
        asked: Asked,
        table: &mut Table,
        rivals: &[Rival],
        progress: &Progress,
    ) -> Result<()> {
        for row in &mut table.rows {
            let Some(rival) = rivals.iter().find(|rival| rival.name == row.contender) else {
                continue;
            };
            let (Some(summary), Ok(started)) = (&mut row.summary, &rival.state) else {
                continue;
            };
            let Some((path, expect)) = rival.endpoint(asked) else {
                continue;
            };
            let cores = bench.budget.server_cpus.len().max(1) as f64;
            // A server that has no time to sleep needs less of it for each request.
            let most = 2.0 * cores * 1e6 / summary.cpu_us.median;
            let found = self.search(most, |rate| {
                stop::check()?;
                progress.say(&format!("{}: {} at {rate:.0}/s", rival.name, self.text));
                // Twice as many as are busy when the latency just holds.
                let connections = (2.0 * rate * self.limit_ms / 1e3).clamp(10.0, 4000.0);
                let load = Load {
                    connections: connections as u32,
                    open_rate: Some(rate),
                    seconds: Some(WINDOW),
                    requests: None,
                    ..table.load.clone()
                };
                let plan = client::Plan {
                    expect: expect.clone(),
                    ..plan(started.address, path.clone(), &load)
                };
                let sample = client::on(&bench.budget.client_cpus, &plan, &mut |_| Ok(()))?;
                Ok(self.step(rate, &sample))
            })?;
            summary.slo = Some(found);
            progress.step();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives() {
        let objective: Objective = "p99=25ms".parse().unwrap();
        assert_eq!((objective.quantile, objective.limit_ms), (0.99, 25.0));
        let objective: Objective = "p99.9=1.5s".parse().unwrap();
        assert_eq!(objective.limit_ms, 1500.0);
        for wrong in [
            "",
            "p99",
            "99=25ms",
            "p99=25",
            "p0=1ms",
            "p101=1ms",
            "p99=-1ms",
            "p99=infms",
        ] {
            assert!(wrong.parse::<Objective>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_search_finds_where_it_breaks() {
        let objective: Objective = "p99=25ms".parse().unwrap();
        let server = |limit: f64| {
            move |rate: f64| {
                Ok(Step {
                    rate,
                    latency_ms: if rate <= limit { 21.0 } else { 900.0 },
                    failures: 0,
                })
            }
        };
        for limit in [50_000.0, 81_000.0, 12_345.0] {
            let found = objective.search(100_000.0, server(limit)).unwrap();
            let rate = found.rate.unwrap();
            assert!(rate <= limit && rate > limit * 0.9, "{rate} of {limit}");
        }
        let found = objective.search(100_000.0, server(0.0)).unwrap();
        assert_eq!((found.rate, found.steps.len()), (None, 2 * TRIES as usize));
    }

    /// A server that holds any rate in two windows of three holds none.
    #[test]
    fn one_good_window_is_not_enough() {
        let objective: Objective = "p99=25ms".parse().unwrap();
        let mut windows = 0;
        let found = objective.search(100_000.0, |rate| {
            windows += 1;
            let latency_ms = if windows % 3 == 0 { 26.0 } else { 21.0 };
            Ok(Step {
                rate,
                latency_ms,
                failures: 0,
            })
        });
        let found = found.unwrap();
        assert_eq!(found.rate, None);
        assert_eq!(found.steps.len(), (2 * TRIES * WINDOWS) as usize);
    }

    #[test]
    fn the_rate_that_is_found_held_in_each_of_its_windows() {
        let objective: Objective = "p99=25ms".parse().unwrap();
        let found = objective.search(100_000.0, |rate| {
            Ok(Step {
                rate,
                latency_ms: if rate <= 50_000.0 { 21.0 } else { 26.0 },
                failures: 0,
            })
        });
        let found = found.unwrap();
        let rate = found.rate.unwrap();
        let of_rate = found.steps.iter().filter(|step| step.0 == rate);
        assert_eq!(of_rate.count(), found.windows as usize);
    }

    /// Other work on the machine spoils every fourth window.
    #[test]
    fn one_bad_window_is_not_enough() {
        let objective: Objective = "p99=25ms".parse().unwrap();
        let mut windows = 0;
        let found = objective.search(100_000.0, |rate| {
            windows += 1;
            let holds = rate <= 81_000.0 && windows % 4 != 0;
            Ok(Step {
                rate,
                latency_ms: if holds { 21.0 } else { 900.0 },
                failures: 0,
            })
        });
        let rate = found.unwrap().rate.unwrap();
        assert!(rate <= 81_000.0 && rate > 81_000.0 * 0.9, "{rate}");
    }
}
