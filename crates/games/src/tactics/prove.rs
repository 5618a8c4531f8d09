//! Proofs by full-width search: can a side make sure of a goal within a number of steps?
//!
//! An AND/OR search without any heuristic: one side needs one good move in each of its states, the other side is given
//! all of its moves. States that were looked at before are remembered with the number of steps for which the answer is
//! known, and moves that decided a sibling are tried first. A state that is not terminal when the steps are used up
//! counts against the side that has something to prove.

use std::collections::HashMap;

use agon_engine::{Game, Goal, JointMove, Machine, MoveId, RoleId, State};
use thiserror::Error;

/// Why a question has no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Unproven {
    /// More steps of the engine than allowed.
    #[error("the proof takes too long")]
    TooLong,
    /// Two roles choose at the same time.
    #[error("two roles choose at the same time")]
    Simultaneous,
    /// A role has no legal move, or a terminal state has no goal.
    #[error("a state has no moves or no goals")]
    Dead,
}

/// What one side tries to make sure of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wish {
    /// The role itself: a goal of at least this value.
    Reach(u8),
    /// All other roles: that the goal of the role stays below this value.
    Prevent(u8),
}

impl Wish {
    fn is_met(self, goal: Goal) -> bool {
        match self {
            Wish::Reach(value) => goal.value() >= value,
            Wish::Prevent(value) => goal.value() < value,
        }
    }
}

/// What is known of a state.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The wish is forced within this many steps; 0 if not known.
    yes: u32,
    /// It is not forced within this many steps; 0 if not known.
    no: u32,
    /// The move that decided.
    best: Option<MoveId>,
}

/// Answers questions about one game from the point of view of one role.
pub struct Prover<'g> {
    game: &'g Game,
    role: RoleId,
    machine: Box<dyn Machine + Send>,
    known: HashMap<(Wish, State), Known>,
    /// The last deciding move by remaining steps and side.
    killers: HashMap<(Wish, u32), MoveId>,
    steps_left: u64,
}

impl<'g> Prover<'g> {
    /// A prover that may take `most` steps of the engine in all.
    #[must_use]
    pub fn new(game: &'g Game, role: RoleId, most: u64) -> Prover<'g> {
        Prover {
            game,
            role,
            machine: game.machine(),
            known: HashMap::new(),
            killers: HashMap::new(),
            steps_left: most,
        }
    }

    /// How many steps of the engine are left.
    #[must_use]
    pub fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// The state after a move of the role.
    ///
    /// # Errors
    /// If another role has a choice at the same time.
    pub fn after(&mut self, state: &State, mv: MoveId) -> Result<State, Unproven> {
        self.machine.load(state);
        let turn = Turn::of(self.game, &mut *self.machine)?;
        if turn.mover != self.role {
            return Err(Unproven::Simultaneous);
        }
        self.child(state, &turn, mv)
    }

    /// Whether the wish can be forced within `plies` steps.
    ///
    /// # Errors
    /// If that takes too long, or the game is not one for this prover.
    pub fn forces(&mut self, state: &State, wish: Wish, plies: u32) -> Result<bool, Unproven> {
        self.machine.load(state);
        if self.machine.is_terminal() {
            let goal = self.machine.goal(self.role).ok_or(Unproven::Dead)?;
            return Ok(wish.is_met(goal));
        }
        if plies == 0 {
            return Ok(false);
        }
        let key = (wish, state.clone());
        let known = self.known.get(&key).copied().unwrap_or_default();
        if known.yes > 0 && known.yes <= plies {
            return Ok(true);
        }
        if known.no >= plies {
            return Ok(false);
        }
        let turn = Turn::of(self.game, &mut *self.machine)?;
        let is_attacker = (turn.mover == self.role) == matches!(wish, Wish::Reach(_));
        let mut moves = turn.moves.clone();
        for first in [self.killers.get(&(wish, plies)).copied(), known.best] {
            if let Some(idx) = moves.iter().position(|&mv| Some(mv) == first) {
                moves[..=idx].rotate_right(1);
            }
        }
        let mut known = known;
        let mut is_forced = !is_attacker;
        for &mv in &moves {
            let child = self.child(state, &turn, mv)?;
            if self.forces(&child, wish, plies - 1)? == is_attacker {
                is_forced = is_attacker;
                known.best = Some(mv);
                self.killers.insert((wish, plies), mv);
                break;
            }
        }
        match is_forced {
            true => known.yes = plies,
            false => known.no = plies,
        }
        self.known.insert(key, known);
        Ok(is_forced)
    }

    fn child(&mut self, state: &State, turn: &Turn, mv: MoveId) -> Result<State, Unproven> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Unproven::TooLong)?;
        self.machine.load(state);
        self.machine.advance(&turn.joint(mv));
        Ok(self.machine.state())
    }
}

