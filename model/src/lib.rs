//! The parts of the module that have no FFI, checked alone: the module's own files, included as
//! they are, against models of what they promise.
//!
//! ```text
//! cargo test -p model                                # timers, slots and the map against plain lists
//! RUSTFLAGS="--cfg loom" cargo test -p model         # the door, in every order of its threads
//! cargo +nightly miri test -p model                  # all of it but loom's, for undefined behaviour
//! ```

#![cfg(test)]

/// Wakers, slots and the door.
#[path = "../../src/wake/mod.rs"]
#[allow(dead_code)] // loom looks at the door alone, the others at all else
mod wake;

/// The queues of those who wait.
#[cfg(not(loom))]
#[path = "../../src/sleep/timers.rs"]
mod timers;

/// The map in shared memory.
#[cfg(not(loom))]
#[path = "../../src/shared/table.rs"]
mod table;

mod worker;

#[cfg(loom)]
mod door_model;
#[cfg(not(loom))]
mod slots_model;
#[cfg(not(loom))]
mod table_model;
#[cfg(not(loom))]
mod timers_model;
#[cfg(not(loom))]
mod waker_model;
