//! Merges a gate into its only reader: `a & (b & c)` becomes one gate.
//!
//! This gives fewer gates and levels, with the same number of other edges. Only plain inputs are merged. A complemented
//! input is an OR of ORs, and is merged only where two complements meet: `~(~(a & b) & …)` is left as it is.

use crate::network::{Network, Node, Signal};
use crate::optimize::rewrite::rewrite;

/// Merges single-reader gates into their readers.
#[must_use]
pub(crate) fn flatten(network: &Network) -> Network {
    let mut n_readers = vec![0_u32; network.n_nodes()];
    let mut is_plain = vec![true; network.n_nodes()];
    for node in network.nodes() {
        for signal in network.inputs_of(node) {
            n_readers[signal.node().idx()] += 1;
            is_plain[signal.node().idx()] &= !signal.is_complement();
        }
    }
    for signal in network.outputs() {
        n_readers[signal.node().idx()] += 2;
    }
    let merges = |signal: Signal| {
        let node = signal.node();
        matches!(network.node(node), Node::And(_))
            && n_readers[node.idx()] == 1
            && is_plain[node.idx()]
    };
    let (mut inputs, mut open) = (Vec::new(), Vec::new());
    rewrite(network, |builder, carried, node, signals| {
        // It becomes part of its only reader.
        if merges(Signal::new(node, false)) {
            return Signal::FALSE;
        }
        inputs.clear();
        open.clear();
        open.extend_from_slice(signals);
        while let Some(signal) = open.pop() {
            if merges(signal) {
                open.extend_from_slice(network.inputs_of(signal.node()));
            } else {
                inputs.push(carried.signal(signal));
            }
        }
        builder.and(&inputs)
    })
}
