//! nginx's structures behind safe types.
//!
//! `shim.c` holds what Rust must not touch by itself, `layout.rs` proves the rest, and the types
//! here ([`NgxRequest`], [`Conf`], [`Event`]) can be used without `unsafe` once they exist:
//! making one is the only promise.

mod body;
mod conf;
mod core;
mod event;
mod layout;
mod process;
mod redirect;
mod request;
mod scoreboard;
mod send;
mod shared;
#[cfg(feature = "tokio")]
pub(crate) mod signals;
mod stream;
mod subrequest;
mod variable;

/// The shim's bindings, generated from `shim.h` by the build script.
#[allow(non_camel_case_types, non_upper_case_globals, dead_code, clippy::all)]
mod shim {
    include!(concat!(env!("OUT_DIR"), "/shim.rs"));
}

pub(crate) use self::body::{BodyError, BodyReader};
pub(crate) use self::conf::{
    CONF_OK, ComplexValue, Conf, Kept, conf_error, http_main_conf, parse_size, set_location_handler,
};
pub(crate) use self::core::check_core;
pub(crate) use self::event::{
    CycleLog, Event, cached_now, connection_closes, connection_fd, connection_log_to, log_cycle,
    now, timer_resolution, unwatch_fd, watch_fd,
};
pub(crate) use self::process::{exists, is_exiting, is_worker, worker_count, worker_number};
pub(crate) use self::request::NgxRequest;
pub(crate) use self::scoreboard::ScoreboardZone;
pub(crate) use self::send::{end_stream, fail, send};
pub(crate) use self::shared::Zone;
pub(crate) use self::stream::{Ended, StartError, StreamWriter};
pub(crate) use self::subrequest::{PendingSubrequest, SubrequestError};
pub(crate) use self::variable::{Variable, asks_by_name, uses_variable};

use nginx_sys::ngx_str_t;

/// The bytes of an nginx string.
///
/// # Safety
///
/// `s` is valid for `'a`, or empty.
unsafe fn bytes<'a>(s: ngx_str_t) -> &'a [u8] {
    if s.len == 0 {
        return &[];
    }
    // SAFETY: by the caller's promise; nginx's strings are never null when they have a length
    // (invariant 6).
    unsafe { ::core::slice::from_raw_parts(s.data, s.len) }
}

/// The layout guard's macro, for the tests to show that it stops a build.
#[doc(hidden)]
pub mod __private {
    pub use nginx_sys::ngx_http_request_t;
}
