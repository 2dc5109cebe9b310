//! One measurement, and the middle and the spread of several.

use std::time::Duration;

use super::wrk::Wrk;

/// One run of the generator against one address.
pub struct Sample {
    /// Requests a second.
    pub rate: f64,
    /// Microseconds of the worker's time on the processor, user and kernel, for each request.
    pub cpu: f64,
    /// The part of the time that the worker was on the processor, from 0 to 1.
    pub busy: f64,
}

impl Sample {
    pub fn new(wrk: &Wrk, cpu_time: Duration) -> Self {
        Self {
            rate: wrk.requests as f64 / wrk.seconds,
            cpu: cpu_time.as_secs_f64() * 1e6 / wrk.requests as f64,
            busy: cpu_time.as_secs_f64() / wrk.seconds,
        }
    }
}

/// Median, least and greatest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Of at least one number.
    pub fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = numbers.collect();
        sorted.sort_by(f64::total_cmp);
        let (middle, odd) = (sorted.len() / 2, sorted.len() % 2 == 1);
        let median = if odd {
            sorted[middle]
        } else {
            (sorted[middle - 1] + sorted[middle]) / 2.0
        };
        Self {
            median,
            min: sorted[0],
            max: sorted[sorted.len() - 1],
        }
    }
}

/// Whether one of two contenders needed less time for a request in every single round. Rounds are interleaved, so what
/// disturbs the machine disturbs both; by chance alone seven rounds agree once in 64 times.
pub fn ranks(one: &[Sample], other: &[Sample]) -> bool {
    let mut rounds = one.iter().zip(other);
    rounds.clone().all(|(one, other)| one.cpu < other.cpu)
        || rounds.all(|(one, other)| one.cpu > other.cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_and_ends() {
        assert_eq!(
            Spread::of([3.0, 1.0, 2.0].into_iter()),
            Spread {
                median: 2.0,
                min: 1.0,
                max: 3.0
            }
        );
        assert_eq!(Spread::of([4.0, 1.0].into_iter()).median, 2.5);
        assert_eq!(
            Spread::of([7.0].into_iter()),
            Spread {
                median: 7.0,
                min: 7.0,
                max: 7.0
            }
        );
    }

    #[test]
    fn only_rounds_that_agree_rank() {
        let rounds = |cpu: [f64; 3]| {
            cpu.map(|cpu| Sample {
                rate: 1.0,
                cpu,
                busy: 1.0,
            })
        };
        assert!(ranks(&rounds([1.0, 5.0, 9.0]), &rounds([2.0, 6.0, 10.0])));
        assert!(ranks(&rounds([2.0, 6.0, 10.0]), &rounds([1.0, 5.0, 9.0])));
        assert!(!ranks(&rounds([1.0, 5.0, 9.0]), &rounds([2.0, 6.0, 8.0])));
        assert!(!ranks(&rounds([1.0, 5.0, 9.0]), &rounds([1.0, 5.0, 9.0])));
    }

    #[test]
    fn a_sample_is_per_request() {
        let wrk = Wrk {
            requests: 10_000,
            seconds: 2.0,
            ..Wrk::default()
        };
        let sample = Sample::new(&wrk, Duration::from_millis(100));
        assert_eq!((sample.rate, sample.busy), (5000.0, 0.05));
        assert!((sample.cpu - 10.0).abs() < 1e-9);
    }
}
