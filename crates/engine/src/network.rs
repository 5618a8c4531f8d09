//! A game as a Boolean network with one kind of gate: an AND of any number of signals, each plain or complemented.
//!
//! Nodes are numbered so that a gate comes after everything it reads. State bits (*bases*) and moves (*inputs*) are
//! given, gates are computed. Rules that are recursive within one state would make a cycle. It is cut at *loops*: a
//! loop is read like a given bit, and has a definition. The values of loops are the least fixpoint: all are false at
//! first, then each becomes true if its definition is true, until nothing changes.
//!
//! [`Builder::and`] ensures that equal gates are one gate (hash-consing) and that no gate reads a constant. Only the
//! network that [`crate::build()`] makes may have equal gates: the first pass of the optimiser joins them.
//!
//! - Schkufza, Love and Genesereth 2008, Propositional automata and cell automata (propositional networks in GGP)
//! - Kuehlmann and Krohm 1997, Equivalence checking using cuts and heaps (AND gates with complemented edges)

use std::fmt;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// A node of a [`Network`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node as an index into a list with one entry per node.
    #[must_use]
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A node or its complement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(u32);

impl Signal {
    /// Always true: node 0, not complemented.
    pub const TRUE: Signal = Signal(0);
    /// Always false.
    pub const FALSE: Signal = Signal(1);

    /// A node, plain or complemented.
    #[must_use]
    pub fn new(node: NodeId, is_complement: bool) -> Signal {
        Signal(node.0 * 2 + u32::from(is_complement))
    }

    /// The node of the signal.
    #[must_use]
    pub fn node(self) -> NodeId {
        NodeId(self.0 / 2)
    }

    /// Whether the signal is true when the node is false.
    #[must_use]
    pub fn is_complement(self) -> bool {
        self.0 % 2 == 1
    }

    /// The value of the signal, if it is a constant.
    #[must_use]
    pub fn constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self == Signal::TRUE)
    }

    /// The signal as a number, for tables.
    #[must_use]
    pub fn code(self) -> u32 {
        self.0
    }

    /// The signal with this number.
    #[must_use]
    pub const fn from_code(code: u32) -> Signal {
        Signal(code)
    }

    /// The signal, complemented if `is_complement`.
    #[must_use]
    pub fn complement_if(self, is_complement: bool) -> Signal {
        Signal(self.0 ^ u32::from(is_complement))
    }
}

impl std::ops::Not for Signal {
    type Output = Signal;

    fn not(self) -> Signal {
        Signal(self.0 ^ 1)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.constant() {
            Some(constant) => write!(f, "{constant}"),
            None => write!(
                f,
                "{}n{}",
                if self.is_complement() { "~" } else { "" },
                self.0 / 2
            ),
        }
    }
}

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node<'a> {
    /// Node 0: the constant true.
    True,
    /// A bit of the state.
    Base(u32),
    /// A move, numbered over all roles in order.
    Input(u32),
    /// A point where a cycle is cut.
    Loop(u32),
    /// True if all of these signals are; sorted, without duplicates, at least two.
    And(&'a [Signal]),
}

/// The moves and goals of a role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoleSignals {
    /// The first of the role's inputs; they are numbered in the order of its moves.
    pub first_input: u32,
    /// When each of the role's moves is legal.
    pub legal: Vec<Signal>,
    /// When each of the role's goal values holds.
    pub goals: Vec<Signal>,
    /// When the role sees each of its percepts; empty except in a network of percepts ([`crate::percepts`]).
    pub percepts: Vec<Signal>,
}

/// A network; see the module documentation.
#[derive(Clone, Default)]
pub struct Network {
    kinds: Vec<Kind>,
    signals: Vec<Signal>,
    /// Number of state bits; base i is node 1 + i.
    pub n_bases: u32,
    /// Number of moves over all roles; input i is node 1 + `n_bases` + i.
    pub n_inputs: u32,
    /// When each base holds in the next state.
    pub next: Vec<Signal>,
    /// The signals of each role, in order.
    pub roles: Vec<RoleSignals>,
    /// When the state is terminal.
    pub terminal: Signal,
    /// The definition of each loop.
    pub loops: Vec<Signal>,
}

impl Default for Signal {
    fn default() -> Signal {
        Signal::FALSE
    }
}

#[derive(Clone, Copy)]
enum Kind {
    True,
    Base(u32),
    Input(u32),
    Loop(u32),
    And(u32, u32),
}

