//! Executes a join plan: finds every match of a clause, or every distinct head.
//!
//! Backtracking over the steps of the plan uses an explicit cursor per step, so there is no limit on the length of a
//! clause. Relations may grow while a join runs: each condition sees only the rows below a bound, which the caller
//! fixes in advance.

use agon_gdl::SymbolId;

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
    #[inline]
    pub(crate) fn build(&mut self, value: &Value, registers: &[TermId]) -> TermId {
        match value {
            Value::Register(register) => registers[*register as usize],
            Value::Term(term) => *term,
            Value::Function(name, values) => self.build_compound(*name, values, registers),
        }
    }

    fn build_compound(&mut self, name: SymbolId, values: &[Value], registers: &[TermId]) -> TermId {
        self.n_built += 1;
        let args: Vec<TermId> = values
            .iter()
            .map(|value| self.build(value, registers))
            .collect();
        self.terms.compound(name, &args)
    }

    /// Evaluates a value, if the result is already in the table.
    #[inline]
    fn lookup(&self, value: &Value, registers: &[TermId]) -> Option<TermId> {
        match value {
            Value::Register(register) => Some(registers[*register as usize]),
            Value::Term(term) => Some(*term),
            Value::Function(name, values) => self.lookup_compound(*name, values, registers),
        }
    }

    fn lookup_compound(
        &self,
        name: SymbolId,
        values: &[Value],
        registers: &[TermId],
    ) -> Option<TermId> {
        let args: Option<Vec<TermId>> = values
            .iter()
            .map(|value| self.lookup(value, registers))
            .collect();
        self.terms.find_compound(name, &args?)
    }

    #[inline]
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

    #[inline]
    fn matches(&self, pattern: &Pattern, term: TermId, registers: &mut [TermId]) -> bool {
        match pattern {
            Pattern::Bind(register) => {
                registers[*register as usize] = term;
                true
            }
            Pattern::Same(register) => registers[*register as usize] == term,
            Pattern::Term(other) => *other == term,
            Pattern::Function(name, patterns) => {
                self.matches_compound(*name, patterns, term, registers)
            }
        }
    }

    fn matches_compound(
        &self,
        name: SymbolId,
        patterns: &[Pattern],
        term: TermId,
        registers: &mut [TermId],
    ) -> bool {
        match self.terms.view(term) {
            TermView::Compound(other, args) if other == name && args.len() == patterns.len() => {
                let mut pairs = patterns.iter().zip(args);
                pairs.all(|(pattern, &arg)| self.matches(pattern, arg, registers))
            }
            _ => false,
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
    /// The number of steps at which limits are checked next.
    next_look: u64,
    /// The limit that ended the last run early, if any.
    pub(crate) exceeded: Option<&'static str>,
}

/// How the innermost loop of a join ended.
enum Inner {
    /// There are no more rows.
    Exhausted,
    /// The next match is to have another head, for which a step further out must move on.
    Settled,
    /// The sink stopped the join, or the budget is exhausted.
    Ended,
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
        self.next_look = STEPS_PER_LOOK.min(budget.steps.saturating_add(1));
        self.exceeded = None;
        // Only tests come after the last rows.
        let is_rows = |step: &Step| matches!(step, Step::Rows { .. });
        let innermost = plan.steps.iter().rposition(is_rows);
        let mut step = 0;
        let mut is_entry = true;
        loop {
            if Some(step) == innermost {
                // Step 1. Visit all rows of the last rows step.
                match self.run_innermost(plan, step, bounds, store, budget, sink) {
                    Inner::Exhausted => {}
                    Inner::Settled => step = plan.settled_at,
                    Inner::Ended => return false,
                }
            } else if let Some(at) = plan.steps.get(step) {
                // Step 2. Find the next row of a step further out, or evaluate its test.
                if self.is_exhausted(store, budget) {
                    return false;
                }
                if self.advance(at, step, is_entry, bounds, store) {
                    step += 1;
                    is_entry = true;
                    continue;
                }
            } else {
                // Without rows, the tests have been passed.
                return self.take(store, sink) != Flow::Stop;
            }
            // Step 3. Backtrack to the last step that may have another row.
            loop {
                if step == 0 {
                    return true;
                }
                step -= 1;
                if is_rows(&plan.steps[step]) && self.cursors[step] != NO_ROW {
                    break;
                }
            }
            is_entry = false;
        }
    }

    /// The last rows step of a plan and the tests after it, in one loop: most of the time is spent here.
    fn run_innermost(
        &mut self,
        plan: &Plan,
        at: usize,
        bounds: &Bounds<'_>,
        store: &mut Store,
        budget: &Budget<'_>,
        sink: &mut impl Sink,
    ) -> Inner {
        let (rows, tests) = plan.steps[at..].split_first().expect("it is a step");
        let Step::Rows {
            condition,
            relation,
            access,
            load,
        } = rows
        else {
            return Inner::Exhausted;
        };
        let end = bounds.ends[*condition as usize];
        if self.is_exhausted(store, budget) {
            return Inner::Ended;
        }
        let rows = &store.relations[relation.idx()];
        let start = if at == 0 { bounds.first_start } else { 0 };
        let mut row = self.first_row(access, start, rows, store);
        loop {
            row = self.matching(
                row,
                end,
                access,
                load,
                &store.relations[relation.idx()],
                store,
            );
            if row == NO_ROW {
                return Inner::Exhausted;
            }
            self.rows[*condition as usize] = row;
            let mut is_satisfied = true;
            for (idx, test) in tests.iter().enumerate() {
                if self.is_exhausted(store, budget) {
                    return Inner::Ended;
                }
                is_satisfied = self.advance(test, at + 1 + idx, true, bounds, store);
                if !is_satisfied {
                    break;
                }
            }
            if is_satisfied {
                match self.take(store, sink) {
                    Flow::Next => {}
                    Flow::NextHead if plan.settled_at > at => {}
                    Flow::NextHead => return Inner::Settled,
                    Flow::Stop => return Inner::Ended,
                }
            }
            if self.is_exhausted(store, budget) {
                return Inner::Ended;
            }
            row = row_after(row, access, &store.relations[relation.idx()]);
        }
    }

    /// Gives a match to the sink.
    #[inline]
    fn take(&mut self, store: &mut Store, sink: &mut impl Sink) -> Flow {
        let built_before = store.n_built;
        let flow = sink.take(store, &self.registers, &self.rows);
        self.n_steps += (store.n_built - built_before) * STEPS_PER_TERM;
        flow
    }

    /// Counts a step; whether the budget is exhausted.
    #[inline]
    fn is_exhausted(&mut self, store: &Store, budget: &Budget<'_>) -> bool {
        self.n_steps += 1;
        self.n_steps >= self.next_look && self.look(store, budget)
    }

    #[cold]
    fn look(&mut self, store: &Store, budget: &Budget<'_>) -> bool {
        let next_look = self.n_steps + STEPS_PER_LOOK;
        self.next_look = next_look.min(budget.steps.saturating_add(1));
        self.exceeded = if self.n_steps > budget.steps {
            Some("join steps")
        } else if store.bytes() > budget.bytes {
            Some("memory")
        } else if (budget.stop)() {
            Some("time")
        } else {
            None
        };
        self.exceeded.is_some()
    }

    /// Moves a step to its first (on entry) or next matching row, or evaluates its test.
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
                let row = if is_entry {
                    let start = if at == 0 { bounds.first_start } else { 0 };
                    self.first_row(access, start, relation, store)
                } else {
                    row_after(self.cursors[at], access, relation)
                };
                let row = self.matching(row, end, access, load, relation, store);
                self.cursors[at] = row;
                self.rows[*condition as usize] = row;
                row != NO_ROW
            }
        }
    }

    /// The first row of an access path; a scan begins with `start`.
    #[inline]
    fn first_row(
        &mut self,
        access: &Access,
        start: u32,
        relation: &Relation,
        store: &Store,
    ) -> u32 {
        let (Access::Index(_, key) | Access::Exact(key)) = access else {
            return start;
        };
        if !store.lookup_all(key, &self.registers, &mut self.key) {
            return NO_ROW;
        }
        match access {
            Access::Index(index, _) => relation.first_match(*index, &self.key),
            _ => relation.find(&self.key).unwrap_or(NO_ROW),
        }
    }

    /// The first row from `row` on, before `end`, that matches the patterns, or `NO_ROW`.
    #[inline]
    fn matching(
        &mut self,
        mut row: u32,
        end: u32,
        access: &Access,
        load: &[(u32, Pattern)],
        relation: &Relation,
        store: &Store,
    ) -> u32 {
        while row < end {
            let values = relation.row(row);
            let registers = &mut self.registers;
            let matches = |(column, pattern): &(u32, Pattern)| {
                store.matches(pattern, values[*column as usize], registers)
            };
            if load.iter().all(matches) {
                return row;
            }
            self.n_steps += 1;
            row = row_after(row, access, relation);
        }
        NO_ROW
    }
}

/// The next row of an access path, or `NO_ROW`.
#[inline]
fn row_after(row: u32, access: &Access, relation: &Relation) -> u32 {
    match access {
        Access::Scan => row + 1,
        Access::Index(index, _) => relation.next_match(*index, row),
        Access::Exact(_) => NO_ROW,
    }
}
