//! Whether something grows.

/// How fast something grows, with the 95 % interval of that, for each unit of the first coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    pub middle: f64,
    pub low: f64,
    pub high: f64,
}

const BATCHES: usize = 10;

/// How many points a slope needs: two a batch.
pub const FEWEST: usize = 2 * BATCHES;

/// The 0.975 quantile of Student's t with `BATCHES - 2` degrees of freedom.
const T: f64 = 2.306;

/// The least-squares slope through the means of ten batches of successive points. What is sampled of a running process
/// one after the other is not independent; means of batches nearly are (A. M. Law, "Simulation Modeling and Analysis",
/// batch means). `None` of less than [`FEWEST`].
pub fn slope(points: &[(f64, f64)]) -> Option<Slope> {
    let size = points.len() / BATCHES;
    if points.len() < FEWEST {
        return None;
    }
    // What is left over is of the beginning.
    let batches = points[points.len() % BATCHES..].chunks(size);
    let n = BATCHES as f64;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = batches
        .map(|batch| {
            let (x, y): (Vec<f64>, Vec<f64>) = batch.iter().copied().unzip();
            (mean(&x), mean(&y))
        })
        .unzip();
    let (mean_x, mean_y) = (mean(&x), mean(&y));
    let both = || x.iter().zip(&y);
    let sxx: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    let sxy: f64 = both().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let middle = sxy / sxx;
    let residuals: f64 = both()
        .map(|(x, y)| (y - mean_y - middle * (x - mean_x)).powi(2))
        .sum();
    let half = T * (residuals / (n - 2.0) / sxx).sqrt();
    Some(Slope {
        middle,
        low: middle - half,
        high: middle + half,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope() {
        let points: Vec<_> = (0..43)
            .map(|n| (f64::from(n), 5.0 + 3.0 * f64::from(n)))
            .collect();
        let slope = slope(&points).unwrap();
        assert!(
            (slope.middle - 3.0).abs() < 1e-9 && (slope.high - slope.low).abs() < 1e-6,
            "{slope:?}"
        );
    }

    #[test]
    fn as_r_computes_it() {
        // y <- c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3); confint(lm(y ~ x)) for x of 1 to 10, each of them twice.
        let y = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        let points: Vec<_> = (1..)
            .zip(y)
            .flat_map(|(x, y)| [(f64::from(x), y); 2])
            .collect();
        let slope = slope(&points).unwrap();
        assert!((slope.middle - 3.0 / 11.0).abs() < 1e-9, "{slope:?}");
        assert!(
            (slope.low + 0.354_083).abs() < 1e-5 && (slope.high - 0.899_538).abs() < 1e-5,
            "{slope:?}"
        );
    }

    #[test]
    fn too_few_points_have_no_slope() {
        assert_eq!(slope(&[(0.0, 0.0); 19]), None);
    }

    /// The interval holds the true slope as often as it says, also where each point resembles the one before.
    #[test]
    fn the_interval_covers_as_often_as_it_says() {
        let mut rng = fastrand::Rng::with_seed(7);
        let covered = (0..200).filter(|_| {
            let mut drift = 0.0;
            let points: Vec<_> = (0..400)
                .map(|n| {
                    drift = 0.8 * drift + rng.f64() - 0.5;
                    (f64::from(n), 0.1 * f64::from(n) + drift)
                })
                .collect();
            let slope = slope(&points).unwrap();
            slope.low <= 0.1 && slope.high >= 0.1
        });
        let covered = covered.count();
        assert!((180..=200).contains(&covered), "{covered}");
    }
}
