//! Recursive rules in the scalar engine: the least fixpoint of a component, kept from state to state.
//!
//! A component is a set of gates and loops that depend on each other. Rules are stratified, so a component has no cycle
//! through a negation: each member is *plain*, and becomes true as atoms of the component become true, or *negative*,
//! and becomes false. A member is *raised* if it has the value of a true atom. The least fixpoint raises as few members
//! as possible.
//!
//! When inputs of the component change, only members that are affected are evaluated again:
//!
//! 1. A raised member that loses a reason is lowered, unless another reason is left. For a conjunction, every input is
//!    needed. For a disjunction, another raised alternative is a reason only if it was raised earlier: members of a cycle
//!    could otherwise support each other for ever. For this, each raised member has a rank, the time when it was
//!    raised. Lowering a member may take the reason of the members that read it.
//! 2. Members that have a reason are raised, among them those that were lowered because their reason had a later rank.
//! 3. Readers outside the component learn about the members that end up different.
//!
//! Members are raised in any order, so they have no levels. The marks of the members are the list of those to raise.
//!
//! - Gupta, Mumick and Subrahmanian 1993, Maintaining views incrementally (delete and rederive)

use crate::levels::Levels;
use crate::network::{Network, Node, NodeId};

use super::order::Order;
use super::{Layout, Memory};

/// A component of the network, laid out.
pub(super) struct Component {
    /// The place of its first member; the others follow.
    first: u32,
    /// Index of its first member among the members of all components.
    first_rank: usize,
    /// Members that read a member: twice their place, plus one for a complement.
    readers: Lists,
    /// The members that a disjunction reads; empty for others.
    alternatives: Lists,
    /// The words of marks of the members, with the bits that belong to the component and those of negative members.
    words: Vec<MemberWord>,
}

#[derive(Clone, Copy)]
struct MemberWord {
    word: usize,
    members: u64,
    negative: u64,
}

/// One list per number from 0 on.
#[derive(Default)]
struct Lists {
    ends: Vec<u32>,
    values: Vec<u32>,
}

impl Lists {
    /// Groups pairs, which are sorted, by their first part.
    fn new(pairs: &[(u32, u32)], n_lists: u32) -> Lists {
        let end = |list| pairs.partition_point(|&(other, _)| other <= list) as u32;
        Lists {
            ends: (0..n_lists).map(end).collect(),
            values: pairs.iter().map(|&(_, value)| value).collect(),
        }
    }

    fn list(&self, idx: u32) -> &[u32] {
        let start = match idx {
            0 => 0,
            _ => self.ends[idx as usize - 1],
        };
        &self.values[start as usize..self.ends[idx as usize] as usize]
    }
}

/// The effect on a component of a place that it reads.
pub(super) struct Touch {
    /// The place of the event that evaluates the component.
    event: u32,
    component: u32,
    /// Whether members may be lowered when the place becomes false, and when it becomes true.
    lowers: [bool; 2],
    /// The members that read the place.
    members: Box<[u32]>,
}

impl Touch {
    /// Notes that the place has changed to this value; `idx` is the number of this effect.
    pub(super) fn note(&self, memory: &mut Memory, idx: usize, value: bool) {
        memory.mark(self.event);
        let is_new = self.lowers[usize::from(value)] && !memory.is_pending[idx];
        if is_new {
            memory.is_pending[idx] = true;
            memory.pending[self.component as usize].push(idx as u32);
        }
    }
}

