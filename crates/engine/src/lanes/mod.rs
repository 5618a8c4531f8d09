//! The lanes engine: hundreds of simultaneous playouts, one per bit.
//!
//! Each signal of the network is one *row*, bit k of every row belongs to *lane* k, and one straight pass over the
//! gates advances all lanes by one step. Lanes come in blocks of 64, each with its own random generator and its own
//! jobs. The number of blocks that are evaluated at once depends on the CPU, but the playouts do not: the same seed and
//! the same calls give the same playouts, in the same order, on every machine.
//!
//! [`LanesProgram`] is the compiled game, immutable and shared; [`Lanes`] is the scratch memory of one thread:
//!
//! ```
//! use std::sync::Arc;
//! use agon_engine::lanes::{Job, LanesOptions, Until};
//! use agon_engine::{Game, RoleId};
//!
//! let sheet = br"(role you) (init (count 0)) (succ 0 1) (succ 1 2) (legal you go) (legal you stay)
//!     (<= (next (count ?y)) (true (count ?x)) (does you go) (succ ?x ?y))
//!     (<= (next (count ?x)) (true (count ?x)) (does you stay))
//!     (<= terminal (true (count 2))) (<= (goal you 100) (true (count 2)))";
//! let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).unwrap();
//! let game = Game::compile(Arc::new(rules), &Default::default(), &|| false).unwrap();
//!
//! let options = LanesOptions { seed: 7, moves: true, ..LanesOptions::default() };
//! let mut lanes = game.lanes(&options).expect("this game can be grounded");
//! lanes.submit([Job { n_playouts: 1000, ..Job::new(game.initial_state(), 42) }]);
//! lanes.run(Until::Idle);
//! let (mut n_playouts, mut n_steps) = (0, 0);
//! lanes.drain(|playout| {
//!     assert_eq!(playout.tag(), 42);
//!     assert_eq!(playout.goal(RoleId(0)).map(|goal| goal.value()), Some(100));
//!     let n_go = playout.moves(RoleId(0)).filter(|&mv| game.move_text(RoleId(0), mv) == "go").count();
//!     assert_eq!(n_go, 2);
//!     n_playouts += 1;
//!     n_steps += playout.steps();
//! });
//! assert_eq!(n_playouts, 1000);
//! assert!((3500..4500).contains(&n_steps), "a playout has four steps on average");
//! ```
//!
//! A step of a group of blocks consists of *play* (legal moves, `terminal`), endings, the choice of moves, *next*, and
//! refilling. The code of these parts is laid out in `program.rs`; the step itself is in `step.rs`, the choice in
//! `choose.rs`, jobs and records in `block.rs`. Nothing is allocated per playout.
//!
//! **Limits:** networks are valid only for one legal move per role, so a lane in which a role has none ends at once.
//! Start states must be reachable.

#[cfg(feature = "batch")]
pub mod batch;
mod block;
mod choose;
mod chosen;
mod classes;
mod code;
mod codes;
pub(crate) mod decisive;
mod emit;
mod expand;
mod group;
mod job;
mod kernel;
mod layout;
mod log;
mod moves;
mod policy;
mod program;
mod queue;
mod random;
mod scale;
mod steady;
mod step;
mod sums;
mod table;
mod transpose;
mod tree;
mod urgent;
mod vector;
mod weights;
mod words;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::state::{Goal, MoveId, RoleId, State};
use block::{Block, NO_GOAL};
pub use expand::Expanded;
use expand::Workbench;
use group::{ACTIVE, Group, Keep};
use job::Record;
pub use job::{Cut, CutScore, Ending, Job};
pub use kernel::Simd;
pub use moves::Moves;
use policy::LaneByLane;
pub use policy::{BlockPolicy, BlockView, LanePolicy, LaneView};
pub use program::{DeferGoals, LanesProgram, LayoutOptions};
use step::{Chooser, Run};
pub use sums::{GoalSum, Sums};
use weights::Tables;
pub use weights::{Choosing, MoveWeight, ScaleId, Urgency, Weights};

/// Number of blocks. It does not depend on the CPU, so that playouts do not either.
const N_BLOCKS: usize = 8;

/// Number of steps that a group runs before the next group: large enough to stay in the cache, small enough to stop
/// soon.
const ROUND: u64 = 16;

