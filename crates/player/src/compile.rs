//! Compiles a game while the match goes on, into three engines of increasing quality.
//!
//! In: rules. Out: games, sent as they become ready, each with its [`Grade`]. Grounding starts at once on its own thread and
//! may continue after the start clock, because a network is much faster than the interpreter. If it does not finish within
//! [`INTERPRETER_DELAY`], an interpreter is built at the same time: first a quick one, so that a legal move is known early,
//! then one with planned joins. All of it ends when the match does.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::Game;
use agon_engine::interpreter::{Effort, Options};
use agon_protocol::{Rules, StopFlag};

use crate::bot_thread::{Token, message};

/// Most games are grounded within this time. No interpreter is built for them.
pub(crate) const INTERPRETER_DELAY: Duration = Duration::from_millis(50);
/// Grounding is stopped after this time, or at the end of the start clock if that is later.
pub(crate) const GROUNDING_TIMEOUT: Duration = Duration::from_secs(120);

/// The quality of an engine, from worst to best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Grade {
    /// The interpreter, built quickly.
    Quick,
    /// The interpreter, with planned joins.
    Planned,
    /// A network.
    Network,
}

impl Grade {
    /// All grades, from worst to best.
    pub(crate) const ALL: [Grade; 3] = [Grade::Quick, Grade::Planned, Grade::Network];
}

/// A compiled game, or why compilation failed.
pub(crate) struct Compiled {
    pub(crate) grade: Grade,
    pub(crate) game: Result<Arc<Game>, String>,
}

/// Compiles a game into a network. Stops at `until`, or when `stop` is raised.
pub(crate) fn compile_network(
    rules: &Arc<Rules>,
    until: Instant,
    stop: &StopFlag,
    token: Token,
    tell: impl Fn(Compiled) + Send + 'static,
) {
    let (rules, stop) = (Arc::clone(rules), stop.clone());
    spawn(token, move || {
        let is_over = || stop.is_raised() || Instant::now() > until;
        let game = attempt(|| Game::network(rules, &Default::default(), &is_over));
        let grade = Grade::Network;
        tell(Compiled { grade, game });
    });
}

/// Builds the quick interpreter and then the planned one. `needless` ends that, because there is a better engine; `over`
/// ends all work on them as well.
pub(crate) fn compile_interpreters(
    rules: &Arc<Rules>,
    needless: &StopFlag,
    over: &StopFlag,
    token: Token,
    tell: impl Fn(Compiled) + Send + 'static,
) {
    let (rules, needless, over) = (Arc::clone(rules), needless.clone(), over.clone());
    spawn(token, move || {
        for (grade, effort) in [
            (Grade::Quick, Effort::Quick),
            (Grade::Planned, Effort::Full),
        ] {
            let is_ready = StopFlag::new();
            let (ready, needless, over) = (is_ready.clone(), needless.clone(), over.clone());
            let stop = move || over.is_raised() || needless.is_raised() && !ready.is_raised();
            let options = Options {
                effort,
                stop: Arc::new(stop),
                ..Options::default()
            };
            let game = attempt(|| Game::interpret_with(Arc::clone(&rules), options));
            is_ready.raise();
            tell(Compiled { grade, game });
        }
    });
}

/// Runs a compilation on its own thread, which holds the token of the match.
fn spawn(token: Token, compile: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name("compile".to_owned());
    // If no thread can be started, the match is played without this engine.
    let _ = thread.spawn(move || {
        compile();
        drop(token);
    });
}

/// A game, or the message of an error or a panic.
fn attempt<E: Display>(compile: impl FnOnce() -> Result<Game, E>) -> Result<Arc<Game>, String> {
    match catch_unwind(AssertUnwindSafe(compile)) {
        Ok(Ok(game)) => Ok(Arc::new(game)),
        Ok(Err(error)) => Err(error.to_string()),
        Err(payload) => Err(message(&*payload)),
    }
}
