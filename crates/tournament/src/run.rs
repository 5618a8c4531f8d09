//! Plays the missing matches of cells on several threads, and stores results as they come.
//!
//! Matches are played round by round over all cells, so that the table fills evenly. A thread claims a match in the store
//! before it plays it (`lease`), so that several processes can share one store. A run that finds all its remaining matches
//! claimed waits for their results, and takes over a match whose lease has expired. A match that is being played when the
//! process dies is played again.
//!
//! A void match is not stored. It is tried again after a pause; a remote player that stays absent is given up for the rest
//! of the run (`queue`). A match that panics is reported and left out, and the others go on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agon_arena::panic_words;
use agon_protocol::StopFlag;

use crate::cell::Cell;
use crate::cell_progress::CellProgress;
use crate::lease::{Claim, Owner};
use crate::ledger::{Job, Ledger};
use crate::match_runner::{Absent, Played, play};
use crate::queue::{Entry, Queue};
use crate::result::MatchResult;
use crate::shard::Shard;
use crate::store::{Store, StoreError};

/// The progress of a run.
#[derive(Debug)]
pub struct Progress<'a> {
    /// The results of each cell.
    pub cell_progress: &'a [CellProgress],
    /// Matches with a result that counts.
    pub n_done: usize,
    /// Matches that will count, as far as is known.
    pub n_wanted: usize,
    /// Matches that this run has played.
    pub n_played: usize,
    /// Time left, once there is something to estimate it by.
    pub left: Option<Duration>,
    /// The cell of the match that was played last, as its place in the list.
    pub last: Option<usize>,
    /// Matches that other processes play, if this run only waits for them; otherwise 0.
    pub n_elsewhere: usize,
    /// Players that were absent, and the cause.
    pub absent: &'a [(String, String)],
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The results of each cell.
    pub cell_progress: Vec<CellProgress>,
    /// Matches that this run has played.
    pub n_played: usize,
    /// Matches that it should have played and that have no result.
    pub n_missing: usize,
    /// Matches that panicked.
    pub failures: Vec<Failure>,
    /// Players because of which matches are missing.
    pub absent: Vec<AbsentPlayer>,
}

/// A match that panicked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The cell, as its place in the list.
    pub cell: usize,
    /// The number of the match.
    pub index: u32,
    /// The message of the panic.
    pub reason: String,
}

/// A player because of which matches were void.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AbsentPlayer {
    /// The player, as the tournament file has it.
    pub player: String,
    /// Why its last match was void: `connection refused`.
    pub cause: String,
    /// Attempts to play a match with it that were void.
    pub n_void: usize,
    /// Matches with this player that have no result.
    pub n_missing: usize,
}

/// How long things take in a run. Tests make it faster.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Pace {
    /// A lease that is not renewed expires after this time.
    pub lease: Duration,
    /// How often leases are renewed.
    pub renew: Duration,
    /// How often a run looks for results of other processes.
    pub poll: Duration,
    /// Pauses after a player was absent, each followed by another attempt.
    pub pauses: Vec<Duration>,
}

impl Default for Pace {
    /// A lease survives five missed renewals, for machines that are very busy.
    fn default() -> Pace {
        Pace {
            lease: Duration::from_secs(30),
            renew: Duration::from_secs(5),
            poll: Duration::from_secs(1),
            pauses: vec![Duration::from_secs(1), Duration::from_secs(3)],
        }
    }
}

