//! Batches: environments in NumPy arrays.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use agon_engine::State as EngineState;
use agon_engine::lanes::batch::{
    AutoReset, BatchOptions, BatchProgram, Envs, Illegal, NO_GOAL, Stepper, draw_actions,
    first_illegal,
};
use numpy::{PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Array, bytes};
use crate::errors::{IllegalMoveError, not_grounded, value_error};
use crate::game::{Game, Shared};
use crate::interrupt;
use crate::state::{State, state_words};

/// Most environments of a batch: so that memory is asked for in reason.
const MOST: usize = 1 << 26;

/// The arguments of `Game.batch`.
pub(crate) struct BatchArgs<'a, 'py> {
    pub(crate) n: usize,
    pub(crate) seed: u64,
    pub(crate) mode: &'a str,
    pub(crate) autoreset: &'a str,
    pub(crate) illegal: &'a str,
    pub(crate) max_steps: Option<u32>,
    pub(crate) rewards: &'a str,
    pub(crate) every_step: bool,
    pub(crate) threads: usize,
    pub(crate) out: Option<&'a Bound<'py, PyDict>>,
}

/// Thousands of environments side by side: matches of one game that are stepped together, in arrays.
///
/// `step` takes an action per environment and writes all arrays anew. The arrays stay the same objects, so keep copies of
/// what you need later. In mode `"turns"`, which is that of games in which roles move in turn, there is one action per
/// environment, that of the role to move; the others make their only legal move. In mode `"joint"` there is one action
/// per role; -1 stands for the only legal action.
///
/// >>> from agon_ggp import Game
/// >>> batch = Game.load("tic_tac_toe").batch(4, seed=7)
/// >>> batch.step([4, 4, 0, 8])
/// >>> batch.current_role.tolist(), batch.mask.sum(axis=1).tolist()
/// ([1, 1, 1, 1], [8, 8, 8, 8])
/// >>> while not batch.terminated.any():
/// ...     batch.step(batch.random_actions())
/// >>> batch.rewards[batch.terminated].sum(axis=1).tolist()[0]
/// 0.0
#[pyclass(frozen, module = "agon_ggp")]
pub(crate) struct Batch {
    shared: Arc<Shared>,
    program: Arc<BatchProgram>,
    raises: bool,
    n: usize,
    inner: Mutex<Inner>,
}

struct Inner {
    steppers: Vec<Stepper>,
    pool: Option<rayon::ThreadPool>,
    n_steps: u64,
    n_draws: u64,
    seed: u64,
    own: Own,
    shown: Shown,
}

/// What the logic of a batch relies on; Python programs cannot change it.
struct Own {
    states: Vec<u64>,
    legal: Vec<u64>,
    roles: Vec<i8>,
    steps: Vec<u32>,
    over: Vec<bool>,
    finals: Vec<u64>,
    actions: Vec<i32>,
}

/// The arrays that Python programs see.
struct Shown {
    observation: Array<u8>,
    mask: Array<i8>,
    rewards: Array<f32>,
    terminated: Array<bool>,
    truncated: Array<bool>,
    current_role: Array<i8>,
    bits: Array<u64>,
    steps: Array<u32>,
}

/// A choice among names.
fn named<T: Copy>(what: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(name, _)| *name == given);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = known
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        value_error(format!(
            "{what} is one of {}: not \"{given}\"",
            names.join(", ")
        ))
    })
}

