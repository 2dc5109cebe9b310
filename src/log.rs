//! nginx's log levels.

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
