//! A group of blocks that are evaluated together, one per word of a vector, with all data of a step.

use super::block::{NO_GOAL, bits};
use super::choose::Scratch;
use super::codes::Codes;
use super::log::Log;
use super::program::{FIRST_BASE, GoalRow, Goals, LanesProgram, ONES, RoleMoves};
use super::random::seed_block;
use super::steady::Steady;
use super::vector::Rows;
use super::weights::{TableScratch, Tables};
use crate::state::Goal;

/// Masks of lanes, as rows of a small matrix: lanes that are active, that end in this step, that start in the next;
/// then, per role, lanes in which it has no legal move.
pub(super) const ACTIVE: usize = 0;
pub(super) const ENDING: usize = 1;
pub(super) const TAKEN: usize = 2;
pub(super) const STUCK: usize = 3;

/// What is kept of a playout, in addition to its length, ending and goals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Keep {
    pub(super) moves: bool,
    pub(super) states: bool,
    pub(super) goal_trace: bool,
    /// Individual playouts are not kept; only sums are.
    pub(super) sums: bool,
}

/// A group of blocks.
pub(super) struct Group {
    pub(super) n_words: usize,
    /// Whether playouts are only summed.
    pub(super) keeps_sums: bool,
    pub(super) rows: Rows,
    pub(super) masks: Rows,
    pub(super) steady: Steady,
    /// States of the generators, four vectors.
    pub(super) random: Rows,
    /// Per phase: the next start state of each lane.
    pub(super) stages: Vec<Option<Rows>>,
    /// Per phase and role with a choice.
    pub(super) scratch: Vec<Vec<Option<Scratch>>>,
    /// Per phase with deferred goals.
    pub(super) sides: Vec<Option<SideMatrix>>,
    /// For weighted choices.
    pub(super) table_scratch: Option<TableScratch>,
    /// Seeds of random numbers for policies, per block.
    pub(super) seeds: Vec<u64>,
    /// Last states that wait to be transposed.
    pub(super) finals: Option<SideMatrix>,
    /// Moves of the current step, as bits of their numbers, and the log of all steps that are still needed.
    pub(super) move_bits: Rows,
    pub(super) moves: Log,
    pub(super) codes: Codes,
    /// Goals of all steps that are still needed, and the matrix to compute them.
    pub(super) trace: Log,
    pub(super) trace_sides: Vec<Option<Rows>>,
}

/// A matrix for lanes whose playouts have ended.
pub(super) struct SideMatrix {
    pub(super) rows: Rows,
    /// Per block: the lanes that are parked, and their records (or pages of the ledger).
    pub(super) parked: Vec<u64>,
    /// Per block: lanes that end now and whose goals are not known yet.
    pub(super) open: Vec<u64>,
    pub(super) records: Vec<[u32; 64]>,
    /// The tag of all parked playouts if the group was steady when they ended. Then they have no records.
    pub(super) tag: Option<u64>,
    /// Buffer for transposed states.
    pub(super) transposed: Vec<u64>,
}

impl SideMatrix {
    fn new(n_rows: usize, n_words: usize) -> SideMatrix {
        SideMatrix {
            rows: matrix(n_rows, n_words),
            parked: vec![0; n_words],
            open: vec![0; n_words],
            records: vec![[0; 64]; n_words],
            tag: None,
            transposed: Vec::new(),
        }
    }
}

/// A matrix whose first row is all ones.
pub(super) fn matrix(n_rows: usize, n_words: usize) -> Rows {
    let mut rows = Rows::new(n_rows.max(FIRST_BASE as usize), n_words);
    rows.words_mut()[ONES as usize * n_words..][..n_words].fill(u64::MAX);
    rows
}

impl Group {
    pub(super) fn new(program: &LanesProgram, first_block: usize, seed: u64, keep: Keep) -> Group {
        let n_words = program.options.simd.n_words();
        let phases = &program.phases;
        let scratch = |moves: &RoleMoves| match moves {
            RoleMoves::Choice(choice) => Some(Scratch::new(&choice.leaves.tree, n_words)),
            _ => None,
        };
        let side = |goals: &Goals| {
            goals
                .side
                .as_ref()
                .map(|side| SideMatrix::new(side.n_rows, n_words))
        };
        let trace_side = |goals: &Goals| {
            goals
                .side
                .as_ref()
                .filter(|_| keep.goal_trace)
                .map(|side| matrix(side.n_rows, n_words))
        };
        let mut random = Rows::new(4, n_words);
        for block in 0..n_words {
            for (idx, word) in seed_block(seed, (first_block + block) as u64)
                .into_iter()
                .enumerate()
            {
                random.words_mut()[idx * n_words + block] = word;
            }
        }
        let n_log_rows = phases
            .iter()
            .map(|phase| phase.n_log_rows)
            .max()
            .unwrap_or(0);
        let n_goals = |goals: &Goals| goals.roles.iter().map(Vec::len).sum();
        let n_trace_rows = phases
            .iter()
            .map(|phase| n_goals(&phase.goals))
            .max()
            .unwrap_or(0);
        Group {
            n_words,
            keeps_sums: keep.sums,
            rows: matrix(program.n_rows, n_words),
            masks: Rows::new(STUCK + program.n_roles, n_words),
            steady: Steady::new(phases, n_words),
            random,
            stages: phases.iter().map(|_| None).collect(),
            scratch: phases
                .iter()
                .map(|phase| phase.roles.iter().map(scratch).collect())
                .collect(),
            sides: phases.iter().map(|phase| side(&phase.goals)).collect(),
            table_scratch: None,
            seeds: (0..n_words)
                .map(|block| seed_block(!seed, (first_block + block) as u64)[0])
                .collect(),
            finals: keep
                .states
                .then(|| SideMatrix::new(FIRST_BASE as usize + program.bases.len(), n_words)),
            move_bits: Rows::new(n_log_rows, n_words),
            // A step is logged even if no role has a choice.
            moves: Log::new(n_log_rows.max(1) * n_words, keep.moves),
            codes: Codes::new(&program.codes, n_words),
            trace: Log::new(n_trace_rows * n_words, keep.goal_trace),
            trace_sides: phases
                .iter()
                .map(|phase| trace_side(&phase.goals))
                .collect(),
        }
    }

