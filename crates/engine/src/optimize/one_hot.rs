//! Exactly one move per role: "none of these" is "one of the others".
//!
//! Sound only because each role makes exactly one move. In a gate that reads moves of a role:
//! two different moves exclude each other; a move implies the complements of all others; and the complements of more
//! than half of the moves are replaced by one signal that says "one of the rest". The last is what rules like "a cell
//! keeps its piece if the move touches another cell" come down to: two thousand readings become forty.

use crate::network::{Network, Signal};
use crate::optimize::rewrite::rewrite;

/// The same network with such readings replaced. `possible` says which inputs can be on at all.
#[must_use]
pub(crate) fn one_hot(network: &Network, possible: &[bool]) -> Network {
    let role_of = role_by_input(network);
    let first_input = network.input(0).0;
    let input_of = |signal: Signal| {
        let input = signal.node().0.wrapping_sub(first_input);
        (input < network.n_inputs).then_some(input)
    };
    let n_possible: Vec<usize> = network
        .roles
        .iter()
        .map(|role| {
            (0..role.legal.len())
                .filter(|&idx| possible[role.first_input as usize + idx])
                .count()
        })
        .collect();
    let mut inputs = Vec::new();
    // Per role of the gate at hand: the move it asks for, and those it excludes.
    let mut wanted: Vec<Option<u32>> = vec![None; network.roles.len()];
    let mut excluded: Vec<Vec<u32>> = vec![Vec::new(); network.roles.len()];
    rewrite(network, |builder, carried, _, signals| {
        inputs.clear();
        wanted.fill(None);
        excluded.iter_mut().for_each(Vec::clear);
        let mut is_false = false;
        for &signal in signals {
            match input_of(signal) {
                None => inputs.push(carried.signal(signal)),
                Some(input) if signal.is_complement() => {
                    if possible[input as usize] {
                        excluded[role_of[input as usize]].push(input);
                    }
                }
                Some(input) => {
                    is_false |= wanted[role_of[input as usize]].replace(input).is_some();
                    is_false |= !possible[input as usize];
                }
            }
        }
        for (role, signals) in network.roles.iter().enumerate() {
            if let Some(input) = wanted[role] {
                is_false |= excluded[role].contains(&input);
                inputs.push(builder.input(input));
                continue;
            }
            if excluded[role].len() * 2 <= n_possible[role] {
                inputs.extend(excluded[role].iter().map(|&input| !builder.input(input)));
                continue;
            }
            let first = signals.first_input;
            let all = first..first + signals.legal.len() as u32;
            let rest: Vec<Signal> = all
                .filter(|input| possible[*input as usize] && !excluded[role].contains(input))
                .map(|input| builder.input(input))
                .collect();
            inputs.push(builder.or(&rest));
        }
        if is_false {
            Signal::FALSE
        } else {
            builder.and(&inputs)
        }
    })
}

fn role_by_input(network: &Network) -> Vec<usize> {
    let roles = network.roles.iter().enumerate();
    roles
        .flat_map(|(role, signals)| std::iter::repeat_n(role, signals.legal.len()))
        .collect()
}
