//! nginx's log levels, and what a line may hold.

use crate::abi;
use crate::worker;
use std::fmt::{self, Write};

/// How bad it is, in nginx's own order: the `error_log` directive names the least that is
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The server cannot work.
    Emerg = 1,
    /// Somebody must act now.
    Alert = 2,
    /// Something important does not work.
    Crit = 3,
    /// This request failed.
    Error = 4,
    /// Something to look at.
    Warn = 5,
    /// Something worth knowing.
    Notice = 6,
    /// Business as usual.
    Info = 7,
    /// For whoever looks for a fault; written by an nginx built `--with-debug`.
    Debug = 8,
}

/// Writes a line to the error log: with the request and its connection's number where a handler
/// runs, as [`Request::log`](crate::Request::log) does, and without where a background task does.
///
/// On a thread that is not nginx's event thread the message goes to standard error, whatever its
/// level: that is the error log, too, as nginx has it, but without a time.
pub fn log(level: Level, message: impl fmt::Display) {
    let Some(worker) = worker::here() else {
        return eprintln!("{}", OneLine(message));
    };
    match worker.current() {
        Some(request) => request.log(level as usize, message),
        None => abi::log_cycle(level as usize, message),
    }
}

/// A message whose control characters are written as `\x0A`, as nginx's access log writes them:
/// a text of a client's can neither end a line nor begin one.
pub(crate) struct OneLine<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escape(f), "{}", self.0)
    }
}

struct Escape<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Escape<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(char::is_control) {
            let (plain, tail) = rest.split_at(at);
            self.0.write_str(plain)?;
            let mut chars = tail.chars();
            if let Some(control) = chars.next() {
                write!(self.0, "\\x{:02X}", u32::from(control))?;
            }
            rest = chars.as_str();
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line() {
        let text = "a\nb\r\0\x1b[31m\u{85}größer\t\\n\"";
        let line = OneLine(format_args!("{text}!")).to_string();
        assert_eq!(line, r#"a\x0Ab\x0D\x00\x1B[31m\x85größer\x09\n"!"#);
        assert_eq!(OneLine("").to_string(), "");
    }
}
