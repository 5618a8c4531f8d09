//! The GGP protocol between a game manager and a player: messages as values, their text, and the trait [`Player`].
//!
//! ```text
//! text ── codec::read_request ──▶ Request ── Player::answer ──▶ Reply ── codec::write_reply ──▶ text
//! ```
//!
//! ```
//! use agon_protocol::{Request, codec};
//!
//! let request = codec::read_request(b"(PLAY m1 ((MARK 2 1) NOOP))").unwrap();
//! let Request::Play { id, moves, .. } = &request else { panic!("expected a PLAY") };
//! assert_eq!((id.as_str(), moves.as_ref().map(Vec::len)), ("m1", Some(2)));
//! assert_eq!(codec::write_request(&request), "( PLAY m1 (( MARK 2 1 ) NOOP ) )");
//! ```
//!
//! **Invariant:** only [`codec`] knows the text of messages; all other code uses [`Request`] and [`Reply`].
//! **Invariant:** any bytes can be read: the result is a message or an error, never a panic, in linear time and without
//! recursion.
//! **Invariant:** names keep the spelling in which they were received.

#![cfg_attr(
    test,
    expect(
        clippy::needless_pass_by_value,
        reason = "test helpers take their expectations by value"
    )
)]

pub mod codec;
pub mod http;
mod message;
mod player;
mod scramble;
mod term;

/// The rules in messages.
pub use agon_gdl::Rules;
pub use message::{
    Failure, Info, MatchId, PerceptForm, Reply, Request, Status, Thought, Turn, WeighedMove,
};
pub use player::{Player, StopFlag};
pub use scramble::Scrambled;
pub use term::{Term, TermError};
