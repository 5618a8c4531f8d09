//! A graph of formulas in which equal parts are stored once (hash-consing).
//!
//! A formula is a node or its negation. Nodes are fluents, moves, conjunctions and disjunctions of any width, and loops: atoms
//! that depend on each other cyclically within one state, each with a definition. Equal nodes have the same number. Constants
//! are folded when a node is created. A node comes after its parts, except that the definition of a loop comes after the loop.
//! Every pass over a graph can therefore visit the nodes in the order of their numbers.
//!
//! In: parts. Out: formulas, and their text in infix form.

use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher};
use std::ops::{Not, Range};

use agon_engine::{MoveId, RoleId};
use agon_ground::AtomId;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A node of a graph of formulas, or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Formula(u32);

impl Formula {
    /// The formula that always holds.
    pub const TRUE: Formula = Formula(0);
    /// The formula that never holds.
    pub const FALSE: Formula = Formula(1);
    /// The formula with unknown value, which is its own negation.
    pub const UNKNOWN: Formula = Formula(2);

    pub(crate) fn new(node: usize) -> Formula {
        Formula(node as u32 * 2)
    }

    /// The number of the node.
    #[must_use]
    pub fn node(self) -> usize {
        self.0 as usize / 2
    }

    /// Whether it is the negation of its node.
    #[must_use]
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The formula, negated if `is_negated`.
    #[must_use]
    pub fn negated_if(self, is_negated: bool) -> Formula {
        if is_negated { !self } else { self }
    }

    /// Its value, if it is constant.
    #[must_use]
    pub fn constant(self) -> Option<bool> {
        match self {
            Formula::TRUE => Some(true),
            Formula::FALSE => Some(false),
            _ => None,
        }
    }
}

impl Not for Formula {
    type Output = Formula;

    fn not(self) -> Formula {
        if self == Formula::UNKNOWN {
            self
        } else {
            Formula(self.0 ^ 1)
        }
    }
}

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node<'a> {
    /// The constant true.
    True,
    /// The constant unknown.
    Unknown,
    /// The fluent of this number holds.
    Fluent(u32),
    /// The role makes the move.
    Does(RoleId, MoveId),
    /// The conjunction of these formulas.
    And(&'a [Formula]),
    /// The disjunction of these formulas.
    Or(&'a [Formula]),
    /// The loop of this number.
    Loop(u32),
}

/// An atom that depends on itself within one state.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The atom of the ground program.
    pub atom: AtomId,
    /// Its node.
    pub node: u32,
    /// The definition, which may contain the loops of its group. The least solution is meant.
    pub definition: Formula,
}

/// Loops that depend on each other, and the nodes of their definitions.
#[derive(Clone, Debug)]
pub struct Group {
    /// The loops of the group.
    pub loops: Range<usize>,
    /// All nodes from the first loop to the last part of a definition.
    pub nodes: Range<usize>,
}

/// A graph of formulas.
#[derive(Clone, Default)]
pub struct Formulas {
    nodes: Vec<Record>,
    parts: Vec<Formula>,
    table: HashTable<u32>,
    loops: Vec<Loop>,
    groups: Vec<Group>,
}

#[derive(Clone, Copy)]
struct Record {
    kind: Kind,
    /// Fluent, role, loop, or the start of its parts.
    first: u32,
    /// Move, or the end of its parts.
    second: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    True,
    Unknown,
    Fluent,
    Does,
    And,
    Or,
    Loop,
}

