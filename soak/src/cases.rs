//! What is asked, and what must be answered: a request for each handler, with numbers in it that its answer must name.

use fastrand::Rng;
use std::cell::RefCell;
use std::fmt::Write;
use std::ops::Range;

/// One request and its answer. Its number is in its header line `X-Number`, which the server's configuration puts into
/// the answer, and in its arguments or its body where the handler gives them back.
#[derive(Clone, Debug)]
pub struct Case {
    pub handler: &'static str,
    pub number: u64,
    /// Path and query.
    pub target: String,
    /// GET without one, POST with one.
    pub body: Option<Vec<u8>>,
    pub status: u16,
    pub answer: Answer,
}

/// A body that is right.
#[derive(Clone, Debug)]
pub enum Answer {
    Exactly(Vec<u8>),
    /// And goes on.
    Begins(Vec<u8>),
}

/// The ports of the servers that some handlers ask.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    pub echo: u16,
    pub byte: u16,
}

/// The handler whose answers depend on Redis.
pub const REDIS: &str = "redis_counter";
/// The handler whose answers have no end: a client takes what is expected, and goes.
pub const EVENTS: &str = "events";
/// The handler that tells how many wait.
const STATUS: &str = "status";

/// How often a request is made, beside the others, and how.
type Entry = (u32, &'static str, fn(&mut Maker<'_>));

