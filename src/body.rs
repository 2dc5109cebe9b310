//! Reading the request's body.

use crate::abi::{BodyError, BodyReader, NgxRequest};
use crate::request::Request;
use crate::response::{Error, Result};
use crate::task::TaskRef;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body of a request, on its way in: what [`Request::body`] returns.
pub struct Body<'a> {
    request: &'a mut Request,
    reader: Option<BodyReader>,
}

impl Request {
    /// Gives the request a body in place of the client's, for whoever reads it next: the location
    /// of an [internal redirect](crate::Response::internal_redirect), or
    /// [`body`](Request::body). `Content-Length` fits it; `Content-Type` stays what it is.
    ///
    /// ```
    /// # use content_by_rust::{Request, Response, Result};
    /// async fn inspect(request: &mut Request) -> Result<Response> {
    ///     let body = request.body().await?;
    ///     if body.starts_with(b"{") {
    ///         request.set_body(body)?;
    ///         return Ok(Response::internal_redirect("/upstream"));
    ///     }
    ///     Ok(Response::new(400))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// 500, where the client's body has not been read to its end, or memory is short.
    pub fn set_body(&mut self, body: impl Into<Vec<u8>>) -> Result<()> {
        if self.raw().body_is_unread() {
            return Err(Error::new(500).because("the request's body has not been read"));
        }
        self.raw()
            .set_body(body.into(), None)
            .map_err(|()| Error::new(500).because("no memory for a body"))?;
        self.body_error = None;
        Ok(())
    }
}

impl<'a> Body<'a> {
    pub(crate) fn new(request: &'a mut Request) -> Body<'a> {
        Body {
            request,
            reader: None,
        }
    }

    /// The next part of the body, as large as what has arrived and no larger than
    /// `client_body_buffer_size`; `None` at the end. While nobody asks, nginx reads no further
    /// than that, and the client has to wait.
    ///
    /// ```
    /// # use content_by_rust::{Request, Response, Result};
    /// async fn count(request: &mut Request) -> Result<Response> {
    ///     let mut body = request.body();
    ///     let mut bytes = 0;
    ///     while let Some(chunk) = body.chunk().await? {
    ///         bytes += chunk.len();
    ///     }
    ///     Ok(Response::text(format!("{bytes}\n")))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The status that nginx answers such a body with: 413, 408, 400.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
        let mut chunk = Vec::new();
        let _reading = Reading(self.request.task());
        let more = poll_fn(|cx| self.poll_append(cx, &mut chunk)).await?;
        Ok(more.then_some(chunk))
    }

    /// Appends the next part. False at the end.
    fn poll_append(&mut self, cx: &Context<'_>, to: &mut Vec<u8>) -> Poll<Result<bool>> {
        let (raw, task) = (self.request.raw(), self.request.task());
        let more = match self.request.body_error {
            // What came before it is not the body.
            Some(error) => Poll::Ready(Err(error)),
            None => self.read(raw, to),
        };
        match more.is_pending() {
            true => task.read_body(cx.waker()),
            false => task.end_read_body(),
        }
        more.map_err(|error| {
            self.request.body_error = Some(error);
            Error::new(error.0)
        })
    }

    fn read(&mut self, raw: NgxRequest, to: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            None => self.reader.insert(BodyReader::open(raw)?),
        };
        reader.read(raw, to)
    }
}

/// While this lives, what comes from the client wakes the task.
struct Reading(TaskRef);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.end_read_body();
    }
}

/// The future that reads a [`Body`] whole.
#[must_use = "futures do nothing unless awaited"]
pub struct ReadBody<'a> {
    body: Body<'a>,
    whole: Vec<u8>,
    _reading: Reading,
}

impl<'a> IntoFuture for Body<'a> {
    type Output = Result<Vec<u8>>;
    type IntoFuture = ReadBody<'a>;

    fn into_future(self) -> ReadBody<'a> {
        ReadBody {
            _reading: Reading(self.request.task()),
            body: self,
            whole: Vec::new(),
        }
    }
}

impl Future for ReadBody<'_> {
    type Output = Result<Vec<u8>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Vec<u8>>> {
        let this = self.get_mut();
        while ready!(this.body.poll_append(cx, &mut this.whole))? {}
        Poll::Ready(Ok(mem::take(&mut this.whole)))
    }
}

impl fmt::Debug for ReadBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadBody").finish_non_exhaustive()
    }
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}
