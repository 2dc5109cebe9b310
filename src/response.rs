//! What a handler gives back.

use crate::abi::NgxRequest;
use crate::log::Level;
use crate::memory;
use crate::parse;
use crate::wake::Key;
use std::fmt;
use std::ptr::NonNull;

/// What a handler returns; without a second type, an answer or an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Bytes that live as long as the answer takes: static, owned, or of the request.
///
/// Neither kind is copied on its way to the client.
pub enum Bytes {
    #[doc(hidden)]
    Static(&'static [u8]),
    #[doc(hidden)]
    Owned(Vec<u8>),
    #[doc(hidden)]
    Request(Pinned),
}

/// Bytes in the pool of one request, or in the configuration that outlives it. Made by
/// [`Request::evaluate`](crate::Request::evaluate), and of use to the answer to that request
/// alone, which is told by its key.
pub struct Pinned {
    pub(crate) data: NonNull<u8>,
    pub(crate) len: usize,
    pub(crate) key: Key,
}

impl Bytes {
    /// Bytes of the program itself.
    pub const fn from_static(bytes: &'static [u8]) -> Bytes {
        Bytes::Static(bytes)
    }
}

impl From<&'static str> for Bytes {
    fn from(text: &'static str) -> Bytes {
        Bytes::Static(text.as_bytes())
    }
}

impl From<&'static [u8]> for Bytes {
    fn from(bytes: &'static [u8]) -> Bytes {
        Bytes::Static(bytes)
    }
}

impl<const N: usize> From<&'static [u8; N]> for Bytes {
    fn from(bytes: &'static [u8; N]) -> Bytes {
        Bytes::Static(bytes)
    }
}

impl From<String> for Bytes {
    fn from(text: String) -> Bytes {
        Bytes::Owned(text.into_bytes())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes::Owned(bytes)
    }
}

/// An answer: status, content type, headers and a body that is whole.
///
/// ```
/// # use content_by_rust::Response;
/// let answer = Response::text("busy\n").status(503).header("Retry-After", "3");
/// ```
///
/// nginx does the rest as it does for its own modules: `HEAD`, conditional requests, gzip,
/// `limit_rate`, `add_header`, the filters of other modules.
#[must_use = "a handler returns its answer"]
pub struct Response {
    pub(crate) head: Head,
    pub(crate) body: Option<Bytes>,
    /// What is not sent from here. Boxed, for it is rare.
    pub(crate) instead: Option<Box<[Instead; 1]>>,
}

/// What a handler returns in place of an answer that is whole.
pub(crate) enum Instead {
    /// All but its end has been sent: see [`Stream`](crate::Stream).
    Streamed,
    /// Another location answers: see [`Response::internal_redirect`].
    Uri(Bytes),
    /// As above: see [`Response::named_location`].
    Named(Bytes),
}

/// What comes before the body.
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: Option<Bytes>,
    /// The content type is one of our own, known to have no parameters.
    pub(crate) is_plain_type: bool,
    pub(crate) headers: Vec<(Bytes, Bytes)>,
}

impl Response {
    /// An answer with this status and no body.
    ///
    /// An error (400 and above) or redirect (301, 302, 303, 307, 308) without a body is answered
    /// by nginx as its `return` directive does: by the location's `error_page`, or else with
    /// nginx's own page.
    pub const fn new(status: u16) -> Response {
        Response {
            head: Head {
                status,
                content_type: None,
                is_plain_type: false,
                headers: Vec::new(),
            },
            body: None,
            instead: None,
        }
    }

    pub(crate) fn instead(instead: Instead) -> Response {
        let mut response = Response::new(200);
        response.instead = memory::boxed(instead);
        assert!(response.instead.is_some(), "memory for an answer");
        response
    }

    /// Whether this is the end of an answer that has been sent.
    pub(crate) fn is_streamed(&self) -> bool {
        matches!(self.instead.as_deref(), Some([Instead::Streamed]))
    }

    /// 200 with a body whose type nginx chooses: by the `types` of the location, from the path's
    /// extension, or else its `default_type`.
    pub fn body(body: impl Into<Bytes>) -> Response {
        Response::new(200).with_body(body)
    }

    /// 200 with a body of `text/plain`.
    pub fn text(body: impl Into<Bytes>) -> Response {
        Response::body(body).plain_type("text/plain")
    }

    /// 200 with a body of `text/html`.
    pub fn html(body: impl Into<Bytes>) -> Response {
        Response::body(body).plain_type("text/html")
    }

    /// 200 with a body of `application/json`.
    pub fn json(body: impl Into<Bytes>) -> Response {
        Response::body(body).plain_type("application/json")
    }

    /// Sets the status: 200 to 999. Anything else is logged, and answered with 500.
    pub fn status(mut self, status: u16) -> Response {
        self.head.status = status;
        self
    }

    /// Sets the content type, with its parameters if it has any. A type with a control character
    /// is logged, and answered with 500.
    pub fn content_type(mut self, content_type: impl Into<Bytes>) -> Response {
        self.head.content_type = Some(content_type.into());
        self.head.is_plain_type = false;
        self
    }

