//! Each allocation of a request fails in turn: a 500 or a closed connection, and nothing else.

mod support;

use std::io::{ErrorKind, Read, Write};
use std::ops::RangeInclusive;
use support::faults::{Faults, Whose};
use support::http::Client;
use support::http2::{Frame, Http2};
use support::{PATIENCE, alarms, logged_times, process};
use test_nginx::{Server, ServerBuilder, Signal};

/// A pool that is as small as it can be asks the system for whatever a request asks it for.
const CONFIG: &str = "
    request_pool_size 112;
    client_body_buffer_size 16k;
    location = /ok { content_by_rust ok; }
    location = /wait { content_by_rust wait; }
    location = /hello { content_by_rust hello; }
    location = /reply {
        rust_max_delay 5ms;
        content_by_rust reply body='$arg_a $request_method\\n' delay=$arg_delay status=$arg_status type=$arg_type;
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
    location = /thrifty { content_by_rust thrifty; }
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
        get("/headers?X-A=b&Server=c+d"),
        get("/arguments?a=%20b&a=c+d&%FF"),
        get(&format!("/variable?name=arg_{name}&{name}=y")),
        get(&format!("/set?name=x&value={name}")),
        get("/visit"),
        get("/zone?do=set&key=a&value=b"),
        get("/zone?do=get&key=a"),
    ]
}

/// Those with subrequests of nginx's own. nginx up to 1.26 waits for good for one whose last and
/// smallest piece of memory is refused. In a pool the piece shares a block with others, which a
/// sanitizer's nginx has none of.
fn requests_with_nginx_subrequests() -> Vec<Vec<u8>> {
    match support::sanitizer_reports() {
        Some(_) => Vec::new(),
        None => vec![
            request("POST", "/mirrored", &[b'y'; 100_000]),
            get("/authorized"),
        ],
    }
}

fn builder(faults: &Faults) -> ServerBuilder {
    let nginx = faults.nginx([support::module("test-handlers")]);
    let builder = support::server_with(CONFIG).nginx(nginx);
    builder.http_config("rust_shared_zone z 1m;")
}

fn server(faults: &Faults) -> Server {
    support::start(builder(faults))
}

/// As [`server`], with a log of all that the module notes.
fn noting_server(faults: &Faults) -> Server {
    let config = format!("access_log logs/notes.log notes; {CONFIG}");
    support::start(builder(faults).config(config).http_config(
        "rust_shared_zone z 1m;
         log_format notes '$rust_pending $rust_handler $rust_wait';",
    ))
}

/// The worker is the same, and no alarm was but that there is no memory.
#[track_caller]
fn survived(mut server: Server, worker: u32) {
    assert_eq!(process::worker(&server), worker);
    server.signal(Signal::QUIT).expect("it runs");
    let status = server.wait(PATIENCE).expect("nobody waits, so it ends");
    assert!(status.success(), "{status}");
    let mut alarms = alarms(&server);
    let known = [
        "failed (12: Cannot allocate memory)",
        "content_by_rust cannot start in this worker: out of memory",
    ];
    alarms.retain(|line| !known.iter().any(|known| line.contains(known)));
    assert_eq!(alarms, [""; 0]);
}

fn nginx_has_no_memory(numbers: fn(u64) -> RangeInclusive<u64>) {
    let faults = Faults::new();
    let server = noting_server(&faults);
    let worker = process::worker(&server);
    for request in [requests(), requests_with_nginx_subrequests()].concat() {
        let count = each_fails(&server, &faults, Whose::Nginx, numbers, &request);
        assert!(count > 10, "only {count}, for a connection and a request");
    }
    survived(server, worker);
}

#[test]
fn nginx_has_no_memory_for_one_allocation() {
    nginx_has_no_memory(|n| n..=n);
}

