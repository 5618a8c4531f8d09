//! The scalar engine: one state, where only changes propagate.
//!
//! Each gate counts its inputs that are false; it is true when the count is zero. When a node flips, the counts of its
//! readers move by one, and those whose value no longer fits are queued by level, so that each gate is looked at once
//! per step at most. Outputs are bits of one array, flipped as their nodes flip: the next state is then a copy of
//! words, and the legal moves of a role are the bits of a few words.
//!
//! Not everything is asked for at every step. Gates are of three classes: what legal moves and the end need, what only
//! goals need, what only the next state needs. Each class has its own queue, which waits until somebody asks; so goals
//! cost nothing until the match is over, and the moves of a step and the changes of the state reach the next state in
//! one sweep.
//!
//! Components of recursive rules: see [`crate::levels`]. A component that something outside has touched is reset to
//! false and raised to its least fixpoint again.
//!
//! - Emslie's galvanise and Sancho (the networks of the GGP champions of 2014 and 2015) propagate changes by counters

use std::sync::Arc;

use crate::levels::{Levels, NONE, levels};
use crate::network::{Network, Node, NodeId, Signal};
use crate::state::{MoveId, RoleId, State};

/// A network laid out for change propagation. Immutable; shared by machines.
pub struct ScalarProgram {
    n_nodes: u32,
    n_state_words: usize,
    classes: Vec<Class>,
    class_of: Vec<u8>,
    level_of: Vec<u16>,
    /// Per node: where its readers begin in `readers`.
    reader_starts: Vec<u32>,
    readers: Vec<Reader>,
    components: Vec<ComponentLayout>,
    /// Definition of each loop, and its node.
    loops: Vec<(Signal, NodeId)>,
    slots: Slots,
    n_bases: u32,
    /// Per role: its first input and number of moves.
    role_inputs: Vec<(u32, u32)>,
    /// Where a machine begins: everything evaluated in the initial state, no move made.
    seed: Memory,
}

struct Class {
    n_levels: usize,
}

struct ComponentLayout {
    class: u8,
    open: u16,
    close: u16,
    loops: Vec<u32>,
}

/// Who reads a node: a gate, an output bit or a component.
#[derive(Clone, Copy)]
struct Reader(u32);

const KIND_GATE: u32 = 0;
const KIND_SLOT: u32 = 1;
const KIND_COMPONENT: u32 = 2;

impl Reader {
    fn gate(node: NodeId, is_complement: bool) -> Reader {
        Reader(node.0 << 3 | u32::from(is_complement) << 2 | KIND_GATE)
    }

    fn slot(slot: u32) -> Reader {
        Reader(slot << 3 | KIND_SLOT)
    }

