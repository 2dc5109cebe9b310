//! The loop that moves all connections through warm-up, measured window and drain.
//!
//! Edge-triggered: a connection whose whole answer has been read is not read again until the kernel says that there is
//! more. So an exchange is one `send` and one `recv`, and an `epoll_wait` shared by all that are ready.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use nix::sys::timer::{Expiration, TimerSetTimeFlags};
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};

use super::connection::{Connection, Input, State, abandon, connect};
use super::judge::{Judgement, judge};
use super::pace::Pace;
use super::tally::{Tally, Usage};
use super::{Moment, Plan, Until};
use crate::result::{ClientSample, Failure};
use crate::stop;
use nix::libc::{EADDRINUSE, EADDRNOTAVAIL, EMFILE, ENFILE};

/// How often timeouts are looked at, and closed connections opened again.
const TICK: Duration = Duration::from_millis(5);
/// At most so many connections that are to be kept are new at the same time, which is until their first answer: only
/// then has the server taken them from its listen queue. Most queues are twice as long.
const OPENING: usize = 64;
/// How much longer than asked a warm-up may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// nginx's clock, and others', may be one millisecond behind.
const CLOCK: Duration = Duration::from_millis(1);
/// The timer of the open loop.
const TIMER: Token = Token(usize::MAX - 1);

/// Runs one round in the calling thread. `at` is called where the window begins and where it ends; what it takes is not
/// part of the window.
pub fn run(plan: &Plan, at: &mut dyn FnMut(Moment) -> Result<()>) -> Result<ClientSample> {
    Engine::new(plan)?.run(at)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Window,
    Drain,
}

struct Engine<'a> {
    plan: &'a Plan,
    request: Vec<u8>,
    /// The last right answer of a kept connection: one that is equal to it needs no judging.
    template: Vec<u8>,
    poll: Poll,
    timer: TimerFd,
    connections: Vec<Connection>,
    /// Without a socket, in the order in which they are opened.
    closed: VecDeque<usize>,
    /// Open and without a request: an open loop's, and any that are spare when the last requests are on their way.
    idle: VecDeque<usize>,
    pace: Option<Pace>,
    /// Connections that are new.
    fresh: usize,
    open: u32,
    /// Requests whose answer is awaited.
    waiting: u64,
    tally: Tally,
    phase: Phase,
    epoch: Instant,
    /// Start and end of the window, nanoseconds since the epoch.
    begin: u64,
    end: u64,
    /// No request of an open loop is due from here on.
    last_due: u64,
}

