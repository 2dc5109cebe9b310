//! Many requests that are all under way at once, each judged: hyper on one thread, for both protocols.
//!
//! A request is started each 1/rate seconds, asks to wait for the delay and to be told its own number. It is due at its
//! own start and the delay, both by this thread's clock, so what the client and the sockets take is part of its
//! lateness.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};

use super::data::Protocol;
use crate::client::{Usage, pin};
use crate::result::Histogram;
use crate::stop;

#[cfg(test)]
mod tests;

/// nginx's clock ticks in milliseconds and may be one behind, so a timer may end that much early.
const CLOCK: Duration = Duration::from_millis(1);

/// How long no answer may come, the delay left out, before the others are missing.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is asked, and of whom.
#[derive(Clone, Debug)]
pub struct Plan {
    pub address: SocketAddr,
    pub protocol: Protocol,
    /// Takes `n`, the body to answer with, and `delay` in seconds.
    pub path: String,
    pub waiting: u32,
    pub connections: u32,
    /// None: nobody waits.
    pub delay: Duration,
    /// Starts a second.
    pub rate: f64,
}

/// Where a wave stands, for whoever samples the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// All connections are open, and nothing has been asked.
    Open,
    /// All requests wait in the server.
    Waiting,
    /// All have been answered, and all connections are still open.
    Answered,
}

/// A wave whose answers were all right.
#[derive(Clone, Debug)]
pub struct Wave {
    /// From each request's start to its answer's end, exactly.
    pub latency: Histogram,
    /// The part of the time in which this thread was busy, from the first answer to the last; where nobody waits, from
    /// the first request.
    pub busy: f64,
}

/// Has all wait at once, in a thread on these cores.
///
/// # Errors
///
/// When an answer is wrong, missing or too early, or not all requests wait at once.
pub fn wave(cpus: &[usize], plan: &Plan, at: &mut (dyn FnMut(Moment) + Send)) -> Result<Wave> {
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            pin(cpus)?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(run(plan, at))
        });
        client.join().expect("the client's thread does not panic")
    })
}

async fn run(plan: &Plan, at: &mut (dyn FnMut(Moment) + Send)) -> Result<Wave> {
    let mut senders = Vec::new();
    for _ in 0..plan.connections {
        senders.push(Sender::open(plan).await?);
    }
    let mut status = Sender::open(plan).await?;
    status.get(plan, "/status").await?;

    at(Moment::Open);
    let waits = !plan.delay.is_zero();
    let busy = if waits { None } else { Some(Busy::begin()?) };
    let mut answers = start(plan, &mut senders).await?;
    if waits {
        all_wait(plan, &mut status, &mut answers).await?;
        at(Moment::Waiting);
    }
    let wave = collect(plan, answers, busy).await?;
    at(Moment::Answered);
    Ok(wave)
}

/// Starts all requests at an even rate, over the connections in turns.
async fn start(plan: &Plan, senders: &mut [Sender]) -> Result<Answers> {
    let mut answers = JoinSet::new();
    let begun = Instant::now();
    for n in 0..plan.waiting {
        stop::check()?;
        let due = Duration::from_secs_f64(f64::from(n) / plan.rate);
        sleep_until((begun + due).into()).await;
        let path = format!("{}?n={n}&delay={}", plan.path, plan.delay.as_secs());
        let request = plan.request(&path)?;
        let started = Instant::now();
        let sender = &mut senders[n as usize % plan.connections as usize];
        let answer = sender.send(request).await?;
        answers.spawn(judge(answer, n, started, plan.delay));
    }
    Ok(answers)
}

/// Waits for all answers. Without `busy`, the client's time counts from the first one.
async fn collect(plan: &Plan, mut answers: Answers, mut busy: Option<Busy>) -> Result<Wave> {
    let mut took = Vec::with_capacity(plan.waiting as usize);
    while !answers.is_empty() {
        let answer = timeout(plan.delay + PATIENCE, answers.join_next()).await;
        let answer = answer.with_context(|| format!("{} got no answer", answers.len()))?;
        if busy.is_none() {
            busy = Some(Busy::begin()?);
        }
        took.extend(answer.transpose()?.transpose()?);
        stop::check()?;
    }
    let busy = busy.context("nothing was asked")?.end()?;
    Ok(Wave {
        latency: histogram(took),
        busy,
    })
}

/// How busy this thread is, from a moment on.
struct Busy(Instant, Usage);

