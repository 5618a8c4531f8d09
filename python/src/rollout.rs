//! Means of many random playouts from many states.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use agon_engine::lanes::{Choosing, Job, LanesOptions, Until, Weights};
use agon_engine::{Grounded, RoleId};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::arrays::from_slice;
use crate::errors::{not_grounded, value_error};
use crate::game::Shared;
use crate::interrupt;

/// Playouts of a part of the work; its seed depends on its number, and not on the thread that does it.
const PART: u64 = 1 << 16;

/// Steps after which a playout is given up, unless the caller says otherwise.
const MOST_STEPS: u32 = 100_000;

/// How playouts choose.
pub(crate) struct Policy {
    choosing: Choosing,
    decisive: bool,
}

impl Policy {
    /// Reads `"uniform"`, `"decisive"` or weights by the texts of moves.
    pub(crate) fn read(shared: &Shared, policy: Option<&Bound<'_, PyAny>>) -> PyResult<Policy> {
        let mut read = Policy {
            choosing: Choosing::Uniform,
            decisive: false,
        };
        let Some(policy) = policy else {
            return Ok(read);
        };
        if let Ok(name) = policy.cast::<PyString>() {
            match &*name.to_string_lossy() {
                "uniform" => {}
                "decisive" => read.decisive = true,
                other => {
                    return Err(value_error(format!(
                        "policy is \"uniform\", \"decisive\" or a dictionary of weights: not \"{other}\""
                    )));
                }
            }
            return Ok(read);
        }
        let Ok(given) = policy.cast::<PyDict>() else {
            return Err(PyTypeError::new_err(
                "policy is \"uniform\", \"decisive\" or a dictionary of weights by move text",
            ));
        };
        let actions = shared.actions("weights")?;
        let mut weights = Weights::new(actions.of_moves.iter().map(Vec::len));
        for (text, weight) in given {
            let text: String = text.extract()?;
            let weight: f32 = weight.extract()?;
            if !weight.is_finite() || weight < 0.0 {
                return Err(value_error(format!(
                    "the weight of `{text}` must be a number from 0 on, not {weight}"
                )));
            }
            let mut is_known = false;
            for role in RoleId::all(shared.n_roles()) {
                if let Some(mv) = shared.game.find_move(role, &text) {
                    weights.get_mut(role, mv).weight = weight;
                    is_known = true;
                }
            }
            if !is_known {
                return Err(value_error(format!("no role ever has the move `{text}`")));
            }
        }
        read.choosing = Choosing::Proportional(weights);
        Ok(read)
    }
}

/// The means of playouts.
#[pyclass(frozen, get_all, module = "agon_ggp")]
pub(crate) struct Rollouts {
    /// Mean goals, 0 to 100: float64 `(states, roles)`. NaN where no playout had a goal.
    goals: Py<PyArrayDyn<f64>>,
    /// Playouts with a goal: uint64 `(states, roles)`.
    counts: Py<PyArrayDyn<u64>>,
    /// Mean number of steps: float64 `(states,)`.
    steps: Py<PyArrayDyn<f64>>,
    /// All playouts.
    playouts: u64,
    /// All steps.
    transitions: u64,
}

#[pymethods]
impl Rollouts {
    fn __repr__(&self) -> String {
        format!(
            "Rollouts(playouts={}, transitions={})",
            self.playouts, self.transitions
        )
    }
}

/// Sums of the playouts of one state.
#[derive(Clone, Default)]
struct Sum {
    n_playouts: u64,
    n_steps: u64,
    goals: Vec<(u64, u64)>,
}

/// A part of the work: playouts of some states.
#[derive(Clone, Copy)]
struct Part {
    number: u64,
    first: usize,
    end: usize,
    n_playouts: u32,
}

/// Divides the work in a way that depends on nothing but its size.
fn parts(n_states: usize, n_playouts: u32) -> Vec<Part> {
    let states_per_part = (PART / u64::from(n_playouts.max(1))).max(1) as usize;
    let mut parts = Vec::new();
    for first in (0..n_states).step_by(states_per_part) {
        let end = (first + states_per_part).min(n_states);
        let mut left = n_playouts;
        while left > 0 {
            let n = left.min(PART as u32);
            parts.push(Part {
                number: parts.len() as u64,
                first,
                end,
                n_playouts: n,
            });
            left -= n;
        }
    }
    parts
}

