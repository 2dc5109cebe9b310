//! The variables `$rust_pending`, `$rust_handler` and `$rust_wait`.
//!
//! What they tell of a request is noted in its pool: the access log is written after its cleanups
//! have run, and an internal redirect clears what modules have in its context.

use crate::abi::{self, Conf, NgxRequest, Variable};
use crate::memory;
use crate::worker;
use std::cell::Cell;

/// Adds them to the configuration that is about to be read.
pub(crate) fn add(conf: Conf<'_>) -> Result<(), ()> {
    conf.add_variable::<Pending>()?;
    conf.add_variable::<HandlerName>()?;
    conf.add_variable::<Wait>()
}

/// How many requests wait in this worker.
struct Pending;

impl Variable for Pending {
    const NAME: &'static str = "rust_pending";

    fn value(_: NgxRequest) -> Option<String> {
        let waiting = worker::here().map_or(0, |worker| worker.waiting());
        memory::text(waiting)
    }
}

/// The last handler that ran for the request.
pub(crate) struct HandlerName;

impl Variable for HandlerName {
    const NAME: &'static str = "rust_handler";

    fn value(request: NgxRequest) -> Option<String> {
        let note = request.find_data::<Note>()?;
        memory::text(note.handler.get())
    }
}

/// How long handlers have waited for the request.
pub(crate) struct Wait;

impl Variable for Wait {
    const NAME: &'static str = "rust_wait";

    fn value(request: NgxRequest) -> Option<String> {
        let msec = request.find_data::<Note>()?.waited();
        memory::text(format_args!("{}.{:03}", msec / 1000, msec % 1000))
    }
}

/// What is known of a request that a handler has run for.
#[derive(Default)]
pub(crate) struct Note {
    /// The last of them.
    handler: Cell<&'static str>,
    /// Since when it waits, if it does.
    waits_since: Cell<Option<u64>>,
    /// How long it and those before it have waited, in milliseconds.
    waited: Cell<u64>,
}

impl Note {
    /// A handler is about to run. Where memory is short it is not noted.
    pub(crate) fn begin(request: NgxRequest, handler: &'static str) {
        let note = request.find_data::<Note>();
        if let Some(note) = note.or_else(|| request.add_data()) {
            note.handler.set(handler);
        }
    }

    /// It begins to wait.
    pub(crate) fn wait(request: NgxRequest) {
        if let Some(note) = request.find_data::<Note>() {
            note.waits_since.set(Some(abi::cached_now()));
        }
    }

    /// It waits no more.
    pub(crate) fn end_wait(request: NgxRequest) {
        if let Some(note) = request.find_data::<Note>() {
            note.waited.set(note.waited());
            note.waits_since.set(None);
        }
    }

    fn waited(&self) -> u64 {
        let since = self.waits_since.get();
        let now = since.map_or(0, |since| abi::cached_now().saturating_sub(since));
        self.waited.get() + now
    }
}
