//! What a bot can tell about its thinking, on the way and at its end.

use std::time::Duration;

use agon_engine::MoveId;

use crate::limits::StopReason;

/// How thinking went so far.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Finished random games.
    pub playouts: u64,
    /// States stepped through.
    pub transitions: u64,
    /// Time since it began to think.
    pub time: Duration,
    /// What the role can expect, 0 to 100, if the bot has an opinion.
    pub value: Option<f64>,
    /// The moves it weighed, best first; bots that weigh nothing leave it empty.
    pub moves: Vec<MoveReport>,
    /// Why it stopped, once it has.
    pub stop: Option<StopReason>,
}

/// What a bot thinks of a move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveReport {
    /// The move.
    pub of: MoveId,
    /// How often it was tried.
    pub visits: u64,
    /// Mean goal of the role after it, 0 to 100; 0 if it was never tried.
    pub mean: f64,
}
