//! The small value types that all engines and searches use: [`State`], [`RoleId`], [`MoveId`], [`JointMove`], [`Goal`].
//!
//! A state is opaque: a list of words that only the engine that made it can read. For a network engine it is one bit
//! per base, for the interpreter a sorted list of fluent ids. Two states of one game are equal exactly if they contain
//! the same fluents, so a state can be used as a hash key.

use std::fmt;

/// A role: its position in the order of the `role` facts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RoleId(pub u16);

impl RoleId {
    /// All roles of a game with `n_roles` roles, in order.
    #[inline]
    pub fn all(n_roles: usize) -> impl ExactSizeIterator<Item = RoleId> + Clone {
        (0..n_roles).map(|idx| RoleId(idx as u16))
    }

    /// The role as an index into a list with one entry per role.
    #[must_use]
    #[inline]
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A move, as numbered by the engine. The same move of two roles may have one id or two: compare only moves of one
/// role.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MoveId(pub u32);

/// The goal of a role in a state: 0 to 100.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Goal(u8);

impl Goal {
    /// The goal with this value, if it is in range.
    #[must_use]
    #[inline]
    pub fn new(value: i64) -> Option<Goal> {
        (0..=100).contains(&value).then_some(Goal(value as u8))
    }

    /// The value, 0 to 100.
    #[must_use]
    #[inline]
    pub fn value(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One move per role, in the order of the roles.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct JointMove(Box<[MoveId]>);

impl JointMove {
    /// A joint move from the moves of all roles, in order.
    pub fn new(moves: impl IntoIterator<Item = MoveId>) -> JointMove {
        JointMove(moves.into_iter().collect())
    }

    /// The moves of all roles, in order.
    #[must_use]
    #[inline]
    pub fn moves(&self) -> &[MoveId] {
        &self.0
    }

    /// The moves of all roles, to be overwritten without a new allocation.
    #[inline]
    pub fn moves_mut(&mut self) -> &mut [MoveId] {
        &mut self.0
    }

    /// The move of one role.
    #[must_use]
    #[inline]
    pub fn of(&self, role: RoleId) -> MoveId {
        self.0[role.idx()]
    }
}

/// A state of a game, opaque outside the engine that made it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct State(Box<[u64]>);

impl State {
    /// A state with these words.
    #[must_use]
    pub fn from_words(words: Box<[u64]>) -> State {
        State(words)
    }

    /// The words of the state.
    #[must_use]
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Overwrites the state with these words, without a new allocation if the length is the same.
    #[inline]
    pub fn set_words(&mut self, words: &[u64]) {
        if self.0.len() == words.len() {
            self.0.copy_from_slice(words);
        } else {
            self.0 = words.into();
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State(")?;
        for word in &self.0 {
            write!(f, "{word:016x} ")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_0_to_100() {
        let values = [-1, 0, 50, 100, 101].map(|value| Goal::new(value).map(Goal::value));
        assert_eq!(values, [None, Some(0), Some(50), Some(100), None]);
    }

    #[test]
    fn set_words_replaces_the_state() {
        let mut state = State::default();
        for words in [&[1, 2][..], &[3, 4], &[], &[5]] {
            state.set_words(words);
            assert_eq!(state, State::from_words(words.into()));
        }
    }

    #[test]
    fn roles_index_joint_moves() {
        let joint = JointMove::new([MoveId(7), MoveId(3)]);
        let moves: Vec<MoveId> = RoleId::all(2).map(|role| joint.of(role)).collect();
        assert_eq!(moves, joint.moves());
    }
}
