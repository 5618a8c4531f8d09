//! Case distinction: unfolds a condition whose relation has several clauses, if every case is a much smaller join.
//!
//! `(different ?u ?v ?x ?y)`, "these two cells differ", has one clause for cells in different columns and one for cells
//! in different rows. As a relation, it ties four variables together, so that a clause that uses it has one instance per
//! pair of cells. In the first case, only the columns `?u` and `?x` matter, and `?v` can be eliminated before the two
//! cells meet; in the second case, `?u` can.
//!
//! Each case has all heads of the clause, so that only a clause that loses at least two variables is split. Clauses that
//! differ in a single relation are joined first, by a relation for their union: what follows is needed once, not once
//! per clause.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::clause::{Arg, Catalog, Clause, Condition, Head, Meaning, RelId, renumber};
use crate::decompose::width;
use crate::unfold::write_out;

/// A relation with more clauses than this is not unfolded.
const MAX_CASES: usize = 3;
/// How many variables fewer the widest join of every case must have.
const MIN_SAVING: usize = 2;

/// Unfolds such conditions. Adds the relations whose clauses are split to `narrowed`.
pub(crate) fn distinguish(
    clauses: Vec<Clause>,
    catalog: &mut Catalog,
    narrowed: &mut FxHashSet<RelId>,
) -> Vec<Clause> {
    let definitions = definitions(&clauses, catalog);
    if definitions.is_empty() {
        return clauses;
    }
    let (split, mut kept): (Vec<Clause>, Vec<Clause>) = clauses
        .into_iter()
        .partition(|clause| cases(clause, &definitions).is_some());
    narrowed.extend(split.iter().filter_map(|clause| match clause.head {
        Head::Row(relation, _) => Some(relation),
        Head::Any(..) => None,
    }));
    for clause in unite(split, &mut kept, catalog) {
        match cases(&clause, &definitions) {
            Some(cases) => kept.extend(cases),
            None => kept.push(clause),
        }
    }
    kept
}

/// The clauses of the relations that may be unfolded: relations of the sheet that are defined from facts alone, by more
/// than one clause with variables as arguments.
fn definitions(clauses: &[Clause], catalog: &Catalog) -> FxHashMap<RelId, Vec<Clause>> {
    let mut by_head: FxHashMap<RelId, Vec<&Clause>> = FxHashMap::default();
    for clause in clauses {
        if let Head::Row(relation, _) = clause.head {
            by_head.entry(relation).or_default().push(clause);
        }
    }
    let is_fact = |relation: RelId| {
        let facts = by_head.get(&relation);
        matches!(catalog.meaning(relation), Meaning::Plain(_))
            && facts.is_none_or(|facts| facts.iter().all(|fact| fact.body.is_empty()))
    };
    let is_case = |clause: &Clause| {
        let mut seen = FxHashSet::default();
        let mut head = clause.head.args().iter();
        let mut relations = clause.body.iter().filter_map(Condition::relation);
        !clause.body.is_empty()
            && head.all(|arg| matches!(arg, Arg::Variable(variable) if seen.insert(*variable)))
            && relations.all(is_fact)
    };
    by_head
        .iter()
        .filter(|(relation, cases)| {
            matches!(catalog.meaning(**relation), Meaning::Plain(plain) if plain.keyword().is_none())
                && (2..=MAX_CASES).contains(&cases.len())
                && cases.iter().all(|clause| is_case(clause))
        })
        .map(|(&relation, cases)| (relation, cases.iter().map(|&case| case.clone()).collect()))
        .collect()
}

/// The cases of the first condition whose cases are all much narrower than the clause.
fn cases(clause: &Clause, definitions: &FxHashMap<RelId, Vec<Clause>>) -> Option<Vec<Clause>> {
    clause.body.iter().enumerate().find_map(|(idx, condition)| {
        let Condition::Holds(relation, args) = condition else {
            return None;
        };
        let definition = definitions.get(relation)?;
        let case = |definition: &Clause| {
            let mut case = clause.clone();
            case.body.remove(idx);
            write_out(&mut case, definition, args);
            renumber(&mut case);
            case
        };
        let cases: Vec<Clause> = definition.iter().map(case).collect();
        let widest = cases.iter().map(width).max()?;
        (widest + MIN_SAVING <= width(clause)).then_some(cases)
    })
}

/// Joins clauses that differ in the relation of one positive condition. The clauses of the new relations are added to
/// `kept`.
fn unite(clauses: Vec<Clause>, kept: &mut Vec<Clause>, catalog: &mut Catalog) -> Vec<Clause> {
    let mut united: Vec<Clause> = Vec::new();
    let mut rest = clauses;
    while !rest.is_empty() {
        let first = rest.remove(0);
        let Some(idx) = (0..first.body.len()).find(|&idx| {
            let mut others = rest.iter();
            others.any(|other| differs_at(&first, other, idx))
        }) else {
            united.push(first);
            continue;
        };
        let (mut alike, others): (Vec<Clause>, Vec<Clause>) = rest
            .into_iter()
            .partition(|other| differs_at(&first, other, idx));
        rest = others;
        alike.insert(0, first);
        united.push(union(&alike, idx, kept, catalog));
    }
    united
}

