//! Agon in the browser: a page that takes any rulesheet, draws it, plays it and shows what it thinks.
//!
//! ```text
//! browser ──▶ guard ──▶ api ──▶ service ─┬─ library   games, compiled, with their boards (layout, scene, touch, view)
//!    ▲                                   ├─ play      matches: the referee of `arena`, people and bots in its seats (seat)
//!    └── live ◀── news ──────────────────┼─ queue     searches in turn, with fair shares of the cores
//!                                        ├─ jobs      analyses that pages listen to
//!                                        └─ host      tournaments and their stores; own_player plays for managers
//! ```
//!
//! `docs/API.md` has the JSON that goes over the wire.
//!
//! **Invariant:** holds no rule of any game: matches, searches and boards come through the doors of `arena`, `search` and `games`.
//! **Invariant:** a client that cannot guess an id or a token sees and changes nothing of a match.
//! **Invariant:** sessions, searches, connections, bodies and files are bounded; a client beyond a bound is told so.
//! **Invariant:** nothing of a rulesheet or a name becomes HTML here; answers are JSON or files of the build.

mod api;
mod belief_seat;
mod config;
mod ending;
mod error;
mod floor;
mod guard;
mod host;
mod ids;
mod jobs;
mod layout;
mod library;
mod live;
mod own_player;
mod pages;
mod play;
mod queue;
mod record;
mod row;
mod scene;
mod seat;
mod server;
mod service;
mod shelf;
mod sight;
mod think;
mod touch;
mod view;
mod writing;

pub use config::{Analyse, Analysis, AnalysisFinding, Config, Hooks};
pub use server::Server;
pub use think::TechniqueWords;
pub use writing::{Finding, FindingEdit, FindingFix, FindingLabel};
