//! tokio beside nginx's event loop.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};
use support::http::{Client, get, request, text};
use support::{
    PATIENCE, accessed, alarms, eventually, logged, logged_times, module, nginx_with, process,
    quits_in_peace,
};
use test_nginx::{Server, ServerBuilder, Signal};

const CONFIG: &str = "
    location = /naps { content_by_rust naps; }
    location = /echo { content_by_rust echo; }
    location = /places { content_by_rust places; }
    location = /offloads { content_by_rust offloads; }
    location = /offload_waits { content_by_rust offload_waits; }
    location = /offload_blocks { content_by_rust offload_blocks; }
    location = /leaves_work_behind { content_by_rust leaves_work_behind; }
    location = /offloaded { content_by_rust offloaded; }
    location = /both_clocks { content_by_rust both_clocks; }
    location = /parks { content_by_rust parks; }
    location = /parked { content_by_rust parked; }
    location = /wake_all { content_by_rust wake_all; }
    location = /status { stub_status; }
    location = /tokio_ok { content_by_rust tokio_ok; }
    location = /ok { content_by_rust ok; }";

fn builder() -> ServerBuilder {
    Server::builder()
        .nginx(nginx_with([module("test-tokio-handlers")]))
        .master(true)
        .log_level("info")
        .worker_connections(300)
        .config(CONFIG)
}

fn server() -> Server {
    support::start(builder())
}

/// The names of the process's threads but the first.
fn threads(pid: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("the process is there");
    let others = tasks
        .flatten()
        .filter(|task| task.file_name() != *pid.to_string());
    let mut names: Vec<_> = others
        .filter_map(|task| fs::read_to_string(task.path().join("comm")).ok())
        .map(|name| name.trim_end().to_owned())
        .collect();
    names.sort();
    names
}

/// How often the event thread has read from a file, which an eventfd is and a socket is not.
fn reads(pid: u32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{pid}/task/{pid}/io")).expect("what it has done");
    let line = io.lines().find_map(|line| line.strip_prefix("syscr: "));
    line.and_then(|count| count.parse().ok()).expect("a number")
}

#[test]
fn tokios_sleep_takes_its_time() {
    let server = server();
    assert_eq!(text(&server, "/naps?ms=30"), "awake\n");
    assert_eq!(text(&server, "/naps?ms=0"), "awake\n");
    assert_eq!(text(&server, "/both_clocks"), "100\n");
    assert_eq!(text(&server, "/tokio_ok"), "OK\n");
    quits_in_peace(server);
}

#[test]
fn tokio_ok_is_in_the_shipped_module() {
    let shipped = Server::builder().nginx(nginx_with([module("")]));
    let server = support::start(
        shipped
            .master(true)
            .log_level("info")
            .config(CONFIG_SHIPPED),
    );
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert_eq!(threads(worker), [""; 0], "nobody has used tokio");
    let begun = Instant::now();
    let answer = get(&server, "/tokio_ok");
    assert!(begun.elapsed() >= Duration::from_millis(20));
    assert_eq!((answer.status, answer.text()), (200, "OK\n"));
    assert_eq!(threads(worker), ["rust-tokio"]);
    quits_in_peace(server);
}

const CONFIG_SHIPPED: &str = "
    location = /tokio_ok { content_by_rust tokio_ok; }
    location = /ok { content_by_rust ok; }";

#[test]
fn threads_are_started_with_the_first_handler_that_may_use_them_and_in_the_worker_alone() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert_eq!(threads(worker), [""; 0]);
    assert_eq!(text(&server, "/naps?ms=1"), "awake\n");
    assert_eq!(threads(worker), ["rust-tokio"]);
    assert_eq!(text(&server, "/tokio_ok"), "OK\n");
    assert_eq!(threads(worker), ["rust-tokio"]);
    assert_eq!(threads(server.pid()), [""; 0], "the master has none");
    quits_in_peace(server);
}

/// One that a thread of tokio's took would leave nginx's event loop asleep.
#[test]
fn signals_are_left_to_the_event_thread() {
    let server = server();
    let worker = process::worker(&server);
    // A thread for what blocks is started later than the others.
    assert_eq!(get(&server, "/offloads").status, 200);
    let tasks = fs::read_dir(format!("/proc/{worker}/task")).expect("the process is there");
    let mut others = 0;
    for task in tasks.flatten() {
        let status = fs::read_to_string(task.path().join("status")).expect("a thread's status");
        let blocked = status
            .lines()
            .find_map(|line| line.strip_prefix("SigBlk:\t"));
        let blocked = blocked.and_then(|mask| u64::from_str_radix(mask, 16).ok());
        let blocked = blocked.expect("a mask");
        let quit = 1 << (Signal::QUIT.as_raw() - 1);
        if task.file_name() == *worker.to_string() {
            assert_eq!(blocked & quit, 0, "the event thread takes them");
        } else {
            assert_ne!(blocked & quit, 0, "no other does");
            others += 1;
        }
    }
    assert!(others >= 2, "{others}");
    quits_in_peace(server);
}

