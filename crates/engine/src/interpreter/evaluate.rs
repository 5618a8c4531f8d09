//! Evaluates calls: tabled and goal-directed, on an explicit stack.
//!
//! A new call gets a frame and tries its plans; its caller waits below on the stack and then reads the finished table.
//! Mutually dependent calls are found with Tarjan's algorithm for strongly connected components: every active call has
//! a place in the order of activation, and every frame records the lowest place that it depends on. A plan that has
//! read all answers of an active call is parked there with its variables. The lowest call of such a set is its leader:
//! when its own plans are exhausted it wakes parked plans that have answers to read, until there are none, and then all
//! calls of the set are complete. Each parked plan therefore reads each answer exactly once, as in semi-naive
//! iteration.
//!
//! A call that needs no values is complete after its first answer; calls that were started only for it are abandoned. A
//! negated call must be complete before it is used. This applies to the particular call with its values, not to the
//! name of the predicate, so sheets that are stratified only after grounding are accepted. If a negated call is active,
//! it depends on the rule that negates it: [`InterpreterError::NegativeLoop`].
//!
//! Nothing here recurses on the depth of a derivation, so the length of a chain is limited only by memory.
//!
//! - Chen and Warren 1996, Tabled Evaluation with Delaying for General Logic Programs (SLG resolution)
//! - Sagonas and Swift 1998, An Abstract Machine for Tabled Execution (completion of sets of calls)
//! - Tarjan 1972, Depth-First Search and Linear Graph Algorithms

use super::code::{Code, Column, Plan, PlanId, ProcedureId, Step};
use super::error::{InterpreterError, Limits, Resource};
use super::fluents::{END, Fluents};
use super::memory::{Frame, Memory};
use super::tables::{Status, TableId, Tables, Waiter};
use super::terms::{SharedTerms, TermId, Terms};
use super::values::{Builder, find, find_all, match_all, matches};

/// Number of inference steps between two looks at the stop flag: well below a millisecond.
const STEPS_PER_POLL: u64 = 4096;
/// A call or answer with more values counts as several, so that the limit on their number bounds the memory.
const VALUES_PER_TUPLE: usize = 16;

/// Evaluates one query on a memory.
pub(crate) struct Evaluator<'a> {
    // Constant.
    code: &'a Code,
    roles: &'a [TermId],
    shared: &'a SharedTerms,
    limits: Limits,
    stop: &'a dyn Fn() -> bool,
    // Changed by this query.
    memory: &'a mut Memory,
    steps_left: u64,
    tuples_left: usize,
}

