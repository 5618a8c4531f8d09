//! The GGP player of Agon: takes the requests of a game manager and returns replies.
//!
//! ```text
//! Request ──▶ Lobby ──▶ GamePlayer ──▶ match actor         ──▶ bot      actor and bot have a thread each
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
//! let mut send = |text: &str| {
//!     let request = codec::read_request(text.as_bytes()).unwrap();
//!     codec::write_reply(&player.answer(request, &StopFlag::new()))
//! };
//! let rules = "((role you) (legal you (go 1)) (goal you 50) (<= terminal (true over)))";
//! assert_eq!(send(&format!("(START m you {rules} 10 5)")), "ready");
//! assert_eq!(send("(PLAY m NIL)"), "( go 1 )");
//! assert_eq!(send("(ABORT m)"), "aborted");
//! ```
//!
//! **Invariant:** a PLAY is answered with a legal move before its deadline, even if the bot thinks too long, panics, or
//! chooses an illegal move. If no engine has found a legal move by then, the answer is `nil`, never a guess.
//! **Invariant:** joint moves are played in the order in which they were received, whichever engine is ready by then.
//! **Invariant:** moves are spelled as in the rules that were received.

mod bot_thread;
mod clock;
mod compile;
mod fallback;
mod game_player;
mod http_player;
mod interrupts;
mod lobby;
mod match_actor;
mod match_handle;
mod possible;
mod spelling;

pub use clock::Budget;
pub use game_player::{GamePlayer, MakeBot, Settings};
pub use http_player::HttpPlayer;
pub use lobby::Lobby;
pub use possible::{Found, PossibleHistory, Sighting};
