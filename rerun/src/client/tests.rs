//! The client against servers that each do one thing wrong, and against one that does everything right.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::{sleep, spawn};
use std::time::Duration;

use super::null::{self, Null};
use super::{Expect, Plan, Until, run};
use crate::result::{ClientSample, Failure};

const RIGHT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n";

/// Each connection is given to a copy of `serve`. The threads end with the test's process.
fn server(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            spawn(move || serve(stream));
        }
    });
    address
}

/// Answers every request with these bytes and keeps the connection.
fn answering(bytes: &'static str) -> SocketAddr {
    server(
        move |mut stream| {
            while ask(&mut stream) && stream.write_all(bytes.as_bytes()).is_ok() {}
        },
    )
}

/// Whether another request has come.
fn ask(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 1024];
    matches!(stream.read(&mut buffer), Ok(n) if n > 0)
}

fn plan(address: SocketAddr) -> Plan {
    Plan {
        address,
        path: "/".into(),
        expect: Expect::body("OK\n"),
        connections: 3,
        keep_alive: true,
        open_rate: None,
        warm_up: Duration::ZERO,
        until: Until::Requests(30),
        timeout: Duration::from_secs(20),
    }
}

fn go(plan: &Plan) -> ClientSample {
    run(plan, &mut |_| Ok(())).unwrap()
}

/// Nothing but failures of one kind.
fn only(failure: Failure, sample: &ClientSample) {
    assert_eq!(sample.answers, 0, "{sample:?}");
    assert_eq!(
        sample.failures.keys().collect::<Vec<_>>(),
        [&failure],
        "{sample:?}"
    );
    assert!(sample.latency.0.is_empty());
}

fn latencies(sample: &ClientSample) -> u64 {
    sample.latency.0.iter().map(|(_, count)| count).sum()
}

#[test]
fn right_answers_are_counted_exactly() {
    let sample = go(&plan(answering(RIGHT)));
    assert_eq!(sample.answers, 30);
    assert_eq!(latencies(&sample), 30);
    assert!(sample.failures.is_empty(), "{sample:?}");
    assert_eq!(
        (sample.opened, sample.connections, sample.not_kept),
        (3, 3, 0)
    );
}

#[test]
fn an_answer_in_single_bytes() {
    let address = server(|mut stream| {
        stream.set_nodelay(true).unwrap();
        while ask(&mut stream) {
            for byte in RIGHT.bytes() {
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                sleep(Duration::from_micros(50));
            }
        }
    });
    let sample = go(&plan(address));
    assert_eq!(
        (sample.answers, sample.failures.len()),
        (30, 0),
        "{sample:?}"
    );
}

#[test]
fn a_long_answer() {
    let body = "x".repeat(300_000);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let answer = head + &body;
    let address = server(
        move |mut stream| {
            while ask(&mut stream) && stream.write_all(answer.as_bytes()).is_ok() {}
        },
    );
    let sample = go(&Plan {
        expect: Expect::body(body),
        ..plan(address)
    });
    assert_eq!(
        (sample.answers, sample.failures.len()),
        (30, 0),
        "{sample:?}"
    );
}

#[test]
fn one_request_a_connection() {
    let address = server(|mut stream| {
        ask(&mut stream);
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nOK\n");
    });
    let sample = go(&Plan {
        keep_alive: false,
        ..plan(address)
    });
    assert_eq!((sample.answers, sample.opened), (30, 30), "{sample:?}");
    assert!(sample.failures.is_empty(), "{sample:?}");
}

#[test]
fn one_request_a_connection_though_the_server_keeps_it() {
    let sample = go(&Plan {
        keep_alive: false,
        ..plan(answering(RIGHT))
    });
    assert_eq!((sample.answers, sample.opened), (30, 30), "{sample:?}");
}

#[test]
fn a_server_that_does_not_keep_connections() {
    let address = server(|mut stream| {
        ask(&mut stream);
        let _ = stream.write_all(RIGHT.as_bytes());
        // Says nothing of it, and closes.
        let _ = stream.shutdown(Shutdown::Write);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    });
    let sample = go(&plan(address));
    assert!(
        sample.not_kept > 0 || !sample.failures.is_empty(),
        "{sample:?}"
    );
    assert!(sample.opened > 3);
}

/// However few answers end in the window: what is cut off at one edge is not made up for at the other.
#[test]
fn littles_law_holds_for_the_window() {
    let address = server(|mut stream| {
        while ask(&mut stream) {
            sleep(Duration::from_millis(30));
            let _ = stream.write_all(RIGHT.as_bytes());
        }
    });
    let sample = go(&Plan {
        warm_up: Duration::from_millis(50),
        until: Until::Elapsed(Duration::from_millis(20)),
        ..plan(address)
    });
    let at_a_time = sample.answers as f64 * sample.mean_us / 1e6 / sample.seconds;
    assert!((at_a_time - 3.0).abs() < 0.03, "{at_a_time}: {sample:?}");
}

/// As .NET's HttpListener does, after more answers.
#[test]
fn a_server_that_says_when_it_closes() {
    let address = server(|mut stream| {
        for _ in 0..4 {
            ask(&mut stream);
            let _ = stream.write_all(RIGHT.as_bytes());
        }
        ask(&mut stream);
        let _ = stream.write_all(
            RIGHT
                .replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        );
    });
    let sample = go(&plan(address));
    assert_eq!(
        (sample.answers, sample.failures.len()),
        (30, 0),
        "{sample:?}"
    );
    // Five answers each, and three of the connections may have had fewer.
    assert!(sample.not_kept >= 4 && sample.opened > 4, "{sample:?}");
}

