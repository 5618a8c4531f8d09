//! Means with their 95 % confidence intervals, proportions, and Elo differences.
//!
//! A score lies between 0 and 100. The textbook interval `mean ± t s / √n` can leave that range, and has no width when every
//! match ended the same way. We use Wilson's interval, which has neither fault, with an effective number of matches: the
//! number of coin tosses with the same mean that would have the same precision. Draws make scores vary less than wins and losses
//! do, so that the effective number is larger than the real one.
//!
//! Scores may come in groups that are not independent, such as the two matches of a pair with swapped seats. Then the
//! variance is that of whole groups (the "sandwich" estimate for clusters), and Student's distribution has as many
//! degrees of freedom as there are groups, less one. With pairs only, this is the interval from the pentanomial counts.
//!
//! Two imagined matches with the variance of a coin are added, so that a few equal scores do not look like certainty.
//!
//! - Wilson 1927, Probable Inference, the Law of Succession, and Statistical Inference
//! - Korn and Graubard 1998, Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated
//!   From Survey Data (effective number of samples)
//! - Liang and Zeger 1986, Longitudinal Data Analysis Using Generalized Linear Models (variance of groups)
//! - Elo 1978, The Rating of Chessplayers, Past and Present

use serde::Serialize;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// Quantile at the upper end of a 95 % interval.
const UPPER: f64 = 0.975;
/// Imagined matches with the variance of a coin.
const IMAGINED: f64 = 2.0;

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// How many values it is computed from.
    pub n: usize,
    /// The mean of the values.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Half the width of the interval.
    #[must_use]
    pub fn plus_minus(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether this value is outside the interval.
    #[must_use]
    pub fn excludes(&self, value: f64) -> bool {
        self.low > value || self.high < value
    }

    /// All numbers times `factor` plus `offset`.
    #[must_use]
    fn scaled(self, factor: f64, offset: f64) -> Estimate {
        Estimate {
            n: self.n,
            mean: self.mean * factor + offset,
            low: self.low * factor + offset,
            high: self.high * factor + offset,
        }
    }
}

/// The mean of independent scores between 0 and 100; `None` without any.
#[must_use]
pub fn mean_score(scores: &[f64]) -> Option<Estimate> {
    let groups: Vec<Vec<f64>> = scores.iter().map(|&score| vec![score]).collect();
    mean_score_of_groups(&groups)
}

/// The mean of scores between 0 and 100 of which only the groups are independent; `None` without any.
#[must_use]
pub fn mean_score_of_groups(groups: &[Vec<f64>]) -> Option<Estimate> {
    mean_share(groups, |score| score / 100.0).map(|estimate| estimate.scaled(100.0, 0.0))
}

/// The mean of differences between −100 and 100 of which only the groups are independent; `None` without any.
#[must_use]
pub fn mean_difference_of_groups(groups: &[Vec<f64>]) -> Option<Estimate> {
    let share = |difference: f64| (difference + 100.0) / 200.0;
    mean_share(groups, share).map(|estimate| estimate.scaled(200.0, -100.0))
}

/// The mean of any numbers, with an interval by Student's distribution; `None` with fewer than two.
fn mean_number(numbers: &[f64]) -> Option<Estimate> {
    let n = numbers.len();
    if n < 2 {
        return None;
    }
    let mean = numbers.iter().sum::<f64>() / n as f64;
    let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
    let error = (squares / (n - 1) as f64 / n as f64).sqrt();
    let half = student(n) * error;
    Some(Estimate {
        n,
        mean,
        low: mean - half,
        high: mean + half,
    })
}

