//! The budget of a player per move: playouts, transitions, or seconds.
//!
//! Counts make matches repeatable; seconds do not. A file may also say `random_games = N`: the number of transitions that N
//! random games have on average. That is a repeatable substitute for equal time in games of any length.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_engine::{Game, play_out};
use agon_search::Limits;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Random games that are played to measure their mean length.
const SAMPLE: u32 = 200;
/// The largest number of seconds per move.
const MOST_SECONDS: f64 = 1e6;
/// A random game is cut after this number of steps.
const MOST_STEPS: u32 = 10_000;

/// The budget of a player per move.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Budget {
    /// Playouts.
    Playouts(u64),
    /// State transitions.
    Transitions(u64),
    /// Seconds.
    Seconds(f64),
}

/// Why a budget is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BudgetError {
    /// It is not of the form `playouts=1000`.
    #[error(
        "`{0}` is not a valid budget; use playouts=1000, transitions=200000, seconds=0.5 or random_games=1000"
    )]
    Form(String),
    /// It is out of range.
    #[error(
        "a budget of {0} is out of range: use a whole number from 1 to 1e15, or up to 1000000 seconds"
    )]
    Range(String),
}

impl Budget {
    /// The limits of a search that starts now; `stop` ends it early.
    pub(crate) fn limits(self, stop: &Arc<AtomicBool>) -> Limits {
        let mut limits = Limits {
            stop: Some(Arc::clone(stop)),
            ..Limits::default()
        };
        match self {
            Budget::Playouts(n) => limits.playouts = Some(n),
            Budget::Transitions(n) => {
                limits.transitions = Some(n);
                limits.playouts = self.most_playouts();
            }
            Budget::Seconds(seconds) => {
                limits.deadline = Some(Instant::now() + Duration::from_secs_f64(seconds));
            }
        }
        limits
    }

    /// The largest number of playouts. It also bounds a budget of transitions: a simulation that stays inside the tree makes
    /// no transition.
    pub(crate) fn most_playouts(self) -> Option<u64> {
        match self {
            Budget::Playouts(n) | Budget::Transitions(n) => Some(n),
            Budget::Seconds(_) => None,
        }
    }

    /// The same with seconds multiplied. Counts are exact and stay what they are.
    pub(crate) fn scaled(self, factor: f64) -> Budget {
        match self {
            Budget::Seconds(seconds) => Budget::Seconds((seconds * factor).min(MOST_SECONDS)),
            Budget::Playouts(_) | Budget::Transitions(_) => self,
        }
    }

    /// Whether the same seed gives the same match.
    #[must_use]
    pub fn is_repeatable(self) -> bool {
        !matches!(self, Budget::Seconds(_))
    }

    /// The unit.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Budget::Playouts(_) => "playouts",
            Budget::Transitions(_) => "transitions",
            Budget::Seconds(_) => "seconds",
        }
    }

    /// The number of units.
    #[must_use]
    pub fn amount(self) -> f64 {
        match self {
            Budget::Playouts(n) | Budget::Transitions(n) => n as f64,
            Budget::Seconds(seconds) => seconds,
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Budget::Playouts(n) => write!(f, "{n} playouts"),
            Budget::Transitions(n) => write!(f, "{n} transitions"),
            Budget::Seconds(seconds) => write!(f, "{seconds} s"),
        }
    }
}

/// The budgets of a tournament file: one, or several to compare.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetPlan {
    /// Playouts.
    Playouts(Several),
    /// State transitions.
    Transitions(Several),
    /// Seconds.
    Seconds(Several),
    /// The transitions that this number of random games has on average.
    RandomGames(Several),
}

/// A number or a list of numbers.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Several {
    /// A number.
    One(f64),
    /// A list.
    Many(Vec<f64>),
}

impl Several {
    fn numbers(&self) -> &[f64] {
        match self {
            Several::One(number) => std::slice::from_ref(number),
            Several::Many(numbers) => numbers,
        }
    }
}

impl BudgetPlan {
    /// The budgets for a game.
    ///
    /// # Errors
    /// If a budget is out of range.
    pub fn budgets(&self, game: &Game) -> Result<Vec<Budget>, BudgetError> {
        let numbers = self.numbers().iter();
        numbers.map(|number| self.budget(*number, game)).collect()
    }

