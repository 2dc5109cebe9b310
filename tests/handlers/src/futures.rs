//! Futures combined: one request, many sleeps.

use content_by_rust::{Request, Response, Result, sleep};
use futures::future::{Either, FusedFuture, FutureExt, join_all, select};
use futures::stream::{FuturesUnordered, StreamExt};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Ready when the work is, or after the time.
async fn timeout<F: Future>(time: Duration, work: F) -> Option<F::Output> {
    match select(pin!(work), pin!(sleep(time))).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}

/// A hundred sleeps at once, of many lengths and of one, and three through `join!`.
pub async fn join(_: &mut Request) -> Result<Response> {
    let begun = Instant::now();
    let many = join_all((0..100).map(|n| sleep(ms(10 + n % 7))));
    let same = join_all((0..100).map(|_| sleep(ms(30))));
    let three = async {
        futures::join!(sleep(ms(5)), sleep(ms(40)), sleep(Duration::ZERO));
    };
    let (many, same, ()) = futures::join!(many, same, three);
    assert!(begun.elapsed() >= ms(39), "the longest of them is 40 ms");
    Ok(Response::text(format!("{}\n", many.len() + same.len())))
}

/// Which of several sleeps ends first.
pub async fn unordered(_: &mut Request) -> Result<Response> {
    let mut waits: FuturesUnordered<_> = [90, 10, 170]
        .into_iter()
        .map(|time| sleep(ms(time)).map(move |()| time))
        .collect();
    let mut order = String::new();
    while let Some(time) = waits.next().await {
        order += &format!("{time} ");
    }
    Ok(Response::text(format!("{}\n", order.trim_end())))
}

/// The loser of a race is dropped while it waits.
pub async fn race(_: &mut Request) -> Result<Response> {
    let mut short = pin!(sleep(ms(10)).fuse());
    let mut long = pin!(sleep(Duration::from_secs(60)).fuse());
    let winner = futures::select! {
        () = short => "short",
        () = long => "long",
    };
    assert!(short.is_terminated() && !long.is_terminated());
    Ok(Response::text(format!("{winner}\n")))
}

/// A timeout in a timeout.
pub async fn timeouts(_: &mut Request) -> Result<Response> {
    let minute = || sleep(Duration::from_secs(60));
    let outer = timeout(ms(10), timeout(Duration::from_secs(60), minute())).await;
    let inner = timeout(Duration::from_secs(60), timeout(ms(10), minute())).await;
    let none = timeout(
        Duration::from_secs(60),
        timeout(Duration::from_secs(60), async { 7 }),
    );
    let shown = format!("{outer:?} {inner:?} {:?}\n", none.await);
    Ok(Response::text(shown))
}

/// A sleep that has been polled is moved, as one in a box can be, and awaited elsewhere.
pub async fn moved(_: &mut Request) -> Result<Response> {
    let mut sleeping = Box::pin(sleep(ms(20)));
    assert!(futures::poll!(&mut sleeping).is_pending());
    let mut places: Vec<Pin<Box<_>>> = Vec::new();
    places.push(sleeping);
    places.extend((0..100).map(|_| Box::pin(sleep(ms(20)))));
    let last = places.swap_remove(0);
    last.await;
    for sleeping in places {
        sleeping.await;
    }
    Ok(Response::text("moved\n"))
}

/// First polled for somebody else, then for this task: the last one is woken.
pub async fn changes_waker(_: &mut Request) -> Result<Response> {
    let mut sleeping = Box::pin(sleep(ms(20)));
    let mut nobody = Context::from_waker(Waker::noop());
    assert_eq!(sleeping.as_mut().poll(&mut nobody), Poll::Pending);
    sleeping.as_mut().await;
    assert_eq!(sleeping.as_mut().poll(&mut nobody), Poll::Ready(()));
    Ok(Response::text("woken\n"))
}

/// Sleeps of one length dropped in the order `?order=`: first, last or middle first, or all with
/// the future that holds them.
pub async fn drops_early(request: &mut Request) -> Result<Response> {
    let begun = Instant::now();
    let mut sleeping: Vec<_> = (0..9).map(|_| Box::pin(sleep(ms(50)))).collect();
    for sleep in &mut sleeping {
        assert!(futures::poll!(sleep.as_mut()).is_pending());
    }
    match request.arg("order") {
        Some("first") => drop(sleeping.drain(..8)),
        Some("last") => drop(sleeping.drain(1..).rev().collect::<Vec<_>>()),
        Some("middle") => {
            while sleeping.len() > 1 {
                drop(sleeping.remove(sleeping.len() / 2));
            }
        }
        _ => return Ok(Response::text("dropped\n")),
    }
    join_all(sleeping).await;
    sleep(ms(50)).await;
    assert!(begun.elapsed() >= ms(98), "both have waited their time");
    Ok(Response::text("dropped\n"))
}
