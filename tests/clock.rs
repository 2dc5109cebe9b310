//! The time of day is stepped by an hour, one way and the other, while requests wait.

mod support;

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use support::faults::Faults;
use support::http::{Client, get, request, text};
use support::{eventually, logged, logged_times, module, quits_in_peace};
use test_nginx::Server;

const HOUR: i64 = 3600;

/// From the right time, forwards, and backwards; at the end, and so in between, by two hours at
/// once.
const STEPS: [i64; 5] = [HOUR, 0, -HOUR, HOUR, -HOUR];

fn server(faults: &Faults, package: &str, config: &str) -> Server {
    let builder = Server::builder().nginx(faults.nginx([module(package)]));
    let builder = builder.http_config("rust_shared_zone z 1m;");
    support::start(builder.master(true).log_level("info").config(config))
}

/// How far the server's time of day is from ours, in seconds.
fn distance(server: &Server) -> i64 {
    let theirs: f64 = text(server, "/time").parse().expect("seconds");
    let ours = SystemTime::now().duration_since(UNIX_EPOCH);
    theirs as i64 - ours.expect("a time after 1970").as_secs() as i64
}

#[test]
fn waits_end_in_their_time() {
    let faults = Faults::new();
    let server = server(
        &faults,
        "test-handlers",
        "location = /ok { content_by_rust ok; }
         location = /wait { content_by_rust wait; }
         location = /time { content_by_rust reply body=$msec; }",
    );
    let mut long = Client::connect(server.addr());
    long.send(request("GET", "/wait?ms=3500000"));
    logged(&server, "waits now");
    for (n, step) in STEPS.into_iter().enumerate() {
        let mut short = Client::connect(server.addr());
        short.send(request("GET", "/wait?ms=300"));
        logged_times(&server, "waits now", 2 + n);
        faults.step_clock(step);
        assert!(
            (distance(&server) - step).abs() < 60,
            "the clock has been stepped"
        );
        // Ten of these need less than the short wait, and all see the new time.
        for _ in 0..10 {
            assert_eq!(text(&server, "/ok"), "OK\n");
        }
        assert_eq!(short.read().text(), "waited\n");
        assert!(long.is_silent(), "an hour has not gone by");
    }
    drop(long);
    quits_in_peace(server);
}

#[test]
fn the_date_is_the_clocks() {
    let faults = Faults::new();
    let config = "location = /time { content_by_rust reply body=$msec; }";
    let server = server(&faults, "test-handlers", config);
    for step in STEPS {
        faults.step_clock(step);
        assert!((distance(&server) - step).abs() < 60);
        let answer = get(&server, "/time");
        let seconds = answer.text().split('.').next().expect("seconds");
        let mut date = Command::new("date");
        date.env("LC_ALL", "C")
            .args(["-u", "-d"])
            .arg(format!("@{seconds}"));
        let date = date
            .arg("+%a, %d %b %Y %H:%M:%S GMT")
            .output()
            .expect("date runs");
        let date = String::from_utf8(date.stdout).expect("a date");
        assert_eq!(answer.header("Date"), Some(date.trim_end()));
    }
    quits_in_peace(server);
}

#[test]
fn values_in_a_shared_zone_are_over_in_their_time() {
    let faults = Faults::new();
    let config = "location = /zone { content_by_rust zone; }";
    let server = server(&faults, "test-handlers", config);
    let set = |key, ttl| {
        text(
            &server,
            &format!("/zone?do=set&value=1&key={key}&ttl={ttl}"),
        )
    };
    let get = |key| text(&server, &format!("/zone?do=get&key={key}"));
    assert_eq!(set("half", HOUR * 500), "Ok(())\n");
    for step in STEPS {
        assert_eq!(set("moment", 100), "Ok(())\n");
        faults.step_clock(step);
        assert_eq!(get("half"), "Some(\"1\")\n");
        eventually("the moment to be over", || get("moment") == "None\n");
    }
    quits_in_peace(server);
}

#[test]
fn waits_of_tokios_end_in_their_time() {
    let faults = Faults::new();
    let server = server(
        &faults,
        "test-tokio-handlers",
        "location = /naps { content_by_rust naps; }",
    );
    let mut long = Client::connect(server.addr());
    long.send(request("GET", "/naps?ms=3500000"));
    logged(&server, "naps");
    for (n, step) in STEPS.into_iter().enumerate() {
        let mut short = Client::connect(server.addr());
        short.send(request("GET", "/naps?ms=300"));
        logged_times(&server, "naps, client", 2 + n);
        faults.step_clock(step);
        // The handler sees to it that it is not too short.
        assert_eq!(short.read().text(), "awake\n");
        assert!(long.is_silent(), "an hour has not gone by");
    }
    drop(long);
    quits_in_peace(server);
}
