//! The parser: bracket structure → rules as written.
//!
//! In: bytes. Out: a [`Description`] in every case; parts that cannot be parsed are findings in it. The structure is
//! checked here (a head is a relation, `not` has one literal, a functor is a name), the meaning by [`crate::check`].

use std::sync::Arc;

use crate::ast::{Atom, Description, Literal, Rule, Term};
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::read::{Limits, read};
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId, SymbolTable};
use crate::tree::{NodeId, Root, Tree};

/// Reads a rulesheet in either syntax. It never fails: see [`Description::findings`].
///
/// ```
/// let description = agon_gdl::parse(b"(role white) (<= terminal (true done))", &Default::default());
/// assert_eq!(description.rules.len(), 2);
/// assert!(!description.findings.has_errors());
/// ```
#[must_use]
pub fn parse(text: &[u8], limits: &Limits) -> Description {
    let mut symbols = SymbolTable::new();
    let mut findings = Diagnostics::new();
    let reading = read(text, limits, &mut symbols, &mut findings);
    let mut parser = Parser {
        tree: &reading.tree,
        symbols: &symbols,
        findings: &mut findings,
    };
    let rules = parser.forms();
    Description {
        source: Arc::new(reading.source),
        symbols,
        syntax: reading.syntax,
        rules,
        findings,
    }
}

struct Parser<'a> {
    tree: &'a Tree,
    symbols: &'a SymbolTable,
    findings: &'a mut Diagnostics,
}

