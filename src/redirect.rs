//! Answers that come from elsewhere: another location, or another URL.

use crate::response::{Bytes, Instead, Response};

impl Response {
    /// Has another location of this server answer, as `ngx.exec` and `try_files` do: internal
    /// locations included, with the request's method.
    ///
    /// The URI may have arguments behind a `?`, and nginx decodes each `%XX` of its path: what is
    /// not plain must be percent-encoded. [`Request::path`](crate::Request::path) and `arg` are
    /// decoded: put into a URI as they are, they let the client say where it ends and what the
    /// arguments are. [`encode_path`](crate::encode_path) encodes them.
    ///
    /// The handler is done with that: its future has been dropped when the other location begins.
    /// Header lines that are [added](Response::header) to this go to whatever the other location
    /// answers, and what else it says is left out. [Data of the request's](crate::Request::data)
    /// goes along. So does its body, where the handler has not begun to read it; a body that has
    /// been read is gone, unless [`set_body`](crate::Request::set_body) puts one in its place.
    ///
    /// A URI that is malformed or leads out of the root is logged, and answered with 500. So is
    /// the eleventh change of URI for one request, which nginx takes for a cycle.
    ///
    /// ```
    /// # use content_by_rust::{Request, Response, Result, encode_path};
    /// async fn front(request: &mut Request) -> Result<Response> {
    ///     let path = encode_path(request.path_bytes());
    ///     Ok(match request.header("Cookie") {
    ///         Some(_) => Response::internal_redirect(format!("/members{path}?from=front")),
    ///         None => Response::internal_redirect(format!("/public{path}")),
    ///     })
    /// }
    /// ```
    pub fn internal_redirect(uri: impl Into<Bytes>) -> Response {
        Response::instead(Instead::Uri(uri.into()))
    }

    /// As [`internal_redirect`](Response::internal_redirect), but to a named location, which sees
    /// the path and the arguments that the request has. The name begins with `@`; one that there
    /// is not is logged, and answered with 500.
    ///
    /// ```
    /// # use content_by_rust::Response;
    /// let answer = Response::named_location("@fallback");
    /// ```
    pub fn named_location(name: impl Into<Bytes>) -> Response {
        Response::instead(Instead::Named(name.into()))
    }

    /// Sends the client elsewhere. nginx writes the page that goes with it, and makes a location
    /// that begins with `/` absolute, unless `absolute_redirect` is off. The location is sent as
    /// it is: [`encode_path`](crate::encode_path) encodes a path.
    ///
    /// ```
    /// # use content_by_rust::Response;
    /// let answer = Response::redirect(303, "/done?id=7");
    /// ```
    ///
    /// # Panics
    ///
    /// Where the status is not 301, 302, 303, 307 or 308.
    #[track_caller]
    pub fn redirect(status: u16, location: impl Into<Bytes>) -> Response {
        assert!(
            matches!(status, 301..=303 | 307 | 308),
            "status {status} is no redirect's"
        );
        Response::new(status).header("Location", location)
    }
}
