//! A bot that makes any legal move.

use std::sync::Arc;

use agon_engine::{Game, JointMove, RoleId, State};

use super::legal_moves;
use crate::bot::Bot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::random::Random;
use crate::report::Report;

/// Makes any legal move, all alike.
pub struct RandomBot {
    game: Arc<Game>,
    random: Random,
}

impl RandomBot {
    /// A bot for this game.
    #[must_use]
    pub fn new(game: Arc<Game>, seed: u64) -> RandomBot {
        RandomBot {
            game,
            random: Random::new(seed),
        }
    }
}

impl Bot for RandomBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        _watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let meter = Meter::start(limits);
        let moves = legal_moves(&self.game, state, role);
        let mv = self.random.pick(&moves).expect("there is one");
        Decision::at_once(mv, &meter, StopReason::Done)
    }

    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}
