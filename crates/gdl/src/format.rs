//! The formatter: a rulesheet in canonical layout, with every comment where it was.
//!
//! It changes blanks and line breaks, nothing else: names keep their spelling, rules their order, the file its
//! syntax. A rule stands on one line if it has at most one literal and fits, otherwise each literal has its own line.
//! One blank line between forms is kept where there were any. A comment behind something stays behind it, a comment
//! on a line of its own stays on one. Formatting what is formatted changes nothing.

use crate::diagnostic::Diagnostics;
use crate::read::{Limits, Syntax, read};
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolId, SymbolTable};
use crate::tree::{NodeId, Tree};

/// Longest line that is not broken, in characters.
const WIDTH: usize = 100;
/// Longest rule that stands on one line.
const SHORT: usize = 80;
const STEP: usize = 4;

/// Formats a rulesheet in either syntax.
///
/// ```
/// let text = agon_gdl::format(b"(<=   (p ?x)(q ?x) ; both\n (r ?x))", &Default::default()).unwrap();
/// assert_eq!(text, "(<= (p ?x)\n    (q ?x) ; both\n    (r ?x))\n");
/// ```
///
/// # Errors
/// The findings, if the brackets or words of the file are broken: then nothing is known about its layout.
pub fn format(text: &[u8], limits: &Limits) -> Result<String, Diagnostics> {
    let source = Source::new(&text[..text.len().min(limits.bytes + 1)]);
    let mut symbols = SymbolTable::new();
    let mut findings = Diagnostics::new();
    let (syntax, tree) = read(&source, limits, &mut symbols, &mut findings);
    if findings.has_errors() {
        return Err(findings);
    }
    let mut formatter = Formatter {
        source: &source,
        tree: &tree,
        symbols: &symbols,
        syntax,
        next_comment: 0,
        out: String::with_capacity(text.len()),
        line_start: 0,
        pending: None,
    };
    formatter.file();
    Ok(formatter.out)
}

struct Formatter<'a> {
    // constant during formatting
    source: &'a Source,
    tree: &'a Tree,
    symbols: &'a SymbolTable,
    syntax: Syntax,
    // the formatting so far
    next_comment: usize,
    out: String,
    /// Where the last line of `out` begins.
    line_start: usize,
    /// A comment that waits for the end of the line, so that closing brackets come before it.
    pending: Option<Span>,
}

