//! What the CPU can do: the inner loops of a batch are compiled once for each level.
//!
//! Everything that is generic over [`Level`] is inlined into one outer function per level, which enables the CPU's
//! instructions.

#![expect(unsafe_code, reason = "CPU instructions are chosen at run time")]

use crate::lanes::kernel::Simd;
use crate::playout::nth_bit;

/// Instructions for single words.
///
/// # Safety
/// Methods may only be called on a CPU that supports the level.
pub(super) unsafe trait Level {
    /// The position of the n-th set bit, from 0.
    ///
    /// # Safety
    /// The CPU supports the level.
    unsafe fn nth_bit(word: u64, n: u32) -> u32;

    /// Writes the lowest bits as bytes, 0 or 1; at most 64.
    ///
    /// # Safety
    /// The CPU supports the level.
    unsafe fn spread(word: u64, to: &mut [u8]);

    /// Bytes that [`Level::spread_whole`] writes.
    const WHOLE: usize;

    /// Writes the lowest bits as [`Level::WHOLE`] bytes, 0 or 1.
    ///
    /// # Safety
    /// The CPU supports the level, and there is memory for the bytes.
    unsafe fn spread_whole(word: u64, to: *mut u8);
}

/// Writes the lowest `n_bits` bits of each row of words as bytes, 0 or 1, row by row. What a vector writes too much
/// belongs to the next rows, which come after it.
///
/// # Safety
/// The CPU supports the level.
#[inline(always)]
pub(super) unsafe fn spread_rows<L: Level>(
    words: &[u64],
    n_words: usize,
    n_bits: usize,
    to: &mut [u8],
) {
    if n_bits == 0 {
        return;
    }
    assert!(n_bits.div_ceil(64) <= n_words);
    let n_rows = (words.len() / n_words).min(to.len() / n_bits);
    let n_whole = n_bits.div_ceil(L::WHOLE);
    // Rows whose last vector ends within the bytes.
    let n_safe = match to.len().checked_sub(n_whole * L::WHOLE) {
        Some(left) => (left / n_bits + 1).min(n_rows),
        None => 0,
    };
    let (safe, last) = words[..n_rows * n_words].split_at(n_safe * n_words);
    // SAFETY: guaranteed by the caller; the last vector of a safe row ends within the bytes, and no row has more vectors
    // than words.
    unsafe {
        let mut first = to.as_mut_ptr();
        for row in safe.chunks_exact(n_words) {
            for part in 0..n_whole {
                let bit = part * L::WHOLE;
                let word = *row.get_unchecked(bit / 64) >> (bit % 64);
                L::spread_whole(word, first.add(bit));
            }
            first = first.add(n_bits);
        }
        let rows = to[n_safe * n_bits..].chunks_exact_mut(n_bits);
        for (row, to) in last.chunks_exact(n_words).zip(rows) {
            for (&word, to) in row.iter().zip(to.chunks_mut(64)) {
                L::spread(word, to);
            }
        }
    }
}

/// Any CPU.
pub(super) struct Portable;

unsafe impl Level for Portable {
    #[inline(always)]
    unsafe fn nth_bit(word: u64, n: u32) -> u32 {
        nth_bit(word, n)
    }

    #[inline(always)]
    unsafe fn spread(word: u64, to: &mut [u8]) {
        let mut chunks = to.chunks_exact_mut(8);
        let mut left = word;
        for to in &mut chunks {
            to.copy_from_slice(&eight(left));
            left = left.unbounded_shr(8);
        }
        let last = chunks.into_remainder();
        last.copy_from_slice(&eight(left)[..last.len()]);
    }

    const WHOLE: usize = 8;

    #[inline(always)]
    unsafe fn spread_whole(word: u64, to: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[u8; 8]>().write_unaligned(eight(word)) };
    }
}

