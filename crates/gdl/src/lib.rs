//! The language front end of Agon: GDL rulesheets as text, as parsed descriptions, and as checked rules.
//!
//! ```text
//! bytes ── parse ──▶ Description ── check ──▶ Rules ── Rules::to_text ──▶ text in either syntax
//!   └──── format ──▶ the same file in canonical layout, comments kept
//! ```
//!
//! ```
//! let sheet = br"
//!     (role robot) (init (light off))
//!     (legal robot push)
//!     (<= (next (light on)) (does robot push))
//!     (<= terminal (true (light on)))
//!     (<= (goal robot 100) terminal)";
//! let description = agon_gdl::parse(sheet, &agon_gdl::Limits::default());
//! let rules = agon_gdl::check(&description).expect("this sheet is well-formed");
//! assert_eq!(rules.rules.len(), 6);
//! println!("{}", rules.to_text(agon_gdl::Syntax::Infix));
//! ```
//!
//! **Invariant:** this crate does no I/O, prints nothing, reads no environment and owns no global state.
//! **Invariant:** nothing here recurses on the size or depth of its input, beyond the limit of [`Limits::depth`].
//! **Invariant:** every input, whatever its bytes, gives rules or findings with a position, and never a panic.

#![cfg_attr(
    test,
    expect(
        clippy::needless_pass_by_value,
        reason = "expectations are passed by value in tests"
    )
)]

pub mod ast;
mod check;
mod comments;
pub mod diagnostic;
mod format;
mod graph;
pub mod index;
mod infix;
mod lower;
pub mod made_up;
pub mod obfuscate;
mod parse;
mod prefix;
pub mod print;
pub mod query;
mod read;
pub mod rules;
mod source;
mod symbol;
mod tree;
mod words;

pub use ast::Description;
pub use check::{check, check_until};
pub use diagnostic::{Diagnostic, Diagnostics, Edit, Fix, Kind, RenderOptions, Severity, render};
pub use format::format;
pub use graph::components;
pub use parse::parse;
pub use read::{Limits, Syntax};
pub use rules::{Atom, Literal, RANDOM, Relation, RelationId, Rule, Rules, Term, VariableId};
pub use source::{BadByte, Place, Source, Span};
pub use symbol::{Keyword, SymbolId, SymbolTable};
pub use words::{Word, WordKind, words};
