//! The coordinator: publishes the matches that a store lacks, and collects results into it.
//!
//! 1. Results that are on the server and not in the store are read first, so that nothing that is played is queued again. With
//!    an empty store that is all of them.
//! 2. The missing matches are published; the server refuses those that are queued.
//! 3. Results are verified by the rules and stored, together with the place up to which the stream is read. Results that are
//!    wrong are stored apart with the reason, and their matches are queued again.
//! 4. When a cell is decided, its jobs are withdrawn, and workers stop the ones that they play.
//!
//! It may be killed at any moment: the store and the server have everything that it knows. Jobs and workers go on without it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_protocol::StopFlag;
use agon_tournament::{
    Cell, Entrant, Failure, Job, Ledger, MatchResult, MoveRow, Outcome, PlayedBy, Progress,
    Rejected, Shard, Sheet, Store, verify,
};
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt;

use crate::access::{Access, Name, pause};
use crate::error::ClusterError;
use crate::message::{
    JobMessage, Report, Requirement, ResultMessage, TournamentState, WorkerReport, decode, encode,
};
use crate::objects;
use crate::queue::{JobToSend, Names, Queue};

/// Results that are read at once.
const BATCH: usize = 200;
/// How long a batch of results is waited for.
const BATCH_WAIT: Duration = Duration::from_millis(300);
/// Least time between two calls of the observer.
const TELL: Duration = Duration::from_millis(200);
/// How often it is checked that every missing match is queued.
const CHECK: Duration = Duration::from_secs(10);
/// How often a write to a full disk is tried again.
const FULL_PAUSE: Duration = Duration::from_secs(3);
/// A worker with this number of wrong results gets no further jobs of the tournament.
const MOST_WRONG_OF_WORKER: u32 = 3;
/// A match with this number of wrong results is given up.
const MOST_WRONG: u32 = 5;

/// How a tournament is run on a queue.
#[derive(Clone, Debug)]
pub struct Coordination {
    /// Its name on the queue.
    pub name: Name,
    /// Jobs of tournaments with higher numbers come first; none leaves it as it is.
    pub priority: Option<i32>,
    /// What it asks of workers.
    pub requirement: Requirement,
    /// Forget what the server has about this tournament first.
    pub is_fresh: bool,
    /// A job without a sign of life from its worker for this time is given to another one.
    pub ack_wait: Duration,
    /// Whether the tournament is over when these cells are. Not so for the steps of a tuning.
    pub is_last: bool,
}

/// What people should know.
#[derive(Clone, PartialEq, Debug)]
pub enum Notice {
    /// Jobs were published.
    Published {
        /// Jobs that are new on the queue.
        n_new: usize,
        /// Jobs that were there.
        n_queued: usize,
    },
    /// A result does not count.
    Rejected(Rejected),
    /// A worker gets no jobs.
    Refused {
        /// The worker.
        worker: String,
        /// Why.
        reason: String,
    },
    /// Results on the server belong to other matches, for example of an older version of the file.
    Foreign(usize),
    /// The disk is full; results wait on the server.
    Full(String),
    /// The server does not answer; what is going on.
    Trouble(String),
    /// The tournament was cancelled by `agon queue`.
    Cancelled,
}

/// Runs cells on a queue until all are decided or `stop` is raised.
///
/// # Errors
/// If the server cannot be reached at the beginning, a player cannot be sent, or the store fails.
pub fn coordinate(
    access: &Access,
    how: &Coordination,
    cells: &[Cell],
    store: &mut Store,
    stop: &StopFlag,
    watch: &mut dyn FnMut(&Progress<'_>),
    notify: &mut dyn FnMut(Notice),
) -> Result<Outcome, ClusterError> {
    check_players(cells)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ClusterError::Runtime)?;
    runtime.block_on(async {
        let context = access.connect("agon coordinator", false).await?;
        let queue = Queue {
            context,
            names: Names(access.project.clone()),
            replicas: access.replicas,
        };
        let mut coordinator = Coordinator::begin(queue, how, cells, store).await?;
        coordinator.run(stop, watch, notify).await?;
        Ok(coordinator.ledger.into_outcome())
    })
}

