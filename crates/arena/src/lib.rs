//! The game manager of Agon: it plays matches between players and records them.
//!
//! ```text
//! Game, Seats, Settings ── Referee::play ──▶ MatchRecord ── replay ──▶ the same match, checked
//! ```
//!
//! **Invariant:** this crate knows players only by what they answer: it never names a search, and cannot tell a player in
//! this process from one far away.
//! **Invariant:** a match goes on whatever a player does. What was wrong is in the record.
//! **Invariant:** a [`MatchRecord`] is valid at any time, also that of a match that was interrupted.

mod judge;
mod record;
mod referee;
mod replay;
mod seat;
mod table;

pub use record::{
    Details, Ending, FaultKind, FaultRecord, MatchRecord, SeatRecord, ThoughtRecord, WeighedRecord,
    rules_hash,
};
pub use referee::{Event, Referee, Settings};
pub use replay::{Course, ReplayError, course, replay};
pub use seat::{About, Seat};
pub use table::panic_words;
