//! System calls for each request, counted by strace.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::server::Place;
use super::spread::Spread;
use super::{Row, h2load};

const ROWS: [Row; 4] = [
    Row::new("ok", "/ok-20/h", 100),
    Row::new("tokio_ok", "/ok-20/t", 100),
    Row::new("echo_sleep", "/ok-20/e", 100),
    Row::new("ngx.sleep", "/ok-20/l", 100),
];

/// What `ok` must not pass, by echo_sleep's.
const BOUND: f64 = 1.0;
const REQUESTS: (u64, u64) = (1_000, 11_000);

const ROUNDS: usize = 3;

/// How long an nginx is watched that has nothing to do, after a moment in which it comes to rest.
const IDLE: Duration = Duration::from_secs(5);
const REST: Duration = Duration::from_millis(500);

type Calls = BTreeMap<String, u64>;
/// Calls for each request.
type Each = Vec<(String, f64)>;

pub fn print(place: &Place) -> Result<()> {
    println!(
        "\nsystem calls of all threads for a request: strace -f -c, c = 100, kept alive; median of {ROUNDS} rounds (least-most)"
    );
    let mut rounds: Vec<Vec<Each>> = ROWS.iter().map(|_| vec![]).collect();
    for _ in 0..ROUNDS {
        for (row, rounds) in ROWS.iter().zip(&mut rounds) {
            let few = count(place, row, REQUESTS.0)?;
            let many = count(place, row, REQUESTS.1)?;
            rounds.push(per_request((&few, REQUESTS.0), (&many, REQUESTS.1)));
        }
    }
    let mut totals = Vec::new();
    for (row, rounds) in ROWS.iter().zip(&rounds) {
        let total = Spread::of(
            rounds
                .iter()
                .map(|each| each.iter().map(|call| call.1).sum()),
        );
        println!(
            "  {:<12}{:>7.3} ({:.3}-{:.3})   {}",
            row.name,
            total.median,
            total.min,
            total.max,
            listed(&rounds[0])
        );
        totals.push((row.name, total.median));
    }
    let total = |name: &str| totals.iter().find(|row| row.0 == name).map(|row| row.1);
    if let (Some(ok), Some(echo)) = (total("ok"), total("echo_sleep")) {
        println!("  {}", verdict(ok / echo));
    }
    println!(
        "  idle after requests of tokio_ok's: {} calls in {} s",
        idle(place)?,
        IDLE.as_secs()
    );
    println!(
        "- a request is one recvfrom and one writev; how many share a turn of the loop, and so its epoll_wait, is chance"
    );
    Ok(())
}

fn verdict(ratio: f64) -> String {
    let holds = ratio <= BOUND;
    format!(
        "ok / echo_sleep must be <={BOUND:.2}, is {ratio:.3}: {}",
        if holds { "yes" } else { "NO" }
    )
}

/// The calls that an nginx begins while nobody asks it for anything, though tokio's threads run.
fn idle(place: &Place) -> Result<usize> {
    let file = place.file("strace.out");
    let wrapper = ["strace", "-f", "-ttt", "-o", &file.display().to_string()].map(str::to_owned);
    let server = place.start(&wrapper)?;
    h2load::run(&place.url("/ok-20/t"), 10, 100)?;
    thread::sleep(REST);
    let from = SystemTime::now();
    thread::sleep(IDLE);
    let to = SystemTime::now();
    server.quit()?;
    let text = fs::read_to_string(&file).context("reading strace's lines")?;
    Ok(begun(&text, from, to))
}

/// How many of strace's lines, `pid seconds.microseconds call(...`, are of a call begun in this time.
fn begun(text: &str, from: SystemTime, to: SystemTime) -> usize {
    let seconds = |time: SystemTime| {
        time.duration_since(UNIX_EPOCH)
            .map_or(0.0, |d| d.as_secs_f64())
    };
    let is_within = |line: &&str| {
        let mut words = line.split_whitespace().skip(1);
        let time = words.next().and_then(|time| time.parse::<f64>().ok());
        time.is_some_and(|time| (seconds(from)..seconds(to)).contains(&time))
            && words.next() != Some("<...")
    };
    text.lines().filter(is_within).count()
}

fn count(place: &Place, row: &Row, requests: u64) -> Result<Calls> {
    let file = place.file("strace.out");
    let wrapper = ["strace", "-f", "-c", "-o", &file.display().to_string()].map(str::to_owned);
    let server = place.start(&wrapper)?;
    h2load::run(&place.url(row.path), row.connections, requests)?;
    server.quit()?;
    let text = fs::read_to_string(&file).context("reading strace's count")?;
    parse(&text).with_context(|| format!("strace says what is not understood:\n{text}"))
}

/// `% time  seconds  usecs/call  calls  [errors]  syscall`, between two lines of dashes.
fn parse(text: &str) -> Option<Calls> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("---"));
    lines.next()?;
    let lines = lines.take_while(|line| !line.starts_with("---"));
    let calls: Option<Calls> = lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Some(((*words.last()?).to_owned(), words.get(3)?.parse().ok()?))
        })
        .collect();
    calls.filter(|calls| !calls.is_empty())
}

/// The most frequent first.
fn per_request(few: (&Calls, u64), many: (&Calls, u64)) -> Each {
    let requests = (many.1 - few.1) as f64;
    let mut each: Each = many
        .0
        .iter()
        .map(|(name, count)| {
            let before = few.0.get(name).copied().unwrap_or(0);
            (name.clone(), (*count as f64 - before as f64) / requests)
        })
        .collect();
    each.sort_by(|one, other| other.1.total_cmp(&one.1));
    each
}

/// Those that come with requests, and not once in a while.
fn listed(each: &[(String, f64)]) -> String {
    let words: Vec<String> = each
        .iter()
        .filter(|(_, count)| *count >= 0.001)
        .map(|(name, count)| format!("{name} {count:.3}"))
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60,00    0,010000           5      2000           writev
 30.00    0.005000           5      4000      2000 recvfrom
 10.00    0.001000           1        30           epoll_wait
------ ----------- ----------- --------- --------- ----------------
100.00    0.016000           2      6030      2000 total
";

    #[test]
    fn calls_with_and_without_errors() {
        let calls = parse(TABLE).unwrap();
        assert_eq!(calls.len(), 3);
        assert_eq!((calls["writev"], calls["recvfrom"]), (2000, 4000));
        assert!(parse("").is_none());
        assert!(parse("strace: attach: ptrace: Operation not permitted\n").is_none());
    }

    #[test]
    fn the_difference_by_the_requests_between() {
        let few = parse(&TABLE.replace("2000           w", "1000           w")).unwrap();
        let each = per_request((&few, 1000), (&parse(TABLE).unwrap(), 2000));
        assert_eq!(each[0], ("writev".to_owned(), 1.0));
        assert_eq!(listed(&each), "writev 1.000");
    }

    #[test]
    fn calls_of_the_idle_time_alone() {
        let text = "\
7 99.900000 epoll_wait(5, [], 512, -1) = 0
8 100.100000 futex(0x7f, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
7 100.200000 <... epoll_wait resumed>) = 1
7 102.000000 exit_group(0) = ?
";
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(begun(text, at(100), at(102)), 1);
    }

    #[test]
    fn a_bound_is_not_rounded() {
        assert!(verdict(1.0).ends_with("yes"));
        assert!(verdict(1.001).ends_with("NO"));
    }
}
