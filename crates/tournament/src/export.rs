//! Results as comma-separated values, for spreadsheets and data frames.
//!
//! Each table has one line of plain heads, then one line per row, quoted as RFC 4180 says. A column holds either words or
//! numbers. Numbers have no unit, no sign for percent and no separators; a value that is unknown or infinite is empty; yes and
//! no are 1 and 0. `docs/CSV.md` describes the columns.

use std::io::Write;

use csv::{Terminator, Writer, WriterBuilder};
use thiserror::Error;

use crate::budget::Budget;
use crate::comparison::Comparison;
use crate::pairs::Goals;
use crate::published::{Cost, Published};
use crate::result::{MatchResult, MoveRow};
use crate::tally::Tally;

/// Why a table cannot be written.
#[derive(Debug, Error)]
#[error("cannot write comma-separated values: {0}")]
pub struct CsvError(#[from] csv::Error);

impl From<std::io::Error> for CsvError {
    fn from(error: std::io::Error) -> CsvError {
        CsvError(error.into())
    }
}

const CELLS: &[&str] = &[
    "game",
    "first",
    "second",
    "budget",
    "budget_unit",
    "matches",
    "score",
    "ci_low",
    "ci_high",
    "wins",
    "draws",
    "losses",
    "elo",
    "elo_low",
    "elo_high",
    "pairs_0",
    "pairs_0_5",
    "pairs_1",
    "pairs_1_5",
    "pairs_2",
    "goal_first",
    "goal_second",
    "goal_difference",
    "goal_difference_low",
    "goal_difference_high",
    "score_as_first",
    "score_as_second",
    "steps",
    "playouts_per_move_first",
    "playouts_per_move_second",
    "transitions_per_move_first",
    "transitions_per_move_second",
    "seconds_per_move_first",
    "seconds_per_move_second",
    "late_first",
    "late_second",
    "illegal_first",
    "illegal_second",
    "missing_first",
    "missing_second",
    "faults_first",
    "faults_second",
    "forfeits_first",
    "forfeits_second",
];

/// Writes one row per cell.
///
/// # Errors
/// If the output cannot be written.
pub fn write_cells(tallies: &[Tally], out: impl Write) -> Result<(), CsvError> {
    let mut lines = Lines::new(out, CELLS)?;
    for tally in tallies {
        let difference = tally.goal_difference;
        let [low, high] = tally.interval.map_or([None; 2], |ends| ends.map(Some));
        lines
            .text(&tally.game)
            .text(&tally.first)
            .text(&tally.second);
        lines.budget(Some(tally.budget)).count(tally.matches);
        lines.numbers([tally.score, low, high]);
        lines.counts([tally.wins, tally.draws, tally.losses]);
        lines.number(tally.elo).numbers(tally.elo_interval);
        match tally.pairs {
            Some(pairs) => lines.counts(pairs),
            None => lines.numbers([None; 5]),
        };
        lines.numbers(tally.goals);
        lines.numbers([
            difference.map(|goals| goals.mean),
            difference.map(|goals| goals.low),
            difference.map(|goals| goals.high),
        ]);
        lines.numbers(tally.score_by_seat).number(Some(tally.steps));
        lines.numbers(tally.playouts_per_move.map(Some));
        lines.numbers(tally.transitions_per_move.map(Some));
        let seconds = tally.seconds_per_move;
        lines.numbers(seconds.map_or([None; 2], |seconds| seconds.map(Some)));
        let kinds = tally.fault_kinds;
        lines.counts(kinds.map(|faults| faults.late as usize));
        lines.counts(kinds.map(|faults| faults.illegal as usize));
        lines.counts(kinds.map(|faults| faults.missing as usize));
        lines.counts(tally.faults.map(|n| n as usize));
        lines.counts(tally.forfeits);
        lines.end()?;
    }
    lines.finish()
}

const MATCHES: &[&str] = &[
    "match_key",
    "game",
    "rules",
    "budget",
    "budget_unit",
    "start_clock",
    "play_clock",
    "seed",
    "match",
    "pair",
    "player",
    "opponent",
    "is_first",
    "seat",
    "seats",
    "goal",
    "opponent_goal",
    "score",
    "steps",
    "ending",
    "searches",
    "playouts",
    "transitions",
    "seconds",
    "setup_seconds",
    "late",
    "illegal",
    "missing",
    "faults",
    "is_forfeited",
    "version",
    "finished",
];

/// Writes one row per match and player who took part in it: two rows for most games, one for single-player games.
///
/// # Errors
/// If the output cannot be written.
pub fn write_matches<'a>(
    results: impl IntoIterator<Item = &'a MatchResult>,
    out: impl Write,
) -> Result<(), CsvError> {
    let mut lines = Lines::new(out, MATCHES)?;
    for result in results {
        for who in 0..2_u8 {
            if result.seats.contains(&who) {
                match_line(&mut lines, result, who)?;
            }
        }
    }
    lines.finish()
}

