//! Analysis of the rules of a game before play.
//!
//! GDL has no notion of a board, a cell or a piece, but user interfaces and heuristics need them. Each module finds one such
//! concept from the rules and a few random games, and never relies on common names such as `cell`.
//!
//! **Invariant:** no I/O, no clock. Random games have fixed seeds, so the same rules give the same result.

pub mod block;
pub mod board;
pub mod circuit;
pub mod counter;
pub mod formula;
pub mod fuzzy;
mod glyph;
pub mod heuristic;
mod order;
pub mod persist;
pub mod piece;
pub mod regress;
mod sample;
pub mod simplify;
mod term;
pub mod turns;

pub use term::Term;
