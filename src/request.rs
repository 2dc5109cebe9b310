//! What a handler can see of its request.

use crate::abi::{BodyError, NgxRequest};
use crate::args::Value;
use crate::body::Body;
use crate::limit::Limited;
use crate::log::Level;
use crate::parse;
use crate::response::{Bytes, Error, Pinned, Response, Result};
use crate::stream::Stream;
use crate::subrequest::Subrequest;
use crate::task::TaskRef;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::Duration;

/// The request that a handler answers.
///
/// Texts that clients send need not be UTF-8. The methods that return `&str` replace what is not
/// by U+FFFD; each has one beside it that returns the bytes as they came. All of them borrow from
/// the request and can be kept across an `await`, but not beyond the answer.
///
/// A request belongs to nginx's event thread and cannot be sent to another.
pub struct Request {
    raw: NgxRequest,
    task: TaskRef,
    /// Why the body cannot be read.
    pub(crate) body_error: Option<BodyError>,
    _event_thread: PhantomData<*const ()>,
}

impl Request {
    pub(crate) fn new(raw: NgxRequest, task: TaskRef) -> Request {
        Request {
            raw,
            task,
            body_error: None,
            _event_thread: PhantomData,
        }
    }

    /// The method as the client sent it: `"GET"`.
    pub fn method(&self) -> &str {
        self.text(self.raw.method())
    }

    /// The path, decoded and normalized, without the query: `"/a b"` for `/x/../a%20b?c`.
    pub fn path(&self) -> &str {
        self.text(self.raw.path())
    }

    /// The bytes of [`path`](Request::path).
    pub fn path_bytes(&self) -> &[u8] {
        self.raw.path()
    }

    /// What stands behind the first `?`, as it came; empty where there is none.
    pub fn query(&self) -> &[u8] {
        self.raw.query()
    }

    /// The first argument of this name in the query, with `+` and `%XX` decoded. An argument
    /// without a value is the empty string.
    pub fn arg(&self, name: &str) -> Option<&str> {
        let mut args = form_urlencoded::parse(self.raw.query());
        let (_, value) = args.find(|(key, _)| key == name)?;
        Some(match value {
            Cow::Borrowed(value) => value,
            Cow::Owned(value) => self.keep_text(&value),
        })
    }

