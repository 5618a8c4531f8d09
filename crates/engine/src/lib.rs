//! The engines of Agon: they run a game from its rules.
//!
//! ```text
//! text  ── Game::from_text ──┐
//! Rules ── Game::compile ────┴▶ Game ── machine ──▶ Machine, one state on one thread
//!                                    └─ lanes ────▶ Lanes, many playouts at once
//! ```
//!
//! ```
//! use agon_engine::{Game, RoleId};
//!
//! let game = Game::from_text(
//!     "(role robot) (init (light off))
//!      (legal robot push)
//!      (<= (next (light on)) (does robot push))
//!      (<= terminal (true (light on)))
//!      (<= (goal robot 100) terminal)",
//! )?;
//! let mut machine = game.machine();
//! machine.advance(&game.joint_move(&["push"])?);
//! assert!(machine.is_terminal());
//! assert_eq!(machine.goal(RoleId(0)).map(|goal| goal.value()), Some(100));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** this crate does no I/O, prints nothing, reads no environment, and uses neither clock nor search.
//! **Invariant:** compiled games are immutable and shared between threads; mutable state belongs to one thread. The
//! only exception is the append-only term table of the [`Interpreter`], because its states consist of terms.
//! **Invariant:** the interpreter shares no evaluation code with the grounder, so that each can be tested against the
//! other.

mod build;
pub mod canonical;
pub mod dense;
mod game;
mod grounded;
pub mod interpreter;
pub mod lanes;
mod levels;
mod machine;
pub mod network;
pub mod optimize;
pub mod particles;
mod percept_network;
pub mod percepts;
mod perft;
pub mod phases;
mod playout;
mod prefetch;
mod scalar;
mod state;
mod text;

pub use build::build;
pub use game::Game;
pub use grounded::{Grounded, GroundedMachine};
pub use interpreter::{Interpreter, InterpreterError, InterpreterMachine, Stop};
pub use lanes::{Lanes, LanesProgram};
pub use machine::{Fault, Machine};
pub use particles::{Observation, Particles, Successor};
pub use percepts::{PerceptId, Percepts};
pub use perft::Perft;
pub use playout::{Ending, Playout, ScalarPlayouts, nth_bit, play_out};
pub use prefetch::prefetch;
pub use scalar::{ScalarMachine, ScalarProgram};
pub use state::{Goal, JointMove, MoveId, RoleId, State};
pub use text::{FromTextError, JointMoveError};
