//! The sequential probability ratio test: ends a cell as soon as the question is answered.
//!
//! The question is whether the first player is `elo0` or `elo1` Elo points stronger than the second. An Elo difference `e`
//! stands for an expected score `s = 1 / (1 + 10^(−e/400))`.
//!
//! The test is the generalised one (GSPRT) on pairs of matches with the seats swapped, as in Fishtest, the test framework of
//! Stockfish. Nothing is assumed about the distribution of pair scores. Let `p_i` be the observed share of pairs
//! with mean score `a_i` (0, ¼, ½, ¾, 1) among `n` pairs. Of all distributions on these values with mean `s`, the most
//! likely one is `q_i(s) = p_i / (1 + x (a_i − s))`, where `x` solves `Σ p_i (a_i − s) / (1 + x (a_i − s)) = 0`. The log-likelihood
//! ratio is `n Σ p_i ln(q_i(s1) / q_i(s0))`. It is compared with the bounds of Wald, `ln(β / (1 − α))` and
//! `ln((1 − β) / α)`. An outcome that was never seen counts as a thousandth of a pair, so that every mean can be reached.
//!
//! Where matches do not come in pairs, the same formulas apply to single matches (0, ½, 1).
//!
//! After a stop by such a test, the mean score is on average a little too far from the middle.
//!
//! - Wald 1945, Sequential Tests of Statistical Hypotheses
//! - Van den Bergh, A Practical Introduction to the GSPRT (the mathematics of Fishtest)
//! - Li, Liu and Ying 2014, Generalized Sequential Probability Ratio Test for Separate Families of Hypotheses

use serde::{Deserialize, Serialize};

use crate::pairs::Frequencies;
use crate::statistics::score_of_elo;

/// What an outcome that was never seen counts as.
const UNSEEN: f64 = 1e-3;
/// Halvings of an interval; after these it has no room left between two floating-point numbers.
const HALVINGS: u32 = 100;

/// A test of two strengths.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sprt {
    /// Elo difference of the first hypothesis.
    pub elo0: f64,
    /// Elo difference of the second hypothesis, which is larger.
    pub elo1: f64,
    /// Probability of accepting `elo1` when `elo0` is true.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// Probability of accepting `elo0` when `elo1` is true.
    #[serde(default = "five_percent")]
    pub beta: f64,
    /// Fewest matches before the test may stop.
    #[serde(default)]
    pub min_games: u32,
}

fn five_percent() -> f64 {
    0.05
}

/// The hypothesis that a test accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SprtVerdict {
    /// The first, smaller difference.
    Elo0,
    /// The second, larger difference.
    Elo1,
}

impl Sprt {
    /// A test of the sign of a difference.
    #[must_use]
    pub fn of_sign(elo: f64, min_games: u32) -> Sprt {
        Sprt {
            elo0: -elo,
            elo1: elo,
            alpha: five_percent(),
            beta: five_percent(),
            min_games,
        }
    }

    /// Whether its numbers make sense.
    pub(crate) fn is_sound(&self) -> bool {
        let is_chance = |chance: f64| chance > 0.0 && chance < 0.5;
        let are_finite = self.elo0.abs() < 2000.0 && self.elo1.abs() < 2000.0;
        are_finite && self.elo0 < self.elo1 && is_chance(self.alpha) && is_chance(self.beta)
    }

    /// The hypothesis that these outcomes decide for, if they do yet.
    #[must_use]
    pub fn verdict(&self, outcomes: &Frequencies) -> Option<SprtVerdict> {
        let n_matches = outcomes.n_matches();
        if n_matches == 0 || (n_matches as u64) < u64::from(self.min_games) {
            return None;
        }
        let ratio = self.log_ratio(outcomes);
        if ratio >= ((1.0 - self.beta) / self.alpha).ln() {
            Some(SprtVerdict::Elo1)
        } else if ratio <= (self.beta / (1.0 - self.alpha)).ln() {
            Some(SprtVerdict::Elo0)
        } else {
            None
        }
    }

    /// Logarithm of how much more likely these outcomes are with `elo1` than with `elo0`.
    #[must_use]
    pub fn log_ratio(&self, outcomes: &Frequencies) -> f64 {
        let counts: Vec<f64> = outcomes
            .counts()
            .iter()
            .map(|&n| (n as f64).max(UNSEEN))
            .collect();
        let n: f64 = counts.iter().sum();
        let best = (counts.len() - 1) as f64;
        let shares: Vec<(f64, f64)> = (0..)
            .zip(&counts)
            .map(|(points, count)| (f64::from(points) / best, count / n))
            .collect();
        let [tilt0, tilt1] = [self.elo0, self.elo1].map(|elo| {
            let score = score_of_elo(elo);
            (score, tilt(&shares, score))
        });
        let logarithm = |value: f64| {
            let divisor = |(score, x): (f64, f64)| 1.0 + x * (value - score);
            (divisor(tilt0) / divisor(tilt1)).ln()
        };
        let terms = shares
            .iter()
            .map(|&(value, share)| share * logarithm(value));
        n * terms.sum::<f64>()
    }
}

