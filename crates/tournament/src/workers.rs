//! What workers on other machines contributed, and whether their results are what one would expect of them.
//!
//! The same cell is played by many workers, so each of them should have its mean score, up to chance. The difference is given
//! in standard errors: beyond 3, look at the machine.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::result::MatchResult;
use crate::table::Kind::{Number, Words};
use crate::table::{Kind, Table};

/// A result that was sent and does not count.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Rejected {
    /// Its place in the stream that brought it.
    pub id: String,
    /// The key of its match.
    pub key: String,
    /// The worker that sent it.
    pub worker: String,
    /// What is wrong with it.
    pub reason: String,
    /// What was sent.
    pub result: String,
}

/// What a worker contributed.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct WorkerRow {
    /// Its name; `-` stands for matches that were played without a queue.
    pub worker: String,
    /// Its builds, as fingerprints.
    pub fingerprints: Vec<String>,
    /// Its versions of Agon.
    pub versions: Vec<String>,
    /// Matches with a result that counts.
    pub matches: usize,
    /// Results that were rejected.
    pub rejected: usize,
    /// Matches without goals: step limits and engine failures.
    pub without_goals: usize,
    /// Playouts per second in its measurement of speed.
    pub speed: Option<f64>,
    /// Playouts per second in its matches.
    pub playouts_per_s: Option<f64>,
    /// Mean score of the first players in its matches, 0 to 100.
    pub score: Option<f64>,
    /// The mean score of the same cells over all workers.
    pub expected: Option<f64>,
    /// How far its score is from that, in standard errors.
    pub deviation: Option<f64>,
}

/// Sums up each worker.
#[must_use]
pub fn workers(results: &[MatchResult], rejected: &[Rejected]) -> Vec<WorkerRow> {
    let cells = cell_statistics(results);
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for result in results {
        let worker = result.played_by.as_ref().map_or("-", |by| &by.worker);
        let sum = sums.entry(worker).or_default();
        sum.add(result, cells.get(&cell_key(result)));
    }
    for one in rejected {
        sums.entry(&one.worker).or_default().row.rejected += 1;
    }
    let row = |(worker, sum): (&str, Sum)| sum.into_row(worker);
    sums.into_iter().map(row).collect()
}

/// A table of workers.
#[must_use]
pub fn workers_table(rows: &[WorkerRow]) -> Table {
    let heads: [(&str, Kind); 10] = [
        ("worker", Words),
        ("build", Words),
        ("matches", Number),
        ("rejected", Number),
        ("without goals", Number),
        ("speed", Number),
        ("playouts/s", Number),
        ("score", Number),
        ("expected", Number),
        ("deviation", Number),
    ];
    let mut table = Table::new(&heads, 1);
    let number = |number: Option<f64>, digits: usize| {
        number.map_or_else(|| "-".to_owned(), |number| format!("{number:.digits$}"))
    };
    for row in rows {
        let mut builds = row.versions.clone();
        builds.extend(row.fingerprints.iter().cloned());
        table.push(vec![
            row.worker.clone(),
            builds.join(" "),
            row.matches.to_string(),
            row.rejected.to_string(),
            row.without_goals.to_string(),
            number(row.speed, 0),
            number(row.playouts_per_s, 0),
            number(row.score, 1),
            number(row.expected, 1),
            row.deviation
                .map_or_else(|| "-".to_owned(), |deviation| format!("{deviation:+.1} σ")),
        ]);
    }
    table
}

/// The score of the first player, 0 to 1; in games for one, its goal.
fn score(result: &MatchResult) -> Option<f64> {
    match (result.goal(true), result.goal(false)) {
        (Some(first), Some(second)) => Some(match first.total_cmp(&second) {
            Ordering::Less => 0.0,
            Ordering::Equal => 0.5,
            Ordering::Greater => 1.0,
        }),
        (Some(goal), None) | (None, Some(goal)) => Some(goal / 100.0),
        (None, None) => None,
    }
}

/// Mean and variance of the scores of a cell.
#[derive(Clone, Copy, Default)]
struct Scores {
    n: f64,
    mean: f64,
    variance: f64,
}

