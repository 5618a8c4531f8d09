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
    let follows = follows(links, n_atoms);
    let mut is_given = vec![false; n_atoms as usize];
    let followers = links.follows.iter().map(|(_, follower)| follower);
    for &atom in followers.chain(&links.initial) {
        is_given[atom as usize] = true;
    }
    let mut bounds = Bounds {
        possible: Vec::new(),
        certain: vec![false; n_atoms as usize],
    };
    loop {
        if stop() {
            return None;
        }
        let possible = possible(rules, links, &follows, &bounds.certain);
        let certain = certain(rules, &is_given, &possible);
        // The next round can only differ if an atom that is certain now refutes a literal.
        let refutes = |literal: &u32| {
            let atom = (literal / 2) as usize;
            literal % 2 == 1 && certain[atom] && !bounds.certain[atom]
        };
        let is_stable = certain == bounds.certain || !rules.literals().any(refutes);
        bounds = Bounds { possible, certain };
        if is_stable {
            return Some(bounds);
        }
    }
}

const NONE: u32 = u32::MAX;

/// Per atom, the atom that follows from it by the meaning of the keywords.
fn follows(links: &Links, n_atoms: u32) -> Vec<u32> {
    let mut follows = vec![NONE; n_atoms as usize];
    for &(atom, follower) in &links.follows {
        follows[atom as usize] = follower;
    }
    follows
}

fn possible(rules: &RawRules, links: &Links, follows: &[u32], certain: &[bool]) -> Vec<bool> {
    let is_refuted = |literal: &u32| literal % 2 == 1 && certain[(literal / 2) as usize];
    // A fluent that is possible in the next state is possible, and a move that may be legal may be made.
    let mut closure = Closure::new(rules, follows, certain.len());
    links.initial.iter().for_each(|&atom| closure.add(atom));
    closure.fire_all(|body| !body.iter().any(is_refuted));
    closure.holds
}

/// `is_given` says which atoms are fluents and moves: no rules derive them, so that they are never certain.
fn certain(rules: &RawRules, is_given: &[bool], possible: &[bool]) -> Vec<bool> {
    let is_open = |literal: &u32| {
        let atom = (literal / 2) as usize;
        if literal % 2 == 1 {
            possible[atom]
        } else {
            is_given[atom]
        }
    };
    let mut closure = Closure::new(rules, &[], possible.len());
    closure.fire_all(|body| !body.iter().any(is_open));
    closure.holds
}

/// The atoms that follow from rules by their positive literals. A rule waits for one atom of its body at a time, the
/// first one that does not hold yet. Rules come roughly in the order in which they fire, so that few of them ever wait.
///
/// - Dowling and Gallier 1984, Linear-time algorithms for testing the satisfiability of propositional Horn formulae
struct Closure<'a> {
    rules: &'a RawRules,
    /// Per atom, the atom that follows from it, or `NONE`.
    follows: &'a [u32],
    holds: Vec<bool>,
    /// Per atom: the last rule that waits for it, plus one.
    last: Vec<u32>,
    /// Per rule: the rule before it that waits for the same atom, plus one.
    before: Vec<u32>,
    /// Atoms that hold, and whose rules still wait.
    queue: Vec<u32>,
}

impl Closure<'_> {
    fn new<'a>(rules: &'a RawRules, follows: &'a [u32], n_atoms: usize) -> Closure<'a> {
        Closure {
            rules,
            follows,
            holds: vec![false; n_atoms],
            last: vec![0; n_atoms],
            before: vec![0; rules.len()],
            queue: Vec::new(),
        }
    }

    /// Fires all rules that may be used, as often as possible.
    fn fire_all(&mut self, may_fire: impl Fn(&[u32]) -> bool) {
        for rule in 0..self.rules.len() {
            if may_fire(self.rules.body(rule)) {
                self.fire(rule);
            }
            while let Some(atom) = self.queue.pop() {
                let mut next = std::mem::take(&mut self.last[atom as usize]) as usize;
                while let Some(rule) = next.checked_sub(1) {
                    next = self.before[rule] as usize;
                    self.fire(rule);
                }
            }
        }
    }

    /// Fires a rule, or lets it wait.
    fn fire(&mut self, rule: usize) {
        let rules = self.rules;
        let mut body = rules.body(rule).iter().filter(|literal| *literal % 2 == 0);
        match body.find(|literal| !self.holds[(*literal / 2) as usize]) {
            None => self.add(rules.head(rule)),
            Some(literal) => {
                let last = &mut self.last[(literal / 2) as usize];
                self.before[rule] = *last;
                *last = rule as u32 + 1;
            }
        }
    }

    /// Adds an atom and those that follow from it.
    fn add(&mut self, atom: u32) {
        let mut atom = atom;
        while atom != NONE && !std::mem::replace(&mut self.holds[atom as usize], true) {
            self.queue.push(atom);
            atom = self.follows.get(atom as usize).copied().unwrap_or(NONE);
        }
    }
}
