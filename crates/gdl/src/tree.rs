//! The bracket structure of a rulesheet: names and lists, with spans and comments.
//!
//! Both syntaxes are read into this: [`crate::prefix`] directly, [`crate::infix`] by turning `p(X) :- q(X)` into `(<=
//! (p ?X) (q ?X))`. Nodes are stored in one arena and linked by index, so that no operation recurses on the depth of
//! the input and ten megabytes of rules stay cheap.

use crate::source::Span;
use crate::symbol::SymbolId;

/// A node of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(u32);

const NONE: u32 = u32::MAX;

struct Node {
    span: Span,
    /// The name; `NONE` for a list.
    name: u32,
    first_child: u32,
    next_sibling: u32,
}

/// A form at the top level of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub(crate) node: NodeId,
    /// Whether its brackets or words are broken, and a finding says so; such a form is not parsed.
    pub(crate) damaged: bool,
}

/// All forms of a rulesheet, and its comments in order (each without its line end).
#[derive(Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    pub(crate) roots: Vec<Root>,
    pub(crate) comments: Vec<Span>,
}

impl Tree {
    /// An empty tree for a text of `n_bytes` bytes. The capacity is an upper estimate: untouched pages cost nothing,
    /// while growing would copy all nodes several times.
    pub(crate) fn for_text(n_bytes: usize) -> Tree {
        Tree {
            nodes: Vec::with_capacity(n_bytes / 2),
            ..Tree::default()
        }
    }

    /// Adds a name.
    pub(crate) fn push_name(&mut self, name: SymbolId, span: Span) -> NodeId {
        self.push(Node {
            span,
            name: name.0,
            first_child: NONE,
            next_sibling: NONE,
        })
    }

    /// Adds an empty list.
    pub(crate) fn push_list(&mut self, span: Span) -> NodeId {
        self.push(Node {
            span,
            name: NONE,
            first_child: NONE,
            next_sibling: NONE,
        })
    }

    /// Appends `child` to the children of `list`; `last` is the last child so far, kept by the caller.
    pub(crate) fn attach(&mut self, list: NodeId, last: Option<NodeId>, child: NodeId) {
        match last {
            Some(last) => self.nodes[last.0 as usize].next_sibling = child.0,
            None => self.nodes[list.0 as usize].first_child = child.0,
        }
    }

    /// Appends all of `children` to `list`.
    pub(crate) fn attach_all(&mut self, list: NodeId, children: &[NodeId]) {
        let mut last = None;
        for &child in children {
            self.attach(list, last, child);
            last = Some(child);
        }
    }

    /// Sets the end of a list.
    pub(crate) fn set_end(&mut self, list: NodeId, end: u32) {
        self.nodes[list.0 as usize].span.end = end;
    }

    /// The span of a node.
    pub(crate) fn span(&self, node: NodeId) -> Span {
        self.nodes[node.0 as usize].span
    }

    /// The name, or `None` for a list.
    pub(crate) fn name(&self, node: NodeId) -> Option<SymbolId> {
        let name = self.nodes[node.0 as usize].name;
        (name != NONE).then_some(SymbolId(name))
    }

    /// The members of a list in order; empty for a name.
    pub(crate) fn children(&self, list: NodeId) -> impl Iterator<Item = NodeId> + Clone + '_ {
        let link = |idx: u32| (idx != NONE).then_some(NodeId(idx));
        let first = link(self.nodes[list.0 as usize].first_child);
        std::iter::successors(first, move |node| {
            link(self.nodes[node.0 as usize].next_sibling)
        })
    }

    /// The name that a list starts with.
    pub(crate) fn functor(&self, list: NodeId) -> Option<SymbolId> {
        self.children(list)
            .next()
            .and_then(|first| self.name(first))
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }
}

#[cfg(test)]
impl Tree {
    /// All forms in prefix form, one per line; `!` marks the damaged ones.
    pub(crate) fn to_text(&self, symbols: &crate::symbol::SymbolTable) -> String {
        let mut out = String::new();
        for root in &self.roots {
            out.push_str(if root.damaged { "! " } else { "" });
            self.write(root.node, symbols, &mut out);
            out.push('\n');
        }
        out
    }

    fn write(&self, node: NodeId, symbols: &crate::symbol::SymbolTable, out: &mut String) {
        if let Some(name) = self.name(node) {
            out.push_str(symbols.name(name));
            return;
        }
        out.push('(');
        for (idx, child) in self.children(node).enumerate() {
            out.push_str(if idx > 0 { " " } else { "" });
            self.write(child, symbols, out);
        }
        out.push(')');
    }
}
