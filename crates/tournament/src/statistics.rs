//! Means with their 95 % confidence intervals, proportions, and Elo differences.
//!
//! A score lies between 0 and 100, so that the textbook interval `mean ± t s / √n` can leave that range, and is nothing at all
//! when every match went the same way. We use Wilson's interval, which does neither, with the number of matches that a
//! coin of the same mean would need for the same precision: draws make scores less scattered than wins and losses do,
//! and count in favour. Two imagined matches of full scatter are added to the variance, so that few equal scores are not
//! taken for certainty.
//!
//! - Wilson 1927, Probable Inference, the Law of Succession, and Statistical Inference
//! - Korn and Graubard 1998, Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated
//!   From Survey Data (effective number of samples)
//! - Elo 1978, The Rating of Chessplayers, Past and Present

use serde::Serialize;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// Both tails are left with half of what is not 95 %.
const UPPER: f64 = 0.975;
/// Imagined matches of full scatter.
const IMAGINED: f64 = 2.0;

/// A mean, and where the true one lies with a confidence of 95 %.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// How many values it comes from.
    pub n: usize,
    /// Their mean.
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

    /// Whether the interval leaves this value out.
    #[must_use]
    pub fn excludes(&self, value: f64) -> bool {
        self.low > value || self.high < value
    }

    /// The same through a line: all numbers times `factor` plus `offset`.
    #[must_use]
    fn through(self, factor: f64, offset: f64) -> Estimate {
        Estimate {
            n: self.n,
            mean: self.mean * factor + offset,
            low: self.low * factor + offset,
            high: self.high * factor + offset,
        }
    }
}

/// The mean of scores between 0 and 100; `None` without any.
#[must_use]
pub fn mean_score(scores: &[f64]) -> Option<Estimate> {
    let shares: Vec<f64> = scores.iter().map(|score| score / 100.0).collect();
    mean_share(&shares).map(|estimate| estimate.through(100.0, 0.0))
}

/// The mean of differences between −100 and 100; `None` without any.
#[must_use]
pub fn mean_difference(differences: &[f64]) -> Option<Estimate> {
    let shares: Vec<f64> = differences.iter().map(|of| (of + 100.0) / 200.0).collect();
    mean_share(&shares).map(|estimate| estimate.through(200.0, -100.0))
}

/// The mean of any numbers, by Student's distribution; `None` with less than two.
fn mean_number(numbers: &[f64]) -> Option<Estimate> {
    let n = numbers.len();
    if n < 2 {
        return None;
    }
    let mean = numbers.iter().sum::<f64>() / n as f64;
    let squares: f64 = numbers.iter().map(|of| (of - mean) * (of - mean)).sum();
    let error = (squares / (n - 1) as f64 / n as f64).sqrt();
    let half = student(n) * error;
    Some(Estimate {
        n,
        mean,
        low: mean - half,
        high: mean + half,
    })
}

/// The median of any numbers, with the interval between those of them that 95 % of all samples have the true median between; single
/// ones that are far off count no more than others. Fewer than six have no such interval, so theirs is that of the mean.
#[must_use]
pub fn median_number(numbers: &[f64]) -> Option<Estimate> {
    let n = numbers.len();
    let halves = Binomial::new(0.5, n as u64).expect("a half is a probability");
    // So many at either end are left out: the true median is below them by chance at most.
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

/// So many successes of `n`, in percent; `None` of none.
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
        .through(100.0, 0.0),
    )
}

/// The mean of independent estimates, each counted alike.
#[must_use]
pub fn mean_of(estimates: &[Estimate]) -> Option<Estimate> {
    if estimates.is_empty() {
        return None;
    }
    let n = estimates.len() as f64;
    let mean = estimates.iter().map(|of| of.mean).sum::<f64>() / n;
    let side = |half: &dyn Fn(&Estimate) -> f64| {
        let squares = estimates.iter().map(|of| half(of) * half(of));
        squares.sum::<f64>().sqrt() / n
    };
    Some(Estimate {
        n: estimates.iter().map(|of| of.n).sum(),
        mean,
        low: mean - side(&|of| of.mean - of.low),
        high: mean + side(&|of| of.high - of.mean),
    })
}

/// The Elo difference that belongs to a score of 0 to 100; without end at both ends.
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

fn mean_share(shares: &[f64]) -> Option<Estimate> {
    let n = shares.len();
    if n == 0 {
        return None;
    }
    let count = n as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let variance = shares
        .iter()
        .map(|of| (of - mean) * (of - mean))
        .sum::<f64>()
        / count;
    // A coin has the most scatter that a mean allows.
    let most = mean * (1.0 - mean);
    let ratio = match most > 1e-12 {
        true => (count * variance + IMAGINED * most) / ((count + IMAGINED) * most),
        false => 1.0,
    };
    let (low, high) = wilson(mean, count / ratio.min(1.0), student(n));
    Some(Estimate { n, mean, low, high })
}

fn wilson(mean: f64, n: f64, z: f64) -> (f64, f64) {
    let square = z * z / n;
    let centre = (mean + square / 2.0) / (1.0 + square);
    let half = z / (1.0 + square) * (mean * (1.0 - mean) / n + square / (4.0 * n)).sqrt();
    // Rounding must not push the mean out of its own interval.
    (
        (centre - half).clamp(0.0, mean),
        (centre + half).clamp(mean, 1.0),
    )
}

/// The quantile of Student's distribution for `n` values.
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
        let of = estimate.expect("there are values");
        let seen = [of.mean, of.low, of.high];
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
        let [wild, calm] = [wild, calm].map(|of| mean_score(&of).expect("there are scores"));
        assert!(
            calm.plus_minus() < 0.6 * wild.plus_minus(),
            "{calm:?} {wild:?}"
        );
        let difference = mean_difference(&[20.0, -20.0, 40.0]).expect("there are some");
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
    fn elo_differences() {
        assert_eq!(elo_of_score(50.0).to_string(), "0");
        assert!((elo_of_score(75.0) - 190.85).abs() < 0.01);
        assert_eq!(elo_of_score(100.0), f64::INFINITY);
        assert_eq!(elo_of_score(0.0), f64::NEG_INFINITY);
        assert!((score_of_elo(elo_of_score(31.0)) - 0.31).abs() < 1e-12);
    }

    #[test]
    fn independent_estimates_are_averaged() {
        let of = |mean: f64| Estimate {
            n: 10,
            mean,
            low: mean - 6.0,
            high: mean + 8.0,
        };
        let all = mean_of(&[of(40.0), of(60.0), of(50.0), of(50.0)]).expect("there are some");
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
