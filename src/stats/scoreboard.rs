//! What each worker counts, where all workers can read it.
//!
//! A scoreboard is a sequence of words in shared memory. Each worker has a slot of it, in which it
//! alone counts and anybody reads. Counters only grow, and stay when their worker has gone: the
//! next one to take the slot notes where they stand and counts on. So a total is the sum over all
//! slots, and nobody has to add up what a worker had counted when it was killed.
//!
//! Slots are taken and read under a lock. Taking one ends with a single store of the worker's pid:
//! a worker that is killed before that has taken none, and left no counter changed.
//!
//! No FFI: tested alone.

use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted, for each handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    WaitsBegun,
    WaitsOver,
    Answered,
    Aborted,
    Panicked,
    Refused,
}

const COUNTERS: usize = 6;

/// How many requests ended in which way, and how many wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Requests whose handlers wait now.
    pub pending: u64,
    /// Requests whose handlers came to an end: with an answer, an error, or a redirect.
    pub answered: u64,
    /// Requests that ended before their handlers did: the client went away, nginx gave up, or the
    /// worker ended.
    pub aborted: u64,
    /// Requests whose handlers panicked.
    pub panicked: u64,
    /// Requests that `rust_max_pending` refused.
    pub refused: u64,
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            pending: self.pending + other.pending,
            answered: self.answered + other.answered,
            aborted: self.aborted + other.aborted,
            panicked: self.panicked + other.panicked,
            refused: self.refused + other.refused,
        }
    }
}

/// A process, told from all others that had its number or will have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// When it was started, in clock ticks since the machine was; 0 where that cannot be known.
    pub(crate) started: u64,
}

/// Who takes a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occupant {
    pub(crate) process: Process,
    pub(crate) worker: usize,
    /// It shuts down, and lives on for what it must answer.
    pub(crate) is_exiting: bool,
}

/// What a scoreboard says.
pub(crate) struct Reading {
    /// Of each handler, in all workers there have been.
    pub(crate) handlers: Vec<Counts>,
    /// Of each worker that lives.
    pub(crate) workers: Vec<(Occupant, Counts)>,
}

pub(crate) struct Scoreboard<'a> {
    words: &'a [AtomicU64],
    handlers: usize,
}

/// The word in front of the slots: how many of them have ever been taken. The words of the others
/// have no meaning yet.
const USED: usize = 0;
const HEAD: usize = 1;

/// The words in front of a slot's counters.
const PID: usize = 0;
const STARTED: usize = 1;
const WORKER: usize = 2;
const EXITING: usize = 3;
const SLOT_HEAD: usize = 4;

/// How many workers can count at once: those of the current configuration, and of earlier ones
/// that still have something to answer.
// Miri takes minutes to fill as many.
const SLOTS: usize = if cfg!(miri) { 32 } else { 1024 };

fn load(word: &AtomicU64) -> u64 {
    word.load(Ordering::Acquire)
}

/// Whoever sees the value sees all that was stored before it.
fn store(word: &AtomicU64, value: u64) {
    word.store(value, Ordering::Release);
}

/// The words of a slot: its counters, and where they stood when it was taken.
const fn slot_words(handlers: usize) -> usize {
    SLOT_HEAD + 2 * COUNTERS * handlers
}

/// How many words a scoreboard for so many handlers has.
pub(crate) const fn words(handlers: usize) -> usize {
    HEAD + SLOTS * slot_words(handlers)
}

impl<'a> Scoreboard<'a> {
    /// The scoreboard in these words. In a new one the first is zero.
    pub(crate) fn new(words: &'a [AtomicU64], handlers: usize) -> Scoreboard<'a> {
        Scoreboard { words, handlers }
    }

    /// Makes the words a new scoreboard.
    pub(crate) fn clear(&self) {
        store(&self.words[USED], 0);
    }

    fn slots(&self) -> impl Iterator<Item = Slot<'a>> {
        let handlers = self.handlers;
        let used = load(&self.words[USED]) as usize;
        let slots = self.words[HEAD..].chunks_exact(slot_words(handlers));
        slots.take(used).map(move |words| Slot { words, handlers })
    }

