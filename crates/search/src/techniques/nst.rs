//! NST, n-gram selection: a move may be good after some moves and bad after others.
//!
//! An n-gram is a move of a role with the joint moves of the one or two steps before it. Each has a mean over all
//! simulations in which it occurred. In playouts the value of a move is the mean of its own mean, as in MAST, and those of
//! the n-grams that it would end, as far as they occurred often enough.
//!
//! In: the moves of simulations with their values. Out: values of moves.
//!
//! - Tak, Winands and Björnsson 2012, N-Grams and the Last-Good-Reply Policy Applied in General Game Playing

use agon_engine::{Game, MoveId, RoleId};
use rustc_hash::FxHashMap;

use super::{Facts, StateView, Technique};
use crate::account::TechniqueAccount;
use crate::params::{Params, PlayoutKind};
use crate::simulation::Simulation;
use crate::tree::Tree;

/// This many n-grams are remembered; then all are forgotten.
pub(super) const MOST_GRAMS: usize = 1 << 21;
/// Simulations that an n-gram needs to be counted, and the length of the longest (Tak, Winands and Björnsson 2012).
const LEAST_VISITS: f32 = 7.0;
const LENGTH: usize = 3;

/// Means of n-grams.
#[derive(Clone)]
pub(crate) struct Nst {
    n_roles: usize,
    least_visits: f32,
    decay: f32,
    grams: FxHashMap<u64, Gram>,
    /// The last joint move and the last two before the move that is to be chosen; 0 where there are none.
    context: [u64; 2],
    /// Scratch: the moves of a whole simulation.
    record: Vec<MoveId>,
}

#[derive(Clone, Copy, Default)]
struct Gram {
    mean: f32,
    count: f32,
}

impl Nst {
    pub(crate) fn new(params: &Params, n_roles: usize) -> Nst {
        Nst {
            n_roles,
            least_visits: LEAST_VISITS,
            decay: params.mast_decay as f32,
            grams: FxHashMap::default(),
            context: [0; 2],
            record: Vec::new(),
        }
    }

    /// If playouts go by it.
    pub(crate) fn for_game(game: &Game, params: &Params) -> Option<Nst> {
        (params.playout == PlayoutKind::Nst).then(|| Nst::new(params, game.n_roles()))
    }

    /// The value of a move whose own mean is known.
    #[inline]
    fn value(&self, role: usize, mv: MoveId, mean: f32) -> f32 {
        let (mut sum, mut n) = (mean, 1.0);
        for &before in self.context.iter().take(LENGTH - 1) {
            let gram = self.grams.get(&key(before, role, mv));
            if let Some(gram) = gram.filter(|gram| before != 0 && gram.count >= self.least_visits) {
                sum += gram.mean;
                n += 1.0;
            }
        }
        sum / n
    }

    /// A simulation in which the role made this move after those was worth this much.
    fn add(&mut self, before: &[MoveId], role: usize, mv: MoveId, value: f64) {
        if self.grams.len() >= MOST_GRAMS {
            self.grams.clear();
        }
        for before in context(before, self.n_roles).into_iter().take(LENGTH - 1) {
            if before != 0 {
                let gram = self.grams.entry(key(before, role, mv)).or_default();
                gram.count += 1.0;
                gram.mean += (value as f32 - gram.mean) / gram.count;
            }
        }
    }
}

