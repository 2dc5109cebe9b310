//! Wakers (invariant 2): a waker is a number.
//!
//! Its data pointer is a [`Key`], so that cloning and dropping one does nothing, it may be kept
//! for as long as anybody likes, and be used on any thread. A wake after the request has gone
//! finds nobody. On the event thread a wake queues the task; elsewhere it goes through the
//! [`Door`](door::Door) and one eventfd.

pub(crate) mod door;
pub(crate) mod slots;

pub(crate) use slots::{Key, Slots};

use crate::worker;
use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop);

fn clone(data: *const ()) -> RawWaker {
    RawWaker::new(data, &VTABLE)
}

fn wake(data: *const ()) {
    worker::wake(Key::from_pointer(data));
}

fn drop(_: *const ()) {}

/// The waker that wakes the task of `key`.
pub(crate) fn waker(key: Key) -> ManuallyDrop<Waker> {
    let raw = RawWaker::new(key.to_pointer(), &VTABLE);
    // SAFETY: the functions take the number and nothing else from the data, and `worker::wake`
    // may be called on any thread (invariant 2).
    ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
}

/// The key of a waker that [`waker`] made.
pub(crate) fn key_of(waker: &Waker) -> Option<Key> {
    std::ptr::eq(waker.vtable(), &VTABLE).then(|| Key::from_pointer(waker.data()))
}

/// As `clone`, without a call through the table where the waker is ours.
#[inline]
pub(crate) fn cloned(waker: &Waker) -> Waker {
    match key_of(waker) {
        Some(key) => ManuallyDrop::into_inner(self::waker(key)),
        None => waker.clone(),
    }
}
