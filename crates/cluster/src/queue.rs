//! The streams of a project on the server, and what is done with them.
//!
//! | stream | subject | kept |
//! |---|---|---|
//! | `P-jobs-T` | `P.job.T.CELL.KEY` | until it is acknowledged; each key once |
//! | `P-results-T` | `P.result.T.KEY` | until the tournament is removed |
//! | `P-state` | `P.state.T` | the last message of each tournament |
//! | `P-workers` | `P.worker.W` | the last message of each worker, for a day |
//! | `P-rules` | `P.rules.HASH.CHUNK` | each once |
//!
//! `P` is the project and `T` the tournament. A job stream refuses a second message of a subject, so that a job that is queued
//! or played is not queued again, however long ago it was published.

use std::collections::VecDeque;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::context::PublishAckFuture;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, LastRawMessageErrorKind, RetentionPolicy, StorageType, Stream,
};
use async_nats::jetstream::{self, Context};
use bytes::Bytes;
use futures_util::StreamExt;

use crate::access::Name;
use crate::error::ClusterError;
use crate::message::{TournamentState, decode, encode};

/// The consumer that all workers share.
const CONSUMER: &str = "workers";
/// Messages that are sent before the first answer is waited for.
const WINDOW: usize = 500;
/// The largest job.
const MOST_JOB_BYTES: i32 = 64 << 10;
/// How long the server remembers ids of messages.
const DUPLICATES: Duration = Duration::from_secs(120);
/// Attempts to change the state of a tournament while others change it too.
const MOST_ATTEMPTS: usize = 20;

/// The names of streams and subjects of a project.
#[derive(Clone, Debug)]
pub(crate) struct Names(pub(crate) Name);

impl Names {
    pub(crate) fn job_stream(&self, tournament: &Name) -> String {
        format!("{}-jobs-{tournament}", self.0)
    }

    pub(crate) fn result_stream(&self, tournament: &Name) -> String {
        format!("{}-results-{tournament}", self.0)
    }

    pub(crate) fn state_stream(&self) -> String {
        format!("{}-state", self.0)
    }

    pub(crate) fn worker_stream(&self) -> String {
        format!("{}-workers", self.0)
    }

    pub(crate) fn object_stream(&self) -> String {
        format!("{}-rules", self.0)
    }

    pub(crate) fn job(&self, tournament: &Name, cell: usize, key: &str) -> String {
        format!("{}.job.{tournament}.{cell}.{key}", self.0)
    }

    pub(crate) fn result(&self, tournament: &Name, key: &str) -> String {
        format!("{}.result.{tournament}.{key}", self.0)
    }

    pub(crate) fn state(&self, tournament: &str) -> String {
        format!("{}.state.{tournament}", self.0)
    }

    pub(crate) fn worker(&self, worker: &str) -> String {
        format!("{}.worker.{worker}", self.0)
    }

    pub(crate) fn object(&self, hash: &str, number: usize) -> String {
        format!(
            "{}.rules.{}.{number}",
            self.0,
            hash.replace([':', '.', ' '], "-")
        )
    }
}

/// A job as it is published.
pub(crate) struct JobToSend {
    pub(crate) cell: usize,
    pub(crate) key: String,
    pub(crate) payload: Bytes,
}

/// The streams of a project.
#[derive(Clone)]
pub(crate) struct Queue {
    pub(crate) context: Context,
    pub(crate) names: Names,
    pub(crate) replicas: usize,
}

impl Queue {
    /// Makes the streams that all tournaments share.
    pub(crate) async fn prepare(&self) -> Result<(), ClusterError> {
        let state = Config {
            name: self.names.state_stream(),
            subjects: vec![self.names.state("*")],
            max_messages_per_subject: 1,
            ..self.config()
        };
        let workers = Config {
            name: self.names.worker_stream(),
            subjects: vec![self.names.worker("*")],
            max_messages_per_subject: 1,
            max_age: Duration::from_secs(24 * 3600),
            storage: StorageType::Memory,
            ..self.config()
        };
        let rules = Config {
            name: self.names.object_stream(),
            subjects: vec![format!("{}.rules.>", self.names.0)],
            max_messages_per_subject: 1,
            ..self.config()
        };
        for config in [state, workers, rules] {
            self.make(config).await?;
        }
        Ok(())
    }

