//! Searches and analyses that pages start and listen to.
//!
//! A job runs on a thread of its own and publishes news. What a page missed before it listened is kept: the last report, or the
//! result. A job that nobody listens to is stopped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_protocol::StopFlag;

use crate::error::ApiError;
use crate::ids::new_id;
use crate::live::{News, Wire};

/// Jobs at once.
const MOST_JOBS: usize = 64;
/// A job without listeners is stopped after this time.
const ALONE: Duration = Duration::from_secs(15);

/// A job.
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) stop: StopFlag,
    pub(crate) wire: Wire,
    last: Mutex<Last>,
}

struct Last {
    /// The last news of each kind.
    news: Vec<News>,
    is_over: bool,
    alone_since: Instant,
}

impl Job {
    fn lock(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what happened.
    pub(crate) fn publish(&self, news: News) {
        let mut last = self.lock();
        last.news.retain(|known| known.event != news.event);
        last.news.push(news.clone());
        last.is_over |= news.event == "end";
        drop(last);
        self.wire.publish(news);
    }

    /// What a new listener gets first, and all that follows.
    pub(crate) fn listen(&self) -> (Vec<News>, tokio::sync::broadcast::Receiver<News>) {
        let last = self.lock();
        (last.news.clone(), self.wire.listen())
    }
}

/// All jobs.
#[derive(Default)]
pub(crate) struct Jobs(Mutex<HashMap<String, Arc<Job>>>);

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Job>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new job, which the caller runs.
    pub(crate) fn add(&self) -> Result<Arc<Job>, ApiError> {
        self.sweep();
        let mut jobs = self.lock();
        if jobs.len() >= MOST_JOBS {
            return Err(ApiError::busy(
                "too many analyses at once; try again later",
                10,
            ));
        }
        let job = Arc::new(Job {
            id: new_id(),
            stop: StopFlag::new(),
            wire: Wire::default(),
            last: Mutex::new(Last {
                news: Vec::new(),
                is_over: false,
                alone_since: Instant::now(),
            }),
        });
        jobs.insert(job.id.clone(), Arc::clone(&job));
        Ok(job)
    }

    /// A job by its id.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<Job>, ApiError> {
        let missing = || ApiError::missing("no-such-analysis", "there is no analysis with this id");
        self.lock().get(id).cloned().ok_or_else(missing)
    }

    /// Stops all jobs.
    pub(crate) fn stop_all(&self) {
        self.lock().values().for_each(|job| job.stop.raise());
    }

    /// Stops jobs that nobody listens to, and forgets those that are over.
    pub(crate) fn sweep(&self) {
        self.lock().retain(|_, job| {
            let has_listeners = job.wire.n_listeners() > 0;
            let mut last = job.lock();
            if has_listeners {
                last.alone_since = Instant::now();
            }
            let is_alone = last.alone_since.elapsed() > ALONE;
            if is_alone {
                job.stop.raise();
            }
            !(is_alone && last.is_over)
        });
    }
}
