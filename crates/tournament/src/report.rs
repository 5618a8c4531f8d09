//! The tables of a report: cells with their scores, players against players, published tables beside measured ones.

use crate::budget::Budget;
use crate::comparison::Comparison;
use crate::published::{Activity, Cost, Published};
use crate::statistics::Estimate;
use crate::table::Kind::{Name, Number, Words};
use crate::table::{Kind, Table};
use crate::tally::{Overall, Tally};

/// Every cell with its score, outcomes, Elo difference and goals; with a column of budgets where these differ. A column that
/// would be empty is left out. Faults are those of both players; by kind they are shown where there are some, as are forfeits.
#[must_use]
pub fn score_table(tallies: &[Tally], with_budget: bool) -> Table {
    let mut heads: Vec<(&str, Kind)> = vec![("game", Words), ("player", Name), ("against", Name)];
    if with_budget {
        heads.push(("budget", Words));
    }
    let n_keys = heads.len();
    let has_pairs = tallies.iter().any(|tally| tally.pairs.is_some());
    let has_faults = |tally: &Tally| tally.faults != [0, 0] || tally.forfeits != [0, 0];
    let has_faults = tallies.iter().any(has_faults);
    let numbers = ["matches", "score", "±", "won", "drawn", "lost"];
    let elo = ["Elo", "Elo from", "Elo to"];
    heads.extend(numbers.iter().chain(&elo).map(|head| (*head, Number)));
    if has_pairs {
        heads.push(("pairs 0-½-1-1½-2", Number));
    }
    let goals = ["goals", "goals against", "as first", "as second"];
    heads.extend(goals.map(|head| (head, Number)));
    heads.push(("faults", Number));
    if has_faults {
        heads.extend(["late", "illegal", "missing", "forfeits"].map(|head| (head, Number)));
    }
    let mut table = Table::new(&heads, n_keys);
    for tally in tallies {
        let mut row = vec![
            tally.game.clone(),
            tally.first.clone(),
            tally.second.clone(),
        ];
        if with_budget {
            row.push(tally.budget.to_string());
        }
        row.push(tally.matches.to_string());
        row.extend([tally.score, tally.plus_minus].map(number));
        row.extend([tally.wins, tally.draws, tally.losses].map(|n| n.to_string()));
        row.extend(elo_words(tally));
        if has_pairs {
            row.push(tally.pairs.map_or_else(|| "-".to_owned(), pairs_words));
        }
        row.extend(tally.goals.map(number));
        row.extend(tally.score_by_seat.map(number));
        row.push(tally.faults.map(|n| n.to_string()).join(" : "));
        if has_faults {
            let [first, second] = tally.fault_kinds;
            row.push(format!("{} : {}", first.late, second.late));
            row.push(format!("{} : {}", first.illegal, second.illegal));
            row.push(format!("{} : {}", first.missing, second.missing));
            row.push(tally.forfeits.map(|n| n.to_string()).join(" : "));
        }
        table.push(row);
    }
    table
}

/// Pairs by points, such as `2-0-11-3-4`.
fn pairs_words(pairs: [usize; 5]) -> String {
    pairs.map(|n| n.to_string()).join("-")
}

/// The Elo difference and the ends of its interval.
fn elo_words(tally: &Tally) -> [String; 3] {
    let words = |elo: Option<f64>, infinite: &str| match (tally.score, elo) {
        (None, _) => "-".to_owned(),
        (Some(_), None) => infinite.to_owned(),
        (Some(_), Some(elo)) => format!("{elo:+.0}"),
    };
    let is_lost = tally.score.is_some_and(|score| score <= 0.0);
    [
        words(tally.elo, if is_lost { "-∞" } else { "+∞" }),
        words(tally.elo_interval[0], "-∞"),
        words(tally.elo_interval[1], "+∞"),
    ]
}

/// The budget of all cells, if it is the same.
#[must_use]
pub fn one_budget(tallies: &[Tally]) -> Option<Budget> {
    let first = tallies.first()?.budget;
    let is_same = tallies.iter().all(|tally| tally.budget == first);
    is_same.then_some(first)
}