    /// The query's arguments in their order, names and values decoded; a name may come again.
    /// The first 100 of them: see [`Limited`].
    pub fn args(&self) -> Limited<'_, impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)>> {
        let all = form_urlencoded::parse(self.raw.query());
        Limited::new(self, "arguments", all)
    }

    /// The first argument of this name in the query, neither of them decoded.
    pub fn raw_arg(&self, name: impl AsRef<[u8]>) -> Option<&[u8]> {
        let mut args = parse::args(self.raw.query());
        let (_, value) = args.find(|(key, _)| *key == name.as_ref())?;
        Some(value)
    }

    /// The query's arguments in their order, as they came. The first 100 of them: see [`Limited`].
    pub fn raw_args(&self) -> Limited<'_, impl Iterator<Item = (&[u8], &[u8])>> {
        Limited::new(self, "arguments", parse::args(self.raw.query()))
    }

    /// The first header line of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.header_bytes(name).map(|value| self.text(value))
    }

    /// The bytes of [`header`](Request::header).
    pub fn header_bytes(&self, name: &str) -> Option<&[u8]> {
        let mut headers = self.raw.headers();
        let (_, value) = headers.find(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes()))?;
        Some(value)
    }

    /// The header lines in their order, names as the client wrote them; a name may come again.
    /// The first 100 of them: see [`Limited`].
    pub fn headers(&self) -> Limited<'_, impl Iterator<Item = (&[u8], &[u8])>> {
        Limited::new(self, "header lines", self.raw.headers())
    }

    /// The client's address as nginx sees it, that is after the realip module: `"127.0.0.1"`, or
    /// `"unix:"`.
    pub fn client_address(&self) -> &str {
        self.text(self.raw.client_address())
    }

    /// The request's body: `.await` gives the whole of it, [`Body::chunk`] what has come so far.
    ///
    /// nginx's limits hold: a body longer than `client_max_body_size` is answered with 413, one
    /// that stops coming for `client_body_timeout` with 408, and `Expect: 100-continue` is heeded
    /// when the reading begins. A body is read once; one that another module has read before, or
    /// that came together with the header, can be read again. A subrequest of SSI's or another
    /// module's has its main request's body if that has been read, and none otherwise; one of
    /// [`subrequest`](Request::subrequest)'s has its own.
    ///
    /// To read it in chunks, keep the [`Body`]: each call of this method may begin anew.
    ///
    /// A handler that does not read the body leaves it to nginx, which discards it.
    ///
    /// ```
    /// # use content_by_rust::{Request, Response, Result};
    /// async fn echo(request: &mut Request) -> Result<Response> {
    ///     Ok(Response::body(request.body().await?))
    /// }
    /// ```
    pub fn body(&mut self) -> Body<'_> {
        Body::new(self)
    }

    /// Sends the head of an answer whose body [the handler writes](Stream) piece by piece. A body
    /// of the head's is not sent.
    ///
    /// # Errors
    ///
    /// The client is gone, or nginx has answered in the handler's place: a conditional request
    /// that was not met, a header that must not be sent.
    pub fn stream(&mut self, head: Response) -> Result<Stream<'_>> {
        Stream::start(self, head)
    }

    /// Asks another location of this server, as SSI's `include` does: a `GET` with this request's
    /// headers and without a body, unless [`Subrequest`]'s methods say otherwise; internal
    /// locations included. Several can be under way at once.
    ///
    /// The URI is read as one, so what is not plain in its path must be percent-encoded:
    /// [`encode_path`](crate::encode_path) does so, and [`Subrequest::arg`] encodes arguments.
    ///
    /// The whole answer is kept in memory. For one that is longer than the
    /// `subrequest_output_buffer_size` of the location that is asked, nginx ends the whole request
    /// without an answer: there is no `Err`. It is a page of memory otherwise, 4k or 8k, so set it
    /// in that location.
    ///
    /// A subrequest that is dropped goes on, and the answer to this request waits for its end:
    /// `select` with a [`sleep`](crate::sleep) goes on with the handler, but brings the client no
    /// answer earlier. What limits it stands in the location that is asked, `proxy_read_timeout`
    /// and `proxy_connect_timeout` for instance. Something slow that the answer must not wait for,
    /// ask with a client of tokio's, as `examples/fan-out` does.
    ///
    /// A subrequest of this kind cannot start another.
    ///
    /// ```
    /// # use content_by_rust::{Request, Response, Result};
    /// async fn both(request: &mut Request) -> Result<Response> {
    ///     let (a, b) = futures::join!(request.subrequest("/a"), request.subrequest("/b?c=d"));
    ///     Ok(Response::body([a?.into_body(), b?.into_body()].concat()))
    /// }
    /// ```
    pub fn subrequest(&self, uri: impl Into<String>) -> Subrequest<'_> {
        Subrequest::new(self, uri.into())
    }

    pub(crate) fn raw(&self) -> NgxRequest {
        self.raw
    }

    pub(crate) fn task(&self) -> TaskRef {
        self.task
    }

    /// An nginx variable, by its name without the `$`; `None` where there is none of this name or
    /// it has no value.
    ///
    /// # Panics
    ///
    /// Where the variable cannot be evaluated: memory is short, mostly.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variable_bytes(name).map(|value| self.text(value))
    }

    /// The bytes of [`variable`](Request::variable).
    ///
    /// # Panics
    ///
    /// As [`variable`](Request::variable).
    pub fn variable_bytes(&self, name: &str) -> Option<&[u8]> {
        let value = self.raw.variable(name.as_bytes());
        value.expect("a variable that can be evaluated")
    }

    /// Sets an nginx variable: one that `set` or `map` or a module defines as changeable.
    ///
    /// # Errors
    ///
    /// 500, where there is no such variable, or it is read-only.
    pub fn set_variable(&mut self, name: &str, value: &str) -> Result<()> {
        self.raw
            .set_variable(name.as_bytes(), value.as_bytes())
            .map_err(|()| {
                let shown = name.escape_debug();
                Error::new(500).because(format_args!("variable \"{shown}\" cannot be set"))
            })
    }

    /// A place for something of this request's, by its type: made with `T::default()` when it is
    /// first asked for. It lives until the request ends, through internal redirects, and is
    /// dropped then. A subrequest has places of its own.
    ///
    /// ```
    /// # use content_by_rust::Request;
    /// # fn count(request: &mut Request) {
    /// #[derive(Default)]
    /// struct Redirects(u32);
    ///
    /// request.data::<Redirects>().0 += 1;
    /// # }
    /// ```
    pub fn data<T: Default + 'static>(&mut self) -> &mut T {
        self.raw.data()
    }

    /// The text of a configured value for this request, for the answer. One without variables is not copied.
    ///
    /// # Errors
    ///
    /// 500, where memory is short, or the value belongs to another location.
    #[inline]
    pub fn evaluate(&self, value: Value) -> Result<Bytes> {
        Ok(self.pinned(self.evaluate_bytes(value)?))
    }

    /// Bytes that are in the request's pool or the configuration.
    fn pinned(&self, bytes: &[u8]) -> Bytes {
        Bytes::Request(Pinned {
            data: NonNull::from(bytes).cast(),
            len: bytes.len(),
            key: self.task.key(),
        })
    }

    /// As [`evaluate`](Request::evaluate), for a header line; `None` where the text is empty.
    ///
    /// # Errors
    ///
    /// 400, where a variable brought a control character, which could end the line.
    pub fn evaluate_header(&self, value: Value) -> Result<Option<Bytes>> {
        let bytes = self.evaluate_bytes(value)?;
        if !parse::is_header_value(bytes) {
            let shown = bytes.escape_ascii();
            return Err(Error::new(400).because(format_args!("invalid header value \"{shown}\"")));
        }
        Ok((!bytes.is_empty()).then(|| self.pinned(bytes)))
    }

    /// As [`evaluate`](Request::evaluate), to look at.
    ///
    /// # Errors
    ///
    /// As [`evaluate`](Request::evaluate).
    pub fn evaluate_str(&self, value: Value) -> Result<&str> {
        Ok(self.text(self.evaluate_bytes(value)?))
    }

    /// The bytes of [`evaluate_str`](Request::evaluate_str).
    ///
    /// # Errors
    ///
    /// As [`evaluate`](Request::evaluate).
    #[inline]
    pub fn evaluate_bytes(&self, value: Value) -> Result<&[u8]> {
        let value = self
            .task
            .conf()
            .value(value.0)
            .ok_or_else(|| Error::new(500).because("a value of another location"))?;
        self.raw
            .evaluate(value)
            .ok_or_else(|| Error::new(500).because("no memory for a value"))
    }

    /// The longest delay that a client may ask for here: `rust_max_delay`.
    pub fn max_delay(&self) -> Duration {
        self.task.conf().max_delay()
    }

    /// Whether the location has an `error_page` for this status.
    pub fn has_error_page(&self, status: u16) -> bool {
        self.raw.has_error_page(status)
    }

    /// Writes a line to the error log, with the request and its connection's number.
    pub fn log(&self, level: Level, message: impl fmt::Display) {
        self.raw.log(level as usize, message);
    }

    fn text<'a>(&'a self, bytes: &'a [u8]) -> &'a str {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.keep_text(&text),
        }
    }

    #[cold]
    fn keep_text(&self, text: &str) -> &str {
        let bytes = self.raw.copy(text.as_bytes());
        // Nothing to go on with; the panic is this request's 500.
        let bytes = bytes.expect("memory for a text of the request");
        std::str::from_utf8(bytes).expect("copied from a str")
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method())
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}
