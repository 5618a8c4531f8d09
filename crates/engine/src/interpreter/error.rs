//! What can keep the interpreter from an answer, and the bounds it works in.

use std::error::Error;
use std::fmt;

/// Bounds on the work for one question (the legal moves of a role, the next state, …). The defaults are far above what
/// any real rulesheet needs, and low enough that a hostile one ends in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most steps of inference.
    pub steps: u64,
    /// Most new calls, answers and waiting conditions.
    pub tuples: usize,
    /// Most different ground terms over all states.
    pub terms: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            steps: 400_000_000,
            tuples: 2_000_000,
            terms: 8_000_000,
        }
    }
}

/// What a budget was spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// Steps of inference: see [`Limits::steps`].
    Steps,
    /// Answers: see [`Limits::tuples`].
    Tuples,
    /// Terms: see [`Limits::terms`].
    Terms,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Steps => "steps of inference",
            Resource::Tuples => "derived facts",
            Resource::Terms => "different terms",
        })
    }
}

/// Why the interpreter has no answer. The machine that gave it stays usable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InterpreterError {
    /// The question needs more than the [`Limits`] allow.
    Budget {
        /// Line of the rule at work when the budget ran out.
        line: u32,
        /// What ran out.
        resource: Resource,
    },
    /// Whether a condition holds depends on its own negation.
    NegativeLoop {
        /// Line of the rule with the negation.
        line: u32,
    },
    /// A variable of a rule stays without a value in every order of its conditions. [`agon_gdl::check`] refuses such
    /// rules, so this is a flaw of ours, not of the sheet.
    Unsafe {
        /// Line of the rule.
        line: u32,
    },
    /// The game has more roles than a [`crate::RoleId`] can number.
    TooManyRoles,
}

impl fmt::Display for InterpreterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterpreterError::Budget { line, resource } => {
                write!(
                    f,
                    "too many {resource}; the rule in line {line} was at work when the budget ran out"
                )
            }
            InterpreterError::NegativeLoop { line } => {
                write!(
                    f,
                    "the negation in the rule in line {line} depends on its own outcome"
                )
            }
            InterpreterError::Unsafe { line } => {
                write!(
                    f,
                    "a variable of the rule in line {line} never gets a value"
                )
            }
            InterpreterError::TooManyRoles => f.write_str("the game has more than 65535 roles"),
        }
    }
}

impl Error for InterpreterError {}
