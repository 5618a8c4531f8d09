//! Domains: restricts arguments that a relation leaves open to the values that are asked for.
//!
//! `(<= (clear ?u ?x ?ignored) (adjacent ?u ?x) (coordinate ?ignored))` holds for every coordinate `?ignored`: the
//! relation has one row per coordinate, and a sheet may count `a` to `h` and `1` to `8` among them. If every condition on
//! `clear` takes this argument from a fluent, only the values of that fluent are needed. A filter collects them, one per
//! open argument, and restricts the clauses that leave it open.
//!
//! This is the demand of [`crate::demand`] for single arguments: much coarser, but a filter of one column costs nearly
//! nothing, while demand for whole rows may be as large as the relation itself.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::clause::{Arg, Catalog, Clause, Condition, Head, Meaning, RelId, renumber};

/// A column of a relation.
type Column = (RelId, usize);

/// Adds filters to the clauses where that is possible. Adds the relations that become smaller by it to `narrowed`.
pub(crate) fn restrict(
    mut clauses: Vec<Clause>,
    catalog: &mut Catalog,
    narrowed: &mut FxHashSet<RelId>,
) -> Vec<Clause> {
    let domains = domains(&clauses, catalog);
    let open = open_columns(&clauses, &domains, catalog);
    let Some((mut asking, filters)) = filters(&clauses, &domains, &open, catalog) else {
        return clauses;
    };
    for clause in &mut clauses {
        let Head::Row(head, args) = &clause.head else {
            continue;
        };
        let is_wide = |column: &Column| {
            domains.contains(&column.0) || (open.contains(column) && !filters.contains_key(column))
        };
        let needed = args.iter().enumerate().filter_map(|(column, arg)| {
            let Arg::Variable(variable) = arg else {
                return None;
            };
            let filter = filters.get(&(*head, column))?;
            let is_open = columns_of(clause, *variable).all(|column| is_wide(&column));
            is_open.then(|| Condition::Holds(*filter, Box::new([arg.clone()])))
        });
        let needed: Vec<Condition> = needed.collect();
        clause.body.extend(needed);
    }
    clauses.append(&mut asking);
    narrowed.extend(filters.keys().map(|&(relation, _)| relation));
    clauses
}

/// The relations of one column that consist of facts.
fn domains(clauses: &[Clause], catalog: &Catalog) -> FxHashSet<RelId> {
    let is_unary = |relation: &RelId| {
        catalog.arity(*relation) == 1 && matches!(catalog.meaning(*relation), Meaning::Plain(_))
    };
    let mut domains: FxHashSet<RelId> = catalog.ids().filter(is_unary).collect();
    for clause in clauses.iter().filter(|clause| !clause.body.is_empty()) {
        if let Head::Row(head, _) = clause.head {
            domains.remove(&head);
        }
    }
    domains
}

/// The columns at which a variable occurs in the positive conditions of a clause. Where it is inside a function, the
/// column counts too.
fn columns_of(clause: &Clause, variable: u32) -> impl Iterator<Item = Column> {
    clause.body.iter().flat_map(move |condition| {
        let (relation, args) = match condition {
            Condition::Holds(relation, args) => (*relation, &args[..]),
            Condition::Fails(relation, _) => (*relation, &[][..]),
            Condition::Differ(..) => (RelId(0), &[][..]),
        };
        let places = args.iter().enumerate();
        places
            .filter_map(move |(column, arg)| mentions(arg, variable).then_some((relation, column)))
    })
}

/// The columns of the sheet's own relations that some clause leaves open: nothing but domains and other open columns
/// binds the variable.
fn open_columns(
    clauses: &[Clause],
    domains: &FxHashSet<RelId>,
    catalog: &Catalog,
) -> FxHashSet<Column> {
    let mut open: FxHashSet<Column> = FxHashSet::default();
    loop {
        let n_before = open.len();
        for clause in clauses {
            let Head::Row(head, args) = &clause.head else {
                continue;
            };
            if !is_own(*head, catalog) || domains.contains(head) {
                continue;
            }
            for (column, arg) in args.iter().enumerate() {
                let Arg::Variable(variable) = arg else {
                    continue;
                };
                // A condition on the relation itself does not bind what it leaves open.
                let mut places = columns_of(clause, *variable)
                    .filter(|&place| place != (*head, column))
                    .peekable();
                let is_bound = places.peek().is_none()
                    || places.any(|place| !domains.contains(&place.0) && !open.contains(&place));
                if !is_bound {
                    open.insert((*head, column));
                }
            }
        }
        if open.len() == n_before {
            return open;
        }
    }
}

