//! Safety: every variable of a head, a negation or a `distinct` is bound by a positive literal of the body.
//!
//! In an `or`, every alternative must bind it. `(not (distinct ?x t))` binds `?x` once `t` is bound. One leniency,
//! because real sheets and all reference systems have it: a variable that stands where a role is expected and that
//! nothing binds ranges over the roles. That is a warning, and [`crate::lower`] adds the `role` literal.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Atom, Literal, Rule, Term};
use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};

type Variables = FxHashSet<SymbolId>;

/// Adds findings; gives back, per rule, the variables that range over the roles.
pub(super) fn check(outline: &Outline<'_>, findings: &mut Diagnostics) -> FxHashMap<usize, Vec<SymbolId>> {
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
    let body: Vec<Signed<'_>> = rule.body.iter().map(|literal| Signed { literal, negated: false }).collect();
    let bound = bound_by(&body, &Variables::default());
    let mut unsafe_uses = UnsafeUses { told: Variables::default(), uses: Vec::new() };
    rule.head.for_each_variable(&mut |name, span| unsafe_uses.note(name, span, Context::Head, &bound));
    unsafe_uses.conjunction(&body, &bound);
    if unsafe_uses.uses.is_empty() {
        return Vec::new();
    }
    let role_like = role_variables(rule);
    let mut ranging = Vec::new();
    for unsafe_use in &unsafe_uses.uses {
        if role_like.contains(&unsafe_use.name) {
            ranging.push(unsafe_use.name);
            findings.push(role_finding(outline, unsafe_use));
        } else {
            findings.push(unsafe_finding(outline, rule, unsafe_use));
        }
    }
    ranging
}

/// A literal under an even or odd number of negations.
#[derive(Clone, Copy)]
struct Signed<'a> {
    literal: &'a Literal,
    negated: bool,
}

/// What a signed literal says.
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
            members.iter().map(|literal| Signed { literal, negated: self.negated }).collect()
        };
        match self.literal {
            Literal::Atom(atom) => View::Atom(atom, self.negated),
            Literal::Distinct(left, right, _) if self.negated => View::Equal(left, right),
            Literal::Distinct(left, right, _) => View::Distinct(left, right),
            Literal::Not(inner, _) => Signed { literal: inner, negated: !self.negated }.view(),
            Literal::And(members, _) if self.negated => View::Any(with_sign(members)),
            Literal::Or(members, _) if !self.negated => View::Any(with_sign(members)),
            Literal::And(members, _) | Literal::Or(members, _) => View::All(with_sign(members)),
        }
    }
}

