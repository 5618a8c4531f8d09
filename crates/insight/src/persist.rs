//! Persistent fluents: once true they stay true, or once false they stay false, whatever the moves are.
//!
//! The proof is by induction over the `next` rules in three-valued logic. Assume that a fluent holds and that nothing else is
//! known about the state. If its `next` atom must then hold, the fluent holds forever. Moves are legal, so a move whose
//! legality is refuted by the assumptions is not made. If the budget runs out, the fluent does not count as persistent.
//!
//! A fluent can also be blocked: it does not hold, another fluent is persistent, and together this refutes its `next` atom. For
//! example, a cell with a permanent mark of the opponent can never get our mark.
//!
//! In: a ground program. Out: [`Persistence`].
//!
//! - Haufe, Schiffel and Thielscher 2012, Automated Verification of State Sequence Invariants in General Game Playing
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents

use agon_ground::{AtomId, GroundProgram, Truth};

/// Maximum number of literals visited for one proof, for all persistence proofs, and for all blocking proofs.
const MAX_PER_PROOF: u64 = 200_000;
const MAX_PERSISTENCE: u64 = 12_000_000;
const MAX_BLOCKING: u64 = 4_000_000;
/// Chains of rules are followed up to this depth.
const MAX_DEPTH: u32 = 200;

/// Which fluents are persistent, and which fluents block others.
#[derive(Clone, Default, Debug)]
pub struct Persistence {
    stays_true: Vec<bool>,
    stays_false: Vec<bool>,
    /// Per fluent: the fluents that block it, with the value at which they do.
    blockers: Vec<Vec<(u32, bool)>>,
    /// Per fluent: the fluents that it may block.
    blocks: Vec<Vec<u32>>,
}

impl Persistence {
    /// No fluent is known to be persistent.
    #[must_use]
    pub fn none(n_fluents: usize) -> Persistence {
        Persistence {
            stays_true: vec![false; n_fluents],
            stays_false: vec![false; n_fluents],
            blockers: vec![Vec::new(); n_fluents],
            blocks: vec![Vec::new(); n_fluents],
        }
    }

    /// Whether a fluent stays true once it holds.
    #[must_use]
    pub fn stays_true(&self, fluent: u32) -> bool {
        self.stays_true[fluent as usize]
    }

    /// Whether a fluent stays false once it does not hold.
    #[must_use]
    pub fn stays_false(&self, fluent: u32) -> bool {
        self.stays_false[fluent as usize]
    }

    /// The fluents that keep a false fluent false, with the value at which they do.
    #[must_use]
    pub fn blockers(&self, fluent: u32) -> &[(u32, bool)] {
        &self.blockers[fluent as usize]
    }

    /// The fluents that a fluent may block.
    pub(crate) fn blocks(&self, fluent: u32) -> &[u32] {
        &self.blocks[fluent as usize]
    }

    /// Number of pairs of a fluent and its blocker.
    #[must_use]
    pub fn n_blockers(&self) -> usize {
        self.blockers.iter().map(Vec::len).sum()
    }

    /// The same without blockers.
    #[must_use]
    pub fn without_blockers(mut self) -> Persistence {
        self.blockers.iter_mut().for_each(Vec::clear);
        self.blocks.iter_mut().for_each(Vec::clear);
        self
    }
}

/// Finds the persistent fluents.
#[must_use]
pub fn persistence(program: &GroundProgram) -> Persistence {
    let n_fluents = program.fluents.len();
    let mut found = Persistence::none(n_fluents);
    let mut prover = Prover {
        program,
        known: vec![None; program.n_atoms() as usize],
        touched: Vec::new(),
        left: 0,
        left_in_all: MAX_PERSISTENCE,
    };
    for fluent in 0..n_fluents {
        let holds_next = |prover: &mut Prover<'_>, value| {
            prover.assume(&[(fluent as u32, value)]);
            prover.next(fluent)
        };
        found.stays_true[fluent] = holds_next(&mut prover, true) == Some(true);
        found.stays_false[fluent] = holds_next(&mut prover, false) == Some(false);
    }
    prover.left_in_all = MAX_BLOCKING;
    for fluent in 0..n_fluents as u32 {
        if !found.stays_false(fluent) {
            let blockers = prover.blockers(fluent, &found);
            for &(blocker, _) in &blockers {
                found.blocks[blocker as usize].push(fluent);
            }
            found.blockers[fluent as usize] = blockers;
        }
    }
    found
}

