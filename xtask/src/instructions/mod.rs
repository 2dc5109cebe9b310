//! `make instructions`: what a request costs nginx, in what can be counted and not only timed.
//!
//! Instructions are counted by callgrind in nginx without a master. Of two runs, of few requests and of many, the
//! difference is taken, so that starting, connecting and ending go out. Each pair of runs is repeated in rounds, and
//! the median is printed with the least and the greatest.
//!
//! The number of instructions depends on how the heap happens to be laid out: the same calls of `malloc` and `free`
//! cost 1,000 or 1,650 of them. All rows get the same configuration, the modules that they need, and the same settings of
//! the heap ([`environment`]); what is left of it is in the column `malloc`, and each ratio is given a second time with
//! the heap at one price for all.

mod allocations;
mod callgrind;
mod h2load;
pub mod http;
mod memory;
mod profile;
mod report;
mod server;
mod spread;
mod syscalls;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::install::{self, Need};
use crate::nginx::{self, Choice};
use crate::{build, run};
use callgrind::Profile;
use http::Expected;
use server::Place;

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
    /// How often each row is counted
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Count nothing but this: may be given with other options of this kind
    #[arg(long)]
    table: bool,
    /// Resident bytes for each of 9,000 waiting requests
    #[arg(long)]
    memory: bool,
    /// System calls for each request
    #[arg(long)]
    syscalls: bool,
    /// What the module asks the request's pool and the heap for
    #[arg(long)]
    allocations: bool,
    /// The module's functions, with their instructions for each request of this handler
    #[arg(long, value_name = "HANDLER")]
    profile: Option<profile::Handler>,
    /// Leave the heap as libc comes
    #[arg(long)]
    default_malloc: bool,
    /// In the table, load all modules for all rows, not for each row those that it needs
    #[arg(long)]
    all_modules: bool,
}

/// One location under one load.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    name: &'static str,
    path: &'static str,
    connections: u64,
}

impl Row {
    const fn new(name: &'static str, path: &'static str, connections: u64) -> Self {
        Self {
            name,
            path,
            connections,
        }
    }

    /// How many requests the two runs make: the same number over each connection.
    fn requests(&self) -> (u64, u64) {
        match self.connections {
            0..500 => (500, 3_500),
            // Each connection's first request is unlike the others.
            many => (3 * many, 9 * many),
        }
    }

    fn expected(&self) -> Option<&'static Expected> {
        match self.path {
            "/hello/g" => None,
            path if path.starts_with("/hello/") => Some(&HELLO),
            "/ok-20/r" => Some(&OK_AT_ONCE),
            _ => Some(&OK),
        }
    }

    /// The bytes of the body.
    fn body_len(&self) -> u64 {
        const EMPTY_GIF: u64 = 43;
        self.expected()
            .map_or(EMPTY_GIF, |expected| expected.body.len() as u64)
    }
}

const HELLO: Expected = Expected {
    body: "<h1>HelloWorld</h1>\n",
    content_type: Some("text/html"),
    delay: Duration::ZERO,
};
const OK: Expected = Expected {
    body: "OK\n",
    content_type: Some("text/plain"),
    delay: Duration::from_millis(20),
};
const OK_AT_ONCE: Expected = Expected {
    delay: Duration::ZERO,
    ..OK
};

/// The table's parts; the first row of each is what the others are divided by.
const PARTS: [(&str, &[Row]); 3] = [
    (
        "\"<h1>HelloWorld</h1>\\n\" at once, c = 10",
        &[
            RETURN_HELLO,
            Row::new("empty_gif", "/hello/g", 10),
            HELLO_ROW,
            Row::new("reply", "/hello/p", 10),
            Row::new("echo", "/hello/e", 10),
            Row::new("Lua", "/hello/l", 10),
        ],
    ),
    (
        "\"OK\\n\" after 20 ms, c = 100",
        &[
            Row::new("return (at once)", "/ok-20/r", 100),
            OK_ROW,
            Row::new("tokio_ok", "/ok-20/t", 100),
            Row::new("echo_sleep", "/ok-20/e", 100),
            Row::new("ngx.sleep", "/ok-20/l", 100),
        ],
    ),
    (
        "\"OK\\n\" after 20 ms, c = 1000",
        &[
            Row::new("return (at once)", "/ok-20/r", 1000),
            Row::new("ok", "/ok-20/h", 1000),
            Row::new("tokio_ok", "/ok-20/t", 1000),
            Row::new("echo_sleep", "/ok-20/e", 1000),
            Row::new("ngx.sleep", "/ok-20/l", 1000),
        ],
    ),
];

const RETURN_HELLO: Row = Row::new("return", "/hello/r", 10);
const HELLO_ROW: Row = Row::new("hello", "/hello/h", 10);
const OK_ROW: Row = Row::new("ok", "/ok-20/h", 100);