/// Whether each member of a component is negative.
///
/// # Panics
/// If the component has a cycle with an odd number of negations, which stratified rules exclude.
fn negative(network: &Network, levels: &Levels, members: &[NodeId]) -> Vec<bool> {
    let own = levels.component[members[0].idx()];
    let mut readers: Vec<(NodeId, NodeId, bool)> = Vec::new();
    for &member in members {
        for signal in network.reads(member) {
            if levels.component[signal.node().idx()] == own {
                readers.push((signal.node(), member, signal.is_complement()));
            }
        }
    }
    readers.sort_unstable();
    let mut found: rustc_hash::FxHashMap<NodeId, bool> = rustc_hash::FxHashMap::default();
    // Loops are atoms. A component without a loop among its first members is connected to one.
    let root = members
        .iter()
        .find(|&&member| matches!(network.node(member), Node::Loop(_)));
    let root = *root.expect("a component has a loop");
    found.insert(root, false);
    let mut queue = vec![root];
    while let Some(member) = queue.pop() {
        let is_negative = found[&member];
        let start = readers.partition_point(|&(read, ..)| read < member);
        for &(read, reader, is_complement) in &readers[start..] {
            if read != member {
                break;
            }
            let side = is_negative != is_complement;
            match found.insert(reader, side) {
                None => queue.push(reader),
                Some(known) => assert_eq!(known, side, "a recursive rule negates itself"),
            }
        }
    }
    members.iter().map(|member| found[member]).collect()
}

/// The components of a network, laid out.
#[derive(Default)]
pub(super) struct Components {
    pub(super) components: Vec<Component>,
    /// The effects of places on components, sorted by place.
    pub(super) touches: Vec<(u32, Touch)>,
    /// Per node: whether it is a negative member.
    pub(super) is_negative: Vec<bool>,
    pub(super) n_members: usize,
}

/// Lays out the components, and finds the places that affect them. Members have their places already.
pub(super) fn components(network: &Network, levels: &Levels, order: &Order) -> Components {
    let mut all = Components {
        is_negative: vec![false; network.n_nodes()],
        ..Components::default()
    };
    for (idx, members) in order.members.iter().enumerate() {
        let negative = negative(network, levels, members);
        let first = order.places[members[0].idx()];
        let (mut readers, mut alternatives) = (Vec::new(), Vec::new());
        let mut outside: rustc_hash::FxHashMap<u32, ([bool; 2], Vec<u32>)> =
            rustc_hash::FxHashMap::default();
        for (&member, &is_negative) in members.iter().zip(&negative) {
            all.is_negative[member.idx()] = is_negative;
            let place = order.places[member.idx()];
            for signal in network.reads(member) {
                let read = order.places[signal.node().idx()];
                if levels.component[signal.node().idx()] == idx as u32 {
                    readers.push((read - first, place * 2 + u32::from(signal.is_complement())));
                    if is_negative {
                        alternatives.push((place - first, read));
                    }
                } else {
                    // A signal that becomes true raises plain members and lowers negative ones.
                    let (lowers, members) = outside.entry(read).or_default();
                    lowers[usize::from(is_negative != signal.is_complement())] = true;
                    members.push(place);
                }
            }
        }
        readers.sort_unstable();
        alternatives.sort_unstable();
        all.touches
            .extend(outside.into_iter().map(|(place, (lowers, members))| {
                let touch = Touch {
                    event: order.events[idx],
                    component: idx as u32,
                    lowers,
                    members: members.into(),
                };
                (place, touch)
            }));
        let n_members = members.len() as u32;
        all.components.push(Component {
            first,
            first_rank: all.n_members,
            readers: Lists::new(&readers, n_members),
            alternatives: Lists::new(&alternatives, n_members),
            words: words(first, &negative),
        });
        all.n_members += members.len();
    }
    all.touches
        .sort_unstable_by_key(|(place, touch)| (*place, touch.component));
    all
}

fn words(first: u32, is_negative: &[bool]) -> Vec<MemberWord> {
    let mut words: Vec<MemberWord> = Vec::new();
    for (place, &is_negative) in (first..).zip(is_negative) {
        let word = place as usize / 64;
        if words.last().is_none_or(|last| last.word != word) {
            words.push(MemberWord {
                word,
                members: 0,
                negative: 0,
            });
        }
        if let Some(last) = words.last_mut() {
            last.members |= 1 << (place % 64);
            last.negative |= u64::from(is_negative) << (place % 64);
        }
    }
    words
}

