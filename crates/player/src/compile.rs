//! Compiles a game while the match goes on, into three engines of increasing quality.
//!
//! In: rules. Out: games, sent as they become ready, each with its [`Grade`]. Grounding starts at once on its own thread and
//! may continue after the start clock, because a network is much faster than the interpreter. If it does not finish within
//! [`INTERPRETER_DELAY`], an interpreter is built at the same time: first a quick one, so that a legal move is known early,
//! then one with planned joins.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::Game;
use agon_protocol::{Rules, StopFlag};

use crate::bot_thread::message;

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
    tell: impl Fn(Compiled) + Send + 'static,
) {
    let (rules, stop) = (Arc::clone(rules), stop.clone());
    spawn(move || {
        let is_over = || stop.is_raised() || Instant::now() > until;
        let game = attempt(|| Game::network(rules, &Default::default(), &is_over));
        let grade = Grade::Network;
        tell(Compiled { grade, game });
    });
}

/// Builds the quick interpreter and then the planned one, unless `stop_interpreters` is raised in between.
pub(crate) fn compile_interpreters(
    rules: &Arc<Rules>,
    stop_interpreters: &StopFlag,
    tell: impl Fn(Compiled) + Send + 'static,
) {
    let (rules, stop_interpreters) = (Arc::clone(rules), stop_interpreters.clone());
    spawn(move || {
        let game = attempt(|| Game::interpret_quickly(Arc::clone(&rules)));
        let grade = Grade::Quick;
        tell(Compiled { grade, game });
        let game = match stop_interpreters.is_raised() {
            true => Err("a better engine is ready".to_owned()),
            false => attempt(|| Game::interpret(rules)),
        };
        let grade = Grade::Planned;
        tell(Compiled { grade, game });
    });
}

fn spawn(compile: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name("compile".to_owned());
    // If no thread can be started, the match is played without this engine.
    let _ = thread.spawn(compile);
}

/// A game, or the message of an error or a panic.
fn attempt<E: Display>(compile: impl FnOnce() -> Result<Game, E>) -> Result<Arc<Game>, String> {
    match catch_unwind(AssertUnwindSafe(compile)) {
        Ok(Ok(game)) => Ok(Arc::new(game)),
        Ok(Err(error)) => Err(error.to_string()),
        Err(payload) => Err(message(&*payload)),
    }
}
