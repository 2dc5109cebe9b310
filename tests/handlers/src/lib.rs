//! Handlers that only tests want.

mod answers;
mod bodies;
mod futures;
mod panics;
mod redirects;
mod requests;
mod streams;
mod subrequests;
mod thrifty;
mod waits;
mod wakes;
mod zones;

use answers::*;
use bodies::*;
use futures::*;
use panics::*;
use redirects::*;
use requests::*;
use streams::*;
use subrequests::*;
use thrifty::*;
use waits::*;
use wakes::*;
use zones::*;

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
    heavy,
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
    counts,
    form,
    variable,
    log_levels,
    evaluate: Evaluate,
    constants: Constants,
    // redirects.rs
    go,
    arrived,
    arrived_alone,
    go_under,
    under,
    go_by_hand: GoByHand,
    go_too_late,
    go_outside,
    go_wrong,
    // answers.rs
    body,
    header,
    with_status,
    big,
    conditional,
    encoded,
    fail,
    fail_with,
    stash: Stash,
    unstash: Unstash,
    // bodies.rs
    alive,
    body_echo,
    body_chunks,
    body_halves,
    body_begun,
    body_resumed,
    got,
    body_or_sleep,
    body_among_others,
    body_twice,
    body_error,
    body_anyway,
    // streams.rs
    written,
    given_up,
    stream_bytes,
    stream_text,
    stream_ends,
    stream_head,
    stream_gives_up,
    stream_impatient,
    stream_body,
    // subrequests.rs
    ask,
    ask_with,
    post_all,
    seen,
    lines,
    ask_again,
    ask_all,
    ask_any,
    ask_for_a_while,
    ask_another,
    ask_and_wait,
    ask_bravely,
    ask_and_stream,
    set_variable,
    visit,
    visits_dropped,
    // thrifty.rs
    thrifty,
    // zones.rs
    zone,
    zone_fill,
    zone_fill_with_counters,
    zone_count_slowly,
    zone_too_early: ZoneTooEarly,
    zone_until_gone,
    zone_at_exit,
    zone_storm,
}