/// Variables that a conjunction binds, given those bound outside.
fn bound_by(conjunction: &[Signed<'_>], outside: &Variables) -> Variables {
    let mut bound = outside.clone();
    loop {
        let before = bound.len();
        for signed in conjunction {
            bind(*signed, &mut bound);
        }
        // Only equalities can gain from another round.
        if bound.len() == before || !conjunction.iter().any(|signed| holds_equality(*signed)) {
            return bound;
        }
    }
}

fn bind(signed: Signed<'_>, bound: &mut Variables) {
    match signed.view() {
        View::Atom(atom, false) => atom.for_each_variable(&mut |name, _| drop(bound.insert(name))),
        View::Atom(_, true) | View::Distinct(..) => {}
        View::Equal(left, right) => {
            for (from, to) in [(left, right), (right, left)] {
                let mut is_bound = true;
                from.for_each_variable(&mut |name, _| is_bound &= bound.contains(&name));
                if is_bound {
                    to.for_each_variable(&mut |name, _| drop(bound.insert(name)));
                }
            }
        }
        View::All(members) => *bound = bound_by(&members, bound),
        View::Any(alternatives) => {
            let mut common: Option<Variables> = None;
            for alternative in alternatives {
                let here = bound_by(&[alternative], bound);
                common = Some(match common {
                    None => here,
                    Some(before) => before.intersection(&here).copied().collect(),
                });
            }
            if let Some(common) = common {
                *bound = common;
            }
        }
    }
}

fn holds_equality(signed: Signed<'_>) -> bool {
    match signed.view() {
        View::Atom(..) | View::Distinct(..) => false,
        View::Equal(..) => true,
        View::All(members) | View::Any(members) => members.into_iter().any(holds_equality),
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
    fn note(&mut self, name: SymbolId, span: Span, context: Context, bound: &Variables) {
        if !bound.contains(&name) && self.told.insert(name) {
            self.uses.push(UnsafeUse { name, span, context });
        }
    }

    fn conjunction(&mut self, members: &[Signed<'_>], bound: &Variables) {
        for signed in members {
            match signed.view() {
                View::Atom(_, false) => {}
                View::Atom(atom, true) => {
                    atom.for_each_variable(&mut |name, span| self.note(name, span, Context::Negation, bound));
                }
                View::Distinct(left, right) | View::Equal(left, right) => {
                    for term in [left, right] {
                        term.for_each_variable(&mut |name, span| self.note(name, span, Context::Distinct, bound));
                    }
                }
                View::All(members) => self.conjunction(&members, bound),
                View::Any(alternatives) => {
                    for alternative in alternatives {
                        let bound = bound_by(&[alternative], bound);
                        self.conjunction(&[alternative], &bound_within(alternative, bound));
                    }
                }
            }
        }
    }
}

/// `bound_by` of an alternative already holds what a conjunction in it binds.
fn bound_within(alternative: Signed<'_>, bound: Variables) -> Variables {
    match alternative.view() {
        View::All(members) => bound_by(&members, &bound),
        _ => bound,
    }
}

/// Variables that stand where a role is expected.
fn role_variables(rule: &Rule) -> Variables {
    let mut roles = Variables::default();
    let mut look = |atom: &Atom| {
        let is_role_first = match Keyword::of(atom.name) {
            Some(Keyword::Legal | Keyword::Does | Keyword::Goal | Keyword::Input | Keyword::Sees) => atom.args.len() == 2,
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

fn role_finding(outline: &Outline<'_>, unsafe_use: &UnsafeUse) -> Diagnostic {
    let name = outline.name(unsafe_use.name);
    let message = format!("nothing in the body binds the role variable `{name}`; it is read as every role");
    Diagnostic::warning(Kind::RoleVariable, unsafe_use.span, message).help(format!("add `(role {name})` to the body"))
}

fn unsafe_finding(outline: &Outline<'_>, rule: &Rule, unsafe_use: &UnsafeUse) -> Diagnostic {
    let name = outline.name(unsafe_use.name);
    if rule.body.is_empty() {
        let is_init = Keyword::of(rule.head.name) == Some(Keyword::Init);
        let why = if is_init { "the initial state must be without variables" } else { "a fact holds for one thing only" };
        let message = format!("the variable `{name}` stands in a fact: {why}");
        return Diagnostic::error(Kind::FactVariable, unsafe_use.span, message)
            .help(format!("write a rule whose body says what `{name}` may be, or put a constant in its place"));
    }
    let (kind, place) = match unsafe_use.context {
        Context::Head => (Kind::UnsafeHead, "the head"),
        Context::Negation => (Kind::UnsafeNegation, "a negated literal"),
        Context::Distinct => (Kind::UnsafeDistinct, "`distinct`"),
    };
    let why = match elsewhere(rule, unsafe_use.name) {
        Elsewhere::SomeAlternatives => "not every alternative of the `or` binds it",
        Elsewhere::Nowhere => "no positive literal of the body binds it",
        Elsewhere::NegatedOnly => "in the body it stands only inside `not` or `distinct`, which bind nothing",
    };
    let message = format!("unsafe rule: the variable `{name}` of {place} could be anything, because {why}");
    Diagnostic::error(kind, unsafe_use.span, message)
        .help(format!("add a positive literal that says what `{name}` may be"))
}

enum Elsewhere {
    Nowhere,
    NegatedOnly,
    SomeAlternatives,
}

/// How the body uses a variable that it does not bind.
fn elsewhere(rule: &Rule, name: SymbolId) -> Elsewhere {
    let (mut is_positive, mut is_there) = (false, false);
    for literal in &rule.body {
        literal.for_each_atom(&mut |atom, negated| {
            atom.for_each_variable(&mut |other, _| {
                is_there |= other == name;
                is_positive |= other == name && !negated;
            });
        });
        literal.for_each_term(&mut |term| term.for_each_variable(&mut |other, _| is_there |= other == name));
    }
    match (is_positive, is_there) {
        (true, _) => Elsewhere::SomeAlternatives,
        (false, true) => Elsewhere::NegatedOnly,
        (false, false) => Elsewhere::Nowhere,
    }
}
