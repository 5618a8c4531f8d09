//! The layout of the scalar engine: the place of each node, the bit of each output, and the class of each gate.
//!
//! Places are numbers in evaluation order: first the given nodes, then the gates of each class by level. Each class and
//! each level starts at a new word of marks. The components that open at a level come before its gates: first an event
//! for each, then the members of each.

use crate::levels::{Levels, NONE};
use crate::network::{Network, Node, NodeId, Signal};

/// The classes of gates.
pub(super) const PLAY: u8 = 0;
pub(super) const GOAL: u8 = 1;
pub(super) const NEXT: u8 = 2;
pub(super) const N_CLASSES: usize = 3;

/// The positions of the output bits: first the next state, then the legal moves of each role, then goals and
/// `terminal`.
#[derive(Clone, Default)]
pub(super) struct Slots {
    pub(super) legal_words: Vec<(usize, usize)>,
    pub(super) goal_bits: Vec<(u32, u32)>,
    pub(super) terminal_bit: u32,
    /// A bit in a word that is never read.
    pub(super) unused_bit: u32,
    pub(super) n_words: usize,
}

impl Slots {
    /// The class that an output bit belongs to.
    fn class(&self, slot: u32) -> u8 {
        let word = slot as usize / 64;
        if self.legal_words.iter().all(|&(start, _)| word < start) {
            NEXT
        } else if self
            .goal_bits
            .iter()
            .any(|&(start, end)| (start..end).contains(&slot))
        {
            GOAL
        } else {
            PLAY
        }
    }
}

/// The place of each node.
pub(super) struct Order {
    pub(super) places: Vec<u32>,
    /// Per component: the place of its event, and its members in order.
    pub(super) events: Vec<u32>,
    pub(super) members: Vec<Vec<NodeId>>,
    /// Each output bit with the place of its node and the place that flips it.
    pub(super) bits: Vec<(u32, u32, u32)>,
    /// The place of the dummy reader that pads chunks.
    pub(super) filler: u32,
    pub(super) classes: [(usize, usize); N_CLASSES],
    pub(super) n_places: usize,
}

/// The item at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    /// The event of a component.
    Event(u32),
    /// A member of a component.
    Member(u32, NodeId),
    Gate(NodeId),
    /// A further output of a node, by its index in the list of outputs.
    Output(u32),
}

impl Order {
    pub(super) fn new(network: &Network, levels: &Levels, class_of: &[u8], slots: &Slots) -> Order {
        let n_components = levels.components.len();
        let mut order = Order {
            places: vec![NONE; network.n_nodes()],
            events: vec![NONE; n_components],
            members: members(network, levels),
            bits: Vec::new(),
            filler: 0,
            classes: [(0, 0); N_CLASSES],
            n_places: 0,
        };
        // Step 1. Given nodes.
        let mut next = 0;
        for node in network
            .nodes()
            .filter(|&node| !matches!(network.node(node), Node::And(_) | Node::Loop(_)))
        {
            order.places[node.idx()] = next;
            next += 1;
        }
        order.filler = next;
        next += 1;
        // Step 2. The items of each class by level.
        let mut items: [Vec<(u32, Item)>; N_CLASSES] = std::array::from_fn(|class| {
            let of_class = class_of.iter().filter(|&&other| other as usize == class);
            Vec::with_capacity(of_class.count())
        });
        for node in network.nodes() {
            let items = &mut items[class_of[node.idx()] as usize];
            match (levels.component[node.idx()], network.node(node)) {
                (NONE, Node::And(_)) => items.push((levels.level[node.idx()], Item::Gate(node))),
                (NONE, _) => {}
                (idx, _) => {
                    let open = levels.components[idx as usize].open;
                    items.push((open, Item::Member(idx, node)));
                }
            }
        }
        for (idx, component) in levels.components.iter().enumerate() {
            // All members are in one class.
            let class = class_of[order.members[idx][0].idx()];
            items[class as usize].push((component.open, Item::Event(idx as u32)));
        }
        let outputs: Vec<(u32, Signal)> = output_slots(network, slots)
            .filter(|(_, signal)| signal.constant().is_none())
            .collect();
        let mut has_output = vec![false; network.n_nodes()];
        for (idx, &(slot, signal)) in outputs.iter().enumerate() {
            if std::mem::replace(&mut has_output[signal.node().idx()], true) {
                items[slots.class(slot) as usize].push((u32::MAX, Item::Output(idx as u32)));
            }
        }
        // Step 3. Assign places.
        let mut output_places = vec![NONE; outputs.len()];
        for (class, items) in items.iter_mut().enumerate() {
            items.sort_unstable();
            next = next.next_multiple_of(64);
            let start = next as usize / 64;
            let mut group_before = (NONE, 0);
            for &(level, item) in items.iter() {
                // Places in one word of marks do not depend on each other, so that `settle` can process the whole word.
                // It finds no marks at members, because their event comes first.
                let group = (level, item.rank());
                if group != group_before {
                    next = next.next_multiple_of(64);
                    group_before = group;
                }
                match item {
                    Item::Event(idx) => order.events[idx as usize] = next,
                    Item::Gate(node) | Item::Member(_, node) => order.places[node.idx()] = next,
                    Item::Output(idx) => output_places[idx as usize] = next,
                }
                next += 1;
            }
            order.classes[class] = (start, (next as usize).div_ceil(64));
        }
        order.n_places = (next as usize).next_multiple_of(64);
        let bits = outputs
            .iter()
            .zip(output_places)
            .map(|(&(slot, signal), place)| {
                let source = order.places[signal.node().idx()];
                (slot, source, if place == NONE { source } else { place })
            });
        order.bits = bits.collect();
        order
    }
}

impl Item {
    /// The order of the kinds of items within a level.
    fn rank(self) -> u8 {
        match self {
            Item::Event(_) => 0,
            Item::Member(..) => 1,
            Item::Gate(_) | Item::Output(_) => 2,
        }
    }
}

/// The members of each component, in node order.
fn members(network: &Network, levels: &Levels) -> Vec<Vec<NodeId>> {
    let mut members = vec![Vec::new(); levels.components.len()];
    for node in network.nodes() {
        if let Some(members) = members.get_mut(levels.component[node.idx()] as usize) {
            members.push(node);
        }
    }
    members
}

/// The class of each node: the class of the outputs that depend on it, or `PLAY` if there are several.
pub(super) fn classes(network: &Network, levels: &Levels) -> Vec<u8> {
    const UNKNOWN: u8 = u8::MAX;
    let mut class_of = vec![UNKNOWN; network.n_nodes()];
    let mut queue: Vec<(NodeId, u8)> = Vec::new();
    let outputs = |signals: &mut dyn Iterator<Item = Signal>, class| {
        signals
            .map(|signal| (signal.node(), class))
            .collect::<Vec<_>>()
    };
    let members_of = members(network, levels);
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
            // Both the goals and the next state depend on it: it is always evaluated.
            _ => PLAY,
        };
        class_of[node.idx()] = merged;
        let reads = network.reads(node).iter();
        queue.extend(reads.map(|signal| (signal.node(), merged)));
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

pub(super) fn slots(network: &Network) -> Slots {
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
    slots.unused_bit = (bit + 1).next_multiple_of(64);
    slots.n_words = slots.unused_bit as usize / 64 + 1;
    slots
}

/// Every output with its bit.
pub(super) fn output_slots<'a>(
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
