//! Perft: the number of joint-move sequences of each length from the initial state. Terminal states, and states in
//! which a role has no legal move, are not continued.
//!
//! A state that is reached in several ways is visited once and counted with its multiplicity. A depth therefore takes
//! as many steps as there are distinct states, not sequences. The states of one depth are kept in memory.
//!
//! The name and its use as a test of move generation come from chess programs.

use rustc_hash::FxHashMap;

use crate::lanes::Lanes;
use crate::machine::{Fault, Machine};
use crate::state::{JointMove, MoveId, RoleId, State};

/// Counts depth by depth: the first item is the number of joint moves in the first state, and so on. It ends when no
/// sequence continues.
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
    engine: Engine<'a>,
    n_roles: usize,
    /// The states of the current depth, each with the number of sequences that lead to it.
    frontier: FxHashMap<State, u64>,
    is_first: bool,
}

enum Engine<'a> {
    Machine(&'a mut dyn Machine),
    Lanes(&'a mut Lanes),
}

/// Number of states that are expanded, and of joint moves that are made, in one batch.
const AT_ONCE: usize = 4096;

impl<'a> Perft<'a> {
    /// Counts from the machine's current state.
    #[must_use]
    pub fn new(machine: &'a mut dyn Machine, n_roles: usize) -> Perft<'a> {
        let first = machine.state();
        Perft::from(Engine::Machine(machine), n_roles, first)
    }

    /// Counts from this state, on lanes.
    #[must_use]
    pub fn on_lanes(lanes: &'a mut Lanes, n_roles: usize, first: State) -> Perft<'a> {
        Perft::from(Engine::Lanes(lanes), n_roles, first)
    }

    fn from(engine: Engine<'a>, n_roles: usize, first: State) -> Perft<'a> {
        Perft {
            engine,
            n_roles,
            frontier: FxHashMap::from_iter([(first, 1)]),
            is_first: true,
        }
    }

    /// Number of distinct states visited so far; the states of the last depth are not expanded.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.frontier.len()
    }

    /// Why the counts since the last call are wrong, if they are.
    pub fn take_fault(&mut self) -> Option<Fault> {
        match &mut self.engine {
            Engine::Machine(machine) => machine.take_fault(),
            Engine::Lanes(_) => None,
        }
    }

    /// Advances all states by one step.
    fn step(&mut self) {
        let frontier: Vec<(State, u64)> = std::mem::take(&mut self.frontier).into_iter().collect();
        let mut next: FxHashMap<State, u64> = FxHashMap::default();
        let mut reach = |state: State, n_ways: u64| {
            let ways = next.entry(state).or_default();
            *ways = ways.saturating_add(n_ways);
        };
        for chunk in frontier.chunks(AT_ONCE) {
            let states: Vec<&State> = chunk.iter().map(|(state, _)| state).collect();
            let mut steps: Vec<(usize, JointMove)> = Vec::new();
            for (idx, legal) in self.engine.legal(&states, self.n_roles).iter().enumerate() {
                for_each_joint(legal, |joint| {
                    steps.push((idx, joint.clone()));
                    if steps.len() == AT_ONCE {
                        let steps = std::mem::take(&mut steps);
                        let see = |step: usize, state| reach(state, chunk[steps[step].0].1);
                        self.engine.advance(&states, &steps, see);
                    }
                });
            }
            let see = |step: usize, state| reach(state, chunk[steps[step].0].1);
            self.engine.advance(&states, &steps, see);
        }
        self.frontier = next;
    }
}

impl Engine<'_> {
    /// The legal moves of each role in each state; empty where the sequence ends.
    fn legal(&mut self, states: &[&State], n_roles: usize) -> Vec<Vec<Vec<MoveId>>> {
        let mut legal = vec![Vec::new(); states.len()];
        match self {
            Engine::Machine(machine) => {
                for (legal, state) in legal.iter_mut().zip(states) {
                    machine.load(state);
                    if !machine.is_terminal() {
                        let moves = |role| machine.legal_moves(role).to_vec();
                        *legal = RoleId::all(n_roles).map(moves).collect();
                    }
                }
            }
            Engine::Lanes(lanes) => lanes.expand(states, |idx, expanded| {
                if !expanded.is_terminal() {
                    let moves = |role| expanded.legal_moves(role).to_vec();
                    legal[idx] = RoleId::all(n_roles).map(moves).collect();
                }
            }),
        }
        legal
    }

    /// Makes each joint move in the state of its index; `see` gets the index of the step and the resulting state.
    fn advance(
        &mut self,
        states: &[&State],
        steps: &[(usize, JointMove)],
        mut see: impl FnMut(usize, State),
    ) {
        match self {
            Engine::Machine(machine) => {
                for (step, (idx, joint)) in steps.iter().enumerate() {
                    machine.load(states[*idx]);
                    machine.advance(joint);
                    see(step, machine.state());
                }
            }
            Engine::Lanes(lanes) => {
                let from: Vec<&State> = steps.iter().map(|&(idx, _)| states[idx]).collect();
                let joints: Vec<&[MoveId]> = steps.iter().map(|(_, joint)| joint.moves()).collect();
                lanes.advance(&from, &joints, |step, words| {
                    see(step, State::from_words(words.into()));
                });
            }
        }
    }
}

impl Iterator for Perft<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if !std::mem::take(&mut self.is_first) {
            self.step();
        }
        let (states, ways): (Vec<&State>, Vec<u64>) = self
            .frontier
            .iter()
            .map(|(state, &ways)| (state, ways))
            .unzip();
        let mut count = 0_u64;
        for (states, ways) in states.chunks(AT_ONCE).zip(ways.chunks(AT_ONCE)) {
            let legal = self.engine.legal(states, self.n_roles);
            for (legal, &n_ways) in legal.iter().zip(ways) {
                count = count.saturating_add(n_joint(legal).saturating_mul(n_ways));
            }
        }
        (count > 0).then_some(count)
    }
}

fn n_joint(legal: &[Vec<MoveId>]) -> u64 {
    let product = |n: u64, moves: &Vec<MoveId>| n.saturating_mul(moves.len() as u64);
    match legal {
        [] => 0,
        counts => counts.iter().fold(1, product),
    }
}

/// All combinations of one move per role; the last role's moves change fastest.
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
            seen.push(joint.moves().iter().map(|mv| mv.0).collect());
        });
        let expected: [[u32; 3]; 4] = [[1, 7, 3], [1, 7, 4], [2, 7, 3], [2, 7, 4]];
        assert_eq!(seen, expected.map(|joint| joint.to_vec()));
        for_each_joint(&[vec![MoveId(1)], vec![]], |_| panic!("a role has no move"));
    }
}
