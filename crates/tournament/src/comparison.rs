//! A cell of a published table beside what was measured, the verdict on it, and the verdicts of a table counted.
//!
//! The sign of a cell is that of the difference of the two players' mean scores. A measured difference is significant if
//! its 95 % interval excludes zero, a published one if the intervals of the two players do not overlap.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::budget::Budget;
use crate::published::{Activity, Column, Cost, Measure, Published, Row};
use crate::result::MatchResult;
use crate::statistics::{Estimate, mean_score, median_number};
use crate::tally::Tally;
use crate::techniques::Status;

/// A published difference of at least this many points should be visible here, too.
const LARGE: f64 = 15.0;

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
    /// What a player may spend on a move.
    pub budget: Option<Budget>,
    /// What the paper says.
    pub published: Published,
    /// The difference of the two players' scores in the paper.
    pub published_difference: Option<f64>,
    /// Whether that difference is significant.
    pub published_significant: bool,
    /// Matches played.
    pub matches: usize,
    /// Mean score of the first player here.
    pub first: Option<f64>,
    /// Mean score of the second player here.
    pub second: Option<f64>,
    /// Half the width of the 95 % interval of the first player's score.
    pub plus_minus: Option<f64>,
    /// The difference of the two players' scores here; in tables of cost, the simulations above 100.
    pub difference: Option<Estimate>,
    /// What the heuristic costs here.
    pub cost: Option<Cost>,
    /// In how many matches the extension that the cell is about was active.
    pub activity: Option<Activity>,
    /// How the two compare.
    pub verdict: Verdict,
}

/// How a published and a measured cell compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The same sign, and the measured difference is significant.
    SameSignSignificant,
    /// The same sign, but the measured difference is not significant.
    SameSign,
    /// The opposite sign.
    OppositeSign,
    /// One of the differences is exactly zero.
    NoSign,
    /// The extension is not active, as in the paper.
    NotActiveEither,
    /// The extension is active here, and was not in the paper.
    ActiveHereOnly,
    /// The extension is not active here, and was in the paper.
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
    /// Whether the measured interval excludes equality.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.difference
            .is_some_and(|difference| difference.excludes(0.0))
    }

    fn has_same_sign(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::SameSign | Verdict::SameSignSignificant
        )
    }
}

pub(crate) fn compare(
    measure: Measure,
    row: &Row,
    column: &Column,
    published: &Published,
    results: &[&MatchResult],
) -> Comparison {
    let extension = column.part.as_ref().or(column.shows.as_ref());
    let mut cell = Comparison {
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
        activity: extension.map(|extension| activity(extension, results)),
        verdict: Verdict::NotPlayed,
    };
    match measure {
        Measure::Score => measure_score(&mut cell, results),
        Measure::Goal => measure_goal(&mut cell, results),
        Measure::Cost => measure_cost(&mut cell, results),
    }
    cell.verdict = judge(&cell, column.part.is_some());
    cell
}

fn measure_score(cell: &mut Comparison, results: &[&MatchResult]) {
    let Some(score) = Tally::of(results).and_then(|tally| tally.estimate()) else {
        return;
    };
    cell.first = Some(score.mean);
    cell.second = Some(100.0 - score.mean);
    cell.plus_minus = Some(score.plus_minus());
    cell.difference = Some(Estimate {
        n: score.n,
        mean: 2.0 * score.mean - 100.0,
        low: 2.0 * score.low - 100.0,
        high: 2.0 * score.high - 100.0,
    });
}

fn measure_goal(cell: &mut Comparison, results: &[&MatchResult]) {
    let goals = |of_first: bool| {
        let goals = results.iter().filter_map(|result| result.goal(of_first));
        mean_score(&goals.collect::<Vec<f64>>())
    };
    let (first, second) = (goals(true), goals(false));
    cell.first = first.map(|goals| goals.mean);
    cell.second = second.map(|goals| goals.mean);
    cell.plus_minus = first.map(|goals| goals.plus_minus());
    cell.difference = Tally::of(results).and_then(|tally| tally.goal_difference);
}

fn measure_cost(cell: &mut Comparison, results: &[&MatchResult]) {
    let relative = |result: &&MatchResult| {
        let [plain, heuristic] = result.work.map(|work| work.seconds / work.playouts as f64);
        let relative = 100.0 * plain / heuristic;
        relative.is_finite().then_some(relative)
    };
    let relatives: Vec<f64> = results.iter().filter_map(relative).collect();
    let share = |result: &&MatchResult| result.techniques[1].heuristic?.share;
    let shares = results.iter().filter_map(share).map(|share| 100.0 * share);
    // A player without a heuristic also needs time to get ready.
    let more = |result: &&MatchResult| result.work[1].setup - result.work[0].setup;
    let setups: Vec<f64> = results.iter().map(more).collect();
    // The median, because other programs on the machine make single times useless.
    let Some(relative) = median_number(&relatives) else {
        return;
    };
    let median = |numbers: &[f64]| median_number(numbers).map(|median| median.mean);
    cell.cost = Some(Cost {
        generation: median(&setups).map(|seconds| seconds.max(0.0)),
        share: median(&shares.collect::<Vec<f64>>()),
        relative: relative.mean,
    });
    cell.plus_minus = Some(relative.plus_minus());
    cell.difference = Some(Estimate {
        n: relative.n,
        mean: relative.mean - 100.0,
        low: relative.low - 100.0,
        high: relative.high - 100.0,
    });
}

