//! A worker: takes jobs, plays them on its threads, and sends results.
//!
//! One thread talks to the server, the others play. A job is held from its delivery until the server has stored its result;
//! while it is held, the server is told that it is in progress. Some jobs are fetched ahead, as many as are played in a
//! fraction of a second, so that short matches do not wait for the network. A job of a cell that is decided is stopped. When
//! the worker ends, it gives its jobs back.

mod player;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use agon_protocol::StopFlag;
use agon_tournament::PlayedBy;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::access::{Access, Name, pause};
use crate::error::ClusterError;
use crate::message::{
    Build, JobMessage, Report, ResultMessage, TournamentState, WorkerReport, decode, encode,
};
use crate::objects;
use crate::queue::{Names, Queue};
use player::{Pool, Task};

/// How often an idle worker asks for jobs that nobody announced: those that another worker gave back.
const IDLE: Duration = Duration::from_secs(5);
/// How often a worker looks whether anything is to be done.
const TICK: Duration = Duration::from_millis(20);
/// How often it says what it does.
const REPORT: Duration = Duration::from_secs(20);
/// How often states are read again, in case a message was lost.
const REFRESH: Duration = Duration::from_secs(15);
/// How long a server may take to send the next job or to say that there is none.
const FETCH_PATIENCE: Duration = Duration::from_secs(5);
/// Jobs for this time are fetched ahead.
const AHEAD: Duration = Duration::from_millis(300);
/// At most this many jobs per thread are fetched ahead.
const MOST_AHEAD: usize = 64;
/// A job that was delivered this often without a result ends workers, or is too long for their patience.
const MOST_DELIVERIES: i64 = 30;
/// A job that is given back while the worker goes on is delivered again after this time.
const RETURN_DELAY: Duration = Duration::from_secs(1);
/// At most this many rulesheets are kept.
const MOST_SHEETS: usize = 64;
/// How long players may take to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// Results that cannot be sent are kept up to this number; then no further jobs are taken.
const MOST_UNSENT: usize = 1000;

/// Who a worker is.
#[derive(Clone, PartialEq, Debug)]
pub struct Identity {
    /// Its name, different for every worker.
    pub name: Name,
    /// Its build.
    pub build: Build,
    /// Its CPU, for people.
    pub cpu: String,
    /// Playouts per second in a measurement, per thread.
    pub speed: f64,
}

/// How a worker works.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// Matches at the same time.
    pub n_threads: usize,
    /// End when there has been nothing to do for this time.
    pub idle_limit: Option<Duration>,
    /// End after this number of matches.
    pub most_matches: Option<usize>,
    /// Change goals before they are sent. For tests of coordinators only.
    pub is_liar: bool,
}

/// What people should know.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The server is there.
    Connected,
    /// No tournament has work.
    Idle,
    /// It plays for this tournament now.
    Working(String),
    /// It gets no jobs of a tournament.
    Refused {
        /// The tournament.
        tournament: String,
        /// Why.
        reason: String,
    },
    /// Something failed and is tried again.
    Trouble(String),
}

/// What a worker did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// Matches whose results the server has.
    pub n_played: usize,
    /// Jobs that were given back.
    pub n_returned: usize,
}

/// Works until `stop` is raised.
///
/// # Errors
/// If credentials cannot be read. A server that is not there is waited for.
pub fn work(
    access: &Access,
    identity: &Identity,
    how: &Work,
    stop: &StopFlag,
    notify: &mut dyn FnMut(Event),
) -> Result<Done, ClusterError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ClusterError::Runtime)?;
    runtime.block_on(async {
        let context = tokio::select! {
            context = access.connect(identity.name.as_str(), true) => context?,
            () = raised(stop) => return Ok(Done::default()),
        };
        notify(Event::Connected);
        let queue = Queue {
            context,
            names: Names(access.project.clone()),
            replicas: access.replicas,
        };
        Worker::new(queue, identity, how).run(stop, notify).await
    })
}

async fn raised(stop: &StopFlag) {
    while !stop.is_raised() {
        tokio::time::sleep(TICK).await;
    }
}

