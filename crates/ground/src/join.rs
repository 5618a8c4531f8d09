//! Executes a join plan: finds every match of a clause, or every distinct head.
//!
//! Backtracking over the steps of the plan uses an explicit cursor per step, so there is no limit on the length of a
//! clause. Relations may grow while a join runs: each condition sees only the rows below a bound, which the caller
//! fixes in advance.

use crate::plan::{Access, Pattern, Plan, Step, Value};
use crate::relation::{NO_ROW, Relation};
use crate::term::{TermId, TermTable, TermView};

/// All terms and rows that grounding has computed.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) terms: TermTable,
    pub(crate) relations: Vec<Relation>,
    /// Number of terms that were built or looked up.
    n_built: u64,
}

impl Store {
    pub(crate) fn bytes(&self) -> u64 {
        let relation_bytes: usize = self.relations.iter().map(Relation::bytes).sum();
        (self.terms.bytes() + relation_bytes) as u64
    }

    /// Evaluates a value; new terms are added to the table.
    pub(crate) fn build(&mut self, value: &Value, registers: &[TermId]) -> TermId {
        match value {
            Value::Register(register) => registers[*register as usize],
            Value::Term(term) => *term,
            Value::Function(name, values) => {
                self.n_built += 1;
                let args: Vec<TermId> = values
                    .iter()
                    .map(|value| self.build(value, registers))
                    .collect();
                self.terms.compound(*name, &args)
            }
        }
    }

    /// Evaluates a value, if the result is already in the table.
    fn lookup(&self, value: &Value, registers: &[TermId]) -> Option<TermId> {
        match value {
            Value::Register(register) => Some(registers[*register as usize]),
            Value::Term(term) => Some(*term),
            Value::Function(name, values) => {
                let args: Option<Vec<TermId>> = values
                    .iter()
                    .map(|value| self.lookup(value, registers))
                    .collect();
                self.terms.find_compound(*name, &args?)
            }
        }
    }

    fn lookup_all(&self, values: &[Value], registers: &[TermId], out: &mut Vec<TermId>) -> bool {
        out.clear();
        for value in values {
            match self.lookup(value, registers) {
                Some(term) => out.push(term),
                None => return false,
            }
        }
        true
    }

    fn matches(&self, pattern: &Pattern, term: TermId, registers: &mut [TermId]) -> bool {
        match pattern {
            Pattern::Bind(register) => {
                registers[*register as usize] = term;
                true
            }
            Pattern::Same(register) => registers[*register as usize] == term,
            Pattern::Term(other) => *other == term,
            Pattern::Function(name, patterns) => match self.terms.view(term) {
                TermView::Compound(other, args)
                    if other == *name && args.len() == patterns.len() =>
                {
                    patterns
                        .iter()
                        .zip(args)
                        .all(|(pattern, &arg)| self.matches(pattern, arg, registers))
                }
                _ => false,
            },
        }
    }
}

/// The range of rows that each condition of a clause sees.
pub(crate) struct Bounds<'a> {
    /// Per condition of the body: the end of the visible rows.
    pub(crate) ends: &'a [u32],
    /// For the first step: the first visible row.
    pub(crate) first_start: u32,
}

/// Receives the matches of a clause.
pub(crate) trait Sink {
    /// Receives the values of the variables and, per condition of the body, the row that matched.
    fn take(&mut self, store: &mut Store, registers: &[TermId], rows: &[u32]) -> Flow;
}

/// How a join continues after a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// With the next match.
    Next,
    /// With the next match that has another head.
    NextHead,
    /// The join ends.
    Stop,
}

/// Limits of a join.
pub(crate) struct Budget<'a> {
    /// Maximum number of rows to visit.
    pub(crate) steps: u64,
    /// Maximum size of terms and rows, in bytes.
    pub(crate) bytes: u64,
    /// Polled regularly; the join ends when it returns true.
    pub(crate) stop: &'a dyn Fn() -> bool,
}

/// The cost of building a term, in steps.
const STEPS_PER_TERM: u64 = 8;
/// Number of steps between two checks of memory and `stop`.
const STEPS_PER_LOOK: u64 = 1 << 16;

/// Registers and cursors, reused by all joins.
#[derive(Default)]
pub(crate) struct Join {
    registers: Vec<TermId>,
    cursors: Vec<u32>,
    rows: Vec<u32>,
    key: Vec<TermId>,
    /// Rows visited in the last run.
    pub(crate) n_steps: u64,
    /// The limit that ended the last run early, if any.
    pub(crate) exceeded: Option<&'static str>,
}