    /// Allocates memory for weighted choices, or frees it.
    pub(super) fn set_tables(&mut self, program: &LanesProgram, tables: Option<&Tables>) {
        self.table_scratch = tables.map(|tables| tables.scratch(self.n_words));
        let n_rows = program.n_rows + tables.map_or(0, |tables| tables.n_extra_rows);
        if self.rows.words().len() < n_rows * self.n_words {
            let mut larger = matrix(n_rows, self.n_words);
            larger.words_mut()[..self.rows.words().len()].copy_from_slice(self.rows.words());
            self.rows = larger;
        }
        for scratch in self.scratch.iter_mut().flatten().flatten() {
            scratch.soil();
        }
    }

    /// The lanes of a block in one of the masks.
    #[inline(always)]
    pub(super) fn mask(&self, mask: usize, block: usize) -> u64 {
        self.masks.words()[mask * self.n_words + block]
    }

    #[inline(always)]
    pub(super) fn set_mask(&mut self, mask: usize, block: usize, lanes: u64) {
        self.masks.words_mut()[mask * self.n_words + block] = lanes;
    }

    /// Whether some lane is active.
    #[inline(always)]
    pub(super) fn is_active(&self) -> bool {
        (0..self.n_words).any(|block| self.mask(ACTIVE, block) != 0)
    }

    /// Makes a stage for a phase, if there is none.
    pub(super) fn prepare_stage(&mut self, program: &LanesProgram, phase: usize) {
        if self.stages[phase].is_none() {
            self.stages[phase] = Some(Rows::new(program.bases.len(), self.n_words));
        }
    }
}

/// Reads goals of some lanes of a block into their records.
pub(super) fn collect_goals(
    goals: &Goals,
    words: &[u64],
    n_words: usize,
    idx: usize,
    lanes: u64,
    records: &[u32; 64],
    all: &mut [u8],
) {
    if lanes == 0 {
        return;
    }
    let n_roles = goals.roles.len();
    for (role, rows) in goals.roles.iter().enumerate() {
        let words_of = |goal: &GoalRow| words[goal.row as usize * n_words + idx];
        let to = &mut all[role..];
        match *rows.as_slice() {
            [a] => collect_few([a], words_of, lanes, records, to, n_roles),
            [a, b] => collect_few([a, b], words_of, lanes, records, to, n_roles),
            [a, b, c] => collect_few([a, b, c], words_of, lanes, records, to, n_roles),
            [a, b, c, d] => collect_few([a, b, c, d], words_of, lanes, records, to, n_roles),
            _ => collect_many(rows, words_of, lanes, records, to, n_roles),
        }
    }
}

/// Processes lane by lane, without branches: with few values, loops over the lanes of each value would cause more
/// mispredictions.
#[inline]
fn collect_few<const N: usize>(
    rows: [GoalRow; N],
    words_of: impl Fn(&GoalRow) -> u64,
    lanes: u64,
    records: &[u32; 64],
    to: &mut [u8],
    n_roles: usize,
) {
    let words = rows.each_ref().map(&words_of);
    let values = rows.each_ref().map(|goal| u32::from(byte_of(goal)));
    for lane in bits(lanes) {
        let (mut sum, mut n_on) = (0, 0);
        for (word, value) in words.iter().zip(values) {
            let bit = (word >> lane & 1) as u32;
            n_on += bit;
            sum += bit * value;
        }
        let goal = if n_on == 1 { sum as u8 } else { NO_GOAL };
        to[records[lane] as usize * n_roles] = goal;
    }
}

fn collect_many(
    rows: &[GoalRow],
    words_of: impl Fn(&GoalRow) -> u64,
    lanes: u64,
    records: &[u32; 64],
    to: &mut [u8],
    n_roles: usize,
) {
    let (mut once, mut twice) = (0, 0);
    for goal in rows {
        let holds = words_of(goal) & lanes;
        twice |= once & holds;
        once |= holds;
        for lane in bits(holds) {
            to[records[lane] as usize * n_roles] = byte_of(goal);
        }
    }
    for lane in bits(twice) {
        to[records[lane] as usize * n_roles] = NO_GOAL;
    }
}

fn byte_of(goal: &GoalRow) -> u8 {
    goal.value.map_or(NO_GOAL, Goal::value)
}
