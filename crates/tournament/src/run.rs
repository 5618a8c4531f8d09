//! Plays what is missing of cells on several threads, and keeps results as they come.
//!
//! Matches are dealt out round by round over all cells, so that the table fills evenly. A player elsewhere has one match at a
//! time. Only the thread that calls writes to the store; a match that is being played when the program dies is played again.
//! A match that panics is told and left out, and the others go on.

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agon_arena::panic_words;
use agon_protocol::StopFlag;

use crate::bout::{Bout, play};
use crate::cell::Cell;
use crate::standing::Standing;
use crate::store::{Store, StoreError};

/// How it goes.
#[derive(Debug)]
pub struct Progress<'a> {
    /// How each cell stands.
    pub standings: &'a [Standing],
    /// Matches that are there and count.
    pub n_done: usize,
    /// Matches that will count, as far as is known.
    pub n_wanted: usize,
    /// Matches played since it began.
    pub n_played: usize,
    /// Time left, once there is something to guess by.
    pub left: Option<Duration>,
    /// The cell of the match that was played last, as its place in the list.
    pub last: Option<usize>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How each cell stands.
    pub standings: Vec<Standing>,
    /// Matches played now.
    pub n_played: usize,
    /// Matches that broke down.
    pub failures: Vec<Failure>,
}

/// A match that broke down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The cell, as its place in the list.
    pub cell: usize,
    /// The number of the match.
    pub index: u32,
    /// What was said.
    pub reason: String,
}

/// Plays all that is missing, unless somebody stops it. `watch` is called at the beginning and after every match.
///
/// # Errors
/// If the store fails; what was played before is in it.
pub fn run(
    cells: &[Cell],
    store: &mut Store,
    n_threads: usize,
    stop: &StopFlag,
    watch: &mut dyn FnMut(&Progress<'_>),
) -> Result<Outcome, StoreError> {
    let mut hall = Hall::load(cells, store)?;
    let desk = Desk::new(hall.missing());
    hall.tell(watch, n_threads, None);
    let (sender, receiver) = channel();
    let ended: Result<(), StoreError> = thread::scope(|scope| {
        for _ in 0..n_threads.max(1) {
            let (sender, desk) = (sender.clone(), &desk);
            scope.spawn(move || work(cells, desk, stop, &sender));
        }
        drop(sender);
        for report in &receiver {
            let cell_idx = report.job.cell_idx;
            if let Err(error) = hall.take(store, report) {
                desk.close();
                stop.raise();
                return Err(error);
            }
            if hall.standings[cell_idx].ended().is_some() {
                desk.drop_cell(cell_idx);
            }
            hall.tell(watch, n_threads, Some(cell_idx));
        }
        Ok(())
    });
    ended?;
    Ok(Outcome {
        standings: hall.standings,
        n_played: hall.n_played,
        failures: hall.failures,
    })
}

/// A match to be played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Job {
    cell_idx: usize,
    index: u32,
}

/// A match that was played, or broke down.
struct Report {
    job: Job,
    bout: Result<Bout, String>,
    time: Duration,
}

/// Everything that the calling thread knows.
struct Hall<'a> {
    cells: &'a [Cell],
    standings: Vec<Standing>,
    n_played: usize,
    failures: Vec<Failure>,
    /// Matches and their time, per cell.
    times: Vec<(u32, Duration)>,
}

