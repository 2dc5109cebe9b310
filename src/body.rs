//! Reading the request's body.

use crate::abi::{BodyError, BodyReader};
use crate::request::Request;
use crate::response::{Error, Result};
use crate::task::TaskRef;
use std::fmt;
use std::future::{IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::Poll;

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
            .map_err(|()| Error::new(500).because("no memory for a body"))
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
        let more = self.append_to(&mut chunk).await?;
        Ok(more.then_some(chunk))
    }

    /// Appends the next part. False at the end.
    async fn append_to(&mut self, to: &mut Vec<u8>) -> Result<bool> {
        let raw = self.request.raw();
        let reader = match &mut self.reader {
            Some(reader) => reader,
            None => self.reader.insert(BodyReader::open(raw).map_err(refused)?),
        };
        let reading = Reading(self.request.task());
        poll_fn(|cx| match reader.read(raw, to) {
            Poll::Ready(more) => Poll::Ready(more.map_err(refused)),
            Poll::Pending => {
                reading.0.read_body(cx.waker());
                Poll::Pending
            }
        })
        .await
    }
}

/// While this lives, what comes from the client wakes the task.
struct Reading(TaskRef);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.end_read_body();
    }
}

fn refused(error: BodyError) -> Error {
    Error::new(error.0)
}

impl<'a> IntoFuture for Body<'a> {
    type Output = Result<Vec<u8>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Vec<u8>>> + 'a>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut body = Vec::new();
            while self.append_to(&mut body).await? {}
            Ok(body)
        })
    }
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}
