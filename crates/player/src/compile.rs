//! Gets a game ready while the match goes on: three engines, each better than the one before.
//!
//! In: rules. Out: games, told to somebody as they get ready, each with its [`Grade`]. Grounding starts at once on a thread
//! of its own and goes on beyond the start clock, because a network is worth many seconds of interpretation. If it does not
//! finish within a blink, an interpreter is made beside it: first one that is there in next to no time, so that a
//! legal move can be told, then one that is planned well.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::Game;
use agon_protocol::{Rules, StopFlag};

use crate::thinker::message;

/// Most games are grounded within this time; for them no interpreter is built.
pub(crate) const BLINK: Duration = Duration::from_millis(50);
/// Grounding is given up after so long, or at the end of the start clock if that is later.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// How good an engine is; the last one is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Grade {
    /// The interpreter, made in a hurry.
    Quick,
    /// The interpreter, planned well.
    Planned,
    /// A network.
    Network,
}

impl Grade {
    /// All of them.
    pub(crate) const ALL: [Grade; 3] = [Grade::Quick, Grade::Planned, Grade::Network];
}

/// A game, or why there is none.
pub(crate) struct Compiled {
    pub(crate) grade: Grade,
    pub(crate) game: Result<Arc<Game>, String>,
}

/// Compiles a game into a network until it is too late or nobody wants it any more.
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

/// Makes an interpreter in a hurry and then, unless something better has come meanwhile, one that is planned well.
pub(crate) fn compile_interpreters(
    rules: &Arc<Rules>,
    is_outdone: &StopFlag,
    tell: impl Fn(Compiled) + Send + 'static,
) {
    let (rules, is_outdone) = (Arc::clone(rules), is_outdone.clone());
    spawn(move || {
        let game = attempt(|| Game::interpret_quickly(Arc::clone(&rules)));
        let grade = Grade::Quick;
        tell(Compiled { grade, game });
        let game = match is_outdone.is_raised() {
            true => Err("something better is there".to_owned()),
            false => attempt(|| Game::interpret(rules)),
        };
        let grade = Grade::Planned;
        tell(Compiled { grade, game });
    });
}

fn spawn(compile: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name("compile".to_owned());
    // Without a thread nobody is told, and the match is played without this engine.
    let _ = thread.spawn(compile);
}

/// A game, or the words of an error or a panic.
fn attempt<E: Display>(compile: impl FnOnce() -> Result<Game, E>) -> Result<Arc<Game>, String> {
    match catch_unwind(AssertUnwindSafe(compile)) {
        Ok(Ok(game)) => Ok(Arc::new(game)),
        Ok(Err(error)) => Err(error.to_string()),
        Err(payload) => Err(message(&*payload)),
    }
}
