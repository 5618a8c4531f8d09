//! Exactly one move per role: whatever is said about the move of one role alone is a set of moves.
//!
//! Sound only because each role makes exactly one move. "None of these" is "one of the others"; two conditions on the move of
//! a role are one, the moves that meet both; and conditions that differ in the move alone, joined by *or*, are one:
//! `(x & S) | (x & T)` is `x & (S ∪ T)`. The last is what rules like "a cell keeps its piece if the move is of this
//! kind and touches another cell" come down to, one for each kind of move: a sheet's thousands of readings become "the
//! piece was there, and none of these ten moves was made".
//!
//! Each set becomes one signal: known, or read off its own moves or the others, whichever are fewer, or, where both are
//! many, put together from the sets it was made of.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::network::{Builder, Network, Signal};
use crate::optimize::rewrite::rewrite;

/// A set of moves that is larger, and whose complement is too, is put together from smaller ones.
const MOST_READ: usize = 64;

/// More bits than that are not kept: the pass does nothing then.
const MOST_BITS: usize = 1 << 31;

/// The same network with conditions on moves joined. `possible` says which inputs can be on at all.
#[must_use]
pub(crate) fn one_hot(network: &Network, possible: &[bool]) -> Network {
    let mut sets = Sets::new(network, possible);
    let n_sets = network.n_inputs as usize + network.n_gates();
    if sets.n_words.saturating_mul(n_sets).saturating_mul(64) > MOST_BITS {
        return network.clone();
    }
    let mut conjuncts: Vec<Signal> = Vec::new();
    rewrite(network, |builder, carried, _, signals| {
        conjuncts.clear();
        conjuncts.extend(signals.iter().map(|&signal| carried.signal(signal)));
        join_alternatives(builder, &mut sets, &mut conjuncts);
        sets.and(builder, &conjuncts)
    })
}

/// What an alternative asks for besides the move, and of which role's move it asks something.
type Key = (Vec<Signal>, usize);

/// Joins alternatives (complements of conjuncts) that differ in the set of moves alone.
fn join_alternatives(builder: &mut Builder, sets: &mut Sets, conjuncts: &mut Vec<Signal>) {
    let mut groups: HashMap<Key, Vec<(usize, SetId)>, FxBuildHasher> = HashMap::default();
    for (idx, &conjunct) in conjuncts.iter().enumerate() {
        if let Some((key, set)) = sets.alternative(builder, !conjunct) {
            groups.entry(key).or_default().push((idx, set));
        }
    }
    groups.retain(|_, members| members.len() > 1);
    // Conjuncts are sorted, so the first member's place is the same whatever the order of the map was.
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(_, members)| members[0].0);
    let mut joined = Vec::new();
    for ((mut rest, role), members) in groups {
        let parts: Vec<Signal> = members.iter().map(|&(_, set)| sets.signals[set]).collect();
        let union = members[1..]
            .iter()
            .fold(sets.words[members[0].1].clone(), |all, &(_, set)| {
                all.iter()
                    .zip(&sets.words[set])
                    .map(|(a, b)| a | b)
                    .collect()
            });
        rest.push(sets.signal(builder, role, union, |builder| builder.or(&parts)));
        let alternative = sets.and(builder, &rest);
        joined.push(!alternative);
        for (idx, _) in members {
            conjuncts[idx] = Signal::TRUE;
        }
    }
    conjuncts.append(&mut joined);
}

type SetId = usize;

/// Every set of moves that some signal stands for.
struct Sets {
    n_words: usize,
    /// Per input: its role and its place in sets, if it is possible.
    places: Vec<Option<(usize, usize)>>,
    /// Per role: all its possible moves, and their inputs by place.
    all: Vec<Vec<u64>>,
    inputs: Vec<Vec<u32>>,
    /// Per set: its bits, its role, its signal.
    words: Vec<Vec<u64>>,
    roles: Vec<usize>,
    signals: Vec<Signal>,
    by_words: HashMap<(usize, Vec<u64>), SetId, FxBuildHasher>,
    /// The set of a signal.
    by_signal: HashMap<Signal, SetId, FxBuildHasher>,
}

