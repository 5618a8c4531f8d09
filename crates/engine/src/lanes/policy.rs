//! Choice by a policy that looks at states, block by block or lane by lane.
//!
//! A [`BlockPolicy`] sees the rows of 64 lanes: for each state bit and each move, the lanes in which it holds or is
//! legal. It answers for all of them, and can share work between lanes. A [`LanePolicy`] sees the state and the legal
//! moves of one lane at a time: simple to write, but much slower than a choice over rows.

use super::block::{Block, bits};
use super::group::{ACTIVE, Group};
use super::program::{FIRST_BASE, LanesProgram, Phase, RoleMoves};
use super::transpose::rows_to_states;
use crate::state::{MoveId, RoleId};

/// Chooses the moves of single lanes.
pub trait LanePolicy {
    /// Chooses one of the legal moves of a role, of which there are at least two. Any other result counts as the first
    /// of them.
    fn choose(&mut self, lane: &LaneView<'_>, role: RoleId, legal: &[MoveId]) -> MoveId;
}

/// A lane whose role must choose.
pub struct LaneView<'a> {
    /// The tag of its job.
    pub tag: u64,
    /// Number of steps that its playout has made.
    pub steps: u32,
    /// A random number for this step and role. Policies that use no other randomness keep playouts reproducible.
    pub random: u64,
    /// The words of its state.
    pub state_words: &'a [u64],
}

/// Chooses the moves of a block of lanes.
pub trait BlockPolicy {
    /// Chooses for a role that may have a choice: for each active lane, the index of its move in [`BlockView::moves`].
    /// The index of a move that is not legal there counts as that of the first one that is.
    fn choose(&mut self, block: &BlockView<'_>, role: RoleId, places: &mut [u32; 64]);
}

/// 64 lanes whose roles must choose; bit k of a word belongs to lane k.
pub struct BlockView<'a> {
    program: &'a LanesProgram,
    phase: &'a Phase,
    block: &'a Block,
    /// The rows of all blocks of the group, and the index of this block.
    rows: &'a [u64],
    n_words: usize,
    idx: usize,
    now: u64,
    seed: u64,
    lanes: u64,
}

impl BlockView<'_> {
    /// The active lanes.
    #[must_use]
    pub fn lanes(&self) -> u64 {
        self.lanes
    }

    /// Reads the lanes in which each bit of the state is set: one word for each bit of a state. The bits of inactive
    /// lanes are meaningless.
    pub fn read_state(&self, bits_of_state: &mut [u64]) {
        for (word, fixed) in bits_of_state.chunks_mut(64).zip(&self.phase.fixed) {
            for (bit, lanes) in word.iter_mut().enumerate() {
                *lanes = (fixed >> bit & 1).wrapping_neg();
            }
        }
        for (&base, row) in self.program.bases.iter().zip(FIRST_BASE..) {
            bits_of_state[base as usize] |= self.row(row);
        }
    }

    /// The moves that a role may have now.
    #[must_use]
    pub fn moves(&self, role: RoleId) -> &[MoveId] {
        match &self.phase.roles[role.idx()] {
            RoleMoves::None => &[],
            RoleMoves::Only(mv, _) => std::slice::from_ref(mv),
            RoleMoves::Choice(choice) => &choice.moves,
        }
    }

    /// The lanes in which one of these moves is legal, by its index.
    #[must_use]
    pub fn legal(&self, role: RoleId, place: usize) -> u64 {
        match &self.phase.roles[role.idx()] {
            RoleMoves::None => 0,
            RoleMoves::Only(_, None) => !0,
            RoleMoves::Only(_, Some(row)) => self.row(*row),
            RoleMoves::Choice(choice) => self.row(choice.leaves.legal[place]),
        }
    }

    /// A random number for a lane, for this step and role. Policies that use no other randomness keep playouts
    /// reproducible.
    #[must_use]
    pub fn random(&self, role: RoleId, lane: usize) -> u64 {
        mix(self.seed, self.now, (role.idx() * 64 + lane) as u64)
    }

    #[inline]
    fn row(&self, row: u32) -> u64 {
        self.rows[row as usize * self.n_words + self.idx]
    }
}

/// Adapts a lane policy to a block policy.
pub(super) struct LaneByLane<'a> {
    policy: &'a mut dyn LanePolicy,
    // Scratch.
    states: Vec<u64>,
    legal: Vec<MoveId>,
    places: Vec<u32>,
}

