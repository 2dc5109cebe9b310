//! drill, which is told what to do by a file.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

use super::after;
use crate::result::Figures;

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

pub fn parse(text: &str) -> Figures {
    let count = |start: &str| after(text, start).map(|number| number as u64);
    let percentiles = text.lines().filter_map(|line| {
        let (rank, rest) = line.trim_start().split_once("'th percentile")?;
        let ms = rest.trim().trim_end_matches("ms").parse().ok()?;
        Some((rank.parse().ok()?, ms))
    });
    Figures {
        connections: after(text, "Concurrency").map(|number| number as u32),
        requests: count("Total requests"),
        seconds: after(text, "Time taken for tests"),
        rate: after(text, "Requests per second"),
        failed: count("Failed requests"),
        mean_ms: after(text, "Average time per request"),
        percentiles_ms: percentiles.collect(),
        ..Figures::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 2000 connections and a limit of 1024 descriptors, from the hazards of measuring.
    #[test]
    fn what_drill_prints() {
        let text = "Concurrency 2000\nIterations 40000\nTime taken for tests      0.8 seconds\n\
            Total requests            40000\nSuccessful requests       12543\nFailed requests           27457\n\
            Requests per second       50196.00 [#/sec]\nMedian time per request   10ms\n\
            Average time per request  21ms\nSample standard deviation 3ms\n99.0'th percentile        95ms\n";
        let figures = parse(text);
        assert_eq!(
            (figures.requests, figures.failed),
            (Some(40_000), Some(27_457))
        );
        assert_eq!(
            (figures.rate, figures.mean_ms),
            (Some(50_196.0), Some(21.0))
        );
        assert_eq!(figures.connections, Some(2000));
        assert_eq!(figures.percentiles_ms, [(99.0, 95.0)]);
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
