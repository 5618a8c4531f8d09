//! Tables: what is known about each call that was made, and who waits for more.
//!
//! A call is a procedure with its bound values; its table holds the answers found so far. Tables of static procedures
//! stay for ever, all others are forgotten, but not deallocated, when the state changes.

use super::code::{Code, PlanId, ProcedureId};
use super::program::Level;
use super::tuples::Tuples;

/// A call and its table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TableId {
    pub(crate) procedure: ProcedureId,
    pub(crate) row: u32,
}

/// How far the answers of a call are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Status {
    /// Nothing was tried.
    #[default]
    Fresh,
    /// Being worked on, or waiting for a call that is.
    Active,
    /// These are all answers.
    Complete,
}

/// What is known about a call.
#[derive(Clone, Default)]
pub(crate) struct Table {
    pub(crate) status: Status,
    pub(crate) answers: Tuples,
    /// While active: its place in the order in which the active calls began.
    pub(crate) place: u32,
    /// While active: plans that ran out of answers and go on when there are more.
    pub(crate) waiters: Vec<Waiter>,
    /// Counts how often the table was given up, so that what waits on its behalf can tell.
    pub(crate) epoch: u32,
    /// Stands in the agenda; new answers came since the agenda last looked at all waiters.
    pub(crate) is_queued: bool,
    pub(crate) has_more: bool,
}

/// A plan that stopped at a step for lack of answers.
#[derive(Clone, Copy)]
pub(crate) struct Waiter {
    /// On whose behalf the plan ran, and the owner's epoch then.
    pub(crate) owner: TableId,
    pub(crate) epoch: u32,
    pub(crate) plan: PlanId,
    pub(crate) step: u32,
    /// Answers read so far; [`Waiter::DONE`] if further ones cannot matter.
    pub(crate) n_read: u32,
    /// Where its variables are saved.
    pub(crate) saved: u32,
}

impl Waiter {
    pub(crate) const DONE: u32 = u32::MAX;
}

impl Table {
    /// Back to knowing nothing.
    pub(crate) fn reset(&mut self) {
        self.status = Status::Fresh;
        self.answers.clear();
        self.waiters.clear();
        self.epoch = self.epoch.wrapping_add(1);
        self.is_queued = false;
        self.has_more = false;
    }
}

/// The calls of one procedure.
#[derive(Clone)]
struct Memo {
    keys: Tuples,
    /// By row of `keys`; beyond them, empty tables to be used again.
    tables: Vec<Table>,
    n_bound: usize,
    n_free: usize,
    is_static: bool,
}

/// All calls.
#[derive(Clone)]
pub(crate) struct Tables {
    memos: Vec<Memo>,
    /// Procedures with tables that end with the state.
    passing: Vec<ProcedureId>,
    /// Tables and answers of static procedures.
    n_static: usize,
}

/// Static answers are forgotten too when there are more than this: a sheet may ask ever new questions about its facts.
const MOST_STATIC: usize = 2_000_000;

impl Tables {
    pub(crate) fn new(code: &Code) -> Tables {
        let memos = code.procedures.iter().map(|procedure| Memo {
            keys: Tuples::new(procedure.n_bound),
            tables: Vec::new(),
            n_bound: procedure.n_bound,
            n_free: procedure.n_free,
            is_static: procedure.level == Level::Static,
        });
        Tables {
            memos: memos.collect(),
            passing: Vec::new(),
            n_static: 0,
        }
    }

    /// The table of a call; a fresh one if it is called for the first time.
    pub(crate) fn open(&mut self, procedure: ProcedureId, key: &[u32]) -> TableId {
        let memo = &mut self.memos[procedure.idx()];
        let (row, is_new) = memo.keys.insert(key);
        if is_new {
            if memo.is_static {
                self.n_static += 1;
            } else if row == 0 {
                self.passing.push(procedure);
            }
            if memo.tables.len() == row as usize {
                memo.tables.push(Table {
                    answers: Tuples::new(memo.n_free),
                    ..Table::default()
                });
            }
        }
        TableId { procedure, row }
    }

    pub(crate) fn key(&self, table: TableId) -> &[u32] {
        self.memos[table.procedure.idx()]
            .keys
            .row(table.row as usize)
    }

    pub(crate) fn get(&self, table: TableId) -> &Table {
        &self.memos[table.procedure.idx()].tables[table.row as usize]
    }

    pub(crate) fn get_mut(&mut self, table: TableId) -> &mut Table {
        &mut self.memos[table.procedure.idx()].tables[table.row as usize]
    }

    /// The answers of an active call are all there are.
    pub(crate) fn complete(&mut self, table: TableId) {
        let memo = &mut self.memos[table.procedure.idx()];
        let table = &mut memo.tables[table.row as usize];
        table.status = Status::Complete;
        table.waiters.clear();
        if memo.is_static {
            self.n_static += table.answers.len();
        }
    }

    /// Gives up an active call; one that is complete by its only answer stays so.
    pub(crate) fn give_up(&mut self, table: TableId) {
        let table = self.get_mut(table);
        if table.status == Status::Active {
            table.reset();
        }
        table.waiters.clear();
        table.is_queued = false;
        table.has_more = false;
    }

    /// Forgets what depends on the state, and keeps the memory for the next.
    pub(crate) fn forget_state(&mut self) {
        for procedure in self.passing.drain(..) {
            self.memos[procedure.idx()].forget();
        }
        if self.n_static > MOST_STATIC {
            self.memos
                .iter_mut()
                .filter(|memo| memo.is_static)
                .for_each(Memo::release);
            self.n_static = 0;
        }
    }

    /// Forgets what depends on the state and gives the memory back: after a question that was too large.
    pub(crate) fn release_state(&mut self) {
        for procedure in self.passing.drain(..) {
            self.memos[procedure.idx()].release();
        }
    }
}

impl Memo {
    fn forget(&mut self) {
        self.tables[..self.keys.len()]
            .iter_mut()
            .for_each(Table::reset);
        self.keys.clear();
    }

    fn release(&mut self) {
        self.keys = Tuples::new(self.n_bound);
        self.tables = Vec::new();
    }
}
