//! A chosen move, and why.

use agon_engine::MoveId;

use crate::report::Report;

/// What a bot decides.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// The move.
    pub mv: MoveId,
    /// How it came to it.
    pub report: Report,
}
