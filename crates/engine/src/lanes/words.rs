//! The portable vector: eight words, in registers of two words where every CPU of an architecture has them: SSE2 on
//! x86-64, NEON on AArch64.
//!
//! These are as many lanes as the widest vectors have, so that what a step does once per vector, such as reading the
//! tables of rows, costs no more than there. Choices, which need many values at a time, run register by register
//! ([`Part`]). Arrays of single words would leave it to the compiler to find the registers, which takes it many minutes
//! for code of this size.

#![expect(unsafe_code, reason = "vectors are loaded and stored by pointer")]

use super::vector::Vector;

#[cfg(target_arch = "aarch64")]
use neon as pair;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use plain as pair;
#[cfg(target_arch = "x86_64")]
use sse2 as pair;

/// Registers in a vector.
const N_PAIRS: usize = 4;

/// Eight words.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Words([pair::Pair; N_PAIRS]);

impl Words {
    /// Combines the registers of two vectors.
    #[inline(always)]
    fn with(self, other: Words, combine: impl Fn(pair::Pair, pair::Pair) -> pair::Pair) -> Words {
        let (a, b) = (self.0, other.0);
        Words([
            combine(a[0], b[0]),
            combine(a[1], b[1]),
            combine(a[2], b[2]),
            combine(a[3], b[3]),
        ])
    }

    #[inline(always)]
    fn map(self, change: impl Fn(pair::Pair) -> pair::Pair) -> Words {
        let a = self.0;
        Words([change(a[0]), change(a[1]), change(a[2]), change(a[3])])
    }
}

// SAFETY: registers of two words are part of the baseline of the CPUs for which they are used.
unsafe impl Vector for Words {
    type Part = Part;
    const N_PARTS: usize = N_PAIRS;
    const N_WORDS: usize = 2 * N_PAIRS;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Words {
        // SAFETY: guaranteed by the caller.
        unsafe {
            Words([
                pair::load(from),
                pair::load(from.add(2)),
                pair::load(from.add(4)),
                pair::load(from.add(6)),
            ])
        }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            pair::store(self.0[0], to);
            pair::store(self.0[1], to.add(2));
            pair::store(self.0[2], to.add(4));
            pair::store(self.0[3], to.add(6));
        }
    }
    #[inline(always)]
    unsafe fn load_unaligned(from: *const u64) -> Words {
        // SAFETY: guaranteed by the caller.
        unsafe {
            Words([
                pair::load_unaligned(from),
                pair::load_unaligned(from.add(2)),
                pair::load_unaligned(from.add(4)),
                pair::load_unaligned(from.add(6)),
            ])
        }
    }
    #[inline(always)]
    unsafe fn store_unaligned(self, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            pair::store_unaligned(self.0[0], to);
            pair::store_unaligned(self.0[1], to.add(2));
            pair::store_unaligned(self.0[2], to.add(4));
            pair::store_unaligned(self.0[3], to.add(6));
        }
    }
    #[inline(always)]
    fn splat(bit: bool) -> Words {
        Words::splat_word(if bit { u64::MAX } else { 0 })
    }
    #[inline(always)]
    fn splat_word(word: u64) -> Words {
        Words([pair::splat(word); N_PAIRS])
    }
    #[inline(always)]
    fn and(self, other: Words) -> Words {
        self.with(other, pair::and)
    }
    #[inline(always)]
    fn and_not(self, other: Words) -> Words {
        self.with(other, pair::and_not)
    }
    #[inline(always)]
    fn or(self, other: Words) -> Words {
        self.with(other, pair::or)
    }
    #[inline(always)]
    fn xor(self, other: Words) -> Words {
        self.with(other, pair::xor)
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        let a = self.0;
        let any = pair::or(pair::or(a[0], a[1]), pair::or(a[2], a[3]));
        let [low, high] = pair::words(any);
        low | high == 0
    }
    #[inline(always)]
    fn add_words(self, other: Words) -> Words {
        self.with(other, pair::add)
    }
    #[inline(always)]
    fn shift_left<const N: i32>(self) -> Words {
        self.map(pair::shift_left::<N>)
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Words {
        self.map(pair::shift_right::<N>)
    }
    #[inline(always)]
    fn rotate_left<const M: i32, const N: i32>(self) -> Words {
        self.shift_left::<M>().or(self.shift_right::<N>())
    }
    #[inline(always)]
    fn count_ones(self) -> u32 {
        let bytes = self.0.map(ones_by_byte);
        let bytes = pair::add(pair::add(bytes[0], bytes[1]), pair::add(bytes[2], bytes[3]));
        sum_of_bytes(bytes)
    }
}

