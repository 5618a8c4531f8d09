//! Tournaments: many matches between players, and what can be said about them.
//!
//! ```text
//! tournament file ── Plan ── cells ──▶ Cell ── run ──▶ MatchResult ──▶ Store ── tally ──▶ Tally ──▶ Table, plot
//!                                                                                          └─ Experiment ──▶ Verdict
//! ```
//!
//! A cell is a game, a pair of players and a budget. Each match of a cell is identified by a key: a hash of the rules, of
//! both players with all their settings, of the budget, the seed and its number. The store has each key once.
//!
//! **Invariant:** with a budget in playouts or transitions, a result depends only on its key: not on the order of play, the
//! number of threads or processes, or how often the run was killed.
//! **Invariant:** a match counts once it is in the store, and a stored match is never played again.
//! **Invariant:** a match with a player that is not there has no result.
//! **Invariant:** this crate prints nothing; the caller of a run is told about its progress.

mod budget;
mod cell;
mod cell_progress;
mod comparison;
mod entrant;
mod experiment;
mod export;
pub mod ladder;
mod lease;
mod ledger;
mod match_runner;
mod pairs;
mod plan;
pub mod plot;
mod published;
mod queue;
mod report;
mod result;
mod run;
mod seats;
mod shard;
mod sprt;
mod spsa;
pub mod statistics;
mod store;
mod table;
mod tables;
mod tally;
mod techniques;
mod verify;
mod workers;

pub use agon_arena::panic_words;
pub use budget::{Budget, BudgetError, BudgetPlan, Several};
pub use cell::{Cell, Contestants, Sheet, SheetError, Terms};
pub use cell_progress::{CellProgress, Ended};
pub use comparison::{Comparison, Summary, Verdict};
pub use entrant::{Entrant, EntrantError, read_model};
pub use experiment::{Experiment, ExperimentError, Overrides};
pub use export::{CsvError, MoveWriter, write_cells, write_comparisons, write_matches};
pub use ledger::{Job, Ledger};
pub use match_runner::{Absent, FinishedMatch, Played, play};
pub use pairs::Frequencies;
pub use plan::{Grid, Pairs, Plan, PlanError, SecretFiles, Stop, Value};
pub use published::{Activity, CellText, Column, Cost, Measure, Published, Row};
pub use report::{
    Cross, comparison_table, games, one_budget, overall_table, score_table, short_table,
};
pub use result::{Contestant, Fixture, MatchResult, MoveRow, PlayedBy, Work};
pub use run::{AbsentPlayer, Failure, Outcome, Pace, Progress, run, run_at, run_shard};
pub use shard::{Shard, ShardError};
pub use sprt::{Sprt, SprtVerdict};
pub use spsa::{Spsa, SpsaError, Tuned, Tuning};
pub use store::{Store, StoreError, read_lines, write_lines};
pub use table::{Format, Kind, Table, wrap};
pub use tables::tables;
pub use tally::{Overall, Tally, overall, tallies};
pub use techniques::{Cutoff, Fast, Heuristic, Status, Techniques};
pub use verify::{WrongResult, verify};
pub use workers::{Rejected, WorkerRow, workers, workers_table};
