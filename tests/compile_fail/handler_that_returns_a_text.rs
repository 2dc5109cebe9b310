//! A handler returns a Result<Response>.

use content_by_rust::Request;

async fn text(_: &mut Request) -> &'static str {
    "text\n"
}

content_by_rust::module! { text }

fn main() {}
