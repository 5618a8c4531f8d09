//! Tuning of parameters by SPSA: simultaneous perturbation stochastic approximation.
//!
//! Every parameter is a coordinate from 0 to 1 on its range, linear or logarithmic. A step changes all parameters at once, each
//! up or down at random, plays the player with the changes against the player with the opposite changes, and moves towards
//! the one that scores better. The size of changes falls as `k^-0.101` and that of steps as `(k + A)^-0.602`, with `A` a tenth
//! of all steps. The result is the mean over the last quarter of the steps.
//!
//! In: a tuning file, and scores of steps. Out: the players to play next, and the course. The course depends on the file and
//! the scores alone: a run that was stopped goes on by playing the steps again from its store.
//!
//! - Spall 1998, Implementation of the simultaneous perturbation algorithm for stochastic optimization (the exponents)

use std::collections::BTreeMap;
use std::sync::Arc;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::budget::{BudgetError, BudgetPlan};
use crate::cell::{Cell, Contestants, Sheet, Terms};
use crate::entrant::{Entrant, EntrantError};

/// How changes and steps shrink (Spall 1998).
const CHANGE_EXPONENT: f64 = 0.101;
const STEP_EXPONENT: f64 = 0.602;

/// A tuning file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// Built-in games or paths of rulesheets.
    pub games: Vec<String>,
    /// The player.
    pub player: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, Range>,
    /// The budget of a player per move.
    pub budget: BudgetPlan,
    /// Number of steps.
    pub steps: u32,
    /// Matches per step and game.
    pub matches_per_step: u32,
    /// Size of the first change, as a fraction of the range.
    #[serde(default = "default_change")]
    pub change: f64,
    /// Size of the first step if the changed player wins all matches, as a fraction of the range.
    #[serde(default = "default_rate")]
    pub rate: f64,
    /// Seconds of the start clock, where there is a clock.
    #[serde(default)]
    pub start_clock: Option<f64>,
    /// Seed of everything.
    #[serde(default)]
    pub seed: u64,
}

/// The range of a parameter.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Where it starts.
    pub start: f64,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
    /// Whether equal steps multiply the value instead of adding to it.
    #[serde(default)]
    pub log: bool,
    /// Whether it is a whole number.
    #[serde(default)]
    pub whole: bool,
}

fn default_change() -> f64 {
    0.1
}

fn default_rate() -> f64 {
    0.2
}

