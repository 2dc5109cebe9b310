//! The variables `$rust_pending`, `$rust_handler` and `$rust_wait`.
//!
//! What they tell of a request its tasks know.

use crate::abi::{Conf, NgxRequest, Variable};
use crate::memory;
use crate::task;
use crate::worker;

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
        memory::text(task::history(request)?.handler)
    }
}

/// How long handlers have waited for the request.
pub(crate) struct Wait;

impl Variable for Wait {
    const NAME: &'static str = "rust_wait";

    fn value(request: NgxRequest) -> Option<String> {
        let msec = task::history(request)?.waited;
        memory::text(format_args!("{}.{:03}", msec / 1000, msec % 1000))
    }
}
