//! `rerun audit`: what the figures of pasted benchmarks prove, what they cannot, and which are impossible.
//!
//! A figure is called impossible only where no rounding of the generator's printing, and no habit of it that is known,
//! can explain it.

mod case;
mod checks;
mod finding;
#[cfg(test)]
mod fuzz;
mod side;
mod text;

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::tools::{number, read};
use case::Case;
pub use case::{Body, Meant};
use finding::Kind;

const EXIT_CODES: &str = "Reads ab, wrk, wrk2, hey, oha, h2load and drill: several runs, with prose around them.\n\n\
    Exit code:\n  \
    0  nothing is impossible and nothing failed\n  \
    1  a figure is impossible, requests failed, or the answers are not those that were meant\n  \
    2  no output was found, or a line that looks like a generator's could not be read";

#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Options {
    /// Pasted output; standard input where it is left out, or `-`
    file: Option<PathBuf>,
    /// How long each answer was meant to wait: 20ms, 1s
    #[arg(long, value_name = "TIME", value_parser = delay)]
    delay: Option<f64>,
    /// Connections of the runs that do not print them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    connections: Option<u32>,
    /// The body that was meant: its number of bytes, or its text, in which \n is a line break
    #[arg(long, value_name = "TEXT/BYTES", value_parser = Body::parse)]
    body: Option<Body>,
}

/// What is found is printed, and told by the exit code.
pub fn run(options: &Options) -> ExitCode {
    let pasted = match pasted(options) {
        Ok(pasted) => pasted,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::from(2);
        }
    };
    let meant = Meant {
        delay_ms: options.delay,
        connections: options.connections,
        body: options.body.clone(),
    };
    let (text, code) = judge(&pasted, &meant);
    print!("{text}");
    ExitCode::from(code)
}

fn pasted(options: &Options) -> Result<String> {
    let mut bytes = Vec::new();
    match &options.file {
        Some(file) if file.as_os_str() != "-" => {
            bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        }
        _ => {
            let read = std::io::stdin().read_to_end(&mut bytes);
            read.context("reading standard input")?;
        }
    }
    Ok(decoded(&bytes))
}

/// UTF-8, or UTF-16 as PowerShell redirects it; what is neither is replaced.
pub fn decoded(bytes: &[u8]) -> String {
    let units = |from: fn([u8; 2]) -> u16| {
        let pairs = bytes[2..].chunks_exact(2);
        let units: Vec<u16> = pairs.map(|pair| from([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The report, and the exit code.
pub fn judge(pasted: &str, meant: &Meant) -> (String, u8) {
    let paste = read::all(pasted);
    let cases: Vec<Case> = paste.runs.iter().map(|run| Case { run, meant }).collect();
    let found: Vec<_> = cases.iter().map(checks::all).collect();
    let side = side::by_side(&cases, &found);
    let text = text::render(&paste, &cases, &found, &side);
    let wrong = |kind: &Kind| matches!(kind, Kind::Impossible | Kind::Failed);
    let unread = !paste.unread.is_empty()
        || paste
            .runs
            .iter()
            .flat_map(|run| &run.unread)
            .any(|line| !line.is_negative());
    let code = if found.iter().flatten().any(|finding| wrong(&finding.kind)) {
        1
    } else if paste.runs.is_empty() || unread {
        2
    } else {
        0
    };
    (text, code)
}

/// `20ms`, `1s`, in milliseconds.
fn delay(text: &str) -> Result<f64, String> {
    match number::time(text) {
        Some((ms, "")) => Ok(ms.value),
        _ => Err("it must be a time with its unit, such as 20ms or 1s".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays() {
        assert_eq!(delay("20ms"), Ok(20.0));
        assert_eq!(delay("1.5s"), Ok(1500.0));
        for text in ["20", "ms", "-1ms", "20ms x", "nan"] {
            assert!(delay(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_powershell_writes() {
        let mut bytes = vec![0xff, 0xfe];
        bytes.extend("Requests/sec: 5".encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(decoded(&bytes), "Requests/sec: 5");
        assert_eq!(decoded(b"a\xffb"), "a\u{fffd}b");
    }
}
