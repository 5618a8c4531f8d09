//! A belief: the histories that agree with what a role did and saw, with weights.
//!
//! The weight of a history is its probability if chance and the other roles draw their moves uniformly, given what was seen. As
//! long as there are few possible histories, all of them are kept, and the belief is exact. When there are more, it becomes a
//! particle filter: moves of the others are drawn in each history that is kept, and those in which the role would have seen
//! something else are dropped. Where few are left, others are searched for from earlier histories or from the beginning, with
//! backtracking (`search_back`).
//!
//! In: steps, each the move of the role (its own, or the one that was made for it) and its percepts. Out: weighted histories.
//! Steps are only noted at first, and worked in when somebody thinks, within limits.
//!
//! - Gordon, Salmond and Smith 1993, Novel approach to nonlinear/non-Gaussian Bayesian state estimation (bootstrap filter)
//! - Schofield, Cerexhe and Thielscher 2012, HyperPlay: A Solution to General Game Playing with Imperfect Information
//!   (histories are found again by backtracking)

mod account;
mod info_tree;
mod informed;
mod joint_moves;
mod regrets;
mod rollouts;
mod search_back;
mod trie;
mod update;
mod view;
mod world;

use std::sync::Arc;

use agon_engine::{Game, MoveId, Particles, PerceptId, RoleId, State};

pub use account::BeliefAccount;
pub(crate) use info_tree::{Choice, InfoEdge, InfoTree};
pub(crate) use informed::Informed;
pub(crate) use joint_moves::JointMoves;
pub(crate) use regrets::{RegretTable, normalise};
pub(crate) use rollouts::{LEAST_IN_LANES, Rollouts};
pub(crate) use trie::{HistoryId, Trie};
pub use view::ViewKey;
pub(crate) use world::World;

use crate::limits::Meter;
use crate::random::Random;

/// Sizes of a belief.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct BeliefSizes {
    /// Most histories of an exact belief.
    pub(crate) exact: usize,
    /// Histories that are kept where there are more.
    pub(crate) sampled: usize,
    /// With fewer, others are searched for.
    pub(crate) least: usize,
    /// Most joint moves that are tried one by one in a step.
    pub(crate) tries: f64,
    /// Most bytes of all histories.
    pub(crate) bytes: usize,
}

impl BeliefSizes {
    pub(crate) const DEFAULT: BeliefSizes = BeliefSizes {
        exact: 4000,
        sampled: 1000,
        least: 100,
        tries: 30_000.0,
        bytes: 64 << 20,
    };
}

/// Who plays what, from which state on.
#[derive(Clone, Copy)]
pub(crate) struct Seat<'a> {
    pub(crate) game: &'a Arc<Game>,
    pub(crate) role: RoleId,
    /// Where the match begins, which every role knows.
    pub(crate) start: &'a State,
    pub(crate) seed: u64,
}

/// A step of a match as its role knows it.
pub(crate) struct Step {
    own: MoveId,
    percepts: Box<[PerceptId]>,
}

/// What a role believes.
pub(crate) struct Belief {
    // Constant.
    role: RoleId,
    sizes: BeliefSizes,
    // Scratch.
    world: World,
    particles: Particles,
    random: Random,
    // What is known.
    steps: Vec<Step>,
    /// Steps that the histories have; the others wait.
    n_done: usize,
    trie: Trie,
    leaves: Vec<HistoryId>,
    /// Per leaf; they sum up to 1.
    weights: Vec<f64>,
    /// A state that the own moves lead to, for the case that nothing explains what was seen.
    guess: State,
    account: BeliefAccount,
}

impl Belief {
    /// The belief of a role at the beginning of a match.
    pub(crate) fn new(seat: &Seat<'_>, sizes: BeliefSizes) -> Belief {
        let (game, role, initial) = (seat.game, seat.role, seat.start);
        Belief {
            role,
            sizes,
            world: World::at(game, initial),
            particles: Particles::new(game),
            // Apart from that of the bot, so that looking back never changes how it searches.
            random: Random::new(seat.seed ^ 0x5eed),
            steps: Vec::new(),
            n_done: 0,
            trie: Trie::new(initial, game.n_roles()),
            leaves: vec![HistoryId::ROOT],
            weights: vec![1.0],
            guess: initial.clone(),
            account: BeliefAccount {
                particles: 1,
                is_exact: true,
                effective: 1.0,
                consistent_share: 1.0,
                ..BeliefAccount::default()
            },
        }
    }

    pub(crate) fn role(&self) -> RoleId {
        self.role
    }

    /// Takes note of a step.
    pub(crate) fn saw(&mut self, own: MoveId, percepts: &[PerceptId]) {
        let mut percepts = percepts.to_vec();
        percepts.sort_unstable();
        percepts.dedup();
        self.steps.push(Step {
            own,
            percepts: percepts.into(),
        });
        self.account.steps = self.steps.len();
    }

    /// Steps of the match.
    pub(crate) fn n_steps(&self) -> usize {
        self.steps.len()
    }

    /// The possible histories, with their weights.
    pub(crate) fn leaves(&self) -> &[HistoryId] {
        &self.leaves
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(crate) fn trie(&self) -> &Trie {
        &self.trie
    }

    pub(crate) fn account(&self) -> BeliefAccount {
        self.account
    }

    /// One of the possible histories, by weight; `None` if none is known.
    pub(crate) fn draw(&self, random: &mut Random) -> Option<HistoryId> {
        let mut left = random.unit();
        for (&leaf, &weight) in self.leaves.iter().zip(&self.weights) {
            left -= weight;
            if left < 0.0 {
                return Some(leaf);
            }
        }
        self.leaves.last().copied()
    }

    /// The legal moves of the role. If the rules let them depend on what the role cannot know, those that are most probably
    /// legal. Without any possible history, those of a guess.
    pub(crate) fn legal_moves(&mut self) -> Vec<MoveId> {
        /// More histories are not asked.
        const MOST: usize = 256;
        if self.leaves.is_empty() {
            let views = vec![ViewKey::START; self.world.n_roles()];
            self.world.load(&self.guess, &views);
            return self.world.legal(self.role).to_vec();
        }
        let stride = self.leaves.len().div_ceil(MOST);
        let mut shares: Vec<(MoveId, f64)> = Vec::new();
        for idx in (0..self.leaves.len()).step_by(stride) {
            let (leaf, weight) = (self.leaves[idx], self.weights[idx]);
            self.world
                .load(self.trie.state(leaf), self.trie.views(leaf));
            for &mv in self.world.legal(self.role) {
                match shares.iter_mut().find(|share| share.0 == mv) {
                    Some(share) => share.1 += weight,
                    None => shares.push((mv, weight)),
                }
            }
        }
        let most = shares.iter().map(|share| share.1).fold(0.0, f64::max);
        let likely = shares
            .into_iter()
            .filter(|share| share.1 >= most * (1.0 - 1e-9));
        let mut moves: Vec<MoveId> = likely.map(|share| share.0).collect();
        moves.sort_unstable();
        moves
    }

    /// Works in all steps that wait, as far as the limits allow.
    pub(crate) fn catch_up(&mut self, meter: &mut Meter<'_>) {
        while self.n_done < self.steps.len() {
            self.work_in(meter);
        }
        if self.leaves.len() < self.sizes.least && !self.account.is_exact {
            self.refill(meter);
        }
        self.account.is_lost = self.leaves.is_empty();
        self.account.particles = self.leaves.len();
        let squares: f64 = self.weights.iter().map(|weight| weight * weight).sum();
        self.account.effective = if squares > 0.0 { 1.0 / squares } else { 0.0 };
    }
}
