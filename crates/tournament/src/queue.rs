//! The matches that are to be played, in order, for all threads of a run.
//!
//! A match waits while one of its remote players has another match, while another process plays it, or while one of its
//! remote players is paused because it was absent. A player that stays absent is given up for the rest of the run, and its
//! matches leave the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_protocol::StopFlag;

use crate::ledger::Job;

/// How often a waiting thread checks whether the run was stopped.
const POLL: Duration = Duration::from_millis(200);

/// A place in the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) job: Job,
    /// The remote players of the match.
    pub(crate) addresses: Vec<String>,
    /// Its place in the queue.
    order: usize,
    /// Set while another process plays the match.
    taken_until: Option<Instant>,
}

/// The queue of a run.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    entries: BTreeMap<usize, Entry>,
    n_running: usize,
    /// Remote players that have a match of this run.
    busy: BTreeSet<String>,
    /// Remote players that have to wait.
    paused: BTreeMap<String, Pause>,
    /// How often in a row each remote player was absent.
    n_absences: BTreeMap<String, usize>,
}

#[derive(Clone, Copy)]
struct Pause {
    until: Instant,
    /// Another process plays with the player; otherwise it was absent.
    is_taken: bool,
}

impl Queue {
    /// A queue of matches with their remote players, in this order.
    pub(crate) fn new(jobs: Vec<(Job, Vec<String>)>) -> Queue {
        let entry = |(order, (job, addresses))| {
            let entry = Entry {
                job,
                addresses,
                order,
                taken_until: None,
            };
            (order, entry)
        };
        let state = State {
            entries: jobs.into_iter().enumerate().map(entry).collect(),
            ..State::default()
        };
        Queue {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first match that can be played; waits for one while there are matches left.
    pub(crate) fn next(&self, stop: &StopFlag) -> Option<Entry> {
        let mut state = self.state();
        loop {
            if state.entries.is_empty() || stop.is_raised() {
                return None;
            }
            let now = Instant::now();
            let mut free = state
                .entries
                .values()
                .filter(|entry| state.is_free(entry, now));
            if let Some(order) = free.next().map(|entry| entry.order) {
                let entry = state.entries.remove(&order)?;
                state.busy.extend(entry.addresses.iter().cloned());
                state.n_running += 1;
                return Some(entry);
            }
            let wait = state.next_pause(now).map_or(POLL, |wait| wait.min(POLL));
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A match is over, or will not be played in this run.
    pub(crate) fn finish(&self, entry: &Entry) {
        let mut state = self.state();
        state.stop_running(entry);
        for address in &entry.addresses {
            state.n_absences.remove(address);
        }
        self.changed.notify_all();
    }

    /// Another process plays the match: try again later.
    pub(crate) fn postpone(&self, mut entry: Entry, delay: Duration) {
        let mut state = self.state();
        state.stop_running(&entry);
        entry.taken_until = Some(Instant::now() + delay);
        state.entries.insert(entry.order, entry);
        self.changed.notify_all();
    }

    /// Another process plays a match with this remote player: try again later.
    pub(crate) fn postpone_player(&self, entry: Entry, address: String, delay: Duration) {
        let mut state = self.state();
        state.stop_running(&entry);
        let pause = Pause {
            until: Instant::now() + delay,
            is_taken: true,
        };
        state.paused.insert(address, pause);
        state.entries.insert(entry.order, entry);
        self.changed.notify_all();
    }

    /// The match is void because these players were absent. It is tried again after a pause, as often as there are pauses.
    /// Then all matches of the player leave the queue. A preset that fails is not tried again.
    pub(crate) fn absent(&self, entry: &Entry, players: &[String], pauses: &[Duration]) {
        let mut state = self.state();
        state.stop_running(entry);
        let is_remote = |player: &&String| entry.addresses.contains(player);
        let remote: Vec<&String> = players.iter().filter(is_remote).collect();
        if remote.len() == players.len() {
            state.entries.insert(entry.order, entry.clone());
        }
        for address in remote {
            let n_absences = state.n_absences.entry(address.clone()).or_default();
            *n_absences += 1;
            match pauses.get(*n_absences - 1) {
                Some(pause) => {
                    let pause = Pause {
                        until: Instant::now() + *pause,
                        is_taken: false,
                    };
                    state.paused.insert(address.clone(), pause);
                }
                None => state
                    .entries
                    .retain(|_, entry| !entry.addresses.contains(address)),
            }
        }
        self.changed.notify_all();
    }

    /// The match has a result from another process.
    pub(crate) fn remove(&self, job: Job) {
        self.state().entries.retain(|_, entry| entry.job != job);
        self.changed.notify_all();
    }

    /// No further match of this cell is needed.
    pub(crate) fn drop_cell(&self, cell_idx: usize) {
        let mut state = self.state();
        state
            .entries
            .retain(|_, entry| entry.job.cell_idx != cell_idx);
        self.changed.notify_all();
    }

    /// No further match is needed.
    pub(crate) fn close(&self) {
        self.state().entries.clear();
        self.changed.notify_all();
    }

    /// The number of matches that are left, if this run plays none and only waits for other processes; otherwise 0.
    pub(crate) fn n_elsewhere(&self) -> usize {
        let state = self.state();
        let is_idle = state.n_running == 0;
        match is_idle
            && state
                .entries
                .values()
                .all(|entry| state.is_elsewhere(entry))
        {
            true => state.entries.len(),
            false => 0,
        }
    }
}

impl State {
    fn stop_running(&mut self, entry: &Entry) {
        self.n_running -= 1;
        for address in &entry.addresses {
            self.busy.remove(address);
        }
    }

    fn is_free(&self, entry: &Entry, now: Instant) -> bool {
        let is_open = |address: &String| {
            let pause = self.paused.get(address);
            !self.busy.contains(address) && pause.is_none_or(|pause| pause.until <= now)
        };
        entry.taken_until.is_none_or(|until| until <= now) && entry.addresses.iter().all(is_open)
    }

    /// Whether another process plays the match, or plays with one of its players.
    fn is_elsewhere(&self, entry: &Entry) -> bool {
        let is_taken = |address: &String| {
            let pause = self.paused.get(address);
            pause.is_some_and(|pause| pause.is_taken)
        };
        entry.taken_until.is_some() || entry.addresses.iter().any(is_taken)
    }

    /// The time until the first pause ends.
    fn next_pause(&self, now: Instant) -> Option<Duration> {
        let matches = self.entries.values().filter_map(|entry| entry.taken_until);
        let players = self.paused.values().map(|pause| pause.until);
        let later = matches.chain(players).filter(|until| *until > now);
        later.map(|until| until - now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(1000);

    fn job(index: u32) -> Job {
        Job { cell_idx: 0, index }
    }

    /// A match for each list of remote players.
    fn queue(players: &[&[&str]]) -> Queue {
        let addresses = |list: &&[&str]| list.iter().map(|&player| player.to_owned()).collect();
        let jobs = (0..).map(job).zip(players.iter().map(addresses));
        Queue::new(jobs.collect())
    }

    fn next(queue: &Queue) -> Entry {
        queue.next(&StopFlag::new()).expect("there is a match")
    }

    #[test]
    fn remote_players_have_one_match_at_a_time() {
        let queue = queue(&[&["a"], &["a"], &["b"]]);
        let first = next(&queue);
        assert_eq!((first.job, next(&queue).job), (job(0), job(2)));
        queue.finish(&first);
        assert_eq!(next(&queue).job, job(1));
        assert_eq!(queue.next(&StopFlag::new()), None);
    }

    #[test]
    fn an_absent_player_is_tried_again_and_then_given_up() {
        let queue = queue(&[&["a"], &[], &["a", "b"], &["b"]]);
        let absent = ["a".to_owned()];
        let pauses = [Duration::ZERO, Duration::ZERO];
        for _ in 0..3 {
            let entry = next(&queue);
            assert_eq!(entry.job, job(0));
            queue.absent(&entry, &absent, &pauses);
        }
        assert_eq!((next(&queue).job, next(&queue).job), (job(1), job(3)));
        assert_eq!(queue.next(&StopFlag::new()), None);
    }

    #[test]
    fn a_player_that_comes_back_is_not_given_up() {
        let queue = queue(&[&["a"], &["a"], &["a"]]);
        let absent = ["a".to_owned()];
        for index in 0..3 {
            queue.absent(&next(&queue), &absent, &[Duration::ZERO]);
            let entry = next(&queue);
            assert_eq!(entry.job, job(index));
            queue.finish(&entry);
        }
    }

    #[test]
    fn others_play_while_an_absent_player_is_paused() {
        let queue = queue(&[&["a"], &["b"]]);
        queue.absent(&next(&queue), &["a".to_owned()], &[LONG]);
        let other = next(&queue);
        assert_eq!(other.job, job(1));
        queue.finish(&other);
        assert_eq!(queue.n_elsewhere(), 0);
        // A preset that fails is not tried again.
        let queue = self::queue(&[&["a"]]);
        queue.absent(&next(&queue), &["mc".to_owned()], &[LONG]);
        assert_eq!(queue.next(&StopFlag::new()), None);
    }

    #[test]
    fn matches_of_other_processes_are_waited_for() {
        let queue = queue(&[&[], &["a"], &["a"]]);
        queue.postpone(next(&queue), LONG);
        let entry = next(&queue);
        assert_eq!((entry.job, queue.n_elsewhere()), (job(1), 0));
        queue.postpone_player(entry, "a".to_owned(), LONG);
        assert_eq!(queue.n_elsewhere(), 3);
        queue.remove(job(0));
        queue.drop_cell(0);
        assert_eq!(
            (queue.n_elsewhere(), queue.next(&StopFlag::new())),
            (0, None)
        );
    }
}
