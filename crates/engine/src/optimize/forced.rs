//! A move that excludes all others when it is legal is made exactly then, so its input can be replaced by its legality.
//!
//! This is valid only because each role makes exactly one legal move. A role that is not to move has only a noop, so
//! "does noop" becomes "not in control". The turn then no longer depends on any move, and [`crate::phases`] can detect
//! it.

use rustc_hash::FxHashSet;

use crate::network::{Network, Node, NodeId, Signal};
use crate::optimize::prune::rebuild;

/// Replaces forced moves by their legality, where that is a plain bit of the state.
#[must_use]
pub(crate) fn forced(network: Network) -> Network {
    let mut replacement: Vec<Option<Signal>> = vec![None; network.n_inputs as usize];
    for role in &network.roles {
        let conjuncts: Vec<FxHashSet<Signal>> = role
            .legal
            .iter()
            .map(|&legal| conjuncts(&network, legal))
            .collect();
        for (idx, &legal) in role.legal.iter().enumerate() {
            if !matches!(network.node(legal.node()), Node::Base(_)) {
                continue;
            }
            let excludes = |(other, conjuncts): (usize, &FxHashSet<Signal>)| {
                other == idx || conjuncts.contains(&!legal) || conjuncts.contains(&Signal::FALSE)
            };
            if conjuncts.iter().enumerate().all(excludes) {
                replacement[role.first_input as usize + idx] = Some(legal);
            }
        }
    }
    if replacement.iter().all(Option::is_none) {
        return network;
    }
    let first_input = network.input(0);
    rebuild(&network, |signal| {
        let input = signal.node().0.wrapping_sub(first_input.0) as usize;
        match replacement.get(input).copied().flatten() {
            Some(legal) => legal.complement_if(signal.is_complement()),
            None => signal,
        }
    })
}

/// The conjuncts of a signal: signals that all hold when this one does.
fn conjuncts(network: &Network, signal: Signal) -> FxHashSet<Signal> {
    let mut conjuncts = FxHashSet::default();
    conjuncts.insert(signal);
    if !signal.is_complement() && signal.node() != NodeId(0) {
        conjuncts.extend(network.inputs_of(signal.node()));
    }
    conjuncts
}
