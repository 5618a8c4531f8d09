//! Samples a short game to count the fluents and derived facts in its states.
//!
//! It plays one random playout with a fixed seed, on code planned from the initial state alone. In some of its states
//! every derived predicate is queried for all its answers; a predicate with too many is not queried again. The number
//! of inference steps is limited, so that sampling takes at most a fraction of a second.
//!
//! In: a [`Program`] and its initial state. Out: [`Sizes`]. An error only ends the sampling: errors of the game are
//! reported when it is played.

use super::code::{Code, Mode, ProcedureId};
use super::error::{InterpreterError, Limits};
use super::evaluate::Evaluator;
use super::feasibility::Feasibility;
use super::memory::Memory;
use super::program::{Level, PredicateId, Program};
use super::sizes::Sizes;
use super::terms::SharedTerms;
use super::{ENTRIES, LEGAL, NEXT, TERMINAL, plan};

/// Limits for one query of the playout, and for counting one predicate.
const PLAY: Limits = Limits {
    steps: 1_000_000,
    tuples: 200_000,
    terms: 1_000_000,
};
const COUNT: Limits = Limits {
    steps: 50_000,
    tuples: 10_000,
    terms: 1_000_000,
};
/// Total number of inference steps.
const ALL_STEPS: u64 = 6_000_000;
/// Steps of the playout whose states are counted. They are denser at the beginning, where games change faster.
const COUNTED: [usize; 12] = [0, 1, 2, 4, 7, 11, 16, 24, 36, 54, 80, 120];

/// Counts in the states of a playout. New terms are added to the program's table.
pub(crate) fn sample(
    program: &mut Program,
    initial: &[u32],
    stop: &dyn Fn() -> bool,
) -> Result<Sizes, InterpreterError> {
    let counted = derived(program);
    let modes: Vec<Vec<Mode>> = counted
        .iter()
        .map(|&predicate| vec![Mode::Free; program.predicates[predicate.idx()].arity])
        .collect();
    let mut entries = ENTRIES.to_vec();
    entries.extend(
        counted
            .iter()
            .zip(&modes)
            .map(|(&predicate, modes)| (predicate, modes.as_slice())),
    );
    let mut terms = program.terms.clone();
    let mut sizes = Sizes::default();
    sizes.add_state(initial, &terms);
    let code = plan::compile(program, &entries, &mut sizes, &mut terms, stop)?;
    let shared = SharedTerms::new(terms.clone());
    let mut sampler = Sampler {
        program,
        code: &code,
        shared: &shared,
        stop,
        memory: Memory::new(program, &code, terms),
        counted: counted
            .into_iter()
            .zip(code.procedure_ids().skip(ENTRIES.len()))
            .collect(),
        sizes: Sizes::default(),
        steps_left: ALL_STEPS,
        seed: 1,
    };
    sampler.sizes.add_state(initial, &sampler.memory.terms);
    sampler.play(initial);
    let Sampler { memory, sizes, .. } = sampler;
    program.terms = memory.terms;
    Ok(sizes)
}

/// Derived predicates that depend on the state and can be queried for all their answers.
fn derived(program: &Program) -> Vec<PredicateId> {
    let mut feasibility = Feasibility::new(program);
    let all = (0..program.predicates.len() as u32).map(PredicateId);
    let derived = all.filter(|&predicate| {
        let entry = &program.predicates[predicate.idx()];
        let is_entry = ENTRIES
            .iter()
            .any(|&(other, modes)| other == predicate && !modes.contains(&Mode::Bound));
        entry.level > Level::Static && !entry.clauses.is_empty() && entry.arity > 0 && !is_entry
    });
    derived
        .filter(|&predicate| {
            let all_free = vec![false; program.predicates[predicate.idx()].arity];
            feasibility.is_callable(predicate, &all_free)
        })
        .collect()
}

struct Sampler<'a> {
    program: &'a Program,
    code: &'a Code,
    shared: &'a SharedTerms,
    stop: &'a dyn Fn() -> bool,
    memory: Memory,
    /// The predicates that are still counted.
    counted: Vec<(PredicateId, ProcedureId)>,
    sizes: Sizes,
    steps_left: u64,
    seed: u64,
}

impl Sampler<'_> {
    /// Plays until the end of the match or of the budget.
    fn play(&mut self, initial: &[u32]) {
        let mut state = initial.to_vec();
        for step in 0..=COUNTED[COUNTED.len() - 1] {
            self.memory.load(state.iter().copied());
            let Some(joint) = self.random_joint() else {
                return;
            };
            self.memory.does = joint;
            if COUNTED.contains(&step) {
                self.count(&state);
            }
            let Some(next) = self.answers(NEXT, &[]) else {
                return;
            };
            state = next;
            state.sort_unstable();
        }
    }

    /// A random joint move; `None` if there is none or the state is terminal.
    fn random_joint(&mut self) -> Option<Vec<u32>> {
        if self.solve(TERMINAL, &[], PLAY)? > 0 {
            return None;
        }
        let program = self.program;
        program
            .roles
            .iter()
            .map(|role| {
                self.answers(LEGAL, &[role.0])
                    .and_then(|moves| self.pick(&moves))
            })
            .collect()
    }

    /// A random element, chosen by a xorshift generator with a fixed seed.
    fn pick(&mut self, moves: &[u32]) -> Option<u32> {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        moves
            .get((self.seed % moves.len().max(1) as u64) as usize)
            .copied()
    }

    fn count(&mut self, state: &[u32]) {
        self.sizes.add_state(state, &self.memory.terms);
        for (predicate, procedure) in std::mem::take(&mut self.counted) {
            let limits = Limits {
                steps: COUNT.steps.min(self.steps_left),
                ..COUNT
            };
            if self.solve(procedure, &[], limits).is_some() {
                let table = self.memory.tables.open(procedure, &[]);
                self.sizes
                    .add_answers(predicate, self.memory.tables.get(table).answers.clone());
                self.counted.push((predicate, procedure));
            }
        }
    }

    /// The first values of all answers of a call.
    fn answers(&mut self, procedure: ProcedureId, key: &[u32]) -> Option<Vec<u32>> {
        self.solve(procedure, key, PLAY)?;
        let table = self.memory.tables.open(procedure, key);
        let answers = &self.memory.tables.get(table).answers;
        Some((0..answers.len()).map(|row| answers.row(row)[0]).collect())
    }

    /// The number of answers of a call; `None` on an error.
    fn solve(&mut self, procedure: ProcedureId, key: &[u32], limits: Limits) -> Option<usize> {
        let limits = Limits {
            steps: limits.steps.min(self.steps_left),
            ..limits
        };
        let mut evaluator = Evaluator::new(
            self.code,
            &self.program.roles,
            self.shared,
            limits,
            self.stop,
            &mut self.memory,
        );
        let solved = evaluator.solve(procedure, key);
        self.steps_left -= evaluator.n_steps();
        solved
            .ok()
            .map(|table| self.memory.tables.get(table).answers.len())
    }
}
