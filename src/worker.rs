//! What a worker process has once: the tasks, who of them is ready, and the way in from other
//! threads.
//!
//! It comes to life with the first request or background task, so never in the master and never
//! before the fork, and belongs to the event thread.

use crate::abi::{self, CycleLog, Event, NgxRequest};
use crate::background::Background;
use crate::config::MainConf;
use crate::observer::Observer;
use crate::overload::{self, Overload};
use crate::panics;
#[cfg(feature = "tokio")]
use crate::runtime::Runtime;
use crate::sleep::TimerAlarm;
use crate::sleep::timers::Timers;
use crate::task::TaskRef;
use crate::wake::door::{Bell, Door};
use crate::wake::slots::Batch;
use crate::wake::{self, Key, Slots};
use nginx_sys::{ngx_connection_t, ngx_event_t};
use std::cell::{Cell, UnsafeCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

/// The event thread's state.
pub(crate) struct Worker {
    /// The tasks, and in their queue those to poll, each once.
    tasks: Slots<TaskRef>,
    /// What `run_ready` has left for the next turn of the loop.
    rest: Cell<Batch>,
    /// `run_ready` is at work: whoever becomes ready needs no event to be noticed.
    running: Cell<bool>,
    /// Polls the ready tasks in the next turn of the loop.
    next_turn: &'static Event,
    /// A timer that never matters but to a worker that shuts down: it may leave while this timer
    /// is cancelable, which it is while nobody waits (invariant 4).
    hold: &'static Event,
    waiting: Cell<usize>,
    pub(crate) overload: Overload,
    pub(crate) observer: Observer,
    /// The request whose future is being polled or dropped.
    current: Cell<Option<NgxRequest>>,
    pub(crate) timers: Timers<TimerAlarm>,
    pub(crate) background: Background,
    #[cfg(feature = "tokio")]
    pub(crate) runtime: Runtime,
    door: Cell<Option<NonNull<ngx_connection_t>>>,
}

/// So many tasks are polled in a turn of the loop: as many as nginx takes events of sockets.
const AT_ONCE: usize = 512;

/// Far enough to disturb nobody, near enough for nginx to count to.
const HOLD_MSEC: u64 = 24 * 60 * 60 * 1000;

struct EventThreadCell(UnsafeCell<Option<Worker>>);

// SAFETY: `here` and `start` give access to the event thread alone (invariant 6).
unsafe impl Sync for EventThreadCell {}

static WORKER: EventThreadCell = EventThreadCell(UnsafeCell::new(None));

/// The event thread, 0 before it is known. A fork keeps the number, but by then it is unset.
static EVENT_THREAD: AtomicUsize = AtomicUsize::new(0);

static DOOR: Door<EventFd> = Door::closed();

fn this_thread() -> usize {
    // SAFETY: always succeeds and has no preconditions (invariant 6).
    unsafe { libc::pthread_self() as usize }
}

/// The worker, when called on its event thread.
#[inline]
pub(crate) fn here() -> Option<&'static Worker> {
    if this_thread() != EVENT_THREAD.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: written by `start` on this thread before EVENT_THREAD, and then left alone
    // (invariant 6).
    unsafe { (*WORKER.0.get()).as_ref() }
}

/// The worker, if it has been started.
///
/// # Safety
///
/// Called on nginx's event thread.
#[inline]
pub(crate) unsafe fn started() -> Option<&'static Worker> {
    // SAFETY: written by `start` on this thread, and then left alone (invariant 6).
    unsafe { (*WORKER.0.get()).as_ref() }
}

