//! Common subexpressions: a pair of signals that many gates read together becomes a gate that they share.
//!
//! `a & b & c`, `a & b & d`, … then read one signal instead of a and b each. The pair that most gates read comes first;
//! new pairs may become part of further pairs. A pair in n gates saves n − 2 inputs and costs a gate, so it must occur
//! in several gates to pay off.
//!
//! - Brayton and McMullen 1982, The decomposition and factorization of Boolean expressions (single-cube divisors)

use std::collections::BinaryHeap;
use std::hash::BuildHasher;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::network::{Builder, Network, Node, Signal};
use crate::optimize::rewrite::{Carried, rewrite};

/// Minimum number of gates that must read a pair before it is shared.
const MIN_READERS: u32 = 4;
/// Gates with more signals than this are paired only within windows, because all pairs would be too many.
const MAX_PAIRED: usize = 24;
/// Maximum number of counts that pairs share, a byte each: they stay in the cache of the processor.
const MAX_SLOTS: usize = 1 << 20;
/// Total work limit, in inputs visited. Larger networks are shared only in part.
const MAX_WORK: u64 = 10_000_000;

/// Shares common pairs of inputs.
#[must_use]
pub(crate) fn share(network: &Network) -> Network {
    let mut terms = Terms::new(network);
    terms.share();
    let mut made: Vec<Option<Signal>> = vec![None; terms.pairs.len()];
    let mut signals = Vec::new();
    rewrite(network, |builder, carried, node, _| {
        signals.clear();
        let literals = terms.gates.list(terms.gate_of[node.idx()]).iter();
        signals.extend(literals.map(|&literal| terms.signal(literal, builder, carried, &mut made)));
        builder.and(&signals)
    })
}

/// A signal of the network, by its code, or a pair, numbered above all codes.
type Literal = u32;

/// Lists that only shrink, in one array.
#[derive(Default)]
struct Lists {
    values: Vec<u32>,
    /// Per list: its start and its length.
    spans: Vec<(u32, u32)>,
}

impl Lists {
    fn list(&self, idx: u32) -> &[u32] {
        let (start, len) = self.spans[idx as usize];
        &self.values[start as usize..(start + len) as usize]
    }

    fn len(&self, idx: u32) -> usize {
        self.spans[idx as usize].1 as usize
    }

    fn add(&mut self, values: impl IntoIterator<Item = u32>) {
        let start = self.values.len() as u32;
        self.values.extend(values);
        self.spans.push((start, self.values.len() as u32 - start));
    }

    /// Drops values from a list; the others keep their order.
    fn retain(&mut self, idx: u32, mut is_kept: impl FnMut(u32) -> bool) {
        let (start, len) = self.spans[idx as usize];
        let mut end = start as usize;
        for at in start as usize..(start + len) as usize {
            let value = self.values[at];
            if is_kept(value) {
                self.values[end] = value;
                end += 1;
            }
        }
        self.spans[idx as usize].1 = end as u32 - start;
    }

    /// Puts a value at the end of a list that has become shorter.
    fn replace_end(&mut self, idx: u32, value: u32) {
        let (start, len) = &mut self.spans[idx as usize];
        self.values[(*start + *len) as usize] = value;
        *len += 1;
    }
}

/// All gates as lists of literals.
struct Terms {
    n_codes: u32,
    gate_of: Vec<u32>,
    gates: Lists,
    /// The gates that read each literal; may contain gates that no longer read it.
    readers: Lists,
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
            gates: Lists::default(),
            readers: Lists::default(),
            pairs: Vec::new(),
            counts: HashMap::default(),
            work: 0,
        };
        terms.gates.values.reserve(network.n_edges());
        let mut n_readers = vec![0_u32; n_codes as usize];
        for node in network.nodes() {
            let Node::And(signals) = network.node(node) else {
                continue;
            };
            terms.gate_of[node.idx()] = terms.gates.spans.len() as u32;
            terms.gates.add(signals.iter().map(|signal| signal.code()));
            for signal in signals {
                n_readers[signal.code() as usize] += 1;
            }
        }
        terms.add_readers(&n_readers);
        terms.count_pairs(&n_readers);
        terms
    }

    /// Counts the pairs that enough gates read. Most pairs are in few gates and need not be stored: the first count is shared
    /// by all pairs of the same hash, so that it is never too low.
    fn count_pairs(&mut self, n_readers: &[u32]) {
        let gates = &self.gates;
        let all_pairs =
            || (0..gates.spans.len() as u32).flat_map(|gate| pairs_of(gates.list(gate)));
        self.work += all_pairs().count() as u64;
        // A pair has no more readers than each of its literals.
        let is_read = |&(a, b): &(Literal, Literal)| {
            n_readers[a as usize].min(n_readers[b as usize]) >= MIN_READERS
        };
        let n_slots = (gates.values.len() * 4).next_power_of_two().min(MAX_SLOTS);
        let mut by_slot = vec![0_u8; n_slots];
        let slot = |pair| FxBuildHasher.hash_one::<(Literal, Literal)>(pair) as usize % n_slots;
        all_pairs().filter(is_read).for_each(|pair| {
            let count = &mut by_slot[slot(pair)];
            *count = count.saturating_add(1);
        });
        let counts = &mut self.counts;
        all_pairs().filter(is_read).for_each(|pair| {
            if u32::from(by_slot[slot(pair)]) >= MIN_READERS {
                *counts.entry(pair).or_default() += 1;
            }
        });
        counts.retain(|_, count| *count >= MIN_READERS);
    }

    fn add_readers(&mut self, n_readers: &[u32]) {
        let mut start = 0;
        for &n in n_readers {
            self.readers.spans.push((start, 0));
            start += n;
        }
        self.readers.values = vec![0; start as usize];
        for gate in 0..self.gates.spans.len() as u32 {
            for &literal in self.gates.list(gate) {
                self.readers.replace_end(literal, gate);
            }
        }
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
                self.gates
                    .retain(gate, |literal| literal != pair.0 && literal != pair.1);
                let literals = self.gates.list(gate);
                if literals.len() <= MAX_PAIRED {
                    for &other in literals {
                        *fresh.entry((other, made)).or_default() += 1;
                    }
                    self.work += literals.len() as u64;
                }
                self.gates.replace_end(gate, made);
            }
            queue.extend(
                fresh
                    .iter()
                    .filter(|(_, count)| **count >= MIN_READERS)
                    .map(entry),
            );
            self.readers.add(gates);
        }
    }

    /// The gates that read both literals.
    fn readers_of(&mut self, (a, b): (Literal, Literal)) -> Vec<u32> {
        let (few, other) = if self.readers.len(a) <= self.readers.len(b) {
            (a, b)
        } else {
            (b, a)
        };
        // Remove gates that no longer read it.
        let gates = &self.gates;
        self.readers
            .retain(few, |gate| gates.list(gate).contains(&few));
        let readers = self.readers.list(few);
        self.work += readers.len() as u64 * 4;
        let reads_other = |gate: &u32| gates.list(*gate).contains(&other);
        readers.iter().copied().filter(reads_other).collect()
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
