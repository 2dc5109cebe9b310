//! A sleep under way stays where it is: other waits point to it.

use content_by_rust::{Request, Response, Result, sleep};
use std::pin::Pin;
use std::time::Duration;

async fn moves(_: &mut Request) -> Result<Response> {
    let mut sleeping = sleep(Duration::from_millis(20));
    Pin::new(&mut sleeping).await;
    Ok(Response::text("moved\n"))
}

content_by_rust::module! { moves }

fn main() {}
