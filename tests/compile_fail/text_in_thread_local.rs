//! Nor may a text of it.

use content_by_rust::{Request, Response, Result};
use std::cell::Cell;

thread_local! {
    static LAST: Cell<&'static str> = const { Cell::new("") };
}

async fn remember(request: &mut Request) -> Result<Response> {
    LAST.set(request.path());
    Ok(Response::text("remembered\n"))
}

content_by_rust::module! { remember }

fn main() {}
