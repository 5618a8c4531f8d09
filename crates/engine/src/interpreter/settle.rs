//! Turns derived predicates that depend only on facts into facts, where that is cheap.
//!
//! `(<= (adjacent ?x ?y) (or (succ ?x ?y) (succ ?y ?x)))` never changes. If all its answers can be computed within a
//! small budget, they become facts, which are looked up in an index instead of called. Larger predicates are evaluated
//! call by call.
//!
//! In: a [`Program`], with its terms. Out: the same program with fewer clauses.

use super::Effort;
use super::code::Mode;
use super::error::{InterpreterError, Limits};
use super::evaluate::Evaluator;
use super::feasibility::Feasibility;
use super::memory::Memory;
use super::plan;
use super::program::{Level, PredicateId, Program};
use super::sizes::Sizes;
use super::terms::SharedTerms;
use super::tuples::Tuples;

/// Limits for settling one predicate, and for all of them together.
const EACH: Limits = Limits {
    steps: 1_000_000,
    tuples: 100_000,
    terms: 300_000,
};
const ALL_STEPS: u64 = 10_000_000;
/// The same for quick compilation.
const EACH_QUICKLY: Limits = Limits {
    steps: 20_000,
    ..EACH
};
const ALL_STEPS_QUICKLY: u64 = 100_000;

/// Turns static predicates into facts: all that are worth it, or only very cheap ones.
pub(crate) fn settle(
    program: &mut Program,
    effort: Effort,
    stop: &dyn Fn() -> bool,
) -> Result<(), InterpreterError> {
    let (each, mut steps_left) = match effort {
        Effort::Full => (EACH, ALL_STEPS),
        Effort::Quick => (EACH_QUICKLY, ALL_STEPS_QUICKLY),
    };
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
    let code = plan::compile(program, &entries, &mut Sizes::default(), &mut terms, stop)?;
    let shared = SharedTerms::new(terms.clone());
    let mut memory = Memory::new(program, &code, terms);
    let mut settled: Vec<(PredicateId, Tuples)> = Vec::new();
    for (procedure, &predicate) in code.procedure_ids().zip(&candidates) {
        let limits = Limits {
            steps: each.steps.min(steps_left),
            ..each
        };
        let mut evaluator =
            Evaluator::new(&code, &program.roles, &shared, limits, stop, &mut memory);
        let solved = evaluator.solve(procedure, &[]);
        steps_left -= evaluator.n_steps();
        if solved == Err(InterpreterError::Stopped) {
            return Err(InterpreterError::Stopped);
        }
        // A predicate that is too large, or has a negative cycle, is left to evaluation.
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

/// Static predicates with clauses that can be queried for all their answers.
fn candidates(program: &Program) -> Vec<PredicateId> {
    let all = (0..program.predicates.len() as u32).map(PredicateId);
    let fitting = all.filter(|&predicate| {
        let entry = &program.predicates[predicate.idx()];
        entry.level == Level::Static && !entry.clauses.is_empty() && !program.is_entry(predicate)
    });
    let mut feasibility = Feasibility::new(program);
    let all_free = |predicate: PredicateId| vec![false; program.predicates[predicate.idx()].arity];
    fitting
        .filter(|&predicate| feasibility.is_callable(predicate, &all_free(predicate)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::program::tests::program;

    /// The number of facts and clauses of a relation with two arguments after settling.
    fn check(rules: &str, name: &str, effort: Effort) -> (usize, usize) {
        let (rules, mut program) = program(rules);
        settle(&mut program, effort, &|| false).expect("the rules are safe");
        let relation = rules.find_relation(name, 2).expect("a relation");
        let predicate = &program.predicates[PredicateId::of(relation).idx()];
        (predicate.facts.len(), predicate.clauses.len())
    }

    #[test]
    fn static_predicates_become_facts() {
        let rules = "(e 1 2) (e 2 3) (e 3 4) (<= (path ?x ?y) (e ?x ?y)) (<= (path ?x ?z) (e ?x ?y) (path ?y ?z))
            (<= (gap ?x ?y) (path ?x ?y) (not (e ?x ?y))) (<= (now ?x ?y) (path ?x ?y) (true ?x))";
        assert_eq!(check(rules, "path", Effort::Full), (6, 0));
        assert_eq!(check(rules, "gap", Effort::Full), (3, 0));
        assert_eq!(check(rules, "now", Effort::Full), (0, 1));
    }

    #[test]
    fn large_predicates_are_left_unchanged() {
        let numbers: String = (0..400).map(|number| format!("(n {number})")).collect();
        assert_eq!(
            check(
                &format!("{numbers} (<= (pair ?x ?y) (n ?x) (n ?y))"),
                "pair",
                Effort::Full
            ),
            (0, 1)
        );
    }

    #[test]
    fn quick_compilation_settles_less() {
        let numbers: String = (0..200).map(|number| format!("(n {number})")).collect();
        let rules = format!("{numbers} (<= (pair ?x ?y) (n ?x) (n ?y))");
        assert_eq!(check(&rules, "pair", Effort::Full), (40_000, 0));
        assert_eq!(check(&rules, "pair", Effort::Quick), (0, 1));
    }
}
