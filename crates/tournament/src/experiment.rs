//! A table of a paper, played again: cells to play, and what came of them beside what was published.
//!
//! The sign of a cell is that of the difference of the two players' mean scores. A measured difference is significant if
//! its 95 % interval leaves zero out, a published one if the intervals of the two players do not meet.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use thiserror::Error;

use crate::budget::{Budget, BudgetError, BudgetPlan};
use crate::cell::{Cell, Contestants, Sheet, Terms};
use crate::entrant::{Entrant, EntrantError};
use crate::published::{Activity, Column, Cost, File, Measure, Published, Row};
use crate::result::MatchResult;
use crate::sprt::Sprt;
use crate::statistics::{Estimate, mean_score, median_number};
use crate::tally::{Tally, differences};

/// Fewest matches of a cell, however small the scale.
const FEWEST: u32 = 4;
/// A published difference that must be seen.
const LARGE: f64 = 15.0;

/// A table of a paper.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// The paper.
    pub source: String,
    /// How the paper did it.
    pub setup: String,
    /// Why our budget is what it is.
    pub budget_note: String,
    /// What its numbers are.
    pub measure: Measure,
    /// Matches of a cell in the paper.
    pub games: u32,
    /// What stands for the clock of the paper.
    pub budget: BudgetPlan,
    /// The clock of the paper, where it has one.
    pub clock: Option<f64>,
    /// Seed unless another one is given.
    pub seed: u64,
    /// Pairs of players.
    pub columns: Vec<Column>,
    /// Games.
    pub rows: Vec<Row>,
    published: Vec<Published>,
}

/// Why a file is no table.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// It is not read.
    #[error(transparent)]
    Form(#[from] toml::de::Error),
    /// A cell is not what the table says.
    #[error("{row}, {column}: this is no cell of such a table")]
    Cell {
        /// The row.
        row: String,
        /// The column.
        column: String,
    },
    /// A row has not a cell per column.
    #[error("{0} does not have a cell per column")]
    Width(String),
    /// Nobody can play under this name.
    #[error(transparent)]
    Entrant(#[from] EntrantError),
    /// A budget.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// Roles.
    #[error("{0} cannot be played by these players")]
    Roles(String),
}

/// What differs from the paper.
#[derive(Clone, PartialEq, Debug)]
pub struct Overrides {
    /// Factor on matches; its root is the factor on budgets.
    pub scale: f64,
    /// Matches of a cell.
    pub games: Option<u32>,
    /// Another budget.
    pub budget: Option<BudgetPlan>,
    /// Another seed.
    pub seed: Option<u64>,
    /// Ends cells early: those of which the paper is sure as soon as their sign is clear, the others, which have no sign to be
    /// looked for, after the fewest matches of the test.
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
    /// If it is none.
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

    /// Leaves only these games, by the paper's name or ours; all of them if none is given.
    pub fn keep_games(&mut self, games: &[String]) {
        if games.is_empty() {
            return;
        }
        let n_columns = self.columns.len();
        let is_kept = |row: &Row| games.iter().any(|of| *of == row.name || *of == row.game);
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

    /// Matches of a cell of which the paper is sure, or is not.
    fn games_of_cell(&self, is_sure: bool, overrides: &Overrides) -> u32 {
        let games = self.games_with(overrides);
        match overrides.sprt {
            Some(sprt) if !is_sure => games.min(sprt.min_games.max(FEWEST)),
            _ => games,
        }
    }

    /// A cell to play per cell of the table, row by row.
    ///
    /// # Errors
    /// If somebody cannot play.
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
            let of_game = budgets.first().copied().unwrap_or(Budget::Playouts(1));
            for (pair, column) in pairs.iter().zip(&self.columns) {
                let is_timed = !of_game.is_repeatable();
                let is_sure = published.next().is_some_and(Published::is_significant);
                let terms = Terms {
                    n_matches: self.games_of_cell(is_sure, overrides),
                    seed: overrides.seed.unwrap_or(self.seed),
                    start_clock: is_timed.then_some(of_game.amount()),
                    play_clock: None,
                    sprt: overrides.sprt,
                };
                let cell = Cell::new(Arc::clone(sheet), pair.clone(), of_game, terms);
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

    /// The results of each cell among results from anywhere: those of its game and players, and where several budgets or
    /// versions of a player were tried, the one with the most matches. If the hash of a game's rules is given, those of
    /// other rules do not count.
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
                let names = fixture.players.each_ref().map(|of| &of.name);
                let hash = rules.get(&row.game);
                let is_game = fixture.game == row.game_name()
                    && hash.is_none_or(|hash| *hash == fixture.rules);
                if is_game && names == column.players.each_ref() {
                    let [first, second] = fixture.players.each_ref().map(|of| &of.is);
                    let of = format!("{first}\n{second}\n{}\n{}", fixture.rules, fixture.budget);
                    groups.entry(of).or_default().push(result);
                }
            }
            let most = groups.into_values().max_by_key(Vec::len);
            picked.push(most.unwrap_or_default());
        }
        picked
    }
}

