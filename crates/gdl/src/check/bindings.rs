//! The variables that the positive literals of a body bind.
//!
//! In: a body. Out: [`Bindings`], a set for the body and one for each alternative of its `or`s. An atom binds its variables,
//! a conjunction what its members bind, an `or` what all of its alternatives bind. This takes one pass from the innermost
//! literals outwards. An equality binds one side if the other one is bound, wherever that happens, so bodies with
//! equalities need repeated passes, and their number is bounded.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Atom, Literal, Rule, Term};
use crate::symbol::SymbolId;

pub(super) type Variables = FxHashSet<SymbolId>;

/// What a conjunction binds.
#[derive(Default)]
pub(super) struct Bindings {
    /// The variables that it binds itself.
    pub(super) own: Variables,
    /// What the alternatives of each of its `or`s bind, in the order of the `or`s.
    pub(super) choices: Vec<Vec<Bindings>>,
}

impl Bindings {
    /// The bindings of a body.
    pub(super) fn of(body: &[Signed<'_>]) -> Bindings {
        if !body.iter().any(Signed::has_equality) {
            return Bindings::without_equalities(body);
        }
        let fuel = Cell::new(fuel(body));
        Bindings::inside(body, Scope::new(&fuel))
    }

    fn without_equalities(conjunction: &[Signed<'_>]) -> Bindings {
        let mut bindings = Bindings::default();
        bindings.add_all(conjunction);
        bindings
    }

    fn add_all(&mut self, conjunction: &[Signed<'_>]) {
        for signed in conjunction {
            match signed.view() {
                View::Atom(atom, false) => {
                    atom.for_each_variable(&mut |name, _| _ = self.own.insert(name));
                }
                View::Atom(_, true) | View::Distinct(..) | View::Equal(..) => {}
                View::All(members) => self.add_all(&members),
                View::Any(alternatives) => {
                    let alternatives = alternatives.iter();
                    let alternatives = alternatives
                        .map(|alternative| Bindings::without_equalities(&[*alternative]));
                    let alternatives: Vec<Bindings> = alternatives.collect();
                    self.own.extend(in_all(&alternatives));
                    self.choices.push(alternatives);
                }
            }
        }
    }

    /// The bindings of a conjunction inside a scope.
    fn inside(conjunction: &[Signed<'_>], mut scope: Scope<'_>) -> Bindings {
        scope.bind_all(conjunction);
        let mut choices = Vec::new();
        scope.add_choices(conjunction, &mut choices);
        Bindings {
            own: scope.own,
            choices,
        }
    }
}

/// The variables that every alternative binds.
fn in_all(alternatives: &[Bindings]) -> Vec<SymbolId> {
    let fewest = alternatives
        .iter()
        .min_by_key(|bindings| bindings.own.len());
    let fewest = fewest.into_iter().flat_map(|bindings| &bindings.own);
    let is_in_all = |name: &&SymbolId| {
        let mut others = alternatives.iter();
        others.all(|bindings| bindings.own.contains(*name))
    };
    fewest.filter(is_in_all).copied().collect()
}

/// A literal under an even or odd number of negations.
#[derive(Clone, Copy)]
pub(super) struct Signed<'a> {
    literal: &'a Literal,
    negated: bool,
}

/// The meaning of a signed literal.
pub(super) enum View<'a> {
    Atom(&'a Atom, bool),
    Distinct(&'a Term, &'a Term),
    Equal(&'a Term, &'a Term),
    All(Vec<Signed<'a>>),
    Any(Vec<Signed<'a>>),
}

impl Signed<'_> {
    fn has_equality(&self) -> bool {
        match self.view() {
            View::Atom(..) | View::Distinct(..) => false,
            View::Equal(..) => true,
            View::All(members) | View::Any(members) => members.iter().any(Signed::has_equality),
        }
    }
}

impl<'a> Signed<'a> {
    /// The literals of a rule's body.
    pub(super) fn body(rule: &'a Rule) -> Vec<Signed<'a>> {
        let negated = false;
        let signed = |literal| Signed { literal, negated };
        rule.body.iter().map(signed).collect()
    }

    pub(super) fn view(self) -> View<'a> {
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

/// The number of visits of literals that finding the bound variables of a body with equalities may take. Real rules need a
/// few per literal; a rule with equalities in deeply nested `or`s would need exponentially many, and counts as unsafe.
fn fuel(body: &[Signed<'_>]) -> u64 {
    const VISITS_PER_LITERAL: u64 = 8;
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

    /// Adds what the alternatives of each `or` of a conjunction bind in this scope.
    fn add_choices(&self, conjunction: &[Signed<'_>], choices: &mut Vec<Vec<Bindings>>) {
        for signed in conjunction {
            match signed.view() {
                View::Atom(..) | View::Distinct(..) | View::Equal(..) => {}
                View::All(members) => self.add_choices(&members, choices),
                View::Any(alternatives) => {
                    let alternatives = alternatives.iter();
                    let alternatives = alternatives
                        .map(|alternative| Bindings::inside(&[*alternative], Scope::inside(self)));
                    choices.push(alternatives.collect());
                }
            }
        }
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
