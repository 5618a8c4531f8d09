//! Evaluators: leaves in, values of all roles out.
//!
//! An evaluator is given leaves by the owner of the tree. It makes their states, looks at them, and evaluates those that go
//! on: by playouts one by one (`scalar`), by many playouts at once (`lanes`), or by nothing at all (`none`); a network judges them beside
//! that or alone (`network`). Work is done in
//! portions, between which the owner of the tree may look at the clock and order more; a leaf is returned when it is done.

pub(crate) mod first_moves;
pub(crate) mod lanes;
pub(crate) mod network;
pub(crate) mod none;
pub(crate) mod replay;
pub(crate) mod scalar;

use agon_engine::RoleId;
use agon_engine::lanes::Choosing;

use crate::limits::Limits;
use crate::params::Values;
use crate::simulation::{Orders, Results, Times};
use crate::techniques::Techniques;
use crate::techniques::rules_policy::Cost;

/// Evaluates leaves on one thread.
pub(crate) trait Evaluator: Send {
    /// How playouts choose from now on.
    fn update(&mut self, _policy: &PolicyUpdate) {}

    /// Takes leaves to evaluate. `techniques` are those of the search at hand, or a copy of them.
    fn submit(&mut self, orders: &Orders, terms: &Terms<'_>, techniques: &mut Techniques);

    /// Works for a bounded time, and adds the leaves that are done to the results.
    fn run(&mut self, terms: &Terms<'_>, techniques: &mut Techniques, results: &mut Results);

    /// Leaves that are not done.
    fn n_pending(&self) -> usize;

    /// Forgets the leaves that are not done.
    fn cancel(&mut self);

    /// What evaluations of formulas took since this was last asked.
    fn take_cost(&mut self) -> Option<Cost> {
        None
    }

    /// Time by kind of work since this was last asked.
    fn take_times(&mut self) -> Times {
        Times::default()
    }
}

/// The terms of an evaluation.
pub(crate) struct Terms<'a> {
    /// The role that the search is for.
    pub(crate) role: RoleId,
    pub(crate) limits: &'a Limits,
}

/// How playouts choose, as it was learned.
#[derive(Clone)]
pub(crate) struct PolicyUpdate {
    pub(crate) choosing: Choosing,
    /// One playout in this many is looked at again by FAST.
    pub(crate) replay_one_in: u32,
}

/// Makes goals of all roles what they are worth to each.
#[inline]
pub(crate) fn weigh(values: Values, goals: &mut [f64]) {
    if let (Values::Difference, [first, second]) = (values, goals) {
        let half = (*first - *second + 100.0) / 2.0;
        (*first, *second) = (half, 100.0 - half);
    }
}
