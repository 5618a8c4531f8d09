//! Drops gates that no output needs; every other pass may leave rubbish behind and end with this one.
//!
//! [`rebuild`] also folds what becomes constant or equal when signals are replaced by others.

use crate::network::{Builder, Network, Node, Signal};

/// The same network, with only what its outputs need.
#[must_use]
pub(crate) fn prune(network: &Network) -> Network {
    network.keep(&needed(network, |signal| signal))
}

/// Which nodes the outputs need, after `replace` has had a look at every signal that a gate or output reads.
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
            Node::Loop(of) => queue.push(replace(network.loops[of as usize])),
            _ => {}
        }
    }
    is_needed
}

/// Rebuilds a network from its outputs, after `replace` has had a look at every signal that a gate or output reads.
/// Loops that nothing reads any more are gone.
pub(crate) fn rebuild(network: &Network, replace: impl Fn(Signal) -> Signal) -> Network {
    let is_needed = needed(network, &replace);
    let of_loops = |of: u32| replace(network.loops[of as usize]);
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
            Node::Loop(of) => {
                let signal = builder.new_loop();
                loops.push((signal, of_loops(of)));
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