pub fn run(options: &Options) -> Result<()> {
    install::install(&[Need::Toolchain, Need::Counting])?;
    let nginx = nginx::prepare(&options.choice)?;
    let module = build::shipped(&nginx)?;
    if !run::conf(&nginx).ends_with("/compare.conf") || !nginx.knows("empty_gif") {
        bail!(
            "{} has no Lua, no echo or no empty_gif module to compare with",
            nginx.binary.display()
        );
    }
    server::raise_descriptors()?;
    let place = Place::new(&nginx, &module, environment(options.default_malloc))?;
    check(&place)?;
    println!(
        "{}; every answer's status, type, body and wait is right",
        nginx.name
    );

    let all = !options.table
        && !options.memory
        && !options.syscalls
        && !options.allocations
        && options.profile.is_none();
    if all || options.table {
        table(&place, options)?;
    }
    if all || options.allocations {
        allocations::print(&place)?;
    }
    if all || options.syscalls {
        syscalls::print(&place)?;
    }
    if all || options.memory {
        memory::print(&place)?;
    }
    if let Some(handler) = options.profile {
        profile::print(&place, handler)?;
    }
    Ok(())
}

/// Settings of the heap for all that is counted.
///
/// nginx takes a buffer of 1 KB for each request from the heap, and gives it back before the connection idles. libc
/// keeps seven blocks of a size aside, and an eighth connection's splits what the request's pool needs next. With more
/// blocks kept aside the cost of the pool repeats.
fn environment(default_malloc: bool) -> Vec<(&'static str, String)> {
    match default_malloc {
        true => vec![],
        false => vec![("GLIBC_TUNABLES", "glibc.malloc.tcache_count=20000".into())],
    }
}

/// Asks every location once, without valgrind, and fails at the first wrong answer.
fn check(place: &Place) -> Result<()> {
    let server = place.start(&[])?;
    for row in PARTS.iter().flat_map(|(_, rows)| *rows) {
        let answer = http::get(&place.address.to_string(), row.path)?;
        if let Some(fault) = row.expected().and_then(|expected| answer.fault(expected)) {
            bail!("{} {fault}", row.path);
        }
    }
    server.quit()
}

fn table(place: &Place, options: &Options) -> Result<()> {
    let begun = Instant::now();
    let mut results: Vec<report::Result> = PARTS
        .iter()
        .flat_map(|(_, rows)| *rows)
        .map(|row| report::Result::new(*row))
        .collect();
    for round in 1..=options.rounds {
        for result in &mut results {
            eprint!(
                "\rround {round} of {}, {} s: {:<40}",
                options.rounds,
                begun.elapsed().as_secs(),
                format!("{} c = {}", result.row.name, result.row.connections)
            );
            if !options.all_modules {
                place.configure(Some(result.row.path))?;
            }
            result.add(count(place, &result.row)?);
        }
    }
    place.configure(None)?;
    eprintln!("\r{:70}\r", "");
    println!(
        "\nuser instructions of all threads for a request: callgrind, the difference of two runs by the requests \
         between them\nmedian of {} rounds (least-most), {}, {}\n",
        options.rounds,
        match options.all_modules {
            true => "all modules loaded for all rows",
            false => "each row with the modules that it needs",
        },
        match environment(options.default_malloc).first() {
            Some((name, value)) => format!("{name}={value} for all rows"),
            None => "libc's heap as it comes".into(),
        }
    );
    print!("{}", report::render(&PARTS, &results));
    Ok(())
}

/// What was counted for one row.
pub struct Counted {
    profile: Profile,
    /// Bytes of one answer's header.
    header_bytes: u64,
}

/// Counts one row, in two runs.
fn count(place: &Place, row: &Row) -> Result<Counted> {
    let (few, many) = row.requests();
    let (few_profile, _) = callgrind(place, row, few)?;
    let (many_profile, header_bytes) = callgrind(place, row, many)?;
    Ok(Counted {
        profile: Profile::per_request((&few_profile, few), (&many_profile, many)),
        header_bytes,
    })
}

/// One run under callgrind, and the bytes of one answer's header.
fn callgrind(place: &Place, row: &Row, requests: u64) -> Result<(Profile, u64)> {
    let file = place.file("callgrind.out");
    let wrapper = [
        "valgrind",
        "--quiet",
        "--tool=callgrind",
        "--compress-strings=no",
        "--compress-pos=no",
        &format!("--callgrind-out-file={}", file.display()),
    ]
    .map(str::to_owned);
    let server = place.start(&wrapper)?;
    let loaded = h2load::run(&place.url(row.path), row.connections, requests)?;
    server.quit()?;
    if loaded.body_bytes != requests * row.body_len() {
        bail!(
            "{}: {} bytes of bodies in {requests} answers, not {} in each",
            row.path,
            loaded.body_bytes,
            row.body_len()
        );
    }
    let profile = Profile::read(&file).context("valgrind's count")?;
    Ok((profile, loaded.header_bytes / requests))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_makes_the_same_number_of_requests() {
        for row in PARTS.iter().flat_map(|(_, rows)| *rows) {
            let (few, many) = row.requests();
            assert_eq!((few % row.connections, many % row.connections), (0, 0));
            assert!(few / row.connections >= 3);
            assert!(many - few >= 3_000);
        }
    }
}
