//! What is observed of requests where the configuration asks for it: how long they wait, for the
//! variables, and how they end, for the statistics.
//!
//! A configuration that asks for neither pays for a look at a flag.

use crate::config::{Content, MainConf};
use crate::log::Level;
use crate::process;
use crate::stats::scoreboard::{Counter, Occupant, Slot};
use crate::{abi, module};
use std::cell::Cell;

/// The way in which a handler ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Answered,
    Aborted,
    Panicked,
}

/// What a worker has to observe.
pub(crate) struct Observer {
    is_active: Cell<bool>,
    /// Where this worker counts, if it does.
    slot: Cell<Option<Slot<'static>>>,
}

impl Observer {
    /// For the configuration in force.
    pub(crate) fn new() -> Observer {
        let observer = Observer {
            is_active: Cell::new(false),
            slot: Cell::new(take_slot()),
        };
        observer.decide();
        observer
    }

    fn decide(&self) {
        // Once it is, what has begun must end.
        if module::tells() || self.slot.get().is_some() {
            self.is_active.set(true);
        }
    }

    /// Nginx has no master, and takes up another configuration: the worker goes on to count if it
    /// has done so, and is to do so.
    pub(crate) fn take_up(&self, main: Option<&MainConf>) {
        if let Some(slot) = self.slot.take()
            && let Some(counting) = main.and_then(|main| main.counting.as_ref())
            && slot.is_part_of(counting.zone.words())
        {
            self.slot.set(Some(slot));
        }
        self.decide();
    }

    /// The worker shuts down, and goes on with what it must answer.
    pub(crate) fn set_exiting(&self) {
        if let Some(slot) = self.slot.get() {
            slot.set_exiting();
        }
    }

    /// Called when the worker exits.
    pub(crate) fn stop(&self) {
        if let Some(slot) = self.slot.take() {
            slot.leave();
        }
    }

    /// Whether there is anything to observe.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.get()
    }

    /// A handler begins to wait.
    #[cold]
    pub(crate) fn wait(&self, content: &Content) {
        self.count(content, Counter::WaitsBegun);
    }

    /// It has ended.
    #[cold]
    pub(crate) fn end(&self, content: &Content, has_waited: bool, end: End) {
        if has_waited {
            self.count(content, Counter::WaitsOver);
        }
        self.count(
            content,
            match end {
                End::Answered => Counter::Answered,
                End::Aborted => Counter::Aborted,
                End::Panicked => Counter::Panicked,
            },
        );
    }

    /// A request was refused before its handler ran.
    pub(crate) fn refuse(&self, content: &Content) {
        self.count(content, Counter::Refused);
    }

    fn count(&self, content: &Content, counter: Counter) {
        if let Some(slot) = self.slot.get() {
            slot.count(content.number, counter);
        }
    }
}

/// A place for this worker in the scoreboard, where the configuration has one.
fn take_slot() -> Option<Slot<'static>> {
    let main = module::main_conf()?;
    let counting = main.counting.as_ref()?;
    let occupant = Occupant {
        process: process::this(),
        worker: process::worker_id(),
        is_exiting: process::worker_exiting(),
    };
    let slot = counting
        .zone
        .with(|board| board.take(occupant, process::lives));
    if slot.is_none() {
        abi::log_cycle(
            Level::Alert as usize,
            "too many workers live, this one's requests are not counted",
        );
    }
    slot
}
