//! Networks for any game, trained by self-play on a CPU in minutes.
//!
//! ```text
//!           ┌──────────── network ───────────┐
//! self_play │ games at once in the lanes     │ gradient
//!           └─ samples ─▶ window ─ batches ──┘ Adam
//! Training ─ chunk by chunk: events, checkpoints, alarms ─▶ Model
//! ```
//!
//! The network itself, and how a search uses it, are in `agon_search::model`. Here are self-play, training, and the alarm that goes
//! off when self-play has nothing more to teach.
//!
//! **Invariant:** this crate does no I/O, prints nothing and reads no environment; its only clock is that of the start clock (`bot`).
//! **Invariant:** the same seed, the same number of threads and a limit in positions give the same network on every machine.

mod alarm;
mod bot;
pub mod contest;
mod gradient;
mod options;
mod sample;
mod self_play;
mod training;
mod tree;

pub use alarm::Alarm;
pub use bot::{Learned, LearningBot, Told};
pub use gradient::Losses;
pub use options::Options;
pub use self_play::GameCounts;
pub use training::{Budget, CheckpointError, Progress, Training};
