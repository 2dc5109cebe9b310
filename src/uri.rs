//! URIs of other locations.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// All but what RFC 3986 calls unreserved, and the `/` between the parts of a path.
const OF_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// Percent-encodes a path, or a part of one, for a URI:
/// [`internal_redirect`](crate::Response::internal_redirect),
/// [`subrequest`](crate::Request::subrequest) and [`redirect`](crate::Response::redirect) take one.
///
/// What they are given is read as a URI: a `?` begins the arguments, and `%XX` is decoded.
/// [`Request::path`](crate::Request::path) and [`arg`](crate::Request::arg) have been decoded
/// already, so in what a client sent as `%3F` and `%25` both are the client's choice. Encoded, they
/// mean what they are. `/` stays as it is; so does `..`, and nginx refuses a path that leads out of
/// the root.
///
/// ```
/// # use content_by_rust::{Request, Response, Result, encode_path};
/// async fn protected(request: &mut Request) -> Result<Response> {
///     let path = encode_path(request.path_bytes());
///     Ok(Response::internal_redirect(format!("/protected{path}")))
/// }
///
/// assert_eq!(encode_path("/100%?"), "/100%25%3F");
/// ```
pub fn encode_path(path: impl AsRef<[u8]>) -> String {
    percent_encode(path.as_ref(), OF_PATH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_uri_reads_differently_is_encoded() {
        assert_eq!(encode_path("/a-b_c.d~e/0"), "/a-b_c.d~e/0");
        assert_eq!(
            encode_path("a b%41?x#+&=;:@"),
            "a%20b%2541%3Fx%23%2B%26%3D%3B%3A%40"
        );
        assert_eq!(encode_path("ä\0"), "%C3%A4%00");
        assert_eq!(encode_path(b"\xff\n"), "%FF%0A");
    }
}
