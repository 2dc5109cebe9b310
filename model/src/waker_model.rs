//! A waker is a number: it may be cloned, kept, dropped and called on any thread, in any order.

use crate::wake::{self, Slots};
use crate::worker;
use std::task::Waker;
use std::thread;

#[test]
fn a_waker_wakes_its_key_from_any_thread_as_often_as_it_is_called() {
    let slots = Slots::new();
    let keys: Vec<_> = (1000..1003).map(|n| slots.insert(n).unwrap()).collect();
    let threads: Vec<_> = keys
        .iter()
        .map(|&key| {
            let waker = Waker::clone(&wake::waker(key));
            thread::spawn(move || {
                waker.wake_by_ref();
                let clone = waker.clone();
                drop(waker);
                clone.wake();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    for key in keys {
        assert_eq!(worker::count(key), 2);
    }
}

#[test]
fn wakers_of_one_key_are_one_waker() {
    let slots = Slots::new();
    let first = slots.insert('a').unwrap();
    let second = slots.insert('b').unwrap();
    let waker = Waker::clone(&wake::waker(first));
    assert!(waker.will_wake(&wake::waker(first)));
    assert!(!waker.will_wake(&wake::waker(second)));
    assert_eq!(wake::key_of(&waker), Some(first));
    assert_eq!(wake::key_of(Waker::noop()), None);

    slots.remove(first);
    let next = slots.insert('c').unwrap();
    assert!(
        !waker.will_wake(&wake::waker(next)),
        "the slot's next occupant is another"
    );
}
