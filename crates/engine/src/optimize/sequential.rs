//! Constants: signals that never change in a match, or within one phase of it.
//!
//! *Sequential constants* are state bits that always keep their initial value, and moves that are never legal. They are
//! found by induction over the steps of a match: assume that each bit in a set keeps its initial value; if the network
//! then computes the same value for the next state, whatever the other bits and the moves are, the assumption holds.
//! Start with all bits and drop those that fail until none does. Evaluation uses three values: true, false and unknown.

use crate::network::{Network, Node, NodeId, Signal};
use crate::optimize::prune::rebuild;
use crate::state::State;

/// Folds sequential constants. The bits stay in the state, but nothing reads them.
#[must_use]
pub(crate) fn sequential(network: &Network, initial: &State) -> Network {
    let mut fixed: Vec<Option<bool>> = (0..network.n_bases as usize)
        .map(|base| Some(initial.words()[base / 64] >> (base % 64) & 1 == 1))
        .collect();
    let mut moves: Vec<Option<bool>> = vec![Some(false); network.n_inputs as usize];
    let mut values = evaluate(network, &fixed, &moves);
    let mut spread = None;
    loop {
        let mut changed: Vec<NodeId> = Vec::new();
        for (base, &next) in network.next.iter().enumerate() {
            if fixed[base].is_some() && read(&values, next) != fixed[base] {
                fixed[base] = None;
                changed.push(network.base(base as u32));
            }
        }
        let known = moves.clone();
        if admit_legal(network, &values, &mut moves) {
            let inputs = (0..network.n_inputs).zip(known.iter().zip(&moves));
            let new = inputs.filter(|(_, (before, now))| before != now);
            changed.extend(new.map(|(input, _)| network.input(input)));
        }
        if changed.is_empty() {
            return fold(network, &values);
        }
        spread
            .get_or_insert_with(|| Spread::new(network))
            .forget(network, &mut values, changed);
    }
}

/// Spreads the loss of known values through a network. With fewer values known, no other value becomes known, so only
/// the readers of nodes that have become unknown are evaluated again. A step counter alone takes a round per step.
struct Spread {
    /// Per node, the end of its readers.
    ends: Vec<u32>,
    readers: Vec<NodeId>,
}

impl Spread {
    fn new(network: &Network) -> Spread {
        let mut ends = vec![0_u32; network.n_nodes() + 1];
        for node in network.nodes() {
            for signal in network.reads(node) {
                ends[signal.node().idx() + 1] += 1;
            }
        }
        for node in 0..network.n_nodes() {
            ends[node + 1] += ends[node];
        }
        let mut readers = vec![NodeId(0); ends[network.n_nodes()] as usize];
        // Each start moves to the end of its node's readers.
        for node in network.nodes() {
            for signal in network.reads(node) {
                let end = &mut ends[signal.node().idx()];
                readers[*end as usize] = node;
                *end += 1;
            }
        }
        Spread { ends, readers }
    }

    fn readers(&self, node: NodeId) -> &[NodeId] {
        let start = node.idx().checked_sub(1).map_or(0, |node| self.ends[node]);
        &self.readers[start as usize..self.ends[node.idx()] as usize]
    }

    /// Makes these nodes unknown, and all nodes whose values followed from theirs.
    fn forget(&self, network: &Network, values: &mut [Option<bool>], mut queue: Vec<NodeId>) {
        for node in &queue {
            values[node.idx()] = None;
        }
        while let Some(node) = queue.pop() {
            for &reader in self.readers(node) {
                if values[reader.idx()].is_none() {
                    continue;
                }
                // A loop is false as long as its definition is.
                let is_known = match network.node(reader) {
                    Node::Loop(idx) => read(values, network.loops[idx as usize]) == Some(false),
                    _ => and(values, network.inputs_of(reader)).is_some(),
                };
                if !is_known {
                    values[reader.idx()] = None;
                    queue.push(reader);
                }
            }
        }
    }
}

/// Folds the bits that are fixed in one phase of a match. Also returns which moves are possible in it. A role with one
/// possible move makes it.
#[must_use]
pub(crate) fn fold_phase(network: &Network, fixed: &[Option<bool>]) -> (Network, Vec<bool>) {
    let mut moves: Vec<Option<bool>> = vec![Some(false); network.n_inputs as usize];
    let mut values = evaluate(network, fixed, &moves);
    while admit_legal(network, &values, &mut moves) {
        values = evaluate(network, fixed, &moves);
    }
    let possible: Vec<bool> = moves.iter().map(Option::is_none).collect();
    for role in &network.roles {
        let inputs = role.first_input as usize..role.first_input as usize + role.legal.len();
        let mut role_inputs = inputs.filter(|&input| possible[input]);
        if let (Some(only), None) = (role_inputs.next(), role_inputs.next()) {
            moves[only] = Some(true);
        }
    }
    (fold(network, &evaluate(network, fixed, &moves)), possible)
}

/// Adds the moves that may be legal to those that may be made; returns whether there are new ones.
fn admit_legal(network: &Network, values: &[Option<bool>], moves: &mut [Option<bool>]) -> bool {
    let mut is_new = false;
    for role in &network.roles {
        for (idx, &legal) in role.legal.iter().enumerate() {
            let input = role.first_input as usize + idx;
            if moves[input].is_some() && read(values, legal) != Some(false) {
                moves[input] = None;
                is_new = true;
            }
        }
    }
    is_new
}

fn fold(network: &Network, values: &[Option<bool>]) -> Network {
    rebuild(network, |signal| match read(values, signal) {
        Some(true) => Signal::TRUE,
        Some(false) => Signal::FALSE,
        None => signal,
    })
}

/// The value of a signal.
pub(crate) fn read(values: &[Option<bool>], signal: Signal) -> Option<bool> {
    values[signal.node().idx()].map(|value| value != signal.is_complement())
}

/// Values of all nodes. A loop is unknown, or false if its definition is false when all loops are.
pub(crate) fn evaluate(
    network: &Network,
    bases: &[Option<bool>],
    moves: &[Option<bool>],
) -> Vec<Option<bool>> {
    let mut is_raised = vec![false; network.loops.len()];
    loop {
        let mut values: Vec<Option<bool>> = vec![None; network.n_nodes()];
        for node in network.nodes() {
            values[node.idx()] = match network.node(node) {
                Node::True => Some(true),
                Node::Base(base) => bases[base as usize],
                Node::Input(input) => moves[input as usize],
                Node::Loop(idx) => (!is_raised[idx as usize]).then_some(false),
                Node::And(signals) => and(&values, signals),
            };
        }
        // Loops whose definition may be true may be true; the others stay false, their least value.
        let mut is_stable = true;
        for (idx, &definition) in network.loops.iter().enumerate() {
            if !is_raised[idx] && read(&values, definition) != Some(false) {
                is_raised[idx] = true;
                is_stable = false;
            }
        }
        if is_stable {
            return values;
        }
    }
}

fn and(values: &[Option<bool>], signals: &[Signal]) -> Option<bool> {
    let mut result = Some(true);
    for &signal in signals {
        match read(values, signal) {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}
