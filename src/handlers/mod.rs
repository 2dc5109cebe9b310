//! The built-in handlers, written against the public API alone.

mod reply;
mod status;

pub use reply::Reply;
pub use status::StatusPage;

use crate::{Request, Response, Result, sleep};
use std::time::Duration;

/// How long [`ok`] waits.
pub(crate) const OK_DELAY: Duration = Duration::from_millis(20);

/// Waits 20 ms without blocking the worker, then answers `OK`.
pub async fn ok(_: &mut Request) -> Result<Response> {
    sleep(OK_DELAY).await;
    Ok(Response::body("OK\n"))
}

/// Answers `HelloWorld`.
pub async fn hello(_: &mut Request) -> Result<Response> {
    Ok(Response::html("<h1>HelloWorld</h1>\n"))
}

/// As [`ok`], but tokio keeps the time: what it costs to wake the event thread from another.
#[cfg(feature = "tokio")]
pub async fn tokio_ok(_: &mut Request) -> Result<Response> {
    tokio::time::sleep(OK_DELAY).await;
    Ok(Response::body("OK\n"))
}
