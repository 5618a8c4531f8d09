//! Bits to bytes.

#![expect(unsafe_code, reason = "CPU instructions are chosen at run time")]

use crate::lanes::kernel::Simd;

/// Writes each bit as a byte, 0 or 1; `to` may end within a word.
pub fn spread_bits(words: &[u64], to: &mut [u8]) {
    spread_by(Simd::best(), words, to);
}

#[inline]
pub(super) fn spread_by(simd: Simd, words: &[u64], to: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if simd == Simd::Avx512 && is_x86_feature_detected!("avx512bw") {
        // SAFETY: the CPU supports these instructions.
        unsafe { spread_avx512(words, to) };
        return;
    }
    let _ = simd;
    for (&word, to) in words.iter().zip(to.chunks_mut(64)) {
        for (byte, to) in to.chunks_mut(8).enumerate() {
            to.copy_from_slice(&eight(word >> (byte * 8))[..to.len()]);
        }
    }
}

/// The lowest eight bits as bytes.
#[inline]
fn eight(bits: u64) -> [u8; 8] {
    // Eight copies, of which each keeps its own bit; that bit is then moved to the lowest place.
    let own = (bits & 0xFF).wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    let bytes = (own + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & 0x0101_0101_0101_0101;
    bytes.to_le_bytes()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn spread_avx512(words: &[u64], to: &mut [u8]) {
    use std::arch::x86_64::*;
    for (&word, to) in words.iter().zip(to.chunks_mut(64)) {
        let bytes = _mm512_maskz_set1_epi8(word, 1);
        let places = match to.len() {
            64 => u64::MAX,
            n => (1 << n) - 1,
        };
        // SAFETY: only the bytes of `to` are written.
        unsafe { _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), places, bytes) };
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
        let all = [Simd::Portable, Simd::Avx2, Simd::Avx512];
        for simd in all.into_iter().filter(|simd| simd.is_available()) {
            for len in [0, 1, 7, 8, 63, 64, 65, 130, 256] {
                let mut bytes = vec![9; len];
                spread_by(simd, &words, &mut bytes);
                assert_eq!(bytes, expected[..len], "{simd:?}");
            }
        }
    }
}
