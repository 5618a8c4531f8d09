//! The results of a run so far: what counts, what is missing, and how long the rest will take.
//!
//! In: cells, their store, and results as they come. Out: the progress that callers are told, and the outcome. Who plays the
//! matches does not matter: threads of this process (`run`), or workers on other machines.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::cell::Cell;
use crate::cell_progress::CellProgress;
use crate::match_runner::Absent;
use crate::result::MatchResult;
use crate::run::{AbsentPlayer, Failure, Outcome, Progress};
use crate::shard::Shard;
use crate::store::{Store, StoreError};

/// A match to be played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// The cell, as its place in the list.
    pub cell_idx: usize,
    /// The number of the match in its cell.
    pub index: u32,
}

/// The results of a run so far.
pub struct Ledger<'a> {
    cells: &'a [Cell],
    cell_progress: Vec<CellProgress>,
    /// Matches without a result, by key.
    missing: HashMap<String, Job>,
    /// Matches with one.
    found: HashMap<String, Job>,
    n_played: usize,
    failures: Vec<Failure>,
    /// Void matches per player.
    n_void: BTreeMap<String, usize>,
    /// Each absent player with its cause, in the order of their first absence.
    absent: Vec<(String, String)>,
    /// Number and time of the matches that were played, per cell.
    times: Vec<(u32, Duration)>,
    last: Option<usize>,
    shard: Shard,
}

