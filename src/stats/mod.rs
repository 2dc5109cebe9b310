//! How many requests wait, and how those before them ended: in all workers.

pub(crate) mod scoreboard;

pub use self::scoreboard::Counts;

use crate::module;
use crate::process;
use crate::response::{Error, Result};
use crate::worker;
use std::fmt;

/// Reads what all workers have counted. [`Args::stats`](crate::Args::stats) gives it.
///
/// ```
/// use content_by_rust::{ArgError, Args, Handler, Request, Response, Result, Stats};
///
/// struct Pending {
///     stats: Stats,
/// }
///
/// impl Handler for Pending {
///     fn configure(args: &mut Args<'_>) -> Result<Pending, ArgError> {
///         Ok(Pending { stats: args.stats() })
///     }
///
///     async fn handle(&self, _: &mut Request) -> Result<Response> {
///         let pending = self.stats.read()?.total().pending;
///         Ok(Response::text(format!("{pending} requests wait\n")))
///     }
/// }
///
/// content_by_rust::module! { pending: Pending }
/// # fn main() {}
/// ```
#[derive(Clone, Copy)]
pub struct Stats(());

/// What all workers have counted since nginx was started.
///
/// It outlives reloads, and workers that die. What waits in a worker that dies counts as aborted.
/// Each figure is right for its own moment: while they are read, workers go on counting.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Each handler of the module, the built-in ones among them.
    pub handlers: Vec<HandlerStats>,
    /// Each worker that lives, in the order of their numbers.
    pub workers: Vec<WorkerStats>,
}

/// What all workers have counted for a handler.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HandlerStats {
    /// What stands in `content_by_rust NAME`.
    pub name: &'static str,
    /// The counts, also those of workers that have gone.
    pub counts: Counts,
}

/// What a worker has counted since it was started.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Its number: see [`worker_id`](crate::worker_id).
    pub worker: usize,
    /// Its process.
    pub pid: u32,
    /// It was told to quit, as by a reload, and lives on for the requests that it must answer: see
    /// [`worker_exiting`](crate::worker_exiting).
    pub is_exiting: bool,
    /// The counts, for all handlers together.
    pub counts: Counts,
}

impl Stats {
    pub(crate) const fn new() -> Stats {
        Stats(())
    }

    /// Reads the figures.
    ///
    /// It looks at `/proc` for each worker, to tell which of them live.
    ///
    /// # Errors
    ///
    /// 500 on a thread that is not nginx's event thread, or where nginx without a master has read
    /// a configuration meanwhile that has no statistics.
    pub fn read(&self) -> Result<Report> {
        let gone = || Error::new(500).because("there are no statistics");
        worker::here().ok_or_else(gone)?;
        let main = module::main_conf().ok_or_else(gone)?;
        let counting = main.counting.as_ref().ok_or_else(gone)?;
        let reading = counting.zone.with(|board| board.read(process::lives));
        let handlers = counting.handlers.iter().zip(reading.handlers);
        let workers = reading.workers.into_iter();
        let workers = workers.map(|(occupant, counts)| WorkerStats {
            worker: occupant.worker,
            pid: occupant.process.pid,
            is_exiting: occupant.is_exiting,
            counts,
        });
        let mut workers: Vec<_> = workers.collect();
        workers.sort_by_key(|worker| (worker.worker, worker.is_exiting, worker.pid));
        Ok(Report {
            handlers: handlers
                .map(|(&name, counts)| HandlerStats { name, counts })
                .collect(),
            workers,
        })
    }
}

impl Report {
    /// The counts of all handlers together.
    pub fn total(&self) -> Counts {
        let all = self.handlers.iter().map(|handler| handler.counts);
        all.fold(Counts::default(), |sum, counts| sum + counts)
    }
}

impl fmt::Debug for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stats")
    }
}
