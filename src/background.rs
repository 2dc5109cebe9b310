//! Background tasks: futures of a worker that belong to no request.
//!
//! They are polled as a request's future is: by the worker, when a waker has named their key. The
//! worker's table has a number for each of them, and the futures lie here, on the heap. They keep
//! no worker (invariant 4): one that exits drops them.

use crate::abi;
use crate::log::Level;
use crate::panics::{contained, discard};
use crate::process::worker_exiting;
use crate::sleep::{LONGEST, sleep};
use crate::task::TaskRef;
use crate::wake::{self, Key};
use crate::worker::{self, Worker};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Starts a background task in this worker: work that goes on after the answer, as
/// `ngx.timer.at(0, ...)` starts it for Lua.
///
/// The future is polled on nginx's event thread, first in the next turn of the loop, and may await
/// what a handler may: [`sleep`], wakers of other threads, with the feature `tokio` tokio's futures
/// and `offload`. It owns what it works with: the request has its answer by
/// then, and the types let no task have it.
///
/// A task does not keep its worker. One that quits, or that a reload replaces, goes with the last
/// request that it must answer, and drops the tasks that are left where they wait: `Drop` is the
/// place to clean up. What must not be lost, await in the handler. A worker that exits drops a new
/// task at once.
///
/// A panic ends the task, with a line in the error log; the worker lives. Nothing limits how many
/// tasks there are.
///
/// ```
/// use content_by_rust::{Level, Request, Response, Result, log, sleep, spawn};
/// use std::time::Duration;
///
/// async fn order(request: &mut Request) -> Result<Response> {
///     let id = request.arg("id").unwrap_or("?").to_owned();
///     spawn(async move {
///         sleep(Duration::from_secs(1)).await;
///         log(Level::Notice, format_args!("order {id} is a second old"));
///     });
///     Ok(Response::text("thanks\n"))
/// }
///
/// content_by_rust::module! { order }
/// # fn main() {}
/// ```
///
/// # Panics
///
/// On a thread that is not nginx's event thread; when four thousand million requests and tasks
/// wait.
#[track_caller]
pub fn spawn<F>(future: F)
where
    F: Future<Output = ()> + 'static,
{
    let worker = worker::here().expect("spawn() outside nginx's event thread");
    worker
        .background
        .start(worker, Name::Spawned(Location::caller()), future);
}

/// Runs `run` at once, and again each `period`, as `ngx.timer.every` does after the first period.
///
/// There is one run at a time. One that is over late is followed by the next in the next turn of
/// the loop, and what was missed is not made up for. A period is a millisecond or more.
///
/// A panic ends one run, with a line in the error log, and not those that follow. When the worker
/// shuts down no run begins any more: the future is ready then, if the worker lives on for its
/// requests until it is time for the next run.
///
/// ```
/// use content_by_rust::{every, worker_id};
/// use std::time::Duration;
///
/// async fn sweep() {
///     if worker_id() == 0 {
///         every(Duration::from_secs(60), async || remove_old_files()).await;
///     }
/// }
/// # fn remove_old_files() {}
///
/// content_by_rust::module! { background sweep }
/// # fn main() {}
/// ```
pub async fn every(period: Duration, mut run: impl AsyncFnMut()) {
    let period = period.clamp(Duration::from_millis(1), LONGEST);
    let mut next = Instant::now();
    while !worker_exiting() {
        // In a block of its own, as the closure may panic before it makes a future. All that a run
        // holds is dropped by the poll that ends it.
        let mut future = pin!(async { run().await });
        poll_fn(|cx| poll_contained(future.as_mut(), cx)).await;
        let now = Instant::now();
        next = (next + period).max(now);
        sleep(next - now).await;
    }
}

