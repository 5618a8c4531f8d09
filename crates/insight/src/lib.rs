//! What the rules of a game tell before anybody thinks about a move.
//!
//! Rules name no board, no cells and no pieces; people and heuristics want them all the same. Each module finds one such
//! thing from the rules and a few random games, never from names that happen to be usual.
//!
//! **Invariant:** no I/O, no clock; random games have fixed seeds, so the same rules give the same answer.

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