    /// Makes the streams of a tournament: jobs and results.
    pub(crate) async fn open(
        &self,
        tournament: &Name,
        ack_wait: Duration,
    ) -> Result<(Stream, Stream), ClusterError> {
        let jobs = Config {
            name: self.names.job_stream(tournament),
            subjects: vec![format!("{}.job.{tournament}.>", self.names.0)],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            max_messages_per_subject: 1,
            max_message_size: MOST_JOB_BYTES,
            ..self.config()
        };
        let results = Config {
            name: self.names.result_stream(tournament),
            subjects: vec![format!("{}.result.{tournament}.*", self.names.0)],
            ..self.config()
        };
        let (jobs, results) = (self.make(jobs).await?, self.make(results).await?);
        let consumer = pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait,
            max_ack_pending: 100_000,
            max_waiting: 4096,
            num_replicas: self.replicas,
            ..Default::default()
        };
        let made = jobs.create_consumer(consumer).await;
        made.map_err(|error| ClusterError::server("making the consumer of jobs", &error))?;
        Ok((jobs, results))
    }

    fn config(&self) -> Config {
        Config {
            storage: StorageType::File,
            num_replicas: self.replicas,
            duplicate_window: DUPLICATES,
            ..Config::default()
        }
    }

    async fn make(&self, config: Config) -> Result<Stream, ClusterError> {
        let made = self.context.get_or_create_stream(config).await;
        made.map_err(|error| ClusterError::server("making a stream", &error))
    }

    /// The consumer of the jobs of a tournament, with how long it waits for signs of life.
    pub(crate) async fn jobs(
        &self,
        tournament: &Name,
    ) -> Result<(PullConsumer, Duration), ClusterError> {
        let stream = self.names.job_stream(tournament);
        let consumer = self
            .context
            .get_consumer_from_stream(CONSUMER, stream)
            .await;
        let consumer: PullConsumer = consumer
            .map_err(|error| ClusterError::server("finding the consumer of jobs", &error))?;
        let wait = consumer.cached_info().config.ack_wait;
        Ok((consumer, wait))
    }

    /// A consumer of results from a place on.
    pub(crate) async fn results(
        &self,
        results: &Stream,
        place: u64,
    ) -> Result<PullConsumer, ClusterError> {
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: place + 1,
            },
            ack_policy: AckPolicy::None,
            inactive_threshold: Duration::from_secs(60),
            num_replicas: 1,
            memory_storage: true,
            ..Default::default()
        };
        let made = results.create_consumer(config).await;
        made.map_err(|error| ClusterError::server("reading results", &error))
    }

    /// Publishes jobs; returns how many were new on the queue.
    pub(crate) async fn publish(
        &self,
        tournament: &Name,
        jobs: impl Iterator<Item = JobToSend>,
    ) -> Result<usize, ClusterError> {
        let mut in_flight: VecDeque<(PublishAckFuture, JobToSend)> = VecDeque::new();
        let mut n_new = 0;
        for job in jobs {
            let message = PublishMessage::build()
                .payload(job.payload.clone())
                .message_id(&job.key);
            let subject = self.names.job(tournament, job.cell, &job.key);
            let sent = self.context.send_publish(subject, message).await;
            let sent = sent.map_err(|error| ClusterError::server("publishing jobs", &error))?;
            in_flight.push_back((sent, job));
            if in_flight.len() >= WINDOW {
                n_new += self.settle(tournament, in_flight.pop_front()).await?;
            }
        }
        while !in_flight.is_empty() {
            n_new += self.settle(tournament, in_flight.pop_front()).await?;
        }
        Ok(n_new)
    }

    /// Waits for the answer to a published job: 1 if it is new on the queue.
    async fn settle(
        &self,
        tournament: &Name,
        sent: Option<(PublishAckFuture, JobToSend)>,
    ) -> Result<usize, ClusterError> {
        let Some((sent, job)) = sent else {
            return Ok(0);
        };
        match sent.await {
            Ok(ack) if !ack.duplicate => Ok(1),
            // The server remembers the id, but the job may have left the queue since then: the subject decides.
            Ok(_) => {
                let subject = self.names.job(tournament, job.cell, &job.key);
                let again = self.context.publish(subject, job.payload).await;
                let again =
                    again.map_err(|error| ClusterError::server("publishing jobs", &error))?;
                is_new(again.await)
            }
            Err(error) => is_new(Err(error)),
        }
    }

    /// The state of a tournament with its place in the stream.
    pub(crate) async fn state(
        &self,
        tournament: &Name,
    ) -> Result<Option<(TournamentState, u64)>, ClusterError> {
        let stream = self.state_stream().await?;
        let subject = self.names.state(tournament.as_str());
        match stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => {
                let state = decode(&message.payload);
                Ok(state.ok().map(|state| (state, message.sequence)))
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(ClusterError::server("reading the state", &error)),
        }
    }

    pub(crate) async fn state_stream(&self) -> Result<Stream, ClusterError> {
        let stream = self.context.get_stream(self.names.state_stream()).await;
        stream.map_err(|error| ClusterError::server("reading the state", &error))
    }

    /// The states of all tournaments.
    pub(crate) async fn states(&self) -> Result<Vec<TournamentState>, ClusterError> {
        let stream = self.state_stream().await?;
        let messages = last_messages(&stream).await?;
        Ok(messages
            .iter()
            .filter_map(|bytes| decode(bytes).ok())
            .collect())
    }

    /// Changes the state of a tournament, also if others change it at the same time.
    pub(crate) async fn change_state(
        &self,
        tournament: &Name,
        change: impl Fn(&mut TournamentState),
    ) -> Result<TournamentState, ClusterError> {
        let mut last = String::new();
        for _ in 0..MOST_ATTEMPTS {
            let found = self.state(tournament).await?;
            let place = found.as_ref().map_or(0, |(_, place)| *place);
            let mut state = found.map(|(state, _)| state).unwrap_or_default();
            state.name = tournament.to_string();
            change(&mut state);
            let message = PublishMessage::build()
                .payload(encode(&state))
                .expected_last_subject_sequence(place);
            let subject = self.names.state(tournament.as_str());
            let sent = self.context.send_publish(subject, message).await;
            let sent = sent.map_err(|error| ClusterError::server("writing the state", &error))?;
            match sent.await {
                Ok(_) => return Ok(state),
                Err(error) => last = error.to_string(),
            }
        }
        Err(ClusterError::server("writing the state", &last))
    }
}

