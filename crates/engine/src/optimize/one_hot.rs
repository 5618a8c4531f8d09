//! Exactly one move per role: any condition on the move of a single role is a set of moves.
//!
//! This is valid only because each role makes exactly one move. "None of these" is "one of the others"; two conditions
//! on the move of a role are one, the intersection; and alternatives that differ only in the move are one: `(x & S) |
//! (x & T)` is `x & (S ∪ T)`. The last case covers rules like "a cell keeps its piece if the move is of this kind and
//! affects another cell", of which there is one for each kind of move: thousands of inputs become "the piece was there,
//! and none of these ten moves was made".
//!
//! Each set becomes one signal. It is either known already, or computed from its own moves or from the others,
//! whichever are fewer, or, if both are many, combined from the sets it was made of.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::network::{Builder, Network, RoleSignals, Signal};
use crate::optimize::rewrite::rewrite;

/// If a set of moves and its complement are both larger than this, the set is combined from smaller ones.
const MAX_READ: usize = 64;

/// Maximum number of words in stored bit sets; when it is reached, no further sets are stored.
const MAX_WORDS: usize = 1 << 23;

/// Joins conditions on moves. `possible` says which inputs can be on at all.
#[must_use]
pub(crate) fn one_hot(network: &Network, possible: &[bool]) -> Network {
    let mut sets = Sets::new(network, possible);
    let mut conjuncts: Vec<Signal> = Vec::new();
    rewrite(network, |builder, carried, _, signals| {
        conjuncts.clear();
        conjuncts.extend(signals.iter().map(|&signal| carried.signal(signal)));
        join_alternatives(builder, &mut sets, &mut conjuncts);
        sets.and(builder, &conjuncts)
    })
}

/// The other conditions of an alternative, and the role whose move it tests.
type Key = (Vec<Signal>, usize);

