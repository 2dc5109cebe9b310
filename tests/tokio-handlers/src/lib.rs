//! Handlers that use tokio, and that only tests want.

use content_by_rust::{Level, Request, Response, Result, offload, offload_blocking, sleep};
use futures::future::{Either, join_all, select};
use std::fs;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How many futures and closures there are on tokio's threads.
static OFFLOADED: AtomicUsize = AtomicUsize::new(0);

struct Offloaded;

impl Offloaded {
    fn new() -> Offloaded {
        OFFLOADED.fetch_add(1, Ordering::SeqCst);
        Offloaded
    }
}

impl Drop for Offloaded {
    fn drop(&mut self) {
        OFFLOADED.fetch_sub(1, Ordering::SeqCst);
    }
}

fn number<T: std::str::FromStr>(request: &Request, name: &str) -> Option<T> {
    request.arg(name)?.parse().ok()
}

fn ms(request: &Request) -> Duration {
    Duration::from_millis(number(request, "ms").unwrap_or(60_000))
}

fn this_thread() -> String {
    thread::current().name().unwrap_or("?").to_owned()
}

/// tokio's sleep, `?ms=`: at least as long, and the handler goes on where it was.
pub async fn naps(request: &mut Request) -> Result<Response> {
    let (time, begun, thread) = (ms(request), Instant::now(), thread::current().id());
    request.log(Level::Notice, "naps");
    tokio::time::sleep(time).await;
    assert!(begun.elapsed() >= time);
    assert_eq!(thread::current().id(), thread);
    Ok(Response::text("awake\n"))
}

/// Sends `?text=` to the server at `?port=`, and answers what comes back.
pub async fn echo(request: &mut Request) -> Result<Response> {
    let port: u16 = number(request, "port").unwrap_or_default();
    let text = request.arg("text").unwrap_or_default().to_owned();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    request.log(Level::Notice, "connected");
    stream.write_all(text.as_bytes()).await?;
    let mut back = vec![0; text.len()];
    stream.read_exact(&mut back).await?;
    Ok(Response::body(back))
}

/// Where offloaded work runs.
pub async fn places(_: &mut Request) -> Result<Response> {
    let here = thread::current().id();
    let (there, name) = offload(async { (thread::current().id(), this_thread()) }).await?;
    let (blocking, blocking_name) =
        offload_blocking(|| (thread::current().id(), this_thread())).await?;
    assert!(here != there && here != blocking && there != blocking);
    Ok(Response::text(format!("{name} {blocking_name}\n")))
}

/// Offloaded work that panics, or that does not: `?how=`.
pub async fn offloads(request: &mut Request) -> Result<Response> {
    let text = match request.arg("how").unwrap_or_default() {
        "future panics" => offload(async { panic!("in a future") }).await?,
        "closure panics" => offload_blocking(|| panic!("in a closure")).await?,
        "future" => {
            offload(async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                "future\n"
            })
            .await?
        }
        _ => offload_blocking(|| "closure\n").await?,
    };
    Ok(Response::text(text))
}

/// Waits `?ms=` for a future on tokio's threads.
pub async fn offload_waits(request: &mut Request) -> Result<Response> {
    let time = ms(request);
    let offloaded = Offloaded::new();
    request.log(Level::Notice, "offloads");
    offload(async move {
        let _offloaded = offloaded;
        tokio::time::sleep(time).await;
    })
    .await?;
    Ok(Response::text("done\n"))
}

/// Waits for a closure that blocks for `?ms=`.
pub async fn offload_blocks(request: &mut Request) -> Result<Response> {
    let time = ms(request);
    let offloaded = Offloaded::new();
    request.log(Level::Notice, "offloads");
    offload_blocking(move || {
        let _offloaded = offloaded;
        thread::sleep(time);
    })
    .await?;
    Ok(Response::text("done\n"))
}

/// Begins with work that blocks for `?ms=`, and does not wait for its end.
pub async fn leaves_work_behind(request: &mut Request) -> Result<Response> {
    let time = ms(request);
    let begun = pin!(sleep(Duration::from_millis(50)));
    let work = pin!(offload_blocking(move || thread::sleep(time)));
    match select(work, begun).await {
        Either::Left(_) => Ok(Response::text("over\n")),
        Either::Right(_) => Ok(Response::text("left behind\n")),
    }
}

/// How much offloaded work there is.
pub async fn offloaded(_: &mut Request) -> Result<Response> {
    Ok(Response::text(format!(
        "{}\n",
        OFFLOADED.load(Ordering::SeqCst)
    )))
}

/// Sleeps of tokio's and of nginx's together.
pub async fn both_clocks(_: &mut Request) -> Result<Response> {
    let begun = Instant::now();
    let naps = join_all((0..50).map(|n| tokio::time::sleep(Duration::from_millis(10 + n % 7))));
    let sleeps = join_all((0..50).map(|n| sleep(Duration::from_millis(10 + n % 7))));
    let (naps, sleeps) = futures::future::join(naps, sleeps).await;
    assert!(begun.elapsed() >= Duration::from_millis(15));
    Ok(Response::text(format!("{}\n", naps.len() + sleeps.len())))
}

static PARKED: Mutex<Vec<Waker>> = Mutex::new(Vec::new());
static CALLED: AtomicUsize = AtomicUsize::new(0);

/// Waits for `wake_all`; answers how often it was polled.
pub async fn parks(_: &mut Request) -> Result<Response> {
    let (called, mut polls) = (CALLED.load(Ordering::SeqCst), 0);
    std::future::poll_fn(|cx| {
        polls += 1;
        if CALLED.load(Ordering::SeqCst) != called {
            return Poll::Ready(());
        }
        if polls == 1 {
            PARKED.lock().unwrap().push(cx.waker().clone());
        }
        Poll::Pending
    })
    .await;
    Ok(Response::text(format!("{polls}\n")))
}

/// How many wait for `wake_all`.
pub async fn parked(_: &mut Request) -> Result<Response> {
    Ok(Response::text(format!(
        "{}\n",
        PARKED.lock().unwrap().len()
    )))
}

/// Wakes all that park, each three times, from another thread, before the event thread has its
/// turn; answers how often that thread has written.
pub async fn wake_all(_: &mut Request) -> Result<Response> {
    let writes = || {
        let io = fs::read_to_string("/proc/thread-self/io").expect("what this thread has done");
        let line = io.lines().find_map(|line| line.strip_prefix("syscw: "));
        line.and_then(|count| count.parse::<u64>().ok())
            .expect("a number of writes")
    };
    CALLED.fetch_add(1, Ordering::SeqCst);
    let parked = std::mem::take(&mut *PARKED.lock().unwrap());
    let thread = thread::spawn(move || {
        let before = writes();
        for waker in &parked {
            waker.wake_by_ref();
            waker.wake_by_ref();
        }
        parked.into_iter().for_each(Waker::wake);
        writes() - before
    });
    Ok(Response::text(format!("{}\n", thread.join().unwrap())))
}

/// Takes the place of a built-in one.
async fn hello(_: &mut Request) -> Result<Response> {
    Ok(Response::text("hello of the module's own\n"))
}

content_by_rust::module! {
    hello,
    naps,
    echo,
    places,
    offloads,
    offload_waits,
    offload_blocks,
    leaves_work_behind,
    offloaded,
    both_clocks,
    parks,
    parked,
    wake_all,
}
