//! Requests' bodies, read in one way and another.

use content_by_rust::{Level, Request, Response, Result, sleep};
use futures::future::{Either, FutureExt, LocalBoxFuture, select};
use futures::stream::{FuturesUnordered, StreamExt};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many handlers of this kind there are.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// Counts a handler while its future lives.
pub struct Alive;

impl Alive {
    pub fn new() -> Alive {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Alive
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

pub fn how_many_alive() -> usize {
    ALIVE.load(Ordering::Relaxed)
}

/// How many futures have not been dropped.
pub async fn alive(_: &mut Request) -> Result<Response> {
    Ok(Response::text(format!("{}\n", how_many_alive())))
}

fn ms(request: &Request, name: &str) -> Duration {
    let ms = request.arg(name).and_then(|ms| ms.parse().ok());
    Duration::from_millis(ms.unwrap_or_default())
}

/// Answers with the whole body, read after `?before=` milliseconds.
pub async fn body_echo(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    if request.arg("before").is_some() {
        sleep(ms(request, "before")).await;
    }
    request.log(Level::Notice, "reads the body");
    Ok(Response::body(request.body().await?))
}

/// A number that depends on each byte and its place.
fn add(sum: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(sum, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add((*byte).into())
    })
}

/// Answers length, sum, and the longest chunk; sleeps `?ms=` after each chunk.
pub async fn body_chunks(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let pause = request.arg("ms").is_some().then(|| ms(request, "ms"));
    let quiet = request.arg("quiet").is_some();
    request.log(Level::Notice, "reads chunks");
    let (mut length, mut sum, mut longest) = (0, 0, 0);
    let mut chunks = Vec::new();
    let mut body = request.body();
    while let Some(chunk) = body.chunk().await? {
        assert!(!chunk.is_empty());
        length += chunk.len();
        longest = longest.max(chunk.len());
        sum = add(sum, &chunk);
        if !quiet {
            chunks.push(chunk.len());
        }
        if let Some(pause) = pause {
            sleep(pause).await;
        }
    }
    assert_eq!(body.chunk().await?, None, "the end is the end");
    Ok(Response::text(format!(
        "{length} {sum} {longest} {chunks:?}\n"
    )))
}

/// How many bytes `body_halves` and `body_begun` have got.
static GOT: AtomicUsize = AtomicUsize::new(0);

pub async fn got(_: &mut Request) -> Result<Response> {
    Ok(Response::text(format!("{}\n", GOT.load(Ordering::Relaxed))))
}

/// Counts each chunk when it has it, which tells the test that it may go on.
pub async fn body_halves(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    request.log(Level::Notice, "begins");
    let mut whole = Vec::new();
    let mut body = request.body();
    while let Some(chunk) = body.chunk().await? {
        GOT.fetch_add(chunk.len(), Ordering::Relaxed);
        whole.extend(chunk);
    }
    Ok(Response::body(whole))
}

/// As `body_halves`, but each chunk is asked for anew, and what has come is lost with the future
/// that a sleep of no length has beaten.
pub async fn body_resumed(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let mut given_up = 0;
    loop {
        let reading = pin!(async { request.body().await });
        match select(reading, pin!(sleep(Duration::from_millis(1)))).await {
            Either::Left((rest, _)) => {
                let rest = rest?.len();
                return Ok(Response::text(format!("{rest}, {}\n", given_up > 0)));
            }
            Either::Right(_) => given_up += 1,
        }
    }
}

/// Answers after the first chunk.
pub async fn body_begun(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let chunk = request.body().chunk().await?.unwrap_or_default();
    GOT.fetch_add(chunk.len(), Ordering::Relaxed);
    request.log(Level::Notice, format_args!("got {} bytes", chunk.len()));
    if request.arg("ms").is_some() {
        sleep(ms(request, "ms")).await;
    }
    Ok(Response::text(format!("{}, enough\n", chunk.len())))
}

/// Reads for `?ms=` at most; then, with `?then=read`, for as long as it takes.
pub async fn body_or_sleep(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let (time, then) = (ms(request, "ms"), request.arg("then") == Some("read"));
    let first = {
        let reading = pin!(async { request.body().await });
        match select(reading, pin!(sleep(time))).await {
            Either::Left((body, _)) => Some(body?),
            Either::Right(_) => None,
        }
    };
    match first {
        Some(body) => Ok(Response::body(body)),
        None if then => {
            request.log(Level::Notice, "sleep has won");
            let body = request.body().await?;
            Ok(Response::text(format!("late: {}\n", body.len())))
        }
        None => Ok(Response::text("too late\n")),
    }
}

/// The body among sleeps that end before and after it.
pub async fn body_among_others(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    request.log(Level::Notice, "begins");
    let mut all: FuturesUnordered<LocalBoxFuture<'_, Result<String>>> = FuturesUnordered::new();
    for time in [1, 2, 3] {
        let sleep = sleep(Duration::from_millis(time));
        all.push(sleep.map(|()| Ok("slept ".to_owned())).boxed_local());
    }
    all.push(
        async {
            let body = request.body().await?;
            Ok(format!("read {} ", body.len()))
        }
        .boxed_local(),
    );
    let mut order = String::new();
    while let Some(one) = all.next().await {
        order += &one?;
    }
    drop(all);
    Ok(Response::text(order))
}

/// Reads the body twice; the second time there is what there may be.
pub async fn body_twice(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let first = request.body().await?;
    let second = request.body().await?;
    Ok(Response::text(format!(
        "{} {}\n",
        first.len(),
        second.len()
    )))
}

/// What the limits make of the body: the handler answers in nginx's place.
pub async fn body_error(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let read = request.body().await;
    let shown = match &read {
        Ok(body) => format!("{} bytes\n", body.len()),
        Err(_) => "an error\n".to_owned(),
    };
    request.log(Level::Notice, shown.trim());
    read?;
    Ok(Response::text(shown))
}

/// Answers, whatever has become of the body, which it asks for twice.
pub async fn body_anyway(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let mut shown = String::new();
    for _ in 0..2 {
        shown += &match request.body().await {
            Ok(body) => format!("{} bytes\n", body.len()),
            Err(e) => format!("{}\n", e.status()),
        };
    }
    Ok(Response::text(shown))
}