/// A stream is answered or reset: an answer in a later turn of the loop has nginx's frames sent by
/// nobody else. Only what is left to do then fails: nginx 1.22 itself does not survive all of what
/// it does before that.
#[test]
fn nginx_has_no_memory_for_one_allocation_of_a_late_http_2_answer() {
    let faults = Faults::new();
    let server = support::start(builder(&faults).http2(true));
    let worker = process::worker(&server);
    let (mut asked, mut n, mut ms) = (0, 1, 50);
    loop {
        let mut http2 = Http2::connect(server.addr());
        http2.get(&format!("/wait?ms={ms}"));
        asked += 1;
        logged_times(&server, "waits now", asked);
        faults.refuse(Whose::Nginx, n..=n);
        let mut body = Vec::new();
        let whole = loop {
            match http2.next() {
                Some(Frame::Headers { end: false, .. }) => {}
                Some(Frame::Data { bytes, end, .. }) => {
                    body.extend(bytes);
                    if end {
                        break true;
                    }
                }
                _ => break false,
            }
        };
        let count = faults.relent();
        if whole {
            let body = String::from_utf8_lossy(&body);
            assert!(is_honest(&body, "waited\n"), "with allocation {n}: {body}");
        }
        match count {
            // The machine is slow, and the answer was there before that.
            0 => ms *= 2,
            count if count < n => {
                assert!(whole && n > 5, "only {count}, for an answer");
                break;
            }
            _ => n += 1,
        }
    }
    survived(server, worker);
}

#[test]
fn nginx_has_no_memory_from_one_allocation_on() {
    nginx_has_no_memory(|n| n..=u64::MAX);
}

/// What a worker allocates once: each fails in the first request of a worker of its own.
#[test]
fn rust_has_no_memory_for_a_workers_first_request() {
    for n in 1.. {
        let faults = Faults::new();
        let server = server(&faults);
        let worker = process::worker(&server);
        let files = process::files(worker).len();
        faults.refuse(Whose::Module, n..=n);
        let answer = ask(&server, &get("/ok"));
        let count = faults.relent();
        let right = ask(&server, &get("/ok"));
        assert_eq!(process::files(worker).len(), files + 1, "the eventfd");
        assert!(is_honest(&answer, &right), "with allocation {n}: {answer}");
        assert!(right.ends_with("OK\n"));
        survived(server, worker);
        if count < n {
            assert!(n > 5, "only {count}, for events, a slot and a timer");
            break;
        }
    }
}

/// What the module allocates for a request: where a handler's own code does, Rust ends the worker.
#[test]
fn rust_has_no_memory_for_one_allocation_of_the_modules() {
    let faults = Faults::new();
    let server = server(&faults);
    let worker = process::worker(&server);
    let long = &[b'x'; 100_000][..];
    for request in [
        request("POST", "/body", long),
        get("/thrifty?do=header"),
        get("/thrifty?do=error"),
        get("/thrifty?do=redirect"),
        get("/thrifty?do=stream"),
        get("/thrifty?do=data"),
        get("/thrifty?do=zone"),
    ] {
        let count = each_fails(&server, &faults, Whose::Module, |n| n..=n, &request);
        assert!(count > 0, "{}", String::from_utf8_lossy(&request));
    }
    let count = each_fails(&server, &faults, Whose::Module, |n| n..=n, &get("/hello"));
    assert_eq!(count, 0, "hello needs none");
    survived(server, worker);
}

/// What cannot be told is not in the log, and the request is answered all the same.
#[test]
fn rust_has_no_memory_for_a_variable() {
    let faults = Faults::new();
    let server = noting_server(&faults);
    let worker = process::worker(&server);
    let count = each_fails(&server, &faults, Whose::Module, |n| n..=n, &get("/hello"));
    assert!(count > 2, "only {count}, for three variables");
    survived(server, worker);
}

/// A thread that cannot say whom it wakes wakes all.
#[test]
fn another_thread_has_no_memory_for_a_wake() {
    let faults = Faults::new();
    let nginx = faults.nginx([support::module("test-tokio-handlers")]);
    let builder = Server::builder()
        .nginx(nginx)
        .master(true)
        .log_level("info");
    let server = support::start(builder.config("location = /naps { content_by_rust naps; }"));
    let worker = process::worker(&server);
    let naps = get("/naps?ms=5");
    let right = ask(&server, &naps);
    for _ in 0..20 {
        faults.refuse(Whose::Module, 1..=1);
        assert_eq!(ask(&server, &naps), right);
        assert_eq!(faults.relent(), 1, "for the key of the task that is woken");
    }
    survived(server, worker);
}
