//! Nor may its bytes.

use content_by_rust::{Bytes, Request, Response, Result};

async fn query(request: &mut Request) -> Result<Response> {
    Ok(Response::body(Bytes::from_static(request.query())))
}

content_by_rust::module! { query }

fn main() {}
