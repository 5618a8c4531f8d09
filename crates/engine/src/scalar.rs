//! The scalar engine: one state, where only changes propagate.
//!
//! Each gate counts its inputs that are false; it is true when the count is zero. When a node flips, the counts of its
//! readers move by one, and a count that comes to zero or leaves it toggles the mark of its gate: a gate is marked exactly
//! if it must flip. Nodes are numbered by level and marks are bits, so that the next marked node is the next set bit, and
//! each gate flips once per step at most. Outputs are bits of one array, flipped as their nodes flip: the next state is
//! then a copy of words, and the legal moves of a role are the bits of a few words.
//!
//! What a flip does depends on data that no branch predictor can foresee, so the inner loop has no branches but its own:
//! readers come in chunks of equal size, filled up with readers of no consequence, and each node has exactly one output bit,
//! most of them in a word that nobody looks at.
//!
//! Not everything is asked for at every step. Gates are of three classes: what legal moves and the end need, what only
//! goals need, what only the next state needs. Each class has its own range of numbers, whose marks wait until somebody
//! asks; so goals cost nothing until the match is over, and the moves of a step and the changes of the state reach the
//! next state in one sweep.
//!
//! Components of recursive rules: see [`crate::levels`]. A component that something outside has touched is reset to
//! false and raised to its least fixpoint again.
//!
//! - Emslie's galvanise and Sancho (the networks of the GGP champions of 2014 and 2015) propagate changes by counters

#![expect(
    unsafe_code,
    reason = "the inner loop of the engine: bounds are proven once, when the layout is made"
)]

mod order;

use std::sync::Arc;

use crate::levels::{Levels, NONE, levels};
use crate::network::{Network, Node, Signal};
use crate::phases::{Marks, Phases};
use crate::state::{MoveId, RoleId, State};

use order::{Event, GOAL, N_CLASSES, NEXT, Order, PLAY, Slots, classes, output_slots, slots};

/// The network of one phase, laid out for change propagation.
///
/// Places are node numbers in the order of evaluation: first what is given, then the gates of each class by level, with
/// the opening and closing of components among them.
struct Layout {
    n_state_words: usize,
    n_places: usize,
    /// Per place: who reads it.
    readers: Vec<Readers>,
    /// Gates that read a place: twice their own place, plus one for a complement.
    chunks: Vec<Chunk>,
    /// Components that a place touches, by the place where they open.
    opens: rustc_hash::FxHashMap<u32, Vec<u32>>,
    /// The words of marks of each class.
    classes: [(usize, usize); N_CLASSES],
    /// What happens at places that are no gates, by place.
    events: rustc_hash::FxHashMap<u32, Event>,
    base_places: Vec<u32>,
    input_places: Vec<u32>,
    slots: Slots,
    /// Per role: its first input and number of moves.
    role_inputs: Vec<(u32, u32)>,
    /// Where a machine begins: everything evaluated in the initial state, no move made.
    start: Memory,
}

/// A memory with at most so many places is copied when a machine goes back to the initial state; a larger one is brought
/// there change by change.
const MOST_COPIED: usize = 4096;

/// Readers of a place, as many as are handled together.
type Chunk = [u32; CHUNK];
const CHUNK: usize = 2;

/// Who reads a place.
#[derive(Clone, Copy, Default)]
struct Readers {
    /// Where its chunks begin.
    first: u32,
    /// Twice the number of its chunks, plus one if it touches components.
    n_chunks: u32,
    /// The output bit that it flips.
    bit: u32,
}

/// The count of a place that is an event, never a gate.
const EVENT: u32 = u32::MAX;
/// The count of the place that fills chunks up: so high that it never comes to zero.
const FILLER: u32 = 1 << 31;

/// What changes as a machine steps.
#[derive(Clone, Default)]
struct Memory {
    state: Vec<u64>,
    /// The next state while it is being loaded.
    next: Vec<u64>,
    outputs: Vec<u64>,
    /// Per place: how many of its inputs are false; it is true at zero. What is given is 0 or 1.
    counts: Vec<u32>,
    /// A bit per place that must flip, or per event that must happen.
    marks: Vec<u64>,
    /// The input of each role that is on, or `NONE`.
    does: Vec<u32>,
}

impl Memory {
    fn mark(&mut self, place: u32) {
        self.marks[place as usize / 64] |= 1 << (place % 64);
    }

    fn value(&self, place: u32) -> bool {
        self.counts[place as usize] == 0
    }

    /// Becomes equal to another memory of the same layout, without allocating.
    fn copy_from(&mut self, other: &Memory) {
        self.state.copy_from_slice(&other.state);
        self.outputs.copy_from_slice(&other.outputs);
        self.counts.copy_from_slice(&other.counts);
        self.marks.copy_from_slice(&other.marks);
        self.does.copy_from_slice(&other.does);
    }
}

