//! An answer that goes out piece by piece.

use super::send::{Stop, send_head};
use super::{NgxRequest, shim};
use crate::response::Head;
use crate::wake::Key;
use nginx_sys::*;
use std::ptr::NonNull;
use std::task::Poll;

/// How much of an answer is on its way at most: nginx's own output buffers are as large.
const BUFFER_SIZE: usize = 32 * 1024;

/// A buffer in the request's pool, used again for each piece.
///
/// What is being sent must outlive the handler's future: nginx may still hold it when it drops
/// that. So the pieces are copied.
pub(crate) struct StreamWriter {
    request: NgxRequest,
    /// `None`: the answer has no body.
    buf: Option<NonNull<ngx_buf_t>>,
}

/// Why a stream does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartError {
    /// The head is not one that can be sent, and none has been.
    Refused,
    /// nginx has ended the answer itself.
    Ended,
}

/// The client is gone, or nginx has ended the answer itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended;

impl StreamWriter {
    /// Sends the head, and nginx's idea of framing for a body whose length is not known.
    pub(crate) fn start(
        request: NgxRequest,
        key: Key,
        head: Head,
    ) -> Result<StreamWriter, StartError> {
        let buf = match send_head(request, key, head) {
            // SAFETY: the request lives, and so does its pool (invariant 1).
            Ok(_) => unsafe {
                let pool = (*request.as_ptr()).pool;
                let buf = NonNull::new(ngx_create_temp_buf(pool, BUFFER_SIZE));
                Some(buf.ok_or(StartError::Ended)?)
            },
            // HEAD, 204, 304: whatever is written goes nowhere.
            Err(Stop::Sent(rc)) if rc == NGX_OK as ngx_int_t || rc == NGX_AGAIN as ngx_int_t => {
                None
            }
            Err(Stop::Sent(_)) => return Err(StartError::Ended),
            Err(Stop::Refused) => return Err(StartError::Refused),
        };
        Ok(StreamWriter { request, buf })
    }

    /// Copies as much as there is room for, and sends it. All before has been flushed.
    pub(crate) fn write(&mut self, piece: &[u8]) -> Result<usize, Ended> {
        let Some(buf) = self.buf else {
            return Ok(piece.len());
        };
        let len = piece.len().min(BUFFER_SIZE);
        // SAFETY: the request lives, the buffer in its pool has this size, and nginx has done
        // with what was in it (invariant 1).
        let rc = unsafe {
            let start = (*buf.as_ptr()).start;
            start.copy_from_nonoverlapping(piece.as_ptr(), len);
            shim::cbr_stream_write(self.request.as_ptr(), buf.as_ptr(), len)
        };
        match rc {
            rc if rc == NGX_ERROR as ngx_int_t => Err(Ended),
            _ => Ok(len),
        }
    }

    /// Ready when nginx has handed all that was written to the kernel. Otherwise `handler` will
    /// be called when it is time to ask again.
    pub(crate) fn flush(
        &mut self,
        first: bool,
        handler: unsafe extern "C" fn(*mut ngx_http_request_t),
    ) -> Poll<Result<(), Ended>> {
        let Some(buf) = self.buf else {
            return Poll::Ready(Ok(()));
        };
        // SAFETY: the request lives, and so does the buffer in its pool (invariant 1).
        match unsafe {
            shim::cbr_stream_flush(
                self.request.as_ptr(),
                buf.as_ptr(),
                first.into(),
                Some(handler),
            )
        } {
            0 => Poll::Ready(Ok(())),
            rc if rc == NGX_AGAIN as ngx_int_t => Poll::Pending,
            _ => Poll::Ready(Err(Ended)),
        }
    }
}
