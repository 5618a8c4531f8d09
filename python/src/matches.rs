//! Matches between players: presets of Agon, players on the network, and Python functions.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_arena::{About, MatchRecord, Referee, Seat, Settings};
use agon_engine::{Game as EngineGame, JointMove, RoleId, State as EngineState};
use agon_player::{Budget, GamePlayer};
use agon_protocol::StopFlag;
use agon_protocol::http::RemotePlayer;
use agon_search::{Bot, Decision, Limits, Report};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::value_error;
use crate::game::{Game, Shared};
use crate::interrupt;
use crate::search::{preset, seconds};
use crate::state::State;

/// A match that was played.
#[pyclass(frozen, module = "agon_ggp")]
pub(crate) struct MatchResult {
    shared: Arc<Shared>,
    record: MatchRecord,
}

#[pymethods]
impl MatchResult {
    /// The names of the roles.
    #[getter]
    fn roles(&self) -> Vec<String> {
        self.shared.roles.clone()
    }

    /// The names of the players, in the order of the roles.
    #[getter]
    fn players(&self) -> Vec<String> {
        self.record.player_names_from_host.clone()
    }

    /// The goal of each role, 0 to 100, or None if the match has no result.
    #[getter]
    fn goals<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(values) = &self.record.goal_values else {
            return Ok(None);
        };
        let goals = PyDict::new(py);
        for (role, goal) in self.shared.roles.iter().zip(values) {
            goals.set_item(role, goal)?;
        }
        Ok(Some(goals))
    }

    /// The moves of each step, in the order of the roles.
    #[getter]
    fn moves(&self) -> Vec<Vec<String>> {
        let tidy = |text: &String| text.replace("( ", "(").replace(" )", ")");
        let steps = self.record.moves.iter();
        steps.map(|step| step.iter().map(tidy).collect()).collect()
    }

    /// Number of faults of each player: late, missing and illegal answers.
    #[getter]
    fn faults(&self) -> Vec<usize> {
        (0..self.shared.n_roles())
            .map(|seat| self.record.n_errors(seat))
            .collect()
    }

    /// The record as JSON, which `agon replay` checks and viewers of other managers read.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.record).map_err(|error| value_error(error.to_string()))
    }

    fn __repr__(&self) -> String {
        format!(
            "<Match of {}: {} steps, goals {:?}>",
            self.shared.name,
            self.record.moves.len(),
            self.record.goal_values
        )
    }
}

/// A bot whose moves a Python function chooses.
struct Function {
    function: Py<PyAny>,
    shared: Arc<Shared>,
    /// The first exception of the function.
    raised: Arc<Mutex<Option<PyErr>>>,
    stop: StopFlag,
}

impl Function {
    fn call(
        &self,
        py: Python<'_>,
        state: &EngineState,
        role: RoleId,
    ) -> PyResult<agon_engine::MoveId> {
        let state = Bound::new(py, State::new(Arc::clone(&self.shared), state.clone()))?;
        if let [only] = state.get().legal(role)? {
            return Ok(*only);
        }
        let name = &self.shared.roles[role.idx()];
        let chosen = self.function.bind(py).call1((&state, name))?;
        state.get().read_move(role, &chosen)
    }
}

impl Bot for Function {
    fn think(
        &mut self,
        state: &EngineState,
        role: RoleId,
        _: &Limits,
        _: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mv = Python::attach(|py| match self.call(py, state, role) {
            Ok(mv) => mv,
            Err(error) => {
                if let Ok(mut raised) = self.raised.lock() {
                    raised.get_or_insert(error);
                }
                self.stop.raise();
                let state = State::new(Arc::clone(&self.shared), state.clone());
                let legal = state.legal(role).unwrap_or_default();
                legal.first().copied().unwrap_or(agon_engine::MoveId(0))
            }
        });
        let report = Report {
            playouts: 0,
            transitions: 0,
            time: Duration::ZERO,
            value: None,
            moves: Vec::new(),
            stop: None,
        };
        Decision { mv, report }
    }

    fn played(&mut self, _: &JointMove, _: &EngineState) {}
}