fn match_line<W: Write>(
    lines: &mut Lines<W>,
    result: &MatchResult,
    who: u8,
) -> Result<(), CsvError> {
    let fixture = &result.fixture;
    let mine = usize::from(who);
    let seat = result.seats.iter().position(|&seat| seat == who);
    let n_seats = result.seats.iter().filter(|&&seat| seat == who).count();
    let goals = [result.goal(who == 0), result.goal(who != 0)];
    let score = Goals::of(result).map(|goals| match who {
        0 => goals.score(),
        _ => 100.0 - goals.score(),
    });
    let work = &result.work[mine];
    lines
        .text(&fixture.key())
        .text(&fixture.game)
        .text(&fixture.rules);
    lines.budget(Some(fixture.budget));
    lines.numbers([fixture.start_clock, fixture.play_clock]);
    lines.whole(fixture.seed).whole(u64::from(fixture.index));
    lines.whole(u64::from(fixture.index / 2));
    lines.text(&fixture.players[mine].name);
    lines.text(&fixture.players[1 - mine].name);
    lines.count(usize::from(who == 0));
    lines.count(seat.map_or(0, |seat| seat + 1)).count(n_seats);
    lines.numbers(goals).number(score);
    lines.whole(u64::from(result.steps)).text(&result.ending);
    lines.whole(u64::from(work.searches)).whole(work.playouts);
    lines.whole(work.transitions);
    lines.numbers([Some(work.seconds), Some(work.setup)]);
    let kinds = &result.fault_kinds[mine];
    lines.counts([kinds.late, kinds.illegal, kinds.missing].map(|n| n as usize));
    lines.whole(u64::from(result.faults[mine]));
    lines.count(usize::from(result.forfeits[mine] > 0));
    lines.text(&result.version).whole(result.finished);
    lines.end()
}

const MOVES: &[&str] = &[
    "match_key",
    "game",
    "first",
    "second",
    "budget",
    "budget_unit",
    "seed",
    "match",
    "step",
    "role",
    "player",
    "move",
    "legal",
    "playouts",
    "transitions",
    "seconds",
    "value",
];

/// Writes one row per move.
pub struct MoveWriter<W: Write> {
    lines: Lines<W>,
}

impl<W: Write> MoveWriter<W> {
    /// Writes the heads.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn new(out: W) -> Result<MoveWriter<W>, CsvError> {
        let lines = Lines::new(out, MOVES)?;
        Ok(MoveWriter { lines })
    }

    /// Writes a move of a match.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn push(&mut self, result: &MatchResult, row: &MoveRow) -> Result<(), CsvError> {
        let fixture = &result.fixture;
        let [first, second] = fixture
            .players
            .each_ref()
            .map(|player| player.name.as_str());
        let lines = &mut self.lines;
        lines
            .text(&fixture.key())
            .text(&fixture.game)
            .text(first)
            .text(second);
        lines.budget(Some(fixture.budget)).whole(fixture.seed);
        lines
            .whole(u64::from(fixture.index))
            .whole(u64::from(row.step));
        lines.text(&row.role);
        lines
            .text(if row.seat == 0 { first } else { second })
            .text(&row.mv);
        lines.number(row.legal.map(f64::from));
        lines.whole(row.playouts).whole(row.transitions);
        lines.numbers([Some(row.seconds), row.value]);
        lines.end()
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn finish(self) -> Result<(), CsvError> {
        self.lines.finish()
    }
}

const COMPARISONS: &[&str] = &[
    "sample",
    "row",
    "column",
    "game",
    "first",
    "second",
    "budget",
    "budget_unit",
    "published_first",
    "published_second",
    "published_plus_minus",
    "published_significant",
    "published_generation_seconds",
    "published_time_percent",
    "published_simulations_percent",
    "matches",
    "measured_first",
    "measured_second",
    "measured_plus_minus",
    "difference",
    "difference_low",
    "difference_high",
    "generation_seconds",
    "time_percent",
    "simulations_percent",
    "active",
    "inactive",
    "undecided",
    "verdict",
];