impl Layout {
    fn new(network: &Network, initial: &State) -> Layout {
        let levels = levels(network);
        let class_of = classes(network, &levels);
        let slots = slots(network);
        let order = Order::new(network, &levels, &class_of, &slots);
        let mut layout = Layout {
            n_state_words: (network.n_bases as usize).div_ceil(64),
            n_places: order.n_places,
            readers: vec![Readers::default(); order.n_places],
            chunks: Vec::new(),
            opens: rustc_hash::FxHashMap::default(),
            classes: order.classes,
            events: order.events(network, &levels),
            base_places: (0..network.n_bases)
                .map(|base| order.places[network.base(base).idx()])
                .collect(),
            input_places: (0..network.n_inputs)
                .map(|input| order.places[network.input(input).idx()])
                .collect(),
            slots,
            role_inputs: network
                .roles
                .iter()
                .map(|role| (role.first_input, role.legal.len() as u32))
                .collect(),
            start: Memory::default(),
        };
        layout.add_readers(network, &levels, &order);
        layout.start = layout.first_memory(network, &order);
        layout.begin(initial);
        layout
    }

    fn add_readers(&mut self, network: &Network, levels: &Levels, order: &Order) {
        // Step 1. Whom each place tells.
        let mut gates: Vec<Vec<u32>> = vec![Vec::new(); self.n_places];
        for node in network.nodes() {
            let component = levels.component[node.idx()];
            let of_loop = match network.node(node) {
                Node::Loop(of) => Some(network.loops[of as usize]),
                _ => None,
            };
            for &signal in network.inputs_of(node).iter().chain(&of_loop) {
                let read = order.places[signal.node().idx()];
                if of_loop.is_none() {
                    gates[read as usize]
                        .push(order.places[node.idx()] * 2 + u32::from(signal.is_complement()));
                }
                if component != NONE && levels.component[signal.node().idx()] != component {
                    let opens = self.opens.entry(read).or_default();
                    opens.push(order.opens[component as usize]);
                    opens.sort_unstable();
                    opens.dedup();
                }
            }
        }
        // Step 2. Output bits: a place flips one, and each further one through a place of its own.
        for readers in &mut self.readers {
            readers.bit = self.slots.unused_bit;
        }
        for &(slot, source, place) in &order.bits {
            self.readers[place as usize].bit = slot;
            if place != source {
                gates[source as usize].push(place * 2);
            }
        }
        // Step 3. Chunks of equal size.
        for (place, gates) in gates.iter_mut().enumerate() {
            gates.sort_unstable();
            let first = self.chunks.len();
            for some in gates.chunks(CHUNK) {
                let mut chunk = [order.filler * 2; CHUNK];
                chunk[..some.len()].copy_from_slice(some);
                self.chunks.push(chunk);
            }
            let n_chunks = (self.chunks.len() - first) as u32;
            self.readers[place].first = first as u32;
            self.readers[place].n_chunks =
                n_chunks * 2 + u32::from(self.opens.contains_key(&(place as u32)));
        }
    }

    /// Brings the memory that machines start with to the initial state.
    fn begin(&mut self, initial: &State) {
        let mut start = std::mem::take(&mut self.start);
        self.load(&mut start, initial.words());
        for class in 0..N_CLASSES {
            self.settle(&mut start, class as u8);
        }
        self.start = start;
    }

    /// The empty state, evaluated.
    fn first_memory(&self, network: &Network, order: &Order) -> Memory {
        let mut memory = Memory {
            state: vec![0; self.n_state_words],
            next: vec![0; self.n_state_words],
            outputs: vec![0; self.slots.n_words],
            counts: vec![1; self.n_places],
            marks: vec![0; self.n_places / 64],
            does: vec![NONE; self.role_inputs.len()],
        };
        // Step 1. Everything is false but the constant; those whose inputs are satisfied by that are marked.
        memory.counts[order.places[0] as usize] = 0;
        memory.counts[order.filler as usize] = FILLER;
        let is_false = |memory: &Memory, signal: Signal| {
            signal.is_complement() == memory.value(order.places[signal.node().idx()])
        };
        let mut counts = Vec::new();
        for node in network.nodes() {
            if let Node::And(signals) = network.node(node) {
                let count = signals
                    .iter()
                    .filter(|&&signal| is_false(&memory, signal))
                    .count();
                counts.push((order.places[node.idx()], count as u32));
            }
        }
        for (place, count) in counts {
            memory.counts[place as usize] = count;
            if count == 0 {
                memory.mark(place);
            }
        }
        for (&place, event) in &self.events {
            memory.counts[place as usize] = EVENT;
            if let Event::Open { .. } = event {
                memory.mark(place);
            }
        }
        // Step 2. Outputs of nodes that are false now: only complements are on.
        for (slot, signal) in output_slots(network, &self.slots) {
            let is_true = signal.constant().unwrap_or(signal.is_complement());
            memory.outputs[slot as usize / 64] |= u64::from(is_true) << (slot % 64);
        }
        // Step 3. Evaluate.
        for class in 0..N_CLASSES {
            self.settle(&mut memory, class as u8);
        }
        memory
    }