/// Why a file is not a valid tuning file.
#[derive(Debug, Error)]
pub enum SpsaError {
    /// It cannot be read.
    #[error(transparent)]
    Form(#[from] toml::de::Error),
    /// There is nothing to tune.
    #[error("a tuning file has at least one game, one parameter and one step of two matches")]
    Empty,
    /// A range is wrong.
    #[error("{0}: needs low <= start <= high, low < high, and low > 0 where log = true")]
    Range(String),
    /// A parameter is set in the player too.
    #[error("{0} is set in the player and tuned; use its start instead")]
    Twice(String),
    /// A fraction is wrong.
    #[error("{0} is a fraction of the range, above 0 and at most 0.5")]
    Fraction(&'static str),
    /// The start clock is wrong.
    #[error("a clock is between 0 and 1000000 seconds, not {0}")]
    Clock(f64),
    /// The player is wrong.
    #[error(transparent)]
    Entrant(#[from] EntrantError),
    /// The budget is wrong.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A remote player.
    #[error("only players of Agon can be tuned")]
    Remote,
}

impl Tuning {
    /// Reads a tuning file.
    ///
    /// # Errors
    /// If it is not a valid tuning file.
    pub fn read(text: &str) -> Result<Tuning, SpsaError> {
        let tuning: Tuning = toml::from_str(text)?;
        let is_empty = tuning.games.is_empty() || tuning.parameters.is_empty();
        if is_empty || tuning.steps == 0 || tuning.matches_per_step < 2 {
            return Err(SpsaError::Empty);
        }
        if let Some(clock) = tuning
            .start_clock
            .filter(|clock| !(0.0..=1e6).contains(clock))
        {
            return Err(SpsaError::Clock(clock));
        }
        for (name, fraction) in [("change", tuning.change), ("rate", tuning.rate)] {
            if !(fraction > 0.0 && fraction <= 0.5) {
                return Err(SpsaError::Fraction(name));
            }
        }
        for (name, range) in &tuning.parameters {
            if !range.is_sound() {
                return Err(SpsaError::Range(name.clone()));
            }
            let settings = tuning.player.split([':', ',']).skip(1);
            if settings
                .filter_map(|pair| pair.split('=').next())
                .any(|set| set == name)
            {
                return Err(SpsaError::Twice(name.clone()));
            }
        }
        let spsa = Spsa::new(&tuning);
        // Every value of a range that is within it at its ends is legal for the player too.
        for at in [0.0, 1.0] {
            let text = spsa.player(&vec![at; tuning.parameters.len()]);
            if Entrant::parse(&text)?.address().is_some() {
                return Err(SpsaError::Remote);
            }
        }
        Ok(tuning)
    }

    /// The cells of a step: the first player of each is the one with the changes.
    ///
    /// # Errors
    /// If the budget is wrong for a game.
    pub fn cells(
        &self,
        pair: &[String; 2],
        step: u32,
        sheets: &[Arc<Sheet>],
    ) -> Result<Vec<Cell>, SpsaError> {
        let [first, second] = pair;
        let pair = Contestants {
            first: Arc::new(Entrant::parse(first)?),
            second: Arc::new(Entrant::parse(second)?),
        };
        let terms = Terms {
            n_matches: self.matches_per_step,
            seed: self
                .seed
                .wrapping_mul(1_000_003)
                .wrapping_add(u64::from(step)),
            start_clock: self.start_clock,
            play_clock: None,
            sprt: None,
        };
        let mut cells = Vec::new();
        for sheet in sheets {
            for budget in self.budget.budgets(&sheet.game)? {
                let cell = Cell::new(Arc::clone(sheet), pair.clone(), budget, terms.clone());
                cells.push(cell.ok_or(SpsaError::Remote)?);
            }
        }
        Ok(cells)
    }
}

impl Range {
    fn is_sound(&self) -> bool {
        let is_ordered = self.low <= self.start && self.start <= self.high && self.low < self.high;
        is_ordered && self.high.is_finite() && self.low.is_finite() && (!self.log || self.low > 0.0)
    }

    /// The value at a place from 0 to 1.
    #[must_use]
    pub fn value(&self, at: f64) -> f64 {
        let at = at.clamp(0.0, 1.0);
        let value = match self.log {
            true => self.low * (self.high / self.low).powf(at),
            false => self.low + (self.high - self.low) * at,
        };
        let value = if self.whole {
            value.round()
        } else {
            four_digits(value)
        };
        value.clamp(self.low, self.high)
    }

    /// The place of a value.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        match self.log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }
}

/// A value with four significant digits, so that names of players stay short.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The state of a tuning after a number of steps.
#[derive(Clone, Debug)]
pub struct Spsa {
    // Constant.
    player: String,
    ranges: Vec<(String, Range)>,
    n_steps: u32,
    change: f64,
    rate: f64,
    seed: u64,
    // Changed by every step.
    step: u32,
    at: Vec<f64>,
    course: Vec<Tuned>,
}

/// A point of the course.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tuned {
    /// Number of the step, from 0: the start.
    pub step: u32,
    /// Score of the player with the changes in this step, 0 to 100.
    pub score: Option<f64>,
    /// The values of the parameters after it, in the order of their names.
    pub values: Vec<f64>,
}

impl Spsa {
    /// The start of a tuning.
    #[must_use]
    pub fn new(tuning: &Tuning) -> Spsa {
        let ranges: Vec<(String, Range)> = tuning
            .parameters
            .iter()
            .map(|(name, range)| (name.clone(), range.clone()))
            .collect();
        let at: Vec<f64> = ranges
            .iter()
            .map(|(_, range)| range.place(range.start))
            .collect();
        let mut spsa = Spsa {
            player: tuning.player.clone(),
            ranges,
            n_steps: tuning.steps,
            change: tuning.change,
            rate: tuning.rate,
            seed: tuning.seed,
            step: 0,
            at,
            course: Vec::new(),
        };
        spsa.note(None);
        spsa
    }

    /// Steps so far.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Whether all steps are made.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.step >= self.n_steps
    }

    /// The points so far; the first is the start.
    #[must_use]
    pub fn course(&self) -> &[Tuned] {
        &self.course
    }

    /// Names of the parameters with their ranges.
    #[must_use]
    pub fn ranges(&self) -> &[(String, Range)] {
        &self.ranges
    }

    /// The two players of the next step; `None` if the changes are too small to be seen.
    #[must_use]
    pub fn pair(&self) -> Option<[String; 2]> {
        let change = self.change / f64::from(self.step + 1).powf(CHANGE_EXPONENT);
        let signs = self.signs();
        let moved = |sign: f64| -> Vec<f64> {
            let places = self.at.iter().zip(&signs);
            places
                .map(|(at, own)| (at + sign * own * change).clamp(0.0, 1.0))
                .collect()
        };
        let pair = [self.player(&moved(1.0)), self.player(&moved(-1.0))];
        (pair[0] != pair[1]).then_some(pair)
    }

    /// Moves by the score of the first player of [`Spsa::pair`], 0 to 100.
    pub fn learn(&mut self, score: f64) {
        let before = f64::from(self.n_steps) / 10.0;
        let (step, first) = (f64::from(self.step + 1), before + 1.0);
        let shrunk = (first / (before + step)).powf(STEP_EXPONENT) * step.powf(CHANGE_EXPONENT);
        let size = self.rate * shrunk * (score - 50.0) / 50.0;
        let signs = self.signs();
        for (at, sign) in self.at.iter_mut().zip(signs) {
            *at = (*at + size * sign).clamp(0.0, 1.0);
        }
        self.step += 1;
        self.note(Some(score));
    }

    /// The player as tuned so far: the mean of the last quarter of the steps.
    #[must_use]
    pub fn tuned(&self) -> String {
        let n = (self.course.len() / 4).max(1);
        let last = &self.course[self.course.len() - n..];
        let mean = |idx: usize| {
            let range = &self.ranges[idx].1;
            let places = last.iter().map(|point| range.place(point.values[idx]));
            places.sum::<f64>() / n as f64
        };
        let places: Vec<f64> = (0..self.ranges.len()).map(mean).collect();
        self.player(&places)
    }

    /// The player with parameters at these places.
    fn player(&self, places: &[f64]) -> String {
        let mut text = self.player.clone();
        for ((name, range), at) in self.ranges.iter().zip(places) {
            let sign = if text.contains(':') { ',' } else { ':' };
            text.push_str(&format!("{sign}{name}={}", range.value(*at)));
        }
        text
    }

    /// Up or down for every parameter, by the seed and the number of the step.
    fn signs(&self) -> Vec<f64> {
        let seed = self
            .seed
            .wrapping_mul(0x9E37_79B9)
            .wrapping_add(u64::from(self.step));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let sign = |_: &(String, Range)| {
            if random.next_u64() >> 63 == 0 {
                1.0
            } else {
                -1.0
            }
        };
        self.ranges.iter().map(sign).collect()
    }

    fn note(&mut self, score: Option<f64>) {
        let pairs = self.ranges.iter().zip(&self.at);
        self.course.push(Tuned {
            step: self.step,
            score,
            values: pairs.map(|((_, range), at)| range.value(*at)).collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "games = [\"connect_four\"]\nplayer = \"cadia-2012\"\nbudget = { playouts = 200 }\n\
        steps = 300\nmatches_per_step = 4\nseed = 5\n[parameters]\n\
        exploration = { start = 900, low = 1, high = 1000, log = true }\n\
        rave_k = { start = 100, low = 10, high = 5000, log = true }\n";

    fn exponents(text: &str) -> [f64; 2] {
        let value = |name: &str| -> f64 {
            let rest = text.split(&format!("{name}=")).nth(1).expect("it is there");
            rest.split(',')
                .next()
                .and_then(|value| value.parse().ok())
                .expect("a number")
        };
        [value("exploration").ln(), value("rave_k").ln()]
    }

    /// Distance from a planted optimum.
    fn loss(text: &str) -> f64 {
        let [one, two] = exponents(text);
        (one - 40_f64.ln()).powi(2) + 0.5 * (two - 1000_f64.ln()).powi(2)
    }

    /// Plays matches whose results are random by the difference of the losses.
    fn tune(file: &str, seed: u64) -> Spsa {
        let tuning = Tuning::read(file).expect("it is a tuning file");
        let mut spsa = Spsa::new(&tuning);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        while !spsa.is_over() {
            let score = spsa.pair().map_or(50.0, |[first, second]| {
                let chance = 1.0 / (1.0 + (loss(&first) - loss(&second)).exp());
                let n = tuning.matches_per_step;
                let won =
                    (0..n).filter(|_| (random.next_u64() >> 11) as f64 / 2_f64.powi(53) < chance);
                100.0 * won.count() as f64 / f64::from(n)
            });
            spsa.learn(score);
        }
        spsa
    }

    #[test]
    fn a_planted_optimum_is_found() {
        for seed in 0..5 {
            let spsa = tune(FILE, seed);
            let [one, two] = exponents(&spsa.tuned()).map(f64::exp);
            assert!((20.0..80.0).contains(&one), "exploration {one}, planted 40");
            assert!((350.0..2900.0).contains(&two), "rave_k {two}, planted 1000");
        }
    }

    #[test]
    fn the_same_scores_give_the_same_course() {
        let (one, two) = (tune(FILE, 3), tune(FILE, 3));
        assert_eq!(one.course(), two.course());
        assert_eq!(
            (one.course().len(), one.course()[0].values[0]),
            (301, 900.0)
        );
    }

    #[test]
    fn wrong_files_are_refused() {
        for (from, to, words) in [
            (
                "start = 900",
                "start = 2000",
                "exploration: needs low <= start",
            ),
            ("low = 1,", "low = 0,", "exploration: needs low"),
            ("exploration", "nonsense", "nonsense"),
            (
                "\"cadia-2012\"",
                "\"cadia-2012:exploration=3\"",
                "is set in the player and tuned",
            ),
            ("\"cadia-2012\"", "\"http://127.0.0.1:1\"", "the address"),
            ("steps = 300", "steps = 0", "at least one game"),
            ("seed = 5", "seed = 5\nrate = 0", "rate is a fraction"),
            ("high = 1000,", "high = 1e9,", "exploration"),
        ] {
            let error = Tuning::read(&FILE.replace(from, to)).expect_err("it is wrong");
            assert!(error.to_string().contains(words), "{error}\n{words}");
        }
    }
}
