//! Common subexpressions: a pair of signals that many gates read together becomes a gate that they share.
//!
//! `a & b & c`, `a & b & d`, … then read one signal instead of a and b each. The pair that most gates read comes first;
//! new pairs may become part of further pairs. A pair in n gates saves n − 2 inputs and costs a gate, so it must occur
//! in several gates to pay off.
//!
//! - Brayton and McMullen 1982, The decomposition and factorization of Boolean expressions (single-cube divisors)

use std::collections::BinaryHeap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::network::{Builder, Network, Node, Signal};
use crate::optimize::rewrite::{Carried, rewrite};

/// Minimum number of gates that must read a pair before it is shared.
const MIN_READERS: u32 = 4;
/// Gates with more signals than this are paired only within windows, because all pairs would be too many.
const MAX_PAIRED: usize = 24;
/// Total work limit, in inputs visited. Larger networks are shared only in part.
const MAX_WORK: u64 = 10_000_000;

/// Shares common pairs of inputs.
#[must_use]
pub(crate) fn share(network: &Network) -> Network {
    let mut terms = Terms::new(network);
    terms.share();
    let mut made: Vec<Option<Signal>> = vec![None; terms.pairs.len()];
    rewrite(network, |builder, carried, node, _| {
        let signals: Vec<Signal> = terms.gates[terms.gate_of[node.idx()] as usize]
            .iter()
            .map(|&literal| terms.signal(literal, builder, carried, &mut made))
            .collect();
        builder.and(&signals)
    })
}

/// A signal of the network, by its code, or a pair, numbered above all codes.
type Literal = u32;

/// All gates as lists of literals.
struct Terms {
    n_codes: u32,
    gate_of: Vec<u32>,
    gates: Vec<Vec<Literal>>,
    /// The gates that read each literal; may contain gates that no longer read it.
    readers: Vec<Vec<u32>>,
    pairs: Vec<(Literal, Literal)>,
    counts: HashMap<(Literal, Literal), u32, FxBuildHasher>,
    work: u64,
}

impl Terms {
    fn new(network: &Network) -> Terms {
        let n_codes = network.n_nodes() as u32 * 2;
        let mut terms = Terms {
            n_codes,
            gate_of: vec![u32::MAX; network.n_nodes()],
            gates: Vec::new(),
            readers: vec![Vec::new(); n_codes as usize],
            pairs: Vec::new(),
            counts: HashMap::default(),
            work: 0,
        };
        for node in network.nodes() {
            let Node::And(signals) = network.node(node) else {
                continue;
            };
            let gate = terms.gates.len() as u32;
            terms.gate_of[node.idx()] = gate;
            terms
                .gates
                .push(signals.iter().map(|signal| signal.code()).collect());
            for signal in signals {
                terms.readers[signal.code() as usize].push(gate);
            }
        }
        for gate in 0..terms.gates.len() {
            for (a, b) in pairs_of(&terms.gates[gate]) {
                *terms.counts.entry((a, b)).or_default() += 1;
                terms.work += 1;
            }
        }
        terms.counts.retain(|_, count| *count >= MIN_READERS);
        terms
    }

    fn share(&mut self) {
        // Ties go to the smallest literals, so that the result does not depend on the order of the map.
        let entry = |(&pair, &count): (&(Literal, Literal), &u32)| (count, std::cmp::Reverse(pair));
        let mut queue: BinaryHeap<_> = self.counts.iter().map(entry).collect();
        while let Some((count, std::cmp::Reverse(pair))) = queue.pop() {
            if self.work > MAX_WORK {
                return;
            }
            let gates = self.readers_of(pair);
            let n_gates = gates.len() as u32;
            if n_gates < MIN_READERS {
                continue;
            }
            // Other pairs may have removed it from some gates since it was counted.
            if n_gates < count {
                queue.push((n_gates, std::cmp::Reverse(pair)));
                continue;
            }
            let made = self.n_codes + self.pairs.len() as u32;
            self.pairs.push(pair);
            let mut fresh: HashMap<(Literal, Literal), u32, FxBuildHasher> = HashMap::default();
            for &gate in &gates {
                let literals = &mut self.gates[gate as usize];
                literals.retain(|&literal| literal != pair.0 && literal != pair.1);
                if literals.len() <= MAX_PAIRED {
                    for &other in literals.iter() {
                        *fresh.entry((other, made)).or_default() += 1;
                    }
                    self.work += literals.len() as u64;
                }
                literals.push(made);
            }
            queue.extend(
                fresh
                    .iter()
                    .filter(|(_, count)| **count >= MIN_READERS)
                    .map(entry),
            );
            self.readers.push(gates);
        }
    }

    /// The gates that read both literals.
    fn readers_of(&mut self, (a, b): (Literal, Literal)) -> Vec<u32> {
        let (few, other) = if self.readers[a as usize].len() <= self.readers[b as usize].len() {
            (a, b)
        } else {
            (b, a)
        };
        // Remove gates that no longer read it.
        let mut readers = std::mem::take(&mut self.readers[few as usize]);
        readers.retain(|&gate| self.gates[gate as usize].contains(&few));
        let both = readers
            .iter()
            .copied()
            .filter(|&gate| self.gates[gate as usize].contains(&other))
            .collect();
        self.work += readers.len() as u64 * 4;
        self.readers[few as usize] = readers;
        both
    }

    fn signal(
        &self,
        literal: Literal,
        builder: &mut Builder,
        carried: &Carried,
        made: &mut [Option<Signal>],
    ) -> Signal {
        let Some(pair) = literal.checked_sub(self.n_codes) else {
            return carried.signal(Signal::from_code(literal));
        };
        if let Some(known) = made[pair as usize] {
            return known;
        }
        // A pair consists of older literals; the chain is at most as long as the widest gate.
        let (a, b) = self.pairs[pair as usize];
        let both = [a, b].map(|part| self.signal(part, builder, carried, made));
        let signal = builder.and(&both);
        made[pair as usize] = Some(signal);
        signal
    }
}

/// The pairs of a gate's literals, smaller first; only neighbours if there are many.
fn pairs_of(literals: &[Literal]) -> impl Iterator<Item = (Literal, Literal)> + '_ {
    let reach = if literals.len() <= MAX_PAIRED {
        literals.len()
    } else {
        4
    };
    literals.iter().enumerate().flat_map(move |(idx, &a)| {
        let end = (idx + 1 + reach).min(literals.len());
        literals[idx + 1..end]
            .iter()
            .map(move |&b| (a.min(b), a.max(b)))
    })
}