/// Every handler that the soak asks.
const ALL: &[Entry] = &[
    // The built-in ones.
    (20, "ok", |m| m.get("/ok", "OK\n")),
    (20, "hello", |m| m.get("/hello", "<h1>HelloWorld</h1>\n")),
    (10, "tokio_ok", |m| m.get("/tokio_ok", "OK\n")),
    (20, "reply", |m| {
        let (n, ms) = (m.number, m.ms(60));
        m.get(format!("/reply?n={n}&delay={ms}ms"), format!("reply {n}\n"));
    }),
    (5, "reply", |m| {
        m.get(format!("/busy?n={}", m.number), m.sorry());
        m.case.status = 503;
    }),
    (2, STATUS, |m| {
        m.get("/status", "");
        m.case.answer = Answer::Begins(b"{\"total\":{\"pending\":".to_vec());
    }),
    // examples/
    (20, "greet", |m| {
        m.get(
            format!("/greet?name={}", m.number),
            format!("hi {}\n", m.number),
        )
    }),
    (10, "patience", |m| {
        let (first, second) = (m.ms(40), m.ms(40));
        m.get(
            format!("/patience?first={first}ms&second={second}ms&limit=60s"),
            "both are over\n",
        );
    }),
    (5, "patience", |m| {
        m.get(
            format!("/patience?first=60s&limit={}ms", m.ms(40)),
            "too late\n",
        );
        m.case.status = 504;
    }),
    (20, "fan_out", |m| {
        let n = m.number;
        let part = |name: &str| format!(r#""{name}":{{"body":"{name} {n}\n","status":200}}"#);
        let all = format!("{{{},{},{}}}", part("first"), part("second"), part("third"));
        m.get(format!("/fan_out?n={n}"), all);
    }),
    // Its key is this request's alone: the handler that runs twice answers 2.
    (20, REDIS, |m| {
        m.get(format!("/count?key={}", m.number), "1\n")
    }),
    (2, EVENTS, |m| {
        m.get("/events", "");
        m.case.answer = Answer::Begins(ticks(m.count(1..12)));
    }),
    // tests/handlers/
    (3, "aligned", |m| m.get("/aligned", "aligned\n")),
    (3, "large", |m| m.get("/large", "kept\n")),
    (3, "join", |m| m.get("/join", "200\n")),
    (3, "moved", |m| m.get("/moved", "moved\n")),
    (3, "race", |m| m.get("/race", "short\n")),
    (3, "timeouts", |m| {
        m.get("/timeouts", "None Some(None) Some(Some(7))\n")
    }),
    (5, "wait", |m| {
        m.get(format!("/wait?ms={}", m.ms(400)), "waited\n")
    }),
    (5, "byte", |m| {
        m.get(format!("/byte?port={}", m.ports.byte), "b\n")
    }),
    (5, "thread_wakes", |m| {
        let how = ["once", "twice", "before"][m.count(0..3)];
        m.get(format!("/thread_wakes?how={how}"), "woken\n");
    }),
    (1, "storm", |m| m.get("/storm", "calm\n")),
    (10, "tell", |m| {
        let n = m.number;
        m.get(
            format!("/tell?n={n}"),
            format!("method GET\npath /tell\npath bytes /tell\nquery n={n}\nclient 127.0.0.1\n"),
        );
    }),
    (10, "arguments", |m| {
        let n = m.number;
        m.get(
            format!("/arguments?a={n}"),
            format!(
                "decoded \"a\" \"{n}\"\nraw a {n}\na is Some(\"{n}\")\nraw a is Some(\"{n}\")\n"
            ),
        );
    }),
    (5, "evaluate", |m| {
        m.get(
            format!("/evaluate?n={}", m.number),
            format!("evaluated {}\n", m.number),
        )
    }),
    (5, "fail", |m| {
        m.get("/fail?status=503", m.sorry());
        m.case.status = 503;
    }),
    (10, "zone", |m| {
        m.get(
            format!("/zone?do=add&key=a{}&value=v&ttl=60000", m.number),
            "Ok(true)\n",
        )
    }),
    (10, "zone", |m| {
        m.get(
            format!("/zone?do=incr&key=i{}&ttl=60000", m.number),
            "Ok(1)\n",
        )
    }),
    (10, "big", |m| {
        let size = m.count(0..200_000);
        let body = (0..size).map(|n| (n % 251) as u8);
        m.get(format!("/big?size={size}"), body.collect::<Vec<_>>());
    }),
    (10, "stream_bytes", |m| {
        let (pieces, size) = (m.count(1..30), m.count(1..20_000));
        m.get(
            format!("/stream_bytes?n={pieces}&size={size}&ms={}", m.ms(3)),
            lines(pieces * size),
        );
    }),
    (10, "stream_text", |m| {
        let (n, times) = (m.number, m.count(1..8));
        m.get(
            format!("/stream_text?text={n}%20&n={times}&ms={}", m.ms(5)),
            format!("{n} ").repeat(times),
        );
    }),
    (10, "body_echo", |m| {
        m.post("/body_echo", |body| body.to_vec())
    }),
    (10, "body_halves", |m| {
        m.post("/body_halves", |body| body.to_vec())
    }),
    (10, "stream_body", |m| {
        m.post("/stream_body", |body| body.to_vec())
    }),
    (5, "ask_all", |m| {
        let n = m.number;
        let uris: String = (0..4)
            .map(|part| format!("&uri={}", m.part(&format!("{n}.{part}"))))
            .collect();
        m.get(
            format!("/ask_all?{uris}"),
            (0..4)
                .map(|part| format!("part {n}.{part} "))
                .collect::<String>(),
        );
    }),
    (5, "ask_any", |m| {
        let n = m.number;
        m.get(
            format!("/ask_any?uri={0}&uri={0}", m.part(&n.to_string())),
            format!("part {n} part {n} "),
        );
    }),
    (5, "ask_again", |m| {
        let n = m.number;
        m.get(
            format!("/ask_again?n=3&uri={}", m.part(&n.to_string())),
            format!("part {n}").repeat(3),
        );
    }),
    (5, "ask_another", |m| {
        let n = m.number;
        m.get(
            format!(
                "/ask_another?uri={}&other={}",
                m.part("x"),
                m.part(&n.to_string())
            ),
            format!("part {n}"),
        );
    }),
    (5, "ask_and_stream", |m| {
        let n = m.number;
        m.get(
            format!("/ask_and_stream?uri={}", m.part(&n.to_string())),
            format!("part {n}\n"),
        );
    }),
    (5, "ask_bravely", |m| {
        m.get(format!("/ask_bravely?uri={}", m.part("x")), "200\n")
    }),
    (5, "post_all", |m| {
        m.get("/post_all?uri=/body_echo&bodies=abc", "abbccc")
    }),
    (5, "go", |m| {
        let n = m.number;
        m.get(
            format!("/go?to=/arrived%3Fn%3D{n}&ms={}", m.ms(5)),
            format!("GET /arrived?n={n} length None body \"\" by /go\n"),
        );
    }),
    (5, "go", |m| {
        let n = m.number;
        m.get(
            format!("/go?to=@arrived&n={n}"),
            format!("GET /go?to=@arrived&n={n} length None body \"\" by /go\n"),
        );
    }),
    (5, "go", |m| {
        let (n, letters) = (m.number, m.number.to_string());
        let back: String = letters.chars().rev().collect();
        let answer = format!(
            "POST /arrived?n={n} length Some(\"{}\") body \"{back}\" by /go\n",
            back.len()
        );
        m.get(
            format!("/go?to=/arrived%3Fn%3D{n}&read=passed%20on"),
            answer,
        );
        m.case.body = Some(letters.into_bytes());
    }),
    (5, "visit", |m| {
        m.get("/visit?fail=1&slow", "2: /visit /visited\n")
    }),
    (5, "page", |m| {
        m.get(
            format!("/page?n={}", m.number),
            format!("[part {}]", m.number),
        )
    }),
    (3, "panic_at_once", |m| m.panic("/panic_at_once")),
    (3, "panic_after_wait", |m| m.panic("/panic_after_wait")),
    (3, "panic_before_future", |m| {
        m.panic("/panic_before_future")
    }),
    (3, "panic_in_drop", |m| {
        m.panic("/panic_in_drop?after=answer")
    }),
    (3, "panic_in_payload", |m| m.panic("/panic_in_payload")),
    (3, "panic_with_number", |m| m.panic("/panic_with_number")),
    // tests/tokio-handlers/
    (10, "naps", |m| {
        m.get(format!("/naps?ms={}", m.ms(40)), "awake\n")
    }),
    (10, "echo", |m| {
        m.get(
            format!("/echo?port={}&text={}", m.ports.echo, m.number),
            m.number.to_string(),
        );
    }),
    (5, "places", |m| m.get("/places", "rust-tokio rust-tokio\n")),
    (5, "offloads", |m| m.get("/offloads?how=future", "future\n")),
    (5, "offloads", |m| {
        m.get("/offloads?how=closure", "closure\n")
    }),
    (2, "offloads", |m| m.panic("/offloads?how=future%20panics")),
    (2, "offloads", |m| m.panic("/offloads?how=closure%20panics")),
    (5, "offload_waits", |m| {
        m.get(format!("/offload_waits?ms={}", m.ms(40)), "done\n")
    }),
    (5, "offload_blocks", |m| {
        m.get(format!("/offload_blocks?ms={}", m.ms(10)), "done\n")
    }),
    (2, "both_clocks", |m| m.get("/both_clocks", "100\n")),
    // tests/background-tasks/
    (5, "after_answer", |m| {
        m.get(format!("/after_answer?id={}", m.number), "answered\n")
    }),
    (1, "spawn_many", |m| m.get("/spawn_many", "answered\n")),
    (3, "spawn_panics", |m| m.get("/spawn_panics", "answered\n")),
    (3, "elsewhere", |m| m.get("/elsewhere", "true true true\n")),
];

/// Makes one case.
struct Maker<'a> {
    rng: RefCell<&'a mut Rng>,
    ports: Ports,
    number: u64,
    case: Case,
}

