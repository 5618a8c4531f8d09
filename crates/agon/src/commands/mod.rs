//! One file per subcommand: parse → call → print.

pub(crate) mod analyse;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod experiment;
pub(crate) mod fmt;
pub(crate) mod games;
pub(crate) mod heuristic;
pub(crate) mod ladder;
pub(crate) mod lsp;
pub(crate) mod man;
pub(crate) mod match_;
pub(crate) mod mcp;
pub(crate) mod params;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod player;
pub(crate) mod quiz;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod tournament;
pub(crate) mod verify;
