//! The tournaments and workers of a queue, for people, and their orders: pause, resume, cancel, priority, remove.

use serde::Serialize;

use crate::access::{Access, Name};
use crate::error::ClusterError;
use crate::message::{TournamentState, WorkerReport, decode};
use crate::queue::{Names, Queue, last_messages};

/// A tournament on the queue.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct QueueRow {
    /// Its name.
    pub name: String,
    /// `open`, `paused`, `cancelled` or `over`.
    pub state: &'static str,
    /// Jobs of tournaments with higher numbers come first.
    pub priority: i32,
    /// Its matches.
    pub matches: usize,
    /// Jobs that nobody plays.
    pub waiting: usize,
    /// Jobs that workers have.
    pub playing: usize,
    /// Messages with results.
    pub results: u64,
}

/// A worker that reported within the last day.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WorkerState {
    /// Its name.
    pub worker: String,
    /// Its version.
    pub version: String,
    /// The fingerprint of its build.
    pub fingerprint: String,
    /// Its CPU.
    pub cpu: String,
    /// Matches at the same time.
    pub threads: usize,
    /// Playouts per second in a measurement, per thread.
    pub speed: f64,
    /// Jobs that it has.
    pub playing: usize,
    /// Matches that it played.
    pub played: usize,
    /// Tournaments that it gets no jobs of, and why.
    pub refused: Vec<String>,
}

/// What is to be done with a tournament.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Workers take no further jobs.
    Pause,
    /// Workers take jobs again.
    Resume,
    /// Its jobs are deleted and running matches are stopped; results stay.
    Cancel,
    /// Jobs of tournaments with higher numbers come first.
    Priority(i32),
    /// Everything that the server has about it is deleted, with its results.
    Remove,
}

/// All tournaments and workers.
///
/// # Errors
/// If the server cannot be asked.
pub fn list(access: &Access) -> Result<(Vec<QueueRow>, Vec<WorkerState>), ClusterError> {
    blocking(access, async |queue| {
        let mut states = queue.states().await?;
        states.sort_by(|a, b| (-a.priority, &a.name).cmp(&(-b.priority, &b.name)));
        let mut rows = Vec::new();
        for state in states {
            rows.push(row(&queue, &state).await?);
        }
        let stream = queue.context.get_stream(queue.names.worker_stream()).await;
        let stream = stream.map_err(|error| ClusterError::server("reading workers", &error))?;
        let messages = last_messages(&stream).await?;
        let mut workers: Vec<WorkerState> = messages
            .iter()
            .filter_map(|bytes| decode(bytes).ok())
            .map(worker_state)
            .collect();
        workers.sort_by(|a, b| a.worker.cmp(&b.worker));
        Ok((rows, workers))
    })
}

/// Gives an order.
///
/// # Errors
/// If there is no such tournament, or the server cannot be asked.
pub fn order(access: &Access, tournament: &Name, order: Order) -> Result<(), ClusterError> {
    blocking(access, async |queue| {
        if queue.state(tournament).await?.is_none() {
            return Err(ClusterError::Unknown(tournament.to_string()));
        }
        let change = |state: &mut TournamentState| match order {
            Order::Pause => state.is_paused = true,
            Order::Resume => state.is_paused = false,
            Order::Cancel | Order::Remove => state.is_cancelled = true,
            Order::Priority(priority) => state.priority = priority,
        };
        queue.change_state(tournament, change).await?;
        let jobs = queue.names.job_stream(tournament);
        match order {
            Order::Pause | Order::Resume | Order::Priority(_) => Ok(()),
            Order::Cancel => match queue.context.get_stream(jobs).await {
                Ok(stream) => {
                    let purged = stream.purge().await.map(|_| ());
                    purged.map_err(|error| ClusterError::server("deleting jobs", &error))
                }
                Err(_) => Ok(()),
            },
            Order::Remove => {
                for stream in [jobs, queue.names.result_stream(tournament)] {
                    // A stream that is not there is as good as deleted.
                    let _ = queue.context.delete_stream(stream).await;
                }
                let state = queue.state_stream().await?;
                let subject = queue.names.state(tournament.as_str());
                let purged = state.purge().filter(subject).await.map(|_| ());
                purged.map_err(|error| ClusterError::server("deleting the state", &error))
            }
        }
    })
}

fn blocking<T>(
    access: &Access,
    ask: impl AsyncFnOnce(Queue) -> Result<T, ClusterError>,
) -> Result<T, ClusterError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ClusterError::Runtime)?;
    runtime.block_on(async {
        let context = access.connect("agon queue", false).await?;
        let queue = Queue {
            context,
            names: Names(access.project.clone()),
            replicas: access.replicas,
        };
        queue.prepare().await?;
        ask(queue).await
    })
}

async fn row(queue: &Queue, state: &TournamentState) -> Result<QueueRow, ClusterError> {
    let name: Name = state.name.parse()?;
    let (mut waiting, mut playing) = (0, 0);
    if let Ok((mut consumer, _)) = queue.jobs(&name).await
        && let Ok(info) = consumer.info().await
    {
        waiting = info.num_pending as usize;
        playing = info.num_ack_pending;
    }
    let results = queue
        .context
        .get_stream(queue.names.result_stream(&name))
        .await;
    let results = results.map_or(0, |stream| stream.cached_info().state.messages);
    Ok(QueueRow {
        state: match state {
            state if state.is_cancelled => "cancelled",
            state if state.is_over => "over",
            state if state.is_paused => "paused",
            _ => "open",
        },
        priority: state.priority,
        matches: state.n_matches,
        name: state.name.clone(),
        waiting,
        playing,
        results,
    })
}

fn worker_state(report: WorkerReport) -> WorkerState {
    let words = |(tournament, reason): (String, String)| format!("{tournament}: {reason}");
    WorkerState {
        worker: report.worker,
        version: report.build.version,
        fingerprint: report.build.fingerprint,
        cpu: report.cpu,
        threads: report.threads,
        speed: report.speed,
        playing: report.n_playing,
        played: report.n_played,
        refused: report.refused.into_iter().map(words).collect(),
    }
}