impl Parser<'_> {
    fn forms(&mut self) -> Vec<Rule> {
        if self.is_prose() {
            return Vec::new();
        }
        let tree = self.tree;
        if let Some(wrapper) = self.wrapper() {
            let forms = tree.children(wrapper);
            return forms.filter_map(|node| self.form(node)).collect();
        }
        let mut rules = Vec::with_capacity(tree.roots.len());
        let whole = tree.roots.iter().filter(|root| !root.damaged);
        rules.extend(whole.filter_map(|root| self.form(root.node)));
        rules
    }

    /// The single list around all rules, as in START messages: `((role white) (role black) …)`.
    fn wrapper(&self) -> Option<NodeId> {
        let [root] = self.tree.roots.as_slice() else {
            return None;
        };
        let first = self.tree.children(root.node).next()?;
        let is_wrapper = !root.damaged && self.tree.name(first).is_none();
        is_wrapper.then_some(root.node)
    }

    /// Whether the file is mostly words outside brackets and declares no role; then a single finding is reported.
    fn is_prose(&mut self) -> bool {
        let roots = &self.tree.roots;
        let is_word = |root: &&Root| self.tree.name(root.node).is_some();
        let n_words = roots.iter().filter(is_word).count();
        let is_role = |root: &Root| self.tree.functor(root.node) == Some(Keyword::Role.symbol());
        if n_words < 5 || n_words * 2 <= roots.len() || roots.iter().any(is_role) {
            return false;
        }
        let Some(first) = roots.iter().find(is_word) else {
            return false;
        };
        let span = self.tree.span(first.node);
        let message = "this is not a game description: most of it is outside brackets";
        self.findings.push(
            Diagnostic::error(Kind::NotGdl, span, message)
                .help("write facts as `(name …)` and rules as `(<= head body…)`"),
        );
        true
    }

    fn form(&mut self, node: NodeId) -> Option<Rule> {
        let span = self.tree.span(node);
        if let Some(name) = self.tree.name(node) {
            return self.top_level_word(name, span);
        }
        if self.tree.functor(node) == Some(Keyword::Arrow.symbol()) {
            return self.rule(node);
        }
        let head = self.head(node)?;
        Some(Rule {
            head,
            body: Vec::new(),
            span,
            has_arrow: false,
        })
    }

    fn top_level_word(&mut self, name: SymbolId, span: Span) -> Option<Rule> {
        let text = self.symbols.name(name);
        let is_connective = Keyword::of(name).is_some_and(Keyword::is_connective);
        if self.symbols.is_variable(name) || is_connective || text == ":-" {
            let message = format!("unexpected `{}` at the top level", shorten(text));
            self.error(Kind::Syntax, span, message, "is a `(` missing before it?");
            return None;
        }
        let head = Atom {
            name,
            args: Box::default(),
            span,
        };
        if Keyword::of(name) != Some(Keyword::Terminal) {
            let message = format!(
                "`{}` without brackets at the top level is read as a fact",
                shorten(text)
            );
            self.findings.push(
                Diagnostic::warning(Kind::TopLevelWord, span, message)
                    .help("is a `(` missing before it?"),
            );
        }
        Some(Rule {
            head,
            body: Vec::new(),
            span,
            has_arrow: false,
        })
    }

    /// `(<= head literal…)`.
    fn rule(&mut self, node: NodeId) -> Option<Rule> {
        let tree = self.tree;
        let span = tree.span(node);
        let mut members = tree.children(node).skip(1);
        let Some(head) = members.next() else {
            self.error(
                Kind::NoHead,
                span,
                "this rule has no head",
                "write `(<= head condition…)`",
            );
            return None;
        };
        let head = self.head(head);
        let mut body = Vec::new();
        let mut is_whole = true;
        for member in members {
            match self.literal(member) {
                Some(literal) => body.push(literal),
                None => is_whole = false,
            }
        }
        let head = head.filter(|_| is_whole)?;
        Some(Rule {
            head,
            body,
            span,
            has_arrow: true,
        })
    }

    fn head(&mut self, node: NodeId) -> Option<Atom> {
        let span = self.tree.span(node);
        let functor = self.tree.name(node).or_else(|| self.tree.functor(node));
        match functor
            .and_then(Keyword::of)
            .filter(|keyword| keyword.is_connective())
        {
            Some(Keyword::Arrow) => {
                self.error(
                    Kind::NestedRule,
                    span,
                    "rule inside another rule",
                    "is a `)` missing before it?",
                );
                None
            }
            Some(connective) => {
                let message = format!("`{connective}` cannot be a fact or the head of a rule");
                self.error(
                    Kind::ConnectiveHead,
                    span,
                    message,
                    "use it only in the body of a rule",
                );
                None
            }
            None => self.atom(node),
        }
    }

    fn atom(&mut self, node: NodeId) -> Option<Atom> {
        let span = self.tree.span(node);
        if let Some(name) = self.tree.name(node) {
            if self.symbols.is_variable(name) {
                let message = format!(
                    "expected a relation, found the variable `{}`",
                    self.text(name)
                );
                self.error(
                    Kind::VariableLiteral,
                    span,
                    message,
                    "write a relation, for example `(true ?f)`",
                );
                return None;
            }
            return Some(Atom {
                name,
                args: Box::default(),
                span,
            });
        }
        let name = self.functor(node, "a relation")?;
        let args = self.terms(node)?;
        Some(Atom { name, args, span })
    }

    /// The functor of a list, or a finding.
    fn functor(&mut self, list: NodeId, what: &str) -> Option<SymbolId> {
        let span = self.tree.span(list);
        let Some(first) = self.tree.children(list).next() else {
            self.error(
                Kind::EmptyList,
                span,
                "`()` is empty",
                format!("write the name of {what} in it, or delete it"),
            );
            return None;
        };
        let first_span = self.tree.span(first);
        match self.tree.name(first) {
            None => {
                let message = format!("expected the name of {what}, found a list");
                self.error(
                    Kind::NotAName,
                    first_span,
                    message,
                    "is there an extra `(`?",
                );
                None
            }
            Some(name) if self.symbols.is_variable(name) => {
                let message = format!(
                    "expected the name of {what}, found the variable `{}`",
                    self.text(name)
                );
                self.error(
                    Kind::NotAName,
                    first_span,
                    message,
                    "GDL is first-order: names of relations and functions cannot be variables",
                );
                None
            }
            Some(name) => Some(name),
        }
    }

    fn terms(&mut self, list: NodeId) -> Option<Box<[Term]>> {
        let tree = self.tree;
        let args = tree.children(list).skip(1);
        let mut terms = Vec::with_capacity(args.clone().count());
        // A broken argument breaks the atom, but all arguments are checked.
        let mut is_whole = true;
        for arg in args {
            match self.term(arg) {
                Some(term) => terms.push(term),
                None => is_whole = false,
            }
        }
        is_whole.then(|| terms.into_boxed_slice())
    }

    /// Recursion is safe here: the reader limits the depth of brackets.
    fn term(&mut self, node: NodeId) -> Option<Term> {
        let span = self.tree.span(node);
        if let Some(name) = self.tree.name(node) {
            return Some(if self.symbols.is_variable(name) {
                Term::Variable(name, span)
            } else {
                Term::Constant(name, span)
            });
        }
        if self.tree.functor(node) == Some(Keyword::Arrow.symbol()) {
            self.error(
                Kind::NestedRule,
                span,
                "rule inside another rule",
                "is a `)` missing before it?",
            );
            return None;
        }
        let name = self.functor(node, "a function")?;
        let args = self.terms(node)?;
        Some(Term::Compound(name, args, span))
    }

    fn literal(&mut self, node: NodeId) -> Option<Literal> {
        let span = self.tree.span(node);
        let name = self.tree.name(node);
        let functor = name.or_else(|| self.tree.functor(node));
        let Some(connective) = functor
            .and_then(Keyword::of)
            .filter(|keyword| keyword.is_connective())
        else {
            return self.atom(node).map(Literal::Atom);
        };
        if name.is_some() {
            let message = format!(
                "`{connective}` without brackets: it needs brackets around it and its operands"
            );
            self.error(
                Kind::ConnectiveName,
                span,
                message,
                format!("write `({connective} …)`"),
            );
            return None;
        }
        match connective {
            Keyword::Arrow => {
                self.error(
                    Kind::NestedRule,
                    span,
                    "rule inside another rule",
                    "is a `)` missing before it?",
                );
                None
            }
            Keyword::And => self
                .literals(node)
                .map(|members| Literal::And(members, span)),
            Keyword::Or => self
                .literals(node)
                .map(|members| Literal::Or(members, span)),
            Keyword::Not => self.negation(node),
            _ => self.distinct(node),
        }
    }

    fn literals(&mut self, list: NodeId) -> Option<Vec<Literal>> {
        let tree = self.tree;
        let members: Vec<Option<Literal>> = tree
            .children(list)
            .skip(1)
            .map(|child| self.literal(child))
            .collect();
        members.into_iter().collect()
    }

    fn negation(&mut self, node: NodeId) -> Option<Literal> {
        let span = self.tree.span(node);
        let mut members = self.literals(node)?;
        if members.len() != 1 {
            let message = format!("`not` takes exactly 1 literal, not {}", members.len());
            self.error(
                Kind::ConnectiveArity,
                span,
                message,
                "write one `(not …)` for each literal",
            );
            return None;
        }
        let inner = members.pop()?;
        if let Literal::And(..) = inner {
            let message = "`not` takes a single literal, not a conjunction";
            self.error(
                Kind::ConnectiveArity,
                span,
                message,
                "write `(or (not a) (not b))`, or define a relation for the conjunction",
            );
            return None;
        }
        Some(Literal::Not(Box::new(inner), span))
    }

    fn distinct(&mut self, node: NodeId) -> Option<Literal> {
        let span = self.tree.span(node);
        let terms = self.terms(node)?;
        match <[Term; 2]>::try_from(terms.into_vec()) {
            Ok([left, right]) => Some(Literal::Distinct(left, right, span)),
            Err(terms) => {
                let message = format!("`distinct` takes exactly 2 terms, not {}", terms.len());
                self.error(
                    Kind::ConnectiveArity,
                    span,
                    message,
                    "write `(distinct ?x ?y)`",
                );
                None
            }
        }
    }

    fn text(&self, name: SymbolId) -> String {
        shorten(self.symbols.name(name))
    }

    fn error(
        &mut self,
        kind: Kind,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.findings
            .push(Diagnostic::error(kind, span, message).help(help));
    }
}