impl Network {
    /// Number of nodes: the constant, bases, inputs, loops and gates.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.kinds.len()
    }

    /// Number of gates.
    #[must_use]
    pub fn n_gates(&self) -> usize {
        self.kinds
            .iter()
            .filter(|kind| matches!(kind, Kind::And(..)))
            .count()
    }

    /// Number of signals that gates read.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        self.signals.len()
    }

    /// The kind of a node.
    #[must_use]
    pub fn node(&self, node: NodeId) -> Node<'_> {
        match self.kinds[node.idx()] {
            Kind::True => Node::True,
            Kind::Base(base) => Node::Base(base),
            Kind::Input(input) => Node::Input(input),
            Kind::Loop(idx) => Node::Loop(idx),
            Kind::And(start, end) => Node::And(&self.signals[start as usize..end as usize]),
        }
    }

    /// The signals that a gate reads; empty for other nodes.
    #[must_use]
    pub fn inputs_of(&self, node: NodeId) -> &[Signal] {
        match self.node(node) {
            Node::And(signals) => signals,
            _ => &[],
        }
    }

    /// The signals that a node depends on: the inputs of a gate, the definition of a loop.
    pub(crate) fn reads(&self, node: NodeId) -> &[Signal] {
        match self.node(node) {
            Node::Loop(idx) => &self.loops[idx as usize..=idx as usize],
            _ => self.inputs_of(node),
        }
    }

    /// All nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.kinds.len() as u32).map(NodeId)
    }

    /// The node of a base.
    #[must_use]
    pub fn base(&self, base: u32) -> NodeId {
        NodeId(1 + base)
    }

    /// The node of an input.
    #[must_use]
    pub fn input(&self, input: u32) -> NodeId {
        NodeId(1 + self.n_bases + input)
    }

    /// All outputs: next, legal, goals, percepts, terminal and the definitions of loops.
    pub fn outputs(&self) -> impl Iterator<Item = Signal> + '_ {
        let role_signals = self
            .roles
            .iter()
            .flat_map(|role| role.legal.iter().chain(&role.goals).chain(&role.percepts));
        self.next
            .iter()
            .chain(role_signals)
            .chain(&self.loops)
            .copied()
            .chain([self.terminal])
    }

    /// The network without the loops and gates that are not needed. No needed gate and no output may read them.
    pub(crate) fn keep(&self, is_needed: &[bool]) -> Network {
        let given = 1 + (self.n_bases + self.n_inputs) as usize;
        let is_kept = |node: usize| node < given || is_needed[node];
        let n_kept = (0..self.n_nodes()).filter(|&node| is_kept(node)).count();
        let mut kept = Network {
            kinds: Vec::with_capacity(n_kept),
            n_bases: self.n_bases,
            n_inputs: self.n_inputs,
            ..Network::default()
        };
        let mut new = vec![Signal::FALSE; self.n_nodes()];
        let map = |new: &[Signal], signal: Signal| {
            new[signal.node().idx()].complement_if(signal.is_complement())
        };
        let mut loops = Vec::new();
        for node in (0..self.n_nodes()).filter(|&node| is_kept(node)) {
            new[node] = Signal::new(NodeId(kept.kinds.len() as u32), false);
            kept.kinds.push(match self.kinds[node] {
                Kind::Loop(idx) => {
                    loops.push(self.loops[idx as usize]);
                    Kind::Loop(loops.len() as u32 - 1)
                }
                Kind::And(start, end) => {
                    let first = kept.signals.len() as u32;
                    // The order of the nodes does not change, so the signals of a gate stay sorted.
                    let inputs = &self.signals[start as usize..end as usize];
                    kept.signals
                        .extend(inputs.iter().map(|&signal| map(&new, signal)));
                    Kind::And(first, kept.signals.len() as u32)
                }
                given => given,
            });
        }
        self.map_outputs(&mut kept, |signal| map(&new, signal));
        kept.loops = loops.iter().map(|&signal| map(&new, signal)).collect();
        kept
    }

    fn add_gate(&mut self, inputs: &[Signal]) -> Signal {
        let start = self.signals.len() as u32;
        self.signals.extend_from_slice(inputs);
        let node = NodeId(self.kinds.len() as u32);
        self.kinds.push(Kind::And(start, self.signals.len() as u32));
        Signal::new(node, false)
    }

    /// Sets the outputs of `into` to those of this network; `map` gives each signal's new signal.
    pub(crate) fn map_outputs(&self, into: &mut Network, map: impl Fn(Signal) -> Signal) {
        let all = |signals: &[Signal]| signals.iter().map(|&signal| map(signal)).collect();
        into.next = all(&self.next);
        into.loops = all(&self.loops);
        into.terminal = map(self.terminal);
        let role = |role: &RoleSignals| RoleSignals {
            first_input: role.first_input,
            legal: all(&role.legal),
            goals: all(&role.goals),
            percepts: all(&role.percepts),
        };
        into.roles = self.roles.iter().map(role).collect();
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in self.nodes() {
            match self.node(node) {
                Node::True => {}
                Node::Base(base) => writeln!(f, "n{} = base {base}", node.0)?,
                Node::Input(input) => writeln!(f, "n{} = input {input}", node.0)?,
                Node::Loop(idx) => writeln!(f, "n{} = loop {idx}", node.0)?,
                Node::And(signals) => {
                    let signals: Vec<String> =
                        signals.iter().map(|signal| format!("{signal:?}")).collect();
                    writeln!(f, "n{} = {}", node.0, signals.join(" & "))?;
                }
            }
        }
        for (idx, signal) in self.loops.iter().enumerate() {
            writeln!(f, "loop {idx} := {signal:?}")?;
        }
        for (base, signal) in self.next.iter().enumerate() {
            writeln!(f, "next {base} := {signal:?}")?;
        }
        for (role, signals) in self.roles.iter().enumerate() {
            for (idx, signal) in signals.legal.iter().enumerate() {
                writeln!(
                    f,
                    "legal {role} {} := {signal:?}",
                    signals.first_input as usize + idx
                )?;
            }
            for (idx, signal) in signals.goals.iter().enumerate() {
                writeln!(f, "goal {role} {idx} := {signal:?}")?;
            }
            for (idx, signal) in signals.percepts.iter().enumerate() {
                writeln!(f, "percept {role} {idx} := {signal:?}")?;
            }
        }
        writeln!(f, "terminal := {:?}", self.terminal)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Network({} gates, {} edges, {} loops)",
            self.n_gates(),
            self.n_edges(),
            self.loops.len()
        )
    }
}

