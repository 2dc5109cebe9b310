//! What was survived, as a table.

use crate::ledger::{Counts, OUTCOMES, Outcome};
use crate::samples::Samples;
use crate::soak::Plan;
use crate::world::World;
use std::fmt;
use std::sync::Arc;

/// The end of a soak.
#[derive(Debug)]
pub struct Report {
    pub world: Arc<World>,
    pub plan: Plan,
    pub reloads: usize,
    pub kills: usize,
    /// How many workers there were in all.
    pub workers: usize,
    pub storm: Samples,
    pub calm: Samples,
    /// All that is wrong.
    pub violations: Vec<String>,
}

/// As many as anyone wants to read.
const SHOWN: usize = 50;

fn row(f: &mut fmt::Formatter<'_>, name: &str, counts: &Counts) -> fmt::Result {
    write!(f, "{name:20}")?;
    for (outcome, head) in OUTCOMES {
        let count = counts.get(&outcome).copied().unwrap_or_default();
        write!(f, "  {count:>width$}", width = head.len())?;
    }
    writeln!(f)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, ledger) = (&self.plan, &self.world.ledger);
        writeln!(
            f,
            "{:.0} s, {} clients, SEED={}: {} reloads, {} workers, {} of them killed, {} outages of Redis",
            plan.time.as_secs_f64(),
            plan.clients,
            plan.seed,
            self.reloads,
            self.workers,
            self.kills,
            self.world.outages.count()
        )?;
        write!(f, "\n{:20}", "requests")?;
        for (_, head) in OUTCOMES {
            write!(f, "  {head}")?;
        }
        writeln!(f)?;
        for (protocol, counts) in ledger.by(|protocol, _| protocol) {
            row(f, &protocol.to_string(), &counts)?;
        }
        for (handler, counts) in ledger.by(|_, handler| handler) {
            row(f, handler, &counts)?;
        }
        for (_, counts) in ledger.by(|_, _| ()) {
            row(f, "all", &counts)?;
        }
        writeln!(
            f,
            "\n{:40}  {:>6}  {:>6}  growth a minute, 95 %",
            "", "first", "last"
        )?;
        for (part, samples) in [("storm", &self.storm), ("calm", &self.calm)] {
            for (figure, growth) in samples.growths() {
                let (name, slope) = (format!("{part}: {}", figure.name), growth.slope);
                writeln!(
                    f,
                    "{name:40}  {:>6.0}  {:>6.0}  {:.1} ({:.1} to {:.1})",
                    growth.first, growth.last, slope.middle, slope.low, slope.high
                )?;
            }
        }
        writeln!(f)?;
        for violation in self.violations.iter().take(SHOWN) {
            writeln!(f, "WRONG: {violation}")?;
        }
        match self.violations.len() {
            0 => writeln!(
                f,
                "{} requests were answered, each once and right",
                ledger.total(Outcome::Answered)
            ),
            some => writeln!(
                f,
                "{some} things are wrong; SEED={} repeats the choices",
                plan.seed
            ),
        }
    }
}
