//! A bot that looks one step ahead: the move after which its goal is highest, whatever that goal means before the end.
//!
//! The other roles are taken to move at random: each own move is tried with a number of drawn joint moves, all of which are
//! one if nobody else has a choice. An end of the match that is worth 100 is thus never missed. Equal moves are decided
//! by chance. A baseline: it wins where it can at once, and is lost where goals mislead.

use std::sync::Arc;

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId, State};

use crate::bot::Bot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::random::Random;
use crate::report::{MoveReport, Report};
use crate::walker::Walker;

/// Joint moves of the others that each move is tried with, where they have a choice.
const N_TRIES: u32 = 16;

/// The bot that looks one step ahead.
pub struct GreedyBot {
    walker: Walker,
    joint: JointMove,
    n_roles: usize,
    random: Random,
}

impl GreedyBot {
    /// A bot for this game.
    #[must_use]
    pub fn new(game: &Arc<Game>, seed: u64) -> GreedyBot {
        GreedyBot {
            walker: Walker::new(game),
            joint: JointMove::new((0..game.n_roles()).map(|_| MoveId(0))),
            n_roles: game.n_roles(),
            random: Random::new(seed),
        }
    }

    /// What the role has after this move, on average.
    fn mean_goal(
        &mut self,
        state: &State,
        role: RoleId,
        mv: MoveId,
        n_tries: u32,
        meter: &mut Meter<'_>,
    ) -> f64 {
        let mut sum = 0.0;
        for _ in 0..n_tries {
            self.walker.load(state);
            for other in RoleId::all(self.n_roles) {
                let drawn = match other == role {
                    true => Some(mv),
                    false => self.walker.any_move(other, &mut self.random),
                };
                let Some(drawn) = drawn else { return 0.0 };
                self.joint.moves_mut()[other.idx()] = drawn;
            }
            self.walker.advance(&self.joint);
            meter.count_transition();
            sum += f64::from(self.walker.goal(role).map_or(0, Goal::value));
        }
        sum / f64::from(n_tries)
    }
}

impl Bot for GreedyBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        _watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mut meter = Meter::start(limits);
        self.walker.load(state);
        let moves = self.walker.legal_moves(role).to_vec();
        assert!(!moves.is_empty(), "a role that is asked has a legal move");
        if let [only] = moves.as_slice() {
            return Decision::at_once(*only, &meter, StopReason::OnlyMove);
        }
        let mut others = RoleId::all(self.n_roles).filter(|&other| other != role);
        let is_alone = others.all(|other| self.walker.legal_moves(other).len() == 1);
        let n_tries = if is_alone { 1 } else { N_TRIES };
        let mut weighed: Vec<MoveReport> = Vec::with_capacity(moves.len());
        for mv in moves {
            weighed.push(MoveReport {
                mv,
                visits: u64::from(n_tries),
                mean: self.mean_goal(state, role, mv, n_tries, &mut meter),
            });
        }
        weighed.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        let n_best = weighed
            .iter()
            .take_while(|one| one.mean == weighed[0].mean)
            .count();
        let mut decision = Decision::at_once(
            weighed[self.random.below(n_best as u32) as usize].mv,
            &meter,
            StopReason::Done,
        );
        decision.report.value = Some(weighed[0].mean);
        decision.report.moves = weighed;
        decision
    }

    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}
