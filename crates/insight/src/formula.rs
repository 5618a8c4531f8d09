//! Formulas as a graph in which equal parts are stored once.
//!
//! A formula is a node or its negation. Nodes are fluents, moves, conjunctions and disjunctions of any width, and loops:
//! atoms that depend on each other in a circle within one state, each with a definition in which it may occur. What is equal
//! has one number, constants are folded when a node is made, and a node comes after all that it is made of, but for
//! loops, whose definitions come after them. So every pass over a graph is a walk in the order of the numbers.
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
    /// What always holds.
    pub const TRUE: Formula = Formula(0);
    /// What never holds.
    pub const FALSE: Formula = Formula(1);
    /// What nobody knows; its negation is not known either.
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

    /// Its negation if asked for.
    #[must_use]
    pub fn negated_if(self, is_negated: bool) -> Formula {
        if is_negated { !self } else { self }
    }

    /// Its truth, if it is the same everywhere.
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

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node<'a> {
    /// It holds.
    True,
    /// Nobody knows.
    Unknown,
    /// The fluent of this number holds.
    Fluent(u32),
    /// The role makes the move.
    Does(RoleId, MoveId),
    /// All of these hold.
    And(&'a [Formula]),
    /// One of these holds.
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
    /// When it holds, in terms of the loops of its group among others; the least solution is meant.
    pub definition: Formula,
}

/// Loops that depend on each other, and the nodes that were made for them.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its loops.
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
    /// Fluent, role, loop, or where its parts begin.
    first: u32,
    /// Move, or where its parts end.
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
    /// A graph with constants only.
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

    /// What a node is.
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
    pub fn does(&mut self, role: RoleId, of: MoveId) -> Formula {
        self.intern(Kind::Does, u32::from(role.0), of.0)
    }

    /// All of these hold. The list is used up.
    pub fn and(&mut self, parts: &mut Vec<Formula>) -> Formula {
        self.gate(Kind::And, parts)
    }

    /// One of these holds. The list is used up.
    pub fn or(&mut self, parts: &mut Vec<Formula>) -> Formula {
        self.gate(Kind::Or, parts)
    }

    /// New loops for atoms that depend on each other; [`Formulas::close`] says what they are.
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
        // A formula and its negation stand side by side; those of what is not known are the same.
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

    /// Marks the nodes that these formulas are made of.
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
    let slice = |of: Record| &parts[of.first as usize..of.second as usize];
    one.kind == other.kind
        && match one.kind {
            Kind::And | Kind::Or => slice(one) == slice(other),
            _ => (one.first, one.second) == (other.first, other.second),
        }
}

/// Writes formulas in infix form.
///
/// Small formulas are written out. In large ones, what is used more than once gets a name, and the names are explained in
/// lines of their own; so are loops, by the name of their atom.
pub struct Writer<'a> {
    /// The graph.
    pub formulas: &'a Formulas,
    /// How a fluent, a move or the atom of a loop is written.
    pub leaf: &'a dyn Fn(Node<'_>) -> String,
    /// Most lines.
    pub most_lines: usize,
}

/// Formulas of so many leaves are written out whatever they share.
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
                    let of = Formula::new(node);
                    let mut name = String::new();
                    self.write(of, &names, &mut name);
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

    /// Leaves of a formula when it is written out.
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

    /// Numbers for gates that are used more than once; 0 for others.
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

    /// Gates nest as deep as the rules do, which is deeper than any stack: this walk has its own.
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

    /// The parts of a gate, those of parts of the same kind among them unless they have a name.
    fn flat(&self, parts: &[Formula], of: Node<'_>, names: &[u32]) -> Vec<Formula> {
        let mut flat = Vec::new();
        let mut open: Vec<Formula> = parts.iter().rev().copied().collect();
        while let Some(part) = open.pop() {
            let is_inlined = !part.is_negated() && names[part.node()] == 0;
            match (of, self.formulas.node(part.node())) {
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
            Node::Does(role, of) => format!("does({},{})", role.0, of.0),
            Node::Loop(at) => format!("loop{at}"),
            _ => unreachable!("only leaves are asked for"),
        };
        Writer {
            formulas,
            leaf: &leaf,
            most_lines: 100,
        }
        .text(root)
    }

    #[test]
    fn equal_parts_are_one_and_constants_fold() {
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
    fn large_formulas_name_what_they_share() {
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
    fn loops_are_explained() {
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
