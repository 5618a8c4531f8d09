//! The scalar engine: holds one state and propagates only changes.
//!
//! Each gate counts its false inputs; it is true when the count is zero. When a node flips, the counts of its readers
//! change by one, and a count that becomes or ceases to be zero toggles the mark of its gate. A gate is marked exactly
//! if it must flip. Nodes are numbered by level and marks are bits, so the next marked node is the next set bit, and
//! each gate flips at most once per step. Outputs are bits of one array, which flip with their nodes: the next state is
//! a copy of words, and the legal moves of a role are the bits of a few words.
//!
//! The effect of a flip depends on data that no branch predictor can foresee, so the inner loop has no branches except
//! its own condition. Readers come in chunks of equal size, padded with a dummy reader, and each node has exactly one
//! output bit, which for most nodes lies in an unused word.
//!
//! Not everything is needed at every step. Gates have three classes: those that legal moves and `terminal` depend on,
//! those that only goals depend on, and those that only the next state depends on. Each class has its own range of
//! numbers, whose marks are processed on demand. Goals therefore cost nothing until the match is over, and the moves of
//! a step and the changes of the state reach the next state in one sweep.
//!
//! For components of recursive rules see [`crate::levels`]. When an input of a component changes, its loops are reset
//! to false and its least fixpoint is computed again.
//!
//! - Emslie's galvanise and Sancho (the networks of the GGP champions of 2014 and 2015) propagate changes by counters

#![expect(
    unsafe_code,
    reason = "the inner loop of the engine: bounds are established once, when the layout is made"
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
/// Places are node numbers in evaluation order: first the given nodes, then the gates of each class by level, with the
/// opening and closing events of components among them.
struct Layout {
    n_state_words: usize,
    n_places: usize,
    /// Per place: its readers.
    readers: Vec<Readers>,
    /// Gates that read a place: twice their own place, plus one for a complement.
    chunks: Vec<Chunk>,
    /// Components that a place affects, by the place where they open.
    opens: rustc_hash::FxHashMap<u32, Vec<u32>>,
    /// The range of mark words of each class.
    classes: [(usize, usize); N_CLASSES],
    /// The events at places that are not gates, by place.
    events: rustc_hash::FxHashMap<u32, Event>,
    base_places: Vec<u32>,
    input_places: Vec<u32>,
    slots: Slots,
    /// Per role: its first input and number of moves.
    role_inputs: Vec<(u32, u32)>,
    /// The initial memory of a machine: everything evaluated in the initial state, no move made.
    start: Memory,
}

/// A memory with at most this many places is copied when a machine returns to the initial state; a larger one is
/// updated change by change.
const MAX_COPIED: usize = 4096;

/// Readers of a place that are processed together.
type Chunk = [u32; CHUNK];
const CHUNK: usize = 2;

/// The readers of a place.
#[derive(Clone, Copy, Default)]
struct Readers {
    /// Its first chunk.
    first: u32,
    /// Twice the number of its chunks, plus one if it affects components.
    n_chunks: u32,
    /// The output bit that it flips.
    bit: u32,
}

/// The count of a place that is an event and not a gate.
const EVENT: u32 = u32::MAX;
/// The count of the dummy reader that pads chunks: so high that it never becomes zero.
const FILLER: u32 = 1 << 31;

/// The mutable data of a machine.
#[derive(Clone, Default)]
struct Memory {
    state: Vec<u64>,
    /// The next state while it is being loaded.
    next: Vec<u64>,
    outputs: Vec<u64>,
    /// Per place: the number of its false inputs; the place is true at zero. Given nodes have 0 or 1.
    counts: Vec<u32>,
    /// One bit per place that must flip, or per event that is due.
    marks: Vec<u64>,
    /// The active input of each role, or `NONE`.
    does: Vec<u32>,
}

impl Memory {
    fn mark(&mut self, place: u32) {
        self.marks[place as usize / 64] |= 1 << (place % 64);
    }

    fn value(&self, place: u32) -> bool {
        self.counts[place as usize] == 0
    }

