//! A bot on a thread of its own, so that nobody has to wait for it.
//!
//! The bot is made on that thread and stays there. What it thinks, on the way and at the end, is sent to whoever keeps the
//! match, with the number of the question; a panic in it is a message as well. A bot that does not come back is left
//! behind, and its thread ends when it does.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use agon_engine::{JointMove, MoveId, RoleId, State};
use agon_search::{Bot, Decision, Limits, Report};

/// What the bot thinks about a question, which is known by its number.
pub(crate) struct Opinion {
    pub(crate) number: u64,
    pub(crate) view: View,
}

/// What the bot thinks.
pub(crate) enum View {
    /// On the way: this move is the best so far.
    Leaning(MoveId),
    /// It has decided.
    Decided(Decision),
    /// It has panicked; this is what it said.
    Failed(String),
}

/// Held by those who work for a match: when the last one is dropped, its memory is free.
pub(crate) type Token = Sender<()>;

/// The owner's end.
pub(crate) struct Thinker {
    tasks: Sender<Task>,
}

enum Task {
    Think(u64, State, RoleId, Limits),
    Played(JointMove, State),
}

impl Thinker {
    /// Starts a thread with a bot, which tells its opinions to somebody; `None` if the system gives no thread. The thread
    /// holds the token until the bot is gone.
    pub(crate) fn start(
        make: impl FnOnce() -> Box<dyn Bot> + Send + 'static,
        tell: impl Fn(Opinion) + Send + 'static,
        token: Token,
    ) -> Option<Thinker> {
        let (tasks, inbox) = channel();
        let thread = thread::Builder::new().name("bot".to_owned());
        // The thread ends when the owner drops its end, so nobody needs its handle.
        let spawned = thread.spawn(move || {
            work(make, &inbox, &tell);
            drop(token);
        });
        spawned.ok().map(|_| Thinker { tasks })
    }

    /// Asks for a decision; false if the thread has ended.
    pub(crate) fn think(&self, number: u64, state: &State, role: RoleId, limits: Limits) -> bool {
        let task = Task::Think(number, state.clone(), role, limits);
        self.tasks.send(task).is_ok()
    }

    /// Tells the bot how the match went on.
    pub(crate) fn played(&self, joint: &JointMove, next: &State) {
        // A thread that is gone is found out when it is asked for a decision.
        let _ = self.tasks.send(Task::Played(joint.clone(), next.clone()));
    }
}

fn work(make: impl FnOnce() -> Box<dyn Bot>, inbox: &Receiver<Task>, tell: &impl Fn(Opinion)) {
    let mut number = 0;
    let worked = catch_unwind(AssertUnwindSafe(|| {
        let mut bot = make();
        for task in inbox {
            match task {
                Task::Think(asked, state, role, limits) => {
                    number = asked;
                    let mut watch = |report: &Report| {
                        if let Some(best) = report.moves.first() {
                            let view = View::Leaning(best.of);
                            tell(Opinion { number, view });
                        }
                    };
                    let decision = bot.think(&state, role, &limits, &mut watch);
                    let view = View::Decided(decision);
                    tell(Opinion { number, view });
                }
                Task::Played(joint, next) => bot.played(&joint, &next),
            }
        }
    }));
    let Err(payload) = worked else { return };
    let words = message(&*payload);
    let tell_again = |number| {
        let view = View::Failed(words.clone());
        tell(Opinion { number, view });
    };
    tell_again(number);
    // A question that came before anybody knew is answered too.
    for task in inbox {
        if let Task::Think(number, ..) = task {
            tell_again(number);
        }
    }
}

/// What a panic says.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}
