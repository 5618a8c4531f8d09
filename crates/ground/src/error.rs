//! Why a game does not ground.

use thiserror::Error;

/// Bounds on grounding, counted, never measured: the same sheet stops at the same place on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroundLimits {
    /// Most ground rules.
    pub rules: u64,
    /// Most bytes of tuples and rules together.
    pub bytes: u64,
    /// Most join steps: rows looked at while instantiating rules.
    pub steps: u64,
    /// Deepest nesting of functions in a term; recursion that builds ever larger terms ends here.
    pub depth: u32,
}

impl Default for GroundLimits {
    fn default() -> GroundLimits {
        GroundLimits {
            rules: 20_000_000,
            bytes: 1 << 29,
            steps: 40_000_000,
            depth: 1000,
        }
    }
}

/// Why grounding stopped.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GroundError {
    /// The ground program would be larger than a limit allows; a game like this is played by the interpreter.
    #[error("grounding stopped at its limit of {what}: the rule on line {line} explodes\n{rule}")]
    TooLarge {
        /// The limit that was reached.
        what: &'static str,
        /// The rule that took most of the work.
        rule: String,
        /// Its line in the source, from 1.
        line: u32,
    },
    /// An atom depends on its own negation.
    #[error("not stratified: {cycle}")]
    Unstratified {
        /// The atoms of the cycle, in words.
        cycle: String,
    },
    /// The caller asked to stop.
    #[error("grounding was stopped while the rule on line {line} was at work\n{rule}")]
    Stopped {
        /// The rule that was being instantiated.
        rule: String,
        /// Its line in the source, from 1.
        line: u32,
    },
}
