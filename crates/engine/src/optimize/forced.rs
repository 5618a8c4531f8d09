//! A move that excludes all others when it is legal is made exactly then, so its input can be replaced by its legality.
//!
//! This is valid only because each role makes exactly one legal move. A role that is not to move has only a noop, so
//! "does noop" becomes "not in control". The turn then no longer depends on any move, and [`crate::phases`] can detect
//! it.

use crate::network::{Network, Node, Signal};
use crate::optimize::prune::rebuild;

/// Replaces forced moves by their legality, where that is a plain bit of the state.
#[must_use]
pub(crate) fn forced(network: Network) -> Network {
    let mut replacement: Vec<Option<Signal>> = vec![None; network.n_inputs as usize];
    for role in &network.roles {
        for (idx, &legal) in role.legal.iter().enumerate() {
            if !matches!(network.node(legal.node()), Node::Base(_)) {
                continue;
            }
            let mut others = role.legal.iter().enumerate();
            if others.all(|(other, &signal)| other == idx || excludes(&network, signal, legal)) {
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

/// Whether a signal is false, or the complement of the other one is among its conjuncts, which all hold when it does.
fn excludes(network: &Network, signal: Signal, other: Signal) -> bool {
    let mut conjuncts: &[Signal] = &[];
    if !signal.is_complement() {
        conjuncts = network.inputs_of(signal.node());
    }
    // The inputs of a gate are sorted.
    signal == Signal::FALSE || signal == !other || conjuncts.binary_search(&!other).is_ok()
}
