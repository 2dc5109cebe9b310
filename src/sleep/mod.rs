//! Waiting on the event loop.

pub(crate) mod timers;

use crate::abi::{self, Event};
use crate::wake;
use crate::worker::{self, Worker};
use nginx_sys::ngx_event_t;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};
use std::time::Duration;
use timers::{Alarm, Node, Queue};

/// Waits without blocking the worker.
///
/// Resolution is nginx's: a millisecond, rounded up. As nginx counts whole milliseconds, a wait may
/// end almost 1 ms early by another clock; it ends late where the loop is busy or
/// `timer_resolution` is set. A zero duration lets the event loop turn once.
///
/// Dropping the future ends the wait.
///
/// # Panics
///
/// When it is polled on a thread that is not nginx's event thread: other threads have timers of
/// their own. Where memory is short.
pub fn sleep(duration: Duration) -> Sleep {
    let msec = duration.as_secs().saturating_mul(1000);
    let msec = msec.saturating_add(duration.subsec_nanos().div_ceil(1_000_000).into());
    Sleep {
        msec: msec.min(MAX_MSEC),
        state: State::New,
        _event_thread: PhantomData,
    }
}

/// Thirty-six million years are as good as more, and can be added to a clock.
const MAX_MSEC: u64 = 1 << 60;
pub(crate) const LONGEST: Duration = Duration::from_millis(MAX_MSEC);

/// nginx hands a timer's distance to `epoll_wait()` as an `int` of milliseconds.
const MAX_ALARM: u64 = 24 * 60 * 60 * 1000;

/// The future that [`sleep`] returns.
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep {
    msec: u64,
    state: State,
    /// The node is linked with others of this thread.
    _event_thread: PhantomData<*const ()>,
}

enum State {
    New,
    Waiting(Node<TimerAlarm>),
    Over,
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved out of it; a node stays where it is until it is unlinked
        // (invariant 6, and invariant 1 of `timers`).
        let this = unsafe { self.get_unchecked_mut() };
        match &this.state {
            State::New => {
                this.begin(cx);
                Poll::Pending
            }
            State::Waiting(node) if node.is_linked() => {
                node.set_waker(cx.waker());
                Poll::Pending
            }
            State::Waiting(_) | State::Over => {
                this.state = State::Over;
                Poll::Ready(())
            }
        }
    }
}

impl Sleep {
    /// Begins to wait. From here on the future is pinned.
    fn begin(&mut self, cx: &Context<'_>) {
        if self.msec == 0 {
            self.state = State::Over;
            cx.waker().wake_by_ref();
            return;
        }
        let worker = worker::here().expect("sleep() outside nginx's event thread");
        let waker = wake::cloned(cx.waker());
        let queue = worker.timers.queue(self.msec);
        let queue = queue.expect("memory for a timer");
        let deadline = abi::now() + self.msec;
        self.state = State::Waiting(Node::new());
        if let State::Waiting(node) = &self.state {
            // SAFETY: the node is part of a pinned future, and is unlinked when that is dropped
            // (invariant 6, and invariant 1 of `timers`).
            timers::push(queue, unsafe { Pin::new_unchecked(node) }, deadline, waker);
        }
    }
}

impl Drop for Sleep {
    #[inline]
    fn drop(&mut self) {
        if let State::Waiting(node) = &self.state
            && node.is_linked()
        {
            cancel(node);
        }
    }
}

#[cold]
fn cancel(node: &Node<TimerAlarm>) {
    // A linked node was linked by this thread, and a Sleep cannot leave its thread.
    if let Some(worker) = worker::here() {
        worker.timers.cancel(node);
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::New => "New",
            State::Waiting(_) => "Waiting",
            State::Over => "Over",
        };
        f.debug_struct("Sleep")
            .field("msec", &self.msec)
            .field("state", &format_args!("{state}"))
            .finish()
    }
}

/// An nginx timer for each queue of waits.
pub(crate) struct TimerAlarm(&'static Event);

impl TimerAlarm {
    pub(crate) fn event(&self) -> &'static Event {
        self.0
    }
}

impl Alarm for TimerAlarm {
    fn create() -> Option<TimerAlarm> {
        let [event] = Event::leak([on_timer])?;
        // A request that waits keeps its worker by the worker's own timer, and background tasks,
        // which wait here as well, must not (invariant 4).
        event.set_cancelable(true);
        Some(TimerAlarm(event))
    }

    fn bind(&self, queue: NonNull<Queue<TimerAlarm>>) {
        self.0.set_context(queue.cast());
    }

    fn arm(&self, deadline: u64) {
        let delay = deadline.saturating_sub(abi::cached_now());
        self.0.arm(delay.min(MAX_ALARM));
    }

    fn disarm(&self) {
        self.0.disarm();
    }
}

extern "C" fn on_timer(event: *mut ngx_event_t) {
    // SAFETY: nginx calls this for the events of TimerAlarm::create() alone (invariant 6).
    let queue = unsafe { Event::context(event) }.cast::<Queue<TimerAlarm>>();
    let Some(worker) = worker::here() else { return };
    worker.run_ready(|worker: &Worker| {
        worker.timers.expire(queue, abi::cached_now(), |waker| {
            worker.queue_by(waker);
        });
    });
}