    fn component(component: u32) -> Reader {
        Reader(component << 3 | KIND_COMPONENT)
    }
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

/// What changes as a machine steps.
#[derive(Clone, Default)]
struct Memory {
    state: Vec<u64>,
    /// The next state while it is being loaded.
    next: Vec<u64>,
    outputs: Vec<u64>,
    /// Per node: a gate's number of false inputs; for what is given, 0 if true and 1 if false.
    counts: Vec<u32>,
    values: Vec<bool>,
    is_queued: Vec<bool>,
    queues: [Queue; N_CLASSES],
    /// The input of each role that is on, or `NONE`.
    does: Vec<u32>,
    is_dirty: Vec<bool>,
}

/// Gates that wait, by level; components wait at the levels where they open and close.
#[derive(Clone, Default)]
struct Queue {
    levels: Vec<Vec<u32>>,
    /// Lowest level that may hold something.
    lowest: usize,
}

impl Queue {
    fn push(&mut self, level: u16, item: u32) {
        let level = level as usize;
        self.levels[level].push(item);
        self.lowest = self.lowest.min(level);
    }
}

/// Items of a queue that are components, at their opening or closing.
const OPEN_MARK: u32 = 1 << 31;
const CLOSE_MARK: u32 = 1 << 30;

impl ScalarProgram {
    /// Lays a network out, in this initial state.
    #[must_use]
    pub fn new(network: &Network, initial: &State) -> ScalarProgram {
        let levels = levels(network);
        let class_of = classes(network, &levels);
        let slots = slots(network);
        let (reader_starts, readers) = readers(network, &levels, &slots);
        let components = levels
            .components
            .iter()
            .map(|component| {
                let node = loop_nodes(network)[component.loops[0] as usize];
                ComponentLayout {
                    class: class_of[node.idx()],
                    open: component.open as u16,
                    close: component.close as u16,
                    loops: component.loops.clone(),
                }
            })
            .collect();
        let n_levels = levels.n_levels as usize + 1;
        let role_inputs = network
            .roles
            .iter()
            .map(|role| (role.first_input, role.legal.len() as u32))
            .collect();
        let mut program = ScalarProgram {
            n_nodes: network.n_nodes() as u32,
            n_state_words: (network.n_bases as usize).div_ceil(64),
            classes: (0..N_CLASSES).map(|_| Class { n_levels }).collect(),
            class_of,
            level_of: levels.level.iter().map(|&level| level as u16).collect(),
            reader_starts,
            readers,
            components,
            loops: network
                .loops
                .iter()
                .copied()
                .zip(loop_nodes(network))
                .collect(),
            slots,
            n_bases: network.n_bases,
            role_inputs,
            seed: Memory::default(),
        };
        program.seed = program.first_memory(network, initial);
        program
    }

    /// A machine in the initial state.
    #[must_use]
    pub fn machine(self: &Arc<Self>) -> ScalarMachine {
        ScalarMachine {
            memory: self.seed.clone(),
            legal: vec![Vec::new(); self.role_inputs.len()],
            program: Arc::clone(self),
        }
    }

    /// Everything false, then evaluated; then the initial state is loaded.
    fn first_memory(&self, network: &Network, initial: &State) -> Memory {
        let n_nodes = self.n_nodes as usize;
        let mut memory = Memory {
            state: vec![0; self.n_state_words],
            next: vec![0; self.n_state_words],
            outputs: vec![0; self.slots.n_words],
            counts: vec![1; n_nodes],
            values: vec![false; n_nodes],
            is_queued: vec![false; n_nodes],
            queues: std::array::from_fn(|class| Queue {
                levels: vec![Vec::new(); self.classes[class].n_levels],
                lowest: self.classes[class].n_levels,
            }),
            does: vec![NONE; self.role_inputs.len()],
            is_dirty: vec![false; self.components.len()],
        };
        // Step 1. Gates read what is false: only complements are satisfied.
        memory.values[0] = true;
        for node in network.nodes() {
            if let Node::And(signals) = network.node(node) {
                let is_false =
                    |signal: &&Signal| signal.is_complement() == memory.values[signal.node().idx()];
                memory.counts[node.idx()] = signals.iter().filter(is_false).count() as u32;
                memory.is_queued[node.idx()] = memory.counts[node.idx()] == 0;
                if memory.is_queued[node.idx()] {
                    memory.queues[self.class_of[node.idx()] as usize]
                        .push(self.level_of[node.idx()], node.0);
                }
            }
        }
        // Step 2. Outputs of nodes that are false now: only complements are on.
        for (slot, signal) in output_slots(network, &self.slots) {
            let value = memory.values[signal.node().idx()] != signal.is_complement();
            memory.outputs[slot as usize / 64] |= u64::from(value) << (slot % 64);
        }
        for component in 0..self.components.len() as u32 {
            self.touch(&mut memory, component);
        }
        // Step 3. The initial state.
        self.load(&mut memory, initial.words());
        for class in 0..N_CLASSES {
            self.settle(&mut memory, class as u8);
        }
        memory
    }

