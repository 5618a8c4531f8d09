//! Decomposition: splits a clause with many variables into clauses with fewer, by joining and projecting.
//!
//! A clause with v variables has up to nᵛ instances. A variable that does not occur in the head matters only to the
//! conditions that mention it. These can be joined first, into an auxiliary relation over the other variables of these
//! conditions (the *bag*), which eliminates the variable. Where the bag is smaller than the clause, one large join
//! becomes several small ones, whose sizes add up instead of multiplying. This is the variable elimination of
//! constraint solving and query planning.
//!
//! The variable with the smallest bag is eliminated first. The same step eliminates every other variable that occurs
//! only in this bag, and includes all conditions that fit into the bag. Equal auxiliary relations are shared between
//! clauses.
//!
//! A bag may compare a variable (by `not` or `distinct`) that is bound only by a condition outside the bag. Then a
//! filter, the projection of that condition to the bag, supplies the possible values.
//!
//! - Dechter 1999, Bucket elimination: a unifying framework for reasoning
//! - Bichler, Morak and Woltran 2016, lpopt: a rule optimization tool for answer set programming

use rustc_hash::FxHashMap;

use crate::clause::{Arg, Catalog, Clause, Condition, Head, RelId, renumber};

/// Auxiliary relations by the conditions that they join, so that equal ones are created once.
#[derive(Default)]
pub(crate) struct Auxiliaries {
    by_body: FxHashMap<(Vec<Condition>, Vec<u32>, bool), RelId>,
}

/// A clause and the auxiliary clauses that it uses.
pub(crate) struct Decomposed {
    /// The clause over auxiliary relations.
    pub(crate) clause: Clause,
    /// The clauses of auxiliary relations that are new.
    pub(crate) new: Vec<Clause>,
    /// All auxiliary relations that the clause uses, directly or through others.
    pub(crate) uses: Vec<RelId>,
}

/// Splits a clause for as long as that makes its parts smaller; `None` if it cannot be split.
pub(crate) fn decompose(
    clause: &Clause,
    catalog: &mut Catalog,
    auxiliaries: &mut Auxiliaries,
) -> Option<Decomposed> {
    let mut rest = clause.clone();
    let (mut new, mut uses) = (Vec::new(), Vec::new());
    let mut maker = Maker {
        rule: clause.rule,
        catalog,
        auxiliaries,
        new: &mut new,
    };
    while let Some(bag) = smallest_bag(&rest) {
        let (mut inside, outside): (Vec<Condition>, Vec<Condition>) = rest
            .body
            .into_iter()
            .partition(|condition| bag.holds(condition));
        for binder in &bag.binders {
            let kept = bag.shared_with(binder);
            let (filter, args) = maker.relation(vec![binder.clone()], &kept, true);
            inside.push(Condition::Holds(filter, args));
        }
        let kept = kept_variables(&rest.head, &outside, &bag.variables);
        let (relation, args) = maker.relation(inside, &kept, false);
        uses.push(relation);
        rest.body = outside;
        rest.body.push(Condition::Holds(relation, args));
    }
    if uses.is_empty() {
        return None;
    }
    renumber(&mut rest);
    Some(Decomposed {
        clause: rest,
        new,
        uses,
    })
}

/// The number of variables of the largest join that is left when a clause is split.
pub(crate) fn width(clause: &Clause) -> usize {
    let mut rest = clause.clone();
    let mut widest = 0;
    while let Some(bag) = smallest_bag(&rest) {
        widest = widest.max(bag.variables.len());
        rest.body.retain(|condition| !bag.holds(condition));
        let kept = kept_variables(&rest.head, &rest.body, &bag.variables);
        let args = kept.into_iter().map(Arg::Variable).collect();
        // Which relation holds the join does not matter here.
        rest.body.push(Condition::Holds(RelId(0), args));
    }
    renumber(&mut rest);
    widest.max(rest.n_variables as usize)
}

