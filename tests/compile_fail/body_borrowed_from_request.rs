//! A body that the client sees after the handler is gone must not be borrowed from its request.

use content_by_rust::{Request, Response, Result};

async fn path(request: &mut Request) -> Result<Response> {
    Ok(Response::text(request.path()))
}

content_by_rust::module! { path }

fn main() {}
