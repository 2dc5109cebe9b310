//! drill, which is told what to do by a file.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

use super::lines::{Line, Weight, like, skip, strong, weak};
use super::number::{Number, count, plain, time};

/// Its file, gone when this is dropped.
pub struct Plan(PathBuf);

impl Plan {
    /// Of `-c CONCURRENCY -n ITERATIONS`, as other generators have it.
    pub fn write(arguments: &[String], url: &str) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let of = |option: &str| {
            let at = arguments.iter().position(|word| word == option)?;
            arguments.get(at + 1)?.parse::<u64>().ok()
        };
        let text = format!(
            "---\nconcurrency: {}\niterations: {}\nbase: '{url}'\nrampup: 0\nplan:\n  - name: all\n    request:\n      url: ''\n",
            of("-c").context("drill needs -c")?,
            of("-n").context("drill needs -n")?
        );
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rerun-{}-{number}-drill.yml", std::process::id());
        let file = std::env::temp_dir().join(name);
        fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
        Ok(Self(file))
    }

    pub fn arguments(&self) -> Vec<String> {
        let file = self.0.display().to_string();
        ["--benchmark", &file, "--stats", "--quiet"]
            .map(str::to_owned)
            .to_vec()
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Latencies are rounded to milliseconds, and kept with two significant digits.
pub static LINES: &[Line] = &[
    strong("Concurrency ", "Concurrency 2000", |run, rest| {
        run.connections = Some(alone(rest)?.try_into().ok()?);
        Some(())
    }),
    weak("Iterations ", "Iterations 40000", skip),
    weak("Rampup ", "", skip),
    weak(
        "Base URL ",
        "Base URL http://127.0.0.1:8080",
        |run, rest| {
            run.url = Some(rest.trim().to_owned());
            Some(())
        },
    ),
    strong(
        "Time taken for tests ",
        "Time taken for tests      0.8 seconds",
        |run, rest| {
            run.seconds = Some(plain(rest)?.0);
            Some(())
        },
    ),
    weak(
        "Total requests ",
        "Total requests            40000",
        |run, rest| {
            run.requests = Some(alone(rest)?);
            Some(())
        },
    ),
    weak(
        "Successful requests ",
        "Successful requests       12543",
        |run, rest| alone(rest).map(|_| run.whole = true),
    ),
    weak(
        "Failed requests ",
        "Failed requests           27457",
        |run, rest| {
            run.failed = Some(alone(rest)?);
            Some(())
        },
    ),
    strong(
        "Requests per second ",
        "Requests per second       50196.00 [#/sec]",
        |run, rest| {
            run.rate = Some(plain(rest)?.0);
            Some(())
        },
    ),
    strong(
        "Median time per request ",
        "Median time per request   10ms",
        |run, rest| {
            run.percentiles.push((50.0, latency(rest)?));
            Some(())
        },
    ),
    strong(
        "Average time per request ",
        "Average time per request  21ms",
        |run, rest| {
            run.mean = Some(latency(rest)?);
            Some(())
        },
    ),
    strong(
        "Sample standard deviation ",
        "Sample standard deviation 3ms",
        |run, rest| {
            run.deviation = Some(latency(rest)?);
            Some(())
        },
    ),
    like(
        percentile,
        Weight::Strong,
        "99.0'th percentile        95ms",
        |run, text| {
            let (rank, rest) = text.split_once("'th percentile")?;
            run.percentiles.push((rank.parse().ok()?, latency(rest)?));
            Some(())
        },
    )
    .repeated(),
    strong(
        "Max time per request ",
        "Max time per request      1ms",
        |run, rest| {
            run.max = Some(latency(rest)?);
            Some(())
        },
    ),
];

fn latency(text: &str) -> Option<Number> {
    time(text).map(|(ms, _)| ms.within(0.02))
}

/// A count with nothing behind it.
fn alone(text: &str) -> Option<u64> {
    let (count, rest) = count(text)?;
    rest.trim().is_empty().then_some(count)
}

fn percentile(text: &str) -> Option<&str> {
    let (rank, _) = text.split_once("'th percentile")?;
    let is_rank = rank
        .parse()
        .is_ok_and(|rank: f64| (0.0..=100.0).contains(&rank));
    is_rank.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Tool;

    /// At 2000 connections and a limit of 1024 descriptors, from the hazards of measuring.
    #[test]
    fn what_drill_prints() {
        let text = "Concurrency 2000\nIterations 40000\nTime taken for tests      0.8 seconds\n\
            Total requests            40000\nSuccessful requests       12543\nFailed requests           27457\n\
            Requests per second       50196.00 [#/sec]\nMedian time per request   10ms\n\
            Average time per request  21ms\nSample standard deviation 3ms\n99.0'th percentile        95ms\n";
        let figures = Tool::Drill.figures(text);
        assert_eq!(
            (figures.requests, figures.failed),
            (Some(40_000), Some(27_457))
        );
        assert_eq!(
            (figures.rate, figures.mean_ms),
            (Some(50_196.0), Some(21.0))
        );
        assert_eq!(figures.connections, Some(2000));
        assert_eq!(figures.percentiles_ms, [(50.0, 10.0), (99.0, 95.0)]);
    }

    #[test]
    fn its_file_is_removed() {
        let words = ["-c", "10", "-n", "100"].map(str::to_owned);
        let plan = Plan::write(&words, "http://127.0.0.1:1/hello").unwrap();
        let file = plan.0.clone();
        assert!(
            fs::read_to_string(&file)
                .unwrap()
                .contains("concurrency: 10\niterations: 100")
        );
        drop(plan);
        assert!(!file.exists());
    }
}
