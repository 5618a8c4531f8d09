//! Whether the other roles have a plan.
//!
//! Two kinds of opponents are told apart: those who choose as well as they can, which is what the trees of their information sets
//! say, and those who make any legal move. The probability of the second kind is renewed by Bayes' rule after every step in which
//! others had a choice. Histories are weighted as if all moves were drawn uniformly, so the ratio of the likelihoods of what they did
//! is the mean over the possible histories of
//!
//! ```text
//! product over their choices:  (visits of the move + 1) / (visits of the node + legal moves) · legal moves
//! ```
//!
//! A search that takes all others for planners makes nothing of moves that only they would not make, and one that takes them for
//! fools is exploited: it is the probability that decides in how many simulations they have no plan.
//!
//! - Southey et al. 2005, Bayes' Bluff: Opponent Modelling in Poker

use agon_engine::RoleId;

use super::{Belief, HistoryId, InfoTree, World};

/// What is thought at the beginning of a match.
const PRIOR: f64 = 0.1;
/// However certain it seems: simulations must go on to find answers to good moves.
const LEAST: f64 = 0.02;
const MOST: f64 = 0.5;
/// More histories are not asked.
const MOST_HISTORIES: usize = 256;

/// The kind of the other roles.
pub(crate) struct Opponents {
    /// The probability that they have no plan.
    planless: f64,
    /// Steps of the match that were judged.
    n_judged: usize,
}

impl Default for Opponents {
    fn default() -> Opponents {
        Opponents {
            planless: PRIOR,
            n_judged: 0,
        }
    }
}

impl Opponents {
    /// The share of simulations in which they have none.
    pub(crate) fn planless(&self) -> f64 {
        self.planless
    }

    /// The steps after which others had a choice that was not judged, if they had one.
    pub(crate) fn unjudged(
        &self,
        n_steps: usize,
        belief: &Belief,
        world: &mut World,
    ) -> Option<usize> {
        let leaf = *belief.leaves().first()?;
        let had_choice = (self.n_judged..n_steps).any(|depth| {
            let id = belief.trie().ancestor(leaf, n_steps, depth);
            let choosers = choosers(belief, world, id);
            !choosers.is_empty()
        });
        had_choice.then_some(self.n_judged)
    }

    /// Learns from the steps that were not judged.
    pub(crate) fn judge(
        &mut self,
        n_steps: usize,
        belief: &Belief,
        tree: &InfoTree,
        world: &mut World,
    ) {
        let n_new = n_steps - std::mem::replace(&mut self.n_judged, n_steps);
        let leaves = belief.leaves();
        let stride = leaves.len().div_ceil(MOST_HISTORIES).max(1);
        let (mut ratio, mut sum) = (0.0, 0.0);
        for idx in (0..leaves.len()).step_by(stride) {
            let weight = belief.weights()[idx];
            sum += weight;
            ratio += weight * likelihood_ratio(leaves[idx], n_new, belief, tree, world);
        }
        if sum > 0.0 && ratio > 0.0 {
            let odds = self.planless / (1.0 - self.planless) * sum / ratio;
            self.planless = (odds / (1.0 + odds)).clamp(LEAST, MOST);
        }
    }
}

/// How much more probable the last `n_steps` of a history are if the others plan than if they draw their moves.
fn likelihood_ratio(
    leaf: HistoryId,
    n_steps: usize,
    belief: &Belief,
    tree: &InfoTree,
    world: &mut World,
) -> f64 {
    let mut ratio = 1.0;
    let mut id = leaf;
    for _ in 0..n_steps {
        let parent = belief.trie().parent(id);
        for (role, n_legal) in choosers(belief, world, parent) {
            let made = belief.trie().moves(id)[role.idx()];
            let edges = tree.edges(role, world.view(role)).unwrap_or_default();
            let visits = edges.iter().find(|edge| edge.mv == made);
            let visits = visits.map_or(0.0, |edge| f64::from(edge.visits));
            let all: f64 = edges.iter().map(|edge| f64::from(edge.visits)).sum();
            let n_legal = n_legal as f64;
            ratio *= (visits + 1.0) / (all + n_legal) * n_legal;
        }
        id = parent;
    }
    ratio
}

/// The other roles that have a choice after a history, with the numbers of their moves. The world is there afterwards.
fn choosers(belief: &Belief, world: &mut World, id: HistoryId) -> Vec<(RoleId, usize)> {
    world.load(belief.trie().state(id), belief.trie().views(id));
    let mut choosers = Vec::new();
    for role in RoleId::all(world.n_roles()) {
        if role != belief.role() && !world.is_chance(role) {
            let n_legal = world.legal(role).len();
            if n_legal > 1 {
                choosers.push((role, n_legal));
            }
        }
    }
    choosers
}
