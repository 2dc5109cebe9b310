//! One run, and what is known of it besides what it printed.

use crate::gates::connections;
use crate::tools::Tool;
use crate::tools::hey;
use crate::tools::number::Number;
use crate::tools::printed::Printed;
use crate::tools::read::Run;

/// What was said on the command line of all runs.
#[derive(Clone, Debug, Default)]
pub struct Meant {
    pub delay_ms: Option<f64>,
    pub connections: Option<u32>,
    pub body: Option<Body>,
}

/// The body that was meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    pub bytes: u64,
    /// For a sentence.
    pub shown: String,
}

impl Body {
    /// Digits are a number of bytes, all else is the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        if !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()) {
            let bytes = text.parse().map_err(|_| "too many bytes".to_owned())?;
            return Ok(Self {
                bytes,
                shown: format!("{bytes} bytes"),
            });
        }
        let body = text
            .replace("\\n", "\n")
            .replace("\\r", "\r")
            .replace("\\t", "\t");
        Ok(Self {
            bytes: body.len() as u64,
            shown: format!("{} bytes of {body:?}", body.len()),
        })
    }
}

/// Requests that may be under way at the same time.
#[derive(Clone, Copy, Debug)]
pub struct AtATime {
    pub requests: u32,
    /// How there may be more after all, where the command line does not tell.
    pub unless: Option<&'static str>,
}

pub struct Case<'a> {
    pub run: &'a Run,
    pub meant: &'a Meant,
}

impl Case<'_> {
    pub fn tool(&self) -> Tool {
        self.run.tool
    }

    pub fn printed(&self) -> &Printed {
        &self.run.printed
    }

    /// As many as were asked for.
    pub fn asked(&self) -> Option<u32> {
        let command = self.run.command.as_ref();
        let told = command.and_then(|command| command.connections);
        let all = self
            .printed()
            .connections
            .or(told)
            .or(self.meant.connections);
        all.filter(|connections| *connections > 0)
    }

    /// As many as are opened.
    pub fn connections(&self) -> Option<u32> {
        let threads = self.printed().threads;
        Some(connections::opened(
            self.tool().name(),
            self.asked()?,
            threads,
        ))
    }

    /// `None` where that is not known.
    pub fn at_a_time(&self) -> Option<AtATime> {
        let connections = self.connections()?;
        let command = self.run.command.as_ref();
        let streams = command.and_then(|command| command.streams).unwrap_or(1);
        let unless = match (self.tool(), command) {
            (Tool::Wrk | Tool::Wrk2, Some(command)) if command.script => {
                Some("its script sent several requests at a time")
            }
            (Tool::Wrk | Tool::Wrk2, None) => Some("a script sent several requests at a time"),
            (Tool::H2load, None) if !self.has_plain_heads() => return None,
            (Tool::H2load, None) => Some("-m sent several requests at a time"),
            (Tool::Oha, None) => Some("-p sent several requests at a time"),
            _ => None,
        };
        Some(AtATime {
            requests: connections.checked_mul(streams)?,
            unless,
        })
    }

    /// Requests that were answered, whatever the status; the others have no latency.
    pub fn answers(&self) -> Option<u64> {
        let printed = self.printed();
        match self.tool() {
            Tool::Hey | Tool::Oha => {
                let counts = printed.statuses.iter().map(|(_, count)| count);
                (!printed.statuses.is_empty()).then(|| counts.sum())
            }
            _ => printed.requests,
        }
    }

    /// hey keeps only the first of many answers, and so misprints means.
    pub fn hey_forgot(&self) -> bool {
        let most = match (self.printed().rate, self.printed().seconds) {
            (Some(rate), Some(seconds)) => rate.high() * seconds.high(),
            _ => 0.0,
        };
        self.tool() == Tool::Hey && (most >= hey::KEPT as f64 || self.answers() >= Some(hey::KEPT))
    }

    /// Answers that are neither errors nor of a wrong status, as far as that is counted.
    pub fn right(&self) -> Option<u64> {
        let printed = self.printed();
        let requests = printed.requests?;
        let failed = printed
            .failed
            .unwrap_or(0)
            .saturating_sub(printed.other_length);
        let wrong = match self.tool() {
            // Among the failed.
            Tool::H2load | Tool::Drill => failed.max(printed.not_2xx().unwrap_or(0)),
            Tool::Ab => failed + printed.not_2xx().unwrap_or(0),
            // Socket errors are beside the requests that are counted.
            Tool::Wrk | Tool::Wrk2 => printed.not_2xx().unwrap_or(0),
            Tool::Hey | Tool::Oha => {
                printed.not_2xx().unwrap_or(0) + printed.errors() + printed.cut_off
            }
        };
        Some(requests.saturating_sub(wrong))
    }

    /// Bytes of one body, where bodies are counted apart from heads.
    pub fn body_each(&self) -> Option<Number> {
        let printed = self.printed();
        match self.tool() {
            // All have the length of the first, unless some failed for their length.
            Tool::Ab if printed.other_length == 0 && printed.failed == Some(0) => {
                printed.body_each.or_else(|| self.mean_body())
            }
            Tool::Hey if self.hey_forgot() => None,
            Tool::Hey | Tool::Oha => printed.body_each,
            _ => self.mean_body(),
        }
    }

    fn mean_body(&self) -> Option<Number> {
        let answers = self.answers().filter(|answers| *answers > 0)?;
        Some(self.printed().body_bytes?.times(1.0 / answers as f64))
    }

    /// Bytes of one answer with its head.
    pub fn answer_each(&self) -> Option<Number> {
        let answers = self.answers().filter(|answers| *answers > 0)?;
        Some(self.printed().answer_bytes?.times(1.0 / answers as f64))
    }

    /// The heads of HTTP/2 are compressed.
    pub fn has_plain_heads(&self) -> bool {
        self.tool() != Tool::H2load || self.printed().protocol.as_deref() == Some("http/1.1")
    }
}
