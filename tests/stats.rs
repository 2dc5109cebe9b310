//! What the handler `status` tells: of workers that come and go, and of all requests there have
//! been.

mod support;

use prometheus_parse::{Scrape, Value as Metric};
use serde_json::Value;
use std::collections::HashSet;
use support::http::{Client, get, request, text};
use support::{PATIENCE, eventually, logged_times, module, nginx_with, process};
use test_nginx::{Server, Signal};

const CONFIG: &str = "
    location = /status { content_by_rust status format=$arg_format; }
    location = /wait { content_by_rust wait; }
    location = /hello { content_by_rust hello; }
    location = /fails { content_by_rust reply status=$arg_status; }
    location = /panics { content_by_rust panic_at_once; }
    location = /panics_later { content_by_rust panic_after_wait; }
    location = /refused { rust_max_pending 1; content_by_rust hello; }";

fn server(workers: usize) -> Server {
    let server = support::start(support::server_with(CONFIG).workers(workers));
    eventually("all workers to count", || {
        status(&server)["workers"].as_array().unwrap().len() == workers
    });
    server
}

fn status(server: &Server) -> Value {
    let answer = get(server, "/status");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("Content-Type"), Some("application/json"));
    serde_json::from_str(answer.text()).expect("JSON")
}

fn total(server: &Server, what: &str) -> u64 {
    status(server)["total"][what].as_u64().expect("a number")
}

/// Clients whose requests wait.
fn waiting(server: &Server, count: u64) -> Vec<Client> {
    let before = total(server, "pending");
    let clients = (0..count).map(|_| {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/wait"));
        client
    });
    let clients = clients.collect();
    eventually("all to wait", || total(server, "pending") == before + count);
    clients
}

/// pending, answered, aborted, panicked, refused
fn counts(value: &Value) -> [u64; 5] {
    ["pending", "answered", "aborted", "panicked", "refused"]
        .map(|what| value[what].as_u64().expect("a number"))
}

#[test]
fn each_request_is_counted_once_by_the_way_in_which_it_ended() {
    let server = server(1);
    let mut clients = waiting(&server, 3);
    assert_eq!(get(&server, "/hello").status, 200);
    assert_eq!(get(&server, "/hello").status, 200);
    assert_eq!(get(&server, "/fails?status=404").status, 404);
    assert_eq!(get(&server, "/fails?status=x").status, 400);
    assert_eq!(get(&server, "/panics").status, 500);
    assert_eq!(get(&server, "/panics_later").status, 500);
    assert_eq!(get(&server, "/refused").status, 503);
    clients.pop().unwrap().close();
    clients.pop().unwrap().reset();
    eventually("two to be gone", || total(&server, "pending") == 1);

    let status = status(&server);
    for (handler, expected) in [
        ("wait", [1, 0, 2, 0, 0]),
        ("hello", [0, 2, 0, 0, 1]),
        ("reply", [0, 2, 0, 0, 0]),
        ("panic_at_once", [0, 0, 0, 1, 0]),
        ("panic_after_wait", [0, 0, 0, 1, 0]),
        ("ok", [0, 0, 0, 0, 0]),
    ] {
        assert_eq!(counts(&status["handlers"][handler]), expected, "{handler}");
    }
    let all = status["handlers"].as_object().unwrap().values();
    let all = all.map(counts).reduce(sum).unwrap();
    assert_eq!(counts(&status["total"]), all);
    let worker = &status["workers"][0];
    assert_eq!(counts(worker), all);
    assert_eq!(worker["worker"], 0);
    assert_eq!(worker["pid"], process::worker(&server));
    assert_eq!(worker["exiting"], false);
    drop(clients);
}

fn sum(a: [u64; 5], b: [u64; 5]) -> [u64; 5] {
    std::array::from_fn(|index| a[index] + b[index])
}