impl Join {
    /// Runs a plan for a clause with `n_variables` variables and `n_conditions` conditions. Returns false if the sink
    /// stopped the join or the budget is exhausted.
    pub(crate) fn run(
        &mut self,
        plan: &Plan,
        (n_variables, n_conditions): (u32, usize),
        bounds: &Bounds<'_>,
        store: &mut Store,
        budget: &Budget<'_>,
        sink: &mut impl Sink,
    ) -> bool {
        self.registers.clear();
        self.registers.resize(n_variables as usize, TermId(0));
        self.rows.clear();
        self.rows.resize(n_conditions, NO_ROW);
        self.cursors.clear();
        self.cursors.resize(plan.steps.len(), NO_ROW);
        self.n_steps = 0;
        self.exceeded = None;
        let mut next_look = STEPS_PER_LOOK;
        let n_steps = plan.steps.len();
        let mut step = 0;
        let mut is_entry = true;
        loop {
            // Step 1. At the end of the plan, the clause is satisfied.
            if step == n_steps {
                let built_before = store.n_built;
                let flow = sink.take(store, &self.registers, &self.rows);
                self.n_steps += (store.n_built - built_before) * STEPS_PER_TERM;
                match flow {
                    Flow::Next => {}
                    Flow::NextHead => step = plan.settled_at,
                    Flow::Stop => return false,
                }
            } else {
                // Step 2. Find the next row of this step, or evaluate its test.
                self.n_steps += 1;
                if self.n_steps >= next_look || self.n_steps > budget.steps {
                    next_look = self.n_steps + STEPS_PER_LOOK;
                    self.exceeded = if self.n_steps > budget.steps {
                        Some("join steps")
                    } else if store.bytes() > budget.bytes {
                        Some("memory")
                    } else if (budget.stop)() {
                        Some("time")
                    } else {
                        None
                    };
                    if self.exceeded.is_some() {
                        return false;
                    }
                }
                let is_satisfied = self.advance(&plan.steps[step], step, is_entry, bounds, store);
                if is_satisfied {
                    step += 1;
                    is_entry = true;
                    continue;
                }
            }
            // Step 3. Backtrack to the last step that may have another row.
            loop {
                if step == 0 {
                    return true;
                }
                step -= 1;
                if matches!(plan.steps[step], Step::Rows { .. }) && self.cursors[step] != NO_ROW {
                    break;
                }
            }
            is_entry = false;
        }
    }

    /// Moves a step to its first (on entry) or next matching row.
    fn advance(
        &mut self,
        step: &Step,
        at: usize,
        is_entry: bool,
        bounds: &Bounds<'_>,
        store: &mut Store,
    ) -> bool {
        match step {
            Step::Differ(left, right) => {
                store.build(left, &self.registers) != store.build(right, &self.registers)
            }
            Step::Absent {
                condition,
                relation,
                values,
            } => {
                if !store.lookup_all(values, &self.registers, &mut self.key) {
                    return true;
                }
                let found = store.relations[relation.idx()].find(&self.key);
                found.is_none_or(|row| row >= bounds.ends[*condition as usize])
            }
            Step::Rows {
                condition,
                relation,
                access,
                load,
            } => {
                let end = bounds.ends[*condition as usize];
                let relation = &store.relations[relation.idx()];
                let mut row = match (access, is_entry) {
                    (Access::Scan, true) => {
                        if at == 0 {
                            bounds.first_start
                        } else {
                            0
                        }
                    }
                    (Access::Scan, false) => self.cursors[at] + 1,
                    (Access::Index(index, key), true) => {
                        if store.lookup_all(key, &self.registers, &mut self.key) {
                            relation.first_match(*index, &self.key)
                        } else {
                            NO_ROW
                        }
                    }
                    (Access::Index(index, _), false) => {
                        relation.next_match(*index, self.cursors[at])
                    }
                    (Access::Exact(key), true) => {
                        if store.lookup_all(key, &self.registers, &mut self.key) {
                            relation.find(&self.key).unwrap_or(NO_ROW)
                        } else {
                            NO_ROW
                        }
                    }
                    (Access::Exact(_), false) => NO_ROW,
                };
                loop {
                    if row >= end {
                        self.cursors[at] = NO_ROW;
                        return false;
                    }
                    let values = relation.row(row);
                    let registers = &mut self.registers;
                    if load.iter().all(|(column, pattern)| {
                        store.matches(pattern, values[*column as usize], registers)
                    }) {
                        self.cursors[at] = row;
                        self.rows[*condition as usize] = row;
                        return true;
                    }
                    self.n_steps += 1;
                    row = match access {
                        Access::Scan => row + 1,
                        Access::Index(index, _) => relation.next_match(*index, row),
                        Access::Exact(_) => NO_ROW,
                    };
                }
            }
        }
    }
}
