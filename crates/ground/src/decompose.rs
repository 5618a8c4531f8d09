//! Splits a clause with many variables into clauses with fewer, by joining and projecting.
//!
//! A clause with v variables has up to nᵛ instances. A variable that the head does not need is needed only by the
//! conditions that mention it: those can be joined first, into an auxiliary relation over the other variables of
//! these conditions (the *bag*), and the variable is gone. Where the bag is smaller than the clause, this turns one
//! large join into several small ones, whose sizes add up instead of multiplying. It is the variable elimination of
//! constraint solving and query planning.
//!
//! The variable with the smallest bag goes first; in the same step every other variable that only this bag needs
//! goes too, and all conditions that fit the bag are pulled in. Equal auxiliary relations are shared between clauses.
//!
//! - Dechter 1999, Bucket elimination: a unifying framework for reasoning
//! - Bichler, Morak and Woltran 2016, lpopt: a rule optimization tool for answer set programming

use rustc_hash::FxHashMap;

use crate::clause::{Arg, Catalog, Clause, Condition, Head, RelId, renumber};

/// Auxiliary relations by what they join, so that equal ones are made once.
#[derive(Default)]
pub(crate) struct Auxiliaries {
    by_body: FxHashMap<(Vec<Condition>, Vec<u32>), RelId>,
}

/// A clause and the auxiliary clauses that it uses.
pub(crate) struct Decomposed {
    /// The clause over auxiliary relations.
    pub(crate) clause: Clause,
    /// The clauses of auxiliary relations that were not known before.
    pub(crate) new: Vec<Clause>,
    /// All auxiliary relations that the clause uses, directly or through others.
    pub(crate) uses: Vec<RelId>,
}

/// Splits a clause as far as that makes its parts smaller; `None` if it stays as it is.
pub(crate) fn decompose(
    clause: &Clause,
    catalog: &mut Catalog,
    auxiliaries: &mut Auxiliaries,
) -> Option<Decomposed> {
    let mut rest = clause.clone();
    let (mut new, mut uses) = (Vec::new(), Vec::new());
    while let Some(bag) = smallest_bag(&rest) {
        let (inside, outside): (Vec<Condition>, Vec<Condition>) = rest
            .body
            .into_iter()
            .partition(|condition| bag.holds(condition));
        let kept = kept_variables(&rest.head, &outside, &bag.variables);
        let (relation, args) = auxiliary(inside, &kept, rest.rule, catalog, auxiliaries, &mut new);
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

/// Variables of the conditions that must be joined to be rid of one of them.
struct Bag {
    variables: Vec<u32>,
}

impl Bag {
    /// Whether a condition speaks of nothing else. Conditions without variables stay outside: they are tests of the
    /// whole clause.
    fn holds(&self, condition: &Condition) -> bool {
        let (mut fits, mut is_ground) = (true, true);
        condition.for_each_variable(&mut |variable| {
            is_ground = false;
            fits &= self.variables.contains(&variable);
        });
        fits && !is_ground
    }
}

/// The smallest bag of a variable that the head does not need, if it is smaller than the clause.
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
    let bags = all
        .iter()
        .filter(|variable| !in_head.contains(variable))
        .map(|&variable| bag_of(clause, variable));
    let usable = bags.filter(|bag| {
        bag.variables.len() < all.len() && is_safe(clause, bag) && shrinks(clause, bag, &in_head)
    });
    usable.min_by_key(|bag| bag.variables.len())
}

fn bag_of(clause: &Clause, variable: u32) -> Bag {
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
    Bag { variables }
}

/// Whether positive conditions inside the bag bind all of its variables.
fn is_safe(clause: &Clause, bag: &Bag) -> bool {
    let mut bound = Vec::new();
    for condition in clause.body.iter().filter(|condition| bag.holds(condition)) {
        if let Condition::Holds(_, args) = condition {
            args.iter()
                .for_each(|arg| arg.for_each_variable(&mut |variable| bound.push(variable)));
        }
    }
    bag.variables
        .iter()
        .all(|variable| bound.contains(variable))
}

/// Whether something remains outside of the bag, or the bag loses a variable; without that nothing is gained.
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

/// Variables of the bag that the head or conditions outside of it need.
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

/// The auxiliary relation that joins these conditions, and its arguments in the clause at hand.
fn auxiliary(
    body: Vec<Condition>,
    kept: &[u32],
    rule: u32,
    catalog: &mut Catalog,
    auxiliaries: &mut Auxiliaries,
    new: &mut Vec<Clause>,
) -> (RelId, Box<[Arg]>) {
    let (canonical, order) = canonical(body);
    let number = |variable: u32| {
        order
            .iter()
            .position(|&other| other == variable)
            .expect("kept variables are in the bag") as u32
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
    let key = (canonical, head);
    if let Some(&known) = auxiliaries.by_body.get(&key) {
        return (known, args);
    }
    let relation = catalog.auxiliary(args.len());
    let head = Head::Row(
        relation,
        key.1
            .iter()
            .map(|&variable| Arg::Variable(variable))
            .collect(),
    );
    new.push(Clause {
        head,
        body: key.0.clone(),
        n_variables: order.len() as u32,
        rule,
    });
    auxiliaries.by_body.insert(key, relation);
    (relation, args)
}

/// The conditions in an order that does not depend on the names of variables, with variables numbered by first
/// occurrence; and the variable that each number stands for. Conditions that look alike but for their variables may
/// still come in two orders: then two equal relations are made, which costs time and nothing else.
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
            args.iter_mut().for_each(|arg| rename_arg(arg, name))
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
