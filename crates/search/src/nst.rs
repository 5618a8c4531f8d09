//! NST, n-gram selection: a move may be good after some moves and bad after others.
//!
//! An n-gram is a move of a role with the joint moves of the one or two steps before it. Each has a mean over all
//! simulations in which it occurred. In playouts the value of a move is the mean of its own mean, as in MAST, and those of
//! the n-grams that it would end, as far as they occurred often enough.
//!
//! In: the moves of simulations with their values. Out: values of moves.
//!
//! - Tak, Winands and Björnsson 2012, N-Grams and the Last-Good-Reply Policy Applied in General Game Playing

use agon_engine::MoveId;
use rustc_hash::FxHashMap;

use crate::params::Params;

/// So many n-grams are remembered; then all are forgotten.
const MOST_GRAMS: usize = 1 << 21;

/// Means of n-grams.
#[derive(Clone)]
pub(crate) struct Nst {
    least_visits: f32,
    length: usize,
    grams: FxHashMap<u64, Gram>,
    /// The last joint move and the last two before the move that is to be chosen; 0 where there are none.
    context: [u64; 2],
}

#[derive(Clone, Copy, Default)]
struct Gram {
    mean: f32,
    count: f32,
}

impl Nst {
    pub(crate) fn new(params: &Params) -> Nst {
        Nst {
            least_visits: params.nst_visits as f32,
            length: params.nst_length as usize,
            grams: FxHashMap::default(),
            context: [0; 2],
        }
    }

    /// A move is to be chosen after these, step by step in the order of the roles.
    #[inline]
    pub(crate) fn stand(&mut self, record: &[MoveId], n_roles: usize) {
        self.context = context(record, n_roles);
    }

    /// The value of a move whose own mean is known.
    #[inline]
    pub(crate) fn value(&self, role: usize, of: MoveId, mean: f32) -> f32 {
        let (mut sum, mut n) = (mean, 1.0);
        for &before in self.context.iter().take(self.length - 1) {
            let gram = self.grams.get(&key(before, role, of));
            if let Some(gram) = gram.filter(|gram| before != 0 && gram.count >= self.least_visits) {
                sum += gram.mean;
                n += 1.0;
            }
        }
        sum / n
    }

    /// A simulation in which the role made this move after those was worth this much.
    pub(crate) fn add(
        &mut self,
        before: &[MoveId],
        n_roles: usize,
        role: usize,
        of: MoveId,
        value: f64,
    ) {
        if self.grams.len() >= MOST_GRAMS {
            self.grams.clear();
        }
        for before in context(before, n_roles).into_iter().take(self.length - 1) {
            if before != 0 {
                let gram = self.grams.entry(key(before, role, of)).or_default();
                gram.count += 1.0;
                gram.mean += (value as f32 - gram.mean) / gram.count;
            }
        }
    }

    /// What was learned counts less from now on.
    pub(crate) fn decay(&mut self, factor: f32) {
        self.grams.retain(|_, gram| {
            gram.count *= factor;
            gram.count >= 1.0
        });
    }

    /// How many n-grams are known.
    pub(crate) fn n_grams(&self) -> usize {
        self.grams.len()
    }
}

/// The last joint move and the last two, each as a number.
fn context(record: &[MoveId], n_roles: usize) -> [u64; 2] {
    let mut context = [0; 2];
    let mut hash = 1;
    for (slot, joint) in context.iter_mut().zip(record.rchunks_exact(n_roles)) {
        for &MoveId(of) in joint {
            hash = mix(hash ^ (u64::from(of) + 1));
        }
        *slot = hash | 1;
    }
    context
}

fn key(before: u64, role: usize, of: MoveId) -> u64 {
    mix(before ^ (role as u64) << 32 ^ u64::from(of.0))
}

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_means_of_means_as_by_hand() {
        let mut nst = Nst::new(&Params {
            nst_visits: 2,
            ..Params::default()
        });
        let [a, b, c] = [MoveId(1), MoveId(2), MoveId(3)];
        // After b it is worth 80, after a and b 20; the first time does not count yet.
        nst.add(&[b], 1, 0, c, 80.0);
        nst.stand(&[b], 1);
        assert_eq!(nst.value(0, c, 50.0), 50.0);
        nst.add(&[b], 1, 0, c, 80.0);
        assert_eq!(nst.value(0, c, 50.0), 65.0);
        for _ in 0..2 {
            nst.add(&[a, b], 1, 0, c, 20.0);
        }
        // b c: twice 80 and twice 20 is 50; a b c: 20.
        nst.stand(&[a, b], 1);
        assert_eq!(nst.value(0, c, 80.0), 50.0);
        assert_eq!(nst.value(0, b, 80.0), 80.0, "another move");
        assert_eq!(nst.value(1, c, 80.0), 80.0, "another role");
        nst.stand(&[b, a], 1);
        assert_eq!(nst.value(0, c, 80.0), 80.0, "other moves before");
    }

    #[test]
    fn joint_moves_of_all_roles_count() {
        let mut nst = Nst::new(&Params {
            nst_visits: 1,
            ..Params::default()
        });
        let [a, b, c] = [MoveId(1), MoveId(2), MoveId(3)];
        nst.add(&[a, b], 2, 1, c, 100.0);
        nst.stand(&[a, b], 2);
        assert_eq!(nst.value(1, c, 50.0), 75.0);
        nst.stand(&[b, a], 2);
        assert_eq!(nst.value(1, c, 50.0), 50.0);
        nst.decay(0.5);
        assert_eq!(nst.n_grams(), 0, "what counts too little is forgotten");
    }
}
