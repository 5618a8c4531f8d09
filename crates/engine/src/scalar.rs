//! The scalar engine: one state, where only changes propagate.
//!
//! Each gate counts its inputs that are false; it is true when the count is zero. When a node flips, the counts of its
//! readers move by one, and those whose value no longer fits are marked. Nodes are numbered by level and marks are bits,
//! so that the next marked node is the next set bit, and each gate is looked at once per step at most. Outputs are bits
//! of one array, flipped as their nodes flip: the next state is then a copy of words, and the legal moves of a role are
//! the bits of a few words.
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

use std::sync::Arc;

use crate::levels::{Levels, NONE, levels};
use crate::network::{Network, Node, NodeId, Signal};
use crate::optimize::Optimized;
use crate::phases::Phases;
use crate::state::{MoveId, RoleId, State};

/// The network of one phase, laid out for change propagation.
///
/// Places are node numbers in the order of evaluation: first what is given, then the gates of each class by level, with
/// the opening and closing of components among them.
struct Layout {
    n_state_words: usize,
    n_places: usize,
    /// Per place: where its readers begin in `readers`, of three kinds one after the other.
    readers: Vec<Readers>,
    /// Gates that read a place: twice their own place, plus one for a complement.
    gates: Vec<u32>,
    /// Output bits that a place flips.
    bits: Vec<u32>,
    /// Components that a place touches, by the place where they open.
    opens: Vec<u32>,
    /// The summary words of each class.
    classes: [(usize, usize); N_CLASSES],
    /// What happens at places that are no gates, by place.
    events: rustc_hash::FxHashMap<u32, Event>,
    base_places: Vec<u32>,
    input_places: Vec<u32>,
    slots: Slots,
    /// Per role: its first input and number of moves.
    role_inputs: Vec<(u32, u32)>,
    /// Where a machine begins: everything evaluated in the empty state, no move made.
    seed: Memory,
}

/// Where the readers of a place stand.
#[derive(Clone, Copy, Default)]
struct Readers {
    gates: (u32, u32),
    bits: (u32, u32),
    opens: (u32, u32),
}

/// The opening or closing of a component.
#[derive(Clone)]
enum Event {
    /// Resets these loops, then marks the closing.
    Open { loops: Vec<u32>, close: u32 },
    /// Sets the loops whose definitions hold (place, and whether it is a complement), then marks itself again.
    Close { loops: Vec<(u32, u32, bool)> },
}

/// Where the output bits stand: first the next state, then the legal moves of each role, then goals and the end.
#[derive(Clone, Default)]
struct Slots {
    legal_words: Vec<(usize, usize)>,
    goal_bits: Vec<(u32, u32)>,
    terminal_bit: u32,
    n_words: usize,
}

/// The classes of gates.
const PLAY: u8 = 0;
const GOAL: u8 = 1;
const NEXT: u8 = 2;
const N_CLASSES: usize = 3;

/// Places per summary word: 64 words of 64 marks. Classes begin at multiples of it.
const BLOCK: usize = 64 * 64;

/// In a place's word: the value, below the count of false inputs.
const VALUE: u32 = 1;
const ONE: u32 = 4;
/// In a place's word: it is an event, never a gate.
const EVENT: u32 = 2;

/// What changes as a machine steps.
#[derive(Clone, Default)]
struct Memory {
    state: Vec<u64>,
    /// The next state while it is being loaded.
    next: Vec<u64>,
    outputs: Vec<u64>,
    /// Per place: `ONE` times the number of false inputs, plus `VALUE` if it is true.
    words: Vec<u32>,
    marks: Vec<u64>,
    /// A bit per word of marks that is not zero.
    summary: Vec<u64>,
    /// The input of each role that is on, or `NONE`.
    does: Vec<u32>,
}

impl Memory {
    #[inline]
    fn mark(&mut self, place: u32) {
        let word = place as usize / 64;
        debug_assert!((place as usize) < self.words.len());
        // SAFETY: places are below `n_places`, a multiple of `BLOCK`; there is a mark for each of them and a summary bit
        // for each word of marks.
        unsafe {
            *self.marks.get_unchecked_mut(word) |= 1 << (place % 64);
            *self.summary.get_unchecked_mut(word / 64) |= 1 << (word % 64);
        }
    }

