//! HTTP/2 with prior knowledge: many streams on a connection.

use super::{Exchange, Manners, connect};
use crate::cases::Case;
use crate::judge::{Head, is_enough};
use crate::ledger::{Outcome, Protocol};
use crate::world::{Connection, World};
use bytes::Bytes;
use fastrand::Rng;
use futures::future::join_all;
use h2::client::SendRequest;
use h2::{Reason, SendStream};
use http::Request;
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};

/// Sends the cases over one connection, and over others where the server lets it go.
pub async fn session(world: &World, rng: &mut Rng, cases: Vec<Case>, manners: Manners) {
    let mut left = cases;
    while !left.is_empty() {
        left = connection(world, rng, left, &manners).await;
    }
}

/// What the streams of one connection know of it.
struct Shared<'a> {
    world: &'a World,
    manners: &'a Manners,
    connection: Connection<'a>,
    /// Whether the client has gone.
    left: AtomicBool,
    /// The worker at the other end; 0 before its first answer.
    worker: AtomicU32,
}

/// Gives back the cases that want another connection.
async fn connection(
    world: &World,
    rng: &mut Rng,
    cases: Vec<Case>,
    manners: &Manners,
) -> Vec<Case> {
    let failed = |why: String| {
        world.ledger.wrong(Protocol::Http2, cases[0].handler, &why);
        Vec::new()
    };
    let begun = Instant::now();
    let stream = match connect(world.http2, manners).await {
        Ok(stream) => stream,
        Err(e) => return failed(format!("no connection: {e}")),
    };
    if manners.abort.as_ref().is_some_and(|abort| abort.reset) {
        // A failure would only make it a FIN.
        let _ = stream.set_zero_linger();
    }
    let client = stream.local_addr().expect("it is connected").port();
    let shared = Shared {
        world,
        manners,
        connection: world.connections.open((world.http2.port(), client), begun),
        left: AtomicBool::new(false),
        worker: AtomicU32::new(0),
    };
    let window = if manners.reads_slowly { 1000 } else { 65_535 };
    let handshake = h2::client::Builder::new()
        .initial_window_size(window)
        .handshake(stream)
        .await;
    let (send, driver) = match handshake {
        Ok(both) => both,
        Err(_) if shared.connection.is_cut() => return cases,
        Err(e) => return failed(format!("no handshake: {e}")),
    };
    let driver = tokio::spawn(driver);
    // Streams that are reset one by one, or a connection that goes with all of them.
    let resets_streams = manners.abort.is_some() && rng.u8(0..3) > 0;
    let streams = cases.into_iter().map(|case| {
        let abort = manners.abort.as_ref().filter(|_| resets_streams);
        let abort = abort.map(|abort| abort.time.mul_f64(2.0 * rng.f64()));
        stream_of(&shared, send.clone(), case, abort, rng.fork())
    });
    let streams: Vec<_> = streams.collect();
    let goes = manners.abort.as_ref().filter(|_| !resets_streams);
    let goes = goes.map_or(Duration::MAX, |abort| abort.time);
    let mut all = std::pin::pin!(join_all(streams));
    let again = tokio::select! {
        again = &mut all => again,
        () = sleep(goes) => {
            shared.left.store(true, Ordering::Relaxed);
            driver.abort();
            all.await
        }
    };
    drop(send);
    driver.abort();
    again.into_iter().flatten().collect()
}

/// Why an answer is not whole.
enum Broken {
    /// By the client, which has what it needs, or takes its request back.
    Left,
    /// By the server or the connection.
    Failed(h2::Error),
    /// Nothing has come for too long.
    Silent,
}

impl From<h2::Error> for Broken {
    fn from(error: h2::Error) -> Broken {
        Broken::Failed(error)
    }
}

impl From<Elapsed> for Broken {
    fn from(_: Elapsed) -> Broken {
        Broken::Silent
    }
}

