//! Checks a record against the rules: plays its moves again and compares.
//!
//! In: a game and a record of ours or of another manager. Out: nothing, or the first difference. Errors, times and search
//! statistics are not checked. [`course`] makes the states of a record from its moves.

use std::collections::BTreeSet;

use agon_engine::{Game, JointMove, Machine, RoleId};
use agon_protocol::Term;
use thiserror::Error;

use crate::record::{Ending, MatchRecord};
use crate::referee::{goals_after, state_text};

/// A difference between a record and the rules.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ReplayError {
    /// There must be one state more than there are steps.
    #[error("there are {states} states and {steps} steps")]
    Lengths {
        /// Number of states.
        states: usize,
        /// Number of steps.
        steps: usize,
    },
    /// A state differs.
    #[error("state {step} differs from the rules: {difference}")]
    State {
        /// Its number, from 0.
        step: usize,
        /// A fluent that is in only one of the two states.
        difference: String,
    },
    /// A step has too many or too few moves.
    #[error("step {step} has {found} moves")]
    Moves {
        /// Its number, from 1.
        step: usize,
        /// Its number of moves.
        found: usize,
    },
    /// A move is not legal.
    #[error("step {step}: `{mv}` is not legal for {role}")]
    Illegal {
        /// Number of the step, from 1.
        step: usize,
        /// The role.
        role: String,
        /// The move.
        mv: String,
    },
    /// The record goes on after a terminal state, or ends in a state that is not terminal.
    #[error("the match ends in a different state")]
    End,
    /// What a role saw differs.
    #[error("step {step}: {role} sees {expected:?}, not {found:?}")]
    Percepts {
        /// Number of the step, from 1.
        step: usize,
        /// The role.
        role: String,
        /// What it sees by the rules.
        expected: Vec<String>,
        /// What it saw in the record.
        found: Vec<String>,
    },
    /// The goals differ.
    #[error("the goals are {expected:?}, not {found:?}")]
    Goals {
        /// The goals by the rules.
        expected: Option<Vec<u8>>,
        /// The goals of the record.
        found: Option<Vec<u8>>,
    },
}

/// Plays a record again.
///
/// # Errors
/// The first difference.
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
            let details = record.agon.as_ref();
            if let Some(row) = details.and_then(|details| details.percepts.get(step)) {
                compare_percepts(game, &mut *machine, (step + 1, &joint), row)?;
            }
            machine.advance(&joint);
        }
    }
    let ending = record.agon.as_ref().map(|details| &details.ending);
    let is_decided = matches!(ending, Some(Ending::Forfeit { .. } | Ending::Void { .. }));
    if !is_decided && machine.is_terminal() != record.is_completed {
        return Err(ReplayError::End);
    }
    let roles = 0..game.n_roles();
    let has_forfeited: Vec<bool> = roles.map(|idx| record.has_forfeited(idx)).collect();
    let expected = goals_after(game, &mut *machine, &has_forfeited);
    let expected = expected.filter(|_| record.is_completed);
    if expected == record.goal_values {
        Ok(())
    } else {
        let found = record.goal_values.clone();
        Err(ReplayError::Goals { expected, found })
    }
}

/// The course of a match by its moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Course {
    /// The states in the form of match records, the initial one first.
    pub states: Vec<String>,
    /// Whether the last one is terminal.
    pub is_terminal: bool,
    /// The goals of the last state, if it is terminal and the rules give them.
    pub goal_values: Option<Vec<u8>>,
}

/// Plays moves from the initial state, up to the first that is not legal.
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
    let goal_values = goals_after(game, &mut *machine, &vec![false; game.n_roles()]);
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

fn compare_percepts(
    game: &Game,
    machine: &mut dyn Machine,
    (step, joint): (usize, &JointMove),
    row: &[Vec<String>],
) -> Result<(), ReplayError> {
    let set = |texts: Vec<String>| -> BTreeSet<String> {
        let plain = |text: String| Term::read(&text).map_or(text, |term| term.to_string());
        texts.into_iter().map(plain).collect()
    };
    for (role, seen) in game.roles().zip(row) {
        let percepts = machine.percepts(role, joint).iter();
        let expected = set(percepts.map(|&id| game.percept_name(id)).collect());
        let found = set(seen.clone());
        if expected != found {
            return Err(ReplayError::Percepts {
                step,
                role: game.role_name(role),
                expected: expected.into_iter().collect(),
                found: found.into_iter().collect(),
            });
        }
    }
    Ok(())
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
        let legal = legal.map(|&mv| (mv, game.move_text(role, mv)));
        let mv = Term::read(text).ok().and_then(|term| term.pick(legal));
        joint.push(mv.ok_or_else(|| ReplayError::Illegal {
            step,
            role: game.role_name(role),
            mv: text.clone(),
        })?);
    }
    Ok(JointMove::new(joint))
}