    fn value(&self, place: u32) -> bool {
        self.words[place as usize] & VALUE != 0
    }
}

impl Layout {
    fn new(network: &Network) -> Layout {
        let levels = levels(network);
        let class_of = classes(network, &levels);
        let slots = slots(network);
        let order = Order::new(network, &levels, &class_of);
        let mut layout = Layout {
            n_state_words: (network.n_bases as usize).div_ceil(64),
            n_places: order.n_places,
            readers: vec![Readers::default(); order.n_places],
            gates: Vec::with_capacity(network.n_edges()),
            bits: Vec::new(),
            opens: Vec::new(),
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
            seed: Memory::default(),
        };
        layout.add_readers(network, &levels, &order);
        layout.seed = layout.first_memory(network, &order);
        layout
    }

    fn add_readers(&mut self, network: &Network, levels: &Levels, order: &Order) {
        let mut gates: Vec<Vec<u32>> = vec![Vec::new(); self.n_places];
        let mut bits: Vec<Vec<u32>> = vec![Vec::new(); self.n_places];
        let mut opens: Vec<Vec<u32>> = vec![Vec::new(); self.n_places];
        for node in network.nodes() {
            let component = levels.component[node.idx()];
            let of_loop = match network.node(node) {
                Node::Loop(of) => Some(network.loops[of as usize]),
                _ => None,
            };
            for &signal in network.inputs_of(node).iter().chain(&of_loop) {
                let read = order.places[signal.node().idx()] as usize;
                if of_loop.is_none() {
                    gates[read]
                        .push(order.places[node.idx()] * 2 + u32::from(signal.is_complement()));
                }
                if component != NONE && levels.component[signal.node().idx()] != component {
                    opens[read].push(order.opens[component as usize]);
                }
            }
        }
        for (slot, signal) in output_slots(network, &self.slots) {
            bits[order.places[signal.node().idx()] as usize].push(slot);
        }
        for place in 0..self.n_places {
            opens[place].sort_unstable();
            opens[place].dedup();
            gates[place].sort_unstable();
            let readers = &mut self.readers[place];
            readers.gates = append(&mut self.gates, &gates[place]);
            readers.bits = append(&mut self.bits, &bits[place]);
            readers.opens = append(&mut self.opens, &opens[place]);
        }
    }

