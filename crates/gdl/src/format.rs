//! The formatter: writes a rulesheet in canonical layout and keeps every comment.
//!
//! It changes only white space and line breaks: names keep their spelling, rules their order, the file its syntax. A
//! rule is written on one line if it has at most one literal and fits; otherwise each literal gets its own line. Blank
//! lines between forms are reduced to one. A comment after a node stays after it, a comment on its own line stays on
//! its own line (see [`crate::comments`]). Formatting is idempotent.

use crate::comments::{Comments, Operator};
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::read::{Limits, Reading, Syntax, read};
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolId, SymbolTable};
use crate::tree::{NodeId, Tree};

/// Maximum length of a line that is not broken, in characters.
const WIDTH: usize = 100;
/// Maximum length of a rule that is written on one line.
const SHORT: usize = 80;
const STEP: usize = 4;

/// Formats a rulesheet in either syntax. The result is bytes and not a string, because comments in other encodings are
/// kept unchanged.
///
/// ```
/// let text = agon_gdl::format(b"(<=   (p ?x)(q ?x) ; both\n (r ?x))", &Default::default()).unwrap();
/// assert_eq!(text, b"(<= (p ?x)\n    (q ?x) ; both\n    (r ?x))\n");
/// ```
///
/// # Errors
/// The findings, if the brackets or words of the file are broken, so that its layout is unknown.
pub fn format(text: &[u8], limits: &Limits) -> Result<Vec<u8>, Diagnostics> {
    let mut findings = Diagnostics::new();
    let Reading {
        source,
        syntax,
        tree,
    } = read(text, limits, &mut SymbolTable::new(), &mut findings);
    if source.has_more_bad_bytes() {
        findings.push(Diagnostic::file_error(
            Kind::BadUtf8,
            "the file has too many bytes that are not UTF-8 to keep them all",
        ));
    }
    if findings.has_errors() {
        return Err(findings);
    }
    let mut formatter = Formatter {
        source: &source,
        tree: &tree,
        comments: Comments::place(&source, &tree, syntax),
        syntax,
        out: String::with_capacity(text.len()),
        line_start: 0,
        bad_bytes: Vec::new(),
    };
    formatter.file();
    Ok(formatter.into_bytes())
}

struct Formatter<'a> {
    // Inputs.
    source: &'a Source,
    tree: &'a Tree,
    comments: Comments,
    syntax: Syntax,
    // Output so far.
    out: String,
    /// Start of the last line of `out`.
    line_start: usize,
    /// Bytes of comments that are not UTF-8, and the positions of their replacements in `out`.
    bad_bytes: Vec<(usize, u8)>,
}

