//! Attachment of comments: before a form, after it, or before a closing bracket.
//!
//! A comment on the line of a node is attached after it; any other comment is attached before the node that follows.
//! Two rules make this canonical, so that the formatter may break lines freely and gets the same result on its own
//! output: a comment after the last member of a list is attached after the list (its bracket closes before the
//! comment), and a comment before the first member is attached before the list.
//!
//! In: a tree and its comments. Out: the comments of each node that has any. The order of comments never changes.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::read::Syntax;
use crate::source::{Source, Span};
use crate::symbol::Keyword;
use crate::tree::{NodeId, Tree};

/// The comments of a tree by node.
#[derive(Default)]
pub(crate) struct Comments {
    leading: FxHashMap<NodeId, Vec<Span>>,
    trailing: FxHashMap<NodeId, Span>,
    dangling: FxHashMap<NodeId, Vec<Span>>,
    broken: FxHashSet<NodeId>,
    /// Comments after the last form, on their own lines.
    pub(crate) last: Vec<Span>,
}

impl Comments {
    /// Attaches every comment.
    pub(crate) fn place(source: &Source, tree: &Tree, syntax: Syntax) -> Comments {
        let mut placing = Placing {
            source,
            tree,
            syntax,
            next: 0,
            placed: Comments::default(),
        };
        let roots: Vec<NodeId> = tree.roots.iter().map(|root| root.node).collect();
        let mut rest = placing.members(&roots);
        placing.between(roots.last().copied(), u32::MAX, &mut rest);
        placing.placed.last = rest;
        placing.placed
    }

    /// Comments on their own lines before a node.
    pub(crate) fn leading(&self, node: NodeId) -> &[Span] {
        self.leading.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The comment after a node, on its last line.
    pub(crate) fn trailing(&self, node: NodeId) -> Option<Span> {
        self.trailing.get(&node).copied()
    }

    /// Comments on their own lines before the closing bracket of a list.
    pub(crate) fn dangling(&self, list: NodeId) -> &[Span] {
        self.dangling.get(&list).map_or(&[], Vec::as_slice)
    }

    /// Whether a list contains a comment, so that it cannot be written on one line.
    pub(crate) fn is_broken(&self, list: NodeId) -> bool {
        self.broken.contains(&list)
    }

    fn touches(&self, node: NodeId) -> bool {
        self.leading.contains_key(&node)
            || self.trailing.contains_key(&node)
            || self.broken.contains(&node)
    }
}

/// Connectives that infix writes as operators.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `~a`
    Not,
    /// `(a & b)`
    And,
    /// `(a | b)`
    Or,
}

impl Operator {
    /// The operator of a list, if it has the right number of members.
    pub(crate) fn of(tree: &Tree, list: NodeId) -> Option<Operator> {
        let keyword = Keyword::of(tree.functor(list)?)?;
        let n_members = tree.children(list).take(3).count() - 1;
        match keyword {
            Keyword::Not if n_members == 1 => Some(Operator::Not),
            Keyword::And if n_members == 2 => Some(Operator::And),
            Keyword::Or if n_members == 2 => Some(Operator::Or),
            _ => None,
        }
    }
}

/// Comments that a list passes on to its surroundings.
#[derive(Default)]
struct Passed {
    before: Vec<Span>,
    trailing: Option<Span>,
    /// On their own lines, after the list.
    after: Vec<Span>,
}

struct Placing<'a> {
    // Inputs.
    source: &'a Source,
    tree: &'a Tree,
    syntax: Syntax,
    // State.
    next: usize,
    placed: Comments,
}

impl Placing<'_> {
    /// Attaches the comments inside a list. Recursion is safe: the reader limits the depth of brackets.
    fn list(&mut self, list: NodeId) -> Passed {
        // Infix writes the functor directly before its bracket, or as an operator: no comment fits after it.
        let n_skipped = usize::from(self.syntax == Syntax::Infix);
        let members: Vec<NodeId> = self.tree.children(list).skip(n_skipped).collect();
        let (first, last) = (members.first().copied(), members.last().copied());
        let mut rest = self.members(&members);
        self.between(last, self.tree.span(list).end, &mut rest);
        let mut passed = Passed::default();
        if let Some(first) = first.filter(|_| !self.opens_before_first(list)) {
            passed.before = self.placed.leading.remove(&first).unwrap_or_default();
        }
        if self.closes(list) && !rest.is_empty() {
            self.placed.dangling.insert(list, rest);
            self.placed.broken.insert(list);
        } else {
            passed.trailing = last.and_then(|last| self.placed.trailing.remove(&last));
            passed.after = rest;
        }
        if members.iter().any(|&member| self.placed.touches(member)) {
            self.placed.broken.insert(list);
        }
        passed
    }

    /// Attaches the comments before and inside each member; returns those that the last one passes on.
    fn members(&mut self, members: &[NodeId]) -> Vec<Span> {
        let mut waiting = Vec::new();
        let mut previous = None;
        for &member in members {
            let span = self.tree.span(member);
            self.between(previous, span.start, &mut waiting);
            let mut passed = Passed::default();
            if self.peek(span.end).is_some() {
                passed = self.list(member);
                waiting.append(&mut passed.before);
            }
            if !waiting.is_empty() {
                self.placed.leading.insert(member, waiting);
            }
            if let Some(comment) = passed.trailing {
                self.placed.trailing.insert(member, comment);
            }
            waiting = passed.after;
            previous = Some(member);
        }
        waiting
    }

    /// Takes the comments up to an offset: the first may belong to the previous node, all others wait for the next one.
    fn between(&mut self, previous: Option<NodeId>, limit: u32, waiting: &mut Vec<Span>) {
        while let Some(comment) = self.peek(limit) {
            self.next += 1;
            let behind = previous.filter(|&previous| {
                waiting.is_empty()
                    && !self.placed.trailing.contains_key(&previous)
                    && self.is_same_line(self.tree.span(previous).end, comment.start)
            });
            match behind {
                Some(previous) => {
                    self.placed.trailing.insert(previous, comment);
                }
                None => waiting.push(comment),
            }
        }
    }

    /// The next comment, if it is before an offset.
    fn peek(&self, limit: u32) -> Option<Span> {
        let comment = self.tree.comments.get(self.next).copied();
        comment.filter(|comment| comment.start < limit)
    }

    fn is_same_line(&self, start: u32, end: u32) -> bool {
        let between = Span {
            start: start.min(end),
            end,
        };
        !self.source.slice(between).contains(['\n', '\r'])
    }

    /// Whether there is an opening bracket between the start of a list and its first member: `p(`.
    fn opens_before_first(&self, list: NodeId) -> bool {
        self.syntax == Syntax::Infix
            && !self.is_rule(list)
            && Operator::of(self.tree, list).is_none()
    }

    /// Whether the list is written with its own closing bracket.
    fn closes(&self, list: NodeId) -> bool {
        let is_open = self.is_rule(list) || Operator::of(self.tree, list) == Some(Operator::Not);
        self.syntax == Syntax::Prefix || !is_open
    }

    fn is_rule(&self, list: NodeId) -> bool {
        self.tree.functor(list) == Some(Keyword::Arrow.symbol())
    }
}