impl Formulas {
    /// A graph with only the constants.
    #[must_use]
    pub fn new() -> Formulas {
        let constant = |kind| Record {
            kind,
            first: 0,
            second: 0,
        };
        Formulas {
            nodes: vec![constant(Kind::True), constant(Kind::Unknown)],
            ..Formulas::default()
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Number of parts of all conjunctions and disjunctions.
    #[must_use]
    pub fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// The kind of a node.
    #[must_use]
    pub fn node(&self, node: usize) -> Node<'_> {
        let record = self.nodes[node];
        let parts = || &self.parts[record.first as usize..record.second as usize];
        match record.kind {
            Kind::True => Node::True,
            Kind::Unknown => Node::Unknown,
            Kind::Fluent => Node::Fluent(record.first),
            Kind::Does => Node::Does(RoleId(record.first as u16), MoveId(record.second)),
            Kind::And => Node::And(parts()),
            Kind::Or => Node::Or(parts()),
            Kind::Loop => Node::Loop(record.first),
        }
    }

    /// All loops.
    #[must_use]
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The groups of loops, in order of their nodes.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The fluent of this number holds.
    pub fn fluent(&mut self, fluent: u32) -> Formula {
        self.intern(Kind::Fluent, fluent, 0)
    }

    /// The role makes the move.
    pub fn does(&mut self, role: RoleId, mv: MoveId) -> Formula {
        self.intern(Kind::Does, u32::from(role.0), mv.0)
    }

    /// The conjunction of these formulas. Clears the list.
    pub fn and(&mut self, parts: &mut Vec<Formula>) -> Formula {
        self.gate(Kind::And, parts)
    }

    /// The disjunction of these formulas. Clears the list.
    pub fn or(&mut self, parts: &mut Vec<Formula>) -> Formula {
        self.gate(Kind::Or, parts)
    }

    /// Creates loops for atoms that depend on each other. [`Formulas::close`] defines them.
    pub fn open(&mut self, atoms: &[AtomId]) -> Vec<Formula> {
        let first_node = self.nodes.len();
        let first_loop = self.loops.len();
        for (idx, &atom) in atoms.iter().enumerate() {
            self.loops.push(Loop {
                atom,
                node: (first_node + idx) as u32,
                definition: Formula::FALSE,
            });
            self.nodes.push(Record {
                kind: Kind::Loop,
                first: (first_loop + idx) as u32,
                second: 0,
            });
        }
        self.groups.push(Group {
            loops: first_loop..self.loops.len(),
            nodes: first_node..first_node,
        });
        (first_node..self.nodes.len()).map(Formula::new).collect()
    }

    /// Defines the loops that were opened last.
    pub fn close(&mut self, definitions: &[Formula]) {
        let n_nodes = self.nodes.len();
        let group = self.groups.last_mut().expect("a group was opened");
        group.nodes.end = n_nodes;
        for (at, &definition) in group.loops.clone().zip(definitions) {
            self.loops[at].definition = definition;
        }
    }

    fn gate(&mut self, kind: Kind, parts: &mut Vec<Formula>) -> Formula {
        let neutral = if kind == Kind::And {
            Formula::TRUE
        } else {
            Formula::FALSE
        };
        parts.sort_unstable();
        parts.dedup();
        // After sorting, a formula and its negation are adjacent. The negation of unknown is unknown.
        let is_settled = parts.contains(&!neutral)
            || parts
                .windows(2)
                .any(|pair| pair[0].node() == pair[1].node() && pair[0].node() > 0);
        if is_settled {
            parts.clear();
            return !neutral;
        }
        parts.retain(|&part| part != neutral);
        let formula = match parts[..] {
            [] => neutral,
            [only] => only,
            _ => self.intern_gate(kind, parts),
        };
        parts.clear();
        formula
    }

    fn intern_gate(&mut self, kind: Kind, parts: &[Formula]) -> Formula {
        let start = self.parts.len();
        self.parts.extend_from_slice(parts);
        let n_nodes = self.nodes.len();
        let formula = self.intern(kind, start as u32, self.parts.len() as u32);
        if formula.node() < n_nodes {
            self.parts.truncate(start);
        }
        formula
    }

    fn intern(&mut self, kind: Kind, first: u32, second: u32) -> Formula {
        let record = Record {
            kind,
            first,
            second,
        };
        let (nodes, parts) = (&self.nodes, &self.parts);
        let hash = hash(record, parts);
        let is_it = |&node: &u32| is_same(nodes[node as usize], record, parts);
        if let Some(&known) = self.table.find(hash, is_it) {
            return Formula::new(known as usize);
        }
        let rehash = |&node: &u32| self::hash(nodes[node as usize], parts);
        self.table
            .insert_unique(hash, self.nodes.len() as u32, rehash);
        self.nodes.push(record);
        Formula::new(self.nodes.len() - 1)
    }

    /// Marks the nodes that these formulas consist of.
    #[must_use]
    pub fn needed(&self, roots: &[Formula]) -> Vec<bool> {
        let mut is_needed = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = roots.iter().map(|root| root.node()).collect();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut is_needed[node], true) {
                continue;
            }
            match self.node(node) {
                Node::And(parts) | Node::Or(parts) => {
                    let parts = parts.iter().map(|part| part.node());
                    open.extend(parts.filter(|&part| !is_needed[part]));
                }
                Node::Loop(at) => open.push(self.loops[at as usize].definition.node()),
                _ => {}
            }
        }
        is_needed
    }
}

fn hash(record: Record, parts: &[Formula]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write_u32(record.kind as u32);
    if matches!(record.kind, Kind::And | Kind::Or) {
        let parts = &parts[record.first as usize..record.second as usize];
        parts.iter().for_each(|part| hasher.write_u32(part.0));
    } else {
        hasher.write_u32(record.first);
        hasher.write_u32(record.second);
    }
    hasher.finish()
}

fn is_same(one: Record, other: Record, parts: &[Formula]) -> bool {
    let slice = |record: Record| &parts[record.first as usize..record.second as usize];
    one.kind == other.kind
        && match one.kind {
            Kind::And | Kind::Or => slice(one) == slice(other),
            _ => (one.first, one.second) == (other.first, other.second),
        }
}

