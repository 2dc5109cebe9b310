//! What `Server` promises to tests written in Rust.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use test_nginx::{Server, Signal};

const SECOND: Duration = Duration::from_secs(1);

fn get(server: &Server, path: &str) -> String {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[test]
fn serves_and_leaves_nothing_behind() {
    let server = Server::builder()
        .config("location = /t { return 200 \"$TEST_NGINX_SERVER_PORT\"; }")
        .start()
        .unwrap();
    assert!(get(&server, "/t").ends_with(&format!("\r\n\r\n{}", server.port())));
    assert_eq!(server.worker_pids(), [server.pid()]);
    assert!(server.access_log().contains("GET /t"));
    let (pid, root) = (server.pid(), server.root());
    assert!(is_running(pid) && root.exists());
    drop(server);
    assert!(!is_running(pid) && !root.parent().unwrap().exists());
}

#[test]
fn a_master_has_workers() {
    let mut server = Server::builder()
        .workers(2)
        .log_level("notice")
        .start()
        .unwrap();
    server.wait_for_log("start worker process", SECOND).unwrap();
    let pids = server.worker_pids();
    assert_eq!(pids.len(), 2);
    assert!(server.stop(5 * SECOND).unwrap().success());
    assert!(server.error_log().contains("gracefully shutting down"));
    assert!(!pids.into_iter().any(is_running));
}

#[test]
fn a_killed_master_leaves_no_workers() {
    let mut server = Server::builder()
        .workers(2)
        .log_level("notice")
        .start()
        .unwrap();
    server.wait_for_log("start worker process", SECOND).unwrap();
    let pids = server.worker_pids();
    server.signal(Signal::KILL).unwrap();
    server.wait(5 * SECOND).unwrap();
    drop(server);
    std::thread::sleep(SECOND / 10);
    assert!(!pids.into_iter().any(is_running));
}

#[test]
fn a_reload_brings_another_configuration() {
    let mut server = Server::builder()
        .master(true)
        .log_level("notice")
        .config("location = /t { return 200 one; }")
        .start()
        .unwrap();
    assert!(get(&server, "/t").ends_with("one"));
    server
        .reload(|server| server.config("location = /t { return 200 two; }"))
        .unwrap();
    server
        .wait_for_log("gracefully shutting down", 5 * SECOND)
        .unwrap();
    assert!(get(&server, "/t").ends_with("two"));
}

#[test]
fn a_random_port_stays_the_same() {
    let config = "server { listen $TEST_NGINX_RAND_PORT_1; }";
    let mut server = Server::builder()
        .master(true)
        .http_config(config)
        .start()
        .unwrap();
    let port = server.expand("$TEST_NGINX_RAND_PORT_1").unwrap();
    server.reload(|server| server).unwrap();
    let conf = std::fs::read_to_string(server.conf_path()).unwrap();
    assert!(conf.contains(&format!("listen {port};")), "{conf}");
    assert!(server.expand("$TEST_NGINX_NONE").is_err());
}

#[test]
fn a_bad_configuration_is_an_error() {
    let error = Server::builder()
        .config("no_such_directive;")
        .start()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("unknown directive \"no_such_directive\""),
        "{error}"
    );
}

#[test]
fn a_line_that_does_not_come_is_an_error() {
    let server = Server::builder().log_level("info").start().unwrap();
    let error = server
        .wait_for_log("no such line", SECOND / 10)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no line of the error log has \"no such line\""),
        "{error}"
    );
}

#[test]
fn a_panic_keeps_the_directory() {
    let mut root = PathBuf::new();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let server = Server::builder().start().unwrap();
        root = server.root();
        panic!("as a failing test does");
    }));
    assert!(result.is_err() && root.exists());
    std::fs::remove_dir_all(root.parent().unwrap()).unwrap();
}