/// A cell, published and measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// The row, as the paper calls it.
    pub row: String,
    /// The column, as the paper calls it.
    pub column: String,
    /// Our game.
    pub game: String,
    /// The players.
    pub players: [String; 2],
    /// What they might spend on a move.
    pub budget: Option<Budget>,
    /// What the paper says.
    pub published: Published,
    /// How much more the first player got there.
    pub published_difference: Option<f64>,
    /// Whether the paper is sure of it.
    pub published_significant: bool,
    /// Matches that were played.
    pub matches: usize,
    /// Mean score of the first player here.
    pub first: Option<f64>,
    /// Mean score of the second player here.
    pub second: Option<f64>,
    /// Half the width of the interval of the first player's.
    pub plus_minus: Option<f64>,
    /// How much more the first player got here; in tables of cost, simulations above 100.
    pub difference: Option<Estimate>,
    /// What the heuristic costs here.
    pub cost: Option<Cost>,
    /// In how many matches the part that it is about was at work.
    pub activity: Option<Activity>,
    /// What that means.
    pub verdict: Verdict,
}

/// What a cell means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The same sign, and equality is excluded.
    SameSignSignificant,
    /// The same sign.
    SameSign,
    /// The other sign.
    OppositeSign,
    /// One of the differences is exactly zero.
    NoSign,
    /// The extension is not at work, as in the paper.
    NotActiveEither,
    /// The extension is at work here, and was not in the paper.
    ActiveHereOnly,
    /// The extension is not at work here, and was in the paper.
    NotActiveHere,
    /// Nothing was played.
    NotPlayed,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Verdict::SameSignSignificant => "same sign and significant",
            Verdict::SameSign => "same sign",
            Verdict::OppositeSign => "opposite sign",
            Verdict::NoSign => "no sign",
            Verdict::NotActiveEither => "N/A as in the paper",
            Verdict::ActiveHereOnly => "active only here",
            Verdict::NotActiveHere => "not active here",
            Verdict::NotPlayed => "not played",
        }
    }
}

impl Comparison {
    /// Whether our interval leaves equality out.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.difference.is_some_and(|of| of.excludes(0.0))
    }

    fn has_same_sign(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::SameSign | Verdict::SameSignSignificant
        )
    }
}