/// The same if the number of steps is given.
const LONG_ROUND: u64 = 1024;

/// Options of the lanes of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LanesOptions {
    /// Seed of the random choices.
    pub seed: u64,
    /// Whether the moves of playouts are kept.
    pub moves: bool,
    /// Whether the last states of playouts are kept.
    pub states: bool,
    /// Whether the goals of every step are kept.
    pub goal_trace: bool,
    /// Whether playouts are only summed by tag, for [`Lanes::drain_sums`]. Nothing else is kept then.
    pub sums: bool,
    /// Whether immediate wins are made and prevented in playouts, if that can be computed from the rules at a small
    /// cost.
    pub decisive: bool,
    /// Whether jobs of one playout fill a block before they go to the next one, for policies that look at whole blocks.
    pub dense: bool,
}

/// How long to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// For this number of steps of every block.
    Steps(u64),
    /// Until at least this number of playouts have ended since the last [`Lanes::drain`], or nothing is left to play.
    Finished(usize),
    /// Until nothing is left to play.
    Idle,
}

/// The lanes of one thread.
pub struct Lanes {
    /// The program of playouts.
    program: Arc<LanesProgram>,
    /// The program for queries about states: offers all legal moves.
    all: Arc<LanesProgram>,
    keep: Keep,
    groups: Vec<Group>,
    blocks: Vec<Block>,
    /// The next step of all blocks.
    now: u64,
    /// The block of the next job, and the number of single-playout jobs that go there in a row.
    next_block: usize,
    n_in_a_row: u32,
    n_left_in_row: u32,
    /// Per phase: whether playouts have started there.
    has_stage: Vec<bool>,
    /// Tables for weighted choices, if they are not uniform.
    tables: Option<Tables>,
    workbench: Workbench,
    /// The same for playouts, if they use another program.
    offer_bench: Option<Workbench>,
}

impl Lanes {
    /// Lanes without jobs.
    #[must_use]
    pub fn new(program: Arc<LanesProgram>, options: &LanesOptions) -> Lanes {
        Lanes::with(Arc::clone(&program), program, options)
    }

    /// Lanes without jobs, whose playouts use one program; queries about states use another one of the same game.
    pub(crate) fn with(
        program: Arc<LanesProgram>,
        all: Arc<LanesProgram>,
        options: &LanesOptions,
    ) -> Lanes {
        let keep = Keep {
            moves: options.moves && !options.sums,
            states: options.states && !options.sums,
            goal_trace: options.goal_trace && !options.sums,
            sums: options.sums,
        };
        let n_words = program.options.simd.n_words();
        let groups = (0..N_BLOCKS / n_words)
            .map(|idx| Group::new(&program, idx * n_words, options.seed, keep))
            .collect();
        Lanes {
            keep,
            groups,
            blocks: (0..N_BLOCKS).map(|_| Block::new(&program)).collect(),
            now: 0,
            next_block: 0,
            n_in_a_row: if options.dense { 64 } else { 1 },
            n_left_in_row: if options.dense { 64 } else { 1 },
            has_stage: vec![false; program.phases.len()],
            tables: None,
            workbench: Workbench::new(&all),
            offer_bench: (!Arc::ptr_eq(&program, &all)).then(|| Workbench::new(&program)),
            program,
            all,
        }
    }

    /// The compiled game.
    #[must_use]
    pub fn program(&self) -> &Arc<LanesProgram> {
        &self.program
    }

    /// Number of simultaneous playouts.
    #[must_use]
    pub fn n_lanes(&self) -> usize {
        N_BLOCKS * 64
    }