/// A register of two words, a part of eight.
#[derive(Clone, Copy)]
pub(super) struct Part(pair::Pair);

// SAFETY: as above.
unsafe impl Vector for Part {
    type Part = Part;
    const N_PARTS: usize = 1;
    const N_WORDS: usize = 2 * N_PAIRS;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Part {
        // SAFETY: guaranteed by the caller.
        Part(unsafe { pair::load(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe { pair::store(self.0, to) }
    }
    #[inline(always)]
    unsafe fn load_unaligned(from: *const u64) -> Part {
        // SAFETY: guaranteed by the caller.
        Part(unsafe { pair::load_unaligned(from) })
    }
    #[inline(always)]
    unsafe fn store_unaligned(self, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe { pair::store_unaligned(self.0, to) }
    }
    #[inline(always)]
    fn splat(bit: bool) -> Part {
        Part::splat_word(if bit { u64::MAX } else { 0 })
    }
    #[inline(always)]
    fn splat_word(word: u64) -> Part {
        Part(pair::splat(word))
    }
    #[inline(always)]
    fn and(self, other: Part) -> Part {
        Part(pair::and(self.0, other.0))
    }
    #[inline(always)]
    fn and_not(self, other: Part) -> Part {
        Part(pair::and_not(self.0, other.0))
    }
    #[inline(always)]
    fn or(self, other: Part) -> Part {
        Part(pair::or(self.0, other.0))
    }
    #[inline(always)]
    fn xor(self, other: Part) -> Part {
        Part(pair::xor(self.0, other.0))
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        let [low, high] = pair::words(self.0);
        low | high == 0
    }
    #[inline(always)]
    fn add_words(self, other: Part) -> Part {
        Part(pair::add(self.0, other.0))
    }
    #[inline(always)]
    fn shift_left<const N: i32>(self) -> Part {
        Part(pair::shift_left::<N>(self.0))
    }
    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Part {
        Part(pair::shift_right::<N>(self.0))
    }
    #[inline(always)]
    fn rotate_left<const M: i32, const N: i32>(self) -> Part {
        self.shift_left::<M>().or(self.shift_right::<N>())
    }
    #[inline(always)]
    fn count_ones(self) -> u32 {
        sum_of_bytes(ones_by_byte(self.0))
    }
}

/// The number of ones in each byte.
#[inline(always)]
fn ones_by_byte(bits: pair::Pair) -> pair::Pair {
    let add_neighbours = |low: pair::Pair, high: pair::Pair, mask: u64| {
        let mask = pair::splat(mask);
        pair::add(pair::and(low, mask), pair::and(high, mask))
    };
    let twos = add_neighbours(bits, pair::shift_right::<1>(bits), 0x5555_5555_5555_5555);
    let fours = add_neighbours(twos, pair::shift_right::<2>(twos), 0x3333_3333_3333_3333);
    add_neighbours(fours, pair::shift_right::<4>(fours), 0x0F0F_0F0F_0F0F_0F0F)
}

/// The sum of all bytes, each at most 127.
#[inline(always)]
fn sum_of_bytes(bytes: pair::Pair) -> u32 {
    const HALF: u64 = 0x00FF_00FF_00FF_00FF;
    let [low, high] = pair::words(bytes);
    let sums = (low & HALF) + (low >> 8 & HALF) + (high & HALF) + (high >> 8 & HALF);
    (sums.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
}

/// Two words in a register of SSE2.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    pub(super) type Pair = __m128i;

    #[inline(always)]
    pub(super) unsafe fn load(from: *const u64) -> Pair {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm_load_si128(from.cast()) }
    }
    #[inline(always)]
    pub(super) unsafe fn store(pair: Pair, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm_store_si128(to.cast(), pair) }
    }
    #[inline(always)]
    pub(super) unsafe fn load_unaligned(from: *const u64) -> Pair {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm_loadu_si128(from.cast()) }
    }
    #[inline(always)]
    pub(super) unsafe fn store_unaligned(pair: Pair, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm_storeu_si128(to.cast(), pair) }
    }
    #[inline(always)]
    pub(super) fn splat(word: u64) -> Pair {
        // SAFETY: every x86-64 CPU has SSE2; likewise below.
        unsafe { _mm_set1_epi64x(word as i64) }
    }
    #[inline(always)]
    pub(super) fn words(pair: Pair) -> [u64; 2] {
        let mut words = [0; 2];
        // SAFETY: there is room for both.
        unsafe { store_unaligned(pair, words.as_mut_ptr()) };
        words
    }
    #[inline(always)]
    pub(super) fn and(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { _mm_and_si128(a, b) }
    }
    #[inline(always)]
    pub(super) fn and_not(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { _mm_andnot_si128(b, a) }
    }
    #[inline(always)]
    pub(super) fn or(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { _mm_or_si128(a, b) }
    }
    #[inline(always)]
    pub(super) fn xor(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { _mm_xor_si128(a, b) }
    }
    #[inline(always)]
    pub(super) fn add(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { _mm_add_epi64(a, b) }
    }
    #[inline(always)]
    pub(super) fn shift_left<const N: i32>(a: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { _mm_slli_epi64::<N>(a) }
    }
    #[inline(always)]
    pub(super) fn shift_right<const N: i32>(a: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { _mm_srli_epi64::<N>(a) }
    }
}

