//! The tables of a report: cells with their scores, players against players, papers beside us.

use crate::budget::Budget;
use crate::experiment::Comparison;
use crate::published::{Activity, Published};
use crate::statistics::Estimate;
use crate::table::Table;
use crate::tally::{Overall, Tally};

/// Every cell with its score, wins, goals and Elo difference; with budgets unless all have the same and it is told elsewhere.
#[must_use]
pub fn score_table(tallies: &[Tally], with_budget: bool) -> Table {
    let mut heads = vec!["game ", "player ", "against "];
    if with_budget {
        heads.push("budget ");
    }
    heads.extend(["matches", "score", "±", "won", "drawn", "lost"]);
    heads.extend(["goals", "goals against", "Elo", "Elo from", "Elo to"]);
    heads.extend(["as first", "as second"]);
    heads.extend(["faults", "faults against", "forfeits", "forfeits against"]);
    let mut table = Table::new(&heads);
    for of in tallies {
        let mut row = vec![of.game.clone(), of.first.clone(), of.second.clone()];
        if with_budget {
            row.push(of.budget.to_string());
        }
        row.extend([
            of.matches.to_string(),
            number(of.score),
            number(of.plus_minus),
        ]);
        row.extend([of.wins, of.draws, of.losses].map(|n| n.to_string()));
        row.extend(of.goals.map(number));
        row.extend(elo_words(of));
        row.extend(of.score_by_seat.map(number));
        row.extend(of.faults.map(|n| n.to_string()));
        row.extend(of.forfeits.map(|n| n.to_string()));
        table.push(row);
    }
    table
}

/// The Elo difference and the ends of its interval.
fn elo_words(of: &Tally) -> [String; 3] {
    let words = |elo: Option<f64>, endless: &str| match (of.score, elo) {
        (None, _) => "-".to_owned(),
        (Some(_), None) => endless.to_owned(),
        (Some(_), Some(elo)) => format!("{elo:+.0}"),
    };
    let is_lost = of.score.is_some_and(|score| score <= 0.0);
    [
        words(of.elo, if is_lost { "-∞" } else { "+∞" }),
        words(of.elo_interval[0], "-∞"),
        words(of.elo_interval[1], "+∞"),
    ]
}

/// The budget of all cells, if they have the same.
#[must_use]
pub fn one_budget(tallies: &[Tally]) -> Option<Budget> {
    let first = tallies.first()?.budget;
    tallies.iter().all(|of| of.budget == first).then_some(first)
}

/// The few columns that fit beside a progress bar.
#[must_use]
pub fn short_table(tallies: &[Tally]) -> Table {
    let mut table = Table::new(&["game ", "player ", "against ", "matches", "score", "±"]);
    for of in tallies {
        table.push(vec![
            of.game.clone(),
            of.first.clone(),
            of.second.clone(),
            of.matches.to_string(),
            number(of.score),
            number(of.plus_minus),
        ]);
    }
    table
}

/// Pairs over all their games.
#[must_use]
pub fn overall_table(overall: &[Overall]) -> Table {
    let mut table = Table::new(&["player ", "against ", "budget ", "games", "mean score", "±"]);
    for of in overall {
        table.push(vec![
            of.first.clone(),
            of.second.clone(),
            of.budget.clone(),
            of.games.to_string(),
            format!("{:.1}", of.score.mean),
            format!("{:.1}", of.score.plus_minus()),
        ]);
    }
    table
}

/// The games of cells, each once, in order.
#[must_use]
pub fn games(tallies: &[Tally]) -> Vec<String> {
    let mut games: Vec<String> = Vec::new();
    for of in tallies {
        if !games.contains(&of.game) {
            games.push(of.game.clone());
        }
    }
    games
}

/// Players against players in a game: the score of the row against the column.
#[derive(Clone, PartialEq, Debug)]
pub struct Cross {
    /// The game.
    pub game: String,
    /// The players.
    pub players: Vec<String>,
    /// Scores by row and column.
    pub scores: Vec<Vec<Option<Estimate>>>,
}

impl Cross {
    /// That of a game, at its largest budget where there are several; `None` with less than three players.
    #[must_use]
    pub fn of(tallies: &[Tally], game: &str) -> Option<Cross> {
        let here = tallies.iter().filter(|of| of.game == game);
        let most = here.clone().map(|of| of.budget).max_by(|a, b| {
            let key = |budget: &Budget| (budget.unit(), budget.amount().to_bits());
            key(a).cmp(&key(b))
        })?;
        let here: Vec<&Tally> = here.filter(|of| of.budget == most).collect();
        let mut players: Vec<String> = Vec::new();
        for name in here.iter().flat_map(|of| [&of.first, &of.second]) {
            if !players.contains(name) {
                players.push(name.clone());
            }
        }
        if players.len() < 3 {
            return None;
        }
        let mut scores = vec![vec![None; players.len()]; players.len()];
        let find = |name: &String| players.iter().position(|known| known == name);
        for of in here {
            let (Some(row), Some(column)) = (find(&of.first), find(&of.second)) else {
                continue;
            };
            let score = of.estimate();
            scores[row][column] = score;
            scores[column][row] = score.map(|of| Estimate {
                n: of.n,
                mean: 100.0 - of.mean,
                low: 100.0 - of.high,
                high: 100.0 - of.low,
            });
        }
        Some(Cross {
            game: game.to_owned(),
            players,
            scores,
        })
    }

