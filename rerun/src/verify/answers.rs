//! The answer itself: status, type, exact body, framing, the next request on the same connection, and what else a
//! generator may ask.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::answer::Framing;
use super::connection::{Connection, PATIENCE, check, request};
use super::fault::Fault;
use super::{Expected, Page};

/// An answer that takes longer, without a delay, is not worth measuring.
const SLOW: Duration = Duration::from_millis(100);

/// A hidden wait would be at least as long.
const WORTH_A_WORD: Duration = Duration::from_millis(10);

/// A limit on requests a connection is often 100 or 1,000.
const MANY: usize = 1100;

/// Proves the answers of one page, and remarks on what is not wrong but good to know.
pub fn prove(
    address: SocketAddr,
    expected: &Expected,
    page: &Page,
    remarks: &mut Vec<String>,
) -> Result<(), Fault> {
    prove_same(address, expected, page)?;
    prove_split(address, page)?;
    let median = prove_quick(address, page)?;
    if median > WORTH_A_WORD {
        let ms = median.as_secs_f64() * 1e3;
        remarks.push(format!("{} takes {ms:.1} ms", page.path));
    }
    let framing = {
        let mut connection = Connection::open(address)?;
        connection.ask(page)?.answer.framing
    };
    match framing {
        Framing::Length => {}
        Framing::Chunked => remarks.push("chunked".to_owned()),
        Framing::Close => remarks.push("no Content-Length".to_owned()),
    }
    if !expected.keep_alive {
        remarks.push("one request a connection".to_owned());
    } else if !pipelines(address, page) {
        remarks.push("no pipelining".to_owned());
    }
    if expected.keep_alive
        && let Some(count) = prove_many(address, page)?
    {
        remarks.push(format!("closes a connection after {count} requests"));
    }
    remarks.extend(http_1_0(address, page));
    remarks.extend(head(address, page));
    remarks.extend(no_such_path(address));
    Ok(())
}

/// Two requests on one connection, each with its exact answer and with nothing after it.
pub fn prove_same(address: SocketAddr, expected: &Expected, page: &Page) -> Result<(), Fault> {
    let mut connection = Connection::open(address)?;
    for turn in 0..2 {
        if turn > 0 && (!expected.keep_alive || connection.ended()) {
            break;
        }
        let timed = match connection.ask(page) {
            Err(Fault::EarlyClose { got: 0 }) if turn > 0 => return Err(Fault::NotKept),
            other => other?,
        };
        check(&timed.answer, page)?;
        connection.quiet_for(Duration::from_millis(5))?;
        // Without a length the answer ends with the connection, and the server says so.
        let kept = timed.answer.keeps() && !connection.ended();
        if expected.keep_alive && !kept {
            return Err(Fault::NotKept);
        }
    }
    Ok(())
}

/// A request that comes in two parts, as a network may split it.
fn prove_split(address: SocketAddr, page: &Page) -> Result<(), Fault> {
    let mut connection = Connection::open(address)?;
    let whole = request(address, page);
    let (first, second) = whole.split_at(whole.len() - 7);
    let mut split = || {
        connection.write(first)?;
        // No answer may come before the request is whole.
        match connection.quiet_for(Duration::from_millis(5)) {
            Err(Fault::ExtraBytes(bytes)) => return Err(Fault::Impatient(bytes)),
            other => other?,
        }
        connection.write(second)?;
        check(&connection.read(false)?.answer, page)
    };
    split().map_err(|fault| match fault {
        impatient @ Fault::Impatient(_) => impatient,
        fault => Fault::Split(Box::new(fault)),
    })
}

/// The middle time of some answers.
fn prove_quick(address: SocketAddr, page: &Page) -> Result<Duration, Fault> {
    let mut times = Vec::new();
    for _ in 0..7 {
        times.push(Connection::open(address)?.ask(page)?.last_byte);
    }
    times.sort();
    match times[times.len() / 2] {
        median if median > SLOW => Err(Fault::Slow {
            median,
            wait: Duration::ZERO,
        }),
        median => Ok(median),
    }
}

/// Many requests on one connection, each answer checked: after how many the server closes it, if it does in the time
/// that there is for them.
fn prove_many(address: SocketAddr, page: &Page) -> Result<Option<usize>, Fault> {
    let begun = Instant::now();
    let mut connection = Connection::open(address)?;
    for count in 0..MANY {
        if begun.elapsed() > Duration::from_secs(1) {
            break;
        }
        let answer = match connection.ask(page) {
            Err(Fault::EarlyClose { got: 0 }) if count > 0 => return Ok(Some(count)),
            other => other?.answer,
        };
        check(&answer, page)?;
        if !answer.keeps() {
            return Ok(Some(count + 1));
        }
    }
    Ok(None)
}

/// Three requests in one packet get three answers, in order.
fn pipelines(address: SocketAddr, page: &Page) -> bool {
    let ask = || {
        let mut connection = Connection::open(address)?;
        connection.write(&request(address, page).repeat(3))?;
        for _ in 0..3 {
            check(&connection.read(false)?.answer, page)?;
        }
        connection.quiet_for(Duration::from_millis(5))
    };
    ask().is_ok()
}

/// What ab does, without and with -k.
fn http_1_0(address: SocketAddr, page: &Page) -> Option<String> {
    let ask = |header: &str| -> Result<bool, Fault> {
        let mut connection = Connection::open(address)?;
        connection.write(&format!("GET {} HTTP/1.0\r\n{header}\r\n", page.path))?;
        let answer = connection.read(false)?.answer;
        check(&answer, page)?;
        Ok(answer.keeps())
    };
    match (ask(""), ask("Connection: Keep-Alive\r\n")) {
        // It may keep the connection all the same: then ab waits for an end that does not come.
        (Err(fault), _) => Some(format!("HTTP/1.0: {fault}")),
        (Ok(_), Err(fault)) => Some(format!("HTTP/1.0 with keep-alive: {fault}")),
        (Ok(_), Ok(false)) => Some("no keep-alive for HTTP/1.0 (ab -k)".to_owned()),
        (Ok(_), Ok(true)) => None,
    }
}

fn head(address: SocketAddr, page: &Page) -> Option<String> {
    let ask = || -> Result<u16, Fault> {
        let mut connection = Connection::open(address)?;
        connection.write(&request(address, page).replacen("GET", "HEAD", 1))?;
        let answer = connection.read(true)?.answer;
        connection.quiet_for(Duration::from_millis(5))?;
        Ok(answer.status)
    };
    match ask() {
        Ok(200) => None,
        Ok(status) => Some(format!("HEAD: {status}")),
        Err(Fault::ExtraBytes(_)) => Some("HEAD: sends a body".to_owned()),
        Err(fault) => Some(format!("HEAD: {fault}")),
    }
}

/// A server that answers 200 anywhere hides a wrong path in a command line.
fn no_such_path(address: SocketAddr) -> Option<String> {
    let page = Page {
        path: "/no-such-page".to_owned(),
        body: Vec::new(),
        media_type: String::new(),
    };
    let mut connection = Connection::open(address).ok()?;
    match connection.ask(&page) {
        Ok(timed) if timed.answer.status == 200 => Some("answers any path".to_owned()),
        Ok(_) => None,
        Err(Fault::NoAnswer { .. }) => Some(format!(
            "an unknown path gets no answer in {} s",
            PATIENCE.as_secs()
        )),
        Err(fault) => Some(format!("an unknown path: {fault}")),
    }
}
