//! The input and output of lanes: jobs, endings, records of playouts.

use crate::state::{Goal, RoleId, State};

/// A number of playouts to run from one state.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The words of the start state. It must be reachable, with the bits of one of the game's phases.
    pub state: &'a [u64],
    /// Returned with each playout.
    pub tag: u64,
    /// Number of playouts.
    pub n_playouts: u32,
    /// After how many steps to cut a playout, and how it is scored then.
    pub cut: Option<Cut>,
    /// A playout with more steps than this ends with [`Ending::StepLimit`], because some games never terminate.
    pub most_steps: u32,
}

impl<'a> Job<'a> {
    /// One playout from a state, to its end.
    #[must_use]
    pub fn new(state: &'a State, tag: u64) -> Job<'a> {
        Job {
            state: state.words(),
            tag,
            n_playouts: 1,
            cut: None,
            most_steps: 100_000,
        }
    }
}

/// When to cut a playout that has not ended, and how to score it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Number of steps to play.
    pub after: u32,
    /// The score of the playout for each role.
    pub score: CutScore,
}

/// The score of a playout that was cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutScore {
    /// The goals of its last state.
    Goals,
    /// This value, for every role.
    Constant(Goal),
}

/// Why a playout ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// The state is terminal.
    Terminal,
    /// It was cut, as the job requested.
    Cut,
    /// The step limit was reached.
    StepLimit,
    /// This role has no legal move in a state that is not terminal.
    NoLegalMove(RoleId),
}

/// The data of a running playout.
#[derive(Clone, Copy)]
pub(super) struct Ticket {
    pub(super) tag: u64,
    /// Number of steps after which it ends, and how.
    pub(super) limit: u32,
    pub(super) at_limit: AtLimit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AtLimit {
    Cut(CutScore),
    StepLimit,
}

impl Ticket {
    pub(super) const NONE: Ticket = Ticket {
        tag: 0,
        limit: 0,
        at_limit: AtLimit::StepLimit,
    };

    pub(super) fn new(job: &Job<'_>) -> Ticket {
        let (limit, at_limit) = match job.cut {
            Some(cut) if cut.after <= job.most_steps => (cut.after, AtLimit::Cut(cut.score)),
            _ => (job.most_steps, AtLimit::StepLimit),
        };
        Ticket {
            tag: job.tag,
            limit,
            at_limit,
        }
    }
}

/// A finished playout.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) tag: u64,
    /// The step of the block in which it started.
    pub(super) start: u64,
    pub(super) steps: u32,
    pub(super) lane: u8,
    pub(super) ending: Ending,
}
