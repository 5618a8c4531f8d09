//! What a simulation was worth, and who learns from it.
//!
//! At its end a simulation has a value for each role. It goes back step by step, a little less at each by the discount: to
//! the visits and means of the tree, to MAST, and to the statistics of moves made later (RAVE, AMAF). In single-player
//! games the best simulation counts instead of the mean.
//!
//! The value of a move is that of the state after it: a move that ends the match gets the goals undiscounted.

use agon_engine::{Goal, RoleId};

use crate::params::{Backup, RaveKind, Values};
use crate::uct::UctBot;
use crate::{amaf, rave};

impl UctBot {
    /// Values of all roles by the goals of the state that the walker is in; a role without a goal gets nothing.
    pub(crate) fn read_goals(&mut self) {
        for role in RoleId::all(self.n_roles) {
            let goal = self.walker.goal(role).map_or(0, Goal::value);
            self.values[role.idx()] = f64::from(goal);
        }
        weigh(self.params.values, &mut self.values);
    }

    /// Teaches what a simulation was worth: the tree along its way, and moves wherever they were made.
    pub(crate) fn back_up(&mut self, is_timed: bool) {
        let n_steps = self.record.len() / self.n_roles;
        let n_levels = self.path.nodes.len();
        if self.is_puzzle() {
            self.best_line.offer(self.values[0], &self.record);
        }
        if let Some(seen) = &mut self.seen {
            seen.begin();
        }
        if let Some(mast) = &mut self.mast {
            mast.end(&self.values);
        }
        // Step 1. Outside the tree, from the end.
        if self.mast.is_some() || self.seen.is_some() {
            for step in (n_levels..n_steps).rev() {
                let factor = self.power(n_steps - 1 - step);
                self.learn(step, factor);
            }
        }
        // Step 2. In the tree, from below.
        self.work.watch.start(is_timed);
        let takes_max = self.is_puzzle() && self.params.single_player == Backup::Max;
        for level in (0..n_levels).rev() {
            let factor = self.power(n_steps - 1 - level);
            self.learn(level, factor);
            let node = self.path.nodes[level];
            self.tree.node_mut(node).visits += 1;
            for role in 0..self.n_roles {
                let edge = self.path.edges[level * self.n_roles + role] as usize;
                let value = self.values[role] * factor;
                if takes_max {
                    self.tree.edge_mut(edge).add_max(value);
                } else {
                    self.tree.edge_mut(edge).add(value);
                }
            }
            if let Some(seen) = &self.seen {
                match self.params.rave {
                    RaveKind::Off => {}
                    RaveKind::Rave | RaveKind::Grave => {
                        let learn_all = self.all_learn();
                        rave::update(&mut self.tree, node, self.n_roles, seen, learn_all);
                    }
                    RaveKind::Amaf => amaf::update(&mut self.tree, node, self.n_roles, seen),
                }
            }
        }
        self.work.watch.stop();
        self.work.levels += n_levels as u64;
        self.work.descents += 1;
        self.work.timed_levels += if is_timed { n_levels as u64 } else { 0 };
        self.work.deepest = self.work.deepest.max(n_levels as u32);
    }

    /// Whether moves of a state that were never tried learn from later ones: RAVE alone mixes with what was tried.
    pub(crate) fn all_learn(&self) -> bool {
        self.params.rave != RaveKind::Rave
    }

    /// The moves of a step learn, wherever it was.
    #[inline]
    fn learn(&mut self, step: usize, factor: f64) {
        for role in 0..self.n_roles {
            let of = self.record[step * self.n_roles + role];
            let value = self.values[role] * factor;
            if let Some(mast) = &mut self.mast {
                mast.add_after(&self.record[..step * self.n_roles], role, of, value);
            }
            if let Some(seen) = &mut self.seen {
                seen.add(role, of, value);
            }
        }
    }

    /// The discount of so many steps.
    #[inline]
    fn power(&mut self, steps: usize) -> f64 {
        while self.powers.len() <= steps {
            let last = self.powers[self.powers.len() - 1];
            self.powers.push(last * self.discount);
        }
        self.powers[steps]
    }
}

/// Makes goals of all roles what they are worth to each.
#[inline]
pub(crate) fn weigh(values: Values, goals: &mut [f64]) {
    if let (Values::Difference, [first, second]) = (values, goals) {
        let half = (*first - *second + 100.0) / 2.0;
        (*first, *second) = (half, 100.0 - half);
    }
}
