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
//! tree, to 3 %, until there is another lesson, because looking them up costs more than the formula.
//!
//! In: the edges of a role in a node, what is known from later moves. Out: the move to try, if there is a policy.
//!
//! - Rosin 2011, Multi-armed bandits with episode context (PUCB)
//! - Silver and others 2017, Mastering the game of Go without human knowledge (the formula)

use std::fmt;

use agon_engine::RoleId;
use agon_engine::lanes::{Choosing, Weights};
use wide::f32x4;

use crate::params::Params;
use crate::random::Random;
use crate::rave;
use crate::scores::{Scores, mean_of_tried};
use crate::tree::{Edge, Later, NodeId, Tree};

/// What a move is worth where nothing was tried.
const MIDDLE: f32 = 50.0;

/// Chooses by the playout policy.
pub(crate) struct Puct {
    // Constant.
    exploration: f32,
    alike: f32,
    /// Visits per move at which the policy and UCT weigh alike, and C of UCT.
    k: f64,
    uct: f32,
    // Changed now and then: the policy, and its number, which is never 0.
    weights: Option<Weights>,
    lesson: u8,
    // Scratch: by move, the chance that the policy makes it.
    policy: Vec<f32>,
}

impl Puct {
    /// Only if the policy should lead.
    pub(crate) fn new(params: &Params) -> Option<Puct> {
        (params.puct > 0.0).then(|| Puct {
            exploration: params.puct as f32,
            uct: params.exploration as f32,
            k: params.puct_k,
            alike: params.puct_alike as f32,
            weights: None,
            lesson: 0,
            policy: Vec::new(),
        })
    }

    /// How playouts choose from now on.
    pub(crate) fn learn(&mut self, choosing: &Choosing) {
        self.weights = match choosing {
            Choosing::Proportional(weights) => Some(weights.clone()),
            Choosing::Uniform | Choosing::Greedy(..) => None,
        };
        self.lesson = self.lesson % u8::MAX + 1;
    }

    /// Whether there is a policy to go by.
    pub(crate) fn is_ready(&self) -> bool {
        self.weights.is_some()
    }

    /// Moves of this node will be chosen: the tree is told the policy, unless it has it from this lesson.
    #[inline]
    pub(crate) fn stand(&mut self, tree: &mut Tree, node: NodeId, n_roles: usize) {
        if tree.node(node).lesson != self.lesson && self.is_ready() {
            (0..n_roles).for_each(|role| self.tell(tree, node, role));
            tree.node_mut(node).lesson = self.lesson;
        }
    }

    /// Writes the chances of a role's moves into the tree.
    fn tell(&mut self, tree: &mut Tree, node: NodeId, role: usize) {
        let (state, edges, told) = tree.for_policy(node, role);
        if edges.len() < 2 {
            return;
        }
        let Some(sum) = self.weigh(RoleId(role as u16), state.words(), edges) else {
            return;
        };
        let even = self.alike / edges.len() as f32;
        let share = (1.0 - self.alike) / sum;
        for (told, weight) in told.iter_mut().zip(&self.policy) {
            told.set_policy(share * weight + even);
        }
    }

    /// The place of the edge that a role takes in a state with so many visits; `own` has the policy, `later` what is known from
    /// later moves, and its weight. `None` if every move is closed.
    #[inline]
    pub(crate) fn choose(
        &self,
        visits: u32,
        edges: &[Edge],
        own: &[Later],
        (later, beta): (&[Later], f32),
        scores: &mut Scores,
        random: &mut Random,
    ) -> Option<usize> {
        let visits = visits.max(1);
        let trust = rave::beta(self.k * edges.len() as f64, visits) as f32;
        let scale = f32x4::splat(trust * self.exploration * (visits as f32).sqrt());
        let spread = (1.0 - trust) * self.uct * libm::logf(visits as f32).sqrt();
        let spread = f32x4::splat(spread);
        let untried = f32x4::splat(mean_of_tried(edges).unwrap_or(MIDDLE));
        let beta = f32x4::splat(beta);
        scores.fill_led(edges, own, later, |of| {
            let mean = of.is_untried.bitselect(untried, of.mean);
            let mixed = mean + beta * (of.later - mean);
            let value = of.is_known.bitselect(mixed, mean);
            let n = of.visits + f32x4::ONE;
            value + scale * of.policy / n + spread / n.sqrt()
        });
        let (best, value) = scores.highest(edges, random);
        (value > f32::NEG_INFINITY).then_some(best)
    }

