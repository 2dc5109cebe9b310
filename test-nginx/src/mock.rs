//! `--- tcp_listen` and `--- udp_listen`: a server for nginx to talk to.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use crate::block::Block;
use crate::perl::Perl;
use crate::value::Value;

const STEP: Duration = Duration::from_millis(5);

/// A server that takes one connection (or datagram), reads and replies.
pub(crate) struct Mock {
    kind: &'static str,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    query: Option<Value>,
    query_len: Option<usize>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    got: Mutex<Vec<u8>>,
    error: Mutex<Option<String>>,
}

/// What the server does once it is spoken to.
struct Script {
    reply: Value,
    delay: Option<Duration>,
    shutdown: Option<Shutdown>,
    shutdown_delay: Option<Duration>,
    no_close: bool,
    /// Read until so many bytes have come...
    wanted: usize,
    /// ...or until nothing has come for so long.
    idle: Option<Duration>,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Mock {
    /// The servers that the sections of `block` ask for; `expand` fills in
    /// the address.
    pub fn start_all(
        block: &Block,
        perl: &Arc<Perl>,
        expand: impl Fn(&[u8]) -> Result<Vec<u8>, String>,
    ) -> Result<Vec<Mock>, String> {
        let mut all = Vec::new();
        for kind in ["tcp", "udp"] {
            let section = |name: &str| format!("{kind}_{name}");
            if !block.has(&section("listen")) {
                if block.has(&section("query")) {
                    return Err(format!("--- {kind}_query needs --- {kind}_listen"));
                }
                continue;
            }
            let target = String::from_utf8(expand(&block.bytes(&section("listen")))?);
            let target = target
                .map_err(|_| format!("bad --- {kind}_listen"))?
                .trim()
                .to_owned();
            all.push(Mock::start(kind, &target, block, perl)?);
        }
        Ok(all)
    }

    fn start(
        kind: &'static str,
        target: &str,
        block: &Block,
        perl: &Arc<Perl>,
    ) -> Result<Mock, String> {
        let section = |name: &str| format!("{kind}_{name}");
        let number = |name: &str| {
            block
                .text(&section(name))
                .map(|text| text.trim().to_owned())
        };
        let shutdown = number("shutdown")
            .map(|how| shutdown_of(&how))
            .transpose()?;
        let reply = block.section(&section("reply")).clone();
        if reply == Value::Undef && shutdown.is_none() {
            return Err(format!("--- {kind}_listen needs --- {kind}_reply"));
        }
        let query = Some(block.section(&section("query")).clone()).filter(|q| *q != Value::Undef);
        let query_len = number("query_len").map(|len| len.parse()).transpose();
        let query_len = query_len.map_err(|_| format!("bad --- {kind}_query_len"))?;
        let by_query = query.as_ref().and_then(Value::bytes).map(<[u8]>::len);
        let script = Script {
            reply,
            delay: block.time(&section("reply_delay"))?,
            shutdown,
            shutdown_delay: block.time(&section("shutdown_delay"))?,
            no_close: block.has(&section("no_close")),
            wanted: query_len.or(by_query).unwrap_or(1).max(1),
            idle: match number("query_auto_timeout").as_deref() {
                None => None,
                Some("") => Some(Duration::from_millis(100)),
                Some(text) => crate::block::parse_time(text),
            },
        };
        let shared = Arc::new(Shared::default());
        let thread = match kind {
            "tcp" => tcp(target, script, shared.clone(), perl.clone()),
            _ => udp(target, script, shared.clone(), perl.clone()),
        };
        let thread = thread.map_err(|e| format!("--- {kind}_listen: {target}: {e}"))?;
        Ok(Mock {
            kind,
            shared,
            thread: Some(thread),
            query,
            query_len,
        })
    }

    /// Ends the server, and says what is not as the block has it.
    pub fn finish(mut self, perl: &Perl) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(1);
        let wanted = self.query.as_ref().and_then(Value::bytes).map(<[u8]>::len);
        let wanted = wanted.max(self.query_len).unwrap_or(0);
        while self.got().len() < wanted && Instant::now() < deadline {
            sleep(STEP);
        }
        self.stop();
        let (kind, got) = (self.kind, self.got());
        let mut failures: Vec<String> = self
            .shared
            .error
            .lock()
            .unwrap()
            .take()
            .into_iter()
            .collect();
        if let Some(query) = &self.query {
            failures.extend(self.wrong_query(query, &got, perl));
        }
        if let Some(len) = self.query_len.filter(|&len| len != got.len()) {
            failures.push(format!(
                "{kind}_query_len: expected {len}, got {}",
                got.len()
            ));
        }
        failures
    }

