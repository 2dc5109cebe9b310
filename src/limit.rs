//! How much of what a client sends a handler is given.

use crate::log::Level;
use crate::request::Request;
use std::fmt;

/// As many as Lua's `get_uri_args` and its like give.
pub(crate) const LIMIT: usize = 100;

/// The first of a client's arguments or header lines: no more than 100, unless
/// [`limit`](Limited::limit) or [`unlimited`](Limited::unlimited) says otherwise. A client that
/// sends thousands of them could keep the worker busy with one request.
///
/// Where there are more, the iterator ends, and the error log says at `warn` how many it has left
/// out.
///
/// ```
/// # use content_by_rust::Request;
/// # fn count(request: &Request) -> usize {
/// request.args().limit(500).count()
/// # }
/// ```
pub struct Limited<'a, I> {
    request: &'a Request,
    /// What they are called in the log: "header lines".
    what: &'static str,
    all: I,
    limit: usize,
    given: usize,
}

impl<'a, I: Iterator> Limited<'a, I> {
    pub(crate) fn new(request: &'a Request, what: &'static str, all: I) -> Limited<'a, I> {
        Limited {
            request,
            what,
            all,
            limit: LIMIT,
            given: 0,
        }
    }

    /// Gives no more than `limit` in place of 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Gives all of them. nginx's `large_client_header_buffers` limits what can come.
    pub fn unlimited(self) -> Self {
        self.limit(usize::MAX)
    }
}

/// Says how many are left out, if any are.
pub(crate) fn say_left_out(request: &Request, what: &str, limit: usize, left_out: usize) {
    if left_out > 0 {
        request.log(
            Level::Warn,
            format_args!("client sent more than {limit} {what}, {left_out} are left out"),
        );
    }
}

impl<I: Iterator> Iterator for Limited<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        if self.given < self.limit {
            self.given += 1;
            return self.all.next();
        }
        let left_out = self.all.by_ref().count();
        say_left_out(self.request, self.what, self.limit, left_out);
        None
    }
}

impl<I> fmt::Debug for Limited<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