fn is_own(relation: RelId, catalog: &Catalog) -> bool {
    match catalog.meaning(relation) {
        Meaning::Plain(plain) => plain.keyword().is_none(),
        Meaning::Auxiliary(_) => true,
        _ => false,
    }
}

/// What a condition asks of an open column.
enum Question {
    /// This term, or the values of the variable in this condition.
    Value(Arg, Vec<Condition>),
    /// What is asked of another open column, that of the head.
    SameAs(Column),
    /// Any value.
    Anything,
}

/// The question that a clause asks at a column of the condition with this index.
fn question(
    clause: &Clause,
    at: usize,
    arg: &Arg,
    domains: &FxHashSet<RelId>,
    open: &FxHashSet<Column>,
    filtered: &FxHashSet<Column>,
) -> Question {
    let variable = match arg {
        Arg::Variable(variable) => *variable,
        Arg::Term(_) => return Question::Value(arg.clone(), Vec::new()),
        Arg::Function(..) => return Question::Anything,
    };
    let binds = |(idx, condition): &(usize, &Condition)| {
        let Condition::Holds(relation, args) = condition else {
            return false;
        };
        let mut places = args
            .iter()
            .enumerate()
            .filter(|(_, arg)| mentions(arg, variable));
        *idx != at
            && places.any(|(column, _)| {
                !domains.contains(relation) && !open.contains(&(*relation, column))
            })
    };
    let n_variables = |condition: &Condition| {
        let mut seen = FxHashSet::default();
        condition.for_each_variable(&mut |variable| {
            seen.insert(variable);
        });
        seen.len()
    };
    let binders = clause.body.iter().enumerate().filter(binds);
    if let Some((_, binder)) = binders.min_by_key(|(_, condition)| n_variables(condition)) {
        return Question::Value(arg.clone(), vec![binder.clone()]);
    }
    let Head::Row(head, args) = &clause.head else {
        return Question::Anything;
    };
    let same =
        (0..args.len()).find(|&column| args[column] == *arg && filtered.contains(&(*head, column)));
    same.map_or(Question::Anything, |column| {
        Question::SameAs((*head, column))
    })
}

fn mentions(arg: &Arg, variable: u32) -> bool {
    let mut is_mentioned = false;
    arg.for_each_variable(&mut |other| is_mentioned |= other == variable);
    is_mentioned
}

/// The clauses of the filters, and the filter of each open column of which every condition asks for certain values.
fn filters(
    clauses: &[Clause],
    domains: &FxHashSet<RelId>,
    open: &FxHashSet<Column>,
    catalog: &mut Catalog,
) -> Option<(Vec<Clause>, FxHashMap<Column, RelId>)> {
    let mut filtered = open.clone();
    loop {
        let n_before = filtered.len();
        for (clause, at, column, arg) in places(clauses) {
            if filtered.contains(&column)
                && matches!(
                    question(clause, at, arg, domains, open, &filtered),
                    Question::Anything
                )
            {
                filtered.remove(&column);
            }
        }
        if filtered.len() == n_before {
            break;
        }
    }
    if filtered.is_empty() {
        return None;
    }
    let mut columns: Vec<Column> = filtered.iter().copied().collect();
    columns.sort_unstable();
    let filters: FxHashMap<Column, RelId> = columns
        .into_iter()
        .map(|column| (column, catalog.filter(1)))
        .collect();
    let mut asking = Vec::new();
    for (clause, at, column, arg) in places(clauses) {
        let Some(&filter) = filters.get(&column) else {
            continue;
        };
        let (value, body) = match question(clause, at, arg, domains, open, &filtered) {
            Question::Value(value, body) => (value, body),
            Question::SameAs(same) if same == column => continue,
            Question::SameAs(same) => {
                let args: Box<[Arg]> = Box::new([arg.clone()]);
                (arg.clone(), vec![Condition::Holds(filters[&same], args)])
            }
            Question::Anything => continue,
        };
        let mut ask = Clause {
            head: Head::Row(filter, Box::new([value])),
            body,
            n_variables: clause.n_variables,
            rule: clause.rule,
        };
        renumber(&mut ask);
        asking.push(ask);
    }
    Some((asking, filters))
}

