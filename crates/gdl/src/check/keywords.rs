//! Keywords in their place, with their number of arguments, and all of those that a game needs.

use crate::ast::{Atom, Rule, Term};
use crate::check::outline::Outline;
use crate::check::{arguments, keyword_of};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind};
use crate::read::Syntax;
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};

/// Adds findings about every rule.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let mut check = KeywordCheck { outline, findings };
    for (idx, rule) in outline.rules.iter().enumerate() {
        check.head(rule);
        check.arguments(&rule.head);
        for usage in outline.uses(idx) {
            check.body(usage.atom);
            check.arguments(usage.atom);
        }
        for literal in &rule.body {
            check.connectives(literal);
        }
    }
    ordinary(outline, findings);
}

/// Adds a warning for each keyword that the sheet uses as a relation of its own, where it first stands.
fn ordinary(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let mut told: Vec<SymbolId> = Vec::new();
    for (idx, rule) in outline.rules.iter().enumerate() {
        let uses = outline.uses(idx).iter().map(|usage| usage.atom);
        for atom in std::iter::once(&rule.head).chain(uses) {
            if !outline.is_ordinary(atom.name) || told.contains(&atom.name) {
                continue;
            }
            told.push(atom.name);
            let Some(keyword) = Keyword::of(atom.name) else {
                continue;
            };
            let expected = keyword.arity().unwrap_or(0);
            let message = format!(
                "`{keyword}` never has {} in this sheet, so it is read as an ordinary relation",
                arguments(expected)
            );
            let help = "give the relation another name, or write `(base (cell 1 1 b))` and `(input white (mark 1 1))`";
            findings.push(Diagnostic::warning(Kind::KeywordArity, atom.span, message).help(help));
        }
    }
}

/// Adds findings about what no game can do without.
pub(super) fn check_missing(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let examples = [
        (Keyword::Role, "(role white)"),
        (
            Keyword::Legal,
            "(<= (legal ?r (mark ?x)) (true (cell ?x b)))",
        ),
        (Keyword::Goal, "(<= (goal white 100) (line x))"),
        (Keyword::Terminal, "(<= terminal (line x))"),
    ];
    for (keyword, example) in examples {
        let is_there = outline
            .keyword(keyword)
            .is_some_and(|relation| !outline.defining(relation).is_empty());
        if !is_there {
            let what = if keyword == Keyword::Role {
                "fact"
            } else {
                "rule or fact"
            };
            findings.push(
                Diagnostic::file_error(
                    Kind::MissingKeyword,
                    format!("the description has no `{keyword}` {what}"),
                )
                .help(format!("every game needs one, for example `{example}`")),
            );
        }
    }
}

/// The change that writes a rule without a body as a fact.
fn as_fact(outline: &Outline<'_>, rule: &Rule) -> Edit {
    let head = outline.source.slice(rule.head.span);
    let is_bare = outline.syntax == Syntax::Prefix && !head.starts_with('(');
    let text = if is_bare {
        format!("({head})")
    } else {
        head.to_owned()
    };
    Edit::replace(rule.span, text)
}

struct KeywordCheck<'a, 'b> {
    outline: &'a Outline<'a>,
    findings: &'b mut Diagnostics,
}

impl KeywordCheck<'_, '_> {
    fn head(&mut self, rule: &Rule) {
        let span = rule.head.span;
        match keyword_of(&rule.head) {
            Some(keyword @ (Keyword::True | Keyword::Does)) => {
                let (what, instead) = if rule.has_arrow {
                    ("the head of a rule", "next")
                } else {
                    ("a fact", "init")
                };
                let given = if keyword == Keyword::True {
                    "the state"
                } else {
                    "the players' moves"
                };
                let help = if keyword == Keyword::True {
                    format!("to say what holds, use `{instead}`")
                } else {
                    "to say what a role may do, use `legal`".to_owned()
                };
                let message = format!("`{keyword}` cannot be {what}: it is given by {given}");
                self.findings
                    .push(Diagnostic::error(Kind::KeywordHead, span, message).help(help));
            }
            Some(Keyword::Role) if !rule.body.is_empty() => self.findings.push(
                Diagnostic::error(
                    Kind::KeywordHead,
                    span,
                    "`role` cannot be the head of a rule: roles are facts",
                )
                .help("write `(role name)` for each role"),
            ),
            _ => {}
        }
        if rule.has_arrow && rule.body.is_empty() {
            self.findings.push(
                Diagnostic::warning(
                    Kind::EmptyBody,
                    rule.span,
                    "this rule has no body, so it is a fact",
                )
                .help("write it without `<=`")
                .fix(
                    "Write it without the arrow",
                    vec![as_fact(self.outline, rule)],
                ),
            );
        }
        self.arity(&rule.head);
    }

