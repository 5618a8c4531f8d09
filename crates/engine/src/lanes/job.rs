//! What is asked for, and what comes back: jobs, endings, finished playouts.

use crate::state::{Goal, RoleId, State};

/// Playouts to be played.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Where they start: a state that can be reached, with the bits of one of the game's phases.
    pub state: &'a State,
    /// Comes back with each of them.
    pub tag: u64,
    /// How many of them.
    pub n_playouts: u32,
    /// After how many steps to stop, and what it is worth then.
    pub cut: Option<Cut>,
    /// A playout that takes more steps than this ends without being over: the sheet may never end.
    pub most_steps: u32,
}

impl<'a> Job<'a> {
    /// One playout from a state, to its end.
    #[must_use]
    pub fn new(state: &'a State, tag: u64) -> Job<'a> {
        Job {
            state,
            tag,
            n_playouts: 1,
            cut: None,
            most_steps: 100_000,
        }
    }
}

/// Where to stop a playout that is not over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Number of steps to play.
    pub after: u32,
    /// What the playout is worth to each role then.
    pub score: CutScore,
}

/// What a playout that was cut is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutScore {
    /// The goals of the state it was cut in.
    Goals,
    /// This, to every role.
    Constant(Goal),
}

/// Why a playout ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// The state is terminal.
    Terminal,
    /// It was cut, as the job asked for.
    Cut,
    /// The step limit.
    StepLimit,
    /// This role has no legal move in a state that is not terminal.
    NoLegalMove(RoleId),
}

/// What is known of a playout while it runs.
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

/// A playout that has ended.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) tag: u64,
    /// The step of the block in which it began.
    pub(super) start: u64,
    pub(super) steps: u32,
    pub(super) lane: u8,
    pub(super) ending: Ending,
}