/// Every argument of every condition: the clause, the index of the condition, the column and the argument.
fn places(clauses: &[Clause]) -> impl Iterator<Item = (&Clause, usize, Column, &Arg)> {
    clauses.iter().flat_map(|clause| {
        clause
            .body
            .iter()
            .enumerate()
            .flat_map(move |(at, condition)| {
                let (relation, args) = match condition {
                    Condition::Holds(relation, args) | Condition::Fails(relation, args) => {
                        (*relation, &args[..])
                    }
                    Condition::Differ(..) => (RelId(0), &[][..]),
                };
                let columns = args.iter().enumerate();
                columns.map(move |(column, arg)| (clause, at, (relation, column), arg))
            })
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::narrowed;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "expectations are passed by value in tests"
    )]
    fn check(asking: &str, expected: Expect) {
        let sheet = format!(
            "(role r) (d 1) (d 2) (d 3) (d a) (d b) (init (at 1)) (legal r wait) (goal r 100)
             (<= (next (at 2)) (true (at 1))) (<= (next (at 1)) (true (at 2)))
             (<= (clear ?x ?ignored) (true (at ?x)) (d ?ignored))
             (<= (clear ?x ?ignored) (through ?x ?ignored))
             (<= (through ?x ?ignored) (true (at ?y)) (d ?x) (distinct ?x ?y) (d ?ignored)) {asking}"
        );
        let text = narrowed(&sheet);
        let rules: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("(clear"))
            .collect();
        expected.assert_eq(&rules.join("\n"));
    }

    #[test]
    fn an_open_argument_takes_the_values_that_are_asked_for() {
        check(
            "(<= terminal (true (at ?x)) (clear 1 ?x))",
            expect![[r#"
            (clear 1 1) <= (true (at 1))
            (clear 1 1) <= (through 1 1)
            (clear 1 2) <= (true (at 1))
            (clear 1 2) <= (through 1 2)"#]],
        );
    }

    #[test]
    fn terms_and_negations_ask_too() {
        check(
            "(<= terminal (clear ?x 3) (true (at ?x)) (not (clear 2 ?x)))",
            expect![[r#"
                (clear 2 3) <= (true (at 2))
                (clear 2 3) <= (through 2 3)
                (clear 2 1) <= (true (at 2))
                (clear 2 1) <= (through 2 1)
                (clear 1 3) <= (true (at 1))
                (clear 1 3) <= (through 1 3)
                (clear 2 2) <= (true (at 2))
                (clear 2 2) <= (through 2 2)"#]],
        );
    }

    #[test]
    fn an_argument_of_which_someone_asks_for_everything_stays_open() {
        check(
            "(<= terminal (clear ?x 3) (true (at ?x)) (clear ?x ?y) (distinct ?y 3))",
            expect![[r#"
                (clear 1 1) <= (true (at 1))
                (clear 1 1) <= (through 1 1)
                (clear 1 2) <= (true (at 1))
                (clear 1 2) <= (through 1 2)
                (clear 1 3) <= (true (at 1))
                (clear 1 3) <= (through 1 3)
                (clear 1 a) <= (true (at 1))
                (clear 1 a) <= (through 1 a)
                (clear 1 b) <= (true (at 1))
                (clear 1 b) <= (through 1 b)
                (clear 2 1) <= (true (at 2))
                (clear 2 1) <= (through 2 1)
                (clear 2 2) <= (true (at 2))
                (clear 2 2) <= (through 2 2)
                (clear 2 3) <= (true (at 2))
                (clear 2 3) <= (through 2 3)
                (clear 2 a) <= (true (at 2))
                (clear 2 a) <= (through 2 a)
                (clear 2 b) <= (true (at 2))
                (clear 2 b) <= (through 2 b)"#]],
        );
    }
}
