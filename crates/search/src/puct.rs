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
//! The policy is that of the lanes, as of the last time that it was told to them.
//!
//! In: the edges of a role in a node, what is known from later moves. Out: the move to try, if there is a policy.
//!
//! - Rosin 2011, Multi-armed bandits with episode context (PUCB)
//! - Silver and others 2017, Mastering the game of Go without human knowledge (the formula)

use std::fmt;

use agon_engine::RoleId;
use agon_engine::lanes::{Choosing, Weights};

use crate::params::Params;
use crate::random::Random;
use crate::rave;
use crate::tree::{Edge, Later};

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
    // Changed now and then.
    weights: Option<Weights>,
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
            policy: Vec::new(),
        })
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
        self.weights.is_some()
    }

    /// The place of the edge that a role takes in a state with so many visits; `later` has what is known from later moves, and its
    /// weight. `None` if there is no policy, or every move is closed.
    pub(crate) fn choose(
        &mut self,
        role: usize,
        (words, visits): (&[u64], u32),
        edges: &[Edge],
        later: Option<(&[Later], f32)>,
        random: &mut Random,
    ) -> Option<usize> {
        let sum = self.weigh(RoleId(role as u16), words, edges)?;
        let even = self.alike / edges.len() as f32;
        let share = (1.0 - self.alike) / sum;
        let visits = visits.max(1);
        let trust = rave::beta(self.k * edges.len() as f64, visits) as f32;
        let scale = trust * self.exploration * (visits as f32).sqrt();
        let spread = (1.0 - trust) * self.uct * libm::logf(visits as f32).sqrt();
        let untried = mean_of_tried(edges);
        let (mut best, mut highest, mut n_ties) = (None, f32::NEG_INFINITY, 0);
        for (idx, (edge, weight)) in edges.iter().zip(&self.policy).enumerate() {
            if edge.is_closed() {
                continue;
            }
            let mut value = match edge.visits {
                0 => untried,
                _ => edge.mean() as f32,
            };
            if let Some((later, beta)) = later.filter(|(later, _)| later[idx].visits > 0) {
                value += beta * (later[idx].mean - value);
            }
            let policy = share * weight + even;
            let n = 1.0 + edge.visits as f32;
            value += scale * policy / n + spread / n.sqrt();
            if value > highest {
                (best, highest, n_ties) = (Some(idx), value, 1);
            } else if value == highest {
                n_ties += 1;
                if random.below(n_ties) == 0 {
                    best = Some(idx);
                }
            }
        }
        best
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

/// The mean over all visits.
fn mean_of_tried(edges: &[Edge]) -> f32 {
    let (mut n, mut sum) = (0.0, 0.0);
    for edge in edges {
        n += f64::from(edge.visits);
        sum += f64::from(edge.visits) * edge.mean();
    }
    if n > 0.0 { (sum / n) as f32 } else { MIDDLE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_engine::MoveId;

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
        let mut edges = Vec::new();
        for (idx, &(visits, mean, weight)) in moves.iter().enumerate() {
            let of = MoveId(idx as u32);
            weights.get_mut(RoleId(0), of).weight = weight;
            let mut edge = Edge::new(of);
            (0..visits).for_each(|_| edge.add(mean));
            edges.push(edge);
        }
        let mut puct = Puct::new(&params).expect("the policy leads");
        assert!(!puct.is_ready());
        puct.learn(&Choosing::Proportional(weights));
        let visits = edges.iter().map(|edge| edge.visits).sum();
        let mut random = Random::new(1);
        let mut taken: Vec<usize> = (0..50)
            .filter_map(|_| puct.choose(0, (&[], visits), &edges, later, &mut random))
            .collect();
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    #[test]
    fn the_formula_is_as_by_hand() {
        // N = 16. P = 0.75 · 3/4 + 0.125 and 0.75 · 1/4 + 0.125: 0.6875 and 0.3125.
        // 60 + 4 c 0.6875 / 13 = 60 + 0.211538 c against 50 + 4 c 0.3125 / 5 = 50 + 0.25 c: equal at c = 260.
        let moves = [(12, 60.0, 3.0), (4, 50.0, 1.0)];
        assert_eq!(taken(259.0, &moves, None), [0]);
        assert_eq!(taken(261.0, &moves, None), [1]);
    }

    #[test]
    fn the_policy_gives_way_as_by_hand() {
        // As above, but with k = 2 · 8 the policy weighs a half; sqrt(ln 16) = 1.665109, so that UCT adds 33.30218 / sqrt(1 + n):
        // 60 + 0.105769 c + 9.23636 against 50 + 0.125 c + 14.89319: equal at c = 225.8.
        let moves = [(12, 60.0, 3.0), (4, 50.0, 1.0)];
        assert_eq!(taken_with(225.0, 8.0, &moves, None), [0]);
        assert_eq!(taken_with(227.0, 8.0, &moves, None), [1]);
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
        let known = |mean| Later { visits: 9, mean };
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
        let mut edges = [0, 1].map(|of| Edge::new(MoveId(of)));
        let mut random = Random::new(1);
        let mut choose =
            |puct: &mut Puct, edges: &[Edge]| puct.choose(0, (&[], 0), edges, None, &mut random);
        assert_eq!(choose(&mut puct, &edges), None, "nothing was told yet");
        puct.learn(&Choosing::Proportional(Weights::new([2])));
        edges[0].close(true);
        assert_eq!(choose(&mut puct, &edges), Some(1));
        edges[1].close(true);
        assert_eq!(choose(&mut puct, &edges), None);
        puct.learn(&Choosing::Uniform);
        assert!(!puct.is_ready());
    }
}