fn compare(
    measure: Measure,
    row: &Row,
    column: &Column,
    published: &Published,
    results: &[&MatchResult],
) -> Comparison {
    let part = column.part.as_ref().or(column.shows.as_ref());
    let mut of = Comparison {
        row: row.name.clone(),
        column: column.name.clone(),
        game: row.game.clone(),
        players: column.players.clone(),
        budget: results.first().map(|result| result.fixture.budget),
        published: *published,
        published_difference: published.difference(),
        published_significant: published.is_significant(),
        matches: results.len(),
        first: None,
        second: None,
        plus_minus: None,
        difference: None,
        cost: None,
        activity: part.map(|part| activity(part, results)),
        verdict: Verdict::NotPlayed,
    };
    match measure {
        Measure::Score => measure_score(&mut of, results),
        Measure::Goal => measure_goal(&mut of, results),
        Measure::Cost => measure_cost(&mut of, results),
    }
    of.verdict = judge(&of, column.part.is_some());
    of
}

fn measure_score(of: &mut Comparison, results: &[&MatchResult]) {
    let Some(score) = Tally::of(results).and_then(|tally| tally.estimate()) else {
        return;
    };
    of.first = Some(score.mean);
    of.second = Some(100.0 - score.mean);
    of.plus_minus = Some(score.plus_minus());
    of.difference = Some(Estimate {
        n: score.n,
        mean: 2.0 * score.mean - 100.0,
        low: 2.0 * score.low - 100.0,
        high: 2.0 * score.high - 100.0,
    });
}

fn measure_goal(of: &mut Comparison, results: &[&MatchResult]) {
    let goals = |of_first: bool| {
        let goals = results.iter().filter_map(|result| result.goal(of_first));
        mean_score(&goals.collect::<Vec<f64>>())
    };
    let (first, second) = (goals(true), goals(false));
    of.first = first.map(|of| of.mean);
    of.second = second.map(|of| of.mean);
    of.plus_minus = first.map(|of| of.plus_minus());
    of.difference = crate::statistics::mean_difference(&differences(results));
}

fn measure_cost(of: &mut Comparison, results: &[&MatchResult]) {
    let relative = |result: &&MatchResult| {
        let [plain, heuristic] = result.work.map(|work| work.seconds / work.playouts as f64);
        let relative = 100.0 * plain / heuristic;
        relative.is_finite().then_some(relative)
    };
    let relatives: Vec<f64> = results.iter().filter_map(relative).collect();
    let note = |result: &&MatchResult| result.notes[1].get("heuristic").cloned();
    let notes: Vec<String> = results.iter().filter_map(note).collect();
    let shares = notes
        .iter()
        .filter_map(|of| number_before(of, " % of the time"));
    // Whoever has no heuristic needs time to get ready, too.
    let more = |result: &&MatchResult| result.work[1].setup - result.work[0].setup;
    let setups: Vec<f64> = results.iter().map(more).collect();
    // A machine that does something else now and then makes single times useless.
    let Some(relative) = median_number(&relatives) else {
        return;
    };
    let median = |numbers: &[f64]| median_number(numbers).map(|of| of.mean);
    of.cost = Some(Cost {
        generation: median(&setups).map(|seconds| seconds.max(0.0)),
        share: median(&shares.collect::<Vec<f64>>()),
        relative: relative.mean,
    });
    of.plus_minus = Some(relative.plus_minus());
    of.difference = Some(Estimate {
        n: relative.n,
        mean: relative.mean - 100.0,
        low: relative.low - 100.0,
        high: relative.high - 100.0,
    });
}

/// The number in front of a unit in words: 12.5 in `… 12.5 % of the time`.
fn number_before(words: &str, unit: &str) -> Option<f64> {
    let (before, _) = words.split_once(unit)?;
    let start = before.rfind(|c: char| !c.is_ascii_digit() && c != '.');
    before[start.map_or(0, |at| at + 1)..].parse().ok()
}

fn activity(part: &str, results: &[&MatchResult]) -> Activity {
    let mut activity = Activity::default();
    for result in results {
        match result.notes[0].get(part).map(String::as_str) {
            Some(note) if note.starts_with("on") => activity.on += 1,
            Some(note) if note.starts_with("off") => activity.off += 1,
            _ => activity.undecided += 1,
        }
    }
    activity
}

