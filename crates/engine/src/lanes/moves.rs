//! The moves of a role in a playout, decoded as they are read.

use crate::state::MoveId;

/// The moves of a role in a playout.
#[derive(Clone)]
pub struct Moves<'a> {
    /// Codes ([`super::codes`]) from the next move on, which is in the first word.
    pub(super) words: &'a [u64],
    /// Words between two chunks of steps, and between two planes.
    pub(super) stride: usize,
    pub(super) plane_stride: usize,
    pub(super) n_planes: usize,
    /// The next step and the end, counted from the start of the chunk.
    pub(super) step: u32,
    pub(super) end: u32,
    /// Moves by code.
    pub(super) moves: &'a [MoveId],
}

/// Steps in a word.
const CHUNK: u32 = super::codes::CHUNK as u32;

impl Moves<'_> {
    /// The move of a step.
    #[inline]
    fn at(&self, step: u32) -> MoveId {
        let chunk = (step / CHUNK) as usize * self.stride;
        let shift = step % CHUNK * 8;
        let byte = |plane: usize| (self.words[chunk + plane * self.plane_stride] >> shift) as u8;
        let code = match self.n_planes {
            0 => 0,
            1 => usize::from(byte(0)),
            n => (0..n).fold(0, |code, plane| {
                code | usize::from(byte(plane)) << (8 * plane)
            }),
        };
        self.moves[code]
    }
}

impl Iterator for Moves<'_> {
    type Item = MoveId;

    #[inline]
    fn next(&mut self) -> Option<MoveId> {
        if self.step == self.end {
            return None;
        }
        let mv = self.at(self.step);
        self.step += 1;
        Some(mv)
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<MoveId> {
        self.step =
            u32::try_from(n).map_or(self.end, |n| self.step.saturating_add(n).min(self.end));
        self.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let n_left = (self.end - self.step) as usize;
        (n_left, Some(n_left))
    }

    #[inline]
    fn fold<B, F: FnMut(B, MoveId) -> B>(self, init: B, mut f: F) -> B {
        let mut sum = init;
        let Some(moves) = self
            .moves
            .first_chunk::<256>()
            .filter(|_| self.n_planes == 1)
        else {
            for step in self.step..self.end {
                sum = f(sum, self.at(step));
            }
            return sum;
        };
        // Eight moves at a time, from two adjacent words.
        let mut n_left = self.end - self.step;
        let shift = self.step % CHUNK * 8;
        let mut word_idx = (self.step / CHUNK) as usize * self.stride;
        let mut low = self.words.get(word_idx).copied().unwrap_or(0);
        while n_left > 0 {
            word_idx += self.stride;
            let high = self.words.get(word_idx).copied().unwrap_or(0);
            let mut word = low >> shift | high << 1 << (63 - shift);
            low = high;
            if n_left >= CHUNK {
                for code in word.to_le_bytes() {
                    sum = f(sum, moves[usize::from(code)]);
                }
                n_left -= CHUNK;
                continue;
            }
            for _ in 0..n_left {
                sum = f(sum, moves[usize::from(word as u8)]);
                word >>= 8;
            }
            break;
        }
        sum
    }
}

impl ExactSizeIterator for Moves<'_> {}
