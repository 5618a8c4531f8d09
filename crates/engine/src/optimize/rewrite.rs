//! The frame of passes that rewrite one gate at a time and copy everything else.

use crate::network::{Builder, Network, Node, NodeId, Signal};

/// The new signals of the nodes processed so far.
pub(crate) struct Carried(Vec<Signal>);

impl Carried {
    /// The new signal of an old one.
    pub(crate) fn signal(&self, old: Signal) -> Signal {
        self.0[old.node().idx()].complement_if(old.is_complement())
    }
}

/// Rebuilds a network in node order; `gate` maps each gate, given its node and its input signals.
pub(crate) fn rewrite(
    network: &Network,
    mut gate: impl FnMut(&mut Builder, &Carried, NodeId, &[Signal]) -> Signal,
) -> Network {
    let mut builder = Builder::new(network.n_bases, network.n_inputs)
        .with_room(network.n_gates(), network.n_edges());
    let mut carried = Carried(vec![Signal::FALSE; network.n_nodes()]);
    let mut loops = Vec::new();
    for node in network.nodes() {
        carried.0[node.idx()] = match network.node(node) {
            Node::True => Signal::TRUE,
            Node::Base(base) => builder.base(base),
            Node::Input(input) => builder.input(input),
            Node::Loop(idx) => {
                let signal = builder.new_loop();
                loops.push((signal, network.loops[idx as usize]));
                signal
            }
            Node::And(signals) => gate(&mut builder, &carried, node, signals),
        };
    }
    for (signal, definition) in loops {
        builder.define(signal, carried.signal(definition));
    }
    let mut rewritten = builder.finish();
    let definitions = std::mem::take(&mut rewritten.loops);
    network.map_outputs(&mut rewritten, |signal| carried.signal(signal));
    rewritten.loops = definitions;
    rewritten
}
