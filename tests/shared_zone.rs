//! Maps and counters in shared memory.

mod support;

use std::collections::BTreeSet;
use std::thread;
use support::http::{Client, get, request, text};
use support::{alarms, eventually, logged, process, quits_in_peace};
use test_nginx::{Server, ServerBuilder, Signal};

const CONFIG: &str = "
    location = /zone { content_by_rust zone; }
    location = /fill { content_by_rust zone_fill; }
    location = /fill_with_counters { content_by_rust zone_fill_with_counters; }
    location = /count_slowly { content_by_rust zone_count_slowly; }
    location = /too_early { content_by_rust zone_too_early; }
    location = /until_gone { content_by_rust zone_until_gone; }
    location = /at_exit { content_by_rust zone_at_exit; }
    location = /storm { content_by_rust zone_storm; }
    location = /pid { content_by_rust reply body=$pid; }";

fn builder(size: &str) -> ServerBuilder {
    support::server()
        .master(true)
        .log_level("info")
        .http_config(format!("rust_shared_zone z {size};"))
        .config(CONFIG)
}

fn server() -> Server {
    support::start(builder("1m"))
}

/// What a handler did with a zone.
#[track_caller]
fn zone(server: &Server, what: &str) -> String {
    let told = text(server, &format!("/zone?do={what}"));
    told.trim_end().to_owned()
}

#[test]
fn values_are_set_got_added_and_deleted() {
    let server = server();
    for (what, did) in [
        ("get&key=a", "None"),
        ("set&key=a&value=1", "Ok(())"),
        ("get&key=a", "Some(\"1\")"),
        (
            "set&key=a&value=longer+than+it+was+before+and+than+32",
            "Ok(())",
        ),
        (
            "get&key=a",
            "Some(\"longer than it was before and than 32\")",
        ),
        ("add&key=a&value=2", "Ok(false)"),
        ("set&key=a&value=", "Ok(())"),
        ("get&key=a", "Some(\"\")"),
        ("delete&key=a", "true"),
        ("delete&key=a", "false"),
        ("add&key=a&value=2", "Ok(true)"),
        ("get&key=a", "Some(\"2\")"),
        ("get&key=", "None"),
        ("set&key=&value=empty", "Ok(())"),
        ("get&key=", "Some(\"empty\")"),
    ] {
        assert_eq!(zone(&server, what), did, "{what}");
    }
    quits_in_peace(server);
}

#[test]
fn numbers_are_texts() {
    let server = server();
    for (what, did) in [
        ("incr&key=n", "Ok(1)"),
        ("incr&key=n&by=41", "Ok(42)"),
        ("get&key=n", "Some(\"42\")"),
        ("incr&key=n&by=-50", "Ok(-8)"),
        ("get&key=n", "Some(\"-8\")"),
        ("set&key=n&value=007", "Ok(())"),
        ("incr&key=n", "Ok(8)"),
        ("set&key=n&value=9223372036854775806", "Ok(())"),
        ("incr&key=n", "Ok(9223372036854775807)"),
        ("incr&key=n", "Err(NoNumber)"),
        ("get&key=n", "Some(\"9223372036854775807\")"),
        ("set&key=n&value=x", "Ok(())"),
        ("incr&key=n", "Err(NoNumber)"),
        ("get&key=n", "Some(\"x\")"),
        ("set&key=n&value=", "Ok(())"),
        ("incr&key=n", "Err(NoNumber)"),
        (
            "incr&key=m&by=-9223372036854775808",
            "Ok(-9223372036854775808)",
        ),
        ("incr&key=m&by=-1", "Err(NoNumber)"),
    ] {
        assert_eq!(zone(&server, what), did, "{what}");
    }
    quits_in_peace(server);
}

#[test]
fn counters_have_names_of_their_own() {
    let server = server();
    for (what, did) in [
        ("counted&key=a", "0"),
        ("count&key=a", "Ok(1)"),
        ("count&key=a&by=-3", "Ok(-2)"),
        ("get&key=a", "None"),
        ("set&key=a&value=7", "Ok(())"),
        ("counted&key=a", "-2"),
        ("delete&key=a", "true"),
        ("counted&key=a", "-2"),
        ("reset&key=a&by=9223372036854775807", "Ok(())"),
        ("count&key=a", "Ok(-9223372036854775808)"),
        ("reset&key=new&by=5", "Ok(())"),
        ("counted&key=new", "5"),
    ] {
        assert_eq!(zone(&server, what), did, "{what}");
    }
    quits_in_peace(server);
}

