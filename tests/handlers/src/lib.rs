//! Handlers that only tests want.

mod answers;
mod futures;
mod panics;
mod requests;
mod waits;
mod wakes;

use answers::*;
use futures::*;
use panics::*;
use requests::*;
use waits::*;
use wakes::*;

content_by_rust::module! {
    // panics.rs
    panic_at_once,
    panic_after_wait,
    panic_before_future: PanicBeforeFuture,
    panic_with_number,
    panic_in_drop,
    panic_in_payload,
    panic_in_part,
    // waits.rs
    wait,
    zero_sleeps,
    wakes_itself,
    stop,
    large,
    aligned,
    // futures.rs
    join,
    unordered,
    race,
    timeouts,
    moved,
    changes_waker,
    drops_early,
    // wakes.rs
    byte,
    thread_wakes,
    storm,
    keep_waker,
    wake_kept,
    release,
    receive,
    send,
    // requests.rs
    tell,
    arguments,
    headers,
    variable,
    log_levels,
    evaluate: Evaluate,
    // answers.rs
    body,
    header,
    status,
    big,
    conditional,
    encoded,
    fail,
    fail_with,
    stash: Stash,
    unstash: Unstash,
}
