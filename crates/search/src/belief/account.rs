//! What a belief can tell about itself, as values. Words are made where they are printed.

/// What a belief consists of, and what it took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BeliefAccount {
    /// Possible histories that are kept.
    pub particles: usize,
    /// Whether they are all that there are.
    pub is_exact: bool,
    /// Effective number of particles: 1 / Σ weight².
    pub effective: f64,
    /// Share of the tried joint moves of the last step that agreed with what was seen.
    pub consistent_share: f64,
    /// Times that histories were searched for from the beginning.
    pub refills: u64,
    /// Histories that these searches found.
    pub refilled: u64,
    /// Whether what was seen has no explanation, or none was found: it guesses.
    pub is_lost: bool,
    /// Steps of the match so far.
    pub steps: usize,
    /// Information sets in the tree.
    pub nodes: usize,
}
