//! What is measured of nginx's processes while they run, and whether it grows.

use crate::processes::{self, CLOSE_WAIT};
use crate::server::Soaked;
use crate::slope::{FEWEST, Slope, slope};
use anyhow::Result;
use std::time::Instant;

/// Samples of one part of a soak.
#[derive(Debug)]
pub struct Samples {
    pub figures: &'static [Figure],
    begun: Instant,
    /// The minute, and each of the figures then.
    all: Vec<(f64, Vec<f64>)>,
}

/// What is sampled.
#[derive(Debug)]
pub struct Figure {
    pub name: &'static str,
    /// How much it may grow while it is sampled.
    tolerance: f64,
    take: fn(&Soaked) -> Result<f64>,
}

const MASTER_MEMORY: Figure = Figure {
    name: "resident memory of the master, KB",
    tolerance: 1024.0,
    take: |nginx| Ok(memory(nginx.master())),
};
const WORKERS_MEMORY: Figure = Figure {
    name: "resident memory of the workers, KB",
    tolerance: 8192.0,
    take: |nginx| Ok(nginx.workers().into_iter().map(memory).sum()),
};
const MASTER_DESCRIPTORS: Figure = Figure {
    name: "descriptors of the master",
    tolerance: 2.0,
    take: |nginx| Ok(descriptors(nginx.master())),
};
const WORKERS_DESCRIPTORS: Figure = Figure {
    name: "descriptors of the workers",
    tolerance: 20.0,
    take: |nginx| Ok(nginx.workers().into_iter().map(descriptors).sum()),
};
const CLOSING: Figure = Figure {
    name: "sockets in CLOSE_WAIT",
    tolerance: 10.0,
    take: |nginx| Ok(close_wait(&nginx.ports())? as f64),
};

/// What must not grow while workers come and go: the master is the same all the time.
pub const IN_STORM: &[Figure] = &[MASTER_MEMORY, MASTER_DESCRIPTORS, CLOSING];
/// What must not grow while the workers stay.
pub const IN_CALM: &[Figure] = &[
    MASTER_MEMORY,
    WORKERS_MEMORY,
    MASTER_DESCRIPTORS,
    WORKERS_DESCRIPTORS,
    CLOSING,
];

/// Of a process that has just gone: none.
fn memory(pid: u32) -> f64 {
    processes::resident(pid).map_or(0.0, |bytes| bytes as f64 / 1024.0)
}

fn descriptors(pid: u32) -> f64 {
    processes::targets(pid).map_or(0.0, |all| all.len() as f64)
}

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
    pub fn begin(figures: &'static [Figure]) -> Samples {
        Samples {
            figures,
            begun: Instant::now(),
            all: Vec::new(),
        }
    }

    pub fn take(&mut self, nginx: &Soaked) -> Result<()> {
        let minute = self.begun.elapsed().as_secs_f64() / 60.0;
        let figures = self.figures.iter().map(|figure| (figure.take)(nginx));
        self.all.push((minute, figures.collect::<Result<_>>()?));
        Ok(())
    }

    /// Whether there are not enough to tell what grows.
    pub fn are_too_few(&self) -> bool {
        self.all.len() < FEWEST
    }

    /// How each figure has changed; nothing where there are too few samples to tell.
    pub fn growths(&self) -> impl Iterator<Item = (&Figure, Growth)> {
        let growth = |place: usize| {
            let points = self.all.iter().map(|(minute, all)| (*minute, all[place]));
            let points: Vec<_> = points.collect();
            let ((begin, first), (end, last)) = (*points.first()?, *points.last()?);
            Some(Growth {
                first,
                last,
                minutes: end - begin,
                slope: slope(&points)?,
            })
        };
        let figures = self.figures.iter().enumerate();
        figures.filter_map(move |(place, figure)| Some((figure, growth(place)?)))
    }

    /// Those that grow: by more than is tolerated, at the lower end of the slope's interval.
    pub fn growing(&self) -> Vec<String> {
        let growing = self
            .growths()
            .filter(|(figure, growth)| growth.slope.low * growth.minutes > figure.tolerance);
        let told = growing.map(|(figure, growth)| {
            format!(
                "{} grow from {:.0} to {:.0}, by at least {:.1} a minute",
                figure.name, growth.first, growth.last, growth.slope.low
            )
        });
        told.collect()
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

    const WORKERS: &[Figure] = &[WORKERS_MEMORY];

    fn samples(workers_memory: impl Fn(usize) -> f64) -> Samples {
        let all = (0..60).map(|n| (n as f64 / 60.0, vec![workers_memory(n)]));
        Samples {
            all: all.collect(),
            ..Samples::begin(WORKERS)
        }
    }

    #[test]
    fn what_is_flat_does_not_grow() {
        assert_eq!(samples(|_| 30_000.0).growing(), [""; 0]);
        assert_eq!(
            samples(|n| 30_000.0 + (n % 7) as f64 * 500.0).growing(),
            [""; 0]
        );
    }

    #[test]
    fn a_leak_is_told_from_noise() {
        let leaks = samples(|n| 30_000.0 + n as f64 * 300.0 + (n % 7) as f64 * 500.0);
        let growing = leaks.growing();
        assert_eq!(growing.len(), 1, "{growing:?}");
        assert!(
            growing[0].starts_with("resident memory of the workers, KB grow from 30000 to "),
            "{growing:?}"
        );
    }
}