/// A name for a message, shortened to fit a line.
pub(crate) fn shorten(name: &str) -> String {
    match name.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Prints rules in short form: `head <- literals`, then the findings.
    fn check(text: &str, expected: Expect) {
        let description = parse(text.as_bytes(), &Limits::default());
        let slice = |span: Span| description.source.slice(span);
        let mut out = String::new();
        for rule in &description.rules {
            let body: Vec<String> = rule
                .body
                .iter()
                .map(|literal| {
                    let sort = match literal {
                        Literal::Atom(_) => "atom",
                        Literal::Not(..) => "not",
                        Literal::And(..) => "and",
                        Literal::Or(..) => "or",
                        Literal::Distinct(..) => "distinct",
                    };
                    format!("{sort} {}", slice(literal.span()))
                })
                .collect();
            let arrow = if rule.has_arrow { " <- " } else { "" };
            out.push_str(&format!(
                "{}{arrow}{}\n",
                slice(rule.head.span),
                body.join(" | ")
            ));
        }
        expected.assert_eq(&(out + &description.findings.to_text(&description.source)));
    }

    #[test]
    fn facts_rules_and_every_sort_of_literal() {
        check(
            "(p a) (<= (q ?x) r (s ?x) (not t) (or a b) (and a b) (distinct ?x b)) (<= u) terminal",
            expect![[r#"
                (p a)
                (q ?x) <- atom r | atom (s ?x) | not (not t) | or (or a b) | and (and a b) | distinct (distinct ?x b)
                u <- 
                terminal
            "#]],
        );
    }

    #[test]
    fn keywords_in_any_case() {
        check(
            "(ROLE a) (<= (Next b) (NOT (TRUE c)) (Or d e))",
            expect![[r#"
            (ROLE a)
            (Next b) <- not (NOT (TRUE c)) | or (Or d e)
        "#]],
        );
    }

    #[test]
    fn a_rule_needs_a_head() {
        check(
            "(<=) (p a)",
            expect![[r#"
            (p a)
            error 1:1 no-head: this rule has no head
        "#]],
        );
    }

    #[test]
    fn connectives_are_not_heads() {
        check(
            "(not (p a))\n(or a b)\n(<= (distinct a b) (p a))\n(<= (<= a b) c)",
            expect![[r#"
                error 1:1 connective-head: `not` cannot be a fact or the head of a rule
                error 2:1 connective-head: `or` cannot be a fact or the head of a rule
                error 3:5 connective-head: `distinct` cannot be a fact or the head of a rule
                error 4:5 nested-rule: rule inside another rule
            "#]],
        );
    }

    #[test]
    fn a_rule_inside_a_rule_or_a_term() {
        check(
            "(<= (p a) (<= (q a) (r a)))\n(p (<= q r))",
            expect![[r#"
                error 1:11 nested-rule: rule inside another rule
                error 2:4 nested-rule: rule inside another rule
            "#]],
        );
    }

    #[test]
    fn relations_and_functions_have_names() {
        check(
            "(?p a)\n((p) a)\n(p (?f a))\n(p ((f) a))\n()\n(p ())",
            expect![[r#"
                error 1:2 not-a-name: expected the name of a relation, found the variable `?p`
                error 2:2 not-a-name: expected the name of a relation, found a list
                error 3:5 not-a-name: expected the name of a function, found the variable `?f`
                error 4:5 not-a-name: expected the name of a function, found a list
                error 5:1 empty-list: `()` is empty
                error 6:4 empty-list: `()` is empty
            "#]],
        );
    }

    #[test]
    fn a_variable_is_not_a_literal() {
        check(
            "(<= (p a) ?x)\n(<= ?x (p a))",
            expect![[r#"
                error 1:11 variable-literal: expected a relation, found the variable `?x`
                error 2:5 variable-literal: expected a relation, found the variable `?x`
            "#]],
        );
    }

    #[test]
    fn connectives_have_a_fixed_number_of_members() {
        check(
            "(<= p (not a b))\n(<= p (not))\n(<= p (not (and a b)))\n(<= p (distinct a))\n(<= p (distinct a b c))\n(<= p (or) (and))",
            expect![[r#"
                p <- or (or) | and (and)
                error 1:7 connective-arity: `not` takes exactly 1 literal, not 2
                error 2:7 connective-arity: `not` takes exactly 1 literal, not 0
                error 3:7 connective-arity: `not` takes a single literal, not a conjunction
                error 4:7 connective-arity: `distinct` takes exactly 2 terms, not 1
                error 5:7 connective-arity: `distinct` takes exactly 2 terms, not 3
            "#]],
        );
    }

    #[test]
    fn a_bare_connective_lacks_its_brackets() {
        check(
            "(<= terminal not open)",
            expect![[r#"
                error 1:14 connective-name: `not` without brackets: it needs brackets around it and its operands
            "#]],
        );
    }

    #[test]
    fn words_at_the_top_level() {
        check(
            "(p a) open terminal\n?x\n:-",
            expect![[r#"
                (p a)
                open
                terminal
                warning 1:7 top-level-word: `open` without brackets at the top level is read as a fact
                error 2:1 syntax: unexpected `?x` at the top level
                error 3:1 syntax: unexpected `:-` at the top level
            "#]],
        );
    }

    #[test]
    fn all_errors_of_a_rule_are_reported() {
        check(
            "(<= (p (?f a)) ?x (not a b) (q ()))",
            expect![[r#"
                error 1:9 not-a-name: expected the name of a function, found the variable `?f`
                error 1:16 variable-literal: expected a relation, found the variable `?x`
                error 1:19 connective-arity: `not` takes exactly 1 literal, not 2
                error 1:32 empty-list: `()` is empty
            "#]],
        );
    }

    #[test]
    fn prose_is_one_finding() {
        check(
            "Dear sir or madam, please find the rules (of chess) below.",
            expect![[r#"
                error 1:1 not-gdl: this is not a game description: most of it is outside brackets
            "#]],
        );
    }

    #[test]
    fn a_sheet_in_one_pair_of_brackets_as_on_the_wire() {
        check(
            "((role a) (<= terminal (true b)) terminal)",
            expect![[r#"
            (role a)
            terminal <- atom (true b)
            terminal
        "#]],
        );
    }

    #[test]
    fn brackets_around_one_of_several_forms_are_an_error() {
        check(
            "(role a) ((role b) (role c))",
            expect![[r#"
                (role a)
                error 1:11 not-a-name: expected the name of a relation, found a list
            "#]],
        );
    }
}