    /// Looks up what the moves weigh, and tells the sum. Where some are urgent the others weigh nothing, as in playouts. Weights too
    /// small or too large to be shared out, as a temperature next to nothing makes them, say nothing.
    fn weigh(&mut self, role: RoleId, words: &[u64], edges: &[Edge]) -> Option<f32> {
        let weights = self.weights.as_ref()?;
        self.policy.clear();
        let (mut sum, mut is_any_urgent) = (0.0, false);
        for edge in edges {
            let (mut weight, is_urgent) = weights.weight_in(role, edge.of, words);
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

impl fmt::Display for Puct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_ready() {
            true => write!(f, "the playout policy leads, c is {}", self.exploration),
            false => write!(f, "off: there is no playout policy yet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_engine::{MoveId, State};

    /// The moves that are taken by c with these visits, means and weights of the policy, which leads alone: more than one if
    /// they tie.
    fn taken(c: f64, moves: &[(u32, f64, f32)], later: Option<(&[Later], f32)>) -> Vec<usize> {
        taken_with(c, 1e9, moves, later)
    }

    /// The same where it gives way.
    fn taken_with(
        c: f64,
        k: f64,
        moves: &[(u32, f64, f32)],
        later: Option<(&[Later], f32)>,
    ) -> Vec<usize> {
        let params = Params {
            puct: c,
            puct_k: k,
            puct_alike: 0.25,
            ..Params::default()
        };
        let mut weights = Weights::new([moves.len()]);
        let (mut tree, node) = tree(moves.len());
        for (idx, &(visits, mean, weight)) in moves.iter().enumerate() {
            weights.get_mut(RoleId(0), MoveId(idx as u32)).weight = weight;
            (0..visits).for_each(|_| tree.edge_mut(idx).add(mean));
            tree.edge_mut(idx).close(mean < 0.0);
        }
        let mut puct = Puct::new(&params).expect("the policy leads");
        assert!(!puct.is_ready());
        puct.learn(&Choosing::Proportional(weights));
        puct.stand(&mut tree, node, 1);
        let mut random = Random::new(1);
        let mut taken: Vec<usize> = (0..50)
            .filter_map(|_| choose(&puct, &tree, later, &mut random))
            .collect();
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    /// A node with so many moves of one role.
    fn tree(n_moves: usize) -> (Tree, NodeId) {
        let mut tree = Tree::new(1, true, false);
        let node = tree.add_node(0, State::default(), 0);
        let moves: Vec<MoveId> = (0..n_moves as u32).map(MoveId).collect();
        tree.add_moves(&moves);
        (tree, node)
    }

    /// The move that is taken in the only node, which has as many visits as its moves together.
    fn choose(
        puct: &Puct,
        tree: &Tree,
        later: Option<(&[Later], f32)>,
        random: &mut Random,
    ) -> Option<usize> {
        let span = tree.span(NodeId(0), 0);
        let (edges, own) = (tree.edges(span.clone()), tree.later(span));
        let visits = edges.iter().map(|edge| edge.visits).sum();
        let later = later.unwrap_or((own, 0.0));
        puct.choose(visits, edges, own, later, &mut Scores::default(), random)
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
    fn chances_are_known_to_a_few_parts_in_a_hundred() {
        let (mut tree, node) = tree(40);
        let mut weights = Weights::new([40]);
        let weight = |idx: u32| (idx * idx + 1) as f32;
        for idx in 0..40 {
            weights.get_mut(RoleId(0), MoveId(idx)).weight = weight(idx);
        }
        let mut puct = Puct::new(&Params {
            puct: 60.0,
            puct_alike: 0.25,
            ..Params::default()
        })
        .expect("the policy leads");
        puct.learn(&Choosing::Proportional(weights));
        puct.stand(&mut tree, node, 1);
        let sum: f32 = (0..40).map(weight).sum();
        for (idx, told) in (0..40).zip(tree.later(0..40)) {
            let chance = 0.75 * weight(idx) / sum + 0.25 / 40.0;
            let ratio = told.policy() / chance;
            assert!((ratio - 1.0).abs() < 0.032, "{told:?} and {chance}");
        }
        // The same lesson is not told twice, the next one is.
        let first = tree.later(0..1)[0].policy();
        tree.later_mut(0).set_policy(1.0);
        puct.stand(&mut tree, node, 1);
        assert_eq!(tree.later(0..1)[0].policy(), 1.0);
        puct.learn(&Choosing::Proportional(
            puct.weights.clone().expect("it has one"),
        ));
        puct.stand(&mut tree, node, 1);
        assert_eq!(tree.later(0..1)[0].policy(), first);
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
        let known = |mean| Later::new(9, mean);
        let moves = [(4, 60.0, 1.0), (4, 40.0, 1.0)];
        let later = [known(20.0), known(70.0)];
        assert_eq!(taken(1e-6, &moves, Some((&later, 0.5))), [1]);
        let later = [known(20.0), Later::default()];
        assert_eq!(taken(1e-6, &moves, Some((&later, 0.25))), [0]);
    }

    #[test]
    fn closed_moves_are_passed_over() {
        let mut puct = Puct::new(&Params {
            puct: 60.0,
            ..Params::default()
        })
        .expect("the policy leads");
        let (mut tree, node) = tree(2);
        let mut random = Random::new(1);
        puct.stand(&mut tree, node, 1);
        assert_eq!(tree.node(node).lesson, 0, "nothing was told yet");
        puct.learn(&Choosing::Proportional(Weights::new([2])));
        puct.stand(&mut tree, node, 1);
        tree.edge_mut(0).close(true);
        assert_eq!(choose(&puct, &tree, None, &mut random), Some(1));
        tree.edge_mut(1).close(true);
        assert_eq!(choose(&puct, &tree, None, &mut random), None);
        puct.learn(&Choosing::Uniform);
        assert!(!puct.is_ready());
    }
}
