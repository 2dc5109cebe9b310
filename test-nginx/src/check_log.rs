//! Comparing what nginx logged with what its block expects.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::block::Block;
use crate::check::{Checks, Nth};
use crate::expand::find;
use crate::log::{Log, lines};
use crate::report::{difference, shown};
use crate::value::Value;

/// How long an expected line may take to appear.
const PATIENCE: Duration = Duration::from_secs(1);

type Result<T> = std::result::Result<T, String>;

/// Which sections speak of a log.
struct Names {
    log: &'static str,
    wanted: &'static str,
    forbidden: &'static str,
}

const ERROR: Names = Names {
    log: "error.log",
    wanted: "error_log",
    forbidden: "no_error_log",
};
const ACCESS: Names = Names {
    log: "access.log",
    wanted: "access_log",
    forbidden: "no_access_log",
};
const SHUTDOWN: Names = Names {
    log: "error.log, from nginx's exit on,",
    wanted: "shutdown_error_log",
    forbidden: "no_shutdown_error_log",
};

impl Checks<'_> {
    /// Checks what has been logged since the last check. `died` is what nginx
    /// said when it was expected to die, and did.
    pub fn error_log(&self, log: &mut Log, nth: Nth, died: Option<&[u8]>) -> Result<Vec<String>> {
        let grep = self.grep_section(nth)?;
        let wanted = self.patterns(ERROR.wanted)?;
        let forbidden = self.patterns(ERROR.forbidden)?;
        let mut failures = Vec::new();
        let text = self.settled(
            || [&log.rest(), died.unwrap_or_default()].concat(),
            |text| {
                failures = self.missing(&ERROR, &wanted, text)?;
                if let Some((pattern, expected)) = &grep {
                    failures.extend(self.grep(pattern, expected, &log.rest())?);
                }
                Ok(failures.is_empty())
            },
        )?;
        failures.extend(self.present(&ERROR, &forbidden, &text)?);
        if died.is_none() {
            failures.extend(grave(self.block, &text));
        }
        if !self.block.setting("accumulate_log").is_true() {
            log.skip(text.len() - died.unwrap_or_default().len());
        }
        Ok(failures)
    }

    pub fn access_log(&self, log: &Log) -> Result<Vec<String>> {
        self.wanted_and_forbidden(&ACCESS, log)
    }

    pub fn shutdown_log(&self, log: &Log) -> Result<Vec<String>> {
        self.wanted_and_forbidden(&SHUTDOWN, log)
    }

    fn wanted_and_forbidden(&self, names: &Names, log: &Log) -> Result<Vec<String>> {
        if !self.block.has(names.wanted) && !self.block.has(names.forbidden) {
            return Ok(Vec::new());
        }
        let wanted = self.patterns(names.wanted)?;
        let forbidden = self.patterns(names.forbidden)?;
        let mut failures = Vec::new();
        let text = self.settled(
            || log.rest(),
            |text| {
                failures = self.missing(names, &wanted, text)?;
                Ok(failures.is_empty())
            },
        )?;
        failures.extend(self.present(names, &forbidden, &text)?);
        Ok(failures)
    }

    /// Reads a log, after the pause that lets nginx finish what it logs, until
    /// it is `complete` or patience ends.
    fn settled(
        &self,
        read: impl Fn() -> Vec<u8>,
        mut complete: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<Vec<u8>> {
        sleep(self.block.setting_time("sleep") * 3);
        let deadline = Instant::now() + PATIENCE;
        let mut text = read();
        loop {
            if complete(&text)? {
                return Ok(text);
            }
            let len = text.len();
            while text.len() == len {
                if Instant::now() > deadline {
                    return Ok(text);
                }
                sleep(Duration::from_millis(10));
                text = read();
            }
        }
    }

    /// The patterns of a section: a line each, or the elements of an array.
    fn patterns(&self, section: &str) -> Result<Vec<Value>> {
        match self.block.section(section) {
            Value::Undef => Ok(Vec::new()),
            Value::Bytes(text) => Ok(lines(text)
                .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
                .filter(|line| !line.is_empty())
                .map(Value::text)
                .collect()),
            Value::List(list) => Ok(list
                .iter()
                .filter(|pattern| **pattern != Value::Undef)
                .cloned()
                .collect()),
            pattern @ Value::Regex { .. } => Ok(vec![pattern.clone()]),
            other => Err(format!("--- {section} holds {other:?}")),
        }
    }

    fn missing(&self, names: &Names, wanted: &[Value], text: &[u8]) -> Result<Vec<String>> {
        let mut failures = Vec::new();
        for pattern in wanted {
            if self.matched(pattern, text)?.is_empty() {
                let pattern = shown(pattern.bytes().unwrap_or_default());
                failures.push(format!(
                    "{}: no line of {} has {pattern}",
                    names.wanted, names.log
                ));
            }
        }
        Ok(failures)
    }

    fn present(&self, names: &Names, forbidden: &[Value], text: &[u8]) -> Result<Vec<String>> {
        let mut failures = Vec::new();
        for pattern in forbidden {
            if let Some((line, _)) = self.matched(pattern, text)?.first() {
                failures.push(format!(
                    "{}: {} has {} in this line:\n    {}",
                    names.forbidden,
                    names.log,
                    shown(pattern.bytes().unwrap_or_default()),
                    String::from_utf8_lossy(line).trim_end()
                ));
            }
        }
        Ok(failures)
    }

    fn grep_section(&self, nth: Nth) -> Result<Option<(Value, Value)>> {
        let (pattern, expected) = (
            self.block.section("grep_error_log"),
            self.block.section("grep_error_log_out"),
        );
        match (pattern, expected) {
            (Value::Undef, Value::Undef) => return Ok(None),
            (Value::Undef, _) => {
                return Err("--- grep_error_log_out needs --- grep_error_log".into());
            }
            (_, Value::Undef) => {
                return Err("--- grep_error_log needs --- grep_error_log_out".into());
            }
            _ => {}
        }
        let of_repeat = |value: &Value| match value {
            Value::List(list) => list.get(nth.repeat).cloned().unwrap_or(Value::Undef),
            value => value.clone(),
        };
        let pattern = of_repeat(pattern);
        let expected = match of_repeat(expected) {
            Value::Bytes(text) if expected.list().is_none() => {
                Value::Bytes(self.vars.expand(&text)?)
            }
            expected => expected,
        };
        Ok((pattern != Value::Undef).then_some((pattern, expected)))
    }

    /// All that the pattern matches, a line each, against what is expected.
    fn grep(&self, pattern: &Value, expected: &Value, text: &[u8]) -> Result<Option<String>> {
        let mut got = Vec::new();
        for (_, matched) in self.matched(pattern, text)? {
            if !matched.contains(&b'\n') {
                got.extend_from_slice(&matched);
                got.push(b'\n');
            }
        }
        let same = match expected {
            Value::Regex { .. } => self.perl.matches(expected, "", &got)?,
            expected => expected.bytes() == Some(&got),
        };
        Ok((!same).then(|| {
            let expected = expected.bytes().unwrap_or_default();
            format!("grep_error_log_out:\n{}", difference(expected, &got))
        }))
    }

    /// The lines that have the pattern, and what of them it matches.
    fn matched(&self, pattern: &Value, text: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        match pattern {
            Value::Bytes(part) => Ok(lines(text)
                .filter(|line| find(line, part).is_some())
                .map(|line| (line.to_vec(), part.clone()))
                .collect()),
            Value::Regex { .. } => {
                let found = self
                    .perl
                    .ask("grep_lines", &[pattern.clone(), Value::text(text)])?;
                let all: Vec<&[u8]> = lines(text).collect();
                let pair = |found: &Value| {
                    let [number, matched] = found.list()? else {
                        return None;
                    };
                    let line = all.get(number.str()?.parse::<usize>().ok()?)?;
                    Some((line.to_vec(), matched.bytes()?.to_vec()))
                };
                Ok(found
                    .list()
                    .unwrap_or_default()
                    .iter()
                    .filter_map(pair)
                    .collect())
            }
            other => Err(format!("{other:?} is no pattern for a line of a log")),
        }
    }
}

