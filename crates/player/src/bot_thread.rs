//! A bot on its own thread, so that the match actor never blocks on it.
//!
//! The bot is created on that thread and stays there. Its best move so far and its decision are sent to the match actor as
//! [`BotEvent`]s, with the number of the question. A panic is an event too. A bot that does not return is abandoned; its
//! thread ends when the bot returns.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use agon_engine::{JointMove, MoveId, PerceptId, RoleId, State};
use agon_search::{Bot, Decision, Limits, Report};

/// News from the bot about the question with this number.
pub(crate) struct BotEvent {
    pub(crate) number: u64,
    pub(crate) kind: BotEventKind,
}

/// What happened.
pub(crate) enum BotEventKind {
    /// The bot is still thinking; this is its best move so far.
    BestSoFar(MoveId),
    /// The bot has decided.
    Decided(Decision),
    /// The bot has decided by a belief of its own.
    Believed(Decision),
    /// The bot panicked with this message.
    Failed(String),
}

/// Held by each thread of a match. When the last one is dropped, all memory of the match is freed.
pub(crate) type Token = Sender<()>;

/// The owner's end of the channel to the thread.
pub(crate) struct BotThread {
    tasks: Sender<Task>,
}

enum Task {
    Think(u64, State, RoleId, Limits),
    Played(JointMove, State),
    Saw(RoleId, MoveId, Vec<PerceptId>),
    Missed,
}

impl BotThread {
    /// Starts a thread with a bot, which sends its events with `tell`. Returns `None` if no thread can be started. The
    /// thread holds the token until the bot is dropped.
    pub(crate) fn start(
        make: impl FnOnce() -> Box<dyn Bot> + Send + 'static,
        tell: impl Fn(BotEvent) + Send + 'static,
        token: Token,
    ) -> Option<BotThread> {
        let (tasks, inbox) = channel();
        let thread = thread::Builder::new().name("bot".to_owned());
        // The thread ends when the owner drops its end of the channel, so the join handle is not needed.
        let spawned = thread.spawn(move || {
            work(make, &inbox, &tell);
            drop(token);
        });
        spawned.ok().map(|_| BotThread { tasks })
    }

    /// Asks for a decision. Returns false if the thread has ended.
    pub(crate) fn think(&self, number: u64, state: &State, role: RoleId, limits: Limits) -> bool {
        let task = Task::Think(number, state.clone(), role, limits);
        self.tasks.send(task).is_ok()
    }

    /// Tells the bot which joint move was played.
    pub(crate) fn played(&self, joint: &JointMove, next: &State) {
        // If the thread has ended, the next call of `think` reports it.
        let _ = self.tasks.send(Task::Played(joint.clone(), next.clone()));
    }

    /// Tells the bot what its role did and saw in the next step, in GDL-II; `None` if not all of that is known.
    pub(crate) fn saw(&self, role: RoleId, step: Option<(MoveId, &[PerceptId])>) {
        let task = match step {
            Some((own, percepts)) => Task::Saw(role, own, percepts.to_vec()),
            None => Task::Missed,
        };
        let _ = self.tasks.send(task);
    }
}

fn work(make: impl FnOnce() -> Box<dyn Bot>, inbox: &Receiver<Task>, tell: &impl Fn(BotEvent)) {
    let mut number = 0;
    let worked = catch_unwind(AssertUnwindSafe(|| {
        let mut bot = make();
        for task in inbox {
            match task {
                Task::Think(asked, state, role, limits) => {
                    number = asked;
                    let mut watch = |report: &Report| {
                        if let Some(best) = report.moves.first() {
                            let kind = BotEventKind::BestSoFar(best.mv);
                            tell(BotEvent { number, kind });
                        }
                    };
                    let decision = bot.think(&state, role, &limits, &mut watch);
                    let belief = bot.belief();
                    let kind = match belief.is_some_and(|(account, _)| !account.is_lost) {
                        true => BotEventKind::Believed(decision),
                        false => BotEventKind::Decided(decision),
                    };
                    tell(BotEvent { number, kind });
                }
                Task::Played(joint, next) => bot.played(&joint, &next),
                Task::Saw(role, own, percepts) => bot.saw(role, own, &percepts),
                Task::Missed => bot.missed(),
            }
        }
    }));
    let Err(payload) = worked else { return };
    let text = message(&*payload);
    let tell_again = |number| {
        let kind = BotEventKind::Failed(text.clone());
        tell(BotEvent { number, kind });
    };
    tell_again(number);
    // Questions that were sent before the owner knew of the panic are answered too.
    for task in inbox {
        if let Task::Think(number, ..) = task {
            tell_again(number);
        }
    }
}

/// The message of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