/// Builds a network gate by gate.
pub struct Builder {
    network: Network,
    /// The gates by their inputs; `None` if equal gates stay separate.
    by_inputs: Option<HashTable<NodeId>>,
    scratch: Vec<Signal>,
}

impl Builder {
    /// A network with bases and inputs but no gates.
    #[must_use]
    pub fn new(n_bases: u32, n_inputs: u32) -> Builder {
        let bases = (0..n_bases).map(Kind::Base);
        let inputs = (0..n_inputs).map(Kind::Input);
        let kinds = std::iter::once(Kind::True)
            .chain(bases)
            .chain(inputs)
            .collect();
        let network = Network {
            kinds,
            n_bases,
            n_inputs,
            ..Network::default()
        };
        Builder {
            network,
            by_inputs: Some(HashTable::new()),
            scratch: Vec::new(),
        }
    }

    /// Keeps equal gates separate from here on. Looking for them takes most of the time, and a network that is rebuilt
    /// anyway does not need it.
    #[must_use]
    pub(crate) fn without_sharing(mut self) -> Builder {
        self.by_inputs = None;
        self
    }

    /// Continues from an existing network. Its nodes are kept; its outputs must be set again.
    #[must_use]
    pub(crate) fn resume(network: &Network) -> Builder {
        let mut by_inputs = HashTable::with_capacity(network.n_gates());
        for node in network.nodes() {
            if let Node::And(signals) = network.node(node) {
                let rehash = |&node: &NodeId| hash(network.inputs_of(node));
                by_inputs.insert_unique(hash(signals), node, rehash);
            }
        }
        Builder {
            network: network.clone(),
            by_inputs: Some(by_inputs),
            scratch: Vec::new(),
        }
    }

    /// Reserves memory for a number of gates and of signals that they read.
    #[must_use]
    pub fn with_room(mut self, n_gates: usize, n_signals: usize) -> Builder {
        let network = &self.network;
        if let Some(by_inputs) = &mut self.by_inputs {
            by_inputs.reserve(n_gates, |&node| hash(network.inputs_of(node)));
        }
        self.network.kinds.reserve(n_gates);
        self.network.signals.reserve(n_signals);
        self
    }

    /// Number of signals that the gates read.
    #[must_use]
    pub(crate) fn n_edges(&self) -> usize {
        self.network.n_edges()
    }

