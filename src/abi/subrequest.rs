//! Subrequests whose answers are kept in memory.

use super::{NgxRequest, bytes, shim};
use crate::memory;
use crate::worker;
use nginx_sys::*;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::task::Waker;

/// A subrequest under way. What it points to is in the pool of the main request, so it may be
/// dropped before nginx has done with the subrequest.
pub(crate) struct PendingSubrequest(NonNull<Progress>);

struct Progress {
    outcome: Cell<Option<Outcome>>,
    waiter: Cell<Option<Waker>>,
}

#[derive(Clone, Copy)]
enum Outcome {
    Answered(NgxRequest),
    Failed,
}

/// Why there is no subrequest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubrequestError {
    /// The URI is malformed, or leads out of the root.
    BadUri,
    /// nginx has logged why it failed: too deep, too long an answer, no memory.
    Failed,
}

/// The answer to a subrequest: status, header lines, body.
pub(crate) type Answer = (u16, Vec<(Vec<u8>, Vec<u8>)>, Vec<u8>);

impl PendingSubrequest {
    /// Starts a subrequest. One without a body has none, whatever its parent has; nor has any
    /// the parent's header lines of the names in `without`, which are in lower case.
    pub(crate) fn start(
        request: NgxRequest,
        uri: &[u8],
        method: &[u8],
        without: &[String],
        body: Option<Vec<u8>>,
        content_type: Option<&str>,
    ) -> Result<PendingSubrequest, SubrequestError> {
        let progress = Progress {
            outcome: Cell::new(None),
            waiter: Cell::new(None),
        };
        let progress = request.keep(progress).ok_or(SubrequestError::Failed)?;
        let mut sr = ptr::null_mut();
        // SAFETY: the request lives; URI and method are copied; the progress lives as long as the
        // main request, which its subrequests end before (invariant 1).
        let rc = unsafe {
            shim::cbr_subrequest(
                request.as_ptr(),
                uri.as_ptr(),
                uri.len(),
                method.as_ptr(),
                method.len(),
                Some(on_end),
                progress.as_ptr().cast(),
                &mut sr,
            )
        };
        match rc {
            0 => {}
            rc if rc == NGX_DECLINED as ngx_int_t => return Err(SubrequestError::BadUri),
            _ => return Err(SubrequestError::Failed),
        }
        // SAFETY: just made; it runs in a later turn (invariant 1).
        let sr = unsafe { NgxRequest::new(sr) };
        let prepared = sr.remove_headers(without).and_then(|()| match body {
            Some(body) => sr.set_body(body, content_type),
            None => Ok(()),
        });
        if prepared.is_err() {
            // SAFETY: as above (invariant 1).
            unsafe { shim::cbr_subrequest_fail(sr.as_ptr()) };
        }
        Ok(PendingSubrequest(progress))
    }

    /// The answer, once the subrequest has ended. Until then, `waker` will be called then.
    pub(crate) fn answer(&self, waker: &Waker) -> Option<Result<Answer, SubrequestError>> {
        // SAFETY: in the pool of the request that awaits it (invariant 1).
        let progress = unsafe { self.0.as_ref() };
        let Some(outcome) = progress.outcome.get() else {
            progress.waiter.set(Some(waker.clone()));
            return None;
        };
        let sr = match outcome {
            Outcome::Answered(sr) => sr,
            Outcome::Failed => return Some(Err(SubrequestError::Failed)),
        };
        Some(answer(sr).ok_or(SubrequestError::Failed))
    }
}

/// What a subrequest has been answered; `None` where memory is short.
fn answer(sr: NgxRequest) -> Option<Answer> {
    let mut headers = Vec::new();
    for (name, value) in sr.response_headers() {
        headers.try_reserve(1).ok()?;
        headers.push((memory::copied(name)?, memory::copied(value)?));
    }
    let mut body = ngx_str_t::empty();
    // SAFETY: a subrequest lives as long as its main request (invariant 1).
    let (status, body) = unsafe {
        shim::cbr_subrequest_body(sr.as_ptr(), &mut body);
        (shim::cbr_subrequest_status(sr.as_ptr()), bytes(body))
    };
    let status = u16::try_from(status).unwrap_or(500);
    Some((status, headers, memory::copied(body)?))
}

/// nginx finalizes a subrequest of ours with `rc`; what is returned takes its place.
unsafe extern "C" fn on_end(
    sr: *mut ngx_http_request_t,
    progress: *mut c_void,
    rc: ngx_int_t,
) -> ngx_int_t {
    // SAFETY: nginx calls this with what `start` gave it, for a live subrequest (invariant 1).
    let (sr, progress) = unsafe { (NgxRequest::new(sr), &*progress.cast::<Progress>()) };
    // SAFETY: as above (invariant 1).
    if unsafe { shim::cbr_subrequest_ends(sr.as_ptr(), rc) } == 0 {
        return rc;
    }
    let failed = rc == NGX_ERROR as ngx_int_t;
    progress.outcome.set(Some(if failed {
        Outcome::Failed
    } else {
        Outcome::Answered(sr)
    }));
    if let (Some(waker), Some(worker)) = (progress.waiter.take(), worker::here()) {
        worker.wake_by(waker);
    }
    if failed && sr.client_gone() {
        return rc;
    }
    // SAFETY: as above (invariant 1).
    unsafe { shim::cbr_subrequest_leave(sr.as_ptr()) };
    // A failed subrequest is no reason to terminate the main request.
    match failed {
        true => NGX_OK as ngx_int_t,
        false => rc,
    }
}