    /// Copies another memory of the same layout, without allocating.
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
        // Step 1. Collect the readers of each place.
        let mut gates: Vec<Vec<u32>> = vec![Vec::new(); self.n_places];
        for node in network.nodes() {
            let component = levels.component[node.idx()];
            let definition = match network.node(node) {
                Node::Loop(idx) => Some(network.loops[idx as usize]),
                _ => None,
            };
            for &signal in network.inputs_of(node).iter().chain(&definition) {
                let read = order.places[signal.node().idx()];
                if definition.is_none() {
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
        // Step 2. Output bits: a place flips one bit itself, and each further bit through an extra place.
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

    /// Moves the memory that machines start with to the initial state.
    fn begin(&mut self, initial: &State) {
        let mut start = std::mem::take(&mut self.start);
        self.load(&mut start, initial.words());
        for class in 0..N_CLASSES {
            self.settle(&mut start, class as u8);
        }
        self.start = start;
    }

    /// The memory of the empty state, evaluated.
    fn first_memory(&self, network: &Network, order: &Order) -> Memory {
        let mut memory = Memory {
            state: vec![0; self.n_state_words],
            next: vec![0; self.n_state_words],
            outputs: vec![0; self.slots.n_words],
            counts: vec![1; self.n_places],
            marks: vec![0; self.n_places / 64],
            does: vec![NONE; self.role_inputs.len()],
        };
        // Step 1. Everything except the constant is false; gates whose inputs are all satisfied are marked.
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
        // Step 2. All nodes are false now, so only complemented outputs are set.
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

    /// Turns the moves of a step on, and those of the previous step off.
    fn set_moves(&self, memory: &mut Memory, joint: &[MoveId]) {
        for (role, mv) in joint.iter().enumerate() {
            let input = self.role_inputs[role].0 + mv.0;
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

    /// Flips a given node to this value, which differs from its current value.
    #[inline]
    fn set(&self, memory: &mut Memory, place: u32, value: bool) {
        memory.counts[place as usize] = u32::from(!value);
        self.tell(memory, place, value);
    }

    /// Updates the readers of a place that has changed to this value.
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
                    // An input that becomes true decrements the count, one that becomes false increments it. The lower
                    // of the old and new counts is zero exactly if the gate changes.
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

    /// Marks the components that a place affects.
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
                    // Raised loops mark gates at lower places.
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

    /// Opens or closes a component. Returns the word of marks to go back to, if lower places are marked now.
    fn happen(&self, memory: &mut Memory, place: u32) -> Option<usize> {
        match &self.events[&place] {
            Event::Open { loops, close } => {
                for &place in loops {
                    if memory.value(place) {
                        self.set(memory, place, false);
                    }
                }
                memory.mark(*close);
                None
            }
            Event::Close { loops, open } => {
                let mut is_raised = false;
                for &(place, definition, is_complement) in loops {
                    if !memory.value(place) && memory.value(definition) != is_complement {
                        self.set(memory, place, true);
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

/// A game laid out for change propagation, with one network per phase. Immutable; shared by machines.
pub struct ScalarProgram {
    layouts: Vec<Layout>,
    /// How to determine the phase of a state.
    marks: Marks,
    initial: State,
}

impl ScalarProgram {
    /// Lays out the networks.
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
    /// The most recent legal moves of each role.
    legal: Vec<Vec<MoveId>>,
}

impl ScalarMachine {
    /// Moves to this state.
    pub fn load(&mut self, state: &State) {
        self.load_words(state.words());
    }

    /// Moves to the state with these words.
    pub fn load_words(&mut self, words: &[u64]) {
        self.phase = self.program.marks.phase_of(words);
        if words == self.program.initial.words() {
            self.restart();
        }
        let layout = &self.program.layouts[self.phase];
        let memory = &mut self.memories[self.phase];
        layout.load(memory, words);
        layout.settle(memory, PLAY);
    }

    /// Resets small memories to the initial state.
    fn restart(&mut self) {
        for (layout, memory) in self.program.layouts.iter().zip(&mut self.memories) {
            if layout.n_places <= MAX_COPIED {
                memory.copy_from(&layout.start);
            }
        }
    }

    /// The words of the current state.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.memory().state
    }

    /// Whether the state is terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.is_on(self.layout().slots.terminal_bit)
    }

    /// The legal moves of a role as words of bits.
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

    /// The goal values of a role that hold, as indexes into the program's list.
    pub fn goal_indexes(&mut self, role: RoleId) -> impl Iterator<Item = usize> + '_ {
        self.program.layouts[self.phase].settle(&mut self.memories[self.phase], GOAL);
        let (start, end) = self.layout().slots.goal_bits[role.idx()];
        (start..end)
            .filter(|&bit| self.is_on(bit))
            .map(move |bit| (bit - start) as usize)
    }

    /// Moves to the state after this joint move.
    pub fn advance(&mut self, joint: &[MoveId]) {
        let program = &*self.program;
        let memory = &mut self.memories[self.phase];
        let layout = &program.layouts[self.phase];
        layout.set_moves(memory, joint);
        layout.settle(memory, NEXT);
        // A flipped base may itself be an output, so the next state is copied first.
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
