//! Magic sets: computes only the requested part of relations that bottom-up evaluation makes too large.
//!
//! A rule with the condition `count(e3, e4, ?n)` needs only a few values of the first arguments. For a relation that
//! grows too large, a *demand* relation collects the arguments that are requested, and every clause of the relation
//! gets it as an additional condition. There is one binding pattern per relation: the arguments that every caller can
//! bind. Demand only filters; callers see the same rows as before.
//!
//! Within a clause, conditions that are not computed on demand come first and provide the bindings. Conditions computed
//! on demand follow one after the other, each with the bindings of those before it. The order matters: two conditions
//! that wait for each other's bindings would never be evaluated.
//!
//! Most relations do not benefit from this, and some become much slower, so [`crate::ground`] uses it only where
//! necessary.
//!
//! - Bancilhon, Maier, Sagiv and Ullman 1986, Magic sets and other strange ways to implement logic programs

use rustc_hash::{FxHashMap, FxHashSet};

use crate::clause::{Arg, Catalog, Clause, Condition, Head, Meaning, RelId, renumber};

/// Adds demand for some relations to the clauses. Relations whose callers bind nothing are left as they are.
pub(crate) fn demand(
    clauses: Vec<Clause>,
    wanted: &FxHashSet<RelId>,
    catalog: &mut Catalog,
) -> Vec<Clause> {
    if wanted.is_empty() {
        return clauses;
    }
    let patterns = patterns(&clauses, wanted);
    let relations: FxHashMap<RelId, RelId> = sorted(patterns.keys())
        .into_iter()
        .map(|relation| (relation, catalog.filter(patterns[&relation].len())))
        .collect();
    let condition_of = |relation: RelId, args: &[Arg]| {
        let bound = patterns.get(&relation)?;
        let args = bound.iter().map(|&column| args[column].clone()).collect();
        Some(Condition::Holds(relations[&relation], args))
    };
    let mut result = Vec::with_capacity(clauses.len() * 2);
    for mut clause in clauses {
        let own = match &clause.head {
            Head::Row(relation, args) => condition_of(*relation, args),
            Head::Any(..) => None,
        };
        for question in questions(&clause, wanted) {
            if let Some(Condition::Holds(demanded, args)) =
                condition_of(question.relation, question.args)
            {
                let mut body = question.binders;
                body.extend(own.clone());
                let head = Head::Row(demanded, args);
                let mut asking = Clause {
                    head,
                    body,
                    n_variables: clause.n_variables,
                    rule: clause.rule,
                };
                renumber(&mut asking);
                result.push(asking);
            }
        }
        clause.body.extend(own);
        result.push(clause);
    }
    result
}

/// The relations to compute on demand, given those that are too large: these and their callers, directly or through
/// others, up to the relations that the game itself needs. Callers are included because they pass on their own demand.
pub(crate) fn with_callers(
    clauses: &[Clause],
    large: &FxHashSet<RelId>,
    catalog: &Catalog,
) -> FxHashSet<RelId> {
    let is_own = |relation: &RelId| match catalog.meaning(*relation) {
        Meaning::Plain(plain) => plain.keyword().is_none(),
        _ => false,
    };
    let callers = dependents(clauses, large).into_values().flatten();
    callers.filter(is_own).collect()
}

fn sorted<'a>(relations: impl Iterator<Item = &'a RelId>) -> Vec<RelId> {
    let mut relations: Vec<RelId> = relations.copied().collect();
    relations.sort_unstable();
    relations
}

/// Per wanted relation, the relations that depend on it, including itself.
fn dependents(clauses: &[Clause], wanted: &FxHashSet<RelId>) -> FxHashMap<RelId, FxHashSet<RelId>> {
    let mut users: FxHashMap<RelId, Vec<RelId>> = FxHashMap::default();
    for clause in clauses {
        if let Head::Row(head, _) = clause.head {
            for used in clause.body.iter().filter_map(Condition::relation) {
                users.entry(used).or_default().push(head);
            }
        }
    }
    let closure = |&relation: &RelId| {
        let mut seen = FxHashSet::default();
        let mut queue = vec![relation];
        while let Some(relation) = queue.pop() {
            if seen.insert(relation) {
                queue.extend(users.get(&relation).into_iter().flatten());
            }
        }
        (relation, seen)
    };
    wanted.iter().map(closure).collect()
}

