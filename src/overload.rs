//! More waiting requests than `rust_max_pending` allows: those that come are refused.

use crate::abi::{self, Event, NgxRequest};
use crate::log::Level;
use crate::worker;
use nginx_sys::{NGX_HTTP_INTERNAL_SERVER_ERROR, NGX_HTTP_SERVICE_UNAVAILABLE};
use nginx_sys::{ngx_event_t, ngx_int_t};
use std::cell::Cell;

/// When a client may try again, in seconds: the least that the header can say. A request waits for
/// a moment, as a rule, and the next of those that wait may end at any time.
const RETRY_AFTER: &str = "1";

/// The log has a line at most each so many milliseconds.
const LOG_MSEC: u64 = 1000;

/// What a worker says of the requests that it refuses.
pub(crate) struct Overload {
    /// Armed while the last line is not a second old.
    event: &'static Event,
    is_quiet: Cell<bool>,
    /// How many were refused since the last line.
    unsaid: Cell<u64>,
}

impl Overload {
    /// The event has [`on_second`] for its handler.
    pub(crate) fn new(event: &'static Event) -> Overload {
        // It keeps no worker.
        event.set_cancelable(true);
        Overload {
            event,
            is_quiet: Cell::new(false),
            unsaid: Cell::new(0),
        }
    }

    pub(crate) fn event(&self) -> &'static Event {
        self.event
    }

    /// Refuses a request, before its handler runs. Returns what a content handler returns.
    #[cold]
    pub(crate) fn refuse(&self, request: NgxRequest, waiting: usize) -> ngx_int_t {
        if self.is_quiet.replace(true) {
            self.unsaid.set(self.unsaid.get() + 1);
        } else {
            self.event.arm(LOG_MSEC);
            request.log(
                Level::Warn as usize,
                format_args!("refused by \"rust_max_pending\", requests that wait: {waiting}"),
            );
        }
        let status = match request.set_retry_after(RETRY_AFTER) {
            Ok(()) => NGX_HTTP_SERVICE_UNAVAILABLE,
            Err(()) => NGX_HTTP_INTERNAL_SERVER_ERROR,
        };
        status as ngx_int_t
    }

    /// Says how many were refused since the last line. False where there is nothing to say.
    fn say(&self) -> bool {
        let refused = self.unsaid.take();
        if refused > 0 {
            abi::log_cycle(
                Level::Warn as usize,
                format_args!("refused by \"rust_max_pending\" since the last line: {refused}"),
            );
        }
        refused > 0
    }

    /// Called when the worker exits.
    pub(crate) fn stop(&self) {
        self.event.disarm();
        self.say();
    }
}

/// A second after the last line.
pub(crate) extern "C" fn on_second(_: *mut ngx_event_t) {
    let Some(worker) = worker::here() else { return };
    let overload = &worker.overload;
    match overload.say() {
        true => overload.event.arm(LOG_MSEC),
        false => overload.is_quiet.set(false),
    }
}