/// Plays all missing matches until `stop` is raised. `watch` is called at the beginning, after every match, and when the run
/// begins to wait for other processes.
///
/// # Errors
/// If the store fails. Results that were stored before are kept.
pub fn run(
    cells: &[Cell],
    store: &mut Store,
    n_threads: usize,
    stop: &StopFlag,
    watch: &mut dyn FnMut(&Progress<'_>),
) -> Result<Outcome, StoreError> {
    run_shard(Shard::WHOLE, cells, store, n_threads, stop, watch)
}

/// [`run`] for a part of the tournament.
///
/// # Errors
/// If the store fails. Results that were stored before are kept.
pub fn run_shard(
    shard: Shard,
    cells: &[Cell],
    store: &mut Store,
    n_threads: usize,
    stop: &StopFlag,
    watch: &mut dyn FnMut(&Progress<'_>),
) -> Result<Outcome, StoreError> {
    let pace = Pace::default();
    run_shard_at(&pace, shard, cells, store, n_threads, stop, watch)
}

/// [`run`] at another pace, for tests.
///
/// # Errors
/// If the store fails.
#[doc(hidden)]
pub fn run_at(
    pace: &Pace,
    cells: &[Cell],
    store: &mut Store,
    n_threads: usize,
    stop: &StopFlag,
    watch: &mut dyn FnMut(&Progress<'_>),
) -> Result<Outcome, StoreError> {
    run_shard_at(pace, Shard::WHOLE, cells, store, n_threads, stop, watch)
}

fn run_shard_at(
    pace: &Pace,
    shard: Shard,
    cells: &[Cell],
    store: &mut Store,
    n_threads: usize,
    stop: &StopFlag,
    watch: &mut dyn FnMut(&Progress<'_>),
) -> Result<Outcome, StoreError> {
    let mut results = Ledger::load(cells, store, shard)?;
    let with_players = |job: Job| {
        let addresses = cells[job.cell_idx].addresses();
        (job, addresses.map(str::to_owned).collect())
    };
    let jobs = results.missing_jobs().into_iter().map(with_players);
    let shared = Shared {
        cells,
        queue: Queue::new(jobs.collect()),
        store: Mutex::new(store),
        owner: Owner::new(),
        pace,
        stop,
    };
    results.tell(watch, n_threads, 0);
    let (sender, reports) = channel();
    let (finished, is_finished) = channel::<()>();
    let ended = thread::scope(|scope| {
        let shared = &shared;
        for _ in 0..n_threads.max(1) {
            let sender = sender.clone();
            scope.spawn(move || shared.work(&sender));
        }
        drop(sender);
        scope.spawn(move || shared.renew_leases(&is_finished));
        let ended = collect(shared, &mut results, &reports, n_threads, watch);
        if ended.is_err() {
            shared.queue.close();
            stop.raise();
        }
        drop(finished);
        ended
    });
    shared.store().release_all(&shared.owner)?;
    ended?;
    Ok(results.into_outcome())
}

/// Takes reports of the threads and results of other processes until all threads have ended.
fn collect(
    shared: &Shared<'_>,
    results: &mut Ledger<'_>,
    reports: &Receiver<Result<Report, StoreError>>,
    n_threads: usize,
    watch: &mut dyn FnMut(&Progress<'_>),
) -> Result<(), StoreError> {
    let mut looked = Instant::now();
    let mut n_waiting = 0;
    let mut version = None;
    let mut has_ended = vec![false; results.cell_progress().len()];
    loop {
        let is_new = match reports.recv_timeout(shared.pace.poll) {
            Ok(report) => {
                take(results, report?);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        let mut is_changed = is_new;
        if looked.elapsed() >= shared.pace.poll {
            is_changed |= look_for_others(results, shared, &mut version)?;
            looked = Instant::now();
        }
        for (cell_idx, progress) in results.cell_progress().iter().enumerate() {
            if progress.ended().is_some() && !has_ended[cell_idx] {
                has_ended[cell_idx] = true;
                shared.queue.drop_cell(cell_idx);
            }
        }
        let n_elsewhere = shared.queue.n_elsewhere();
        if is_changed || n_elsewhere != n_waiting {
            results.tell(watch, n_threads, n_elsewhere);
        }
        n_waiting = n_elsewhere;
    }
}

/// Takes what a thread reports.
fn take(results: &mut Ledger<'_>, report: Report) {
    match report {
        Report::Result {
            job,
            result,
            played,
        } => {
            if let Some(time) = played {
                results.add_time(job, time);
            }
            results.put(job, *result);
        }
        Report::Void(absent) => results.add_absent(absent),
        Report::Broken(failure) => results.add_failure(failure),
    }
}

/// Takes results that other processes have stored; whether there were any. `version` is that of the store when it was read
/// last.
fn look_for_others(
    results: &mut Ledger<'_>,
    shared: &Shared<'_>,
    version: &mut Option<i64>,
) -> Result<bool, StoreError> {
    let mut found = Vec::new();
    {
        let store = shared.store();
        let now = Some(store.version()?);
        if now == *version {
            return Ok(false);
        }
        *version = now;
        for key in store.keys()? {
            if let Some(job) = results.missing_job(&key) {
                found.extend(store.get(&key)?.map(|result| (job, result)));
            }
        }
    }
    let is_changed = !found.is_empty();
    for (job, result) in found {
        shared.queue.remove(job);
        results.put(job, result);
    }
    Ok(is_changed)
}

/// What the threads of a run share.
struct Shared<'a> {
    // Constant during the run.
    cells: &'a [Cell],
    owner: Owner,
    pace: &'a Pace,
    stop: &'a StopFlag,
    // Changed by all threads.
    queue: Queue,
    store: Mutex<&'a mut Store>,
}

/// What became of a match.
enum Report {
    Result {
        job: Job,
        result: Box<MatchResult>,
        /// Its time, if this run has played it.
        played: Option<Duration>,
    },
    Void(Vec<Absent>),
    Broken(Failure),
}

impl<'a> Shared<'a> {
    fn store(&self) -> MutexGuard<'_, &'a mut Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plays one match after the other.
    fn work(&self, sender: &Sender<Result<Report, StoreError>>) {
        while let Some(entry) = self.queue.next(self.stop) {
            let report = self.play(entry).transpose();
            if report.is_some_and(|report| sender.send(report).is_err()) {
                return;
            }
        }
    }

    /// Claims a match and plays it. There is nothing to report if another process has it, or the run was stopped.
    fn play(&self, entry: Entry) -> Result<Option<Report>, StoreError> {
        let job = entry.job;
        let cell = &self.cells[job.cell_idx];
        let key = cell.fixture(job.index).key();
        let (addresses, poll) = (&entry.addresses, self.pace.poll);
        let claim = self
            .store()
            .claim(&self.owner, &key, addresses, self.pace.lease)?;
        match claim {
            Claim::Granted => {}
            Claim::Played(result) => {
                self.queue.finish(&entry);
                let played = None;
                return Ok(Some(Report::Result {
                    job,
                    result,
                    played,
                }));
            }
            Claim::MatchTaken => {
                self.queue.postpone(entry, poll);
                return Ok(None);
            }
            Claim::PlayerTaken(address) => {
                self.queue.postpone_player(entry, address, poll);
                return Ok(None);
            }
        }
        let started = Instant::now();
        let played = catch_unwind(AssertUnwindSafe(|| play(cell, job.index, self.stop)));
        if let Ok(Played::Finished(finished)) = played {
            let finish =
                self.store()
                    .finish(&self.owner, addresses, &finished.result, &finished.moves);
            let earlier = finish?;
            self.queue.finish(&entry);
            return Ok(Some(Report::Result {
                job,
                played: earlier.is_none().then(|| started.elapsed()),
                result: Box::new(earlier.unwrap_or(finished.result)),
            }));
        }
        self.store().release(&self.owner, &key, addresses)?;
        Ok(match played {
            Ok(Played::Void(absent)) => {
                let players: Vec<String> = absent.iter().map(|one| one.player.clone()).collect();
                self.queue.absent(&entry, &players, &self.pace.pauses);
                Some(Report::Void(absent))
            }
            Ok(Played::Stopped | Played::Finished(_)) => {
                self.queue.finish(&entry);
                None
            }
            Err(payload) => {
                self.queue.finish(&entry);
                Some(Report::Broken(Failure {
                    cell: job.cell_idx,
                    index: job.index,
                    reason: panic_words(&*payload),
                }))
            }
        })
    }

    /// Renews the leases of this run until it is over. A renewal that fails is tried again; the next write to the store
    /// reports what is wrong with it.
    fn renew_leases(&self, is_finished: &Receiver<()>) {
        let wait = || is_finished.recv_timeout(self.pace.renew);
        while wait() == Err(RecvTimeoutError::Timeout) {
            let _ = self.store().renew(&self.owner, self.pace.lease);
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
        let results = outcome.cell_progress.iter().flat_map(CellProgress::counted);
        results
            .map(|result: &MatchResult| result.goals.clone())
            .collect()
    }

    fn play_on(cells: &[Cell], store: &mut Store, n_threads: usize) -> Outcome {
        run(cells, store, n_threads, &StopFlag::new(), &mut |_| {}).expect("the store works")
    }

    #[test]
    fn stored_matches_are_not_played_again() {
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
    fn an_observer_is_told() {
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
        let counted = outcome.cell_progress[0].counted().len();
        assert!(counted < 300, "{counted} matches");
        assert_eq!(play_on(&cells, &mut store, 1).n_played, 0);
        let mut fresh = Store::in_memory().expect("there is memory");
        assert_eq!(goals(&play_on(&cells, &mut fresh, 1)), goals(&outcome));
    }

    /// An address at which nobody listens.
    fn nobody() -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = listener.local_addr().expect("it has one");
        format!("http://{address}")
    }

    #[test]
    fn matches_with_an_absent_player_are_void_and_the_others_are_played() {
        let mut store = Store::in_memory().expect("there is memory");
        let absent = nobody();
        let cells = [
            cell("mc", &absent, 4),
            cell("mc", "random", 4),
            cell("legal", &absent, 2),
        ];
        let pace = Pace {
            pauses: vec![Duration::from_millis(1)],
            ..Pace::default()
        };
        let mut told = Vec::new();
        let mut watch = |progress: &Progress<'_>| told = progress.absent.to_vec();
        let stop = StopFlag::new();
        let outcome = run_at(&pace, &cells, &mut store, 2, &stop, &mut watch);
        let outcome = outcome.expect("the store works");
        let expected = AbsentPlayer {
            player: absent.clone(),
            cause: "connection refused".to_owned(),
            n_void: 2,
            n_missing: 6,
        };
        assert_eq!(outcome.absent, [expected]);
        assert_eq!(told, [(absent, "connection refused".to_owned())]);
        assert_eq!((outcome.n_played, outcome.failures.len()), (4, 0));
        assert_eq!(store.n_matches().expect("it is read"), 4);
        let ended: Vec<bool> = outcome
            .cell_progress
            .iter()
            .map(|progress| progress.ended().is_some())
            .collect();
        assert_eq!(ended, [false, true, false]);
    }

    #[test]
    fn results_of_other_processes_count_and_their_matches_are_waited_for() {
        let cells = [cell("mc", "random", 6)];
        let mut fresh = Store::in_memory().expect("there is memory");
        let expected = goals(&play_on(&cells, &mut fresh, 1));
        let mut store = Store::in_memory().expect("there is memory");
        // Another process has claimed all matches, and dies.
        let other = Owner::new();
        for index in 0..6 {
            let key = cells[0].fixture(index).key();
            let claim = store.claim(&other, &key, &[], Duration::from_millis(300));
            assert!(matches!(claim, Ok(Claim::Granted)));
        }
        let pace = Pace {
            poll: Duration::from_millis(20),
            ..Pace::default()
        };
        let mut n_elsewhere = Vec::new();
        let mut watch = |progress: &Progress<'_>| n_elsewhere.push(progress.n_elsewhere);
        let outcome = run_at(&pace, &cells, &mut store, 2, &StopFlag::new(), &mut watch);
        let outcome = outcome.expect("the store works");
        assert_eq!(goals(&outcome), expected);
        assert!(n_elsewhere.contains(&6), "{n_elsewhere:?}");
        let attempts = store.attempts().expect("it is read");
        assert!(attempts.values().all(|n| *n == 2), "{attempts:?}");
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
