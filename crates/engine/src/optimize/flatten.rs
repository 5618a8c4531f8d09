//! Merges a gate into its only reader: `a & (b & c)` is one gate.
//!
//! Fewer gates, fewer levels, the same number of other edges. Only plain readings merge; a complemented one is an OR of
//! ORs seen from the other side, and merges where both complements meet: `~(~(a & b) & …)` stays as it is.

use crate::network::{Builder, Network, Node, Signal};

/// The same network with single-reader gates merged into their readers.
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
    let mut builder = Builder::new(network.n_bases, network.n_inputs);
    let mut new: Vec<Signal> = vec![Signal::FALSE; network.n_nodes()];
    let mut loops = Vec::new();
    let (mut inputs, mut open) = (Vec::new(), Vec::new());
    for node in network.nodes() {
        new[node.idx()] = match network.node(node) {
            Node::True => Signal::TRUE,
            Node::Base(base) => builder.base(base),
            Node::Input(input) => builder.input(input),
            Node::Loop(of) => {
                let signal = builder.new_loop();
                loops.push((signal, network.loops[of as usize]));
                signal
            }
            Node::And(_) if merges(Signal::new(node, false)) => continue,
            Node::And(signals) => {
                inputs.clear();
                open.clear();
                open.extend_from_slice(signals);
                while let Some(signal) = open.pop() {
                    if merges(signal) {
                        open.extend_from_slice(network.inputs_of(signal.node()));
                    } else {
                        inputs.push(new[signal.node().idx()].complement_if(signal.is_complement()));
                    }
                }
                builder.and(&inputs)
            }
        };
    }
    let map = |signal: Signal| new[signal.node().idx()].complement_if(signal.is_complement());
    for &(signal, definition) in &loops {
        builder.define(signal, map(definition));
    }
    let mut flat = builder.finish();
    let definitions = std::mem::take(&mut flat.loops);
    network.map_outputs(&mut flat, map);
    flat.loops = definitions;
    flat
}
