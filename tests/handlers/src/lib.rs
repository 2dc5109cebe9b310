//! Handlers that only tests want: they panic, combine sleeps, and wake from other threads.

use content_by_rust::{Request, Response, Result};

async fn panic_at_once(_: &mut Request) -> Result<Response> {
    panic!("at once")
}

content_by_rust::module! { panic_at_once }
