//! A published table as a file: which players met in which games, and the results that the paper prints.
//!
//! A cell is a list of numbers in the order of the paper. Their meaning depends on the measure of the table:
//!
//! - `score`: the score of the first player in percent, half the width of its 95 % interval; the second player has the rest
//! - `goal`: mean goals of the first and of the second player, half the width of the interval of either
//! - `cost`: percentage of time spent on the heuristic, percentage of simulations that the second player makes in the time of
//!   the first
//!
//! Where the paper prints scores by seat and no interval, a cell is `{ as_first = [60, 40], as_second = [75, 25] }`, and the
//! interval is computed for the number of matches. A cell may also be `"N/A"`: the extension of the first player was not active.

use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::budget::BudgetPlan;
use crate::statistics::proportion;

/// A table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) source: String,
    /// How the paper measured it, in words.
    pub(crate) setup: String,
    /// Why the budget is what it is, in words.
    pub(crate) budget_note: String,
    pub(crate) measure: Measure,
    /// Matches of a cell in the paper.
    pub(crate) games: u32,
    /// Matches of every cell that the main figure is computed from, fixed in advance.
    #[serde(default)]
    pub(crate) fixed: Option<u32>,
    /// What replaces the clock of the paper.
    pub(crate) budget: BudgetPlan,
    /// The clock of the paper in seconds, where it has one.
    #[serde(default)]
    pub(crate) clock: Option<f64>,
    #[serde(default = "one")]
    pub(crate) seed: u64,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

fn one() -> u64 {
    1
}

/// What the numbers of a table are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Score of the first player, 100 for a win, 50 for a draw.
    Score,
    /// Mean goals of both players.
    Goal,
    /// What a heuristic costs.
    Cost,
}

/// A column: a pair of players.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// What the paper calls it.
    pub name: String,
    /// The players, in the paper's order.
    pub players: [String; 2],
    /// The extension of the first player that the column is about, if it may be inactive in a game. A cell in which it is
    /// inactive ends early.
    #[serde(default)]
    pub part: Option<String>,
    /// An extension of the first player whose activity is shown, without an influence on what is played.
    #[serde(default)]
    pub shows: Option<String>,
}

/// A row: a game.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What the paper calls it.
    pub name: String,
    /// Our game.
    pub game: String,
    /// One cell per column.
    pub cells: Vec<CellText>,
    /// A budget of its own, for a game that is much slower than the others.
    #[serde(default)]
    pub budget: Option<BudgetPlan>,
    /// Seconds to generate the heuristic, in tables of cost.
    #[serde(default)]
    pub generation: Option<f64>,
}

impl Row {
    /// The name of the game in results: that of a built-in game, or of a file without folder and extension.
    #[must_use]
    pub fn game_name(&self) -> &str {
        let stem = Path::new(&self.game).file_stem();
        stem.and_then(OsStr::to_str).unwrap_or(&self.game)
    }
}

/// A cell as it is written.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum CellText {
    /// `"N/A"`
    Word(String),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Scores of both players by seat.
    Seats {
        /// Where the first player has the first role.
        as_first: [f64; 2],
        /// Where the second player has the first role.
        as_second: [f64; 2],
    },
}

/// What a paper prints in a cell.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Published {
    /// The extension was not active.
    NotActive,
    /// Mean scores of both players, and half the width of the interval of either.
    Scores {
        /// Of the first player.
        first: f64,
        /// Of the second player.
        second: f64,
        /// Half the width.
        plus_minus: f64,
    },
    /// What a heuristic costs.
    Cost(Cost),
}

/// What a heuristic costs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// Seconds to generate it.
    pub generation: Option<f64>,
    /// Percentage of time spent on it.
    pub share: Option<f64>,
    /// Simulations in the time of 100 simulations without it.
    pub relative: f64,
}

/// In how many matches an extension was active.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Activity {
    /// Matches in which it was active.
    pub on: usize,
    /// Matches in which it was not.
    pub off: usize,
    /// Matches that ended before it had decided.
    pub undecided: usize,
}

