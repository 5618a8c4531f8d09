//! The network of percepts of a ground game, evaluated for many states at once.
//!
//! Percepts are no part of the networks that engines step with, so that playouts, which need none, do not pay for them.
//! This network has the fluents and the moves of a step as inputs and what each role sees as its only outputs. It is
//! evaluated in one pass over its gates, on blocks of words: bit k of each word belongs to state k.
//!
//! Recursive rules are iterated until nothing changes, component by component.
//!
//! In: a ground program. Out: a [`PerceptNetwork`], immutable and shared; [`PerceptScratch`] is the memory of one thread.

use agon_ground::{GroundProgram, TermId};
use rustc_hash::FxHashMap;

use crate::build::build_percepts;
use crate::levels::in_order;
use crate::network::{Network, Node, NodeId, Signal};
use crate::optimize::prune::rebuild;
use crate::percepts::PerceptId;
use crate::state::{MoveId, RoleId};

/// The percepts of a ground game.
pub(crate) struct PerceptNetwork {
    /// The term of each percept; empty in GDL-I, where the percepts are the moves.
    terms: Vec<TermId>,
    /// Per role: the number of its first move among the moves of all roles.
    first_inputs: Vec<u32>,
    /// `None` in GDL-I.
    circuit: Option<Circuit>,
}

/// Gates in the order of their evaluation. A slot holds the value of a node.
struct Circuit {
    n_slots: usize,
    /// Fluents and moves that percepts depend on, with their slots.
    bases: Vec<(u32, u32)>,
    inputs: Vec<(u32, u32)>,
    parts: Vec<Part>,
    gates: Vec<Gate>,
    /// What the gates read: twice the slot, plus one for a complement.
    reads: Vec<u32>,
    /// Per role: its percepts in the order of ids, and what they read.
    percepts: Vec<Vec<(PerceptId, u32)>>,
}

#[derive(Clone, Copy)]
struct Gate {
    slot: u32,
    first: u32,
    end: u32,
}

/// Gates that follow each other.
struct Part {
    first: u32,
    end: u32,
    /// The slots of the loops of a component, and what they read; empty for gates that are evaluated once.
    loops: Vec<(u32, u32)>,
}

/// The slot that is always true.
const ONES: u32 = 0;

/// Values of all slots for a block of `64 * N` states.
#[derive(Clone, Default)]
pub(crate) struct PerceptScratch<const N: usize> {
    values: Vec<[u64; N]>,
}

impl PerceptNetwork {
    pub(crate) fn new(program: &GroundProgram) -> PerceptNetwork {
        let mut first = 0;
        let mut first_inputs = Vec::with_capacity(program.roles.len());
        for role in &program.roles {
            first_inputs.push(first);
            first += role.moves.len() as u32;
        }
        let mut numbers: FxHashMap<TermId, PerceptId> = FxHashMap::default();
        let mut terms = Vec::new();
        for percept in program.roles.iter().flat_map(|role| &role.percepts) {
            numbers.entry(percept.term).or_insert_with(|| {
                terms.push(percept.term);
                PerceptId(terms.len() as u32 - 1)
            });
        }
        PerceptNetwork {
            terms,
            first_inputs,
            circuit: program.is_gdl2.then(|| Circuit::new(program, &numbers)),
        }
    }

    /// Number of gates.
    pub(crate) fn n_gates(&self) -> usize {
        self.circuit
            .as_ref()
            .map_or(0, |circuit| circuit.gates.len())
    }

    /// Number of percepts of all roles.
    pub(crate) fn n_percepts(&self, program: &GroundProgram) -> usize {
        match self.circuit {
            Some(_) => self.terms.len(),
            None => program.roles.iter().map(|role| role.moves.len()).sum(),
        }
    }

    /// A percept as text.
    pub(crate) fn text(&self, program: &GroundProgram, percept: PerceptId) -> String {
        if self.circuit.is_some() {
            return program.term_text(self.terms[percept.0 as usize]);
        }
        let role = self
            .first_inputs
            .partition_point(|&first| first <= percept.0)
            - 1;
        let mv = percept.0 - self.first_inputs[role];
        let role = &program.roles[role];
        let mv = role.moves[mv as usize].term;
        format!(
            "(does {} {})",
            program.term_text(role.name),
            program.term_text(mv)
        )
    }

