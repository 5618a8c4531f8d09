//! Games: from their names, their files or the text of their rules.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agon_engine::lanes::batch::Actions;
use agon_engine::{
    Fault, FromTextError, Game as EngineGame, Machine, PerceptId, RoleId, State as EngineState,
};
use agon_games::board::board_of;
use agon_games::{About, Board};
use agon_gdl::{Limits, Severity, parse};
use agon_insight::turns::{Turns, turns};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::batch::{Batch, BatchArgs};
use crate::errors::{not_grounded, rules_error, value_error};
use crate::interrupt;
use crate::planes::{Layout, Planes};
use crate::rollout::{Policy, Rollouts, rollout};
use crate::search::{SearchArgs, SearchResult, search};
use crate::state::{State, state_words};

/// What all Python objects of one game share.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) game: Arc<EngineGame>,
    pub(crate) roles: Vec<String>,
    pub(crate) about: Option<About>,
    board: OnceLock<Option<Board>>,
    actions: OnceLock<Option<Arc<Actions>>>,
    turns: OnceLock<Option<Turns>>,
    layout: OnceLock<Option<Arc<Layout>>>,
    machines: Mutex<Vec<Box<dyn Machine + Send>>>,
}

impl Shared {
    fn new(name: String, text: String, game: EngineGame, about: Option<About>) -> Shared {
        let roles = RoleId::all(game.n_roles()).map(|role| game.role_name(role));
        Shared {
            name,
            text,
            roles: roles.collect(),
            game: Arc::new(game),
            about,
            board: OnceLock::new(),
            actions: OnceLock::new(),
            turns: OnceLock::new(),
            layout: OnceLock::new(),
            machines: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn n_roles(&self) -> usize {
        self.roles.len()
    }

    /// Uses a machine in this state. What the interpreter could not answer is an exception.
    pub(crate) fn with_machine<T>(
        &self,
        state: &EngineState,
        work: impl FnOnce(&mut dyn Machine) -> T,
    ) -> PyResult<T> {
        let spare = || self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = spare().pop();
        let mut machine = kept.unwrap_or_else(|| self.game.machine());
        machine.load(state);
        let done = work(&mut *machine);
        let fault = |fault: Fault| {
            PyRuntimeError::new_err(format!("the rules cannot be evaluated here: {fault}"))
        };
        if let Some(reason) = machine.take_fault() {
            return Err(fault(reason));
        }
        spare().push(machine);
        Ok(done)
    }

    pub(crate) fn board(&self) -> Option<&Board> {
        let make = || board_of(&self.game, self.about.as_ref());
        self.board.get_or_init(make).as_ref()
    }

    pub(crate) fn actions(&self, what: &str) -> PyResult<&Arc<Actions>> {
        let make = || {
            self.game
                .grounded()
                .map(|game| Arc::new(Actions::new(game)))
        };
        let actions = self.actions.get_or_init(make).as_ref();
        actions.ok_or_else(|| not_grounded(&self.game, what))
    }

    /// Whether and how roles move in turn, if that can be known.
    pub(crate) fn turns(&self) -> Option<&Turns> {
        let make = || self.game.grounded().map(turns);
        self.turns.get_or_init(make).as_ref()
    }

    pub(crate) fn in_turn(&self) -> bool {
        self.n_roles() == 1 || self.turns().is_some_and(|turns| turns.in_turn)
    }

    pub(crate) fn layout(&self) -> Option<&Arc<Layout>> {
        let make = || Layout::new(self).map(Arc::new);
        self.layout.get_or_init(make).as_ref()
    }

    /// A role by its name or number.
    pub(crate) fn role(&self, role: &Bound<'_, PyAny>) -> PyResult<RoleId> {
        let n_roles = self.n_roles();
        if let Ok(number) = role.extract::<i64>() {
            let found = usize::try_from(number).ok().filter(|&role| role < n_roles);
            let found = found.ok_or_else(|| {
                value_error(format!(
                    "there is no role {number}: roles are 0 to {}",
                    n_roles - 1
                ))
            });
            return found.map(|role| RoleId(role as u16));
        }
        let Ok(name) = role.extract::<String>() else {
            return Err(PyTypeError::new_err("a role is its name or its number"));
        };
        let place = self
            .roles
            .iter()
            .position(|known| known.eq_ignore_ascii_case(&name));
        let place = place.ok_or_else(|| {
            value_error(format!(
                "there is no role `{name}`: roles are {}",
                self.roles.join(", ")
            ))
        });
        place.map(|role| RoleId(role as u16))
    }
}

/// Compiles rules while signals are looked for.
fn compile(py: Python<'_>, name: &str, text: String, about: Option<About>) -> PyResult<Game> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let work = move || {
        let game = from_text(&text, &|| flag.load(Ordering::Relaxed));
        game.map(|game| (game, text))
    };
    match interrupt::run(py, &stop, work)? {
        Ok((game, text)) => Ok(Game(Arc::new(Shared::new(
            name.to_owned(),
            text,
            game,
            about,
        )))),
        Err(error) => Err(rules_error(py, &error)),
    }
}

/// As `Game::from_text` of the engine, but it can be stopped.
fn from_text(text: &str, stop: &dyn Fn() -> bool) -> Result<EngineGame, FromTextError> {
    let description = parse(text.as_bytes(), &Limits::default());
    let rules = agon_gdl::check(&description).map_err(|findings| FromTextError::Rules {
        findings,
        source: Arc::clone(&description.source),
    })?;
    EngineGame::compile(Arc::new(rules), &Default::default(), stop)
        .map_err(FromTextError::Interpreter)
}

/// A game, compiled from its rules. It never changes and can be used from several threads.
///
/// >>> import agon_ggp
/// >>> game = agon_ggp.Game.load("tic_tac_toe")
/// >>> game.roles
/// ['x', 'o']
/// >>> game.n_actions
/// 10
/// >>> game.initial_state().to_move
/// 'x'
#[pyclass(frozen, module = "agon_ggp")]
pub(crate) struct Game(pub(crate) Arc<Shared>);

#[pymethods]
impl Game {
    /// Loads a game: the path of a rulesheet if there is such a file, otherwise a built-in game.
    ///
    /// >>> from agon_ggp import Game
    /// >>> Game.load("connect_four")
    /// Game('connect_four', roles=['red', 'black'])
    #[staticmethod]
    #[pyo3(signature = (name))]
    fn load(py: Python<'_>, name: std::path::PathBuf) -> PyResult<Game> {
        if name.exists() {
            let shown = name.display().to_string();
            let bytes = std::fs::read(&name)
                .map_err(|error| PyOSError::new_err(format!("cannot read {shown}: {error}")))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let stem = name
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            return compile(py, &stem.unwrap_or(shown), text, about_of(&name));
        }
        let name = name.to_string_lossy();
        let Some(built_in) = agon_games::find(&name) else {
            let near = agon_games::near(&name);
            let near = match near.is_empty() {
                true => String::new(),
                false => format!("did you mean {}? ", near.join(" or ")),
            };
            return Err(PyFileNotFoundError::new_err(format!(
                "there is no file and no built-in game called `{name}`; {near}agon_ggp.games() lists the built-in games"
            )));
        };
        compile(
            py,
            built_in.name,
            built_in.sheet.to_owned(),
            Some(built_in.about),
        )
    }