impl<'a> Ledger<'a> {
    /// Reads the results that are in the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load(cells: &'a [Cell], store: &Store, shard: Shard) -> Result<Ledger<'a>, StoreError> {
        let mut cell_progress: Vec<CellProgress> = cells.iter().map(CellProgress::new).collect();
        let (mut missing, mut found) = (HashMap::new(), HashMap::new());
        for (cell_idx, (cell, progress)) in cells.iter().zip(&mut cell_progress).enumerate() {
            for index in 0..cell.terms.n_matches {
                let key = cell.fixture(index).key();
                match store.get(&key)? {
                    Some(result) => {
                        found.insert(key, Job { cell_idx, index });
                        progress.put(cell, result);
                    }
                    None => {
                        missing.insert(key, Job { cell_idx, index });
                    }
                }
            }
        }
        Ok(Ledger {
            times: vec![(0, Duration::ZERO); cells.len()],
            cells,
            cell_progress,
            missing,
            found,
            n_played: 0,
            failures: Vec::new(),
            n_void: BTreeMap::new(),
            absent: Vec::new(),
            last: None,
            shard,
        })
    }

    /// The missing matches of the shard, round by round over all cells.
    #[must_use]
    pub fn missing_jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (cell_idx, (cell, progress)) in self.cells.iter().zip(&self.cell_progress).enumerate() {
            let is_wanted =
                |index: &u32| progress.is_missing(*index) && self.shard.has(cell, cell_idx, *index);
            for index in (0..cell.terms.n_matches).filter(is_wanted) {
                jobs.push((index / cell.round_len(), Job { cell_idx, index }));
            }
        }
        jobs.sort_by_key(|(round, job)| (*round, job.cell_idx, job.index));
        jobs.into_iter().map(|(_, job)| job).collect()
    }

    /// The match of a key, if it belongs to these cells, with a result or without.
    #[must_use]
    pub fn job(&self, key: &str) -> Option<Job> {
        self.missing
            .get(key)
            .or_else(|| self.found.get(key))
            .copied()
    }

    /// The match of a key, if it belongs to these cells and has no result.
    #[must_use]
    pub fn missing_job(&self, key: &str) -> Option<Job> {
        self.missing.get(key).copied()
    }

    /// The results of each cell.
    #[must_use]
    pub fn cell_progress(&self) -> &[CellProgress] {
        &self.cell_progress
    }

    /// A match was played in this time.
    pub fn add_time(&mut self, job: Job, time: Duration) {
        self.n_played += 1;
        let (n, sum) = &mut self.times[job.cell_idx];
        (*n, *sum) = (*n + 1, *sum + time);
    }

    /// A match was void because of these players.
    pub fn add_absent(&mut self, absent: Vec<Absent>) {
        for Absent { player, cause } in absent {
            *self.n_void.entry(player.clone()).or_default() += 1;
            self.absent.retain(|(known, _)| *known != player);
            self.absent.push((player, cause));
        }
    }

    /// A match failed.
    pub fn add_failure(&mut self, failure: Failure) {
        self.failures.push(failure);
    }

    /// Adds the result of a match.
    pub fn put(&mut self, job: Job, result: MatchResult) {
        if let Some((key, job)) = self.missing.remove_entry(&result.fixture.key()) {
            self.found.insert(key, job);
        }
        self.last = Some(job.cell_idx);
        self.cell_progress[job.cell_idx].put(&self.cells[job.cell_idx], result);
    }

    /// Tells an observer about the progress, as played by this number of threads.
    pub fn tell(&self, watch: &mut dyn FnMut(&Progress<'_>), n_threads: usize, n_elsewhere: usize) {
        let (n_done, n_wanted) = self.counts();
        watch(&Progress {
            cell_progress: &self.cell_progress,
            n_done,
            n_wanted,
            n_played: self.n_played,
            left: self.left(n_threads),
            last: self.last,
            n_elsewhere,
            absent: &self.absent,
        });
    }

    /// Matches of the shard that count so far, and that will count as far as is known.
    fn counts(&self) -> (usize, usize) {
        if self.shard.is_whole() {
            let counted = self.cell_progress.iter().map(CellProgress::n_counted);
            let wanted = self.cell_progress.iter().map(CellProgress::n_wanted);
            return (counted.sum(), wanted.sum());
        }
        let (mut n_done, mut n_wanted) = (0, 0);
        for (cell_idx, (cell, progress)) in self.cells.iter().zip(&self.cell_progress).enumerate() {
            let own = (0..progress.n_wanted() as u32)
                .filter(|index| self.shard.has(cell, cell_idx, *index));
            for index in own {
                n_wanted += 1;
                n_done += usize::from(!progress.is_missing(index));
            }
        }
        (n_done, n_wanted)
    }

    /// Each cell goes on at its mean time per match; a cell without a match, at the mean of all.
    fn left(&self, n_threads: usize) -> Option<Duration> {
        let n: u32 = self.times.iter().map(|(n, _)| n).sum();
        let all: Duration = self.times.iter().map(|(_, time)| time).sum();
        if n == 0 {
            return None;
        }
        let cell_time = |(progress, (n_here, time)): (&CellProgress, &(u32, Duration))| {
            let missing = progress.n_wanted() - progress.n_counted();
            let mean = match n_here {
                0 => all / n,
                n_here => *time / *n_here,
            };
            mean * missing as u32
        };
        let left: Duration = self
            .cell_progress
            .iter()
            .zip(&self.times)
            .map(cell_time)
            .sum();
        let (n_done, n_wanted) = self.counts();
        let counted = self.cell_progress.iter().map(CellProgress::n_counted);
        let wanted = self.cell_progress.iter().map(CellProgress::n_wanted);
        let n_left = wanted.sum::<usize>() - counted.sum::<usize>();
        let share = (n_wanted - n_done) as f64 / n_left.max(1) as f64;
        Some(left.mul_f64(share) / n_threads.max(1) as u32)
    }

    /// What came of the run.
    #[must_use]
    pub fn into_outcome(self) -> Outcome {
        let missing_with = |player: &str| {
            let cells = self.cells.iter().zip(&self.cell_progress);
            let of_player = cells.filter(|(cell, _)| {
                let players = cell.fixture(0).players;
                players.iter().any(|one| one.name == player)
            });
            of_player
                .map(|(_, progress)| progress.n_wanted() - progress.n_counted())
                .sum()
        };
        let absent = self.absent.iter().map(|(player, cause)| AbsentPlayer {
            n_void: self.n_void[player],
            n_missing: missing_with(player),
            player: player.clone(),
            cause: cause.clone(),
        });
        Outcome {
            n_missing: self.missing_jobs().len(),
            absent: absent.filter(|absent| absent.n_missing > 0).collect(),
            cell_progress: self.cell_progress,
            n_played: self.n_played,
            failures: self.failures,
        }
    }
}
