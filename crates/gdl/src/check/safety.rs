//! Safety: every variable of a head, a negation or a `distinct` must be bound by a positive literal of the body.
//!
//! In an `or`, every alternative must bind it. `(not (distinct ?x t))` binds `?x` if `t` is bound. There is one
//! exception, because real sheets and all reference systems have it: an unbound variable in the position of a role
//! ranges over the roles. This gives a warning, and [`crate::lower`] adds the `role` literal.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Atom, Literal, Rule, Term};
use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind, Severity};
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};

type Variables = FxHashSet<SymbolId>;

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
    let body: Vec<Signed<'_>> = rule
        .body
        .iter()
        .map(|literal| Signed {
            literal,
            negated: false,
        })
        .collect();
    let fuel = Cell::new(fuel(&body));
    let mut scope = Scope::new(&fuel);
    scope.bind_all(&body);
    let mut unsafe_uses = UnsafeUses {
        told: Variables::default(),
        uses: Vec::new(),
    };
    rule.head.for_each_variable(&mut |name, span| {
        unsafe_uses.note(name, span, Context::Head, &scope);
    });
    unsafe_uses.conjunction(&body, &scope);
    if unsafe_uses.uses.is_empty() {
        return Vec::new();
    }
    let role_like = role_variables(rule);
    let elsewhere = Mentions::new(rule);
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
            (true, false) => findings.push(unsafe_finding(outline, rule, unsafe_use, &elsewhere)),
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

/// A literal under an even or odd number of negations.
#[derive(Clone, Copy)]
struct Signed<'a> {
    literal: &'a Literal,
    negated: bool,
}

/// The meaning of a signed literal.
enum View<'a> {
    Atom(&'a Atom, bool),
    Distinct(&'a Term, &'a Term),
    Equal(&'a Term, &'a Term),
    All(Vec<Signed<'a>>),
    Any(Vec<Signed<'a>>),
}

impl<'a> Signed<'a> {
    fn view(self) -> View<'a> {
        let with_sign = |members: &'a [Literal]| {
            members
                .iter()
                .map(|literal| Signed {
                    literal,
                    negated: self.negated,
                })
                .collect()
        };
        match self.literal {
            Literal::Atom(atom) => View::Atom(atom, self.negated),
            Literal::Distinct(left, right, _) if self.negated => View::Equal(left, right),
            Literal::Distinct(left, right, _) => View::Distinct(left, right),
            Literal::Not(inner, _) => Signed {
                literal: inner,
                negated: !self.negated,
            }
            .view(),
            Literal::And(members, _) if self.negated => View::Any(with_sign(members)),
            Literal::Or(members, _) if !self.negated => View::Any(with_sign(members)),
            Literal::And(members, _) | Literal::Or(members, _) => View::All(with_sign(members)),
        }
    }
}

/// The number of visits of literals that finding the bound variables of a body may take. Real rules need a few per
/// literal; a rule with equalities in deeply nested `or`s would need exponentially many, and counts as unsafe.
fn fuel(body: &[Signed<'_>]) -> u64 {
    const VISITS_PER_LITERAL: u64 = 50;
    let mut n_literals = 0;
    for signed in body {
        signed.literal.for_each_atom(&mut |_, _| n_literals += 1);
        signed.literal.for_each_term(&mut |_| n_literals += 1);
    }
    (n_literals + 100) * VISITS_PER_LITERAL
}

/// The variables bound so far: by this conjunction and by those around it.
struct Scope<'a> {
    own: Variables,
    outer: Option<&'a Scope<'a>>,
    /// Visits left: see [`fuel`].
    fuel: &'a Cell<u64>,
}