/// Plays a match between players, one per role: the name of a player (see `players`), the address of a player that speaks
/// the protocol of general game playing (`"http://..."`), or a function `(state, role) -> move`. A function is called only
/// where its role has a choice.
///
/// Clocks are in seconds. With `playouts`, named players search that much instead of using the play clock, and the same
/// seed gives the same match.
///
/// >>> from agon_ggp import Game, play_match
/// >>> first = lambda state, role: state.legal_moves(role)[0]
/// >>> result = play_match(Game.load("tic_tac_toe"), ["agon", first], playouts=500)
/// >>> result.goals
/// {'x': 100, 'o': 0}
#[pyfunction]
#[pyo3(signature = (game, players, *, start_clock=10.0, play_clock=1.0, playouts=None, seed=1, max_steps=None))]
#[expect(clippy::too_many_arguments, reason = "these are keywords in Python")]
pub(crate) fn play_match(
    py: Python<'_>,
    game: &Game,
    players: Vec<Bound<'_, PyAny>>,
    start_clock: f64,
    play_clock: f64,
    playouts: Option<u64>,
    seed: u64,
    max_steps: Option<u32>,
) -> PyResult<MatchResult> {
    let shared = &game.0;
    if shared.game.is_gdl2() {
        let words = "play_match shows players the whole state, so it cannot host a game with hidden information (GDL-II)";
        return Err(value_error(words.to_owned()));
    }
    if players.len() != shared.n_roles() {
        return Err(value_error(format!(
            "a match has one player per role: {} ({}), not {}",
            shared.n_roles(),
            shared.roles.join(", "),
            players.len()
        )));
    }
    let stop = StopFlag::new();
    let raised = Arc::new(Mutex::new(None));
    let makers = Makers {
        shared,
        playouts,
        seed,
        stop: &stop,
        raised: &raised,
    };
    let seats = players
        .iter()
        .enumerate()
        .map(|(idx, player)| makers.seat(idx, player));
    let seats: Vec<Seat> = seats.collect::<PyResult<_>>()?;
    let play_clock = match playouts {
        // A budget of playouts needs no clock, but a referee has one.
        Some(_) => Duration::from_secs(365 * 24 * 3600),
        None => seconds("play_clock", play_clock)?,
    };
    let mut settings = Settings::new(
        &shared.name,
        seconds("start_clock", start_clock)?,
        play_clock,
    );
    settings.seed = seed;
    settings.stop = stop.clone();
    settings.most_steps = max_steps.unwrap_or(settings.most_steps).max(1);
    let compiled: &Arc<EngineGame> = &shared.game;
    let record = interrupt::run(py, stop.as_atomic(), move || {
        Referee::play(compiled, seats, &settings, &mut |_| {})
    })?;
    if let Some(error) = raised.lock().ok().and_then(|mut raised| raised.take()) {
        return Err(error);
    }
    Ok(MatchResult {
        shared: Arc::clone(shared),
        record,
    })
}

struct Makers<'a> {
    shared: &'a Arc<Shared>,
    playouts: Option<u64>,
    seed: u64,
    stop: &'a StopFlag,
    raised: &'a Arc<Mutex<Option<PyErr>>>,
}

impl Makers<'_> {
    fn seat(&self, idx: usize, player: &Bound<'_, PyAny>) -> PyResult<Seat> {
        let game = Arc::clone(&self.shared.game);
        let mut settings = agon_player::Settings {
            budget: Budget {
                playouts: self.playouts,
                ..Budget::default()
            },
            seed: self.seed.wrapping_mul(1000).wrapping_add(idx as u64 + 1),
            ..agon_player::Settings::default()
        };
        if let Ok(name) = player.cast::<PyString>() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("http://") {
                let remote =
                    RemotePlayer::new(&name).map_err(|error| value_error(error.to_string()))?;
                return Ok(Seat::new(Box::new(remote), About::named(&name)));
            }
            let preset = preset(&name)?;
            settings.name.clone_from(&name);
            let player = GamePlayer::new(preset, settings).knowing(game);
            return Ok(Seat::new(Box::new(player), About::named(&name)));
        }
        if !player.is_callable() {
            return Err(PyTypeError::new_err(
                "a player is a name, an address that begins with http://, or a function (state, role) -> move",
            ));
        }
        let name = player
            .getattr("__name__")
            .and_then(|name| name.extract::<String>());
        let name = name.unwrap_or_else(|_| "function".to_owned());
        let (function, shared) = (player.clone().unbind(), Arc::clone(self.shared));
        let (raised, stop) = (Arc::clone(self.raised), self.stop.clone());
        let make = move |_: &Arc<EngineGame>, _: u64| -> Box<dyn Bot> {
            Box::new(Function {
                function: Python::attach(|py| function.clone_ref(py)),
                shared: Arc::clone(&shared),
                raised: Arc::clone(&raised),
                stop: stop.clone(),
            })
        };
        let player = GamePlayer::with_bot(Arc::new(make), settings).knowing(game);
        Ok(Seat::new(Box::new(player), About::named(&name)))
    }
}
