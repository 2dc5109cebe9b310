//! When the requests of an open loop are due.
//!
//! They are due at even distances from the start, whatever the server does. A request that finds no free connection
//! waits, and its latency counts from when it was due: what a closed loop leaves out, because it asks a slow server
//! less often ("coordinated omission": Gil Tene, "How NOT to Measure Latency", 2013).

/// Times are nanoseconds since any common start.
#[derive(Clone, Debug)]
pub struct Pace {
    start: u64,
    rate: f64,
    /// So many have been taken.
    taken: u64,
}

impl Pace {
    /// `rate` requests a second, the first at `start`.
    pub fn new(start: u64, rate: f64) -> Self {
        Self {
            start,
            rate,
            taken: 0,
        }
    }

    /// When the next request is due. Counted from the start, so errors do not add up.
    pub fn next(&self) -> u64 {
        self.start + (self.taken as f64 * 1e9 / self.rate) as u64
    }

    /// Takes the next request if it is due.
    pub fn take(&mut self, now: u64) -> Option<u64> {
        let due = self.next();
        (due <= now).then(|| {
            self.taken += 1;
            due
        })
    }

    /// How many are due before `end` and have not been taken.
    pub fn left_before(&self, end: u64) -> u64 {
        let due = (end.saturating_sub(self.start) as f64 * self.rate / 1e9).ceil() as u64;
        due.saturating_sub(self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_at_even_distances() {
        let mut pace = Pace::new(1_000, 1_000_000.0);
        assert_eq!(pace.take(999), None);
        assert_eq!(pace.take(1_000), Some(1_000));
        assert_eq!(pace.take(1_500), None);
        assert_eq!(pace.next(), 2_000);
        // Late: each keeps the time at which it was due.
        assert_eq!(pace.take(10_000), Some(2_000));
        assert_eq!(pace.take(10_000), Some(3_000));
        assert_eq!(pace.left_before(5_000), 1);
    }

    #[test]
    fn no_drift() {
        let mut pace = Pace::new(0, 30_000.0);
        let due = (0..30_000).map(|_| pace.take(u64::MAX).unwrap()).last();
        assert_eq!(due, Some(999_966_666));
        assert_eq!(pace.next(), 1_000_000_000);
        assert_eq!(pace.left_before(1_000_000_000), 0);
    }
}
