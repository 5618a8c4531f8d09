//! A table of a paper, played again: the cells to play, and the results that belong to each of them.
//!
//! A cell that was played on until its sign was clear says more than it should (optional stopping). So a table may fix a
//! number of matches: [`Experiment::first_matches`] takes exactly that many from every cell, by the number of the match and
//! never by its outcome.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use crate::budget::{Budget, BudgetError, BudgetPlan};
use crate::cell::{Cell, Contestants, Sheet, Terms};
use crate::comparison::{Comparison, compare};
use crate::entrant::{Entrant, EntrantError};
use crate::published::{Column, File, Measure, Published, Row};
use crate::result::MatchResult;
use crate::sprt::Sprt;

/// Fewest matches of a cell, however small the scale.
const FEWEST: u32 = 4;

/// A table of a paper.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// The paper.
    pub source: String,
    /// How the paper measured it.
    pub setup: String,
    /// Why the budget is what it is.
    pub budget_note: String,
    /// What the numbers of the table are.
    pub measure: Measure,
    /// Matches of a cell in the paper.
    pub games: u32,
    /// Matches of every cell that the main figure is computed from, fixed in advance.
    pub fixed: Option<u32>,
    /// What replaces the clock of the paper.
    pub budget: BudgetPlan,
    /// The clock of the paper in seconds, where it has one.
    pub clock: Option<f64>,
    /// Seed unless another one is given.
    pub seed: u64,
    /// Pairs of players.
    pub columns: Vec<Column>,
    /// Games.
    pub rows: Vec<Row>,
    published: Vec<Published>,
}

