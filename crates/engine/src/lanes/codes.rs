//! The moves of playouts as codes: small numbers, with those of eight steps packed into a word.
//!
//! While lanes play, a step logs the chosen moves bit-sliced: one row per bit of their numbers. Before playouts are
//! handed over, eight steps at a time are transposed, in all blocks of a group at once: first the bits of eight rows
//! become a byte per lane, then the bytes of eight steps become a word per lane. That takes less than one instruction
//! per move. Codes that are never read are never decoded.
//!
//! A code stands for a phase and the number of a move in it, so that decoding does not need the phase. Roles with more
//! than 256 codes use several bytes for each, in *planes*; a role with only one possible move uses none.
//!
//! - Warren 2012, Hacker's Delight, section 7-3 (transposing a bit matrix)

#![expect(
    unsafe_code,
    reason = "rows are read and written by pointer; CPU instructions are chosen at run time"
)]

use super::kernel::Simd;
use super::log::Log;
use super::moves::Moves;
use super::program::{LanesProgram, Phase, RoleMoves};
use super::vector::Vector;
use super::words::Words;
use crate::state::{MoveId, RoleId};

/// Steps in a word.
pub(super) const CHUNK: u64 = 8;

/// The codes of a role's moves.
pub(super) struct RoleCodes {
    /// Per code: the move.
    moves: Vec<MoveId>,
    /// Per phase: bits that are common to the codes of all moves.
    bases: Vec<u32>,
    /// Per phase: whether the role may have a choice.
    choices: Vec<bool>,
    /// Bytes of a code, and the number of planes of the roles before.
    n_planes: usize,
    first_plane: usize,
}

impl RoleCodes {
    /// Codes for all roles.
    pub(super) fn all_roles(phases: &[Phase], n_roles: usize) -> Vec<RoleCodes> {
        let mut first_plane = 0;
        let codes = |role| {
            let codes = RoleCodes::new(phases, role, first_plane);
            first_plane += codes.n_planes;
            codes
        };
        (0..n_roles).map(codes).collect()
    }

    fn new(phases: &[Phase], role: usize, first_plane: usize) -> RoleCodes {
        let mut moves: Vec<Option<MoveId>> = Vec::new();
        let mut bases = vec![0; phases.len()];
        // Step 1. Choices, the largest first: each gets an aligned range of codes whose lowest bits are the number of
        // the move.
        let choice = |phase: usize| match &phases[phase].roles[role] {
            RoleMoves::Choice(choice) => Some((phase, &**choice)),
            _ => None,
        };
        let mut choices: Vec<_> = (0..phases.len()).filter_map(choice).collect();
        choices.sort_by_key(|(_, choice)| std::cmp::Reverse(choice.leaves.tree.n_index_bits()));
        for (idx, &(phase, choice)) in choices.iter().enumerate() {
            let same = choices[..idx]
                .iter()
                .find(|other| other.1.moves == choice.moves);
            if let Some((other, _)) = same {
                bases[phase] = bases[*other];
                continue;
            }
            let base = moves.len();
            bases[phase] = base as u32;
            moves.extend(choice.moves.iter().copied().map(Some));
            moves.resize(base + (1 << choice.leaves.tree.n_index_bits()), None);
        }
        // Step 2. Moves without a choice, where there is room.
        for (phase, phase_data) in phases.iter().enumerate() {
            if let RoleMoves::Only(only, _) = phase_data.roles[role] {
                let same = moves.iter().position(|&mv| mv == Some(only));
                let code = same.or_else(|| moves.iter().position(Option::is_none));
                let code = code.unwrap_or(moves.len());
                moves.resize(moves.len().max(code + 1), None);
                moves[code] = Some(only);
                bases[phase] = code as u32;
            }
        }
        let n_bits = usize::BITS - moves.len().saturating_sub(1).leading_zeros();
        let n_planes = n_bits.div_ceil(8) as usize;
        // Every byte must be a valid index.
        moves.resize(moves.len().max(if n_planes == 1 { 256 } else { 1 }), None);
        RoleCodes {
            moves: moves
                .into_iter()
                .map(|mv| mv.unwrap_or(MoveId(0)))
                .collect(),
            bases,
            choices: (0..phases.len())
                .map(|phase| choice(phase).is_some())
                .collect(),
            n_planes,
            first_plane,
        }
    }
}

impl RoleCodes {
    /// Whether the role may have a choice in a phase.
    #[inline]
    pub(super) fn is_choice(&self, phase: usize) -> bool {
        self.choices[phase]
    }
}