/// Writes formulas in infix form.
///
/// Small formulas are written in full. In large ones, parts that are used more than once get a name, which is defined on a
/// separate line. Loops are defined in the same way, under the name of their atom.
pub struct Writer<'a> {
    /// The graph.
    pub formulas: &'a Formulas,
    /// The text of a fluent, a move or the atom of a loop.
    pub leaf: &'a dyn Fn(Node<'_>) -> String,
    /// Maximum number of lines.
    pub most_lines: usize,
}

/// Formulas with up to this number of leaves are written in full.
const SMALL: u64 = 60;

impl Writer<'_> {
    /// The text of a formula.
    #[must_use]
    pub fn text(&self, root: Formula) -> String {
        let is_needed = self.formulas.needed(&[root]);
        let names = if self.size(root) <= SMALL {
            vec![0; self.formulas.n_nodes()]
        } else {
            self.names(root, &is_needed)
        };
        let mut out = String::new();
        self.write(root, &names, &mut out);
        let mut n_lines = 1;
        for (node, _) in is_needed.iter().enumerate().filter(|&(_, &is)| is) {
            let (name, definition) = match self.formulas.node(node) {
                Node::Loop(at) => {
                    let mut name = String::new();
                    self.write(Formula::new(node), &names, &mut name);
                    (name, self.formulas.loops[at as usize].definition)
                }
                _ if names[node] > 0 => (format!("#{}", names[node]), Formula::new(node)),
                _ => continue,
            };
            n_lines += 1;
            if n_lines > self.most_lines {
                out.push_str("\n…");
                break;
            }
            let _ = write!(out, "\nwhere {name} = ");
            self.write_definition(definition, &names, &mut out);
        }
        out
    }

    /// Number of leaves of a formula that is written in full.
    fn size(&self, root: Formula) -> u64 {
        let mut sizes = vec![1_u64; self.formulas.n_nodes()];
        for node in 0..=root.node() {
            if let Node::And(parts) | Node::Or(parts) = self.formulas.node(node) {
                let parts = parts.iter().map(|part| sizes[part.node()]);
                sizes[node] = parts.fold(0, u64::saturating_add);
            }
        }
        sizes[root.node()]
    }

    /// Numbers for gates that are used more than once, 0 for all others.
    fn names(&self, root: Formula, is_needed: &[bool]) -> Vec<u32> {
        let mut uses = vec![0_u32; self.formulas.n_nodes()];
        for (node, _) in is_needed.iter().enumerate().filter(|&(_, &is)| is) {
            match self.formulas.node(node) {
                Node::And(parts) | Node::Or(parts) => {
                    parts.iter().for_each(|part| uses[part.node()] += 1);
                }
                Node::Loop(at) => {
                    uses[self.formulas.loops[at as usize].definition.node()] += 1;
                }
                _ => {}
            }
        }
        let mut n_names = 0;
        for (node, uses) in uses.iter_mut().enumerate() {
            let is_gate = matches!(self.formulas.node(node), Node::And(_) | Node::Or(_));
            let is_named = is_gate && *uses > 1 && node != root.node();
            n_names += u32::from(is_named);
            *uses = if is_named { n_names } else { 0 };
        }
        uses
    }

    fn write(&self, formula: Formula, names: &[u32], out: &mut String) {
        let name = names[formula.node()];
        if name == 0 {
            return self.write_definition(formula, names, out);
        }
        let sign = if formula.is_negated() { "¬" } else { "" };
        let _ = write!(out, "{sign}#{name}");
    }

    /// Gates nest as deeply as the rules, which may be too deep for recursion, so this walk has an explicit stack.
    fn write_definition(&self, formula: Formula, names: &[u32], out: &mut String) {
        enum Step<'a> {
            Formula(Formula, bool),
            Text(&'a str),
        }
        let mut steps = vec![Step::Formula(formula, true)];
        while let Some(step) = steps.pop() {
            let (formula, is_top) = match step {
                Step::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Step::Formula(formula, is_top) => (formula, is_top),
            };
            if !is_top && names[formula.node()] > 0 {
                let sign = if formula.is_negated() { "¬" } else { "" };
                let _ = write!(out, "{sign}#{}", names[formula.node()]);
                continue;
            }
            if let Some(truth) = formula.constant() {
                out.push_str(if truth { "true" } else { "false" });
                continue;
            }
            if formula.is_negated() {
                out.push('¬');
            }
            let node = self.formulas.node(formula.node());
            let (parts, sign) = match node {
                Node::And(parts) => (parts, " ∧ "),
                Node::Or(parts) => (parts, " ∨ "),
                Node::Unknown => {
                    out.push_str("unknown");
                    continue;
                }
                leaf => {
                    out.push_str(&(self.leaf)(leaf));
                    continue;
                }
            };
            let has_brackets = !is_top || formula.is_negated();
            if has_brackets {
                out.push('(');
                steps.push(Step::Text(")"));
            }
            let parts = self.flat(parts, node, names);
            for (idx, &part) in parts.iter().enumerate().rev() {
                steps.push(Step::Formula(part, false));
                if idx > 0 {
                    steps.push(Step::Text(sign));
                }
            }
        }
    }

    /// The parts of a gate. Parts of the same kind are flattened, unless they have a name.
    fn flat(&self, parts: &[Formula], gate: Node<'_>, names: &[u32]) -> Vec<Formula> {
        let mut flat = Vec::new();
        let mut open: Vec<Formula> = parts.iter().rev().copied().collect();
        while let Some(part) = open.pop() {
            let is_inlined = !part.is_negated() && names[part.node()] == 0;
            match (gate, self.formulas.node(part.node())) {
                (Node::And(_), Node::And(inner)) | (Node::Or(_), Node::Or(inner)) if is_inlined => {
                    open.extend(inner.iter().rev());
                }
                _ => flat.push(part),
            }
        }
        flat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(formulas: &Formulas, root: Formula) -> String {
        let leaf = |node: Node<'_>| match node {
            Node::Fluent(fluent) => format!("f{fluent}"),
            Node::Does(role, mv) => format!("does({},{})", role.0, mv.0),
            Node::Loop(at) => format!("loop{at}"),
            _ => unreachable!("only leaves have text"),
        };
        Writer {
            formulas,
            leaf: &leaf,
            most_lines: 100,
        }
        .text(root)
    }

    #[test]
    fn equal_parts_are_shared_and_constants_fold() {
        let mut formulas = Formulas::new();
        let (a, b) = (formulas.fluent(0), formulas.fluent(1));
        let one = formulas.and(&mut vec![a, b, Formula::TRUE]);
        let other = formulas.and(&mut vec![b, a, b]);
        assert_eq!(one, other);
        assert_eq!(formulas.and(&mut vec![a, Formula::FALSE]), Formula::FALSE);
        assert_eq!(formulas.or(&mut vec![a, !a]), Formula::TRUE);
        assert_eq!(formulas.and(&mut vec![a, b, !a]), Formula::FALSE);
        assert_eq!(formulas.or(&mut vec![]), Formula::FALSE);
        assert_eq!(!Formula::UNKNOWN, Formula::UNKNOWN);
        let unknown = formulas.or(&mut vec![Formula::UNKNOWN, !Formula::UNKNOWN]);
        assert_eq!(unknown, Formula::UNKNOWN);
    }

    #[test]
    fn formulas_are_written_flat_and_with_brackets() {
        let mut formulas = Formulas::new();
        let (a, b, c) = (formulas.fluent(0), formulas.fluent(1), formulas.fluent(2));
        let does = formulas.does(RoleId(1), MoveId(7));
        let both = formulas.and(&mut vec![a, !b]);
        let all = formulas.and(&mut vec![both, c]);
        let root = formulas.or(&mut vec![all, !both, does]);
        let expected = "(f0 ∧ ¬f1 ∧ f2)";
        let written = text(&formulas, root);
        assert!(written.contains("does(1,7)") && written.contains("¬(f0 ∧ ¬f1)"));
        assert!(written.contains("f2") && written.len() >= expected.len());
        assert_eq!(text(&formulas, !a), "¬f0");
        assert_eq!(text(&formulas, Formula::FALSE), "false");
    }

    #[test]
    fn large_formulas_name_shared_parts() {
        let mut formulas = Formulas::new();
        let fluents: Vec<Formula> = (0..100).map(|n| formulas.fluent(n)).collect();
        let shared = formulas.and(&mut fluents[..30].to_vec());
        let one = formulas.or(&mut vec![shared, fluents[40]]);
        let other = formulas.or(&mut vec![shared, fluents[41]]);
        let root = formulas.and(&mut vec![one, other, fluents[50]]);
        let written = text(&formulas, root);
        assert!(written.contains("(f40 ∨ #1)") || written.contains("(#1 ∨ f40)"));
        assert!(written.contains("\nwhere #1 = f0 ∧ f1 ∧ "), "{written}");
    }

    #[test]
    fn loops_are_defined_on_separate_lines() {
        let mut formulas = Formulas::new();
        let a = formulas.fluent(0);
        let loops = formulas.open(&[AtomId(5), AtomId(6)]);
        let first = formulas.or(&mut vec![a, loops[1]]);
        let second = formulas.and(&mut vec![loops[0], a]);
        formulas.close(&[first, second]);
        let written = text(&formulas, loops[0]);
        assert_eq!(
            written,
            "loop0\nwhere loop0 = f0 ∨ loop1\nwhere loop1 = f0 ∧ loop0"
        );
    }
}
