//! The door through which other threads wake requests: a list of keys and one bell.
//!
//! No FFI: modelled with loom (`make test` runs the model) and run under Miri. A mutex is enough:
//! it is held for a push or a swap, and the event thread takes a whole batch at once.

use super::slots::Key;

#[cfg(loom)]
use loom::sync::Mutex;
#[cfg(not(loom))]
use std::sync::Mutex;

/// Rings once for each batch, so that the event thread looks at the door.
pub(crate) trait Bell {
    fn ring(&self);
}

struct Inside<B> {
    /// `None`: closed. Nobody listens yet, or any more.
    bell: Option<B>,
    keys: Vec<Key>,
    /// There was no memory for a key: nobody knows for whom it was.
    all: bool,
}

/// Keys on their way to the event thread.
pub(crate) struct Door<B> {
    inside: Mutex<Inside<B>>,
}

impl<B: Bell> Door<B> {
    #[cfg(not(loom))]
    pub(crate) const fn closed() -> Door<B> {
        Door {
            inside: Mutex::new(Inside {
                bell: None,
                keys: Vec::new(),
                all: false,
            }),
        }
    }

    #[cfg(loom)]
    pub(crate) fn closed() -> Door<B> {
        Door {
            inside: Mutex::new(Inside {
                bell: None,
                keys: Vec::new(),
                all: false,
            }),
        }
    }

    fn inside<R>(&self, f: impl FnOnce(&mut Inside<B>) -> R) -> R {
        // Nothing here panics while it holds the lock, so a poisoned one is as good as any.
        let mut inside = self.inside.lock().unwrap_or_else(|e| e.into_inner());
        f(&mut inside)
    }

    /// Keys that come from now on ring `bell`.
    pub(crate) fn open(&self, bell: B) {
        self.inside(|inside| inside.bell = Some(bell));
    }

    /// Keys that come from now on are forgotten. Gives the bell back: nobody rings it any more.
    pub(crate) fn close(&self) -> Option<B> {
        self.inside(|inside| {
            inside.keys = Vec::new();
            inside.all = false;
            inside.bell.take()
        })
    }

    /// Called on any thread. Rings if the keys before have all been taken.
    pub(crate) fn push(&self, key: Key) {
        self.inside(|inside| {
            let Some(bell) = &inside.bell else { return };
            let first = inside.keys.is_empty() && !inside.all;
            match inside.keys.try_reserve(1) {
                Ok(()) => inside.keys.push(key),
                Err(_) => inside.all = true,
            }
            if first {
                // Under the lock: the bell must not be taken away while it rings.
                bell.ring();
            }
        });
    }

    /// Called on the event thread after the bell rang and was silenced: takes all keys, and
    /// leaves `batch`, which is empty, in their place. True where somebody else was to be woken as
    /// well, so that all must be: who wakes without need does no harm.
    pub(crate) fn take(&self, batch: &mut Vec<Key>) -> bool {
        debug_assert!(batch.is_empty());
        self.inside(|inside| {
            std::mem::swap(&mut inside.keys, batch);
            std::mem::take(&mut inside.all)
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::slots::Slots;
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    impl Bell for &AtomicUsize {
        fn ring(&self) {
            self.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn keys_of_other_threads_come_out_once_and_ring_once_a_batch() {
        let slots = Slots::new();
        let keys: [Key; 6] = std::array::from_fn(|n| slots.insert(n).unwrap());
        let (rings, door) = (AtomicUsize::new(0), Door::closed());
        door.open(&rings);
        std::thread::scope(|scope| {
            for part in keys.chunks(2) {
                scope.spawn(|| part.iter().for_each(|&key| door.push(key)));
            }
        });
        let mut batch = Vec::new();
        door.take(&mut batch);
        batch.sort_by_key(|key| key.to_pointer().addr());
        assert_eq!(batch, keys);
        assert_eq!(rings.load(Ordering::Relaxed), 1);

        door.push(keys[0]);
        assert_eq!(rings.load(Ordering::Relaxed), 2, "a batch of its own");
        assert!(door.close().is_some());
        door.push(keys[1]);
        batch.clear();
        door.take(&mut batch);
        assert!(batch.is_empty(), "a closed door forgets");
        assert_eq!(rings.load(Ordering::Relaxed), 2);
    }
}