/// The codes of all steps that are still needed.
pub(super) struct Codes {
    /// Codes up to step `end`, with spare capacity: by chunk of steps, plane, block of the group, and lane; lanes that
    /// are equal modulo 8 are adjacent.
    words: Vec<u64>,
    /// The chunk of the first words.
    first: u64,
    /// The end of the encoded steps.
    end: u64,
    /// Words per chunk.
    stride: usize,
    n_blocks: usize,
}

impl Codes {
    pub(super) fn new(roles: &[RoleCodes], n_blocks: usize) -> Codes {
        let n_planes: usize = roles.iter().map(|role| role.n_planes).sum();
        Codes {
            words: Vec::new(),
            first: 0,
            end: 0,
            // Not a power of two, to avoid cache conflicts between the chunks of a lane.
            stride: n_planes * 64 * n_blocks + 8,
            n_blocks,
        }
    }

    /// Encodes the steps that were logged since the last call.
    pub(super) fn follow(&mut self, program: &LanesProgram, log: &Log) {
        if self.end <= log.first() {
            self.first = log.first() / CHUNK;
        }
        let chunks = self.first.max(self.end / CHUNK)..log.end().div_ceil(CHUNK);
        self.end = log.end();
        let n_words = chunks.end.saturating_sub(self.first) as usize * self.stride;
        if self.words.len() < n_words {
            self.words.resize(n_words, 0);
        }
        assert_eq!(
            self.n_blocks,
            program.options.simd.n_words(),
            "the log must belong to this program"
        );
        for chunk in chunks {
            let to = (chunk - self.first) as usize * self.stride;
            let to = &mut self.words[to..];
            // SAFETY: a program exists only if the CPU supports its vectors; there is room for a chunk.
            unsafe {
                match program.options.simd {
                    Simd::Portable => turn_chunk::<Words>(program, log, chunk, to),
                    #[cfg(target_arch = "x86_64")]
                    Simd::Avx2 => turn_avx2(program, log, chunk, to),
                    #[cfg(target_arch = "x86_64")]
                    Simd::Avx512 => turn_avx512(program, log, chunk, to),
                    #[cfg(not(target_arch = "x86_64"))]
                    Simd::Avx2 | Simd::Avx512 => unreachable!("not available on this architecture"),
                }
            }
        }
    }

    /// Drops steps that the log has dropped.
    pub(super) fn forget_with(&mut self, log: &Log) {
        let first = log.first() / CHUNK;
        if first > self.first {
            let n_kept = self.end.div_ceil(CHUNK).saturating_sub(first) as usize * self.stride;
            let from = (first - self.first) as usize * self.stride;
            // If everything is dropped, the new start may lie beyond the encoded steps.
            if n_kept > 0 {
                self.words.copy_within(from..from + n_kept, 0);
            }
            self.first = first;
        }
    }

