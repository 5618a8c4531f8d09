//! Searches: a bot thinks about a state.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use agon_engine::{MoveId, RoleId};
use agon_search::{Limits, PRESETS, Preset};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::game::Shared;
use crate::interrupt;
use crate::state::State;

/// The arguments of `Game.search`.
pub(crate) struct SearchArgs<'a> {
    pub(crate) player: &'a str,
    pub(crate) time: Option<f64>,
    pub(crate) playouts: Option<u64>,
    pub(crate) seed: u64,
}

/// What a search thinks of a move.
#[pyclass(frozen, get_all, module = "agon_ggp")]
#[derive(Clone)]
pub(crate) struct MoveResult {
    /// The text of the move.
    #[pyo3(name = "move")]
    text: String,
    /// The number of its action, or None if the game has no action numbers.
    action: Option<u32>,
    /// How often it was tried.
    visits: u64,
    /// Mean goal after it, 0 to 100.
    value: f64,
}

#[pymethods]
impl MoveResult {
    fn __repr__(&self) -> String {
        format!(
            "MoveResult('{}', visits={}, value={:.2})",
            self.text, self.visits, self.value
        )
    }
}

/// The result of a search.
#[pyclass(frozen, get_all, module = "agon_ggp")]
pub(crate) struct SearchResult {
    /// The role that it searched for.
    role: String,
    /// The chosen move.
    #[pyo3(name = "move")]
    text: String,
    /// The number of its action, or None if the game has no action numbers.
    action: Option<u32>,
    /// What the role can expect, 0 to 100, if the bot has an opinion.
    value: Option<f64>,
    /// The moves that it weighed, best first.
    moves: Vec<MoveResult>,
    /// Finished playouts.
    playouts: u64,
    /// States stepped through.
    transitions: u64,
    /// Seconds.
    time: f64,
    /// Why it stopped.
    stop: Option<String>,
}

#[pymethods]
impl SearchResult {
    fn __repr__(&self) -> String {
        let value = self
            .value
            .map_or("None".to_owned(), |value| format!("{value:.2}"));
        format!(
            "SearchResult('{}', value={value}, playouts={})",
            self.text, self.playouts
        )
    }
}

/// The names of players that `Game.search` and `play_match` know.
///
/// >>> from agon_ggp import players
/// >>> "agon" in players()
/// True
#[pyfunction]
pub(crate) fn players() -> Vec<String> {
    PRESETS
        .iter()
        .map(|preset| preset.name.to_owned())
        .collect()
}

/// A time in seconds.
pub(crate) fn seconds(what: &str, time: f64) -> PyResult<Duration> {
    let wrong = || {
        value_error(format!(
            "{what} must be a number of seconds from 0 on, not {time}"
        ))
    };
    Duration::try_from_secs_f64(time).map_err(|_| wrong())
}

/// A player by its name.
pub(crate) fn preset(name: &str) -> PyResult<Preset> {
    Preset::parse(name)
        .map_err(|error| value_error(format!("{error} (in Python: agon_ggp.players())")))
}

pub(crate) fn search(
    py: Python<'_>,
    shared: &Arc<Shared>,
    state: &State,
    role: RoleId,
    args: &SearchArgs<'_>,
) -> PyResult<SearchResult> {
    if state.is_over()? || state.legal(role)?.is_empty() {
        return Err(value_error(format!(
            "cannot search: role {} has no legal move here",
            shared.roles[role.idx()]
        )));
    }
    let preset = preset(args.player)?;
    let stop = Arc::new(AtomicBool::new(false));
    let time = match (args.time, args.playouts) {
        (None, None) => Some(Duration::from_secs(1)),
        (time, _) => time.map(|time| seconds("time", time)).transpose()?,
    };
    let limits = Limits {
        playouts: args.playouts,
        stop: Some(Arc::clone(&stop)),
        ..time.map_or_else(Limits::default, Limits::time)
    };
    let (game, start, seed) = (&shared.game, &state.state, args.seed);
    let decision = interrupt::run(py, &stop, move || {
        preset
            .bot(game, seed)
            .think(start, role, &limits, &mut |_| {})
    })?;
    let numbers = shared
        .actions("")
        .ok()
        .map(|actions| &actions.of_moves[role.idx()]);
    let action = |mv: MoveId| numbers.map(|numbers| numbers[mv.0 as usize]);
    let report = decision.report;
    let moves = report.moves.iter().map(|found| MoveResult {
        text: game.move_text(role, found.mv),
        action: action(found.mv),
        visits: found.visits,
        value: found.mean,
    });
    Ok(SearchResult {
        role: shared.roles[role.idx()].clone(),
        text: game.move_text(role, decision.mv),
        action: action(decision.mv),
        value: report.value,
        moves: moves.collect(),
        playouts: report.playouts,
        transitions: report.transitions,
        time: report.time.as_secs_f64(),
        stop: report.stop.map(|stop| stop.to_string()),
    })
}
