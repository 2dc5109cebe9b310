//! Nor may a header.

use content_by_rust::{Request, Response, Result};

async fn echo(request: &mut Request) -> Result<Response> {
    let value = request.header("X-Request-Id").unwrap_or("none");
    Ok(Response::new(204).header("X-Request-Id", value))
}

content_by_rust::module! { echo }

fn main() {}