    /// Compiles a game from the text of its rules, in GDL. Errors of the rules raise `RulesError`.
    ///
    /// >>> from agon_ggp import Game, RulesError
    /// >>> lamp = "(role robot) (init (lamp off)) (legal robot push) " \
    /// ...        "(<= (next (lamp on)) (does robot push)) " \
    /// ...        "(<= terminal (true (lamp on))) (<= (goal robot 100) (true (lamp on)))"
    /// >>> Game.from_text(lamp).initial_state().apply("push").goals
    /// {'robot': 100}
    /// >>> try:
    /// ...     Game.from_text("(role robot)\n(legal robot ?what)")
    /// ... except RulesError as error:
    /// ...     print(error.line, error.column)
    /// 2 14
    #[staticmethod]
    #[pyo3(signature = (text, name="rules"))]
    fn from_text(py: Python<'_>, text: String, name: &str) -> PyResult<Game> {
        compile(py, name, text, None)
    }

    /// The name of the game.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// What people call the game; its name if that is not known.
    #[getter]
    fn title(&self) -> &str {
        let about = self
            .0
            .about
            .as_ref()
            .filter(|about| !about.title.is_empty());
        about.map_or(&self.0.name, |about| &about.title)
    }

    /// The text of the rules.
    #[getter]
    fn rules(&self) -> &str {
        &self.0.text
    }