#[test]
fn values_are_over_when_their_time_has_come() {
    let server = server();
    for (what, did) in [
        ("set&key=short&value=1&ttl=50", "Ok(())"),
        ("set&key=long&value=1&ttl=3600000", "Ok(())"),
        ("set&key=endless&value=1", "Ok(())"),
        ("incr&key=sum&ttl=50", "Ok(1)"),
        ("set&key=none&value=1&ttl=0", "Ok(())"),
        ("get&key=none", "None"),
        ("add&key=none&value=1&ttl=0", "Ok(true)"),
        ("add&key=none&value=2", "Ok(true)"),
        // The time counts from the set before.
        ("set&key=renewed&value=1&ttl=1", "Ok(())"),
        ("set&key=renewed&value=2&ttl=3600000", "Ok(())"),
    ] {
        assert_eq!(zone(&server, what), did, "{what}");
    }
    eventually("a value to be over", || {
        zone(&server, "get&key=short") == "None"
    });
    eventually("a number to be over", || {
        zone(&server, "get&key=sum") == "None"
    });
    for (what, did) in [
        ("delete&key=short", "false"),
        ("get&key=long", "Some(\"1\")"),
        ("get&key=endless", "Some(\"1\")"),
        ("get&key=renewed", "Some(\"2\")"),
        ("incr&key=sum&ttl=3600000", "Ok(1)"),
        // A number keeps the time that it has.
        ("incr&key=sum&ttl=0", "Ok(2)"),
        ("get&key=sum", "Some(\"2\")"),
    ] {
        assert_eq!(zone(&server, what), did, "{what}");
    }
    quits_in_peace(server);
}

#[test]
fn a_full_zone_gives_up_what_was_not_used_for_longest() {
    let server = server();
    assert_eq!(zone(&server, "count&key=stays"), "Ok(1)");
    assert_eq!(zone(&server, "set&key=first&value=1"), "Ok(())");
    // Five times as much as there is room for.
    for from in (0..5000).step_by(200) {
        let filled = text(&server, &format!("/fill?from={from}&n=200&size=1000"));
        assert_eq!(filled, "200\n");
        // Who is asked for is used.
        assert_eq!(zone(&server, "get&key=first"), "Some(\"1\")");
    }
    assert_eq!(zone(&server, "len&key=4999"), "Some(1000)");
    assert_eq!(zone(&server, "len&key=0"), "None");
    assert_eq!(zone(&server, "counted&key=stays"), "1");
    // No place is lost: there is room for as many as before.
    let kept = |server: &Server| {
        let there = (4000..5000).filter(|n| zone(server, &format!("len&key={n}")) != "None");
        there.count()
    };
    let before = kept(&server);
    assert!((300..1000).contains(&before), "{before}");
    for _ in 0..3 {
        assert_eq!(text(&server, "/fill?from=4000&n=1000&size=1000"), "1000\n");
    }
    assert_eq!(kept(&server), before);
    assert_eq!(alarms(&server), [""; 0]);
    quits_in_peace(server);
}

#[test]
fn what_is_larger_than_the_zone_is_refused_and_costs_nobody_his_place() {
    let server = server();
    assert_eq!(zone(&server, "set&key=a&value=1"), "Ok(())");
    assert_eq!(zone(&server, "set&key=large&value=1"), "Ok(())");
    assert_eq!(zone(&server, "set&key=large&size=1048577"), "Err(Full)");
    assert_eq!(zone(&server, "get&key=large"), "None");
    assert_eq!(zone(&server, "get&key=a"), "Some(\"1\")");
    assert_eq!(zone(&server, "set&key=large&size=700000"), "Ok(())");
    assert_eq!(zone(&server, "len&key=large"), "Some(700000)");
    // Thirty small ones make no room for another large one.
    assert_eq!(text(&server, "/fill?n=3000&size=10"), "3000\n");
    assert_eq!(zone(&server, "add&key=other&size=700000"), "Err(Full)");
    quits_in_peace(server);
}

#[test]
fn a_zone_that_is_full_of_counters_says_so() {
    let server = support::start(builder("32k"));
    let room: usize = text(&server, "/fill_with_counters").trim().parse().unwrap();
    assert!((50..1000).contains(&room), "{room}");
    assert_eq!(zone(&server, "count&key=another"), "Err(Full)");
    assert_eq!(zone(&server, "set&key=a&value=1"), "Err(Full)");
    assert_eq!(zone(&server, "incr&key=a"), "Err(Full)");
    assert_eq!(zone(&server, "add&key=a&value=1"), "Err(Full)");
    // Those that there are count on.
    assert_eq!(zone(&server, "count&key=0"), "Ok(2)");
    quits_in_peace(server);
}

#[test]
fn what_several_workers_count_at_once_adds_up() {
    const CLIENTS: usize = 8;
    const REQUESTS: usize = 250;
    let server = support::start(builder("1m").workers(3));
    let threads: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let address = server.addr();
            thread::spawn(move || {
                let mut pids = BTreeSet::new();
                for n in 0..REQUESTS {
                    // Another connection now and then may come to another worker.
                    let mut client = Client::connect(address);
                    let answer = client.get(&format!("/count_slowly?{n}"));
                    let (pid, _) = answer.text().split_once(' ').expect("pid and count");
                    pids.insert(pid.to_owned());
                }
                pids
            })
        })
        .collect();
    let mut pids = BTreeSet::new();
    for thread in threads {
        pids.extend(thread.join().unwrap());
    }
    assert!(pids.len() >= 2, "{pids:?}");
    let all = CLIENTS * REQUESTS;
    assert_eq!(zone(&server, "counted&key=all"), (2 * all).to_string());
    assert_eq!(zone(&server, "get&key=all"), format!("Some(\"{all}\")"));
    quits_in_peace(server);
}

