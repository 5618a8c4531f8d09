//! Reader of the infix form: `legal(W, mark(X, Y)) :- true(cell(X, Y, b)) & ~taken(X, Y)`.
//!
//! This is the form of papers and of the Stanford lecture notes. Nobody ever fixed its details, so all that occur are
//! read: a conjunction with `,` or `&` or `∧`, a disjunction with `|` or `∨`, a negation with `~`, `¬` or `not`, and `X != Y` for
//! `distinct(X, Y)`; comments from `%` or `;` to the end of the line. Rules end with a full stop; a file without any full
//! stop is read too, and then the next rule ends the one before it.
//! Variables begin with an upper-case letter or `_` (a lone `_` is a new variable each time); names that do not look
//! like names stand in single quotes.
//!
//! Out comes the same tree as from the prefix reader, so that all later stages know one form only.

mod lex;

use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::read::{Limits, is_blank, report_bad_bytes};
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolTable};
use crate::tree::{NodeId, Root, Tree};

use lex::{Lexeme, Token, most_numbered, tokenize};

/// Reads all rules.
pub(crate) fn read(
    source: &Source,
    limits: &Limits,
    symbols: &mut SymbolTable,
    findings: &mut Diagnostics,
) -> Tree {
    let mut tree = Tree::for_text(source.text().len());
    let tokens = tokenize(source, limits, &mut tree, findings);
    let mut reader = Reader {
        source,
        limits,
        tokens: &tokens,
        at: 0,
        n_anonymous: most_numbered(source, &tokens),
        has_stops: tokens.iter().any(|lexeme| lexeme.token == Token::Stop),
        symbols,
        tree,
        findings,
    };
    while reader.peek() != Token::End {
        reader.rule();
    }
    let tree = reader.tree;
    report_bad_bytes(source, &tree, findings);
    tree
}

struct Reader<'a> {
    // constant during a reading
    source: &'a Source,
    limits: &'a Limits,
    tokens: &'a [Lexeme],
    /// Whether rules end with a full stop in this file.
    has_stops: bool,
    // the reading so far
    at: usize,
    n_anonymous: u32,
    symbols: &'a mut SymbolTable,
    tree: Tree,
    findings: &'a mut Diagnostics,
}

/// Something unexpected; it has been reported.
struct Broken;

type Parsed = Result<NodeId, Broken>;