    /// The names of the roles, in the order of the rules.
    #[getter]
    fn roles(&self) -> Vec<String> {
        self.0.roles.clone()
    }

    /// Whether moves and fluents are finite lists, which batches and action numbers need.
    #[getter]
    fn is_grounded(&self) -> bool {
        self.0.game.grounded().is_some()
    }

    /// Whether at most one role has a choice in each state. Others wait, or there is only one role.
    ///
    /// >>> from agon_ggp import Game
    /// >>> Game.load("tic_tac_toe").in_turn, Game.load("roshambo").in_turn
    /// (True, False)
    #[getter]
    fn in_turn(&self, py: Python<'_>) -> PyResult<bool> {
        interrupt::short(py, || self.0.in_turn())
    }

    /// The texts of all moves; the place in this list is the number of an action. It is the same for all roles.
    ///
    /// >>> from agon_ggp import Game
    /// >>> game = Game.load("tic_tac_toe")
    /// >>> game.actions[4], game.action("(mark 2 2)")
    /// ('(mark 2 2)', 4)
    #[getter]
    fn actions(&self) -> PyResult<Vec<String>> {
        Ok(self.0.actions("action numbers")?.texts.clone())
    }

    /// Number of actions.
    #[getter]
    fn n_actions(&self) -> PyResult<usize> {
        Ok(self.0.actions("action numbers")?.texts.len())
    }

    /// The number of a move's text.
    fn action(&self, text: &str) -> PyResult<usize> {
        let actions = self.0.actions("action numbers")?;
        let roles = RoleId::all(self.0.n_roles());
        let mut found = roles.filter_map(|role| {
            let mv = self.0.game.find_move(role, text)?;
            Some(actions.of_moves[role.idx()][mv.0 as usize] as usize)
        });
        found
            .next()
            .ok_or_else(|| value_error(format!("no role ever has the move `{text}`")))
    }

    /// The texts of all fluents, in the order of observations.
    #[getter]
    fn fluents(&self) -> PyResult<Vec<String>> {
        let grounded = self.0.game.grounded();
        let grounded = grounded.ok_or_else(|| not_grounded(&self.0.game, "lists of fluents"))?;
        let program = grounded.program();
        let fluents = program.fluents.iter();
        Ok(fluents
            .map(|fluent| program.term_text(fluent.term))
            .collect())
    }

    /// Number of fluents: the length of an observation.
    #[getter]
    fn n_fluents(&self) -> PyResult<usize> {
        let grounded = self.0.game.grounded();
        let grounded = grounded.ok_or_else(|| not_grounded(&self.0.game, "observations"))?;
        Ok(grounded.program().fluents.len())
    }

    /// The board as planes for a network, or None if the rules have no board that Agon can find.
    ///
    /// >>> from agon_ggp import Game
    /// >>> planes = Game.load("connect_four").planes
    /// >>> planes.shape
    /// (4, 6, 7)
    /// >>> planes.channels
    /// ['black', 'red', '(control red)', '(control black)']
    #[getter]
    fn planes(&self, py: Python<'_>) -> PyResult<Option<Planes>> {
        let layout = interrupt::short(py, || self.0.layout().cloned())?;
        Ok(layout.map(Planes))
    }

    /// Whether the game has hidden information (GDL-II): a role knows only its own moves and its percepts.
    ///
    /// >>> from agon_ggp import Game
    /// >>> Game.load("kuhn_poker").has_hidden_information, Game.load("chess").has_hidden_information
    /// (True, False)
    #[getter]
    fn has_hidden_information(&self) -> bool {
        self.0.game.is_gdl2()
    }

    /// The role that chance plays, whose legal moves are all equally likely, or None. Only games with hidden information
    /// (GDL-II) have one.
    #[getter]
    fn random_role(&self) -> Option<&str> {
        let role = self.0.game.random_role()?;
        Some(&self.0.roles[role.idx()])
    }

    /// The texts of all percepts, which are what roles can see of a step; see `State.percepts`. Empty if all is seen.
    #[getter]
    fn percepts(&self) -> PyResult<Vec<String>> {
        let game = &self.0.game;
        let grounded = game
            .grounded()
            .ok_or_else(|| not_grounded(game, "lists of percepts"))?;
        let n_percepts = if game.is_gdl2() {
            grounded.n_percepts()
        } else {
            0
        };
        let all = (0..n_percepts as u32).map(PerceptId);
        Ok(all.map(|percept| game.percept_name(percept)).collect())
    }

