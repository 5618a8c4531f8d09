//! The playout policy: how moves are drawn outside the tree, by what the techniques say that they are worth.
//!
//! What techniques say adds up, in goal points. A move is drawn by the Gibbs distribution `exp(value / τ) / Σ exp(value / τ)`, or
//! greedily: any move with chance ε, otherwise the one with the highest value. For the lanes the values of all moves are told in
//! advance, with other values where fluents hold.
//!
//! - Finnsson and Björnsson 2008, Simulation-Based Approach to General Game Playing (Gibbs)
//! - Tak, Winands and Björnsson 2012, N-Grams and the Last-Good-Reply Policy (ε-greedy is better)

use agon_engine::{MoveId, RoleId};

use crate::lane_policy::{LanePolicy, Rule};
use crate::params::Params;
use crate::random::Random;
use crate::techniques::{StateView, Techniques};

/// What the techniques say for the lanes, of roles with this number of moves each; `None` if they say nothing.
pub(crate) fn for_lanes(techniques: &Techniques, n_moves: &[usize]) -> Option<LanePolicy> {
    if !techniques.has_policy() {
        return None;
    }
    let mut policy = LanePolicy::new(n_moves);
    for technique in techniques.all() {
        technique.add_to(&mut policy);
    }
    Some(policy)
}

/// Draws moves one by one.
#[derive(Clone)]
pub(crate) struct PlayoutPolicy {
    rule: Rule,
    values: Vec<f32>,
}

impl PlayoutPolicy {
    pub(crate) fn new(params: &Params) -> PlayoutPolicy {
        PlayoutPolicy {
            rule: Rule::new(params),
            values: Vec::new(),
        }
    }

    /// Moves are going to be chosen in this state.
    pub(crate) fn stand(&self, techniques: &mut Techniques, state: &StateView<'_>) {
        techniques
            .all_mut()
            .for_each(|technique| technique.stand(state));
    }

    /// One of these moves of a role in the state at hand, by its place; there is at least one.
    pub(crate) fn choose(
        &mut self,
        techniques: &mut Techniques,
        role: RoleId,
        moves: &[MoveId],
        random: &mut Random,
    ) -> usize {
        if moves.len() == 1 {
            return 0;
        }
        self.values.clear();
        self.values.resize(moves.len(), 0.0);
        for technique in techniques.all_mut() {
            technique.add_values(role, moves, &mut self.values);
        }
        self.rule.choose(&mut self.values, random)
    }
}