#[test]
fn rust_tokio_threads_says_how_many() {
    let server = support::start(builder().workers(2).http_config("rust_tokio_threads 3;"));
    // Each of the two workers gets its share of so many connections.
    let workers = server.worker_pids();
    eventually("both workers to have threads", || {
        assert_eq!(text(&server, "/tokio_ok"), "OK\n");
        workers.iter().all(|pid| !threads(*pid).is_empty())
    });
    for worker in workers {
        assert_eq!(threads(worker), ["rust-tokio"; 3]);
    }
    quits_in_peace(server);
}

#[track_caller]
fn refused(http_config: &str, message: &str) {
    let error = builder().http_config(http_config).start().unwrap_err();
    let error = error.to_string();
    assert!(error.contains(message), "{error}");
    assert!(error.contains("nginx.conf:"), "{error}");
}

#[test]
fn numbers_of_threads_that_make_no_sense_are_refused() {
    refused(
        "rust_tokio_threads 0;",
        "value must be between 1 and 1024 in ",
    );
    refused(
        "rust_tokio_threads 1025;",
        "value must be between 1 and 1024 in ",
    );
    refused("rust_tokio_threads abc;", "invalid number in ");
    refused("rust_tokio_threads -1;", "invalid number in ");
    refused(
        "rust_tokio_threads 1; rust_tokio_threads 2;",
        "\"rust_tokio_threads\" directive is duplicate in ",
    );
    refused(
        "rust_tokio_threads;",
        "invalid number of arguments in \"rust_tokio_threads\" directive in ",
    );
    refused(
        "server { rust_tokio_threads 1; }",
        "\"rust_tokio_threads\" directive is not allowed here in ",
    );
}

#[test]
fn a_reload_changes_the_number_of_threads() {
    let mut server = support::start(builder().http_config("rust_tokio_threads 1;"));
    let old = process::worker(&server);
    assert_eq!(text(&server, "/tokio_ok"), "OK\n");
    assert_eq!(threads(old).len(), 1);
    server
        .reload(|builder| builder.http_config("rust_tokio_threads 2;"))
        .unwrap();
    eventually("the old worker to go", || !process::exists(old));
    assert_eq!(text(&server, "/tokio_ok"), "OK\n");
    assert_eq!(threads(process::worker(&server)), ["rust-tokio"; 2]);
    quits_in_peace(server);
}

#[test]
fn a_socket_of_tokios_is_awaited_on_the_event_thread() {
    let server = server();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let echo = thread::spawn(move || {
        for stream in listener.incoming().take(20) {
            let mut stream = stream.unwrap();
            let mut buffer = [0; 100];
            loop {
                match stream.read(&mut buffer).unwrap() {
                    0 => break,
                    n => stream.write_all(&buffer[..n]).unwrap(),
                }
            }
        }
    });
    for n in 0..20 {
        let back = text(&server, &format!("/echo?port={port}&text=hello{n}"));
        assert_eq!(back, format!("hello{n}"));
    }
    echo.join().unwrap();
    quits_in_peace(server);
}

#[test]
fn a_refused_connection_is_the_requests_500() {
    let server = server();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    assert_eq!(
        get(&server, &format!("/echo?port={port}&text=a")).status,
        500
    );
    logged(&server, "Connection refused");
    quits_in_peace(server);
}

#[test]
fn offloaded_work_runs_elsewhere_and_its_panic_is_the_requests_500() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/places"), "rust-tokio rust-tokio\n");
    assert_eq!(text(&server, "/offloads?how=future"), "future\n");
    assert_eq!(text(&server, "/offloads?how=closure"), "closure\n");
    for (how, message) in [
        ("future%20panics", "in a future"),
        ("closure%20panics", "in a closure"),
    ] {
        for _ in 0..2 {
            let answer = get(&server, &format!("/offloads?how={how}"));
            assert_eq!(answer.status, 500);
            assert!(!answer.text().contains(message), "{answer:?}");
        }
        let line = logged(&server, &format!("panicked with message \"{message}\""));
        assert!(line.contains("[error]"), "{line}");
    }
    logged_times(&server, "offloaded work: ", 4);
    assert_eq!(text(&server, "/offloads?how=future"), "future\n");
    assert_eq!(process::worker(&server), worker);
    quits_in_peace(server);
}

#[test]
fn a_client_that_goes_takes_its_offloaded_future_along_and_late_wakes_find_nobody() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/offloaded"), "0\n");
    let before = process::descriptors(worker).len();
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", "/offload_waits"));
            client
        })
        .collect();
    eventually("20 futures on tokio's threads", || {
        text(&server, "/offloaded") == "20\n"
    });
    for (n, client) in clients.into_iter().enumerate() {
        match n % 2 {
            0 => client.close(),
            _ => client.reset(),
        }
    }
    accessed(&server, "/offload_waits HTTP/1.1\" 499 ", 20);
    // Each was cancelled in its minute, and each that is wakes whoever awaited it.
    eventually("no future on tokio's threads", || {
        text(&server, "/offloaded") == "0\n"
    });
    eventually("the descriptors as they were", || {
        process::descriptors(worker).len() <= before
    });
    assert_eq!(process::worker(&server), worker);
    quits_in_peace(server);
}

