//! The client against a server that is right, and against servers that are not.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use tokio::net::TcpListener;

use super::*;

/// What the server does with the seventh request.
#[derive(Clone, Copy, PartialEq)]
enum Seventh {
    Right,
    SaysEight,
    Is500,
    IsEarly,
    IsDropped,
}

/// Counts who is under way, as stub_status does.
#[derive(Clone, Default)]
struct Writing(Arc<AtomicU32>);

impl Writing {
    async fn answer(
        self,
        request: Request<Incoming>,
        seventh: Seventh,
    ) -> Result<Response<Full<Bytes>>, std::io::Error> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let mut body = String::new();
        let mut status = 200;
        if request.uri().path() == "/status" {
            body = format!(
                "Reading: 0 Writing: {} Waiting: 0 \n",
                self.0.load(Ordering::Relaxed)
            );
        } else {
            let query = request.uri().query().unwrap_or_default();
            let (n, delay) = query.split_once("&delay=").unwrap();
            let (n, mut delay) = (n.strip_prefix("n=").unwrap(), delay.parse().unwrap());
            body += n;
            if n == "7" {
                match seventh {
                    Seventh::Right => {}
                    Seventh::SaysEight => body = "8".into(),
                    Seventh::Is500 => status = 500,
                    Seventh::IsEarly => delay /= 2.0,
                    Seventh::IsDropped => return Err(std::io::Error::other("no answer")),
                }
            }
            body.push('\n');
            sleep(Duration::from_secs_f64(delay)).await;
        }
        self.0.fetch_sub(1, Ordering::Relaxed);
        let answer = Response::builder()
            .status(status)
            .body(Full::new(body.into()));
        Ok(answer.unwrap())
    }
}

/// A server that lives as long as the test.
fn serve(protocol: Protocol, seventh: Seventh) -> SocketAddr {
    let (sender, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            let writing = Writing::default();
            loop {
                let io = TokioIo::new(listener.accept().await.unwrap().0);
                let writing = writing.clone();
                let service = service_fn(move |request| writing.clone().answer(request, seventh));
                match protocol {
                    Protocol::Http1 => {
                        tokio::spawn(http1::Builder::new().serve_connection(io, service));
                    }
                    Protocol::Http2 => {
                        tokio::spawn(
                            http2::Builder::new(TokioExecutor::new()).serve_connection(io, service),
                        );
                    }
                }
            }
        })
    });
    address.recv().unwrap()
}

fn ask(protocol: Protocol, seventh: Seventh, delay: u64) -> (Result<Wave>, Vec<Moment>) {
    let plan = Plan {
        address: serve(protocol, seventh),
        protocol,
        path: "/wait".into(),
        waiting: 20,
        connections: if protocol == Protocol::Http1 { 20 } else { 2 },
        delay: Duration::from_secs(delay),
        rate: 1_000.0,
    };
    let mut moments = Vec::new();
    let wave = wave(&[], &plan, &mut |moment| moments.push(moment));
    (wave, moments)
}

const PROTOCOLS: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

#[test]
fn all_wait_at_once_and_are_answered() {
    for protocol in PROTOCOLS {
        let (wave, moments) = ask(protocol, Seventh::Right, 1);
        let latency = wave.unwrap().latency;
        assert_eq!(latency.count(), 20);
        assert!(latency.quantile_us(0.0) >= Some(999_000));
        assert_eq!(moments, [Moment::Open, Moment::Waiting, Moment::Answered]);
    }
}

#[test]
fn where_nobody_waits_nobody_is_waited_for() {
    for protocol in PROTOCOLS {
        let (wave, moments) = ask(protocol, Seventh::Right, 0);
        assert_eq!(wave.unwrap().latency.count(), 20);
        assert_eq!(moments, [Moment::Open, Moment::Answered]);
    }
}

#[track_caller]
fn fails(seventh: Seventh, why: &str) {
    for protocol in PROTOCOLS {
        let (wave, _) = ask(protocol, seventh, 1);
        let error = format!("{:#}", wave.unwrap_err());
        assert!(error.contains(why), "{protocol}: {error}");
    }
}

#[test]
fn another_requests_body_is_wrong() {
    fails(Seventh::SaysEight, "request 7 was answered 200 OK \"8\\n\"");
}

#[test]
fn another_status_is_wrong() {
    fails(Seventh::Is500, "request 7 was answered 500");
}

#[test]
fn an_answer_before_its_time_is_wrong() {
    fails(Seventh::IsEarly, "ms before its time");
}

#[test]
fn a_request_without_an_answer_is_missed() {
    fails(Seventh::IsDropped, "request 7 has no answer");
}

#[test]
fn the_page_of_stub_status() {
    let page = b"Active connections: 9002 \nReading: 0 Writing: 9002 Waiting: 0 \n";
    assert_eq!(writing(page), Some(9002));
    assert_eq!(writing(b"<html>"), None);
}

#[test]
fn latencies_are_counted_to_the_microsecond() {
    let took = [3, 1, 3].map(Duration::from_micros);
    assert_eq!(histogram(took.into()).0, [(1, 1), (3, 2)]);
}