    /// Takes a slot whose worker has gone, or one that nobody had. `None` where there is none.
    pub(crate) fn take(
        &self,
        occupant: Occupant,
        lives: impl Fn(Process) -> bool,
    ) -> Option<Slot<'a>> {
        let mut slots = self.slots();
        let slot = slots
            .find(|slot| !slot.is_taken(&lives))
            .or_else(|| self.first_use())?;
        slot.begin(occupant);
        Some(slot)
    }

    fn first_use(&self) -> Option<Slot<'a>> {
        let used = load(&self.words[USED]) as usize;
        let mut slots = self.words[HEAD..].chunks_exact(slot_words(self.handlers));
        let words = slots.nth(used)?;
        words.iter().for_each(|word| store(word, 0));
        store(&self.words[USED], used as u64 + 1);
        Some(Slot {
            words,
            handlers: self.handlers,
        })
    }

    pub(crate) fn read(&self, lives: impl Fn(Process) -> bool) -> Reading {
        let mut reading = Reading {
            handlers: vec![Counts::default(); self.handlers],
            workers: Vec::new(),
        };
        for slot in self.slots() {
            let is_taken = slot.is_taken(&lives);
            let mut own = Counts::default();
            for (handler, total) in reading.handlers.iter_mut().enumerate() {
                *total = *total + slot.counts(handler, is_taken);
                own = own + slot.counts_of_occupant(handler);
            }
            if is_taken {
                reading.workers.push((slot.occupant(), own));
            }
        }
        reading
    }
}

/// A worker's part of the scoreboard.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    words: &'a [AtomicU64],
    handlers: usize,
}