    fn load(&self, memory: &mut Memory, state: &[u64]) {
        for word in 0..self.n_state_words {
            let mut changed = memory.state[word] ^ state[word];
            memory.state[word] = state[word];
            while changed != 0 {
                let base = word as u32 * 64 + changed.trailing_zeros();
                changed &= changed - 1;
                self.flip(memory, 1 + base);
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
                self.flip(memory, 1 + self.n_bases + before);
            }
            self.flip(memory, 1 + self.n_bases + input);
            memory.does[role] = input;
        }
    }

    /// Changes the value of a node and tells its readers.
    fn flip(&self, memory: &mut Memory, node: u32) {
        let value = !memory.values[node as usize];
        memory.values[node as usize] = value;
        let readers = self.reader_starts[node as usize] as usize
            ..self.reader_starts[node as usize + 1] as usize;
        for reader in &self.readers[readers] {
            let target = reader.0 >> 3;
            match reader.0 & 3 {
                KIND_GATE => {
                    let is_satisfied = value != (reader.0 & 4 != 0);
                    let count = &mut memory.counts[target as usize];
                    *count = if is_satisfied { *count - 1 } else { *count + 1 };
                    let fits = (*count == 0) == memory.values[target as usize];
                    if !fits && !memory.is_queued[target as usize] {
                        memory.is_queued[target as usize] = true;
                        let class = self.class_of[target as usize] as usize;
                        memory.queues[class].push(self.level_of[target as usize], target);
                    }
                }
                KIND_SLOT => memory.outputs[target as usize / 64] ^= 1 << (target % 64),
                _ => self.touch(memory, target),
            }
        }
    }

    /// Something that a component reads has changed.
    fn touch(&self, memory: &mut Memory, component: u32) {
        if !std::mem::replace(&mut memory.is_dirty[component as usize], true) {
            let layout = &self.components[component as usize];
            memory.queues[layout.class as usize].push(layout.open, OPEN_MARK | component);
        }
    }

    /// Evaluates all gates of a class that wait.
    fn settle(&self, memory: &mut Memory, class: u8) {
        let n_levels = self.classes[class as usize].n_levels;
        let mut level = memory.queues[class as usize].lowest;
        memory.queues[class as usize].lowest = n_levels;
        while level < n_levels {
            let Some(item) = memory.queues[class as usize].levels[level].pop() else {
                level += 1;
                continue;
            };
            if item & OPEN_MARK != 0 {
                self.open(memory, item & !OPEN_MARK);
            } else if item & CLOSE_MARK != 0 {
                // Raised loops send their gates back to lower levels.
                if self.close(memory, item & !CLOSE_MARK) {
                    level = self.components[(item & !CLOSE_MARK) as usize].open as usize;
                }
            } else {
                memory.is_queued[item as usize] = false;
                if (memory.counts[item as usize] == 0) != memory.values[item as usize] {
                    self.flip(memory, item);
                }
            }
        }
        // What was pushed while settling has been settled too.
        memory.queues[class as usize].lowest = n_levels;
    }

    /// Resets the loops of a component.
    fn open(&self, memory: &mut Memory, component: u32) {
        let layout = &self.components[component as usize];
        for &of in &layout.loops {
            let node = self.loops[of as usize].1;
            if memory.values[node.idx()] {
                self.flip(memory, node.0);
            }
        }
        memory.is_dirty[component as usize] = false;
        memory.queues[layout.class as usize].push(layout.close, CLOSE_MARK | component);
    }

