//! Which of nginx's processes this is.

use crate::abi;
use crate::worker;

/// The number of this worker, from 0, as `ngx.worker.id()` tells it: the same for a worker that
/// takes the place of one that died.
///
/// A reload starts another worker of each number, while the one before may still answer requests:
/// see [`worker_exiting`].
pub fn worker_id() -> usize {
    abi::worker_number()
}

/// How many workers there are, as `ngx.worker.count()` tells it: `worker_processes`, or 1 with
/// `master_process off`.
///
/// # Panics
///
/// On a thread that is not nginx's event thread.
pub fn worker_count() -> usize {
    worker::here().expect("worker_count() outside nginx's event thread");
    abi::worker_count()
}

/// Whether this worker shuts down, as `ngx.worker.exiting()` tells it: it was told to quit, or a
/// reload has replaced it, and it lives on for the requests that it must answer.
pub fn worker_exiting() -> bool {
    abi::is_exiting()
}
