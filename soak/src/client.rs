//! A client: one session after the other, each of a kind by chance.

mod framing;
mod http1;
mod http2;
mod reader;

use crate::cases::Case;
use crate::judge::{Head, Verdict, judge};
use crate::ledger::{Outcome, Protocol};
use crate::processes::PATIENCE;
use crate::world::World;
use fastrand::Rng;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpSocket, TcpStream};

/// What a session is to be like.
#[derive(Clone, Debug)]
struct Manners {
    /// How long nothing may come before an answer counts as never given.
    patience: Duration,
    /// Takes its answers in small pieces, with pauses, into a small buffer.
    reads_slowly: bool,
    /// Sends its requests in small pieces, with pauses.
    writes_slowly: bool,
    abort: Option<Abort>,
}

/// Going before the answer is there.
#[derive(Clone, Debug)]
struct Abort {
    /// After so many bytes of HTTP/1 requests, if there are as many.
    bytes: usize,
    /// At the latest after this time.
    time: Duration,
    /// With a RST, or else with a FIN.
    reset: bool,
}

impl Manners {
    fn any(rng: &mut Rng, patience: Duration) -> Manners {
        let aborts = rng.u8(0..5) == 0;
        Manners {
            patience,
            reads_slowly: rng.u8(0..6) == 0,
            writes_slowly: rng.u8(0..6) == 0,
            abort: aborts.then(|| Abort {
                bytes: if rng.bool() {
                    rng.usize(0..2000)
                } else {
                    usize::MAX
                },
                // From a tenth of a millisecond to a third of a second, each order of magnitude as often as the other.
                time: Duration::from_secs_f64(10f64.powf(-4.0 + 3.5 * rng.f64())),
                reset: rng.bool(),
            }),
        }
    }
}

/// The clients' way through a soak; the numbers of its requests begin with its own.
pub async fn run(world: Arc<World>, mut rng: Rng, client: u64, patience: Duration) {
    let mut number = client << 32;
    while !world.is_over() {
        let protocol = match rng.u8(0..10) {
            0..2 => Protocol::Http10,
            2..5 => Protocol::Http11,
            5..7 => Protocol::Pipelined,
            _ => Protocol::Http2,
        };
        let cases = (0..rng.usize(1..12)).map(|_| {
            number += 1;
            Case::any(&mut rng, world.ports, number)
        });
        let cases: Vec<Case> = cases.collect();
        let manners = Manners::any(&mut rng, patience);
        match protocol {
            Protocol::Http2 => http2::session(&world, &mut rng, cases, manners).await,
            _ => http1::session(&world, &mut rng, protocol, cases, manners).await,
        }
        tokio::time::sleep(Duration::from_millis(rng.u64(0..30))).await;
    }
}

/// Asks once, as a client that has [`PATIENCE`].
pub async fn ask(world: &World, case: &Case) {
    let manners = Manners {
        patience: PATIENCE,
        reads_slowly: false,
        writes_slowly: false,
        abort: None,
    };
    let cases = vec![case.clone()];
    http1::session(
        world,
        &mut Rng::with_seed(0),
        Protocol::Http11,
        cases,
        manners,
    )
    .await;
}

async fn connect(address: SocketAddr, manners: &Manners) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if manners.reads_slowly {
        socket.set_recv_buffer_size(8 * 1024)?;
    }
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// One request on a connection, and what has come for it.
#[derive(Debug)]
struct Exchange {
    case: Case,
    asked: Instant,
    head: Option<Head>,
    body: Vec<u8>,
}

impl Exchange {
    fn new(case: Case) -> Exchange {
        Exchange {
            case,
            asked: Instant::now(),
            head: None,
            body: Vec::new(),
        }
    }

    /// What is wrong with what has come.
    fn judge(&self, whole: bool) -> Result<Verdict, String> {
        match &self.head {
            Some(head) => judge(&self.case, head, &self.body, whole),
            None if whole => Err("no answer".to_owned()),
            None => Ok(Verdict::Right),
        }
    }

    /// Counts a whole answer.
    fn answered(&self, world: &World, protocol: Protocol) {
        if let Some(worker) = self.worker() {
            world.seen.worker(worker);
        }
        let outcome = match self.judge(true) {
            Ok(Verdict::Right) => Outcome::Answered,
            Ok(Verdict::WithoutRedis) => match self.asked.elapsed() {
                _ if world.outages.since(self.asked) => Outcome::WithoutRedis,
                time if time >= REDIS_LIMIT => Outcome::SlowRedis,
                _ => return self.wrong(world, protocol, "502 while Redis was there"),
            },
            Err(why) => return self.wrong(world, protocol, &why),
        };
        world.ledger.count(protocol, self.case.handler, outcome);
    }

    /// Counts an answer of which no more will come.
    fn ended(&self, world: &World, protocol: Protocol, outcome: Outcome) {
        match self.judge(false) {
            Ok(_) => world.ledger.count(protocol, self.case.handler, outcome),
            Err(why) => self.wrong(world, protocol, &why),
        }
    }

    /// Who answers, once the head has come.
    fn worker(&self) -> Option<u32> {
        self.head.as_ref()?.worker
    }

    /// Whether no byte of an answer has come.
    fn is_untouched(&self) -> bool {
        self.head.is_none() && self.body.is_empty()
    }

    fn wrong(&self, world: &World, protocol: Protocol, why: &str) {
        world.ledger.wrong(
            protocol,
            self.case.handler,
            &format!("{}: {why}", self.shown()),
        );
    }

    /// The request in a message.
    fn shown(&self) -> String {
        format!("request {} for {}", self.case.number, self.case.target)
    }
}

/// How long `examples/redis-counter` waits for Redis.
const REDIS_LIMIT: Duration = Duration::from_secs(1);
