//! The door in every order that its threads can run in.
//!
//! The event thread does here what `on_bell` in `src/worker.rs` does: it is called when the bell
//! has been rung, silences it, and only then takes the keys.

use crate::wake::door::{Bell, Door};
use crate::wake::{Key, Slots};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

/// What an eventfd is: a count of the rings since it was silenced.
///
/// `Relaxed`, because the door must not lean on the bell for the order of memory.
#[derive(Default)]
struct Descriptor {
    rings: AtomicUsize,
    closed: AtomicBool,
}

struct TestBell(Arc<Descriptor>);

impl Bell for TestBell {
    fn ring(&self) {
        assert!(
            !self.0.closed.load(Ordering::Relaxed),
            "nobody rings a bell that was taken back"
        );
        self.0.rings.fetch_add(1, Ordering::Relaxed);
    }
}

/// A door with its bell, and the event thread's side of it.
struct EventThread {
    door: Arc<Door<TestBell>>,
    bell: Arc<Descriptor>,
    taken: Vec<Key>,
}

impl EventThread {
    fn new() -> EventThread {
        let (door, bell) = (Arc::new(Door::closed()), Arc::new(Descriptor::default()));
        door.open(TestBell(bell.clone()));
        EventThread {
            door,
            bell,
            taken: Vec::new(),
        }
    }

    /// One turn of the event loop. Does nothing where the bell is silent.
    fn turn(&mut self) {
        match self.bell.rings.swap(0, Ordering::Relaxed) {
            0 => {}
            rings => {
                assert_eq!(rings, 1, "one ring for each batch");
                let mut batch = Vec::new();
                assert!(!self.door.take(&mut batch), "there was memory");
                assert!(!batch.is_empty(), "no ring for nothing");
                self.taken.extend(batch);
            }
        }
    }
}

fn keys<const N: usize>() -> [Key; N] {
    let slots = Slots::new();
    std::array::from_fn(|n| slots.insert(n).unwrap())
}

/// Pushes the keys one by one on a thread of its own.
fn push(
    door: &Arc<Door<TestBell>>,
    keys: impl IntoIterator<Item = Key> + 'static,
) -> thread::JoinHandle<()> {
    let door = door.clone();
    thread::spawn(move || keys.into_iter().for_each(|key| door.push(key)))
}

fn assert_same(mut taken: Vec<Key>, pushed: &[Key]) {
    let number = |key: &Key| key.to_pointer().addr();
    taken.sort_by_key(number);
    assert_eq!(taken, pushed, "every key comes out, and once");
}

#[test]
fn no_key_is_lost_with_three_threads() {
    loom::model(|| {
        let pushed = keys::<3>();
        let mut events = EventThread::new();
        let [first, second, third] = pushed;
        let threads = [
            push(&events.door, [first, second]),
            push(&events.door, [third]),
        ];
        events.turn();
        events.turn();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        // Whatever is in the door now has rung.
        events.turn();
        events.turn();
        assert_same(events.taken, &pushed);
    });
}

#[test]
fn no_key_is_lost_with_many_from_one_thread() {
    loom::model(|| {
        let pushed = keys::<4>();
        let mut events = EventThread::new();
        let thread = push(&events.door, pushed);
        events.turn();
        events.turn();
        events.turn();
        thread.join().unwrap();
        events.turn();
        assert_same(events.taken, &pushed);
    });
}

/// Queues what was taken at the door and polls who is ready, as `run_ready` does: gives the
/// occupants.
fn polled(slots: &Slots<usize>, events: &mut EventThread) -> Vec<usize> {
    for key in events.taken.drain(..) {
        slots.queue(key);
    }
    let mut batch = slots.take_queue();
    std::iter::from_fn(|| slots.pop(&mut batch)).collect()
}

#[test]
fn who_has_left_is_not_polled_and_neither_is_who_came_in_its_place() {
    loom::model(|| {
        const LEAVES: usize = 1;
        const STAYS: usize = 2;
        let slots = Slots::new();
        let leaves = slots.insert(LEAVES).unwrap();
        let stays = slots.insert(STAYS).unwrap();
        let mut events = EventThread::new();
        let threads = [
            push(&events.door, [leaves, stays]),
            push(&events.door, [leaves]),
        ];
        events.turn();
        let before = polled(&slots, &mut events);
        slots.remove(leaves);
        slots.insert(3).unwrap();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        events.turn();
        events.turn();
        let after = polled(&slots, &mut events);

        let all = [before.clone(), after.clone()].concat();
        assert_eq!(all.iter().filter(|&&who| who == STAYS).count(), 1);
        assert!(before.iter().filter(|&&who| who == LEAVES).count() <= 1);
        assert!(after.iter().all(|&who| who == STAYS), "{after:?}");
    });
}

#[test]
fn a_closed_door_rings_no_bell() {
    loom::model(|| {
        let [first, second] = keys::<2>();
        let events = EventThread::new();
        let threads = [push(&events.door, [first]), push(&events.door, [second])];
        let bell = events.door.close().expect("the door was open");
        // Closing an eventfd: its number may be another file's from here on.
        bell.0.closed.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());

        let mut batch = Vec::new();
        assert!(!events.door.take(&mut batch));
        assert!(batch.is_empty(), "keys that come too late are forgotten");
        assert!(events.door.close().is_none(), "the bell is given back once");
    });
}

#[test]
fn a_door_that_opens_has_all_keys_or_has_forgotten_them() {
    loom::model(|| {
        let [first] = keys::<1>();
        let (door, bell) = (Arc::new(Door::closed()), Arc::new(Descriptor::default()));
        let thread = push(&door, [first]);
        door.open(TestBell(bell.clone()));
        thread.join().unwrap();
        let mut events = EventThread {
            door,
            bell,
            taken: Vec::new(),
        };
        let rang = events.bell.rings.load(Ordering::Relaxed) == 1;
        events.turn();
        assert_eq!(events.taken, if rang { vec![first] } else { vec![] });
        let mut batch = Vec::new();
        assert!(!events.door.take(&mut batch));
        assert!(batch.is_empty());
    });
}