    /// The same with all numbers multiplied; counts stay whole and at least 1.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> BudgetPlan {
        let numbers: Vec<f64> = self
            .numbers()
            .iter()
            .map(|number| number * factor)
            .collect();
        let whole = |numbers: Vec<f64>| {
            let whole = numbers.into_iter().map(|number| number.round().max(1.0));
            Several::Many(whole.collect())
        };
        match self {
            BudgetPlan::Playouts(_) => BudgetPlan::Playouts(whole(numbers)),
            BudgetPlan::Transitions(_) => BudgetPlan::Transitions(whole(numbers)),
            BudgetPlan::Seconds(_) => BudgetPlan::Seconds(Several::Many(numbers)),
            BudgetPlan::RandomGames(_) => BudgetPlan::RandomGames(whole(numbers)),
        }
    }

    fn numbers(&self) -> &[f64] {
        match self {
            BudgetPlan::Playouts(several)
            | BudgetPlan::Transitions(several)
            | BudgetPlan::Seconds(several)
            | BudgetPlan::RandomGames(several) => several.numbers(),
        }
    }

    fn budget(&self, number: f64, game: &Game) -> Result<Budget, BudgetError> {
        let is_whole = number.fract() == 0.0 && (1.0..=1e15).contains(&number);
        let range = || BudgetError::Range(number.to_string());
        match self {
            BudgetPlan::Seconds(_) if number > 0.0 && number <= MOST_SECONDS => {
                Ok(Budget::Seconds(number))
            }
            BudgetPlan::Seconds(_) => Err(range()),
            _ if !is_whole => Err(range()),
            BudgetPlan::Playouts(_) => Ok(Budget::Playouts(number as u64)),
            BudgetPlan::Transitions(_) => Ok(Budget::Transitions(number as u64)),
            BudgetPlan::RandomGames(_) => {
                let transitions = number * mean_length(game);
                Ok(Budget::Transitions(transitions.round().max(1.0) as u64))
            }
        }
    }
}

impl fmt::Display for BudgetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers().iter().map(ToString::to_string).collect();
        let numbers = numbers.join(", ");
        match self {
            BudgetPlan::Playouts(_) => write!(f, "{numbers} playouts per move"),
            BudgetPlan::Transitions(_) => write!(f, "{numbers} transitions per move"),
            BudgetPlan::Seconds(_) => write!(f, "{numbers} s per move (not repeatable)"),
            BudgetPlan::RandomGames(_) => {
                write!(f, "the transitions of {numbers} random games per move")
            }
        }
    }
}

impl FromStr for BudgetPlan {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<BudgetPlan, BudgetError> {
        let form = || BudgetError::Form(text.to_owned());
        let (unit, numbers) = text.split_once('=').ok_or_else(form)?;
        let numbers: Result<Vec<f64>, _> = numbers.split('/').map(str::parse).collect();
        let numbers = Several::Many(numbers.map_err(|_| form())?);
        match unit {
            "playouts" => Ok(BudgetPlan::Playouts(numbers)),
            "transitions" => Ok(BudgetPlan::Transitions(numbers)),
            "seconds" => Ok(BudgetPlan::Seconds(numbers)),
            "random_games" => Ok(BudgetPlan::RandomGames(numbers)),
            _ => Err(form()),
        }
    }
}

/// Mean number of steps of random games from the initial state, with a fixed seed.
fn mean_length(game: &Game) -> f64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut machine = game.machine();
    let mut n_steps = 0;
    for _ in 0..SAMPLE {
        machine.load(game.initial_state());
        n_steps += play_out(&mut *machine, game.n_roles(), MOST_STEPS, &mut rng).steps;
    }
    f64::from(n_steps) / f64::from(SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::counting_game;

    fn check(text: &str, expected: &str) {
        let plan: Result<BudgetPlan, _> = text.parse();
        let game = counting_game();
        let budgets = plan.and_then(|plan| plan.budgets(&game));
        let shown = match budgets {
            Ok(budgets) => {
                let words: Vec<String> = budgets.iter().map(ToString::to_string).collect();
                words.join(", ")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn budgets_are_read() {
        check("playouts=1000", "1000 playouts");
        check("playouts=10/100", "10 playouts, 100 playouts");
        check("transitions=5", "5 transitions");
        check("seconds=0.5", "0.5 s");
        // Every match of the game has two steps.
        check("random_games=100", "200 transitions");
    }

    #[test]
    fn wrong_budgets_are_refused() {
        let form = "is not a valid budget; use playouts=1000, transitions=200000, seconds=0.5 or random_games=1000";
        check("1000", &format!("`1000` {form}"));
        check("games=1", &format!("`games=1` {form}"));
        for number in ["0", "1.5", "-1", "NaN"] {
            let range = format!(
                "a budget of {number} is out of range: use a whole number from 1 to 1e15, or up to 1000000 seconds"
            );
            check(&format!("playouts={number}"), &range);
        }
        check(
            "seconds=-1",
            "a budget of -1 is out of range: use a whole number from 1 to 1e15, or up to 1000000 seconds",
        );
    }

    #[test]
    fn transitions_end_even_where_nothing_is_stepped_through() {
        let limits = Budget::Transitions(7).limits(&Arc::default());
        assert_eq!((limits.transitions, limits.playouts), (Some(7), Some(7)));
        let limits = Budget::Playouts(7).limits(&Arc::default());
        assert_eq!((limits.transitions, limits.playouts), (None, Some(7)));
    }

    #[test]
    fn a_file_has_one_or_several() {
        let read = |text: &str| -> BudgetPlan {
            let table: toml::Table = text.parse().expect("it is TOML");
            table["budget"].clone().try_into().expect("it is a budget")
        };
        let one = read("budget = { seconds = 1 }");
        assert_eq!(one.to_string(), "1 s per move (not repeatable)");
        let many = read("budget = { playouts = [100, 1000] }");
        assert_eq!(many.scaled(0.123).to_string(), "12, 123 playouts per move");
    }
}
