//! Comparing one response with what its block expects.

use crate::block::{Block, indexed};
use crate::expand::{Variables, replace_word};
use crate::perl::Perl;
use crate::report::{difference, indent, shown};
use crate::response::Response;
use crate::value::Value;

/// What the checks of a block need to know.
pub(crate) struct Checks<'a> {
    pub block: &'a Block,
    pub perl: &'a Perl,
    pub vars: &'a Variables,
    pub port: u16,
}

/// Which of the responses of a block this is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nth {
    /// The request, from 0.
    pub request: usize,
    /// The repetition of the block, from 0.
    pub repeat: usize,
    /// Whether the block has several requests, and so arrays of expectations.
    pub several: bool,
}

type Result<T> = std::result::Result<T, String>;

impl Checks<'_> {
    /// All that is wrong with a response. An error is a mistake of the block.
    pub fn response(&self, response: &mut Response, nth: Nth) -> Result<Vec<String>> {
        let mut failures = Vec::new();
        self.status(response, nth, &mut failures)?;
        self.raw_headers(response, nth, &mut failures)?;
        self.headers(response, nth, &mut failures)?;
        if self.block.has("response_body_filters") {
            let arguments = [
                Value::text(nth.request.to_string()),
                Value::text(&response.body),
            ];
            let body = self.perl.ask("transform_body", &arguments)?;
            response.body = body.bytes().unwrap_or_default().to_vec();
        }
        self.body(response, nth, &mut failures)?;
        Ok(failures)
    }

    fn expected(&self, section: &str, nth: Nth) -> Result<Option<&Value>> {
        if !self.block.has(section) {
            return Ok(None);
        }
        indexed(
            section,
            self.block.section(section),
            nth.request,
            nth.several,
        )
        .map(Some)
    }

    fn status(&self, response: &Response, nth: Nth, failures: &mut Vec<String>) -> Result<()> {
        let code = response.code.as_deref().unwrap_or_default();
        if let Some(pattern) = self.expected("error_code_like", nth)? {
            if !self.matches(pattern, "sm", code.as_bytes())? {
                failures.push(mismatch("error_code_like", pattern, code.as_bytes()));
            }
            return Ok(());
        }
        let ok = Value::text("200");
        let expected = self.expected("error_code", nth)?.unwrap_or(&ok);
        if expected.bytes() != Some(code.as_bytes()) {
            let expected = expected.bytes().unwrap_or_default();
            failures.push(format!(
                "error_code:\n{}",
                difference(expected, code.as_bytes())
            ));
        }
        Ok(())
    }

    fn raw_headers(&self, response: &Response, nth: Nth, failures: &mut Vec<String>) -> Result<()> {
        for (section, wanted) in [
            ("raw_response_headers_like", true),
            ("raw_response_headers_unlike", false),
        ] {
            let Some(pattern) = self.expected(section, nth)? else {
                continue;
            };
            if self.matches(pattern, "s", &response.raw_headers)? != wanted {
                failures.push(mismatch(section, pattern, &response.raw_headers));
            }
        }
        Ok(())
    }

    fn headers(&self, response: &Response, nth: Nth, failures: &mut Vec<String>) -> Result<()> {
        if let Some(expected) = self.expected("response_headers", nth)? {
            for (name, value) in header_lines(&expected.str().unwrap_or_default()) {
                let Some(value) = value else {
                    if has_raw_header(&response.raw_headers, &name) {
                        let got = response.header(&name).unwrap_or_default();
                        let got = shown(&got);
                        failures.push(format!("response_headers: {name} is there: {got}"));
                    }
                    continue;
                };
                let value = self.with_ports(value.as_bytes());
                let got = response.header(&name).unwrap_or_default();
                if got != value {
                    let difference = difference(&value, &got);
                    failures.push(format!("response_headers: {name}\n{difference}"));
                }
            }
        } else if let Some(expected) = self.expected("response_headers_like", nth)? {
            for (name, pattern) in header_lines(&expected.str().unwrap_or_default()) {
                let pattern = Value::text(pattern.unwrap_or_default());
                let got = response.header(&name).unwrap_or_default();
                if !self.matches(&pattern, "whole", &got)? {
                    failures.push(mismatch(
                        &format!("response_headers_like: {name}"),
                        &pattern,
                        &got,
                    ));
                }
            }
        }
        Ok(())
    }

    fn body(&self, response: &Response, nth: Nth, failures: &mut Vec<String>) -> Result<()> {
        if let Some(file) = self.block.text("write_resp_body_file") {
            std::fs::write(file.trim(), &response.body)
                .map_err(|e| format!("--- write_resp_body_file: {file}: {e}"))?;
        }
        if let Some(expected) = self.expected("response_body", nth)? {
            let mut body = response.body.clone();
            if self.block.has("response_body_json_sort") {
                let sorted = self.perl.ask("sort_json", &[Value::Bytes(body)])?;
                body = sorted.bytes().unwrap_or_default().to_vec();
            }
            match expected {
                Value::Regex { .. } => {
                    if !self.matches(expected, "", &body)? {
                        failures.push(mismatch("response_body", expected, &body));
                    }
                }
                Value::Bytes(expected) => {
                    let expected = self.vars.expand(&self.with_ports(expected))?;
                    if expected != body {
                        failures.push(format!("response_body:\n{}", difference(&expected, &body)));
                    }
                }
                Value::Undef => failures.push(format!(
                    "response_body: nothing is expected for request {}, got {}",
                    nth.request,
                    shown(&body)
                )),
                other => return Err(format!("--- response_body holds {other:?}")),
            }
        } else {
            for (section, wanted) in [
                ("response_body_like", true),
                ("response_body_unlike", false),
            ] {
                let Some(pattern) = self.expected(section, nth)? else {
                    continue;
                };
                let text = pattern.bytes().unwrap_or_default();
                let replaced = self.with_ports(text);
                let replaced = if replaced == text {
                    pattern
                } else {
                    &Value::Bytes(replaced)
                };
                if self.matches(replaced, "s", &response.body)? != wanted {
                    failures.push(mismatch(section, replaced, &response.body));
                }
                break;
            }
        }
        if self.block.setting("body_checks").is_true() {
            let arguments = [
                Value::text(&response.body),
                Value::text(nth.request.to_string()),
                Value::text(nth.repeat.to_string()),
            ];
            let said = self.perl.ask("check_body", &arguments)?;
            let said = said
                .list()
                .unwrap_or_default()
                .iter()
                .filter_map(Value::str);
            failures.extend(said.map(|failure| failure.into_owned()));
        }
        Ok(())
    }

    fn matches(&self, pattern: &Value, flags: &str, text: &[u8]) -> Result<bool> {
        match pattern {
            Value::Bytes(_) | Value::Regex { .. } => self.perl.matches(pattern, flags, text),
            other => Err(format!("{other:?} is no pattern")),
        }
    }

    fn with_ports(&self, text: &[u8]) -> Vec<u8> {
        let port = self.port.to_string();
        replace_word(
            &replace_word(text, "$ServerPort", &port),
            "$ServerPortForClient",
            &port,
        )
    }
}

