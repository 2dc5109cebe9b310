//! `examples/redis-counter` with a real Redis, which goes and comes back.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use support::http::{Client, get, request, text};
use support::{accessed, eventually, module, nginx_with, process, quits_in_peace};
use test_nginx::{Server, Signal};

/// A Redis of its own that keeps nothing.
struct Redis {
    process: Option<Child>,
    address: SocketAddr,
}

impl Redis {
    fn start() -> Redis {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut redis = Redis {
            process: None,
            address,
        };
        redis.start_again();
        redis
    }

    fn start_again(&mut self) {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let port = self.address.port().to_string();
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port, "--save", ""])
            .args(["--appendonly", "no", "--dir"])
            .arg(dir)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        self.process = Some(child);
        eventually("Redis to answer", || self.says("PING\r\n") == "+PONG\r\n");
    }

    fn pid(&self) -> u32 {
        self.process.as_ref().expect("it runs").id()
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("it can be killed");
            process.wait().expect("it ends");
        }
    }

    /// What it answers to a command, up to the end of the line or of the connection.
    fn says(&self, command: &str) -> String {
        let mut answer = String::new();
        if let Ok(mut stream) = TcpStream::connect(self.address)
            && stream.write_all(command.as_bytes()).is_ok()
        {
            let mut byte = [0];
            while !answer.ends_with('\n') && matches!(stream.read(&mut byte), Ok(1)) {
                answer.push(char::from(byte[0]));
            }
        }
        answer
    }

    /// How many clients it has, the one that asks left out.
    fn clients(&self) -> usize {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(b"INFO clients\r\nQUIT\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let line = answer
            .lines()
            .find_map(|line| line.strip_prefix("connected_clients:"));
        line.expect("a number").parse::<usize>().unwrap() - 1
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}

fn server(redis: &Redis, workers: usize) -> Server {
    let server = Server::builder().nginx(nginx_with([module("redis-counter")]));
    support::start(
        server
            .master(true)
            .workers(workers)
            .log_level("info")
            .worker_connections(300)
            .config(format!(
                "location /count/ {{ content_by_rust redis_counter server={} key=$uri; }}
                 location = /ok {{ content_by_rust ok; }}",
                redis.address
            )),
    )
}

#[test]
fn it_counts_each_key_by_itself() {
    let redis = Redis::start();
    let server = server(&redis, 1);
    for n in 1..=5 {
        assert_eq!(text(&server, "/count/a"), format!("{n}\n"));
    }
    assert_eq!(text(&server, "/count/b"), "1\n");
    assert_eq!(redis.says("GET /count/a\r\n"), "$1\r\n");
    assert_eq!(redis.clients(), 1, "one connection for all requests");
    quits_in_peace(server);
    assert_eq!(redis.clients(), 0, "which ends with the worker");
}

#[test]
fn a_hundred_at_once_share_one_connection_a_worker() {
    let redis = Redis::start();
    let server = server(&redis, 2);
    let mut clients: Vec<_> = (0..100).map(|_| Client::connect(server.addr())).collect();
    for client in &mut clients {
        client.send(request("GET", "/count/x"));
    }
    let mut counts: Vec<u32> = clients
        .iter_mut()
        .map(|client| client.read().text().trim().parse().unwrap())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, (1..=100).collect::<Vec<_>>());
    assert!((1..=2).contains(&redis.clients()));
    drop(clients);
    quits_in_peace(server);
}

#[test]
fn redis_goes_and_comes_back_and_no_worker_is_restarted() {
    let mut redis = Redis::start();
    let server = server(&redis, 1);
    let worker = process::worker(&server);
    let mut kept = Client::connect(server.addr());
    for _ in 0..2 {
        assert_eq!(kept.get("/count/a").text(), "1\n");
        assert_eq!(kept.get("/count/a").text(), "2\n");
        redis.kill();
        for _ in 0..3 {
            let answer = kept.get("/count/a");
            assert_eq!(answer.status, 502, "{answer:?}");
            assert!(
                !answer.text().contains("redis"),
                "the client must not see it"
            );
        }
        assert_eq!(text(&server, "/ok"), "OK\n");
        let line = support::logged(&server, "redis: ");
        assert!(line.contains("[error]"), "{line}");
        redis.start_again();
    }
    assert_eq!(kept.get("/count/a").text(), "1\n");
    assert_eq!(process::worker(&server), worker);
    drop(kept);
    quits_in_peace(server);
}

#[test]
fn a_restart_that_nobody_noticed_costs_no_request() {
    let mut redis = Redis::start();
    let server = server(&redis, 1);
    assert_eq!(text(&server, "/count/a"), "1\n");
    let worker = process::worker(&server);
    let connected = process::descriptors(worker).len();
    redis.kill();
    eventually("the worker to close the connection", || {
        process::descriptors(worker).len() < connected
    });
    redis.start_again();
    assert_eq!(text(&server, "/count/a"), "1\n");
    quits_in_peace(server);
}

#[test]
fn those_who_wait_for_a_redis_that_is_killed_get_502() {
    let mut redis = Redis::start();
    let server = server(&redis, 1);
    assert_eq!(text(&server, "/count/a"), "1\n");
    process::signal(redis.pid(), Signal::STOP);
    let mut clients: Vec<_> = (0..20)
        .map(|_| {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", "/count/a"));
            client
        })
        .collect();
    // The worker has begun with them: another has been served behind them.
    assert_eq!(text(&server, "/ok"), "OK\n");
    redis.kill();
    for client in &mut clients {
        assert_eq!(client.read().status, 502);
    }
    drop(clients);
    redis.start_again();
    assert_eq!(text(&server, "/count/a"), "1\n");
    quits_in_peace(server);
}

#[test]
fn a_redis_that_does_not_answer_is_502_after_a_second() {
    let redis = Redis::start();
    let server = server(&redis, 1);
    assert_eq!(text(&server, "/count/a"), "1\n");
    process::signal(redis.pid(), Signal::STOP);
    assert_eq!(get(&server, "/count/b").status, 502);
    process::signal(redis.pid(), Signal::CONT);
    assert_eq!(text(&server, "/count/a"), "2\n");
    quits_in_peace(server);
}

#[test]
fn clients_that_go_while_redis_is_asked_leave_nothing_behind() {
    let redis = Redis::start();
    let server = server(&redis, 1);
    assert_eq!(text(&server, "/count/a"), "1\n");
    let worker = process::worker(&server);
    process::signal(redis.pid(), Signal::STOP);
    for n in 0..20 {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/count/a"));
        assert_eq!(text(&server, "/ok"), "OK\n", "the one before has begun");
        match n % 2 {
            0 => client.close(),
            _ => client.reset(),
        }
    }
    accessed(&server, "GET /count/a HTTP/1.1\" 499 ", 10);
    process::signal(redis.pid(), Signal::CONT);
    let answer = get(&server, "/count/b");
    assert_eq!((answer.status, answer.text()), (200, "1\n"));
    assert_eq!(process::worker(&server), worker);
    assert_eq!(redis.clients(), 1);
    quits_in_peace(server);
}

#[test]
fn a_server_that_is_no_address_is_refused() {
    let nginx = nginx_with([module("redis-counter")]);
    let config = "location / { content_by_rust redis_counter server=localhost key=a; }";
    let error = Server::builder().nginx(nginx).config(config).start();
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("invalid value \"localhost\" in \"server\" parameter"),
        "{error}"
    );
}
