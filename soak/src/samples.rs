//! What is measured of nginx's processes while they run, and whether it grows.

use crate::processes::{self, CLOSE_WAIT};
use crate::server::Soaked;
use crate::slope::{FEWEST, Slope, slope};
use anyhow::Result;
use std::time::Instant;

/// Samples of one part of a soak.
#[derive(Debug)]
pub struct Samples {
    begun: Instant,
    /// The minute, and each of the figures then.
    all: Vec<(f64, [f64; 5])>,
}

/// What is sampled.
#[derive(Debug)]
pub struct Figure {
    place: usize,
    pub name: &'static str,
    /// How much it may grow while it is sampled.
    pub tolerance: f64,
}

const MASTER_MEMORY: Figure = Figure {
    place: 0,
    name: "resident memory of the master, KB",
    tolerance: 1024.0,
};
const WORKERS_MEMORY: Figure = Figure {
    place: 1,
    name: "resident memory of the workers, KB",
    tolerance: 8192.0,
};
const MASTER_DESCRIPTORS: Figure = Figure {
    place: 2,
    name: "descriptors of the master",
    tolerance: 2.0,
};
const WORKERS_DESCRIPTORS: Figure = Figure {
    place: 3,
    name: "descriptors of the workers",
    tolerance: 20.0,
};
const CLOSING: Figure = Figure {
    place: 4,
    name: "sockets in CLOSE_WAIT",
    tolerance: 10.0,
};

/// What must not grow while workers come and go: the master is the same all the time.
pub const IN_STORM: [Figure; 3] = [MASTER_MEMORY, MASTER_DESCRIPTORS, CLOSING];
/// What must not grow while the workers stay.
pub const IN_CALM: [Figure; 5] = [
    MASTER_MEMORY,
    WORKERS_MEMORY,
    MASTER_DESCRIPTORS,
    WORKERS_DESCRIPTORS,
    CLOSING,
];

/// How a figure has changed.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    pub first: f64,
    pub last: f64,
    minutes: f64,
    /// For each minute.
    pub slope: Slope,
}

impl Samples {
    pub fn begin() -> Samples {
        Samples {
            begun: Instant::now(),
            all: Vec::new(),
        }
    }

    pub fn take(&mut self, nginx: &Soaked) -> Result<()> {
        let workers = nginx.workers();
        let memory = |pid: u32| processes::resident(pid).map_or(0.0, |bytes| bytes as f64 / 1024.0);
        let descriptors = |pid: u32| processes::targets(pid).map_or(0.0, |all| all.len() as f64);
        let figures = [
            memory(nginx.master()),
            workers.iter().map(|pid| memory(*pid)).sum(),
            descriptors(nginx.master()),
            workers.iter().map(|pid| descriptors(*pid)).sum(),
            close_wait(&nginx.ports())? as f64,
        ];
        self.all
            .push((self.begun.elapsed().as_secs_f64() / 60.0, figures));
        Ok(())
    }

    /// Whether there are not enough to tell what grows.
    pub fn are_too_few(&self) -> bool {
        self.all.len() < FEWEST
    }

    /// `None` where there are too few samples to tell.
    pub fn growth(&self, figure: &Figure) -> Option<Growth> {
        let points: Vec<_> = self
            .all
            .iter()
            .map(|(minute, figures)| (*minute, figures[figure.place]))
            .collect();
        let ((begin, first), (end, last)) = (*points.first()?, *points.last()?);
        Some(Growth {
            first,
            last,
            minutes: end - begin,
            slope: slope(&points)?,
        })
    }

    /// Those that grow: by more than is tolerated, at the lower end of the slope's interval.
    pub fn growing(&self, figures: &[Figure]) -> Vec<String> {
        let growing = figures.iter().filter_map(|figure| {
            let Growth {
                first,
                last,
                minutes,
                slope,
            } = self.growth(figure)?;
            (slope.low * minutes > figure.tolerance).then(|| {
                format!(
                    "{} grow from {first:.0} to {last:.0}, by at least {:.1} a minute",
                    figure.name, slope.low
                )
            })
        });
        growing.collect()
    }
}

/// How many of nginx's sockets wait for it to close them.
pub fn close_wait(ports: &[u16]) -> Result<usize> {
    let all = processes::tcp()?;
    Ok(all
        .iter()
        .filter(|tcp| tcp.state == CLOSE_WAIT && ports.contains(&tcp.local))
        .count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(workers_memory: impl Fn(usize) -> f64) -> Samples {
        let all = (0..60).map(|n| {
            (
                n as f64 / 60.0,
                [5000.0, workers_memory(n), 20.0, 80.0, 0.0],
            )
        });
        Samples {
            begun: Instant::now(),
            all: all.collect(),
        }
    }

    #[test]
    fn what_is_flat_does_not_grow() {
        assert_eq!(samples(|_| 30_000.0).growing(&IN_CALM), [""; 0]);
        assert_eq!(
            samples(|n| 30_000.0 + (n % 7) as f64 * 500.0).growing(&IN_CALM),
            [""; 0]
        );
    }

    #[test]
    fn a_leak_is_told_from_noise() {
        let leaks = samples(|n| 30_000.0 + n as f64 * 300.0 + (n % 7) as f64 * 500.0);
        let growing = leaks.growing(&IN_CALM);
        assert_eq!(growing.len(), 1, "{growing:?}");
        assert!(
            growing[0].starts_with("resident memory of the workers, KB grow from 30000 to "),
            "{growing:?}"
        );
        assert_eq!(
            leaks.growing(&IN_STORM),
            [""; 0],
            "there it tells of no worker"
        );
    }
}
