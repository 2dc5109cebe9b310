//! Background tasks that only tests want, and handlers to ask after them.

use content_by_rust::{
    Level, Request, Response, Result, every, log, offload, offload_blocking, sleep, spawn,
    worker_count, worker_exiting, worker_id,
};
use std::future::{pending, poll_fn};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(10);
const MINUTE: Duration = Duration::from_secs(60);

/// Says when it is dropped.
struct Witness(&'static str);

impl Drop for Witness {
    fn drop(&mut self) {
        log(Level::Notice, format_args!("{} is dropped", self.0));
    }
}

fn notice(message: impl std::fmt::Display) {
    log(Level::Notice, message);
}

/// In every worker, for as long as it lives.
async fn endless() {
    let _witness = Witness("endless");
    notice(format_args!(
        "endless begins in {} of {}",
        worker_id(),
        worker_count()
    ));
    loop {
        log(Level::Info, "endless goes on");
        sleep(MOMENT).await;
    }
}

/// In one worker.
async fn alone() {
    if worker_id() == 0 {
        let _witness = Witness("alone");
        notice("alone begins");
        pending().await
    }
}

/// Comes to its end.
async fn brief() {
    let _witness = Witness("brief");
    sleep(MOMENT).await;
    notice("brief ends");
}

async fn panics() {
    let _witness = Witness("panics");
    sleep(MOMENT).await;
    panic!("in a background task");
}

struct PanicInDrop;

impl Drop for PanicInDrop {
    fn drop(&mut self) {
        panic!("in a background task's drop");
    }
}

/// Panics only when its worker exits.
async fn panics_at_exit() {
    let _panic = PanicInDrop;
    pending().await
}

/// Starts another task when its worker exits.
async fn starts_at_exit() {
    struct Starts;
    impl Drop for Starts {
        fn drop(&mut self) {
            let late = Witness("late");
            spawn(async move {
                let _late = late;
                notice("late is polled");
            });
        }
    }
    let _starts = Starts;
    pending().await
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Ten runs, of which the second panics before it awaits, the third after that and the fourth
/// when it is dropped.
async fn ticks() {
    every(MOMENT, async || {
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        if run >= 10 {
            return pending().await;
        }
        notice(format_args!("run {run}"));
        assert!(run != 1, "run 1 panics");
        sleep(MOMENT).await;
        assert!(run != 2, "run 2 panics");
        let _panic = (run == 3).then(|| PanicInDrop);
        sleep(MOMENT).await;
        notice(format_args!("run {run} is over"));
    })
    .await;
}

/// Runs until the worker shuts down, and comes to its end where the worker lives on.
async fn diligent() {
    every(MOMENT, async || {
        if worker_exiting() {
            notice("diligent runs while its worker shuts down");
        }
    })
    .await;
    notice("diligent ends");
}

/// Runs once in this world.
async fn rarely() {
    let _witness = Witness("rarely");
    every(Duration::MAX, async || notice("rarely runs")).await;
}

/// tokio's sleep, before and after nginx's.
async fn naps() {
    let _witness = Witness("naps");
    tokio::time::sleep(MOMENT).await;
    sleep(MOMENT).await;
    tokio::time::sleep(MOMENT).await;
    notice("naps wakes up");
    tokio::time::sleep(MINUTE).await;
}

async fn offloads() {
    let here = thread::current().id();
    let there = offload(async { thread::current().id() }).await;
    let blocking = offload_blocking(|| thread::current().id()).await;
    if let (Ok(there), Ok(blocking)) = (there, blocking) {
        assert!(here != there && here != blocking);
        notice("offloads is back");
    }
    let failed: Result<()> = offload(async { panic!("elsewhere") }).await;
    if let Err(e) = failed {
        notice(e);
    }
}

/// A task that another thread wakes.
async fn woken() {
    let mut thread = None;
    poll_fn(|cx| match &thread {
        None => {
            let waker: Waker = cx.waker().clone();
            thread = Some(thread::spawn(move || waker.wake()));
            Poll::Pending
        }
        Some(_) => Poll::Ready(()),
    })
    .await;
    notice("woken is awake");
}

/// Answers, and goes on: `?id=`.
async fn after_answer(request: &mut Request) -> Result<Response> {
    let id = request.arg("id").unwrap_or_default().to_owned();
    log(Level::Notice, "with the request");
    spawn(async move {
        notice(format_args!("after {id}"));
        sleep(MOMENT).await;
        notice(format_args!("long after {id}"));
    });
    notice("before the answer");
    Ok(Response::text("answered\n"))
}

/// A task that panics, but not its handler.
async fn spawn_panics(_: &mut Request) -> Result<Response> {
    spawn(async { panic!("in a spawned task") });
    Ok(Response::text("answered\n"))
}

/// A thousand tasks, each of which starts another before it ends.
async fn spawn_many(_: &mut Request) -> Result<Response> {
    static OVER: AtomicUsize = AtomicUsize::new(0);
    for n in 0..1000 {
        spawn(async move {
            sleep(Duration::from_millis(n % 7)).await;
            spawn(async {
                if OVER.fetch_add(1, Ordering::Relaxed) == 999 {
                    notice("a thousand are over");
                }
            });
        });
    }
    Ok(Response::text("answered\n"))
}

/// A task that waits for as long as its worker lives.
async fn spawn_endless(_: &mut Request) -> Result<Response> {
    spawn(async {
        let _witness = Witness("spawned");
        notice("spawned begins");
        sleep(MINUTE).await;
    });
    Ok(Response::text("answered\n"))
}

/// Waits `?ms=`.
async fn wait(request: &mut Request) -> Result<Response> {
    let ms = request.arg("ms").and_then(|ms| ms.parse().ok());
    request.log(Level::Notice, "waits now");
    sleep(Duration::from_millis(ms.unwrap_or(60_000))).await;
    Ok(Response::text("waited\n"))
}

static WAITING: Mutex<Option<Waker>> = Mutex::new(None);
static CALLED: AtomicUsize = AtomicUsize::new(0);

/// Waits for a task that `answer` starts.
async fn ask(request: &mut Request) -> Result<Response> {
    let called = CALLED.load(Ordering::Relaxed);
    request.log(Level::Notice, "asks");
    poll_fn(|cx| {
        if CALLED.load(Ordering::Relaxed) != called {
            return Poll::Ready(());
        }
        *WAITING.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    })
    .await;
    Ok(Response::text("asked\n"))
}

async fn answer(_: &mut Request) -> Result<Response> {
    spawn(async {
        CALLED.fetch_add(1, Ordering::Relaxed);
        if let Some(waker) = WAITING.lock().unwrap().take() {
            waker.wake();
        }
    });
    Ok(Response::text("answered\n"))
}

/// What goes wrong on a thread that is not nginx's.
async fn elsewhere(_: &mut Request) -> Result<Response> {
    let spawns = thread::spawn(|| spawn(async {})).join();
    let counts = thread::spawn(worker_count).join();
    let logs = thread::spawn(|| log(Level::Debug, "elsewhere\nis heard")).join();
    Ok(Response::text(format!(
        "{} {} {}\n",
        spawns.is_err(),
        counts.is_err(),
        logs.is_ok()
    )))
}

content_by_rust::module! {
    background endless,
    background alone,
    background brief,
    background panics,
    background panics_at_exit,
    background starts_at_exit,
    background ticks,
    background diligent,
    background rarely,
    background naps,
    background offloads,
    background woken,
    after_answer,
    spawn_panics,
    spawn_many,
    spawn_endless,
    wait,
    ask,
    answer,
    elsewhere,
}
