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
//! assert_eq!(game.move_text(RoleId(0), decision.mv), "win");
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

mod account;
mod auto;
mod belief;
mod belief_bot;
mod belief_match;
mod bot;
pub mod bots;
mod bounds;
mod decide;
mod decision;
mod edge;
mod episode;
mod evaluators;
mod exploitability;
mod lane_policy;
mod legal;
mod limits;
mod match_loop;
pub mod model;
mod node;
mod params;
mod plan;
mod policy;
mod pool;
mod preset;
mod preset_list;
mod prior;
mod prune;
mod puzzle;
mod random;
mod report;
mod scores;
mod searcher;
mod select;
mod simulation;
mod softmax;
mod solve;
mod sweep;
mod techniques;
mod tree;
mod uct;
mod value;
mod walker;

pub use account::{
    Account, ContestAccount, CutoffAccount, CutoffVerdict, DecisiveAccount, EvaluationAccount,
    FastAccount, FeatureKind, FeatureWeight, HeuristicAccount, MoveAccount, NetworkAccount,
    NetworkOrigin, NetworkScore, NoLanes, RaveAccount, SolverAccount, Status, SweepAccount,
    TechniqueAccount, TimeAccount, TreeAccount,
};
pub use auto::{AutoBot, Candidate};
pub use belief::{BeliefAccount, ViewKey};
pub use belief_bot::BeliefBot;
pub use belief_match::play_belief_match;
pub use bot::Bot;
pub use decision::Decision;
pub use exploitability::{Exploitability, ExploitabilityError, Strategy, exploitability};
pub use limits::{Limits, Meter, StopReason};
pub use match_loop::{MatchEnd, MatchOutcome, Turn, play_match};
pub use params::{
    Backup, EvaluatorKind, FastKind, FinalMove, HeuristicTree, HeuristicUse, MastChoice,
    MastInTree, NetworkUse, ParamError, ParamInfo, Params, PlayoutKind, RaveBonus, RaveKind,
    Simultaneous, UrgencyDiscount, Values,
};
pub use preset::{LoadModel, Preset, PresetError};
pub use preset_list::{PRESETS, PresetInfo};
pub use random::Random;
pub use report::{MoveReport, Report};
pub use uct::UctBot;
pub use value::Count;
