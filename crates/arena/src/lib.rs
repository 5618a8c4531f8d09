//! The game manager of Agon: it plays matches between players and records them.
//!
//! ```text
//! Game, Seats, Settings ── Referee::play ──▶ MatchRecord ── replay ──▶ the same match, checked
//! ```
//!
//! A match with a player that cannot be reached or does not answer START is void. A player that stops answering forfeits.
//! `docs/MATCHES.md` has the rules.
//!
//! **Invariant:** this crate knows players only by their answers. It never names a search, and cannot distinguish a player
//! in this process from a remote player.
//! **Invariant:** no answer of a player stops the referee. Every fault is in the record.
//! **Invariant:** a [`MatchRecord`] is valid at any time, also that of an interrupted match.

mod judge;
mod record;
mod referee;
mod replay;
mod seat;
mod table;

pub use record::{
    Absence, Details, Ending, FaultCounts, FaultKind, FaultRecord, ForfeitRecord, MatchRecord,
    SeatRecord, ThoughtRecord, WeighedRecord, rules_hash,
};
pub use referee::{Event, Referee, Settings};
pub use replay::{Course, ReplayError, course, replay};
pub use seat::{About, Seat};
pub use table::panic_words;