    /// The empty state, evaluated.
    fn first_memory(&self, network: &Network, order: &Order) -> Memory {
        let mut memory = Memory {
            state: vec![0; self.n_state_words],
            next: vec![0; self.n_state_words],
            outputs: vec![0; self.slots.n_words],
            words: vec![ONE; self.n_places],
            marks: vec![0; self.n_places / 64],
            summary: vec![0; self.n_places / BLOCK],
            does: vec![NONE; self.role_inputs.len()],
        };
        // Step 1. Gates read what is false: only complements are satisfied. Everything is looked at once.
        memory.words[order.places[0] as usize] = VALUE;
        for node in network.nodes() {
            if let Node::And(signals) = network.node(node) {
                let is_false = |signal: &&Signal| {
                    signal.is_complement() == memory.value(order.places[signal.node().idx()])
                };
                let count = signals.iter().filter(is_false).count() as u32;
                let place = order.places[node.idx()];
                memory.words[place as usize] = count * ONE;
                memory.mark(place);
            }
        }
        for (&place, event) in &self.events {
            memory.words[place as usize] = EVENT;
            if let Event::Open { .. } = event {
                memory.mark(place);
            }
        }
        // Step 2. Outputs of nodes that are false now: only complements are on.
        for (slot, signal) in output_slots(network, &self.slots) {
            let value = memory.value(order.places[signal.node().idx()]) != signal.is_complement();
            memory.outputs[slot as usize / 64] |= u64::from(value) << (slot % 64);
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
                let base = word * 64 + changed.trailing_zeros() as usize;
                changed &= changed - 1;
                self.flip(memory, self.base_places[base]);
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
                self.flip(memory, self.input_places[before as usize]);
            }
            self.flip(memory, self.input_places[input as usize]);
            memory.does[role] = input;
        }
    }

    /// Changes the value of a place and tells its readers.
    #[inline]
    fn flip(&self, memory: &mut Memory, place: u32) {
        let word = &mut memory.words[place as usize];
        *word ^= VALUE;
        let value = *word & VALUE;
        let readers = self.readers[place as usize];
        for &reader in &self.gates[readers.gates.0 as usize..readers.gates.1 as usize] {
            let target = reader >> 1;
            // SAFETY: `add_readers` writes only places below `n_places`, and every memory has that many words.
            let word = unsafe { memory.words.get_unchecked_mut(target as usize) };
            // Satisfied: one false input less. The value differs from the complement mark exactly then.
            let is_satisfied = value ^ (reader & 1);
            *word = word
                .wrapping_add(ONE)
                .wrapping_sub(is_satisfied * (2 * ONE));
            // It is true with false inputs, or false without.
            if *word == 0 || (*word & VALUE != 0 && *word != VALUE) {
                memory.mark(target);
            }
        }
        for &bit in &self.bits[readers.bits.0 as usize..readers.bits.1 as usize] {
            memory.outputs[bit as usize / 64] ^= 1 << (bit % 64);
        }
        for &open in &self.opens[readers.opens.0 as usize..readers.opens.1 as usize] {
            memory.mark(open);
        }
    }

    /// Evaluates all marked places of a class, in order.
    fn settle(&self, memory: &mut Memory, class: u8) {
        let (start, end) = self.classes[class as usize];
        let mut block = start;
        while block < end {
            let Some(word) = lowest(memory.summary[block]) else {
                block += 1;
                continue;
            };
            let word = block * 64 + word;
            let Some(bit) = lowest(memory.marks[word]) else {
                memory.summary[block] &= !(1 << (word % 64));
                continue;
            };
            memory.marks[word] &= memory.marks[word] - 1;
            let place = (word * 64 + bit) as u32;
            let value = memory.words[place as usize];
            if value == 0 || (value & (VALUE | EVENT) == VALUE && value != VALUE) {
                self.flip(memory, place);
            } else if value & EVENT != 0 && self.happen(memory, place) {
                // Raised loops send their gates back to lower places.
                block = start;
            }
        }
    }

    /// Opens or closes a component; tells whether lower places are marked now.
    #[cold]
    fn happen(&self, memory: &mut Memory, place: u32) -> bool {
        match &self.events[&place] {
            Event::Open { loops, close } => {
                for &of in loops {
                    if memory.value(of) {
                        self.flip(memory, of);
                    }
                }
                memory.mark(*close);
                false
            }
            Event::Close { loops } => {
                let mut is_raised = false;
                for &(of, definition, is_complement) in loops {
                    if !memory.value(of) && memory.value(definition) != is_complement {
                        self.flip(memory, of);
                        is_raised = true;
                    }
                }
                if is_raised {
                    memory.mark(place);
                }
                is_raised
            }
        }
    }
}

/// The place of the lowest set bit.
fn lowest(word: u64) -> Option<usize> {
    (word != 0).then(|| word.trailing_zeros() as usize)
}

fn append(all: &mut Vec<u32>, some: &[u32]) -> (u32, u32) {
    let start = all.len() as u32;
    all.extend_from_slice(some);
    (start, all.len() as u32)
}

/// Which node stands at which place.
struct Order {
    places: Vec<u32>,
    opens: Vec<u32>,
    closes: Vec<u32>,
    classes: [(usize, usize); N_CLASSES],
    n_places: usize,
}