/// The median of any numbers. The interval lies between two of the numbers, chosen such that it contains the true median in at
/// least 95 % of all samples. Outliers have no influence. Fewer than six numbers have no such interval and get that of the mean.
#[must_use]
pub fn median_number(numbers: &[f64]) -> Option<Estimate> {
    let n = numbers.len();
    let halves = Binomial::new(0.5, n as u64).expect("a half is a probability");
    // How many numbers are left out at either end.
    let n_out = (0..n as u64).take_while(|&below| halves.cdf(below) <= 1.0 - UPPER);
    let n_out = n_out.count();
    if n_out == 0 {
        return mean_number(numbers);
    }
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(Estimate {
        n,
        mean: (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
        low: sorted[n_out - 1],
        high: sorted[n - n_out],
    })
}

/// The share of successes among `n`, in percent; `None` if `n` is 0.
#[must_use]
pub fn proportion(successes: f64, n: usize) -> Option<Estimate> {
    if n == 0 {
        return None;
    }
    let z = Normal::standard().inverse_cdf(UPPER);
    let share = wilson(successes / n as f64, n as f64, z);
    Some(
        Estimate {
            n,
            mean: successes / n as f64,
            low: share.0,
            high: share.1,
        }
        .scaled(100.0, 0.0),
    )
}

/// The mean of independent estimates, all with the same weight.
#[must_use]
pub fn mean_of(estimates: &[Estimate]) -> Option<Estimate> {
    if estimates.is_empty() {
        return None;
    }
    let n = estimates.len() as f64;
    let mean = estimates.iter().map(|estimate| estimate.mean).sum::<f64>() / n;
    let side = |half: &dyn Fn(&Estimate) -> f64| {
        let squares = estimates.iter().map(|estimate| half(estimate).powi(2));
        squares.sum::<f64>().sqrt() / n
    };
    Some(Estimate {
        n: estimates.iter().map(|estimate| estimate.n).sum(),
        mean,
        low: mean - side(&|estimate| estimate.mean - estimate.low),
        high: mean + side(&|estimate| estimate.high - estimate.mean),
    })
}

/// The Elo difference that belongs to a score of 0 to 100; infinite for 0 and 100.
#[must_use]
pub fn elo_of_score(score: f64) -> f64 {
    let share = score / 100.0;
    400.0 * (share / (1.0 - share)).log10()
}

/// The score, 0 to 1, that belongs to an Elo difference.
#[must_use]
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

fn mean_share(groups: &[Vec<f64>], share: impl Fn(f64) -> f64) -> Option<Estimate> {
    let n: usize = groups.iter().map(Vec::len).sum();
    if n == 0 {
        return None;
    }
    let count = n as f64;
    let mean = groups
        .iter()
        .flatten()
        .map(|&value| share(value))
        .sum::<f64>()
        / count;
    let deviation = |group: &Vec<f64>| group.iter().map(|&value| share(value) - mean).sum::<f64>();
    let squares: f64 = groups.iter().map(|group| deviation(group).powi(2)).sum();
    // The variance of a coin is the largest that single matches with this mean can have.
    let coin = mean * (1.0 - mean);
    let ratio = match coin > 1e-12 {
        true => (squares + IMAGINED * coin) / ((count + IMAGINED) * coin),
        false => 1.0,
    };
    let (low, high) = wilson(mean, count / ratio, student(groups.len()));
    Some(Estimate { n, mean, low, high })
}

fn wilson(mean: f64, n: f64, z: f64) -> (f64, f64) {
    let square = z * z / n;
    let centre = (mean + square / 2.0) / (1.0 + square);
    let half = z / (1.0 + square) * (mean * (1.0 - mean) / n + square / (4.0 * n)).sqrt();
    // Rounding must not put the mean outside its own interval.
    (
        (centre - half).clamp(0.0, mean),
        (centre + half).clamp(mean, 1.0),
    )
}

/// The quantile of Student's distribution for `n` independent values.
fn student(n: usize) -> f64 {
    let freedom = n.saturating_sub(1).max(1) as f64;
    let student = StudentsT::new(0.0, 1.0, freedom).expect("its freedom is positive");
    student.inverse_cdf(UPPER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn close(estimate: Option<Estimate>, expected: [f64; 3]) {
        let estimate = estimate.expect("there are values");
        let seen = [estimate.mean, estimate.low, estimate.high];
        let is_close = seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01);
        assert!(is_close, "{seen:?} is not {expected:?}");
    }

    #[test]
    fn proportions_are_those_of_the_books() {
        // Newcombe 1998, table I: 81 of 263 and 15 of 148, 0 of 20, 1 of 29.
        close(proportion(81.0, 263), [30.80, 25.53, 36.62]);
        close(proportion(15.0, 148), [10.14, 6.24, 16.05]);
        close(proportion(0.0, 20), [0.0, 0.0, 16.11]);
        close(proportion(1.0, 29), [3.45, 0.61, 17.18]);
    }

    #[test]
    fn scores_stay_between_their_bounds() {
        let all = mean_score(&[100.0; 10]).expect("there are scores");
        assert_eq!((all.mean, all.high), (100.0, 100.0));
        assert!(all.low > 60.0 && all.low < 75.0, "{all:?}");
        assert!(all.excludes(50.0) && !all.excludes(90.0));
        let draws = mean_score(&[50.0; 40]).expect("there are scores");
        assert!(
            draws.plus_minus() > 1.0 && draws.plus_minus() < 5.0,
            "{draws:?}"
        );
        assert_eq!(mean_score(&[]), None);
    }

    #[test]
    fn draws_make_an_interval_narrower() {
        let wild: Vec<f64> = (0..40).map(|i| f64::from(i % 2) * 100.0).collect();
        let calm: Vec<f64> = (0..40).map(|i| f64::from(i % 2) * 50.0 + 25.0).collect();
        let [wild, calm] =
            [wild, calm].map(|scores| mean_score(&scores).expect("there are scores"));
        assert!(
            calm.plus_minus() < 0.6 * wild.plus_minus(),
            "{calm:?} {wild:?}"
        );
        let difference = mean_difference_of_groups(&[vec![20.0], vec![-20.0], vec![40.0]]);
        let difference = difference.expect("there are some");
        assert!((difference.mean - 13.333).abs() < 0.01 && difference.low >= -100.0);
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        // Chances to win and to draw.
        for (win, draw) in [(0.5, 0.0), (0.9, 0.0), (0.4, 0.4), (0.97, 0.02), (0.1, 0.3)] {
            let truth = 100.0 * (win + draw / 2.0);
            let mut n_covered = 0;
            for _ in 0..1000 {
                let score = |at: f64| match at {
                    at if at < win => 100.0,
                    at if at < win + draw => 50.0,
                    _ => 0.0,
                };
                let scores: Vec<f64> = (0..40).map(|_| score(unit())).collect();
                let estimate = mean_score(&scores).expect("there are scores");
                n_covered += u32::from(!estimate.excludes(truth));
            }
            assert!(
                (925..=990).contains(&n_covered),
                "{win} {draw}: {n_covered} of 1000"
            );
        }
    }

    #[test]
    fn pairs_have_the_interval_of_their_own_variance() {
        // The sums of deviations of the pairs are −1, −½, 0, 0, ½ and 1, their squares add up to 2.5. The mean is ½ and the
        // variance of a coin ¼, so that the ratio is (2.5 + 2 · ¼) / (14 · ¼) = 6/7 and the effective number 14. With
        // t(5) = 2.570582 and q = t²/14 = 0.471992, half the width is t/(1 + q) · √(¼/14 + q/56) = 0.283129.
        let pair = |a: f64, b: f64| vec![a, b];
        let pairs = [
            pair(0.0, 0.0),
            pair(0.0, 50.0),
            pair(50.0, 50.0),
            pair(100.0, 0.0),
            pair(50.0, 100.0),
            pair(100.0, 100.0),
        ];
        close(mean_score_of_groups(&pairs), [50.0, 21.69, 78.31]);
        // Where the seat decides, pairs say much and single matches little.
        let seats: Vec<Vec<f64>> = (0..20).map(|_| pair(100.0, 0.0)).collect();
        let [by_pairs, by_matches] = [mean_score_of_groups(&seats), mean_score(&seats.concat())]
            .map(|estimate| estimate.expect("there are scores").plus_minus());
        assert!(
            by_pairs < 4.0 && by_matches > 14.0,
            "{by_pairs} {by_matches}"
        );
        // Pairs whose matches always end alike are half as many matches.
        let alike: Vec<Vec<f64>> = (0..20)
            .map(|i| [100.0 * f64::from(i % 2); 2].to_vec())
            .collect();
        let alike = mean_score_of_groups(&alike)
            .expect("there are scores")
            .plus_minus();
        assert!(alike > 1.3 * by_matches, "{alike} {by_matches}");
    }

    #[test]
    fn intervals_of_pairs_cover_the_truth_as_often_as_they_say() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        // Chances to win with each seat, and how often the second match of a pair ends like the first.
        for (chances, alike) in [([0.5, 0.5], 0.0), ([0.9, 0.3], 0.0), ([0.6, 0.6], 0.5)] {
            let truth = 50.0 * (chances[0] + chances[1]);
            let mut n_covered = 0;
            for _ in 0..1000 {
                let mut pair = || {
                    let first = f64::from(unit() < chances[0]);
                    let own = f64::from(unit() < chances[1]);
                    let second = if unit() < alike { first } else { own };
                    vec![100.0 * first, 100.0 * second]
                };
                let pairs: Vec<Vec<f64>> = (0..20).map(|_| pair()).collect();
                let estimate = mean_score_of_groups(&pairs).expect("there are scores");
                n_covered += u32::from(!estimate.excludes(truth));
            }
            assert!(
                (925..=985).contains(&n_covered),
                "{chances:?} {alike}: {n_covered} of 1000"
            );
        }
    }

    #[test]
    fn elo_differences() {
        assert_eq!(elo_of_score(50.0).to_string(), "0");
        assert!((elo_of_score(75.0) - 190.85).abs() < 0.01);
        assert_eq!(elo_of_score(100.0), f64::INFINITY);
        assert_eq!(elo_of_score(0.0), f64::NEG_INFINITY);
        assert!((score_of_elo(elo_of_score(31.0)) - 0.31).abs() < 1e-12);
    }

    #[test]
    fn independent_estimates_are_averaged() {
        let estimate = |mean: f64| Estimate {
            n: 10,
            mean,
            low: mean - 6.0,
            high: mean + 8.0,
        };
        let all = [40.0, 60.0, 50.0, 50.0].map(estimate);
        let all = mean_of(&all).expect("there are some");
        assert_eq!((all.n, all.mean, all.low, all.high), (40, 50.0, 47.0, 54.0));
    }

    #[test]
    fn numbers_have_students_interval() {
        // Mean 3, deviation √2.5, t(4) = 2.7764.
        close(mean_number(&[1.0, 2.0, 3.0, 4.0, 5.0]), [3.0, 1.037, 4.963]);
        assert_eq!(mean_number(&[1.0]), None);
        // Of six, one end or the other by chance: 1/64 each. Of nine, the second ones: 10/512 each; the third ones would be 46/512.
        close(
            median_number(&[6.0, 1.0, 2.0, 900.0, 4.0, 3.0]),
            [3.5, 1.0, 900.0],
        );
        let nine = [5.0, 900.0, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0];
        close(median_number(&nine), [5.0, 2.0, 8.0]);
        assert_eq!(median_number(&nine[..5]), mean_number(&nine[..5]));
    }
}