#[test]
fn prometheus_reads_the_same() {
    let server = server(2);
    let clients = waiting(&server, 2);
    assert_eq!(get(&server, "/hello").status, 200);
    let answer = get(&server, "/status?format=prometheus");
    assert_eq!(
        answer.header("Content-Type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    let status = status(&server);
    let lines = answer.text().lines().map(|line| Ok(line.to_owned()));
    let scrape = Scrape::parse(lines).expect("a scrape");
    let values = answer.text().lines().filter(|line| !line.starts_with('#'));
    assert_eq!(scrape.samples.len(), values.count(), "all were understood");

    let handlers = status["handlers"].as_object().unwrap().len();
    assert_eq!(scrape.samples.len(), 5 * handlers + 6 * 2);
    let different: HashSet<_> = scrape
        .samples
        .iter()
        .map(|sample| (&sample.metric, sample.labels.to_string()))
        .collect();
    assert_eq!(different.len(), scrape.samples.len());
    for sample in &scrape.samples {
        let is_total = sample.metric.ends_with("_total");
        let name = sample.metric.trim_end_matches("_total");
        let name = name.strip_prefix("content_by_rust_").expect("our name");
        let value = match sample.value {
            Metric::Counter(value) if is_total => value,
            Metric::Gauge(value) if !is_total => value,
            ref value => panic!("{}: {value:?}", sample.metric),
        };
        assert!(
            scrape.docs.contains_key(&sample.metric),
            "{}",
            sample.metric
        );
        let (own, name) = match (sample.labels.get("handler"), name.strip_prefix("worker_")) {
            (Some("status"), None) => continue,
            (Some(handler), None) => (&status["handlers"][handler], name),
            (None, Some(name)) => {
                let number: usize = sample.labels.get("worker").unwrap().parse().unwrap();
                let own = &status["workers"][number];
                assert_eq!(own["pid"].to_string(), sample.labels.get("pid").unwrap());
                (own, name)
            }
            labels => panic!("{}: {labels:?}", sample.metric),
        };
        match name {
            "exiting" => assert_eq!(value, 0.0),
            // That of the worker that was asked has gone up since.
            "answered" if !is_handler(sample) => assert!(value <= own[name].as_f64().unwrap()),
            _ => assert_eq!(value, own[name].as_f64().unwrap(), "{sample:?}"),
        }
    }
    drop(clients);
}

#[test]
fn a_handler_in_the_place_of_a_built_in_one_is_the_only_one_of_its_name() {
    let nginx = nginx_with([module("test-tokio-handlers")]);
    let config = "
        location = /status { content_by_rust status format=$arg_format; }
        location = /hello { content_by_rust hello; }
        location = /ok { content_by_rust ok; }";
    let server = support::start(support::server_with(config).nginx(nginx));
    assert_eq!(text(&server, "/hello"), "hello of the module's own\n");
    assert_eq!(text(&server, "/ok"), "OK\n");
    let page = text(&server, "/status");
    for name in ["hello", "ok"] {
        assert_eq!(page.matches(&format!("\"{name}\":{{")).count(), 1, "{page}");
        let seen = status(&server);
        assert_eq!(counts(&seen["handlers"][name]), [0, 1, 0, 0, 0]);
    }
    let page = text(&server, "/status?format=prometheus");
    let sample = "content_by_rust_answered_total{handler=\"hello\"} ";
    assert_eq!(page.matches(sample).count(), 1, "{page}");
}

fn is_handler(sample: &prometheus_parse::Sample) -> bool {
    sample.labels.contains_key("handler")
}

#[test]
fn totals_outlive_a_reload_and_an_old_worker_is_told_of_while_it_lives() {
    let mut server = server(2);
    let clients = waiting(&server, 4);
    for _ in 0..10 {
        assert_eq!(text(&server, "/hello"), "<h1>HelloWorld</h1>\n");
    }
    let old = server.worker_pids();
    let hello = |status: &Value| counts(&status["handlers"]["hello"]);
    let seen = reload(&mut server);
    assert_eq!(hello(&seen), [0, 10, 0, 0, 0]);
    assert_eq!(seen["total"]["pending"], 4);
    let exiting: Vec<_> = workers(&seen, true).collect();
    assert!(!exiting.is_empty());
    for worker in &exiting {
        assert!(old.contains(&pid(worker)), "{worker}");
    }
    let pending = exiting.iter().map(|worker| counts(worker)[0]);
    assert_eq!(pending.sum::<u64>(), 4);
    for worker in workers(&seen, false) {
        assert_eq!(counts(worker)[0], 0);
        assert_eq!(counts(worker)[2..], [0, 0, 0]);
    }

    drop(clients);
    eventually("the old workers to go", || {
        workers(&status(&server), true).count() == 0
    });
    let seen = status(&server);
    assert_eq!(hello(&seen), [0, 10, 0, 0, 0]);
    assert_eq!(counts(&seen["handlers"]["wait"]), [0, 0, 4, 0, 0]);
    assert_eq!(seen["workers"].as_array().unwrap().len(), 2);
    support::quits_in_peace(server);
}

#[test]
fn a_worker_that_is_told_to_quit_is_exiting_until_its_last_answer() {
    let server = server(2);
    let clients = waiting(&server, 2);
    let seen = status(&server);
    let mut all = workers(&seen, false);
    let busy = all.find(|worker| counts(worker)[0] > 0).unwrap();
    process::signal(pid(busy), Signal::QUIT);
    eventually("it to shut down", || {
        workers(&status(&server), true).count() == 1
    });
    let seen = status(&server);
    let exiting = workers(&seen, true).next().unwrap();
    assert_eq!(pid(exiting), pid(busy));
    assert_eq!(counts(exiting)[0], counts(busy)[0]);
    drop(clients);
    eventually("another in its place", || {
        workers(&status(&server), false).count() == 2
    });
    support::quits_in_peace(server);
}

/// Reads the configuration again, and waits for two new workers.
fn reload(server: &mut Server) -> Value {
    let old = server.worker_pids();
    server.reload(|builder| builder).unwrap();
    eventually("two new workers", || {
        let status = status(server);
        let new = workers(&status, false).map(|worker| !old.contains(&pid(worker)));
        new.collect::<Vec<_>>() == [true; 2]
    });
    status(server)
}

fn pid(worker: &Value) -> u32 {
    worker["pid"].as_u64().expect("a number") as u32
}

fn workers(status: &Value, exiting: bool) -> impl Iterator<Item = &Value> {
    let all = status["workers"].as_array().unwrap().iter();
    all.filter(move |worker| worker["exiting"] == exiting)
}

#[test]
fn a_killed_worker_leaves_its_counts_and_nothing_pending() {
    // The second would be a fault to a sanitizer.
    let signals = match support::sanitizer_reports() {
        None => [Signal::KILL, Signal::SEGV].as_slice(),
        Some(_) => &[Signal::KILL],
    };
    for &signal in signals {
        let server = server(2);
        let clients = waiting(&server, 6);
        assert_eq!(get(&server, "/hello").status, 200);
        let victims = server.worker_pids();
        for &victim in &victims {
            process::signal(victim, signal);
            eventually("it to be gone", || !process::exists(victim));
        }
        eventually("both to be replaced", || {
            workers(&status(&server), false).count() == 2
        });
        let seen = status(&server);
        assert_eq!(counts(&seen["handlers"]["wait"]), [0, 0, 6, 0, 0]);
        assert_eq!(counts(&seen["handlers"]["hello"]), [0, 1, 0, 0, 0]);
        for worker in seen["workers"].as_array().unwrap() {
            assert!(!victims.contains(&pid(worker)));
            assert_eq!(counts(worker)[2..], [0, 0, 0]);
        }
        drop(clients);

        // What takes the place of the dead counts on.
        let clients = waiting(&server, 2);
        drop(clients);
        eventually("two to be gone", || total(&server, "pending") == 0);
        let seen = status(&server);
        assert_eq!(counts(&seen["handlers"]["wait"]), [0, 0, 8, 0, 0]);
        let all = seen["workers"].as_array().unwrap().iter().map(counts);
        assert_eq!(all.reduce(sum).unwrap()[2], 2);
    }
}

#[test]
fn many_workers_come_and_go() {
    let mut server = server(2);
    for round in 1..=10 {
        assert_eq!(get(&server, "/hello").status, 200);
        let seen = reload(&mut server);
        assert_eq!(counts(&seen["handlers"]["hello"]), [0, round, 0, 0, 0]);
    }
    eventually("the old workers to go", || {
        status(&server)["workers"].as_array().unwrap().len() == 2
    });
    support::quits_in_peace(server);
}

/// Without a master, nginx goes on to answer by the configuration that it has listened under, and
/// closes that one's log: the descriptor is the next client's, so that there must be none.
fn reload_without_a_master(server: &mut Server, config: &str) {
    server.reload(|builder| builder.config(config)).unwrap();
    logged_times(server, "using the \"epoll\" event method", 2);
}

#[test]
fn without_a_master_it_counts_on_through_a_reload() {
    let mut server = support::start(support::server_with(CONFIG).master(false));
    let mut kept = Client::connect(server.addr());
    let clients = waiting(&server, 2);
    assert_eq!(kept.get("/hello").status, 200);
    reload_without_a_master(&mut server, CONFIG);
    let mut status = || -> Value { serde_json::from_str(kept.get("/status").text()).unwrap() };
    let seen = status();
    assert_eq!(counts(&seen["handlers"]["wait"]), [2, 0, 0, 0, 0]);
    assert_eq!(workers(&seen, false).count(), 1);
    drop(clients);
    eventually("two to be gone", || {
        counts(&status()["handlers"]["wait"]) == [0, 0, 2, 0, 0]
    });
    support::quits_in_peace(server);
}

#[test]
fn without_a_master_a_reload_may_take_it_away_while_requests_wait() {
    let mut server = support::start(support::server_with(CONFIG).master(false));
    let mut kept = Client::connect(server.addr());
    let clients = waiting(&server, 2);
    assert_eq!(kept.get("/status").status, 200);
    reload_without_a_master(&mut server, "");
    assert_eq!(kept.get("/status").status, 500);
    drop(clients);
    support::quits_in_peace(server);
}

#[test]
fn a_reload_brings_it() {
    let plain = "location = /wait { content_by_rust wait; }";
    let mut server = support::start(support::server_with(plain));
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/wait?ms=1000"));
    logged_times(&server, "waits now", 1);
    server.reload(|builder| builder.config(CONFIG)).unwrap();
    eventually("a new worker", || {
        let answer = get(&server, "/status");
        answer.status == 200 && answer.text().contains("\"worker\":0")
    });
    // Who answers that has never counted, and goes without a trace.
    assert_eq!(client.read().text(), "waited\n");
    let seen = status(&server);
    assert_eq!(counts(&seen["handlers"]["wait"]), [0; 5]);
    server.signal(Signal::QUIT).unwrap();
    assert!(server.wait(PATIENCE).unwrap().success());
}
