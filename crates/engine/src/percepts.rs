//! Percepts: what the roles see of each step, and all that they know in a game of GDL-II.
//!
//! When a joint move is made, each role gets the set of terms `p` for which `(sees r p)` holds in the state and with the
//! moves before the step. A role knows the rules, its own moves and its percepts, and nothing else. Two histories with the
//! same moves and percepts of a role belong to the same information set of that role.
//!
//! In a game of GDL-I every role sees the move of every role, as `(does r m)`: the rules that a manager adds when it sends
//! such a game to a player that expects percepts.
//!
//! - Thielscher 2010, A General Game Description Language for Incomplete Information Games

use crate::machine::Machine;
use crate::state::{JointMove, RoleId};

/// A percept, as numbered by the engine: the same term has the same id for all roles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PerceptId(pub u32);

/// What each role saw in each step of a match.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Percepts {
    n_roles: usize,
    /// The percepts of the first step, role by role, then those of the second step.
    ids: Vec<PerceptId>,
    /// Per step and role: where its percepts end.
    ends: Vec<u32>,
}

impl Percepts {
    /// Those of a match of `n_roles` roles that has not begun.
    #[must_use]
    pub fn new(n_roles: usize) -> Percepts {
        Percepts {
            n_roles,
            ids: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Adds a step: what each role sees when the joint move is made in the state of the machine.
    pub fn add_step(&mut self, machine: &mut (impl Machine + ?Sized), joint: &JointMove) {
        for role in RoleId::all(self.n_roles) {
            self.ids.extend_from_slice(machine.percepts(role, joint));
            self.ends.push(self.ids.len() as u32);
        }
    }

    /// Number of steps.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.ends.len().checked_div(self.n_roles).unwrap_or(0)
    }

    /// What a role saw in a step, sorted.
    ///
    /// # Panics
    /// If there is no such step.
    #[must_use]
    pub fn of(&self, role: RoleId, step: usize) -> &[PerceptId] {
        let place = step * self.n_roles + role.idx();
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start as usize..self.ends[place] as usize]
    }

    /// What a role saw, step by step.
    pub fn seen_by(&self, role: RoleId) -> impl ExactSizeIterator<Item = &[PerceptId]> {
        (0..self.n_steps()).map(move |step| self.of(role, step))
    }

    /// Whether a role saw the same in another match, in all its steps.
    #[must_use]
    pub fn look_alike(&self, role: RoleId, other: &Percepts) -> bool {
        self.seen_by(role).eq(other.seen_by(role))
    }
}