impl<'a> LaneByLane<'a> {
    pub(super) fn new(policy: &'a mut dyn LanePolicy) -> LaneByLane<'a> {
        LaneByLane {
            policy,
            states: Vec::new(),
            legal: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl BlockPolicy for LaneByLane<'_> {
    fn choose(&mut self, block: &BlockView<'_>, role: RoleId, places: &mut [u32; 64]) {
        let n = block.program.n_state_words;
        self.states.resize(64 * n, 0);
        let rows = &block.rows[FIRST_BASE as usize * block.n_words..];
        rows_to_states(
            block.program,
            rows,
            block.n_words,
            block.idx,
            &mut self.states,
        );
        let moves = block.moves(role);
        for lane in bits(block.lanes) {
            let words = &mut self.states[lane * n..(lane + 1) * n];
            for (word, fixed) in words.iter_mut().zip(&block.phase.fixed) {
                *word |= fixed;
            }
            self.legal.clear();
            self.places.clear();
            for (place, &mv) in moves.iter().enumerate() {
                if block.legal(role, place) >> lane & 1 == 1 {
                    self.legal.push(mv);
                    self.places.push(place as u32);
                }
            }
            places[lane] = match self.places[..] {
                [] => 0,
                [only] => only,
                _ => {
                    let (tag, steps) = block.block.playout(lane, block.now);
                    let view = LaneView {
                        tag,
                        steps,
                        random: block.random(role, lane),
                        state_words: words,
                    };
                    let chosen = self.policy.choose(&view, role, &self.legal);
                    let idx = self.legal.iter().position(|&mv| mv == chosen);
                    self.places[idx.unwrap_or(0)]
                }
            };
        }
    }
}

/// Sets the rows of moves of all active lanes.
pub(super) fn choose(
    program: &LanesProgram,
    group: &mut Group,
    blocks: &[Block],
    now: u64,
    policy: &mut dyn BlockPolicy,
) {
    let phase_idx = (now % program.phases.len() as u64) as usize;
    let phase = &program.phases[phase_idx];
    let n_words = group.n_words;
    clear(group, phase_idx, program);
    let mut places = [0; 64];
    for (idx, block) in blocks.iter().enumerate() {
        let lanes = group.mask(ACTIVE, idx);
        if lanes == 0 {
            continue;
        }
        for (role, moves) in phase.roles.iter().enumerate() {
            let RoleMoves::Choice(choice) = moves else {
                continue;
            };
            let view = BlockView {
                program,
                phase,
                block,
                rows: group.rows.words(),
                n_words,
                idx,
                now,
                seed: group.seeds[idx],
                lanes,
            };
            policy.choose(&view, RoleId(role as u16), &mut places);
            let rows = group.rows.words_mut();
            for lane in bits(lanes) {
                let is_legal = |leaf: usize| {
                    let row = choice.leaves.legal[leaf];
                    rows[row as usize * n_words + idx] >> lane & 1 == 1
                };
                let chosen = places[lane] as usize;
                let chosen = match chosen < choice.moves.len() && is_legal(chosen) {
                    true => Some(chosen),
                    false => (0..choice.moves.len()).find(|&leaf| is_legal(leaf)),
                };
                if let Some(leaf) = chosen {
                    rows[choice.leaves.does[leaf] as usize * n_words + idx] |= 1 << lane;
                }
            }
        }
    }
}

fn clear(group: &mut Group, phase_idx: usize, program: &LanesProgram) {
    let n_words = group.n_words;
    for (role, moves) in program.phases[phase_idx].roles.iter().enumerate() {
        let RoleMoves::Choice(choice) = moves else {
            continue;
        };
        for &row in &choice.leaves.does {
            group.rows.words_mut()[row as usize * n_words..][..n_words].fill(0);
        }
        if let Some(scratch) = &mut group.scratch[phase_idx][role] {
            scratch.soil();
        }
    }
    if let Some(scratch) = &mut group.table_scratch {
        scratch.soil();
    }
}

/// A random number for a step and a place.
fn mix(seed: u64, now: u64, place: u64) -> u64 {
    let mut word =
        seed ^ now.wrapping_mul(0xD134_2543_DE82_EF95) ^ place.wrapping_mul(0x2545_F491_4F6C_DD1D);
    for factor in [0xBF58_476D_1CE4_E5B9_u64, 0x94D0_49BB_1331_11EB] {
        word = (word ^ (word >> 30)).wrapping_mul(factor);
    }
    word ^ (word >> 31)
}
