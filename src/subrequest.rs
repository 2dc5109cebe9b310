//! Asking other locations of the same server.

use crate::abi::{PendingSubrequest, SubrequestError};
use crate::request::Request;
use crate::response::{Error, Result};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A subrequest: what [`Request::subrequest`] returns. It starts when it is first polled.
#[must_use = "futures do nothing unless awaited"]
pub struct Subrequest<'a> {
    request: &'a Request,
    uri: String,
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
            pending: None,
        }
    }
}

impl Future for Subrequest<'_> {
    type Output = Result<SubrequestResponse>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let pending = match &this.pending {
            Some(pending) => pending,
            None => match PendingSubrequest::start(this.request.raw(), this.uri.as_bytes()) {
                Ok(pending) => this.pending.insert(pending),
                Err(e) => return Poll::Ready(Err(failed(e, &this.uri))),
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