impl Slot<'_> {
    /// Counts one more. For the worker whose slot it is.
    pub(crate) fn count(&self, handler: usize, counter: Counter) {
        let word = self.now(handler, counter);
        store(word, load(word).wrapping_add(1));
    }

    /// The worker goes. What still waits is aborted.
    pub(crate) fn leave(&self) {
        store(&self.words[PID], 0);
    }

    /// The worker shuts down.
    pub(crate) fn set_exiting(&self) {
        store(&self.words[EXITING], 1);
    }

    /// Whether the slot is one of these words'.
    pub(crate) fn is_part_of(&self, words: &[AtomicU64]) -> bool {
        words.as_ptr_range().contains(&self.words.as_ptr())
    }

    fn begin(&self, occupant: Occupant) {
        self.leave();
        let (now, base) = self.words[SLOT_HEAD..].split_at(COUNTERS * self.handlers);
        for (now, base) in now.iter().zip(base) {
            store(base, load(now));
        }
        store(&self.words[STARTED], occupant.process.started);
        store(&self.words[WORKER], occupant.worker as u64);
        store(&self.words[EXITING], occupant.is_exiting.into());
        // The last: a worker that is killed before has no slot.
        store(&self.words[PID], occupant.process.pid.into());
    }

    fn occupant(&self) -> Occupant {
        Occupant {
            process: Process {
                pid: load(&self.words[PID]) as u32,
                started: load(&self.words[STARTED]),
            },
            worker: load(&self.words[WORKER]) as usize,
            is_exiting: load(&self.words[EXITING]) != 0,
        }
    }

    fn is_taken(&self, lives: impl Fn(Process) -> bool) -> bool {
        let process = self.occupant().process;
        process.pid != 0 && lives(process)
    }

    fn now(&self, handler: usize, counter: Counter) -> &AtomicU64 {
        &self.words[SLOT_HEAD + COUNTERS * handler + counter as usize]
    }

    fn base(&self, handler: usize, counter: Counter) -> u64 {
        load(&self.words[SLOT_HEAD + COUNTERS * (self.handlers + handler) + counter as usize])
    }

    /// How many wait, and what all who had this slot have counted. Waits of those that have gone
    /// were aborted.
    fn counts(&self, handler: usize, is_taken: bool) -> Counts {
        let now = |counter| load(self.now(handler, counter));
        // In this order, as the worker counts on: what has begun is never less than what is over.
        let over = now(Counter::WaitsOver);
        let unfinished = now(Counter::WaitsBegun) - over;
        let lost = match is_taken {
            true => {
                self.base(handler, Counter::WaitsBegun) - self.base(handler, Counter::WaitsOver)
            }
            false => unfinished,
        };
        Counts {
            pending: unfinished - lost,
            answered: now(Counter::Answered),
            aborted: now(Counter::Aborted) + lost,
            panicked: now(Counter::Panicked),
            refused: now(Counter::Refused),
        }
    }

    /// What the worker has counted that has the slot, or had it last.
    fn counts_of_occupant(&self, handler: usize) -> Counts {
        let since = |counter| load(self.now(handler, counter)) - self.base(handler, counter);
        let over = since(Counter::WaitsOver);
        Counts {
            pending: since(Counter::WaitsBegun) - over,
            answered: since(Counter::Answered),
            aborted: since(Counter::Aborted),
            panicked: since(Counter::Panicked),
            refused: since(Counter::Refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDLERS: usize = 2;

    fn memory() -> Vec<AtomicU64> {
        // What has no meaning yet may be anything.
        let words = (0..words(HANDLERS)).map(|_| AtomicU64::new(0xa5a5_a5a5_a5a5_a5a5));
        let words: Vec<_> = words.collect();
        Scoreboard::new(&words, HANDLERS).clear();
        words
    }

    fn occupant(pid: u32) -> Occupant {
        Occupant {
            process: Process { pid, started: 7 },
            worker: pid as usize - 100,
            is_exiting: false,
        }
    }

    fn all_live(_: Process) -> bool {
        true
    }

    fn counts(pending: u64, answered: u64, aborted: u64) -> Counts {
        Counts {
            pending,
            answered,
            aborted,
            ..Counts::default()
        }
    }

    #[test]
    fn totals_are_those_of_all_and_each_has_its_own() {
        let memory = memory();
        let board = Scoreboard::new(&memory, HANDLERS);
        let first = board.take(occupant(100), all_live).unwrap();
        let second = board.take(occupant(101), all_live).unwrap();
        for counter in [
            Counter::WaitsBegun,
            Counter::WaitsBegun,
            Counter::WaitsOver,
            Counter::Answered,
        ] {
            first.count(0, counter);
        }
        second.count(0, Counter::Answered);
        second.count(1, Counter::Aborted);
        second.count(1, Counter::Panicked);
        second.count(1, Counter::Refused);
        let reading = board.read(all_live);
        let others = Counts {
            panicked: 1,
            refused: 1,
            ..counts(0, 0, 1)
        };
        assert_eq!(reading.handlers, [counts(1, 2, 0), others]);
        let workers = [
            (occupant(100), counts(1, 1, 0)),
            (occupant(101), others + counts(0, 1, 0)),
        ];
        assert_eq!(reading.workers, workers);
    }

    #[test]
    fn what_waited_in_a_worker_that_died_was_aborted_once() {
        let memory = memory();
        let board = Scoreboard::new(&memory, HANDLERS);
        let first = board.take(occupant(100), all_live).unwrap();
        (0..3).for_each(|_| first.count(1, Counter::WaitsBegun));
        first.count(1, Counter::WaitsOver);
        first.count(1, Counter::Aborted);
        assert_eq!(board.read(all_live).handlers[1], counts(2, 0, 1));
        let nobody = |_| false;
        assert_eq!(board.read(nobody).handlers[1], counts(0, 0, 3));
        assert_eq!(board.read(nobody).workers, []);

        // Its slot is the next one's, who counts from nothing; the total goes on.
        let second = board.take(occupant(101), nobody).unwrap();
        second.count(1, Counter::WaitsBegun);
        second.count(1, Counter::Answered);
        let reading = board.read(all_live);
        assert_eq!(reading.handlers[1], counts(1, 1, 3));
        assert_eq!(reading.workers, [(occupant(101), counts(1, 1, 0))]);
        second.leave();
        let reading = board.read(all_live);
        assert_eq!(
            (reading.handlers[1], reading.workers),
            (counts(0, 1, 4), vec![])
        );
        board.take(occupant(102), all_live).unwrap();
        assert_eq!(board.read(all_live).handlers[1], counts(0, 1, 4));
        assert_eq!(load(&memory[USED]), 1);
    }

    #[test]
    fn one_that_is_killed_while_it_takes_a_slot_changes_nothing() {
        let memory = memory();
        let board = Scoreboard::new(&memory, HANDLERS);
        let first = board.take(occupant(100), all_live).unwrap();
        first.count(0, Counter::WaitsBegun);
        first.count(0, Counter::Answered);
        first.leave();
        // As far as it can get: all but the pid.
        let second = board.take(occupant(101), all_live).unwrap();
        second.leave();
        assert_eq!(board.read(all_live).handlers[0], counts(0, 1, 1));
        board.take(occupant(102), all_live).unwrap();
        let reading = board.read(all_live);
        assert_eq!(reading.handlers[0], counts(0, 1, 1));
        assert_eq!(reading.workers, [(occupant(102), counts(0, 0, 0))]);
    }

    #[test]
    fn there_is_a_slot_for_each_that_lives_until_there_is_none() {
        let memory = memory();
        let board = Scoreboard::new(&memory, HANDLERS);
        let slots: Vec<_> = (0..SLOTS as u32)
            .map(|n| board.take(occupant(100 + n), all_live).unwrap())
            .collect();
        assert!(board.take(occupant(5000), all_live).is_none());
        slots[17].leave();
        let slot = board.take(occupant(5000), all_live).unwrap();
        assert!(std::ptr::eq(slot.words, slots[17].words));
        assert!(slot.is_part_of(&memory));
        assert_eq!(board.read(all_live).workers.len(), SLOTS);
    }

    #[test]
    fn one_that_shuts_down_says_so_and_the_next_in_its_slot_does_not() {
        let memory = memory();
        let board = Scoreboard::new(&memory, HANDLERS);
        let slot = board.take(occupant(100), all_live).unwrap();
        assert!(!board.read(all_live).workers[0].0.is_exiting);
        slot.set_exiting();
        assert!(board.read(all_live).workers[0].0.is_exiting);
        slot.leave();
        board.take(occupant(101), all_live).unwrap();
        assert!(!board.read(all_live).workers[0].0.is_exiting);
    }
}