fn activity(extension: &str, results: &[&MatchResult]) -> Activity {
    let mut activity = Activity::default();
    for result in results {
        match result.techniques[0].status(extension) {
            Some(Status::On) => activity.on += 1,
            Some(Status::Off) => activity.off += 1,
            Some(Status::Undecided) | None => activity.undecided += 1,
        }
    }
    activity
}

fn judge(cell: &Comparison, needs_extension: bool) -> Verdict {
    let activity = cell.activity.filter(|_| needs_extension);
    let is_absent = activity.is_some_and(|activity| activity.on == 0 && activity.off > 0);
    if cell.matches == 0 {
        return Verdict::NotPlayed;
    }
    let published = match cell.published {
        Published::NotActive if is_absent => return Verdict::NotActiveEither,
        Published::NotActive => return Verdict::ActiveHereOnly,
        _ if is_absent => return Verdict::NotActiveHere,
        Published::Scores { first, second, .. } => first - second,
        Published::Cost(cost) => cost.relative - 100.0,
    };
    let Some(measured) = cell.difference else {
        return Verdict::NotPlayed;
    };
    match published * measured.mean {
        0.0 => Verdict::NoSign,
        product if product < 0.0 => Verdict::OppositeSign,
        _ if cell.is_significant() => Verdict::SameSignSignificant,
        _ => Verdict::SameSign,
    }
}

/// The verdicts of a table counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Summary {
    /// Cells.
    pub cells: usize,
    /// How many cells have each verdict.
    pub verdicts: Vec<(Verdict, usize)>,
    /// Cells that were played and whose published difference is significant.
    pub significant: usize,
    /// Those of them that have the same sign here.
    pub significant_same_sign: usize,
    /// Cells that were played and whose published difference is significant and at least 15 points.
    pub large: usize,
    /// Those of them that have the same sign here and whose measured difference is significant.
    pub large_confirmed: usize,
}

impl Summary {
    /// Counts verdicts.
    #[must_use]
    pub fn of(comparisons: &[Comparison]) -> Summary {
        let mut verdicts: BTreeMap<Verdict, usize> = BTreeMap::new();
        for cell in comparisons {
            *verdicts.entry(cell.verdict).or_default() += 1;
        }
        let is_significant = |cell: &&Comparison| cell.published_significant && cell.matches > 0;
        let significant: Vec<&Comparison> = comparisons.iter().filter(is_significant).collect();
        let is_large = |cell: &&&Comparison| {
            let difference = cell.published_difference;
            difference.is_some_and(|difference| difference.abs() >= LARGE)
        };
        let large: Vec<&&Comparison> = significant.iter().filter(is_large).collect();
        let is_confirmed = |cell: &&&&Comparison| cell.verdict == Verdict::SameSignSignificant;
        let same_sign = significant.iter().filter(|cell| cell.has_same_sign());
        Summary {
            cells: comparisons.len(),
            verdicts: verdicts.into_iter().collect(),
            significant: significant.len(),
            significant_same_sign: same_sign.count(),
            large: large.len(),
            large_confirmed: large.iter().filter(is_confirmed).count(),
        }
    }

    /// In a few sentences.
    #[must_use]
    pub fn words(&self) -> String {
        let words = |(verdict, n): &(Verdict, usize)| format!("{n} {}", verdict.words());
        let verdicts: Vec<String> = self.verdicts.iter().map(words).collect();
        let mut text = format!("{}: {}.", cells(self.cells), verdicts.join(", "));
        if self.significant > 0 {
            text.push_str(&format!(
                " Same sign in {} of {} whose published difference is significant{}.",
                self.significant_same_sign,
                cells(self.significant),
                share(self.significant_same_sign, self.significant),
            ));
        }
        if self.large > 0 {
            text.push_str(&format!(
                " Same sign and significant in {} of {} with a published difference of {LARGE} points or more{}.",
                self.large_confirmed,
                cells(self.large),
                share(self.large_confirmed, self.large),
            ));
        }
        text
    }
}

fn cells(n: usize) -> String {
    format!("{n} cell{}", if n == 1 { "" } else { "s" })
}

fn share(part: usize, all: usize) -> String {
    format!(" ({:.0} %)", 100.0 * part as f64 / all.max(1) as f64)
}
