//! Control phases: state bits that run through a short fixed cycle, such as whose turn it is.
//!
//! A bit is autonomous if its next value depends, directly or through other bits, on no move and only on autonomous
//! bits. Its future is then known from the start. If a bit and the bits it depends on return to their initial values
//! after a few steps, they are control bits: in step t they have the values of phase t mod p. Each phase gets its own
//! network, in which they are constants; the moves of roles that cannot move in that phase are removed from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::network::{Network, Node, NodeId};
use crate::optimize::sequential::{evaluate, read};
use crate::state::State;

/// Maximum length of a cycle.
const MAX_CYCLE: usize = 12;

/// The phases of a game. There is at least one.
#[derive(Clone, Debug)]
pub struct Phases {
    /// The control bits.
    pub bits: Vec<u32>,
    /// Per phase, the value of each control bit.
    pub values: Vec<Vec<bool>>,
}

impl Phases {
    /// One phase without control bits.
    #[must_use]
    pub fn none() -> Phases {
        Phases {
            bits: Vec::new(),
            values: vec![Vec::new()],
        }
    }

    /// Number of phases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Always false: there is at least one phase.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values of all bits that are fixed in a phase.
    pub(crate) fn fixed(&self, phase: usize, n_bases: u32) -> Vec<Option<bool>> {
        let mut fixed = vec![None; n_bases as usize];
        for (&bit, &value) in self.bits.iter().zip(&self.values[phase]) {
            fixed[bit as usize] = Some(value);
        }
        fixed
    }

    /// How to determine the phase from the words of a state.
    pub(crate) fn marks(&self) -> Marks {
        let mut masks: BTreeMap<usize, u64> = BTreeMap::new();
        for &bit in &self.bits {
            *masks.entry(bit as usize / 64).or_default() |= 1 << (bit % 64);
        }
        let value = |word: usize, phase: &Vec<bool>| {
            let bits = self.bits.iter().zip(phase);
            let in_word = bits.filter(|&(&bit, _)| bit as usize / 64 == word);
            in_word.fold(0, |all, (&bit, &is_set)| {
                all | u64::from(is_set) << (bit % 64)
            })
        };
        let words = masks.into_iter().map(|(word, mask)| MarkedWord {
            word,
            mask,
            values: self.values.iter().map(|bits| value(word, bits)).collect(),
        });
        let mut words: Vec<MarkedWord> = words.collect();
        if let Some(telling) = words.iter().position(MarkedWord::tells_all) {
            words = vec![words.swap_remove(telling)];
        }
        Marks {
            words,
            n_phases: self.len(),
        }
    }
}

/// How to determine the phase of a state from its words.
pub(crate) struct Marks {
    /// A single word if that distinguishes all phases, which is usual.
    words: Vec<MarkedWord>,
    n_phases: usize,
}

struct MarkedWord {
    word: usize,
    /// The control bits of the word.
    mask: u64,
    /// Their values in each phase.
    values: Vec<u64>,
}

impl MarkedWord {
    fn tells_all(&self) -> bool {
        let distinct: BTreeSet<u64> = self.values.iter().copied().collect();
        distinct.len() == self.values.len()
    }
}

/// The bits of a word that tell the second of two phases.
#[cfg(feature = "batch")]
#[derive(Clone, Copy)]
pub(crate) struct SecondPhase {
    pub(crate) word: usize,
    pub(crate) mask: u64,
    pub(crate) value: u64,
}

impl Marks {
    /// What tells the second phase if there are two, and one word is enough.
    #[cfg(feature = "batch")]
    pub(crate) fn second_of_two(&self) -> Option<SecondPhase> {
        match self.words.as_slice() {
            [only] if self.n_phases == 2 => Some(SecondPhase {
                word: only.word,
                mask: only.mask,
                value: only.values[1],
            }),
            _ => None,
        }
    }

    /// The phase of a state. States that match no phase are unreachable, and the result for them is arbitrary.
    #[inline]
    pub(crate) fn phase_of(&self, state: &[u64]) -> usize {
        if let [only] = self.words.as_slice() {
            // The phase is unpredictable, so this avoids branches.
            let marks = state[only.word] & only.mask;
            let values = only.values.iter().enumerate();
            return values.fold(0, |all, (phase, &value)| {
                all | (phase * usize::from(marks == value))
            });
        }
        let fits = |phase: &usize| {
            let mut words = self.words.iter();
            words.all(|word| state[word.word] & word.mask == word.values[*phase])
        };
        (0..self.n_phases).find(fits).unwrap_or(0)
    }
}

