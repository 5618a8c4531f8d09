//! A bot that makes any move that is legal in the states that are possible.

use agon_engine::{MoveId, PerceptId, RoleId};

use crate::belief::{Belief, BeliefAccount, BeliefSizes, Seat};
use crate::belief_bot::BeliefBot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::random::Random;
use crate::report::Report;

/// A few histories are enough to know what is legal.
const SIZES: BeliefSizes = BeliefSizes {
    exact: 200,
    sampled: 100,
    least: 4,
    tries: 2000.0,
    bytes: 8 << 20,
};

/// Makes any legal move, all alike.
pub struct IiRandomBot {
    belief: Belief,
    random: Random,
    distribution: Vec<(MoveId, f64)>,
}

impl IiRandomBot {
    /// A bot for a role.
    pub(crate) fn new(seat: &Seat<'_>) -> IiRandomBot {
        IiRandomBot {
            belief: Belief::new(seat, SIZES),
            random: Random::new(seat.seed),
            distribution: Vec::new(),
        }
    }
}

impl BeliefBot for IiRandomBot {
    fn role(&self) -> RoleId {
        self.belief.role()
    }

    fn saw(&mut self, own: MoveId, percepts: &[PerceptId]) {
        self.belief.saw(own, percepts);
    }

    fn think(&mut self, limits: &Limits, _watch: &mut dyn FnMut(&Report)) -> Option<Decision> {
        let mut meter = Meter::start(limits);
        super::catch_up(&mut self.belief, limits, &mut meter);
        let legal = self.belief.legal_moves();
        let share = 1.0 / legal.len() as f64;
        self.distribution = legal.iter().map(|&mv| (mv, share)).collect();
        let mv = self.random.pick(&legal)?;
        Some(Decision::at_once(mv, &meter, StopReason::Done))
    }

    fn distribution(&self) -> &[(MoveId, f64)] {
        &self.distribution
    }

    fn account(&self) -> BeliefAccount {
        self.belief.account()
    }
}