impl Batch {
    pub(crate) fn new(
        py: Python<'_>,
        shared: &Arc<Shared>,
        args: &BatchArgs<'_, '_>,
    ) -> PyResult<Batch> {
        if args.n == 0 || args.n > MOST {
            return Err(value_error(format!(
                "a batch has 1 to {MOST} environments, not {}",
                args.n
            )));
        }
        if args.threads == 0 || args.threads > 1024 {
            return Err(value_error(format!(
                "threads are 1 to 1024, not {}",
                args.threads
            )));
        }
        if args.max_steps == Some(0) {
            return Err(value_error("max_steps is at least 1"));
        }
        let illegal = [
            ("raise", None),
            ("end", Some(Illegal::End)),
            ("random", Some(Illegal::Random)),
        ];
        let illegal = named("illegal", args.illegal, &illegal)?;
        let resets = [
            ("same_step", AutoReset::SameStep),
            ("next_step", AutoReset::NextStep),
            ("disabled", AutoReset::Never),
        ];
        let reset = named("autoreset", args.autoreset, &resets)?;
        let is_raw = named(
            "rewards",
            args.rewards,
            &[("scaled", false), ("goals", true)],
        )?;
        let game = &shared.game;
        let grounded = game
            .grounded()
            .ok_or_else(|| not_grounded(game, "batches"))?;
        let actions = shared.actions("batches")?;
        let turns = shared
            .turns()
            .ok_or_else(|| not_grounded(game, "batches"))?;
        let in_turn = match named(
            "mode",
            args.mode,
            &[
                ("auto", None),
                ("turns", Some(true)),
                ("joint", Some(false)),
            ],
        )? {
            Some(in_turn) => in_turn,
            None => shared.in_turn(),
        };
        let options = BatchOptions {
            in_turn,
            reset,
            illegal: illegal.unwrap_or(Illegal::End),
            most_steps: args.max_steps.unwrap_or(u32::MAX),
            rewards: rewards(is_raw),
            every_step: args.every_step,
            seed: args.seed,
        };
        let program = interrupt::short(py, || {
            Arc::new(BatchProgram::new(
                grounded,
                actions,
                &turns.waiting,
                options,
            ))
        })?;
        let shown = Shown::new(py, &program, args)?;
        shown.check_overlap(py)?;
        let own = Own::new(&program, args.n);
        let pool = (args.threads > 1).then(|| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(args.threads)
                .build()
        });
        let pool = pool
            .transpose()
            .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?;
        let batch = Batch {
            inner: Mutex::new(Inner {
                steppers: (0..args.threads).map(|_| Stepper::new(&program)).collect(),
                pool,
                n_steps: 0,
                n_draws: 0,
                seed: args.seed,
                own,
                shown,
            }),
            shared: Arc::clone(shared),
            raises: illegal.is_none(),
            program,
            n: args.n,
        };
        batch.reset(py, None, None)?;
        Ok(batch)
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(inner)) => Ok(inner.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "the batch is in use by another thread; give each thread a batch of its own",
            )),
        }
    }

    /// Does some work on all environments, divided among the threads.
    fn each(
        &self,
        py: Python<'_>,
        inner: &mut Inner,
        work: impl Fn(&mut Stepper, &mut Envs<'_>, &[i32]) -> Option<usize> + Send + Sync,
    ) -> PyResult<()> {
        let program = &*self.program;
        let (own, shown) = (&mut inner.own, &mut inner.shown);
        let part = self.n.div_ceil(inner.steppers.len()).next_multiple_of(64);
        let n_seats = program.n_seats();
        let actions = &own.actions;
        let observation = shown.observation.memory(py)?;
        let mask = shown.mask.memory(py)?;
        let all = Envs {
            first: 0,
            states: &mut own.states,
            legal: &mut own.legal,
            roles: &mut own.roles,
            steps: &mut own.steps,
            over: &mut own.over,
            observation,
            // Masks are `int8` in Python, as samplers of spaces want them.
            mask: bytes(mask),
            rewards: shown.rewards.memory(py)?,
            terminated: shown.terminated.memory(py)?,
            truncated: shown.truncated.memory(py)?,
            finals: &mut own.finals,
        };
        let (steppers, pool) = (&mut inner.steppers, &inner.pool);
        let conflict = interrupt::short(py, move || {
            let parts = split(program, all, part);
            let jobs = steppers.iter_mut().zip(parts);
            let run = |(stepper, mut envs): (&mut Stepper, Envs<'_>)| {
                let actions = &actions[envs.first * n_seats..][..envs.len() * n_seats];
                work(stepper, &mut envs, actions).map(|env| envs.first + env)
            };
            match pool {
                None => jobs.map(run).fold(None, Option::or),
                Some(pool) => pool.install(|| {
                    use rayon::prelude::*;
                    let jobs: Vec<_> = jobs.collect();
                    let found: Vec<_> = jobs.into_par_iter().map(run).collect();
                    found.into_iter().fold(None, Option::or)
                }),
            }
        })?;
        shown.current_role.memory(py)?.copy_from_slice(&own.roles);
        shown.bits.memory(py)?.copy_from_slice(&own.states);
        shown.steps.memory(py)?.copy_from_slice(&own.steps);
        match conflict {
            None => Ok(()),
            Some(env) => Err(PyRuntimeError::new_err(format!(
                "several roles have a choice in environment {env}, which was cut off: roles of this game do not move in \
                 turn; use mode=\"joint\""
            ))),
        }
    }

    fn step_once(&self, py: Python<'_>, inner: &mut Inner) -> PyResult<()> {
        let n_steps = inner.n_steps;
        inner.n_steps += 1;
        self.each(py, inner, |stepper, envs, actions| {
            stepper.step(envs, actions, n_steps)
        })
    }

    /// The error for an illegal action.
    fn illegal(&self, inner: &Inner, env: usize, seat: usize) -> PyErr {
        let n_seats = self.program.n_seats();
        let action = inner.own.actions[env * n_seats + seat];
        let role = match n_seats {
            1 => inner.own.roles[env].max(0) as usize,
            _ => seat,
        };
        let legal = &inner.own.legal[(env * n_seats + seat) * self.program.n_mask_words()..]
            [..self.program.n_mask_words()];
        let n_legal: u32 = legal.iter().map(|word| word.count_ones()).sum();
        let texts = self.shared.actions("actions").map(|actions| &actions.texts);
        let text = texts
            .ok()
            .and_then(|texts| texts.get(usize::try_from(action).ok()?));
        let text = text.map_or(String::new(), |text| format!(" {text}"));
        IllegalMoveError::new_err(format!(
            "action {action}{text} of role {} is not legal in environment {env}, which has {n_legal} legal actions; \
             no environment was changed. See Batch.mask, or illegal=\"end\" and \"random\" of Game.batch",
            self.shared.roles[role]
        ))
    }

    /// Copies actions from an array or a list.
    fn read_actions(&self, actions: &Bound<'_, PyAny>, to: &mut [i32]) -> PyResult<()> {
        let n_seats = self.program.n_seats();
        let shape = match self.program.options().in_turn {
            true => vec![self.n],
            false => vec![self.n, n_seats],
        };
        let check = |found: &[usize]| match found == shape {
            true => Ok(()),
            false => Err(value_error(format!(
                "actions must have the shape {shape:?}, not {found:?}"
            ))),
        };
        if let Ok(array) = actions.extract::<PyReadonlyArrayDyn<'_, i32>>() {
            check(array.shape())?;
            // A slice has the order of the memory, which may be another than that of the indexes.
            if let (true, Ok(actions)) = (array.is_c_contiguous(), array.as_slice()) {
                to.copy_from_slice(actions);
                return Ok(());
            }
        }
        let numpy = actions.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (actions,))?;
        let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
        if kind != "i" && kind != "u" {
            let dtype = array.getattr("dtype")?;
            return Err(PyTypeError::new_err(format!(
                "actions are whole numbers, not {dtype}"
            )));
        }
        let wide = array.call_method1("astype", ("int64",))?;
        let wide = wide.extract::<PyReadonlyArrayDyn<'_, i64>>()?;
        check(wide.shape())?;
        for (to, &action) in to.iter_mut().zip(wide.as_array().iter()) {
            *to = i32::try_from(action).unwrap_or(i32::MAX);
        }
        Ok(())
    }

    fn shown<T>(&self, get: impl FnOnce(&Shown) -> T) -> PyResult<T> {
        Ok(get(&self.lock()?.shown))
    }
}

