//! The engines of Agon: they run a game from its rules.
//!
//! ```text
//! Rules ── Interpreter::new ──▶ Interpreter ── machine ──▶ InterpreterMachine, a Machine
//!       ── Game::compile ──▶ Game (network or interpreter) ── machine, lanes ──▶ Machine, Lanes
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use agon_engine::{Interpreter, JointMove, Machine, RoleId};
//!
//! let sheet = br"
//!     (role robot) (init (light off))
//!     (legal robot push)
//!     (<= (next (light on)) (does robot push))
//!     (<= terminal (true (light on)))
//!     (<= (goal robot 100) terminal)";
//! let description = agon_gdl::parse(sheet, &agon_gdl::Limits::default());
//! let rules = agon_gdl::check(&description).expect("this sheet is well-formed");
//! let interpreter = Arc::new(Interpreter::new(Arc::new(rules)).expect("the rules can be interpreted"));
//! let mut machine = interpreter.machine();
//! let push = machine.legal_moves(RoleId(0))[0];
//! machine.advance(&JointMove::new([push]));
//! assert!(machine.is_terminal());
//! assert_eq!(machine.goal(RoleId(0)).map(|goal| goal.value()), Some(100));
//! ```
//!
//! **Invariant:** this crate does no I/O, prints nothing, reads no environment, and uses neither clock nor search.
//! **Invariant:** compiled games are immutable and shared between threads; mutable state belongs to one thread. The
//! only exception is the append-only term table of the [`Interpreter`], because its states consist of terms.
//! **Invariant:** the interpreter shares no evaluation code with the grounder, so that each can be tested against the
//! other.

mod build;
mod game;
mod grounded;
pub mod interpreter;
pub mod lanes;
mod levels;
mod machine;
pub mod network;
pub mod optimize;
mod perft;
pub mod phases;
mod playout;
mod scalar;
mod state;

pub use build::build;
pub use game::Game;
pub use grounded::{Grounded, GroundedMachine};
pub use interpreter::{Interpreter, InterpreterError, InterpreterMachine};
pub use lanes::{Lanes, LanesProgram};
pub use machine::{Fault, Machine};
pub use perft::Perft;
pub use playout::{Ending, Playout, ScalarPlayouts, nth_bit, play_out};
pub use scalar::{ScalarMachine, ScalarProgram};
pub use state::{Goal, JointMove, MoveId, RoleId, State};
