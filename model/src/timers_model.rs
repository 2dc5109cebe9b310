//! The queues of those who wait against a plain list of deadlines.
//!
//! A world has a clock, a handful of waits as handlers have them (each cancels itself when it is
//! dropped), and an event loop that fires alarms as nginx fires timers. After every step the list
//! must agree about who waits, and after every turn of the loop nobody may wait whose time has
//! come. Whoever is woken may start, cancel and drop other waits before the next one is woken.

use crate::timers::{self, Alarm, Node, Queue, Timers};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// An alarm is never set further ahead than this, as nginx's is not: it goes off early.
const LONGEST_ALARM: u64 = 50;

/// Waits that handlers have.
const WAITS: usize = 12;

#[derive(Default)]
struct AlarmState {
    at: Cell<Option<u64>>,
    queue: Cell<Option<NonNull<Queue<TestAlarm>>>>,
}

struct TestAlarm(Rc<AlarmState>);

impl Alarm for TestAlarm {
    fn create() -> Option<TestAlarm> {
        let state = Rc::new(AlarmState::default());
        world(|world| world.alarms.borrow_mut().push(state.clone()));
        Some(TestAlarm(state))
    }

    fn bind(&self, queue: NonNull<Queue<TestAlarm>>) {
        assert_eq!(
            self.0.queue.replace(Some(queue)),
            None,
            "an alarm has one queue"
        );
    }

    fn arm(&self, deadline: u64) {
        let cached = world(|world| world.cached.get());
        assert!(
            deadline > cached,
            "an alarm for now could keep the loop for itself"
        );
        self.0.at.set(Some(deadline.min(cached + LONGEST_ALARM)));
    }

    fn disarm(&self) {
        self.0.at.set(None);
    }
}

/// One wait as `Sleep` has it.
struct Wait(Pin<Rc<Node<TestAlarm>>>);

impl Wait {
    fn new() -> Wait {
        Wait(Rc::pin(Node::new()))
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        world(|world| world.timers.cancel(&self.0));
    }
}

struct World {
    /// What the clock says.
    now: Cell<u64>,
    /// What it said when the turn of the loop began: alarms go by this.
    cached: Cell<u64>,
    alarms: RefCell<Vec<Rc<AlarmState>>>,
    timers: Timers<TestAlarm>,
    waits: RefCell<Vec<Wait>>,
    /// The model: who waits, and until when.
    waiting: RefCell<Vec<(usize, u64)>>,
}

thread_local! {
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

fn world<R>(f: impl FnOnce(&World) -> R) -> R {
    let world = WORLD.with_borrow(|world| world.clone()).expect("a world");
    f(&world)
}

#[derive(Clone, Debug)]
enum Op {
    Start {
        wait: usize,
        delay: u64,
        then: Vec<Op>,
    },
    Cancel(usize),
    /// Drops a wait; there is a new one in its place.
    Drop(usize),
    /// The future is polled with another waker.
    Rewake(usize, Vec<Op>),
    /// Time goes by within a turn of the loop.
    Busy(u64),
    /// The loop turns this much later: alarms go off late where it was busy meanwhile.
    Turn(u64),
}

/// What a waker does when it is called.
struct Woken {
    wait: usize,
    then: Vec<Op>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        world(|world| world.wake(self.wait));
        for op in &self.then {
            world(|world| world.run(op));
        }
    }
}

fn waker(wait: usize, then: &[Op]) -> Waker {
    Waker::from(Arc::new(Woken {
        wait,
        then: then.to_vec(),
    }))
}

/// A world that ends when this is dropped, also by a panic: the waits before the timers.
struct Begun;

impl Begun {
    fn end(self) {
        world(|world| {
            drop(world.waits.take());
            let alarms = world.alarms.borrow();
            let set = alarms.iter().filter(|alarm| alarm.at.get().is_some());
            assert_eq!(set.count(), 0, "nobody waits, and an alarm is set");
            let told = Cell::new(0);
            world.timers.for_each_alarm(|_| told.set(told.get() + 1));
            assert_eq!(told.get(), alarms.len(), "each alarm is told of once");
        });
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        world(|world| drop(world.waits.take()));
        WORLD.set(None);
    }
}

