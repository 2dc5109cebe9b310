//! The handlers of the examples and of the tests in one module, as nginx loads one: their own sources, and what only
//! the soak's own tests want.
//!
//! Each of those crates ends in `content_by_rust::module!`. To their sources, this crate is `content_by_rust`, with a
//! `module!` of its own that makes what is named there visible here.

#![allow(dead_code, reason = "not all that the tests have is asked here")]

extern crate self as content_by_rust;

pub use cbr::*;

mod gather;

#[path = "../../../examples/events/src/lib.rs"]
mod events;
#[path = "../../../examples/fan-out/src/lib.rs"]
mod fan_out;
#[path = "../../../examples/greeter/src/lib.rs"]
mod greeter;
#[path = "../../../examples/patience/src/lib.rs"]
mod patience;
#[path = "../../../examples/redis-counter/src/lib.rs"]
mod redis_counter;
mod sabotage;
#[path = "../../../tests/background-tasks/src/lib.rs"]
mod tasks;
#[path = "../../../tests/handlers/src/lib.rs"]
mod tests;
#[path = "../../../tests/tokio-handlers/src/lib.rs"]
mod tokio_tests;

use events::handlers::*;
use greeter::handlers::*;
use sabotage::*;
use tasks::handlers::{
    after_answer, alone, brief, diligent, elsewhere, endless, naps as naps_in_background,
    offloads as offloads_in_background, panics, panics_at_exit, rarely, spawn_many, spawn_panics,
    starts_at_exit, ticks, woken,
};
use tests::handlers::*;
use tokio_tests::handlers::{
    both_clocks, echo, naps, offload_blocks, offload_waits, offloads, places,
};

cbr::module! {
    // examples/
    events,
    fan_out: fan_out::handlers::fan_out,
    greet,
    patience: patience::handlers::patience,
    redis_counter: redis_counter::handlers::redis_counter,
    // tests/handlers/
    aligned,
    arguments,
    arrived,
    ask_again,
    ask_all,
    ask_and_stream,
    ask_another,
    ask_any,
    ask_bravely,
    big,
    body_echo,
    body_halves,
    byte,
    evaluate: evaluate,
    fail,
    go,
    join,
    large,
    moved,
    panic_after_wait,
    panic_at_once,
    panic_before_future: panic_before_future,
    panic_in_drop,
    panic_in_payload,
    panic_with_number,
    post_all,
    race,
    storm,
    stream_body,
    stream_bytes,
    stream_text,
    tell,
    thread_wakes,
    timeouts,
    visit,
    wait,
    zone,
    // tests/tokio-handlers/
    both_clocks,
    echo,
    naps,
    offload_blocks,
    offload_waits,
    offloads,
    places,
    // tests/background-tasks/
    background alone,
    background brief,
    background diligent,
    background endless,
    background naps_in_background,
    background offloads_in_background,
    background panics,
    background panics_at_exit,
    background rarely,
    background starts_at_exit,
    background ticks,
    background woken,
    after_answer,
    elsewhere,
    spawn_many,
    spawn_panics,
    // sabotage.rs
    crashes,
    leaks_descriptors,
    leaks_memory,
    lies,
    loses_wakes,
}