impl Technique for Nst {
    fn is_policy(&self) -> bool {
        true
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn stand(&mut self, state: &StateView<'_>) {
        self.context = context(state.record, self.n_roles);
    }

    fn add_values(&mut self, role: RoleId, moves: &[MoveId], values: &mut [f32]) {
        for (mv, value) in moves.iter().zip(values) {
            *value = self.value(role.idx(), *mv, *value);
        }
    }

    /// Playouts run one by one here, so that the moves of a sample are those of all roles, step by step.
    fn observe(&mut self, _tree: &mut Tree, simulation: &Simulation<'_>) {
        let n_roles = self.n_roles;
        for (values, _, made) in simulation.samples() {
            let mut record = std::mem::take(&mut self.record);
            record.clear();
            record.extend_from_slice(simulation.record);
            record.extend(made.iter().map(|made| made.mv));
            let n_steps = record.len() / n_roles;
            for (at, &mv) in record.iter().enumerate() {
                let (step, role) = (at / n_roles, at % n_roles);
                let value = values[role] * simulation.powers.get(n_steps - 1 - step);
                self.add(&record[..step * n_roles], role, mv, value);
            }
            self.record = record;
        }
    }

    fn decay(&mut self) {
        if self.decay == 1.0 {
            return;
        }
        let factor = self.decay;
        self.grams.retain(|_, gram| {
            gram.count *= factor;
            gram.count >= 1.0
        });
    }

    fn account(&self, _facts: &Facts<'_>) -> TechniqueAccount {
        TechniqueAccount::Counts {
            name: "nst",
            counts: vec![("n_grams", self.grams.len() as u64)],
        }
    }
}

/// The last joint move and the last two, each as a number.
pub(super) fn context(record: &[MoveId], n_roles: usize) -> [u64; 2] {
    let mut context = [0; 2];
    let mut hash = 1;
    for (slot, joint) in context.iter_mut().zip(record.rchunks_exact(n_roles)) {
        for &MoveId(mv) in joint {
            hash = mix(hash ^ (u64::from(mv) + 1));
        }
        *slot = hash | 1;
    }
    context
}

/// The number of an n-gram: a move of a role after joint moves with this number, or after nothing in particular if that is 0.
pub(super) fn key(before: u64, role: usize, mv: MoveId) -> u64 {
    mix(before ^ (role as u64) << 32 ^ u64::from(mv.0))
}

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nst(n_roles: usize, least_visits: f32) -> Nst {
        Nst {
            least_visits,
            decay: 0.5,
            ..Nst::new(&Params::default(), n_roles)
        }
    }

    fn stand(nst: &mut Nst, record: &[MoveId]) {
        nst.stand(&StateView {
            words: &[],
            record,
            legal: &[],
        });
    }

    #[test]
    fn values_are_means_of_means_as_by_hand() {
        let mut nst = nst(1, 2.0);
        let [a, b, c] = [MoveId(1), MoveId(2), MoveId(3)];
        // After b it is worth 80, after a and b 20; the first time does not count yet.
        nst.add(&[b], 0, c, 80.0);
        stand(&mut nst, &[b]);
        assert_eq!(nst.value(0, c, 50.0), 50.0);
        nst.add(&[b], 0, c, 80.0);
        assert_eq!(nst.value(0, c, 50.0), 65.0);
        for _ in 0..2 {
            nst.add(&[a, b], 0, c, 20.0);
        }
        // b c: twice 80 and twice 20 is 50; a b c: 20.
        stand(&mut nst, &[a, b]);
        assert_eq!(nst.value(0, c, 80.0), 50.0);
        assert_eq!(nst.value(0, b, 80.0), 80.0, "another move");
        assert_eq!(nst.value(1, c, 80.0), 80.0, "another role");
        stand(&mut nst, &[b, a]);
        assert_eq!(nst.value(0, c, 80.0), 80.0, "other moves before");
    }

    #[test]
    fn joint_moves_of_all_roles_count() {
        let mut nst = nst(2, 1.0);
        let [a, b, c] = [MoveId(1), MoveId(2), MoveId(3)];
        nst.add(&[a, b], 1, c, 100.0);
        stand(&mut nst, &[a, b]);
        assert_eq!(nst.value(1, c, 50.0), 75.0);
        stand(&mut nst, &[b, a]);
        assert_eq!(nst.value(1, c, 50.0), 50.0);
        nst.decay();
        assert_eq!(nst.grams.len(), 0, "what counts too little is forgotten");
    }
}