impl Hall<'_> {
    /// Takes from the store what is there.
    fn load<'a>(cells: &'a [Cell], store: &Store) -> Result<Hall<'a>, StoreError> {
        let mut standings: Vec<Standing> = cells.iter().map(Standing::new).collect();
        for (cell, standing) in cells.iter().zip(&mut standings) {
            for index in 0..cell.terms.n_matches {
                if let Some(result) = store.get(&cell.fixture(index).key())? {
                    standing.put(cell, result);
                }
            }
        }
        Ok(Hall {
            times: vec![(0, Duration::ZERO); cells.len()],
            cells,
            standings,
            n_played: 0,
            failures: Vec::new(),
        })
    }

    /// What is to be played, round by round over all cells, with the addresses that each match needs.
    fn missing(&self) -> VecDeque<(Job, Vec<String>)> {
        let mut jobs = Vec::new();
        for (cell_idx, (cell, standing)) in self.cells.iter().zip(&self.standings).enumerate() {
            let addresses: Vec<String> = cell.addresses().map(str::to_owned).collect();
            for index in (0..cell.terms.n_matches).filter(|index| standing.is_missing(*index)) {
                let round = index / cell.round_len();
                jobs.push((round, Job { cell_idx, index }, addresses.clone()));
            }
        }
        jobs.sort_by_key(|(round, job, _)| (*round, job.cell_idx, job.index));
        let jobs = jobs.into_iter();
        jobs.map(|(_, job, addresses)| (job, addresses)).collect()
    }

    fn take(&mut self, store: &mut Store, report: Report) -> Result<(), StoreError> {
        let Job { cell_idx, index } = report.job;
        let bout = match report.bout {
            Ok(bout) => bout,
            Err(reason) => {
                self.failures.push(Failure {
                    cell: cell_idx,
                    index,
                    reason,
                });
                return Ok(());
            }
        };
        store.put(&bout.result, &bout.moves)?;
        self.n_played += 1;
        let (n, time) = &mut self.times[cell_idx];
        (*n, *time) = (*n + 1, *time + report.time);
        self.standings[cell_idx].put(&self.cells[cell_idx], bout.result);
        Ok(())
    }

    fn tell(&self, watch: &mut dyn FnMut(&Progress<'_>), n_threads: usize, last: Option<usize>) {
        let counted = self.standings.iter().map(Standing::n_counted);
        watch(&Progress {
            standings: &self.standings,
            n_done: counted.sum(),
            n_wanted: self.standings.iter().map(Standing::n_wanted).sum(),
            n_played: self.n_played,
            left: self.left(n_threads),
            last,
        });
    }

    /// Each cell goes on as it went; one without a match goes as all together.
    fn left(&self, n_threads: usize) -> Option<Duration> {
        let n: u32 = self.times.iter().map(|(n, _)| n).sum();
        let all: Duration = self.times.iter().map(|(_, time)| time).sum();
        if n == 0 {
            return None;
        }
        let of_cell = |(standing, (n_here, time)): (&Standing, &(u32, Duration))| {
            let missing = standing.n_wanted() - standing.n_counted();
            let mean = match n_here {
                0 => all / n,
                n_here => *time / *n_here,
            };
            mean * missing as u32
        };
        let left: Duration = self.standings.iter().zip(&self.times).map(of_cell).sum();
        Some(left / n_threads.max(1) as u32)
    }
}

/// Where threads get their matches.
struct Desk {
    board: Mutex<Board>,
    changed: Condvar,
}

struct Board {
    jobs: VecDeque<(Job, Vec<String>)>,
    busy: BTreeSet<String>,
}