    fn plain_type(mut self, content_type: &'static str) -> Response {
        self.head.content_type = Some(content_type.into());
        self.head.is_plain_type = true;
        self
    }

    /// Sets the body.
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Response {
        self.body = Some(body.into());
        self
    }

    /// Adds a header line. One that nginx writes itself, such as `Server` or `Date`, takes that
    /// one's place.
    ///
    /// The body's length and the connection are nginx's business: `Content-Length`,
    /// `Transfer-Encoding`, `Connection` and `Keep-Alive` are logged, and answered with 500. So
    /// is a name that is no token or a value with a control character: neither can split an
    /// answer in two. `Content-Type` has [a method of its own](Response::content_type).
    ///
    /// # Panics
    ///
    /// Where memory is short.
    pub fn header(mut self, name: impl Into<Bytes>, value: impl Into<Bytes>) -> Response {
        let headers = &mut self.head.headers;
        headers.try_reserve(1).expect("memory for a header line");
        headers.push((name.into(), value.into()));
        self
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.head.status)
            .finish_non_exhaustive()
    }
}

/// Why a request gets no answer of its handler: an error status, and a line for the error log.
///
/// The client gets the location's `error_page` for the status, or else nginx's own page; never
/// the message. Any [`std::error::Error`] becomes a 500 by `?`.
///
/// ```
/// # use content_by_rust::{Error, Result};
/// fn port(text: &str) -> Result<u16> {
///     text.parse().map_err(|e| Error::new(400).because(format!("bad port: {e}")))
/// }
/// ```
#[derive(Debug)]
pub struct Error {
    status: u16,
    message: Option<String>,
}

impl Error {
    /// An error with this status, 400 to 599. Any other status is answered with 500.
    pub const fn new(status: u16) -> Error {
        Error {
            status,
            message: None,
        }
    }

    /// Says why, for the error log: at `error` for 500 and above, else at `info`.
    pub fn because(mut self, message: impl fmt::Display) -> Error {
        self.message = memory::text(message);
        self
    }

    /// The status of the answer: 500 for an error that was made with none of an error's.
    pub const fn status(&self) -> u16 {
        match self.status {
            status @ 400..=599 => status,
            _ => 500,
        }
    }

    /// A panic has written its own line.
    pub(crate) const fn panicked() -> Error {
        Error::new(500)
    }

    #[cold]
    pub(crate) fn log_and_status(self, request: NgxRequest) -> i16 {
        let status = self.status();
        if status != self.status {
            let given = self.status;
            request.log(
                Level::Error as usize,
                format_args!("the handler failed with status {given}, which is no error's"),
            );
        }
        if let Some(message) = self.message {
            let level = if status >= 500 {
                Level::Error
            } else {
                Level::Info
            };
            request.log(level as usize, message);
        }
        status as i16
    }
}

/// The message, or the status where there is none.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => f.write_str(message),
            None => write!(f, "status {}", self.status),
        }
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Error {
        Error::new(500).because(error)
    }
}

/// Why header lines cannot be sent, if so.
pub(crate) fn check_header(name: &[u8], value: &[u8]) -> std::result::Result<(), String> {
    const NGINX_OWN: [&str; 5] = [
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Keep-Alive",
        "Content-Type",
    ];
    let shown = name.escape_ascii();
    if !parse::is_token(name) {
        return Err(format!("invalid header name \"{shown}\""));
    }
    if NGINX_OWN
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
    {
        return Err(format!("header \"{shown}\" is not the handler's to set"));
    }
    check_value(shown, value)
}

/// Why a text cannot be the value of a header line, if so.
pub(crate) fn check_value(
    name: impl fmt::Display,
    value: &[u8],
) -> std::result::Result<(), String> {
    if parse::is_header_value(value) {
        return Ok(());
    }
    Err(format!(
        "invalid value \"{}\" of header \"{name}\"",
        value.escape_ascii()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_nginx_writes_or_that_split_the_answer_are_refused() {
        assert_eq!(check_header(b"X-Answer", b"42"), Ok(()));
        for name in [
            "content-length",
            "Transfer-Encoding",
            "CONNECTION",
            "Content-Type",
        ] {
            assert!(check_header(name.as_bytes(), b"1").is_err(), "{name}");
        }
        assert!(check_header(b"X-A\r\nX-B", b"1").is_err());
        let split = check_header(b"X-A", b"1\r\nX-B: 2").unwrap_err();
        assert_eq!(split, r#"invalid value "1\r\nX-B: 2" of header "X-A""#);
    }

    #[test]
    fn an_errors_status_is_an_errors() {
        for (given, status) in [
            (400, 400),
            (404, 404),
            (599, 599),
            (200, 500),
            (399, 500),
            (600, 500),
        ] {
            assert_eq!(Error::new(given).status(), status, "{given}");
        }
        assert_eq!(Error::from(std::fmt::Error).status(), 500);
    }
}