#[test]
fn closures_that_end_when_their_requests_are_gone_wake_nobody() {
    let server = server();
    let worker = process::worker(&server);
    for _ in 0..10 {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/offload_blocks?ms=300"));
        client.send("");
        eventually("it to begin", || text(&server, "/offloaded") != "0\n");
        client.close();
    }
    accessed(&server, "/offload_blocks?ms=300 HTTP/1.1\" 499 ", 1);
    eventually("all closures to end", || {
        text(&server, "/offloaded") == "0\n"
    });
    assert_eq!(text(&server, "/naps?ms=1"), "awake\n");
    assert_eq!(process::worker(&server), worker);
    quits_in_peace(server);
}

/// Fifty requests that wait for offloaded work.
fn fifty(server: &Server, path: &str) -> Vec<Client> {
    let clients: Vec<_> = (0..50)
        .map(|_| {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", path));
            client
        })
        .collect();
    logged_times(server, " offloads", 50);
    clients
}

#[test]
fn quit_waits_for_offloaded_work_that_requests_await() {
    for path in ["/offload_waits?ms=2500", "/offload_blocks?ms=2500"] {
        let mut server = server();
        let clients = fifty(&server, path);
        server.signal(Signal::QUIT).unwrap();
        logged(&server, "gracefully shutting down");
        for mut client in clients {
            let answer = client.read();
            assert_eq!((answer.status, answer.text()), (200, "done\n"));
        }
        assert!(server.wait(PATIENCE).unwrap().success());
        assert_eq!(alarms(&server), [""; 0]);
    }
}

#[test]
fn reload_waits_for_offloaded_work_that_requests_await() {
    let mut server = server();
    let old = process::worker(&server);
    let clients = fifty(&server, "/offload_waits?ms=2500");
    server.reload(|builder| builder).unwrap();
    logged(&server, "gracefully shutting down");
    assert_eq!(text(&server, "/tokio_ok"), "OK\n", "there are new workers");
    assert!(process::exists(old));
    for mut client in clients {
        let answer = client.read();
        assert_eq!((answer.status, answer.text()), (200, "done\n"));
    }
    eventually("the old worker to go", || !process::exists(old));
    quits_in_peace(server);
}

#[test]
fn work_that_nobody_awaits_does_not_keep_a_worker() {
    let mut server = server();
    assert_eq!(text(&server, "/leaves_work_behind"), "left behind\n");
    let begun = Instant::now();
    server.signal(Signal::QUIT).unwrap();
    // It blocks for a minute, which PATIENCE is shorter than.
    assert!(server.wait(PATIENCE).unwrap().success());
    assert!(begun.elapsed() < PATIENCE);
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn a_worker_that_must_exit_at_once_does_so_while_work_blocks() {
    let mut server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/offload_blocks"));
    logged(&server, " offloads");
    server.signal(Signal::TERM).unwrap();
    assert!(client.is_closed());
    assert!(server.wait(PATIENCE).unwrap().success());
    let alarms = alarms(&server);
    // nginx tells of connections that it leaves open when it must exit at once.
    assert!(
        alarms
            .iter()
            .all(|line| line.contains("open socket") || line.contains("aborting")),
        "{alarms:?}"
    );
}

#[test]
fn an_idle_worker_sleeps() {
    let server = server();
    let worker = process::worker(&server);
    assert_eq!(text(&server, "/tokio_ok"), "OK\n");
    assert_eq!(text(&server, "/offloads?how=closure"), "closure\n");
    let sleeps = || -> u64 {
        let tasks = fs::read_dir(format!("/proc/{worker}/task"))
            .unwrap()
            .flatten();
        tasks
            .filter_map(|task| fs::read_to_string(task.path().join("status")).ok())
            .map(|status| {
                let line = status
                    .lines()
                    .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
                line.unwrap().trim().parse::<u64>().unwrap()
            })
            .sum()
    };
    // A second in which nobody wakes up. There may be some before, until all is at rest: the
    // thread for what blocks goes after ten seconds.
    let begun = Instant::now();
    loop {
        let before = sleeps();
        thread::sleep(Duration::from_secs(1));
        if sleeps() == before {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it never is at rest");
    }
    quits_in_peace(server);
}

#[test]
fn wakes_that_come_together_cost_one_write_and_one_read() {
    let server = server();
    let worker = process::worker(&server);
    let mut clients: Vec<_> = (0..100)
        .map(|_| {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", "/parks"));
            client
        })
        .collect();
    eventually("100 requests to wait", || {
        text(&server, "/parked") == "100\n"
    });
    let before = reads(worker);
    assert_eq!(text(&server, "/wake_all"), "1\n", "one write for 300 wakes");
    for client in &mut clients {
        assert_eq!(client.read().text(), "2\n", "polled once for three wakes");
    }
    assert_eq!(reads(worker) - before, 1);
    drop(clients);
    quits_in_peace(server);
}