fn judge(of: &Comparison, needs_part: bool) -> Verdict {
    let activity = of.activity.filter(|_| needs_part);
    let is_absent = activity.is_some_and(|of| of.on == 0 && of.off > 0);
    if of.matches == 0 {
        return Verdict::NotPlayed;
    }
    let published = match of.published {
        Published::NotActive if is_absent => return Verdict::NotActiveEither,
        Published::NotActive => return Verdict::ActiveHereOnly,
        _ if is_absent => return Verdict::NotActiveHere,
        Published::Scores { first, second, .. } => first - second,
        Published::Cost(cost) => cost.relative - 100.0,
    };
    let Some(measured) = of.difference else {
        return Verdict::NotPlayed;
    };
    match published * measured.mean {
        0.0 => Verdict::NoSign,
        product if product < 0.0 => Verdict::OppositeSign,
        _ if of.is_significant() => Verdict::SameSignSignificant,
        _ => Verdict::SameSign,
    }
}

/// All cells of a table counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Summary {
    /// Cells.
    pub cells: usize,
    /// How many there are of each verdict.
    pub verdicts: Vec<(Verdict, usize)>,
    /// Cells of which the paper is sure, and that were played.
    pub significant: usize,
    /// Those of them with the same sign.
    pub significant_same_sign: usize,
    /// Cells with a published difference of 15 or more of which the paper is sure, and that were played.
    pub large: usize,
    /// Those of them with the same sign whose interval excludes equality.
    pub large_confirmed: usize,
}

impl Summary {
    /// Counts.
    #[must_use]
    pub fn of(comparisons: &[Comparison]) -> Summary {
        let mut verdicts: BTreeMap<Verdict, usize> = BTreeMap::new();
        for of in comparisons {
            *verdicts.entry(of.verdict).or_default() += 1;
        }
        let is_sure = |of: &&Comparison| of.published_significant && of.matches > 0;
        let sure: Vec<&Comparison> = comparisons.iter().filter(is_sure).collect();
        let is_large = |of: &&&Comparison| {
            let difference = of.published_difference;
            difference.is_some_and(|difference| difference.abs() >= LARGE)
        };
        let large: Vec<&&Comparison> = sure.iter().filter(is_large).collect();
        let is_confirmed = |of: &&&&Comparison| of.verdict == Verdict::SameSignSignificant;
        Summary {
            cells: comparisons.len(),
            verdicts: verdicts.into_iter().collect(),
            significant: sure.len(),
            significant_same_sign: sure.iter().filter(|of| of.has_same_sign()).count(),
            large: large.len(),
            large_confirmed: large.iter().filter(is_confirmed).count(),
        }
    }

    /// In a line or two.
    #[must_use]
    pub fn words(&self) -> String {
        let words = |(verdict, n): &(Verdict, usize)| format!("{n} {}", verdict.words());
        let verdicts: Vec<String> = self.verdicts.iter().map(words).collect();
        let mut text = format!("{} cells: {}", self.cells, verdicts.join(", "));
        if self.significant > 0 {
            text.push_str(&format!(
                "\nof {} cells of which the paper is sure {} have the same sign{}",
                self.significant,
                self.significant_same_sign,
                share(self.significant_same_sign, self.significant),
            ));
        }
        if self.large > 0 {
            text.push_str(&format!(
                "; of {} of them with a published difference of {LARGE} or more {} exclude equality{}",
                self.large,
                self.large_confirmed,
                share(self.large_confirmed, self.large),
            ));
        }
        text
    }
}

