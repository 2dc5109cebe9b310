//! Each allocation of a request fails in turn: a 500 or a closed connection, and nothing else.

mod support;

use std::io::{ErrorKind, Read, Write};
use std::ops::RangeInclusive;
use support::faults::{Faults, Whose};
use support::http::Client;
use support::{PATIENCE, alarms, process};
use test_nginx::{Server, Signal};

/// A pool that is as small as it can be asks the system for whatever a request asks it for.
const CONFIG: &str = "
    request_pool_size 112;
    client_body_buffer_size 16k;
    location = /ok { content_by_rust ok; }
    location = /hello { content_by_rust hello; }
    location = /reply {
        rust_max_delay 5ms;
        content_by_rust reply body='$arg_a $request_length\\n' delay=$arg_delay status=$arg_status type=$arg_type;
    }
    location = /paged { error_page 503 /page; content_by_rust reply status=503 delay=1ms; }
    location = /page { content_by_rust reply body='a page\\n'; }
    location = /body { content_by_rust body_echo; }
    location = /mirrored { mirror /page; content_by_rust body_echo; }
    location = /chunks { content_by_rust body_chunks; }
    location = /stream { content_by_rust stream_bytes; }
    location = /zipped { gzip on; gzip_types *; content_by_rust stream_bytes; }
    location = /go { content_by_rust go; }
    location = /arrived { internal; content_by_rust arrived; }
    location @named { content_by_rust arrived; }
    location = /ask { content_by_rust ask; }
    location = /ask_with { content_by_rust ask_with; }
    location = /ask_all { content_by_rust ask_all; }
    location = /part { content_by_rust reply body='part $arg_n' delay=$arg_delay; }
    location = /proxied { proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/part; }
    location = /authorized { auth_request /part; content_by_rust ok; }
    location = /form { content_by_rust form; }
    location = /headers { content_by_rust header; }
    location = /arguments { content_by_rust arguments; }
    location = /variable { content_by_rust variable; }
    location = /set { set $x ''; content_by_rust set_variable; }
    location = /visit { content_by_rust visit; }
    location = /zone { content_by_rust zone; }
    location = /fail { content_by_rust fail; }";

fn get(path: &str) -> Vec<u8> {
    request("GET", path, &[])
}

fn request(method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let length = match body.len() {
        0 => String::new(),
        length => format!("Content-Length: {length}\r\n"),
    };
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    [format!("{head}{length}\r\n").as_bytes(), body].concat()
}

/// Sends a request on a connection of its own; all that comes back until it is closed in one way
/// or another, but for the date.
fn ask(server: &Server, request: &[u8]) -> String {
    let mut stream = Client::connect(server.addr()).stream;
    let mut answer = Vec::new();
    for result in [
        stream.write_all(request),
        stream.read_to_end(&mut answer).map(|_| ()),
    ] {
        if let Err(e) = result {
            let closed = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
            assert!(closed.contains(&e.kind()), "{e}");
        }
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let lines = answer.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("Date: ")).collect()
}

/// Whether it is an answer to a request for which there was no memory, or for whose parts there
/// was none: an error, or the beginning of the right answer and then the connection's end.
fn is_honest(answer: &str, right: &str) -> bool {
    let errors = ["500 Internal Server Error", "502 Bad Gateway"];
    errors.iter().any(|error| answer.contains(error)) || right.starts_with(answer)
}

/// Has the allocations of a request fail, in all the ways that `numbers` says from a first one
/// on, until none is left. How many ways there were.
#[track_caller]
fn each_fails(
    server: &Server,
    faults: &Faults,
    whose: Whose,
    numbers: fn(u64) -> RangeInclusive<u64>,
    request: &[u8],
) -> u64 {
    let shown = String::from_utf8_lossy(&request[..request.len().min(60)]);
    let right = ask(server, request);
    for n in 1.. {
        faults.refuse(whose, numbers(n));
        let answer = ask(server, request);
        let count = faults.relent();
        assert!(
            is_honest(&answer, &right),
            "{shown}: with allocation {n} of {whose:?}'s: {answer}, not {right}"
        );
        assert_eq!(ask(server, request), right, "{shown}: after allocation {n}");
        if count < n {
            assert_eq!(answer, right);
            return count;
        }
    }
    unreachable!("a request ends")
}

/// A request for each way through the module.
fn requests() -> Vec<Vec<u8>> {
    let form = b"a=1&b=%20x+y&a=2";
    let name = "more_than_the_smallest_pool_has_room_for";
    let (short, long) = (&[b'x'; 100][..], &[b'y'; 100_000][..]);
    vec![
        get("/ok"),
        request("HEAD", "/ok", &[]),
        get("/hello"),
        get("/reply"),
        get("/reply?a=b&delay=2ms&status=201&type=text/css"),
        get("/reply?delay=never"),
        get("/paged"),
        get("/fail?status=403&why=no"),
        request("POST", "/hello", long),
        request("POST", "/body", short),
        request("POST", "/body", long),
        request("POST", "/mirrored", long),
        request("POST", "/chunks?quiet=1", long),
        request("POST", "/form", form),
        get("/stream?n=5&size=1000"),
        get("/stream?n=3&size=100000"),
        get("/zipped?n=3&size=50000&ms=1"),
        get("/go?to=/arrived"),
        get("/go?to=@named&ms=1"),
        request("POST", "/go?to=/arrived&read=passed+on", short),
        get("/ask?uri=/part?n=1%26delay=1ms"),
        get("/ask?uri=/proxied"),
        get("/ask_with?uri=/part&method=PUT&body=b&type=text/css&arg=x&without=Host"),
        get("/ask_all?uri=/part?n=1%26delay=1ms&uri=/part&uri=/page"),
        get("/authorized"),
        get("/headers?X-A=b&Server=c+d"),
        get("/arguments?a=%20b&a=c+d&%FF"),
        get(&format!("/variable?name=arg_{name}&{name}=y")),
        get(&format!("/set?name=x&value={name}")),
        get("/visit"),
        get("/zone?do=set&key=a&value=b"),
        get("/zone?do=get&key=a"),
    ]
}

fn server(faults: &Faults) -> Server {
    let nginx = faults.nginx([support::module("test-handlers")]);
    let builder = support::server_with(CONFIG).nginx(nginx);
    support::start(builder.http_config("rust_shared_zone z 1m;"))
}

/// The worker is the same, and no alarm was but nginx's own that there is no memory.
#[track_caller]
fn survived(mut server: Server, worker: u32) {
    assert_eq!(process::worker(&server), worker);
    server.signal(Signal::QUIT).expect("it runs");
    let status = server.wait(PATIENCE).expect("nobody waits, so it ends");
    assert!(status.success(), "{status}");
    let mut alarms = alarms(&server);
    alarms.retain(|line| !line.contains("failed (12: Cannot allocate memory)"));
    assert_eq!(alarms, [""; 0]);
}

fn nginx_has_no_memory(numbers: fn(u64) -> RangeInclusive<u64>) {
    let faults = Faults::new();
    let server = server(&faults);
    let worker = process::worker(&server);
    for request in requests() {
        let count = each_fails(&server, &faults, Whose::Nginx, numbers, &request);
        assert!(count > 10, "only {count}, for a connection and a request");
    }
    survived(server, worker);
}

#[test]
fn nginx_has_no_memory_for_one_allocation() {
    nginx_has_no_memory(|n| n..=n);
}

#[test]
fn nginx_has_no_memory_from_one_allocation_on() {
    nginx_has_no_memory(|n| n..=u64::MAX);
}