/// A job that this worker has.
struct Held {
    message: Message,
    tournament: Name,
    cell: usize,
    key: String,
    stop: StopFlag,
    progress: Instant,
    /// Its result is on its way.
    is_done: bool,
}

/// What became of sending a result.
struct Sent {
    id: u64,
}

struct Worker<'a> {
    // Constant.
    queue: Queue,
    identity: &'a Identity,
    how: &'a Work,
    // Changes.
    pool: Pool,
    states: BTreeMap<Name, TournamentState>,
    held: HashMap<u64, Held>,
    sheets: HashMap<String, Bytes>,
    consumers: HashMap<Name, PullConsumer>,
    next_id: u64,
    n_played: usize,
    /// Mean seconds of a match, recent ones counting most.
    mean_seconds: Option<f64>,
    progress_every: Duration,
    is_idle: bool,
    refused: BTreeMap<String, String>,
    sent_sender: UnboundedSender<Sent>,
    sent: UnboundedReceiver<Sent>,
}

impl<'a> Worker<'a> {
    fn new(queue: Queue, identity: &'a Identity, how: &'a Work) -> Worker<'a> {
        let (sent_sender, sent) = unbounded_channel();
        Worker {
            pool: Pool::new(how.n_threads),
            queue,
            identity,
            how,
            states: BTreeMap::new(),
            held: HashMap::new(),
            sheets: HashMap::new(),
            consumers: HashMap::new(),
            next_id: 0,
            n_played: 0,
            mean_seconds: None,
            progress_every: Duration::from_secs(10),
            is_idle: false,
            refused: BTreeMap::new(),
            sent_sender,
            sent,
        }
    }

    async fn run(
        mut self,
        stop: &StopFlag,
        notify: &mut dyn FnMut(Event),
    ) -> Result<Done, ClusterError> {
        let subject = self.queue.names.state("*");
        let changes = self.queue.context.client().subscribe(subject).await;
        let mut changes = changes.map_err(|error| ClusterError::server("listening", &error))?;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let long_ago = |time: Duration| {
            Instant::now()
                .checked_sub(time)
                .unwrap_or_else(Instant::now)
        };
        let mut reported = long_ago(REPORT);
        let mut refreshed = long_ago(REFRESH);
        let mut asked = long_ago(IDLE);
        let mut busy = Instant::now();
        let mut is_news = true;
        let mut attempt = 0;
        while !stop.is_raised() && !self.is_enough(busy) {
            tokio::select! {
                Some(message) = changes.next() => {
                    let n_refused = self.refused.len();
                    self.take_state(&message.payload, notify);
                    is_news = true;
                    if self.refused.len() != n_refused {
                        self.report().await;
                    }
                }
                Some((id, outcome)) = self.pool.outcomes.recv() => self.take_outcome(id, outcome).await,
                Some(sent) = self.sent.recv() => {
                    self.n_played += usize::from(self.held.remove(&sent.id).is_some());
                }
                _ = tick.tick() => {}
            }
            if refreshed.elapsed() >= REFRESH {
                refreshed = Instant::now();
                self.refresh(notify).await;
                is_news = true;
            }
            if !self.held.is_empty() {
                busy = Instant::now();
            }
            self.keep_alive().await;
            let is_due = is_news || !self.is_idle || asked.elapsed() >= IDLE;
            if is_due && self.n_free() > 0 {
                asked = Instant::now();
                is_news = false;
                match self.fetch(notify).await {
                    Ok(n_fetched) => {
                        attempt = 0;
                        self.is_idle = n_fetched == 0;
                    }
                    Err(error) => {
                        attempt += 1;
                        self.is_idle = true;
                        asked = Instant::now() + pause(attempt);
                        if attempt == 2 {
                            notify(Event::Trouble(error.to_string()));
                        }
                    }
                }
            }
            if reported.elapsed() >= REPORT {
                reported = Instant::now();
                self.report().await;
            }
        }
        let n_returned = self.give_back().await;
        Ok(Done {
            n_played: self.n_played,
            n_returned,
        })
    }

    /// Whether it has done all it should.
    fn is_enough(&self, busy: Instant) -> bool {
        let is_idle = self
            .how
            .idle_limit
            .is_some_and(|limit| busy.elapsed() >= limit);
        let is_done = self
            .how
            .most_matches
            .is_some_and(|most| self.n_played >= most);
        is_done || (is_idle && self.held.is_empty())
    }

    /// How many jobs it could take.
    fn n_free(&self) -> usize {
        let n_unsent = self.held.values().filter(|held| held.is_done).count();
        if n_unsent > MOST_UNSENT {
            return 0;
        }
        let ahead = self.mean_seconds.map_or(0.0, |mean| {
            self.how.n_threads as f64 * AHEAD.as_secs_f64() / mean.max(1e-6)
        });
        let ahead = (ahead as usize).min(self.how.n_threads * MOST_AHEAD);
        let n_playing = self.held.len() - n_unsent;
        // Several jobs are fetched at once, when half of those ahead are used up.
        if n_playing > self.how.n_threads + ahead / 2 {
            return 0;
        }
        let left = self
            .how
            .most_matches
            .map_or(usize::MAX, |most| most - self.n_played.min(most));
        let wanted = self.how.n_threads + ahead;
        wanted.min(left).saturating_sub(n_playing)
    }

    fn take_state(&mut self, payload: &[u8], notify: &mut dyn FnMut(Event)) {
        let Ok(state) = decode::<TournamentState>(payload) else {
            return;
        };
        let Ok(name) = state.name.parse::<Name>() else {
            return;
        };
        for held in self.held.values().filter(|held| held.tournament == name) {
            if state.is_withdrawn(held.cell) {
                held.stop.raise();
            }
        }
        match state
            .objection(&self.identity.build, self.identity.name.as_str())
            .filter(|_| state.is_open())
        {
            None => {
                self.refused.remove(name.as_str());
            }
            Some(reason) => {
                let before = self.refused.insert(name.to_string(), reason.clone());
                if before.as_ref() != Some(&reason) {
                    let tournament = name.to_string();
                    notify(Event::Refused { tournament, reason });
                }
            }
        }
        self.states.insert(name, state);
    }

    /// Reads all states. The server may have no streams yet; then there is nothing to do.
    async fn refresh(&mut self, notify: &mut dyn FnMut(Event)) {
        let n_refused = self.refused.len();
        if let Ok(states) = self.queue.states().await {
            for state in states {
                self.take_state(&encode(&state), notify);
            }
        }
        if self.refused.len() != n_refused {
            self.report().await;
        }
    }

    /// Takes jobs of the open tournaments, those of high priority first; the number of jobs.
    async fn fetch(&mut self, notify: &mut dyn FnMut(Event)) -> Result<usize, ClusterError> {
        let is_open = |(name, state): &(&Name, &TournamentState)| {
            state.is_open() && !self.refused.contains_key(name.as_str())
        };
        let open = self.states.iter().filter(is_open);
        let mut open: Vec<(i32, Name)> = open
            .map(|(name, state)| (-state.priority, name.clone()))
            .collect();
        open.sort();
        let mut n_fetched = 0;
        for (_, tournament) in open {
            let n_free = self.n_free();
            if n_free == 0 {
                break;
            }
            let n_here = self.fetch_from(&tournament, n_free).await?;
            if n_here > 0 && self.is_idle {
                notify(Event::Working(tournament.to_string()));
            }
            n_fetched += n_here;
        }
        if n_fetched == 0 && !self.is_idle && self.held.is_empty() {
            notify(Event::Idle);
        }
        Ok(n_fetched)
    }

    async fn fetch_from(
        &mut self,
        tournament: &Name,
        n_free: usize,
    ) -> Result<usize, ClusterError> {
        let fetched = self.try_fetch(tournament, n_free).await;
        if fetched.is_err() {
            self.consumers.remove(tournament);
        }
        fetched
    }

    async fn try_fetch(&mut self, tournament: &Name, n_free: usize) -> Result<usize, ClusterError> {
        let fail = |error: &dyn ToString| ClusterError::server("fetching jobs", error);
        if !self.consumers.contains_key(tournament) {
            let (consumer, ack_wait) = self.queue.jobs(tournament).await?;
            self.progress_every = ack_wait / 3;
            self.consumers.insert(tournament.clone(), consumer);
        }
        let batch = self.consumers[tournament].fetch().max_messages(n_free);
        let batch = batch.messages().await;
        let mut batch = batch.map_err(|error| fail(&error))?;
        let mut n_fetched = 0;
        // A server that is killed while it is asked never answers.
        while let Some(message) = tokio::time::timeout(FETCH_PATIENCE, batch.next())
            .await
            .map_err(|_| fail(&"no answer"))?
        {
            let message = message.map_err(|error| fail(&error))?;
            n_fetched += 1;
            self.begin(tournament, message).await;
        }
        Ok(n_fetched)
    }

    /// Gives a job to the players.
    async fn begin(&mut self, tournament: &Name, message: Message) {
        let id = self.next_id;
        self.next_id += 1;
        let key = message
            .subject
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .to_owned();
        let job: Result<JobMessage, String> = decode(&message.payload);
        let n_deliveries = message.info().map_or(1, |info| info.delivered);
        let stop = StopFlag::new();
        self.held.insert(
            id,
            Held {
                cell: job.as_ref().map_or(0, |job| job.cell),
                message,
                tournament: tournament.clone(),
                key: key.clone(),
                stop: stop.clone(),
                progress: Instant::now(),
                is_done: false,
            },
        );
        let broken = |reason: String| Some((Report::Broken { reason }, 0.0));
        let job = match job {
            Ok(job) if job.fixture.key() == key => job,
            Ok(_) => {
                return self
                    .take_outcome(id, broken("the job has another key".to_owned()))
                    .await;
            }
            Err(error) => {
                return self
                    .take_outcome(id, broken(format!("the job cannot be read: {error}")))
                    .await;
            }
        };
        if n_deliveries > MOST_DELIVERIES {
            let reason =
                format!("it was given to workers {MOST_DELIVERIES} times without a result");
            return self.take_outcome(id, broken(reason)).await;
        }
        let state = self.states.get(tournament);
        if state.is_some_and(|state| state.is_withdrawn(job.cell)) {
            return self.take_outcome(id, None).await;
        }
        let hash = job.fixture.rules.clone();
        if !self.sheets.contains_key(&hash) {
            match objects::get(&self.queue.context, &self.queue.names, &hash).await {
                Ok(text) => {
                    if self.sheets.len() >= MOST_SHEETS {
                        self.sheets.clear();
                    }
                    self.sheets.insert(hash.clone(), text.into());
                }
                // The server is not there: the job is given back.
                Err(_) => return self.take_outcome(id, None).await,
            }
        }
        let reference = self
            .states
            .get(tournament)
            .and_then(|state| state.requirement.reference_speed);
        let time_scale = match reference {
            Some(reference) if self.identity.speed > 0.0 => {
                (reference / self.identity.speed).clamp(0.01, 100.0)
            }
            _ => 1.0,
        };
        self.pool.send(Task {
            id,
            fixture: job.fixture,
            rules: self.sheets[&hash].clone(),
            time_scale,
            stop,
        });
    }

    /// A match is over, or was stopped (`None`).
    async fn take_outcome(&mut self, id: u64, outcome: Option<(Report, f64)>) {
        let Some(held) = self.held.get_mut(&id) else {
            return;
        };
        let Some((mut report, seconds)) = outcome else {
            // A job that was withdrawn is no longer on the queue; any other one is played by somebody else.
            let again = AckKind::Nak(Some(RETURN_DELAY));
            let _ = held.message.ack_with(again).await;
            self.held.remove(&id);
            return;
        };
        if let Report::Finished { result, .. } = &mut report {
            let mean = self.mean_seconds.unwrap_or(seconds);
            self.mean_seconds = Some(0.9 * mean + 0.1 * seconds);
            let time_scale = result.played_by.take().map_or(1.0, |by| by.time_scale);
            result.played_by = Some(PlayedBy {
                worker: self.identity.name.to_string(),
                fingerprint: self.identity.build.fingerprint.clone(),
                speed: self.identity.speed,
                time_scale,
            });
            if self.how.is_liar {
                result.goals.reverse();
            }
        }
        held.is_done = true;
        let message = ResultMessage {
            worker: self.identity.name.to_string(),
            build: self.identity.build.clone(),
            seconds,
            report,
        };
        let payload = encode(&message);
        let subject = self.queue.names.result(&held.tournament, &held.key);
        let sending = Sending {
            queue: self.queue.clone(),
            subject,
            message_id: format!("{}.{}.{id}", held.key, self.identity.name),
            job: held.message.clone(),
        };
        let sender = self.sent_sender.clone();
        tokio::spawn(async move {
            sending.send(payload).await;
            let _ = sender.send(Sent { id });
        });
    }

    /// Tells the server that jobs are in progress.
    async fn keep_alive(&mut self) {
        for held in self.held.values_mut() {
            if held.progress.elapsed() >= self.progress_every {
                held.progress = Instant::now();
                // If it does not arrive, somebody else plays the match too, and one result counts.
                let _ = held.message.ack_with(AckKind::Progress).await;
            }
        }
    }

    async fn report(&self) {
        let report = WorkerReport {
            worker: self.identity.name.to_string(),
            build: self.identity.build.clone(),
            threads: self.how.n_threads,
            cpu: self.identity.cpu.clone(),
            speed: self.identity.speed,
            n_playing: self.held.len(),
            n_played: self.n_played,
            refused: self.refused.clone(),
        };
        let subject = self.queue.names.worker(self.identity.name.as_str());
        let _ = self
            .queue
            .context
            .client()
            .publish(subject, encode(&report))
            .await;
    }

    /// Stops all matches and gives their jobs back. Results that are on their way get some time.
    async fn give_back(&mut self) -> usize {
        for held in self.held.values().filter(|held| !held.is_done) {
            held.stop.raise();
        }
        let until = Instant::now() + STOP_PATIENCE;
        while self.held.values().any(|held| held.is_done) && Instant::now() < until {
            if let Ok(Some(sent)) = tokio::time::timeout(TICK, self.sent.recv()).await {
                self.n_played += usize::from(self.held.remove(&sent.id).is_some());
            }
        }
        let n_returned = self.held.len();
        for held in self.held.values() {
            let _ = held.message.ack_with(AckKind::Nak(None)).await;
        }
        let _ = tokio::time::timeout(STOP_PATIENCE, self.queue.context.client().flush()).await;
        n_returned
    }
}