impl Scope<'_> {
    fn new(fuel: &Cell<u64>) -> Scope<'_> {
        Scope {
            own: Variables::default(),
            outer: None,
            fuel,
        }
    }

    fn inside<'b>(outer: &'b Scope<'b>) -> Scope<'b> {
        Scope {
            own: Variables::default(),
            outer: Some(outer),
            fuel: outer.fuel,
        }
    }

    fn contains(&self, name: SymbolId) -> bool {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if here.own.contains(&name) {
                return true;
            }
            scope = here.outer;
        }
        false
    }

    fn bind_all(&mut self, conjunction: &[Signed<'_>]) {
        // Step 1. Atoms bind their variables, in any order.
        let (mut equalities, mut choices) = (Vec::new(), Vec::new());
        let mut open = conjunction.to_vec();
        while let Some(signed) = open.pop() {
            if !self.burn() {
                return;
            }
            match signed.view() {
                View::Atom(atom, false) => atom.for_each_variable(&mut |name, _| self.add(name)),
                View::Atom(_, true) | View::Distinct(..) => {}
                View::Equal(left, right) => equalities.push([left, right]),
                View::All(members) => open.extend(members),
                View::Any(alternatives) => choices.push(alternatives),
            }
        }
        // Step 2. Equalities bind what follows from that, and then what follows from `or`s, which may use it too.
        loop {
            self.bind_equal(&equalities);
            let before = self.own.len();
            for alternatives in &choices {
                for name in self.common(alternatives) {
                    self.add(name);
                }
            }
            if self.own.len() == before || self.fuel.get() == 0 {
                return;
            }
        }
    }

    /// Binds the variables of each term that is equal to a bound one, however long the chain.
    fn bind_equal(&mut self, equalities: &[[&Term; 2]]) {
        // Per side of an equality, the number of unbound variables, and who waits for each of them.
        let mut n_unbound = vec![[0_u32; 2]; equalities.len()];
        let mut waiting: FxHashMap<SymbolId, Vec<(usize, usize)>> = FxHashMap::default();
        let mut bound_sides = Vec::new();
        for (idx, sides) in equalities.iter().enumerate() {
            for (side, term) in sides.iter().enumerate() {
                term.for_each_variable(&mut |name, _| {
                    if !self.contains(name) {
                        n_unbound[idx][side] += 1;
                        waiting.entry(name).or_default().push((idx, side));
                    }
                });
                if n_unbound[idx][side] == 0 {
                    bound_sides.push((idx, side));
                }
            }
        }
        while let Some((idx, side)) = bound_sides.pop() {
            equalities[idx][1 - side].for_each_variable(&mut |name, _| {
                self.add(name);
                for (idx, side) in waiting.remove(&name).unwrap_or_default() {
                    n_unbound[idx][side] -= 1;
                    if n_unbound[idx][side] == 0 {
                        bound_sides.push((idx, side));
                    }
                }
            });
        }
    }

    /// Whether another literal may be visited.
    fn burn(&self) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0
    }

    /// The variables that every alternative binds.
    fn common(&self, alternatives: &[Signed<'_>]) -> Variables {
        let mut common: Option<Variables> = None;
        for alternative in alternatives {
            let mut scope = Scope::inside(self);
            scope.bind_all(&[*alternative]);
            match &mut common {
                None => common = Some(scope.own),
                Some(common) => common.retain(|name| scope.own.contains(name)),
            }
        }
        common.unwrap_or_default()
    }

    fn add(&mut self, name: SymbolId) {
        if !self.contains(name) {
            self.own.insert(name);
        }
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
struct UnsafeUses {
    told: Variables,
    uses: Vec<UnsafeUse>,
}

impl UnsafeUses {
    fn note(&mut self, name: SymbolId, span: Span, context: Context, scope: &Scope<'_>) {
        if !scope.contains(name) && self.told.insert(name) {
            self.uses.push(UnsafeUse {
                name,
                span,
                context,
            });
        }
    }

    fn conjunction(&mut self, members: &[Signed<'_>], scope: &Scope<'_>) {
        for signed in members {
            match signed.view() {
                View::Atom(_, false) => {}
                View::Atom(atom, true) => atom.for_each_variable(&mut |name, span| {
                    self.note(name, span, Context::Negation, scope);
                }),
                View::Distinct(left, right) | View::Equal(left, right) => {
                    for term in [left, right] {
                        term.for_each_variable(&mut |name, span| {
                            self.note(name, span, Context::Distinct, scope);
                        });
                    }
                }
                View::All(members) => self.conjunction(&members, scope),
                View::Any(alternatives) => {
                    for alternative in alternatives {
                        let mut inner = Scope::inside(scope);
                        inner.bind_all(&[alternative]);
                        self.conjunction(&[alternative], &inner);
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
    let finding = Diagnostic::warning(Kind::RoleVariable, unsafe_use.span, message)
        .help(format!("add `(role {name})` to the body"));
    // In prefix syntax a rule ends with its bracket.
    match outline.source.slice(rule.span).ends_with(')') && rule.has_arrow {
        true => {
            let variable = outline.symbols.name(unsafe_use.name);
            let literal = format!(" (role {variable})");
            let edit = Edit::insert(rule.span.end as usize - 1, literal);
            finding.fix(format!("Add (role {name})"), vec![edit])
        }
        false => finding,
    }
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
    Diagnostic::error(kind, unsafe_use.span, message)
        .help(format!("add a positive literal that binds `{name}`"))
}

enum Elsewhere {
    Nowhere,
    NegatedOnly,
    SomeAlternatives,
}

/// The variables of a body.
#[derive(Default)]
struct Mentions {
    /// In positive atoms.
    positive: Variables,
    /// Anywhere.
    all: Variables,
}

impl Mentions {
    fn new(rule: &Rule) -> Mentions {
        let mut mentions = Mentions::default();
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, negated| {
                atom.for_each_variable(&mut |name, _| {
                    if !negated {
                        mentions.positive.insert(name);
                    }
                });
            });
            literal.for_each_term(&mut |term| {
                term.for_each_variable(&mut |name, _| _ = mentions.all.insert(name));
            });
        }
        mentions
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
