//! Tables: the known answers of each call, and the plans that wait for more.
//!
//! A call is a procedure with its bound values; its table holds the answers found so far. Tables of static procedures
//! are kept permanently. All others are cleared, but not deallocated, when the state changes.

use super::code::{Code, PlanId, ProcedureId};
use super::program::Level;
use super::tuples::Tuples;

/// A call and its table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TableId {
    pub(crate) procedure: ProcedureId,
    pub(crate) row: u32,
}

/// The status of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Status {
    /// Nothing was tried yet.
    #[default]
    Fresh,
    /// In progress, or waiting for a call that is.
    Active,
    /// All answers are known.
    Complete,
}

/// The table of a call.
#[derive(Clone, Default)]
pub(crate) struct Table {
    pub(crate) status: Status,
    pub(crate) answers: Tuples,
    /// While active: its place in the order of activation.
    pub(crate) place: u32,
    /// While active: plans that have read all answers and continue when there are more.
    pub(crate) waiters: Vec<Waiter>,
    /// Incremented when the table is abandoned, so that waiters on its behalf can be recognised as stale.
    pub(crate) epoch: u32,
    /// Whether it is in the agenda, because answers arrived since its waiters were last checked.
    pub(crate) is_queued: bool,
    pub(crate) has_more: bool,
}

/// A plan that is parked at a step until there are more answers.
#[derive(Clone, Copy)]
pub(crate) struct Waiter {
    /// The call on whose behalf the plan ran, and the owner's epoch at that time.
    pub(crate) owner: TableId,
    pub(crate) epoch: u32,
    pub(crate) plan: PlanId,
    pub(crate) step: u32,
    /// Answers read so far; [`Waiter::DONE`] if further ones are not needed.
    pub(crate) n_read: u32,
    /// Position of its saved variables.
    pub(crate) saved: u32,
}

impl Waiter {
    pub(crate) const DONE: u32 = u32::MAX;
}

impl Table {
    /// Clears the table.
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
    /// By row of `keys`; any further tables are empty and ready for reuse.
    tables: Vec<Table>,
    n_bound: usize,
    n_free: usize,
    is_static: bool,
    /// Whether answers depend on the joint move.
    is_joint: bool,
}

/// All calls.
#[derive(Clone)]
pub(crate) struct Tables {
    memos: Vec<Memo>,
    /// Procedures whose tables are cleared with the state.
    passing: Vec<ProcedureId>,
    /// Number of tables and answers of static procedures.
    n_static: usize,
}

/// Above this number static answers are dropped too, because a sheet may make an unlimited number of calls on its
/// facts.
const MAX_STATIC: usize = 2_000_000;

impl Tables {
    pub(crate) fn new(code: &Code) -> Tables {
        let memos = code.procedures.iter().map(|procedure| Memo {
            keys: Tuples::new(procedure.n_bound),
            tables: Vec::new(),
            n_bound: procedure.n_bound,
            n_free: procedure.n_free,
            is_static: procedure.level == Level::Static,
            is_joint: procedure.level == Level::Joint,
        });
        Tables {
            memos: memos.collect(),
            passing: Vec::new(),
            n_static: 0,
        }
    }

    /// The table of a call; a fresh one for a new call.
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

    /// Marks an active call as complete.
    pub(crate) fn complete(&mut self, table: TableId) {
        let memo = &mut self.memos[table.procedure.idx()];
        let table = &mut memo.tables[table.row as usize];
        table.status = Status::Complete;
        table.waiters.clear();
        if memo.is_static {
            self.n_static += table.answers.len();
        }
    }

    /// Abandons an active call; one that is complete by its only answer stays complete.
    pub(crate) fn give_up(&mut self, table: TableId) {
        let table = self.get_mut(table);
        if table.status == Status::Active {
            table.reset();
        }
        table.waiters.clear();
        table.is_queued = false;
        table.has_more = false;
    }

    /// Clears all tables that depend on the state, and keeps their memory.
    pub(crate) fn forget_state(&mut self) {
        for procedure in self.passing.drain(..) {
            self.memos[procedure.idx()].forget();
        }
        if self.n_static > MAX_STATIC {
            self.memos
                .iter_mut()
                .filter(|memo| memo.is_static)
                .for_each(Memo::release);
            self.n_static = 0;
        }
    }

    /// Clears all tables that depend on the joint move, and keeps their memory.
    pub(crate) fn forget_joint(&mut self) {
        let memos = &mut self.memos;
        self.passing.retain(|procedure| {
            let memo = &mut memos[procedure.idx()];
            if memo.is_joint {
                memo.forget();
            }
            !memo.is_joint
        });
    }

    /// Clears all tables that depend on the state and frees their memory, after a query that was too large.
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
