//! Numbers for things that come and go: a [`Key`] names one occupant of one slot, once.
//!
//! No FFI: tested alone, and under Miri.

/// A slot's index and the generation of its occupant, packed into a word so that it fits a
/// waker's data pointer.
///
/// The index takes the low 24 bits (16.7 million requests waiting in one worker), the generation
/// the 40 above: at 100,000 requests a second through a single slot it comes round after 127
/// days, and a waker kept that long would cause one poll too many, which a future must bear.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key(usize);

#[cfg(not(target_pointer_width = "64"))]
compile_error!("content_by_rust packs a slot and its generation into a 64-bit pointer");

const INDEX_BITS: u32 = 24;
const INDEX_MASK: usize = (1 << INDEX_BITS) - 1;

impl Key {
    fn new(index: usize, generation: usize) -> Key {
        Key(generation << INDEX_BITS | index)
    }

    fn index(self) -> usize {
        self.0 & INDEX_MASK
    }

    /// The number as a pointer, which must never be followed.
    pub(crate) fn to_pointer(self) -> *const () {
        std::ptr::without_provenance(self.0)
    }

    /// What [`Key::to_pointer`] gave.
    pub(crate) fn from_pointer(pointer: *const ()) -> Key {
        Key(pointer.addr())
    }
}

struct Slot<T> {
    /// The key of the occupant, or of the next one.
    key: Key,
    occupant: Option<T>,
    /// The occupant is in the ready queue.
    queued: bool,
    /// The next free slot, where this one is free.
    next: usize,
}

/// A table of occupants by [`Key`], with a free list: insertion and removal take constant time,
/// and memory once the table has grown to the most that were ever there at once.
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: usize,
    len: usize,
}

const NONE: usize = usize::MAX;

impl<T: Copy> Slots<T> {
    pub(crate) const fn new() -> Slots<T> {
        Slots {
            slots: Vec::new(),
            free: NONE,
            len: 0,
        }
    }

    /// How many occupants there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Takes a slot; `None` when all 2²⁴ are taken.
    pub(crate) fn insert(&mut self, occupant: T) -> Option<Key> {
        let index = if self.free == NONE {
            self.grow()?
        } else {
            self.free
        };
        let slot = &mut self.slots[index];
        self.free = slot.next;
        slot.occupant = Some(occupant);
        self.len += 1;
        Some(slot.key)
    }

    #[cold]
    fn grow(&mut self) -> Option<usize> {
        let index = self.slots.len();
        if index > INDEX_MASK {
            return None;
        }
        self.slots.push(Slot {
            key: Key::new(index, 0),
            occupant: None,
            queued: false,
            next: NONE,
        });
        Some(index)
    }

    fn live(&mut self, key: Key) -> Option<&mut Slot<T>> {
        let slot = self.slots.get_mut(key.index())?;
        (slot.key == key && slot.occupant.is_some()).then_some(slot)
    }

    /// The occupant that `key` named, if it is still there.
    pub(crate) fn get(&mut self, key: Key) -> Option<T> {
        self.live(key)?.occupant
    }

    /// Marks the occupant as queued. False where it was already, or is gone.
    pub(crate) fn queue(&mut self, key: Key) -> bool {
        match self.live(key) {
            Some(slot) if !slot.queued => {
                slot.queued = true;
                true
            }
            _ => false,
        }
    }

    /// The occupant of a key that comes out of the queue, if it is still there. It can be queued
    /// again from now on.
    pub(crate) fn dequeue(&mut self, key: Key) -> Option<T> {
        let slot = self.live(key)?;
        slot.queued = false;
        slot.occupant
    }

    /// Frees the slot. From here on `key` names nobody.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let free = self.free;
        let slot = self.live(key)?;
        let occupant = slot.occupant.take();
        // The generation wraps within its 40 bits.
        slot.key = Key(slot.key.0.wrapping_add(1 << INDEX_BITS));
        slot.queued = false;
        slot.next = free;
        self.free = key.index();
        self.len -= 1;
        occupant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_occupant_and_after_that_nobody() {
        let mut slots = Slots::new();
        let first = slots.insert('a').unwrap();
        let second = slots.insert('b').unwrap();
        assert_eq!(slots.get(first), Some('a'));
        assert_eq!(slots.get(second), Some('b'));
        assert_eq!(slots.remove(first), Some('a'));
        assert_eq!(slots.get(first), None);
        assert_eq!(slots.remove(first), None);

        let third = slots.insert('c').unwrap();
        assert_eq!(third.index(), first.index(), "the slot is used again");
        assert_ne!(third, first);
        assert_eq!(slots.get(first), None);
        assert!(!slots.queue(first));
        assert_eq!(slots.get(third), Some('c'));
        assert_eq!(slots.len(), 2);
    }

    #[test]
    fn an_occupant_is_queued_once() {
        let mut slots = Slots::new();
        let key = slots.insert(7).unwrap();
        assert!(slots.queue(key));
        assert!(!slots.queue(key));
        assert_eq!(slots.dequeue(key), Some(7));
        assert!(slots.queue(key));
        slots.remove(key);
        assert_eq!(slots.dequeue(key), None);

        let next = slots.insert(8).unwrap();
        assert!(slots.queue(next), "the mark does not outlive its occupant");
    }

    #[test]
    fn a_key_survives_the_trip_through_a_pointer() {
        let mut slots = Slots::new();
        for n in 0..300 {
            let key = slots.insert(n).unwrap();
            assert_eq!(Key::from_pointer(key.to_pointer()), key);
            if n % 3 == 0 {
                slots.remove(key);
            }
        }
        assert_eq!(slots.len(), 200);
    }

    #[test]
    fn the_generation_wraps_around() {
        let mut slots = Slots::new();
        let key = slots.insert(()).unwrap();
        slots.slots[0].key = Key::new(0, (1 << (usize::BITS - INDEX_BITS)) - 1);
        slots.remove(Key::new(0, usize::MAX >> INDEX_BITS)).unwrap();
        assert_eq!(slots.insert(()), Some(key));
    }
}