/// The reward of each goal.
fn rewards(is_raw: bool) -> Box<[f32; NO_GOAL + 1]> {
    let mut rewards = Box::new([0.0; NO_GOAL + 1]);
    for goal in 0..=100 {
        rewards[goal] = match is_raw {
            true => goal as f32,
            false => goal as f32 / 50.0 - 1.0,
        };
    }
    rewards[NO_GOAL] = if is_raw { f32::NAN } else { 0.0 };
    rewards
}

impl Own {
    fn new(program: &BatchProgram, n: usize) -> Own {
        let (n_words, n_seats) = (program.n_state_words(), program.n_seats());
        Own {
            states: vec![0; n * n_words],
            legal: vec![0; n * n_seats * program.n_mask_words()],
            roles: vec![0; n],
            steps: vec![0; n],
            over: vec![false; n],
            finals: vec![0; n * n_words],
            actions: vec![-1; n * n_seats],
        }
    }
}

impl Shown {
    fn new(py: Python<'_>, program: &BatchProgram, args: &BatchArgs<'_, '_>) -> PyResult<Shown> {
        let n = args.n;
        let mask = match program.options().in_turn {
            true => vec![n, program.n_actions()],
            false => vec![n, program.n_roles(), program.n_actions()],
        };
        let known = [
            "observation",
            "mask",
            "rewards",
            "terminated",
            "truncated",
            "current_role",
        ];
        for name in args.out.iter().flat_map(|out| out.keys()) {
            let name = name.to_string();
            if !known.contains(&name.as_str()) {
                return Err(value_error(format!(
                    "out has an array `{name}`: it may have {}",
                    known.join(", ")
                )));
            }
        }
        let out = args.out;
        Ok(Shown {
            observation: Array::given_or_new(py, out, known[0], &[n, program.n_fluents()])?,
            mask: Array::given_or_new(py, out, known[1], &mask)?,
            rewards: Array::given_or_new(py, out, known[2], &[n, program.n_roles()])?,
            terminated: Array::given_or_new(py, out, known[3], &[n])?,
            truncated: Array::given_or_new(py, out, known[4], &[n])?,
            current_role: Array::given_or_new(py, out, known[5], &[n])?,
            bits: Array::read_only(py, &[n, program.n_state_words()])?,
            steps: Array::read_only(py, &[n])?,
        })
    }

