//! Unfolds conditions on relations that only tie their arguments together.
//!
//! `set(?a, ?b, ?c, ?d)`, "these four pieces share an attribute", is a relation of thousands of rows. It says that
//! there is an attribute that each of the four pieces has. If it is unfolded in the clause that uses it, each piece can
//! be eliminated separately, against the attribute alone; as a relation, it needs all four at once.
//!
//! A relation is unfolded only where this has no cost: it has one clause, does not depend on itself, has at least three
//! arguments, and no condition of its clause mentions more than one of them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::clause::{Arg, Catalog, Clause, Condition, Head, Meaning, RelId, renumber};

/// Returns the clauses with such conditions unfolded.
pub(crate) fn unfold(mut clauses: Vec<Clause>, catalog: &Catalog) -> Vec<Clause> {
    let ties = ties(&clauses, catalog);
    if ties.is_empty() {
        return clauses;
    }
    for clause in &mut clauses {
        // A tie does not mention ties, so one round is enough.
        for condition in std::mem::take(&mut clause.body) {
            match &condition {
                Condition::Holds(relation, args) if ties.contains_key(relation) => {
                    write_out(clause, &ties[relation], args);
                }
                _ => clause.body.push(condition),
            }
        }
        renumber(clause);
    }
    let mentioned: FxHashSet<RelId> = clauses
        .iter()
        .flat_map(|clause| clause.body.iter().filter_map(Condition::relation))
        .collect();
    clauses.retain(|clause| match clause.head {
        Head::Row(relation, _) => !ties.contains_key(&relation) || mentioned.contains(&relation),
        Head::Any(..) => true,
    });
    clauses
}

/// The clauses of the relations to unfold.
fn ties(clauses: &[Clause], catalog: &Catalog) -> FxHashMap<RelId, Clause> {
    let mut only: FxHashMap<RelId, Option<&Clause>> = FxHashMap::default();
    for clause in clauses {
        if let Head::Row(relation, _) = clause.head
            && matches!(catalog.meaning(relation), Meaning::Plain(plain) if plain.keyword().is_none())
        {
            only.entry(relation)
                .and_modify(|clause| *clause = None)
                .or_insert(Some(clause));
        }
    }
    let tied: FxHashMap<RelId, &Clause> = only
        .into_iter()
        .filter_map(|(relation, clause)| Some((relation, clause.filter(|clause| is_tie(clause))?)))
        .collect();
    let is_last = |clause: &Clause| {
        let mut relations = clause.body.iter().filter_map(Condition::relation);
        relations.all(|relation| !tied.contains_key(&relation))
    };
    tied.iter()
        .filter(|(_, clause)| is_last(clause))
        .map(|(&relation, &clause)| (relation, clause.clone()))
        .collect()
}

fn is_tie(clause: &Clause) -> bool {
    let mut args: Vec<u32> = Vec::new();
    for arg in clause.head.args() {
        match arg {
            Arg::Variable(variable) if !args.contains(variable) => args.push(*variable),
            _ => return false,
        }
    }
    let mentions_one = |condition: &Condition| {
        let mut mentioned: Vec<u32> = Vec::new();
        condition.for_each_variable(&mut |variable| {
            if args.contains(&variable) && !mentioned.contains(&variable) {
                mentioned.push(variable);
            }
        });
        mentioned.len() <= 1
    };
    args.len() >= 3 && clause.body.iter().all(mentions_one)
}

/// Adds the body of a tie to a clause, with its arguments replaced and its other variables renamed.
pub(crate) fn write_out(clause: &mut Clause, tie: &Clause, args: &[Arg]) {
    let mut values: Vec<Arg> = (0..tie.n_variables)
        .map(|variable| Arg::Variable(clause.n_variables + variable))
        .collect();
    clause.n_variables += tie.n_variables;
    for (formal, actual) in tie.head.args().iter().zip(args) {
        if let Arg::Variable(variable) = formal {
            values[*variable as usize] = actual.clone();
        }
    }
    let replace = |arg: &Arg| replaced(arg, &values);
    let body = tie.body.iter().map(|condition| match condition {
        Condition::Holds(relation, args) => {
            Condition::Holds(*relation, args.iter().map(replace).collect())
        }
        Condition::Fails(relation, args) => {
            Condition::Fails(*relation, args.iter().map(replace).collect())
        }
        Condition::Differ(left, right) => Condition::Differ(replace(left), replace(right)),
    });
    clause.body.extend(body);
}

fn replaced(arg: &Arg, values: &[Arg]) -> Arg {
    match arg {
        Arg::Variable(variable) => values[*variable as usize].clone(),
        Arg::Term(term) => Arg::Term(*term),
        Arg::Function(name, args) => Arg::Function(
            *name,
            args.iter().map(|arg| replaced(arg, values)).collect(),
        ),
    }
}
