//! Perft: the number of joint-move sequences of each length from the initial state. A match that is over has none, nor
//! has a state in which a role has no move.
//!
//! States that are reached in several ways are visited once and counted as often, so a depth costs as many steps as
//! there are different states, not sequences. The states of one depth are in memory.
//!
//! The name and the use as a test of move generation come from chess programs.

use rustc_hash::FxHashMap;

use crate::machine::Machine;
use crate::state::{JointMove, MoveId, RoleId, State};

/// Counts depth by depth: the first item is the number of joint moves in the first state, and so on. It ends when no
/// sequence goes on.
///
/// ```
/// use std::sync::Arc;
/// use agon_engine::{Interpreter, Machine, Perft};
///
/// let sheet = br"(role you) (init (left 2)) (pred 2 1) (pred 1 0) (legal you take) (legal you wait)
///     (<= (next (left ?y)) (does you take) (true (left ?x)) (pred ?x ?y))
///     (<= (next (left ?x)) (does you wait) (true (left ?x)))
///     (<= terminal (true (left 0))) (goal you 100)";
/// let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).unwrap();
/// let game = Arc::new(Interpreter::new(Arc::new(rules)).unwrap());
/// let counts: Vec<u64> = Perft::new(&mut game.machine(), 1).take(4).collect();
/// assert_eq!(counts, [2, 4, 6, 8]);
/// ```
pub struct Perft<'a> {
    machine: &'a mut dyn Machine,
    n_roles: usize,
    /// The states of the current depth, each with the number of ways to it.
    frontier: FxHashMap<State, u64>,
    is_first: bool,
}

impl<'a> Perft<'a> {
    /// Counts from the state that the machine is in.
    #[must_use]
    pub fn new(machine: &'a mut dyn Machine, n_roles: usize) -> Perft<'a> {
        let frontier = FxHashMap::from_iter([(machine.state(), 1)]);
        Perft {
            machine,
            n_roles,
            frontier,
            is_first: true,
        }
    }

    /// Number of different states that the counts so far have led to; the last depth is not played out.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.frontier.len()
    }

    /// The legal moves of each role in a state; empty where the match does not go on.
    fn legal(&mut self, state: &State) -> Vec<Vec<MoveId>> {
        self.machine.load(state);
        if self.machine.is_terminal() {
            return Vec::new();
        }
        RoleId::all(self.n_roles)
            .map(|role| self.machine.legal_moves(role).to_vec())
            .collect()
    }

    /// Goes one step on from all states.
    fn step(&mut self) {
        let mut next = FxHashMap::default();
        for (state, n_ways) in std::mem::take(&mut self.frontier) {
            let legal = self.legal(&state);
            for_each_joint(&legal, |joint| {
                self.machine.load(&state);
                self.machine.advance(joint);
                let ways: &mut u64 = next.entry(self.machine.state()).or_default();
                *ways = ways.saturating_add(n_ways);
            });
        }
        self.frontier = next;
    }
}

impl Iterator for Perft<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if !std::mem::take(&mut self.is_first) {
            self.step();
        }
        let frontier = std::mem::take(&mut self.frontier);
        let mut count = 0_u64;
        for (state, &n_ways) in &frontier {
            let legal = self.legal(state);
            count = count.saturating_add(n_joint(&legal).saturating_mul(n_ways));
        }
        self.frontier = frontier;
        (count > 0).then_some(count)
    }
}

fn n_joint(legal: &[Vec<MoveId>]) -> u64 {
    let product = |n: u64, moves: &Vec<MoveId>| n.saturating_mul(moves.len() as u64);
    match legal {
        [] => 0,
        of_roles => of_roles.iter().fold(1, product),
    }
}

/// All combinations of one move per role, the last role's moves changing fastest.
fn for_each_joint(legal: &[Vec<MoveId>], mut visit: impl FnMut(&JointMove)) {
    if n_joint(legal) == 0 {
        return;
    }
    let mut picks = vec![0; legal.len()];
    let mut joint = JointMove::new(legal.iter().map(|moves| moves[0]));
    loop {
        visit(&joint);
        let Some(role_idx) = (0..legal.len()).rfind(|&idx| picks[idx] + 1 < legal[idx].len())
        else {
            return;
        };
        picks[role_idx] += 1;
        picks[role_idx + 1..].fill(0);
        for idx in role_idx..legal.len() {
            joint.moves_mut()[idx] = legal[idx][picks[idx]];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joint_moves_are_all_combinations() {
        let legal = [
            vec![MoveId(1), MoveId(2)],
            vec![MoveId(7)],
            vec![MoveId(3), MoveId(4)],
        ];
        let mut seen: Vec<Vec<u32>> = Vec::new();
        for_each_joint(&legal, |joint| {
            seen.push(joint.moves().iter().map(|of| of.0).collect());
        });
        let expected: [[u32; 3]; 4] = [[1, 7, 3], [1, 7, 4], [2, 7, 3], [2, 7, 4]];
        assert_eq!(seen, expected.map(|joint| joint.to_vec()));
        for_each_joint(&[vec![MoveId(1)], vec![]], |_| panic!("a role has no move"));
    }
}