    /// Appends jobs. Their playouts are distributed over the blocks in turn.
    pub fn submit<'a>(&mut self, jobs: impl IntoIterator<Item = Job<'a>>) {
        for job in jobs {
            let phase = self.program.marks.phase_of(job.state);
            if !self.has_stage[phase] {
                self.has_stage[phase] = true;
                for group in &mut self.groups {
                    group.prepare_stage(&self.program, phase);
                }
            }
            if job.n_playouts == 1 {
                self.blocks[self.next_block].submit(&job, phase, 1);
                self.n_left_in_row -= 1;
                if self.n_left_in_row == 0 {
                    self.n_left_in_row = self.n_in_a_row;
                    self.next_block = (self.next_block + 1) % N_BLOCKS;
                }
                continue;
            }
            let n_all = job.n_playouts / N_BLOCKS as u32;
            let n_rest = job.n_playouts as usize % N_BLOCKS;
            for idx in 0..N_BLOCKS {
                let n_playouts = n_all + u32::from(idx < n_rest);
                if n_playouts > 0 {
                    let block = (self.next_block + idx) % N_BLOCKS;
                    self.blocks[block].submit(&job, phase, n_playouts);
                }
            }
            self.next_block = (self.next_block + n_rest) % N_BLOCKS;
        }
    }

    /// Sets how playouts choose moves from now on, including running ones. The default is uniform.
    pub fn set_choosing(&mut self, choosing: &Choosing) {
        self.tables = Tables::new(&self.program, choosing);
        for group in &mut self.groups {
            group.set_tables(&self.program, self.tables.as_ref());
        }
    }

    /// Runs playouts.
    pub fn run(&mut self, until: Until) {
        self.run_by(until, None);
    }

    /// Runs playouts in which a policy chooses in each lane.
    pub fn run_with(&mut self, until: Until, policy: &mut dyn LanePolicy) {
        self.run_by(until, Some(&mut LaneByLane::new(policy)));
    }

    /// Runs playouts in which a policy chooses in each block of lanes.
    pub fn run_with_blocks(&mut self, until: Until, policy: &mut dyn BlockPolicy) {
        self.run_by(until, Some(policy));
    }

    fn run_by(&mut self, until: Until, mut policy: Option<&mut dyn BlockPolicy>) {
        self.forget();
        let mut n_left = match until {
            Until::Steps(n_steps) => n_steps,
            _ => u64::MAX,
        };
        while n_left > 0 {
            let is_over = match until {
                Until::Steps(_) => false,
                Until::Finished(n) => self.n_finished() >= n || self.is_idle(),
                Until::Idle => self.is_idle(),
            };
            if is_over {
                break;
            }
            let is_counted = matches!(until, Until::Steps(_));
            let n_steps = n_left.min(if is_counted { LONG_ROUND } else { ROUND });
            // Reborrow for this round only.
            match &mut policy {
                Some(policy) => self.round(n_steps, Some(&mut **policy)),
                None => self.round(n_steps, None),
            }
            n_left -= n_steps;
        }
        let n_words = self.program.options.simd.n_words();
        for (group, blocks) in self.groups.iter_mut().zip(self.blocks.chunks_mut(n_words)) {
            step::flush(&self.program, group, blocks);
        }
    }

    /// Hands over the finished playouts, block by block, each in the order in which they finished.
    pub fn drain(&mut self, mut take: impl FnMut(&Finished<'_>)) {
        let n_words = self.program.options.simd.n_words();
        for group in self.groups.iter_mut().filter(|_| self.keep.moves) {
            group.codes.follow(&self.program, &group.moves);
        }
        for (idx, block) in self.blocks.iter().enumerate() {
            for (record_idx, record) in block.records.iter().enumerate() {
                take(&Finished {
                    program: &self.program,
                    group: &self.groups[idx / n_words],
                    block,
                    block_in_group: idx % n_words,
                    record,
                    record_idx,
                });
            }
        }
        self.blocks.iter_mut().for_each(Block::clear_records);
    }

    /// Hands over the sums of the finished playouts, by tag. The order of tags is unspecified, but the same for the
    /// same seed.
    pub fn drain_sums(&mut self, mut take: impl FnMut(u64, &Sums)) {
        let mut all: Vec<(u64, Sums)> = Vec::new();
        let mut by_tag: FxHashMap<u64, usize> = FxHashMap::default();
        for (tag, sums) in self.blocks.iter().flat_map(|block| block.ledger.pages()) {
            let idx = *by_tag.entry(*tag).or_insert_with(|| {
                all.push((*tag, Sums::default()));
                all.len() - 1
            });
            all[idx].1.add(sums);
        }
        all.iter().for_each(|(tag, sums)| take(*tag, sums));
        self.blocks.iter_mut().for_each(Block::clear_records);
    }

    /// Number of playouts that have finished since the last drain.
    #[must_use]
    pub fn n_finished(&self) -> usize {
        self.blocks.iter().map(Block::n_ended).sum()
    }

    /// Number of playouts that are running or waiting.
    #[must_use]
    pub fn n_pending(&self) -> u64 {
        let n_words = self.program.options.simd.n_words();
        let running = (0..N_BLOCKS).map(|idx| {
            u64::from(
                self.groups[idx / n_words]
                    .mask(ACTIVE, idx % n_words)
                    .count_ones(),
            )
        });
        self.n_waiting() + running.sum::<u64>()
    }

    /// Number of playouts that are waiting.
    #[must_use]
    pub fn n_waiting(&self) -> u64 {
        self.blocks.iter().map(Block::n_waiting).sum()
    }

    /// Drops all waiting playouts; running ones continue.
    pub fn clear_jobs(&mut self) {
        self.blocks.iter_mut().for_each(Block::clear_jobs);
    }

    /// Whether nothing is left to play.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.groups.iter().any(Group::is_active) && !self.blocks.iter().any(Block::has_jobs)
    }

    /// Drops all jobs and running playouts. Finished playouts are kept.
    pub fn cancel(&mut self) {
        self.blocks.iter_mut().for_each(Block::clear_jobs);
        for group in &mut self.groups {
            for idx in 0..group.n_words {
                group.set_mask(ACTIVE, idx, 0);
            }
            group.steady.clear();
        }
    }

    /// Queries many states at once: `see` gets the index of each state, and its legal moves, `terminal` and goals.
    /// Running playouts are not affected. States are visited grouped by phase.
    pub fn expand(&mut self, states: &[&State], see: impl FnMut(usize, &Expanded<'_>)) {
        let words: Vec<u64> = states
            .iter()
            .flat_map(|state| state.words())
            .copied()
            .collect();
        self.expand_words(states.len(), &words, see);
    }

    /// The same for `n_states` states whose words follow each other.
    pub fn expand_words(
        &mut self,
        n_states: usize,
        words: &[u64],
        see: impl FnMut(usize, &Expanded<'_>),
    ) {
        self.workbench.expand(&self.all, n_states, words, see);
    }

    /// Whether playouts make and prevent immediate wins, so that roles choose only among some of their moves.
    #[must_use]
    pub fn is_decisive(&self) -> bool {
        self.offer_bench.is_some()
    }

    /// Queries many states as playouts see them: legal moves are those that are chosen from. The words of the states
    /// follow each other.
    pub fn expand_as_played(
        &mut self,
        n_states: usize,
        words: &[u64],
        see: impl FnMut(usize, &Expanded<'_>),
    ) {
        match &mut self.offer_bench {
            Some(bench) => bench.expand(&self.program, n_states, words, see),
            None => self.workbench.expand(&self.all, n_states, words, see),
        }
    }

    /// Makes a joint move in each of many states at once: `see` gets the index of each state, and the words of its
    /// successor. Every move must be legal. The successor of a terminal state is whatever the rules derive.
    pub fn advance(
        &mut self,
        states: &[&State],
        joint_moves: &[&[MoveId]],
        see: impl FnMut(usize, &[u64]),
    ) {
        let words: Vec<u64> = states
            .iter()
            .flat_map(|state| state.words())
            .copied()
            .collect();
        self.advance_words(states.len(), &words, &joint_moves.concat(), see);
    }

    /// The same for `n_states` states whose words follow each other, and so do the moves, in the order of the roles.
    pub fn advance_words(
        &mut self,
        n_states: usize,
        words: &[u64],
        moves: &[MoveId],
        see: impl FnMut(usize, &[u64]),
    ) {
        self.workbench
            .advance(&self.all, n_states, words, moves, see);
    }

    /// Runs all groups for `n_steps` steps.
    fn round(&mut self, n_steps: u64, policy: Option<&mut dyn BlockPolicy>) {
        let run = Run {
            program: &self.program,
            keep: self.keep,
            first: self.now,
            n_steps,
        };
        let mut chooser = Chooser {
            tables: self.tables.as_ref(),
            policy,
        };
        let n_words = self.program.options.simd.n_words();
        for (group, blocks) in self.groups.iter_mut().zip(self.blocks.chunks_mut(n_words)) {
            step::run(run, group, blocks, &mut chooser);
        }
        self.now += n_steps;
    }

    /// Drops log entries that are no longer needed.
    fn forget(&mut self) {
        if !self.keep.moves && !self.keep.goal_trace {
            return;
        }
        let n_words = self.program.options.simd.n_words();
        for (group, blocks) in self.groups.iter_mut().zip(self.blocks.chunks(n_words)) {
            if blocks.iter().any(|block| !block.records.is_empty()) {
                continue;
            }
            let starts = blocks.iter().enumerate();
            let first = starts
                .filter_map(|(idx, block)| block.first_start(group.mask(ACTIVE, idx), self.now));
            let first = first.min().unwrap_or(self.now);
            group.moves.forget_before(first);
            group.codes.forget_with(&group.moves);
            group.trace.forget_before(first);
        }
    }
}

/// A finished playout.
pub struct Finished<'a> {
    program: &'a LanesProgram,
    group: &'a Group,
    block: &'a Block,
    block_in_group: usize,
    record: &'a Record,
    record_idx: usize,
}

impl<'a> Finished<'a> {
    /// The tag of its job.
    #[must_use]
    #[inline]
    pub fn tag(&self) -> u64 {
        self.record.tag
    }

    /// Number of joint moves made.
    #[must_use]
    #[inline]
    pub fn steps(&self) -> u32 {
        self.record.steps
    }

    /// Why the playout ended.
    #[must_use]
    #[inline]
    pub fn ending(&self) -> Ending {
        self.record.ending
    }

    /// The goal of a role in the last state, if exactly one goal holds; or the score of a cut.
    #[must_use]
    #[inline]
    pub fn goal(&self, role: RoleId) -> Option<Goal> {
        goal_of(self.block.goals[self.record_idx * self.program.n_roles + role.idx()])
    }

    /// The words of the last state; empty unless states are kept.
    #[must_use]
    pub fn state_words(&self) -> &'a [u64] {
        if self.group.finals.is_none() {
            return &[];
        }
        let n = self.program.n_state_words;
        &self.block.states[self.record_idx * n..(self.record_idx + 1) * n]
    }

    /// The moves of a role in order; empty unless moves are kept.
    #[must_use]
    #[inline]
    pub fn moves(&self, role: RoleId) -> Moves<'a> {
        let n_steps = match self.group.moves.is_kept() {
            true => self.record.steps,
            false => 0,
        };
        let place = (self.block_in_group, self.record.lane);
        let start = self.record.start;
        let codes = self.program.codes_of(role);
        self.group.codes.moves(codes, place, start, n_steps)
    }

    /// Calls `see` for the steps in which a role may have had a choice, with its moves; never unless moves are kept.
    /// Phases in which the role has only one possible move, such as waiting for the other role, are left out.
    #[inline]
    pub fn choices(&self, role: RoleId, mut see: impl FnMut(u32, MoveId)) {
        if !self.group.moves.is_kept() {
            return;
        }
        let codes = self.program.codes_of(role);
        let n_phases = self.program.phases.len();
        let mut phase = (self.record.start % n_phases as u64) as usize;
        let mut step = 0;
        self.moves(role).for_each(|mv| {
            if codes.is_choice(phase) {
                see(step, mv);
            }
            step += 1;
            phase = if phase + 1 == n_phases { 0 } else { phase + 1 };
        });
    }

    /// The goal of a role in each state, including the first and the last; empty unless goals are traced.
    pub fn goal_trace(&self, role: RoleId) -> impl Iterator<Item = Option<Goal>> + use<'a> {
        let n_states = if self.group.trace.is_kept() {
            self.record.steps + 1
        } else {
            0
        };
        let (program, group) = (self.program, self.group);
        let (block, lane) = (self.block_in_group, self.record.lane);
        let start = self.record.start;
        (start..start + u64::from(n_states)).map(move |step| {
            let phase = &program.phases[(step % program.phases.len() as u64) as usize];
            let goals = &phase.goals.roles;
            let first: usize = goals[..role.idx()].iter().map(Vec::len).sum();
            let words = &group.trace.step(step)[first * group.n_words..];
            let holds = |idx: usize| words[idx * group.n_words + block] >> lane & 1 == 1;
            let mut on = (0..goals[role.idx()].len()).filter(|&idx| holds(idx));
            let only = on.next()?;
            on.next()
                .is_none()
                .then_some(goals[role.idx()][only].value)?
        })
    }
}

#[inline]
fn goal_of(byte: u8) -> Option<Goal> {
    if byte == NO_GOAL {
        None
    } else {
        Goal::new(i64::from(byte))
    }
}