    fn body(&mut self, atom: &Atom) {
        let Some(keyword) = keyword_of(atom).filter(|_| !self.outline.is_ordinary(atom.name))
        else {
            return;
        };
        let hint = match keyword {
            Keyword::Init => {
                "to ask what holds now, use `true`; facts about the start need a relation of their own"
            }
            Keyword::Next => {
                "put the conditions of the `next` rules into a relation of their own and use that"
            }
            Keyword::Sees if self.outline.is_gdl2 => {
                "nothing may depend on what roles see: put its conditions into a relation of its own and use that in both places"
            }
            Keyword::Base | Keyword::Input => {
                "put its conditions into a relation of its own and use that in both places"
            }
            _ => return self.arity(atom),
        };
        let message =
            format!("`{keyword}` cannot be a condition: it may stand only in heads and facts");
        self.findings
            .push(Diagnostic::error(Kind::KeywordBody, atom.span, message).help(hint));
    }

    fn arity(&mut self, atom: &Atom) {
        let Some(keyword) = keyword_of(atom).filter(|_| !self.outline.is_ordinary(atom.name))
        else {
            return;
        };
        let Some(expected) = keyword.arity() else {
            return;
        };
        let found = atom.args.len();
        // In GDL-I `sees` is a name like any other.
        if found == expected || (keyword == Keyword::Sees && !self.outline.is_gdl2) {
            return;
        }
        let argument = if expected == 1 {
            "argument"
        } else {
            "arguments"
        };
        let message = format!("`{keyword}` takes exactly {expected} {argument}, not {found}");
        let help = match keyword {
            Keyword::Role => "write `(role name)` for each role",
            Keyword::Init | Keyword::True | Keyword::Next | Keyword::Base => {
                "put brackets around the fluent: `(true (cell 1 1 b))`"
            }
            Keyword::Legal | Keyword::Does | Keyword::Input => {
                "give a role and a move: `(does white (mark 1 1))`"
            }
            Keyword::Goal => "give a role and a value: `(goal white 100)`",
            Keyword::Terminal => "write `terminal` alone and put the conditions into the body",
            _ => "give a role and what it sees",
        };
        self.findings
            .push(Diagnostic::error(Kind::KeywordArity, atom.span, message).help(help));
    }

    /// Terms of a top-level atom.
    fn arguments(&mut self, atom: &Atom) {
        let in_sees = self.outline.is_gdl2 && Keyword::of(atom.name) == Some(Keyword::Sees);
        for arg in &atom.args {
            self.term(arg, in_sees);
        }
    }

    fn term(&mut self, term: &Term, in_sees: bool) {
        match term {
            Term::Variable(..) => {}
            Term::Constant(name, span) => self.constant(*name, *span),
            Term::Compound(name, args, span) => {
                self.function(*name, *span, in_sees);
                for arg in args {
                    self.term(arg, in_sees);
                }
            }
        }
    }

    fn constant(&mut self, name: SymbolId, span: Span) {
        let Some(keyword) = Keyword::of(name) else {
            return;
        };
        let finding = match keyword {
            Keyword::Arrow | Keyword::Not | Keyword::Or | Keyword::Distinct => Diagnostic::error(
                Kind::ConnectiveName,
                span,
                format!("`{keyword}` cannot be a constant"),
            )
            .help("are brackets missing around it, or is another name needed?"),
            Keyword::And | Keyword::Sees => return,
            _ => Diagnostic::warning(
                Kind::KeywordConstant,
                span,
                format!("the keyword `{keyword}` is used as a constant"),
            )
            .help("it works here, but another name would be clearer"),
        };
        self.findings.push(finding);
    }

    fn function(&mut self, name: SymbolId, span: Span, in_sees: bool) {
        let Some(keyword) = Keyword::of(name) else {
            return;
        };
        if matches!(keyword, Keyword::And | Keyword::Sees) {
            return;
        }
        let message = format!("the keyword `{keyword}` is used as a function inside a term");
        // GDL-II sheets let roles see moves as `(sees r (does r2 m))`.
        let finding = if in_sees && !keyword.is_connective() {
            Diagnostic::warning(Kind::KeywordFunction, span, message)
                .help("another name would be clearer")
        } else if keyword.is_connective() {
            Diagnostic::error(Kind::ConnectiveName, span, message)
                .help("connectives join literals; terms need another name")
        } else {
            Diagnostic::error(Kind::KeywordFunction, span, message)
                .help("choose another name for the function")
        };
        self.findings.push(finding);
    }

