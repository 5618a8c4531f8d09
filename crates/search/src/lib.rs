//! The bots of Agon: each chooses a move for a role in a state of any game.
//!
//! ```text
//! Preset::parse("mc:most_steps=500") ── Preset::bot ──▶ Bot ── think, within Limits ──▶ Decision
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use agon_engine::{Game, RoleId};
//! use agon_search::{Limits, Preset};
//!
//! let sheet = br"(role you) (init ready) (legal you win) (legal you lose)
//!     (<= (next won) (does you win)) (<= (next lost) (does you lose))
//!     (<= terminal (not (true ready))) (<= (goal you 100) (true won)) (<= (goal you 0) (true lost))";
//! let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).unwrap();
//! let game = Arc::new(Game::compile(Arc::new(rules), &Default::default(), &|| false).unwrap());
//! let mut bot = Preset::parse("mc").unwrap().bot(&game, 1);
//! let decision = bot.think(game.initial_state(), RoleId(0), &Limits::playouts(10), &mut |_| {});
//! assert_eq!(game.move_text(RoleId(0), decision.of), "win");
//! ```
//!
//! **Invariant:** this crate does no I/O, prints nothing, reads no environment and owns no global state.
//! **Invariant:** its only clock is [`Limits`], its only randomness [`Random`]. The same seed with a limit in playouts or
//! transitions gives the same decision on every machine.

#![cfg_attr(
    test,
    expect(
        clippy::needless_pass_by_value,
        reason = "tests give their expectations away"
    )
)]

mod amaf;
mod auto;
mod backup;
mod batch;
mod bot;
pub mod bots;
mod cutoff;
mod decide;
mod decision;
mod fast;
mod flight;
mod guide;
mod heuristic;
mod limits;
mod mast;
mod nst;
mod openings;
mod params;
mod pilot;
mod playout;
mod preset;
mod prune;
mod puct;
mod puzzle;
mod random;
mod rave;
mod replay;
mod report;
mod scores;
mod select;
mod sightings;
mod solve;
mod sweep;
mod tree;
mod trial;
mod uct;
mod urgency;
mod value;
mod walker;
mod workers;

pub use auto::AutoBot;
pub use bot::Bot;
pub use decision::Decision;
pub use limits::{Limits, Meter, StopReason};
pub use params::{
    Backup, FastKind, FinalMove, GoalChange, HeuristicGoals, HeuristicTree, HeuristicUse, Knob,
    MastChoice, MastInTree, ParamError, Params, PlayoutKind, RaveBonus, RaveKind, Simultaneous,
    UrgencyDiscount, Values,
};
pub use preset::{PRESETS, Preset, PresetError, PresetInfo};
pub use random::Random;
pub use report::{Account, HeuristicAccount, MoveAccount, MoveReport, Report, TreeAccount};
pub use uct::UctBot;
pub use value::Count;
