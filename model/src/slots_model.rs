//! Slots against a map: whatever comes and goes, a key names its occupant and nobody else.

use crate::wake::{Key, Slots};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// Miri is a thousand times slower.
const OPS: usize = if cfg!(miri) { 30 } else { 120 };

#[derive(Clone, Debug)]
enum Op {
    Insert,
    /// These take the key that was given out as the n-th, which may be gone.
    Remove(usize),
    Get(usize),
    Queue(usize),
    Dequeue(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let nth = 0..64usize;
    prop_oneof![
        3 => Just(Op::Insert),
        2 => nth.clone().prop_map(Op::Remove),
        1 => nth.clone().prop_map(Op::Get),
        2 => nth.clone().prop_map(Op::Queue),
        2 => nth.prop_map(Op::Dequeue),
    ]
}

fn check(ops: Vec<Op>) {
    let mut slots = Slots::new();
    let mut given: Vec<Key> = Vec::new();
    let mut live: HashMap<Key, usize> = HashMap::new();
    let mut queued: HashSet<Key> = HashSet::new();

    for op in ops {
        let nth = |n: usize| (!given.is_empty()).then(|| given[n % given.len()]);
        match op {
            Op::Insert => {
                let occupant = given.len();
                let key = slots.insert(occupant).unwrap();
                assert!(!given.contains(&key), "a key is given out once");
                assert_eq!(Key::from_pointer(key.to_pointer()), key);
                given.push(key);
                live.insert(key, occupant);
            }
            Op::Remove(n) => {
                let Some(key) = nth(n) else { continue };
                assert_eq!(slots.remove(key), live.remove(&key));
                queued.remove(&key);
            }
            Op::Get(n) => {
                let Some(key) = nth(n) else { continue };
                assert_eq!(slots.get(key), live.get(&key).copied());
            }
            Op::Queue(n) => {
                let Some(key) = nth(n) else { continue };
                let is_news = live.contains_key(&key) && queued.insert(key);
                assert_eq!(slots.queue(key), is_news);
            }
            Op::Dequeue(n) => {
                let Some(key) = nth(n) else { continue };
                queued.remove(&key);
                assert_eq!(slots.dequeue(key), live.get(&key).copied());
            }
        }
        assert_eq!(slots.len(), live.len());
    }
    for key in given {
        assert_eq!(slots.get(key), live.get(&key).copied());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 3 } else { 2000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn slots_are_a_map_whose_keys_are_never_given_out_twice(ops in prop::collection::vec(op(), 0..OPS)) {
        check(ops);
    }
}