/// Makes the worker. Called on nginx's event thread, once.
///
/// # Errors
///
/// nginx or the system has not what it takes: the next request may try again.
#[cold]
pub(crate) fn start() -> io::Result<&'static Worker> {
    let bell = EventFd::new()?;
    let connection = abi::watch_fd(bell.0.as_fd(), on_bell)
        .ok_or_else(|| io::Error::other("worker_connections are not enough"))?;
    let Some([next_turn, hold, on_second]) =
        Event::leak([on_next_turn, on_hold, overload::on_second])
    else {
        close(bell, connection);
        return Err(io::ErrorKind::OutOfMemory.into());
    };

    let worker = Worker {
        tasks: Slots::new(),
        rest: Cell::new(Batch::EMPTY),
        running: Cell::new(false),
        next_turn,
        hold,
        waiting: Cell::new(0),
        overload: Overload::new(on_second),
        observer: Observer::new(),
        current: Cell::new(None),
        timers: Timers::new(),
        background: Background::new(),
        #[cfg(feature = "tokio")]
        runtime: Runtime::new(),
        door: Cell::new(Some(connection)),
    };
    worker.hold.set_cancelable(true);
    worker.hold.arm(HOLD_MSEC);
    DOOR.open(bell);
    panics::log();

    // SAFETY: nobody has a reference: `here` gave none so far (invariant 6).
    let place = unsafe { &mut *WORKER.0.get() };
    let worker = place.insert(worker);
    EVENT_THREAD.store(this_thread(), Ordering::Relaxed);
    Ok(worker)
}

/// Called when the worker process exits. What still waits is not answered any more.
pub(crate) fn stop() {
    let Some(worker) = here() else { return };
    worker.background.stop(worker);
    worker.hold.disarm();
    worker.next_turn.unpost();
    worker.overload.stop();
    worker.observer.stop();
    worker.timers.for_each_alarm(|alarm| alarm.event().disarm());
    if let (Some(bell), Some(connection)) = (DOOR.close(), worker.door.take()) {
        close(bell, connection);
    }
    #[cfg(feature = "tokio")]
    worker.runtime.stop();
}

/// Ends the way in from other threads.
fn close(bell: EventFd, connection: NonNull<ngx_connection_t>) {
    // The connection closes the descriptor.
    std::mem::forget(bell);
    abi::unwatch_fd(connection);
}

/// Called when a process takes up a new configuration: without a master the process stays, and
/// the old configuration's log goes.
pub(crate) fn take_up(log: CycleLog, main: Option<&MainConf>) {
    let Some(worker) = here() else { return };
    worker.observer.take_up(main);
    worker.hold.log_to(log);
    worker.next_turn.log_to(log);
    worker.overload.event().log_to(log);
    worker
        .timers
        .for_each_alarm(|alarm| alarm.event().log_to(log));
    if let Some(connection) = worker.door.get() {
        abi::connection_log_to(connection, log);
    }
}

/// Makes a task ready, from any thread (invariant 2).
pub(crate) fn wake(key: Key) {
    match here() {
        Some(worker) => worker.wake(key),
        None => DOOR.push(key),
    }
}

impl Worker {
    /// Calls a waker on the event thread: our own say whom they wake without a call through
    /// their table, and the panic of another's ends here.
    #[inline(always)]
    pub(crate) fn wake_by(&self, waker: Waker) {
        match wake::key_of(&waker) {
            Some(key) => self.wake(key),
            None => panics::contained(|| waker.wake()),
        }
    }

    /// As [`wake_by`](Worker::wake_by), for the wakes of `run_ready`: that looks into the queue.
    #[inline(always)]
    pub(crate) fn queue_by(&self, waker: Waker) {
        debug_assert!(self.running.get());
        match wake::key_of(&waker) {
            Some(key) => {
                self.tasks.queue(key);
            }
            None => panics::contained(|| waker.wake()),
        }
    }

    /// Makes a task ready. It is polled before the next turn of the loop where `run_ready` is at
    /// work and has not begun with its batch, in the next turn otherwise.
    #[inline(always)]
    pub(crate) fn wake(&self, key: Key) {
        if self.tasks.queue(key) && !self.running.get() {
            self.next_turn.post_next();
        }
    }

