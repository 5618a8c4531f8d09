//! Ground terms. Each term is stored once, so equal terms have equal ids.
//!
//! Joins therefore compare and hash plain numbers, however deep the terms are (hash-consing, as in Ary).
//!
//! - Méhat and Cazenave 2010, Ary, a general game playing program

use std::hash::{BuildHasher, Hasher};

use agon_gdl::{SymbolId, SymbolTable};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A ground term in a [`TermTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TermId(pub u32);

/// The outermost symbol of a term with its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TermView<'a> {
    /// A constant.
    Constant(SymbolId),
    /// A function applied to terms.
    Compound(SymbolId, &'a [TermId]),
}

/// All ground terms of a program.
#[derive(Clone, Default, Debug)]
pub struct TermTable {
    nodes: Vec<Node>,
    args: Vec<TermId>,
    by_value: HashTable<TermId>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    name: SymbolId,
    /// Start of the arguments in `args`, or `CONSTANT` for a constant.
    start: u32,
    end: u32,
    /// Nesting depth of functions: 0 for a constant.
    depth: u32,
}

const CONSTANT: u32 = u32::MAX;

impl TermTable {
    /// The id of a constant.
    pub fn constant(&mut self, name: SymbolId) -> TermId {
        self.intern(TermView::Constant(name))
    }

    /// The id of a compound term.
    pub fn compound(&mut self, name: SymbolId, args: &[TermId]) -> TermId {
        self.intern(TermView::Compound(name, args))
    }

    /// The id of a constant, if it is in the table.
    #[must_use]
    pub fn find_constant(&self, name: SymbolId) -> Option<TermId> {
        self.find(TermView::Constant(name))
    }

    /// The id of a compound term, if it is in the table.
    #[must_use]
    pub fn find_compound(&self, name: SymbolId, args: &[TermId]) -> Option<TermId> {
        self.find(TermView::Compound(name, args))
    }

    /// The outermost symbol and the arguments of a term.
    #[must_use]
    pub fn view(&self, term: TermId) -> TermView<'_> {
        let node = self.nodes[term.0 as usize];
        if node.start == CONSTANT {
            TermView::Constant(node.name)
        } else {
            TermView::Compound(
                node.name,
                &self.args[node.start as usize..node.end as usize],
            )
        }
    }

    /// The nesting depth of functions in a term.
    #[must_use]
    pub fn depth(&self, term: TermId) -> u32 {
        self.nodes[term.0 as usize].depth
    }

    /// Number of terms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Approximate number of bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + 8) + self.args.len() * size_of::<TermId>()
    }

    /// Writes a term in prefix form. It does not recurse, because terms may nest as deep as the limit allows.
    pub fn write(&self, term: TermId, symbols: &SymbolTable, out: &mut String) {
        enum Part {
            Term(TermId),
            Close,
        }
        let mut stack = vec![Part::Term(term)];
        while let Some(part) = stack.pop() {
            match part {
                Part::Close => out.push(')'),
                Part::Term(term) => {
                    if !out.is_empty() && !out.ends_with(['(', ' ', '\n']) {
                        out.push(' ');
                    }
                    match self.view(term) {
                        TermView::Constant(name) => out.push_str(symbols.name(name)),
                        TermView::Compound(name, args) => {
                            out.push('(');
                            out.push_str(symbols.name(name));
                            stack.push(Part::Close);
                            stack.extend(args.iter().rev().map(|&arg| Part::Term(arg)));
                        }
                    }
                }
            }
        }
    }

    /// A term in prefix form.
    #[must_use]
    pub fn text(&self, term: TermId, symbols: &SymbolTable) -> String {
        let mut out = String::new();
        self.write(term, symbols, &mut out);
        out
    }

    fn find(&self, view: TermView<'_>) -> Option<TermId> {
        self.by_value
            .find(hash(view), |&other| self.view(other) == view)
            .copied()
    }

    fn intern(&mut self, view: TermView<'_>) -> TermId {
        if let Some(known) = self.find(view) {
            return known;
        }
        let term = TermId(self.nodes.len() as u32);
        let node = match view {
            TermView::Constant(name) => Node {
                name,
                start: CONSTANT,
                end: CONSTANT,
                depth: 0,
            },
            TermView::Compound(name, args) => {
                let start = self.args.len() as u32;
                let depth = args
                    .iter()
                    .map(|&arg| self.depth(arg))
                    .max()
                    .map_or(1, |depth| depth + 1);
                self.args.extend_from_slice(args);
                Node {
                    name,
                    start,
                    end: self.args.len() as u32,
                    depth,
                }
            }
        };
        self.nodes.push(node);
        let (nodes, args) = (&self.nodes, &self.args);
        let rehash = |&term: &TermId| {
            let node = nodes[term.0 as usize];
            hash(if node.start == CONSTANT {
                TermView::Constant(node.name)
            } else {
                TermView::Compound(node.name, &args[node.start as usize..node.end as usize])
            })
        };
        self.by_value.insert_unique(hash(view), term, rehash);
        term
    }
}

fn hash(view: TermView<'_>) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    match view {
        TermView::Constant(name) => hasher.write_u32(name.0),
        TermView::Compound(name, args) => {
            hasher.write_u32(!name.0);
            args.iter().for_each(|arg| hasher.write_u32(arg.0));
        }
    }
    hasher.finish()
}
