//! Running wrk and reading what it prints.

use anyhow::{Context, Result};

use super::server::Cores;
use crate::shell;

/// What one run of wrk tells.
#[derive(Debug, Default, PartialEq)]
pub struct Wrk {
    pub requests: u64,
    pub seconds: f64,
    pub socket_errors: Option<String>,
    /// wrk counts these in its rate as if they had succeeded.
    pub not_2xx_or_3xx: u64,
}

pub fn run(cores: &Cores, url: &str, connections: u32, seconds: u32) -> Result<Wrk> {
    let mut wrk = shell::command("wrk");
    wrk.args([
        "-t1",
        &format!("-c{connections}"),
        &format!("-d{seconds}s"),
        url,
    ]);
    let mut wrk = cores.generator(wrk);
    let said = shell::quiet(shell::dies_with_us(&mut wrk))?;
    Wrk::parse(&said.stdout)
        .with_context(|| format!("wrk says what is not understood:\n{}", said.stdout))
}

impl Wrk {
    fn parse(text: &str) -> Option<Self> {
        let line = |start: &str| {
            text.lines()
                .find_map(|line| line.trim_start().strip_prefix(start))
        };
        let (requests, rest) = text
            .lines()
            .find_map(|line| line.trim_start().split_once(" requests in "))?;
        Some(Self {
            requests: requests.parse().ok()?,
            seconds: duration(rest.split(',').next()?)?,
            socket_errors: line("Socket errors: ").map(str::to_owned),
            not_2xx_or_3xx: match line("Non-2xx or 3xx responses: ") {
                Some(count) => count.trim().parse().ok()?,
                None => 0,
            },
        })
    }

    /// Why this run measured nothing, if it did not.
    pub fn fault(&self) -> Option<String> {
        if let Some(errors) = &self.socket_errors {
            Some(format!("socket errors: {errors}"))
        } else if self.not_2xx_or_3xx > 0 {
            Some(format!(
                "{} of {} answers were errors",
                self.not_2xx_or_3xx, self.requests
            ))
        } else if self.requests == 0 {
            Some("no answers".into())
        } else {
            None
        }
    }
}

/// wrk's `2.10s`, `1.50m`, `812.00ms`.
fn duration(text: &str) -> Option<f64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "Running 2s test @ http://127.0.0.1:8080/rust/ok
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    20.98ms  456.10us  28.63ms   79.19%
    Req/Sec     4.77k    81.66     4.85k    90.00%
  9500 requests in 2.00s, 1.52MB read
Requests/sec:   4746.10
Transfer/sec:    778.67KB
";

    #[test]
    fn a_run_without_errors() {
        let wrk = Wrk::parse(GOOD).unwrap();
        assert_eq!(
            wrk,
            Wrk {
                requests: 9500,
                seconds: 2.0,
                ..Wrk::default()
            }
        );
        assert_eq!(wrk.fault(), None);
    }

    #[test]
    fn errors_are_no_requests() {
        let with = |line: &str| {
            Wrk::parse(&GOOD.replace("Requests/sec", &format!("{line}\nRequests/sec"))).unwrap()
        };
        assert_eq!(
            with("  Non-2xx or 3xx responses: 9499").fault().unwrap(),
            "9499 of 9500 answers were errors"
        );
        let errors = "connect 0, read 12, write 0, timeout 3";
        assert_eq!(
            with(&format!("  Socket errors: {errors}")).fault().unwrap(),
            format!("socket errors: {errors}")
        );
    }

    #[test]
    fn nothing_is_not_a_measurement() {
        assert!(Wrk::parse("unable to connect to 127.0.0.1:8080 Connection refused\n").is_none());
        let none = Wrk::parse(&GOOD.replace("9500 requests", "0 requests")).unwrap();
        assert_eq!(none.fault().unwrap(), "no answers");
    }

    #[test]
    fn durations() {
        assert_eq!(duration("2.10s"), Some(2.1));
        assert_eq!(duration("1.50m"), Some(90.0));
        assert_eq!(duration("500.00ms"), Some(0.5));
        assert_eq!(duration("soon"), None);
    }
}
