//! Errors and limits of grounding.

use thiserror::Error;

/// Limits of grounding. All of them are counts, not times, so grounding stops at the same point on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroundLimits {
    /// Maximum number of ground rules.
    pub rules: u64,
    /// Maximum size of all tuples and rules, in bytes.
    pub bytes: u64,
    /// Maximum number of join steps: rows visited and terms built to find all atoms, over all attempts. Three bytes that
    /// an attempt stores count as a step too.
    pub steps: u64,
    /// Maximum nesting depth of a term. It stops recursion that builds ever larger terms.
    pub depth: u32,
}

impl Default for GroundLimits {
    fn default() -> GroundLimits {
        GroundLimits {
            rules: 20_000_000,
            bytes: 1 << 29,
            steps: 70_000_000,
            depth: 1000,
        }
    }
}

/// Why grounding stopped.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GroundError {
    /// The ground program would exceed a limit. The interpreter can still play such a game.
    #[error("too large to ground: the rule on line {line} exceeds the limit on {what}\n{rule}")]
    TooLarge {
        /// The limit that was exceeded.
        what: &'static str,
        /// The rule that was being instantiated at the limit.
        rule: String,
        /// The line of the rule in the source, from 1.
        line: u32,
    },
    /// An atom depends on its own negation.
    #[error("not stratified: {cycle}")]
    Unstratified {
        /// The atoms of the cycle, as text.
        cycle: String,
    },
    /// The caller's `stop` returned true.
    #[error("grounding was stopped while instantiating the rule on line {line}\n{rule}")]
    Stopped {
        /// The rule that was being instantiated.
        rule: String,
        /// The line of the rule in the source, from 1.
        line: u32,
    },
}