impl Reader<'_> {
    /// `head`, `head :- body`, each with or without a full stop.
    fn rule(&mut self) {
        let start = self.at;
        let node = self.head().and_then(|head| self.body(head));
        match node {
            Ok(node) if self.peek() == Token::Arrow => {
                self.report_second_arrow(node);
                self.recover(start);
            }
            Ok(node) => {
                let ends = matches!(self.peek(), Token::Name | Token::Quoted | Token::End);
                if !self.accept(Token::Stop) && self.has_stops && ends {
                    self.report_missing_stop();
                }
                self.tree.roots.push(Root {
                    node,
                    damaged: false,
                });
            }
            Err(Broken) => self.recover(start),
        }
    }

    /// `p :- q r(a).`: a rule ends where neither a full stop nor another condition follows.
    fn report_missing_stop(&mut self) {
        let end = self.before().end as usize;
        let before = &self.source.text()[..end];
        let width = before.chars().next_back().map_or(0, char::len_utf8);
        let mut finding = Diagnostic::error(
            Kind::Syntax,
            Span::new(end - width, end),
            "the full stop at the end of this rule is missing",
        );
        if self.peek() != Token::End {
            finding = finding.label(self.tokens[self.at].span, "the next rule begins here");
        }
        self.findings.push(finding.help(
            "write `.` behind the rule, or join its conditions with `,` or `&`; only a file without any full stop can do without",
        ));
    }

    /// `p :- q(a) :- r`: what looks like a body is the head of the next rule.
    fn report_second_arrow(&mut self, rule: NodeId) {
        let first = self.tree.children(rule).next().unwrap_or(rule);
        let finding = Diagnostic::error(
            Kind::Syntax,
            self.tree.span(first),
            "this rule has no end before the next one begins, or no body",
        )
        .label(self.tokens[self.at].span, "here is another `:-`")
        .help("write the conditions behind `:-` and a full stop behind them; a fact needs no `:-`");
        self.findings.push(finding);
    }

    fn head(&mut self) -> Parsed {
        match self.peek() {
            Token::Name | Token::Quoted => self.atom(0),
            Token::Open if self.follows_variable() => self.fail(
                Kind::NotAName,
                self.before(),
                "a variable cannot have arguments",
                "names of relations and functions begin with a small letter, or stand in quotes",
            ),
            Token::Open => self.prefix_rule(),
            Token::Close => self.fail_here(
                Kind::Unopened,
                "this `)` closes nothing: no `(` is open here",
                "delete it, or add the `(` that is missing before it",
            ),
            _ => self.fail_here(
                Kind::Syntax,
                "a rule must begin with a name",
                "write `head :- body` or a fact",
            ),
        }
    }

    /// Whether the token here is glued to a variable.
    fn follows_variable(&self) -> bool {
        self.at > 0
            && self.tokens[self.at - 1].token == Token::Variable
            && self.before().end == self.tokens[self.at].span.start
    }

    fn prefix_rule(&mut self) -> Parsed {
        let is_first = self.at == 0;
        let help = if is_first {
            "in prefix form comments begin with `;`, not with `%`"
        } else {
            "use one syntax per file: write `head :- body`"
        };
        let message = "a rule in prefix form stands in an infix file";
        self.fail_here(Kind::MixedSyntax, message, help)
    }

    fn body(&mut self, head: NodeId) -> Parsed {
        if !self.accept(Token::Arrow) {
            return Ok(head);
        }
        let arrow = self.name(Keyword::Arrow.name(), self.before());
        let mut members = vec![arrow, head];
        if !matches!(self.peek(), Token::Stop | Token::End) {
            let alternatives = self.alternatives(true, 1)?;
            match alternatives.as_slice() {
                [conjunction] => members.extend(conjunction),
                _ => members.push(self.disjunction(alternatives)),
            }
        }
        Ok(self.list(&members))
    }

    /// `a & b | c`: the alternatives, each a conjunction. Only outside of arguments a comma joins too.
    fn alternatives(
        &mut self,
        with_commas: bool,
        depth: usize,
    ) -> Result<Vec<Vec<NodeId>>, Broken> {
        let mut alternatives = vec![vec![self.literal(depth)?]];
        loop {
            let last = alternatives.last_mut().expect("there is one");
            if self.accept(Token::And) || (with_commas && self.accept(Token::Comma)) {
                last.push(self.literal(depth)?);
            } else if self.accept(Token::Or) {
                alternatives.push(vec![self.literal(depth)?]);
            } else {
                return Ok(alternatives);
            }
        }
    }

    fn disjunction(&mut self, alternatives: Vec<Vec<NodeId>>) -> NodeId {
        let first = alternatives[0][0];
        let or = self.name(Keyword::Or.name(), self.start_of(first));
        let mut members = vec![or];
        for conjunction in alternatives {
            members.push(self.conjunction(&conjunction));
        }
        self.list(&members)
    }

    fn conjunction(&mut self, literals: &[NodeId]) -> NodeId {
        if let [only] = literals {
            return *only;
        }
        let and = self.name(Keyword::And.name(), self.start_of(literals[0]));
        let members: Vec<NodeId> = std::iter::once(and)
            .chain(literals.iter().copied())
            .collect();
        self.list(&members)
    }

    /// `~p(X)`, `(a | b)`, `X != Y`, `p(X)`, or a term.
    fn literal(&mut self, depth: usize) -> Parsed {
        if depth >= self.limits.depth {
            let message = format!(
                "brackets are nested more than {} deep here",
                self.limits.depth
            );
            return self.fail_here(
                Kind::TooDeep,
                &message,
                "no real rulesheet nests that deep; is a `)` missing?",
            );
        }
        let left = match self.peek() {
            Token::Not => {
                self.at += 1;
                let not = self.name(Keyword::Not.name(), self.before());
                let negated = self.literal(depth + 1)?;
                self.list(&[not, negated])
            }
            Token::Open => {
                let open = self.next().span;
                let alternatives = self.alternatives(true, depth + 1)?;
                self.close(open)?;
                match alternatives.as_slice() {
                    [conjunction] => self.conjunction(conjunction),
                    _ => self.disjunction(alternatives),
                }
            }
            Token::Variable => {
                let span = self.next().span;
                self.variable(span)
            }
            Token::Name | Token::Quoted => self.atom(depth)?,
            _ => {
                return self.fail_here(
                    Kind::Syntax,
                    "a literal or a term is expected here",
                    "write for example `true(cell(X, b))`, `~line(x)` or `distinct(X, Y)`",
                );
            }
        };
        if !self.accept(Token::Unequal) {
            return Ok(left);
        }
        let distinct = self.name(Keyword::Distinct.name(), self.before());
        let right = self.literal(depth + 1)?;
        let list = self.list(&[distinct, left, right]);
        Ok(list)
    }

    /// `name` or `name(arguments)`.
    fn atom(&mut self, depth: usize) -> Parsed {
        let lexeme = self.next();
        let text = self.source.slice(lexeme.span);
        let name = match lexeme.token {
            Token::Quoted => self.unquote(text, lexeme.span)?,
            _ => self.name(text, lexeme.span),
        };
        let keyword = self.tree.name(name).and_then(Keyword::of);
        if let Some(keyword @ (Keyword::Arrow | Keyword::Not)) = keyword {
            return self.fail(
                Kind::Syntax,
                lexeme.span,
                &format!("`{keyword}` cannot be a name"),
                "write `head :- body` for a rule and `~literal` for a negation",
            );
        }
        let open = self.tokens[self.at];
        if open.token != Token::Open || open.span.start != lexeme.span.end {
            return Ok(name);
        }
        self.at += 1;
        let mut members = vec![name];
        if self.peek() != Token::Close {
            loop {
                let alternatives = self.alternatives(false, depth + 1)?;
                members.push(match alternatives.as_slice() {
                    [conjunction] => self.conjunction(conjunction),
                    _ => self.disjunction(alternatives),
                });
                if !self.accept(Token::Comma) {
                    break;
                }
            }
        }
        self.close(open.span)?;
        Ok(self.list(&members))
    }

    fn unquote(&mut self, text: &str, span: Span) -> Parsed {
        let Some(inner) = text.get(1..text.len() - 1).filter(|_| text.len() > 2) else {
            return self.fail(
                Kind::Syntax,
                span,
                "a quoted name is not closed or is empty",
                "write for example `'++'`",
            );
        };
        let is_unfit = |c: char| is_blank(c) || matches!(c, '(' | ')' | ';');
        if inner.contains(is_unfit) || inner.starts_with('?') {
            return self.fail(
                Kind::Syntax,
                span,
                "a name may not hold blanks, brackets or `;`, nor begin with `?`",
                "choose another name: prefix GDL cannot write this one",
            );
        }
        Ok(self.name(&inner.replace("''", "'"), span))
    }

    fn variable(&mut self, span: Span) -> NodeId {
        let text = self.source.slice(span);
        let name = match text {
            "_" => {
                self.n_anonymous = self.n_anonymous.wrapping_add(1);
                format!("?_{}", self.n_anonymous)
            }
            _ if text.starts_with('?') => text.to_owned(),
            _ => format!("?{text}"),
        };
        self.name(&name, span)
    }

    fn close(&mut self, open: Span) -> Result<(), Broken> {
        if self.accept(Token::Close) {
            return Ok(());
        }
        let is_next_rule = matches!(self.peek(), Token::Name | Token::Quoted)
            && self.is_line_start(self.tokens[self.at].span);
        if is_next_rule || matches!(self.peek(), Token::End | Token::Stop | Token::Arrow) {
            let finding =
                Diagnostic::error(Kind::Unclosed, open, "the `(` opened here is never closed")
                    .label(self.tokens[self.at].span, "the rule goes on or ends here");
            self.findings
                .push(finding.help("add the `)` that is missing"));
        } else {
            let here = self.tokens[self.at].span;
            let finding = Diagnostic::error(Kind::Syntax, here, "`,` or `)` is expected here")
                .label(open, "to go on with or close this bracket");
            self.findings.push(finding);
        }
        Err(Broken)
    }

    /// Skips to where the next rule may begin: behind a full stop, or a name in the first column.
    fn recover(&mut self, start: usize) {
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        while self.peek() != Token::End {
            let lexeme = self.tokens[self.at];
            let begins_rule = matches!(lexeme.token, Token::Name | Token::Quoted);
            if begins_rule && self.is_line_start(lexeme.span) {
                return;
            }
            self.at += 1;
            if lexeme.token == Token::Stop {
                return;
            }
        }
    }

    fn is_line_start(&self, span: Span) -> bool {
        let before = &self.source.text().as_bytes()[..span.start as usize];
        before
            .last()
            .is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
    }

    fn fail_here(&mut self, kind: Kind, message: &str, help: &str) -> Parsed {
        self.fail(kind, self.tokens[self.at].span, message, help)
    }

    fn fail(&mut self, kind: Kind, span: Span, message: &str, help: &str) -> Parsed {
        self.findings
            .push(Diagnostic::error(kind, span, message).help(help));
        Err(Broken)
    }

    fn peek(&self) -> Token {
        self.tokens[self.at].token
    }

    fn next(&mut self) -> Lexeme {
        let lexeme = self.tokens[self.at];
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        lexeme
    }

    fn accept(&mut self, token: Token) -> bool {
        let is_it = self.peek() == token;
        if is_it {
            self.at += 1;
        }
        is_it
    }

    /// The span of the token just read.
    fn before(&self) -> Span {
        self.tokens[self.at - 1].span
    }

    fn start_of(&self, node: NodeId) -> Span {
        let start = self.tree.span(node).start as usize;
        Span::new(start, start)
    }

    fn name(&mut self, name: &str, span: Span) -> NodeId {
        let symbol = self.symbols.intern(name);
        self.tree.push_name(symbol, span)
    }

    /// A list that spans its members and everything up to the token just read.
    fn list(&mut self, members: &[NodeId]) -> NodeId {
        let span = members
            .iter()
            .map(|&member| self.tree.span(member))
            .reduce(Span::to)
            .unwrap_or_default();
        let list = self.tree.push_list(span.to(self.before()));
        self.tree.attach_all(list, members);
        list
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        check_within(text, Limits::default(), expected);
    }

    fn check_within(text: &str, limits: Limits, expected: Expect) {
        let source = Source::new(text.as_bytes());
        let (mut symbols, mut findings) = (SymbolTable::new(), Diagnostics::new());
        let tree = read(&source, &limits, &mut symbols, &mut findings);
        expected.assert_eq(&(tree.to_text(&symbols) + &findings.to_text(&source)));
    }

    #[test]
    fn facts_and_rules_with_and_without_full_stops() {
        check(
            "role(white). terminal :- line(x).\nopen.\nlegal(w, noop) :- .",
            expect![[r#"
            (role white)
            (<= terminal (line x))
            open
            (<= (legal w noop))
        "#]],
        );
        check(
            "role(white) terminal :- line(x)\nopen\nlegal(w, noop) :- ",
            expect![[r#"
            (role white)
            (<= terminal (line x))
            open
            (<= (legal w noop))
        "#]],
        );
    }

    #[test]
    fn a_missing_full_stop_is_told_at_the_end_of_its_rule() {
        check(
            "role(white).\nrole(black)\nterminal :-\n  true(a) &\n  ~true(é)  % no end\n\nopen.\np :- q r.\nlast :- X != ä",
            expect![[r#"
                (role white)
                (role black)
                (<= terminal (true a) (not (true é)))
                open
                (<= p q)
                r
                (<= last (distinct ?X ä))
                error 2:11 syntax: the full stop at the end of this rule is missing
                error 5:10 syntax: the full stop at the end of this rule is missing
                error 8:6 syntax: the full stop at the end of this rule is missing
                error 9:14 syntax: the full stop at the end of this rule is missing
            "#]],
        );
    }

    #[test]
    fn a_full_stop_needs_no_blank_behind_it() {
        check(
            "role(a).role(b).init(c).p:-q.r.",
            expect![[r#"
            (role a)
            (role b)
            (init c)
            (<= p q)
            r
        "#]],
        );
    }

    #[test]
    fn a_full_stop_between_digits_is_part_of_the_number() {
        check(
            "goal(a, 50.5). p(1.2.3). q(7).",
            expect![[r#"
            (goal a 50.5)
            (p 1.2.3)
            (q 7)
        "#]],
        );
    }

    #[test]
    fn every_sign_of_a_conjunction() {
        check(
            "p :- a, b & c ∧ d.",
            expect![[r#"
            (<= p a b c d)
        "#]],
        );
    }

    #[test]
    fn a_disjunction_binds_weaker_than_a_conjunction() {
        check(
            "p :- a, b | c & d ∨ e.",
            expect![[r#"
            (<= p (or (and a b) (and c d) e))
        "#]],
        );
        check(
            "p :- a, (b | c), d.",
            expect![[r#"
            (<= p a (or b c) d)
        "#]],
        );
    }

    #[test]
    fn every_sign_of_a_negation() {
        check(
            "p :- ~a, ¬b, not c, not(d), ~(e | f), ~~g.",
            expect![[r#"
            (<= p (not a) (not b) (not c) (not d) (not (or e f)) (not (not g)))
        "#]],
        );
    }

    #[test]
    fn every_sign_of_an_inequality() {
        check(
            "p(X, Y) :- q(X, Y), X != Y, X \\= a, f(X) ≠ Y, distinct(X, b).",
            expect![[r#"
            (<= (p ?X ?Y) (q ?X ?Y) (distinct ?X ?Y) (distinct ?X a) (distinct (f ?X) ?Y) (distinct ?X b))
        "#]],
        );
    }

    #[test]
    fn every_sign_of_the_arrow() {
        check(
            "p :- q. p ← q. p:-q.",
            expect![[r#"
            (<= p q)
            (<= p q)
            (<= p q)
        "#]],
        );
    }

    #[test]
    fn variables_begin_with_a_capital_or_an_underscore() {
        check(
            "p(X, Xy, _x, ?z, x) :- q.",
            expect![[r#"
            (<= (p ?X ?Xy ?_x ?z x) q)
        "#]],
        );
    }

    #[test]
    fn a_lone_underscore_is_a_new_variable_each_time() {
        check(
            "p(X) :- q(X, _), r(_).",
            expect![[r#"
            (<= (p ?X) (q ?X ?_1) (r ?_2))
        "#]],
        );
    }

    #[test]
    fn anonymous_variables_never_meet_numbered_ones() {
        check(
            "p(_1) :- q(_, _1, _2).",
            expect![[r#"
            (<= (p ?_1) (q ?_3 ?_1 ?_2))
        "#]],
        );
    }

    #[test]
    fn odd_names_are_quoted() {
        check(
            "p('++', 'Upper', 'it''s', 'a.b').",
            expect![[r#"
            (p ++ Upper it's a.b)
        "#]],
        );
    }

    #[test]
    fn quotes_that_hold_nothing_or_too_much() {
        check(
            "p('').\np('a b').\np('?x').\np('open\n).\nq.",
            expect![[r#"
            q
            error 1:3 syntax: a quoted name is not closed or is empty
            error 2:3 syntax: a name may not hold blanks, brackets or `;`, nor begin with `?`
            error 3:3 syntax: a name may not hold blanks, brackets or `;`, nor begin with `?`
            error 4:3 syntax: a quoted name is not closed or is empty
        "#]],
        );
    }

    #[test]
    fn connectives_cannot_be_names() {
        check(
            "p('not').\n'<='(a, b).\np(<=).\nq.",
            expect![[r#"
            q
            error 1:3 syntax: `not` cannot be a name
            error 2:1 syntax: `<=` cannot be a name
            error 3:3 syntax: `<=` cannot be a name
        "#]],
        );
    }

    #[test]
    fn comments_begin_with_a_percent_sign_or_a_semicolon() {
        check(
            "p. % one. q\n; two. r\ns.",
            expect![[r#"
            p
            s
        "#]],
        );
    }

    #[test]
    fn a_missing_bracket_is_told_and_reading_goes_on() {
        check(
            "p(X :- q(X).\nr(a).",
            expect![[r#"
            (r a)
            error 1:2 unclosed: the `(` opened here is never closed
        "#]],
        );
        check(
            "p :- q(a, (b | c).\nr(a).",
            expect![[r#"
            (r a)
            error 1:7 unclosed: the `(` opened here is never closed
        "#]],
        );
    }

    #[test]
    fn a_missing_bracket_before_a_rule_without_full_stops() {
        check(
            "p :- q(f(a)\nr(b)",
            expect![[r#"
            (r b)
            error 1:7 unclosed: the `(` opened here is never closed
        "#]],
        );
    }

    #[test]
    fn an_arrow_without_a_body_before_the_next_rule() {
        check(
            "p(a) :-\nq(b) :- r.\ns.",
            expect![[r#"
            s
            error 1:6 syntax: this rule has no end before the next one begins, or no body
        "#]],
        );
    }

    #[test]
    fn a_bracket_too_many_is_told() {
        check(
            "p(a)).\nq(b).",
            expect![[r#"
                (p a)
                (q b)
                error 1:5 unopened: this `)` closes nothing: no `(` is open here
            "#]],
        );
    }

    #[test]
    fn missing_literals_and_arguments_are_told() {
        check(
            "p :- q, .\np(a, ).\np :- ~ .\nq(b)",
            expect![[r#"
                (q b)
                error 1:9 syntax: a literal or a term is expected here
                error 2:6 syntax: a literal or a term is expected here
                error 3:8 syntax: a literal or a term is expected here
                error 4:4 syntax: the full stop at the end of this rule is missing
            "#]],
        );
    }

    #[test]
    fn reading_goes_on_behind_a_full_stop_or_at_a_name_in_the_first_column() {
        check(
            ":- a. b.\n& c\nd(e)",
            expect![[r#"
                b
                (d e)
                error 1:1 syntax: a rule must begin with a name
                error 2:1 syntax: a rule must begin with a name
                error 3:4 syntax: the full stop at the end of this rule is missing
            "#]],
        );
    }

    #[test]
    fn prefix_rules_in_an_infix_file() {
        check(
            "role(a).\n(role b)\nrole(c).",
            expect![[r#"
            (role a)
            (role c)
            error 2:1 mixed-syntax: a rule in prefix form stands in an infix file
        "#]],
        );
        check(
            "% a comment\n(role b)",
            expect![[r#"
            error 2:1 mixed-syntax: a rule in prefix form stands in an infix file
        "#]],
        );
    }

    #[test]
    fn a_variable_cannot_have_arguments() {
        check(
            "p(X) :- Q(X).",
            expect![[r#"
                (<= (p ?X) ?Q)
                error 1:9 not-a-name: a variable cannot have arguments
            "#]],
        );
    }

    #[test]
    fn brackets_and_negations_deeper_than_the_limit() {
        let limits = Limits {
            depth: 4,
            ..Limits::default()
        };
        check_within(
            "p(f(f(f(f(a))))).\nq :- ~~~~~r.\ns.",
            limits,
            expect![[r#"
            s
            error 1:9 too-deep: brackets are nested more than 4 deep here
            error 2:9 too-deep: brackets are nested more than 4 deep here
        "#]],
        );
    }

    #[test]
    fn a_name_longer_than_the_limit_is_not_echoed() {
        let limits = Limits {
            name: 8,
            ..Limits::default()
        };
        check_within(
            "p(abcdefghijkl). q.",
            limits,
            expect![[r#"
            (p)
            q
            error 1:3 name-too-long: this name has 12 bytes, more than the limit of 8
        "#]],
        );
    }
}