/// The variables of the conditions that must be joined to eliminate one of them.
struct Bag {
    variables: Vec<u32>,
    /// Conditions outside the bag that bind variables that are only compared inside.
    binders: Vec<Condition>,
}

impl Bag {
    /// The variables of a condition that are in the bag.
    fn shared_with(&self, condition: &Condition) -> Vec<u32> {
        let mut shared = Vec::new();
        condition.for_each_variable(&mut |variable| {
            if self.variables.contains(&variable) && !shared.contains(&variable) {
                shared.push(variable);
            }
        });
        shared
    }

    /// Whether all variables of a condition are in the bag. Conditions without variables stay outside: they are tests
    /// of the whole clause.
    fn holds(&self, condition: &Condition) -> bool {
        let (mut fits, mut is_ground) = (true, true);
        condition.for_each_variable(&mut |variable| {
            is_ground = false;
            fits &= self.variables.contains(&variable);
        });
        fits && !is_ground
    }
}

/// The smallest bag of a variable that is not in the head, if it is smaller than the clause.
fn smallest_bag(clause: &Clause) -> Option<Bag> {
    let mut in_head = Vec::new();
    clause
        .head
        .args()
        .iter()
        .for_each(|arg| arg.for_each_variable(&mut |variable| in_head.push(variable)));
    let mut all = in_head.clone();
    clause
        .body
        .iter()
        .for_each(|condition| condition.for_each_variable(&mut |variable| all.push(variable)));
    all.sort_unstable();
    all.dedup();
    let free = all.iter().filter(|variable| !in_head.contains(variable));
    let bags = free.filter_map(|&variable| bag_of(clause, variable, all.len()));
    let usable = bags.filter(|bag| shrinks(clause, bag, &in_head));
    usable.min_by_key(|bag| (bag.variables.len(), bag.binders.len()))
}

/// The bag of a variable, if it is smaller than the clause and its variables can be bound.
fn bag_of(clause: &Clause, variable: u32, n_variables: usize) -> Option<Bag> {
    let mut variables = Vec::new();
    for condition in &clause.body {
        let mut mentions = false;
        condition.for_each_variable(&mut |other| mentions |= other == variable);
        if mentions {
            condition.for_each_variable(&mut |other| variables.push(other));
        }
    }
    variables.sort_unstable();
    variables.dedup();
    if variables.len() >= n_variables {
        return None;
    }
    let mut bag = Bag {
        variables,
        binders: Vec::new(),
    };
    let mut unbound = bag.variables.clone();
    for condition in clause.body.iter().filter(|condition| bag.holds(condition)) {
        if let Condition::Holds(..) = condition {
            condition.for_each_variable(&mut |bound| unbound.retain(|&other| other != bound));
        }
    }
    while let Some(&variable) = unbound.first() {
        let binds = |condition: &&Condition| {
            let mut is_there = false;
            condition.for_each_variable(&mut |other| is_there |= other == variable);
            is_there && matches!(condition, Condition::Holds(..))
        };
        let binder = clause.body.iter().find(binds)?.clone();
        binder.for_each_variable(&mut |bound| unbound.retain(|&other| other != bound));
        bag.binders.push(binder);
    }
    Some(bag)
}

/// Whether a condition remains outside the bag or the bag eliminates a variable; otherwise nothing is gained.
fn shrinks(clause: &Clause, bag: &Bag, in_head: &[u32]) -> bool {
    let n_inside = clause
        .body
        .iter()
        .filter(|condition| bag.holds(condition))
        .count();
    let is_projection = bag
        .variables
        .iter()
        .any(|variable| !in_head.contains(variable));
    n_inside < clause.body.len() && is_projection
}

