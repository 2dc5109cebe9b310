//! Waits that a test can watch, and tasks that are never done waiting.

use content_by_rust::{Level, Request, Response, Result, sleep};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Says in the log when its future is dropped.
struct Told<'a>(&'a Request);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.0.log(Level::Notice, "waits no more");
    }
}

/// A minute, or `?ms=`.
pub async fn wait(request: &mut Request) -> Result<Response> {
    let ms = request.arg("ms").and_then(|ms| ms.parse().ok());
    let told = Told(request);
    told.0.log(Level::Notice, "waits now");
    sleep(Duration::from_millis(ms.unwrap_or(60_000))).await;
    Ok(Response::text("waited\n"))
}

/// Four seconds, and then a millisecond in which the worker does nothing else.
pub async fn heavy(_: &mut Request) -> Result<Response> {
    sleep(Duration::from_secs(4)).await;
    std::thread::sleep(Duration::from_millis(1));
    Ok(Response::text("heavy\n"))
}

/// Set by `stop` for good.
static STOPPED: AtomicBool = AtomicBool::new(false);

pub async fn stop(_: &mut Request) -> Result<Response> {
    STOPPED.store(true, Ordering::Relaxed);
    Ok(Response::text("stopped\n"))
}

/// Sleeps of no length, one after the other, until `stop`.
pub async fn zero_sleeps(request: &mut Request) -> Result<Response> {
    request.log(Level::Notice, "sleeps for no time");
    let mut sleeps = 0u64;
    while !STOPPED.load(Ordering::Relaxed) {
        sleep(Duration::ZERO).await;
        sleeps += 1;
    }
    Ok(Response::text(format!("{sleeps}\n")))
}

/// A future that is never done and always wakes itself, until `stop`.
pub async fn wakes_itself(request: &mut Request) -> Result<Response> {
    request.log(Level::Notice, "wakes itself");
    let mut polls = 0u64;
    std::future::poll_fn(|cx| {
        polls += 1;
        if STOPPED.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    Ok(Response::text(format!("{polls}\n")))
}

/// A future of 100 KB keeps what is in it.
pub async fn large(_: &mut Request) -> Result<Response> {
    let mut inside = [0u8; 100_000];
    for (n, byte) in inside.iter_mut().enumerate() {
        *byte = n as u8;
    }
    let place = black_box(&inside).as_ptr().addr();
    sleep(Duration::from_millis(20)).await;
    assert_eq!(black_box(&inside).as_ptr().addr(), place, "it has moved");
    assert!(inside.iter().enumerate().all(|(n, byte)| *byte == n as u8));
    Ok(Response::text("kept\n"))
}

#[repr(align(128))]
struct Aligned([u8; 128]);

#[repr(align(64))]
struct AlsoAligned([u8; 64]);

/// A future with stricter alignment than nginx's pools give.
pub async fn aligned(_: &mut Request) -> Result<Response> {
    let (first, second) = (Aligned([1; 128]), AlsoAligned([2; 64]));
    for _ in 0..3 {
        assert_eq!((&raw const first).addr() % 128, 0);
        assert_eq!((&raw const second).addr() % 64, 0);
        assert!(black_box(&first).0.iter().all(|byte| *byte == 1));
        assert!(black_box(&second).0.iter().all(|byte| *byte == 2));
        sleep(Duration::from_millis(1)).await;
    }
    Ok(Response::text("aligned\n"))
}
