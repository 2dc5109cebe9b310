//! A background task outlives its request, and cannot have it.

use content_by_rust::{Level, Request, Response, Result, log, spawn};

async fn handler(request: &mut Request) -> Result<Response> {
    spawn(async move { log(Level::Notice, request.path()) });
    Ok(Response::new(204))
}

content_by_rust::module! { handler }

fn main() {}
