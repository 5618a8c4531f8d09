//! Bits to bytes.

#![expect(unsafe_code, reason = "CPU instructions are chosen at run time")]

use super::level::{Cpu, Level, dispatch};
use crate::lanes::kernel::Simd;

/// Writes each bit as a byte, 0 or 1; `to` may end within a word.
pub fn spread_bits(words: &[u64], to: &mut [u8]) {
    dispatch!(Cpu::new(Simd::best()), spread(words: &[u64], to: &mut [u8]) -> ());
}

/// # Safety
/// The CPU supports the level.
#[inline(always)]
unsafe fn spread<L: Level>(words: &[u64], to: &mut [u8]) {
    for (&word, to) in words.iter().zip(to.chunks_mut(64)) {
        // SAFETY: guaranteed by the caller.
        unsafe { L::spread(word, to) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_becomes_a_byte() {
        let words = [0x8000_0000_0000_0001, 0x0123_4567_89AB_CDEF, u64::MAX, 0];
        let expected: Vec<u8> = (0..256)
            .map(|bit| (words[bit / 64] >> (bit % 64) & 1) as u8)
            .collect();
        for len in [0, 1, 7, 8, 63, 64, 65, 130, 256] {
            let mut bytes = vec![9; len];
            spread_bits(&words, &mut bytes);
            assert_eq!(bytes, expected[..len]);
        }
    }
}