impl Formatter<'_> {
    fn file(&mut self) {
        let mut end = 0;
        for root in &self.tree.roots {
            let span = self.tree.span(root.node);
            end = self.comments_before(span.start, end, 0);
            self.blank_line(end, span.start);
            self.form(root.node);
            end = self.trailing_comment(span.end);
            self.new_line(0);
        }
        self.comments_before(u32::MAX, end, 0);
    }

    /// Writes the comments up to an offset, each on its own line; gives back where the last of them ends.
    fn comments_before(&mut self, limit: u32, mut end: u32, indent: usize) -> u32 {
        while let Some(&comment) = self
            .tree
            .comments
            .get(self.next_comment)
            .filter(|comment| comment.start < limit)
        {
            self.next_comment += 1;
            if indent == 0 {
                self.blank_line(end, comment.start);
            }
            self.out.push_str(self.source.slice(comment).trim_end());
            self.new_line(indent);
            end = comment.end;
        }
        end
    }

    /// Keeps the comment that follows on the same line for the end of the line; gives back the end of what was seen.
    fn trailing_comment(&mut self, end: u32) -> u32 {
        let Some(&comment) = self.tree.comments.get(self.next_comment) else {
            return end;
        };
        let is_same_line = comment.start >= end
            && !self
                .source
                .slice(Span {
                    start: end,
                    end: comment.start,
                })
                .contains(['\n', '\r', '(', ')'])
            && self.is_gap(end, comment.start);
        if !is_same_line {
            return end;
        }
        self.next_comment += 1;
        self.pending = Some(comment);
        comment.end
    }

    /// Whether only blanks and punctuation lie between two offsets.
    fn is_gap(&self, start: u32, end: u32) -> bool {
        let gap = self.source.slice(Span { start, end });
        gap.chars()
            .all(|c| !c.is_alphanumeric() && !matches!(c, '?' | '~' | '\''))
    }

    /// A blank line, if the source has one between the two offsets and something stands before.
    fn blank_line(&mut self, start: u32, end: u32) {
        let gap = self.source.slice(Span {
            start: start.min(end),
            end,
        });
        let mut n_line_ends = 0;
        let bytes = gap.as_bytes();
        for (idx, &byte) in bytes.iter().enumerate() {
            n_line_ends +=
                usize::from(byte == b'\n' || (byte == b'\r' && bytes.get(idx + 1) != Some(&b'\n')));
        }
        if n_line_ends > 1 && !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
            self.line_start = self.out.len();
        }
    }

    fn form(&mut self, node: NodeId) {
        let is_rule = self.tree.functor(node) == Some(Keyword::Arrow.symbol());
        match self.syntax {
            Syntax::Prefix => self.prefix(node, 0),
            Syntax::Infix if is_rule => self.infix_rule(node),
            Syntax::Infix => self.infix(node, 0),
        }
        if self.syntax == Syntax::Infix {
            self.push(".");
        }
    }

    /// Prefix: a name, a list on one line, or a list with a line per member.
    fn prefix(&mut self, node: NodeId, indent: usize) {
        let tree = self.tree;
        if tree.name(node).is_some() || self.fits_line(node) {
            self.one_line(node);
            return;
        }
        self.push("(");
        let inner = indent + STEP;
        let is_rule = tree.functor(node) == Some(Keyword::Arrow.symbol());
        let n_first_line = if is_rule { 2 } else { 1 };
        let mut seen = tree.span(node).start + 1;
        for (idx, child) in tree.children(node).enumerate() {
            self.before_child(tree.span(child).start, seen, inner, idx >= n_first_line);
            if idx > 0 && idx < n_first_line && !self.at_line_start() {
                self.push(" ");
            }
            self.prefix(child, inner);
            seen = self.trailing_comment(tree.span(child).end);
        }
        self.before_close(tree.span(node).end, indent);
        self.push(")");
    }

    /// Comments and line breaks before a member of a broken list.
    fn before_child(&mut self, start: u32, seen: u32, indent: usize, on_own_line: bool) {
        // A comment directly behind the opening bracket or a name.
        if self.pending.is_none() {
            self.trailing_comment(seen);
        }
        let has_comment = self.has_comment_before(start);
        if on_own_line || has_comment || self.pending.is_some() {
            self.new_line(indent);
        }
        if has_comment {
            self.comments_before(start, seen, indent);
        }
    }

    /// Comments between the last member and the closing bracket get lines of their own.
    fn before_close(&mut self, end: u32, indent: usize) {
        if self.has_comment_before(end) {
            self.new_line(indent + STEP);
            self.comments_before(end, 0, indent + STEP);
        }
    }

    fn has_comment_before(&self, limit: u32) -> bool {
        self.tree
            .comments
            .get(self.next_comment)
            .is_some_and(|comment| comment.start < limit)
    }

    /// `head :- literal, literal`.
    fn infix_rule(&mut self, node: NodeId) {
        let tree = self.tree;
        let mut members = tree.children(node).skip(1);
        let Some(head) = members.next() else { return };
        let body: Vec<NodeId> = members.collect();
        if body.len() <= 1 && self.fits_line(node) {
            self.one_line(node);
            return;
        }
        self.infix(head, 0);
        let mut seen = self.trailing_comment(tree.span(head).end);
        self.push(" :-");
        for (idx, &literal) in body.iter().enumerate() {
            self.before_child(tree.span(literal).start, seen, STEP, true);
            self.infix(literal, STEP);
            if idx + 1 < body.len() {
                self.push(",");
            }
            seen = self.trailing_comment(tree.span(literal).end);
        }
    }

    /// Infix: a literal or term on one line, or with a line per argument.
    fn infix(&mut self, node: NodeId, indent: usize) {
        let tree = self.tree;
        let is_call = tree.name(node).is_none() && Operator::of(tree, node).is_none();
        // Only comments force a break inside of operators: their members are printed one by one.
        if !is_call || self.fits_line(node) {
            if self.has_comment_before(tree.span(node).end) && tree.name(node).is_none() {
                self.broken_operator(node, indent);
            } else {
                self.one_line(node);
            }
            return;
        }
        let mut members = tree.children(node);
        let Some(functor) = members.next() else {
            return;
        };
        self.one_line(functor);
        self.push("(");
        self.members(members.collect(), node, ",", indent);
        self.push(")");
    }

    fn broken_operator(&mut self, node: NodeId, indent: usize) {
        let tree = self.tree;
        let members: Vec<NodeId> = tree.children(node).skip(1).collect();
        match Operator::of(tree, node) {
            Some(Operator::Not) => {
                self.push("~");
                self.infix(members[0], indent);
            }
            Some(Operator::And) => self.bracketed(members, node, " &", indent),
            Some(Operator::Or) => self.bracketed(members, node, " |", indent),
            None => self.one_line(node),
        }
    }

    fn bracketed(&mut self, members: Vec<NodeId>, node: NodeId, separator: &str, indent: usize) {
        self.push("(");
        self.members(members, node, separator, indent);
        self.push(")");
    }

    fn members(&mut self, members: Vec<NodeId>, node: NodeId, separator: &str, indent: usize) {
        let tree = self.tree;
        let inner = indent + STEP;
        let mut seen = tree.span(node).start + 1;
        for (idx, &member) in members.iter().enumerate() {
            self.before_child(tree.span(member).start, seen, inner, true);
            self.infix(member, inner);
            if idx + 1 < members.len() {
                self.push(separator);
            }
            seen = self.trailing_comment(tree.span(member).end);
        }
        self.before_close(tree.span(node).end, indent);
    }

    /// Whether a node may stand on the line at hand: it holds no comment, is no long rule, and is short enough.
    fn fits_line(&self, node: NodeId) -> bool {
        let span = self.tree.span(node);
        if self.has_comment_before(span.end) {
            return false;
        }
        let is_rule = self.tree.functor(node) == Some(Keyword::Arrow.symbol());
        let n_members = self.tree.children(node).take(4).count();
        if is_rule && n_members > 3 {
            return false;
        }
        let column = self.out[self.line_start..].chars().count();
        let width = if is_rule { SHORT } else { WIDTH };
        let mut line = String::new();
        self.write(node, &mut line, width + 1);
        column + line.chars().count() <= width
    }

    fn one_line(&mut self, node: NodeId) {
        let mut line = String::new();
        self.write(node, &mut line, usize::MAX);
        self.push(&line);
    }

    /// Writes a node without line breaks; gives up once the text is longer than `most` bytes.
    fn write(&self, node: NodeId, line: &mut String, most: usize) {
        if line.len() > most {
            return;
        }
        if let Some(name) = self.tree.name(node) {
            line.push_str(self.name_text(node, name));
            return;
        }
        match self.syntax {
            Syntax::Prefix => {
                line.push('(');
                self.join(self.tree.children(node), " ", line, most);
                line.push(')');
            }
            Syntax::Infix => self.write_infix(node, line, most),
        }
    }

    fn write_infix(&self, node: NodeId, line: &mut String, most: usize) {
        let mut members = self.tree.children(node);
        let functor = members.next();
        if self.tree.functor(node) == Some(Keyword::Arrow.symbol()) {
            if let Some(head) = members.next() {
                self.write(head, line, most);
            }
            line.push_str(" :- ");
            self.join(members, ", ", line, most);
            return;
        }
        let bracketed = |separator: &str, line: &mut String| {
            line.push('(');
            self.join(members.clone(), separator, line, most);
            line.push(')');
        };
        match Operator::of(self.tree, node) {
            Some(Operator::Not) => {
                line.push('~');
                self.join(members.clone(), "", line, most);
            }
            Some(Operator::And) => bracketed(" & ", line),
            Some(Operator::Or) => bracketed(" | ", line),
            None => {
                if let Some(functor) = functor {
                    self.write(functor, line, most);
                }
                bracketed(", ", line);
            }
        }
    }

    fn join(
        &self,
        nodes: impl Iterator<Item = NodeId>,
        separator: &str,
        line: &mut String,
        most: usize,
    ) {
        for (idx, node) in nodes.enumerate() {
            if idx > 0 {
                line.push_str(separator);
            }
            self.write(node, line, most);
            if line.len() > most {
                return;
            }
        }
    }

    /// The spelling in the source; connectives that infix writes as signs have theirs in the table.
    fn name_text(&self, node: NodeId, name: SymbolId) -> &str {
        let is_sign =
            Keyword::of(name).is_some_and(Keyword::is_connective) && self.syntax == Syntax::Infix;
        if is_sign {
            self.symbols.name(name)
        } else {
            self.source.slice(self.tree.span(node))
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn at_line_start(&self) -> bool {
        self.out[self.line_start..].chars().all(|c| c == ' ')
    }

    /// Ends the line, with the comment that waits for its end, and indents the next one. Does nothing on a line that
    /// holds nothing.
    fn new_line(&mut self, indent: usize) {
        if let Some(comment) = self.pending.take() {
            let text = self.source.slice(comment).trim_end();
            if !self.at_line_start() {
                self.out.push(' ');
            }
            self.out.push_str(text);
        }
        if self.at_line_start() {
            self.out.truncate(self.line_start);
        } else {
            self.out.push('\n');
            self.line_start = self.out.len();
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}

/// What infix writes as a sign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Not,
    And,
    Or,
}

impl Operator {
    /// The operator of a list, if it has as many members as the sign takes.
    fn of(tree: &Tree, list: NodeId) -> Option<Operator> {
        let n_members = tree.children(list).take(3).count() - 1;
        match Keyword::of(tree.functor(list)?)? {
            Keyword::Not if n_members == 1 => Some(Operator::Not),
            Keyword::And if n_members == 2 => Some(Operator::And),
            Keyword::Or if n_members == 2 => Some(Operator::Or),
            _ => None,
        }
    }
}
