//! Events and timers of nginx's loop.

use super::shim;
use crate::memory;
use crate::one_line::OneLine;
use nginx_sys::*;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// What nginx calls when an event fires.
type Handler = unsafe extern "C" fn(*mut ngx_event_t);

/// An event of our own: a timer, or something to run in the next turn of the loop.
///
/// It lives as long as the process, or until it is [freed](Event::free) (nginx keeps pointers to it
/// while it is armed or posted), and belongs to the event thread.
#[repr(C)]
pub(crate) struct Event {
    event: UnsafeCell<ngx_event_t>,
    /// Debug logging reads `event.data` as a connection to print its descriptor.
    connection: UnsafeCell<ngx_connection_t>,
    context: Cell<NonNull<()>>,
}

impl Event {
    /// New events, in one piece of memory that nobody frees by itself; the handlers run on the event
    /// thread. `None` where memory is short.
    pub(crate) fn leak<const N: usize>(handlers: [Handler; N]) -> Option<&'static [Event; N]> {
        let [events] = Box::leak(memory::boxed(handlers.map(Event::new))?);
        for event in &mut *events {
            event.event.get_mut().data = event.connection.get().cast();
        }
        Some(events)
    }

    fn new(handler: Handler) -> Event {
        // SAFETY: zeroes are valid for both plain C structures (invariant 6).
        let (mut event, mut connection) = unsafe {
            (
                std::mem::zeroed::<ngx_event_t>(),
                std::mem::zeroed::<ngx_connection_t>(),
            )
        };
        connection.fd = -1;
        event.handler = Some(handler);
        event.log = cycle_log();
        Event {
            event: UnsafeCell::new(event),
            connection: UnsafeCell::new(connection),
            context: Cell::new(NonNull::dangling()),
        }
    }

    /// What [`Event::context`] gives back.
    pub(crate) fn set_context(&self, context: NonNull<()>) {
        self.context.set(context);
    }

    /// What belongs to an event that a handler is called with.
    ///
    /// # Safety
    ///
    /// [`Event::leak`] made the event.
    pub(crate) unsafe fn context(event: *mut ngx_event_t) -> NonNull<()> {
        // SAFETY: nginx's event is the first field of ours (invariant 6).
        unsafe { (*event.cast::<Event>()).context.get() }
    }

    /// Frees an event from within its handler, where that has been called for the last time.
    ///
    /// # Safety
    ///
    /// [`Event::leak`] made the event alone. It is neither armed nor posted, and nobody uses it again.
    pub(crate) unsafe fn free(event: *mut ngx_event_t) {
        // SAFETY: nginx's event is the first field of ours, which nginx does not look at any more
        // once it has called the handler (invariant 6).
        drop(unsafe { Box::from_raw(event.cast::<Event>()) });
    }

    /// Fires once, `delay` milliseconds after [`cached_now`]. An earlier order is forgotten.
    pub(crate) fn arm(&self, delay: u64) {
        // SAFETY: the event lives as long as the process (invariant 6).
        unsafe { shim::cbr_event_arm(self.event.get(), delay as ngx_msec_t) }
    }

    /// No longer fires.
    pub(crate) fn disarm(&self) {
        // SAFETY: as in `arm` (invariant 6).
        unsafe { shim::cbr_event_disarm(self.event.get()) }
    }

    /// Runs the handler in the next turn of the event loop, after a look at the sockets.
    pub(crate) fn post_next(&self) {
        // SAFETY: as in `arm` (invariant 6).
        unsafe { shim::cbr_event_post_next(self.event.get()) }
    }

    /// No longer runs in the next turn.
    pub(crate) fn unpost(&self) {
        // SAFETY: as in `arm` (invariant 6).
        unsafe { shim::cbr_event_unpost(self.event.get()) }
    }

    /// Whether a worker that shuts down may leave while the timer is armed (invariant 4).
    pub(crate) fn set_cancelable(&self, cancelable: bool) {
        // SAFETY: as in `arm` (invariant 6).
        unsafe { shim::cbr_event_set_cancelable(self.event.get(), cancelable.into()) }
    }

    /// Debug messages about the event go there from now on.
    pub(crate) fn log_to(&self, log: CycleLog) {
        // SAFETY: the event belongs to this thread (invariant 6).
        unsafe { (*self.event.get()).log = log.0 };
    }
}

/// The time in milliseconds that nginx's timers count in, as it is now.
pub(crate) fn now() -> u64 {
    // SAFETY: reads a clock (invariant 6).
    unsafe { shim::cbr_now() as u64 }
}