impl Published {
    /// The score of the first player less that of the second.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        match self {
            Published::Scores { first, second, .. } => Some(first - second),
            _ => None,
        }
    }

    /// Whether the intervals of the two players do not overlap.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        match self {
            Published::Scores {
                first,
                second,
                plus_minus,
            } => (first - second).abs() > 2.0 * plus_minus,
            _ => false,
        }
    }
}

impl CellText {
    /// What the cell says, if it is valid for this measure.
    pub(crate) fn read(
        &self,
        measure: Measure,
        n_matches: u32,
        generation: Option<f64>,
    ) -> Option<Published> {
        match (self, measure) {
            (CellText::Word(word), _) => (word == "N/A").then_some(Published::NotActive),
            (CellText::Numbers(numbers), Measure::Score) => match numbers[..] {
                [first, plus_minus] => Some(Published::Scores {
                    first,
                    second: 100.0 - first,
                    plus_minus,
                }),
                _ => None,
            },
            (CellText::Numbers(numbers), Measure::Goal) => match numbers[..] {
                [first, second, plus_minus] => Some(Published::Scores {
                    first,
                    second,
                    plus_minus,
                }),
                _ => None,
            },
            (CellText::Numbers(numbers), Measure::Cost) => match numbers[..] {
                [share, relative] => Some(Published::Cost(Cost {
                    generation,
                    share: Some(share),
                    relative,
                })),
                _ => None,
            },
            (
                CellText::Seats {
                    as_first,
                    as_second,
                },
                _,
            ) => {
                let [first, second] = [0, 1].map(|who| (as_first[who] + as_second[who]) / 2.0);
                let n = n_matches as usize;
                let half = |mean: f64| {
                    let interval = proportion(mean / 100.0 * n as f64, n);
                    interval.map_or(50.0, |interval| interval.plus_minus())
                };
                Some(Published::Scores {
                    first,
                    second,
                    plus_minus: half(first).max(half(second)),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, measure: Measure) -> Option<Published> {
        let table: toml::Table = format!("cell = {text}").parse().expect("it is TOML");
        let cell: CellText = table["cell"].clone().try_into().expect("it is a cell");
        cell.read(measure, 20, None)
    }

    #[test]
    fn cells_are_what_their_table_says() {
        let scores = |first, second, plus_minus| {
            Some(Published::Scores {
                first,
                second,
                plus_minus,
            })
        };
        assert_eq!(
            read("[86.5, 4.74]", Measure::Score),
            scores(86.5, 13.5, 4.74)
        );
        assert_eq!(
            read("[81.0, 69, 2.75]", Measure::Goal),
            scores(81.0, 69.0, 2.75)
        );
        assert_eq!(read("\"N/A\"", Measure::Score), Some(Published::NotActive));
        assert_eq!(read("[1.0]", Measure::Score), None);
        assert_eq!(read("\"?\"", Measure::Score), None);
    }

    #[test]
    fn a_missing_interval_is_computed() {
        let cell = read(
            "{ as_first = [60, 40], as_second = [75, 25] }",
            Measure::Goal,
        );
        let Some(Published::Scores {
            first,
            second,
            plus_minus,
        }) = cell
        else {
            panic!("it has scores");
        };
        assert_eq!((first, second), (67.5, 32.5));
        // Wilson's interval of 13.5 of 20 is 45.7 to 83.7.
        assert!((plus_minus - 18.97).abs() < 0.05, "{plus_minus}");
    }

    #[test]
    fn a_difference_is_significant_when_intervals_do_not_overlap() {
        let is = |text: &str| {
            read(text, Measure::Goal)
                .expect("it is one")
                .is_significant()
        };
        assert!(is("[56, 44, 5.9]") && is("[44, 56, 5.9]"));
        assert!(!is("[56, 44, 6.1]") && !is("[62.5, 62.5, 4.24]"));
    }
}
