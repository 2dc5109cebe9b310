//! A user's own nginx module.

use content_by_rust::{Request, Response, Result, sleep};
use std::time::Duration;

async fn greet(request: &mut Request) -> Result<Response> {
    sleep(Duration::from_millis(20)).await;
    Ok(Response::text(format!(
        "hi {}\n",
        request.arg("name").unwrap_or("you")
    )))
}

content_by_rust::module! { greet }
