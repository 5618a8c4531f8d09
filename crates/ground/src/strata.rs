//! Exact stratification check on ground atoms.

use agon_gdl::components;

use crate::error::GroundError;
use crate::program::{AtomId, GroundProgram};

/// Rejects a program in which an atom depends on its own negation within one state. The error names the cycle. The time
/// is linear in the size of the program, and `stop` is asked before each part.
pub(crate) fn check(program: &GroundProgram, stop: &dyn Fn() -> bool) -> Result<(), GroundError> {
    let stopped = || GroundError::Stopped {
        rule: String::new(),
        line: 0,
    };
    if stop() {
        return Err(stopped());
    }
    let n_atoms = program.n_atoms() as usize;
    let component = components(
        n_atoms,
        |atom| program.all_literals(AtomId(atom)),
        |literal| literal.atom().0,
    );
    if stop() {
        return Err(stopped());
    }
    for atom in program.derived() {
        let here = component[atom.0 as usize];
        let is_inside = |other: AtomId| component[other.0 as usize] == here;
        let literals = program.all_literals(atom);
        if let Some(literal) = literals
            .iter()
            .find(|literal| literal.is_negated() && is_inside(literal.atom()))
        {
            let path = path(program, literal.atom(), atom, &is_inside);
            let names: Vec<String> = path.iter().map(|&atom| program.atom_text(atom)).collect();
            let cycle = format!(
                "{} depends on the negation of {}",
                program.atom_text(atom),
                names.join(", which depends on ")
            );
            return Err(GroundError::Unstratified { cycle });
        }
    }
    Ok(())
}

/// A shortest path from one atom to another inside a component.
fn path(
    program: &GroundProgram,
    from: AtomId,
    to: AtomId,
    is_inside: &impl Fn(AtomId) -> bool,
) -> Vec<AtomId> {
    let mut came_from = rustc_hash::FxHashMap::default();
    let mut queue = std::collections::VecDeque::from([from]);
    came_from.insert(from, from);
    while let Some(atom) = queue.pop_front() {
        if atom == to {
            break;
        }
        for literal in program.all_literals(atom) {
            let next = literal.atom();
            if is_inside(next) && !came_from.contains_key(&next) {
                came_from.insert(next, atom);
                queue.push_back(next);
            }
        }
    }
    let mut path = vec![to];
    while let Some(&before) = path.last().and_then(|last| came_from.get(last)) {
        if path.last() == Some(&before) {
            break;
        }
        path.push(before);
    }
    path.reverse();
    path
}