/// A result on its way to the server.
struct Sending {
    queue: Queue,
    subject: String,
    message_id: String,
    job: Message,
}

impl Sending {
    /// Sends a result until the server has it, and then acknowledges the job.
    async fn send(self, mut payload: Bytes) {
        let mut attempt = 0;
        loop {
            match self.try_send(payload.clone()).await {
                Ok(()) => break,
                Err(Refusal::TooLarge) => payload = self.too_large(&payload),
                Err(Refusal::Later) => {
                    attempt += 1;
                    tokio::time::sleep(pause(attempt)).await;
                }
            }
        }
        // If this is lost, the job is played again, and the first result counts.
        let _ = self.job.ack().await;
    }

    async fn try_send(&self, payload: Bytes) -> Result<(), Refusal> {
        use async_nats::jetstream::context::PublishErrorKind;
        use async_nats::jetstream::message::PublishMessage;
        let message = PublishMessage::build()
            .payload(payload)
            .message_id(&self.message_id);
        let refusal = |error: async_nats::jetstream::context::PublishError| match error.kind() {
            PublishErrorKind::MaxPayloadExceeded => Refusal::TooLarge,
            _ => Refusal::Later,
        };
        let sent = self
            .queue
            .context
            .send_publish(self.subject.clone(), message)
            .await;
        sent.map_err(refusal)?.await.map(|_| ()).map_err(refusal)
    }

    /// What is sent instead of a result that no message can hold.
    fn too_large(&self, payload: &[u8]) -> Bytes {
        let reason = format!(
            "its result has {} bytes, and the server takes fewer",
            payload.len()
        );
        match decode::<ResultMessage>(payload) {
            Ok(message) => encode(&ResultMessage {
                report: Report::Broken { reason },
                ..message
            }),
            Err(_) => Bytes::new(),
        }
    }
}

enum Refusal {
    TooLarge,
    Later,
}