/// Writes one row per cell of a published table and sample of matches, such as `fixed` and `all`.
///
/// # Errors
/// If the output cannot be written.
pub fn write_comparisons(
    samples: &[(&str, &[Comparison])],
    out: impl Write,
) -> Result<(), CsvError> {
    let mut lines = Lines::new(out, COMPARISONS)?;
    for (sample, comparisons) in samples {
        for comparison in *comparisons {
            comparison_line(&mut lines, sample, comparison)?;
        }
    }
    lines.finish()
}

fn comparison_line<W: Write>(
    lines: &mut Lines<W>,
    sample: &str,
    comparison: &Comparison,
) -> Result<(), CsvError> {
    let [first, second] = &comparison.players;
    lines
        .text(sample)
        .text(&comparison.row)
        .text(&comparison.column);
    lines.text(&comparison.game).text(first).text(second);
    lines.budget(comparison.budget);
    let (scores, cost) = match comparison.published {
        Published::NotActive => ([None; 3], None),
        Published::Scores {
            first,
            second,
            plus_minus,
        } => ([Some(first), Some(second), Some(plus_minus)], None),
        Published::Cost(cost) => ([None; 3], Some(cost)),
    };
    lines.numbers(scores);
    lines.count(usize::from(comparison.published_significant));
    let costs = |cost: Option<Cost>| {
        let relative = cost.map(|cost| cost.relative);
        [
            cost.and_then(|cost| cost.generation),
            cost.and_then(|cost| cost.share),
            relative,
        ]
    };
    lines.numbers(costs(cost)).count(comparison.matches);
    lines.numbers([comparison.first, comparison.second, comparison.plus_minus]);
    let difference = comparison.difference;
    lines.numbers([
        difference.map(|estimate| estimate.mean),
        difference.map(|estimate| estimate.low),
        difference.map(|estimate| estimate.high),
    ]);
    lines.numbers(costs(comparison.cost));
    match comparison.activity {
        Some(activity) => lines.counts([activity.on, activity.off, activity.undecided]),
        None => lines.numbers([None; 3]),
    };
    lines.text(comparison.verdict.words());
    lines.end()
}

/// A table that is written cell by cell.
struct Lines<W: Write> {
    writer: Writer<W>,
    line: Vec<String>,
}

impl<W: Write> Lines<W> {
    fn new(out: W, heads: &[&str]) -> Result<Lines<W>, CsvError> {
        let terminator = Terminator::Any(b'\n');
        let mut writer = WriterBuilder::new().terminator(terminator).from_writer(out);
        writer.write_record(heads)?;
        let line = Vec::with_capacity(heads.len());
        Ok(Lines { writer, line })
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.line.push(text.to_owned());
        self
    }

    fn number(&mut self, number: Option<f64>) -> &mut Self {
        let finite = number.filter(|number| number.is_finite());
        let text = finite.map_or_else(String::new, |number| number.to_string());
        self.text(&text)
    }

    fn numbers<const N: usize>(&mut self, numbers: [Option<f64>; N]) -> &mut Self {
        for number in numbers {
            self.number(number);
        }
        self
    }

    fn whole(&mut self, number: u64) -> &mut Self {
        self.text(&number.to_string())
    }

    fn count(&mut self, count: usize) -> &mut Self {
        self.whole(count as u64)
    }

    fn counts<const N: usize>(&mut self, counts: [usize; N]) -> &mut Self {
        for count in counts {
            self.count(count);
        }
        self
    }

    /// An amount and its unit.
    fn budget(&mut self, budget: Option<Budget>) -> &mut Self {
        self.number(budget.map(Budget::amount));
        self.text(budget.map_or("", Budget::unit))
    }