/// Whose turn it is in a state.
pub(super) struct Turn {
    pub(super) mover: RoleId,
    pub(super) moves: Vec<MoveId>,
    /// The joint move with any move of the mover.
    joint: Vec<MoveId>,
}

impl Turn {
    /// The role with a choice in the state of the machine; the first one if there is none.
    pub(super) fn of(game: &Game, machine: &mut dyn Machine) -> Result<Turn, Unproven> {
        let mut joint = Vec::new();
        let mut mover = None;
        for role in game.roles() {
            let moves = machine.legal_moves(role);
            joint.push(*moves.first().ok_or(Unproven::Dead)?);
            if moves.len() > 1 && mover.replace(role).is_some() {
                return Err(Unproven::Simultaneous);
            }
        }
        let mover = mover.unwrap_or(RoleId(0));
        let moves = machine.legal_moves(mover).to_vec();
        Ok(Turn {
            mover,
            moves,
            joint,
        })
    }

    pub(super) fn joint(&self, mv: MoveId) -> JointMove {
        let mut joint = self.joint.clone();
        joint[self.mover.idx()] = mv;
        JointMove::new(joint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state after these moves of x and o in turn, and a prover for the role to move.
    fn check(moves: &[&str], wish: Wish, within: u32) {
        let game = crate::load("tic_tac_toe").expect("it is built in");
        let mut machine = game.machine();
        for (idx, mv) in moves.iter().enumerate() {
            let texts = if idx % 2 == 0 {
                [mv, "wait"]
            } else {
                ["wait", mv]
            };
            machine.advance(&game.joint_move(&texts).expect("they are moves"));
        }
        let mut prover = Prover::new(&game, RoleId((moves.len() % 2) as u16), 1_000_000);
        let state = machine.state();
        for plies in 0..=9 {
            let expected = plies >= within;
            assert_eq!(prover.forces(&state, wish, plies), Ok(expected), "{plies}");
        }
    }

    #[test]
    fn wins_and_losses_are_found_in_as_many_plies_as_they_take() {
        let (one, three) = (["(mark 1 1)", "(mark 3 3)", "(mark 1 2)", "(mark 3 2)"], 3);
        check(&one, Wish::Reach(100), 1);
        // Opposite corners against the centre are held; an edge beside a corner is not.
        check(&one[..1], Wish::Prevent(51), 8);
        check(&["(mark 1 1)", "(mark 1 2)"], Wish::Reach(100), 5);
        check(
            &["(mark 2 2)", "(mark 1 2)", "(mark 1 1)", "(mark 3 3)"],
            Wish::Reach(100),
            three,
        );
    }

    #[test]
    fn a_proof_has_a_bound() {
        let game = crate::load("tic_tac_toe").expect("it is built in");
        let mut prover = Prover::new(&game, RoleId(0), 100);
        let found = prover.forces(game.initial_state(), Wish::Reach(50), 9);
        assert_eq!(found, Err(Unproven::TooLong));
        let game = crate::load("roshambo").expect("it is built in");
        let mut prover = Prover::new(&game, RoleId(0), 100);
        let found = prover.forces(game.initial_state(), Wish::Reach(50), 9);
        assert_eq!(found, Err(Unproven::Simultaneous));
    }
}
