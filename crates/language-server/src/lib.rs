//! A language server for GDL: what `agon lsp` speaks with editors.
//!
//! ```text
//! editor ── messages ──▶ server ── document ──▶ one answer per file: hover, navigate, symbols, tokens, complete, actions, lens
//!                          ▲ └───── rules ────▶ background: grounding, statistics
//!                          └──── findings, statistics ──┘
//! ```
//!
//! The server answers on one thread. What the text tells is computed when the editor is quiet for the moment; what takes
//! longer (grounding, playouts) happens on a second thread, which drops its work when the text changes.
//!
//! **Invariant:** no message, no text and no order of messages ends the server, except `exit` and the end of the input.
//! **Invariant:** findings of the text never wait for grounding.
//! **Invariant:** this crate reads no files: it knows only the texts that the editor sends.

mod actions;
mod background;
mod complete;
mod document;
mod hover;
mod lens;
mod navigate;
mod server;
mod symbols;
mod text;
mod tokens;
mod transport;

use std::sync::Arc;

use agon_gdl::{Rules, Severity};

pub use server::{Ending, Options, serve};
pub use transport::connect;

/// A finding that shows only when the rules are grounded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// Error or warning.
    pub severity: Severity,
    /// A stable name, like those of `agon_gdl::Kind`.
    pub kind: String,
    /// Line of the rule that it is about, from 1; 0 if it is about none.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// How to fix it; may be empty.
    pub help: String,
}

/// Finds what shows only when rules are grounded. It is called on the second thread, and must end within seconds and soon
/// after its second argument says so.
pub type Observe = Arc<dyn Fn(&Arc<Rules>, &dyn Fn() -> bool) -> Vec<Observation> + Send + Sync>;
