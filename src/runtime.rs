//! tokio beside nginx's event loop: one runtime a worker, for what handlers await of it.
//!
//! A handler's future is polled on the event thread, inside the runtime's context: what it awaits
//! registers with tokio's I/O driver and timers, which run on threads of tokio's, and wake it
//! through the [door](crate::wake::door). The request never leaves the event thread.

use crate::abi::signals;
use crate::panics;
use crate::response::{Error, Result};
use std::cell::{Cell, OnceCell};
use std::future::Future;
use std::io;
use std::panic::catch_unwind;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, ready};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime as TokioRuntime};
use tokio::task::JoinHandle;

/// How long a worker that exits waits for blocking code on tokio's threads. Nobody awaits it any
/// more: a worker exits when its requests have been answered, or not at all gracefully.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// The worker's runtime: started when the first handler that may use it runs, so never in the
/// master and never before the fork.
pub(crate) struct Runtime {
    handle: OnceCell<Handle>,
    tokio: Cell<Option<TokioRuntime>>,
}

impl Runtime {
    pub(crate) fn new() -> Runtime {
        Runtime {
            handle: OnceCell::new(),
            tokio: Cell::new(None),
        }
    }

    /// Makes the runtime the current one until the guard is dropped.
    #[inline]
    pub(crate) fn enter(&self) -> io::Result<EnterGuard<'_>> {
        match self.handle.get() {
            Some(handle) => Ok(handle.enter()),
            None => self.start(),
        }
    }

    /// As [`enter`](Runtime::enter), where the runtime has been started.
    pub(crate) fn enter_if_started(&self) -> Option<EnterGuard<'_>> {
        self.handle.get().map(Handle::enter)
    }

    #[cold]
    fn start(&self) -> io::Result<EnterGuard<'_>> {
        // nginx's signals are for its event loop: a thread that took one would leave it asleep.
        let unblocked = signals::block();
        let threads = crate::module::tokio_threads();
        let tokio = catch_unwind(|| {
            try_threads(threads)?;
            Builder::new_multi_thread()
                .worker_threads(threads)
                .thread_name("rust-tokio")
                .on_thread_start(|| {
                    signals::block();
                })
                .enable_all()
                .build()
        })
        .unwrap_or_else(|payload| {
            let message = panics::message(&*payload).to_owned();
            panics::discard(payload);
            Err(io::Error::other(message))
        });
        signals::restore(&unblocked);
        let tokio = tokio?;
        let handle = self.handle.get_or_init(|| tokio.handle().clone());
        self.tokio.set(Some(tokio));
        Ok(handle.enter())
    }

    /// Ends the runtime's threads, within a bound.
    pub(crate) fn stop(&self) {
        if let Some(tokio) = self.tokio.take() {
            tokio.shutdown_timeout(SHUTDOWN_TIMEOUT);
        }
    }
}

/// Whether the system has so many threads for us. Where it has not, tokio panics, and never closes
/// what it has opened until then.
fn try_threads(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let closed = gate.lock();
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, || drop(gate.lock()));
        let threads: io::Result<Vec<_>> = (0..count).map(spawn).collect();
        drop(closed);
        // Their stacks are there for tokio's.
        threads?.into_iter().for_each(|thread| drop(thread.join()));
        Ok(())
    })
}

/// Runs a future on tokio's threads, and awaits its output.
///
/// For work that would keep the event thread busy between two awaits: parsing, hashing, a client
/// library with much to compute. The future takes owned data along, never the request. Dropping
/// what this returns cancels it at its next `await`.
///
/// # Errors
///
/// 500, where the future panics.
///
/// # Panics
///
/// Outside of a handler and of a background task.
pub fn offload<F>(future: F) -> Offload<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    Offload(tokio::spawn(future))
}

/// Runs a closure that may block on a thread of tokio's for such, and awaits its result.
///
/// Dropping what this returns leaves the closure running if it has begun: nothing can stop it.
///
/// # Errors
///
/// 500, where the closure panics.
///
/// # Panics
///
/// Outside of a handler and of a background task.
pub fn offload_blocking<T, F>(closure: F) -> Offload<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Offload(tokio::task::spawn_blocking(closure))
}

/// The future that [`offload`] and [`offload_blocking`] return.
#[must_use = "dropping it cancels the work"]
#[derive(Debug)]
pub struct Offload<T>(JoinHandle<T>);

impl<T> Future for Offload<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let joined = ready!(Pin::new(&mut self.0).poll(cx));
        Poll::Ready(
            joined.map_err(|e| Error::new(500).because(format_args!("offloaded work: {e}"))),
        )
    }
}

impl<T> Drop for Offload<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
