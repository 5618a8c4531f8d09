//! PUCT: the playout policy says which moves of a state are worth trying.
//!
//! UCT tries every move of a state before it comes back to one, or with urgency as many as it takes to find a good one. The
//! policy of playouts, which is MAST with FAST, knows long before that which moves are good in general: here the chance P that it
//! would make a move is the weight of exploring it, `c · P · sqrt(N) / (1 + n)`. Moves never tried are among those to choose from,
//! worth the mean of the others. So a state with hundreds of moves is not swept move by move. P is mixed with a share of all
//! moves alike, so that none is forgotten. Q is mixed with RAVE as elsewhere; proven moves are passed over.
//!
//! This bonus falls with the visits n, where that of UCT falls with their root, which is what values that scatter by chance call
//! for: with the policy alone, a good move that was unlucky at first is hardly looked at again in a state with many visits. So the
//! policy gives way to UCT's bonus, `C · sqrt(ln N / (1 + n))`, as RAVE gives way to the tree: it weighs `sqrt(k / (3 N + k))`, where
//! k is as many times as large as there are moves, because UCT needs some visits of each.
//!
//! The policy is that of the lanes, as of the last time that it was told to them. The chances of a node's moves are kept with them in the
//! tree, to 3 %, and renewed each time that the node has twice as many visits.
//!
//! A network gives chances of its own, which come with the leaves and stay as they are. Without playouts its values scatter little, so
//! that the policy leads alone, and moves never tried are worth a little less than the others.
//!
//! In: the edges of a role in a node, what is known from later moves. Out: the move to try, if there is a policy.
//!
//! - Rosin 2011, Multi-armed bandits with episode context (PUCB)
//! - Silver and others 2017, Mastering the game of Go without human knowledge (the formula)

use agon_engine::lanes::{Choosing, Weights};
use agon_engine::{MoveId, RoleId};
use wide::f32x4;

use super::rave;
use crate::params::{NetworkUse, Params};
use crate::prior;
use crate::random::Random;
use crate::scores::{Scores, mean_of_tried};
use crate::tree::{NodeId, RaveEntry, Tree};

/// What a move is worth where nothing was tried.
const MIDDLE: f32 = 50.0;
/// Visits per move at which the policy and UCT weigh alike: k, times the moves, in sqrt(k / (3 N + k)).
const K: f64 = 50.0;
/// Share of all moves alike in the policy.
const UNIFORM_SHARE: f32 = 0.25;
/// Weight of the priors of a network beside playouts, where the player has none of its own.
const DEFAULT_EXPLORATION: f32 = 60.0;

/// Where chances come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The playout policy.
    Playouts,
    /// A network that gives priors; values come from playouts too.
    Network,
    /// A network that gives priors and values.
    NetworkAlone,
}

/// Chooses by the playout policy.
pub(crate) struct Puct {
    // Constant.
    source: Source,
    exploration: f32,
    /// What moves never tried are worth less than the others.
    reduction: f32,
    k: f64,
    /// C of UCT.
    uct: f32,
    // Changed now and then.
    weights: Option<Weights>,
    // Scratch: by move, the weight of the policy.
    policy: Vec<f32>,
}

impl Puct {
    /// Only if the policy should lead.
    pub(crate) fn new(params: &Params) -> Option<Puct> {
        (params.puct > 0.0).then(|| Puct {
            source: Source::Playouts,
            exploration: params.puct as f32,
            reduction: 0.0,
            uct: params.exploration as f32,
            k: K,
            weights: None,
            policy: Vec::new(),
        })
    }

    /// For a search with a network.
    pub(crate) fn with_network(params: &Params) -> Puct {
        let is_alone = params.network == NetworkUse::Alone;
        Puct {
            source: match is_alone {
                true => Source::NetworkAlone,
                false => Source::Network,
            },
            exploration: match is_alone {
                true => params.network_puct as f32,
                false if params.puct > 0.0 => params.puct as f32,
                false => DEFAULT_EXPLORATION,
            },
            reduction: match is_alone {
                true => params.network_urgency as f32,
                false => 0.0,
            },
            uct: params.exploration as f32,
            k: K,
            weights: None,
            policy: Vec::new(),
        }
    }

