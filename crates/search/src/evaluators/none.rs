//! No evaluation: leaves are made and looked at, and a number made from their state takes the place of a value.
//!
//! What is left is the cost of the tree, which is what an evaluator that is not ours, such as a network, can live on.

use agon_engine::lanes::Lanes;

use super::lanes::Expansion;
use super::{Evaluator, Terms};
use crate::params::{Params, Values};
use crate::simulation::{Leaf, Orders, Results};
use crate::techniques::Techniques;

/// Evaluates by a hash of the state.
pub(crate) struct NoEvaluator {
    lanes: Lanes,
    expansion: Expansion,
    orders: Vec<Leaf>,
    values: Vec<f64>,
    kind: Values,
}

impl NoEvaluator {
    pub(crate) fn new(lanes: Lanes, params: &Params, n_roles: usize) -> NoEvaluator {
        NoEvaluator {
            lanes,
            expansion: Expansion::new(params.values, n_roles),
            orders: Vec::new(),
            values: vec![0.0; n_roles],
            kind: params.values,
        }
    }
}

impl Evaluator for NoEvaluator {
    fn submit(&mut self, orders: &Orders, _terms: &Terms<'_>, _techniques: &mut Techniques) {
        self.expansion.expand(&mut self.lanes, orders);
        let leaves = orders.leaves.iter().map(|order| Leaf {
            ticket: order.ticket,
            n: 1,
            ..Leaf::default()
        });
        self.orders.extend(leaves);
    }

    fn run(&mut self, _terms: &Terms<'_>, _techniques: &mut Techniques, results: &mut Results) {
        for (idx, leaf) in self.orders.drain(..).enumerate() {
            let words = self.expansion.words(idx);
            let hash = words.iter().fold(0_u64, |hash, &word| {
                (hash ^ word)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(29)
            });
            for (role, value) in self.values.iter_mut().enumerate() {
                *value = (hash >> (8 * role % 56) & 0xff) as f64 * (100.0 / 255.0);
            }
            super::weigh(self.kind, &mut self.values);
            let is_end = self.expansion.is_end(idx);
            if is_end {
                self.values.copy_from_slice(self.expansion.worth(idx));
            }
            let leaf = Leaf { is_end, ..leaf };
            let expansion = &self.expansion;
            results.push(leaf, words, |role| expansion.legal(idx, role), &self.values);
            results.counts.steps += 1;
        }
    }

    fn n_pending(&self) -> usize {
        self.orders.len()
    }

    fn cancel(&mut self) {
        self.orders.clear();
    }
}