    /// The mean of a row.
    #[must_use]
    pub fn mean(&self, row: usize) -> Option<f64> {
        let scores: Vec<f64> = self.scores[row]
            .iter()
            .flatten()
            .map(|of| of.mean)
            .collect();
        let sum: f64 = scores.iter().sum();
        (!scores.is_empty()).then(|| sum / scores.len() as f64)
    }

    /// As a table; columns have the numbers of players.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut heads = vec!["".to_owned(), format!("{} ", self.game)];
        heads.extend((1..=self.players.len()).map(|number| number.to_string()));
        heads.push("mean".to_owned());
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut table = Table::new(&heads);
        for (row, player) in self.players.iter().enumerate() {
            let mut cells = vec![(row + 1).to_string(), player.clone()];
            cells.extend(
                self.scores[row]
                    .iter()
                    .map(|of| number(of.map(|of| of.mean))),
            );
            cells.push(number(self.mean(row)));
            table.push(cells);
        }
        table
    }
}

/// Published beside measured, cell by cell.
#[must_use]
pub fn comparison_table(comparisons: &[Comparison]) -> Table {
    let has_parts = comparisons.iter().any(|of| of.activity.is_some());
    let mut heads = vec![
        "game ",
        "cell ",
        "paper ",
        "±",
        "measured ",
        "±",
        "matches",
        "verdict ",
    ];
    if has_parts {
        heads.push("extension ");
    }
    let mut table = Table::new(&heads);
    for of in comparisons {
        let (paper, paper_half) = published_words(&of.published);
        let mut row = vec![
            of.row.clone(),
            of.column.clone(),
            paper,
            paper_half,
            measured_words(of),
            number(of.plus_minus),
            of.matches.to_string(),
            of.verdict.words().to_owned(),
        ];
        if has_parts {
            row.push(of.activity.map_or_else(String::new, activity_words));
        }
        table.push(row);
    }
    table
}

fn published_words(published: &Published) -> (String, String) {
    match published {
        Published::NotActive => ("N/A".to_owned(), String::new()),
        Published::Scores {
            first,
            second,
            plus_minus,
        } => (
            format!("{first:.1} : {second:.1}"),
            format!("{plus_minus:.1}"),
        ),
        Published::Cost(cost) => (cost_words(cost), String::new()),
    }
}

fn measured_words(of: &Comparison) -> String {
    if let Some(cost) = &of.cost {
        return cost_words(cost);
    }
    match (of.first, of.second) {
        (Some(first), Some(second)) => format!("{first:.1} : {second:.1}"),
        _ => "-".to_owned(),
    }
}

fn cost_words(cost: &crate::published::Cost) -> String {
    let generation = cost.generation.map(|seconds| format!("{seconds:.2} s"));
    let share = cost.share.map(|share| format!("{share:.1} % of time"));
    let relative = Some(format!("{:.1} % simulations", cost.relative));
    let words: Vec<String> = [generation, share, relative]
        .into_iter()
        .flatten()
        .collect();
    words.join(", ")
}

fn activity_words(activity: Activity) -> String {
    let Activity { on, off, undecided } = activity;
    match (on, off, undecided) {
        (0, 0, 0) => String::new(),
        (_, 0, 0) => "active".to_owned(),
        (0, _, 0) => "not active".to_owned(),
        (0, 0, _) => "undecided".to_owned(),
        _ => format!("active in {on} of {}", on + off + undecided),
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::result;
    use crate::table::Format;
    use crate::tally::tallies;
    use expect_test::expect;

    fn some() -> Vec<Tally> {
        let mut results = Vec::new();
        for index in 0..4 {
            results.push(result("a", "b", index, [100, 0]));
            results.push(result("a", "c", index, [u8::from(index == 0) * 100, 50]));
            results.push(result("b", "c", index, [50, 50]));
        }
        tallies(&results)
    }

    #[test]
    fn scores_are_shown() {
        expect![[r#"
            game  player  against  budget        matches  score     ±  won  drawn  lost  goals  goals against  Elo  Elo from  Elo to  as first  as second  faults  faults against  forfeits  forfeits against
            game  a       b        100 playouts        4  100.0  35.8    4      0     0  100.0            0.0   +∞      -161      +∞     100.0      100.0       0               0         0                 0
        "#]]
        .assert_eq(&score_table(&some()[..1], true).text(Format::Terminal));
    }

    #[test]
    fn a_cross_table_has_both_sides() {
        let cross = Cross::of(&some(), "game").expect("there are three players");
        expect![[r#"
               game     1      2     3  mean
            1  a        -  100.0  25.0  62.5
            2  b      0.0      -  50.0  25.0
            3  c     75.0   50.0     -  62.5
        "#]]
        .assert_eq(&cross.table().text(Format::Terminal));
        assert!(Cross::of(&some()[..1], "game").is_none());
    }
}