impl World {
    /// `others` waits of other lengths than any in the test: from 64 on, empty queues are given
    /// other lengths.
    fn begin(others: usize) -> Begun {
        let waits = (0..WAITS + others).map(|_| Wait::new()).collect();
        let world = Rc::new(World {
            now: Cell::new(1_000_000),
            cached: Cell::new(1_000_000),
            alarms: RefCell::default(),
            timers: Timers::new(),
            waits: RefCell::new(waits),
            waiting: RefCell::default(),
        });
        WORLD.set(Some(world.clone()));
        for other in 0..others {
            world.start(WAITS + other, 1000 + other as u64, &[]);
        }
        Begun
    }

    fn run(&self, op: &Op) {
        match op {
            Op::Start { wait, delay, then } => {
                // A wait is started once it is over, or has been given up.
                self.cancel(*wait);
                self.start(*wait, *delay, then);
            }
            Op::Cancel(wait) => self.cancel(*wait),
            Op::Drop(wait) => {
                self.waiting.borrow_mut().retain(|(w, _)| w != wait);
                let old = std::mem::replace(&mut self.waits.borrow_mut()[*wait], Wait::new());
                drop(old);
            }
            Op::Rewake(wait, then) => {
                let node = self.node(*wait);
                if node.is_linked() {
                    node.set_waker(&waker(*wait, then));
                }
            }
            Op::Busy(msec) => self.now.set(self.now.get() + msec),
            Op::Turn(msec) => {
                self.now.set(self.now.get() + msec);
                self.turn();
            }
        }
        self.agree();
    }

    fn node(&self, wait: usize) -> Pin<Rc<Node<TestAlarm>>> {
        self.waits.borrow()[wait].0.clone()
    }

    fn start(&self, wait: usize, delay: u64, then: &[Op]) {
        let node = self.node(wait);
        let deadline = self.now.get() + delay;
        let queue = self.timers.queue(delay).unwrap();
        timers::push(queue, node.as_ref(), deadline, waker(wait, then));
        self.waiting
            .borrow_mut()
            .push((wait, self.now.get() + delay));
    }

    fn cancel(&self, wait: usize) {
        self.waiting.borrow_mut().retain(|(w, _)| *w != wait);
        self.timers.cancel(&self.node(wait));
    }

    /// Called by a waker.
    fn wake(&self, wait: usize) {
        let mut waiting = self.waiting.borrow_mut();
        let at = waiting.iter().position(|(w, _)| *w == wait);
        let (_, deadline) = waiting.remove(at.expect("woken, and does not wait"));
        assert!(deadline <= self.cached.get(), "woken too early");
    }

    /// nginx's timers: those whose time has come go off one by one, each once.
    fn turn(&self) {
        let now = self.now.get();
        self.cached.set(now);
        let due = |alarm: &&Rc<AlarmState>| alarm.at.get().is_some_and(|at| at <= now);
        loop {
            let alarms = self.alarms.borrow();
            let next = alarms
                .iter()
                .filter(due)
                .min_by_key(|alarm| alarm.at.get())
                .cloned();
            drop(alarms);
            let Some(alarm) = next else { break };
            self.fire(&alarm);
            self.agree();
        }
        let waiting = self.waiting.borrow();
        let late = waiting.iter().find(|(_, deadline)| *deadline <= now);
        assert_eq!(late, None, "still waits, and its time has come");
    }

    fn fire(&self, alarm: &AlarmState) {
        alarm.at.set(None);
        let queue = alarm.queue.get().expect("a queue for each alarm");
        self.timers.expire(queue, self.cached.get(), Waker::wake);
    }

    fn agree(&self) {
        for (wait, Wait(node)) in self.waits.borrow().iter().enumerate().take(WAITS) {
            let waits = self.waiting.borrow().iter().any(|(w, _)| *w == wait);
            assert_eq!(node.is_linked(), waits, "wait {wait}");
        }
    }
}

fn run(others: usize, ops: &[Op]) {
    let begun = World::begin(others);
    for op in ops {
        world(|world| world.run(op));
    }
    begun.end();
}