    /// The lowest and the highest goal that the rules can give a role.
    fn goal_range(&self, role: &Bound<'_, PyAny>) -> PyResult<(u8, u8)> {
        let (low, high) = self.0.game.goal_range(self.0.role(role)?);
        Ok((low.value(), high.value()))
    }

    /// The state in which matches begin.
    ///
    /// >>> from agon_ggp import Game
    /// >>> print(Game.load("tic_tac_toe").initial_state())
    /// 3 . . .
    /// 2 . . .
    /// 1 . . .
    ///   1 2 3
    fn initial_state(&self) -> State {
        State::new(Arc::clone(&self.0), self.0.game.initial_state().clone())
    }

    /// A batch of `n` environments that are stepped together; see `Batch`.
    ///
    /// >>> from agon_ggp import Game
    /// >>> batch = Game.load("connect_four").batch(1000, seed=1)
    /// >>> batch.step(batch.random_actions())
    /// >>> batch.observation.shape, batch.mask.shape, batch.rewards.shape
    /// ((1000, 86), (1000, 8), (1000, 2))
    #[pyo3(signature = (n, seed=0, *, mode="auto", autoreset="same_step", illegal="raise", max_steps=None,
        rewards="scaled", every_step=false, threads=1, out=None))]
    #[expect(clippy::too_many_arguments, reason = "these are keywords in Python")]
    fn batch(
        &self,
        py: Python<'_>,
        n: usize,
        seed: u64,
        mode: &str,
        autoreset: &str,
        illegal: &str,
        max_steps: Option<u32>,
        rewards: &str,
        every_step: bool,
        threads: usize,
        out: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Batch> {
        let args = BatchArgs {
            n,
            seed,
            mode,
            autoreset,
            illegal,
            max_steps,
            rewards,
            every_step,
            threads,
            out,
        };
        Batch::new(py, &self.0, &args)
    }

    /// Plays `n` random playouts from each state and returns their means.
    ///
    /// `states` is a state, a list of states, or an array of bits as in `Batch.bits`. `policy` is `"uniform"`,
    /// `"decisive"` (immediate wins are made and prevented), or a dictionary of weights by move text. The same seed gives
    /// the same means with any number of threads.
    ///
    /// >>> from agon_ggp import Game
    /// >>> game = Game.load("tic_tac_toe")
    /// >>> result = game.rollout(game.initial_state(), 10_000, seed=1)
    /// >>> result.goals.shape, bool(result.goals[0, 0] > result.goals[0, 1])
    /// ((1, 2), True)
    #[pyo3(signature = (states, n, *, seed=0, policy=None, max_steps=None, threads=1))]
    #[expect(clippy::too_many_arguments, reason = "these are keywords in Python")]
    fn rollout(
        &self,
        py: Python<'_>,
        states: &Bound<'_, PyAny>,
        n: u32,
        seed: u64,
        policy: Option<&Bound<'_, PyAny>>,
        max_steps: Option<u32>,
        threads: usize,
    ) -> PyResult<Rollouts> {
        let states = state_words(&self.0, states)?;
        let policy = Policy::read(&self.0, policy)?;
        rollout(py, &self.0, &states, n, seed, &policy, max_steps, threads)
    }

    /// Searches for a move. `role` may be left out if only one role has a choice. Give `time` in seconds, `playouts` or
    /// both; without either, one second. With `playouts` alone, the same seed gives the same result.
    ///
    /// >>> from agon_ggp import Game
    /// >>> game = Game.load("tic_tac_toe")
    /// >>> state = game.initial_state()
    /// >>> for move in ["(mark 1 1)", "(mark 3 3)", "(mark 2 1)", "(mark 2 2)"]:
    /// ...     state = state.apply(move)
    /// >>> game.search(state, playouts=1000).move
    /// '(mark 3 1)'
    #[pyo3(signature = (state=None, role=None, *, player="agon", time=None, playouts=None, seed=1))]
    #[expect(clippy::too_many_arguments, reason = "these are keywords in Python")]
    fn search(
        &self,
        py: Python<'_>,
        state: Option<&State>,
        role: Option<&Bound<'_, PyAny>>,
        player: &str,
        time: Option<f64>,
        playouts: Option<u64>,
        seed: u64,
    ) -> PyResult<SearchResult> {
        let initial = self.initial_state();
        let state = state.unwrap_or(&initial);
        self.own(state)?;
        let role = match role {
            Some(role) => self.0.role(role)?,
            None => state.acting_role("search for a move")?,
        };
        let args = SearchArgs {
            player,
            time,
            playouts,
            seed,
        };
        search(py, &self.0, state, role, &args)
    }

    fn __repr__(&self) -> String {
        let roles: Vec<String> = self
            .0
            .roles
            .iter()
            .map(|role| format!("'{role}'"))
            .collect();
        format!("Game('{}', roles=[{}])", self.0.name, roles.join(", "))
    }

    fn __eq__(&self, other: &Game) -> bool {
        self.0.is_same(&other.0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&self.0.text, &mut hasher);
        std::hash::Hasher::finish(&hasher)
    }

    fn __copy__(slf: Py<Game>) -> Py<Game> {
        slf
    }

    /// A game never changes, so a copy is the game itself.
    #[pyo3(signature = (_memo))]
    fn __deepcopy__(slf: Py<Game>, _memo: &Bound<'_, PyAny>) -> Py<Game> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let make = py.get_type::<Game>().getattr("from_text")?;
        Ok((make, (self.0.text.clone(), self.0.name.clone())))
    }
}