/// Joins alternatives (complements of conjuncts) that differ only in the set of moves.
fn join_alternatives(builder: &mut Builder, sets: &mut Sets, conjuncts: &mut Vec<Signal>) {
    let mut groups: HashMap<Key, Vec<(usize, SetId)>, FxBuildHasher> = HashMap::default();
    for (idx, &conjunct) in conjuncts.iter().enumerate() {
        if let Some((key, set)) = sets.alternative(builder, !conjunct) {
            groups.entry(key).or_default().push((idx, set));
        }
    }
    groups.retain(|_, members| members.len() > 1);
    // Conjuncts are sorted, so the first member's position does not depend on the order of the map.
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(_, members)| members[0].0);
    let mut joined = Vec::new();
    for ((mut rest, role), members) in groups {
        let parts: Vec<Signal> = members.iter().map(|&(_, set)| sets.signals[set]).collect();
        let mut union = vec![0; sets.inputs[role].len().div_ceil(64)];
        for &(_, set) in &members {
            sets.unite(&mut union, set);
        }
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

/// Moves of a role, as indexes into its possible moves.
enum Moves {
    One(usize),
    AllBut(usize),
    Many(Vec<u64>),
}

/// Every set of moves that has a signal.
struct Sets {
    /// Per role: the inputs of its possible moves.
    inputs: Vec<Vec<u32>>,
    /// Per set: its moves, its role, its signal.
    moves: Vec<Moves>,
    roles: Vec<usize>,
    signals: Vec<Signal>,
    /// Sets of many moves.
    by_words: HashMap<(usize, Vec<u64>), SetId, FxBuildHasher>,
    by_signal: HashMap<Signal, SetId, FxBuildHasher>,
    n_words_left: usize,
}

impl Sets {
    fn new(network: &Network, possible: &[bool]) -> Sets {
        let role_inputs = |role: &RoleSignals| {
            let all = role.first_input..role.first_input + role.legal.len() as u32;
            all.filter(|&input| possible[input as usize]).collect()
        };
        let mut sets = Sets {
            inputs: network.roles.iter().map(role_inputs).collect(),
            moves: Vec::new(),
            roles: Vec::new(),
            signals: Vec::new(),
            by_words: HashMap::default(),
            by_signal: HashMap::default(),
            n_words_left: MAX_WORDS,
        };
        for role in 0..sets.inputs.len() {
            for place in 0..sets.inputs[role].len() {
                let signal = Signal::new(network.input(sets.inputs[role][place]), false);
                sets.insert(role, Moves::One(place), signal);
                sets.insert(role, Moves::AllBut(place), !signal);
            }
        }
        sets
    }

    /// The conjunction of signals, with those on the move of the same role merged.
    fn and(&mut self, builder: &mut Builder, conjuncts: &[Signal]) -> Signal {
        let (mut rest, sets) = self.split(conjuncts);
        for (role, members) in sets.iter().enumerate() {
            let Some((&first, others)) = members.split_first() else {
                continue;
            };
            if others.is_empty() && self.inputs[role].len() > 1 {
                rest.push(self.signals[first]);
                continue;
            }
            let parts: Vec<Signal> = members.iter().map(|&set| self.signals[set]).collect();
            let mut common = all(self.inputs[role].len());
            for &set in members {
                self.intersect(&mut common, set);
            }
            rest.push(self.signal(builder, role, common, |builder| builder.and(&parts)));
        }
        builder.and(&rest)
    }

    /// Conjuncts that are not sets, and the sets per role.
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

    /// An alternative as other conditions and a set of moves of one role; `None` if it does not have that form.
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

    /// The signal of a set of moves; `make` combines it from known signals.
    fn signal(
        &mut self,
        builder: &mut Builder,
        role: usize,
        words: Vec<u64>,
        make: impl FnOnce(&mut Builder) -> Signal,
    ) -> Signal {
        let inputs = &self.inputs[role];
        let n_members: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        let n_others = inputs.len() - n_members;
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
        if n_members.min(n_others) > MAX_READ {
            let signal = make(builder);
            self.keep(role, words, signal);
            return signal;
        }
        let wanted = n_members <= n_others;
        let read: Vec<Signal> = (0..inputs.len())
            .filter(|&place| (words[place / 64] >> (place % 64) & 1 == 1) == wanted)
            .map(|place| builder.input(inputs[place]))
            .collect();
        let signal = builder.or(&read).complement_if(!wanted);
        if read.len() > 1 {
            self.keep(role, words, signal);
        }
        signal
    }

    /// Stores a set of many moves and its complement, while there is room.
    fn keep(&mut self, role: usize, words: Vec<u64>, signal: Signal) {
        let n_words = words.len() * 4;
        if signal.constant().is_some() || n_words > self.n_words_left {
            return;
        }
        self.n_words_left -= n_words;
        let all = all(self.inputs[role].len());
        let others = words.iter().zip(all).map(|(some, all)| all & !some);
        let others: Vec<u64> = others.collect();
        for (words, signal) in [(words, signal), (others, !signal)] {
            self.by_words
                .insert((role, words.clone()), self.moves.len());
            self.insert(role, Moves::Many(words), signal);
        }
    }

    fn insert(&mut self, role: usize, moves: Moves, signal: Signal) {
        self.by_signal.insert(signal, self.moves.len());
        self.moves.push(moves);
        self.roles.push(role);
        self.signals.push(signal);
    }

    fn unite(&self, union: &mut [u64], set: SetId) {
        match &self.moves[set] {
            Moves::Many(words) => union
                .iter_mut()
                .zip(words)
                .for_each(|(all, word)| *all |= word),
            &Moves::One(place) => union[place / 64] |= 1 << (place % 64),
            &Moves::AllBut(place) => {
                let was_there = union[place / 64] >> (place % 64) & 1 == 1;
                union.copy_from_slice(&all(self.inputs[self.roles[set]].len()));
                union[place / 64] &= !(u64::from(!was_there) << (place % 64));
            }
        }
    }

    fn intersect(&self, common: &mut [u64], set: SetId) {
        match &self.moves[set] {
            Moves::Many(words) => common
                .iter_mut()
                .zip(words)
                .for_each(|(all, word)| *all &= word),
            &Moves::AllBut(place) => common[place / 64] &= !(1 << (place % 64)),
            &Moves::One(place) => {
                let kept = common[place / 64] & 1 << (place % 64);
                common.fill(0);
                common[place / 64] = kept;
            }
        }
    }
}

/// A bit set of `n_bits` ones.
fn all(n_bits: usize) -> Vec<u64> {
    let mut words = vec![u64::MAX; n_bits.div_ceil(64)];
    if let Some(last) = words.last_mut()
        && !n_bits.is_multiple_of(64)
    {
        *last = (1 << (n_bits % 64)) - 1;
    }
    words
}
