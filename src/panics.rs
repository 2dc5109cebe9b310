//! Where a panic of a handler's code ends (invariant 5): nginx's frames cannot be unwound through.

use crate::abi;
use crate::log::Level;
use crate::worker;
use std::any::Any;
use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};

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

/// From here on a panic on the event thread is a line in the error log, with the connection of
/// its request if it has one.
pub(crate) fn log() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let Some(worker) = worker::here() else {
            return before(info);
        };
        match worker.current() {
            Some(request) => request.log(Level::Error as usize, Line(info)),
            None => abi::log_cycle(Level::Error as usize, Line(info)),
        }
    }));
}

/// A panic's place and message.
struct Line<'a>(&'a PanicHookInfo<'a>);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("handler panicked")?;
        if let Some(location) = self.0.location() {
            write!(f, " at {location}")?;
        }
        write!(f, ": {}", message(self.0.payload()))
    }
}