impl Busy {
    fn begin() -> Result<Self> {
        Ok(Self(Instant::now(), Usage::of_this_thread()?))
    }

    /// The part of the time.
    fn end(self) -> Result<f64> {
        let used = Usage::of_this_thread()?.since(self.1);
        Ok((used.user_ns + used.system_ns) as f64 / self.0.elapsed().as_nanos() as f64)
    }
}

/// Waits until the server says that all requests are under way there, while none is answered.
async fn all_wait(plan: &Plan, status: &mut Sender, answers: &mut Answers) -> Result<()> {
    loop {
        let page = status.get(plan, "/status").await?;
        let writing = writing(&page).context("no page of stub_status")?;
        if let Some(answer) = answers.try_join_next() {
            answer??;
            bail!(
                "the first were answered before all were under way: {writing} of {}",
                plan.waiting
            );
        }
        // The one that asks is itself under way.
        if writing == plan.waiting + 1 {
            return Ok(());
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// The number behind `Writing:` on the page of stub_status.
fn writing(page: &[u8]) -> Option<u32> {
    let (_, rest) = std::str::from_utf8(page).ok()?.split_once("Writing: ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// How long each took, or what is wrong with it.
type Answers = JoinSet<Result<Duration>>;

type Answer = Pin<Box<dyn Future<Output = hyper::Result<Response<Incoming>>> + Send>>;

/// How long the answer took, if it is the right one.
async fn judge(answer: Answer, n: u32, started: Instant, delay: Duration) -> Result<Duration> {
    let answer = answer
        .await
        .with_context(|| format!("request {n} has no answer"))?;
    let status = answer.status();
    let body = answer.into_body().collect().await;
    let took = started.elapsed();
    let body = body
        .with_context(|| format!("the answer to request {n} is cut off"))?
        .to_bytes();
    ensure!(
        status == 200 && body == format!("{n}\n"),
        "request {n} was answered {status} {:?}",
        String::from_utf8_lossy(&body[..body.len().min(40)])
    );
    ensure!(
        took + CLOCK >= delay,
        "request {n} was answered {:.1} ms before its time",
        (delay - took).as_secs_f64() * 1e3
    );
    Ok(took)
}

/// Microseconds, each value with how often it was.
fn histogram(mut took: Vec<Duration>) -> Histogram {
    took.sort_unstable();
    let micros = took.iter().map(Duration::as_micros);
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for us in micros.map(|us| us as u64) {
        match counts.last_mut() {
            Some((last, count)) if *last == us => *count += 1,
            _ => counts.push((us, 1)),
        }
    }
    Histogram(counts)
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

impl Sender {
    async fn open(plan: &Plan) -> Result<Self> {
        let stream = TcpStream::connect(plan.address)
            .await
            .context("connecting")?;
        stream.set_nodelay(true)?;
        // Goes with a RST: thousands of ports in TIME_WAIT would be missing in the next round.
        stream.set_zero_linger()?;
        let io = TokioIo::new(stream);
        Ok(match plan.protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(io).await?;
                tokio::spawn(connection);
                Self::Http1(sender)
            }
            Protocol::Http2 => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                Self::Http2(sender)
            }
        })
    }

    /// Hands the request to the connection. What is returned is its answer.
    async fn send(&mut self, request: Request<Empty<Bytes>>) -> hyper::Result<Answer> {
        Ok(match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                Box::pin(sender.send_request(request))
            }
            Self::Http2(sender) => {
                sender.ready().await?;
                Box::pin(sender.send_request(request))
            }
        })
    }

    /// The body of a 200.
    async fn get(&mut self, plan: &Plan, path: &str) -> Result<Bytes> {
        let answer = self.send(plan.request(path)?).await?.await?;
        ensure!(answer.status() == 200, "{path} answers {}", answer.status());
        Ok(answer.into_body().collect().await?.to_bytes())
    }
}

impl Plan {
    fn request(&self, path: &str) -> Result<Request<Empty<Bytes>>> {
        let request = Request::get(match self.protocol {
            Protocol::Http1 => path.to_owned(),
            Protocol::Http2 => format!("http://{}{path}", self.address),
        });
        let request = match self.protocol {
            Protocol::Http1 => request.header("Host", self.address.to_string()),
            Protocol::Http2 => request,
        };
        Ok(request.body(Empty::new())?)
    }
}
