//! The first moves of the playouts from a leaf: different ones.
//!
//! Playouts from one state that all choose for themselves begin alike and tell little that is new: in Breakthrough four of
//! them at each leaf were worth hardly more than one. So those of a leaf begin with different moves, drawn by the playout
//! policy and never twice until all were drawn, as a tree would try them one after the other. Each role draws for itself.
//!
//! To draw without putting back, each move gets an exponentially distributed time at the rate of its weight; those with the
//! earliest times are taken.
//!
//! In: legal moves of leaves, weights. Out: joint moves, one per playout.
//!
//! - Efraimidis and Spirakis 2006, Weighted random sampling with a reservoir

use agon_engine::lanes::{Choosing, Weights};
use agon_engine::{MoveId, RoleId};

use crate::guide::Guide;
use crate::random::Random;

/// No move weighs less: each comes up some time.
const LEAST_WEIGHT: f32 = 1e-6;

/// Draws first moves.
pub(crate) struct Openings {
    n_roles: usize,
    weights: Option<Weights>,
    /// Of the greedy choice, the chance of any move.
    epsilon: Option<f64>,
    random: Random,
    // Scratch.
    times: Vec<(f32, MoveId)>,
    // Of the batch.
    /// Per playout: its leaf.
    leaves: Vec<u32>,
    /// Per playout and role.
    moves: Vec<MoveId>,
}

impl Openings {
    pub(crate) fn new(n_roles: usize, seed: u64) -> Openings {
        Openings {
            n_roles,
            weights: None,
            epsilon: None,
            random: Random::new(seed),
            times: Vec::new(),
            leaves: Vec::new(),
            moves: Vec::new(),
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

    /// A new batch.
    pub(crate) fn clear(&mut self) {
        self.leaves.clear();
        self.moves.clear();
    }

    /// So many playouts from a leaf in this state; each role has at least one legal move.
    pub(crate) fn add<'a>(
        &mut self,
        leaf: usize,
        words: &[u64],
        n: u32,
        legal: impl Fn(usize) -> &'a [MoveId],
        mut guide: Option<&mut Guide>,
    ) {
        let start = self.moves.len();
        self.leaves.extend((0..n).map(|_| leaf as u32));
        self.moves
            .resize(start + n as usize * self.n_roles, MoveId(0));
        for role in 0..self.n_roles {
            let of_role = RoleId(role as u16);
            let has_choice = legal(role).len() > 1;
            let guide = guide.as_mut().filter(|_| has_choice);
            let told = guide.and_then(|guide| guide.weigh(of_role, words, &legal));
            let legal = legal(role);
            if has_choice {
                self.draw(of_role, legal, words, n as usize, told);
            }
            let to = self.moves[start + role..].iter_mut().step_by(self.n_roles);
            match legal.len() {
                1 => to.for_each(|to| *to = legal[0]),
                _ => to
                    .zip(self.times.iter().cycle())
                    .for_each(|(to, of)| *to = of.1),
            }
        }
    }

    /// Puts so many of the moves first, or all of them in any order if there are not more. Where some are urgent, there are no
    /// others. Weights that were told count besides those that were learned.
    fn draw(
        &mut self,
        role: RoleId,
        legal: &[MoveId],
        words: &[u64],
        n: usize,
        told: Option<&[f32]>,
    ) {
        self.times.clear();
        let weights = self.weights.as_ref();
        let mut is_any_urgent = false;
        for (idx, &of) in legal.iter().enumerate() {
            let weight = weights.map(|weights| weights.weight_in(role, of, words));
            let (weight, is_urgent) = weight.unwrap_or((1.0, false));
            let weight = weight * told.map_or(1.0, |told| told[idx]);
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
            self.times.push((time, of));
        }
        if n < self.times.len() {
            self.times
                .select_nth_unstable_by(n, |a, b| a.0.total_cmp(&b.0));
            self.times.truncate(n);
        } else {
            // Those that come a second time are the earliest.
            self.times.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        }
    }

    /// Playouts of the batch.
    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// The leaf of a playout.
    pub(crate) fn leaf(&self, playout: usize) -> usize {
        self.leaves[playout] as usize
    }

    /// The first joint move of a playout.
    pub(crate) fn moves(&self, playout: usize) -> &[MoveId] {
        &self.moves[playout * self.n_roles..(playout + 1) * self.n_roles]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_engine::lanes::Urgency;

    /// The first moves of so many playouts of two roles, the first of which has these moves; the other has one.
    fn firsts(openings: &mut Openings, legal: &[MoveId], n: u32) -> Vec<u32> {
        openings.clear();
        let forced = [MoveId(9)];
        openings.add(
            3,
            &[1],
            n,
            |role| if role == 0 { legal } else { &forced },
            None,
        );
        assert_eq!(openings.len(), n as usize);
        let moves = (0..n as usize).map(|playout| {
            assert_eq!(openings.leaf(playout), 3);
            assert_eq!(openings.moves(playout)[1], MoveId(9));
            openings.moves(playout)[0].0
        });
        let mut moves: Vec<u32> = moves.collect();
        moves.sort_unstable();
        moves
    }

    #[test]
    fn no_move_comes_twice_before_all_have_come() {
        let mut openings = Openings::new(2, 1);
        let legal = [2, 4, 5, 7].map(MoveId);
        assert_eq!(firsts(&mut openings, &legal, 4), [2, 4, 5, 7]);
        let three = firsts(&mut openings, &legal, 3);
        assert!(three.windows(2).all(|pair| pair[0] < pair[1]), "{three:?}");
        let nine = firsts(&mut openings, &legal, 9);
        let count = |of: u32| nine.iter().filter(|&&first| first == of).count();
        let mut counts = [2, 4, 5, 7].map(count);
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 2, 3]);
    }

    #[test]
    fn moves_come_by_their_weights() {
        // Weights 6, 3 and 1: the first alone is drawn with chance 0.6; of pairs, the last is missing with chance
        // 0.6 · 3/4 + 0.3 · 6/7 = 0.707143.
        let mut weights = Weights::new([3, 1]);
        for (of, weight) in [6.0, 3.0, 1.0].into_iter().enumerate() {
            weights.get_mut(RoleId(0), MoveId(of as u32)).weight = weight;
        }
        let mut openings = Openings::new(2, 7);
        openings.learn(&Choosing::Proportional(weights));
        let legal = [0, 1, 2].map(MoveId);
        let n = 20_000;
        let (mut n_first, mut n_without_last) = (0, 0);
        for _ in 0..n {
            n_first += u32::from(firsts(&mut openings, &legal, 1) == [0]);
            n_without_last += u32::from(firsts(&mut openings, &legal, 2) == [0, 1]);
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
        for (of, on) in [(0, fails), (2, holds)] {
            let urgency = Urgency {
                weight: 1.0,
                on,
                by: None,
            };
            weights.get_mut(RoleId(0), MoveId(of)).urgency = Some(urgency);
        }
        let mut openings = Openings::new(2, 7);
        openings.learn(&Choosing::Proportional(weights));
        let legal = [0, 1, 2].map(MoveId);
        assert_eq!(firsts(&mut openings, &legal, 2), [2, 2]);
        assert_eq!(firsts(&mut openings, &legal[..2], 2), [0, 1]);
    }
}
