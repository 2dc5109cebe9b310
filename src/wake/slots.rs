//! Numbers for things that come and go: a [`Key`] names one occupant of one slot, once.
//!
//! No FFI: tested alone, and under Miri.

use std::cell::{Cell, UnsafeCell};

/// A slot's index in the low half, and above it the generation of its occupant: together they fit
/// a waker's data pointer. No two occupants ever have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key(usize);

#[cfg(not(target_pointer_width = "64"))]
compile_error!("content_by_rust packs a slot and its generation into a 64-bit pointer");

impl Key {
    fn new(index: u32, generation: u32) -> Key {
        Key((generation as usize) << 32 | index as usize)
    }

    fn index(self) -> u32 {
        self.0 as u32
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
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

/// Two words, as each waiting request has one.
struct Slot<T> {
    occupant: Cell<Option<T>>,
    /// Of the occupant, or of the next one; 0 where there will be none.
    generation: Cell<u32>,
    /// The next free slot, or the next in the queue.
    next: Cell<u32>,
}

/// The end of a list.
const END: u32 = u32::MAX;
/// In place of the next: an occupied slot that is not queued.
const UNQUEUED: u32 = u32::MAX - 1;

/// A table of occupants by [`Key`], and a queue of some of them. Each operation takes constant
/// time, and memory when the table grows to more than there ever were at once.
///
/// A slot that is freed while it is queued keeps its place there, empty, until its turn comes. One
/// that has had 2³² - 1 occupants is not used again.
pub(crate) struct Slots<T> {
    /// Only `grow` changes the vector itself.
    slots: UnsafeCell<Vec<Slot<T>>>,
    free: Cell<u32>,
    first: Cell<u32>,
    last: Cell<u32>,
}

/// A queue that has been taken out of its table, to be emptied by [`Slots::pop`].
#[must_use = "a slot stays queued until its batch is emptied"]
pub(crate) struct Batch {
    first: u32,
}

impl Batch {
    pub(crate) const EMPTY: Batch = Batch { first: END };

    /// Whether nobody is left, not even one who has gone.
    pub(crate) fn is_empty(&self) -> bool {
        self.first == END
    }
}

impl<T: Copy> Slots<T> {
    pub(crate) const fn new() -> Slots<T> {
        Slots {
            slots: UnsafeCell::new(Vec::new()),
            free: Cell::new(END),
            first: Cell::new(END),
            last: Cell::new(END),
        }
    }

    /// How many occupants there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let occupied = |slot: &&Slot<T>| slot.occupant.get().is_some();
        self.slots().iter().filter(occupied).count()
    }

    #[inline]
    fn slots(&self) -> &[Slot<T>] {
        // SAFETY: what is returned is not kept over a call of `grow`; occupants are `Copy`, so
        // that no code of others runs here (invariant 6).
        unsafe { &*self.slots.get() }
    }

    /// Takes a slot; `None` when all are taken, or memory is short.
    #[inline]
    pub(crate) fn insert(&self, occupant: T) -> Option<Key> {
        let index = match self.free.get() {
            END => self.grow()?,
            free => free,
        };
        let slot = &self.slots()[index as usize];
        self.free.set(slot.next.get());
        slot.occupant.set(Some(occupant));
        slot.next.set(UNQUEUED);
        Some(Key::new(index, slot.generation.get()))
    }

    #[cold]
    fn grow(&self) -> Option<u32> {
        // SAFETY: nobody has a reference into the vector, see `slots` (invariant 6).
        let slots = unsafe { &mut *self.slots.get() };
        let index = u32::try_from(slots.len()).ok();
        let index = index.filter(|&index| index < UNQUEUED)?;
        slots.try_reserve(1).ok()?;
        slots.push(Slot {
            occupant: Cell::new(None),
            generation: Cell::new(1),
            next: Cell::new(END),
        });
        Some(index)
    }

    #[inline]
    fn live(&self, key: Key) -> Option<&Slot<T>> {
        let slot = self.slots().get(key.index() as usize)?;
        (slot.generation.get() == key.generation()).then_some(slot)
    }

    /// The occupant that `key` named, if it is still there.
    pub(crate) fn get(&self, key: Key) -> Option<T> {
        self.live(key)?.occupant.get()
    }

    /// Puts the occupant at the end of the queue. False where it is in it already, or is gone.
    #[inline]
    pub(crate) fn queue(&self, key: Key) -> bool {
        match self.live(key) {
            Some(slot) if slot.next.get() == UNQUEUED => slot.next.set(END),
            _ => return false,
        }
        match self.last.replace(key.index()) {
            END => self.first.set(key.index()),
            last => self.slots()[last as usize].next.set(key.index()),
        }
        true
    }

    /// Puts all occupants in the queue.
    #[cold]
    pub(crate) fn queue_all(&self) {
        for (index, slot) in (0..).zip(self.slots()) {
            if slot.occupant.get().is_some() {
                self.queue(Key::new(index, slot.generation.get()));
            }
        }
    }

    /// Whether anybody is in the queue.
    pub(crate) fn has_queued(&self) -> bool {
        self.first.get() != END
    }

    /// Begins a new queue. Who is in the old one is queued until [`pop`](Slots::pop) gives it.
    #[inline]
    pub(crate) fn take_queue(&self) -> Batch {
        self.last.set(END);
        Batch {
            first: self.first.replace(END),
        }
    }

    /// The first of a batch that is still there. It can be queued again from now on.
    #[inline]
    pub(crate) fn pop(&self, batch: &mut Batch) -> Option<T> {
        while batch.first != END {
            let index = batch.first;
            let slot = &self.slots()[index as usize];
            batch.first = slot.next.get();
            if let Some(occupant) = slot.occupant.get() {
                slot.next.set(UNQUEUED);
                return Some(occupant);
            }
            self.release(index, slot);
        }
        None
    }

    /// Ends the occupant's time. From here on `key` names nobody.
    #[inline]
    pub(crate) fn remove(&self, key: Key) -> Option<T> {
        let slot = self.live(key)?;
        let occupant = slot.occupant.take();
        slot.generation.set(slot.generation.get().wrapping_add(1));
        if slot.next.get() == UNQUEUED {
            self.release(key.index(), slot);
        }
        occupant
    }

    /// Makes a slot free for its next occupant.
    #[inline]
    fn release(&self, index: u32, slot: &Slot<T>) {
        if slot.generation.get() != 0 {
            slot.next.set(self.free.replace(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_occupant_and_after_that_nobody() {
        let slots = Slots::new();
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
        let slots = Slots::new();
        let key = slots.insert(7).unwrap();
        assert!(slots.queue(key));
        assert!(!slots.queue(key));
        let mut batch = slots.take_queue();
        assert!(!slots.queue(key), "it is in the batch");
        assert_eq!(slots.pop(&mut batch), Some(7));
        assert_eq!(slots.pop(&mut batch), None);
        assert!(slots.queue(key));
        slots.remove(key);

        let next = slots.insert(8).unwrap();
        assert!(slots.queue(next), "the mark does not outlive its occupant");
        let mut batch = slots.take_queue();
        assert_eq!(slots.pop(&mut batch), Some(8));
        assert_eq!(slots.pop(&mut batch), None);
    }

    #[test]
    fn all_occupants_are_queued_once() {
        let slots = Slots::new();
        let keys: Vec<_> = (0..3).map(|n| slots.insert(n).unwrap()).collect();
        assert!(slots.queue(keys[2]));
        slots.remove(keys[1]);
        slots.queue_all();
        let mut batch = slots.take_queue();
        let all = std::iter::from_fn(|| slots.pop(&mut batch));
        assert_eq!(all.collect::<Vec<_>>(), [2, 0]);
    }

    #[test]
    fn a_slot_freed_in_the_queue_is_used_again_after_its_turn() {
        let slots = Slots::new();
        let keys: Vec<_> = (0..3).map(|n| slots.insert(n).unwrap()).collect();
        assert!(keys.iter().all(|&key| slots.queue(key)));
        let mut batch = slots.take_queue();
        slots.remove(keys[1]);
        assert_eq!(slots.insert(3).unwrap().index(), 3);
        assert_eq!(slots.pop(&mut batch), Some(0));
        assert_eq!(slots.pop(&mut batch), Some(2));
        assert_eq!(slots.pop(&mut batch), None);
        assert_eq!(slots.insert(4).unwrap().index(), keys[1].index());
    }

    #[test]
    fn a_key_survives_the_trip_through_a_pointer() {
        let slots = Slots::new();
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
    fn a_slot_is_left_alone_before_its_keys_come_again() {
        let slots = Slots::new();
        slots.insert(1).unwrap();
        slots.slots()[0].generation.set(u32::MAX);
        let last = Key::new(0, u32::MAX);
        assert_eq!(slots.remove(last), Some(1));
        assert_eq!(slots.get(last), None);
        assert_eq!(slots.insert(2).unwrap().index(), 1);
    }
}
