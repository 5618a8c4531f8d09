//! Simplification: finds the atoms that always or never hold, so that they can be dropped with their rules and
//! literals.
//!
//! It computes two bounds. *Possible* is everything that rules can derive if every negation that is not refuted is
//! assumed to hold; *certain* is everything that follows without any assumption about the state. A certain atom refutes
//! its negations, and the negation of an impossible atom holds, so each bound tightens the other until nothing changes
//! (the alternating fixpoint). Then literals that always hold, rules that never fire, and atoms that no output needs
//! are dropped.
//!
//! - Van Gelder 1993, The alternating fixpoint of logic programs with negation

use crate::emit::RawRules;

/// The bounds of the raw atoms.
pub(crate) struct Bounds {
    pub(crate) possible: Vec<bool>,
    pub(crate) certain: Vec<bool>,
}

/// What the keywords add to the rules.
pub(crate) struct Links {
    /// `true` atoms of the initial state.
    pub(crate) initial: Vec<u32>,
    /// From a `next` atom to its `true` atom, from a `legal` atom to its `does` atom.
    pub(crate) follows: Vec<(u32, u32)>,
}

/// Computes both bounds; `None` if `stop`, which is asked once per round, returns true. A round takes time linear in the
/// number of literals.
pub(crate) fn bounds(
    rules: &RawRules,
    links: &Links,
    n_atoms: u32,
    stop: &dyn Fn() -> bool,
) -> Option<Bounds> {
    let uses = Uses::new(rules, n_atoms);
    let follows = Follows::new(links, n_atoms);
    let mut bounds = Bounds {
        possible: Vec::new(),
        certain: vec![false; n_atoms as usize],
    };
    loop {
        if stop() {
            return None;
        }
        let possible = possible(rules, links, &follows, &uses, &bounds.certain);
        let certain = certain(rules, &uses, &possible);
        // The next round can only differ if an atom that is certain now refutes a literal.
        let refutes = |literal: &u32| {
            let atom = (literal / 2) as usize;
            literal % 2 == 1 && certain[atom] && !bounds.certain[atom]
        };
        let is_stable = !rules.literals.iter().any(refutes);
        bounds = Bounds { possible, certain };
        if is_stable {
            return Some(bounds);
        }
    }
}

/// For each atom, the rules with it as a positive literal.
struct Uses {
    starts: Vec<u32>,
    rules: Vec<u32>,
}

impl Uses {
    fn new(rules: &RawRules, n_atoms: u32) -> Uses {
        let mut starts = vec![0; n_atoms as usize + 1];
        for literal in rules.literals.iter().filter(|literal| *literal % 2 == 0) {
            starts[(literal / 2) as usize + 1] += 1;
        }
        for atom in 0..n_atoms as usize {
            starts[atom + 1] += starts[atom];
        }
        let mut fill = starts.clone();
        let mut by_atom = vec![0; starts[n_atoms as usize] as usize];
        for rule in 0..rules.len() {
            for literal in rules.body(rule).iter().filter(|literal| *literal % 2 == 0) {
                let slot = &mut fill[(literal / 2) as usize];
                by_atom[*slot as usize] = rule as u32;
                *slot += 1;
            }
        }
        Uses {
            starts,
            rules: by_atom,
        }
    }

    fn rules(&self, atom: u32) -> &[u32] {
        &self.rules[self.starts[atom as usize] as usize..self.starts[atom as usize + 1] as usize]
    }
}

struct Follows {
    by_atom: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Follows {
    fn new(links: &Links, n_atoms: u32) -> Follows {
        let mut by_atom = vec![NONE; n_atoms as usize];
        for &(atom, follower) in &links.follows {
            by_atom[atom as usize] = follower;
        }
        Follows { by_atom }
    }
}

fn possible(
    rules: &RawRules,
    links: &Links,
    follows: &Follows,
    uses: &Uses,
    certain: &[bool],
) -> Vec<bool> {
    let is_refuted = |literal: &u32| literal % 2 == 1 && certain[(literal / 2) as usize];
    let waits = |rule: usize| {
        let body = rules.body(rule);
        if body.iter().any(is_refuted) {
            NONE
        } else {
            body.iter().filter(|literal| *literal % 2 == 0).count() as u32
        }
    };
    let mut holds = vec![false; follows.by_atom.len()];
    let mut queue: Vec<u32> = Vec::new();
    let mut add = |atom: u32, queue: &mut Vec<u32>| {
        let mut atom = atom;
        // A fluent that is possible in the next state is possible, and a move that may be legal may be made.
        while atom != NONE && !std::mem::replace(&mut holds[atom as usize], true) {
            queue.push(atom);
            atom = follows.by_atom[atom as usize];
        }
    };
    links.initial.iter().for_each(|&atom| add(atom, &mut queue));
    let mut waiting: Vec<u32> = (0..rules.len()).map(waits).collect();
    for (rule, &n) in waiting.iter().enumerate() {
        if n == 0 {
            add(rules.heads[rule], &mut queue);
        }
    }
    while let Some(atom) = queue.pop() {
        for &rule in uses.rules(atom) {
            let n = &mut waiting[rule as usize];
            if *n != NONE {
                *n -= 1;
                if *n == 0 {
                    add(rules.heads[rule as usize], &mut queue);
                }
            }
        }
    }
    holds
}

fn certain(rules: &RawRules, uses: &Uses, possible: &[bool]) -> Vec<bool> {
    let waits = |rule: usize| {
        let body = rules.body(rule);
        let is_open = |literal: &u32| literal % 2 == 1 && possible[(literal / 2) as usize];
        if body.iter().any(is_open) {
            NONE
        } else {
            body.iter().filter(|literal| *literal % 2 == 0).count() as u32
        }
    };
    let mut holds = vec![false; possible.len()];
    let mut queue: Vec<u32> = Vec::new();
    let mut waiting: Vec<u32> = (0..rules.len()).map(waits).collect();
    for (rule, &n) in waiting.iter().enumerate() {
        if n == 0 && !std::mem::replace(&mut holds[rules.heads[rule] as usize], true) {
            queue.push(rules.heads[rule]);
        }
    }
    while let Some(atom) = queue.pop() {
        for &rule in uses.rules(atom) {
            let n = &mut waiting[rule as usize];
            if *n != NONE {
                *n -= 1;
                let head = rules.heads[rule as usize];
                if *n == 0 && !std::mem::replace(&mut holds[head as usize], true) {
                    queue.push(head);
                }
            }
        }
    }
    holds
}