/// The same as nginx last took it, which decides whether a timer is over.
pub(crate) fn cached_now() -> u64 {
    // SAFETY: written by the event thread alone, which this is (invariant 6).
    unsafe { ngx_current_msec as u64 }
}

/// The log of a cycle that is, or is about to be, the current one.
#[derive(Clone, Copy)]
pub(crate) struct CycleLog(*mut ngx_log_t);

impl CycleLog {
    /// # Safety
    ///
    /// `cycle` is valid, and the log is not used after the next cycle has taken its place.
    pub(crate) unsafe fn of(cycle: *mut ngx_cycle_t) -> CycleLog {
        // SAFETY: by the caller's promise (invariant 6).
        CycleLog(unsafe { (*cycle).log })
    }

    /// Writes a line.
    pub(crate) fn write(self, level: ngx_uint_t, message: impl fmt::Display) {
        // SAFETY: by the promise made to `of` (invariant 6).
        unsafe { log(self.0, level, message) }
    }
}

/// The current cycle's log.
fn cycle_log() -> *mut ngx_log_t {
    // SAFETY: nginx sets ngx_cycle before it loads a module (invariant 6).
    unsafe { (*ngx_cycle).log }
}

/// Writes a line to the current cycle's log.
pub(crate) fn log_cycle(level: ngx_uint_t, message: impl fmt::Display) {
    // SAFETY: see `cycle_log` (invariant 6).
    unsafe { log(cycle_log(), level, message) }
}

/// Writes a line to a log; one message of nginx's own length, cut if it is longer.
///
/// # Safety
///
/// `log` is a valid log.
pub(super) unsafe fn log(log: *mut ngx_log_t, level: ngx_uint_t, message: impl fmt::Display) {
    // SAFETY: by the caller's promise; `%*s` reads no more than the length given (invariant 6).
    unsafe {
        if (*log).log_level < level {
            return;
        }
        let mut buffer = [const { std::mem::MaybeUninit::uninit() }; ngx::log::LOG_BUFFER_SIZE];
        let message = OneLine(message);
        let line = ngx::log::write_fmt(&mut buffer, format_args!("{message}"));
        ngx::log::log_error(level, log, 0, line);
    }
}

/// `timer_resolution` of a configuration, in milliseconds; `None` where it is not set.
///
/// # Safety
///
/// `cycle` is a valid cycle whose configuration has been read.
pub(crate) unsafe fn timer_resolution(cycle: *mut ngx_cycle_t) -> Option<u64> {
    // SAFETY: by the caller's promise (invariant 6).
    match unsafe { shim::cbr_timer_resolution(cycle) } {
        0 => None,
        msec => Some(msec as u64),
    }
}

/// Has `handler` called on the event thread whenever `fd` becomes readable, and when the worker
/// begins to shut down: see [`connection_closes`].
pub(crate) fn watch_fd(
    fd: BorrowedFd<'_>,
    handler: unsafe extern "C" fn(*mut ngx_event_t),
) -> Option<NonNull<ngx_connection_t>> {
    // SAFETY: the connection comes from nginx's own array (invariant 6).
    NonNull::new(unsafe { shim::cbr_connection_watch(fd.as_raw_fd(), cycle_log(), Some(handler)) })
}

/// Ends [`watch_fd`] and closes the descriptor.
pub(crate) fn unwatch_fd(connection: NonNull<ngx_connection_t>) {
    // SAFETY: `watch_fd` made it, and its owner gives it up here (invariant 6).
    unsafe { ngx_close_connection(connection.as_ptr()) }
}

/// The descriptor of a connection that [`watch_fd`] made.
pub(crate) fn connection_fd(connection: NonNull<ngx_connection_t>) -> BorrowedFd<'static> {
    // SAFETY: open until `unwatch_fd` (invariant 6).
    unsafe { BorrowedFd::borrow_raw((*connection.as_ptr()).fd) }
}

/// Whether nginx calls because the worker begins to shut down, and nothing has become readable.
/// True once.
pub(crate) fn connection_closes(connection: NonNull<ngx_connection_t>) -> bool {
    // SAFETY: it is ours until `unwatch_fd` (invariant 6).
    unsafe { shim::cbr_connection_closes(connection.as_ptr()) != 0 }
}

/// As [`Event::log_to`], for a connection that [`watch_fd`] made.
pub(crate) fn connection_log_to(connection: NonNull<ngx_connection_t>, log: CycleLog) {
    // SAFETY: it is ours until `unwatch_fd` (invariant 6).
    unsafe { shim::cbr_connection_set_log(connection.as_ptr(), log.0) }
}
