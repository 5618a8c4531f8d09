//! The moves of playouts, as they are handed over.
//!
//! While lanes play, a step logs the chosen moves bit-sliced: a row per bit of their numbers. Before playouts are handed
//! over, the bits of 64 lanes at a time are put together, so that reading the moves of a playout is a walk down a column.

use super::log::Log;
use super::program::{Choice, LanesProgram, RoleMoves};
use crate::state::{MoveId, RoleId};

/// Moves by step, role, block of the group, and lane.
pub(super) struct Columns {
    moves: Vec<MoveId>,
    /// The step that the first moves belong to.
    first: u64,
    /// Moves per step.
    stride: usize,
    n_words: usize,
}

impl Columns {
    pub(super) fn new(n_roles: usize, n_words: usize) -> Columns {
        Columns {
            moves: Vec::new(),
            first: 0,
            stride: n_roles * n_words * 64,
            n_words,
        }
    }

    /// Decodes what was logged since the last time.
    pub(super) fn follow(&mut self, program: &LanesProgram, log: &Log) {
        if self.moves.is_empty() {
            self.first = log.first();
        }
        let n_done = self.moves.len() / self.stride;
        for step in self.first + n_done as u64..log.end() {
            let phase = &program.phases[(step % program.phases.len() as u64) as usize];
            let words = log.step(step);
            let start = self.moves.len();
            self.moves.resize(start + self.stride, MoveId(0));
            let of_roles = self.moves[start..].chunks_exact_mut(self.n_words * 64);
            for (moves, to) in phase.roles.iter().zip(of_roles) {
                match moves {
                    RoleMoves::None => {}
                    RoleMoves::Only(only, _) => to.fill(*only),
                    RoleMoves::Choice(choice) => {
                        let (blocks, _) = to.as_chunks_mut::<64>();
                        for (block, to) in blocks.iter_mut().enumerate() {
                            decode(choice, words, self.n_words, block, to);
                        }
                    }
                }
            }
        }
    }

    /// Forgets steps that the log has forgotten.
    pub(super) fn forget_with(&mut self, log: &Log) {
        let n_old = (log.first().saturating_sub(self.first) as usize) * self.stride;
        self.moves.drain(..n_old.min(self.moves.len()));
        self.first = log.first();
    }

    /// Where the move of a role in a step is.
    #[inline]
    fn place(&self, role: RoleId, (block, lane): (usize, u8), step: u64) -> usize {
        let column = (role.idx() * self.n_words + block) * 64 + usize::from(lane);
        step.saturating_sub(self.first) as usize * self.stride + column
    }

    /// The move of a role in one step.
    #[inline]
    pub(super) fn at(&self, role: RoleId, place: (usize, u8), step: u64) -> MoveId {
        self.moves[self.place(role, place, step)]
    }

    /// The moves of a role in a playout that began in this step.
    pub(super) fn moves(
        &self,
        role: RoleId,
        (block, lane): (usize, u8),
        first: u64,
        n_steps: u32,
    ) -> Moves<'_> {
        let at = self.place(role, (block, lane), first);
        Moves {
            column: self.moves.get(at..).unwrap_or_default(),
            stride: self.stride,
            n_left: n_steps,
        }
    }
}

/// Puts together the numbers of the moves that 64 lanes chose.
fn decode(choice: &Choice, words: &[u64], n_words: usize, block: usize, to: &mut [MoveId; 64]) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// Bit i of byte i.
    const DIAGONAL: u64 = 0x8040_2010_0804_0201;
    let n_bits = choice.leaves.tree.n_index_bits();
    let mut leaves = [0_u32; 64];
    for first_bit in (0..n_bits).step_by(8) {
        // Eight lanes in each word, a byte for each.
        let mut bytes = [0_u64; 8];
        for bit in first_bit..n_bits.min(first_bit + 8) {
            let word = words[(choice.first_log_row + bit) * n_words + block];
            for (idx, bytes) in bytes.iter_mut().enumerate() {
                let spread = (word >> (8 * idx) & 0xff).wrapping_mul(ONES) & DIAGONAL;
                let is_on = (spread + 0x7f * ONES) >> 7 & ONES;
                *bytes |= is_on << (bit - first_bit);
            }
        }
        for (bytes, leaves) in bytes.iter().zip(leaves.as_chunks_mut::<8>().0) {
            for (byte, leaf) in bytes.to_le_bytes().into_iter().zip(leaves) {
                *leaf |= u32::from(byte) << first_bit;
            }
        }
    }
    for (leaf, to) in leaves.into_iter().zip(to) {
        // Lanes in which nobody plays hold nothing that means something.
        *to = choice
            .moves
            .get(leaf as usize)
            .copied()
            .unwrap_or(MoveId(0));
    }
}

/// The moves of a role in a playout.
#[derive(Clone)]
pub struct Moves<'a> {
    /// From its next move on.
    column: &'a [MoveId],
    stride: usize,
    n_left: u32,
}

impl Iterator for Moves<'_> {
    type Item = MoveId;

    #[inline]
    fn next(&mut self) -> Option<MoveId> {
        self.n_left = self.n_left.checked_sub(1)?;
        let of = *self.column.first()?;
        self.column = self.column.get(self.stride..).unwrap_or_default();
        Some(of)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.n_left as usize, Some(self.n_left as usize))
    }
}

impl ExactSizeIterator for Moves<'_> {}
