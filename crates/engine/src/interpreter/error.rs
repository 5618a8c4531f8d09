//! Errors and limits of the interpreter.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Asked at bounded intervals, by count, while the interpreter works; once it returns true, the work ends.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// Limits on the work for one query (the legal moves of a role, the next state, …). The defaults are far above what
/// real rulesheets need, and low enough that a hostile one ends within seconds and fits into a few hundred megabytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum number of inference steps.
    pub steps: u64,
    /// Maximum number of new calls, answers and waiting conditions. Those with many values count several times.
    pub tuples: usize,
    /// Maximum number of distinct ground terms over all states. Terms with many arguments count several times.
    pub terms: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            steps: 400_000_000,
            tuples: 2_000_000,
            terms: 2_000_000,
        }
    }
}

/// A resource that is limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// Inference steps: see [`Limits::steps`].
    Steps,
    /// Answers: see [`Limits::tuples`].
    Tuples,
    /// Terms: see [`Limits::terms`].
    Terms,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Steps => "inference steps",
            Resource::Tuples => "derived facts",
            Resource::Terms => "different terms",
        })
    }
}

/// Why the interpreter has no answer. The machine that reported it stays usable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InterpreterError {
    /// The query needs more than the [`Limits`] allow.
    Budget {
        /// Line of the rule that was being evaluated.
        line: u32,
        /// The exhausted resource.
        resource: Resource,
    },
    /// Whether a condition holds depends on its own negation.
    NegativeLoop {
        /// Line of the rule with the negation.
        line: u32,
    },
    /// A variable of a rule is unbound in every order of its conditions. [`agon_gdl::check`] rejects such rules, so
    /// this is a bug in Agon, not in the sheet.
    Unsafe {
        /// Line of the rule.
        line: u32,
    },
    /// The work is no longer wanted: see [`Stop`].
    Stopped,
    /// The game has more roles than a [`crate::RoleId`] can number.
    TooManyRoles,
}

impl fmt::Display for InterpreterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterpreterError::Budget { line, resource } => {
                write!(
                    f,
                    "the interpreter exceeded its limit on {resource} while evaluating the rule on line {line}"
                )
            }
            InterpreterError::NegativeLoop { line } => {
                write!(
                    f,
                    "the negation in the rule on line {line} depends on its own result"
                )
            }
            InterpreterError::Unsafe { line } => {
                write!(f, "a variable of the rule on line {line} is never bound")
            }
            InterpreterError::Stopped => f.write_str("the interpreter was stopped"),
            InterpreterError::TooManyRoles => f.write_str("the game has more than 65535 roles"),
        }
    }
}

impl Error for InterpreterError {}
