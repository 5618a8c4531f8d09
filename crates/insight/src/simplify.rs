//! Restricts a regressed goal to a move: the role makes this move and no other one; everything else is unknown.
//!
//! Three-valued logic folds the parts that the move decides, for 64 moves at a time. Each node has one bit per move that says
//! whether it may hold, and one that says whether it must hold. Loops are least solutions for both bits. A formula that may
//! but need not hold gives information about the move.
//!
//! In: a graph of formulas, a role, moves. Out: whether some move has a formula that is not constant; the formula of a move.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents (steps 2 and 3)

use std::ops::Range;

use agon_engine::{MoveId, RoleId};

use crate::formula::{Formula, Formulas, Node};

/// Maximum number of nodes visited before the remaining moves are skipped.
const MAX_WORK: usize = 400_000_000;

/// Whether some move of a role has a formula that is not constant.
#[must_use]
pub fn tells(formulas: &Formulas, roots: &[Formula], role: RoleId, n_moves: usize) -> bool {
    let is_needed = formulas.needed(roots);
    let mut read: Vec<MoveId> = (0..formulas.n_nodes())
        .filter(|&node| is_needed[node])
        .filter_map(|node| match formulas.node(node) {
            Node::Does(who, mv) if who == role => Some(mv),
            _ => None,
        })
        .collect();
    read.sort_unstable();
    // All moves that the formulas do not mention are equivalent.
    let rest: &[MoveId] = &[];
    let others = (read.len() < n_moves).then_some(rest);
    let most_blocks = (MAX_WORK / formulas.n_nodes()).max(1);
    let blocks = others.into_iter().chain(read.chunks(64)).take(most_blocks);
    let mut blocks = blocks.map(|moves| {
        let values = Values::new(formulas, role, moves);
        let lanes = if moves.is_empty() {
            1
        } else {
            u64::MAX >> (64 - moves.len())
        };
        let is_open = |&root: &Formula| values.may(root) & !values.must(root) & lanes != 0;
        roots.iter().any(is_open)
    });
    blocks.any(|is_open| is_open)
}

/// The formula of a move: the remaining graph when the role makes it, and its root.
#[must_use]
pub fn restrict(
    formulas: &Formulas,
    root: Formula,
    role: RoleId,
    mv: MoveId,
) -> (Formulas, Formula) {
    let values = Values::new(formulas, role, &[mv]);
    let mut restriction = Restriction {
        from: formulas,
        values: &values,
        to: Formulas::new(),
        places: vec![Formula::FALSE; formulas.n_nodes()],
        role,
        is_needed: formulas.needed(&[root]),
        parts: Vec::new(),
    };
    let root = restriction.run(root);
    (restriction.to, root)
}

/// What is known about each node if the role makes one of 64 moves.
struct Values {
    may: Vec<u64>,
    must: Vec<u64>,
}

impl Values {
    /// One lane per move, in order. In the remaining lanes the role makes no mentioned move.
    fn new(formulas: &Formulas, role: RoleId, moves: &[MoveId]) -> Values {
        let n_nodes = formulas.n_nodes();
        let mut values = Values {
            may: vec![0; n_nodes],
            must: vec![0; n_nodes],
        };
        let mut node = 0;
        for group in formulas.groups() {
            values.pass(formulas, node..group.nodes.start, role, moves);
            // Least solution: start with nothing true.
            let mut is_stable = false;
            while !is_stable {
                is_stable = true;
                values.pass(formulas, group.nodes.clone(), role, moves);
                for entry in &formulas.loops()[group.loops.clone()] {
                    let (may, must) = (values.may(entry.definition), values.must(entry.definition));
                    let at = entry.node as usize;
                    is_stable &= (values.may[at], values.must[at]) == (may, must);
                    (values.may[at], values.must[at]) = (may, must);
                }
            }
            node = group.nodes.end;
        }
        values.pass(formulas, node..n_nodes, role, moves);
        values
    }

