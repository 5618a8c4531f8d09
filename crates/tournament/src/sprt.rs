//! The sequential probability ratio test: stop a cell as soon as the question is answered.
//!
//! The question is whether the first player is as strong as `elo0` or as strong as `elo1`, in Elo points above the other. Scores
//! need not be won or lost only: the test is the generalised one, in which the logarithm of the likelihood ratio of `n`
//! scores with mean `m` and variance `v` is about `n/2 · ln((v + (m − s0)²) / (v + (m − s1)²))`, where `s0` and `s1` are the
//! scores that belong to the two strengths.
//!
//! After such a stop the mean is a little too far from the middle, as with any sequential test.
//!
//! - Wald 1945, Sequential Tests of Statistical Hypotheses
//! - Li, Liu and Ying 2014, Generalized Sequential Probability Ratio Test for Separate Families of Hypotheses

use serde::{Deserialize, Serialize};

use crate::statistics::score_of_elo;

/// A test of two strengths.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sprt {
    /// Elo difference of one hypothesis.
    pub elo0: f64,
    /// Elo difference of the other one, which is larger.
    pub elo1: f64,
    /// Chance to say `elo1` when it is `elo0`.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// Chance to say `elo0` when it is `elo1`.
    #[serde(default = "five_percent")]
    pub beta: f64,
    /// Fewest matches before it may stop.
    #[serde(default)]
    pub min_games: u32,
}

fn five_percent() -> f64 {
    0.05
}

/// What a test says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SprtVerdict {
    /// The weaker hypothesis.
    Elo0,
    /// The stronger one.
    Elo1,
}

impl Sprt {
    /// A test for which sign a difference has.
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
        let is_chance = |of: f64| of > 0.0 && of < 0.5;
        let are_finite = self.elo0.abs() < 2000.0 && self.elo1.abs() < 2000.0;
        are_finite && self.elo0 < self.elo1 && is_chance(self.alpha) && is_chance(self.beta)
    }

    /// The verdict on these scores (0 to 100), if there is one yet.
    #[must_use]
    pub fn verdict(&self, scores: &[f64]) -> Option<SprtVerdict> {
        if scores.is_empty() || (scores.len() as u64) < u64::from(self.min_games) {
            return None;
        }
        let ratio = self.log_ratio(scores);
        if ratio >= ((1.0 - self.beta) / self.alpha).ln() {
            Some(SprtVerdict::Elo1)
        } else if ratio <= (self.beta / (1.0 - self.alpha)).ln() {
            Some(SprtVerdict::Elo0)
        } else {
            None
        }
    }

    /// Logarithm of how much likelier these scores are with `elo1` than with `elo0`.
    #[must_use]
    pub fn log_ratio(&self, scores: &[f64]) -> f64 {
        let n = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / n / 100.0;
        let square = |of: f64| of * of;
        let variance = scores
            .iter()
            .map(|of| square(of / 100.0 - mean))
            .sum::<f64>()
            / n;
        let (score0, score1) = (score_of_elo(self.elo0), score_of_elo(self.elo1));
        let (off0, off1) = (square(mean - score0), square(mean - score1));
        n / 2.0 * ((variance + off0) / (variance + off1)).ln()
    }
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

    #[test]
    fn the_ratio_is_that_of_the_formula() {
        // Mean 0.5, variance 0.25, s0 = 0.5, s1 = 0.640065: 2 · ln(0.25 / (0.25 + 0.019618)).
        let ratio = TEST.log_ratio(&[100.0, 0.0, 100.0, 0.0]);
        assert!((ratio + 0.151_11).abs() < 1e-4, "{ratio}");
    }

    #[test]
    fn it_stops_when_the_answer_is_clear() {
        assert_eq!(TEST.verdict(&[100.0; 4]), None);
        assert_eq!(TEST.verdict(&[100.0; 20]), Some(SprtVerdict::Elo1));
        assert_eq!(TEST.verdict(&[0.0; 20]), Some(SprtVerdict::Elo0));
        let late = Sprt {
            min_games: 21,
            ..TEST
        };
        assert_eq!(late.verdict(&[100.0; 20]), None);
    }

    #[test]
    fn it_errs_seldom() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut n_wrong = 0;
        for _ in 0..400 {
            let mut scores = Vec::new();
            let verdict = loop {
                let is_won = rng.next_u64() & 1 == 0;
                scores.push(if is_won { 100.0 } else { 0.0 });
                if let Some(verdict) = TEST.verdict(&scores) {
                    break verdict;
                }
            };
            n_wrong += u32::from(verdict == SprtVerdict::Elo1);
        }
        assert!((4..=32).contains(&n_wrong), "{n_wrong} of 400");
    }
}
