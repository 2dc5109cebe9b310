//! An answer on its way out.

use super::redirect::redirect;
use super::{NgxRequest, shim};
use crate::log::Level;
use crate::response::{Bytes, Head, Response, check_header, check_value};
use crate::wake::Key;
use nginx_sys::*;
use std::fmt;
use std::mem::MaybeUninit;

const OK: ngx_int_t = NGX_OK as ngx_int_t;
const ERROR: ngx_int_t = NGX_ERROR as ngx_int_t;
const INTERNAL_SERVER_ERROR: ngx_int_t = NGX_HTTP_INTERNAL_SERVER_ERROR as ngx_int_t;

/// Hands an answer to nginx's filters.
///
/// Returns what a content handler returns: a code for `ngx_http_finalize_request`.
///
/// # Safety
///
/// `buf` lives in the request's pool, and `key` is that of the request's task.
#[inline(always)]
pub(crate) unsafe fn send(
    request: NgxRequest,
    key: Key,
    buf: *mut MaybeUninit<ngx_buf_t>,
    response: Response,
) -> ngx_int_t {
    let r = request.as_ptr();
    let Response {
        head,
        body,
        instead,
    } = response;
    if let Some(instead) = instead {
        let [instead] = *instead;
        return redirect(request, key, head.headers, instead);
    }

    let status = head.status;

    // An error or a redirect that brings no body gets nginx's: error_page, which may want the
    // request's, or nginx's own page.
    if body.is_none() && (status >= 400 || matches!(status, 301..=303 | 307 | 308)) {
        return match set_head(request, key, head) {
            Ok(_) => fail(request, status as i16),
            Err(rc) => rc,
        };
    }

    // Not before: with a part of the body to come, nginx would close the connection
    // lingering_timeout after a handler that still waits.
    // SAFETY: the request lives (invariant 1).
    let rc = unsafe { shim::cbr_body_discard(r) };
    if rc != OK {
        return rc;
    }

    let Some(body) = body else {
        return match prepare_head(request, key, head, 0) {
            // SAFETY: the request lives; the buffer lives as long (invariant 1).
            Ok(()) => unsafe { shim::cbr_response_send(r, buf.cast(), b"".as_ptr(), 0) },
            Err(rc) => rc,
        };
    };
    let Some(body) = pin(request, key, body) else {
        return INTERNAL_SERVER_ERROR;
    };
    match prepare_head(request, key, head, body.len as off_t) {
        // SAFETY: the request lives; the buffer and the body live as long (invariant 1).
        Ok(()) => unsafe { shim::cbr_response_send(r, buf.cast(), body.data, body.len) },
        Err(rc) => rc,
    }
}

/// A status that nginx answers with: by an `error_page`, which sees no body that has been read,
/// or with its own page.
#[cold]
pub(crate) fn fail(request: NgxRequest, status: i16) -> ngx_int_t {
    if request.has_error_page(status as u16) && request.forget_body().is_err() {
        return INTERNAL_SERVER_ERROR;
    }
    status.into()
}

/// Sends the end of an answer whose head and body have been sent.
pub(crate) fn end_stream(request: NgxRequest) -> ngx_int_t {
    let r = request.as_ptr();
    // SAFETY: the request lives (invariant 1).
    unsafe {
        let rc = shim::cbr_body_discard(r);
        if rc != OK {
            return ERROR;
        }
        if shim::cbr_request_header_only(r) != 0 {
            return OK;
        }
        ngx_http_send_special(r, NGX_HTTP_LAST as ngx_uint_t)
    }
}

/// Why no body follows a head.
pub(super) enum Stop {
    /// The head is not one that can be sent.
    Refused,
    /// It has been sent and is all there is, or a filter has answered in its place: with the code
    /// to finalize the request with.
    Sent(ngx_int_t),
}

/// Sends the head of an answer whose length is not known.
pub(super) fn send_head(request: NgxRequest, key: Key, head: Head) -> Result<(), Stop> {
    prepare_head(request, key, head, -1).map_err(|_| Stop::Refused)?;
    let r = request.as_ptr();
    // SAFETY: the request lives (invariant 1).
    unsafe {
        let rc = shim::cbr_stream_send_head(r);
        if rc == ERROR || rc > OK || shim::cbr_request_header_only(r) != 0 {
            return Err(Stop::Sent(rc));
        }
        Ok(())
    }
}

/// Sets all of a head that is the handler's. `Err` with a code to finalize the request with.
#[inline(always)]
fn prepare_head(
    request: NgxRequest,
    key: Key,
    head: Head,
    content_length: off_t,
) -> Result<(), ngx_int_t> {
    let status = head.status;
    let typed = set_head(request, key, head)?;

    let r = request.as_ptr();
    // SAFETY: the request lives (invariant 1).
    unsafe {
        (*r).headers_out.status = status.into();
        (*r).headers_out.content_length_n = content_length;
        if !typed && shim::cbr_response_set_type(r) != OK {
            return Err(INTERNAL_SERVER_ERROR);
        }
    }
    Ok(())
}

