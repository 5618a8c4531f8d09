//! Derived predicates that depend on facts only → facts, where that is cheap.
//!
//! `(<= (adjacent ?x ?y) (or (succ ?x ?y) (succ ?y ?x)))` never changes. If all its answers can be had within a small
//! budget they become facts, which are looked up in an index instead of called. What would be too large is left to be
//! answered call by call.
//!
//! In: a [`Program`], with its terms. Out: the same program with fewer clauses.

use super::code::Mode;
use super::error::{InterpreterError, Limits};
use super::evaluate::Evaluator;
use super::feasibility::Feasibility;
use super::memory::Memory;
use super::plan;
use super::program::{ENTRIES, Level, PredicateId, Program};
use super::sizes::Sizes;
use super::terms::SharedTerms;
use super::tuples::Tuples;

/// What a predicate may cost to be worth settling, and all of them together.
const EACH: Limits = Limits {
    steps: 1_000_000,
    tuples: 100_000,
    terms: 300_000,
};
const ALL_STEPS: u64 = 10_000_000;

/// Turns static predicates into facts.
pub(crate) fn settle(program: &mut Program) -> Result<(), InterpreterError> {
    let candidates = candidates(program);
    let modes: Vec<Vec<Mode>> = candidates
        .iter()
        .map(|&predicate| vec![Mode::Free; program.predicates[predicate.idx()].arity])
        .collect();
    let entries: Vec<(PredicateId, &[Mode])> = candidates
        .iter()
        .zip(&modes)
        .map(|(&predicate, modes)| (predicate, modes.as_slice()))
        .collect();
    let mut terms = program.terms.clone();
    let code = plan::compile(program, &entries, &mut Sizes::default(), &mut terms)?;
    let shared = SharedTerms::new(terms.clone());
    let mut memory = Memory::new(program, &code, terms);
    let mut settled: Vec<(PredicateId, Tuples)> = Vec::new();
    let mut steps_left = ALL_STEPS;
    for (procedure, &predicate) in code.procedure_ids().zip(&candidates) {
        let limits = Limits {
            steps: EACH.steps.min(steps_left),
            ..EACH
        };
        let mut evaluator = Evaluator::new(&code, &program.roles, &shared, limits, &mut memory);
        let solved = evaluator.solve(procedure, &[]);
        steps_left -= evaluator.n_steps();
        // Too large, or a negative loop: left to be answered, or refused, when it is asked.
        if let Ok(table) = solved {
            settled.push((predicate, memory.tables.get(table).answers.clone()));
        }
    }
    program.terms = memory.terms;
    for (predicate, facts) in settled {
        let predicate = &mut program.predicates[predicate.idx()];
        predicate.facts = facts;
        predicate.clauses.clear();
    }
    Ok(())
}

/// Static predicates with clauses that can be asked for all their answers.
fn candidates(program: &Program) -> Vec<PredicateId> {
    let is_entry = |predicate: PredicateId| {
        ENTRIES
            .iter()
            .any(|&entry| PredicateId::of(entry) == predicate)
    };
    let all = (0..program.predicates.len() as u32).map(PredicateId);
    let fitting = all.filter(|&predicate| {
        let entry = &program.predicates[predicate.idx()];
        entry.level == Level::Static && !entry.clauses.is_empty() && !is_entry(predicate)
    });
    let mut feasibility = Feasibility::new(program);
    let all_free = |predicate: PredicateId| vec![false; program.predicates[predicate.idx()].arity];
    fitting
        .filter(|&predicate| feasibility.is_callable(predicate, &all_free(predicate)))
        .collect()
}
