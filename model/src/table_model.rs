//! The map in shared memory against a plain list.
//!
//! The list is in the order of use, and knows how much memory its entries take. After every step
//! both must agree about what a key has, what did not fit, and who was given up for it. The
//! allocator fails the test where something is freed twice, or left behind.

use crate::table::{Alloc, MOST_EVICTED, NEVER, Refused, Table, entry_size};
use proptest::prelude::*;
use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::NonNull;

/// Gives memory until it has given this much.
struct Quota {
    most: usize,
    used: Cell<usize>,
    given: RefCell<HashMap<NonNull<u8>, Layout>>,
}

impl Quota {
    fn new(most: usize) -> Quota {
        Quota {
            most,
            used: Cell::new(0),
            given: RefCell::default(),
        }
    }
}

impl Alloc for Quota {
    fn alloc(&self, size: usize) -> Option<NonNull<u8>> {
        if self.used.get() + size > self.most {
            return None;
        }
        let layout = Layout::from_size_align(size, 8).unwrap();
        // SAFETY: nobody asks for nothing.
        let memory = NonNull::new(unsafe { alloc(layout) }).unwrap();
        self.used.set(self.used.get() + size);
        self.given.borrow_mut().insert(memory, layout);
        Some(memory)
    }

    fn most(&self) -> usize {
        self.most
    }