/// Whether a pattern, or one of several, has this text.
fn contains(value: &Value, text: &str) -> bool {
    match value {
        Value::List(list) => list.iter().any(|value| contains(value, text)),
        value => value
            .bytes()
            .is_some_and(|bytes| find(bytes, text.as_bytes()).is_some()),
    }
}

/// Lines that should worry everyone, unless the block speaks of them.
fn grave(block: &Block, text: &[u8]) -> Vec<String> {
    let mut failures = Vec::new();
    for level in ["alert", "crit", "emerg"] {
        let spoken_of = [ERROR.wanted, ERROR.forbidden]
            .iter()
            .any(|section| contains(block.section(section), &format!("[{level}")));
        let tag = format!("[{level}]");
        let mut found = lines(text).filter(|line| find(line, tag.as_bytes()).is_some());
        if let (false, Some(line)) = (spoken_of, found.next()) {
            let line = String::from_utf8_lossy(line);
            failures.push(format!(
                "error.log has an {tag} line:\n    {}",
                line.trim_end()
            ));
        }
    }
    for line in lines(text) {
        let line = String::from_utf8_lossy(line);
        if line
            .split_once("Assertion ")
            .is_some_and(|(_, rest)| rest.contains("failed"))
        {
            failures.push(format!("an assertion failed:\n    {}", line.trim_end()));
        }
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(section: &str, pattern: Value) -> Block {
        let sections = Value::Map([(section.to_owned(), pattern)].into());
        Block::new(&Value::Map([("sections".to_owned(), sections)].into()))
    }

    #[test]
    fn grave_lines_are_found_by_their_level() {
        let quiet = block("config", Value::text(""));
        for level in ["alert", "crit", "emerg"] {
            let log = format!("1 [error] a\n2 [{level}] b\n");
            assert_eq!(grave(&quiet, log.as_bytes()).len(), 1, "{level}");

            for section in ["error_log", "no_error_log"] {
                let pattern = Value::List(vec![Value::text(format!("[{level}]"))]);
                assert_eq!(grave(&block(section, pattern), log.as_bytes()), [""; 0]);
            }
        }
        assert_eq!(grave(&quiet, b"1 [error] a [info]\n"), [""; 0]);
    }

    #[test]
    fn a_failed_assertion_is_grave() {
        let quiet = block("config", Value::text(""));
        assert_eq!(
            grave(&quiet, b"nginx: a.c:1: f: Assertion `x' failed.\n").len(),
            1
        );
    }
}