impl Component {
    /// Marks the members to raise when all are lowered.
    pub(super) fn begin(&self, memory: &mut Memory) {
        for word in &self.words {
            let mut is_true = 0;
            for place in places(word.word, word.members) {
                is_true |= u64::from(memory.counts[place as usize] == 0) << (place % 64);
            }
            let marks = &mut memory.marks[word.word];
            *marks = *marks & !word.members | (is_true ^ word.negative) & word.members;
        }
    }

    fn is_negative(&self, place: u32) -> bool {
        let word = place as usize / 64 - self.words[0].word;
        self.words[word].negative >> (place % 64) & 1 == 1
    }

    fn rank(&self, memory: &Memory, place: u32) -> u64 {
        memory.ranks[self.first_rank + (place - self.first) as usize]
    }

    /// Whether the inputs of a member raise it, with or without a reason.
    fn is_up(&self, memory: &Memory, place: u32) -> bool {
        (memory.counts[place as usize] == 0) != self.is_negative(place)
    }

    /// Whether a raised member has a reason: all inputs of a conjunction, or an alternative of a disjunction that is
    /// outside the component or was raised earlier.
    fn has_reason(&self, memory: &Memory, place: u32) -> bool {
        if !self.is_up(memory, place) {
            return false;
        }
        if !self.is_negative(place) {
            return true;
        }
        let rank = self.rank(memory, place);
        let mut n_raised = 0;
        for &other in self.alternatives.list(place - self.first) {
            if memory.is_raised(other) {
                n_raised += 1;
                if self.rank(memory, other) < rank {
                    return true;
                }
            }
        }
        memory.counts[place as usize] > n_raised
    }

    /// Updates the counts of the members that read a member that has changed to this value.
    #[inline]
    fn tell(&self, memory: &mut Memory, place: u32, value: bool) {
        for &reader in self.readers.list(place - self.first) {
            let target = reader / 2;
            let is_satisfied = u32::from(value) ^ (reader & 1);
            let count = &mut memory.counts[target as usize];
            let lower = count.wrapping_sub(is_satisfied);
            *count = lower + (1 - is_satisfied);
            memory.marks[target as usize / 64] |= u64::from(lower == 0) << (target % 64);
        }
    }

    /// Lowers the members in the queue that have no reason, and those that lose theirs by this. They are kept in
    /// `lowered`, and the marks of all members become right.
    fn lower(&self, memory: &mut Memory) {
        let mut queue = std::mem::take(&mut memory.queue);
        while let Some(place) = queue.pop() {
            if !memory.is_raised(place) || self.has_reason(memory, place) {
                continue;
            }
            let bit = 1 << (place % 64);
            memory.raised[place as usize / 64] ^= bit;
            memory.lowered[place as usize / 64] |= bit;
            self.tell(memory, place, self.is_negative(place));
            let readers = self.readers.list(place - self.first).iter();
            queue.extend(readers.map(|reader| reader / 2));
        }
        memory.queue = queue;
        for word in &self.words {
            let lowered = memory.lowered[word.word] & word.members;
            let candidates =
                (memory.marks[word.word] & word.members | lowered) & !memory.raised[word.word];
            memory.marks[word.word] &= !word.members;
            for place in places(word.word, candidates) {
                memory.marks[word.word] |= u64::from(self.is_up(memory, place)) << (place % 64);
            }
        }
    }
}

/// The places of the bits of a word.
fn places(word: usize, mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(word as u32 * 64 + bit)
    })
}