/// Players must be presets with numbers.
fn check_players(cells: &[Cell]) -> Result<(), ClusterError> {
    let players = cells.iter().flat_map(|cell| {
        let game = &cell.sheet.game;
        [(game, &cell.pair.first), (game, &cell.pair.second)]
    });
    for (game, player) in players {
        let fail = |reason: String| ClusterError::Player {
            player: player.to_string(),
            reason,
        };
        let same = Entrant::parse_foreign(&player.to_string());
        let same = same.map_err(|error| fail(error.to_string()))?;
        if same.identity(game) != player.identity(game) {
            return Err(fail("it cannot be described to other machines".to_owned()));
        }
    }
    Ok(())
}

struct Coordinator<'a> {
    // Constant.
    queue: Queue,
    how: &'a Coordination,
    cells: &'a [Cell],
    jobs: Stream,
    results: Stream,
    /// The name of the stream of results with its birth, in the store.
    stream_id: String,
    // Changes.
    store: &'a mut Store,
    ledger: Ledger<'a>,
    place: u64,
    /// The place when the queue was last checked.
    place_at_check: u64,
    has_ended: Vec<bool>,
    n_wrong: HashMap<String, u32>,
    given_up: BTreeSet<String>,
    n_wrong_of_worker: HashMap<String, u32>,
    banned: BTreeSet<String>,
    n_foreign: usize,
    to_requeue: Vec<Job>,
}

/// What arrived, sorted.
#[derive(Default)]
struct Arrivals {
    results: Vec<(MatchResult, Vec<MoveRow>)>,
    jobs: Vec<(Job, Duration)>,
    rejected: Vec<Rejected>,
    failures: Vec<Failure>,
    last: u64,
}