/// Results with equal keys are of one cell, with the same seats.
fn cell_key(result: &MatchResult) -> (String, Vec<u8>) {
    let mut fixture = result.fixture.clone();
    fixture.index = 0;
    (fixture.key(), result.seats.clone())
}

fn cell_statistics(results: &[MatchResult]) -> BTreeMap<(String, Vec<u8>), Scores> {
    let mut scores: BTreeMap<(String, Vec<u8>), Vec<f64>> = BTreeMap::new();
    for result in results {
        scores
            .entry(cell_key(result))
            .or_default()
            .extend(score(result));
    }
    let statistics = |scores: Vec<f64>| {
        let n = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / n;
        let squares = scores.iter().map(|score| (score - mean).powi(2));
        Scores {
            n,
            mean,
            variance: squares.sum::<f64>() / n,
        }
    };
    let cells = scores.into_iter().filter(|(_, scores)| !scores.is_empty());
    cells
        .map(|(key, scores)| (key, statistics(scores)))
        .collect()
}

#[derive(Default)]
struct Sum {
    row: WorkerRow,
    n_scores: f64,
    score: f64,
    expected: f64,
    variance: f64,
    playouts: u64,
    seconds: f64,
}

impl Sum {
    fn add(&mut self, result: &MatchResult, cell: Option<&Scores>) {
        self.row.matches += 1;
        push_new(&mut self.row.versions, &result.version);
        if let Some(by) = &result.played_by {
            push_new(&mut self.row.fingerprints, &by.fingerprint);
            self.row.speed = Some(by.speed);
        }
        for work in result.work {
            self.playouts += work.playouts;
            self.seconds += work.seconds;
        }
        match (score(result), cell) {
            (Some(score), Some(cell)) => {
                self.n_scores += 1.0;
                self.score += score;
                self.expected += cell.mean;
                // Its own matches are among those that it is compared with.
                self.variance += cell.variance * (1.0 - 1.0 / cell.n);
            }
            _ => self.row.without_goals += 1,
        }
    }

    fn into_row(self, worker: &str) -> WorkerRow {
        let mean = |sum: f64| (self.n_scores > 0.0).then(|| 100.0 * sum / self.n_scores);
        let deviation = (self.score - self.expected) / self.variance.sqrt();
        WorkerRow {
            worker: worker.to_owned(),
            score: mean(self.score),
            expected: mean(self.expected),
            deviation: Some(deviation).filter(|deviation| deviation.is_finite()),
            playouts_per_s: (self.seconds > 0.0).then(|| self.playouts as f64 / self.seconds),
            ..self.row
        }
    }
}

fn push_new(list: &mut Vec<String>, text: &str) {
    if !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::PlayedBy;
    use crate::result::tests::result;

    #[test]
    fn a_worker_with_other_scores_is_seen() {
        let mut results = Vec::new();
        for index in 0..400 {
            // Everybody wins half of the matches, and the last worker all of them.
            let worker = ["a", "b", "c", "odd"][index as usize / 2 % 4];
            let is_won = worker == "odd" || index / 8 % 2 == 0;
            let goals = if is_won { [100, 0] } else { [0, 100] };
            let mut result = result("x", "y", index, goals);
            result.played_by = Some(PlayedBy {
                worker: worker.to_owned(),
                fingerprint: "7".to_owned(),
                speed: 1000.0,
                time_scale: 1.0,
            });
            results.push(result);
        }
        let rejected = [Rejected {
            id: "1".to_owned(),
            key: "k".to_owned(),
            worker: "liar".to_owned(),
            reason: "the goals are wrong".to_owned(),
            result: String::new(),
        }];
        let rows = workers(&results, &rejected);
        let names: Vec<&str> = rows.iter().map(|row| row.worker.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "liar", "odd"]);
        assert_eq!((rows[3].matches, rows[3].rejected), (0, 1));
        assert_eq!((rows[4].matches, rows[4].score), (100, Some(100.0)));
        assert!(rows[4].deviation.is_some_and(|deviation| deviation > 5.0));
        assert!(
            rows[0]
                .deviation
                .is_some_and(|deviation| deviation.abs() < 3.0)
        );
        let text = workers_table(&rows).text(crate::Format::Markdown);
        assert!(text.contains("liar"), "{text}");
    }
}