#[test]
fn a_server_that_closes_and_does_not_say_when() {
    let address = server(|mut stream| {
        for _ in 0..4 {
            ask(&mut stream);
            let _ = stream.write_all(RIGHT.as_bytes());
        }
        ask(&mut stream);
    });
    let sample = go(&plan(address));
    let seen: Vec<&String> = sample.examples.values().collect();
    let why = "behind 4 answers, without \"Connection: close\" before";
    assert!(seen.iter().any(|seen| seen.ends_with(why)), "{sample:?}");
}

#[test]
fn without_a_length_the_end_is_the_end() {
    let address = server(|mut stream| {
        ask(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nOK\n");
    });
    let sample = go(&plan(address));
    assert_eq!((sample.answers, sample.not_kept), (30, 30), "{sample:?}");
    assert!(sample.failures.is_empty(), "{sample:?}");
}

#[test]
fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    only(Failure::Connect, &go(&plan(address)));
}

#[test]
fn an_error_page() {
    let page = "HTTP/1.1 404 Not Found\r\nContent-Length: 19\r\n\r\n404 page not found\n";
    let sample = go(&plan(answering(page)));
    only(Failure::WrongStatus, &sample);
    assert!(sample.examples[&Failure::WrongStatus].contains("404 page not found"));
}

#[test]
fn another_body() {
    let address = answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nNO\n");
    only(Failure::WrongBody, &go(&plan(address)));
}

#[test]
fn another_length() {
    let address = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK");
    only(Failure::WrongLength, &go(&plan(address)));
}

#[test]
fn garbage() {
    only(Failure::Malformed, &go(&plan(answering("no HTTP\r\n\r\n"))));
}

#[test]
fn more_than_the_answer() {
    let address = answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\nOK\n");
    only(Failure::ExtraBytes, &go(&plan(address)));
}

#[test]
fn more_than_the_answer_before_the_close() {
    let address = server(|mut stream| {
        ask(&mut stream);
        let _ = stream.write_all(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nOK\nOK\n",
        );
    });
    let plan = Plan {
        keep_alive: false,
        ..plan(address)
    };
    only(Failure::ExtraBytes, &go(&plan));
}

#[test]
fn closed_before_the_answer_was_whole() {
    let address = server(|mut stream| {
        ask(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nO");
    });
    only(Failure::EarlyClose, &go(&plan(address)));
}

#[test]
fn reset() {
    let address = server(|mut stream| {
        ask(&mut stream);
        let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    });
    only(Failure::Reset, &go(&plan(address)));
}

#[test]
fn no_answer() {
    let address = server(|mut stream| while ask(&mut stream) {});
    let plan = Plan {
        timeout: Duration::from_millis(50),
        until: Until::Requests(6),
        ..plan(address)
    };
    only(Failure::Timeout, &go(&plan));
}

#[test]
fn no_answer_within_a_window_that_is_shorter_than_the_timeout() {
    let address = server(|mut stream| while ask(&mut stream) {});
    let plan = Plan {
        timeout: Duration::from_millis(200),
        until: Until::Elapsed(Duration::from_millis(20)),
        ..plan(address)
    };
    let sample = go(&plan);
    only(Failure::Timeout, &sample);
    assert_eq!(sample.failures[&Failure::Timeout], 3);
}

#[test]
fn an_answer_before_its_delay_is_over() {
    let plan = Plan {
        expect: Expect::body("OK\n").after(Duration::from_secs(10)),
        ..plan(answering(RIGHT))
    };
    only(Failure::TooEarly, &go(&plan));
}

#[test]
fn a_delay() {
    let delay = Duration::from_millis(20);
    let address = server(move |mut stream| {
        while ask(&mut stream) {
            sleep(delay);
            if stream.write_all(RIGHT.as_bytes()).is_err() {
                return;
            }
        }
    });
    let sample = go(&Plan {
        expect: Expect::body("OK\n").after(delay),
        ..plan(address)
    });
    assert_eq!(
        (sample.answers, sample.failures.len()),
        (30, 0),
        "{sample:?}"
    );
    assert!(sample.latency.0[0].0 >= 19_900, "{sample:?}");
}

#[test]
fn an_open_loop_counts_from_when_a_request_was_due() {
    // One connection, 10 ms a request, one due each millisecond: the last of 50 waits for 49 others.
    let address = server(move |mut stream| {
        while ask(&mut stream) {
            sleep(Duration::from_millis(10));
            if stream.write_all(RIGHT.as_bytes()).is_err() {
                return;
            }
        }
    });
    let sample = go(&Plan {
        connections: 1,
        open_rate: Some(1000.0),
        until: Until::Elapsed(Duration::from_millis(50)),
        ..plan(address)
    });
    assert_eq!(latencies(&sample) + sample.unsent, 50, "{sample:?}");
    assert_eq!(sample.unsent, 0);
    assert!(sample.latency.0.last().unwrap().0 >= 440_000, "{sample:?}");
    assert!(sample.answers <= 6);
}

#[test]
fn an_open_loop_with_one_request_a_connection() {
    let null = Null::start(&[]).unwrap();
    let sample = go(&Plan {
        expect: Expect::body(null::BODY),
        keep_alive: false,
        open_rate: Some(500.0),
        until: Until::Elapsed(Duration::from_millis(100)),
        ..plan(null.address)
    });
    assert_eq!(latencies(&sample), 50, "{sample:?}");
    assert!(sample.failures.is_empty(), "{sample:?}");
}

#[test]
fn the_warm_up_is_not_measured() {
    let null = Null::start(&[]).unwrap();
    let sample = go(&Plan {
        expect: Expect::body(null::BODY),
        warm_up: Duration::from_millis(50),
        ..plan(null.address)
    });
    assert!(sample.failures.is_empty(), "{sample:?}");
    assert!((30..=33).contains(&sample.answers), "{sample:?}");
    assert_eq!(sample.opened, 3);
}
