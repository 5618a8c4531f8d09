//! The queue of searches: only as many run at once as there are cores, in the order in which they were asked for.
//!
//! A search waits for its turn and is told its place. While many wait, everybody gets a smaller share of its clock, so that
//! all answers come in time: with `n` searches in the queue and `s` running at once, a search gets `s / n` of its clock. `n` is
//! the most that were in the queue while it waited.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use agon_protocol::StopFlag;

/// How often somebody who waits looks at the stop flag.
const POLL: Duration = Duration::from_millis(50);

/// The queue.
pub(crate) struct Queue {
    slots: usize,
    most: usize,
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    next: u64,
    waiting: VecDeque<Ticket>,
    n_running: usize,
}

struct Ticket {
    number: u64,
    /// The most searches, waiting or running, since it came.
    peak: usize,
}

/// The right to search, until it is dropped.
pub(crate) struct Turn {
    queue: Arc<Queue>,
    /// The part of its clock that the search gets, 0 to 1.
    pub(crate) share: f64,
}

/// Why there is no turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoTurn {
    /// The queue is full.
    Full,
    /// The search is not wanted any more.
    Stopped,
}

impl Queue {
    /// A queue with a number of searches that run at once, and a bound on those that wait.
    pub(crate) fn new(slots: usize, most: usize) -> Arc<Queue> {
        Arc::new(Queue {
            slots: slots.max(1),
            most,
            inner: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// How many searches run at once at most.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// How many run and how many wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.n_running, inner.waiting.len())
    }

    /// Waits for a turn. `tell` gets the place in the queue, from 1, whenever it changes; never 0.
    pub(crate) fn wait(
        self: &Arc<Queue>,
        stop: &StopFlag,
        tell: &mut dyn FnMut(usize),
    ) -> Result<Turn, NoTurn> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.waiting.len() >= self.most {
            return Err(NoTurn::Full);
        }
        let number = inner.next;
        inner.next += 1;
        inner.waiting.push_back(Ticket { number, peak: 0 });
        let n_all = inner.waiting.len() + inner.n_running;
        for ticket in &mut inner.waiting {
            ticket.peak = ticket.peak.max(n_all);
        }
        let mut told = 0;
        loop {
            let idx = inner
                .waiting
                .iter()
                .position(|ticket| ticket.number == number);
            let Some(idx) = idx else {
                return Err(NoTurn::Stopped);
            };
            if stop.is_raised() {
                inner.waiting.remove(idx);
                self.changed.notify_all();
                return Err(NoTurn::Stopped);
            }
            if idx == 0 && inner.n_running < self.slots {
                let peak = inner.waiting.pop_front().map_or(1, |ticket| ticket.peak);
                inner.n_running += 1;
                self.changed.notify_all();
                return Ok(Turn {
                    queue: Arc::clone(self),
                    share: (self.slots as f64 / peak.max(1) as f64).min(1.0),
                });
            }
            if idx + 1 != told {
                told = idx + 1;
                // Nobody may be kept waiting by somebody who listens.
                drop(inner);
                tell(told);
                inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.changed.wait_timeout(inner, POLL);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let queue = &self.queue;
        let mut inner = queue.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.n_running -= 1;
        queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;

    #[test]
    fn turns_come_in_order_with_fair_shares() {
        let queue = Queue::new(1, 10);
        let first = queue
            .wait(&StopFlag::new(), &mut |_| {})
            .expect("it is free");
        assert_eq!(first.share, 1.0);
        let (sender, places) = channel();
        let mut threads = Vec::new();
        for name in ["second", "third"] {
            let (queue_, sender) = (Arc::clone(&queue), sender.clone());
            threads.push(thread::spawn(move || {
                let tell = &mut |place| sender.send((name, place)).expect("somebody listens");
                let turn = queue_.wait(&StopFlag::new(), tell).expect("its turn comes");
                turn.share
            }));
            // The second is in the queue before the third.
            let place = if name == "second" { 1 } else { 2 };
            assert_eq!(places.recv().expect("it is told"), (name, place));
        }
        assert_eq!(queue.load(), (1, 2));
        drop(first);
        let shares: Vec<f64> = threads
            .into_iter()
            .map(|thread| thread.join().expect("it ends"))
            .collect();
        // Three were in the queue at once.
        assert_eq!(shares, [1.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(queue.load(), (0, 0));
    }

    #[test]
    fn a_full_queue_and_a_raised_flag_end_the_wait() {
        let queue = Queue::new(1, 1);
        let _turn = queue
            .wait(&StopFlag::new(), &mut |_| {})
            .expect("it is free");
        let stop = StopFlag::new();
        let waiter = {
            let (queue, stop) = (Arc::clone(&queue), stop.clone());
            thread::spawn(move || queue.wait(&stop, &mut |_| {}).map(|_| ()))
        };
        while queue.load().1 == 0 {
            thread::yield_now();
        }
        let full = queue.wait(&StopFlag::new(), &mut |_| {}).map(|_| ());
        assert_eq!(full, Err(NoTurn::Full));
        stop.raise();
        assert_eq!(waiter.join().expect("it ends"), Err(NoTurn::Stopped));
        assert_eq!(queue.load().1, 0);
    }
}
