//! Which conditions can be evaluated, given which variables are bound.
//!
//! Safe rules can be called in any mode. An alternative of an `or` cannot: it may negate or compare variables that only
//! the rest of its rule binds.

use agon_gdl::Term;
use rustc_hash::FxHashMap;

use super::program::{Clause, Condition, PredicateId, Program};

/// Determines, and caches, which calls can be evaluated.
pub(crate) struct Feasibility<'a> {
    program: &'a Program,
    known: FxHashMap<(PredicateId, Box<[bool]>), bool>,
}

impl<'a> Feasibility<'a> {
    pub(crate) fn new(program: &'a Program) -> Feasibility<'a> {
        Feasibility {
            program,
            known: FxHashMap::default(),
        }
    }

    /// Whether the alternatives of an `or` can all be evaluated if these arguments are given.
    pub(crate) fn is_callable(&mut self, predicate: PredicateId, given: &[bool]) -> bool {
        let program = self.program;
        let predicate_entry = &program.predicates[predicate.idx()];
        if !predicate_entry.is_or {
            return true;
        }
        if let Some(&known) = self.known.get(&(predicate, given.into())) {
            return known;
        }
        let is_callable = predicate_entry
            .clauses
            .iter()
            .all(|clause| self.is_clause_callable(clause, given));
        self.known.insert((predicate, given.into()), is_callable);
        is_callable
    }

    /// Whether all conditions of a clause can be evaluated, in some order, if these arguments of its head are given.
    pub(crate) fn is_clause_callable(&mut self, clause: &Clause, given: &[bool]) -> bool {
        let mut bound = vec![false; clause.n_variables];
        let given_args = clause
            .head
            .iter()
            .zip(given)
            .filter(|&(_, &is_given)| is_given);
        given_args.for_each(|(arg, _)| bind_all(arg, &mut bound));
        let mut open: Vec<&Condition> = clause.body.iter().collect();
        loop {
            let before = open.len();
            open.retain(|condition| !self.answer(condition, &mut bound));
            if open.is_empty() {
                return clause.head.iter().all(|arg| is_bound(arg, &bound));
            }
            if open.len() == before {
                return false;
            }
        }
    }

    /// Whether a condition can be evaluated now; if so, its variables become bound.
    fn answer(&mut self, condition: &Condition, bound: &mut [bool]) -> bool {
        let can_answer = match condition {
            Condition::Holds(predicate, args) => {
                let given: Vec<bool> = args.iter().map(|arg| is_bound(arg, bound)).collect();
                self.is_callable(*predicate, &given)
            }
            Condition::Fails(_, args) => args.iter().all(|arg| is_bound(arg, bound)),
            Condition::Distinct(left, right) => is_bound(left, bound) && is_bound(right, bound),
            Condition::Equal(left, right) => is_bound(left, bound) || is_bound(right, bound),
        };
        if can_answer {
            condition.for_each_variable(&mut |variable| bound[variable.0 as usize] = true);
        }
        can_answer
    }
}

/// Whether all variables of a term are bound.
pub(crate) fn is_bound(term: &Term, bound: &[bool]) -> bool {
    let mut is_bound = true;
    term.for_each_variable(&mut |variable| is_bound &= bound[variable.0 as usize]);
    is_bound
}

fn bind_all(term: &Term, bound: &mut [bool]) {
    term.for_each_variable(&mut |variable| bound[variable.0 as usize] = true);
}