fn share(part: usize, all: usize) -> String {
    format!(" ({:.0} %)", 100.0 * part as f64 / all.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::result;

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

    /// Ten matches, of which the first player wins so many, with this note.
    fn results(n_won: u32, note: &str) -> Vec<MatchResult> {
        let one = |index: u32| {
            let goals = if index < n_won { [100, 0] } else { [0, 100] };
            let mut result = result("a", "b", index, goals);
            result.notes[0].insert("cutoff".to_owned(), note.to_owned());
            result
        };
        (0..10).map(one).collect()
    }

    fn verdicts(n_won: u32, note: &str) -> Vec<&'static str> {
        let results = results(n_won, note);
        let results: Vec<&MatchResult> = results.iter().collect();
        let lists = [results.clone(), results.clone(), results.clone(), results];
        let comparisons = table().compare(&lists);
        comparisons.iter().map(|of| of.verdict.words()).collect()
    }

    #[test]
    fn a_sequential_test_spends_matches_where_the_paper_is_sure() {
        let mut overrides = Overrides::default();
        let table = table();
        let games = |is_sure, overrides: &Overrides| table.games_of_cell(is_sure, overrides);
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
            verdicts(10, "on: goals"),
            [same, "opposite sign", "active only here", "no sign"]
        );
        assert_eq!(
            verdicts(6, "on: goals")[..2],
            ["same sign", "opposite sign"]
        );
        assert_eq!(
            verdicts(4, "on: goals")[..2],
            ["opposite sign", "same sign"]
        );
        assert_eq!(verdicts(5, "on: goals")[0], "no sign");
        assert_eq!(
            verdicts(5, "off: no")[..3],
            ["not active here", "no sign", "N/A as in the paper"]
        );
        assert_eq!(table().compare(&[])[0].verdict, Verdict::NotPlayed);
    }

    #[test]
    fn a_summary_counts() {
        let results = results(10, "on: goals");
        let results: Vec<&MatchResult> = results.iter().collect();
        let comparisons = table().compare(&[results.clone(), results]);
        let summary = Summary::of(&comparisons);
        // The paper is sure of the first cell only: 60 : 40 with 5 each.
        assert_eq!((summary.significant, summary.significant_same_sign), (1, 1));
        assert_eq!((summary.large, summary.large_confirmed), (1, 1));
        assert_eq!(
            summary.words(),
            "4 cells: 1 same sign and significant, 1 opposite sign, 2 not played\n\
             of 1 cells of which the paper is sure 1 have the same sign (100 %); \
             of 1 of them with a published difference of 15 or more 1 exclude equality (100 %)"
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
    fn results_from_anywhere_find_their_cells() {
        let mut all = results(10, "on");
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
    fn costs_come_from_times_and_words() {
        let text = TABLE
            .replace("\"score\"", "\"cost\"")
            .replace("[60.0, 5.0], [40.0, 11.0]", "[44.6, 67.2], [0.0, 99.3]")
            .replace("\"N/A\", [50.0, 5.0]", "[1.0, 101.0], [2.0, 102.0]");
        let table = Experiment::read(&text).expect("it is a table");
        let mut results = results(10, "");
        for (result, seconds) in results.iter_mut().zip([0.4, 0.5, 0.4, 0.5].iter().cycle()) {
            result.work[1].seconds = *seconds;
            result.work[1].setup = 0.25;
            let note = "made of 7 gates; 10 states, 37.5 % of the time";
            result.notes[1].insert("heuristic".to_owned(), note.to_owned());
        }
        let results: Vec<&MatchResult> = results.iter().collect();
        let of = &table.compare(&[results])[0];
        let cost = of.cost.expect("there are times");
        assert_eq!((cost.generation, cost.share), (Some(0.25), Some(37.5)));
        assert!((cost.relative - 56.25).abs() < 0.01, "{cost:?}");
        assert_eq!(of.verdict, Verdict::SameSignSignificant);
    }

    #[test]
    fn what_is_no_table_is_said() {
        for (from, to, words) in [
            ("[60.0, 5.0],", "", "Game does not have a cell per column"),
            ("[60.0, 5.0]", "[60.0]", "Game, cut: this is no cell"),
            ("games = 200", "game = 200", "unknown field"),
        ] {
            let error = Experiment::read(&TABLE.replace(from, to)).expect_err("it is wrong");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
