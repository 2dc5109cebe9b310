//! Who waits until when.
//!
//! All who wait for the same length of time form a queue: nginx's clock does not run backwards,
//! so whoever comes later ends later, and starting, ending and giving up a wait take constant
//! time however many wait. Each queue that is not empty has one alarm, an nginx timer. A hundred
//! requests that wait 20 ms cost nginx's timer tree one timer, not a hundred.
//!
//! # Invariants
//!
//! 1. A linked [`Node`] is pinned, and unlinks itself before it is dropped: every node in a queue
//!    is valid.
//! 2. A node's `queue` is set exactly while the node is linked in that queue.
//! 3. Queues live as long as their [`Timers`] and are used again, not freed.
//! 4. No reference to the inside of a queue or a node is held while a waker is called: it may
//!    drop, start and end other waits.
//!
//! No FFI: tested alone against a model, and under Miri.

use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Waker;

/// Something that calls [`Timers::expire`] once, when its time has come.
pub(crate) trait Alarm: Sized {
    /// `None` where memory is short.
    fn create() -> Option<Self>;
    /// Called once: `queue` is what to expire. It lives as long as the alarm.
    fn bind(&self, queue: NonNull<Queue<Self>>);
    /// Goes off at `deadline`, or before that, and forgets an earlier order.
    fn arm(&self, deadline: u64);
    /// Does not go off.
    fn disarm(&self);
}

/// One wait, part of the future that waits.
pub(crate) struct Node<A> {
    queue: Cell<Option<NonNull<Queue<A>>>>,
    previous: Cell<Option<NonNull<Node<A>>>>,
    next: Cell<Option<NonNull<Node<A>>>>,
    deadline: Cell<u64>,
    waker: Cell<Option<Waker>>,
    _pinned: PhantomPinned,
}

impl<A> Node<A> {
    pub(crate) const fn new() -> Node<A> {
        Node {
            queue: Cell::new(None),
            previous: Cell::new(None),
            next: Cell::new(None),
            deadline: Cell::new(0),
            waker: Cell::new(None),
            _pinned: PhantomPinned,
        }
    }

    /// Whether the wait has been started and has neither ended nor been given up.
    pub(crate) fn is_linked(&self) -> bool {
        self.queue.get().is_some()
    }

    /// Whom to wake at the end of a wait under way.
    pub(crate) fn set_waker(&self, waker: &Waker) {
        let old = self.waker.take();
        self.waker.set(Some(match old {
            Some(old) if old.will_wake(waker) => old,
            _ => waker.clone(),
        }));
    }
}

/// All who wait for the same length of time, in the order of their coming.
pub(crate) struct Queue<A> {
    delay: Cell<u64>,
    head: Cell<Option<NonNull<Node<A>>>>,
    tail: Cell<Option<NonNull<Node<A>>>>,
    alarm: A,
}

/// More empty queues than this are not remembered by their delay.
const REMEMBERED: usize = 64;

/// All waits of one event thread.
pub(crate) struct Timers<A: Alarm> {
    queues: RefCell<FxHashMap<u64, NonNull<Queue<A>>>>,
    /// The queue of the latest wait: locations mostly have one delay.
    latest: Cell<Option<NonNull<Queue<A>>>>,
    /// Queues without a delay, to be given one.
    spare: RefCell<Vec<NonNull<Queue<A>>>>,
}

impl<A: Alarm> Timers<A> {
    pub(crate) fn new() -> Timers<A> {
        Timers {
            queues: RefCell::new(FxHashMap::default()),
            latest: Cell::new(None),
            spare: RefCell::new(Vec::new()),
        }
    }

    /// Gives a wait up. Does nothing where it has ended or was not started.
    pub(crate) fn cancel(&self, node: &Node<A>) {
        let Some(queue) = node.queue.get() else {
            return;
        };
        // SAFETY: queues are not freed (3 above; design invariant 6).
        let queue = unsafe { queue.as_ref() };
        unlink(queue, node);
        if queue.head.get().is_none() {
            queue.alarm.disarm();
            self.retire(queue);
        }
        // Otherwise the alarm may go off early, finds nobody, and is armed for the new head.
        drop(node.waker.take());
    }

    /// Ends all waits of a queue that are over by `now`. Called when its alarm has gone off.
    pub(crate) fn expire(&self, queue: NonNull<Queue<A>>, now: u64, wake: impl Fn(Waker)) {
        // SAFETY: queues are not freed (3 above; design invariant 6).
        let queue = unsafe { queue.as_ref() };
        while let Some(head) = queue.head.get() {
            // SAFETY: linked nodes are valid (1 above; design invariant 6). The reference ends
            // before the waker is called (4 above).
            let waker = {
                let node = unsafe { head.as_ref() };
                let deadline = node.deadline.get();
                if deadline > now {
                    queue.alarm.arm(deadline);
                    return;
                }
                unlink_head(queue, node);
                node.waker.take()
            };
            if let Some(waker) = waker {
                wake(waker);
            }
        }
        self.retire(queue);
    }

