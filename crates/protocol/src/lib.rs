//! The wire between a game manager and a player: messages as values, their text, and the trait of those who answer.
//!
//! ```text
//! text ── codec::read_request ──▶ Request ── Player::answer ──▶ Reply ── codec::write_reply ──▶ text
//! ```
//!
//! ```
//! use agon_protocol::{Request, codec};
//!
//! let request = codec::read_request(b"(PLAY m1 ((MARK 2 1) NOOP))").unwrap();
//! let Request::Play { id, moves } = &request else { panic!("it is a PLAY") };
//! assert_eq!((id.as_str(), moves.as_ref().map(Vec::len)), ("m1", Some(2)));
//! assert_eq!(codec::write_request(&request), "( PLAY m1 (( MARK 2 1 ) NOOP ) )");
//! ```
//!
//! **Invariant:** text of messages is known in [`codec`] only; everybody else speaks [`Request`] and [`Reply`].
//! **Invariant:** any bytes are an answerable question: a message or an error, never a panic, in linear time and without
//! recursion.
//! **Invariant:** names keep the spelling in which they came.

#![cfg_attr(
    test,
    expect(
        clippy::needless_pass_by_value,
        reason = "tests give their expectations away"
    )
)]

pub mod codec;
pub mod http;
mod message;
mod player;
mod scramble;
mod term;

/// The rules that travel in messages.
pub use agon_gdl::Rules;
pub use message::{Failure, Info, MatchId, Reply, Request, Status, Thought, WeighedMove};
pub use player::{Player, StopFlag};
pub use scramble::Scrambled;
pub use term::{Term, TermError};