    /// Refuses arrays that share memory, because each is borrowed by itself.
    fn check_overlap(&self, py: Python<'_>) -> PyResult<()> {
        let mut places = [
            self.observation.address(py),
            self.mask.address(py),
            self.rewards.address(py),
            self.terminated.address(py),
            self.truncated.address(py),
            self.current_role.address(py),
        ];
        places.sort_unstable();
        match places.windows(2).any(|pair| pair[0].1 > pair[1].0) {
            true => Err(value_error("the arrays of `out` must not share memory")),
            false => Ok(()),
        }
    }
}

/// Divides environments into parts.
fn split<'a>(program: &BatchProgram, all: Envs<'a>, part: usize) -> Vec<Envs<'a>> {
    let (n_words, n_seats) = (program.n_state_words(), program.n_seats());
    let n = all.roles.len();
    let mut states = all.states.chunks_mut((part * n_words).max(1));
    let mut legal = all
        .legal
        .chunks_mut(part * n_seats * program.n_mask_words());
    let mut roles = all.roles.chunks_mut(part);
    let mut steps = all.steps.chunks_mut(part);
    let mut over = all.over.chunks_mut(part);
    let mut observation = all
        .observation
        .chunks_mut((part * program.n_fluents()).max(1));
    let mut mask = all
        .mask
        .chunks_mut((part * n_seats * program.n_actions()).max(1));
    let mut rewards = all.rewards.chunks_mut((part * program.n_roles()).max(1));
    let mut terminated = all.terminated.chunks_mut(part);
    let mut truncated = all.truncated.chunks_mut(part);
    let mut finals = all.finals.chunks_mut((part * n_words).max(1));
    let firsts = (0..n).step_by(part);
    let envs = firsts.map(|first| Envs {
        first,
        states: states.next().unwrap_or_default(),
        legal: legal.next().unwrap_or_default(),
        roles: roles.next().unwrap_or_default(),
        steps: steps.next().unwrap_or_default(),
        over: over.next().unwrap_or_default(),
        observation: observation.next().unwrap_or_default(),
        mask: mask.next().unwrap_or_default(),
        rewards: rewards.next().unwrap_or_default(),
        terminated: terminated.next().unwrap_or_default(),
        truncated: truncated.next().unwrap_or_default(),
        finals: finals.next().unwrap_or_default(),
    });
    envs.collect()
}

#[pymethods]
impl Batch {
    /// The game.
    #[getter]
    fn game(&self) -> Game {
        Game(Arc::clone(&self.shared))
    }

    /// Number of environments.
    #[getter]
    fn n(&self) -> usize {
        self.n
    }

    fn __len__(&self) -> usize {
        self.n
    }

    /// `"turns"` or `"joint"`.
    #[getter]
    fn mode(&self) -> &str {
        match self.program.options().in_turn {
            true => "turns",
            false => "joint",
        }
    }