    fn wrong_query(&self, query: &Value, got: &[u8], perl: &Perl) -> Option<String> {
        let kind = self.kind;
        let expected = query.bytes().unwrap_or_default();
        if let Value::Regex { .. } = query {
            let matches = perl.matches(query, "", got) == Ok(true);
            let (pattern, got) = (String::from_utf8_lossy(expected), crate::report::shown(got));
            return (!matches).then(|| format!("{kind}_query: {got} does not match {pattern}"));
        }
        let difference = || {
            format!(
                "{kind}_query:\n{}",
                crate::report::difference(expected, got)
            )
        };
        (expected != got).then(difference)
    }

    fn got(&self) -> Vec<u8> {
        self.shared.got.lock().unwrap().clone()
    }

    fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.stop();
    }
}

/// 0 shuts down reading, 1 writing, 2 both; nothing is 1.
pub(crate) fn shutdown_of(how: &str) -> Result<Shutdown, String> {
    match how.trim() {
        "0" => Ok(Shutdown::Read),
        "" | "1" => Ok(Shutdown::Write),
        "2" => Ok(Shutdown::Both),
        other => Err(format!("cannot shut down {other:?}: it is 0, 1 or 2")),
    }
}

fn tcp(
    target: &str,
    script: Script,
    shared: Arc<Shared>,
    perl: Arc<Perl>,
) -> io::Result<JoinHandle<()>> {
    let mut accept: Box<dyn FnMut() -> io::Result<Stream> + Send> = match target.parse::<u16>() {
        Ok(port) => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
            listener.set_nonblocking(true)?;
            Box::new(move || listener.accept().map(|(stream, _)| Stream::Tcp(stream)))
        }
        Err(_) => {
            let _ = fs::remove_file(target);
            let listener = UnixListener::bind(target)?;
            listener.set_nonblocking(true)?;
            Box::new(move || listener.accept().map(|(stream, _)| Stream::Unix(stream)))
        }
    };
    Ok(spawn(move || {
        while !shared.stop.load(Ordering::Relaxed) {
            match accept() {
                Ok(stream) => return shared.note(talk(stream, &script, &shared, &perl)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => sleep(STEP),
                Err(e) => return shared.note(Err(e)),
            }
        }
    }))
}

fn talk(mut stream: Stream, script: &Script, shared: &Shared, perl: &Perl) -> io::Result<()> {
    stream.prepare()?;
    if let Some(how) = script.shutdown {
        shared.pause(script.shutdown_delay);
        stream.shutdown(how)?;
    }
    let may_read = !matches!(script.shutdown, Some(Shutdown::Read | Shutdown::Both));
    let may_write = !matches!(script.shutdown, Some(Shutdown::Write));
    let mut quiet = Instant::now();
    while may_read && !shared.stop.load(Ordering::Relaxed) {
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => {
                let mut got = shared.got.lock().unwrap();
                got.extend_from_slice(&buffer[..len]);
                if script.idle.is_none() && got.len() >= script.wanted {
                    break;
                }
                quiet = Instant::now();
            }
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                if script.idle.is_some_and(|idle| quiet.elapsed() > idle) {
                    break;
                }
            }
            Err(e) => return Err(e),
        }
    }
    shared.pause(script.delay);
    if may_write {
        for part in replies(&script.reply, &shared.got.lock().unwrap().clone(), perl)? {
            // nginx may have gone by then: that is for the other checks to see.
            let _ = stream.write_all(&part);
        }
    }
    while script.no_close && !shared.stop.load(Ordering::Relaxed) {
        sleep(STEP);
    }
    Ok(())
}

