//! The error log, and nginx's levels of it.

use crate::abi;
use crate::one_line::OneLine;
use crate::worker;
use std::fmt;

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
