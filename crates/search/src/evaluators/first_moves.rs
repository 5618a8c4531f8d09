//! The first moves of the playouts from a leaf: different ones.
//!
//! Playouts from one state that all choose for themselves begin alike and tell little that is new: in Breakthrough four of
//! them at each leaf were worth hardly more than one. So those of a leaf begin with different moves, drawn by the playout
//! policy and never twice until all were drawn, as a tree would try them one after the other. Each role draws for itself.
//!
//! To draw without putting back, each move gets an exponentially distributed time at the rate of its weight; those with the
//! earliest times are taken.
//!
//! In: legal moves of a leaf, weights. Out: moves in the order in which playouts take them.
//!
//! - Efraimidis and Spirakis 2006, Weighted random sampling with a reservoir

use agon_engine::lanes::{Choosing, Weights};
use agon_engine::{MoveId, RoleId};

use crate::random::Random;

/// No move weighs less: each comes up some time.
const LEAST_WEIGHT: f32 = 1e-6;

/// Draws first moves.
pub(crate) struct FirstMoves {
    weights: Option<Weights>,
    /// Of the greedy choice, the chance of any move.
    epsilon: Option<f64>,
    random: Random,
    // Scratch.
    times: Vec<(f32, MoveId)>,
}

impl FirstMoves {
    pub(crate) fn new(seed: u64) -> FirstMoves {
        FirstMoves {
            weights: None,
            epsilon: None,
            random: Random::new(seed),
            times: Vec::new(),
        }
    }

    /// How playouts choose from now on.
    pub(crate) fn learn(&mut self, choosing: &Choosing) {
        (self.weights, self.epsilon) = match choosing {
            Choosing::Uniform => (None, None),
            Choosing::Proportional(weights) => (Some(weights.clone()), None),
            Choosing::Greedy(weights, epsilon) => (Some(weights.clone()), Some(*epsilon)),
        };
    }

    /// The moves of a role for `n` playouts from the state with these words: there may be fewer, which are taken in turn. Where some
    /// moves are urgent, there are no others. Weights that are given count besides those that were learned.
    pub(crate) fn draw(
        &mut self,
        role: RoleId,
        legal: &[MoveId],
        words: &[u64],
        n: usize,
        factors: Option<&[f32]>,
    ) -> &[(f32, MoveId)] {
        self.times.clear();
        let weights = self.weights.as_ref();
        let mut is_any_urgent = false;
        for (idx, &mv) in legal.iter().enumerate() {
            let weight = weights.map(|weights| weights.weight_in(role, mv, words));
            let (weight, is_urgent) = weight.unwrap_or((1.0, false));
            let weight = weight * factors.map_or(1.0, |factors| factors[idx]);
            if is_urgent && !is_any_urgent {
                self.times.clear();
                is_any_urgent = true;
            } else if is_any_urgent && !is_urgent {
                continue;
            }
            let unit = (1.0 - self.random.unit()) as f32;
            let time = match self.epsilon {
                None => -libm::logf(unit) / weight.max(LEAST_WEIGHT),
                // Greedy: all that are better come first, unless chance has it.
                Some(epsilon) if self.random.unit() >= epsilon => -weight,
                Some(_) => -100.0 * unit,
            };
            self.times.push((time, mv));
        }
        if n < self.times.len() {
            self.times
                .select_nth_unstable_by(n, |a, b| a.0.total_cmp(&b.0));
            self.times.truncate(n);
        } else {
            // Those that come a second time are the earliest.
            self.times.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        }
        &self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_engine::lanes::Urgency;

    /// The first moves of this number of playouts, in order.
    fn firsts(first_moves: &mut FirstMoves, legal: &[MoveId], n: usize) -> Vec<u32> {
        let drawn = first_moves.draw(RoleId(0), legal, &[1], n, None);
        let mut moves: Vec<u32> = drawn
            .iter()
            .cycle()
            .take(n)
            .map(|drawn| drawn.1.0)
            .collect();
        moves.sort_unstable();
        moves
    }

    #[test]
    fn no_move_comes_twice_before_all_have_come() {
        let mut first_moves = FirstMoves::new(1);
        let legal = [2, 4, 5, 7].map(MoveId);
        assert_eq!(firsts(&mut first_moves, &legal, 4), [2, 4, 5, 7]);
        let three = firsts(&mut first_moves, &legal, 3);
        assert!(three.windows(2).all(|pair| pair[0] < pair[1]), "{three:?}");
        let nine = firsts(&mut first_moves, &legal, 9);
        let count = |mv: u32| nine.iter().filter(|&&first| first == mv).count();
        let mut counts = [2, 4, 5, 7].map(count);
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 2, 3]);
    }

    #[test]
    fn moves_come_by_their_weights() {
        // Weights 6, 3 and 1: the first alone is drawn with chance 0.6; of pairs, the last is missing with chance
        // 0.6 · 3/4 + 0.3 · 6/7 = 0.707143.
        let mut weights = Weights::new([3, 1]);
        for (mv, weight) in [6.0, 3.0, 1.0].into_iter().enumerate() {
            weights.get_mut(RoleId(0), MoveId(mv as u32)).weight = weight;
        }
        let mut first_moves = FirstMoves::new(7);
        first_moves.learn(&Choosing::Proportional(weights));
        let legal = [0, 1, 2].map(MoveId);
        let n = 20_000;
        let (mut n_first, mut n_without_last) = (0, 0);
        for _ in 0..n {
            n_first += u32::from(firsts(&mut first_moves, &legal, 1) == [0]);
            n_without_last += u32::from(firsts(&mut first_moves, &legal, 2) == [0, 1]);
        }
        // Five standard deviations.
        assert!((f64::from(n_first) / f64::from(n) - 0.6).abs() < 0.0174);
        assert!((f64::from(n_without_last) / f64::from(n) - 0.707_143).abs() < 0.0161);
    }

    #[test]
    fn what_is_urgent_comes_alone() {
        let mut weights = Weights::new([3, 1]);
        let holds = weights.add_scale(vec![(0, 1.0)]);
        let fails = weights.add_scale(vec![(1, 1.0)]);
        for (mv, on) in [(0, fails), (2, holds)] {
            let urgency = Urgency {
                weight: 1.0,
                on,
                by: None,
            };
            weights.get_mut(RoleId(0), MoveId(mv)).urgency = Some(urgency);
        }
        let mut first_moves = FirstMoves::new(7);
        first_moves.learn(&Choosing::Proportional(weights));
        let legal = [0, 1, 2].map(MoveId);
        assert_eq!(firsts(&mut first_moves, &legal, 2), [2, 2]);
        assert_eq!(firsts(&mut first_moves, &legal[..2], 2), [0, 1]);
    }
}