/// The last message of every subject of a stream.
pub(crate) async fn last_messages(stream: &Stream) -> Result<Vec<Bytes>, ClusterError> {
    let fail = |error: &dyn ToString| ClusterError::server("reading a stream", error);
    let config = pull::Config {
        deliver_policy: DeliverPolicy::LastPerSubject,
        filter_subject: ">".to_owned(),
        ack_policy: AckPolicy::None,
        inactive_threshold: Duration::from_secs(10),
        memory_storage: true,
        num_replicas: 1,
        ..Default::default()
    };
    let consumer = stream.create_consumer(config).await;
    let consumer: PullConsumer = consumer.map_err(|error| fail(&error))?;
    let mut left = consumer.cached_info().num_pending;
    let mut bytes = Vec::new();
    while left > 0 {
        let batch = consumer.fetch().max_messages(500).messages().await;
        let mut batch = batch.map_err(|error| fail(&error))?;
        let before = left;
        while let Some(message) = batch.next().await {
            let message = message.map_err(|error| fail(&error))?;
            bytes.push(message.payload.clone());
            left = left.saturating_sub(1);
        }
        if left == before {
            break;
        }
    }
    let name = consumer.cached_info().name.clone();
    // It ends by itself if it cannot be deleted.
    let _ = stream.delete_consumer(&name).await;
    Ok(bytes)
}

/// Whether a job was new on the queue.
fn is_new(
    answer: Result<jetstream::publish::PublishAck, jetstream::context::PublishError>,
) -> Result<usize, ClusterError> {
    match answer {
        Ok(_) => Ok(1),
        Err(error) if error.to_string().contains("per subject") => Ok(0),
        Err(error) => Err(ClusterError::server("publishing jobs", &error)),
    }
}