impl Formatter<'_> {
    fn file(&mut self) {
        let tree = self.tree;
        // End of the part of the source that has been written.
        let mut end = 0;
        for root in &tree.roots {
            let span = tree.span(root.node);
            for comment in self.comments.leading(root.node).to_vec() {
                self.blank_line(end, comment.start.min(span.start));
                self.comment(comment);
                self.new_line(0);
                end = end.max(comment.end);
            }
            self.blank_line(end, span.start);
            self.form(root.node);
            end = end.max(span.end);
            if let Some(comment) = self.trailing(root.node) {
                end = end.max(comment.end);
            }
            self.new_line(0);
        }
        for comment in std::mem::take(&mut self.comments.last) {
            self.blank_line(end, comment.start);
            self.comment(comment);
            self.new_line(0);
            end = end.max(comment.end);
        }
    }

    /// Writes a blank line, if the source has one between the two offsets and there is text before.
    fn blank_line(&mut self, start: u32, end: u32) {
        let gap = self.source.slice(Span {
            start: start.min(end),
            end,
        });
        let bytes = gap.as_bytes();
        let is_line_end = |idx: usize| {
            bytes[idx] == b'\n' || (bytes[idx] == b'\r' && bytes.get(idx + 1) != Some(&b'\n'))
        };
        let n_line_ends = (0..bytes.len()).filter(|&idx| is_line_end(idx)).count();
        if n_line_ends > 1 && !self.out.is_empty() {
            self.out.push('\n');
            self.line_start = self.out.len();
        }
    }

    fn form(&mut self, node: NodeId) {
        let is_rule = self.tree.functor(node) == Some(Keyword::Arrow.symbol());
        match self.syntax {
            Syntax::Prefix => self.prefix(node, 0),
            Syntax::Infix if is_rule => self.infix_rule(node),
            Syntax::Infix => self.infix_head(node),
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
        let is_rule = tree.functor(node) == Some(Keyword::Arrow.symbol());
        let n_first_line = if is_rule { 2 } else { 1 };
        let mut is_line_over = false;
        for (idx, child) in tree.children(node).enumerate() {
            let on_new_line = idx >= n_first_line || is_line_over;
            if idx > 0 && !on_new_line && self.comments.leading(child).is_empty() {
                self.push(" ");
            }
            self.member(child, indent + STEP, on_new_line, |this, indent| {
                this.prefix(child, indent);
            });
            is_line_over = self.trailing(child).is_some();
        }
        self.dangling(node, indent);
        self.push(")");
    }

    /// A member of a broken list with the comments before it.
    fn member(
        &mut self,
        node: NodeId,
        indent: usize,
        on_new_line: bool,
        write: impl FnOnce(&mut Self, usize),
    ) {
        let leading = self.comments.leading(node).to_vec();
        if on_new_line || !leading.is_empty() {
            self.new_line(indent);
        }
        for comment in leading {
            self.comment(comment);
            self.new_line(indent);
        }
        write(self, indent);
    }

    /// Comments between the last member and the closing bracket, which then gets its own line.
    fn dangling(&mut self, list: NodeId, indent: usize) {
        let comments = self.comments.dangling(list).to_vec();
        for &comment in &comments {
            self.new_line(indent + STEP);
            self.comment(comment);
        }
        if !comments.is_empty() {
            self.new_line(indent);
        }
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
        self.infix_head(head);
        self.push(" :-");
        self.trailing(head);
        for (idx, &literal) in body.iter().enumerate() {
            self.member(literal, STEP, true, |this, indent| {
                this.infix(literal, indent);
            });
            if idx + 1 < body.len() {
                self.push(",");
            }
            self.trailing(literal);
        }
    }

    /// Writes a head as a call, whatever its name: a rule cannot start with an operator.
    fn infix_head(&mut self, node: NodeId) {
        if self.tree.name(node).is_some() || self.fits_line(node) {
            let mut line = String::new();
            self.write_call(node, &mut line, usize::MAX);
            self.push(&line);
        } else {
            self.infix_call(node, 0);
        }
    }

    /// Infix: a literal or term on one line, or with a line per argument.
    fn infix(&mut self, node: NodeId, indent: usize) {
        let tree = self.tree;
        let operator = Operator::of(tree, node);
        // Operators are broken only where a comment requires it.
        if tree.name(node).is_some()
            || (operator.is_some() && !self.comments.is_broken(node))
            || self.fits_line(node)
        {
            self.one_line(node);
            return;
        }
        let members = || tree.children(node).skip(1).collect::<Vec<_>>();
        match operator {
            Some(Operator::Not) => {
                self.push("~");
                self.infix(members()[0], indent);
            }
            Some(Operator::And) => self.bracketed(node, &members(), " &", indent),
            Some(Operator::Or) => self.bracketed(node, &members(), " |", indent),
            None => self.infix_call(node, indent),
        }
    }

    fn infix_call(&mut self, node: NodeId, indent: usize) {
        let mut members = self.tree.children(node);
        if let Some(functor) = members.next() {
            self.one_line(functor);
        }
        self.bracketed(node, &members.collect::<Vec<_>>(), ",", indent);
    }

    fn bracketed(&mut self, node: NodeId, members: &[NodeId], separator: &str, indent: usize) {
        self.push("(");
        for (idx, &member) in members.iter().enumerate() {
            self.member(member, indent + STEP, true, |this, indent| {
                this.infix(member, indent);
            });
            if idx + 1 < members.len() {
                self.push(separator);
            }
            self.trailing(member);
        }
        self.dangling(node, indent);
        self.push(")");
    }

    /// Whether a node fits on the current line: it contains no comment, is not a long rule, and is short enough.
    fn fits_line(&self, node: NodeId) -> bool {
        if self.comments.is_broken(node) {
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
        // A character takes at most four bytes.
        self.write(node, &mut line, 4 * (width + 1));
        column + line.chars().count() <= width
    }

    fn one_line(&mut self, node: NodeId) {
        let mut line = String::new();
        self.write(node, &mut line, usize::MAX);
        self.push(&line);
    }

    /// Writes a node without line breaks; stops once the text is longer than `most` bytes.
    fn write(&self, node: NodeId, line: &mut String, most: usize) {
        if line.len() > most {
            return;
        }
        if let Some(name) = self.tree.name(node) {
            line.push_str(self.name_text(node, name));
            return;
        }
        match self.syntax {
            Syntax::Prefix => self.bracket(self.tree.children(node), " ", line, most),
            Syntax::Infix => self.write_infix(node, line, most),
        }
    }

    fn write_infix(&self, node: NodeId, line: &mut String, most: usize) {
        let mut members = self.tree.children(node).skip(1);
        if self.tree.functor(node) == Some(Keyword::Arrow.symbol()) {
            if let Some(head) = members.next() {
                self.write_call(head, line, most);
            }
            line.push_str(" :- ");
            self.join(members, ", ", line, most);
            return;
        }
        match Operator::of(self.tree, node) {
            Some(Operator::Not) => {
                line.push('~');
                self.join(members, "", line, most);
            }
            Some(Operator::And) => self.bracket(members, " & ", line, most),
            Some(Operator::Or) => self.bracket(members, " | ", line, most),
            None => self.write_call(node, line, most),
        }
    }

    /// `name` or `name(arguments)`.
    fn write_call(&self, node: NodeId, line: &mut String, most: usize) {
        let mut members = self.tree.children(node);
        match members.next() {
            Some(functor) => {
                self.write(functor, line, most);
                self.bracket(members, ", ", line, most);
            }
            None => self.write(node, line, most),
        }
    }

    fn bracket(
        &self,
        nodes: impl Iterator<Item = NodeId>,
        separator: &str,
        line: &mut String,
        most: usize,
    ) {
        line.push('(');
        self.join(nodes, separator, line, most);
        line.push(')');
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

    /// The spelling in the source; `X != Y` is written as `distinct(X, Y)`.
    fn name_text(&self, node: NodeId, name: SymbolId) -> &str {
        let text = self.source.slice(self.tree.span(node));
        let is_sign = self.syntax == Syntax::Infix
            && Keyword::of(name) == Some(Keyword::Distinct)
            && !text.contains(|c: char| c.is_ascii_alphabetic());
        if is_sign {
            Keyword::Distinct.name()
        } else {
            text
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes the comment after a node, if there is one.
    fn trailing(&mut self, node: NodeId) -> Option<Span> {
        let comment = self.comments.trailing(node)?;
        self.out.push(' ');
        self.comment(comment);
        Some(comment)
    }

    fn comment(&mut self, comment: Span) {
        let bad_bytes = self.source.bad_bytes();
        let from = bad_bytes.partition_point(|bad| bad.span.start < comment.start);
        for bad in &bad_bytes[from..] {
            if bad.span.start >= comment.end {
                break;
            }
            let offset = (bad.span.start - comment.start) as usize;
            self.bad_bytes.push((self.out.len() + offset, bad.byte));
        }
        let text = self.source.slice(comment).trim_end();
        self.out.push_str(text);
    }

    /// Ends the line and indents the next one.
    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.line_start = self.out.len();
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// The text, with the bytes of comments that are not UTF-8 put back.
    fn into_bytes(self) -> Vec<u8> {
        let text = self.out.into_bytes();
        let mut bytes = Vec::with_capacity(text.len());
        let mut start = 0;
        for (at, byte) in self.bad_bytes {
            bytes.extend_from_slice(&text[start..at]);
            bytes.push(byte);
            start = at + char::REPLACEMENT_CHARACTER.len_utf8();
        }
        bytes.extend_from_slice(&text[start..]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let formatted =
            format(text.as_bytes(), &Limits::default()).expect("the snippet can be read");
        let again = format(&formatted, &Limits::default()).expect("formatted text can be read");
        assert!(formatted == again, "formatting must be idempotent");
        expected.assert_eq(&String::from_utf8_lossy(&formatted));
    }

    #[test]
    fn a_rule_with_one_literal_is_written_on_one_line() {
        check(
            "( <=(p   ?x)\n(q ?x) )(role\na)terminal",
            expect![[r#"
            (<= (p ?x) (q ?x))
            (role a)
            terminal
        "#]],
        );
    }

    #[test]
    fn each_of_several_literals_gets_a_line() {
        check(
            "(<= (p ?x) (q ?x) (not (r ?x)))",
            expect![[r#"
            (<= (p ?x)
                (q ?x)
                (not (r ?x)))
        "#]],
        );
    }

    #[test]
    fn long_literals_are_broken() {
        check(
            "(<= (p ?x) (or (quite_a_long_relation_name ?x with several arguments) (another_long_relation_name ?x b)))",
            expect![[r#"
                (<= (p ?x)
                    (or (quite_a_long_relation_name ?x with several arguments) (another_long_relation_name ?x b)))
            "#]],
        );
    }

    #[test]
    fn one_blank_line_is_kept_between_forms() {
        check(
            "\n\n(a)\n\n\n\n(b)\n(c)\n\n; x\n\n; y\n(d)\n\n",
            expect![[r#"
            (a)

            (b)
            (c)

            ; x

            ; y
            (d)
        "#]],
        );
    }

    #[test]
    fn line_endings_are_normalised() {
        check(
            "(a)\r\n\r\n(b)\r(c) ; d\r\n",
            expect![[r#"
            (a)

            (b)
            (c) ; d
        "#]],
        );
    }

    #[test]
    fn comments_before_after_and_at_the_end() {
        check(
            "; before\n(a) ; behind\n  ; own line\n(b)\n; end",
            expect![[r#"
            ; before
            (a) ; behind
            ; own line
            (b)
            ; end
        "#]],
        );
    }

    #[test]
    fn comments_inside_a_rule() {
        check(
            "(<= ; behind the arrow\n (p ?x) ; behind the head\n ; own line\n (q ?x) ; behind a literal\n (or (r ?x) ; inside\n (s ?x)) ; behind it\n)",
            expect![[r#"
                (<= ; behind the arrow
                    (p ?x) ; behind the head
                    ; own line
                    (q ?x) ; behind a literal
                    (or
                        (r ?x) ; inside
                        (s ?x))) ; behind it
            "#]],
        );
    }

    #[test]
    fn a_comment_after_the_last_member_goes_after_the_bracket() {
        check(
            "(a b ; one\n)\n(<= (p) (q (r s ; two\n)\n))",
            expect![[r#"
            (a b) ; one
            (<= (p) (q (r s))) ; two
        "#]],
        );
    }

    #[test]
    fn two_comments_after_the_same_node() {
        check(
            "(a b ; one\n) ; two\n(c) ; three",
            expect![[r#"
            (a b) ; one
            ; two
            (c) ; three
        "#]],
        );
    }

    #[test]
    fn comments_before_a_closing_bracket() {
        check(
            "(<= (p a)\n (q a)\n ; why\n ; oh why\n)\n(r)",
            expect![[r#"
            (<= (p a)
                (q a)
                ; why
                ; oh why
            )
            (r)
        "#]],
        );
    }

    #[test]
    fn comments_before_the_first_member_go_before_the_list() {
        check(
            "( ; one\n a b)\n(<= (p ?x) (not ; two\n (q ?x)))\n( ; three\n)",
            expect![[r#"
            ; one
            (a b)
            (<= (p ?x)
                (not ; two
                    (q ?x)))
            (
                ; three
            )
        "#]],
        );
    }

    #[test]
    fn comments_inside_connectives() {
        check(
            "(<= p (or ; one\n (and q ; two\n r) ; three\n (not s ; four\n )))",
            expect![[r#"
            (<= p
                (or ; one
                    (and
                        q ; two
                        r) ; three
                    (not s))) ; four
        "#]],
        );
    }

    #[test]
    fn spelling_is_kept() {
        check(
            "(ROLE Red) (<= TERMINAL (Not (p it's ++)))",
            expect![[r#"
            (ROLE Red)
            (<= TERMINAL (Not (p it's ++)))
        "#]],
        );
    }

    #[test]
    fn infix_rules() {
        check(
            "role( white ).p(X):-q(X)&~ r(X).  p :- (a|b , c), X!=Y, not d.\nterminal :- e.",
            expect![[r#"
                role(white).
                p(X) :-
                    q(X),
                    ~r(X).
                p :-
                    (a | (b & c)),
                    distinct(X, Y),
                    ~d.
                terminal :- e.
            "#]],
        );
    }

    #[test]
    fn infix_comments() {
        check(
            "% before\np(X) % behind the head\n  :- q(X, % inside\n b), ; behind\n  % own line\n ( r(X) | % in or\n s(X) ) % last\n  % before the stop\n.\n% end",
            expect![[r#"
                % before
                p(X) :- % behind the head
                    q(
                        X, % inside
                        b), ; behind
                    % own line
                    (
                        r(X) | % in or
                        s(X)). % last
                % before the stop

                % end
            "#]],
        );
    }

    #[test]
    fn infix_comments_at_brackets() {
        check(
            "p( % one\n a\n % two\n).\nq :- ~ % three\n r, (s\n % four\n), t(\n%five\n).",
            expect![[r#"
            p(
                % one
                a
                % two
            ).
            q :-
                % three
                ~r,
                s,
                % four
                t(
                    %five
                ).
        "#]],
        );
    }

    #[test]
    fn an_infix_comment_after_an_operator_goes_before_the_group() {
        check(
            "p :- ~ % one\n a | b.",
            expect![[r#"
            p :-
                % one
                (~a | b).
        "#]],
        );
    }

    #[test]
    fn infix_comments_keep_their_order_around_a_group_of_one() {
        check(
            "p :- ~(a\n% x\n) % y\n, b.",
            expect![[r#"
            p :-
                ~a,
                % x
                % y
                b.
        "#]],
        );
    }

    #[test]
    fn a_connective_as_an_infix_head_stays_a_call() {
        check(
            "or(a, b).\nand(a, b) :- c.",
            expect![[r#"
            or(a, b).
            and(a, b) :- c.
        "#]],
        );
    }

    #[test]
    fn comments_in_another_encoding_are_kept_byte_for_byte() {
        let text = b"(a) ; caf\xE9 \xEF\xBF\xBD \xFF\n";
        assert_eq!(format(text, &Limits::default()).unwrap(), text);
    }

    #[test]
    fn a_broken_file_is_not_formatted() {
        let findings = format(b"(a (b)", &Limits::default()).unwrap_err();
        assert!(
            findings
                .iter()
                .any(|finding| finding.kind == Kind::Unclosed)
        );
    }
}
