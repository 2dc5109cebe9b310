//! `content_by_rust` is to native Rust what `content_by_lua_block` is to Lua: a content handler
//! that runs inside the nginx worker, on nginx's own event loop, written as an `async fn`.
//!
//! ```
//! use content_by_rust::{Request, Response, Result, sleep};
//! use std::time::Duration;
//!
//! async fn greet(request: &mut Request) -> Result<Response> {
//!     sleep(Duration::from_millis(20)).await;
//!     Ok(Response::text(format!("hi {}\n", request.arg("name").unwrap_or("you"))))
//! }
//!
//! content_by_rust::module! { greet }
//! # fn main() {}
//! ```
//!
//! In a crate of `crate-type = ["cdylib"]` this is a whole nginx module: after `load_module`,
//! `location / { content_by_rust greet; }` answers.
//!
//! # What a handler is
//!
//! An `async fn(&mut Request) -> Result<Response>`, or a type that implements [`Handler`] where
//! the location gives it arguments. nginx calls it in the content phase; until it is ready, other
//! requests go on.
//!
//! - It must not block: a worker has one thread. [`sleep`] waits, and so does every future whose
//!   waker another thread calls: wakers may be kept and called anywhere.
//! - Futures combine: `futures::join!`, `select!`, a [`sleep`] as a time limit. Any of them may be
//!   dropped early.
//! - When the client goes away, the handler's future is dropped where it waits, unless
//!   `rust_ignore_client_abort` is on. `Drop` is the place to clean up.
//! - A panic is that request's 500, with its message in the error log; the worker lives. (A panic
//!   in a destructor while another panic unwinds aborts the process, as everywhere in Rust.)
//! - A worker that shuts down waits for it.
//!
//! # Where to look
//!
//! [`Request`] is what it can see, [`Response`] what it gives back, [`Error`] how it fails, and
//! [`Args`] what the configuration says to it. [`Request::body`] reads, [`Request::stream`] writes
//! piece by piece, [`Request::subrequest`] asks other locations, and [`SharedZone`] is what all
//! workers know. With the feature `tokio`, a handler awaits tokio's futures as they are;
//! `offload` takes work to other threads. [`spawn`] starts what goes on after the answer, and
//! [`module!`](module!#background-tasks) what goes on in each worker.
//!
//! Comments that begin with SAFETY name the invariants of `docs/internals.md` by their numbers.

#![warn(missing_docs)]

mod abi;
mod args;
mod background;
mod body;
mod config;
mod handlers;
mod limit;
mod log;
mod memory;
mod module;
mod observer;
mod one_line;
mod overload;
mod panics;
mod parse;
mod post_args;
mod process;
mod quotes;
mod redirect;
mod request;
mod response;
#[cfg(feature = "tokio")]
mod runtime;
mod shared;
mod sleep;
mod stats;
mod stream;
mod subrequest;
mod task;
mod uri;
mod variables;
mod wake;
mod worker;

pub use args::{Arg, ArgError, Args, FromArg, Status, Value};
pub use background::{every, spawn};
pub use body::{Body, ReadBody};
pub use limit::Limited;
pub use log::{Level, log};
pub use post_args::{PostArgs, ReadPostArgs};
pub use process::{worker_count, worker_exiting, worker_id};
pub use request::Request;
pub use response::{Bytes, Error, Response, Result};
#[cfg(feature = "tokio")]
pub use runtime::{Offload, offload, offload_blocking};
pub use shared::{Counter, SharedError, SharedZone};
pub use sleep::{Sleep, sleep};
pub use stats::{Counts, HandlerStats, Report, Stats, WorkerStats};
pub use stream::Stream;
pub use subrequest::{Subrequest, SubrequestResponse};
pub use uri::encode_path;

use std::future::Future;

/// A handler with arguments.
///
/// `content_by_rust NAME key=value …;` makes one for each location that says so, when nginx
/// reads its configuration, and every request of that location asks it for an answer.
///
/// ```
/// use content_by_rust::{Arg, ArgError, Args, Handler, Request, Response, Result, sleep};
/// use std::time::Duration;
///
/// struct Later {
///     after: Arg<Duration>,
/// }
///
/// impl Handler for Later {
///     fn configure(args: &mut Args<'_>) -> Result<Later, ArgError> {
///         let after = args.get("after")?.ok_or_else(|| args.missing("after"))?;
///         Ok(Later { after })
///     }
///
///     async fn handle(&self, request: &mut Request) -> Result<Response> {
///         sleep(self.after.get(request)?.unwrap_or_default()).await;
///         Ok(Response::text("later\n"))
///     }
/// }
///
/// content_by_rust::module! { later: Later }    // content_by_rust later after=$arg_after;
/// # fn main() {}
/// ```
pub trait Handler: Sized + 'static {
    /// Whether the handler awaits futures of tokio's (feature `tokio`). One that does not need not
    /// enter tokio's context at each poll, and starts no threads.
    const USES_TOKIO: bool = true;

    /// Reads the location's arguments, and checks those that are constants.
    ///
    /// # Errors
    ///
    /// What is wrong with them: `nginx -t` prints it with the file and the line. An argument that
    /// is not taken from `args` is refused without more ado.
    fn configure(args: &mut Args<'_>) -> Result<Self, ArgError>;

    /// Answers a request.
    ///
    /// # Errors
    ///
    /// An [`Error`] is a status for the client and a line for the error log.
    fn handle(&self, request: &mut Request) -> impl Future<Output = Result<Response>>;
}

/// What [`module!`] is made of.
#[doc(hidden)]
pub mod __private {
    pub use crate::abi::__private::*;
    pub use crate::background::{Entry as BackgroundEntry, start};
    pub use crate::module::{
        COMMANDS, Entry, Table, commands, context, function, handler, init_process, module,
    };
    pub use nginx_sys::{ngx_command_t, ngx_cycle_t, ngx_http_module_t, ngx_int_t, ngx_module_t};
}