    fn pass(&mut self, formulas: &Formulas, nodes: Range<usize>, role: RoleId, moves: &[MoveId]) {
        for node in nodes {
            let (may, must) = match formulas.node(node) {
                Node::True => (u64::MAX, u64::MAX),
                Node::Loop(_) => continue,
                Node::Does(who, mv) if who == role => {
                    let lane = moves.binary_search(&mv);
                    let bit = lane.map_or(0, |lane| 1_u64 << lane);
                    (bit, bit)
                }
                Node::Unknown | Node::Fluent(_) | Node::Does(..) => (u64::MAX, 0),
                Node::And(parts) => parts.iter().fold((u64::MAX, u64::MAX), |all, &part| {
                    (all.0 & self.may(part), all.1 & self.must(part))
                }),
                Node::Or(parts) => parts.iter().fold((0, 0), |all, &part| {
                    (all.0 | self.may(part), all.1 | self.must(part))
                }),
            };
            (self.may[node], self.must[node]) = (may, must);
        }
    }

    fn may(&self, formula: Formula) -> u64 {
        if formula.is_negated() {
            !self.must[formula.node()]
        } else {
            self.may[formula.node()]
        }
    }

    fn must(&self, formula: Formula) -> u64 {
        if formula.is_negated() {
            !self.may[formula.node()]
        } else {
            self.must[formula.node()]
        }
    }

    /// The value of a node under the first move, if it is constant.
    fn constant(&self, node: usize) -> Option<bool> {
        match (self.may[node] & 1, self.must[node] & 1) {
            (0, _) => Some(false),
            (_, 1) => Some(true),
            _ => None,
        }
    }
}

struct Restriction<'a> {
    from: &'a Formulas,
    values: &'a Values,
    to: Formulas,
    /// Per node: its formula in the new graph.
    places: Vec<Formula>,
    role: RoleId,
    is_needed: Vec<bool>,
    parts: Vec<Formula>,
}

impl Restriction<'_> {
    fn run(&mut self, root: Formula) -> Formula {
        let mut node = 0;
        for group in self.from.groups() {
            self.pass(node..group.nodes.start);
            let open: Vec<_> = self.from.loops()[group.loops.clone()]
                .iter()
                .filter(|entry| self.is_open(entry.node as usize))
                .collect();
            let atoms: Vec<_> = open.iter().map(|entry| entry.atom).collect();
            let loops = if atoms.is_empty() {
                Vec::new()
            } else {
                self.to.open(&atoms)
            };
            for (entry, formula) in open.iter().zip(loops) {
                self.places[entry.node as usize] = formula;
            }
            self.pass(group.nodes.clone());
            let definitions: Vec<Formula> = open
                .iter()
                .map(|entry| self.carried(entry.definition))
                .collect();
            if !definitions.is_empty() {
                self.to.close(&definitions);
            }
            node = group.nodes.end;
        }
        self.pass(node..self.from.n_nodes());
        self.carried(root)
    }

    fn is_open(&self, node: usize) -> bool {
        self.is_needed[node] && self.values.constant(node).is_none()
    }

    fn pass(&mut self, nodes: Range<usize>) {
        let from = self.from;
        for node in nodes {
            if !self.is_needed[node] {
                continue;
            }
            if let Some(truth) = self.values.constant(node) {
                self.places[node] = Formula::FALSE.negated_if(truth);
                continue;
            }
            let mut parts = std::mem::take(&mut self.parts);
            self.places[node] = match from.node(node) {
                Node::Loop(_) => self.places[node],
                Node::Fluent(fluent) => self.to.fluent(fluent),
                Node::Does(who, _) if who != self.role => Formula::UNKNOWN,
                Node::And(inner) => {
                    parts.extend(inner.iter().map(|&part| self.carried(part)));
                    self.to.and(&mut parts)
                }
                Node::Or(inner) => {
                    parts.extend(inner.iter().map(|&part| self.carried(part)));
                    self.to.or(&mut parts)
                }
                Node::True | Node::Unknown | Node::Does(..) => Formula::UNKNOWN,
            };
            self.parts = parts;
        }
    }

    fn carried(&self, formula: Formula) -> Formula {
        self.places[formula.node()].negated_if(formula.is_negated())
    }
}
