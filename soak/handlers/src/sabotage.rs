//! Handlers that do now and then what the soak must notice. No soak but its own tests names them in a configuration.

use content_by_rust::{Request, Response, Result, sleep};
use std::fs::File;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Whether this is the tenth call, or the twentieth.
fn now_and_then() -> bool {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed) % 10 == 9
}

/// As `greet`.
async fn greeting(request: &mut Request) -> Result<Response> {
    sleep(Duration::from_millis(1)).await;
    let name = request.arg("name").unwrap_or("you");
    Ok(Response::text(format!("hi {name}\n")))
}

/// Greets somebody else.
pub async fn lies(request: &mut Request) -> Result<Response> {
    if now_and_then() {
        return Ok(Response::text("hi you\n"));
    }
    greeting(request).await
}

/// Forgets a descriptor.
pub async fn leaks_descriptors(request: &mut Request) -> Result<Response> {
    if now_and_then() {
        std::mem::forget(File::open("/dev/null")?);
    }
    greeting(request).await
}

/// Forgets memory.
pub async fn leaks_memory(request: &mut Request) -> Result<Response> {
    std::mem::forget(black_box(vec![1u8; 1_000_000]));
    greeting(request).await
}

/// Waits for a wake that nobody sends.
pub async fn loses_wakes(request: &mut Request) -> Result<Response> {
    if now_and_then() {
        std::future::poll_fn(|_| Poll::<()>::Pending).await;
    }
    greeting(request).await
}

/// Ends its worker.
pub async fn crashes(request: &mut Request) -> Result<Response> {
    if now_and_then() {
        std::process::abort();
    }
    greeting(request).await
}