/// Two words in a register of NEON.
#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;

    pub(super) type Pair = uint64x2_t;

    #[inline(always)]
    pub(super) unsafe fn load(from: *const u64) -> Pair {
        // SAFETY: guaranteed by the caller.
        unsafe { vld1q_u64(from) }
    }
    #[inline(always)]
    pub(super) unsafe fn store(pair: Pair, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe { vst1q_u64(to, pair) }
    }
    pub(super) use load as load_unaligned;
    pub(super) use store as store_unaligned;
    #[inline(always)]
    pub(super) fn splat(word: u64) -> Pair {
        // SAFETY: every AArch64 CPU that Rust's standard library supports has NEON; likewise below.
        unsafe { vdupq_n_u64(word) }
    }
    #[inline(always)]
    pub(super) fn words(pair: Pair) -> [u64; 2] {
        // SAFETY: as above.
        unsafe { [vgetq_lane_u64::<0>(pair), vgetq_lane_u64::<1>(pair)] }
    }
    #[inline(always)]
    pub(super) fn and(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { vandq_u64(a, b) }
    }
    #[inline(always)]
    pub(super) fn and_not(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { vbicq_u64(a, b) }
    }
    #[inline(always)]
    pub(super) fn or(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { vorrq_u64(a, b) }
    }
    #[inline(always)]
    pub(super) fn xor(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { veorq_u64(a, b) }
    }
    #[inline(always)]
    pub(super) fn add(a: Pair, b: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { vaddq_u64(a, b) }
    }
    #[inline(always)]
    pub(super) fn shift_left<const N: i32>(a: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { vshlq_n_u64::<N>(a) }
    }
    #[inline(always)]
    pub(super) fn shift_right<const N: i32>(a: Pair) -> Pair {
        // SAFETY: as above.
        unsafe { vshrq_n_u64::<N>(a) }
    }
}

