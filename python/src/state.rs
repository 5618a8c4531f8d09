//! States: immutable values with their legal moves, goals and fluents.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use agon_engine::lanes::batch::{forced_role, spread_bits};
use agon_engine::{JointMove, MoveId, RoleId, State as EngineState};
use agon_games::board::board_text;
use agon_games::svg;
use numpy::{PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString};

use crate::arrays::{Array, from_slice};
use crate::errors::{IllegalMoveError, not_grounded, value_error};
use crate::game::{Game, Shared};

/// What `pickle` wants: a function and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Game, Bound<'py, PyBytes>));

/// What holds in a state.
struct Facts {
    is_terminal: bool,
    legal: Vec<Vec<MoveId>>,
    goals: Vec<Option<u8>>,
}

/// A state of a game. It never changes and can be a key of a dictionary.
///
/// >>> from agon_ggp import Game
/// >>> state = Game.load("tic_tac_toe").initial_state()
/// >>> state.to_move, len(state.legal_moves()), state.is_terminal
/// ('x', 9, False)
/// >>> print(state.apply("(mark 2 2)"))
/// 3 . . .
/// 2 . X .
/// 1 . . .
///   1 2 3
#[pyclass(frozen, module = "agon_ggp")]
pub(crate) struct State {
    pub(crate) shared: Arc<Shared>,
    pub(crate) state: EngineState,
    facts: OnceLock<Facts>,
}

impl State {
    pub(crate) fn new(shared: Arc<Shared>, state: EngineState) -> State {
        State {
            shared,
            state,
            facts: OnceLock::new(),
        }
    }

    fn facts(&self) -> PyResult<&Facts> {
        if let Some(facts) = self.facts.get() {
            return Ok(facts);
        }
        let facts = self.shared.with_machine(&self.state, |machine| {
            let roles = || RoleId::all(self.shared.n_roles());
            Facts {
                is_terminal: machine.is_terminal(),
                legal: roles()
                    .map(|role| machine.legal_moves(role).to_vec())
                    .collect(),
                goals: roles()
                    .map(|role| machine.goal(role).map(|goal| goal.value()))
                    .collect(),
            }
        })?;
        Ok(self.facts.get_or_init(|| facts))
    }

    pub(crate) fn is_over(&self) -> PyResult<bool> {
        Ok(self.facts()?.is_terminal)
    }

    pub(crate) fn legal(&self, role: RoleId) -> PyResult<&[MoveId]> {
        Ok(&self.facts()?.legal[role.idx()])
    }

    /// The role to move, if there is exactly one.
    fn mover(&self) -> PyResult<Option<RoleId>> {
        let facts = self.facts()?;
        if facts.is_terminal {
            return Ok(None);
        }
        let roles = || RoleId::all(self.shared.n_roles());
        let mut choosers = roles().filter(|role| facts.legal[role.idx()].len() > 1);
        match (choosers.next(), choosers.next()) {
            (Some(_), Some(_)) => return Ok(None),
            (Some(only), None) => return Ok(Some(only)),
            (None, _) => {}
        }
        if self.shared.n_roles() == 1 {
            return Ok(Some(RoleId(0)));
        }
        let (Some(turns), Some(game)) = (self.shared.turns(), self.shared.game.grounded()) else {
            return Ok(None);
        };
        if !turns.in_turn {
            return Ok(None);
        }
        let acts = |role: RoleId| {
            let legal = facts.legal[role.idx()].first();
            legal.is_some_and(|&mv| turns.waiting[role.idx()] != Some(mv))
        };
        Ok(Some(forced_role(game, &self.state, acts)))
    }

    /// The role to move; otherwise an exception that names what it is needed for.
    pub(crate) fn acting_role(&self, what: &str) -> PyResult<RoleId> {
        if self.is_over()? {
            return Err(value_error(format!("cannot {what}: the state is terminal")));
        }
        self.mover()?.ok_or_else(|| {
            value_error(format!(
                "cannot {what} without a role: no single role is to move here; roles are {}",
                self.shared.roles.join(", ")
            ))
        })
    }

