//! Evaluation by a network: values and priors, beside playouts or in their place.
//!
//! Another evaluator makes the states of the leaves, and plays from them if there are playouts. Each leaf that comes back gets the priors of its
//! legal moves, and its value becomes that of the network, or the mean of both.

use std::sync::Arc;

use agon_engine::{Game, RoleId};

use super::{Evaluator, PolicyUpdate, Terms, weigh};
use crate::model::{Inference, Network};
use crate::params::{NetworkUse, Params, Values};
use crate::prior;
use crate::simulation::{Orders, Results, Times};
use crate::techniques::Techniques;
use crate::techniques::rules_policy::Cost;

/// Evaluates leaves by a network, after another evaluator.
pub(crate) struct NetworkEvaluator {
    states: Box<dyn Evaluator>,
    judge: Judge,
    /// The share of the network in values.
    share: f64,
}

/// A network with what it computes in.
pub(crate) struct Judge {
    network: Arc<Network>,
    inference: Inference,
    kind: Values,
    // Scratch.
    values: Vec<f32>,
    worth: Vec<f64>,
    chances: Vec<f32>,
}

impl Judge {
    pub(crate) fn new(game: &Game, params: &Params, network: Arc<Network>) -> Judge {
        let n_roles = game.n_roles();
        Judge {
            network,
            inference: Inference::new(game),
            kind: params.values,
            values: vec![0.0; n_roles],
            worth: vec![0.0; n_roles],
            chances: Vec::new(),
        }
    }

    /// What a state is worth to each role, 0 to 100, where roles have these numbers of legal moves.
    fn judge(&mut self, words: &[u64], n_legal: impl Fn(usize) -> usize) -> &[f64] {
        let head = self.network.shape.head(words, n_legal);
        self.inference
            .values(&self.network, words, head, &mut self.values);
        for (worth, &value) in self.worth.iter_mut().zip(&self.values) {
            *worth = f64::from(value) * 100.0;
        }
        weigh(self.kind, &mut self.worth);
        &self.worth
    }

    /// Encodes the priors of the moves of a role in the state that was judged last.
    fn put_priors(&mut self, role: RoleId, moves: &[agon_engine::MoveId], to: &mut [u8]) {
        let Judge {
            inference,
            network,
            chances,
            ..
        } = self;
        inference.chances(network, role, moves, chances);
        for (to, &chance) in to.iter_mut().zip(&*chances) {
            *to = prior::encode(chance);
        }
    }

    /// The priors of a state outside of a batch, role by role.
    pub(crate) fn priors(
        &mut self,
        words: &[u64],
        legal: &[Vec<agon_engine::MoveId>],
    ) -> Vec<Vec<u8>> {
        self.judge(words, |role| legal[role].len());
        let mut of_role = |(role, moves): (RoleId, &Vec<agon_engine::MoveId>)| {
            let mut priors = vec![0; moves.len()];
            self.put_priors(role, moves, &mut priors);
            priors
        };
        RoleId::all(legal.len())
            .zip(legal)
            .map(&mut of_role)
            .collect()
    }
}

impl NetworkEvaluator {
    pub(crate) fn new(
        states: Box<dyn Evaluator>,
        judge: Judge,
        usage: NetworkUse,
    ) -> NetworkEvaluator {
        NetworkEvaluator {
            states,
            judge,
            share: match usage {
                NetworkUse::Alone | NetworkUse::Auto => 1.0,
                NetworkUse::Mix => 0.5,
                NetworkUse::Prior | NetworkUse::None => 0.0,
            },
        }
    }

    /// Judges the leaves from one on.
    fn judge_from(&mut self, first: usize, results: &mut Results) {
        let n_roles = results.n_roles;
        results.priors.resize(results.legal.len(), 0);
        for idx in first..results.leaves.len() {
            let leaf = results.leaves[idx];
            if leaf.is_end {
                continue;
            }
            let n_legal = |role: usize| results.legal_range(idx, role).len();
            let worth = self.judge.judge(results.words(idx), n_legal);
            if self.share > 0.0 {
                // Sums are those of all playouts of the leaf.
                let scale = self.share * f64::from(leaf.n);
                let sums = &mut results.sums[idx * n_roles..(idx + 1) * n_roles];
                for (sum, worth) in sums.iter_mut().zip(worth) {
                    *sum = *sum * (1.0 - self.share) + worth * scale;
                }
            }
            for role in RoleId::all(n_roles) {
                let range = results.legal_range(idx, role.idx());
                if range.len() > 1 {
                    let (legal, priors) = (&results.legal, &mut results.priors);
                    self.judge
                        .put_priors(role, &legal[range.clone()], &mut priors[range]);
                }
            }
        }
    }
}

impl Evaluator for NetworkEvaluator {
    fn update(&mut self, policy: &PolicyUpdate) {
        self.states.update(policy);
    }

    fn submit(&mut self, orders: &Orders, terms: &Terms<'_>, techniques: &mut Techniques) {
        self.states.submit(orders, terms, techniques);
    }

    fn run(&mut self, terms: &Terms<'_>, techniques: &mut Techniques, results: &mut Results) {
        let first = results.leaves.len();
        self.states.run(terms, techniques, results);
        self.judge_from(first, results);
    }

    fn n_pending(&self) -> usize {
        self.states.n_pending()
    }

    fn cancel(&mut self) {
        self.states.cancel();
    }

    fn take_cost(&mut self) -> Option<Cost> {
        self.states.take_cost()
    }

    fn take_times(&mut self) -> Times {
        self.states.take_times()
    }
}