/// The lowest eight bits as bytes.
#[inline(always)]
fn eight(bits: u64) -> [u8; 8] {
    // Eight copies, of which each keeps its own bit; that bit is then moved to the lowest place.
    let own = (bits & 0xFF).wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    let bytes = (own + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & 0x0101_0101_0101_0101;
    bytes.to_le_bytes()
}

/// A CPU with AVX2 and bit manipulation.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx2;

#[cfg(target_arch = "x86_64")]
unsafe impl Level for Avx2 {
    #[inline(always)]
    unsafe fn nth_bit(word: u64, n: u32) -> u32 {
        // SAFETY: guaranteed by the caller.
        unsafe { std::arch::x86_64::_pdep_u64(1 << n, word) }.trailing_zeros()
    }

    #[inline(always)]
    unsafe fn spread(word: u64, to: &mut [u8]) {
        let eight = |bits: u64| {
            // SAFETY: guaranteed by the caller.
            unsafe { std::arch::x86_64::_pdep_u64(bits, 0x0101_0101_0101_0101) }.to_le_bytes()
        };
        let n = to.len();
        if n < 8 {
            to.copy_from_slice(&eight(word)[..n]);
            return;
        }
        let mut first = 0;
        while first + 8 <= n {
            to[first..first + 8].copy_from_slice(&eight(word >> first));
            first += 8;
        }
        // The last eight bytes overlap with those before.
        to[n - 8..].copy_from_slice(&eight(word >> (n - 8)));
    }

    const WHOLE: usize = 32;

    #[inline(always)]
    unsafe fn spread_whole(word: u64, to: *mut u8) {
        use std::arch::x86_64::*;
        // Each byte gets the byte that has its bit, then that bit alone.
        // SAFETY: guaranteed by the caller.
        unsafe {
            let bytes = _mm256_set_epi64x(
                0x0303_0303_0303_0303,
                0x0202_0202_0202_0202,
                0x0101_0101_0101_0101,
                0,
            );
            let own = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
            let spread = _mm256_shuffle_epi8(_mm256_set1_epi32(word as i32), bytes);
            let spread = _mm256_and_si256(spread, own);
            _mm256_storeu_si256(to.cast(), _mm256_min_epu8(spread, _mm256_set1_epi8(1)));
        }
    }
}

/// A CPU with masks of bytes as well.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx512;

#[cfg(target_arch = "x86_64")]
unsafe impl Level for Avx512 {
    #[inline(always)]
    unsafe fn nth_bit(word: u64, n: u32) -> u32 {
        // SAFETY: guaranteed by the caller.
        unsafe { Avx2::nth_bit(word, n) }
    }

    #[inline(always)]
    unsafe fn spread(word: u64, to: &mut [u8]) {
        use std::arch::x86_64::*;
        // Stores of a part of a vector are slow on many CPUs, so that two whole ones overlap.
        let (n, first) = (to.len(), to.as_mut_ptr());
        // SAFETY: guaranteed by the caller; all stores are within the bytes.
        unsafe {
            match n {
                64 => _mm512_storeu_si512(first.cast(), _mm512_maskz_set1_epi8(word, 1)),
                32..64 => {
                    let (low, high) = (word as u32, (word >> (n - 32)) as u32);
                    _mm256_storeu_si256(first.cast(), _mm256_maskz_set1_epi8(low, 1));
                    let last = first.add(n - 32);
                    _mm256_storeu_si256(last.cast(), _mm256_maskz_set1_epi8(high, 1));
                }
                16..32 => {
                    let (low, high) = (word as u16, (word >> (n - 16)) as u16);
                    _mm_storeu_si128(first.cast(), _mm_maskz_set1_epi8(low, 1));
                    let last = first.add(n - 16);
                    _mm_storeu_si128(last.cast(), _mm_maskz_set1_epi8(high, 1));
                }
                _ => Avx2::spread(word, to),
            }
        }
    }

    const WHOLE: usize = 32;

    #[inline(always)]
    unsafe fn spread_whole(word: u64, to: *mut u8) {
        use std::arch::x86_64::*;
        // SAFETY: guaranteed by the caller.
        unsafe { _mm256_storeu_si256(to.cast(), _mm256_maskz_set1_epi8(word as u32, 1)) };
    }
}

/// The level of this CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cpu {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Cpu {
    /// The highest level within these vectors.
    pub(super) fn new(simd: Simd) -> Cpu {
        #[cfg(target_arch = "x86_64")]
        {
            let has_bits = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("lzcnt");
            if simd == Simd::Avx512
                && has_bits
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
            {
                return Cpu::Avx512;
            }
            if simd != Simd::Portable && has_bits {
                return Cpu::Avx2;
            }
        }
        let _ = simd;
        Cpu::Portable
    }
}

