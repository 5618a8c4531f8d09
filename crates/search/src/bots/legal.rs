//! A bot that makes the first legal move: the same match every time.

use std::sync::Arc;

use agon_engine::{Game, JointMove, RoleId, State};

use super::legal_moves;
use crate::bot::Bot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::report::Report;

/// Makes the first legal move in the order of the engine.
pub struct LegalBot {
    game: Arc<Game>,
}

impl LegalBot {
    /// A bot for this game.
    #[must_use]
    pub fn new(game: Arc<Game>) -> LegalBot {
        LegalBot { game }
    }
}

impl Bot for LegalBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        _watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let meter = Meter::start(limits);
        let mv = legal_moves(&self.game, state, role)[0];
        Decision::at_once(mv, &meter, StopReason::Done)
    }

    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}