/// Checks the status, the content type and the header lines, and sets the last two: all of them,
/// or none, for the answer that nginx makes then must not have some. Whether there is a type.
#[inline(always)]
fn set_head(request: NgxRequest, key: Key, head: Head) -> Result<bool, ngx_int_t> {
    let Head {
        status,
        content_type,
        is_plain_type,
        headers,
    } = head;
    if !(200..=999).contains(&status) {
        return Err(refuse(
            request,
            format_args!("the handler answered with invalid status {status}"),
        ));
    }
    let Some(content_type) = content_type else {
        add_headers(request, key, headers)?;
        return Ok(false);
    };
    let literal = matches!(content_type, Bytes::Static(_));
    let content_type = pin(request, key, content_type).ok_or(INTERNAL_SERVER_ERROR)?;
    // SAFETY: just pinned (invariant 1).
    let text = unsafe { super::bytes(content_type) };
    // What the program says itself needs no check on every request.
    if !literal && let Err(message) = check_value("Content-Type", text) {
        return Err(refuse(request, format_args!("{message}")));
    }
    add_headers(request, key, headers)?;
    let r = request.as_ptr();
    // SAFETY: the request lives, and what is stored lives as long (invariant 1).
    unsafe {
        (*r).headers_out.content_type_len = match is_plain_type {
            true => content_type.len,
            false => len_without_parameters(text),
        };
        (*r).headers_out.content_type = content_type;
        (*r).headers_out.content_type_lowcase = std::ptr::null_mut();
    }
    Ok(true)
}

/// Makes bytes live as long as the request.
#[inline]
pub(super) fn pin(request: NgxRequest, key: Key, bytes: Bytes) -> Option<ngx_str_t> {
    let bytes: &[u8] = match &bytes {
        Bytes::Static(bytes) => bytes,
        // SAFETY: made by the request whose key they carry, whose memory they are in
        // (invariant 1).
        Bytes::Request(pinned) if pinned.key == key => unsafe {
            std::slice::from_raw_parts(pinned.data.as_ptr(), pinned.len)
        },
        Bytes::Request(_) => {
            let message = "the handler answered with a value of another request";
            refuse(request, format_args!("{message}"));
            return None;
        }
        Bytes::Owned(_) => return keep(request, bytes),
    };
    Some(ngx_str_t {
        len: bytes.len(),
        data: bytes.as_ptr().cast_mut(),
    })
}

/// Moves owned bytes into the request's pool without copying what they hold.
#[cold]
fn keep(request: NgxRequest, bytes: Bytes) -> Option<ngx_str_t> {
    let Bytes::Owned(vec) = bytes else {
        return None;
    };
    // SAFETY: the vector stays in the pool until the request ends (invariant 1).
    let vec = unsafe { request.keep(vec)?.as_ref() };
    Some(ngx_str_t {
        len: vec.len(),
        data: vec.as_ptr().cast_mut(),
    })
}

/// gzip_types and its like compare the type without its parameters.
fn len_without_parameters(content_type: &[u8]) -> usize {
    let end = content_type.iter().position(|&c| c == b';');
    let end = end.unwrap_or(content_type.len());
    content_type[..end].trim_ascii_end().len()
}

/// Checks the handler's header lines, and adds them if all are good.
#[inline(always)]
pub(super) fn add_headers(
    request: NgxRequest,
    key: Key,
    headers: Vec<(Bytes, Bytes)>,
) -> Result<(), ngx_int_t> {
    if headers.capacity() == 0 {
        // It owns nothing, which the compiler does not see.
        std::mem::forget(headers);
        return Ok(());
    }
    check_and_add_headers(request, key, headers)
}

#[cold]
fn check_and_add_headers(
    request: NgxRequest,
    key: Key,
    headers: Vec<(Bytes, Bytes)>,
) -> Result<(), ngx_int_t> {
    let mut lines = Vec::new();
    lines
        .try_reserve_exact(headers.len())
        .map_err(|_| INTERNAL_SERVER_ERROR)?;
    for (name, value) in headers {
        let name = pin(request, key, name).ok_or(INTERNAL_SERVER_ERROR)?;
        let value = pin(request, key, value).ok_or(INTERNAL_SERVER_ERROR)?;
        // SAFETY: both have been pinned (invariant 1).
        let (shown, text) = unsafe { (super::bytes(name), super::bytes(value)) };
        check_header(shown, text).map_err(|message| refuse(request, format_args!("{message}")))?;
        // SAFETY: reads the value alone (invariant 1).
        if shown.eq_ignore_ascii_case(b"Last-Modified")
            && unsafe { ngx_parse_http_time(value.data, value.len) } == ERROR as time_t
        {
            let message = "invalid time in header \"Last-Modified\"";
            return Err(refuse(request, format_args!("{message}")));
        }
        lines.push((name, value));
    }
    for (name, value) in lines {
        // SAFETY: the request lives, and both live as long (invariant 1).
        let rc = unsafe {
            let r = request.as_ptr();
            shim::cbr_response_header(r, name.data, name.len, value.data, value.len)
        };
        if rc != OK {
            return Err(INTERNAL_SERVER_ERROR);
        }
    }
    Ok(())
}

/// An answer that cannot be sent is the handler's fault.
#[cold]
pub(super) fn refuse(request: NgxRequest, message: fmt::Arguments<'_>) -> ngx_int_t {
    request.log(Level::Error as usize, message);
    INTERNAL_SERVER_ERROR
}