/// A condition that is computed on demand, with the conditions that provide its bindings.
struct Question<'a> {
    relation: RelId,
    args: &'a [Arg],
    binders: Vec<Condition>,
}

/// The demand conditions of a clause in evaluation order: the one with the most bound arguments comes next, negated
/// ones come last.
fn questions<'a>(clause: &'a Clause, wanted: &FxHashSet<RelId>) -> Vec<Question<'a>> {
    let is_wanted = |condition: &&Condition| {
        condition
            .relation()
            .is_some_and(|relation| wanted.contains(&relation))
    };
    let (mut open, rest): (Vec<&Condition>, Vec<&Condition>) =
        clause.body.iter().partition(is_wanted);
    let mut binders: Vec<Condition> = rest
        .into_iter()
        .filter(|condition| matches!(condition, Condition::Holds(..)))
        .cloned()
        .collect();
    let mut known: FxHashSet<u32> = FxHashSet::default();
    clause
        .head
        .args()
        .iter()
        .for_each(|arg| arg.for_each_variable(&mut |variable| drop_bool(known.insert(variable))));
    for binder in &binders {
        binder.for_each_variable(&mut |variable| drop_bool(known.insert(variable)));
    }
    let mut asked = Vec::new();
    while !open.is_empty() {
        let n_open = |condition: &Condition| {
            let mut n_open = 0;
            condition
                .for_each_variable(&mut |variable| n_open += u32::from(!known.contains(&variable)));
            // A recursive condition comes last, when all other bindings are known.
            let is_recursive =
                matches!(clause.head, Head::Row(head, _) if condition.relation() == Some(head));
            (
                matches!(condition, Condition::Fails(..)),
                is_recursive,
                n_open,
            )
        };
        let next = (0..open.len())
            .min_by_key(|&idx| n_open(open[idx]))
            .unwrap_or(0);
        let condition = open.remove(next);
        if let Condition::Holds(relation, args) | Condition::Fails(relation, args) = condition {
            asked.push(Question {
                relation: *relation,
                args,
                binders: binders.clone(),
            });
        }
        if let Condition::Holds(..) = condition {
            condition.for_each_variable(&mut |variable| drop_bool(known.insert(variable)));
            binders.push(condition.clone());
        }
    }
    asked
}

/// Discards the result of an insertion.
fn drop_bool(_: bool) {}

/// Per wanted relation, the columns that every caller binds; relations without such a column are missing.
fn patterns(clauses: &[Clause], wanted: &FxHashSet<RelId>) -> FxHashMap<RelId, Vec<usize>> {
    let mut bound: FxHashMap<RelId, Option<Vec<usize>>> =
        wanted.iter().map(|&relation| (relation, None)).collect();
    // The columns that a recursive caller binds depend on the columns bound in its own head: start with all columns and
    // remove.
    loop {
        let mut is_stable = true;
        for clause in clauses {
            let in_head = head_variables(clause, &bound);
            for question in questions(clause, wanted) {
                let mut variables = in_head.clone();
                for binder in &question.binders {
                    binder.for_each_variable(&mut |variable| drop_bool(variables.insert(variable)));
                }
                let is_bound = |column: &usize| {
                    let mut is_bound = true;
                    question.args[*column].for_each_variable(&mut |variable| {
                        is_bound &= variables.contains(&variable);
                    });
                    is_bound
                };
                let known = &bound[&question.relation];
                let before = known
                    .clone()
                    .unwrap_or_else(|| (0..question.args.len()).collect());
                let after: Vec<usize> = before.into_iter().filter(is_bound).collect();
                if known.as_ref() != Some(&after) {
                    is_stable = false;
                    bound.insert(question.relation, Some(after));
                }
            }
        }
        if is_stable {
            break;
        }
    }
    let found = bound
        .into_iter()
        .filter_map(|(relation, columns)| Some((relation, columns?)));
    found.filter(|(_, columns)| !columns.is_empty()).collect()
}

/// Variables that are bound by the demand on a clause's head.
fn head_variables(clause: &Clause, bound: &FxHashMap<RelId, Option<Vec<usize>>>) -> FxHashSet<u32> {
    let mut variables = FxHashSet::default();
    if let Head::Row(head, args) = &clause.head
        && let Some(columns) = bound.get(head)
    {
        let all = || (0..args.len()).collect();
        for column in columns.clone().unwrap_or_else(all) {
            args[column].for_each_variable(&mut |variable| drop_bool(variables.insert(variable)));
        }
    }
    variables
}