impl Case {
    /// The request of this number, for a handler by chance.
    pub fn any(rng: &mut Rng, ports: Ports, number: u64) -> Case {
        let mut at = rng.u32(0..ALL.iter().map(|(weight, ..)| weight).sum());
        let entry = ALL
            .iter()
            .find(|(weight, ..)| match at.checked_sub(*weight) {
                Some(rest) => {
                    at = rest;
                    false
                }
                None => true,
            });
        let (_, handler, make) = entry.expect("the weights' sum is above");
        Case::make(handler, *make, rng, ports, number)
    }

    /// Asks how many wait where nobody does.
    pub fn nobody_waits() -> Case {
        Case {
            handler: STATUS,
            number: 0,
            target: "/status".to_owned(),
            body: None,
            status: 200,
            answer: Answer::Begins(b"{\"total\":{\"pending\":0,".to_vec()),
        }
    }

    /// A request for each handler, in each of its ways.
    pub fn each(rng: &mut Rng, ports: Ports) -> Vec<Case> {
        let all = ALL.iter().enumerate();
        all.map(|(n, (_, handler, make))| Case::make(handler, *make, rng, ports, n as u64))
            .collect()
    }

    fn make(
        handler: &'static str,
        make: fn(&mut Maker<'_>),
        rng: &mut Rng,
        ports: Ports,
        number: u64,
    ) -> Case {
        let case = Case {
            handler,
            number,
            target: String::new(),
            body: None,
            status: 200,
            answer: Answer::Exactly(Vec::new()),
        };
        let rng = RefCell::new(rng);
        let mut maker = Maker {
            rng,
            ports,
            number,
            case,
        };
        make(&mut maker);
        maker.case
    }
}

impl Maker<'_> {
    fn get(&mut self, target: impl Into<String>, answer: impl Into<Vec<u8>>) {
        self.case.target = target.into();
        self.case.answer = Answer::Exactly(answer.into());
    }

    /// A body by chance: short, or longer than what nginx keeps in memory.
    fn post(&mut self, target: &str, answer: impl Fn(&[u8]) -> Vec<u8>) {
        let longest = if self.count(0..10) == 0 {
            300_000
        } else {
            5_000
        };
        let mut body = self.number.to_string().into_bytes();
        let random = self.count(0..longest);
        body.extend((0..random).map(|_| self.rng.borrow_mut().u8(..)));
        self.get(target, answer(&body));
        self.case.body = Some(body);
    }

    /// A handler that panics is answered for by `error_page`.
    fn panic(&mut self, target: &str) {
        self.get(target, self.sorry());
        self.case.status = 500;
    }

    /// What stands behind `error_page`.
    fn sorry(&self) -> String {
        sorry(self.number)
    }

    /// The URI of a location that answers `part` and the name, encoded.
    fn part(&self, name: &str) -> String {
        format!("/part%3Fn%3D{name}%26delay%3D{}ms", self.ms(10))
    }

    fn ms(&self, below: usize) -> usize {
        self.count(0..below)
    }

    fn count(&self, range: Range<usize>) -> usize {
        self.rng.borrow_mut().usize(range)
    }
}

/// The body of an error page.
pub fn sorry(number: u64) -> String {
    format!("sorry {number}\n")
}

/// A text whose every eight bytes tell their place, as `stream_bytes` writes it.
fn lines(length: usize) -> Vec<u8> {
    let mut text = String::new();
    for n in 0..=length / 8 {
        writeln!(text, "{n:07x}").expect("a string grows");
    }
    text.truncate(length);
    text.into_bytes()
}

/// So many ticks of `examples/events`.
fn ticks(count: usize) -> Vec<u8> {
    let ticks = (0..count).map(|n| format!("event: tick\ndata: {n}\n\n"));
    ticks.collect::<String>().into_bytes()
}
