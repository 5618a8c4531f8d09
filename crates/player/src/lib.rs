//! The player of Agon: requests of a game manager in, replies out.
//!
//! ```text
//! Request ──▶ Lobby ──▶ GamePlayer ──▶ keeper of the match ──▶ bot      each but the first two on a thread of its own
//! Reply   ◀──       ◀──            ◀── a legal move at once ◀── a decision
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use agon_player::{GamePlayer, Settings};
//! use agon_protocol::{Player, StopFlag, codec};
//! use agon_search::Preset;
//!
//! let mut player = GamePlayer::new(Preset::parse("legal").unwrap(), Settings::default());
//! let mut say = |text: &str| {
//!     let request = codec::read_request(text.as_bytes()).unwrap();
//!     codec::write_reply(&player.answer(request, &StopFlag::new()))
//! };
//! let rules = "((role you) (legal you (go 1)) (goal you 50) (<= terminal (true over)))";
//! assert_eq!(say(&format!("(START m you {rules} 10 5)")), "ready");
//! assert_eq!(say("(PLAY m NIL)"), "( go 1 )");
//! assert_eq!(say("(ABORT m)"), "aborted");
//! ```
//!
//! **Invariant:** a PLAY is answered with a legal move before its deadline, whatever the bot does: thinks too long, panics,
//! or chooses what is not legal.
//! **Invariant:** moves are answered in the spelling of the rules as they came.

mod clock;
mod compile;
mod fallback;
mod game_player;
mod http_player;
mod keeper;
mod lobby;
mod ongoing;
mod spelling;
mod thinker;

pub use clock::Budget;
pub use game_player::{GamePlayer, MakeBot, Settings};
pub use http_player::HttpPlayer;
pub use lobby::Lobby;
