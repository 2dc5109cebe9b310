//! Wakes from other threads, from other requests, at the wrong time and too often.

use content_by_rust::{Level, Request, Response, Result};
use futures::channel::oneshot;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::task::{Poll, Waker};
use std::thread;

/// Waits until somebody who listens on `?port=` has sent a byte, on a thread of its own: no timer
/// of nginx's is involved, and the test says when.
pub async fn byte(request: &mut Request) -> Result<Response> {
    let port: u16 = request.arg("port").unwrap_or_default().parse()?;
    let arrived = Arc::new(Mutex::new(None));
    let mut thread = None;
    request.log(Level::Notice, "waits for a byte");
    let byte = std::future::poll_fn(|cx| {
        if let Some(byte) = *arrived.lock().unwrap() {
            return Poll::Ready(byte);
        }
        thread.get_or_insert_with(|| {
            let (arrived, waker) = (Arc::clone(&arrived), cx.waker().clone());
            thread::spawn(move || {
                let mut byte = [b'-'];
                if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
                    let _ = stream.read_exact(&mut byte);
                }
                *arrived.lock().unwrap() = Some(byte[0]);
                waker.wake();
            })
        });
        Poll::Pending
    })
    .await;
    Ok(Response::text(format!("{}\n", char::from(byte))))
}

/// One thread wakes: `?how=` once, twice, or before the poll has returned.
pub async fn thread_wakes(request: &mut Request) -> Result<Response> {
    let how = request.arg("how").unwrap_or_default().to_owned();
    let done = Arc::new(AtomicBool::new(false));
    let mut polls = 0;
    std::future::poll_fn(|cx| {
        polls += 1;
        if done.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if polls == 1 {
            let (done, waker, twice) = (Arc::clone(&done), cx.waker().clone(), how == "twice");
            let thread = thread::spawn(move || {
                done.store(true, Ordering::Release);
                if twice {
                    waker.wake_by_ref();
                }
                waker.wake();
            });
            if how == "before" {
                thread.join().unwrap();
            }
        }
        Poll::Pending
    })
    .await;
    assert!((2..=3).contains(&polls), "{polls} polls");
    Ok(Response::text("woken\n"))
}

const THREADS: usize = 4;
const WAKES: usize = 5_000;

/// Twenty thousand wakes from four threads; no more polls than wakes, and none is lost at the end.
pub async fn storm(_: &mut Request) -> Result<Response> {
    let done = Arc::new(AtomicUsize::new(0));
    let mut polls = 0;
    std::future::poll_fn(|cx| {
        polls += 1;
        if polls == 1 {
            for _ in 0..THREADS {
                let (done, waker) = (Arc::clone(&done), cx.waker().clone());
                thread::spawn(move || {
                    for _ in 0..WAKES {
                        done.fetch_add(1, Ordering::Release);
                        let clone = waker.clone();
                        clone.wake();
                    }
                });
            }
        }
        match done.load(Ordering::Acquire) {
            done if done == THREADS * WAKES => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
    assert!(polls <= 1 + THREADS * WAKES);
    Ok(Response::text("calm\n"))
}

static KEPT: Mutex<Vec<Waker>> = Mutex::new(Vec::new());
static RELEASED: AtomicBool = AtomicBool::new(false);

/// Leaves its waker behind and waits for `release`; answers how often it was polled.
pub async fn keep_waker(request: &mut Request) -> Result<Response> {
    let mut polls = 0;
    std::future::poll_fn(|cx| {
        polls += 1;
        KEPT.lock().unwrap().push(cx.waker().clone());
        if polls == 1 {
            request.log(Level::Notice, "left its waker");
        }
        match RELEASED.load(Ordering::Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    Ok(Response::text(format!("{polls}\n")))
}

/// Calls the first waker that was left, thrice: here, or `?from=thread`; answers how many there
/// are. They are left for the next time.
pub async fn wake_kept(request: &mut Request) -> Result<Response> {
    let wake = || {
        let kept = KEPT.lock().unwrap().clone();
        if let Some(waker) = kept.first() {
            waker.wake_by_ref();
            let clone = waker.clone();
            clone.wake();
            waker.wake_by_ref();
        }
        kept.len()
    };
    let count = match request.arg("from") {
        Some("thread") => thread::spawn(wake).join().unwrap(),
        _ => wake(),
    };
    Ok(Response::text(format!("{count}\n")))
}

/// Lets those who wait in `keep_waker` go.
pub async fn release(_: &mut Request) -> Result<Response> {
    RELEASED.store(true, Ordering::Relaxed);
    KEPT.lock().unwrap().drain(..).for_each(Waker::wake);
    Ok(Response::text("released\n"))
}

type Channels = RefCell<HashMap<String, oneshot::Sender<String>>>;

thread_local! {
    static CHANNELS: LazyLock<Channels> = LazyLock::new(Channels::default);
}

fn name(request: &Request) -> String {
    request.arg("name").unwrap_or_default().to_owned()
}

/// Answers what another request sends it.
pub async fn receive(request: &mut Request) -> Result<Response> {
    let (sender, receiver) = oneshot::channel();
    CHANNELS.with(|channels| channels.borrow_mut().insert(name(request), sender));
    request.log(Level::Notice, "listens");
    Ok(Response::text(format!("{}\n", receiver.await?)))
}

/// Sends `?text=` to the request that listens under `?name=`.
pub async fn send(request: &mut Request) -> Result<Response> {
    let text = request.arg("text").unwrap_or_default().to_owned();
    let sender = CHANNELS.with(|channels| channels.borrow_mut().remove(&name(request)));
    let sent = sender.map(|sender| sender.send(text));
    Ok(Response::text(format!("{sent:?}\n")))
}
