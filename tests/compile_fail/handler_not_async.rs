//! A handler is an async fn.

use content_by_rust::{Request, Response, Result};

fn now(_: &mut Request) -> Result<Response> {
    Ok(Response::text("now\n"))
}

content_by_rust::module! { now }

fn main() {}