/// The `x` for which the shares divided by `1 + x (value − mean)` have this mean.
fn tilt(shares: &[(f64, f64)], mean: f64) -> f64 {
    let slope = |x: f64| -> f64 {
        let term =
            |&(value, share): &(f64, f64)| share * (value - mean) / (1.0 + x * (value - mean));
        shares.iter().map(term).sum()
    };
    // All divisors are positive between these ends, and the slope falls from +∞ to −∞.
    let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match slope(middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    const TEST: Sprt = Sprt {
        elo0: 0.0,
        elo1: 100.0,
        alpha: 0.05,
        beta: 0.05,
        min_games: 0,
    };

    fn ratio(elo0: f64, elo1: f64, pairs: [usize; 5]) -> f64 {
        let test = Sprt { elo0, elo1, ..TEST };
        test.log_ratio(&Frequencies::Pairs(pairs))
    }

    #[track_caller]
    fn close(seen: f64, expected: f64, error: f64) {
        assert!((seen - expected).abs() < error, "{seen} is not {expected}");
    }

    #[test]
    fn the_ratio_is_that_of_published_tests() {
        // Fishtest 5fe50b9d3932f79192d3973c and 5fe552e43932f79192d39744, December 2020: 2.95 and 2.92.
        close(
            ratio(-0.25, 1.25, [292, 5905, 28939, 6129, 299]),
            2.95,
            0.005,
        );
        close(ratio(0.25, 1.25, [5, 418, 6043, 506, 12]), 2.92, 0.005);
    }

    #[test]
    fn the_ratio_is_the_binomial_one_without_draws() {
        // With 0 and 2 points only, the most likely distribution has the share s at 2: a ln(s1/s0) + b ln((1−s1)/(1−s0)),
        // where s0 = 0.5 and s1 = 0.640065. The outcomes that were never seen move it by a few thousandths.
        let (win, loss) = (0.640_065_f64 / 0.5, 0.359_935_f64 / 0.5);
        close(
            ratio(0.0, 100.0, [3, 0, 0, 0, 9]),
            9.0 * win.ln() + 3.0 * loss.ln(),
            0.01,
        );
        close(ratio(0.0, 100.0, [0, 0, 0, 0, 10]), 10.0 * win.ln(), 0.01);
        let single = TEST.log_ratio(&Frequencies::Matches([1, 0, 4]));
        close(single, 4.0 * win.ln() + loss.ln(), 0.01);
    }

    #[test]
    fn a_mean_that_is_that_of_a_hypothesis_needs_no_tilt() {
        // The observed mean is 0.5 = s0, so that q(s0) is the observed distribution. For s1 = 0.640065 the equation
        // ¼ (−s1/(1 − x s1) + (1 − s1)/(1 + x (1 − s1))) + ½ (½ − s1)/(1 + x (½ − s1)) = 0 has the solution x = −1.142249.
        let x = -1.142_249_f64;
        let s1 = 0.640_065;
        let by_hand: f64 = [(0.0, 1.0), (0.5, 2.0), (1.0, 1.0)]
            .iter()
            .map(|(value, count)| -count * (1.0 + x * (value - s1)).ln())
            .sum();
        let counts = Frequencies::Matches([1, 2, 1]);
        close(TEST.log_ratio(&counts), by_hand, 1e-4);
    }

    #[test]
    fn the_ratio_changes_sign_with_the_sides() {
        let pairs = [4, 9, 20, 6, 2];
        let mut reversed = pairs;
        reversed.reverse();
        close(
            ratio(-30.0, 30.0, pairs),
            -ratio(-30.0, 30.0, reversed),
            1e-9,
        );
    }

    #[test]
    fn it_stops_when_the_answer_is_clear() {
        let won = |n| Frequencies::Pairs([0, 0, 0, 0, n]);
        assert_eq!(TEST.verdict(&Frequencies::Pairs([0; 5])), None);
        assert_eq!(TEST.verdict(&won(11)), None);
        assert_eq!(TEST.verdict(&won(12)), Some(SprtVerdict::Elo1));
        let lost = Frequencies::Pairs([12, 0, 0, 0, 0]);
        assert_eq!(TEST.verdict(&lost), Some(SprtVerdict::Elo0));
        let late = Sprt {
            min_games: 25,
            ..TEST
        };
        assert_eq!(late.verdict(&won(12)), None);
        assert_eq!(late.verdict(&won(13)), Some(SprtVerdict::Elo1));
    }

    /// Matches in which the seat decides seven times in ten say little about the players. Pairs take that into account.
    #[test]
    fn it_errs_seldom() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut n_wrong = 0;
        for _ in 0..400 {
            let mut pairs = [0; 5];
            let verdict = loop {
                let mut wins = |percent: u64| usize::from(rng.next_u64() % 100 < percent);
                pairs[2 * (wins(70) + wins(30))] += 1;
                if let Some(verdict) = TEST.verdict(&Frequencies::Pairs(pairs)) {
                    break verdict;
                }
            };
            n_wrong += u32::from(verdict == SprtVerdict::Elo1);
        }
        assert!((4..=32).contains(&n_wrong), "{n_wrong} of 400");
    }
}