impl<'a> Engine<'a> {
    fn new(plan: &'a Plan) -> Result<Self> {
        let poll = Poll::new().context("epoll")?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)
            .context("a timer descriptor")?;
        if plan.open_rate.is_some() {
            let fd = std::os::fd::AsFd::as_fd(&timer).as_raw_fd();
            poll.registry()
                .register(&mut SourceFd(&fd), TIMER, Interest::READABLE)?;
        }
        let count = plan.connections as usize;
        Ok(Self {
            plan,
            request: request(plan),
            template: Vec::new(),
            poll,
            timer,
            connections: (0..count).map(|_| Connection::new()).collect(),
            closed: (0..count).collect(),
            idle: VecDeque::new(),
            pace: None,
            fresh: 0,
            open: 0,
            waiting: 0,
            tally: Tally::new(),
            phase: Phase::WarmUp,
            epoch: Instant::now(),
            begin: 0,
            end: u64::MAX,
            last_due: u64::MAX,
        })
    }

    fn run(mut self, at: &mut dyn FnMut(Moment) -> Result<()>) -> Result<ClientSample> {
        let mut events = Events::with_capacity(1024);
        let mut before = Usage::default();
        let mut used = Usage::default();
        let mut next_tick = 0;
        let tick = TICK.as_nanos() as u64;
        let timeout = self.plan.timeout.as_nanos() as u64;
        self.pace = self.plan.open_rate.map(|rate| Pace::new(0, rate));
        loop {
            let now = self.now();
            if now >= next_tick {
                stop::check()?;
                next_tick = now + tick;
                self.fail_late(now);
                self.reopen(now);
            }
            match self.phase {
                Phase::WarmUp if self.is_warm(now) => {
                    at(Moment::Begin)?;
                    before = Usage::of_this_thread()?;
                    self.begin();
                }
                Phase::Window if self.window_is_over(now) => {
                    self.end = now;
                    self.last_due = self.last_due.min(now);
                    self.tally.took += self.under_way();
                    used = Usage::of_this_thread()?.since(before);
                    self.phase = Phase::Drain;
                    at(Moment::End)?;
                }
                Phase::Drain if self.drained() || now >= self.end + timeout + 2 * tick => break,
                _ => (),
            }
            self.pump(now)?;
            let wait = next_tick.saturating_sub(now).max(1);
            let polled = self
                .poll
                .poll(&mut events, Some(Duration::from_nanos(wait)));
            match polled {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled.context("epoll_wait")?,
            }
            for event in &events {
                if event.token() != TIMER {
                    self.on_event(event);
                }
            }
        }
        if let Some(pace) = &self.pace {
            self.tally.unsent = pace.left_before(self.last_due);
        }
        Ok(self.tally.sample(self.end - self.begin, used))
    }

    fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// The warm-up is over: what it counted is forgotten, but not its failures and connections.
    fn begin(&mut self) {
        let warm_up = std::mem::replace(&mut self.tally, Tally::new());
        self.tally.failures = warm_up.failures;
        self.tally.examples = warm_up.examples;
        self.tally.opened = warm_up.opened;
        self.tally.not_kept = warm_up.not_kept;
        self.tally.most_open = self.open;
        self.begin = self.now();
        self.phase = Phase::Window;
        if let Until::Elapsed(length) = self.plan.until {
            self.last_due = self.begin + length.as_nanos() as u64;
        }
        self.pace = self.plan.open_rate.map(|rate| Pace::new(self.begin, rate));
    }

    /// The time is over, and each connection is open and has been answered; a server that does not even do that within
    /// some seconds more is measured as it is.
    fn is_warm(&self, now: u64) -> bool {
        let warm_up = self.plan.warm_up.as_nanos() as u64;
        let all = self.open == self.plan.connections || !self.plan.keep_alive;
        let enough = all && self.tally.answers >= u64::from(self.plan.connections);
        let patience = if self.plan.warm_up.is_zero() {
            0
        } else {
            PATIENCE.as_nanos() as u64
        };
        let fails = self.tally.failed() > 0;
        now >= warm_up && (enough || fails || now >= warm_up + patience)
    }

    /// A closed loop's window is longer than was asked for, but not more than four times, until each connection has
    /// been answered ten times: what is cut off at its edges must be little.
    fn window_is_over(&self, now: u64) -> bool {
        match self.plan.until {
            Until::Elapsed(length) => {
                let (length, asked) = (length.as_nanos() as u64, self.begin);
                let enough = self.pace.is_some()
                    || self.tally.answers >= 10 * u64::from(self.plan.connections);
                now >= asked + if enough { length } else { 4 * length }
            }
            Until::Requests(count) => self.tally.answers + self.tally.failed() >= count,
        }
    }

    /// How long the requests whose answers are still to come have been under way in the window, nanoseconds in all.
    fn under_way(&self) -> u64 {
        let waiting = self.connections.iter().filter(|connection| {
            matches!(connection.state, State::Waiting | State::Closing)
                || connection.state == State::Connecting && !self.plan.keep_alive
        });
        let parts =
            waiting.map(|connection| self.end.saturating_sub(connection.due.max(self.begin)));
        parts.sum()
    }

    fn drained(&self) -> bool {
        let unsent = self
            .pace
            .as_ref()
            .map_or(0, |pace| pace.left_before(self.last_due));
        self.waiting == 0 && unsent == 0
    }

    /// Whether a closed loop may begin another request.
    fn may_ask(&self) -> bool {
        match (self.phase, self.plan.until) {
            (Phase::WarmUp, _) | (Phase::Window, Until::Elapsed(_)) => true,
            (Phase::Window, Until::Requests(count)) => {
                self.tally.answers + self.tally.failed() + self.waiting < count
            }
            (Phase::Drain, _) => false,
        }
    }

    /// Sends what is due on idle connections, and sets the timer for what is due next.
    fn pump(&mut self, now: u64) -> Result<()> {
        while !self.idle.is_empty() {
            let Some(due) = self.due(now) else { break };
            // The queue has just been looked at.
            let Some(index) = self.idle.pop_front() else {
                break;
            };
            self.send(index, due, now);
        }
        let Some(pace) = &self.pace else {
            return Ok(());
        };
        if !self.idle.is_empty() && pace.next() < self.last_due {
            let wait = Duration::from_nanos(pace.next().saturating_sub(self.now()).max(1));
            self.timer
                .set(Expiration::OneShot(wait.into()), TimerSetTimeFlags::empty())
                .context("setting a timer")?;
        }
        Ok(())
    }

    /// When the request was due that may be sent now, if there is one.
    fn due(&mut self, now: u64) -> Option<u64> {
        match &mut self.pace {
            None => self.may_ask().then_some(now),
            // After the window, those are still sent that were due in it.
            Some(pace) if pace.next() < self.last_due => pace.take(now),
            Some(_) => None,
        }
    }

    /// A connection is free: the next request, or rest.
    fn free(&mut self, index: usize, now: u64) {
        match self.due(now) {
            Some(due) => self.send(index, due, now),
            None => {
                self.connections[index].state = State::Idle;
                self.idle.push_back(index);
            }
        }
    }

    /// Begins an exchange: on the kept connection, or by opening one for it.
    fn send(&mut self, index: usize, due: u64, now: u64) {
        self.waiting += 1;
        let connection = &mut self.connections[index];
        connection.state = State::Waiting;
        connection.due = due;
        connection.sent = now;
        connection.filled = 0;
        connection.written = 0;
        if !self.plan.keep_alive {
            self.open(index, now);
        } else if let Err(error) = connection.write(&self.request) {
            self.broken(index, error.kind());
        }
    }

    /// What was closed is opened again, some at a time; for one request each, when the request is due.
    fn reopen(&mut self, now: u64) {
        if !self.plan.keep_alive {
            self.idle.extend(self.closed.drain(..));
            return;
        }
        let nothing_to_ask = self.phase == Phase::Drain && self.pace.is_none();
        while self.fresh < OPENING && !nothing_to_ask {
            let Some(index) = self.closed.pop_front() else {
                break;
            };
            self.connections[index].sent = now;
            if !self.open(index, now) {
                break;
            }
        }
    }

    /// Whether the connection is being opened.
    fn open(&mut self, index: usize, now: u64) -> bool {
        let turn = (!self.plan.keep_alive).then_some(self.tally.opened);
        let opened = connect(self.plan.address, turn).and_then(|mut stream| {
            let both = Interest::READABLE | Interest::WRITABLE;
            self.poll
                .registry()
                .register(&mut stream, Token(index), both)?;
            Ok(stream)
        });
        let connection = &mut self.connections[index];
        match opened {
            Ok(stream) => {
                connection.stream = Some(stream);
                connection.state = State::Connecting;
                connection.sent = now;
                connection.fresh = self.plan.keep_alive;
                connection.answers = 0;
                self.fresh += usize::from(connection.fresh);
                self.open += 1;
                self.tally.opened += 1;
                self.tally.most_open = self.tally.most_open.max(self.open);
                true
            }
            Err(error) => {
                let failure = match error.raw_os_error() {
                    Some(EADDRNOTAVAIL | EADDRINUSE | EMFILE | ENFILE) => Failure::Ports,
                    _ => Failure::Connect,
                };
                self.fail(index, failure, || error.to_string());
                false
            }
        }
    }

    fn close(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        match connection.state {
            State::Connecting => self.waiting -= u64::from(!self.plan.keep_alive),
            State::Waiting | State::Closing => self.waiting -= 1,
            State::Idle => self.idle.retain(|idle| *idle != index),
            State::Closed => (),
        }
        connection.state = State::Closed;
        self.fresh -= usize::from(std::mem::take(&mut connection.fresh));
        if let Some(stream) = connection.stream.take() {
            self.open -= 1;
            abandon(stream);
        }
    }

    /// Counts a failure; the connection rests until the next tick.
    fn fail(&mut self, index: usize, failure: Failure, seen: impl FnOnce() -> String) {
        self.tally.failure(failure, seen);
        self.close(index);
        self.closed.push_back(index);
    }

    fn broken(&mut self, index: usize, kind: ErrorKind) {
        let failure = match (self.connections[index].state, kind) {
            (State::Connecting, _) => Failure::Connect,
            (_, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => Failure::Reset,
            _ => Failure::EarlyClose,
        };
        let seen = self.connections[index].end(kind.to_string());
        self.fail(index, failure, || seen);
    }

    fn fail_late(&mut self, now: u64) {
        let timeout = self.plan.timeout;
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            if now.saturating_sub(connection.sent) < timeout.as_nanos() as u64 {
                continue;
            }
            let got = connection.filled;
            match connection.state {
                State::Connecting => self.fail(index, Failure::Timeout, || {
                    format!("not connected within {timeout:?}")
                }),
                State::Waiting => self.fail(index, Failure::Timeout, || {
                    format!("{got} bytes within {timeout:?}")
                }),
                State::Closing => self.fail(index, Failure::Timeout, || {
                    format!("\"Connection: close\", and not closed within {timeout:?}")
                }),
                State::Idle | State::Closed => (),
            }
        }
    }

    fn on_event(&mut self, event: &Event) {
        let index = event.token().0;
        let connection = &mut self.connections[index];
        if connection.state == State::Connecting {
            if !self.connected(index, event) {
                return;
            }
        } else if connection.state == State::Waiting
            && connection.written < self.request.len()
            && let Err(error) = connection.write(&self.request)
        {
            return self.broken(index, error.kind());
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.on_input(index, event.is_read_closed());
        }
    }

    /// Whether the socket is connected now.
    fn connected(&mut self, index: usize, event: &Event) -> bool {
        let connection = &mut self.connections[index];
        let error = match &connection.stream {
            Some(stream) if event.is_error() => stream.take_error().ok().flatten(),
            _ => None,
        };
        if let Some(error) = error {
            self.broken(index, error.kind());
            return false;
        }
        if !event.is_writable() {
            return false;
        }
        connection.state = State::Waiting;
        if !self.plan.keep_alive {
            if let Err(error) = connection.write(&self.request) {
                self.broken(index, error.kind());
                return false;
            }
            return true;
        }
        let now = self.now();
        self.free(index, now);
        if self.pace.is_some() {
            // It may be long until this one is asked.
            self.old(index, now);
        }
        true
    }

    /// The connection is not new any more: another may be.
    fn old(&mut self, index: usize, now: u64) {
        if std::mem::take(&mut self.connections[index].fresh) {
            self.fresh -= 1;
            self.reopen(now);
        }
    }

    /// Reads what there is. `closed`: the server has closed, so the end is there to be read as well.
    fn on_input(&mut self, index: usize, closed: bool) {
        loop {
            let connection = &mut self.connections[index];
            let before = connection.filled;
            let input = connection.read();
            match (connection.state, input) {
                (_, Input::Nothing) | (State::Closed | State::Connecting, _) => return,
                (_, Input::Failed(kind)) => return self.broken(index, kind),
                (State::Waiting, Input::Bytes(n)) => {
                    let full = connection.filled == connection.buffer.len();
                    if before == 0
                        && n == self.template.len()
                        && connection.buffer[..n] == self.template[..]
                    {
                        self.right(index, n, false, closed);
                    } else {
                        self.judge(index, false, closed);
                    }
                    // A short read has emptied the socket.
                    if !full && !closed && self.connections[index].state != State::Closing {
                        return;
                    }
                }
                (State::Waiting, Input::End) => return self.judge(index, true, true),
                (State::Closing, Input::End) => return self.done(index, true),
                (State::Idle, Input::End) => {
                    // The server has had enough of an idle connection.
                    self.tally.not_kept += 1;
                    self.close(index);
                    self.closed.push_back(index);
                    return;
                }
                (State::Idle | State::Closing, Input::Bytes(_)) => {
                    let bytes = &connection.buffer[before..connection.filled];
                    let seen = String::from_utf8_lossy(bytes).chars().take(60).collect();
                    return self.fail(index, Failure::ExtraBytes, || seen);
                }
            }
        }
    }

    fn judge(&mut self, index: usize, ended: bool, closed: bool) {
        let connection = &self.connections[index];
        let bytes = &connection.buffer[..connection.filled];
        match judge(bytes, ended, &self.plan.expect) {
            Judgement::More => (),
            Judgement::Wrong(failure, seen) => {
                let seen = if ended { connection.end(seen) } else { seen };
                self.fail(index, failure, || seen);
            }
            Judgement::Right { length, closes } => {
                if self.plan.keep_alive && !closes && !closed && length == bytes.len() {
                    self.template.clear();
                    self.template.extend_from_slice(bytes);
                }
                if ended {
                    self.connections[index].state = State::Closing;
                    self.connections[index].answered = self.now();
                    if length < self.connections[index].filled {
                        return self.extra(index, length);
                    }
                    return self.done(index, true);
                }
                self.right(index, length, closes, closed);
            }
        }
    }

    /// The first `length` bytes are the right answer.
    fn right(&mut self, index: usize, length: usize, closes: bool, closed: bool) {
        let now = self.now();
        let connection = &mut self.connections[index];
        connection.answered = now;
        if connection.filled > length {
            self.extra(index, length);
        } else if closes || closed {
            // No more bytes may come before the end.
            connection.state = State::Closing;
        } else {
            self.done(index, false);
        }
    }

    fn extra(&mut self, index: usize, length: usize) {
        let connection = &self.connections[index];
        let bytes = &connection.buffer[length..connection.filled];
        let seen = String::from_utf8_lossy(bytes).chars().take(60).collect();
        self.fail(index, Failure::ExtraBytes, || seen);
    }

    /// The exchange is over and right. `ended`: the server has closed the connection.
    fn done(&mut self, index: usize, ended: bool) {
        if !self.plan.keep_alive {
            // Such an exchange ends with its connection, as it began with it.
            self.connections[index].answered = self.now();
        }
        let connection = &mut self.connections[index];
        connection.answers += 1;
        let (due, now) = (connection.due, connection.answered);
        let took = Duration::from_nanos(now - connection.sent);
        if took + CLOCK < self.plan.expect.delay {
            return self.fail(index, Failure::TooEarly, || format!("after {took:?}"));
        }
        if self.phase != Phase::Drain {
            self.tally.answers += 1;
            self.tally.took += now.saturating_sub(due.max(self.begin));
        }
        if due >= self.begin {
            self.tally.latency(now - due);
        }
        if self.plan.keep_alive && !ended {
            self.waiting -= 1;
            if self.connections[index].fresh {
                self.old(index, now);
            }
            return self.free(index, now);
        }
        self.close(index);
        if self.plan.keep_alive {
            self.tally.not_kept += 1;
            self.closed.push_back(index);
            self.reopen(now);
        } else {
            self.free(index, now);
        }
    }
}

/// The bytes of every request.
fn request(plan: &Plan) -> Vec<u8> {
    let close = if plan.keep_alive {
        ""
    } else {
        "Connection: close\r\n"
    };
    format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\n{close}\r\n",
        plan.path, plan.address
    )
    .into_bytes()
}