/// Whether two clauses are equal but for the relation of this condition, which is positive in both.
fn differs_at(left: &Clause, right: &Clause, idx: usize) -> bool {
    let is_equal = |at: usize| match (&left.body[at], &right.body[at]) {
        (Condition::Holds(_, args), Condition::Holds(_, others)) if at == idx => args == others,
        (condition, other) => at != idx && condition == other,
    };
    left.head == right.head
        && left.body.len() == right.body.len()
        && (0..left.body.len()).all(is_equal)
}

/// The clause that stands for all of these, over a new relation that holds where one of theirs does.
fn union(alike: &[Clause], idx: usize, kept: &mut Vec<Clause>, catalog: &mut Catalog) -> Clause {
    let mut clause = alike[0].clone();
    let mut variables = Vec::new();
    clause.body[idx].for_each_variable(&mut |variable| {
        if !variables.contains(&variable) {
            variables.push(variable);
        }
    });
    let args: Box<[Arg]> = variables.into_iter().map(Arg::Variable).collect();
    let relation = catalog.auxiliary(args.len());
    for clause in alike {
        let mut part = Clause {
            head: Head::Row(relation, args.clone()),
            body: vec![clause.body[idx].clone()],
            n_variables: clause.n_variables,
            rule: clause.rule,
        };
        renumber(&mut part);
        kept.push(part);
    }
    clause.body[idx] = Condition::Holds(relation, args);
    renumber(&mut clause);
    clause
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use rustc_hash::FxHashSet;

    use crate::clause::{self, Catalog};
    use crate::narrowed;
    use crate::term::TermTable;

    fn sheet(attackers: &str) -> String {
        format!(
            "(role r) (d 1) (d 2) (init (rook 1 1 2)) (init (pawn 2 2 2)) (legal r wait) (goal r 100)
             (<= (next (rook ?x ?y ?k)) (true (pawn ?x ?y ?k))) (<= (next (pawn ?x ?y ?k)) (true (rook ?x ?y ?k)))
             (<= (different ?u ?v ?x ?y) (distinct ?u ?x) (d ?u) (d ?v) (d ?x) (d ?y))
             (<= (different ?u ?v ?x ?y) (distinct ?v ?y) (d ?u) (d ?v) (d ?x) (d ?y))
             {attackers} (<= terminal (attacked 1 2 2))"
        )
    }

    /// The number of clauses before and after.
    fn n_clauses(attackers: &str) -> (usize, usize) {
        let description =
            agon_gdl::parse(sheet(attackers).as_bytes(), &agon_gdl::Limits::default());
        let rules = agon_gdl::check(&description).expect("the sheet is valid");
        let mut catalog = Catalog::default();
        let clauses = clause::clauses(&rules, &mut catalog, &mut TermTable::default(), &|| false);
        let clauses = clauses.expect("nothing stops it");
        let before = clauses.len();
        let after = super::distinguish(clauses, &mut catalog, &mut FxHashSet::default());
        (before, after.len())
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "expectations are passed by value in tests"
    )]
    fn check(attackers: &str, expected: Expect) {
        let text = narrowed(&sheet(attackers));
        let rules: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("<=") && !line.starts_with("(next"))
            .collect();
        expected.assert_eq(&rules.join("\n"));
    }

    #[test]
    fn each_case_eliminates_a_variable_of_its_own() {
        check(
            "(<= (attacked ?x ?y ?k) (true (rook ?u ?v ?k)) (different ?u ?v ?x ?y) (different ?u ?v ?k ?k))",
            expect![[r#"
                (attacked 1 2 2) <= (true (rook 1 1 2))
                terminal <= (attacked 1 2 2)"#]],
        );
    }

    #[test]
    fn clauses_that_differ_in_one_relation_share_their_cases() {
        check(
            "(<= (attacked ?x ?y ?k) (true (rook ?u ?v ?k)) (different ?u ?v ?x ?y))
             (<= (attacked ?x ?y ?k) (true (pawn ?u ?v ?k)) (different ?u ?v ?x ?y))",
            expect![[r#"
                (attacked 1 2 2) <= (#13 1 1 2)
                (attacked 1 2 2) <= (#13 2 2 2)
                terminal <= (attacked 1 2 2)
                (#13 1 1 2) <= (true (pawn 1 1 2))
                (#13 1 1 2) <= (true (rook 1 1 2))
                (#13 2 2 2) <= (true (pawn 2 2 2))
                (#13 2 2 2) <= (true (rook 2 2 2))"#]],
        );
    }

    #[test]
    fn only_wide_joins_are_split() {
        let split = "(<= (attacked ?x ?y ?k) (true (rook ?u ?v ?k)) (different ?u ?v ?x ?y))";
        let (before, after) = n_clauses(split);
        assert_eq!(after, before + 1, "one clause per case");
        // Two clauses become one per case and one per relation of the union.
        let both = split.to_owned() + &split.replace("rook", "pawn");
        let (before, after) = n_clauses(&both);
        assert_eq!(after, before + 2);
        // Here both cells are in the head.
        let whole = "(<= (attacked ?x ?y ?k) (true (rook ?x ?y ?k)) (different ?x ?y ?k ?k))";
        let (before, after) = n_clauses(whole);
        assert_eq!(after, before);
    }
}