    fn role_or_mover(&self, role: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<RoleId> {
        match role {
            Some(role) => self.shared.role(role),
            None => self.acting_role(what),
        }
    }

    fn text(&self, role: RoleId, mv: MoveId) -> String {
        self.shared.game.move_text(role, mv)
    }

    /// A legal move from its text or the number of its action.
    pub(crate) fn read_move(&self, role: RoleId, mv: &Bound<'_, PyAny>) -> PyResult<MoveId> {
        let found = if let Ok(text) = mv.cast::<PyString>() {
            self.shared.game.find_move(role, &text.to_string_lossy())
        } else if let (false, Ok(action)) = (mv.is_instance_of::<PyBool>(), mv.extract::<i64>()) {
            let actions = self.shared.actions("action numbers")?;
            let moves = &actions.moves[role.idx()];
            usize::try_from(action)
                .ok()
                .and_then(|action| *moves.get(action)?)
        } else {
            return Err(PyTypeError::new_err(
                "a move is its text or the number of its action",
            ));
        };
        let found = found.filter(|mv| {
            self.facts()
                .is_ok_and(|facts| facts.legal[role.idx()].contains(mv))
        });
        found.ok_or_else(|| self.illegal(role, mv))
    }

    fn illegal(&self, role: RoleId, mv: &Bound<'_, PyAny>) -> PyErr {
        let legal = self.legal(role).unwrap_or_default();
        let some: Vec<String> = legal
            .iter()
            .take(5)
            .map(|&mv| self.text(role, mv))
            .collect();
        let dots = if legal.len() > 5 { ", ..." } else { "" };
        let name = &self.shared.roles[role.idx()];
        IllegalMoveError::new_err(format!(
            "the move {mv} of role {name} is not legal here: there are {} legal moves: {}{dots}",
            legal.len(),
            some.join(", ")
        ))
    }

    /// The only legal move of a role.
    fn only_move(&self, role: RoleId) -> PyResult<MoveId> {
        match self.legal(role)? {
            [only] => Ok(*only),
            legal => Err(IllegalMoveError::new_err(format!(
                "role {} needs a move: it has {} legal moves here",
                self.shared.roles[role.idx()],
                legal.len()
            ))),
        }
    }

    fn read_joint(&self, moves: &Bound<'_, PyAny>) -> PyResult<JointMove> {
        let n_roles = self.shared.n_roles();
        let mut joint: Vec<Option<MoveId>> = vec![None; n_roles];
        if let Ok(given) = moves.cast::<PyDict>() {
            for (role, mv) in given {
                let role = self.shared.role(&role)?;
                if joint[role.idx()].is_some() {
                    let name = &self.shared.roles[role.idx()];
                    return Err(value_error(format!("role {name} has two moves")));
                }
                joint[role.idx()] = Some(self.read_move(role, &mv)?);
            }
        } else if moves.is_instance_of::<PyString>()
            || moves.is_instance_of::<PyInt>()
            || moves.extract::<i64>().is_ok()
        {
            let role = self.acting_role("apply one move")?;
            joint[role.idx()] = Some(self.read_move(role, moves)?);
        } else {
            let given: Vec<Bound<'_, PyAny>> = moves
                .try_iter()
                .map_err(|_| {
                    PyTypeError::new_err(
                        "moves are one move, a list with one per role, or a dictionary by role",
                    )
                })?
                .collect::<PyResult<_>>()?;
            if given.len() != n_roles {
                return Err(value_error(format!(
                    "a joint move has one move per role: {n_roles}, not {}",
                    given.len()
                )));
            }
            for (role, mv) in RoleId::all(n_roles).zip(&given) {
                if !mv.is_none() {
                    joint[role.idx()] = Some(self.read_move(role, mv)?);
                }
            }
        }
        let joint = RoleId::all(n_roles).zip(joint);
        let joint = joint.map(|(role, mv)| mv.map_or_else(|| self.only_move(role), Ok));
        Ok(JointMove::new(joint.collect::<PyResult<Vec<_>>>()?))
    }
}

#[pymethods]
impl State {
    /// The game of the state.
    #[getter]
    fn game(&self) -> Game {
        Game(Arc::clone(&self.shared))
    }

    /// Whether the match is over.
    #[getter]
    fn is_terminal(&self) -> PyResult<bool> {
        self.is_over()
    }

    /// The name of the role to move; None at the end, or if several roles choose at the same time.
    #[getter]
    fn to_move(&self) -> PyResult<Option<&str>> {
        let mover = self.mover()?;
        Ok(mover.map(|role| self.shared.roles[role.idx()].as_str()))
    }

    /// The legal moves of a role as text; of the role to move if it is left out.
    #[pyo3(signature = (role=None))]
    fn legal_moves(&self, role: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
        let role = self.role_or_mover(role, "list legal moves")?;
        let legal = self.legal(role)?.iter();
        Ok(legal.map(|&mv| self.text(role, mv)).collect())
    }