/// Why a file is not a valid table.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// The file is not valid TOML, or has unknown or missing keys.
    #[error(transparent)]
    Form(#[from] toml::de::Error),
    /// A cell does not have the numbers that the measure of the table needs.
    #[error("{row}, {column}: this is not a valid cell for the measure of this table")]
    Cell {
        /// The row.
        row: String,
        /// The column.
        column: String,
    },
    /// A row has too few or too many cells.
    #[error("{0} does not have one cell per column")]
    Width(String),
    /// A player is not known.
    #[error(transparent)]
    Entrant(#[from] EntrantError),
    /// A budget is not valid.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A game is missing or has the wrong number of roles.
    #[error("{0} cannot be played by these players")]
    Roles(String),
}

/// What differs from the paper.
#[derive(Clone, PartialEq, Debug)]
pub struct Overrides {
    /// Factor on the number of matches; its square root is the factor on budgets.
    pub scale: f64,
    /// Matches of a cell.
    pub games: Option<u32>,
    /// Another budget.
    pub budget: Option<BudgetPlan>,
    /// Another seed.
    pub seed: Option<u64>,
    /// Ends cells early. A cell whose published difference is significant ends when its sign is clear; any other cell has no sign to
    /// look for and ends after the fewest matches of the test.
    pub sprt: Option<Sprt>,
}

impl Default for Overrides {
    fn default() -> Overrides {
        Overrides {
            scale: 1.0,
            games: None,
            budget: None,
            seed: None,
            sprt: None,
        }
    }
}

impl Experiment {
    /// Reads a table.
    ///
    /// # Errors
    /// If the text is not a valid table.
    pub fn read(text: &str) -> Result<Experiment, ExperimentError> {
        let file: File = toml::from_str(text)?;
        let mut published = Vec::new();
        for row in &file.rows {
            if row.cells.len() != file.columns.len() {
                return Err(ExperimentError::Width(row.name.clone()));
            }
            for (cell, column) in row.cells.iter().zip(&file.columns) {
                let read = cell.read(file.measure, file.games, row.generation);
                published.push(read.ok_or_else(|| ExperimentError::Cell {
                    row: row.name.clone(),
                    column: column.name.clone(),
                })?);
            }
        }
        Ok(Experiment {
            name: file.name,
            title: file.title,
            source: file.source,
            setup: file.setup,
            budget_note: file.budget_note,
            measure: file.measure,
            games: file.games,
            fixed: file.fixed,
            budget: file.budget,
            clock: file.clock,
            seed: file.seed,
            columns: file.columns,
            rows: file.rows,
            published,
        })
    }

    /// Rows with columns, row by row.
    fn places(&self) -> impl Iterator<Item = (&Row, &Column, &Published)> {
        let places = self.rows.iter();
        let places = places.flat_map(|row| self.columns.iter().map(move |column| (row, column)));
        places
            .zip(&self.published)
            .map(|((row, column), published)| (row, column, published))
    }

    /// Keeps only these games, by the paper's name or ours; all of them if none is given.
    pub fn keep_games(&mut self, games: &[String]) {
        if games.is_empty() {
            return;
        }
        let n_columns = self.columns.len();
        let is_kept = |row: &Row| {
            games
                .iter()
                .any(|game| *game == row.name || *game == row.game)
        };
        let kept: Vec<bool> = self.rows.iter().map(is_kept).collect();
        let mut at = 0..;
        self.published
            .retain(|_| kept[at.next().unwrap_or(0) / n_columns]);
        self.rows.retain(is_kept);
    }

    /// What a player may spend on a move.
    #[must_use]
    pub fn budget_with(&self, overrides: &Overrides) -> BudgetPlan {
        let scaled = || self.budget.scaled(overrides.scale.sqrt());
        overrides.budget.clone().unwrap_or_else(scaled)
    }

    /// Matches of a cell.
    #[must_use]
    pub fn games_with(&self, overrides: &Overrides) -> u32 {
        let scaled = (f64::from(self.games) * overrides.scale / 2.0).ceil() as u32 * 2;
        overrides.games.unwrap_or(scaled.max(FEWEST))
    }

    /// Matches of a cell whose published difference is significant, or is not.
    fn games_of_cell(&self, is_significant: bool, overrides: &Overrides) -> u32 {
        let games = self.games_with(overrides);
        match overrides.sprt {
            Some(sprt) if !is_significant => games.min(sprt.min_games.max(FEWEST)),
            _ => games,
        }
    }

    /// A cell to play per cell of the table, row by row.
    ///
    /// # Errors
    /// If a player or a game is not known.
    pub fn cells(
        &self,
        sheets: &BTreeMap<String, Arc<Sheet>>,
        overrides: &Overrides,
    ) -> Result<Vec<Cell>, ExperimentError> {
        let budget = self.budget_with(overrides);
        let mut pairs = Vec::new();
        for column in &self.columns {
            let [first, second] = &column.players;
            pairs.push(Contestants {
                first: Arc::new(Entrant::parse(first)?),
                second: Arc::new(Entrant::parse(second)?),
            });
        }
        let mut cells = Vec::new();
        let mut published = self.published.iter();
        for row in &self.rows {
            let roles = || ExperimentError::Roles(row.game.clone());
            let sheet = sheets.get(&row.game).ok_or_else(roles)?;
            let own = row.budget.as_ref().filter(|_| overrides.budget.is_none());
            let own = own.map(|own| own.scaled(overrides.scale.sqrt()));
            let budgets = own.as_ref().unwrap_or(&budget).budgets(&sheet.game)?;
            let budget_here = budgets.first().copied().unwrap_or(Budget::Playouts(1));
            for (pair, column) in pairs.iter().zip(&self.columns) {
                let is_timed = !budget_here.is_repeatable();
                let is_significant = published.next().is_some_and(Published::is_significant);
                let terms = Terms {
                    n_matches: self.games_of_cell(is_significant, overrides),
                    seed: overrides.seed.unwrap_or(self.seed),
                    start_clock: is_timed.then_some(budget_here.amount()),
                    play_clock: None,
                    sprt: overrides.sprt,
                };
                let cell = Cell::new(Arc::clone(sheet), pair.clone(), budget_here, terms);
                let mut cell = cell.ok_or_else(roles)?;
                cell.part.clone_from(&column.part);
                cells.push(cell);
            }
        }
        Ok(cells)
    }

    /// Puts results beside what was published; a list of results per cell, row by row.
    #[must_use]
    pub fn compare(&self, results: &[Vec<&MatchResult>]) -> Vec<Comparison> {
        let none = Vec::new();
        let results = results.iter().chain(std::iter::repeat(&none));
        let places = self.places().zip(results);
        places
            .map(|((row, column, published), results)| {
                compare(self.measure, row, column, published, results)
            })
            .collect()
    }

    /// The results of each cell among any results: those of its game and players. Where a store has several budgets or versions of
    /// a player, the group with the most matches is taken. If the hash of a game's rules is given, results of other rules
    /// do not count.
    #[must_use]
    pub fn pick<'a>(
        &self,
        results: &'a [MatchResult],
        rules: &BTreeMap<String, String>,
    ) -> Vec<Vec<&'a MatchResult>> {
        let mut picked = Vec::new();
        for (row, column, _) in self.places() {
            let mut groups: BTreeMap<String, Vec<&MatchResult>> = BTreeMap::new();
            for result in results {
                let fixture = &result.fixture;
                let names = fixture.players.each_ref().map(|player| &player.name);
                let hash = rules.get(&row.game);
                let is_game = fixture.game == row.game_name()
                    && hash.is_none_or(|hash| *hash == fixture.rules);
                if is_game && names == column.players.each_ref() {
                    let [first, second] = fixture.players.each_ref().map(|player| &player.is);
                    let group = format!("{first}\n{second}\n{}\n{}", fixture.rules, fixture.budget);
                    groups.entry(group).or_default().push(result);
                }
            }
            let most = groups.into_values().max_by_key(Vec::len);
            picked.push(most.unwrap_or_default());
        }
        picked
    }

    /// Exactly the first `n` matches of each cell, by their number within the smallest seed; none of a cell that lacks one of them.
    #[must_use]
    pub fn first_matches<'a>(
        results: &[Vec<&'a MatchResult>],
        n: u32,
    ) -> Vec<Vec<&'a MatchResult>> {
        let first = |results: &Vec<&'a MatchResult>| {
            let seed = results.iter().map(|result| result.fixture.seed).min();
            let mut first: Vec<&MatchResult> = results
                .iter()
                .filter(|result| Some(result.fixture.seed) == seed && result.fixture.index < n)
                .copied()
                .collect();
            first.sort_by_key(|result| result.fixture.index);
            first.dedup_by_key(|result| result.fixture.index);
            match first.len() == n as usize {
                true => first,
                false => Vec::new(),
            }
        };
        results.iter().map(first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Summary, Verdict};
    use crate::result::tests::result;
    use crate::techniques::tests::cutoff_with;
    use crate::techniques::{Heuristic, Status};

    const TABLE: &str = r#"
        name = "t"
        title = "A table"
        source = "nowhere"
        setup = "200 matches"
        budget_note = "as it is"
        measure = "score"
        games = 200
        budget = { playouts = 1000 }
        [[columns]]
        name = "cut"
        players = ["a", "b"]
        part = "cutoff"
        [[columns]]
        name = "other"
        players = ["c", "b"]
        [[rows]]
        name = "Game"
        game = "game"
        cells = [[60.0, 5.0], [40.0, 11.0]]
        [[rows]]
        name = "Other"
        game = "other"
        cells = ["N/A", [50.0, 5.0]]
    "#;

    fn table() -> Experiment {
        Experiment::read(TABLE).expect("it is a table")
    }

    /// Ten matches with cutoffs of this status, of which the first player wins the first `n_won`.
    fn results(n_won: u32, cutoff: Status) -> Vec<MatchResult> {
        let one = |index: u32| {
            let goals = if index < n_won { [100, 0] } else { [0, 100] };
            let mut result = result("a", "b", index, goals);
            result.techniques[0].cutoff = Some(cutoff_with(cutoff));
            result
        };
        (0..10).map(one).collect()
    }

    fn verdicts(n_won: u32, cutoff: Status) -> Vec<&'static str> {
        let results = results(n_won, cutoff);
        let results: Vec<&MatchResult> = results.iter().collect();
        let lists = [results.clone(), results.clone(), results.clone(), results];
        let comparisons = table().compare(&lists);
        comparisons
            .iter()
            .map(|cell| cell.verdict.words())
            .collect()
    }

    #[test]
    fn a_sequential_test_spends_matches_where_the_paper_has_a_sign() {
        let mut overrides = Overrides::default();
        let table = table();
        let games =
            |is_significant, overrides: &Overrides| table.games_of_cell(is_significant, overrides);
        assert_eq!(
            [games(true, &overrides), games(false, &overrides)],
            [200, 200]
        );
        overrides.sprt = Some(Sprt::of_sign(18.0, 40));
        assert_eq!(
            [games(true, &overrides), games(false, &overrides)],
            [200, 40]
        );
        overrides.games = Some(10);
        assert_eq!(
            [games(true, &overrides), games(false, &overrides)],
            [10, 10]
        );
    }

    #[test]
    fn verdicts_follow_signs_and_intervals() {
        let same = "same sign and significant";
        assert_eq!(
            verdicts(10, Status::On),
            [same, "opposite sign", "active only here", "no sign"]
        );
        assert_eq!(verdicts(6, Status::On)[..2], ["same sign", "opposite sign"]);
        assert_eq!(verdicts(4, Status::On)[..2], ["opposite sign", "same sign"]);
        assert_eq!(verdicts(5, Status::On)[0], "no sign");
        assert_eq!(
            verdicts(5, Status::Off)[..3],
            ["not active here", "no sign", "N/A as in the paper"]
        );
        assert_eq!(table().compare(&[])[0].verdict, Verdict::NotPlayed);
    }

    #[test]
    fn a_summary_counts() {
        let results = results(10, Status::On);
        let results: Vec<&MatchResult> = results.iter().collect();
        let comparisons = table().compare(&[results.clone(), results]);
        let summary = Summary::of(&comparisons);
        // Only the first published difference is significant: 60 : 40 with 5 each.
        assert_eq!((summary.significant, summary.significant_same_sign), (1, 1));
        assert_eq!((summary.large, summary.large_confirmed), (1, 1));
        assert_eq!(
            summary.words(),
            "4 cells: 1 same sign and significant, 1 opposite sign, 2 not played. \
             Same sign in 1 of 1 cell whose published difference is significant (100 %). \
             Same sign and significant in 1 of 1 cell with a published difference of 15 points or more (100 %)."
        );
    }

    #[test]
    fn scale_shrinks_matches_and_budget() {
        let table = table();
        let scaled = |scale: f64| {
            let overrides = Overrides {
                scale,
                ..Overrides::default()
            };
            let budget = table.budget_with(&overrides).to_string();
            format!("{} matches, {budget}", table.games_with(&overrides))
        };
        assert_eq!(scaled(1.0), "200 matches, 1000 playouts per move");
        assert_eq!(scaled(0.25), "50 matches, 500 playouts per move");
        assert_eq!(scaled(0.05), "10 matches, 224 playouts per move");
        assert_eq!(scaled(0.0001), "4 matches, 10 playouts per move");
    }

    #[test]
    fn a_fixed_number_of_matches_is_taken_by_number() {
        let results = results(10, Status::Undecided);
        let mut backwards: Vec<&MatchResult> = results.iter().rev().collect();
        let first = |results: &[Vec<&MatchResult>], n| -> Vec<Vec<u32>> {
            let first = Experiment::first_matches(results, n);
            let numbers = first.iter().map(|results| {
                let numbers = results.iter().map(|result| result.fixture.index);
                numbers.collect()
            });
            numbers.collect()
        };
        let few: Vec<&MatchResult> = results[..3].iter().collect();
        let lists = [backwards.clone(), few, Vec::new()];
        assert_eq!(first(&lists, 4), [vec![0, 1, 2, 3], vec![], vec![]]);
        // A gap is not filled by a later match, or by the same match under another seed.
        backwards.retain(|result| result.fixture.index != 2);
        assert_eq!(first(&[backwards.clone()], 4), [Vec::<u32>::new()]);
        let mut other = results[2].clone();
        other.fixture.seed = 2;
        backwards.push(&other);
        assert_eq!(first(&[backwards], 4), [Vec::<u32>::new()]);
    }

    #[test]
    fn results_from_anywhere_find_their_cells() {
        let mut all = results(10, Status::On);
        let mut few = result("a", "b", 99, [0, 100]);
        few.fixture.budget = Budget::Playouts(7);
        all.push(few);
        all.push(result("x", "b", 0, [0, 100]));
        let table = table();
        let picked = table.pick(&all, &BTreeMap::new());
        let counts: Vec<usize> = picked.iter().map(Vec::len).collect();
        assert_eq!(counts, [10, 0, 0, 0]);
        // Results know a sheet by the name of its file.
        let mut table = table;
        table.rows[0].game = format!("my/sheets/{}.kif", table.rows[0].game);
        assert_eq!(table.pick(&all, &BTreeMap::new())[0].len(), 10);
        let rules = |hash: &str| BTreeMap::from([(table.rows[0].game.clone(), hash.to_owned())]);
        let hash = all[0].fixture.rules.clone();
        assert_eq!(table.pick(&all, &rules(&hash))[0].len(), 10);
        assert_eq!(table.pick(&all, &rules("another"))[0].len(), 0);
    }

    #[test]
    fn costs_come_from_times_and_shares() {
        let text = TABLE
            .replace("\"score\"", "\"cost\"")
            .replace("[60.0, 5.0], [40.0, 11.0]", "[44.6, 67.2], [0.0, 99.3]")
            .replace("\"N/A\", [50.0, 5.0]", "[1.0, 101.0], [2.0, 102.0]");
        let table = Experiment::read(&text).expect("it is a table");
        let mut results = results(10, Status::Undecided);
        for (result, seconds) in results.iter_mut().zip([0.4, 0.5, 0.4, 0.5].iter().cycle()) {
            result.work[1].seconds = *seconds;
            result.work[1].setup = 0.25;
            result.techniques[1].heuristic = Some(Heuristic {
                status: Status::On,
                gates: 7,
                states: 10,
                ns_per_state: 100.0,
                share: Some(0.375),
            });
        }
        let results: Vec<&MatchResult> = results.iter().collect();
        let cell = &table.compare(&[results])[0];
        let cost = cell.cost.expect("there are times");
        assert_eq!((cost.generation, cost.share), (Some(0.25), Some(37.5)));
        assert!((cost.relative - 56.25).abs() < 0.01, "{cost:?}");
        assert_eq!(cell.verdict, Verdict::SameSignSignificant);
    }

    #[test]
    fn what_is_not_a_valid_table_is_reported() {
        for (from, to, words) in [
            ("[60.0, 5.0],", "", "Game does not have one cell per column"),
            (
                "[60.0, 5.0]",
                "[60.0]",
                "Game, cut: this is not a valid cell",
            ),
            ("games = 200", "game = 200", "unknown field"),
        ] {
            let error = Experiment::read(&TABLE.replace(from, to)).expect_err("it is wrong");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
