//! Is a record consistent with the rules? Plays its moves again and compares.
//!
//! In: a game and a record of ours or of another manager. Out: nothing, or the first thing that does not fit. Errors,
//! times and thoughts are not looked at. [`course`] makes the states of a record from its moves.

use std::collections::BTreeSet;

use agon_engine::{Game, JointMove, Machine, RoleId};
use agon_protocol::Term;
use thiserror::Error;

use crate::record::MatchRecord;
use crate::referee::state_text;

/// What does not fit.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ReplayError {
    /// Lists of different matches: there must be one state more than there are steps.
    #[error("there are {states} states and {steps} steps")]
    Lengths {
        /// Number of states.
        states: usize,
        /// Number of steps.
        steps: usize,
    },
    /// A state is another one.
    #[error("state {step} is another one: {difference}")]
    State {
        /// Its number, from 0.
        step: usize,
        /// A fluent that is in one of the two only.
        difference: String,
    },
    /// A step has a move too many or too few.
    #[error("step {step} has {found} moves")]
    Moves {
        /// Its number, from 1.
        step: usize,
        /// How many it has.
        found: usize,
    },
    /// A move is not legal.
    #[error("step {step}: `{of}` is not legal for {role}")]
    Illegal {
        /// Number of the step, from 1.
        step: usize,
        /// The role.
        role: String,
        /// The move.
        of: String,
    },
    /// It goes on after a terminal state, or is said to be over when it is not.
    #[error("the match is over in another state")]
    End,
    /// The goals are others.
    #[error("the goals are {expected:?}, not {found:?}")]
    Goals {
        /// What the rules say.
        expected: Option<Vec<u8>>,
        /// What the record says.
        found: Option<Vec<u8>>,
    },
}

/// Plays a record again.
///
/// # Errors
/// If something does not fit; the first such thing.
pub fn replay(game: &Game, record: &MatchRecord) -> Result<(), ReplayError> {
    let (states, steps) = (record.states.len(), record.moves.len());
    if states != steps + 1 {
        return Err(ReplayError::Lengths { states, steps });
    }
    let mut machine = game.machine();
    for step in 0..states {
        compare(game, &*machine, step, &record.states[step])?;
        if let Some(moves) = record.moves.get(step) {
            if machine.is_terminal() {
                return Err(ReplayError::End);
            }
            let joint = joint_move(game, &mut *machine, step + 1, moves)?;
            machine.advance(&joint);
        }
    }
    if machine.is_terminal() != record.is_completed {
        return Err(ReplayError::End);
    }
    let goals = RoleId::all(game.n_roles()).map(|role| Some(machine.goal(role)?.value()));
    let expected: Option<Vec<u8>> = goals.collect();
    let expected = expected.filter(|_| record.is_completed);
    if expected == record.goal_values {
        Ok(())
    } else {
        let found = record.goal_values.clone();
        Err(ReplayError::Goals { expected, found })
    }
}

/// How a match went, by its moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Course {
    /// The states, as records have them; the initial one first.
    pub states: Vec<String>,
    /// Whether the last one is terminal.
    pub is_terminal: bool,
    /// What it is worth to each role, if it is terminal and the rules say so.
    pub goal_values: Option<Vec<u8>>,
}

/// Plays moves from the initial state: as many as fit.
#[must_use]
pub fn course(game: &Game, moves: &[Vec<String>]) -> Course {
    let mut machine = game.machine();
    let mut states = vec![state_text(game, &machine.state())];
    for (idx, moves) in moves.iter().enumerate() {
        let Ok(joint) = joint_move(game, &mut *machine, idx + 1, moves) else {
            break;
        };
        machine.advance(&joint);
        states.push(state_text(game, &machine.state()));
    }
    let is_terminal = machine.is_terminal();
    let goals = RoleId::all(game.n_roles()).map(|role| Some(machine.goal(role)?.value()));
    let goal_values: Option<Vec<u8>> = goals.collect();
    Course {
        states,
        is_terminal,
        goal_values: goal_values.filter(|_| is_terminal),
    }
}

fn compare(
    game: &Game,
    machine: &dyn Machine,
    step: usize,
    recorded: &str,
) -> Result<(), ReplayError> {
    let ours: BTreeSet<String> = game.fluents(&machine.state()).into_iter().collect();
    let members = Term::read(recorded).map(|term| term.members());
    let members = members.unwrap_or_default();
    let theirs: BTreeSet<String> = members.iter().map(Term::to_string).collect();
    match ours.symmetric_difference(&theirs).next() {
        None => Ok(()),
        Some(difference) => Err(ReplayError::State {
            step,
            difference: difference.clone(),
        }),
    }
}

fn joint_move(
    game: &Game,
    machine: &mut dyn Machine,
    step: usize,
    moves: &[String],
) -> Result<JointMove, ReplayError> {
    let found = moves.len();
    if found != game.n_roles() {
        return Err(ReplayError::Moves { step, found });
    }
    let mut joint = Vec::with_capacity(found);
    for (role, text) in RoleId::all(found).zip(moves) {
        let legal = machine.legal_moves(role).iter();
        let legal = legal.map(|&of| (of, game.move_text(role, of)));
        let of = Term::read(text).ok().and_then(|term| term.pick(legal));
        joint.push(of.ok_or_else(|| ReplayError::Illegal {
            step,
            role: game.role_name(role),
            of: text.clone(),
        })?);
    }
    Ok(JointMove::new(joint))
}