    fn load(&self, memory: &mut Memory, state: &[u64]) {
        for (word, &new) in state.iter().enumerate() {
            let mut changed = memory.state[word] ^ new;
            memory.state[word] = new;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                changed &= changed - 1;
                let place = self.base_places[word * 64 + bit as usize];
                self.set(memory, place, new >> bit & 1 == 1);
            }
        }
    }

    /// Turns the moves of a step on, and those of the step before off.
    fn set_moves(&self, memory: &mut Memory, joint: &[MoveId]) {
        for (role, of) in joint.iter().enumerate() {
            let input = self.role_inputs[role].0 + of.0;
            let before = memory.does[role];
            if before == input {
                continue;
            }
            if before != NONE {
                self.set(memory, self.input_places[before as usize], false);
            }
            self.set(memory, self.input_places[input as usize], true);
            memory.does[role] = input;
        }
    }

    /// Changes something given to this value, which it does not have.
    #[inline]
    fn set(&self, memory: &mut Memory, place: u32, value: bool) {
        memory.counts[place as usize] = u32::from(!value);
        self.tell(memory, place, value);
    }

    /// Tells the readers of a place that it has this value now.
    #[inline]
    fn tell(&self, memory: &mut Memory, place: u32, value: bool) {
        let value = u32::from(value);
        debug_assert!((place as usize) < self.n_places);
        // SAFETY: places are below `n_places`, and `add_readers` writes only such places, chunks and output bits that
        // exist; every memory is a clone of `start`, which has a count and a mark for each place.
        unsafe {
            let readers = *self.readers.get_unchecked(place as usize);
            *memory.outputs.get_unchecked_mut(readers.bit as usize / 64) ^= 1 << (readers.bit % 64);
            let first = readers.first as usize;
            let end = first + readers.n_chunks as usize / 2;
            for chunk in self.chunks.get_unchecked(first..end) {
                for &reader in chunk {
                    let target = reader / 2;
                    let count = memory.counts.get_unchecked_mut(target as usize);
                    // An input that becomes true takes one away, one that becomes false adds one; the lower of the count
                    // before and after is zero exactly if the gate changes.
                    let is_satisfied = value ^ (reader & 1);
                    let lower = count.wrapping_sub(is_satisfied);
                    *count = lower + (1 - is_satisfied);
                    *memory.marks.get_unchecked_mut(target as usize / 64) ^=
                        u64::from(lower == 0) << (target % 64);
                }
            }
            if readers.n_chunks & 1 == 1 {
                self.touch(memory, place);
            }
        }
    }

    /// Marks the components that a place touches.
    fn touch(&self, memory: &mut Memory, place: u32) {
        for &open in &self.opens[&place] {
            memory.mark(open);
        }
    }

    /// Evaluates all marked places of a class, in order.
    fn settle(&self, memory: &mut Memory, class: u8) {
        let (start, end) = self.classes[class as usize];
        let mut word = start;
        while word < end {
            let mut marks = std::mem::take(&mut memory.marks[word]);
            let mut next = word + 1;
            while marks != 0 {
                let place = word as u32 * 64 + marks.trailing_zeros();
                marks &= marks - 1;
                let count = memory.counts[place as usize];
                if count == EVENT {
                    // Raised loops send their gates back to lower places.
                    next = self
                        .happen(memory, place)
                        .map_or(next, |back| back.min(next));
                } else {
                    self.tell(memory, place, count == 0);
                }
            }
            word = next;
        }
    }

    /// Opens or closes a component; tells the word of marks to go back to, if lower places are marked now.
    fn happen(&self, memory: &mut Memory, place: u32) -> Option<usize> {
        match &self.events[&place] {
            Event::Open { loops, close } => {
                for &of in loops {
                    if memory.value(of) {
                        self.set(memory, of, false);
                    }
                }
                memory.mark(*close);
                None
            }
            Event::Close { loops, open } => {
                let mut is_raised = false;
                for &(of, definition, is_complement) in loops {
                    if !memory.value(of) && memory.value(definition) != is_complement {
                        self.set(memory, of, true);
                        is_raised = true;
                    }
                }
                if is_raised {
                    memory.mark(place);
                }
                is_raised.then_some(*open as usize / 64)
            }
        }
    }
}

