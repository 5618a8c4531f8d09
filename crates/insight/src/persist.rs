//! Persistent fluents: those that once true stay true, or once false stay false, whatever anybody does.
//!
//! Proven by induction over the `next` rules, with three values: if a fluent holds and nothing else is known of the state, and
//! its `next` atom must hold, it holds for ever. Of moves it is known that they are legal: one whose legality is refuted
//! by what is assumed is not made. What cannot be decided within the budget is not claimed.
//!
//! A fluent can also be blocked: it does not hold, another one has come to stay, and together that refutes its `next` atom.
//! A cell that is marked by the opponent, and will be for ever, is never going to be mine.
//!
//! In: a ground program. Out: [`Persistence`].
//!
//! - Haufe, Schiffel and Thielscher 2012, Automated Verification of State Sequence Invariants in General Game Playing
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents

use agon_ground::{AtomId, GroundProgram, Truth};

/// Literals looked at for one question, for all questions about persistence, and for all about what blocks.
const MOST_PER_QUESTION: u64 = 200_000;
const MOST: u64 = 12_000_000;
const MOST_BLOCKING: u64 = 4_000_000;
/// Rules that chain deeper are not followed.
const MOST_DEPTH: u32 = 200;

/// What stays as it is.
#[derive(Clone, Default, Debug)]
pub struct Persistence {
    stays_true: Vec<bool>,
    stays_false: Vec<bool>,
    /// Per fluent: fluents with the values at which they block it.
    blockers: Vec<Vec<(u32, bool)>>,
    /// Per fluent: those that it may block.
    blocks: Vec<Vec<u32>>,
}

impl Persistence {
    /// Nothing is known.
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

    /// Fluents with the values at which they keep a fluent false that is false.
    #[must_use]
    pub fn blockers(&self, fluent: u32) -> &[(u32, bool)] {
        &self.blockers[fluent as usize]
    }

    /// The fluents that a fluent may block.
    pub(crate) fn blocks(&self, fluent: u32) -> &[u32] {
        &self.blocks[fluent as usize]
    }

    /// Number of pairs of a fluent and one that blocks it.
    #[must_use]
    pub fn n_blockers(&self) -> usize {
        self.blockers.iter().map(Vec::len).sum()
    }

    /// The same without what blocks.
    #[must_use]
    pub fn without_blockers(mut self) -> Persistence {
        self.blockers.iter_mut().for_each(Vec::clear);
        self.blocks.iter_mut().for_each(Vec::clear);
        self
    }
}

/// Finds what is persistent.
#[must_use]
pub fn persistence(program: &GroundProgram) -> Persistence {
    let n_fluents = program.fluents.len();
    let mut found = Persistence::none(n_fluents);
    let mut prover = Prover {
        program,
        known: vec![None; program.n_atoms() as usize],
        touched: Vec::new(),
        left: 0,
        left_in_all: MOST,
    };
    for fluent in 0..n_fluents {
        let holds_next = |prover: &mut Prover<'_>, value| {
            prover.assume(&[(fluent as u32, value)]);
            prover.next(fluent)
        };
        found.stays_true[fluent] = holds_next(&mut prover, true) == Some(true);
        found.stays_false[fluent] = holds_next(&mut prover, false) == Some(false);
    }
    prover.left_in_all = MOST_BLOCKING;
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

/// What is known of an atom; open ones are being worked at.
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
        self.left = MOST_PER_QUESTION.min(self.left_in_all);
    }

    /// Whether a fluent holds in the next state, if that is certain.
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
        // What needs itself is not known; that is never wrong.
        self.known[at] = Some(None);
        let holds = if at < self.program.fluents.len() || depth >= MOST_DEPTH {
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
        let of = |role: &agon_ground::Role| {
            let first = role.moves.first()?.does.0;
            role.moves.get(does.0.checked_sub(first)? as usize).copied()
        };
        let found = self.program.roles.iter().find_map(of);
        found.map_or(Truth::Never, |of| of.legal)
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

    /// What keeps a fluent false.
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
        // More assumptions decide more: a set that refutes nothing has no blocker in it, others are halved.
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

    /// The fluents that stay true, those that stay false, and what blocks.
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
    fn what_frames_alone_keep_stays_true_and_what_nothing_makes_stays_false() {
        let sheet = "(init b) (<= (legal r put) (true b)) (legal r wait)
            (<= (next x) (true b) (does r put)) (<= (next x) (true x))
            (<= (next b) (true b) (not (does r put)))";
        // Once the blank is gone and there is no x, there never will be one.
        check(sheet, ["x", "b", "x by ~b"]);
    }

    #[test]
    fn moves_that_cannot_be_legal_are_not_made() {
        // A stone could be taken by a move that is legal only where there is none.
        let sheet =
            "(init (free 1)) (<= (legal r (take 1)) (not (true (stone 1)))) (legal r (put 1)) 
            (<= (next (stone 1)) (does r (put 1)))
            (<= (next (stone 1)) (true (stone 1)) (not (does r (take 1))))
            (<= (next (free 1)) (does r (take 1)))";
        check(sheet, ["(stone 1)", "", "(free 1) by (stone 1)"]);
    }

    #[test]
    fn what_comes_and_goes_is_neither() {
        let sheet = "(init a) (legal r go) (<= (next b) (true a)) (<= (next a) (true b))";
        check(sheet, ["", "", ""]);
    }

    #[test]
    fn others_may_block_for_ever() {
        let sheet = "(init a) (<= (legal r (take ?c)) (colour ?c) (not gone)) (legal r wait) (colour red) (colour blue)
            (<= gone (true (cell ?c))) 
            (<= (next (cell ?c)) (does r (take ?c))) (<= (next (cell ?c)) (true (cell ?c)))";
        let blocked = "(cell blue) by (cell red), (cell red) by (cell blue)";
        check(sheet, ["(cell blue) (cell red)", "a", blocked]);
    }
}