    /// How playouts choose from now on.
    pub(crate) fn learn(&mut self, choosing: &Choosing) {
        self.weights = match choosing {
            Choosing::Proportional(weights) => Some(weights.clone()),
            Choosing::Uniform | Choosing::Greedy(..) => None,
        };
    }

    /// Whether there is a policy to go by.
    pub(crate) fn is_ready(&self) -> bool {
        self.source != Source::Playouts || self.weights.is_some()
    }

    pub(crate) fn exploration(&self) -> f64 {
        f64::from(self.exploration)
    }

    /// Moves of this node will be chosen: its priors are computed, unless it has those of half as many visits at least.
    #[inline]
    pub(crate) fn stand(&mut self, tree: &mut Tree, node: NodeId) {
        if self.source != Source::Playouts {
            return;
        }
        let visits = tree.node(node).visits;
        let age = (u32::BITS - visits.max(1).leading_zeros()) as u8;
        if tree.node(node).prior_age != age && self.is_ready() {
            (0..tree.n_roles()).for_each(|role| self.put_priors(tree, node, role));
            tree.node_mut(node).prior_age = age;
        }
    }

    /// Writes the chances of a role's moves into the tree.
    fn put_priors(&mut self, tree: &mut Tree, node: NodeId, role: usize) {
        if !tree.has_choice(node, role) {
            return;
        }
        let role_id = RoleId(role as u16);
        let Some(sum) = self.weigh(role_id, tree.state(node), tree.legal_moves(node, role)) else {
            return;
        };
        let priors = tree.priors_mut(node, role);
        let even = UNIFORM_SHARE / priors.len() as f32;
        let share = (1.0 - UNIFORM_SHARE) / sum;
        for (prior, weight) in priors.iter_mut().zip(&self.policy) {
            *prior = prior::encode(share * weight + even);
        }
    }

    /// The place of the move that a role takes in a node among its legal moves, those without an edge included. `rave` has
    /// what is known from later moves, by edge, and its weight. `None` if every move is closed.
    #[inline]
    pub(crate) fn choose(
        &self,
        tree: &Tree,
        node: NodeId,
        role: usize,
        (rave, beta): (&[RaveEntry], f32),
        scores: &mut Scores,
        random: &mut Random,
    ) -> Option<usize> {
        let (edges, priors) = (tree.edges(node, role), tree.priors(node, role));
        let visits = tree.node(node).visits.max(1);
        let trust = match self.source {
            Source::NetworkAlone => 1.0,
            _ => rave::beta(self.k * priors.len() as f64, visits) as f32,
        };
        let scale = trust * self.exploration * (visits as f32).sqrt();
        let spread = (1.0 - trust) * self.uct * libm::logf(visits as f32).sqrt();
        let untried = mean_of_tried(edges).unwrap_or(MIDDLE) - self.reduction;
        let (wide_scale, wide_spread) = (f32x4::splat(scale), f32x4::splat(spread));
        let (wide_untried, beta) = (f32x4::splat(untried), f32x4::splat(beta));
        scores.fill_led(edges, priors, rave, |of_move| {
            let mean = of_move.is_untried.bitselect(wide_untried, of_move.mean);
            let mixed = mean + beta * (of_move.later - mean);
            let value = of_move.is_known.bitselect(mixed, mean);
            let n = of_move.visits + f32x4::ONE;
            value + wide_scale * of_move.policy / n + wide_spread / n.sqrt()
        });
        let best = scores.highest(edges, random);
        let best = (best.1 > f32::NEG_INFINITY).then_some(best);
        let Some((slot, prior)) = best_untried(priors, edges.len(), random) else {
            return best.map(|(slot, _)| slot);
        };
        let value = untried + scale * prior + spread;
        match best {
            Some((tried, worth)) if worth > value => Some(tried),
            Some((tried, worth)) if worth == value && random.below(2) == 0 => Some(tried),
            _ => Some(slot),
        }
    }