impl Game {
    /// Whether a state belongs to this game.
    fn own(&self, state: &State) -> PyResult<()> {
        match state.shared.is_same(&self.0) {
            true => Ok(()),
            false => Err(value_error(format!(
                "the state belongs to another game: `{}`, not `{}`",
                state.shared.name, self.0.name
            ))),
        }
    }
}

impl Shared {
    /// Whether these are the same rules, so that numbers mean the same.
    pub(crate) fn is_same(&self, other: &Shared) -> bool {
        std::ptr::eq(self, other) || self.text == other.text
    }
}

/// The metadata beside a rulesheet.
fn about_of(sheet: &Path) -> Option<About> {
    let text = std::fs::read_to_string(sheet.with_extension("toml")).ok()?;
    About::read(&text).ok()
}

/// A finding of `check`: an error or a warning about rules.
#[pyclass(frozen, get_all, module = "agon_ggp")]
pub(crate) struct Finding {
    /// `error` or `warning`.
    severity: String,
    /// The name of the check.
    kind: String,
    /// What is wrong.
    message: String,
    /// What to do about it, if that is known.
    help: Option<String>,
    /// The line, counted from 1, if there is a place.
    line: Option<u32>,
    /// The column, counted from 1.
    column: Option<u32>,
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> String {
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{line}:{column}: "),
            _ => String::new(),
        };
        format!("<{place}{}: {}>", self.severity, self.message)
    }
}

/// Checks rules and returns all findings; rules without errors can be played.
///
/// >>> from agon_ggp import check
/// >>> [(finding.severity, finding.line) for finding in check("(role a)\n(legal a ?x)")][0]
/// ('error', 2)
#[pyfunction]
#[pyo3(signature = (text))]
pub(crate) fn check(py: Python<'_>, text: &str) -> PyResult<Vec<Finding>> {
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::run(py, &stop, || {
        let description = parse(text.as_bytes(), &Limits::default());
        let findings = match agon_gdl::check(&description) {
            Ok(rules) => rules.warnings.clone(),
            Err(findings) => findings,
        };
        let finding = |found: &agon_gdl::Diagnostic| {
            let place = found.place(&description.source);
            Finding {
                severity: match found.severity {
                    Severity::Error => "error".to_owned(),
                    Severity::Warning => "warning".to_owned(),
                },
                kind: found.kind.name().to_owned(),
                message: found.message.clone(),
                help: found.help.clone(),
                line: place.map(|place| place.line),
                column: place.map(|place| place.column),
            }
        };
        findings.iter().map(finding).collect()
    })
}

/// The names of the built-in games.
///
/// >>> from agon_ggp import games
/// >>> "breakthrough" in games()
/// True
#[pyfunction]
pub(crate) fn games() -> Vec<String> {
    let games = agon_games::games();
    games.iter().map(|game| game.name.to_owned()).collect()
}