/// A game laid out for change propagation, one network per phase. Immutable; shared by machines.
pub struct ScalarProgram {
    layouts: Vec<Layout>,
    /// How to tell the phase of a state.
    marks: Marks,
    initial: State,
}

impl ScalarProgram {
    /// Lays networks out.
    #[must_use]
    pub fn new(phases: &Phases, networks: &[Network], initial: &State) -> ScalarProgram {
        let layout = |network| Layout::new(network, initial);
        let layouts = networks.iter().map(layout).collect();
        ScalarProgram {
            layouts,
            marks: phases.marks(),
            initial: initial.clone(),
        }
    }

    /// A machine in the initial state.
    #[must_use]
    pub fn machine(self: &Arc<Self>) -> ScalarMachine {
        let n_roles = self.layouts[0].role_inputs.len();
        let mut machine = ScalarMachine {
            memories: self
                .layouts
                .iter()
                .map(|layout| layout.start.clone())
                .collect(),
            phase: 0,
            legal: vec![Vec::new(); n_roles],
            program: Arc::clone(self),
        };
        machine.load(&self.initial);
        machine
    }
}

/// A machine of the scalar engine.
pub struct ScalarMachine {
    program: Arc<ScalarProgram>,
    /// Per phase: the last state of that phase, with everything computed for it.
    memories: Vec<Memory>,
    phase: usize,
    /// The last answer to each role's question for legal moves.
    legal: Vec<Vec<MoveId>>,
}

impl ScalarMachine {
    /// Goes to this state.
    pub fn load(&mut self, state: &State) {
        self.phase = self.program.marks.phase_of(state.words());
        if *state == self.program.initial {
            self.restart();
        }
        let layout = &self.program.layouts[self.phase];
        let memory = &mut self.memories[self.phase];
        layout.load(memory, state.words());
        layout.settle(memory, PLAY);
    }

    /// Puts small memories back to where they began.
    fn restart(&mut self) {
        for (layout, memory) in self.program.layouts.iter().zip(&mut self.memories) {
            if layout.n_places <= MOST_COPIED {
                memory.copy_from(&layout.start);
            }
        }
    }

    /// The words of the state.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.memory().state
    }

    /// Whether the match is over.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.is_on(self.layout().slots.terminal_bit)
    }

    /// The legal moves of a role as bits, in words.
    #[must_use]
    pub fn legal_words(&self, role: RoleId) -> &[u64] {
        let (start, end) = self.layout().slots.legal_words[role.idx()];
        &self.memory().outputs[start..end]
    }

    /// The legal moves of a role, in order.
    pub fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        let mut moves = std::mem::take(&mut self.legal[role.idx()]);
        moves.clear();
        for (idx, &word) in self.legal_words(role).iter().enumerate() {
            let mut word = word;
            while word != 0 {
                moves.push(MoveId(idx as u32 * 64 + word.trailing_zeros()));
                word &= word - 1;
            }
        }
        self.legal[role.idx()] = moves;
        &self.legal[role.idx()]
    }

    /// Which goal values of a role hold, by their place in the program's list.
    pub fn goal_indexes(&mut self, role: RoleId) -> impl Iterator<Item = usize> + '_ {
        self.program.layouts[self.phase].settle(&mut self.memories[self.phase], GOAL);
        let (start, end) = self.layout().slots.goal_bits[role.idx()];
        (start..end)
            .filter(|&bit| self.is_on(bit))
            .map(move |bit| (bit - start) as usize)
    }

    /// Goes to the state after this joint move.
    pub fn advance(&mut self, joint: &[MoveId]) {
        let program = &*self.program;
        let memory = &mut self.memories[self.phase];
        let layout = &program.layouts[self.phase];
        layout.set_moves(memory, joint);
        layout.settle(memory, NEXT);
        // A flipped base may be an output itself, so the next state is put aside first.
        let mut next = std::mem::take(&mut memory.next);
        next.copy_from_slice(&memory.outputs[..layout.n_state_words]);
        let before = self.phase;
        self.phase = if before + 1 == program.layouts.len() {
            0
        } else {
            before + 1
        };
        let memory = &mut self.memories[self.phase];
        let layout = &program.layouts[self.phase];
        layout.load(memory, &next);
        layout.settle(memory, PLAY);
        self.memories[before].next = next;
    }

    fn layout(&self) -> &Layout {
        &self.program.layouts[self.phase]
    }

    fn memory(&self) -> &Memory {
        &self.memories[self.phase]
    }

    fn is_on(&self, bit: u32) -> bool {
        self.memory().outputs[bit as usize / 64] >> (bit % 64) & 1 == 1
    }
}
