//! The memory of one machine: the state, the joint move, the tables, and the evaluation stacks.

use super::code::{Code, Plan, PlanId};
use super::fluents::Fluents;
use super::program::Program;
use super::tables::{TableId, Tables};
use super::terms::Terms;

/// The scratch memory of one thread.
#[derive(Clone)]
pub(crate) struct Memory {
    /// A prefix of the shared table.
    pub(crate) terms: Terms,
    // The query: set before an evaluation.
    pub(crate) fluents: Fluents,
    /// The move of each role.
    pub(crate) does: Vec<u32>,
    // Answers: grows during an evaluation.
    pub(crate) tables: Tables,
    // Empty between evaluations.
    pub(crate) stacks: Stacks,
}

/// The stacks of an evaluation.
#[derive(Clone, Default)]
pub(crate) struct Stacks {
    /// Calls in progress, each waiting for the one above it.
    pub(crate) frames: Vec<Frame>,
    /// Variables and cursors of the frames, end to end; slots beyond the topmost frame are unused.
    pub(crate) slots: Vec<u32>,
    /// Active calls in the order of activation.
    pub(crate) active: Vec<TableId>,
    /// Calls whose waiters have answers to read, and the next waiter to check.
    pub(crate) agenda: Vec<(TableId, u32)>,
    /// Saved variables of waiters.
    pub(crate) saved: Vec<u32>,
    /// The key or answer under construction.
    pub(crate) tuple: Vec<u32>,
}

/// A call in progress.
#[derive(Clone)]
pub(crate) struct Frame {
    /// The call.
    pub(crate) table: TableId,
    /// Its place among the active calls, and the lowest place of a call that it depends on.
    pub(crate) place: u32,
    pub(crate) low: u32,
    /// Range of plans of its procedure still to be tried: first those for its values, then the general ones.
    pub(crate) plans: (u32, u32),
    pub(crate) has_general: bool,
    // The current plan: one of its own, or a parked one that runs on behalf of another call.
    pub(crate) is_running: bool,
    pub(crate) owner: TableId,
    pub(crate) plan: PlanId,
    pub(crate) step: i32,
    /// Whether the step is tried for the first time, not for its next solution.
    pub(crate) is_entering: bool,
    /// Backtracking stops at this step.
    pub(crate) floor: i32,
    /// The call whose waiter it runs, and the index of the waiter.
    pub(crate) waiter: Option<(TableId, u32)>,
    // Heights of the stacks when the frame started.
    pub(crate) slots_base: usize,
    /// End of the slots of its plan.
    pub(crate) slots_end: usize,
    pub(crate) agenda_base: usize,
    pub(crate) saved_base: usize,
}

impl Frame {
    /// The slots for a plan. They are not cleared: every variable is bound before it is read.
    pub(crate) fn take_slots<'s>(&mut self, slots: &'s mut Vec<u32>, plan: &Plan) -> &'s mut [u32] {
        self.slots_end = self.slots_base + plan.n_slots;
        if slots.len() < self.slots_end {
            slots.resize(self.slots_end, 0);
        }
        &mut slots[self.slots_base..self.slots_end]
    }
}

impl Memory {
    pub(crate) fn new(program: &Program, code: &Code, terms: Terms) -> Memory {
        Memory {
            terms,
            fluents: Fluents::new(program.functors.len(), code),
            does: Vec::new(),
            tables: Tables::new(code),
            stacks: Stacks::default(),
        }
    }

    /// Loads the state with these fluents.
    pub(crate) fn load(&mut self, fluents: impl Iterator<Item = u32>) {
        self.tables.forget_state();
        self.fluents.load(fluents, &self.terms);
    }
}
