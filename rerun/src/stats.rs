//! The middle and the spread of some numbers, and whether two rows can be told apart.

use crate::result::{Comparison, Histogram, Percentiles, Spread};

/// The value below which a part `q` (0 to 1) of the numbers lies, with linear interpolation between neighbours: type 7
/// of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996).
/// Not a number if there are none.
pub fn quantile(numbers: &[f64], q: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = q.clamp(0.0, 1.0) * last as f64;
    let below = sorted[at as usize];
    let above = sorted[(at as usize + 1).min(last)];
    below + (above - below) * at.fract()
}

pub fn median(numbers: &[f64]) -> f64 {
    quantile(numbers, 0.5)
}

/// Of at least one number.
pub fn spread(numbers: &[f64]) -> Spread {
    Spread {
        median: median(numbers),
        min: quantile(numbers, 0.0),
        max: quantile(numbers, 1.0),
    }
}

/// An interval with its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub middle: f64,
    pub low: f64,
    pub high: f64,
}

/// How often the rounds are drawn again.
const RESAMPLES: usize = 10_000;

/// The ratio of two medians with its 95 % interval, by the percentile bootstrap of B. Efron and R. J. Tibshirani, "An
/// Introduction to the Bootstrap" (1993), section 13.3.
///
/// Round by round, what disturbs the machine disturbs both rows, so rounds are drawn as pairs (section 8.4 there). The
/// draws are seeded: the same samples always give the same interval. Rows with fewer rounds than the other are paired
/// as far as they go. None without two numbers each, or where a median is not positive.
pub fn ratio(one: &[f64], other: &[f64]) -> Option<Interval> {
    bootstrap(one.len().min(other.len()), |draw| {
        let (one, other) = (median_of(one, draw), median_of(other, draw));
        (one > 0.0 && other > 0.0).then_some(one / other)
    })
}

/// The median of some rounds with its 95 % interval, by the same bootstrap. None of less than two rounds.
pub fn median_interval(numbers: &[f64]) -> Option<Interval> {
    bootstrap(numbers.len(), |draw| Some(median_of(numbers, draw)))
}

fn median_of(numbers: &[f64], draw: &[usize]) -> f64 {
    median(&draw.iter().map(|at| numbers[*at]).collect::<Vec<_>>())
}

/// What `of` makes of all rounds, and of rounds that are drawn again and again.
fn bootstrap(rounds: usize, of: impl Fn(&[usize]) -> Option<f64>) -> Option<Interval> {
    if rounds < 2 {
        return None;
    }
    let middle = of(&(0..rounds).collect::<Vec<_>>())?;
    let mut random = fastrand::Rng::with_seed(1993);
    let mut values = Vec::with_capacity(RESAMPLES);
    let mut draw = vec![0; rounds];
    for _ in 0..RESAMPLES {
        draw.fill_with(|| random.usize(..rounds));
        values.push(of(&draw)?);
    }
    Some(Interval {
        middle,
        low: quantile(&values, 0.025),
        high: quantile(&values, 0.975),
    })
}

/// Compares a figure of two rows. `low_is_good`: of two, the lesser is the better one.
pub fn compare(
    figure: &str,
    (contender, one): (&str, &[f64]),
    (against, other): (&str, &[f64]),
    low_is_good: bool,
) -> Option<Comparison> {
    let Interval { middle, low, high } = ratio(one, other)?;
    let words = if low <= 1.0 && high >= 1.0 {
        "cannot tell apart".to_owned()
    } else {
        let better = (middle < 1.0) == low_is_good;
        let percent = (middle - 1.0).abs() * 100.0;
        let word = if better { "better" } else { "worse" };
        match middle {
            ..1.0 => format!("{percent:.0} % less: {word}"),
            ..2.0 => format!("{percent:.0} % more: {word}"),
            _ => format!("{middle:.1} times as much: {word}"),
        }
    };
    Some(Comparison {
        contender: contender.into(),
        against: against.into(),
        figure: figure.into(),
        ratio: middle,
        low,
        high,
        words,
    })
}

