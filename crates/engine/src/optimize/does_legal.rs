//! A move that is made is legal: in a gate that reads `does m`, signals implied by `legal m` can be dropped.
//!
//! This is valid only because machines are given only legal moves. If `legal m` is the conjunction `a & b`, a gate that
//! reads `does m` need not read a or b as well; if it reads the complement of a, it is never true.

use crate::network::{Network, Signal};
use crate::optimize::rewrite::rewrite;

/// Drops signals that are implied by the legality of a move from gates that read the move.
#[must_use]
pub(crate) fn does_legal(network: &Network) -> Network {
    let legal_of = legal_by_input(network);
    let first_input = network.input(0).0;
    let (mut inputs, mut implied) = (Vec::new(), Vec::new());
    rewrite(network, |builder, carried, _, signals| {
        implied.clear();
        for signal in signals.iter().filter(|signal| !signal.is_complement()) {
            let input = signal.node().0.wrapping_sub(first_input);
            if let Some(&legal) = legal_of.get(input as usize) {
                implied.push(legal);
                if !legal.is_complement() {
                    implied.extend_from_slice(network.inputs_of(legal.node()));
                }
            }
        }
        inputs.clear();
        for &signal in signals {
            if implied.contains(&!signal) {
                inputs.push(Signal::FALSE);
            } else if !implied.contains(&signal) {
                inputs.push(carried.signal(signal));
            }
        }
        builder.and(&inputs)
    })
}

/// When each input is legal.
fn legal_by_input(network: &Network) -> Vec<Signal> {
    network
        .roles
        .iter()
        .flat_map(|role| role.legal.iter().copied())
        .collect()
}
