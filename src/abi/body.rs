//! A request's body on its way in.

use super::{NgxRequest, shim};
use nginx_sys::*;
use std::ptr;
use std::task::Poll;

/// Reads a body piece by piece. It belongs to the request that it was opened for.
pub(crate) struct BodyReader {
    /// What is left of a body that somebody has read already.
    saved: *mut ngx_chain_t,
}

/// The status that a request ends with whose body cannot be read: 413, 408, 400 …
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyError(pub(crate) u16);

impl BodyReader {
    /// Begins to read.
    pub(crate) fn open(request: NgxRequest) -> Result<BodyReader, BodyError> {
        let mut saved = ptr::null_mut();
        // SAFETY: the request lives (invariant 1).
        match unsafe { shim::cbr_body_open(request.as_ptr(), &mut saved) } {
            0 => Ok(BodyReader { saved }),
            rc => Err(error(rc)),
        }
    }

    /// Appends the next piece to `to`. False at the end.
    pub(crate) fn read(
        &mut self,
        request: NgxRequest,
        to: &mut Vec<u8>,
    ) -> Poll<Result<bool, BodyError>> {
        let r = request.as_ptr();
        let mut piece = ptr::null_mut();
        // SAFETY: the request lives, and `saved` is part of its body (invariant 1).
        match unsafe { shim::cbr_body_next(r, &mut self.saved, &mut piece) } {
            0 if piece.is_null() => return Poll::Ready(Ok(false)),
            0 => {}
            rc if rc == NGX_AGAIN as ngx_int_t => return Poll::Pending,
            rc => return Poll::Ready(Err(error(rc))),
        }
        // SAFETY: the piece is part of the request's body; `to` has room for all of it, which
        // the copy fills (invariant 1).
        unsafe {
            let size = shim::cbr_body_piece_size(piece);
            if to.try_reserve(size).is_err() {
                return Poll::Ready(Err(BodyError(500)));
            }
            let room = to.spare_capacity_mut().as_mut_ptr().cast();
            if shim::cbr_body_piece_copy(piece, room, size) != 0 {
                return Poll::Ready(Err(BodyError(500)));
            }
            to.set_len(to.len() + size);
            shim::cbr_body_piece_done(r, piece);
        }
        Poll::Ready(Ok(true))
    }
}

fn error(rc: ngx_int_t) -> BodyError {
    BodyError(u16::try_from(rc).unwrap_or(500))
}
