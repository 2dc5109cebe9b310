//! What the module asks the request's pool and the heap for.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::callgrind::Profile;
use super::server::{Place, Server};
use super::{HELLO_ROW, OK_ROW, Row, http};
use crate::shell;

/// A call for each thousand requests is that of something that grew.
const NONE: f64 = 0.001;

pub fn print(place: &Place) -> Result<()> {
    println!("\nmemory that the module asks for, for each request");
    for row in [&HELLO_ROW, &OK_ROW] {
        let profile: Profile = super::count(place, row)?.profile;
        let (pool, heap) = (profile.pool_of_module(), profile.heap_of_module());
        let sizes = sizes(place, row)?;
        println!(
            "  {:<12}{:.2} from the request's pool ({} bytes), {:.2} from the heap",
            row.name,
            pool.count,
            sizes
                .iter()
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join(" + "),
            heap.count
        );
        if heap.count.abs() >= NONE {
            bail!("`{}` asks the heap for memory, which it must not", row.name);
        }
        if (pool.count - sizes.len() as f64).abs() >= NONE {
            bail!(
                "callgrind counts {:.3} requests to the pool, gdb sees {}",
                pool.count,
                sizes.len()
            );
        }
    }
    Ok(())
}

/// The sizes that the module asks pools for in one request: gdb stops nginx where pools are asked.
fn sizes(place: &Place, row: &Row) -> Result<Vec<u64>> {
    let server = place.start(&[])?;
    let address = place.address.to_string();
    // The first request makes what a worker has once.
    http::get(&address, row.path)?;
    let module = module_range(&server)?;
    let script = place.file("gdb");
    let (size, from) = registers()?;
    let mut text = String::from("set pagination off\nset breakpoint pending off\n");
    for function in ["ngx_palloc", "ngx_pnalloc", "ngx_pcalloc", "ngx_pmemalign"] {
        text += &format!(
            "break *{function}\ncommands\nsilent\nprintf \"asked %lu %lu\\n\", (unsigned long)({size}), (unsigned \
             long)({from})\ncontinue\nend\n"
        );
    }
    // Where the breakpoints are known; they are set when nginx goes on.
    let known = place.file("gdb-knows");
    if known.exists() {
        fs::remove_file(&known)?;
    }
    text += &format!("shell touch {}\ncontinue\n", known.display());
    fs::File::create(&script)?.write_all(text.as_bytes())?;
    let mut gdb = shell::command("gdb");
    gdb.args(["-nx", "-q", "-batch", "-p", &server.pid.to_string(), "-x"])
        .arg(&script)
        .env_remove("DEBUGINFOD_URLS");
    let asking = std::thread::spawn({
        let (path, pid) = (row.path, server.pid);
        move || {
            let traced = wait_until_traced(pid, &known);
            let answer = traced.and_then(|()| http::get(&address, path));
            // SAFETY: the server has not been waited for.
            unsafe { libc::kill(pid, libc::SIGTERM) };
            answer
        }
    });
    let said = shell::quiet(&mut gdb)?;
    asking
        .join()
        .expect("no panic")
        .context("asking under gdb")?;
    Ok(parse(&said.stdout, module))
}

/// Waits until nginx goes on with gdb's breakpoints in it.
fn wait_until_traced(pid: libc::pid_t, known: &Path) -> Result<()> {
    for _ in 0..500 {
        let is_known = known.exists();
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        if is_known && !status.contains("(tracing stop)") {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("gdb does not set its breakpoints in nginx")
}

/// Where a function's second argument and its return address are when it is called.
fn registers() -> Result<(&'static str, &'static str)> {
    match std::env::consts::ARCH {
        "x86_64" => Ok(("$rsi", "*(unsigned long *) $rsp")),
        "aarch64" => Ok(("$x1", "$x30")),
        other => bail!("{other}: it is not known here how functions are called"),
    }
}

/// The addresses at which the module is mapped.
fn module_range(server: &Server) -> Result<(u64, u64)> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", server.pid))?;
    range_in(&maps).context("the module is not mapped")
}

fn range_in(maps: &str) -> Option<(u64, u64)> {
    let lines = maps
        .lines()
        .filter(|line| line.ends_with("/ngx_http_rust_module.so"));
    let ranges = lines.filter_map(|line| {
        let (first, last) = line.split_whitespace().next()?.split_once('-')?;
        Some((
            u64::from_str_radix(first, 16).ok()?,
            u64::from_str_radix(last, 16).ok()?,
        ))
    });
    ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

/// The sizes asked for from within the range.
fn parse(said: &str, module: (u64, u64)) -> Vec<u64> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("asked "));
    let asked = lines.filter_map(|line| {
        let (size, from) = line.split_once(' ')?;
        Some((size.parse::<u64>().ok()?, from.trim().parse::<u64>().ok()?))
    });
    asked
        .filter(|(_, from)| (module.0..module.1).contains(from))
        .map(|(size, _)| size)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_ask_for_is_not_the_modules() {
        let said = "[Thread debugging using libthread_db enabled]\nasked 304 140\nasked 96 99\nasked 8 200\n";
        assert_eq!(parse(said, (100, 200)), [304]);
    }

    #[test]
    fn the_module_among_the_mappings() {
        let maps = "\
7f00-7f10 r--p 00000000 08:01 1 /m/ngx_http_rust_module.so
7f10-7f40 r-xp 00010000 08:01 1 /m/ngx_http_rust_module.so
7f40-7f50 r-xp 00010000 08:01 1 /m/ngx_http_echo_module.so
";
        assert_eq!(range_in(maps), Some((0x7f00, 0x7f40)));
        assert_eq!(range_in(""), None);
    }
}