    /// Looks up what the moves weigh, and returns the sum. Where some are urgent the others weigh nothing, as in playouts. Weights
    /// too small or too large to be shared out, as a temperature next to nothing makes them, say nothing.
    fn weigh(
        &mut self,
        role: RoleId,
        words: &[u64],
        moves: impl Iterator<Item = MoveId>,
    ) -> Option<f32> {
        let weights = self.weights.as_ref()?;
        self.policy.clear();
        let (mut sum, mut is_any_urgent) = (0.0, false);
        for mv in moves {
            let (mut weight, is_urgent) = weights.weight_in(role, mv, words);
            if is_urgent && !is_any_urgent {
                self.policy.fill(0.0);
                (sum, is_any_urgent) = (0.0, true);
            } else if is_any_urgent && !is_urgent {
                weight = 0.0;
            }
            self.policy.push(weight);
            sum += weight;
        }
        if !f32::is_normal(sum) {
            self.policy.fill(0.0);
            sum = 1.0;
        }
        Some(sum)
    }
}

/// The move without an edge that has the highest prior, by chance where several have it, and that prior.
#[inline]
fn best_untried(priors: &[u8], n_edges: usize, random: &mut Random) -> Option<(usize, f32)> {
    let untried = &priors[n_edges..];
    let most = untried.iter().copied().max()?;
    let n = untried.iter().map(|&code| u32::from(code == most)).sum();
    let nth = if n > 1 { random.below(n) as usize } else { 0 };
    let mut best = untried
        .iter()
        .enumerate()
        .filter(|(_, code)| **code == most);
    let (slot, _) = best.nth(nth)?;
    Some((n_edges + slot, prior::decode(most)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeOptions;
    use crate::tree::tests::add;

    /// The moves that are taken by c with these visits, means and weights of the policy, which leads alone: more than one if
    /// they tie. A mean below 0 closes a move. In a dense tree and in one whose edges are made when moves are tried.
    fn taken(c: f64, moves: &[(u32, f64, f32)], rave: Option<(&[RaveEntry], f32)>) -> Vec<usize> {
        taken_with(c, 1e9, moves, rave)
    }

    /// The same where it gives way.
    fn taken_with(
        c: f64,
        k: f64,
        moves: &[(u32, f64, f32)],
        rave: Option<(&[RaveEntry], f32)>,
    ) -> Vec<usize> {
        let dense = taken_in(TreeOptions::dense(1), c, k, moves, rave);
        if moves.iter().all(|mv| mv.1 >= 0.0) {
            let sparse = taken_in(TreeOptions::test(1), c, k, moves, rave);
            assert_eq!(dense, sparse);
        }
        dense
    }

    fn taken_in(
        options: TreeOptions,
        c: f64,
        k: f64,
        moves: &[(u32, f64, f32)],
        rave: Option<(&[RaveEntry], f32)>,
    ) -> Vec<usize> {
        let params = Params {
            puct: c,
            ..Params::default()
        };
        let mut weights = Weights::new([moves.len()]);
        let mut tree = Tree::new(options);
        let node = add(&mut tree, 0, 0, &[moves.len() as u32]);
        for (idx, &(visits, mean, weight)) in moves.iter().enumerate() {
            weights.get_mut(RoleId(0), MoveId(idx as u32)).weight = weight;
            if visits > 0 {
                // Tried moves come first in these tests, so that places stay as they are.
                let slot = tree.try_move(node, 0, idx);
                (0..visits).for_each(|_| tree.edges_mut(node, 0)[slot].add(1, mean));
            }
            if mean < 0.0 {
                tree.edges_mut(node, 0)[idx].close(true);
            }
        }
        tree.node_mut(node).visits = moves.iter().map(|mv| mv.0).sum();
        let mut puct = Puct::new(&params).expect("the policy leads");
        puct.k = k;
        assert!(!puct.is_ready());
        puct.learn(&Choosing::Proportional(weights));
        puct.stand(&mut tree, node);
        let mut random = Random::new(1);
        let rave = rave.unwrap_or((&[], 0.0));
        let mut taken: Vec<usize> = (0..50)
            .filter_map(|_| {
                let mut scores = Scores::default();
                puct.choose(&tree, node, 0, rave, &mut scores, &mut random)
            })
            .collect();
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    /// Moves with visits, means and weights; the third one is closed. P = 0.75 · 5/9 + 1/12 and 0.75 · 2/9 + 1/12: 1/2, 1/4, 1/4.
    const MOVES: [(u32, f64, f32); 3] = [(12, 60.0, 5.0), (4, 50.0, 2.0), (0, -1.0, 2.0)];

    #[test]
    fn the_formula_is_as_by_hand() {
        // N = 16: 60 + 4 c / 2 / 13 = 60 + 0.153846 c against 50 + 4 c / 4 / 5 = 50 + 0.2 c: equal at c = 216.67.
        assert_eq!(taken(216.0, &MOVES, None), [0]);
        assert_eq!(taken(217.0, &MOVES, None), [1]);
    }

    #[test]
    fn the_policy_gives_way_as_by_hand() {
        // As above, but with k = 3 · 16 / 3 the policy weighs a half; sqrt(ln 16) = 1.665109, so that UCT adds 33.30218 / sqrt(1 + n):
        // 60 + 0.076923 c + 9.23636 against 50 + 0.1 c + 14.89319: equal at c = 188.2.
        assert_eq!(taken_with(187.0, 16.0 / 3.0, &MOVES, None), [0]);
        assert_eq!(taken_with(189.0, 16.0 / 3.0, &MOVES, None), [1]);
    }

    #[test]
    fn what_was_never_tried_is_worth_the_mean_of_the_others() {
        // N = 4, P = 1/3 each. 60 and 50 once and three times: the mean is 52.5. 60 + 2 c / 3 / 2 against 52.5 + 2 c / 3:
        // equal at c = 22.5.
        let moves = [(1, 60.0, 1.0), (3, 50.0, 1.0), (0, 0.0, 1.0)];
        assert_eq!(taken(22.0, &moves, None), [0]);
        assert_eq!(taken(23.0, &moves, None), [2]);
        // Nothing was tried: what the policy would do, and both if it is not sure.
        assert_eq!(taken(10.0, &[(0, 0.0, 1.0), (0, 0.0, 2.0)], None), [1]);
        assert_eq!(taken(10.0, &[(0, 0.0, 1.0), (0, 0.0, 1.0)], None), [0, 1]);
    }

    #[test]
    fn weights_that_cannot_be_shared_out_say_nothing() {
        for weight in [0.0, 1e-42, f32::INFINITY] {
            let moves = [(0, 0.0, weight), (0, 0.0, weight), (0, 0.0, 0.0)];
            assert_eq!(taken(60.0, &moves, None), [0, 1, 2], "{weight}");
        }
    }

    #[test]
    fn later_moves_are_mixed_in() {
        // With c next to nothing: (60 + 20) / 2 against (40 + 70) / 2; a move that was not seen later keeps its mean.
        let known = |mean| RaveEntry { visits: 9, mean };
        let moves = [(4, 60.0, 1.0), (4, 40.0, 1.0)];
        let later = [known(20.0), known(70.0)];
        assert_eq!(taken(1e-6, &moves, Some((&later, 0.5))), [1]);
        let later = [known(20.0), RaveEntry::default()];
        assert_eq!(taken(1e-6, &moves, Some((&later, 0.25))), [0]);
    }

    #[test]
    fn closed_moves_are_passed_over() {
        assert_eq!(taken(60.0, &[(1, -1.0, 1.0), (0, 0.0, 1.0)], None), [1]);
        assert!(taken(60.0, &[(1, -1.0, 1.0), (1, -1.0, 1.0)], None).is_empty());
    }

    #[test]
    fn priors_are_renewed_at_twice_as_many_visits() {
        let mut tree = Tree::new(TreeOptions::test(1));
        let node = add(&mut tree, 0, 0, &[2]);
        let mut puct = Puct::new(&Params {
            puct: 60.0,
            ..Params::default()
        })
        .expect("the policy leads");
        let mut tell = |visits: u32, weight: f32| {
            let mut weights = Weights::new([2]);
            weights.get_mut(RoleId(0), MoveId(0)).weight = weight;
            puct.learn(&Choosing::Proportional(weights));
            tree.node_mut(node).visits = visits;
            puct.stand(&mut tree, node);
            prior::decode(tree.priors(node, 0)[0])
        };
        let first = tell(4, 1.0);
        assert_eq!(tell(7, 9.0), first);
        assert!(tell(8, 9.0) > first);
    }
}
