//! The middle and the spread of several counts.

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
}
