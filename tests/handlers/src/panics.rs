//! Panics wherever a handler's code runs.

use content_by_rust::{ArgError, Args, Handler, Request, Response, Result, sleep};
use std::time::Duration;

const A_MOMENT: Duration = Duration::from_millis(5);

pub async fn panic_at_once(_: &mut Request) -> Result<Response> {
    panic!("before the wait")
}

pub async fn panic_after_wait(_: &mut Request) -> Result<Response> {
    sleep(A_MOMENT).await;
    panic!("after the wait")
}

/// `handle` is no async fn, and panics before there is a future.
pub struct PanicBeforeFuture;

impl Handler for PanicBeforeFuture {
    fn configure(_: &mut Args<'_>) -> Result<Self, ArgError> {
        Ok(PanicBeforeFuture)
    }

    fn handle(&self, request: &mut Request) -> impl Future<Output = Result<Response>> {
        assert!(request.query() == b"calm", "no future at all");
        std::future::ready(Ok(Response::text("calm\n")))
    }
}

/// Payloads need not be texts.
pub async fn panic_with_number(_: &mut Request) -> Result<Response> {
    sleep(A_MOMENT).await;
    std::panic::panic_any(42)
}

struct PanicsWhenDropped(&'static str);

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("{}", self.0)
    }
}

/// `?after=answer`: dropped by the handler on its way out. Otherwise the wait is a minute, and
/// whoever ends the request drops it.
pub async fn panic_in_drop(request: &mut Request) -> Result<Response> {
    let _bomb = PanicsWhenDropped("in a destructor");
    if request.arg("after") == Some("answer") {
        sleep(A_MOMENT).await;
        return Ok(Response::text("not sent\n"));
    }
    sleep(Duration::from_secs(60)).await;
    Ok(Response::text("not sent\n"))
}

/// What the panic leaves panics as well.
pub async fn panic_in_payload(_: &mut Request) -> Result<Response> {
    std::panic::panic_any(PanicsWhenDropped("in the payload"))
}

/// The part of a page that an SSI page includes.
pub async fn panic_in_part(request: &mut Request) -> Result<Response> {
    sleep(A_MOMENT).await;
    if request.arg("calm").is_some() {
        return Ok(Response::text("part"));
    }
    panic!("in a part of a page")
}
