//! A chosen move, and why.

use agon_engine::MoveId;

use crate::limits::{Meter, StopReason};
use crate::report::Report;

/// What a bot decides.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// The move.
    pub mv: MoveId,
    /// How it came to it.
    pub report: Report,
}

impl Decision {
    /// A decision that took no thought.
    pub(crate) fn at_once(mv: MoveId, meter: &Meter<'_>, stop: StopReason) -> Decision {
        Decision {
            mv,
            report: Report {
                playouts: meter.n_playouts(),
                transitions: meter.n_transitions(),
                time: meter.elapsed(),
                value: None,
                moves: Vec::new(),
                stop: Some(stop),
            },
        }
    }
}
