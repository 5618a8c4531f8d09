//! Projection: drops arguments whose values are never used.
//!
//! If every condition on a relation has, in some column, a variable that occurs nowhere else in its clause, only the
//! existence of a value matters and the column can be dropped: `big(?a, ?b, ?c)` of which only `?a` is used becomes
//! `big(?a)`. The variables of the relation's own clauses can then be eliminated one by one, where the full relation
//! would be a product.

use rustc_hash::FxHashMap;

use crate::clause::{Arg, Catalog, Clause, Condition, Head, Meaning, RelId, renumber};

/// Rewrites the clauses over relations without such columns.
pub(crate) fn project(mut clauses: Vec<Clause>, catalog: &mut Catalog) -> Vec<Clause> {
    // Dropping a column removes an occurrence of a variable, and so may make another column unused.
    loop {
        let kept = kept_columns(&clauses, catalog);
        if kept.is_empty() {
            return clauses;
        }
        for clause in &mut clauses {
            narrow(clause, &kept);
        }
    }
}

/// For relations that lose a column: the new relation and the columns that remain.
fn kept_columns(
    clauses: &[Clause],
    catalog: &mut Catalog,
) -> FxHashMap<RelId, (RelId, Vec<usize>)> {
    let mut is_used: FxHashMap<RelId, Vec<bool>> = FxHashMap::default();
    for relation in catalog.ids() {
        if let Meaning::Plain(plain) = catalog.meaning(relation)
            && plain.keyword().is_none()
        {
            is_used.insert(relation, vec![false; catalog.arity(relation)]);
        }
    }
    for clause in clauses {
        let counts = occurrences(clause);
        for condition in &clause.body {
            let (Condition::Holds(relation, args) | Condition::Fails(relation, args)) = condition
            else {
                continue;
            };
            let Some(columns) = is_used.get_mut(relation) else {
                continue;
            };
            for (column, arg) in columns.iter_mut().zip(args) {
                *column |=
                    !matches!(arg, Arg::Variable(variable) if counts[*variable as usize] == 1);
            }
        }
    }
    let mut kept = FxHashMap::default();
    for clause in clauses {
        let Head::Row(relation, _) = clause.head else {
            continue;
        };
        let Some(columns) = is_used.get(&relation) else {
            continue;
        };
        if columns.iter().all(|&is_used| is_used) || kept.contains_key(&relation) {
            continue;
        }
        let stay: Vec<usize> = (0..columns.len())
            .filter(|&column| columns[column])
            .collect();
        let narrow = catalog.number(catalog.meaning(relation), stay.len());
        kept.insert(relation, (narrow, stay));
    }
    kept
}

/// Number of occurrences of each variable of a clause.
fn occurrences(clause: &Clause) -> Vec<u32> {
    let mut counts = vec![0; clause.n_variables as usize];
    let mut count = |variable: u32| counts[variable as usize] += 1;
    clause
        .head
        .args()
        .iter()
        .for_each(|arg| arg.for_each_variable(&mut count));
    clause
        .body
        .iter()
        .for_each(|condition| condition.for_each_variable(&mut count));
    counts
}

fn narrow(clause: &mut Clause, kept: &FxHashMap<RelId, (RelId, Vec<usize>)>) {
    let row = |relation: &mut RelId, args: &mut Box<[Arg]>| {
        if let Some((narrow, columns)) = kept.get(relation) {
            *relation = *narrow;
            *args = columns.iter().map(|&column| args[column].clone()).collect();
        }
    };
    if let Head::Row(relation, args) = &mut clause.head {
        row(relation, args);
    }
    for condition in &mut clause.body {
        if let Condition::Holds(relation, args) | Condition::Fails(relation, args) = condition {
            row(relation, args);
        }
    }
    renumber(clause);
}