/// Has the server take up another configuration, and waits for the new worker.
#[track_caller]
fn reloaded(server: &mut Server, config: &str) {
    let before = process::worker(server);
    let config = config.to_owned();
    server
        .reload(|builder| builder.http_config(config))
        .unwrap();
    eventually("another worker", || {
        let workers = server.worker_pids();
        workers.len() == 1 && workers[0] != before
    });
}

#[test]
fn a_reload_leaves_a_zone_as_it_is_unless_its_size_changes() {
    let mut server = server();
    assert_eq!(zone(&server, "set&key=a&value=1"), "Ok(())");
    assert_eq!(zone(&server, "count&key=n&by=5"), "Ok(5)");
    reloaded(
        &mut server,
        "rust_shared_zone z 1m; rust_shared_zone other 64k;",
    );
    assert_eq!(zone(&server, "get&key=a"), "Some(\"1\")");
    assert_eq!(zone(&server, "count&key=n"), "Ok(6)");
    assert_eq!(zone(&server, "get&key=a&zone=other"), "None");
    reloaded(&mut server, "rust_shared_zone z 2m;");
    assert_eq!(zone(&server, "get&key=a"), "None");
    assert_eq!(zone(&server, "counted&key=n"), "0");
    assert_eq!(get(&server, "/zone?do=get&zone=other").status, 500);
    logged(&server, "unknown shared zone \"other\"");
    reloaded(&mut server, "");
    assert_eq!(get(&server, "/zone?do=get").status, 500);
    quits_in_peace(server);
}

#[test]
fn a_zone_is_found_by_workers_alone() {
    let mut server = server();
    assert_eq!(text(&server, "/too_early"), "(false, true)\n");
    // The configuration that is in force does not lend its zone to the next.
    reloaded(&mut server, "rust_shared_zone z 1m;");
    assert_eq!(text(&server, "/too_early"), "(false, true)\n");
    assert_eq!(get(&server, "/zone?do=get&zone=none").status, 500);
    logged(&server, "unknown shared zone \"none\"");
    quits_in_peace(server);
}

#[test]
fn without_a_master_a_zone_may_go_while_a_handler_has_it() {
    let mut server = support::start(builder("1m").master(false));
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/until_gone"));
    logged(&server, "has the zone");
    server.reload(|builder| builder.http_config("")).unwrap();
    assert_eq!(client.read().text(), "None false Err(Gone) 0\n");
    quits_in_peace(server);
}

#[test]
fn the_last_destructors_of_a_worker_find_none() {
    let server = server();
    assert_eq!(text(&server, "/at_exit"), "later\n");
    let worker = process::worker(&server);
    process::signal(worker, Signal::QUIT);
    logged(&server, "at exit: false, 0 workers");
    eventually("it to be gone", || !process::exists(worker));
    assert_eq!(text(&server, "/at_exit"), "later\n");
    quits_in_peace(server);
}

#[test]
fn a_worker_that_is_killed_while_it_changes_a_zone_costs_what_is_in_it_and_no_more() {
    let server = support::start(builder("1m").workers(2));
    let left = "was left in the middle of a change, and is emptied";
    let mut kills = 0;
    while !server.error_log().contains(left) {
        kills += 1;
        assert!(kills < 100, "never in the middle of a change");
        assert_eq!(zone(&server, "reset&key=n&by=5"), "Ok(())");
        let mut client = Client::connect(server.addr());
        client.send(request("GET", &format!("/storm?n={kills}")));
        let line = logged(&server, &format!("storm {kills} begins"));
        let (_, pid) = line.split_once("[notice] ").expect("a level");
        let worker = pid.split('#').next().and_then(|pid| pid.parse().ok());
        process::signal(worker.expect("a pid"), Signal::KILL);
        assert!(client.is_closed());
        // The other worker, if it is the first to come, waits until the master has unlocked.
        let counted = zone(&server, "counted&key=n");
        assert!(counted == "0" || counted == "5", "{counted}");
    }
    // As good as new.
    assert_eq!(zone(&server, "counted&key=n"), "0");
    assert_eq!(zone(&server, "set&key=large&size=700000"), "Ok(())");
    assert_eq!(text(&server, "/fill?n=2000&size=1000"), "2000\n");
    assert_eq!(zone(&server, "len&key=1999"), "Some(1000)");
    assert_eq!(zone(&server, "count&key=n"), "Ok(1)");
}
