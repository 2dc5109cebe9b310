//! Gate 10: known traps in configurations, each with the words that fix it.

use super::Gate;
use crate::result::{Outcome, Verdict};

pub const GATE: Gate = Gate(10, "known traps");

/// The load that a configuration must stand.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub connections: u32,
    /// Requests on one connection, where it is kept.
    pub per_connection: u64,
    pub delay_ms: f64,
}

/// One trap that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Trap {
    pub outcome: Outcome,
    pub text: String,
}

/// What `files` (name and text) have in them. Files are told by what is in them, not by their names.
pub fn find<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>, load: Load) -> Vec<Trap> {
    let mut traps = Vec::new();
    for (name, text) in files {
        if name.ends_with(".java") || name.ends_with(".kt") {
            traps.extend(java(text));
        } else if text.contains("pm.max_children") {
            traps.extend(fpm(text, load));
        } else if text.contains("events") && text.contains("http") {
            traps.extend(nginx(text, load));
        }
    }
    traps
}

pub fn judge(traps: &[Trap]) -> Verdict {
    let Some(worst) = traps.iter().map(|trap| trap.outcome).max() else {
        return GATE.pass("none found");
    };
    let texts: Vec<&str> = traps.iter().map(|trap| &*trap.text).collect();
    GATE.verdict(worst, texts.join("; "))
}

fn trap(outcome: Outcome, text: String) -> Option<Trap> {
    Some(Trap { outcome, text })
}

fn nginx(text: &str, load: Load) -> Vec<Trap> {
    let text = without_comments(text);
    let value = |name: &str| directive(&text, name);
    let number = |name: &str| value(name).and_then(|value| value.parse::<u64>().ok());
    let connections = u64::from(load.connections);
    let mut traps = Vec::new();
    if let Some(resolution) = value("timer_resolution")
        && load.delay_ms > 0.0
    {
        traps.extend(trap(
            Outcome::NoRate,
            format!("timer_resolution {resolution} rounds every delay up: remove it"),
        ));
    }
    // nginx's own default; a proxied request takes two, and the listening sockets theirs.
    let enough = connections + 16;
    let has = number("worker_connections").unwrap_or(512);
    if has < enough {
        traps.extend(trap(
            Outcome::NoRate,
            format!(
                "worker_connections {has} is too low for {connections} connections: worker_connections {};",
                (2 * enough).next_power_of_two()
            ),
        ));
    }
    let kept = number("keepalive_requests").unwrap_or(1000);
    if kept < load.per_connection {
        traps.extend(trap(
            Outcome::Warn,
            format!("keepalive_requests {kept} makes clients connect again and again: keepalive_requests 1000000000;"),
        ));
    }
    if value("access_log").as_deref() != Some("off") {
        traps.extend(trap(
            Outcome::Warn,
            "access_log is on: a line a request is measured with it; access_log off; or say so"
                .into(),
        ));
    }
    if value("lua_code_cache").as_deref() == Some("off") {
        traps.extend(trap(
            Outcome::NoRate,
            "lua_code_cache off compiles Lua for every request: remove it".into(),
        ));
    }
    if let Some(files) = number("worker_rlimit_nofile").filter(|files| *files < enough) {
        traps.extend(trap(
            Outcome::NoRate,
            format!(
                "worker_rlimit_nofile {files} is too low for {connections} connections: raise it"
            ),
        ));
    }
    traps
}

fn fpm(text: &str, load: Load) -> Option<Trap> {
    let children = text.lines().find_map(|line| {
        let (name, value) = line.split(';').next()?.split_once('=')?;
        (name.trim() == "pm.max_children").then(|| value.trim().parse::<u64>().ok())?
    })?;
    if load.delay_ms == 0.0 || children >= u64::from(load.connections) {
        return None;
    }
    trap(
        Outcome::Warn,
        format!(
            "pm.max_children = {children}: a child that sleeps {} ms answers nobody else, so {} requests/s is the \
             most; raise it to {}",
            super::n(load.delay_ms),
            super::n(children as f64 * 1e3 / load.delay_ms),
            load.connections
        ),
    )
}

fn java(text: &str) -> Option<Trap> {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if !squeezed.contains("setExecutor(null)") {
        return None;
    }
    trap(
        Outcome::Warn,
        "setExecutor(null) serves one request at a time: setExecutor(Executors.newFixedThreadPool(n))".into(),
    )
}

/// The last value of a directive, the innermost as a rule.
fn directive(text: &str, name: &str) -> Option<String> {
    let mut found = None;
    for statement in text.split([';', '{', '}']) {
        let mut words = statement.split_whitespace();
        if words.next() == Some(name) {
            found = words.next().map(str::to_owned);
        }
    }
    found
}

fn without_comments(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load {
        connections: 1000,
        per_connection: 5000,
        delay_ms: 20.0,
    };

    fn texts(name: &str, text: &str, load: Load) -> String {
        let traps = find([(name, text)], load);
        judge(&traps).text
    }

    /// `lua-vs-php`: one worker, 1024 connections, nothing said of logs and kept connections.
    #[test]
    fn configuration_of_the_second_article() {
        let conf = "worker_processes 1;\nevents { worker_connections 1024; }\nhttp { server { listen 6699; } }";
        let found = texts("nginx.conf", conf, LOAD);
        assert!(
            found.contains("keepalive_requests 1000 makes clients connect again"),
            "{found}"
        );
        assert!(found.contains("access_log is on"));
        assert!(!found.contains("worker_connections"));
    }

    #[test]
    fn each_trap_of_nginx() {
        let conf = "events { } http { timer_resolution 100ms; access_log off; lua_code_cache off;\n\
                    # keepalive_requests 1000000;\nworker_rlimit_nofile 512; }";
        let traps = find([("nginx.conf", conf)], LOAD);
        let found = judge(&traps);
        assert_eq!(found.outcome, Outcome::NoRate);
        for text in [
            "timer_resolution 100ms rounds every delay up: remove it",
            "worker_connections 512 is too low for 1000 connections: worker_connections 2048;",
            "keepalive_requests 1000 makes",
            "lua_code_cache off compiles",
            "worker_rlimit_nofile 512 is too low",
        ] {
            assert!(found.text.contains(text), "{text}\n{}", found.text);
        }
        assert!(!found.text.contains("access_log"));
    }

    #[test]
    fn a_good_configuration() {
        let conf = "events { worker_connections 4096; } http { access_log off; keepalive_requests 1000000000; }";
        assert!(find([("nginx.conf", conf)], LOAD).is_empty());
    }

    #[test]
    fn children_that_sleep() {
        let conf = "[www]\npm = static\npm.max_children = 50 ; fifty\n";
        let found = texts("php-fpm.conf", conf, LOAD);
        assert!(
            found.contains("so 2,500 requests/s is the most; raise it to 1000"),
            "{found}"
        );
        let hello = Load {
            delay_ms: 0.0,
            ..LOAD
        };
        assert!(find([("php-fpm.conf", conf)], hello).is_empty());
    }

    /// `go-vs-openresty`, Java.
    #[test]
    fn the_null_executor() {
        let found = texts(
            "Server.java",
            "server.setExecutor( null ); // default",
            LOAD,
        );
        assert!(found.starts_with("setExecutor(null) serves one request at a time"));
    }
}
