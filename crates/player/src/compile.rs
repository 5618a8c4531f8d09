//! Gets a game ready while the match goes on: the network if it can be had, the interpreter until then.
//!
//! In: rules. Out: up to two games, told to somebody as they get ready. Grounding starts at once on a thread of its own
//! and goes on beyond the start clock, because a network is worth many seconds of interpretation; the interpreter is built
//! beside it if grounding does not finish within a blink.

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

/// A game, or why there is none.
pub(crate) type Compiled = Result<Arc<Game>, String>;

/// Compiles a game into a network, or finds out that it cannot be; whether it is one, the game itself tells.
pub(crate) fn compile_network(
    rules: &Arc<Rules>,
    until: Instant,
    stop: &StopFlag,
    tell: impl FnOnce(Compiled) + Send + 'static,
) {
    let stop = stop.clone();
    spawn(rules, tell, move || {
        stop.is_raised() || Instant::now() > until
    });
}

/// Compiles a game for the interpreter only.
pub(crate) fn compile_interpreter(
    rules: &Arc<Rules>,
    tell: impl FnOnce(Compiled) + Send + 'static,
) {
    spawn(rules, tell, || true);
}

fn spawn(
    rules: &Arc<Rules>,
    tell: impl FnOnce(Compiled) + Send + 'static,
    is_over: impl Fn() -> bool + Send + 'static,
) {
    let rules = Arc::clone(rules);
    let thread = thread::Builder::new().name("compile".to_owned());
    let compile = move || {
        let compiled = catch_unwind(AssertUnwindSafe(|| {
            Game::compile(rules, &Default::default(), &is_over)
        }));
        tell(match compiled {
            Ok(Ok(game)) => Ok(Arc::new(game)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(payload) => Err(message(&*payload)),
        });
    };
    // Without a thread nobody is told, and the match is played without this engine.
    let _ = thread.spawn(compile);
}
