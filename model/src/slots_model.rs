//! Slots against a map: whatever comes and goes, a key names its occupant and nobody else.

use crate::wake::{Key, Slots};
use proptest::prelude::*;
use std::collections::{HashMap, VecDeque};

/// Miri is a thousand times slower.
const OPS: usize = if cfg!(miri) { 30 } else { 120 };

#[derive(Clone, Debug)]
enum Op {
    Insert,
    /// These take the key that was given out as the n-th, which may be gone.
    Remove(usize),
    Get(usize),
    Queue(usize),
    Pop,
}

fn op() -> impl Strategy<Value = Op> {
    let nth = 0..64usize;
    prop_oneof![
        3 => Just(Op::Insert),
        2 => nth.clone().prop_map(Op::Remove),
        1 => nth.clone().prop_map(Op::Get),
        3 => nth.prop_map(Op::Queue),
        3 => Just(Op::Pop),
    ]
}

fn check(ops: Vec<Op>) {
    let slots = Slots::new();
    let mut given: Vec<Key> = Vec::new();
    let mut live: HashMap<Key, usize> = HashMap::new();
    let mut queue: Vec<Key> = Vec::new();
    let mut batch = slots.take_queue();
    let mut in_batch: VecDeque<Key> = VecDeque::new();

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
                queue.retain(|&queued| queued != key);
                in_batch.retain(|&queued| queued != key);
            }
            Op::Get(n) => {
                let Some(key) = nth(n) else { continue };
                assert_eq!(slots.get(key), live.get(&key).copied());
            }
            Op::Queue(n) => {
                let Some(key) = nth(n) else { continue };
                let is_news =
                    live.contains_key(&key) && !queue.contains(&key) && !in_batch.contains(&key);
                assert_eq!(slots.queue(key), is_news);
                if is_news {
                    queue.push(key);
                }
            }
            Op::Pop => {
                let popped = slots.pop(&mut batch);
                assert_eq!(
                    popped,
                    in_batch.pop_front().map(|key| live[&key]),
                    "first come, first served"
                );
                if popped.is_none() {
                    batch = slots.take_queue();
                    in_batch.extend(queue.drain(..));
                }
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