impl Layout {
    /// Evaluates a component whose inputs have changed.
    pub(super) fn solve(&self, memory: &mut Memory, idx: usize) {
        let component = &self.components[idx];
        // Step 1. Lower members whose reason is gone.
        let may_lower = !memory.pending[idx].is_empty();
        while let Some(touch) = memory.pending[idx].pop() {
            memory.is_pending[touch as usize] = false;
            let members = &self.touches[touch as usize].members;
            memory.queue.extend_from_slice(members);
        }
        if may_lower {
            component.lower(memory);
        }
        // Step 2. Raise members until none is marked.
        let mut is_stable = false;
        while !is_stable {
            is_stable = true;
            for word in &component.words {
                let marks = memory.marks[word.word] & word.members;
                if marks == 0 {
                    continue;
                }
                is_stable = false;
                memory.marks[word.word] ^= marks;
                memory.raised[word.word] |= marks;
                let was_lowered = memory.lowered[word.word];
                memory.lowered[word.word] &= !marks;
                for place in places(word.word, marks) {
                    let value = word.negative >> (place % 64) & 1 == 0;
                    memory.n_raised += 1;
                    let rank = component.first_rank + (place - component.first) as usize;
                    memory.ranks[rank] = memory.n_raised;
                    component.tell(memory, place, value);
                    if was_lowered >> (place % 64) & 1 == 0 {
                        self.tell(memory, place, value);
                    }
                }
            }
        }
        // Step 3. Readers outside learn which members are lowered for good.
        if may_lower {
            for word in &component.words {
                let lowered = memory.lowered[word.word] & word.members;
                memory.lowered[word.word] ^= lowered;
                for place in places(word.word, lowered) {
                    self.tell(memory, place, word.negative >> (place % 64) & 1 == 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::network::{Builder, Network, RoleSignals, Signal};
    use crate::phases::Phases;
    use crate::scalar::ScalarProgram;
    use crate::state::{RoleId, State};
    use std::sync::Arc;

    /// Nodes of a graph that are reachable from the first node, as legal moves; each base is a link between two nodes.
    fn reachability(n_nodes: usize, links: &[(usize, usize)]) -> Network {
        let mut builder = Builder::new(links.len() as u32, n_nodes as u32);
        let mut reached: Vec<Signal> = (1..n_nodes).map(|_| builder.new_loop()).collect();
        reached.insert(0, Signal::TRUE);
        for node in 1..n_nodes {
            let mut ways = Vec::new();
            for (idx, &(a, b)) in links.iter().enumerate() {
                for (from, to) in [(a, b), (b, a)] {
                    if to == node {
                        let link = builder.base(idx as u32);
                        ways.push(builder.and(&[reached[from], link]));
                    }
                }
            }
            let definition = builder.or(&ways);
            builder.define(reached[node], definition);
        }
        let mut network = builder.finish();
        network.next = vec![Signal::FALSE; links.len()];
        // Both the reached nodes and the others are outputs, so that members have readers of both kinds.
        network.roles = vec![RoleSignals {
            first_input: 0,
            legal: reached.clone(),
            goals: reached.iter().map(|&signal| !signal).collect(),
            percepts: Vec::new(),
        }];
        network
    }

    fn expected(n_nodes: usize, links: &[(usize, usize)], state: u64) -> u64 {
        let mut reached = 1_u64;
        for _ in 0..n_nodes {
            for (idx, &(a, b)) in links.iter().enumerate() {
                let is_on = state >> idx & 1 == 1;
                if is_on && (reached >> a | reached >> b) & 1 == 1 {
                    reached |= 1 << a | 1 << b;
                }
            }
        }
        reached
    }

    #[test]
    fn links_may_come_and_go_in_any_order() {
        // A ring with two chords and a tail: many cycles without the first node.
        let links = [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 4),
            (4, 1),
            (2, 4),
            (1, 3),
            (3, 5),
            (5, 6),
        ];
        let network = reachability(7, &links);
        let state = |bits: u64| State::from_words([bits].into());
        let program = ScalarProgram::new(&Phases::none(), &[network], &state(0));
        let mut machine = Arc::new(program).machine();
        let mut bits = 1_u64;
        for round in 0..20_000_u64 {
            // A fixed sequence of states: mostly one link changes, sometimes many do.
            bits = bits
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(round | 1);
            let now = match round % 4 {
                0 => bits >> 40 & 0x1ff,
                _ => machine.words()[0] ^ 1 << ((bits >> 40) % 9),
            };
            machine.load(&state(now));
            let wanted = expected(7, &links, now);
            assert_eq!(machine.legal_words(RoleId(0)), [wanted], "state {now:b}");
            let others: u64 = machine.goal_indexes(RoleId(0)).map(|idx| 1 << idx).sum();
            assert_eq!(others, !wanted & 0x7f, "state {now:b}");
        }
    }
}