fn op(
    then: impl Strategy<Value = Vec<Op>> + Clone + 'static,
    turns: bool,
) -> impl Strategy<Value = Op> {
    let delay = prop_oneof![4 => 1..6u64, 2 => Just(20), 1 => 1..300u64];
    let busy = 1..40u64;
    let turn = prop_oneof![4 => 0..4u64, 2 => 4..30u64, 1 => 30..400u64];
    prop_oneof![
        5 => (0..WAITS, delay, then.clone()).prop_map(|(wait, delay, then)| Op::Start { wait, delay, then }),
        1 => (0..WAITS).prop_map(Op::Cancel),
        1 => (0..WAITS).prop_map(Op::Drop),
        1 => (0..WAITS, then).prop_map(|(wait, then)| Op::Rewake(wait, then)),
        1 => busy.prop_map(Op::Busy),
        if turns { 4 } else { 0 } => turn.prop_map(Op::Turn),
    ]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    // A waker's own doings have wakers that only wake.
    let inner = prop::collection::vec(op(Just(Vec::new()), false), 0..5);
    let then = prop_oneof![2 => Just(Vec::new()), 1 => inner];
    let len = if cfg!(miri) { 0..25 } else { 0..150 };
    prop::collection::vec(op(then.boxed(), true), len)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 300 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_wait_ends_once_and_in_time(ops in ops()) {
        run(0, &ops);
    }

    #[test]
    fn each_wait_ends_once_and_in_time_where_queues_are_used_again(ops in ops()) {
        run(70, &ops);
    }
}

fn start(wait: usize, delay: u64) -> Op {
    Op::Start {
        wait,
        delay,
        then: vec![],
    }
}

#[test]
fn those_who_wait_as_long_end_in_the_order_of_their_coming() {
    let begun = World::begin(0);
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    struct Ordered(usize, Arc<std::sync::Mutex<Vec<usize>>>);
    impl Wake for Ordered {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    world(|world| {
        for wait in [3, 1, 2, 0] {
            let waker = Waker::from(Arc::new(Ordered(wait, order.clone())));
            let (node, deadline) = (world.node(wait), world.now.get() + 20);
            let queue = world.timers.queue(20).unwrap();
            timers::push(queue, node.as_ref(), deadline, waker);
        }
        world.timers.cancel(&world.node(2));
        world.cached.set(world.now.get() + 20);
        world.fire(&world.alarms.borrow()[0]);
    });
    assert_eq!(*order.lock().unwrap(), [3, 1, 0]);
    begun.end();
}

#[test]
fn a_queue_whose_waits_have_all_been_given_up_is_used_again() {
    run(
        70,
        &[
            start(0, 20),
            Op::Cancel(0),
            start(0, 30),
            Op::Turn(29),
            Op::Turn(1),
        ],
    );
    run(
        70,
        &[
            start(0, 20),
            start(1, 20),
            Op::Drop(0),
            Op::Turn(20),
            start(1, 20),
            Op::Turn(20),
        ],
    );
}

#[test]
fn a_long_wait_ends_though_its_alarm_goes_off_early() {
    let early = Op::Turn(LONGEST_ALARM);
    run(
        0,
        &[
            start(0, 3 * LONGEST_ALARM),
            early.clone(),
            early.clone(),
            early,
        ],
    );
}

#[test]
fn whoever_is_woken_may_do_with_other_waits_what_it_likes() {
    let then = vec![
        Op::Cancel(1),
        Op::Drop(2),
        Op::Drop(0),
        start(0, 20),
        start(3, 5),
        Op::Cancel(3),
    ];
    run(
        70,
        &[
            Op::Start {
                wait: 0,
                delay: 20,
                then,
            },
            start(1, 20),
            start(2, 20),
            Op::Turn(20),
            Op::Turn(20),
        ],
    );
}

#[test]
fn a_queue_that_is_used_again_while_it_expires_takes_no_other_queue_along() {
    let then = vec![start(2, 300), Op::Cancel(2), Op::Cancel(1), start(3, 300)];
    let first = Op::Start {
        wait: 0,
        delay: 300,
        then,
    };
    run(
        70,
        &[
            first,
            start(1, 500),
            Op::Turn(300),
            start(4, 5),
            Op::Turn(5),
        ],
    );
}
