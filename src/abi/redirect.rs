//! A request on its way to another location.

use super::send::{add_headers, pin, refuse};
use super::{NgxRequest, bytes, shim};
use crate::response::{Bytes, Instead};
use crate::wake::Key;
use nginx_sys::*;

const OK: ngx_int_t = NGX_OK as ngx_int_t;
const INTERNAL_SERVER_ERROR: ngx_int_t = NGX_HTTP_INTERNAL_SERVER_ERROR as ngx_int_t;

/// Has another location answer. Its handler may run, and may even be done, when this returns.
///
/// Returns what a content handler returns: `NGX_DONE`, as nginx has counted the request once more
/// for the other location, or an error's status.
#[cold]
pub(super) fn redirect(
    request: NgxRequest,
    key: Key,
    headers: Vec<(Bytes, Bytes)>,
    instead: Instead,
) -> ngx_int_t {
    let (target, is_name) = match instead {
        Instead::Streamed => {
            let message = "the handler returned another request's stream";
            return refuse(request, format_args!("{message}"));
        }
        Instead::Uri(uri) => (uri, false),
        Instead::Named(name) => (name, true),
    };
    let Some(mut target) = pin(request, key, target) else {
        return INTERNAL_SERVER_ERROR;
    };
    // SAFETY: just pinned (invariant 1).
    let shown = unsafe { bytes(target) }.escape_ascii();
    let mut args = ngx_str_t::empty();
    if is_name {
        if shown.clone().next() != Some(b'@') {
            let message = format_args!("named location \"{shown}\" does not begin with \"@\"");
            return refuse(request, message);
        }
    // SAFETY: the request lives, and the target as long (invariant 1).
    } else if unsafe { shim::cbr_uri_parse(request.as_ptr(), &mut target, &mut args) } != OK {
        let message = format_args!("internal redirect \"{shown}\" is not a URI of this server");
        return refuse(request, message);
    }
    if let Err(rc) = add_headers(request, key, headers) {
        return rc;
    }
    if request.forget_body().is_err() {
        return INTERNAL_SERVER_ERROR;
    }
    let r = request.as_ptr();
    // SAFETY: the request lives, and target and arguments as long (invariant 1). What runs now may
    // finalize the request, but not to its end: its count has gone up before (invariant 3).
    unsafe {
        match is_name {
            true => ngx_http_named_location(r, &mut target),
            false => ngx_http_internal_redirect(r, &mut target, &mut args),
        }
    }
}