/// Variables of the bag that occur in the head or in conditions outside.
fn kept_variables(head: &Head, outside: &[Condition], bag: &[u32]) -> Vec<u32> {
    let mut needed = Vec::new();
    head.args()
        .iter()
        .for_each(|arg| arg.for_each_variable(&mut |variable| needed.push(variable)));
    outside
        .iter()
        .for_each(|condition| condition.for_each_variable(&mut |variable| needed.push(variable)));
    bag.iter()
        .copied()
        .filter(|variable| needed.contains(variable))
        .collect()
}

/// Creates auxiliary relations and filters.
struct Maker<'a> {
    rule: u32,
    catalog: &'a mut Catalog,
    auxiliaries: &'a mut Auxiliaries,
    new: &'a mut Vec<Clause>,
}

impl Maker<'_> {
    /// The relation that joins these conditions and keeps some variables, and its arguments in the current clause.
    fn relation(
        &mut self,
        body: Vec<Condition>,
        kept: &[u32],
        is_filter: bool,
    ) -> (RelId, Box<[Arg]>) {
        let (canonical, order) = canonical(body);
        let number = |variable: u32| {
            let place = order.iter().position(|&other| other == variable);
            place.expect("kept variables are in the bag") as u32
        };
        let mut columns: Vec<(u32, u32)> = kept
            .iter()
            .map(|&variable| (number(variable), variable))
            .collect();
        columns.sort_unstable();
        let head: Vec<u32> = columns.iter().map(|&(number, _)| number).collect();
        let args: Box<[Arg]> = columns
            .iter()
            .map(|&(_, variable)| Arg::Variable(variable))
            .collect();
        let key = (canonical, head, is_filter);
        if let Some(&known) = self.auxiliaries.by_body.get(&key) {
            return (known, args);
        }
        let relation = if is_filter {
            self.catalog.filter(args.len())
        } else {
            self.catalog.auxiliary(args.len())
        };
        let head = Head::Row(
            relation,
            key.1
                .iter()
                .map(|&variable| Arg::Variable(variable))
                .collect(),
        );
        let n_variables = order.len() as u32;
        self.new.push(Clause {
            head,
            body: key.0.clone(),
            n_variables,
            rule: self.rule,
        });
        self.auxiliaries.by_body.insert(key, relation);
        (relation, args)
    }
}

/// The conditions in an order that does not depend on the names of variables, with variables numbered by first
/// occurrence, and the variable that each number stands for. Conditions that differ only in their variables may still
/// come in two orders. Then two equal relations are created, which costs only time.
fn canonical(mut body: Vec<Condition>) -> (Vec<Condition>, Vec<u32>) {
    body.sort_by_cached_key(|condition| {
        let mut nameless = condition.clone();
        let mut seen = Vec::new();
        rename(&mut nameless, &mut |variable| {
            let idx = seen
                .iter()
                .position(|&other| other == variable)
                .unwrap_or_else(|| {
                    seen.push(variable);
                    seen.len() - 1
                });
            idx as u32
        });
        nameless
    });
    let mut order: Vec<u32> = Vec::new();
    for condition in &mut body {
        rename(condition, &mut |variable| {
            let idx = order
                .iter()
                .position(|&other| other == variable)
                .unwrap_or_else(|| {
                    order.push(variable);
                    order.len() - 1
                });
            idx as u32
        });
    }
    (body, order)
}

fn rename(condition: &mut Condition, name: &mut impl FnMut(u32) -> u32) {
    match condition {
        Condition::Holds(_, args) | Condition::Fails(_, args) => {
            args.iter_mut().for_each(|arg| rename_arg(arg, name));
        }
        Condition::Differ(left, right) => {
            rename_arg(left, name);
            rename_arg(right, name);
        }
    }
}

fn rename_arg(arg: &mut Arg, name: &mut impl FnMut(u32) -> u32) {
    match arg {
        Arg::Variable(variable) => *variable = name(*variable),
        Arg::Term(_) => {}
        Arg::Function(_, args) => args.iter_mut().for_each(|arg| rename_arg(arg, name)),
    }
}