impl Order {
    fn new(network: &Network, levels: &Levels, class_of: &[u8]) -> Order {
        let n_components = levels.components.len();
        let mut order = Order {
            places: vec![NONE; network.n_nodes()],
            opens: vec![NONE; n_components],
            closes: vec![NONE; n_components],
            classes: [(0, 0); N_CLASSES],
            n_places: 0,
        };
        let mut next = 0;
        for node in network
            .nodes()
            .filter(|&node| !matches!(network.node(node), Node::And(_)))
        {
            order.places[node.idx()] = next;
            next += 1;
        }
        let class_of_component = component_classes(network, levels, class_of);
        for class in 0..N_CLASSES as u8 {
            next = next.next_multiple_of(BLOCK as u32);
            let start = next as usize / BLOCK;
            // By level; at one level openings come first and closings last.
            let mut items: Vec<(u32, u8, u32)> = Vec::new();
            let gates = network
                .nodes()
                .filter(|&node| matches!(network.node(node), Node::And(_)));
            items.extend(
                gates
                    .filter(|node| class_of[node.idx()] == class)
                    .map(|node| (levels.level[node.idx()], 1, node.0)),
            );
            for (idx, component) in levels.components.iter().enumerate() {
                if class_of_component[idx] == class {
                    items.push((component.open, 0, idx as u32));
                    items.push((component.close, 2, idx as u32));
                }
            }
            items.sort_unstable();
            for (_, kind, idx) in items {
                match kind {
                    0 => order.opens[idx as usize] = next,
                    1 => order.places[idx as usize] = next,
                    _ => order.closes[idx as usize] = next,
                }
                next += 1;
            }
            order.classes[class as usize] = (start, (next as usize).div_ceil(BLOCK));
        }
        order.n_places = (next as usize).next_multiple_of(BLOCK);
        order
    }

    fn events(&self, network: &Network, levels: &Levels) -> rustc_hash::FxHashMap<u32, Event> {
        let loop_nodes = loop_nodes(network);
        let mut events = rustc_hash::FxHashMap::default();
        for (idx, component) in levels.components.iter().enumerate() {
            let place = |of: u32| self.places[loop_nodes[of as usize].idx()];
            let loops = component.loops.iter().map(|&of| place(of)).collect();
            events.insert(
                self.opens[idx],
                Event::Open {
                    loops,
                    close: self.closes[idx],
                },
            );
            let loops = component.loops.iter().map(|&of| {
                let definition = network.loops[of as usize];
                (
                    place(of),
                    self.places[definition.node().idx()],
                    definition.is_complement(),
                )
            });
            events.insert(
                self.closes[idx],
                Event::Close {
                    loops: loops.collect(),
                },
            );
        }
        events
    }
}

fn component_classes(network: &Network, levels: &Levels, class_of: &[u8]) -> Vec<u8> {
    let loop_nodes = loop_nodes(network);
    let class = |component: &crate::levels::Component| {
        class_of[loop_nodes[component.loops[0] as usize].idx()]
    };
    levels.components.iter().map(class).collect()
}

/// Which class each node belongs to: the class of those who need it, `PLAY` where several do.
fn classes(network: &Network, levels: &Levels) -> Vec<u8> {
    const UNKNOWN: u8 = u8::MAX;
    let mut class_of = vec![UNKNOWN; network.n_nodes()];
    let mut queue: Vec<(NodeId, u8)> = Vec::new();
    let outputs = |signals: &mut dyn Iterator<Item = Signal>, class| {
        signals
            .map(|signal| (signal.node(), class))
            .collect::<Vec<_>>()
    };
    let members_of: Vec<Vec<NodeId>> = (0..levels.components.len() as u32)
        .map(|idx| {
            network
                .nodes()
                .filter(|node| levels.component[node.idx()] == idx)
                .collect()
        })
        .collect();
    queue.extend(outputs(&mut network.next.iter().copied(), NEXT));
    for role in &network.roles {
        queue.extend(outputs(&mut role.goals.iter().copied(), GOAL));
        queue.extend(outputs(&mut role.legal.iter().copied(), PLAY));
    }
    queue.push((network.terminal.node(), PLAY));
    while let Some((node, wanted)) = queue.pop() {
        let merged = match class_of[node.idx()] {
            UNKNOWN => wanted,
            class if class == wanted => continue,
            PLAY => continue,
            // Both the goals and the next state need it: it is evaluated at once.
            _ => PLAY,
        };
        class_of[node.idx()] = merged;
        queue.extend(
            network
                .inputs_of(node)
                .iter()
                .map(|signal| (signal.node(), merged)),
        );
        if let Node::Loop(of) = network.node(node) {
            queue.push((network.loops[of as usize].node(), merged));
        }
        // A component is evaluated as a whole.
        if let Some(members) = members_of.get(levels.component[node.idx()] as usize) {
            queue.extend(members.iter().map(|&member| (member, merged)));
        }
    }
    class_of
        .iter()
        .map(|&class| if class == UNKNOWN { PLAY } else { class })
        .collect()
}