/// Why the plan of a frame paused.
enum Pause {
    /// It is exhausted.
    Done,
    /// It needs a call, which is now above it on the stack.
    Called,
    /// The call of the frame has all its answers.
    Answered,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        code: &'a Code,
        roles: &'a [TermId],
        shared: &'a SharedTerms,
        limits: Limits,
        stop: &'a dyn Fn() -> bool,
        memory: &'a mut Memory,
    ) -> Evaluator<'a> {
        let Limits { steps, tuples, .. } = limits;
        Evaluator {
            code,
            roles,
            shared,
            limits,
            stop,
            memory,
            steps_left: steps,
            tuples_left: tuples,
        }
    }

    /// The complete table of a call.
    pub(crate) fn solve(
        &mut self,
        procedure: ProcedureId,
        key: &[u32],
    ) -> Result<TableId, InterpreterError> {
        let table = self.memory.tables.open(procedure, key);
        if self.memory.tables.get(table).status != Status::Complete {
            self.push(table);
            if let Err(error) = self.run(None) {
                self.abandon();
                return Err(error);
            }
        }
        Ok(table)
    }

    /// The first value of one answer of a call, if it has any, without deriving the others.
    pub(crate) fn solve_one(
        &mut self,
        procedure: ProcedureId,
        key: &[u32],
    ) -> Result<Option<u32>, InterpreterError> {
        let table = self.memory.tables.open(procedure, key);
        let mut run = Ok(());
        if self.memory.tables.get(table).status != Status::Complete {
            self.push(table);
            run = self.run(Some(table));
        }
        let answers = &self.memory.tables.get(table).answers;
        let answer = (answers.len() > 0).then(|| answers.row(0)[0]);
        self.abandon();
        match answer {
            Some(_) => Ok(answer),
            None => run.map(|()| None),
        }
    }

    /// Steps taken so far.
    pub(crate) fn n_steps(&self) -> u64 {
        self.limits.steps - self.steps_left
    }

    /// Runs until all calls are complete, or until one of them has an answer.
    fn run(&mut self, until_answered: Option<TableId>) -> Result<(), InterpreterError> {
        let mut n_turns = 0_u32;
        while let Some(frame) = self.memory.stacks.frames.last() {
            if !frame.is_running {
                // Waking and completing calls takes no steps of a plan.
                n_turns = n_turns.wrapping_add(1);
                if u64::from(n_turns).is_multiple_of(STEPS_PER_POLL) && (self.stop)() {
                    return Err(InterpreterError::Stopped);
                }
                match self.next_plan() {
                    Some(plan) => self.start(plan),
                    None => self.wake_or_finish(),
                }
                continue;
            }
            let pause = self.execute(until_answered)?;
            if until_answered.is_some_and(|table| self.memory.tables.get(table).answers.len() > 0) {
                return Ok(());
            }
            match pause {
                Pause::Done => self.stop_plan(),
                Pause::Called => {}
                Pause::Answered => self.finish_answered(),
            }
        }
        Ok(())
    }

    /// Starts work on a fresh call.
    fn push(&mut self, table: TableId) {
        let plans =
            self.code.procedures[table.procedure.idx()].special(self.memory.tables.key(table));
        let stacks = &mut self.memory.stacks;
        let place = stacks.active.len() as u32;
        let top = stacks.frames.last().map_or(0, |frame| frame.slots_end);
        stacks.active.push(table);
        stacks.frames.push(Frame {
            table,
            place,
            low: place,
            plans,
            has_general: true,
            is_running: false,
            owner: table,
            plan: PlanId(0),
            step: 0,
            is_entering: true,
            floor: 0,
            waiter: None,
            slots_base: top,
            slots_end: top,
            agenda_base: stacks.agenda.len(),
            saved_base: stacks.saved.len(),
        });
        let table = self.memory.tables.get_mut(table);
        table.status = Status::Active;
        table.place = place;
    }

    /// The next plan of the topmost call.
    fn next_plan(&mut self) -> Option<PlanId> {
        let frame = self.memory.stacks.frames.last_mut()?;
        let procedure = &self.code.procedures[frame.table.procedure.idx()];
        if frame.plans.0 == frame.plans.1 && frame.has_general {
            frame.plans = (0, procedure.n_general);
            frame.has_general = false;
        }
        let (next, end) = frame.plans;
        frame.plans.0 += u32::from(next < end);
        (next < end).then(|| procedure.plans[next as usize])
    }

    /// Starts a plan of the topmost call, if its head matches.
    fn start(&mut self, plan_id: PlanId) {
        let Memory {
            ref terms,
            ref tables,
            ref mut stacks,
            ..
        } = *self.memory;
        let Some(frame) = stacks.frames.last_mut() else {
            return;
        };
        let plan = &self.code.plans[plan_id.0 as usize];
        let slots = frame.take_slots(&mut stacks.slots, plan);
        let mut values = plan.head.iter().zip(tables.key(frame.table));
        frame.is_running = values.all(|(column, &value)| matches(column, value, slots, terms));
        frame.owner = frame.table;
        frame.plan = plan_id;
        frame.step = 0;
        frame.is_entering = true;
        frame.floor = 0;
        frame.waiter = None;
    }

    /// Runs the plan of the topmost frame until it is exhausted or needs a call.
    fn execute(&mut self, until_answered: Option<TableId>) -> Result<Pause, InterpreterError> {
        let Evaluator {
            code,
            roles,
            shared,
            limits,
            stop,
            ..
        } = *self;
        let Memory {
            ref mut terms,
            ref mut fluents,
            ref does,
            ref mut tables,
            ref mut stacks,
        } = *self.memory;
        let Some(frame) = stacks.frames.last_mut() else {
            return Ok(Pause::Done);
        };
        let plan: &Plan = &code.plans[frame.plan.0 as usize];
        let slots = &mut stacks.slots[frame.slots_base..frame.slots_end];
        let tuple = &mut stacks.tuple;
        let mut step_idx = frame.step;
        let mut is_entering = frame.is_entering;
        loop {
            // Step 1. Count the step against the limit, and ask now and then whether the answer is still wanted.
            if self.steps_left.is_multiple_of(STEPS_PER_POLL) {
                if self.steps_left == 0 {
                    return Err(InterpreterError::Budget {
                        line: plan.line,
                        resource: Resource::Steps,
                    });
                }
                if stop() {
                    return Err(InterpreterError::Stopped);
                }
            }
            self.steps_left -= 1;

            // Step 2. All conditions hold: record the answer and backtrack to the last choice that can change it.
            let Some(step) = plan.steps.get(step_idx as usize) else {
                let mut builder = Builder {
                    terms,
                    shared,
                    limit: limits.terms,
                    line: plan.line,
                };
                builder.fill(tuple, &plan.emit, slots)?;
                let table = tables.get_mut(frame.owner);
                if table.answers.insert(tuple).1 {
                    pay(&mut self.tuples_left, plan, tuple.len())?;
                    if !table.waiters.is_empty() {
                        table.has_more = true;
                        if !table.is_queued {
                            table.is_queued = true;
                            stacks.agenda.push((frame.owner, 0));
                        }
                    }
                }
                if until_answered == Some(frame.owner) {
                    return Ok(Pause::Done);
                }
                if plan.emit.is_empty() {
                    table.status = Status::Complete;
                    return Ok(if frame.owner == frame.table {
                        Pause::Answered
                    } else {
                        Pause::Done
                    });
                }
                if plan.after_emit < frame.floor {
                    return Ok(Pause::Done);
                }
                step_idx = plan.after_emit;
                is_entering = false;
                continue;
            };

            // Step 3. Try the step: does it have a (further) solution?
            let jump = plan.jumps[step_idx as usize];
            let holds = match step {
                Step::Distinct(left, right) | Step::Equal(left, right) => {
                    let mut builder = Builder {
                        terms,
                        shared,
                        limit: limits.terms,
                        line: plan.line,
                    };
                    let is_same = builder.value(left, slots)? == builder.value(right, slots)?;
                    is_same == matches!(step, Step::Equal(..))
                }
                Step::Match(value, column) => {
                    let mut builder = Builder {
                        terms,
                        shared,
                        limit: limits.terms,
                        line: plan.line,
                    };
                    let value = builder.value(value, slots)?;
                    matches(column, value, slots, terms)
                }
                Step::Fact {
                    index,
                    key,
                    negated,
                } => {
                    let is_known = find_all(tuple, key, slots, terms);
                    let (start, end) = if is_known {
                        code.fact_indexes[index.0 as usize].range(tuple)
                    } else {
                        (0, 0)
                    };
                    (start == end) == *negated
                }
                Step::Fluent { fluent, negated } => {
                    let holds = find(fluent, slots, terms)
                        .is_some_and(|fluent| fluents.holds(TermId(fluent)));
                    holds != *negated
                }
                Step::Doing {
                    role,
                    column,
                    negated,
                } => {
                    let role = find(role, slots, terms);
                    let role_idx = roles.iter().position(|&other| Some(other.0) == role);
                    let action = role_idx.and_then(|role_idx| does.get(role_idx));
                    action.is_some_and(|&action| matches(column, action, slots, terms)) != *negated
                }
                Step::Facts {
                    index,
                    key,
                    columns,
                    cursor,
                } => {
                    let index = &code.fact_indexes[index.0 as usize];
                    let cursor = *cursor as usize;
                    if is_entering {
                        let is_known = find_all(tuple, key, slots, terms);
                        let (start, end) = if is_known { index.range(tuple) } else { (0, 0) };
                        slots[cursor] = start;
                        slots[cursor + 1] = end;
                    }
                    let (mut row, end) = (slots[cursor], slots[cursor + 1]);
                    let mut holds = false;
                    while row < end && !holds {
                        holds = match_all(columns, index.row(row), slots, terms);
                        row += 1;
                    }
                    slots[cursor] = row;
                    holds
                }
                Step::Fluents {
                    functor,
                    columns,
                    cursor,
                } => {
                    let cursor = *cursor as usize;
                    let candidates = fluents.with_functor(*functor);
                    let mut place = if is_entering {
                        0
                    } else {
                        slots[cursor] as usize
                    };
                    let mut holds = false;
                    while place < candidates.len() && !holds {
                        holds =
                            match_all(columns, terms.args(TermId(candidates[place])), slots, terms);
                        place += 1;
                    }
                    slots[cursor] = place as u32;
                    holds
                }
                Step::FluentsBy {
                    index,
                    key,
                    columns,
                    cursor,
                } => {
                    let cursor = *cursor as usize;
                    if is_entering {
                        let is_known = find_all(tuple, key, slots, terms);
                        slots[cursor] = if is_known {
                            fluents.first(*index, tuple, code, terms)
                        } else {
                            END
                        };
                    }
                    let functor = code.fluent_indexes[index.0 as usize].functor;
                    let mut place = slots[cursor];
                    let mut holds = false;
                    while place != END && !holds {
                        let fluent = TermId(fluents.with_functor(functor)[place as usize]);
                        holds = match_all(columns, terms.args(fluent), slots, terms);
                        place = fluents.next(*index, place);
                    }
                    slots[cursor] = place;
                    holds
                }
                Step::AllFluents { column, cursor } => {
                    let start = if is_entering {
                        0
                    } else {
                        slots[*cursor as usize]
                    };
                    let (place, holds) = next_fluent(fluents, start, column, slots, terms);
                    slots[*cursor as usize] = place;
                    holds
                }
                Step::Does {
                    role,
                    column,
                    cursor,
                } => {
                    let cursor = *cursor as usize;
                    let mut role_idx = if is_entering {
                        0
                    } else {
                        slots[cursor] as usize
                    };
                    let mut holds = false;
                    while role_idx < does.len() && !holds {
                        holds = matches(role, roles[role_idx].0, slots, terms)
                            && matches(column, does[role_idx], slots, terms);
                        role_idx += 1;
                    }
                    slots[cursor] = role_idx as u32;
                    holds
                }
                Step::Test {
                    procedure,
                    key,
                    negated,
                } => {
                    let mut builder = Builder {
                        terms,
                        shared,
                        limit: limits.terms,
                        line: plan.line,
                    };
                    builder.fill(tuple, key, slots)?;
                    let table_id = tables.open(*procedure, tuple);
                    let table = tables.get_mut(table_id);
                    let has_answer = table.answers.len() > 0;
                    match table.status {
                        Status::Fresh => {
                            frame.step = step_idx;
                            frame.is_entering = true;
                            pay(&mut self.tuples_left, plan, slots.len())?;
                            self.push(table_id);
                            return Ok(Pause::Called);
                        }
                        Status::Active if !has_answer && *negated => {
                            return Err(InterpreterError::NegativeLoop { line: plan.line });
                        }
                        Status::Active if !has_answer => {
                            frame.low = frame.low.min(table.place);
                            pay(&mut self.tuples_left, plan, plan.n_variables)?;
                            park(
                                tables,
                                table_id,
                                0,
                                frame,
                                step_idx,
                                &mut stacks.saved,
                                &slots[..plan.n_variables],
                            );
                            // The plan is parked, but has not failed: other choices before this step must be tried too.
                            if jump.back < frame.floor {
                                return Ok(Pause::Done);
                            }
                            step_idx = jump.back;
                            is_entering = false;
                            continue;
                        }
                        Status::Active | Status::Complete => has_answer != *negated,
                    }
                }
                Step::Call {
                    procedure,
                    key,
                    columns,
                    cursor,
                } => {
                    let cursor = *cursor as usize;
                    if is_entering {
                        let mut builder = Builder {
                            terms,
                            shared,
                            limit: limits.terms,
                            line: plan.line,
                        };
                        builder.fill(tuple, key, slots)?;
                        let table_id = tables.open(*procedure, tuple);
                        let table = tables.get(table_id);
                        match table.status {
                            Status::Fresh => {
                                frame.step = step_idx;
                                frame.is_entering = true;
                                pay(&mut self.tuples_left, plan, slots.len())?;
                                self.push(table_id);
                                return Ok(Pause::Called);
                            }
                            Status::Active => frame.low = frame.low.min(table.place),
                            Status::Complete => {}
                        }
                        slots[cursor] = 0;
                        slots[cursor + 1] = table_id.row;
                    }
                    let table_id = TableId {
                        procedure: *procedure,
                        row: slots[cursor + 1],
                    };
                    let table = tables.get(table_id);
                    let mut row = slots[cursor];
                    let mut holds = false;
                    while (row as usize) < table.answers.len() && !holds {
                        holds = match_all(columns, table.answers.row(row as usize), slots, terms);
                        row += 1;
                    }
                    slots[cursor] = row;
                    if !holds && table.status == Status::Active {
                        match frame.waiter.filter(|_| step_idx == frame.floor) {
                            Some((waited, idx)) => {
                                tables.get_mut(waited).waiters[idx as usize].n_read = row;
                            }
                            None => {
                                pay(&mut self.tuples_left, plan, plan.n_variables)?;
                                let variables = &slots[..plan.n_variables];
                                park(
                                    tables,
                                    table_id,
                                    row,
                                    frame,
                                    step_idx,
                                    &mut stacks.saved,
                                    variables,
                                );
                            }
                        }
                        frame.waiter = frame.waiter.filter(|_| step_idx != frame.floor);
                        is_entering = false;
                    }
                    holds
                }
            };

            // Step 4. Continue, or backtrack to the choice that this step depends on if it never held.
            if holds {
                step_idx += 1;
                is_entering = true;
                continue;
            }
            let target = if is_entering { jump.fail } else { jump.back };
            if target < frame.floor {
                return Ok(Pause::Done);
            }
            step_idx = target;
            is_entering = false;
        }
    }

    /// Ends the plan of the topmost frame, which is exhausted.
    fn stop_plan(&mut self) {
        let Some(frame) = self.memory.stacks.frames.last_mut() else {
            return;
        };
        frame.is_running = false;
        // A woken plan that backtracked beyond the step where it waited does not need further answers.
        if let Some((waited, idx)) = frame.waiter.take() {
            self.memory.tables.get_mut(waited).waiters[idx as usize].n_read = Waiter::DONE;
        }
    }

    /// Handles a topmost call whose plans are exhausted: if it is the leader of its set, wakes a parked plan or
    /// completes the set.
    fn wake_or_finish(&mut self) {
        let Memory {
            ref mut tables,
            ref mut stacks,
            ..
        } = *self.memory;
        let Some(frame) = stacks.frames.last_mut() else {
            return;
        };
        if frame.low < frame.place {
            return self.leave_to_leader();
        }
        if stacks.agenda.len() == frame.agenda_base {
            return self.complete();
        }
        let Some((waited, next)) = stacks.agenda.last_mut() else {
            return;
        };
        let table = tables.get(*waited);
        let n_answers = table.answers.len() as u32;
        while let Some(&waiter) = table.waiters.get(*next as usize) {
            let idx = *next;
            *next += 1;
            let owner = tables.get(waiter.owner);
            let is_alive = owner.status == Status::Active && owner.epoch == waiter.epoch;
            if waiter.n_read < n_answers && is_alive {
                let waited = *waited;
                return self.wake(waited, idx);
            }
        }
        let waited = *waited;
        if table.has_more {
            *next = 0;
            tables.get_mut(waited).has_more = false;
        } else {
            tables.get_mut(waited).is_queued = false;
            stacks.agenda.pop();
        }
    }

    /// Makes the topmost frame run a parked plan.
    fn wake(&mut self, waited: TableId, idx: u32) {
        let Memory {
            ref mut tables,
            ref mut stacks,
            ..
        } = *self.memory;
        let Some(frame) = stacks.frames.last_mut() else {
            return;
        };
        let waiter = &mut tables.get_mut(waited).waiters[idx as usize];
        let plan = &self.code.plans[waiter.plan.0 as usize];
        let slots = frame.take_slots(&mut stacks.slots, plan);
        let saved = waiter.saved as usize;
        slots[..plan.n_variables].copy_from_slice(&stacks.saved[saved..saved + plan.n_variables]);
        frame.is_running = true;
        frame.owner = waiter.owner;
        frame.plan = waiter.plan;
        if let Step::Call { cursor, .. } = plan.steps[waiter.step as usize] {
            slots[cursor as usize] = waiter.n_read;
            slots[cursor as usize + 1] = waited.row;
            frame.step = waiter.step as i32;
            frame.is_entering = false;
            frame.waiter = Some((waited, idx));
        } else {
            waiter.n_read = Waiter::DONE;
            frame.step = waiter.step as i32 + 1;
            frame.is_entering = true;
            frame.waiter = None;
        }
        frame.floor = frame.step;
    }

    /// Leaves the topmost call to a call below that it depends on, whose leader will complete both.
    fn leave_to_leader(&mut self) {
        let stacks = &mut self.memory.stacks;
        let Some(frame) = stacks.frames.pop() else {
            return;
        };
        if let Some(caller) = stacks.frames.last_mut() {
            caller.low = caller.low.min(frame.low);
        }
    }

    /// Completes the topmost call and all that depend on it: they have all their answers.
    fn complete(&mut self) {
        let Memory {
            ref mut tables,
            ref mut stacks,
            ..
        } = *self.memory;
        let Some(frame) = stacks.frames.pop() else {
            return;
        };
        stacks.active[frame.place as usize..]
            .iter()
            .for_each(|&table| tables.complete(table));
        stacks.active.truncate(frame.place as usize);
        stacks.saved.truncate(frame.saved_base);
    }

    /// Completes the topmost call with the only answer it can have. Incomplete calls that were started for it are
    /// abandoned.
    fn finish_answered(&mut self) {
        let Memory {
            ref mut tables,
            ref mut stacks,
            ..
        } = *self.memory;
        let Some(frame) = stacks.frames.pop() else {
            return;
        };
        stacks.active[frame.place as usize..]
            .iter()
            .for_each(|&table| tables.give_up(table));
        stacks.active.truncate(frame.place as usize);
        stacks.agenda.truncate(frame.agenda_base);
        stacks.saved.truncate(frame.saved_base);
    }

    /// Abandons the query; complete tables are kept.
    fn abandon(&mut self) {
        let Memory {
            ref mut tables,
            ref mut stacks,
            ..
        } = *self.memory;
        stacks
            .active
            .iter()
            .for_each(|&table| tables.give_up(table));
        stacks.frames.clear();
        stacks.active.clear();
        stacks.agenda.clear();
        stacks.saved.clear();
    }
}