/// Finds the control bits of a network.
#[must_use]
pub fn find(network: &Network, initial: &State) -> Phases {
    let needs = autonomous(network);
    let bits: Vec<u32> = (0..network.n_bases)
        .filter(|&base| needs[base as usize].is_some())
        .collect();
    if bits.is_empty() {
        return Phases::none();
    }
    let history = simulate(network, initial, &bits);
    let value = |step: usize, base: u32| history[step][base as usize];
    // The shortest cycle of each bit together with the bits that it depends on.
    let period_of = |base: u32| {
        let closure = closure(base, &needs);
        (1..=MAX_CYCLE).find(|&period| {
            closure
                .iter()
                .all(|&bit| value(period, bit) == value(0, bit))
        })
    };
    let mut period = 1;
    let mut control = Vec::new();
    for &bit in &bits {
        if let Some(own) = period_of(bit)
            && lcm(period, own) <= MAX_CYCLE
        {
            period = lcm(period, own);
            control.push(bit);
        }
    }
    if period == 1 {
        return Phases::none();
    }
    let values = (0..period)
        .map(|step| {
            control
                .iter()
                .map(|&bit| value(step, bit) == Some(true))
                .collect()
        })
        .collect();
    Phases {
        bits: control,
        values,
    }
}

/// For each base that depends on no move: the bases that its next value reads. `None` if one of these is not
/// autonomous.
fn autonomous(network: &Network) -> Vec<Option<Vec<u32>>> {
    let mut needs: Vec<Option<Vec<u32>>> = network
        .next
        .iter()
        .map(|&next| support(network, next.node()))
        .collect();
    loop {
        let is_autonomous: Vec<bool> = needs.iter().map(Option::is_some).collect();
        let mut is_stable = true;
        for base_needs in &mut needs {
            let is_bad = base_needs
                .as_ref()
                .is_some_and(|bases| bases.iter().any(|&base| !is_autonomous[base as usize]));
            if is_bad {
                *base_needs = None;
                is_stable = false;
            }
        }
        if is_stable {
            return needs;
        }
    }
}

/// The bases below a node, if there are few of them and there is no move and no loop below it.
fn support(network: &Network, root: NodeId) -> Option<Vec<u32>> {
    const MAX_NODES: usize = 400;
    let mut seen = rustc_hash::FxHashSet::default();
    let mut bases = Vec::new();
    let mut queue = vec![root];
    while let Some(node) = queue.pop() {
        if !seen.insert(node) {
            continue;
        }
        if seen.len() > MAX_NODES {
            return None;
        }
        match network.node(node) {
            Node::True => {}
            Node::Base(base) => bases.push(base),
            Node::Input(_) | Node::Loop(_) => return None,
            Node::And(signals) => queue.extend(signals.iter().map(|signal| signal.node())),
        }
    }
    bases.sort_unstable();
    Some(bases)
}

/// A base and all bases that it depends on.
fn closure(base: u32, needs: &[Option<Vec<u32>>]) -> Vec<u32> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut queue = vec![base];
    while let Some(base) = queue.pop() {
        if seen.insert(base) {
            queue.extend(needs[base as usize].iter().flatten());
        }
    }
    seen.into_iter().collect()
}

/// Values of the autonomous bits over the first steps.
fn simulate(network: &Network, initial: &State, bits: &[u32]) -> Vec<Vec<Option<bool>>> {
    let moves = vec![None; network.n_inputs as usize];
    let mut bases = vec![None; network.n_bases as usize];
    for &bit in bits {
        bases[bit as usize] = Some(initial.words()[bit as usize / 64] >> (bit % 64) & 1 == 1);
    }
    let mut history = vec![bases];
    for _ in 0..MAX_CYCLE {
        let now = &history[history.len() - 1];
        let values = evaluate(network, now, &moves);
        let mut next = vec![None; network.n_bases as usize];
        for &bit in bits {
            next[bit as usize] = read(&values, network.next[bit as usize]);
        }
        history.push(next);
    }
    history
}

fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each phase is recognised by its control bits, whatever the other bits are.
    fn check_marks(bits: &[u32], values: &[&[bool]], n_words_needed: usize) {
        let phases = Phases {
            bits: bits.to_vec(),
            values: values.iter().map(|bits| bits.to_vec()).collect(),
        };
        let marks = phases.marks();
        assert_eq!(marks.words.len(), n_words_needed);
        for (phase, phase_values) in values.iter().enumerate() {
            for others in [0, u64::MAX] {
                let mut state = [others; 2];
                for (&bit, &is_set) in bits.iter().zip(*phase_values) {
                    let word = &mut state[bit as usize / 64];
                    *word = *word & !(1 << (bit % 64)) | u64::from(is_set) << (bit % 64);
                }
                assert_eq!(marks.phase_of(&state), phase);
            }
        }
    }

    #[test]
    fn phases_are_recognised_by_their_control_bits() {
        let (no, yes) = (false, true);
        check_marks(&[], &[&[]], 0);
        check_marks(&[5], &[&[yes], &[no]], 1);
        check_marks(
            &[0, 63, 64],
            &[&[yes, no, no], &[no, yes, no], &[no, no, yes]],
            1,
        );
        let both = [[yes, yes], [no, yes], [yes, no], [no, no]];
        check_marks(&[7, 70], &both.each_ref().map(<[bool; 2]>::as_slice), 2);
    }
}