fn mismatch(section: &str, pattern: &Value, got: &[u8]) -> String {
    let pattern = indent(&pattern.str().unwrap_or_default());
    let relation = if section.ends_with("_unlike") {
        "matches, but must not"
    } else {
        "does not match"
    };
    format!("{section}: {relation}:\n{pattern}\n    got: {}", shown(got))
}

/// The lines of `--- response_headers`: `Name: value`, or `! Name` for a
/// header that must not be there. Of two lines on one header the last counts.
fn header_lines(text: &str) -> Vec<(String, Option<String>)> {
    let mut all: Vec<(String, Option<String>)> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, value) = match line.strip_prefix('!') {
            Some(name) => (name.trim(), None),
            None => match line.split_once(':') {
                Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
                None => (line, None),
            },
        };
        all.retain(|(other, _)| other != name);
        all.push((name.to_owned(), value));
    }
    all
}

fn has_raw_header(raw: &[u8], name: &str) -> bool {
    crate::log::lines(raw).any(|line| {
        let rest = line.trim_ascii_start().strip_prefix(name.as_bytes());
        rest.is_some_and(|rest| rest.trim_ascii_start().first() == Some(&b':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines_may_forbid() {
        let lines = header_lines("A: b:c\n! X-Y\n!Z\n\nA : d\n");
        assert_eq!(
            lines,
            [
                ("X-Y".to_owned(), None),
                ("Z".to_owned(), None),
                ("A".to_owned(), Some("d".to_owned())),
            ]
        );
    }

    #[test]
    fn a_raw_header_is_found_by_its_name() {
        let raw = b"HTTP/1.1 200 OK\r\nX-Y: z\r\n";
        assert!(has_raw_header(raw, "X-Y"));
        assert!(!has_raw_header(raw, "X"));
        assert!(!has_raw_header(raw, "Y"));
    }
}
