//! Safety: every variable of a head, a negation or a `distinct` must be bound by a positive literal of the body.
//!
//! In an `or`, every alternative must bind it. `(not (distinct ?x t))` binds `?x` if `t` is bound. There is one
//! exception, because real sheets and all reference systems have it: an unbound variable in the position of a role
//! ranges over the roles. This gives a warning, and [`crate::lower`] adds the `role` literal.

use rustc_hash::FxHashMap;

use crate::ast::{Atom, Rule, Term};
use crate::check::bindings::{Bindings, Signed, Variables, View};
use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind, Severity};
use crate::print;
use crate::read::Syntax;
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};

/// Adds findings; returns, per rule, the variables that range over the roles.
pub(super) fn check(
    outline: &Outline<'_>,
    findings: &mut Diagnostics,
) -> FxHashMap<usize, Vec<SymbolId>> {
    let mut ranging = FxHashMap::default();
    for (idx, rule) in outline.rules.iter().enumerate() {
        let roles = check_rule(outline, rule, findings);
        if !roles.is_empty() {
            ranging.insert(idx, roles);
        }
    }
    ranging
}

fn check_rule(outline: &Outline<'_>, rule: &Rule, findings: &mut Diagnostics) -> Vec<SymbolId> {
    if rule.body.is_empty() && rule.head.args.iter().all(is_ground) {
        return Vec::new();
    }
    let body = Signed::body(rule);
    let bindings = Bindings::of(&body);
    let mut unsafe_uses = UnsafeUses::default();
    unsafe_uses.enter(&bindings);
    rule.head.for_each_variable(&mut |name, span| {
        unsafe_uses.note(name, span, Context::Head);
    });
    unsafe_uses.conjunction(&body, &mut bindings.choices.iter());
    if unsafe_uses.uses.is_empty() {
        return Vec::new();
    }
    let role_like = role_variables(rule);
    let unbound = unsafe_uses.uses.iter().map(|unsafe_use| unsafe_use.name);
    let unbound = unbound.filter(|name| !role_like.contains(name));
    let mentions = Mentions::new(rule, unbound.take(Diagnostics::MOST));
    let mut ranging = Vec::new();
    for unsafe_use in &unsafe_uses.uses {
        let is_role = role_like.contains(&unsafe_use.name);
        if is_role {
            ranging.push(unsafe_use.name);
        }
        let severity = if is_role {
            Severity::Warning
        } else {
            Severity::Error
        };
        match (findings.wants(severity), is_role) {
            (false, _) => findings.leave_out(severity),
            (true, true) => findings.push(role_finding(outline, rule, unsafe_use)),
            (true, false) => findings.push(unsafe_finding(outline, rule, unsafe_use, &mentions)),
        }
    }
    ranging
}