fn udp(
    target: &str,
    script: Script,
    shared: Arc<Shared>,
    perl: Arc<Perl>,
) -> io::Result<JoinHandle<()>> {
    type Reply = Box<dyn Fn(&[u8]) -> io::Result<()>>;
    type Receive = Box<dyn FnMut(&mut [u8]) -> io::Result<(usize, Reply)> + Send>;
    let mut receive: Receive = match target.parse::<u16>() {
        Ok(port) => {
            let socket = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?);
            socket.set_read_timeout(Some(STEP))?;
            Box::new(move |buffer| {
                let (len, from) = socket.recv_from(buffer)?;
                let socket = socket.clone();
                Ok((
                    len,
                    Box::new(move |part| socket.send_to(part, from).map(drop)),
                ))
            })
        }
        Err(_) => {
            let _ = fs::remove_file(target);
            let socket = Arc::new(UnixDatagram::bind(target)?);
            socket.set_read_timeout(Some(STEP))?;
            Box::new(move |buffer| {
                let (len, from) = socket.recv_from(buffer)?;
                let socket = socket.clone();
                Ok((
                    len,
                    Box::new(move |part| match from.as_pathname() {
                        Some(path) => socket.send_to(part, path).map(drop),
                        None => Ok(()),
                    }),
                ))
            })
        }
    };
    Ok(spawn(move || {
        let mut buffer = [0; 4096];
        while !shared.stop.load(Ordering::Relaxed) {
            match receive(&mut buffer) {
                Ok((len, reply)) => {
                    *shared.got.lock().unwrap() = buffer[..len].to_vec();
                    shared.pause(script.delay);
                    let parts = replies(&script.reply, &buffer[..len], &perl);
                    return shared.note(
                        parts.and_then(|parts| parts.iter().try_for_each(|part| reply(part))),
                    );
                }
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) => {}
                Err(e) => return shared.note(Err(e)),
            }
        }
    }))
}

/// A reply is a string, an array of them, or a sub that is given the query.
fn replies(reply: &Value, got: &[u8], perl: &Perl) -> io::Result<Vec<Vec<u8>>> {
    match reply {
        Value::Undef => Ok(Vec::new()),
        Value::List(list) => Ok(list
            .iter()
            .filter_map(|part| part.bytes().map(<[u8]>::to_vec))
            .collect()),
        Value::Code(id) => {
            let arguments = [Value::text(id.to_string()), Value::text(got)];
            let reply = perl
                .ask("call_code", &arguments)
                .map_err(io::Error::other)?;
            replies(&reply, got, perl)
        }
        text => Ok(text
            .bytes()
            .map(|text| vec![text.to_vec()])
            .unwrap_or_default()),
    }
}

impl Shared {
    /// Sleeps, unless the test is over.
    fn pause(&self, time: Option<Duration>) {
        let end = Instant::now() + time.unwrap_or_default();
        while Instant::now() < end && !self.stop.load(Ordering::Relaxed) {
            sleep(STEP);
        }
    }

    fn note(&self, result: io::Result<()>) {
        if let Err(e) = result {
            *self.error.lock().unwrap() = Some(format!("the server for nginx to talk to: {e}"));
        }
    }
}

impl Stream {
    fn prepare(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(STEP))
            }
            Stream::Unix(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(STEP))
            }
        }
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            Stream::Unix(stream) => stream.shutdown(how),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.write_all(bytes),
            Stream::Unix(stream) => stream.write_all(bytes),
        }
    }
}
