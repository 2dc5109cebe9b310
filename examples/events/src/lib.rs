//! Server-sent events: a tick each 100 ms, until the client goes.
//!
//! `content_by_rust events;`

use content_by_rust::{Request, Response, Result, sleep};
use std::time::Duration;

async fn events(request: &mut Request) -> Result<Response> {
    let head = Response::new(200)
        .content_type("text/event-stream")
        .header("Cache-Control", "no-store");
    let mut stream = request.stream(head)?;
    for n in 0u64.. {
        stream.write(format!("event: tick\ndata: {n}\n\n")).await?;
        sleep(Duration::from_millis(100)).await;
    }
    Ok(stream.finish())
}

content_by_rust::module! { events }
