//! Step counters: a proof that a game ends.
//!
//! Many rulesheets count steps in the state: `(step 1)` leads to `(step 2)` whatever the moves are, and the last step is
//! terminal. In ground rules this is a chain of fluents from an initial one to one that alone makes the state terminal, in
//! which each fluent alone makes the next one true. Further conditions break the chain, so the bound holds in every match.

use agon_ground::{AtomId, GroundProgram, Truth};

/// The maximum number of steps of a match, if a chain of fluents proves it.
#[must_use]
pub fn most_steps(program: &GroundProgram) -> Option<u32> {
    let ends = match program.terminal {
        Truth::Always => return Some(0),
        Truth::Never => return None,
        Truth::Atom(terminal) => sufficient(program, terminal),
    };
    let n_fluents = program.fluents.len();
    let mut is_end = vec![false; n_fluents];
    ends.into_iter().for_each(|fluent| is_end[fluent] = true);
    // Per fluent: those that it makes true in the next state.
    let mut leads_to: Vec<Vec<usize>> = vec![Vec::new(); n_fluents];
    for (to, fluent) in program.fluents.iter().enumerate() {
        if let Truth::Atom(next) = fluent.next {
            for from in sufficient(program, next) {
                leads_to[from].push(to);
            }
        }
    }
    // Breadth-first search: the shortest chain is the best bound.
    let initial = (0..n_fluents).filter(|&idx| program.fluents[idx].is_initial);
    let mut level: Vec<usize> = initial.collect();
    let mut is_seen = vec![false; n_fluents];
    let mut steps = 0;
    while !level.is_empty() {
        if level.iter().any(|&fluent| is_end[fluent]) {
            return Some(steps);
        }
        level.iter().for_each(|&fluent| is_seen[fluent] = true);
        let next = level
            .iter()
            .flat_map(|&from| leads_to[from].iter().copied());
        let mut next: Vec<usize> = next.filter(|&to| !is_seen[to]).collect();
        next.sort_unstable();
        next.dedup();
        level = next;
        steps += 1;
    }
    None
}

/// The fluents that each alone make an atom true.
fn sufficient(program: &GroundProgram, atom: AtomId) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = vec![atom];
    let mut seen = std::collections::BTreeSet::from([atom]);
    while let Some(atom) = open.pop() {
        let idx = atom.0 as usize;
        if idx < program.fluents.len() {
            found.push(idx);
            continue;
        }
        for body in program.bodies(atom) {
            if let [literal] = body
                && !literal.is_negated()
                && seen.insert(literal.atom())
            {
                open.push(literal.atom());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sheet: &str, expected: Option<u32>) {
        let sheet = format!(
            "(role r) (legal r go) (legal r stay) (goal r 0) (init (step 1)) (init (at 1)) (succ 1 2) (succ 2 3) {sheet}"
        );
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let program = agon_ground::ground(&rules.unwrap(), &Default::default(), &|| false);
        assert_eq!(most_steps(&program.unwrap()), expected, "{sheet}");
    }

    const STEP: &str = "(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))";
    const WALK: &str = "(<= (next (at ?m)) (true (at ?n)) (succ ?n ?m) (does r go))
        (<= (next (at ?n)) (true (at ?n)) (does r stay))";

    #[test]
    fn a_counter_bounds_the_number_of_steps() {
        check(&format!("{STEP} (<= terminal (true (step 3)))"), Some(2));
        let late = "(<= late (true (step 3))) (<= terminal late) (<= terminal (true (at 2)))";
        check(&format!("{STEP} {WALK} {late}"), Some(2));
    }

    #[test]
    fn a_chain_that_depends_on_moves_is_not_a_proof() {
        check(&format!("{WALK} (<= terminal (true (at 3)))"), None);
        check(
            &format!("{STEP} {WALK} (<= terminal (true (step 3)) (true (at 3)))"),
            None,
        );
    }
}
