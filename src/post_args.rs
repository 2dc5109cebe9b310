//! The arguments in a form that a client has sent.

use crate::limit::{LIMIT, say_left_out};
use crate::parse;
use crate::request::Request;
use crate::response::{Error, Result};
use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;

/// A form on its way in: what [`Request::post_args`] returns.
#[must_use = "futures do nothing unless awaited"]
pub struct ReadPostArgs<'a> {
    request: &'a mut Request,
    limit: usize,
}

/// The arguments of a form.
#[derive(Clone, PartialEq, Eq)]
pub struct PostArgs(Vec<(String, String)>);

impl Request {
    /// Reads the request's [body](Request::body) as a form, of type
    /// `application/x-www-form-urlencoded`. A request without a body has none.
    ///
    /// No more than 100 arguments are kept, unless [`limit`](ReadPostArgs::limit) or
    /// [`unlimited`](ReadPostArgs::unlimited) says otherwise; where there are more, the error log
    /// says at `warn` how many have been left out.
    ///
    /// ```
    /// # use content_by_rust::{Request, Response, Result};
    /// async fn sign_up(request: &mut Request) -> Result<Response> {
    ///     let form = request.post_args().await?;
    ///     let name = form.get("name").unwrap_or("you");
    ///     Ok(Response::text(format!("hi {name}, {} things said\n", form.iter().count())))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`body`](Request::body), and 415 where `Content-Type` names another type.
    pub fn post_args(&mut self) -> ReadPostArgs<'_> {
        ReadPostArgs {
            request: self,
            limit: LIMIT,
        }
    }
}

impl ReadPostArgs<'_> {
    /// Keeps no more than `limit` in place of 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Keeps all of them. nginx's `client_max_body_size` limits what can come.
    pub fn unlimited(self) -> Self {
        self.limit(usize::MAX)
    }
}

impl<'a> IntoFuture for ReadPostArgs<'a> {
    type Output = Result<PostArgs>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<PostArgs>> + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        let ReadPostArgs { request, limit } = self;
        Box::pin(async move {
            if let Some(content_type) = request.header_bytes("Content-Type")
                && !parse::is_form(content_type)
            {
                let shown = content_type.escape_ascii();
                return Err(Error::new(415).because(format_args!("\"{shown}\" is no form's type")));
            }
            let body = request.body().await?;
            let mut all = form_urlencoded::parse(&body);
            let kept = all.by_ref().take(limit);
            let args = kept.map(|(name, value)| (name.into_owned(), value.into_owned()));
            let args = PostArgs(args.collect());
            say_left_out(request, "arguments in a form", limit, all.count());
            Ok(args)
        })
    }
}

impl PostArgs {
    /// The first argument of this name, decoded. An argument without a value is the empty string.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.iter().find(|(key, _)| *key == name)?;
        Some(value)
    }

    /// The arguments in their order, names and values decoded; a name may come again.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

impl IntoIterator for PostArgs {
    type Item = (String, String);
    type IntoIter = std::vec::IntoIter<(String, String)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Debug for PostArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl fmt::Debug for ReadPostArgs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadPostArgs")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
