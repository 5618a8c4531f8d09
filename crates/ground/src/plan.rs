//! Join planning: the order of the conditions of a clause, and the access path of each condition.
//!
//! The planner is greedy. The next condition is the one with the fewest expected rows, given the variables bound so
//! far. Tests are placed as soon as their variables are bound. Estimates use the actual sizes of relations and indexes.

use agon_gdl::SymbolId;

use crate::clause::{Arg, Clause, Condition, RelId};
use crate::relation::{IndexId, Relation};
use crate::term::TermId;

/// A value computed from registers.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Register(u32),
    Term(TermId),
    Function(SymbolId, Box<[Value]>),
}

/// A pattern for a column of a row: what it must equal, and which registers it fills.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// Fills a register.
    Bind(u32),
    /// Equals a register.
    Same(u32),
    /// Equals a term.
    Term(TermId),
    /// Has this outermost function, and its arguments match the patterns.
    Function(SymbolId, Box<[Pattern]>),
}

/// How the rows of a condition are found.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// All rows.
    Scan,
    /// Rows whose indexed columns have these values.
    Index(IndexId, Box<[Value]>),
    /// The single row with these values.
    Exact(Box<[Value]>),
}

/// One step of a join.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Iterates over the rows of a condition.
    Rows {
        /// Index of the condition in the clause's body.
        condition: u32,
        relation: RelId,
        access: Access,
        /// Columns that are not fixed by the access path.
        load: Box<[(u32, Pattern)]>,
    },
    /// Continues only if the row does not exist.
    Absent {
        condition: u32,
        relation: RelId,
        values: Box<[Value]>,
    },
    /// Continues only if the values differ.
    Differ(Value, Value),
}

/// A join order.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// From this step on, no variable of the head is bound: one match of the remaining steps is enough to derive the
    /// head.
    pub(crate) settled_at: usize,
    /// The size of each condition's relation when the plan was made.
    sizes: Vec<u32>,
}

impl Plan {
    /// Whether a relation has grown so much that another order may be better.
    pub(crate) fn is_stale(&self, clause: &Clause, relations: &[Relation]) -> bool {
        let mut pairs = sizes(clause, relations).zip(&self.sizes);
        pairs.any(|(now, &before)| now > before.saturating_mul(3).saturating_add(16))
    }
}

/// Plans a clause. With `first`, the join starts with the rows of that condition. `is_tested` says which negated
/// relations are complete, so that their absence can be tested; other negations are left to the ground rules.
pub(crate) fn plan(
    clause: &Clause,
    first: Option<usize>,
    relations: &mut [Relation],
    is_tested: impl Fn(RelId) -> bool,
) -> Plan {
    let mut planner = Planner {
        clause,
        relations,
        bound: vec![false; clause.n_variables as usize],
        is_done: vec![false; clause.body.len()],
        steps: Vec::with_capacity(clause.body.len()),
    };
    for (idx, condition) in clause.body.iter().enumerate() {
        if let Condition::Fails(relation, _) = condition {
            planner.is_done[idx] = !is_tested(*relation);
        }
    }
    if let Some(first) = first {
        planner.take(first, true);
    }
    planner.tests();
    while let Some(next) = planner.cheapest() {
        planner.take(next, false);
        planner.tests();
    }
    let settled_at = settled_at(clause, &planner.steps);
    let steps = planner.steps;
    Plan {
        steps,
        settled_at,
        sizes: sizes(clause, relations).collect(),
    }
}

/// The size of each condition's relation.
fn sizes(clause: &Clause, relations: &[Relation]) -> impl Iterator<Item = u32> {
    let relations = clause.body.iter().map(move |condition| {
        condition
            .relation()
            .map(|relation| relations[relation.idx()].len())
    });
    relations.map(Option::unwrap_or_default)
}

struct Planner<'a> {
    clause: &'a Clause,
    relations: &'a mut [Relation],
    bound: Vec<bool>,
    is_done: Vec<bool>,
    steps: Vec<Step>,
}