/// Plays out from states whose words follow each other.
#[expect(clippy::too_many_arguments, reason = "these are keywords in Python")]
pub(crate) fn rollout(
    py: Python<'_>,
    shared: &Shared,
    words: &[u64],
    n: u32,
    seed: u64,
    policy: &Policy,
    max_steps: Option<u32>,
    threads: usize,
) -> PyResult<Rollouts> {
    if n == 0 || threads == 0 || threads > 1024 || max_steps == Some(0) {
        return Err(value_error(
            "n, max_steps and threads are at least 1, and threads at most 1024",
        ));
    }
    let game = shared.game.grounded();
    let game = game.ok_or_else(|| not_grounded(&shared.game, "rollouts"))?;
    let n_words = shared.game.initial_state().words().len().max(1);
    let states: Vec<&[u64]> = words.chunks_exact(n_words).collect();
    let parts = parts(states.len(), n);
    let stop = Arc::new(AtomicBool::new(false));
    let work = Work {
        game,
        states: &states,
        seed,
        policy,
        most_steps: max_steps.unwrap_or(MOST_STEPS),
        stop: &stop,
    };
    let sums = interrupt::run(py, &stop, || work.all(&parts, threads))?;
    let n_roles = shared.n_roles();
    let (mut goals, mut counts, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for sum in &sums {
        for &(total, n) in &sum.goals {
            goals.push(total as f64 / n as f64);
            counts.push(n);
        }
        steps.push(sum.n_steps as f64 / sum.n_playouts as f64);
    }
    Ok(Rollouts {
        goals: from_slice(py, &goals, &[sums.len(), n_roles])?,
        counts: from_slice(py, &counts, &[sums.len(), n_roles])?,
        steps: from_slice(py, &steps, &[sums.len()])?,
        playouts: sums.iter().map(|sum| sum.n_playouts).sum(),
        transitions: sums.iter().map(|sum| sum.n_steps).sum(),
    })
}

struct Work<'a> {
    game: &'a Arc<Grounded>,
    states: &'a [&'a [u64]],
    seed: u64,
    policy: &'a Policy,
    most_steps: u32,
    stop: &'a AtomicBool,
}

impl Work<'_> {
    fn all(&self, parts: &[Part], threads: usize) -> Vec<Sum> {
        let next = AtomicUsize::new(0);
        let empty = Sum {
            goals: vec![(0, 0); self.game.program().roles.len()],
            ..Sum::default()
        };
        let run = || {
            let mut sums = vec![empty.clone(); self.states.len()];
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.part(part, &mut sums);
                if self.stop.load(Ordering::Relaxed) {
                    break;
                }
            }
            sums
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(parts.len().max(1)))
                .map(|_| scope.spawn(run))
                .collect();
            let mut sums = run();
            for other in others {
                let found = other
                    .join()
                    .unwrap_or_else(|payload| std::panic::resume_unwind(payload));
                for (sum, other) in sums.iter_mut().zip(found) {
                    sum.n_playouts += other.n_playouts;
                    sum.n_steps += other.n_steps;
                    for (goal, other) in sum.goals.iter_mut().zip(other.goals) {
                        goal.0 += other.0;
                        goal.1 += other.1;
                    }
                }
            }
            sums
        })
    }

    fn part(&self, part: &Part, sums: &mut [Sum]) {
        let mut lanes = self.game.lanes(&LanesOptions {
            seed: self
                .seed
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(part.number),
            sums: true,
            decisive: self.policy.decisive,
            ..LanesOptions::default()
        });
        if self.policy.choosing != Choosing::Uniform {
            lanes.set_choosing(&self.policy.choosing);
        }
        lanes.submit((part.first..part.end).map(|state| Job {
            state: self.states[state],
            tag: state as u64,
            n_playouts: part.n_playouts,
            cut: None,
            most_steps: self.most_steps,
        }));
        while !lanes.is_idle() && !self.stop.load(Ordering::Relaxed) {
            lanes.run(Until::Steps(1 << 12));
        }
        lanes.drain_sums(|tag, found| {
            let sum = &mut sums[tag as usize];
            sum.n_playouts += found.n_playouts;
            sum.n_steps += found.n_steps;
            for (goal, found) in sum.goals.iter_mut().zip(&found.goals) {
                goal.0 += found.sum;
                goal.1 += found.n;
            }
        });
    }
}