impl Histogram {
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// All of several histograms together.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = std::collections::BTreeMap::new();
        for (us, count) in all.into_iter().flat_map(|histogram| &histogram.0) {
            *sum.entry(*us).or_insert(0) += count;
        }
        Self(sum.into_iter().collect())
    }

    /// The least value that at least a part `q` of all are not above, microseconds: no value is made up by
    /// interpolation (type 1 of Hyndman and Fan).
    pub fn quantile_us(&self, q: f64) -> Option<u64> {
        let rank = (q * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.0.iter().find_map(|(us, count)| {
            seen += count;
            (seen >= rank).then_some(*us)
        })
    }

    pub fn mean_us(&self) -> Option<f64> {
        let sum: f64 = self.0.iter().map(|(us, n)| *us as f64 * *n as f64).sum();
        let count = self.count();
        (count > 0).then(|| sum / count as f64)
    }

    /// Milliseconds over a delay; a timer of a millisecond's resolution may end early, so below zero is possible.
    pub fn over(&self, delay_ms: f64) -> Option<Percentiles> {
        let at = |q| Some(self.quantile_us(q)? as f64 / 1e3 - delay_ms);
        Some(Percentiles {
            min: at(0.0)?,
            mean: self.mean_us()? / 1e3 - delay_ms,
            p50: at(0.5)?,
            p90: at(0.9)?,
            p99: at(0.99)?,
            p999: at(0.999)?,
            max: at(1.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_as_r_computes_them() {
        // quantile(c(1, 2, 4, 8), c(0, .25, .5, .75, 1), type = 7)
        let numbers = [8.0, 1.0, 4.0, 2.0];
        let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&numbers, q));
        assert_eq!(quantiles, [1.0, 1.75, 3.0, 5.0, 8.0]);
        assert_eq!(median(&[7.0]), 7.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn rows_that_differ_in_every_round() {
        let one = [10.0, 11.0, 10.5, 10.2, 10.8];
        let other = one.map(|number| number * 1.5);
        let Interval { middle, low, high } = ratio(&one, &other).unwrap();
        assert!((middle - 1.0 / 1.5).abs() < 1e-12);
        // Pairs are drawn, so what is the same in every round leaves no doubt... but for the medians' own rounds.
        assert!((low - middle).abs() < 1e-9 && (high - middle).abs() < 1e-9);
        let compared = compare("cpu_us", ("a", &one), ("b", &other), true).unwrap();
        assert_eq!(compared.words, "33 % less: better");
    }

    #[test]
    fn rows_that_cannot_be_told_apart() {
        // Two runs of the same server.
        let one = [10.0, 12.0, 9.5, 10.4, 11.0, 10.1, 10.7];
        let other = [10.6, 10.2, 10.9, 9.9, 11.3, 10.0, 10.5];
        let compared = compare("rate", ("a", &one), ("b", &other), false).unwrap();
        assert!(compared.low < 1.0 && compared.high > 1.0);
        assert_eq!(compared.words, "cannot tell apart");
    }

    #[test]
    fn the_same_samples_give_the_same_interval() {
        let one = [3.0, 1.0, 4.0, 1.5, 5.0];
        let other = [2.0, 7.0, 1.0, 8.0, 2.8];
        assert_eq!(ratio(&one, &other), ratio(&one, &other));
    }

    #[test]
    fn the_interval_of_a_median() {
        let rounds = [10.0, 11.0, 10.5, 10.2, 19.0];
        let Interval { middle, low, high } = median_interval(&rounds).unwrap();
        assert_eq!(middle, 10.5);
        // One round that was disturbed moves neither the median nor the lower end.
        assert!((10.0..10.5).contains(&low) && (11.0..=19.0).contains(&high));
        assert_eq!(median_interval(&[1.0]), None);
    }

    #[test]
    fn no_interval_without_numbers() {
        assert_eq!(ratio(&[1.0], &[2.0]), None);
        assert_eq!(ratio(&[], &[]), None);
        assert_eq!(ratio(&[0.0, 0.0], &[1.0, 1.0]), None);
    }

    #[test]
    fn the_interval_covers_as_often_as_it_says() {
        // Normal-ish noise around a true ratio of 1: the interval spans it in most of 200 experiments. A percentile
        // interval of few rounds is somewhat too narrow, hence 85 % and not 95 %.
        let mut random = fastrand::Rng::with_seed(7);
        let mut noise = || 100.0 + (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let covered = (0..200).filter(|_| {
            let one: Vec<f64> = (0..7).map(|_| noise()).collect();
            let other: Vec<f64> = (0..7).map(|_| noise()).collect();
            let interval = ratio(&one, &other).unwrap();
            interval.low <= 1.0 && interval.high >= 1.0
        });
        let covered = covered.count();
        assert!((170..=200).contains(&covered), "{covered}");
    }

    #[test]
    fn histograms() {
        let one = Histogram(vec![(20_000, 98), (25_000, 1)]);
        let all = Histogram::sum([&one, &Histogram(vec![(20_000, 1)])]);
        assert_eq!(all.0, [(20_000, 99), (25_000, 1)]);
        assert_eq!(all.quantile_us(0.99), Some(20_000));
        assert_eq!(all.quantile_us(0.999), Some(25_000));
        let over = all.over(20.0).unwrap();
        assert_eq!((over.min, over.p99, over.max), (0.0, 0.0, 5.0));
        assert!((over.mean - 0.05).abs() < 1e-9);
        assert_eq!(Histogram::default().over(20.0), None);
    }
}
