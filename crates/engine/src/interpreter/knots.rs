//! Negative cycles: predicates that depend on their own negation by name.
//!
//! `(<= (won ?x) (step ?x ?y) (not (won ?y)))` is valid as long as `step` has no cycles: no single call of `won`
//! depends on its own negation. But a call with free arguments stands for many calls at once and may do so. Inside such
//! a *knot* the planner therefore calls predicates as late as possible, with as many bound arguments as possible.
//!
//! - Tarjan 1972, Depth-First Search and Linear Graph Algorithms (here on an explicit stack)

use super::program::{Condition, PredicateId, Program};

/// The knot of each predicate that is in one.
pub(crate) struct Knots {
    component: Vec<u32>,
    has_negation: Vec<bool>,
}

impl Knots {
    pub(crate) fn new(program: &Program) -> Knots {
        let callees: Vec<Vec<(PredicateId, bool)>> = (0..program.predicates.len())
            .map(|idx| callees(program, idx))
            .collect();
        let component = components(&callees);
        let n_components = component
            .iter()
            .max()
            .map_or(0, |&highest| highest as usize + 1);
        let mut has_negation = vec![false; n_components];
        for (caller, callees) in callees.iter().enumerate() {
            for &(callee, is_negated) in callees {
                let is_inside = component[caller] == component[callee.idx()];
                has_negation[component[caller] as usize] |= is_negated && is_inside;
            }
        }
        Knots {
            component,
            has_negation,
        }
    }

    /// Whether two predicates are in the same knot.
    pub(crate) fn tie(&self, one: PredicateId, other: PredicateId) -> bool {
        let component = self.component[one.idx()];
        component == self.component[other.idx()] && self.has_negation[component as usize]
    }
}

/// The predicates that a predicate's clauses mention, and whether the mention is negated.
fn callees(program: &Program, idx: usize) -> Vec<(PredicateId, bool)> {
    let conditions = program.predicates[idx]
        .clauses
        .iter()
        .flat_map(|clause| &clause.body);
    let mentioned = conditions.filter_map(|condition| match condition {
        Condition::Holds(predicate, _) => Some((*predicate, false)),
        Condition::Fails(predicate, _) => Some((*predicate, true)),
        Condition::Distinct(..) | Condition::Equal(..) => None,
    });
    mentioned.collect()
}

/// The strongly connected component of each node.
fn components(callees: &[Vec<(PredicateId, bool)>]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut component = vec![NONE; callees.len()];
    let mut number = vec![NONE; callees.len()];
    let mut low = vec![NONE; callees.len()];
    let mut stack = Vec::new();
    let (mut n_numbered, mut n_components) = (0, 0);
    for root in 0..callees.len() {
        // Nodes on the path from the root, each with the next edge to follow.
        let mut path: Vec<(usize, usize)> = Vec::new();
        if number[root] == NONE {
            path.push((root, 0));
        }
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            if *edge == 0 && number[node] == NONE {
                number[node] = n_numbered;
                low[node] = n_numbered;
                n_numbered += 1;
                stack.push(node);
            }
            if let Some(&(callee, _)) = callees[node].get(*edge) {
                *edge += 1;
                let callee = callee.idx();
                if number[callee] == NONE {
                    path.push((callee, 0));
                } else if component[callee] == NONE {
                    low[node] = low[node].min(number[callee]);
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                low[caller] = low[caller].min(low[node]);
            }
            if low[node] == number[node] {
                while let Some(member) = stack.pop() {
                    component[member] = n_components;
                    if member == node {
                        break;
                    }
                }
                n_components += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::program::tests::program;

    /// Whether two unary relations are in the same knot.
    fn check(rules: &str, one: &str, other: &str) -> bool {
        let (rules, program) = program(rules);
        let [one, other] =
            [one, other].map(|name| rules.find_relation(name, 1).expect("a relation"));
        Knots::new(&program).tie(PredicateId::of(one), PredicateId::of(other))
    }

    #[test]
    fn a_knot_needs_a_cycle_with_a_negation() {
        let circle = "(<= (p ?x) (true ?x) (q ?x)) (<= (q ?x) (true ?x) (p ?x)) (<= (r ?x) (true ?x) (not (p ?x)))";
        assert!(!check(circle, "p", "q"));
        assert!(!check(circle, "r", "p"));
        let knot =
            "(e 1 2) (<= (p ?x) (e ?x ?y) (or (q ?y) (e 3 ?x))) (<= (q ?x) (e ?x ?y) (not (p ?y)))";
        assert!(check(knot, "p", "q"));
        assert!(check(knot, "p", "p"));
    }
}
