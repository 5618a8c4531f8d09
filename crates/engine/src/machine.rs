//! What every engine can do with one state on one thread: the trait [`Machine`].
//!
//! A machine is scratch memory that holds one state. Load a state, ask about it, step on. Validity of the rules was
//! settled when the game was built, so nothing here returns a `Result`; an engine that can still fail on one state
//! (the interpreter, when a hostile sheet exceeds its budget) answers as if nothing held and keeps the reason in
//! [`Machine::take_fault`].

use std::error::Error;

use crate::state::{Goal, JointMove, MoveId, RoleId, State};

/// Why a machine could not answer.
pub type Fault = Box<dyn Error + Send + Sync>;

/// One state, one thread.
pub trait Machine {
    /// Goes to this state.
    fn load(&mut self, state: &State);

    /// The state it is in.
    fn state(&self) -> State;

    /// Whether the match is over in this state.
    fn is_terminal(&self) -> bool;

    /// The legal moves of a role, each once, in an order that depends on the state only. Empty where the rules give a
    /// role no move.
    fn legal_moves(&mut self, role: RoleId) -> &[MoveId];

    /// What this state is worth to a role, if exactly one whole number from 0 to 100 can be derived.
    fn goal(&mut self, role: RoleId) -> Option<Goal>;

    /// Every value that can be derived as the goal of a role, as the sheet spells it, sorted.
    fn goals(&mut self, role: RoleId) -> Vec<String>;

    /// Goes to the state after this joint move.
    fn advance(&mut self, joint: &JointMove);

    /// Why one of the answers since the last call was not the true one; `None`, always, from engines that cannot fail.
    fn take_fault(&mut self) -> Option<Fault> {
        None
    }
}
