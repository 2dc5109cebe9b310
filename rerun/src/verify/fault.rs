//! What can be wrong with a server, one kind each, in words that say what was seen.

use std::fmt;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nobody answers the connection.
    Connect(String),
    /// No whole answer in time.
    NoAnswer { waited: Duration, got: usize },
    /// The connection ended inside an answer, or before it.
    EarlyClose { got: usize },
    /// Not HTTP, or HTTP whose framing is broken.
    Garbage(String),
    /// Another status than 200.
    Status(u16),
    /// Another body.
    Body { got: Vec<u8>, expected: Vec<u8> },
    /// No, several, or another Content-Type.
    Type { got: String, expected: String },
    /// Bytes after the end of the answer.
    ExtraBytes(Vec<u8>),
    /// It closes connections that it was to keep.
    NotKept,
    /// A request that comes in two packets is not answered.
    Split(Box<Fault>),
    /// An answer to half a request.
    Impatient(Vec<u8>),
    /// An answer before the delay was over.
    TooEarly { after: Duration, wait: Duration },
    /// The head came before the delay was over, and only the rest after it.
    BeganEarly { after: Duration, wait: Duration },
    /// Far slower than the delay alone.
    Slow { median: Duration, wait: Duration },
    /// Fewer requests wait at the same time than should.
    NotAtOnce { found: u32, expected: Option<u32> },
    /// One of many requests at once failed.
    UnderLoad { of: usize, fault: Box<Fault> },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let ms = |time: &Duration| time.as_secs_f64() * 1e3;
        match self {
            Self::Connect(error) => write!(f, "cannot be connected to: {error}"),
            Self::NoAnswer { waited, got: 0 } => {
                write!(f, "does not answer within {:.0} ms", ms(waited))
            }
            Self::NoAnswer { waited, got } => write!(
                f,
                "stops after {got} bytes of its answer: the rest has not come within {:.0} ms",
                ms(waited)
            ),
            Self::EarlyClose { got: 0 } => write!(f, "closes the connection without an answer"),
            Self::EarlyClose { got } => {
                write!(f, "closes the connection in its answer, after {got} bytes")
            }
            Self::Garbage(what) => write!(f, "does not answer with HTTP: {what}"),
            Self::Status(status) => write!(f, "answers with status {status}, not 200"),
            Self::Body { got, expected } => {
                write!(f, "answers {}, not {}", quoted(got), quoted(expected))
            }
            Self::Type { got, expected } => {
                write!(f, "its Content-Type is {got:?}, not {expected:?}")
            }
            Self::ExtraBytes(bytes) => {
                write!(f, "writes {} after the end of its answer", quoted(bytes))
            }
            Self::NotKept => write!(f, "does not keep the connection for a second request"),
            Self::Split(fault) => write!(f, "a request in two packets: {fault}"),
            Self::Impatient(bytes) => {
                write!(f, "answers {} before the request is whole", quoted(bytes))
            }
            Self::TooEarly { after, wait } => write!(
                f,
                "answers after {:.1} ms: it has not waited {:.0} ms",
                ms(after),
                ms(wait)
            ),
            Self::BeganEarly { after, wait } => write!(
                f,
                "its answer begins after {:.1} ms: it sends first and waits its {:.0} ms then",
                ms(after),
                ms(wait)
            ),
            Self::Slow { median, wait } if wait.is_zero() => {
                write!(f, "takes {:.1} ms (median) for an answer", ms(median))
            }
            Self::Slow { median, wait } => write!(
                f,
                "takes {:.1} ms (median) for a wait of {:.0} ms",
                ms(median),
                ms(wait)
            ),
            Self::NotAtOnce {
                found,
                expected: None,
            } => write!(
                f,
                "waits with {found} at a time, and its manifest knows of no such limit: does the wait block?"
            ),
            Self::NotAtOnce {
                found,
                expected: Some(expected),
            } => write!(
                f,
                "waits with {found} at a time; its manifest says {expected}"
            ),
            Self::UnderLoad { of, fault } => write!(f, "of {of} requests at once, one: {fault}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Bytes as text, the first of them.
fn quoted(bytes: &[u8]) -> String {
    let most = 60;
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned();
    if bytes.len() > most {
        format!("{start:?}… ({} bytes)", bytes.len())
    } else {
        format!("{start:?}")
    }
}