/// One request; gives it back where it wants another connection.
async fn stream_of(
    shared: &Shared<'_>,
    send: SendRequest<Bytes>,
    case: Case,
    abort: Option<Duration>,
    rng: Rng,
) -> Option<Case> {
    let (world, protocol) = (shared.world, Protocol::Http2);
    let mut exchange = Exchange::new(case);
    let mut sent = None;
    let broken = tokio::select! {
        done = exchange_on(shared, send, &mut exchange, &mut sent, rng) => done,
        () = sleep(abort.unwrap_or(Duration::MAX)) => Err(Broken::Left),
    };
    let begun = sent.is_some();
    if let (Err(Broken::Left), Some(sent)) = (&broken, &mut sent) {
        sent.send_reset(Reason::CANCEL);
    }
    if let Some(worker) = exchange.head.as_ref().and_then(|head| head.worker) {
        shared.worker.store(worker, Ordering::Relaxed);
    }
    let error = match broken {
        Ok(()) => {
            exchange.answered(world, protocol);
            return None;
        }
        Err(Broken::Left) => {
            if begun {
                exchange.ended(world, protocol, Outcome::Aborted);
            }
            return None;
        }
        Err(Broken::Failed(error)) => error,
        Err(Broken::Silent) => {
            exchange.wrong(
                world,
                protocol,
                &format!("nothing within {:?}", shared.manners.patience),
            );
            return None;
        }
    };
    if shared.left.load(Ordering::Relaxed) {
        if begun {
            exchange.ended(world, protocol, Outcome::Aborted);
        }
        return None;
    }
    if shared.connection.is_cut() {
        if !begun {
            return Some(exchange.case);
        }
        exchange.ended(world, protocol, Outcome::Cut);
        return None;
    }
    let worker = shared.worker.load(Ordering::Relaxed);
    let announced = error.is_go_away() && error.reason() == Some(Reason::NO_ERROR)
        || error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM);
    let closed = !error.is_reset() && !error.is_go_away();
    if exchange.is_untouched() && (announced || closed) {
        if begun {
            if !announced {
                world
                    .seen
                    .closed_without_a_word(worker, format!("{}: {error}", exchange.shown()));
            }
            exchange.ended(world, protocol, Outcome::SentAgain);
        }
        return Some(exchange.case);
    }
    exchange.wrong(world, protocol, &error.to_string());
    None
}

/// Sends the request and reads its answer into `exchange`. The stream is in `sent` as soon as there is one.
async fn exchange_on(
    shared: &Shared<'_>,
    send: SendRequest<Bytes>,
    exchange: &mut Exchange,
    sent: &mut Option<SendStream<Bytes>>,
    mut rng: Rng,
) -> Result<(), Broken> {
    let patience = shared.manners.patience;
    let mut send = timeout(patience, send.ready()).await??;
    exchange.asked = Instant::now();
    let case = &exchange.case;
    let request = Request::builder()
        .method(if case.body.is_some() { "POST" } else { "GET" })
        .uri(format!("http://localhost{}", case.target))
        .header("x-number", case.number);
    let request = request.body(()).expect("targets are URIs");
    let (answer, stream) = send.send_request(request, case.body.is_none())?;
    let stream = sent.insert(stream);
    let body = case.body.clone();
    let writes = async {
        if let Some(body) = body {
            // Where the server reads no more, its answer tells why, or that there is none.
            let _ = write(stream, body.into(), shared.manners.writes_slowly, &mut rng).await;
        }
        std::future::pending::<Infallible>().await
    };
    let reads = async {
        let (head, mut body) = timeout(patience, answer).await??.into_parts();
        let value = |name| head.headers.get(name)?.to_str().ok()?.parse().ok();
        exchange.head = Some(Head {
            status: head.status.as_u16(),
            number: value("x-number"),
            worker: value("x-worker").and_then(|pid| u32::try_from(pid).ok()),
        });
        while let Some(data) = timeout(patience, body.data()).await? {
            let data = data?;
            exchange.body.extend(&data);
            if is_enough(&exchange.case, &exchange.body) {
                return Err(Broken::Left);
            }
            if shared.manners.reads_slowly {
                sleep(Duration::from_millis(1)).await;
            }
            body.flow_control().release_capacity(data.len())?;
        }
        Ok(())
    };
    tokio::select! {
        done = reads => done,
        never = writes => match never {},
    }
}

/// Writes a body, as fast as the server takes it.
async fn write(
    stream: &mut SendStream<Bytes>,
    mut body: Bytes,
    slowly: bool,
    rng: &mut Rng,
) -> Result<(), h2::Error> {
    while !body.is_empty() {
        let wanted = if slowly {
            rng.usize(1..3000)
        } else {
            body.len()
        };
        stream.reserve_capacity(wanted.min(body.len()));
        let Some(capacity) = poll_fn(|cx| stream.poll_capacity(cx)).await else {
            return Ok(());
        };
        let piece = body.split_to(capacity?.min(body.len()));
        stream.send_data(piece, body.is_empty())?;
        if slowly {
            sleep(Duration::from_micros(rng.u64(0..3000))).await;
        }
    }
    Ok(())
}
