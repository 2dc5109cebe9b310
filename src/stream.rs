//! An answer that a handler writes piece by piece.

use crate::abi::{Ended, StartError, StreamWriter};
use crate::request::Request;
use crate::response::{Error, Instead, Response, Result};
use crate::sleep::sleep;
use crate::task::{self, TaskRef};
use std::fmt;
use std::future::poll_fn;
use std::time::Duration;

/// After so many bytes the event loop turns once, however fast they are taken: as many as nginx's
/// `sendfile_max_chunk`.
const TURN: usize = 2 * 1024 * 1024;

/// The body of an answer, on its way out: what [`Request::stream`] returns.
///
/// ```
/// # use content_by_rust::{Request, Response, Result, sleep};
/// # use std::time::Duration;
/// async fn ticks(request: &mut Request) -> Result<Response> {
///     let mut stream = request.stream(Response::new(200).content_type("text/event-stream"))?;
///     for n in 0..10 {
///         stream.write(format!("data: {n}\n\n")).await?;
///         sleep(Duration::from_millis(100)).await;
///     }
///     Ok(stream.finish())
/// }
/// ```
///
/// A handler that fails, panics or returns anything but [`Stream::finish`] after the head has
/// been sent cannot take it back: the connection is closed, and the client sees that the end is
/// missing.
pub struct Stream<'a> {
    writer: StreamWriter,
    request: &'a mut Request,
    /// How many bytes have been written since the loop turned.
    since_turn: usize,
}

impl<'a> Stream<'a> {
    pub(crate) fn start(request: &'a mut Request, mut head: Response) -> Result<Stream<'a>> {
        let task = request.task();
        if task.head_sent() {
            return Err(Error::new(500).because("the handler began a second answer"));
        }
        head.body = None;
        let writer = StreamWriter::start(request.raw(), task.key(), head.head);
        if !matches!(writer, Err(StartError::Refused)) {
            // Whatever becomes of it, there is no other answer.
            task.set_head_sent();
        }
        // nginx has logged why; the status is for an answer that has not been begun.
        let writer = writer.map_err(|_| Error::new(500))?;
        Ok(Stream {
            writer,
            request,
            since_turn: 0,
        })
    }

    /// Writes a piece of the body, and waits until nginx has handed it to the kernel: a slow
    /// client holds the handler up, not the memory. nginx's `send_timeout`, `limit_rate` and
    /// filters apply. An answer that has no body, one to HEAD, takes all at once.
    ///
    /// # Errors
    ///
    /// The client is gone, or takes nothing for `send_timeout`. There is nothing to be done
    /// about it but to return.
    pub async fn write(&mut self, piece: impl AsRef<[u8]>) -> Result<()> {
        let mut rest = piece.as_ref();
        // A write that was dropped may have left something behind.
        self.flush().await?;
        while !rest.is_empty() {
            if self.since_turn >= TURN {
                self.since_turn = 0;
                sleep(Duration::ZERO).await;
            }
            let written = self.writer.write(rest)?;
            rest = &rest[written..];
            self.since_turn += written;
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        let flushing = Flushing(self.request.task());
        let mut first = true;
        poll_fn(|cx| {
            let flushed = self.writer.flush(first, task::on_writable);
            first = false;
            if flushed.is_pending() {
                flushing.0.set_io_waker(cx.waker());
            }
            flushed
        })
        .await?;
        Ok(())
    }

    /// The end of the answer, for the handler to return.
    pub fn finish(self) -> Response {
        Response::instead(Instead::Streamed)
    }
}

/// While this lives, a client that takes something wakes the task.
struct Flushing(TaskRef);

impl Drop for Flushing {
    fn drop(&mut self) {
        self.0.clear_io_waker();
    }
}

impl From<Ended> for Error {
    fn from(Ended: Ended) -> Error {
        // Nobody is there to see the status.
        Error::new(500)
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}
