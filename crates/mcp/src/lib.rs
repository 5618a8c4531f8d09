//! A Model Context Protocol server: what `agon mcp` speaks with language models and their harnesses.
//!
//! ```text
//! client ── stdio or HTTP ──▶ server ──▶ tools ──▶ one call: rules, matches (match_table), evaluation
//! ```
//!
//! `rmcp` has the protocol; `server` connects it with the tools, `tools` has their names and parameters and calls them,
//! `match_table` keeps the matches, `playing` is one match, `sheet` finds games. `http` adds an address and a token.
//!
//! **Invariant:** every call is bounded: in time, in the size of what it takes and returns, in the number of matches kept.
//! **Invariant:** a match is reached only by its id, which cannot be guessed.

mod http;
mod match_table;
mod playing;
mod server;
mod sheet;
mod tools;

pub use http::{HttpOptions, serve_http};
pub use server::serve_stdio;