    /// Lists what a role sees in a state when this joint move is made.
    pub(crate) fn see(
        &self,
        scratch: &mut PerceptScratch<1>,
        (state, moves): (&[u64], &[MoveId]),
        role: RoleId,
        percepts: &mut Vec<PerceptId>,
    ) {
        percepts.clear();
        let Some(circuit) = &self.circuit else {
            percepts.extend(self.inputs(moves).map(PerceptId));
            return;
        };
        scratch.values.resize(circuit.n_slots, [0]);
        scratch.values[ONES as usize] = [u64::MAX];
        for &(base, slot) in &circuit.bases {
            let bit = state[base as usize / 64] >> (base % 64) & 1;
            scratch.values[slot as usize] = [bit];
        }
        for &(_, slot) in &circuit.inputs {
            scratch.values[slot as usize] = [0];
        }
        for input in self.inputs(moves) {
            if let Some(slot) = circuit.input_slot(input) {
                scratch.values[slot as usize] = [1];
            }
        }
        circuit.run(&mut scratch.values);
        let seen = circuit.percepts[role.idx()].iter();
        let seen = seen.filter(|(_, read)| value(&scratch.values, *read)[0] & 1 == 1);
        percepts.extend(seen.map(|&(percept, _)| percept));
    }

    /// Which of at most `64 * N` states agree with what a role has seen, if these joint moves are made in them: one bit
    /// per state. `state` and `moves` have the words and the joint move of a state by its index; `seen` is sorted.
    pub(crate) fn agree<'a, const N: usize>(
        &self,
        scratch: &mut PerceptScratch<N>,
        n_states: usize,
        state: impl Fn(usize) -> &'a [u64],
        moves: impl Fn(usize) -> &'a [MoveId],
        (role, seen): (RoleId, &[PerceptId]),
    ) -> [u64; N] {
        let mut agrees = [0; N];
        let Some(circuit) = &self.circuit else {
            for idx in 0..n_states {
                let is_same = self
                    .inputs(moves(idx))
                    .eq(seen.iter().map(|percept| percept.0));
                agrees[idx / 64] |= u64::from(is_same) << (idx % 64);
            }
            return agrees;
        };
        scratch.values.resize(circuit.n_slots, [0; N]);
        scratch.values[ONES as usize] = [u64::MAX; N];
        circuit.load(&mut scratch.values, n_states, state);
        for &(_, slot) in &circuit.inputs {
            scratch.values[slot as usize] = [0; N];
        }
        for idx in 0..n_states {
            for input in self.inputs(moves(idx)) {
                if let Some(slot) = circuit.input_slot(input) {
                    scratch.values[slot as usize][idx / 64] |= 1 << (idx % 64);
                }
            }
            agrees[idx / 64] |= 1 << (idx % 64);
        }
        circuit.run(&mut scratch.values);
        circuit.compare(&scratch.values, role, seen, &mut agrees);
        agrees
    }

    /// The moves of a joint move, numbered over all roles.
    fn inputs(&self, moves: &[MoveId]) -> impl Iterator<Item = u32> {
        let moves = moves.iter().zip(&self.first_inputs);
        moves.map(|(mv, first)| first + mv.0)
    }
}

/// The slots of the nodes of a network.
struct Slots {
    of_node: Vec<u32>,
}

impl Slots {
    /// What reads this signal.
    fn read(&self, signal: Signal) -> u32 {
        self.of_node[signal.node().idx()] * 2 + u32::from(signal.is_complement())
    }
}

impl Circuit {
    fn new(program: &GroundProgram, numbers: &FxHashMap<TermId, PerceptId>) -> Circuit {
        let network = rebuild(&build_percepts(program), |signal| signal);
        let slots = Slots {
            of_node: (0..network.n_nodes() as u32).collect(),
        };
        let is_read = read_nodes(&network);
        let given = |n: u32, node: &dyn Fn(u32) -> NodeId| {
            let all = (0..n).map(|idx| (idx, node(idx).idx()));
            let read = all.filter(|&(_, node)| is_read[node]);
            read.map(|(idx, node)| (idx, node as u32)).collect()
        };
        let percepts = network.roles.iter().zip(&program.roles);
        let percepts = percepts.map(|(signals, role)| {
            let all = signals.percepts.iter().zip(&role.percepts);
            let mut all: Vec<(PerceptId, u32)> = all
                .map(|(&signal, percept)| (numbers[&percept.term], slots.read(signal)))
                .collect();
            all.sort_unstable();
            all
        });
        let mut circuit = Circuit {
            n_slots: network.n_nodes(),
            bases: given(network.n_bases, &|base| network.base(base)),
            inputs: given(network.n_inputs, &|input| network.input(input)),
            percepts: percepts.collect(),
            parts: Vec::new(),
            gates: Vec::new(),
            reads: Vec::new(),
        };
        circuit.add_gates(&network, &slots);
        circuit
    }

