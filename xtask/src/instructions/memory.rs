//! Resident bytes for each of many requests that wait.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::server::{DESCRIPTORS, Place};
use super::{Row, http};

/// How many wait at once.
const WAITING: u64 = 9_000;

const ROWS: [Row; 3] = [
    Row::new("reply", "/long-/h", WAITING),
    Row::new("echo_sleep", "/long-/e", WAITING),
    Row::new("ngx.sleep", "/long-/l", WAITING),
];

/// What `reply` must not pass, by echo_sleep's.
const BOUND: f64 = 1.0;

pub fn print(place: &Place) -> Result<()> {
    println!(
        "\nresident bytes for each of {WAITING} waiting requests (delay of 60 s, limit of open files at least {DESCRIPTORS})"
    );
    let mut of_rows = Vec::new();
    for row in &ROWS {
        let each = measure(place, row)?;
        println!("  {:<12}{each:>7.0}", row.name);
        of_rows.push(each);
    }
    let ratio = of_rows[0] / of_rows[1];
    let holds = ratio <= BOUND;
    println!(
        "  reply / echo_sleep must be <={BOUND:.2}, is {ratio:.3}: {}\n\
         - `ok` is no row: its 20 ms are over before so many wait",
        if holds { "yes" } else { "NO" }
    );
    Ok(())
}

fn measure(place: &Place, row: &Row) -> Result<f64> {
    let server = place.start(&[])?;
    // The first request makes what a worker has once.
    let first = ask(place, row.path)?;
    wait_for(place, 1)?;
    let before = resident(server.pid)?;
    let mut others = Vec::new();
    for _ in 0..WAITING {
        others.push(ask(place, row.path)?);
    }
    wait_for(place, WAITING + 1)?;
    let after = resident(server.pid)?;
    // None may have answered meanwhile.
    for connection in others.iter().chain([&first]) {
        connection.set_nonblocking(true)?;
        let mut byte = [0];
        if !matches!((&*connection).read(&mut byte), Err(e) if e.kind() == std::io::ErrorKind::WouldBlock)
        {
            bail!("{} did not wait", row.path);
        }
    }
    Ok((after - before) as f64 / WAITING as f64)
}

fn ask(place: &Place, path: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(place.address).context("connecting")?;
    let host = place.address;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")?;
    Ok(stream)
}

/// Waits until the worker has so many requests under way.
fn wait_for(place: &Place, waiting: u64) -> Result<()> {
    let begun = Instant::now();
    loop {
        let answer = http::get(&place.address.to_string(), "/status")?;
        // The one that asks is itself under way.
        let writing = answer.body().and_then(writing).context("no status")?;
        if writing == waiting + 1 {
            return Ok(());
        }
        if begun.elapsed() > Duration::from_secs(20) {
            bail!("{writing} requests are under way, not {}", waiting + 1);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The number behind `Writing:` on the page of stub_status.
fn writing(page: &str) -> Option<u64> {
    let (_, rest) = page.split_once("Writing: ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The process's resident bytes.
fn resident(pid: libc::pid_t) -> Result<u64> {
    let file = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&file).with_context(|| format!("reading {file}"))?;
    resident_in(&text).with_context(|| format!("no VmRSS in {file}"))
}

fn resident_in(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_stub_status() {
        let page = "Active connections: 9002 \nserver accepts handled requests\n 9002 9002 9002 \nReading: 0 Writing: 9002 Waiting: 0 \n";
        assert_eq!(writing(page), Some(9002));
        assert_eq!(writing("<html>"), None);
    }

    #[test]
    fn the_resident_set() {
        let status = "VmPeak:\t  9000 kB\nVmRSS:\t    8216 kB\nThreads:\t1\n";
        assert_eq!(resident_in(status), Some(8216 * 1024));
        assert_eq!(resident_in(""), None);
    }
}
