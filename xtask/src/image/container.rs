//! The image of the Dockerfile, run as its configuration says.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::buildah::{Buildah, Container};
use super::server::{self, Server};
use crate::instructions::http::Expected;
use crate::shell;

/// What each place of the image answers.
const PLACES: [(&str, Expected); 3] = [
    (
        "/test",
        Expected {
            body: "OK\n",
            content_type: Some("text/plain"),
            delay: Duration::from_millis(20),
        },
    ),
    (
        "/hello",
        Expected {
            body: "<h1>HelloWorld</h1>\n",
            content_type: Some("text/html"),
            delay: Duration::ZERO,
        },
    ),
    (
        "/lua",
        Expected {
            body: "hello from Lua\n",
            content_type: Some("text/plain"),
            delay: Duration::ZERO,
        },
    ),
];

pub fn check(buildah: &Buildah, image: &str) -> Result<()> {
    let config = config(buildah, image)?;
    ensure!(
        config["StopSignal"] == "SIGQUIT",
        "STOPSIGNAL does not let nginx answer"
    );
    let (words, health) = (
        words(&config["Cmd"])?,
        words(&config["Healthcheck"]["Test"])?,
    );
    let health = [
        "sh",
        "-c",
        health.get(1).context("HEALTHCHECK has no command")?,
    ];
    let container = buildah.container(image)?;
    let uid = container.run(&["id", "-u"])?;
    ensure!(uid.trim() != "0", "the image's user is root");

    let before = files(&container)?;
    // Where it is run by a daemon its output is its user's, who may open it again; buildah's is root's.
    let logged = ["sh", "-c", "exec \"$@\" >>/tmp/log 2>&1", "sh"];
    let log = || -> Result<String> { Ok(fs::read_to_string(container.root.join("tmp/log"))?) };
    server::alone(|| {
        let nginx = container.command(&[&logged, &*words].concat());
        let server = Server::start(&container, nginx, "tmp/nginx.pid", 8080)
            .with_context(|| log().unwrap_or_default())?;
        for (path, expected) in &PLACES {
            server.answers(path, expected)?;
        }
        container.run(&health).context("HEALTHCHECK")?;
        for pid in family(server.pid)? {
            ensure!(
                uid_of(&pid)? == uid.trim(),
                "a process of nginx has another user"
            );
        }
        let begun = server.begin("/mock?name=you&delay=500ms")?;
        let answer = server.quit(Some(begun))?;
        ensure!(
            answer.ends_with("\r\n\r\nhi you\n"),
            "quitting, nginx answers {answer:?}"
        );
        ensure!(
            container.run(&health).is_err(),
            "HEALTHCHECK succeeds without nginx"
        );
        let verified = ["rerun", "verify", "nginx-rust", "nginx-lua", "nginx-echo"];
        let verified = container.run(&verified)?;
        ensure!(verified.contains("3 verified"), "{verified}");
        Ok(())
    })?;

    let log = log()?;
    for path in PLACES.map(|(path, _)| path) {
        ensure!(
            log.contains(&format!("\"GET {path} HTTP/1.1\" 200")),
            "{path} is not in the log:\n{log}"
        );
    }
    for level in ["[warn]", "[error]", "[crit]", "[alert]", "[emerg]"] {
        ensure!(!log.contains(level), "nginx complains:\n{log}");
    }
    let after = files(&container)?;
    let written: Vec<_> = after.symmetric_difference(&before).collect();
    ensure!(
        written.is_empty(),
        "it writes elsewhere than into /tmp: {written:?}"
    );
    Ok(())
}

/// What the image says of how it is run, in the words of the Dockerfile.
fn config(buildah: &Buildah, image: &str) -> Result<Value> {
    let mut inspect = buildah.command("inspect");
    inspect.args(["--type", "image", image]);
    let mut told: Value = serde_json::from_str(&shell::quiet(&mut inspect)?.stdout)?;
    Ok(told["Docker"]["config"].take())
}

fn words(list: &Value) -> Result<Vec<&str>> {
    let words = list.as_array().context("the image lacks a command")?;
    Ok(words.iter().filter_map(Value::as_str).collect())
}

/// A process and its children.
fn family(pid: libc::pid_t) -> Result<Vec<String>> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    ensure!(!children.is_empty(), "nginx has no worker");
    let children = children.split_whitespace().map(String::from);
    Ok(children.chain([pid.to_string()]).collect())
}

/// The effective user of a process.
fn uid_of(pid: &str) -> Result<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let uid = line.and_then(|line| line.split_whitespace().nth(2));
    Ok(uid.context("a process has a user")?.to_owned())
}

/// What a write would change: all files outside of `/tmp`, with their sizes and times.
fn files(container: &Container) -> Result<BTreeSet<String>> {
    let mut find = shell::command("find");
    find.arg(&container.root).arg("-path");
    find.arg(container.root.join("tmp")).args(["-prune", "-o"]);
    find.args(["-type", "f", "-printf", "%P %s %T@\\n"]);
    let found = shell::quiet(&mut find)?.stdout;
    Ok(found.lines().map(String::from).collect())
}