/// `None`: not evaluated yet. `Some(None)`: unknown, or in progress. `Some(Some(value))`: proven.
type Known = Option<Option<bool>>;

struct Prover<'a> {
    program: &'a GroundProgram,
    known: Vec<Known>,
    touched: Vec<AtomId>,
    left: u64,
    left_in_all: u64,
}

impl Prover<'_> {
    fn assume(&mut self, fluents: &[(u32, bool)]) {
        for atom in self.touched.drain(..) {
            self.known[atom.0 as usize] = None;
        }
        for &(fluent, value) in fluents {
            self.known[fluent as usize] = Some(Some(value));
            self.touched.push(AtomId(fluent));
        }
        self.left = MAX_PER_PROOF.min(self.left_in_all);
    }

    /// Whether a fluent holds in the next state, if that is proven.
    fn next(&mut self, fluent: usize) -> Option<bool> {
        let before = self.left;
        let holds = self.truth(self.program.fluents[fluent].next, 0);
        self.left_in_all -= before - self.left;
        holds
    }

    fn truth(&mut self, truth: Truth, depth: u32) -> Option<bool> {
        match truth {
            Truth::Never => Some(false),
            Truth::Always => Some(true),
            Truth::Atom(atom) => self.holds(atom, depth),
        }
    }

    fn holds(&mut self, atom: AtomId, depth: u32) -> Option<bool> {
        let at = atom.0 as usize;
        if let Some(known) = self.known[at] {
            return known;
        }
        self.touched.push(atom);
        // An atom that depends on itself counts as unknown, which is always sound.
        self.known[at] = Some(None);
        let holds = if at < self.program.fluents.len() || depth >= MAX_DEPTH {
            None
        } else if self.program.is_derived(atom) {
            self.derived(atom, depth)
        } else {
            let legal = self.legal(atom);
            self.truth(legal, depth + 1).filter(|&is_legal| !is_legal)
        };
        self.known[at] = Some(holds);
        holds
    }

    fn legal(&self, does: AtomId) -> Truth {
        let find = |role: &agon_ground::Role| {
            let first = role.moves.first()?.does.0;
            role.moves.get(does.0.checked_sub(first)? as usize).copied()
        };
        let found = self.program.roles.iter().find_map(find);
        found.map_or(Truth::Never, |mv| mv.legal)
    }

    fn derived(&mut self, atom: AtomId, depth: u32) -> Option<bool> {
        let program = self.program;
        let mut is_open = false;
        for body in program.bodies(atom) {
            let mut holds = Some(true);
            for literal in body {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    return None;
                }
                match self.holds(literal.atom(), depth + 1) {
                    None => holds = None,
                    Some(value) if value == literal.is_negated() => {
                        holds = Some(false);
                        break;
                    }
                    Some(_) => {}
                }
            }
            match holds {
                Some(true) => return Some(true),
                None => is_open = true,
                Some(false) => {}
            }
        }
        if is_open { None } else { Some(false) }
    }

    /// The fluents that keep a fluent false.
    fn blockers(&mut self, fluent: u32, found: &Persistence) -> Vec<(u32, bool)> {
        self.assume(&[(fluent, false)]);
        if self.next(fluent as usize) == Some(true) {
            return Vec::new();
        }
        let n_fluents = self.program.fluents.len() as u32;
        let read = self.touched.iter().map(|atom| atom.0);
        let mut read: Vec<u32> = read
            .filter(|&atom| atom < n_fluents && atom != fluent)
            .collect();
        read.sort_unstable();
        let candidates = read.into_iter().flat_map(|other| {
            let holds = found.stays_true(other).then_some((other, true));
            let fails = found.stays_false(other).then_some((other, false));
            holds.into_iter().chain(fails)
        });
        // More assumptions decide more. A set that refutes nothing contains no blocker; other sets are halved.
        let mut open: Vec<Vec<(u32, bool)>> = vec![candidates.collect()];
        let mut blockers = Vec::new();
        while let Some(mut set) = open.pop() {
            set.push((fluent, false));
            self.assume(&set);
            set.pop();
            if set.is_empty() || self.left == 0 || self.next(fluent as usize) != Some(false) {
                continue;
            }
            if let [only] = set[..] {
                blockers.push(only);
                continue;
            }
            let rest = set.split_off(set.len() / 2);
            open.extend([rest, set]);
        }
        blockers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the fluents that stay true, those that stay false, and the blockers.
    fn check(sheet: &str, expected: [&str; 3]) {
        let sheet = format!("(role r) (goal r 0) (<= terminal (true z)) {sheet}");
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let program = agon_ground::ground(&rules.unwrap(), &Default::default(), &|| false).unwrap();
        let found = persistence(&program);
        let name = |fluent: u32| program.term_text(program.fluents[fluent as usize].term);
        let list = |is_it: &dyn Fn(u32) -> bool| {
            let fluents = 0..program.fluents.len() as u32;
            let mut names: Vec<String> = fluents.filter(|&f| is_it(f)).map(name).collect();
            names.sort_unstable();
            names.join(" ")
        };
        let mut blocked = Vec::new();
        for fluent in 0..program.fluents.len() as u32 {
            for &(other, value) in found.blockers(fluent) {
                let sign = if value { "" } else { "~" };
                blocked.push(format!("{} by {sign}{}", name(fluent), name(other)));
            }
        }
        blocked.sort_unstable();
        let found = [
            list(&|fluent| found.stays_true(fluent)),
            list(&|fluent| found.stays_false(fluent)),
            blocked.join(", "),
        ];
        assert_eq!(found.each_ref().map(String::as_str), expected);
    }

    #[test]
    fn frame_rules_keep_fluents_true_and_fluents_without_a_cause_stay_false() {
        let sheet = "(init b) (<= (legal r put) (true b)) (legal r wait)
            (<= (next x) (true b) (does r put)) (<= (next x) (true x))
            (<= (next b) (true b) (not (does r put)))";
        // Without a blank and without an x there can never be an x.
        check(sheet, ["x", "b", "x by ~b"]);
    }

    #[test]
    fn moves_that_cannot_be_legal_are_ignored() {
        // The only move that takes a stone is legal only where there is no stone.
        let sheet =
            "(init (free 1)) (<= (legal r (take 1)) (not (true (stone 1)))) (legal r (put 1)) 
            (<= (next (stone 1)) (does r (put 1)))
            (<= (next (stone 1)) (true (stone 1)) (not (does r (take 1))))
            (<= (next (free 1)) (does r (take 1)))";
        check(sheet, ["(stone 1)", "", "(free 1) by (stone 1)"]);
    }

    #[test]
    fn fluents_that_alternate_are_not_persistent() {
        let sheet = "(init a) (legal r go) (<= (next b) (true a)) (<= (next a) (true b))";
        check(sheet, ["", "", ""]);
    }

    #[test]
    fn persistent_fluents_block_others() {
        let sheet = "(init a) (<= (legal r (take ?c)) (colour ?c) (not gone)) (legal r wait) (colour red) (colour blue)
            (<= gone (true (cell ?c))) 
            (<= (next (cell ?c)) (does r (take ?c))) (<= (next (cell ?c)) (true (cell ?c)))";
        let blocked = "(cell blue) by (cell red), (cell red) by (cell blue)";
        check(sheet, ["(cell blue) (cell red)", "a", blocked]);
    }
}