    /// Runs `wakes`, which makes tasks ready, then polls each that is ready once. Those that
    /// become ready meanwhile have to wait a turn, so that no task can keep the loop for itself.
    /// Where more than [`AT_ONCE`] are ready, the loop turns in between, and those that are left
    /// are the first of the next turn.
    #[inline]
    pub(crate) fn run_ready(&self, wakes: impl FnOnce(&Worker)) {
        debug_assert!(!self.running.get());
        self.running.set(true);
        wakes(self);
        let mut batch = self.rest.replace(Batch::EMPTY);
        if batch.is_empty() {
            batch = self.tasks.take_queue();
        }
        for _ in 0..AT_ONCE {
            let Some(task) = self.tasks.pop(&mut batch) else {
                break;
            };
            match task.background() {
                Some(number) => self.background.resume(self, number),
                None => task.resume(self),
            }
        }
        self.running.set(false);
        let has_rest = !batch.is_empty();
        self.rest.set(batch);
        if has_rest || self.tasks.has_queued() {
            self.next_turn.post_next();
        }
    }

    #[inline]
    pub(crate) fn insert(&self, task: TaskRef) -> Option<Key> {
        self.tasks.insert(task)
    }

    #[inline]
    pub(crate) fn remove(&self, key: Key) {
        self.tasks.remove(key);
    }

    pub(crate) fn is_live(&self, key: Key) -> bool {
        self.tasks.get(key).is_some()
    }

    /// A task waits from now on (invariant 4).
    #[inline]
    pub(crate) fn begin_wait(&self) {
        let before = self.waiting.get();
        self.waiting.set(before + 1);
        if before == 0 {
            self.hold.set_cancelable(false);
        }
    }

    /// A task waits no more.
    #[inline]
    pub(crate) fn end_wait(&self) {
        let after = self.waiting.get() - 1;
        self.waiting.set(after);
        if after == 0 {
            self.hold.set_cancelable(true);
        }
    }

    /// How many requests wait.
    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.get()
    }

    /// The request on whose behalf a handler's code runs.
    pub(crate) fn current(&self) -> Option<NgxRequest> {
        self.current.get()
    }

    /// Runs a handler's code on behalf of a request.
    #[inline]
    pub(crate) fn on_behalf_of<R>(&self, request: NgxRequest, f: impl FnOnce() -> R) -> R {
        let before = self.current.replace(Some(request));
        let result = f();
        self.current.set(before);
        result
    }
}

extern "C" fn on_next_turn(_: *mut ngx_event_t) {
    if let Some(worker) = here() {
        worker.run_ready(|_| ());
    }
}

extern "C" fn on_hold(_: *mut ngx_event_t) {
    if let Some(worker) = here() {
        worker.hold.arm(HOLD_MSEC);
    }
}

extern "C" fn on_bell(_: *mut ngx_event_t) {
    let Some(worker) = here() else { return };
    let Some(connection) = worker.door.get() else {
        return;
    };
    if abi::connection_closes(connection) {
        return worker.observer.set_exiting();
    }
    EventFd::silence(abi::connection_fd(connection));
    let mut batch = Vec::new();
    let all = DOOR.take(&mut batch);
    worker.run_ready(|worker| {
        for key in batch {
            worker.wake(key);
        }
        if all {
            worker.tasks.queue_all();
        }
    });
}

/// A descriptor that becomes readable when it is rung.
struct EventFd(OwnedFd);

impl EventFd {
    fn new() -> io::Result<EventFd> {
        // SAFETY: no memory is involved (invariant 2).
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if fd < 0 {
            let error = io::Error::last_os_error();
            return Err(io::Error::other(format!("eventfd() failed: {error}")));
        }
        // SAFETY: just opened, and nobody else's (invariant 2).
        Ok(EventFd(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Takes back what was rung so far.
    fn silence(fd: BorrowedFd<'_>) {
        let mut count = 0u64;
        // SAFETY: reads into eight bytes of our own (invariant 2). Where nobody rang there is
        // nothing to read, and nothing to do.
        unsafe { libc::read(fd.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
    }
}

impl Bell for EventFd {
    fn ring(&self) {
        let one = 1u64;
        // SAFETY: writes eight bytes of our own (invariant 2). It could only fail once 2⁶⁴ - 2
        // rings have been left unheard, and the descriptor is readable then.
        unsafe {
            libc::write(
                self.0.as_raw_fd(),
                (&raw const one).cast(),
                size_of::<u64>(),
            )
        };
    }
}