    fn add_gates(&mut self, network: &Network, slots: &Slots) {
        let mut first = 0;
        for unit in in_order(network) {
            let is_component = unit
                .iter()
                .any(|&node| matches!(network.node(node), Node::Loop(_)));
            if is_component {
                self.add_part(&mut first, Vec::new());
            }
            let mut loops = Vec::new();
            for node in unit {
                match network.node(node) {
                    Node::And(signals) => {
                        let start = self.reads.len() as u32;
                        self.reads
                            .extend(signals.iter().map(|&signal| slots.read(signal)));
                        self.gates.push(Gate {
                            slot: slots.of_node[node.idx()],
                            first: start,
                            end: self.reads.len() as u32,
                        });
                    }
                    Node::Loop(idx) => {
                        let definition = network.loops[idx as usize];
                        loops.push((slots.of_node[node.idx()], slots.read(definition)));
                    }
                    Node::True | Node::Base(_) | Node::Input(_) => {}
                }
            }
            if is_component {
                self.add_part(&mut first, loops);
            }
        }
        self.add_part(&mut first, Vec::new());
    }

    /// Adds the gates since `first` as a part.
    fn add_part(&mut self, first: &mut u32, loops: Vec<(u32, u32)>) {
        let end = self.gates.len() as u32;
        if *first < end || !loops.is_empty() {
            self.parts.push(Part {
                first: *first,
                end,
                loops,
            });
        }
        *first = end;
    }

    /// The slot of a move, if percepts depend on it.
    fn input_slot(&self, input: u32) -> Option<u32> {
        let found = self
            .inputs
            .binary_search_by_key(&input, |&(input, _)| input);
        found.ok().map(|place| self.inputs[place].1)
    }

    /// Transposes states into the slots of the fluents.
    fn load<'a, const N: usize>(
        &self,
        values: &mut [[u64; N]],
        n_states: usize,
        state: impl Fn(usize) -> &'a [u64],
    ) {
        for &(_, slot) in &self.bases {
            values[slot as usize] = [0; N];
        }
        for idx in 0..n_states {
            let (words, place, lane) = (state(idx), idx / 64, idx % 64);
            for &(base, slot) in &self.bases {
                let bit = words[base as usize / 64] >> (base % 64) & 1;
                values[slot as usize][place] |= bit << lane;
            }
        }
    }

    /// Evaluates all gates.
    fn run<const N: usize>(&self, values: &mut [[u64; N]]) {
        for part in &self.parts {
            for &(slot, _) in &part.loops {
                values[slot as usize] = [0; N];
            }
            loop {
                for gate in &self.gates[part.first as usize..part.end as usize] {
                    let mut all = [u64::MAX; N];
                    for &read in &self.reads[gate.first as usize..gate.end as usize] {
                        let value = value(values, read);
                        for (word, value) in all.iter_mut().zip(value) {
                            *word &= value;
                        }
                    }
                    values[gate.slot as usize] = all;
                }
                let mut has_changed = false;
                for &(slot, read) in &part.loops {
                    let new = value(values, read);
                    has_changed |= std::mem::replace(&mut values[slot as usize], new) != new;
                }
                if !has_changed {
                    break;
                }
            }
        }
    }

    /// Clears the bits of states in which the role does not see exactly this.
    fn compare<const N: usize>(
        &self,
        values: &[[u64; N]],
        role: RoleId,
        seen: &[PerceptId],
        agrees: &mut [u64; N],
    ) {
        let mut seen = seen.iter().copied().peekable();
        for &(percept, read) in &self.percepts[role.idx()] {
            // A percept that this role never has.
            if seen.peek().is_some_and(|&next| next < percept) {
                break;
            }
            let is_seen = seen.next_if_eq(&percept).is_some();
            let flip = if is_seen { 0 } else { u64::MAX };
            for (word, value) in agrees.iter_mut().zip(value(values, read)) {
                *word &= value ^ flip;
            }
        }
        if seen.next().is_some() {
            *agrees = [0; N];
        }
    }
}

/// The value of what a gate reads.
#[inline(always)]
fn value<const N: usize>(values: &[[u64; N]], read: u32) -> [u64; N] {
    let flip = u64::from(read % 2).wrapping_neg();
    values[read as usize / 2].map(|word| word ^ flip)
}

/// Per node: whether a gate, a loop or a percept reads it.
fn read_nodes(network: &Network) -> Vec<bool> {
    let mut is_read = vec![false; network.n_nodes()];
    let gates = network
        .nodes()
        .flat_map(|node| network.inputs_of(node).iter().copied());
    for signal in gates.chain(network.outputs()) {
        is_read[signal.node().idx()] = true;
    }
    is_read
}