    /// The moves of a role in a playout that started in this step, in a lane of a block of the group.
    #[inline]
    pub(super) fn moves<'a>(
        &'a self,
        role: &'a RoleCodes,
        (block, lane): (usize, u8),
        first: u64,
        n_steps: u32,
    ) -> Moves<'a> {
        let chunk = (first / CHUNK).saturating_sub(self.first) as usize;
        let block_start = (role.first_plane * self.n_blocks + block) * 64;
        let at = chunk * self.stride + block_start + usize::from(lane % 8 * 8 + lane / 8);
        Moves {
            words: self.words.get(at..).unwrap_or_default(),
            stride: self.stride,
            plane_stride: 64 * self.n_blocks,
            n_planes: role.n_planes,
            step: (first % CHUNK) as u32,
            end: (first % CHUNK) as u32 + n_steps,
            moves: &role.moves,
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn turn_avx2(program: &LanesProgram, log: &Log, chunk: u64, to: &mut [u64]) {
    // SAFETY: guaranteed by the caller.
    unsafe { turn_chunk::<std::arch::x86_64::__m256i>(program, log, chunk, to) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn turn_avx512(program: &LanesProgram, log: &Log, chunk: u64, to: &mut [u64]) {
    // SAFETY: guaranteed by the caller.
    unsafe { turn_chunk::<std::arch::x86_64::__m512i>(program, log, chunk, to) }
}

/// Encodes one chunk for all roles.
///
/// # Safety
/// The CPU supports `V`, the log is `V` wide, and there is room for a chunk.
#[inline(always)]
unsafe fn turn_chunk<V: Vector>(program: &LanesProgram, log: &Log, chunk: u64, to: &mut [u64]) {
    for (role, codes) in program.codes.iter().enumerate() {
        for plane in 0..codes.n_planes {
            let to = &mut to[(codes.first_plane + plane) * 64 * V::N_WORDS..][..64 * V::N_WORDS];
            // SAFETY: guaranteed by the caller.
            unsafe { turn_plane::<V>(program, log, chunk, (role, plane), to) };
        }
    }
}

/// Encodes one byte of the codes of a role.
#[inline(always)]
unsafe fn turn_plane<V: Vector>(
    program: &LanesProgram,
    log: &Log,
    chunk: u64,
    (role, plane): (usize, usize),
    to: &mut [u64],
) {
    let n_phases = program.phases.len() as u64;
    let zero = V::splat(false);
    // Step 1. Word k of a step has the bytes of lanes k, k + 8, k + 16, …
    let mut words = [[zero; 8]; 8];
    for (in_chunk, step) in (chunk * CHUNK..(chunk + 1) * CHUNK).enumerate() {
        let phase_idx = (step % n_phases) as usize;
        let mut rows = [zero; 8];
        if let RoleMoves::Choice(choice) = &program.phases[phase_idx].roles[role]
            && (log.first()..log.end()).contains(&step)
        {
            let from = log.step(step);
            let n_bits = choice.leaves.tree.n_index_bits();
            for (idx, bit) in (8 * plane..n_bits.min(8 * plane + 8)).enumerate() {
                let row = &from[(choice.first_log_row + bit) * V::N_WORDS..][..V::N_WORDS];
                // SAFETY: the slice is as long as a vector.
                rows[idx] = unsafe { V::load_unaligned(row.as_ptr()) };
            }
            turn_bits(&mut rows);
        }
        let base = program.codes[role].bases[phase_idx] >> (8 * plane);
        let base = V::splat_word(u64::from(base & 0xff) * (u64::MAX / 0xff));
        for (lane_words, row) in words.iter_mut().zip(&rows) {
            lane_words[in_chunk] = row.or(base);
        }
    }
    // Step 2. Gather the bytes of each lane.
    for (idx, steps) in words.iter_mut().enumerate() {
        turn_bytes(steps);
        let mut lanes = [0; 64];
        for (eighth, word) in steps.iter().enumerate() {
            // SAFETY: eight of the widest vectors have 64 words.
            unsafe { word.store_unaligned(lanes.as_mut_ptr().add(eighth * V::N_WORDS)) };
        }
        for (block, block_words) in to.chunks_exact_mut(64).enumerate() {
            for (eighth, word) in block_words[8 * idx..8 * idx + 8].iter_mut().enumerate() {
                *word = lanes[eighth * V::N_WORDS + block];
            }
        }
    }
}

/// Transposes the 8×8 bits that are in each byte of the eight words.
#[inline(always)]
fn turn_bits<V: Vector>(words: &mut [V; 8]) {
    swap::<V, 4, 4>(words, 0x0F0F_0F0F_0F0F_0F0F);
    swap::<V, 2, 2>(words, 0x3333_3333_3333_3333);
    swap::<V, 1, 1>(words, 0x5555_5555_5555_5555);
}

/// Transposes the 8×8 bytes of the eight words.
#[inline(always)]
fn turn_bytes<V: Vector>(words: &mut [V; 8]) {
    swap::<V, 4, 32>(words, 0x0000_0000_FFFF_FFFF);
    swap::<V, 2, 16>(words, 0x0000_FFFF_0000_FFFF);
    swap::<V, 1, 8>(words, 0x00FF_00FF_00FF_00FF);
}

/// Swaps the high parts of words with the low parts of the words `WIDTH` further on.
#[inline(always)]
fn swap<V: Vector, const WIDTH: usize, const SHIFT: i32>(words: &mut [V; 8], mask: u64) {
    let mask = V::splat_word(mask);
    let mut idx = 0;
    while idx < 8 {
        if idx & WIDTH == 0 {
            let (low, high) = (words[idx], words[idx + WIDTH]);
            let swapped = low.shift_right::<SHIFT>().xor(high).and(mask);
            words[idx] = low.xor(swapped.shift_left::<SHIFT>());
            words[idx + WIDTH] = high.xor(swapped);
        }
        idx += 1;
    }
}

impl LanesProgram {
    /// The codes of a role.
    #[inline]
    pub(super) fn codes_of(&self, role: RoleId) -> &RoleCodes {
        &self.codes[role.idx()]
    }
}