    fn connectives(&mut self, literal: &crate::ast::Literal) {
        use crate::ast::Literal;
        match literal {
            Literal::Atom(_) | Literal::Distinct(..) => {}
            Literal::Not(inner, span) => {
                let what = match **inner {
                    Literal::Not(..) => Some("not"),
                    Literal::Or(..) => Some("or"),
                    Literal::Distinct(..) => Some("distinct"),
                    _ => None,
                };
                if let Some(what) = what {
                    let message =
                        format!("`not` is applied to `{what}`, which strict GDL does not know");
                    self.findings.push(
                        Diagnostic::warning(Kind::NegatedConnective, *span, message)
                            .help("it is read as logic has it; other systems may refuse it"),
                    );
                }
                self.connectives(inner);
            }
            Literal::Or(members, span) if members.is_empty() => self.findings.push(
                Diagnostic::warning(
                    Kind::EmptyOr,
                    *span,
                    "an `or` of nothing is always false, so this rule never fires",
                )
                .help("add the alternatives, or delete the rule"),
            ),
            Literal::And(members, _) | Literal::Or(members, _) => {
                members.iter().for_each(|member| self.connectives(member));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::{Limits, parse};

    fn check(sheet: &str, expected: Expect) {
        let description = parse(sheet.as_bytes(), &Limits::default());
        assert!(
            !description.findings.has_errors(),
            "the snippet can be read"
        );
        let mut findings = Diagnostics::new();
        super::check(&Outline::new(&description), &mut findings);
        findings.sort();
        expected.assert_eq(&findings.to_text(&description.source));
    }

    #[test]
    fn every_keyword_has_its_number_of_arguments() {
        check(
            "(role a b)\n(init)\n(next a b)\n(legal a)\n(goal a)\n(base a b)\n(input a)\n(terminal a)",
            expect![[r#"
            error 1:1 keyword-arity: `role` takes exactly 1 argument, not 2
            error 2:1 keyword-arity: `init` takes exactly 1 argument, not 0
            error 3:1 keyword-arity: `next` takes exactly 1 argument, not 2
            error 4:1 keyword-arity: `legal` takes exactly 2 arguments, not 1
            error 5:1 keyword-arity: `goal` takes exactly 2 arguments, not 1
            error 6:1 keyword-arity: `base` takes exactly 1 argument, not 2
            error 7:1 keyword-arity: `input` takes exactly 2 arguments, not 1
            error 8:1 keyword-arity: `terminal` takes exactly 0 arguments, not 1
        "#]],
        );
        check(
            "(<= p (true a b))\n(<= p (does a))\n(<= p (role))\n(<= p (legal a b c))\n(<= p (terminal x))",
            expect![[r#"
            error 1:7 keyword-arity: `true` takes exactly 1 argument, not 2
            error 2:7 keyword-arity: `does` takes exactly 2 arguments, not 1
            error 3:7 keyword-arity: `role` takes exactly 1 argument, not 0
            error 4:7 keyword-arity: `legal` takes exactly 2 arguments, not 3
            error 5:7 keyword-arity: `terminal` takes exactly 0 arguments, not 1
        "#]],
        );
    }

    #[test]
    fn right_numbers_of_arguments_say_nothing() {
        check(
            "(role a) (init f) (base f) (input a m) (legal a m) (goal a 1) terminal (<= (next f) (true f) (does a m) (terminal))",
            expect![[""]],
        );
    }

    #[test]
    fn the_state_and_the_moves_are_no_heads() {
        check(
            "(true a)\n(does a b)\n(<= (true a) p)\n(<= (does a b) p)",
            expect![[r#"
            error 1:1 keyword-head: `true` cannot be a fact: it is given by the state
            error 2:1 keyword-head: `does` cannot be a fact: it is given by the players' moves
            error 3:5 keyword-head: `true` cannot be the head of a rule: it is given by the state
            error 4:5 keyword-head: `does` cannot be the head of a rule: it is given by the players' moves
        "#]],
        );
    }

    #[test]
    fn roles_are_facts() {
        check(
            "(<= (role ?x) (p ?x))\n(<= (role a))\n(role b)",
            expect![[r#"
            error 1:5 keyword-head: `role` cannot be the head of a rule: roles are facts
            warning 2:1 empty-body: this rule has no body, so it is a fact
        "#]],
        );
    }

    #[test]
    fn what_may_stand_only_in_heads() {
        check(
            "(<= p (init a))\n(<= p (not (next a)))\n(<= p (or q (base a)))\n(<= p (input a b))",
            expect![[r#"
            error 1:7 keyword-body: `init` cannot be a condition: it may stand only in heads and facts
            error 2:12 keyword-body: `next` cannot be a condition: it may stand only in heads and facts
            error 3:13 keyword-body: `base` cannot be a condition: it may stand only in heads and facts
            error 4:7 keyword-body: `input` cannot be a condition: it may stand only in heads and facts
        "#]],
        );
    }

    #[test]
    fn legal_goal_and_terminal_may_be_conditions() {
        check(
            "(<= p (legal a b) (goal a 1) (not terminal) (role a))",
            expect![[""]],
        );
    }

    #[test]
    fn keywords_as_functions_and_constants() {
        check(
            "(p (true a))\n(p true)\n(p (f next))\n(p (not a))\n(p or)\n(p <=)\n(p and)\n(p (and a))",
            expect![[r#"
            error 1:4 keyword-function: the keyword `true` is used as a function inside a term
            warning 2:4 keyword-constant: the keyword `true` is used as a constant
            warning 3:7 keyword-constant: the keyword `next` is used as a constant
            error 4:4 connective-name: the keyword `not` is used as a function inside a term
            error 5:4 connective-name: `or` cannot be a constant
            error 6:4 connective-name: `<=` cannot be a constant
        "#]],
        );
    }

    #[test]
    fn keywords_inside_of_sees_are_warnings() {
        check(
            "(role a)\n(<= (sees a (does b ?m)) (does b ?m))",
            expect![[r#"
                warning 2:13 keyword-function: the keyword `does` is used as a function inside a term
            "#]],
        );
    }

    #[test]
    fn sees_is_a_name_like_any_other_where_bodies_use_it() {
        check("(sees a b c) (sees a b) (<= p (sees a b))", expect![[""]]);
    }

    #[test]
    fn an_empty_body_is_a_fact() {
        check(
            "(<= (p a))",
            expect![[r#"
            warning 1:1 empty-body: this rule has no body, so it is a fact
        "#]],
        );
    }

    #[test]
    fn odd_connectives() {
        check(
            "(<= p (not (not q)))\n(<= p (not (or q r)))\n(<= p (not (distinct a b)))\n(<= p (or))\n(<= p (and (or)))",
            expect![[r#"
            warning 1:7 negated-connective: `not` is applied to `not`, which strict GDL does not know
            warning 2:7 negated-connective: `not` is applied to `or`, which strict GDL does not know
            warning 3:7 negated-connective: `not` is applied to `distinct`, which strict GDL does not know
            warning 4:7 empty-or: an `or` of nothing is always false, so this rule never fires
            warning 5:12 empty-or: an `or` of nothing is always false, so this rule never fires
        "#]],
        );
    }

    #[test]
    fn a_keyword_that_is_always_used_as_another_relation_is_told_once() {
        check(
            "(base cell 3)\n(base control 1)",
            expect![[r#"
            warning 1:1 keyword-arity: `base` never has 1 argument in this sheet, so it is read as an ordinary relation
        "#]],
        );
        check(
            "(<= (next (p ?x)) (base ?x ?y ?z))\n(base a b c)\n(input a b c)\n(<= (q ?x) (not (input ?x b c)) (base ?x b c))",
            expect![[r#"
            warning 1:19 keyword-arity: `base` never has 1 argument in this sheet, so it is read as an ordinary relation
            warning 3:1 keyword-arity: `input` never has 2 arguments in this sheet, so it is read as an ordinary relation
        "#]],
        );
    }

    #[test]
    fn a_single_slip_is_an_error() {
        check(
            "(base (light on))\n(base light off)\n(base light dim)\n(input robot)",
            expect![[r#"
            error 2:1 keyword-arity: `base` takes exactly 1 argument, not 2
            error 3:1 keyword-arity: `base` takes exactly 1 argument, not 2
            error 4:1 keyword-arity: `input` takes exactly 2 arguments, not 1
        "#]],
        );
    }

    #[test]
    fn what_no_game_can_do_without() {
        let description = parse(b"(role a) (<= (legal a b) terminal)", &Limits::default());
        let mut findings = Diagnostics::new();
        check_missing(&Outline::new(&description), &mut findings);
        expect![[r#"
            error - missing-keyword: the description has no `goal` rule or fact
            error - missing-keyword: the description has no `terminal` rule or fact
        "#]]
        .assert_eq(&findings.to_text(&description.source));
    }
}