/// Parks the plan of a frame at a step until the call has more answers than it has read.
fn park(
    tables: &mut Tables,
    waited: TableId,
    n_read: u32,
    frame: &Frame,
    step_idx: i32,
    saved: &mut Vec<u32>,
    variables: &[u32],
) {
    let epoch = tables.get(frame.owner).epoch;
    let Frame { owner, plan, .. } = *frame;
    let waiter = Waiter {
        owner,
        epoch,
        plan,
        step: step_idx as u32,
        n_read,
        saved: saved.len() as u32,
    };
    saved.extend_from_slice(variables);
    tables.get_mut(waited).waiters.push(waiter);
}

/// Pays for memory with this number of values.
fn pay(tuples_left: &mut usize, plan: &Plan, n_values: usize) -> Result<(), InterpreterError> {
    match tuples_left.checked_sub(1 + n_values / VALUES_PER_TUPLE) {
        Some(left) => *tuples_left = left,
        None => {
            return Err(InterpreterError::Budget {
                line: plan.line,
                resource: Resource::Tuples,
            });
        }
    }
    Ok(())
}

/// The next matching fluent from a position on, and the position after it.
fn next_fluent(
    fluents: &Fluents,
    start: u32,
    column: &Column,
    slots: &mut [u32],
    terms: &Terms,
) -> (u32, bool) {
    for (place, &fluent) in fluents.all().iter().enumerate().skip(start as usize) {
        if matches(column, fluent, slots, terms) {
            return (place as u32 + 1, true);
        }
    }
    (fluents.all().len() as u32, false)
}