/// Polls a future. One that panics is ready (invariant 5).
fn poll_contained<F>(future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<()>
where
    F: Future<Output = ()> + ?Sized,
{
    catch_unwind(AssertUnwindSafe(|| future.poll(cx))).unwrap_or_else(|payload| {
        discard(payload);
        Poll::Ready(())
    })
}

/// A task that [`module!`](crate::module!) names.
pub struct Entry {
    /// What the log calls it.
    pub name: &'static str,
    /// Starts it in the worker whose event thread calls.
    pub start: fn(&'static str),
}

/// Starts an `async fn` that [`module!`](crate::module!) names.
pub fn start<F>(name: &'static str, function: F)
where
    F: AsyncFn() + 'static,
{
    if let Some(worker) = worker::here() {
        let future = async move { function().await };
        worker.background.start(worker, Name::Named(name), future);
    }
}

/// Starts the tasks of a module in the worker that this process is.
pub(crate) fn start_all(tasks: &[Entry]) {
    match worker::here().map_or_else(worker::start, Ok) {
        Ok(_) => tasks.iter().for_each(|task| (task.start)(task.name)),
        Err(e) => abi::log_cycle(
            Level::Alert as usize,
            format_args!("background tasks cannot start in this worker: {e}"),
        ),
    }
}

/// What the log calls a task.
#[derive(Clone, Copy)]
pub(crate) enum Name {
    /// By its name in [`module!`](crate::module!).
    Named(&'static str),
    /// By the call of [`spawn`].
    Spawned(&'static Location<'static>),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Named(name) => write!(f, "background task \"{name}\""),
            Name::Spawned(place) => write!(f, "background task of {place}"),
        }
    }
}

struct Task {
    name: Name,
    key: Key,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

/// The background tasks of a worker.
pub(crate) struct Background {
    /// By their numbers, all but the one that is being polled.
    tasks: RefCell<FxHashMap<usize, Task>>,
    next_number: Cell<usize>,
    /// The task whose future is being polled or dropped.
    current: Cell<Option<Name>>,
    stopped: Cell<bool>,
}

impl Background {
    pub(crate) fn new() -> Background {
        Background {
            tasks: RefCell::default(),
            next_number: Cell::new(0),
            current: Cell::new(None),
            stopped: Cell::new(false),
        }
    }

    /// The task on whose behalf code runs.
    pub(crate) fn current(&self) -> Option<Name> {
        self.current.get()
    }

    fn start(&self, worker: &Worker, name: Name, future: impl Future<Output = ()> + 'static) {
        let future = Box::pin(future);
        if self.stopped.get() {
            return self.drop(worker, name, future);
        }
        let number = self.next_number.replace(self.next_number.get() + 1);
        let key = worker.insert(TaskRef::of_background(number));
        let key = key.expect("a slot for a background task");
        let task = Task { name, key, future };
        self.tasks.borrow_mut().insert(number, task);
        worker.wake(key);
    }

    /// Polls a task that was woken.
    pub(crate) fn resume(&self, worker: &Worker, number: usize) {
        let Some(mut task) = self.tasks.borrow_mut().remove(&number) else {
            return;
        };
        let polled = self.on_behalf_of(task.name, || poll(worker, &mut task));
        if polled.is_pending() {
            self.tasks.borrow_mut().insert(number, task);
        } else {
            self.end(worker, task);
        }
    }

    /// Called when the worker exits: drops all tasks, and from here on those that are started.
    pub(crate) fn stop(&self, worker: &Worker) {
        self.stopped.set(true);
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        tasks.into_values().for_each(|task| self.end(worker, task));
    }

    fn end(&self, worker: &Worker, task: Task) {
        worker.remove(task.key);
        self.drop(worker, task.name, task.future);
    }

    /// Drops a future. A panic in it ends there, with a line in the error log (invariant 5).
    #[cfg_attr(not(feature = "tokio"), allow(unused_variables))]
    fn drop(&self, worker: &Worker, name: Name, future: Pin<Box<dyn Future<Output = ()>>>) {
        self.on_behalf_of(name, || {
            #[cfg(feature = "tokio")]
            let _context = worker.runtime.enter_if_started();
            contained(|| drop(future));
        });
    }

    fn on_behalf_of<R>(&self, name: Name, f: impl FnOnce() -> R) -> R {
        let before = self.current.replace(Some(name));
        let result = f();
        self.current.set(before);
        result
    }
}

/// Polls a task in tokio's context.
#[cfg_attr(not(feature = "tokio"), allow(unused_variables))]
fn poll(worker: &Worker, task: &mut Task) -> Poll<()> {
    #[cfg(feature = "tokio")]
    let _context = match worker.runtime.enter() {
        Ok(context) => context,
        Err(e) => {
            let name = task.name;
            abi::log_cycle(
                Level::Alert as usize,
                format_args!("{name} ends: tokio's threads cannot be started: {e}"),
            );
            return Poll::Ready(());
        }
    };
    let waker = wake::waker(task.key);
    poll_contained(task.future.as_mut(), &mut Context::from_waker(&waker))
}
