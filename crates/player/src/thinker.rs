//! A bot on a thread of its own, so that nobody has to wait for it.
//!
//! The bot is made on that thread and stays there. A panic in it is a message to the owner; a bot that does not come
//! back is left behind, and its thread ends when it does. A thinker that failed once is not asked again.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

use agon_engine::{JointMove, RoleId, State};
use agon_search::{Bot, Decision, Limits};

/// The owner's end.
pub(crate) struct Thinker {
    commands: Sender<Command>,
    answers: Receiver<Result<Decision, String>>,
}

enum Command {
    Think(State, RoleId, Limits),
    Played(JointMove, State),
}

/// Why there is no decision.
#[derive(Debug)]
pub(crate) enum Silence {
    /// The bot panicked; this is what it said.
    Panicked(String),
    /// It did not answer in time.
    Late,
}

impl Thinker {
    /// Starts a thread with a bot; `None` if the system gives no thread.
    pub(crate) fn start(make: impl FnOnce() -> Box<dyn Bot> + Send + 'static) -> Option<Thinker> {
        let (commands, inbox) = channel();
        let (outbox, answers) = channel();
        let thread = thread::Builder::new().name("bot".to_owned());
        // The thread ends when the owner drops its end, so nobody needs its handle.
        let spawned = thread.spawn(move || work(make, &inbox, &outbox));
        spawned.ok().map(|_| Thinker { commands, answers })
    }

    /// The bot's decision, if it comes in time. After a silence the thinker is of no more use.
    pub(crate) fn decide(
        &self,
        state: &State,
        role: RoleId,
        limits: Limits,
        by: Instant,
    ) -> Result<Decision, Silence> {
        let gone = || Silence::Panicked("its thread has ended".to_owned());
        let command = Command::Think(state.clone(), role, limits);
        self.commands.send(command).map_err(|_| gone())?;
        let wait = by.saturating_duration_since(Instant::now());
        match self.answers.recv_timeout(wait) {
            Ok(answer) => answer.map_err(Silence::Panicked),
            Err(RecvTimeoutError::Timeout) => Err(Silence::Late),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }

    /// Tells the bot how the match went on.
    pub(crate) fn played(&self, joint: &JointMove, next: &State) {
        // A thread that is gone says so when it is asked for a decision.
        let _ = self
            .commands
            .send(Command::Played(joint.clone(), next.clone()));
    }
}

fn work(
    make: impl FnOnce() -> Box<dyn Bot>,
    inbox: &Receiver<Command>,
    outbox: &Sender<Result<Decision, String>>,
) {
    let worked = catch_unwind(AssertUnwindSafe(|| {
        let mut bot = make();
        for command in inbox {
            match command {
                Command::Think(state, role, limits) => {
                    let decision = bot.think(&state, role, &limits, &mut |_| {});
                    if outbox.send(Ok(decision)).is_err() {
                        return;
                    }
                }
                Command::Played(joint, next) => bot.played(&joint, &next),
            }
        }
    }));
    if let Err(payload) = worked {
        let _ = outbox.send(Err(message(&*payload)));
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
