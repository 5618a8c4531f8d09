//! What ends a query of the match actor's engine: the end of the match, a better engine, a newer question.
//!
//! The actor cannot look into its inbox while an engine derives the legal moves, and an interpreter may need minutes for
//! that. So senders count their messages here before they send them, and the engine looks at the counts as it works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use agon_engine::Stop;
use agon_protocol::StopFlag;

/// Messages in the inbox of an actor that it should not keep waiting. Clones share the counts.
#[derive(Clone, Default)]
pub(crate) struct Interrupts(Arc<Counts>);

#[derive(Default)]
struct Counts {
    over: StopFlag,
    n_engines: AtomicUsize,
    n_questions: AtomicUsize,
    /// Whether a question ends the current query.
    yields: AtomicBool,
}

impl Interrupts {
    /// Counts for a match that is over when this flag is raised.
    pub(crate) fn new(over: &StopFlag) -> Interrupts {
        let over = over.clone();
        Interrupts(Arc::new(Counts {
            over,
            ..Counts::default()
        }))
    }

    /// An engine is about to be sent.
    pub(crate) fn announce_engine(&self) {
        self.0.n_engines.fetch_add(1, Ordering::Relaxed);
    }

    /// An engine was received.
    pub(crate) fn receive_engine(&self) {
        self.0.n_engines.fetch_sub(1, Ordering::Relaxed);
    }

    /// A question is about to be sent.
    pub(crate) fn announce_question(&self) {
        self.0.n_questions.fetch_add(1, Ordering::Relaxed);
    }

    /// A question was received.
    pub(crate) fn receive_question(&self) {
        self.0.n_questions.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a question is waiting.
    pub(crate) fn has_question(&self) -> bool {
        self.0.n_questions.load(Ordering::Relaxed) > 0
    }

    /// Runs a query that ends early if there is a newer question.
    pub(crate) fn yielding<T>(&self, query: impl FnOnce() -> T) -> T {
        self.0.yields.store(true, Ordering::Relaxed);
        let answer = query();
        self.0.yields.store(false, Ordering::Relaxed);
        answer
    }

    /// The stop function for the engine of the actor.
    pub(crate) fn stop(&self) -> Stop {
        let Interrupts(counts) = self.clone();
        Arc::new(move || {
            let is_asked = counts.n_questions.load(Ordering::Relaxed) > 0;
            counts.over.is_raised()
                || counts.n_engines.load(Ordering::Relaxed) > 0
                || is_asked && counts.yields.load(Ordering::Relaxed)
        })
    }
}
