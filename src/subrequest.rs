//! Asking other locations of the same server.

use crate::abi::{PendingSubrequest, SubrequestError};
use crate::parse;
use crate::request::Request;
use crate::response::{Error, Result, check_value};
use form_urlencoded::byte_serialize;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A subrequest: what [`Request::subrequest`] returns. It starts when it is first polled.
///
/// ```
/// # use content_by_rust::{Request, Response, Result};
/// async fn order(request: &mut Request) -> Result<Response> {
///     let placed = request
///         .subrequest("/orders")
///         .arg("from", request.client_address())
///         .method("POST")
///         .content_type("application/json")
///         .body(r#"{"item":7}"#)
///         .await?;
///     Ok(Response::json(placed.into_body()))
/// }
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct Subrequest<'a> {
    request: &'a Request,
    uri: String,
    method: Cow<'static, str>,
    body: Option<Vec<u8>>,
    content_type: Option<String>,
    without: Vec<String>,
    pending: Option<PendingSubrequest>,
}

/// The answer to a [`Subrequest`].
#[derive(Clone, PartialEq, Eq)]
pub struct SubrequestResponse {
    status: u16,
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
}

impl<'a> Subrequest<'a> {
    pub(crate) fn new(request: &'a Request, uri: String) -> Subrequest<'a> {
        Subrequest {
            request,
            uri,
            method: Cow::Borrowed("GET"),
            body: None,
            content_type: None,
            without: Vec::new(),
            pending: None,
        }
    }

    /// Sets the method, in capital letters. It is `GET` otherwise.
    pub fn method(mut self, method: impl Into<Cow<'static, str>>) -> Self {
        self.method = method.into();
        self
    }

    /// Adds an argument behind those of the URI, and encodes it. For the path there is
    /// [`encode_path`](crate::encode_path).
    pub fn arg(mut self, name: &str, value: &str) -> Self {
        self.uri.push(match self.uri.contains('?') {
            true => '&',
            false => '?',
        });
        self.uri.extend(byte_serialize(name.as_bytes()));
        self.uri.push('=');
        self.uri.extend(byte_serialize(value.as_bytes()));
        self
    }

    /// Sets the body, and with it the subrequest's own `Content-Length`. Without this there is
    /// none: the request's own body is not passed on.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Sets the type of the [body](Subrequest::body), which has the request's own otherwise, as
    /// all header lines.
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.content_type = Some(content_type.into());
        self
    }

    /// Leaves the request's header lines of this name out, in any case; may be repeated.
    ///
    /// A subrequest has the header lines of its client, and a location that passes them on to a
    /// proxied server asks for what the client wants: with `Range` the handler is given a part,
    /// with `Accept-Encoding` gzip, with `If-Modified-Since` and `If-None-Match` a 304.
    ///
    /// ```
    /// # use content_by_rust::{Request, Response, Result};
    /// async fn wrapped(request: &mut Request) -> Result<Response> {
    ///     let answer = request
    ///         .subrequest("/backend")
    ///         .without_header("Range")
    ///         .without_header("Accept-Encoding")
    ///         .await?;
    ///     Ok(Response::body([b"<", answer.body(), b">"].concat()))
    /// }
    /// ```
    pub fn without_header(mut self, name: &str) -> Self {
        self.without.push(name.to_ascii_lowercase());
        self
    }

    fn start(&mut self) -> Result<PendingSubrequest> {
        if !parse::is_token(self.method.as_bytes()) {
            let shown = self.method.escape_debug();
            return Err(Error::new(500).because(format_args!("invalid method \"{shown}\"")));
        }
        if let Some(name) = self.without.iter().find(|n| !parse::is_token(n.as_bytes())) {
            let shown = name.escape_debug();
            return Err(Error::new(500).because(format_args!("invalid header name \"{shown}\"")));
        }
        let content_type = self.content_type.as_deref();
        if let Some(content_type) = content_type {
            check_value("Content-Type", content_type.as_bytes())
                .map_err(|message| Error::new(500).because(message))?;
        }
        PendingSubrequest::start(
            self.request.raw(),
            self.uri.as_bytes(),
            self.method.as_bytes(),
            &self.without,
            self.body.take(),
            content_type,
        )
        .map_err(|error| failed(error, &self.uri))
    }
}

impl Future for Subrequest<'_> {
    type Output = Result<SubrequestResponse>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let pending = match &this.pending {
            Some(pending) => pending,
            None => match this.start() {
                Ok(pending) => this.pending.insert(pending),
                Err(e) => return Poll::Ready(Err(e)),
            },
        };
        match pending.answer(cx.waker()) {
            Some(Ok((status, headers, body))) => Poll::Ready(Ok(SubrequestResponse {
                status,
                headers,
                body,
            })),
            Some(Err(e)) => Poll::Ready(Err(failed(e, &this.uri))),
            None => Poll::Pending,
        }
    }
}

fn failed(error: SubrequestError, uri: &str) -> Error {
    let why = match error {
        SubrequestError::BadUri => "is not a URI of this server",
        SubrequestError::Failed => "failed",
    };
    Error::new(500).because(format_args!("subrequest \"{}\" {why}", uri.escape_debug()))
}

impl SubrequestResponse {
    /// The status; an error's, too, is an answer.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The first header line of this name, in any case. `Content-Type` and `Content-Length` are
    /// not among the lines of a subrequest's answer.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let mut headers = self.headers();
        let (_, value) = headers.find(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes()))?;
        Some(value)
    }

    /// The header lines in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.headers.iter();
        lines.map(|(name, value)| (&name[..], &value[..]))
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body, to keep.
    pub fn into_body(self) -> Vec<u8> {
        self.body
    }
}

impl fmt::Debug for SubrequestResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubrequestResponse")
            .field("status", &self.status)
            .field("body", &self.body.escape_ascii().to_string())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Subrequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subrequest")
            .field("uri", &self.uri)
            .finish_non_exhaustive()
    }
}
