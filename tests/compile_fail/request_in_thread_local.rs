//! A request must not outlive its handler in a place of the worker's.

use content_by_rust::{Request, Response, Result};
use std::cell::RefCell;

thread_local! {
    static KEPT: RefCell<Vec<&'static Request>> = const { RefCell::new(Vec::new()) };
}

async fn keep(request: &mut Request) -> Result<Response> {
    KEPT.with_borrow_mut(|kept| kept.push(request));
    Ok(Response::text("kept\n"))
}

content_by_rust::module! { keep }

fn main() {}
