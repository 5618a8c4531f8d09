//! Drops gates that no output needs. Other passes may leave unused gates behind and end with this one.
//!
//! [`rebuild`] also folds signals that become constant or equal when signals are replaced.

use crate::network::{Builder, Network, Node, Signal};

/// Keeps only the nodes that the outputs need.
#[must_use]
pub(crate) fn prune(network: &Network) -> Network {
    network.keep(&needed(network, |signal| signal))
}

/// The nodes that the outputs need, after `replace` is applied to every signal that a gate or output reads.
fn needed(network: &Network, replace: impl Fn(Signal) -> Signal) -> Vec<bool> {
    let mut is_needed = vec![false; network.n_nodes()];
    let mut queue: Vec<Signal> = Vec::new();
    queue.extend(
        network
            .next
            .iter()
            .chain([&network.terminal])
            .map(|&signal| replace(signal)),
    );
    for role in &network.roles {
        queue.extend(
            role.legal
                .iter()
                .chain(&role.goals)
                .chain(&role.percepts)
                .map(|&signal| replace(signal)),
        );
    }
    while let Some(signal) = queue.pop() {
        let node = signal.node();
        if std::mem::replace(&mut is_needed[node.idx()], true) {
            continue;
        }
        match network.node(node) {
            Node::And(signals) => queue.extend(signals.iter().map(|&signal| replace(signal))),
            Node::Loop(idx) => queue.push(replace(network.loops[idx as usize])),
            _ => {}
        }
    }
    is_needed
}

/// Rebuilds a network from its outputs, after applying `replace` to every signal that a gate or output reads. Loops
/// that are not read are dropped.
pub(crate) fn rebuild(network: &Network, replace: impl Fn(Signal) -> Signal) -> Network {
    let is_needed = needed(network, &replace);
    let definition = |idx: u32| replace(network.loops[idx as usize]);
    let n_needed = is_needed.iter().filter(|&&is_needed| is_needed).count();
    let mut builder =
        Builder::new(network.n_bases, network.n_inputs).with_room(n_needed, network.n_edges());
    let mut new: Vec<Signal> = vec![Signal::FALSE; network.n_nodes()];
    let mut loops = Vec::new();
    let mut inputs = Vec::new();
    for node in network.nodes() {
        new[node.idx()] = match network.node(node) {
            Node::True => Signal::TRUE,
            Node::Base(base) => builder.base(base),
            Node::Input(input) => builder.input(input),
            _ if !is_needed[node.idx()] => continue,
            Node::Loop(idx) => {
                let signal = builder.new_loop();
                loops.push((signal, definition(idx)));
                signal
            }
            Node::And(signals) => {
                inputs.clear();
                for &signal in signals {
                    let signal = replace(signal);
                    inputs.push(new[signal.node().idx()].complement_if(signal.is_complement()));
                }
                builder.and(&inputs)
            }
        };
    }
    let map = |signal: Signal| {
        let signal = replace(signal);
        new[signal.node().idx()].complement_if(signal.is_complement())
    };
    for &(signal, definition) in &loops {
        builder.define(
            signal,
            new[definition.node().idx()].complement_if(definition.is_complement()),
        );
    }
    let mut pruned = builder.finish();
    let definitions = std::mem::take(&mut pruned.loops);
    network.map_outputs(&mut pruned, map);
    pruned.loops = definitions;
    pruned
}