    /// Ends a line. The writer refuses one with another number of cells than there are heads.
    fn end(&mut self) -> Result<(), CsvError> {
        self.writer.write_record(&self.line)?;
        self.line.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(), CsvError> {
        self.writer.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::result;
    use crate::tally::tallies;

    /// Columns that hold words; all others hold numbers.
    const WORDS: &[&str] = &[
        "match_key",
        "game",
        "rules",
        "budget_unit",
        "first",
        "second",
        "player",
        "opponent",
        "ending",
        "version",
        "role",
        "move",
        "sample",
        "row",
        "column",
        "verdict",
    ];

    /// Reads a table back and checks that every column of numbers holds nothing else.
    fn read(text: &[u8]) -> Vec<std::collections::BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_reader(text);
        let heads = reader.headers().expect("there are heads").clone();
        for head in &heads {
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(head.chars().all(is_plain), "{head}");
        }
        let mut rows = Vec::new();
        for row in reader.records() {
            let row = row.expect("it has a cell per head");
            let cells = heads.iter().zip(&row);
            for (head, cell) in cells.clone() {
                let is_number = cell.is_empty() || cell.parse::<f64>().is_ok_and(f64::is_finite);
                assert!(WORDS.contains(&head) || is_number, "{head}: {cell}");
            }
            rows.push(cells.map(|(a, b)| (a.to_owned(), b.to_owned())).collect());
        }
        rows
    }

    fn some() -> Vec<MatchResult> {
        let mut results: Vec<MatchResult> = (0..5)
            .map(|index| result("a \"b\", c", "line\nbreak", index, [100, 0]))
            .collect();
        results[2].goals[1] = None;
        results[3].fixture.start_clock = Some(1.5);
        results
    }

    #[test]
    fn cells_are_read_back() {
        let mut text = Vec::new();
        let tallies = tallies(&some());
        write_cells(&tallies, &mut text).expect("memory takes it");
        let rows = read(&text);
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!(
            (row["first"].as_str(), row["second"].as_str()),
            ("a \"b\", c", "line\nbreak")
        );
        assert_eq!(
            (row["matches"].as_str(), row["score"].as_str()),
            ("5", "100")
        );
        // Infinite.
        assert_eq!((row["elo"].as_str(), row["elo_high"].as_str()), ("", ""));
        assert!(row["ci_low"].parse::<f64>().is_ok_and(|low| low < 100.0));
        // Matches 2 and 3 are not a pair: one of them has no goals.
        assert_eq!(
            (row["pairs_1"].as_str(), row["pairs_2"].as_str()),
            ("0", "1")
        );
        assert_eq!(
            (row["budget"].as_str(), row["budget_unit"].as_str()),
            ("100", "playouts")
        );
    }

    #[test]
    fn matches_have_a_row_per_player() {
        let mut results = some();
        let mut alone = result("a", "b", 1, [70, 70]);
        alone.seats = vec![1];
        alone.goals = vec![Some(70)];
        results.push(alone);
        results.push(result("a", "b", 0, [30, 30]));
        let mut text = Vec::new();
        write_matches(&results, &mut text).expect("memory takes it");
        let rows = read(&text);
        assert_eq!(rows.len(), 13);
        let cells = |row: usize, heads: &[&str]| {
            let cells: Vec<&str> = heads.iter().map(|head| rows[row][*head].as_str()).collect();
            cells.join(" ")
        };
        let heads = [
            "match",
            "pair",
            "is_first",
            "seat",
            "goal",
            "opponent_goal",
            "score",
        ];
        assert_eq!(cells(0, &heads), "0 0 1 1 100 0 100");
        assert_eq!(cells(1, &heads), "0 0 0 2 0 100 0");
        // Match 1 has the seats swapped; match 2 lacks a goal.
        assert_eq!(cells(2, &heads), "1 0 1 2 100 0 100");
        assert_eq!(cells(4, &heads), "2 1 1 1 100  ");
        assert_eq!(cells(10, &heads), "1 0 0 1 70  ");
        assert_eq!(cells(11, &heads), "0 0 1 1 30 30 50");
        assert_eq!(
            cells(6, &["start_clock", "play_clock", "playouts", "seconds"]),
            "1.5  500 0.25"
        );
    }

    #[test]
    fn moves_are_read_back() {
        let row = MoveRow {
            step: 3,
            role: "x".to_owned(),
            seat: 1,
            mv: "(mark 1, \"2\")".to_owned(),
            legal: None,
            playouts: 12_345_678,
            transitions: 9,
            seconds: 1e-7,
            value: Some(f64::NAN),
        };
        let mut text = Vec::new();
        let mut writer = MoveWriter::new(&mut text).expect("memory takes it");
        writer.push(&some()[0], &row).expect("memory takes it");
        writer.finish().expect("memory takes it");
        let rows = read(&text);
        assert_eq!(rows[0]["move"], "(mark 1, \"2\")");
        assert_eq!(rows[0]["player"], "line\nbreak");
        assert_eq!(rows[0]["playouts"], "12345678");
        assert_eq!(rows[0]["seconds"], "0.0000001");
        assert_eq!(
            (rows[0]["legal"].as_str(), rows[0]["value"].as_str()),
            ("", "")
        );
    }
}