fn is_ground(term: &Term) -> bool {
    match term {
        Term::Variable(..) => false,
        Term::Constant(..) => true,
        Term::Compound(_, args, _) => args.iter().all(is_ground),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Head,
    Negation,
    Distinct,
}

struct UnsafeUse {
    name: SymbolId,
    span: Span,
    context: Context,
}

/// First unsafe use of each variable.
#[derive(Default)]
struct UnsafeUses {
    told: Variables,
    uses: Vec<UnsafeUse>,
    /// For each variable, how many of the conjunctions around the current literal bind it.
    n_binding: FxHashMap<SymbolId, u32>,
}

impl UnsafeUses {
    fn enter(&mut self, bindings: &Bindings) {
        for &name in &bindings.own {
            *self.n_binding.entry(name).or_default() += 1;
        }
    }

    fn leave(&mut self, bindings: &Bindings) {
        for name in &bindings.own {
            if let Some(n_binding) = self.n_binding.get_mut(name) {
                *n_binding -= 1;
            }
        }
    }

    fn note(&mut self, name: SymbolId, span: Span, context: Context) {
        let is_bound = self.n_binding.get(&name).is_some_and(|&n| n > 0);
        if !is_bound && self.told.insert(name) {
            self.uses.push(UnsafeUse {
                name,
                span,
                context,
            });
        }
    }

    /// Looks at the members of a conjunction whose bindings were entered. `choices` has those of its `or`s, in order.
    fn conjunction(
        &mut self,
        members: &[Signed<'_>],
        choices: &mut std::slice::Iter<'_, Vec<Bindings>>,
    ) {
        for signed in members {
            match signed.view() {
                View::Atom(_, false) => {}
                View::Atom(atom, true) => atom.for_each_variable(&mut |name, span| {
                    self.note(name, span, Context::Negation);
                }),
                View::Distinct(left, right) | View::Equal(left, right) => {
                    for term in [left, right] {
                        term.for_each_variable(&mut |name, span| {
                            self.note(name, span, Context::Distinct);
                        });
                    }
                }
                View::All(members) => self.conjunction(&members, choices),
                View::Any(alternatives) => {
                    let bindings = choices.next().expect("every `or` has bindings");
                    for (alternative, bindings) in alternatives.iter().zip(bindings) {
                        self.enter(bindings);
                        self.conjunction(&[*alternative], &mut bindings.choices.iter());
                        self.leave(bindings);
                    }
                }
            }
        }
    }
}

/// Variables in the position of a role.
fn role_variables(rule: &Rule) -> Variables {
    let mut roles = Variables::default();
    let mut look = |atom: &Atom| {
        let is_role_first = match Keyword::of(atom.name) {
            Some(
                Keyword::Legal | Keyword::Does | Keyword::Goal | Keyword::Input | Keyword::Sees,
            ) => atom.args.len() == 2,
            Some(Keyword::Role) => atom.args.len() == 1,
            _ => false,
        };
        if let Some(Term::Variable(name, _)) = atom.args.first().filter(|_| is_role_first) {
            roles.insert(*name);
        }
    };
    if Keyword::of(rule.head.name) != Some(Keyword::Role) {
        look(&rule.head);
    }
    for literal in &rule.body {
        literal.for_each_atom(&mut |atom, _| look(atom));
    }
    roles
}

fn role_finding(outline: &Outline<'_>, rule: &Rule, unsafe_use: &UnsafeUse) -> Diagnostic {
    let name = outline.name(unsafe_use.name);
    let message = format!(
        "the role variable `{name}` is not bound in the body; the rule is read as if `(role {name})` were in it"
    );
    Diagnostic::warning(Kind::RoleVariable, unsafe_use.span, message)
        .help(format!("add `(role {name})` to the body"))
        .fix(
            format!("Add `(role {name})` to the body"),
            vec![bind_role(outline, rule, unsafe_use.name)],
        )
}

/// The change that binds a role variable; a fact becomes a rule.
fn bind_role(outline: &Outline<'_>, rule: &Rule, variable: SymbolId) -> Edit {
    let variable = print::spell(outline.symbols.name(variable), outline.syntax);
    let head = outline.source.slice(rule.head.span);
    match outline.syntax {
        Syntax::Prefix if rule.body.is_empty() => {
            Edit::replace(rule.span, format!("(<= {head} (role {variable}))"))
        }
        Syntax::Infix if rule.body.is_empty() => {
            Edit::replace(rule.span, format!("{head} :- role({variable})"))
        }
        Syntax::Prefix => outline.add_literal(rule, &format!("(role {variable})")),
        Syntax::Infix => outline.add_literal(rule, &format!("role({variable})")),
    }
}

/// Adds changes that replace an unbound variable by one that the body binds, the most similar names first.
fn with_replacements(
    finding: Diagnostic,
    outline: &Outline<'_>,
    mentions: &Mentions,
    unbound: SymbolId,
) -> Diagnostic {
    const MOST: usize = 3;
    let text = |symbol: SymbolId| outline.symbols.name(symbol);
    let places = mentions.places.get(&unbound).into_iter().flatten();
    let mut bound = mentions.bound.clone();
    bound.sort_by_key(|&name| strsim::damerau_levenshtein(text(name), text(unbound)));
    let old = outline.name(unbound);
    bound.truncate(MOST);
    bound.into_iter().fold(finding, |finding, name| {
        let edits = places.clone().map(|&span| outline.rename(span, text(name)));
        let title = format!("Replace `{old}` with `{}`", outline.name(name));
        finding.fix(title, edits.collect())
    })
}

fn unsafe_finding(
    outline: &Outline<'_>,
    rule: &Rule,
    unsafe_use: &UnsafeUse,
    mentions: &Mentions,
) -> Diagnostic {
    let name = outline.name(unsafe_use.name);
    if rule.body.is_empty() {
        let is_init = Keyword::of(rule.head.name) == Some(Keyword::Init);
        let why = if is_init {
            "the initial state must not contain variables"
        } else {
            "facts must not contain variables"
        };
        let message = format!("the variable `{name}` occurs in a fact: {why}");
        return Diagnostic::error(Kind::FactVariable, unsafe_use.span, message).help(format!(
            "write a rule whose body binds `{name}`, or replace it with a constant"
        ));
    }
    let (kind, place) = match unsafe_use.context {
        Context::Head => (Kind::UnsafeHead, "the head"),
        Context::Negation => (Kind::UnsafeNegation, "a negated literal"),
        Context::Distinct => (Kind::UnsafeDistinct, "`distinct`"),
    };
    let why = match mentions.elsewhere(unsafe_use.name) {
        Elsewhere::SomeAlternatives => "not every alternative of the `or` binds it",
        Elsewhere::Nowhere => "it occurs in no positive literal of the body",
        Elsewhere::NegatedOnly => {
            "in the body it occurs only inside `not` or `distinct`, which do not bind variables"
        }
    };
    let message =
        format!("unsafe rule: the variable `{name}` in {place} is not bound, because {why}");
    let finding = Diagnostic::error(kind, unsafe_use.span, message)
        .help(format!("add a positive literal that binds `{name}`"));
    match mentions.elsewhere(unsafe_use.name) {
        // It is bound in places; another name would change them too.
        Elsewhere::SomeAlternatives => finding,
        _ => with_replacements(finding, outline, mentions, unsafe_use.name),
    }
}

enum Elsewhere {
    Nowhere,
    NegatedOnly,
    SomeAlternatives,
}

/// The variables of a rule. Collected once for all findings of the rule, of which there may be a thousand.
#[derive(Default)]
struct Mentions {
    /// In positive atoms of the body.
    positive: Variables,
    /// The first of these.
    bound: Vec<SymbolId>,
    /// Anywhere in the body.
    all: Variables,
    /// All places of some variables that are not bound, in the head and in the body.
    places: FxHashMap<SymbolId, Vec<Span>>,
}

impl Mentions {
    /// Maximum number of bound variables that are compared with an unbound one.
    const MOST_BOUND: usize = 50;

    fn new(rule: &Rule, unbound: impl Iterator<Item = SymbolId>) -> Mentions {
        let mut mentions = Mentions {
            places: unbound.map(|name| (name, Vec::new())).collect(),
            ..Mentions::default()
        };
        rule.head
            .for_each_variable(&mut |name, span| mentions.place(name, span));
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, negated| {
                atom.for_each_variable(&mut |name, _| {
                    if !negated
                        && mentions.positive.insert(name)
                        && mentions.bound.len() < Mentions::MOST_BOUND
                    {
                        mentions.bound.push(name);
                    }
                });
            });
            literal.for_each_term(&mut |term| {
                term.for_each_variable(&mut |name, span| {
                    mentions.all.insert(name);
                    mentions.place(name, span);
                });
            });
        }
        mentions
    }

    fn place(&mut self, name: SymbolId, span: Span) {
        if let Some(places) = self.places.get_mut(&name) {
            places.push(span);
        }
    }

    /// How the body uses a variable that it does not bind.
    fn elsewhere(&self, name: SymbolId) -> Elsewhere {
        match (self.positive.contains(&name), self.all.contains(&name)) {
            (true, _) => Elsewhere::SomeAlternatives,
            (false, true) => Elsewhere::NegatedOnly,
            (false, false) => Elsewhere::Nowhere,
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
    fn a_head_variable_needs_a_positive_literal() {
        check(
            "(<= (p ?x) (q ?y))\n(<= (p ?x) (not (q ?x)))\n(<= (p ?x) (distinct ?x a))\n(<= (p (f ?x)) q)",
            expect![[r#"
                error 1:8 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because it occurs in no positive literal of the body
                error 2:8 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
                error 3:8 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
                error 4:11 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because it occurs in no positive literal of the body
            "#]],
        );
        check(
            "(<= (p ?x) (not (q ?x)) (r ?x))\n(<= (p (f ?x) ?x) (q (g ?x)))",
            expect![[""]],
        );
    }

    #[test]
    fn variables_of_negations_and_inequalities_need_one_too() {
        check(
            "(<= p (not (q ?x)))\n(<= p (q ?y) (distinct ?x ?y))\n(<= p (not (q ?x)) (q ?y))",
            expect![[r#"
                error 1:15 unsafe-negation: unsafe rule: the variable `?x` in a negated literal is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
                error 2:24 unsafe-distinct: unsafe rule: the variable `?x` in `distinct` is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
                error 3:15 unsafe-negation: unsafe rule: the variable `?x` in a negated literal is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
            "#]],
        );
        check(
            "(<= p (not (q ?x)) (distinct ?x ?y) (r ?x ?y))",
            expect![[""]],
        );
    }

    #[test]
    fn facts_have_no_variables() {
        check(
            "(p ?x)\n(init (cell ?x))\n(<= (q ?x))",
            expect![[r#"
                error 1:4 fact-variable: the variable `?x` occurs in a fact: facts must not contain variables
                error 2:13 fact-variable: the variable `?x` occurs in a fact: the initial state must not contain variables
                error 3:8 fact-variable: the variable `?x` occurs in a fact: facts must not contain variables
            "#]],
        );
    }

    #[test]
    fn every_alternative_of_an_or_must_bind() {
        check(
            "(<= (p ?x) (or (q ?x) r))\n(<= (p ?x) (or (q ?x) (and (r ?x) (not (s ?y)))))",
            expect![[r#"
                error 1:8 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because not every alternative of the `or` binds it
                error 2:43 unsafe-negation: unsafe rule: the variable `?y` in a negated literal is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
            "#]],
        );
        check(
            "(<= (p ?x) (or (q ?x) (and r (s ?x))))\n(<= (p ?x) (or (q ?x) (or (r ?x) (s ?x))))",
            expect![[""]],
        );
    }

    #[test]
    fn an_alternative_may_use_what_the_body_binds() {
        check(
            "(<= p (or (not (q ?x)) (distinct ?x a)) (r ?x))",
            expect![[""]],
        );
    }

    #[test]
    fn an_alternative_may_not_use_what_another_binds() {
        check(
            "(<= p (or (q ?x) (not (r ?x))))",
            expect![[r#"
                error 1:26 unsafe-negation: unsafe rule: the variable `?x` in a negated literal is not bound, because not every alternative of the `or` binds it
            "#]],
        );
    }

    #[test]
    fn a_nested_or_with_an_unsafe_branch() {
        check(
            "(<= (p ?x) (or (q ?x) (or (r ?x) (and s (or t (u ?x))))))",
            expect![[r#"
                error 1:8 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because not every alternative of the `or` binds it
            "#]],
        );
    }

    #[test]
    fn an_equality_binds_one_side_by_the_other() {
        check(
            "(<= (p ?x) (q ?y) (not (distinct ?x ?y)))\n(<= (p ?x) (not (distinct ?x a)))\n(<= (p ?x) (not (distinct (f ?x) (f b))))\n(<= (p ?z) (not (distinct ?z ?y)) (not (distinct ?y ?x)) (q ?x))",
            expect![[""]],
        );
        check(
            "(<= (p ?x) (not (distinct ?x ?y)))",
            expect![[r#"
                error 1:8 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
                error 1:30 unsafe-distinct: unsafe rule: the variable `?y` in `distinct` is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
            "#]],
        );
    }

    #[test]
    fn a_negated_or_binds_only_through_double_negations() {
        check(
            "(<= (p ?x) (not (or (q ?x) r)))",
            expect![[r#"
                error 1:8 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
            "#]],
        );
        check("(<= (p ?x) (not (or (not (q ?x)) r)))", expect![[""]]);
    }

    #[test]
    fn a_role_variable_ranges_over_the_roles() {
        check(
            "(<= (legal ?r wait) (true idle))\n(<= (goal ?r 0) (not (won ?r)))\n(legal ?r go)\n(<= p (not (does ?r m)))\n(<= (input ?r m) q)",
            expect![[r#"
                warning 1:12 role-variable: the role variable `?r` is not bound in the body; the rule is read as if `(role ?r)` were in it
                warning 2:11 role-variable: the role variable `?r` is not bound in the body; the rule is read as if `(role ?r)` were in it
                warning 3:8 role-variable: the role variable `?r` is not bound in the body; the rule is read as if `(role ?r)` were in it
                warning 4:18 role-variable: the role variable `?r` is not bound in the body; the rule is read as if `(role ?r)` were in it
                warning 5:12 role-variable: the role variable `?r` is not bound in the body; the rule is read as if `(role ?r)` were in it
            "#]],
        );
    }

    #[test]
    fn a_bound_role_variable_gives_no_finding() {
        check(
            "(<= (legal ?r wait) (role ?r))\n(<= (legal ?r ?m) (can ?r ?m))\n(<= (next (by ?r)) (does ?r go))",
            expect![[""]],
        );
    }

    #[test]
    fn a_role_head_has_no_role_variable() {
        check(
            "(role ?r)",
            expect![[r#"
                error 1:7 fact-variable: the variable `?r` occurs in a fact: facts must not contain variables
            "#]],
        );
    }

    #[test]
    fn the_move_of_a_role_is_not_a_role() {
        check(
            "(<= (legal ?r ?m) (role ?r))",
            expect![[r#"
                error 1:15 unsafe-head: unsafe rule: the variable `?m` in the head is not bound, because it occurs in no positive literal of the body
            "#]],
        );
    }

    #[test]
    fn a_variable_is_reported_once_per_rule() {
        check(
            "(<= (p ?x ?x) (not (q ?x)) (distinct ?x a))",
            expect![[r#"
                error 1:8 unsafe-head: unsafe rule: the variable `?x` in the head is not bound, because in the body it occurs only inside `not` or `distinct`, which do not bind variables
            "#]],
        );
    }
}