impl<'a> Coordinator<'a> {
    async fn begin(
        queue: Queue,
        how: &'a Coordination,
        cells: &'a [Cell],
        store: &'a mut Store,
    ) -> Result<Coordinator<'a>, ClusterError> {
        queue.prepare().await?;
        if how.is_fresh {
            let name = &how.name;
            let streams = [
                queue.names.job_stream(name),
                queue.names.result_stream(name),
            ];
            for stream in streams {
                // A stream that is not there is as good as deleted.
                let _ = queue.context.delete_stream(stream).await;
            }
        }
        let (jobs, results) = queue.open(&how.name, how.ack_wait).await?;
        let info = results.cached_info();
        let stream_id = format!(
            "{}@{:?}",
            queue.names.result_stream(&how.name),
            info.created
        );
        let place = store.place_in(&stream_id)?;
        // Not so after a server that was killed lost its last results.
        let is_in_stream = place <= info.state.last_sequence;
        let place = if is_in_stream { place } else { 0 };
        let ledger = Ledger::load(cells, store, Shard::WHOLE)?;
        Ok(Coordinator {
            has_ended: vec![false; cells.len()],
            queue,
            how,
            cells,
            jobs,
            results,
            stream_id,
            store,
            ledger,
            place,
            place_at_check: 0,
            n_wrong: HashMap::new(),
            given_up: BTreeSet::new(),
            n_wrong_of_worker: HashMap::new(),
            banned: BTreeSet::new(),
            n_foreign: 0,
            to_requeue: Vec::new(),
        })
    }

    async fn run(
        &mut self,
        stop: &StopFlag,
        watch: &mut dyn FnMut(&Progress<'_>),
        notify: &mut dyn FnMut(Notice),
    ) -> Result<(), ClusterError> {
        let mut consumer = self.queue.results(&self.results, self.place).await?;
        while self.collect(&mut consumer, stop, notify).await? > 0 && !stop.is_raised() {}
        self.end_cells();
        self.ledger.tell(watch, 1, 0);
        if self.n_foreign > 0 {
            notify(Notice::Foreign(self.n_foreign));
        }
        // Workers that are refused answer the announcement.
        let subject = self.queue.names.worker("*");
        let reports = self.queue.context.client().subscribe(subject).await;
        let mut reports = reports.map_err(|error| ClusterError::server("listening", &error))?;
        let (mut told, mut checked) = (Instant::now(), Instant::now());
        if !self.is_over() {
            self.publish_rules().await?;
            self.announce(true).await?;
            let (n_new, n_queued) = self.publish_missing().await?;
            notify(Notice::Published { n_new, n_queued });
            self.announce(false).await?;
        }
        let mut refused = BTreeSet::new();
        let mut attempt = 0;
        while !self.is_over() && !stop.is_raised() {
            let went = self.turn(&mut consumer, &mut checked, stop, notify).await;
            match went {
                Ok(true) => attempt = 0,
                Ok(false) => {
                    notify(Notice::Cancelled);
                    break;
                }
                Err(error @ (ClusterError::Store(_) | ClusterError::Player { .. })) => {
                    return Err(error);
                }
                Err(error) => {
                    attempt += 1;
                    if attempt == 3 {
                        notify(Notice::Trouble(error.to_string()));
                    }
                    tokio::time::sleep(pause(attempt)).await;
                    if let Ok(again) = self.queue.results(&self.results, self.place).await {
                        consumer = again;
                    }
                }
            }
            while let Ok(Some(message)) = tokio::time::timeout(Duration::ZERO, reports.next()).await
            {
                self.note_refusal(&message.payload, &mut refused, notify);
            }
            if told.elapsed() >= TELL {
                told = Instant::now();
                self.ledger.tell(watch, 1, 0);
            }
        }
        self.ledger.tell(watch, 1, 0);
        if self.is_over() {
            self.finish().await;
        }
        Ok(())
    }

    /// Collects results once and looks after the queue; false if the tournament was cancelled.
    async fn turn(
        &mut self,
        consumer: &mut PullConsumer,
        checked: &mut Instant,
        stop: &StopFlag,
        notify: &mut dyn FnMut(Notice),
    ) -> Result<bool, ClusterError> {
        self.collect(consumer, stop, notify).await?;
        if self.end_cells() {
            self.withdraw().await?;
        }
        if !self.to_requeue.is_empty() {
            let jobs = self.to_requeue.clone();
            let to_send = jobs.iter().map(|job| self.job_to_send(*job));
            self.queue.publish(&self.how.name, to_send).await?;
            self.to_requeue.clear();
            self.announce(false).await?;
        }
        if checked.elapsed() < CHECK {
            return Ok(true);
        }
        *checked = Instant::now();
        let state = self.queue.state(&self.how.name).await?;
        if state.is_some_and(|(state, _)| state.is_cancelled) {
            return Ok(false);
        }
        let has_stalled = std::mem::replace(&mut self.place_at_check, self.place) == self.place;
        let last = self.check_queue().await?;
        if last < self.place {
            // A server that was killed has lost its last results, and gives their numbers to others: all are read again.
            self.place = 0;
            self.n_wrong.clear();
            self.n_wrong_of_worker.clear();
        } else if last == self.place || !has_stalled {
            return Ok(true);
        }
        // A server that was killed forgets its consumer, and reading from none gives neither results nor errors.
        *consumer = self.queue.results(&self.results, self.place).await?;
        if consumer.cached_info().num_pending == 0 {
            // What would come next was deleted on the server.
            self.place = last;
        }
        Ok(true)
    }

    /// Queues matches that are neither queued nor played: after a loss of data on the server, for example. Returns the number of
    /// the last result.
    async fn check_queue(&mut self) -> Result<u64, ClusterError> {
        let fail = |error: &dyn ToString| ClusterError::server("looking at a stream", error);
        // Jobs are counted first. What left the queue before that has its result in the stream.
        let n_jobs = self
            .jobs
            .get_info()
            .await
            .map_err(|error| fail(&error))?
            .state
            .messages;
        let last = self
            .results
            .get_info()
            .await
            .map_err(|error| fail(&error))?
            .state
            .last_sequence;
        let n_outstanding = self.wanted_jobs().count() as u64;
        if self.place >= last && n_jobs < n_outstanding {
            self.publish_missing().await?;
            self.announce(false).await?;
        }
        Ok(last)
    }

    /// Whether all matches that can have a result have one.
    fn is_over(&self) -> bool {
        let mut progress = self.ledger.cell_progress().iter();
        progress.all(|cell| cell.ended().is_some())
            || (!self.given_up.is_empty() && self.wanted_jobs().next().is_none())
    }

    /// Missing matches that are not given up.
    fn wanted_jobs(&self) -> impl Iterator<Item = Job> {
        let jobs = self.ledger.missing_jobs().into_iter();
        jobs.filter(|job| !self.given_up.contains(&self.key(*job)))
    }

    fn key(&self, job: Job) -> String {
        self.cells[job.cell_idx].fixture(job.index).key()
    }

    fn job_to_send(&self, job: Job) -> JobToSend {
        let fixture = self.cells[job.cell_idx].fixture(job.index);
        JobToSend {
            cell: job.cell_idx,
            key: fixture.key(),
            payload: encode(&JobMessage {
                cell: job.cell_idx,
                fixture,
            }),
        }
    }

    async fn publish_missing(&self) -> Result<(usize, usize), ClusterError> {
        let jobs: Vec<Job> = self.wanted_jobs().collect();
        let to_send = jobs.iter().map(|job| self.job_to_send(*job));
        let n_new = self.queue.publish(&self.how.name, to_send).await?;
        Ok((n_new, jobs.len() - n_new))
    }

    async fn publish_rules(&self) -> Result<(), ClusterError> {
        let mut sheets: Vec<&Arc<Sheet>> = self.cells.iter().map(|cell| &cell.sheet).collect();
        sheets.sort_by(|a, b| a.hash.cmp(&b.hash));
        sheets.dedup_by(|a, b| a.hash == b.hash);
        for sheet in sheets {
            objects::put(&self.queue.context, &self.queue.names, sheet).await?;
        }
        Ok(())
    }

    /// Tells workers about the tournament. The message also wakes those that are idle.
    async fn announce(&self, is_start: bool) -> Result<(), ClusterError> {
        let withdrawn: Vec<usize> = self.early_cells().collect();
        let n_matches = self
            .cells
            .iter()
            .map(|cell| cell.terms.n_matches as usize)
            .sum();
        let change = |state: &mut TournamentState| {
            state.requirement = self.how.requirement.clone();
            state.withdrawn.clone_from(&withdrawn);
            state.n_matches = n_matches;
            for worker in &self.banned {
                let reason = format!("it sent {MOST_WRONG_OF_WORKER} wrong results");
                state.banned.insert(worker.clone(), reason);
            }
            if is_start {
                state.is_cancelled = false;
                state.is_over = false;
                state.banned.clear();
                state.priority = self.how.priority.unwrap_or(state.priority);
            }
        };
        self.queue.change_state(&self.how.name, change).await?;
        Ok(())
    }

    /// Takes the jobs of decided cells from the queue.
    async fn withdraw(&self) -> Result<(), ClusterError> {
        self.announce(false).await?;
        for cell_idx in self.early_cells() {
            let jobs = self.queue.names.job(&self.how.name, cell_idx, "*");
            let purged = self.jobs.purge().filter(jobs).await;
            purged.map_err(|error| ClusterError::server("withdrawing jobs", &error))?;
        }
        Ok(())
    }

    /// Cells that ended before all their matches were played.
    fn early_cells(&self) -> impl Iterator<Item = usize> {
        let progress = self.ledger.cell_progress().iter().enumerate();
        progress
            .filter(|(cell_idx, progress)| {
                let n_matches = self.cells[*cell_idx].terms.n_matches as usize;
                progress.ended().is_some() && progress.n_wanted() < n_matches
            })
            .map(|(cell_idx, _)| cell_idx)
    }

    /// Notes which cells have ended; whether one did early.
    fn end_cells(&mut self) -> bool {
        let mut is_early = false;
        for (cell_idx, progress) in self.ledger.cell_progress().iter().enumerate() {
            if progress.ended().is_some() && !self.has_ended[cell_idx] {
                self.has_ended[cell_idx] = true;
                is_early |= progress.n_wanted() < self.cells[cell_idx].terms.n_matches as usize;
            }
        }
        is_early
    }

    /// The tournament is over. What fails here leaves nothing behind but a line in a list.
    async fn finish(&self) {
        if self.how.is_last {
            let change = |state: &mut TournamentState| state.is_over = true;
            let _ = self.queue.change_state(&self.how.name, change).await;
        }
        let _ = self.jobs.purge().await;
    }

    /// Reads a batch of results and stores it; the number of messages.
    async fn collect(
        &mut self,
        consumer: &mut PullConsumer,
        stop: &StopFlag,
        notify: &mut dyn FnMut(Notice),
    ) -> Result<usize, ClusterError> {
        let fail = |error: &dyn ToString| ClusterError::server("reading results", error);
        let batch = consumer
            .batch()
            .max_messages(BATCH)
            .expires(BATCH_WAIT)
            .messages()
            .await;
        let mut batch = batch.map_err(|error| fail(&error))?;
        let mut arrivals = Arrivals {
            last: self.place,
            ..Arrivals::default()
        };
        let mut n_messages = 0;
        while let Some(message) = batch.next().await {
            let message = message.map_err(|error| fail(&error))?;
            let sequence = message
                .info()
                .map_err(|error| fail(&error))?
                .stream_sequence;
            if sequence <= arrivals.last {
                continue;
            }
            n_messages += 1;
            arrivals.last = sequence;
            self.sort(sequence, &message.subject, &message.payload, &mut arrivals);
        }
        if n_messages > 0 {
            self.store(arrivals, stop, notify).await?;
        }
        Ok(n_messages)
    }

    /// Decides what a message is worth.
    fn sort(&mut self, sequence: u64, subject: &str, payload: &[u8], arrivals: &mut Arrivals) {
        let key = subject.rsplit('.').next().unwrap_or_default().to_owned();
        let reject = |worker: &str, reason: String| Rejected {
            id: format!("{}#{sequence:012}", self.stream_id),
            key: key.clone(),
            worker: worker.to_owned(),
            reason,
            result: String::from_utf8_lossy(payload).into_owned(),
        };
        let message: ResultMessage = match decode(payload) {
            Ok(message) => message,
            Err(error) => {
                arrivals
                    .rejected
                    .push(reject("?", format!("it cannot be read: {error}")));
                return;
            }
        };
        let worker = message.worker.clone();
        let Some(job) = self.job_of(&key) else {
            self.n_foreign += 1;
            return;
        };
        if let Some(reason) = self.how.requirement.objection(&message.build) {
            arrivals.rejected.push(reject(&worker, reason));
            return;
        }
        let (mut result, moves) = match message.report {
            Report::Finished { result, moves } => (*result, moves),
            Report::Void { absent } => {
                self.ledger.add_absent(absent);
                return;
            }
            Report::Broken { reason } => {
                arrivals
                    .rejected
                    .push(reject(&worker, format!("it could not be played: {reason}")));
                arrivals.failures.push(Failure {
                    cell: job.cell_idx,
                    index: job.index,
                    reason: format!("{worker}: {reason}"),
                });
                return;
            }
        };
        let cell = &self.cells[job.cell_idx];
        let wrong = match result.fixture.key() == key {
            true => verify(cell, &result, &moves)
                .err()
                .map(|error| error.to_string()),
            false => Some("it is the result of another match".to_owned()),
        };
        if let Some(reason) = wrong {
            arrivals.rejected.push(reject(&worker, reason));
            return;
        }
        let before = result.played_by.take();
        let speed = before.as_ref().map_or(0.0, |by| by.speed);
        result.played_by = Some(PlayedBy {
            time_scale: before.map_or(1.0, |by| by.time_scale),
            fingerprint: message.build.fingerprint,
            worker: worker.clone(),
            speed,
        });
        let known = arrivals.results.iter().map(|(known, _)| known);
        let stored = self.store.get(&key).ok().flatten();
        let earlier = known
            .chain(&stored)
            .find(|known| known.fixture.key() == key);
        if let Some(earlier) = earlier {
            if cell.budget.is_repeatable() && !is_same(earlier, &result) {
                let by = earlier
                    .played_by
                    .as_ref()
                    .map_or("this machine", |by| &by.worker);
                arrivals.rejected.push(reject(
                    &worker,
                    format!("it differs from the result of {by}"),
                ));
            }
            return;
        }
        let seconds = if message.seconds.is_finite() {
            message.seconds.clamp(0.0, 1e7)
        } else {
            0.0
        };
        arrivals.jobs.push((job, Duration::from_secs_f64(seconds)));
        arrivals.results.push((result, moves));
    }

    /// The match of a key, if it belongs to these cells.
    fn job_of(&self, key: &str) -> Option<Job> {
        self.ledger.job(key)
    }

    /// Stores what arrived, however long the disk is full.
    async fn store(
        &mut self,
        arrivals: Arrivals,
        stop: &StopFlag,
        notify: &mut dyn FnMut(Notice),
    ) -> Result<(), ClusterError> {
        let Arrivals {
            results,
            jobs,
            rejected,
            failures,
            last,
        } = arrivals;
        let mut is_told = false;
        let is_new = loop {
            match self
                .store
                .put_arrivals(&self.stream_id, last, &results, &rejected)
            {
                Ok(is_new) => break is_new,
                Err(error) if error.is_full() && !stop.is_raised() => {
                    if !is_told {
                        notify(Notice::Full(error.to_string()));
                        is_told = true;
                    }
                    tokio::time::sleep(FULL_PAUSE).await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        self.place = last;
        for (((result, _), (job, time)), is_new) in results.into_iter().zip(jobs).zip(is_new) {
            if is_new {
                self.ledger.add_time(job, time);
            }
            let counted = match is_new {
                true => Some(result),
                // Another process has stored one in the meantime.
                false => self.store.get(&result.fixture.key())?,
            };
            if let Some(result) = counted {
                self.ledger.put(job, result);
            }
        }
        for failure in failures {
            let key = self.cells[failure.cell].fixture(failure.index).key();
            if self.ledger.missing_job(&key).is_some() && self.given_up.insert(key) {
                self.ledger.add_failure(failure);
            }
        }
        for one in rejected {
            self.requeue(&one);
            let n_wrong = self
                .n_wrong_of_worker
                .entry(one.worker.clone())
                .or_default();
            *n_wrong += 1;
            if *n_wrong >= MOST_WRONG_OF_WORKER {
                self.banned.insert(one.worker.clone());
            }
            notify(Notice::Rejected(one));
        }
        Ok(())
    }

    /// A match with a wrong result is queued again, unless that happens too often.
    fn requeue(&mut self, rejected: &Rejected) {
        let Some(job) = self.ledger.missing_job(&rejected.key) else {
            return;
        };
        if self.given_up.contains(&rejected.key) {
            return;
        }
        let n_wrong = self.n_wrong.entry(rejected.key.clone()).or_default();
        *n_wrong += 1;
        if *n_wrong < MOST_WRONG {
            self.to_requeue.push(job);
            return;
        }
        self.given_up.insert(rejected.key.clone());
        self.ledger.add_failure(Failure {
            cell: job.cell_idx,
            index: job.index,
            reason: format!(
                "{MOST_WRONG} wrong results; the last of {}: {}",
                rejected.worker, rejected.reason
            ),
        });
    }

    /// Tells once why a worker gets no jobs of this tournament.
    fn note_refusal(
        &self,
        payload: &[u8],
        refused: &mut BTreeSet<String>,
        notify: &mut dyn FnMut(Notice),
    ) {
        let Ok(report) = decode::<WorkerReport>(payload) else {
            return;
        };
        let reason = report.refused.get(self.how.name.as_str());
        if let Some(reason) = reason.filter(|_| refused.insert(report.worker.clone())) {
            notify(Notice::Refused {
                worker: report.worker.clone(),
                reason: reason.clone(),
            });
        }
    }
}

/// Whether two results of a repeatable match agree in everything but times.
fn is_same(one: &MatchResult, other: &MatchResult) -> bool {
    let counts = |result: &MatchResult| {
        result
            .work
            .map(|work| (work.searches, work.playouts, work.transitions))
    };
    one.goals == other.goals
        && one.steps == other.steps
        && one.ending == other.ending
        && counts(one) == counts(other)
}
