//! A future with a request in it must not outlive the request.

use content_by_rust::{Request, Response, Result, sleep};
use std::cell::RefCell;
use std::pin::Pin;
use std::time::Duration;

thread_local! {
    static LATER: RefCell<Vec<Pin<Box<dyn Future<Output = ()>>>>> = const { RefCell::new(Vec::new()) };
}

async fn later(request: &mut Request) -> Result<Response> {
    LATER.with_borrow_mut(|later| {
        later.push(Box::pin(async {
            sleep(Duration::from_secs(1)).await;
            request.log(content_by_rust::Level::Info, "later");
        }))
    });
    Ok(Response::text("now\n"))
}

content_by_rust::module! { later }

fn main() {}
