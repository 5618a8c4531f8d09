//! The trait [`Machine`]: what every engine can do with one state on one thread.
//!
//! A machine is scratch memory that holds one state: load a state, query it, advance. The rules were validated when the
//! game was compiled, so nothing here returns a `Result`. An engine that can still fail on a state (the interpreter,
//! when a hostile sheet exceeds its budget) answers as if nothing held, and reports the reason in
//! [`Machine::take_fault`].

use std::error::Error;

use crate::percepts::PerceptId;
use crate::state::{Goal, JointMove, MoveId, RoleId, State};

/// Why a machine could not answer.
pub type Fault = Box<dyn Error + Send + Sync>;

/// An engine in one state, on one thread.
pub trait Machine {
    /// Moves to this state.
    fn load(&mut self, state: &State);

    /// The current state.
    fn state(&self) -> State;

    /// Whether the state is terminal.
    fn is_terminal(&self) -> bool;

    /// The legal moves of a role, without duplicates, in an order that depends only on the state. Empty if the rules
    /// give the role no move.
    fn legal_moves(&mut self, role: RoleId) -> &[MoveId];

    /// A legal move of a role, found as soon as possible; `None` if there is none. An engine may find it long before it
    /// knows all legal moves.
    fn some_legal_move(&mut self, role: RoleId) -> Option<MoveId> {
        self.legal_moves(role).first().copied()
    }

    /// Whether a move of a role is legal. An engine may know that without deriving all legal moves.
    fn is_legal(&mut self, role: RoleId, mv: MoveId) -> bool {
        self.legal_moves(role).contains(&mv)
    }

    /// The goal of a role in this state, if exactly one integer from 0 to 100 can be derived.
    fn goal(&mut self, role: RoleId) -> Option<Goal>;

    /// Every value that can be derived as the goal of a role, as spelled in the sheet, sorted.
    fn goals(&mut self, role: RoleId) -> Vec<String>;

    /// What a role sees when this joint move is made in this state, sorted by id. In a game of GDL-I that is the move of
    /// every role. Everything else that the role knows are its own moves.
    fn percepts(&mut self, role: RoleId, joint: &JointMove) -> &[PerceptId];

    /// Moves to the state after this joint move.
    fn advance(&mut self, joint: &JointMove);

    /// Why an answer since the last call was wrong. Engines that cannot fail always return `None`.
    fn take_fault(&mut self) -> Option<Fault> {
        None
    }
}
