//! Running h2load and reading what it prints.

use anyhow::{Context, Result, bail};

use crate::shell;

/// What one run of h2load tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct H2load {
    pub requests: u64,
    pub succeeded: u64,
    pub with_2xx: u64,
    /// Bytes of all answers' header lines, and of their bodies.
    pub header_bytes: u64,
    pub body_bytes: u64,
}

/// Asks for `requests` answers over so many connections, each kept alive. Fails unless all of them succeeded.
pub fn run(url: &str, connections: u64, requests: u64) -> Result<H2load> {
    let mut h2load = shell::command("h2load");
    h2load.args([
        "--h1",
        "-t1",
        &format!("-c{connections}"),
        &format!("-n{requests}"),
        url,
    ]);
    let said = shell::quiet(shell::dies_with_us(&mut h2load))?;
    let run = H2load::parse(&said.stdout)
        .with_context(|| format!("h2load says what is not understood:\n{}", said.stdout))?;
    if let Some(fault) = run.fault(requests) {
        bail!("{url}: {fault}");
    }
    Ok(run)
}

impl H2load {
    fn parse(text: &str) -> Option<Self> {
        let line = |start: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(start))
        };
        // `3500 total, 3500 started, …`
        let count = |line: &str, what: &str| -> Option<u64> {
            let mut parts = line.split(',').map(str::trim);
            parts
                .find_map(|part| part.strip_suffix(what)?.strip_suffix(' '))?
                .parse()
                .ok()
        };
        // `563.96KB (577500) total, 447.75KB (458500) headers (space savings 0.00%), 10.25KB (10500) data`
        let bytes = |line: &str, what: &str| -> Option<u64> {
            let before = line.split(&format!(") {what}")).next()?;
            before.rsplit_once('(')?.1.parse().ok()
        };
        let requests = line("requests: ")?;
        let codes = line("status codes: ")?;
        let traffic = line("traffic: ")?;
        Some(Self {
            requests: count(requests, "total")?,
            succeeded: count(requests, "succeeded")?,
            with_2xx: count(codes, "2xx")?,
            header_bytes: bytes(traffic, "headers")?,
            body_bytes: bytes(traffic, "data")?,
        })
    }

    /// Why this run counts for nothing, if so.
    fn fault(&self, wanted: u64) -> Option<String> {
        if (self.requests, self.succeeded, self.with_2xx) == (wanted, wanted, wanted) {
            return None;
        }
        Some(format!(
            "of {wanted} requests {} succeeded, {} with a status of 2xx",
            self.succeeded, self.with_2xx
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "starting benchmark...
spawning thread #0: 100 total client(s). 3500 total requests
progress: 100% done

finished in 1.05s, 3333.33 req/s, 549.20KB/s
requests: 3500 total, 3500 started, 3500 done, 3500 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 3500 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 563.96KB (577500) total, 447.75KB (458500) headers (space savings 0.00%), 10.25KB (10500) data
                     min         max         mean         sd        +/- sd
time for request:    20.09ms     22.51ms     20.61ms       443us    87.14%
";

    #[test]
    fn a_run_without_errors() {
        let run = H2load::parse(GOOD).unwrap();
        assert_eq!(
            run,
            H2load {
                requests: 3500,
                succeeded: 3500,
                with_2xx: 3500,
                header_bytes: 458_500,
                body_bytes: 10_500,
            }
        );
        assert_eq!(run.fault(3500), None);
        assert!(run.fault(3501).is_some());
    }

    #[test]
    fn other_answers_are_faults() {
        let errors = GOOD.replace("3500 2xx, 0 3xx, 0 4xx", "0 2xx, 0 3xx, 3500 4xx");
        let run = H2load::parse(&errors).unwrap();
        assert_eq!(
            run.fault(3500).unwrap(),
            "of 3500 requests 3500 succeeded, 0 with a status of 2xx"
        );
        let failed = GOOD.replace("3500 succeeded, 0 failed", "3499 succeeded, 1 failed");
        assert!(H2load::parse(&failed).unwrap().fault(3500).is_some());
    }

    #[test]
    fn what_is_not_h2load() {
        assert!(H2load::parse("").is_none());
        assert!(H2load::parse("requests: 1 total\n").is_none());
    }
}