    /// The signal of a base.
    #[must_use]
    pub fn base(&self, base: u32) -> Signal {
        Signal::new(self.network.base(base), false)
    }

    /// The signal of an input.
    #[must_use]
    pub fn input(&self, input: u32) -> Signal {
        Signal::new(self.network.input(input), false)
    }

    /// A new loop, to be defined by [`Builder::define`].
    pub fn new_loop(&mut self) -> Signal {
        let node = self.network.kinds.len() as u32;
        self.network
            .kinds
            .push(Kind::Loop(self.network.loops.len() as u32));
        self.network.loops.push(Signal::FALSE);
        Signal::new(NodeId(node), false)
    }

    /// Sets the definition of a loop.
    pub fn define(&mut self, target: Signal, definition: Signal) {
        if let Node::Loop(idx) = self.network.node(target.node()) {
            self.network.loops[idx as usize] = definition;
        }
    }

    /// The conjunction of some signals.
    pub fn and(&mut self, signals: &[Signal]) -> Signal {
        self.conjunction(signals.iter().copied())
    }

    /// The disjunction of some signals.
    pub fn or(&mut self, signals: &[Signal]) -> Signal {
        !self.conjunction(signals.iter().map(|&signal| !signal))
    }

    fn conjunction(&mut self, signals: impl Iterator<Item = Signal>) -> Signal {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend(signals.filter(|&signal| signal != Signal::TRUE));
        // Where gates are only copied, they are sorted already.
        if !scratch.is_sorted_by(|left, right| left < right) {
            scratch.sort_unstable();
            scratch.dedup();
        }
        // A signal and its complement are adjacent when sorted, and false comes first.
        let is_false = scratch.first() == Some(&Signal::FALSE)
            || scratch.windows(2).any(|pair| pair[0] == !pair[1]);
        let signal = match scratch.as_slice() {
            _ if is_false => Signal::FALSE,
            [] => Signal::TRUE,
            [only] => *only,
            inputs => self.gate(inputs),
        };
        self.scratch = scratch;
        signal
    }

    /// The signals that a gate reads; empty for other nodes.
    #[must_use]
    pub fn inputs_of(&self, node: NodeId) -> &[Signal] {
        self.network.inputs_of(node)
    }

    /// The finished network; its outputs must still be set.
    #[must_use]
    pub fn finish(self) -> Network {
        self.network
    }

    fn gate(&mut self, inputs: &[Signal]) -> Signal {
        let Some(by_inputs) = &mut self.by_inputs else {
            return self.network.add_gate(inputs);
        };
        let network = &self.network;
        let is_equal = |&node: &NodeId| network.inputs_of(node) == inputs;
        let rehash = |&node: &NodeId| hash(network.inputs_of(node));
        match by_inputs.entry(hash(inputs), is_equal, rehash) {
            Entry::Occupied(known) => Signal::new(*known.get(), false),
            Entry::Vacant(place) => {
                place.insert(NodeId(network.kinds.len() as u32));
                self.network.add_gate(inputs)
            }
        }
    }
}

/// A hash of signals, two at a time: gates are looked up tens of millions of times while a large network is optimised.
fn hash(signals: &[Signal]) -> u64 {
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(26) ^ word).wrapping_mul(0xf135_7aea_2e62_a9c5);
    let (pairs, rest) = signals.as_chunks::<2>();
    let pair = |[a, b]: &[Signal; 2]| u64::from(a.0) << 32 | u64::from(b.0);
    let hash = pairs.iter().map(pair).fold(signals.len() as u64, mix);
    let hash = rest
        .iter()
        .fold(hash, |hash, signal| mix(hash, u64::from(signal.0)));
    // The hash table uses the lowest and the highest bits, but multiplication mixes the lowest ones poorly.
    hash.rotate_left(26)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_shared_and_constants_fold() {
        let mut builder = Builder::new(3, 0);
        let [a, b, c] = [0, 1, 2].map(|base| builder.base(base));
        let ab = builder.and(&[a, b, a]);
        assert_eq!(ab, builder.and(&[b, Signal::TRUE, a]));
        assert_eq!(builder.and(&[a, !a, c]), Signal::FALSE);
        assert_eq!(builder.and(&[]), Signal::TRUE);
        assert_eq!(builder.or(&[a, Signal::FALSE]), a);
        assert_eq!(builder.or(&[a, !a]), Signal::TRUE);
        assert_eq!(builder.finish().n_gates(), 1);
    }
}
