//! Where a panic of a handler's code ends (invariant 5): nginx's frames cannot be unwound through.

use crate::abi;
use crate::log::Level;
use crate::worker;
use std::any::Any;
use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::OnceLock;

/// Runs code that is not ours and may panic.
#[inline]
pub(crate) fn contained(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        discard(payload);
    }
}

/// Drops what a panic left, which may panic once more.
#[cold]
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(payload);
    }
}

/// What a panic says.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// From here on a panic on the event thread is a line in the error log, with the connection of
/// its request if it has one, or the name of its background task.
pub(crate) fn log() {
    static BEFORE: OnceLock<Hook> = OnceLock::new();
    BEFORE.get_or_init(panic::take_hook);
    // A closure that holds nothing needs no memory.
    panic::set_hook(Box::new(|info| {
        let Some(worker) = worker::here() else {
            return BEFORE.get().into_iter().for_each(|before| before(info));
        };
        let level = Level::Error as usize;
        match (worker.current(), worker.background.current()) {
            (Some(request), _) => request.log(level, Line("handler", info)),
            (None, Some(task)) => abi::log_cycle(level, Line(task, info)),
            (None, None) => abi::log_cycle(level, Line("handler", info)),
        }
    }));
}

/// Who panicked, where, and what it said.
struct Line<'a, T>(T, &'a PanicHookInfo<'a>);

impl<T: fmt::Display> fmt::Display for Line<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} panicked", self.0)?;
        if let Some(location) = self.1.location() {
            write!(f, " at {location}")?;
        }
        write!(f, ": {}", message(self.1.payload()))
    }
}