/// The node of each loop.
fn loop_nodes(network: &Network) -> Vec<NodeId> {
    let mut nodes = vec![NodeId(0); network.loops.len()];
    for node in network.nodes() {
        if let Node::Loop(of) = network.node(node) {
            nodes[of as usize] = node;
        }
    }
    nodes
}

fn slots(network: &Network) -> Slots {
    let mut slots = Slots::default();
    let mut word = (network.n_bases as usize).div_ceil(64);
    for role in &network.roles {
        let n_words = role.legal.len().div_ceil(64);
        slots.legal_words.push((word, word + n_words));
        word += n_words;
    }
    let mut bit = word as u32 * 64;
    for role in &network.roles {
        slots.goal_bits.push((bit, bit + role.goals.len() as u32));
        bit += role.goals.len() as u32;
    }
    slots.terminal_bit = bit;
    slots.n_words = (bit as usize + 1).div_ceil(64);
    slots
}

/// Every output with its bit.
fn output_slots<'a>(
    network: &'a Network,
    slots: &'a Slots,
) -> impl Iterator<Item = (u32, Signal)> + 'a {
    let next = (0..).zip(network.next.iter().copied());
    let legal = network
        .roles
        .iter()
        .zip(&slots.legal_words)
        .flat_map(|(role, words)| {
            let first = words.0 as u32 * 64;
            (first..).zip(role.legal.iter().copied())
        });
    let goals = network
        .roles
        .iter()
        .zip(&slots.goal_bits)
        .flat_map(|(role, bits)| (bits.0..).zip(role.goals.iter().copied()));
    next.chain(legal)
        .chain(goals)
        .chain([(slots.terminal_bit, network.terminal)])
}

/// A game laid out for change propagation, one network per phase. Immutable; shared by machines.
pub struct ScalarProgram {
    layouts: Vec<Layout>,
    /// Per phase: words of the state, which of their bits are control bits, and their values.
    marks: Vec<Vec<(usize, u64, u64)>>,
    initial: State,
}

impl ScalarProgram {
    /// Lays networks out.
    #[must_use]
    pub fn new(optimized: &Optimized, initial: &State) -> ScalarProgram {
        let layouts = optimized.networks.iter().map(Layout::new).collect();
        let marks = (0..optimized.phases.len())
            .map(|phase| marks(&optimized.phases, phase))
            .collect();
        ScalarProgram {
            layouts,
            marks,
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
                .map(|layout| layout.seed.clone())
                .collect(),
            phase: 0,
            legal: vec![Vec::new(); n_roles],
            program: Arc::clone(self),
        };
        machine.load(&self.initial);
        machine
    }

    fn phase_of(&self, words: &[u64]) -> usize {
        let fits = |marks: &Vec<(usize, u64, u64)>| {
            marks
                .iter()
                .all(|&(word, mask, bits)| words[word] & mask == bits)
        };
        // A state outside of every phase cannot be reached; any network answers wrongly for it.
        self.marks.iter().position(fits).unwrap_or(0)
    }
}

fn marks(phases: &Phases, phase: usize) -> Vec<(usize, u64, u64)> {
    let mut words: std::collections::BTreeMap<usize, (u64, u64)> =
        std::collections::BTreeMap::new();
    for (&bit, &value) in phases.bits.iter().zip(&phases.values[phase]) {
        let (mask, bits) = words.entry(bit as usize / 64).or_default();
        *mask |= 1 << (bit % 64);
        *bits |= u64::from(value) << (bit % 64);
    }
    words
        .into_iter()
        .map(|(word, (mask, bits))| (word, mask, bits))
        .collect()
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
        self.phase = self.program.phase_of(state.words());
        let layout = &self.program.layouts[self.phase];
        let memory = &mut self.memories[self.phase];
        layout.load(memory, state.words());
        layout.settle(memory, PLAY);
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