    /// The legal actions of a role as numbers, ascending; of the role to move if it is left out.
    #[pyo3(signature = (role=None))]
    fn legal_actions(&self, role: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u32>> {
        let role = self.role_or_mover(role, "list legal actions")?;
        let numbers = &self.shared.actions("action numbers")?.of_moves[role.idx()];
        let legal = self.legal(role)?.iter();
        let mut legal: Vec<u32> = legal.map(|mv| numbers[mv.0 as usize]).collect();
        legal.sort_unstable();
        Ok(legal)
    }

    /// The state after these moves: the move of the role to move, a list with one move per role, or a dictionary by role.
    /// A move is its text or the number of its action. Roles that are left out make their only legal move.
    ///
    /// >>> from agon_ggp import Game
    /// >>> state = Game.load("roshambo").initial_state()
    /// >>> state.to_move is None and state == state.game.initial_state()
    /// True
    /// >>> moves = {role: state.legal_moves(role)[0] for role in state.game.roles}
    /// >>> state.apply(moves) != state
    /// True
    fn apply(&self, moves: &Bound<'_, PyAny>) -> PyResult<State> {
        if self.is_over()? {
            return Err(IllegalMoveError::new_err(
                "the state is terminal: no move is possible",
            ));
        }
        let joint = self.read_joint(moves)?;
        let next = self.shared.with_machine(&self.state, |machine| {
            machine.advance(&joint);
            machine.state()
        })?;
        Ok(State::new(Arc::clone(&self.shared), next))
    }

    /// What each role sees when these moves are made, which are given as to `apply`: sorted text. In a game without hidden
    /// information every role sees the move of every role.
    ///
    /// >>> from agon_ggp import Game
    /// >>> state = Game.load("roshambo").initial_state()
    /// >>> moves = [state.legal_moves(role)[0] for role in state.game.roles]
    /// >>> state.percepts(moves)[state.game.roles[0]] == state.percepts(moves)[state.game.roles[1]]
    /// True
    fn percepts<'py>(
        &self,
        py: Python<'py>,
        moves: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let joint = self.read_joint(moves)?;
        let roles = &self.shared.roles;
        let seen = self.shared.with_machine(&self.state, |machine| {
            let see = |role: RoleId| machine.percepts(role, &joint).to_vec();
            RoleId::all(roles.len()).map(see).collect::<Vec<_>>()
        })?;
        let texts = PyDict::new(py);
        for (role, seen) in roles.iter().zip(seen) {
            let seen = seen
                .iter()
                .map(|&percept| self.shared.game.percept_name(percept));
            let mut seen: Vec<String> = seen.collect();
            seen.sort_unstable();
            texts.set_item(role, seen)?;
        }
        Ok(texts)
    }

    /// The goal of each role, 0 to 100, or None where the rules give none.
    #[getter]
    fn goals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let goals = PyDict::new(py);
        for (role, goal) in self.shared.roles.iter().zip(&self.facts()?.goals) {
            goals.set_item(role, goal)?;
        }
        Ok(goals)
    }

    /// The fluents that hold, as sorted text.
    #[getter]
    fn fluents(&self) -> Vec<String> {
        self.shared.game.fluents(&self.state)
    }