    /// Raises the loops whose definition is true; tells whether there were any.
    fn close(&self, memory: &mut Memory, component: u32) -> bool {
        let layout = &self.components[component as usize];
        let mut is_raised = false;
        for &of in &layout.loops {
            let (definition, node) = self.loops[of as usize];
            let is_true = memory.values[definition.node().idx()] != definition.is_complement();
            if is_true && !memory.values[node.idx()] {
                self.flip(memory, node.0);
                is_raised = true;
            }
        }
        if is_raised {
            memory.queues[layout.class as usize].push(layout.close, CLOSE_MARK | component);
        }
        is_raised
    }
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

fn readers(network: &Network, levels: &Levels, slots: &Slots) -> (Vec<u32>, Vec<Reader>) {
    let mut of: Vec<(NodeId, Reader)> = Vec::with_capacity(network.n_edges());
    for node in network.nodes() {
        let component = levels.component[node.idx()];
        for signal in network.inputs_of(node) {
            let read = signal.node();
            of.push((read, Reader::gate(node, signal.is_complement())));
            if component != NONE && levels.component[read.idx()] != component {
                of.push((read, Reader::component(component)));
            }
        }
        if let Node::Loop(idx) = network.node(node) {
            let read = network.loops[idx as usize].node();
            if levels.component[read.idx()] != component {
                of.push((read, Reader::component(component)));
            }
        }
    }
    for (slot, signal) in output_slots(network, slots) {
        of.push((signal.node(), Reader::slot(slot)));
    }
    of.sort_by_key(|&(node, reader)| (node, reader.0));
    of.dedup_by_key(|(node, reader)| (*node, reader.0));
    let mut starts = vec![0; network.n_nodes() + 1];
    for (node, _) in &of {
        starts[node.idx() + 1] += 1;
    }
    for idx in 1..starts.len() {
        starts[idx] += starts[idx - 1];
    }
    (starts, of.into_iter().map(|(_, reader)| reader).collect())
}

/// A machine of the scalar engine.
pub struct ScalarMachine {
    program: Arc<ScalarProgram>,
    memory: Memory,
    /// The last answer to each role's question for legal moves.
    legal: Vec<Vec<MoveId>>,
}

impl ScalarMachine {
    /// Goes to this state.
    pub fn load(&mut self, state: &State) {
        self.program.load(&mut self.memory, state.words());
        self.program.settle(&mut self.memory, PLAY);
    }

    /// The words of the state.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.memory.state
    }

    /// Whether the match is over.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.is_on(self.program.slots.terminal_bit)
    }

    /// The legal moves of a role as bits, in words.
    #[must_use]
    pub fn legal_words(&self, role: RoleId) -> &[u64] {
        let (start, end) = self.program.slots.legal_words[role.idx()];
        &self.memory.outputs[start..end]
    }

    /// The legal moves of a role, in order.
    pub fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        let (start, end) = self.program.slots.legal_words[role.idx()];
        let moves = &mut self.legal[role.idx()];
        moves.clear();
        for (idx, &word) in self.memory.outputs[start..end].iter().enumerate() {
            let mut word = word;
            while word != 0 {
                moves.push(MoveId(idx as u32 * 64 + word.trailing_zeros()));
                word &= word - 1;
            }
        }
        moves
    }

    /// Which goal values of a role hold, by their place in the program's list.
    pub fn goal_indexes(&mut self, role: RoleId) -> impl Iterator<Item = usize> + '_ {
        self.program.settle(&mut self.memory, GOAL);
        let (start, end) = self.program.slots.goal_bits[role.idx()];
        (start..end)
            .filter(|&bit| self.is_on(bit))
            .map(move |bit| (bit - start) as usize)
    }

    /// Goes to the state after this joint move.
    pub fn advance(&mut self, joint: &[MoveId]) {
        let (program, memory) = (&self.program, &mut self.memory);
        program.set_moves(memory, joint);
        program.settle(memory, NEXT);
        // A flipped base may be an output itself, so the next state is put aside first.
        let mut next = std::mem::take(&mut memory.next);
        next.copy_from_slice(&memory.outputs[..program.n_state_words]);
        program.load(memory, &next);
        memory.next = next;
        program.settle(memory, PLAY);
    }

    fn is_on(&self, bit: u32) -> bool {
        self.memory.outputs[bit as usize / 64] >> (bit % 64) & 1 == 1
    }
}