impl Desk {
    fn new(jobs: VecDeque<(Job, Vec<String>)>) -> Desk {
        let busy = BTreeSet::new();
        Desk {
            board: Mutex::new(Board { jobs, busy }),
            changed: Condvar::new(),
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next match whose players have time; waits for one if there will be one.
    fn next(&self, stop: &StopFlag) -> Option<(Job, Vec<String>)> {
        let mut board = self.board();
        loop {
            if board.jobs.is_empty() || stop.is_raised() {
                return None;
            }
            let is_free = |of: &(Job, Vec<String>)| !of.1.iter().any(|at| board.busy.contains(at));
            if let Some(at) = board.jobs.iter().position(is_free) {
                let (job, addresses) = board.jobs.remove(at)?;
                board.busy.extend(addresses.iter().cloned());
                return Some((job, addresses));
            }
            let waited = self.changed.wait(board);
            board = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The players of a match have time again.
    fn release(&self, addresses: &[String]) {
        let mut board = self.board();
        for address in addresses {
            board.busy.remove(address);
        }
        self.changed.notify_all();
    }

    /// Nobody needs further matches of this cell.
    fn drop_cell(&self, cell_idx: usize) {
        self.board()
            .jobs
            .retain(|(job, _)| job.cell_idx != cell_idx);
        self.changed.notify_all();
    }

    /// Nobody needs any further match.
    fn close(&self) {
        self.board().jobs.clear();
        self.changed.notify_all();
    }
}

fn work(cells: &[Cell], desk: &Desk, stop: &StopFlag, sender: &Sender<Report>) {
    while let Some((job, addresses)) = desk.next(stop) {
        let started = Instant::now();
        let cell = &cells[job.cell_idx];
        let bout = catch_unwind(AssertUnwindSafe(|| play(cell, job.index, stop)));
        desk.release(&addresses);
        let bout = match bout {
            Ok(Some(bout)) => Ok(bout),
            Ok(None) => return,
            Err(payload) => Err(panic_words(&*payload)),
        };
        let time = started.elapsed();
        if sender.send(Report { job, bout, time }).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::result::MatchResult;
    use crate::sprt::Sprt;

    fn goals(outcome: &Outcome) -> Vec<Vec<Option<u8>>> {
        let results = outcome.standings.iter().flat_map(Standing::counted);
        results
            .map(|result: &MatchResult| result.goals.clone())
            .collect()
    }

    fn play_on(cells: &[Cell], store: &mut Store, n_threads: usize) -> Outcome {
        run(cells, store, n_threads, &StopFlag::new(), &mut |_| {}).expect("the store works")
    }

    #[test]
    fn what_is_there_is_not_played_again() {
        let mut store = Store::in_memory().expect("there is memory");
        let few = [cell("mc", "random", 4)];
        assert_eq!(play_on(&few, &mut store, 1).n_played, 4);
        let more = [cell("mc", "random", 10), cell("mc", "legal", 3)];
        let outcome = play_on(&more, &mut store, 2);
        assert_eq!(outcome.n_played, 9);
        assert_eq!(play_on(&more, &mut store, 2).n_played, 0);
        // Neither order nor threads change anything.
        let mut fresh = Store::in_memory().expect("there is memory");
        assert_eq!(goals(&play_on(&more, &mut fresh, 3)), goals(&outcome));
    }

    #[test]
    fn somebody_who_watches_is_told() {
        let mut store = Store::in_memory().expect("there is memory");
        let cells = [cell("mc", "random", 4)];
        let mut seen = Vec::new();
        let mut watch = |progress: &Progress<'_>| {
            assert_eq!(progress.left.is_some(), progress.n_played > 0);
            seen.push((progress.n_done, progress.n_wanted, progress.n_played));
        };
        run(&cells, &mut store, 1, &StopFlag::new(), &mut watch).expect("the store works");
        assert_eq!(
            seen,
            [(0, 4, 0), (1, 4, 1), (2, 4, 2), (3, 4, 3), (4, 4, 4)]
        );
    }

    #[test]
    fn a_test_that_is_answered_saves_matches() {
        let mut store = Store::in_memory().expect("there is memory");
        let mut cell = cell("mc", "legal", 400);
        cell.terms.sprt = Some(Sprt::of_sign(100.0, 0));
        let cells = [cell];
        let outcome = play_on(&cells, &mut store, 2);
        let counted = outcome.standings[0].counted().len();
        assert!(counted < 300, "{counted} matches");
        assert_eq!(play_on(&cells, &mut store, 1).n_played, 0);
        let mut fresh = Store::in_memory().expect("there is memory");
        assert_eq!(goals(&play_on(&cells, &mut fresh, 1)), goals(&outcome));
    }

    #[test]
    fn players_elsewhere_have_one_match_at_a_time() {
        let job = |index| Job { cell_idx: 0, index };
        let here = |of: &str| vec![of.to_owned()];
        let jobs = [
            (job(0), here("a")),
            (job(1), here("a")),
            (job(2), here("b")),
        ];
        let desk = Desk::new(jobs.into());
        let stop = StopFlag::new();
        let next = || desk.next(&stop).expect("there is one");
        let (first, addresses) = next();
        assert_eq!((first, next().0), (job(0), job(2)));
        desk.release(&addresses);
        assert_eq!(next().0, job(1));
        assert_eq!(desk.next(&stop), None);
    }

    #[test]
    fn a_run_can_be_stopped() {
        let mut store = Store::in_memory().expect("there is memory");
        let stop = StopFlag::new();
        let raise = stop.clone();
        let mut watch = |progress: &Progress<'_>| {
            if progress.n_played == 2 {
                raise.raise();
            }
        };
        let cells = [cell("mc", "random", 5000)];
        let outcome = run(&cells, &mut store, 1, &stop, &mut watch).expect("the store works");
        assert!((2..5000).contains(&outcome.n_played));
        assert_eq!(store.n_matches().expect("it is read"), outcome.n_played);
    }
}