/// Two words on other CPUs.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod plain {
    pub(super) type Pair = [u64; 2];

    #[inline(always)]
    pub(super) unsafe fn load(from: *const u64) -> Pair {
        // SAFETY: guaranteed by the caller.
        unsafe { *from.cast() }
    }
    #[inline(always)]
    pub(super) unsafe fn store(pair: Pair, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe { *to.cast() = pair }
    }
    pub(super) use {load as load_unaligned, store as store_unaligned};
    #[inline(always)]
    pub(super) fn splat(word: u64) -> Pair {
        [word; 2]
    }
    #[inline(always)]
    pub(super) fn words(pair: Pair) -> [u64; 2] {
        pair
    }
    #[inline(always)]
    pub(super) fn and(a: Pair, b: Pair) -> Pair {
        [a[0] & b[0], a[1] & b[1]]
    }
    #[inline(always)]
    pub(super) fn and_not(a: Pair, b: Pair) -> Pair {
        [a[0] & !b[0], a[1] & !b[1]]
    }
    #[inline(always)]
    pub(super) fn or(a: Pair, b: Pair) -> Pair {
        [a[0] | b[0], a[1] | b[1]]
    }
    #[inline(always)]
    pub(super) fn xor(a: Pair, b: Pair) -> Pair {
        [a[0] ^ b[0], a[1] ^ b[1]]
    }
    #[inline(always)]
    pub(super) fn add(a: Pair, b: Pair) -> Pair {
        [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]
    }
    #[inline(always)]
    pub(super) fn shift_left<const N: i32>(a: Pair) -> Pair {
        [a[0] << N, a[1] << N]
    }
    #[inline(always)]
    pub(super) fn shift_right<const N: i32>(a: Pair) -> Pair {
        [a[0] >> N, a[1] >> N]
    }
}

#[cfg(test)]
mod tests {
    use super::super::vector::Vector;
    use super::{Part, Words, pair, plain};

    #[test]
    fn ones_are_counted() {
        let samples = [
            [u64::MAX; 8],
            [0; 8],
            [1 << 63; 8],
            [0x0123_4567_89AB_CDEF; 8],
        ];
        let few = std::array::from_fn(|idx| u64::MAX << (7 * idx));
        for words in samples.into_iter().chain([few]) {
            let expected: u32 = words.iter().map(|word| word.count_ones()).sum();
            // SAFETY: there are eight words.
            let found = unsafe { Words::load_unaligned(words.as_ptr()) }.count_ones();
            assert_eq!(found, expected);
            let expected = words[0].count_ones() + words[1].count_ones();
            // SAFETY: there are more than two words.
            let found = unsafe { Part::load_unaligned(words.as_ptr()) }.count_ones();
            assert_eq!(found, expected);
        }
    }

    /// The registers of this CPU compute what plain words compute.
    #[test]
    fn registers_agree_with_words() {
        let samples = [0, 1, u64::MAX, 0x0123_4567_89AB_CDEF, 1 << 63, 0xF0F0 << 31];
        for a in samples.map(|word| [word, word.rotate_left(17)]) {
            for b in samples.map(|word| [word.rotate_right(5), word]) {
                // SAFETY: both have two words.
                let [x, y] = [a, b].map(|words| unsafe { pair::load_unaligned(words.as_ptr()) });
                assert_eq!(pair::words(pair::and(x, y)), plain::and(a, b));
                assert_eq!(pair::words(pair::and_not(x, y)), plain::and_not(a, b));
                assert_eq!(pair::words(pair::or(x, y)), plain::or(a, b));
                assert_eq!(pair::words(pair::xor(x, y)), plain::xor(a, b));
                assert_eq!(pair::words(pair::add(x, y)), plain::add(a, b));
                let left = pair::words(pair::shift_left::<17>(x));
                assert_eq!(left, plain::shift_left::<17>(a));
                let right = pair::words(pair::shift_right::<47>(x));
                assert_eq!(right, plain::shift_right::<47>(a));
            }
            // SAFETY: there are two words.
            let x = unsafe { plain::load_unaligned(a.as_ptr()) };
            let mut copy = [0; 2];
            // SAFETY: there is room for two words.
            unsafe { plain::store_unaligned(x, copy.as_mut_ptr()) };
            assert_eq!(plain::words(copy), a);
            assert_eq!(pair::words(pair::splat(a[0])), plain::splat(a[0]));
        }
    }
}