    unsafe fn free(&self, memory: NonNull<u8>) {
        let layout = self.given.borrow_mut().remove(&memory).expect("freed once");
        self.used.set(self.used.get() - layout.size());
        // SAFETY: just taken from what has been given.
        unsafe { dealloc(memory.as_ptr(), layout) };
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        for (memory, layout) in self.given.take() {
            // SAFETY: given, and not freed.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Get(u8),
    Set(u8, usize, Option<u64>),
    Add(u8, usize, Option<u64>),
    Delete(u8),
    Incr(u8, i64, Option<u64>),
    Count(u8, i64),
    /// Time goes by.
    Wait(u64),
}

struct Value {
    key: u8,
    bytes: Vec<u8>,
    expires: u64,
}

/// What the map promises.
#[derive(Default)]
struct Model {
    /// The one that was used last is the last.
    values: Vec<Value>,
    counters: HashMap<u8, i64>,
    now: u64,
    room: usize,
}

/// Keys are of two lengths.
fn key(n: u8) -> Vec<u8> {
    vec![n; if n.is_multiple_of(2) { 3 } else { 40 }]
}

fn size(n: u8, len: usize) -> usize {
    entry_size(&key(n), len).unwrap()
}

impl Model {
    fn used(&self) -> usize {
        let values = self
            .values
            .iter()
            .map(|value| size(value.key, value.bytes.len()));
        let counters = self.counters.keys().map(|name| size(*name, 8));
        values.sum::<usize>() + counters.sum::<usize>()
    }

    fn live(&mut self, key: u8) -> Option<usize> {
        let now = self.now;
        self.values
            .retain(|value| value.key != key || value.expires > now);
        self.values.iter().position(|value| value.key == key)
    }

    fn make_room(&mut self, size: usize) -> Result<(), Refused> {
        if size > self.room + TABLE {
            return Err(Refused::Full);
        }
        for _ in 0..MOST_EVICTED {
            if self.used() + size <= self.room {
                return Ok(());
            }
            if self.values.is_empty() {
                return Err(Refused::Full);
            }
            self.values.remove(0);
        }
        match self.used() + size <= self.room {
            true => Ok(()),
            false => Err(Refused::Full),
        }
    }

    fn set(&mut self, key: u8, bytes: Vec<u8>, expires: u64) -> Result<(), Refused> {
        let old = self.values.iter().position(|value| value.key == key);
        if let Some(old) = old {
            let old = self.values.remove(old);
            if size(key, old.bytes.len()) != size(key, bytes.len()) {
                self.make_room(size(key, bytes.len()))?;
            }
        } else {
            self.make_room(size(key, bytes.len()))?;
        }
        self.values.push(Value {
            key,
            bytes,
            expires,
        });
        Ok(())
    }

    fn expires(&self, ttl: Option<u64>) -> u64 {
        ttl.map_or(NEVER, |ttl| self.now + ttl)
    }
}

/// Buckets, few enough for chains of several entries.
const BUCKETS: usize = 4;

/// What the table itself takes of the quota.
const TABLE: usize = BUCKETS * 8;

fn bytes(key: u8, len: usize) -> Vec<u8> {
    vec![key ^ 0x55; len]
}

fn run(room: usize, ops: &[Op]) {
    let quota = Quota::new(room + TABLE);
    let mut table = Table::new(&quota, BUCKETS, [1, 2]).unwrap();
    let mut model = Model {
        room,
        now: 1000,
        ..Model::default()
    };
    for op in ops {
        let now = model.now;
        match *op {
            Op::Get(n) => {
                let expected = model.live(n).map(|at| {
                    let value = model.values.remove(at);
                    let bytes = value.bytes.clone();
                    model.values.push(value);
                    bytes
                });
                assert_eq!(table.get(&quota, &key(n), now), expected.as_deref());
            }
            Op::Set(n, len, ttl) => {
                let expires = model.expires(ttl);
                let expected = model.set(n, bytes(n, len), expires);
                let set = table.set(&quota, &key(n), &bytes(n, len), expires);
                assert_eq!(set, expected);
            }
            Op::Add(n, len, ttl) => {
                let expires = model.expires(ttl);
                let expected = match model.live(n) {
                    Some(_) => Ok(false),
                    None => model.set(n, bytes(n, len), expires).map(|()| true),
                };
                let added = table.add(&quota, &key(n), &bytes(n, len), expires, now);
                assert_eq!(added, expected);
            }
            Op::Delete(n) => {
                let at = model.live(n);
                at.map(|at| model.values.remove(at));
                assert_eq!(table.delete(&quota, &key(n), now), at.is_some());
            }
            Op::Incr(n, by, ttl) => {
                let (old, expires) = match model.live(n) {
                    Some(at) => {
                        let value = &model.values[at];
                        let text = std::str::from_utf8(&value.bytes).unwrap_or_default();
                        (text.parse().ok(), value.expires)
                    }
                    None => (Some(0i64), model.expires(ttl)),
                };
                let new = old.and_then(|old| old.checked_add(by));
                let expected = match new {
                    None => Err(Refused::NoNumber),
                    Some(new) => {
                        let set = model.set(n, new.to_string().into_bytes(), expires);
                        set.map(|()| new)
                    }
                };
                let expires = ttl.map_or(NEVER, |ttl| now + ttl);
                assert_eq!(table.incr(&quota, &key(n), by, expires, now), expected);
            }
            Op::Count(n, by) => {
                let old = model.counters.get(&n).copied();
                let new = old.unwrap_or(0).wrapping_add(by);
                let expected = match old {
                    Some(_) => Ok(()),
                    None => model.make_room(size(n, 8)),
                };
                let expected = expected.map(|()| {
                    model.counters.insert(n, new);
                    new
                });
                let counted = table.count(&quota, &key(n), |old| old.wrapping_add(by));
                assert_eq!(counted, expected);
            }
            Op::Wait(time) => model.now += time,
        }
        assert_eq!(quota.used.get(), model.used() + TABLE, "after {op:?}");
    }
    for n in 0..KEYS {
        assert_eq!(
            table.counter(&key(n)),
            model.counters.get(&n).copied().unwrap_or(0)
        );
        let expected = model.live(n).map(|at| model.values[at].bytes.clone());
        assert_eq!(table.get(&quota, &key(n), model.now), expected.as_deref());
    }
}

const KEYS: u8 = 40;

fn op() -> impl Strategy<Value = Op> {
    let key = || 0..KEYS;
    let len = || prop_oneof![0usize..70, 200usize..400, Just(5000)];
    let ttl = || prop_oneof![Just(None), (0u64..100).prop_map(Some)];
    let by = || prop_oneof![-20i64..20, Just(i64::MAX), Just(i64::MIN)];
    prop_oneof![
        3 => key().prop_map(Op::Get),
        4 => (key(), len(), ttl()).prop_map(|(key, len, ttl)| Op::Set(key, len, ttl)),
        2 => (key(), len(), ttl()).prop_map(|(key, len, ttl)| Op::Add(key, len, ttl)),
        1 => key().prop_map(Op::Delete),
        3 => (key(), by(), ttl()).prop_map(|(key, by, ttl)| Op::Incr(key, by, ttl)),
        1 => (key(), by()).prop_map(|(key, by)| Op::Count(key, by)),
        1 => (1u64..60).prop_map(Op::Wait),
    ]
}

fn config() -> ProptestConfig {
    ProptestConfig {
        // Miri needs many seconds for each.
        cases: if cfg!(miri) { 1 } else { 2000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_map_does_as_the_list(
        room in prop_oneof![Just(0), 100usize..3000, Just(100_000)],
        ops in prop::collection::vec(op(), 1..if cfg!(miri) { 30 } else { 120 }),
    ) {
        run(room, &ops);
    }
}

#[test]
fn thirty_values_at_most_are_given_up_for_one() {
    let small: Vec<Op> = (0..KEYS).map(|key| Op::Set(key, 0, None)).collect();
    let room: usize = (0..KEYS).map(|key| size(key, 0)).sum();
    // All of them would do.
    let ops = [&small[..], &[Op::Set(KEYS, 3000, None)]].concat();
    let mut evicted = Model {
        room,
        ..Model::default()
    };
    for op in &small {
        let Op::Set(key, len, _) = *op else { continue };
        evicted.set(key, bytes(key, len), NEVER).unwrap();
    }
    assert_eq!(evicted.make_room(size(KEYS, 3000)), Err(Refused::Full));
    assert_eq!(evicted.values.len(), KEYS as usize - MOST_EVICTED);
    run(room, &ops);
}

#[test]
fn a_number_of_any_length() {
    let ops = [
        Op::Incr(1, i64::MIN, None),
        Op::Incr(1, -1, None),
        Op::Incr(1, i64::MAX, None),
        Op::Incr(1, i64::MAX, None),
        Op::Incr(1, 2, None),
        Op::Get(1),
    ];
    run(1000, &ops);
}

#[test]
fn a_key_or_value_that_no_length_can_tell_needs_no_memory() {
    assert_eq!(entry_size(b"", u32::MAX as usize + 1), None);
    assert_eq!(entry_size(b"", usize::MAX), None);
    assert!(entry_size(b"abc", 0).is_some());
}