    /// Fluents as 0 and 1: uint8 `(n, n_fluents)`.
    #[getter]
    fn observation(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<u8>>> {
        self.shown(|shown| shown.observation.python(py))
    }

    /// Legal actions as 0 and 1: int8 `(n, n_actions)`, or `(n, n_roles, n_actions)` in mode `"joint"`. All 0 at the end.
    #[getter]
    fn mask(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<i8>>> {
        self.shown(|shown| shown.mask.python(py))
    }

    /// Rewards of the last step: float32 `(n, n_roles)`.
    #[getter]
    fn rewards(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<f32>>> {
        self.shown(|shown| shown.rewards.python(py))
    }

    /// Whether the match ended by its rules in the last step: bool `(n,)`.
    #[getter]
    fn terminated(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<bool>>> {
        self.shown(|shown| shown.terminated.python(py))
    }

    /// Whether the match was cut off in the last step, by `max_steps` or because a role has no legal move: bool `(n,)`.
    #[getter]
    fn truncated(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<bool>>> {
        self.shown(|shown| shown.truncated.python(py))
    }

    /// The number of the role to move: int8 `(n,)`; -1 where several roles choose at the same time.
    #[getter]
    fn current_role(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<i8>>> {
        self.shown(|shown| shown.current_role.python(py))
    }

    /// The states, one bit per fluent, lowest bit first: uint64 `(n, words)`, read-only.
    #[getter]
    fn bits(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<u64>>> {
        self.shown(|shown| shown.bits.python(py))
    }

    /// Steps since the match began: uint32 `(n,)`, read-only.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<u32>>> {
        self.shown(|shown| shown.steps.python(py))
    }

    /// Makes a step in every environment and writes all arrays. Actions are whole numbers, `(n,)` in mode `"turns"` and
    /// `(n, n_roles)` in mode `"joint"`; -1 stands for the only legal action.
    fn step(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut inner = self.lock()?;
        let mut given = std::mem::take(&mut inner.own.actions);
        let read = self.read_actions(actions, &mut given);
        inner.own.actions = given;
        read?;
        if self.raises {
            let own = &inner.own;
            let illegal = first_illegal(&self.program, &own.legal, &own.over, &own.actions);
            if let Some((env, seat)) = illegal {
                return Err(self.illegal(&inner, env, seat));
            }
        }
        self.step_once(py, &mut inner)
    }

    /// Draws a random legal action for each environment (and role), and -1 where there is none. `out` is an int32 array to
    /// write them into.
    #[pyo3(signature = (out=None))]
    fn random_actions(
        &self,
        py: Python<'_>,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyArrayDyn<i32>>> {
        let mut inner = self.lock()?;
        let shape = match self.program.options().in_turn {
            true => vec![self.n],
            false => vec![self.n, self.program.n_seats()],
        };
        let mut array = match out {
            None => Array::new(py, &shape),
            Some(out) => {
                let given = PyDict::new(py);
                given.set_item("out", out)?;
                Array::given_or_new(py, Some(&given), "out", &shape)?
            }
        };
        self.draw(&mut inner);
        array.memory(py)?.copy_from_slice(&inner.own.actions);
        Ok(array.python(py))
    }

    /// Makes `n` steps with random legal actions. Arrays are written in every step.
    #[pyo3(signature = (n=1))]
    fn step_random(&self, py: Python<'_>, n: u64) -> PyResult<()> {
        let mut inner = self.lock()?;
        for _ in 0..n {
            self.draw(&mut inner);
            self.step_once(py, &mut inner)?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Puts environments into the initial state: all of them, or those that the bool array `mask` marks. A seed starts the
    /// random numbers again.
    #[pyo3(signature = (seed=None, mask=None))]
    fn reset(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut inner = self.lock()?;
        let marked: Option<Vec<bool>> = match mask {
            None => None,
            Some(mask) => {
                mask.cast::<PyArrayDyn<bool>>()
                    .map_err(|_| PyTypeError::new_err("mask is a bool array"))?;
                // Read as bytes: an array may hold others than 0 and 1.
                let array = mask.call_method1("view", ("uint8",))?;
                let array = array.extract::<PyReadonlyArrayDyn<'_, u8>>()?;
                if array.shape() != [self.n] {
                    return Err(value_error(format!(
                        "mask must have the shape [{}], not {:?}",
                        self.n,
                        array.shape()
                    )));
                }
                Some(array.as_array().iter().map(|byte| *byte != 0).collect())
            }
        };
        if let Some(seed) = seed {
            (inner.seed, inner.n_steps, inner.n_draws) = (seed, 0, 0);
        }
        self.each(py, &mut inner, |stepper, envs, _| {
            let marked = marked
                .as_ref()
                .map(|marked| &marked[envs.first..][..envs.len()]);
            stepper.reset(envs, marked);
            None
        })
    }

    /// Puts the environments into these states: as many as there are environments, or one for all. Terminal states wait
    /// for a reset.
    fn set_states(&self, py: Python<'_>, states: &Bound<'_, PyAny>) -> PyResult<()> {
        let words = state_words(&self.shared, states)?;
        let n_words = self.program.n_state_words();
        let mut inner = self.lock()?;
        let n_states = words.len() / n_words.max(1);
        if n_states == self.n {
            inner.own.states.copy_from_slice(&words);
        } else if n_states == 1 {
            inner
                .own
                .states
                .chunks_exact_mut(n_words)
                .for_each(|state| state.copy_from_slice(&words));
        } else {
            return Err(value_error(format!(
                "there are {n_states} states for {} environments",
                self.n
            )));
        }
        self.each(py, &mut inner, |stepper, envs, _| stepper.observe(envs))
    }

    /// The state of an environment.
    fn state(&self, env: isize) -> PyResult<State> {
        let env = self.place(env)?;
        let n = self.program.n_state_words();
        let words = self.lock()?.own.states[env * n..(env + 1) * n].into();
        Ok(State::new(
            Arc::clone(&self.shared),
            EngineState::from_words(words),
        ))
    }

    /// The last state of the match that ended in an environment most recently.
    fn final_state(&self, env: isize) -> PyResult<State> {
        let env = self.place(env)?;
        let n = self.program.n_state_words();
        let words = self.lock()?.own.finals[env * n..(env + 1) * n].into();
        Ok(State::new(
            Arc::clone(&self.shared),
            EngineState::from_words(words),
        ))
    }

    /// The observations of the last states of the matches that ended most recently: uint8 `(n, n_fluents)`.
    fn final_observation(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<u8>>> {
        let inner = self.lock()?;
        let (n, n_words) = (self.program.n_fluents(), self.program.n_state_words());
        let mut array = Array::new(py, &[self.n, n]);
        let finals = inner.own.finals.chunks_exact(n_words.max(1));
        for (state, to) in finals.zip(array.memory(py)?.chunks_exact_mut(n.max(1))) {
            agon_engine::lanes::batch::spread_bits(state, to);
        }
        Ok(array.python(py))
    }

    /// The boards as planes: uint8 `(n, channels, rows, columns)`; see `Game.planes`. `out` is an array to write them into.
    #[pyo3(signature = (out=None))]
    fn planes(
        &self,
        py: Python<'_>,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyArrayDyn<u8>>> {
        let inner = self.lock()?;
        let layout = self.shared.layout();
        let layout =
            layout.ok_or_else(|| value_error("the game has no board that Agon can find"))?;
        let mut shape = vec![self.n];
        shape.extend(layout.shape());
        let given = PyDict::new(py);
        if let Some(out) = out {
            given.set_item("out", out)?;
        }
        let mut array: Array<u8> = Array::given_or_new(py, Some(&given), "out", &shape)?;
        let (states, n_words) = (&inner.own.states, self.program.n_state_words());
        let memory = array.memory(py)?;
        interrupt::short(py, || layout.fill(states, n_words, memory))?;
        Ok(array.python(py))
    }

    fn __repr__(&self) -> String {
        format!(
            "Batch('{}', n={}, mode='{}')",
            self.shared.name,
            self.n,
            self.mode()
        )
    }
}

impl Batch {
    fn draw(&self, inner: &mut Inner) {
        let own = &mut inner.own;
        let draw = (inner.seed, inner.n_draws);
        draw_actions(
            draw,
            0,
            &own.legal,
            self.program.n_mask_words(),
            &mut own.actions,
        );
        inner.n_draws += 1;
    }

    /// An index, counted from the end if it is negative.
    fn place(&self, env: isize) -> PyResult<usize> {
        let place = if env < 0 { env + self.n as isize } else { env };
        let place = usize::try_from(place).ok().filter(|&place| place < self.n);
        place.ok_or_else(|| {
            PyIndexError::new_err(format!(
                "there is no environment {env}: there are {}",
                self.n
            ))
        })
    }
}