/// The few columns that fit beside a progress bar.
#[must_use]
pub fn short_table(tallies: &[Tally]) -> Table {
    let heads = [
        ("game", Words),
        ("player", Name),
        ("against", Name),
        ("matches", Number),
        ("score", Number),
        ("±", Number),
    ];
    let mut table = Table::new(&heads, 3);
    for tally in tallies {
        table.push(vec![
            tally.game.clone(),
            tally.first.clone(),
            tally.second.clone(),
            tally.matches.to_string(),
            number(tally.score),
            number(tally.plus_minus),
        ]);
    }
    table
}

/// Pairs of players over all their games.
#[must_use]
pub fn overall_table(overall: &[Overall]) -> Table {
    let heads = [
        ("player", Name),
        ("against", Name),
        ("budget", Words),
        ("games", Number),
        ("mean score", Number),
        ("±", Number),
    ];
    let mut table = Table::new(&heads, 3);
    for pair in overall {
        table.push(vec![
            pair.first.clone(),
            pair.second.clone(),
            pair.budget.clone(),
            pair.games.to_string(),
            format!("{:.1}", pair.score.mean),
            format!("{:.1}", pair.score.plus_minus()),
        ]);
    }
    table
}

/// The games of cells, each once, in order.
#[must_use]
pub fn games(tallies: &[Tally]) -> Vec<String> {
    let mut games: Vec<String> = Vec::new();
    for tally in tallies {
        if !games.contains(&tally.game) {
            games.push(tally.game.clone());
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
    /// The cross table of a game, at its largest budget where there are several; `None` with fewer than three players.
    #[must_use]
    pub fn of(tallies: &[Tally], game: &str) -> Option<Cross> {
        let here = tallies.iter().filter(|tally| tally.game == game);
        let largest = here.clone().map(|tally| tally.budget).max_by(|a, b| {
            let key = |budget: &Budget| (budget.unit(), budget.amount().to_bits());
            key(a).cmp(&key(b))
        })?;
        let here: Vec<&Tally> = here.filter(|tally| tally.budget == largest).collect();
        let mut players: Vec<String> = Vec::new();
        for name in here.iter().flat_map(|tally| [&tally.first, &tally.second]) {
            if !players.contains(name) {
                players.push(name.clone());
            }
        }
        if players.len() < 3 {
            return None;
        }
        let mut scores = vec![vec![None; players.len()]; players.len()];
        let find = |name: &String| players.iter().position(|known| known == name);
        for tally in here {
            let (Some(row), Some(column)) = (find(&tally.first), find(&tally.second)) else {
                continue;
            };
            let score = tally.estimate();
            scores[row][column] = score;
            scores[column][row] = score.map(|score| Estimate {
                n: score.n,
                mean: 100.0 - score.mean,
                low: 100.0 - score.high,
                high: 100.0 - score.low,
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
        let scores = self.scores[row].iter().flatten();
        let scores: Vec<f64> = scores.map(|score| score.mean).collect();
        let sum: f64 = scores.iter().sum();
        (!scores.is_empty()).then(|| sum / scores.len() as f64)
    }

    /// As a table. The heads of columns are the numbers of the players.
    #[must_use]
    pub fn table(&self) -> Table {
        let numbers: Vec<String> = (1..=self.players.len()).map(|n| n.to_string()).collect();
        let mut heads = vec![("", Number), (self.game.as_str(), Words)];
        heads.extend(numbers.iter().map(|number| (number.as_str(), Number)));
        heads.push(("mean", Number));
        let mut table = Table::new(&heads, 2);
        for (row, player) in self.players.iter().enumerate() {
            let mut cells = vec![numbers[row].clone(), player.clone()];
            let scores = self.scores[row].iter();
            cells.extend(scores.map(|score| number(score.map(|score| score.mean))));
            cells.push(number(self.mean(row)));
            table.push(cells);
        }
        table
    }
}

/// Published beside measured, cell by cell.
#[must_use]
pub fn comparison_table(comparisons: &[Comparison]) -> Table {
    let has_activity = comparisons.iter().any(|cell| cell.activity.is_some());
    let mut heads = vec![
        ("game", Words),
        ("cell", Words),
        ("paper", Words),
        ("±", Number),
        ("measured", Words),
        ("±", Number),
        ("matches", Number),
        ("verdict", Words),
    ];
    if has_activity {
        heads.push(("extension", Words));
    }
    let mut table = Table::new(&heads, 2);
    for cell in comparisons {
        let (paper, paper_half) = published_words(&cell.published);
        let mut row = vec![
            cell.row.clone(),
            cell.column.clone(),
            paper,
            paper_half,
            measured_words(cell),
            number(cell.plus_minus),
            cell.matches.to_string(),
            cell.verdict.words().to_owned(),
        ];
        if has_activity {
            row.push(cell.activity.map_or_else(String::new, activity_words));
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

fn measured_words(cell: &Comparison) -> String {
    if let Some(cost) = &cell.cost {
        return cost_words(cost);
    }
    match (cell.first, cell.second) {
        (Some(first), Some(second)) => format!("{first:.1} : {second:.1}"),
        _ => "-".to_owned(),
    }
}

fn cost_words(cost: &Cost) -> String {
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
            game  player  against  budget        matches  score     ±  won  drawn  lost  Elo  Elo from  Elo to  pairs 0-½-1-1½-2  goals  goals against  as first  as second  faults
            game  a       b        100 playouts        4  100.0  48.8    4      0     0   +∞      -642      +∞         0-0-0-0-2  100.0            0.0     100.0      100.0   0 : 0
        "#]].assert_eq(&score_table(&some()[..1], true).text(Format::Terminal(200)));
        expect![[r#"
            game  player  against  matches  score     ±  won  drawn  lost   Elo    Elo   Elo       pairs  goals
                                                                                  from    to  0-½-1-1½-2
            game  a       b              4  100.0  48.8    4      0     0    +∞   -642    +∞   0-0-0-0-2  100.0
            game  a       c              4   25.0  49.0    1      0     3  -191  -1082  +701   1-0-1-0-0   25.0
            game  b       c              4   50.0  48.2    0      4     0    +0   -699  +699   0-0-2-0-0   50.0

            game  player  against    goals     as      as  faults
                                   against  first  second
            game  a       b            0.0  100.0   100.0   0 : 0
            game  a       c           50.0   50.0     0.0   0 : 0
            game  b       c           50.0   50.0    50.0   0 : 0
        "#]].assert_eq(&score_table(&some(), false).text(Format::Terminal(100)));
        expect![[r#"
            game  player  against  matches  score     ±  won  drawn
            game  a       b              4  100.0  48.8    4      0
            game  a       c              4   25.0  49.0    1      0
            game  b       c              4   50.0  48.2    0      4

            game  player  against  lost   Elo    Elo   Elo       pairs
                                                from    to  0-½-1-1½-2
            game  a       b           0    +∞   -642    +∞   0-0-0-0-2
            game  a       c           3  -191  -1082  +701   1-0-1-0-0
            game  b       c           0    +0   -699  +699   0-0-2-0-0

            game  player  against  goals    goals     as      as  faults
                                          against  first  second
            game  a       b        100.0      0.0  100.0   100.0   0 : 0
            game  a       c         25.0     50.0   50.0     0.0   0 : 0
            game  b       c         50.0     50.0   50.0    50.0   0 : 0
        "#]]
        .assert_eq(&score_table(&some(), false).text(Format::Terminal(60)));
    }

    #[test]
    fn faults_are_shown_where_there_are_some() {
        let mut tallies = some();
        let text = score_table(&tallies, false).text(Format::Markdown);
        assert!(text.contains("| as second | faults |\n"), "{text}");
        tallies[1].faults = [0, 7];
        tallies[1].fault_kinds[1].late = 4;
        tallies[1].fault_kinds[1].missing = 3;
        tallies[1].forfeits = [0, 1];
        let text = score_table(&tallies, false).text(Format::Markdown);
        let heads = "| faults | late | illegal | missing | forfeits |\n";
        assert!(text.contains(heads), "{text}");
        let cells = "| 0 : 7 | 0 : 4 | 0 : 0 | 0 : 3 | 0 : 1 |\n";
        assert!(text.contains(cells), "{text}");
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
        .assert_eq(&cross.table().text(Format::Terminal(80)));
        assert!(Cross::of(&some()[..1], "game").is_none());
    }
}
