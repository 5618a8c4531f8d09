//! The compiled form of a game: procedures, their plans, and the steps of a plan.
//!
//! A procedure is a predicate with a mode for each argument: given by the caller ([`Mode::Bound`]), computed
//! ([`Mode::Free`]) or not needed ([`Mode::Ignored`]). A call is a tuple of bound values; its answers are tuples of
//! free values. Each clause that may apply is one [`Plan`]: match the bound values against the head, run the steps in
//! order, emit the free values. Variables live in the slots of a frame. The compiler decides which step binds which
//! variable, so nothing needs to be undone when evaluation backtracks.
//!
//! The code is immutable and shared between threads. It is made by `plan` and run by `evaluate`.

use rustc_hash::FxHashMap;

use super::facts::FactIndex;
use super::program::Level;
use super::terms::{FunctorId, TermId};

/// A predicate with the modes of its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ProcedureId(pub(crate) u32);

impl ProcedureId {
    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A compiled clause.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PlanId(pub(crate) u32);

/// An index of facts by some of their arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FactIndexId(pub(crate) u32);

/// An index of the fluents of a state by some of their arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FluentIndexId(pub(crate) u32);

/// The mode of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mode {
    /// The caller gives the value.
    Bound,
    /// The caller wants all values.
    Free,
    /// The caller needs only that a value exists.
    Ignored,
}

/// All compiled code of a game.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) procedures: Vec<Procedure>,
    pub(crate) plans: Vec<Plan>,
    pub(crate) fact_indexes: Vec<FactIndex>,
    pub(crate) fluent_indexes: Vec<FluentKey>,
}

impl Code {
    /// All procedures; the entries come first.
    pub(crate) fn procedure_ids(&self) -> impl Iterator<Item = ProcedureId> + use<> {
        (0..self.procedures.len() as u32).map(ProcedureId)
    }
}

/// A predicate compiled for one combination of modes.
pub(crate) struct Procedure {
    pub(crate) level: Level,
    pub(crate) n_bound: usize,
    pub(crate) n_free: usize,
    /// Plans for all calls, then plans for calls with a given value at the dispatch position.
    pub(crate) plans: Box<[PlanId]>,
    pub(crate) n_general: u32,
    pub(crate) dispatch: Option<Dispatch>,
}

/// Plans sorted by a bound value.
pub(crate) struct Dispatch {
    /// The position among the bound values.
    pub(crate) place: usize,
    /// The range of plans for each value.
    pub(crate) ranges: FxHashMap<u32, (u32, u32)>,
}

impl Procedure {
    /// The range of plans for the values of this call, to be tried before the general ones.
    pub(crate) fn special(&self, key: &[u32]) -> (u32, u32) {
        let dispatch = self.dispatch.as_ref();
        let range = dispatch.and_then(|Dispatch { place, ranges }| ranges.get(&key[*place]));
        range.copied().unwrap_or((0, 0))
    }
}

/// The functor and arguments that an index uses as its key.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct FluentKey {
    pub(crate) functor: FunctorId,
    pub(crate) places: Box<[usize]>,
}

/// A compiled clause.
pub(crate) struct Plan {
    /// Matches the bound values of a call.
    pub(crate) head: Box<[Column]>,
    pub(crate) steps: Box<[Step]>,
    /// Where to continue after each step that fails or is exhausted.
    pub(crate) jumps: Box<[Jump]>,
    /// The free values of an answer.
    pub(crate) emit: Box<[Arg]>,
    /// Where to continue after an answer: at the last step whose choice can change the answer.
    pub(crate) after_emit: i32,
    pub(crate) n_variables: usize,
    /// Variables, then two cursors per step.
    pub(crate) n_slots: usize,
    pub(crate) line: u32,
}

/// Steps to backtrack to; −1 if the plan is done.
#[derive(Clone, Copy)]
pub(crate) struct Jump {
    /// The last step with a choice: the target when the choices of this step are exhausted.
    pub(crate) back: i32,
    /// The last choice that this step depends on: the target when it has no solution at all.
    pub(crate) fail: i32,
}

/// A value to look up or build; its variables are bound.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Value(TermId),
    Slot(u32),
    Build(FunctorId, Box<[Arg]>),
}

/// How to match a value.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// Ignore it.
    Skip,
    /// Store it in the slot.
    Bind(u32),
    /// It must equal the value in the slot.
    Same(u32),
    /// It must equal this term.
    Is(TermId),
    /// It must be a compound term whose arguments match.
    Shape(FunctorId, Box<[Column]>),
}

/// One condition of a plan.
pub(crate) enum Step {
    /// The values differ.
    Distinct(Arg, Arg),
    /// The values are equal.
    Equal(Arg, Arg),
    /// The value matches.
    Match(Arg, Column),
    /// The fact exists, or with `negated` does not.
    Fact {
        index: FactIndexId,
        key: Box<[Arg]>,
        negated: bool,
    },
    /// Each fact with this key.
    Facts {
        index: FactIndexId,
        key: Box<[Arg]>,
        columns: Box<[Column]>,
        cursor: u32,
    },
    /// The fluent holds, or with `negated` does not.
    Fluent { fluent: Arg, negated: bool },
    /// Each fluent with this functor.
    Fluents {
        functor: FunctorId,
        columns: Box<[Column]>,
        cursor: u32,
    },
    /// Each fluent with this key.
    FluentsBy {
        index: FluentIndexId,
        key: Box<[Arg]>,
        columns: Box<[Column]>,
        cursor: u32,
    },
    /// Each fluent.
    AllFluents { column: Column, cursor: u32 },
    /// The move of this role matches, or with `negated` does not.
    Doing {
        role: Arg,
        column: Column,
        negated: bool,
    },
    /// Each role and its move.
    Does {
        role: Column,
        column: Column,
        cursor: u32,
    },
    /// The call has an answer, or with `negated` has none.
    Test {
        procedure: ProcedureId,
        key: Box<[Arg]>,
        negated: bool,
    },
    /// Each answer of the call.
    Call {
        procedure: ProcedureId,
        key: Box<[Arg]>,
        columns: Box<[Column]>,
        cursor: u32,
    },
}
