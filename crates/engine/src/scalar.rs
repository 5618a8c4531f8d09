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
//! The gates of recursive rules form components ([`crate::levels`]). Each is evaluated as a whole, at an event among the
//! places: see [`component`].
//!
//! - Emslie's galvanise and Sancho (the networks of the GGP champions of 2014 and 2015) propagate changes by counters

#![expect(
    unsafe_code,
    reason = "the inner loop of the engine: bounds are established once, when the layout is made"
)]

mod component;
mod order;

use std::sync::Arc;

use crate::levels::{Levels, NONE, levels};
use crate::network::{Network, NodeId, Signal};
use crate::phases::{Marks, Phases};
use crate::state::{MoveId, RoleId, State};

use component::{Component, Components, Touch, components};
use order::{GOAL, N_CLASSES, NEXT, Order, PLAY, Slots, classes, output_slots, slots};

/// The network of one phase, laid out for change propagation.
///
/// Places are node numbers in evaluation order: first the given nodes, then the gates of each class by level, with
/// components and the events that evaluate them among them.
struct Layout {
    n_state_words: usize,
    n_places: usize,
    /// Per place: its readers.
    readers: Vec<Readers>,
    /// Gates that read a place: twice their own place, plus one for a complement.
    chunks: Vec<Chunk>,
    components: Vec<Component>,
    /// Per place: the end of its effects in `touches`; empty if there are no components.
    touch_ends: Vec<u32>,
    /// The effects of places on components.
    touches: Vec<Touch>,
    /// The range of mark words of each class.
    classes: [(usize, usize); N_CLASSES],
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

/// The count of a place that is an event and not a gate, plus the component that it evaluates.
const EVENT: u32 = 3 << 30;
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
    // The fixpoints of components, see `component`.
    /// One bit per place: raised members; empty if there are no components.
    raised: Vec<u64>,
    /// Members that were raised before the evaluation at hand and are lowered.
    lowered: Vec<u64>,
    /// Per member of all components: when it was raised. The time is the number of members raised so far.
    ranks: Vec<u64>,
    n_raised: u64,
    /// Per component: the effects that may lower members, each once.
    pending: Vec<Vec<u32>>,
    is_pending: Vec<bool>,
    /// Members to look at; empty between evaluations.
    queue: Vec<u32>,
}

impl Memory {
    fn mark(&mut self, place: u32) {
        self.marks[place as usize / 64] |= 1 << (place % 64);
    }

    fn is_raised(&self, place: u32) -> bool {
        self.raised[place as usize / 64] >> (place % 64) & 1 == 1
    }

    /// Copies another memory of the same layout, in which everything is evaluated, without allocating.
    fn copy_from(&mut self, other: &Memory) {
        self.state.copy_from_slice(&other.state);
        self.outputs.copy_from_slice(&other.outputs);
        self.counts.copy_from_slice(&other.counts);
        self.marks.copy_from_slice(&other.marks);
        self.does.copy_from_slice(&other.does);
        self.raised.copy_from_slice(&other.raised);
        self.ranks.copy_from_slice(&other.ranks);
        self.n_raised = other.n_raised;
        self.is_pending.copy_from_slice(&other.is_pending);
        self.pending.iter_mut().for_each(Vec::clear);
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
            components: Vec::new(),
            touch_ends: Vec::new(),
            touches: Vec::new(),
            classes: order.classes,
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
        let components = components(network, &levels, &order);
        let (is_negative, n_members) = (components.is_negative.clone(), components.n_members);
        layout.add_components(components);
        layout.add_readers(network, &levels, &order);
        layout.start = layout.first_memory(network, &order, &is_negative, n_members);
        layout.begin(initial);
        layout
    }

    fn add_components(&mut self, components: Components) {
        if components.components.is_empty() {
            return;
        }
        self.components = components.components;
        self.touch_ends = vec![0; self.n_places];
        for (place, _) in &components.touches {
            self.touch_ends[*place as usize] += 1;
        }
        let mut end = 0;
        for touch_end in &mut self.touch_ends {
            end += *touch_end;
            *touch_end = end;
        }
        let touches = components.touches.into_iter();
        self.touches = touches.map(|(_, touch)| touch).collect();
    }

    /// The effects of a place on components, as indexes.
    fn touches_of(&self, place: u32) -> std::ops::Range<usize> {
        let end_of = |place: usize| self.touch_ends.get(place).map_or(0, |&end| end as usize);
        let start = (place as usize).checked_sub(1).map_or(0, end_of);
        start..end_of(place as usize)
    }