impl Sets {
    fn new(network: &Network, possible: &[bool]) -> Sets {
        let mut places = vec![None; network.n_inputs as usize];
        let mut inputs: Vec<Vec<u32>> = vec![Vec::new(); network.roles.len()];
        for (role, signals) in network.roles.iter().enumerate() {
            for input in signals.first_input..signals.first_input + signals.legal.len() as u32 {
                if possible[input as usize] {
                    places[input as usize] = Some((role, inputs[role].len()));
                    inputs[role].push(input);
                }
            }
        }
        let most = inputs.iter().map(Vec::len).max().unwrap_or(0);
        let all = inputs.iter().map(|of| bits(0..of.len(), most)).collect();
        let mut sets = Sets {
            n_words: most.div_ceil(64),
            places,
            all,
            inputs,
            words: Vec::new(),
            roles: Vec::new(),
            signals: Vec::new(),
            by_words: HashMap::default(),
            by_signal: HashMap::default(),
        };
        for input in 0..network.n_inputs {
            if let Some((role, place)) = sets.places[input as usize] {
                let signal = Signal::new(network.input(input), false);
                sets.insert(role, bits(place..place + 1, most), signal);
            }
        }
        sets
    }

    /// The conjunction of signals, where those about the move of one role are one.
    fn and(&mut self, builder: &mut Builder, conjuncts: &[Signal]) -> Signal {
        let (mut rest, sets) = self.split(conjuncts);
        for (role, members) in sets.iter().enumerate() {
            let Some((&first, others)) = members.split_first() else {
                continue;
            };
            let parts: Vec<Signal> = members.iter().map(|&set| self.signals[set]).collect();
            let common = others.iter().fold(self.words[first].clone(), |all, &set| {
                all.iter()
                    .zip(&self.words[set])
                    .map(|(a, b)| a & b)
                    .collect()
            });
            rest.push(self.signal(builder, role, common, |builder| builder.and(&parts)));
        }
        builder.and(&rest)
    }

    /// Conjuncts that are no sets, and the sets per role.
    fn split(&self, conjuncts: &[Signal]) -> (Vec<Signal>, Vec<Vec<SetId>>) {
        let mut rest = Vec::new();
        let mut sets = vec![Vec::new(); self.inputs.len()];
        for &conjunct in conjuncts {
            match self.by_signal.get(&conjunct) {
                Some(&set) => sets[self.roles[set]].push(set),
                None => rest.push(conjunct),
            }
        }
        (rest, sets)
    }

    /// An alternative as something else and a set of moves of one role; `None` if it is not of that form.
    fn alternative(&self, builder: &Builder, signal: Signal) -> Option<(Key, SetId)> {
        if signal.is_complement() || self.by_signal.contains_key(&signal) {
            return None;
        }
        let (rest, mut sets) = self.split(builder.inputs_of(signal.node()));
        let mut roles = (0..sets.len()).filter(|&role| !sets[role].is_empty());
        let role = roles.next()?;
        if roles.next().is_some() || sets[role].len() > 1 {
            return None;
        }
        Some(((rest, role), sets[role].pop()?))
    }

    /// The signal of a set of moves; `make` puts it together from signals that are known.
    fn signal(
        &mut self,
        builder: &mut Builder,
        role: usize,
        words: Vec<u64>,
        make: impl FnOnce(&mut Builder) -> Signal,
    ) -> Signal {
        let n_members: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        let n_others = self.inputs[role].len() - n_members;
        if n_members == 0 {
            return Signal::FALSE;
        }
        if n_others == 0 {
            return Signal::TRUE;
        }
        let key = (role, words);
        if let Some(&known) = self.by_words.get(&key) {
            return self.signals[known];
        }
        let words = key.1;
        let signal = if n_members.min(n_others) > MOST_READ {
            make(builder)
        } else {
            let wanted = n_members <= n_others;
            let inputs = self.inputs[role].iter().enumerate();
            let read: Vec<Signal> = inputs
                .filter(|(place, _)| (words[place / 64] >> (place % 64) & 1 == 1) == wanted)
                .map(|(_, &input)| builder.input(input))
                .collect();
            builder.or(&read).complement_if(!wanted)
        };
        self.insert(role, words, signal);
        signal
    }

    /// Keeps a set and its complement.
    fn insert(&mut self, role: usize, words: Vec<u64>, signal: Signal) {
        let others = words
            .iter()
            .zip(&self.all[role])
            .map(|(some, all)| all & !some)
            .collect();
        for (words, signal) in [(words, signal), (others, !signal)] {
            let set = self.words.len();
            self.words.push(words.clone());
            self.roles.push(role);
            self.signals.push(signal);
            self.by_words.insert((role, words), set);
            self.by_signal.insert(signal, set);
        }
    }
}

fn bits(places: std::ops::Range<usize>, n_bits: usize) -> Vec<u64> {
    let mut words = vec![0; n_bits.div_ceil(64)];
    for place in places {
        words[place / 64] |= 1 << (place % 64);
    }
    words
}
