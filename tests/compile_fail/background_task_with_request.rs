//! A background task of the module has no request.

use content_by_rust::Request;

async fn task(_: &mut Request) {}

content_by_rust::module! { background task }

fn main() {}