    /// The fluents as an array of 0 and 1, in the order of `Game.fluents`.
    fn observation(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<u8>>> {
        let game = &self.shared.game;
        let grounded = game
            .grounded()
            .ok_or_else(|| not_grounded(game, "observations"))?;
        let mut array = Array::new(py, &[grounded.program().fluents.len()]);
        spread_bits(self.state.words(), array.memory(py)?);
        Ok(array.python(py))
    }

    /// The legal actions of a role as an array of 0 and 1; of the role to move if it is left out.
    #[pyo3(signature = (role=None))]
    fn mask(
        &self,
        py: Python<'_>,
        role: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyArrayDyn<i8>>> {
        let legal = self.legal_actions(role)?;
        let mut array = Array::new(py, &[self.shared.actions("masks")?.texts.len()]);
        let mask = array.memory(py)?;
        legal.iter().for_each(|&action| mask[action as usize] = 1);
        Ok(array.python(py))
    }

    /// The words of the state, one bit per fluent, as in `Batch.bits`.
    #[getter]
    fn bits(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<u64>>> {
        let game = &self.shared.game;
        game.grounded().ok_or_else(|| not_grounded(game, "bits"))?;
        from_slice(py, self.state.words(), &[self.state.words().len()])
    }

    /// The board as planes; see `Game.planes`.
    fn planes(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<u8>>> {
        let layout = self.shared.layout();
        let layout =
            layout.ok_or_else(|| value_error("the game has no board that Agon can find"))?;
        let mut array = Array::new(py, &layout.shape());
        let words = self.state.words();
        layout.fill(words, words.len(), array.memory(py)?);
        Ok(array.python(py))
    }

    /// The board as text, or None if Agon finds no board in the rules.
    #[getter]
    fn board(&self) -> Option<String> {
        let board = self.shared.board()?;
        Some(board_text(&self.shared.game, board, &self.state))
    }

    /// The board as a picture, which notebooks show; None if there is no board.
    fn _repr_svg_(&self) -> Option<String> {
        let board = self.shared.board()?;
        Some(svg(board, &self.fluents()))
    }

    fn __str__(&self) -> String {
        let board = self.board().map(|board| board.trim_end().to_owned());
        board.unwrap_or_else(|| self.fluents().join("\n"))
    }

    fn __repr__(&self) -> PyResult<String> {
        let what = match (self.is_over()?, self.mover()?) {
            (true, _) => "terminal".to_owned(),
            (false, Some(role)) => format!("{} to move", self.shared.roles[role.idx()]),
            (false, None) => "several roles to move".to_owned(),
        };
        Ok(format!("<State of {}, {what}>", self.shared.name))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<State>();
        other.is_ok_and(|other| {
            let other = other.get();
            self.shared.is_same(&other.shared) && self.key() == other.key()
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let game = &self.shared.game;
        game.grounded()
            .ok_or_else(|| not_grounded(game, "pickled states"))?;
        let words = self
            .state
            .words()
            .iter()
            .flat_map(|word| word.to_le_bytes());
        let bytes = PyBytes::new(py, &words.collect::<Vec<u8>>());
        let make = py.get_type::<State>().getattr("_from_bytes")?;
        Ok((make, (self.game(), bytes)))
    }

    fn __copy__(slf: Py<State>) -> Py<State> {
        slf
    }

    /// A state never changes, so a copy is the state itself.
    #[pyo3(signature = (_memo))]
    fn __deepcopy__(slf: Py<State>, _memo: &Bound<'_, PyAny>) -> Py<State> {
        slf
    }

    /// For `pickle`.
    #[staticmethod]
    fn _from_bytes(game: &Game, bytes: &[u8]) -> PyResult<State> {
        let n = game.0.game.initial_state().words().len();
        if game.0.game.grounded().is_none() || bytes.len() != n * 8 {
            return Err(value_error(
                "these are not the bytes of a state of this game",
            ));
        }
        let words = bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word));
        let state = EngineState::from_words(words.collect());
        known_bits(&game.0, state.words())?;
        Ok(State::new(Arc::clone(&game.0), state))
    }
}

impl State {
    /// What two equal states of equal games have in common: the words, or the fluents where words are private.
    fn key(&self) -> (Vec<u64>, Vec<String>) {
        match self.shared.game.grounded() {
            Some(_) => (self.state.words().to_vec(), Vec::new()),
            None => (Vec::new(), self.fluents()),
        }
    }
}

/// Refuses words with bits that are no fluents.
fn known_bits(shared: &Shared, words: &[u64]) -> PyResult<()> {
    let game = shared.game.grounded();
    let n_fluents = game.map_or(0, |game| game.program().fluents.len());
    let extra = words.chunks(n_fluents.div_ceil(64).max(1)).any(|state| {
        !n_fluents.is_multiple_of(64)
            && state
                .last()
                .is_some_and(|last| last >> (n_fluents % 64) != 0)
    });
    match extra {
        true => Err(value_error("these bits are not a state of this game")),
        false => Ok(()),
    }
}

/// The words of states: of one state, of a list of states, or of an array of bits.
pub(crate) fn state_words(shared: &Shared, states: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let game = &shared.game;
    game.grounded()
        .ok_or_else(|| not_grounded(game, "batches and rollouts"))?;
    let n = game.initial_state().words().len();
    let own = |state: &State| match state.shared.is_same(shared) {
        true => Ok(state.state.words().to_vec()),
        false => Err(value_error(format!(
            "a state belongs to another game: `{}`, not `{}`",
            state.shared.name, shared.name
        ))),
    };
    if let Ok(state) = states.cast::<State>() {
        return own(state.get());
    }
    if let Ok(array) = states.extract::<PyReadonlyArrayDyn<'_, u64>>() {
        if array.shape().last() != Some(&n) {
            return Err(value_error(format!(
                "an array of states has {n} words per state, as Batch.bits: it has the shape {:?}",
                array.shape()
            )));
        }
        // A copy, because the array may be neither contiguous nor aligned.
        let array = array.call_method0("copy")?;
        let array = array.extract::<PyReadonlyArrayDyn<'_, u64>>()?;
        let words: Vec<u64> = array.as_array().iter().copied().collect();
        known_bits(shared, &words)?;
        return Ok(words);
    }
    let wrong =
        || PyTypeError::new_err("states are a State, a list of them, or a uint64 array of bits");
    let mut words = Vec::new();
    for state in states.try_iter().map_err(|_| wrong())? {
        let state = state?;
        words.extend(own(state.cast::<State>().map_err(|_| wrong())?.get())?);
    }
    Ok(words)
}