    fn add_readers(&mut self, network: &Network, levels: &Levels, order: &Order) {
        // Step 1. The readers of each place. A component has the edges between its members itself.
        let between_nodes = || {
            network.nodes().flat_map(|node| {
                let component = levels.component[node.idx()];
                let is_outside = move |signal: &&Signal| {
                    component == NONE || levels.component[signal.node().idx()] != component
                };
                let place = order.places[node.idx()];
                let reads = network.reads(node).iter().filter(is_outside);
                reads.map(move |signal| {
                    let read = order.places[signal.node().idx()];
                    (read, place * 2 + u32::from(signal.is_complement()))
                })
            })
        };
        // Step 2. Output bits: a place flips one bit itself, and each further bit through an extra place.
        for readers in &mut self.readers {
            readers.bit = self.slots.unused_bit;
        }
        for &(slot, _, place) in &order.bits {
            self.readers[place as usize].bit = slot;
        }
        let extra = order
            .bits
            .iter()
            .filter(|(_, source, place)| place != source);
        let extra = extra.map(|&(_, source, place)| (source, place * 2));
        let edges = || between_nodes().chain(extra.clone());
        let (starts, targets) = by_place(edges, self.n_places);
        // Step 3. Chunks of equal size.
        self.chunks
            .reserve(targets.len() / CHUNK + self.n_places / 2);
        for place in 0..self.n_places {
            let readers = &targets[starts[place] as usize..starts[place + 1] as usize];
            let first = self.chunks.len();
            for some in readers.chunks(CHUNK) {
                let mut chunk = [order.filler * 2; CHUNK];
                chunk[..some.len()].copy_from_slice(some);
                self.chunks.push(chunk);
            }
            let n_chunks = (self.chunks.len() - first) as u32;
            let is_touching = !self.touches_of(place as u32).is_empty();
            self.readers[place].first = first as u32;
            self.readers[place].n_chunks = n_chunks * 2 + u32::from(is_touching);
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
    fn first_memory(
        &self,
        network: &Network,
        order: &Order,
        is_negative: &[bool],
        n_members: usize,
    ) -> Memory {
        let n_words = if n_members == 0 {
            0
        } else {
            self.n_places / 64
        };
        let mut memory = Memory {
            state: vec![0; self.n_state_words],
            next: vec![0; self.n_state_words],
            outputs: vec![0; self.slots.n_words],
            counts: vec![1; self.n_places],
            marks: vec![0; self.n_places / 64],
            does: vec![NONE; self.role_inputs.len()],
            raised: vec![0; n_words],
            lowered: vec![0; n_words],
            ranks: vec![0; n_members],
            n_raised: 0,
            pending: vec![Vec::new(); self.components.len()],
            is_pending: vec![false; self.touches.len()],
            queue: Vec::new(),
        };
        // Step 1. Everything is false, except the constant and negative members of components, which are lowered; gates
        // whose inputs are all satisfied are marked.
        let is_true = |node: NodeId| node == NodeId(0) || is_negative[node.idx()];
        let is_false = |signal: Signal| signal.is_complement() == is_true(signal.node());
        memory.counts[order.places[0] as usize] = 0;
        memory.counts[order.filler as usize] = FILLER;
        for node in network.nodes() {
            let reads = network.reads(node);
            if reads.is_empty() {
                continue;
            }
            let place = order.places[node.idx()];
            let count = reads.iter().filter(|&&signal| is_false(signal)).count();
            memory.counts[place as usize] = count as u32;
            if count == 0 {
                memory.mark(place);
            }
        }
        for (idx, component) in self.components.iter().enumerate() {
            memory.counts[order.events[idx] as usize] = EVENT + idx as u32;
            memory.mark(order.events[idx]);
            component.begin(&mut memory);
        }
        // Step 2. The outputs that are set.
        for (slot, signal) in output_slots(network, &self.slots) {
            let is_set = !is_false(signal);
            memory.outputs[slot as usize / 64] |= u64::from(is_set) << (slot % 64);
        }
        // An extra place has the value of its node.
        let negative = network.nodes().filter(|node| is_negative[node.idx()]);
        let is_true: rustc_hash::FxHashSet<u32> =
            negative.map(|node| order.places[node.idx()]).collect();
        for &(_, source, place) in &order.bits {
            if place != source && is_true.contains(&source) {
                memory.counts[place as usize] = 0;
            }
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
                for idx in self.touches_of(place) {
                    self.touches[idx].note(memory, idx, value == 1);
                }
            }
        }
    }

    /// Evaluates all marked places of a class, in order.
    fn settle(&self, memory: &mut Memory, class: u8) {
        let (start, end) = self.classes[class as usize];
        for word in start..end {
            let mut marks = std::mem::take(&mut memory.marks[word]);
            while marks != 0 {
                let place = word as u32 * 64 + marks.trailing_zeros();
                marks &= marks - 1;
                let count = memory.counts[place as usize];
                if count >= EVENT {
                    self.solve(memory, (count - EVENT) as usize);
                } else {
                    self.tell(memory, place, count == 0);
                }
            }
        }
    }
}

/// Pairs of a place and a reader, grouped by place: the start of each group, and the readers of each group in order.
/// `edges` is called twice: a list of them would take as much memory as the network.
fn by_place<Edges: Iterator<Item = (u32, u32)>>(
    edges: impl Fn() -> Edges,
    n_places: usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; n_places + 1];
    edges().for_each(|(place, _)| starts[place as usize + 1] += 1);
    for place in 0..n_places {
        starts[place + 1] += starts[place];
    }
    let mut fill = starts.clone();
    let mut readers = vec![0; starts[n_places] as usize];
    edges().for_each(|(place, reader)| {
        readers[fill[place as usize] as usize] = reader;
        fill[place as usize] += 1;
    });
    for place in 0..n_places {
        readers[starts[place] as usize..starts[place + 1] as usize].sort_unstable();
    }
    (starts, readers)
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