impl Planner<'_> {
    /// Adds every test whose variables are bound.
    fn tests(&mut self) {
        for idx in 0..self.clause.body.len() {
            if self.is_done[idx] {
                continue;
            }
            let clause = self.clause;
            let step = match &clause.body[idx] {
                Condition::Holds(..) => continue,
                condition if !condition.args().all(|arg| self.is_bound(arg)) => continue,
                Condition::Fails(relation, args) => {
                    let values = args.iter().map(value).collect();
                    Step::Absent {
                        condition: idx as u32,
                        relation: *relation,
                        values,
                    }
                }
                Condition::Differ(left, right) => Step::Differ(value(left), value(right)),
            };
            self.is_done[idx] = true;
            self.steps.push(step);
        }
    }

    /// The positive condition with the fewest expected rows.
    fn cheapest(&self) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (idx, condition) in self.clause.body.iter().enumerate() {
            let Condition::Holds(relation, args) = condition else {
                continue;
            };
            if self.is_done[idx] {
                continue;
            }
            let columns = self.bound_columns(args);
            let relation = &self.relations[relation.idx()];
            let mut cost = relation.rows_per_key(&columns);
            // Ties are broken in favour of more bound columns.
            cost -= columns.len() as f64 * 1e-3;
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, idx));
            }
        }
        best.map(|(_, idx)| idx)
    }

    fn take(&mut self, idx: usize, is_scan: bool) {
        let clause = self.clause;
        let Condition::Holds(relation, args) = &clause.body[idx] else {
            return;
        };
        let columns = if is_scan {
            Vec::new()
        } else {
            self.bound_columns(args)
        };
        let values = || {
            columns
                .iter()
                .map(|&column| value(&args[column as usize]))
                .collect()
        };
        let access = if columns.is_empty() && (is_scan || !args.is_empty()) {
            Access::Scan
        } else if columns.len() == args.len() {
            Access::Exact(values())
        } else {
            let index = self.relations[relation.idx()].index_on(&columns);
            Access::Index(index, values())
        };
        let mut load = Vec::new();
        for (column, arg) in args.iter().enumerate() {
            if !columns.contains(&(column as u32)) {
                load.push((column as u32, self.pattern(arg)));
            }
        }
        self.is_done[idx] = true;
        self.steps.push(Step::Rows {
            condition: idx as u32,
            relation: *relation,
            access,
            load: load.into(),
        });
    }

    fn bound_columns(&self, args: &[Arg]) -> Vec<u32> {
        (0..args.len() as u32)
            .filter(|&column| self.is_bound(&args[column as usize]))
            .collect()
    }

    fn is_bound(&self, arg: &Arg) -> bool {
        let mut is_bound = true;
        arg.for_each_variable(&mut |variable| is_bound &= self.bound[variable as usize]);
        is_bound
    }

    fn pattern(&mut self, arg: &Arg) -> Pattern {
        match arg {
            Arg::Term(term) => Pattern::Term(*term),
            Arg::Variable(variable) => {
                if std::mem::replace(&mut self.bound[*variable as usize], true) {
                    Pattern::Same(*variable)
                } else {
                    Pattern::Bind(*variable)
                }
            }
            Arg::Function(name, args) => {
                Pattern::Function(*name, args.iter().map(|arg| self.pattern(arg)).collect())
            }
        }
    }
}

/// The value of an argument whose variables are all bound.
pub(crate) fn value(arg: &Arg) -> Value {
    match arg {
        Arg::Variable(variable) => Value::Register(*variable),
        Arg::Term(term) => Value::Term(*term),
        Arg::Function(name, args) => Value::Function(*name, args.iter().map(value).collect()),
    }
}

fn settled_at(clause: &Clause, steps: &[Step]) -> usize {
    let mut needed = vec![false; clause.n_variables as usize];
    clause
        .head
        .args()
        .iter()
        .for_each(|arg| arg.for_each_variable(&mut |variable| needed[variable as usize] = true));
    let binds_needed = |step: &Step| match step {
        Step::Rows { load, .. } => load.iter().any(|(_, pattern)| binds(pattern, &needed)),
        Step::Absent { .. } | Step::Differ(..) => false,
    };
    steps
        .iter()
        .rposition(binds_needed)
        .map_or(0, |last| last + 1)
}

fn binds(pattern: &Pattern, needed: &[bool]) -> bool {
    match pattern {
        Pattern::Bind(register) => needed[*register as usize],
        Pattern::Same(_) | Pattern::Term(_) => false,
        Pattern::Function(_, patterns) => patterns.iter().any(|pattern| binds(pattern, needed)),
    }
}