    /// Calls `f` for each alarm.
    pub(crate) fn for_each_alarm(&self, f: impl Fn(&A)) {
        let queues = self.queues.borrow();
        for queue in queues.values().chain(self.spare.borrow().iter()) {
            // SAFETY: queues are not freed (3 above; design invariant 6).
            f(unsafe { &queue.as_ref().alarm });
        }
    }

    /// The queue of those who wait for `delay` milliseconds; `None` where memory is short.
    #[inline]
    pub(crate) fn queue(&self, delay: u64) -> Option<NonNull<Queue<A>>> {
        match self.latest.get() {
            // SAFETY: queues are not freed (3 above; design invariant 6).
            Some(queue) if unsafe { queue.as_ref() }.delay.get() == delay => Some(queue),
            _ => self.find_queue(delay),
        }
    }

    #[inline(never)]
    fn find_queue(&self, delay: u64) -> Option<NonNull<Queue<A>>> {
        let found = self.queues.borrow().get(&delay).copied();
        let queue = found.or_else(|| self.new_queue(delay))?;
        self.latest.set(Some(queue));
        Some(queue)
    }

    #[cold]
    fn new_queue(&self, delay: u64) -> Option<NonNull<Queue<A>>> {
        let mut queues = self.queues.borrow_mut();
        queues.try_reserve(1).ok()?;
        let spare = self.spare.borrow_mut().pop();
        let queue = spare.or_else(make_queue)?;
        // SAFETY: queues are not freed (3 above; design invariant 6).
        unsafe { queue.as_ref() }.delay.set(delay);
        queues.insert(delay, queue);
        Some(queue)
    }

    /// An empty queue keeps its place unless there are many: clients may choose their delays.
    fn retire(&self, queue: &Queue<A>) {
        let mut queues = self.queues.borrow_mut();
        if queues.len() <= REMEMBERED || queue.head.get().is_some() {
            return;
        }
        // A waker may have retired it before, and its delay be another queue's since.
        if let Entry::Occupied(entry) = queues.entry(queue.delay.get())
            && std::ptr::eq(entry.get().as_ptr(), queue)
            && self.spare.borrow_mut().try_reserve(1).is_ok()
        {
            self.spare.borrow_mut().push(entry.remove());
            self.latest.set(None);
        }
    }
}

impl<A: Alarm> Drop for Timers<A> {
    fn drop(&mut self) {
        for queue in self
            .queues
            .get_mut()
            .values()
            .chain(self.spare.get_mut().iter())
        {
            // SAFETY: leaked by make_queue(), where it was alone, and in one of the two places
            // (design invariant 6).
            drop(unsafe { Box::from_raw(queue.as_ptr()) });
        }
    }
}

/// A queue that is never freed while its timers live.
fn make_queue<A: Alarm>() -> Option<NonNull<Queue<A>>> {
    let mut only = Vec::new();
    only.try_reserve_exact(1).ok()?;
    only.push(Queue {
        delay: Cell::new(0),
        head: Cell::new(None),
        tail: Cell::new(None),
        alarm: A::create()?,
    });
    let queue = NonNull::from(only.leak().first_mut()?);
    // SAFETY: just made (design invariant 6).
    unsafe { queue.as_ref() }.alarm.bind(queue);
    Some(queue)
}

/// Starts a wait, as the last of its queue. Deadlines never decrease from call to call.
#[inline]
pub(crate) fn push<A: Alarm>(
    pointer: NonNull<Queue<A>>,
    node: Pin<&Node<A>>,
    deadline: u64,
    waker: Waker,
) {
    debug_assert!(!node.is_linked());
    // SAFETY: queues are not freed (3 above; design invariant 6).
    let queue = unsafe { pointer.as_ref() };
    node.deadline.set(deadline);
    node.waker.set(Some(waker));
    node.queue.set(Some(pointer));
    node.next.set(None);
    let tail = queue.tail.replace(Some(NonNull::from(&*node)));
    node.previous.set(tail);
    match tail {
        // SAFETY: linked nodes are valid (1 above; design invariant 6).
        Some(tail) => unsafe { tail.as_ref() }
            .next
            .set(Some(NonNull::from(&*node))),
        None => {
            queue.head.set(Some(NonNull::from(&*node)));
            queue.alarm.arm(deadline);
        }
    }
}

fn unlink<A>(queue: &Queue<A>, node: &Node<A>) {
    let (previous, next) = (node.previous.take(), node.next.take());
    match previous {
        // SAFETY: linked nodes are valid (1 above; design invariant 6).
        Some(previous) => unsafe { previous.as_ref() }.next.set(next),
        None => queue.head.set(next),
    }
    match next {
        // SAFETY: linked nodes are valid (1 above; design invariant 6).
        Some(next) => unsafe { next.as_ref() }.previous.set(previous),
        None => queue.tail.set(previous),
    }
    node.queue.set(None);
}

/// As [`unlink`], for the first of a queue.
#[inline]
fn unlink_head<A>(queue: &Queue<A>, head: &Node<A>) {
    let next = head.next.get();
    queue.head.set(next);
    match next {
        // SAFETY: linked nodes are valid (1 above; design invariant 6).
        Some(next) => unsafe { next.as_ref() }.previous.set(None),
        None => queue.tail.set(None),
    }
    head.queue.set(None);
}