/// Calls a function that is generic over [`Level`] at the level of the CPU, with all its instructions enabled.
macro_rules! dispatch {
    ($cpu:expr, $function:ident($($name:ident: $type:ty),*) -> $result:ty) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
        fn avx2($($name: $type),*) -> $result {
            // SAFETY: the CPU supports it, because this function may be called.
            unsafe { $function::<crate::lanes::batch::level::Avx2>($($name),*) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt")]
        fn avx512($($name: $type),*) -> $result {
            // SAFETY: the CPU supports it, because this function may be called.
            unsafe { $function::<crate::lanes::batch::level::Avx512>($($name),*) }
        }
        // SAFETY: a level exists only if the CPU supports it.
        unsafe {
            match $cpu {
                crate::lanes::batch::level::Cpu::Portable => $function::<crate::lanes::batch::level::Portable>($($name),*),
                #[cfg(target_arch = "x86_64")]
                crate::lanes::batch::level::Cpu::Avx2 => avx2($($name),*),
                #[cfg(target_arch = "x86_64")]
                crate::lanes::batch::level::Cpu::Avx512 => avx512($($name),*),
            }
        }
    }};
}
pub(super) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels that this CPU supports.
    pub(in crate::lanes::batch) fn all() -> Vec<Cpu> {
        let simds = [Simd::Portable, Simd::Avx2, Simd::Avx512];
        let simds = simds.into_iter().filter(|simd| simd.is_available());
        simds.map(Cpu::new).collect()
    }

    #[test]
    fn rows_follow_each_other_and_nothing_else_is_written() {
        let words: Vec<u64> = (1..=30_u64)
            .map(|idx| idx.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        let words: &[u64] = &words;
        for (cpu, n_bits) in all()
            .into_iter()
            .flat_map(|cpu| (0..=192_usize).map(move |n| (cpu, n)))
        {
            let n_words = n_bits.div_ceil(64).max(1);
            let n_rows = words.len() / n_words;
            let mut bytes = vec![9; n_rows * n_bits + 40];
            let to: &mut [u8] = &mut bytes[..n_rows * n_bits];
            dispatch!(
                cpu,
                spread_rows(words: &[u64], n_words: usize, n_bits: usize, to: &mut [u8]) -> ()
            );
            let bit =
                |row: usize, bit: usize| (words[row * n_words + bit / 64] >> (bit % 64) & 1) as u8;
            let expected = (0..n_rows).flat_map(|row| (0..n_bits).map(move |at| bit(row, at)));
            let expected: Vec<u8> = expected.chain([9; 40]).collect();
            assert!(bytes == expected, "{cpu:?} {n_bits}");
        }
    }

    unsafe fn both<L: Level>(word: u64, n: u32, to: &mut [u8]) -> u32 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            L::spread(word, to);
            L::nth_bit(word, n)
        }
    }

    #[test]
    fn all_levels_agree() {
        for cpu in all() {
            for word in [1, 0x8000_0000_0000_0001, 0x0123_4567_89AB_CDEF, u64::MAX] {
                for len in 0..=64 {
                    let mut bytes = vec![9; len];
                    let to: &mut [u8] = &mut bytes;
                    let n = word.count_ones() - 1;
                    let last = dispatch!(cpu, both(word: u64, n: u32, to: &mut [u8]) -> u32);
                    assert_eq!(last, 63 - word.leading_zeros(), "{cpu:?}");
                    let bit = |place: usize| (word >> place & 1) as u8;
                    assert!(
                        bytes
                            .iter()
                            .enumerate()
                            .all(|(idx, &byte)| byte == bit(idx))
                    );
                }
            }
        }
    }
}
