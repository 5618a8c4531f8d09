//! Vectors of lanes: a register of 256 or 512 bits, or eight words on any CPU ([`super::words`]).
//!
//! Everything that works on many lanes at once is written once, over [`Vector`]. Every function is inlined into one
//! outer function per [`Simd`](super::Simd), which enables the CPU's instructions. A function that is not inlined would
//! be compiled for the baseline CPU and run many times slower.

#![expect(
    unsafe_code,
    reason = "vectors are loaded from and stored to rows by pointer; CPU instructions are chosen at run time"
)]

/// Some lanes, one bit each.
///
/// # Safety
/// Implementations load and store `N_WORDS` words, and their methods may only be called on a CPU that supports them.
pub(super) unsafe trait Vector: Copy {
    /// A part of a vector. Code that needs many values at a time runs part by part, so that they stay in registers.
    type Part: Vector;
    /// Parts of a vector, from low to high words.
    const N_PARTS: usize;
    /// Words in a row: in a vector, or in the vector of which it is a part.
    const N_WORDS: usize;

    /// # Safety
    /// `from` is aligned and has `N_WORDS` words.
    unsafe fn load(from: *const u64) -> Self;
    /// # Safety
    /// `to` is aligned and has `N_WORDS` words.
    unsafe fn store(self, to: *mut u64);
    /// # Safety
    /// `from` has `N_WORDS` words.
    unsafe fn load_unaligned(from: *const u64) -> Self;
    /// # Safety
    /// `to` has `N_WORDS` words.
    unsafe fn store_unaligned(self, to: *mut u64);
    /// The same bit in every lane.
    fn splat(bit: bool) -> Self;
    /// The same word in every block.
    fn splat_word(word: u64) -> Self;
    fn and(self, other: Self) -> Self;
    /// `self` and not `other`.
    fn and_not(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn is_zero(self) -> bool;
    /// Sum of 64-bit words.
    fn add_words(self, other: Self) -> Self;
    /// Each 64-bit word shifted left.
    fn shift_left<const N: i32>(self) -> Self;
    /// Each 64-bit word shifted right.
    fn shift_right<const N: i32>(self) -> Self;
    /// Each 64-bit word shifted right by `N` and left by `M`, together 64: a rotation to the left by `M`.
    fn rotate_left<const M: i32, const N: i32>(self) -> Self;

    /// The complement.
    #[inline(always)]
    fn not(self) -> Self {
        Self::splat(true).and_not(self)
    }

    /// `mask ? self : other`.
    #[inline(always)]
    fn select(self, other: Self, mask: Self) -> Self {
        self.and(mask).or(other.and_not(mask))
    }

    /// Number of lanes whose bit is set.
    fn count_ones(self) -> u32;

    /// Sets the numbers of some lanes of a block, where there is one number per lane.
    #[inline(always)]
    fn fill(numbers: &mut [u32; 64], lanes: u64, value: u32) {
        for lane in super::block::bits(lanes) {
            numbers[lane] = value;
        }
    }

    /// Sum and carry of two bits.
    #[inline(always)]
    fn half_add(self, other: Self) -> (Self, Self) {
        (self.xor(other), self.and(other))
    }

    /// Sum and carry of three bits.
    #[inline(always)]
    fn full_add(self, other: Self, carry: Self) -> (Self, Self) {
        let x = self.xor(other);
        (x.xor(carry), x.and(carry).or(self.and(other)))
    }

    /// Difference `self - other - borrow` of three bits, and whether it borrows.
    #[inline(always)]
    fn full_subtract(self, other: Self, borrow: Self) -> (Self, Self) {
        let x = self.xor(other);
        (x.xor(borrow), other.and(x).or(borrow.and_not(x)))
    }
}

/// The first word of a part.
#[inline(always)]
pub(super) fn part_word<V: Vector>(part: usize) -> usize {
    part * (V::N_WORDS / V::N_PARTS)
}

/// A pointer to a row. Hot code calls functions like this one instead of closures: a closure may fail to be inlined,
/// and then runs without the CPU's vector instructions.
#[inline(always)]
pub(super) fn row_ptr<V: Vector>(rows: *mut u64, row: usize) -> *mut u64 {
    rows.wrapping_add(row * V::N_WORDS)
}

/// Loads a row.
///
/// # Safety
/// The matrix has this row, and the CPU supports `V`.
#[inline(always)]
pub(super) unsafe fn get<V: Vector>(rows: *const u64, row: usize) -> V {
    // SAFETY: guaranteed by the caller.
    unsafe { V::load(rows.wrapping_add(row * V::N_WORDS)) }
}

/// Stores a row.
///
/// # Safety
/// The matrix has this row, and the CPU supports `V`.
#[inline(always)]
pub(super) unsafe fn put<V: Vector>(rows: *mut u64, row: usize, value: V) {
    // SAFETY: guaranteed by the caller.
    unsafe { value.store(row_ptr::<V>(rows, row)) }
}

/// Loads eight rows, given by their first words.
///
/// # Safety
/// There are eight numbers at `words`, the matrix has these rows, and the CPU supports `V`.
#[inline(always)]
pub(super) unsafe fn get_eight<V: Vector>(rows: *const u64, words: *const u32) -> [V; 8] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        [
            V::load(rows.wrapping_add(*words as usize)),
            V::load(rows.wrapping_add(*words.add(1) as usize)),
            V::load(rows.wrapping_add(*words.add(2) as usize)),
            V::load(rows.wrapping_add(*words.add(3) as usize)),
            V::load(rows.wrapping_add(*words.add(4) as usize)),
            V::load(rows.wrapping_add(*words.add(5) as usize)),
            V::load(rows.wrapping_add(*words.add(6) as usize)),
            V::load(rows.wrapping_add(*words.add(7) as usize)),
        ]
    }
}

/// Set in the first of eight words: the rows follow each other. First words of rows are even.
pub(super) const IN_ORDER: u32 = 1;

/// The same where the first number may be marked with [`IN_ORDER`].
///
/// # Safety
/// As for [`get_eight`].
#[inline(always)]
pub(super) unsafe fn get_marked_eight<V: Vector>(rows: *const u64, words: *const u32) -> [V; 8] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let first = *words;
        if first & IN_ORDER == 0 {
            return get_eight(rows, words);
        }
        let rows = rows.wrapping_add((first - IN_ORDER) as usize);
        [
            get(rows, 0),
            get(rows, 1),
            get(rows, 2),
            get(rows, 3),
            get(rows, 4),
            get(rows, 5),
            get(rows, 6),
            get(rows, 7),
        ]
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Vector;
    use std::arch::x86_64::*;

    // SAFETY: used only if the CPU supports AVX2; every intrinsic below is part of it.
    unsafe impl Vector for __m256i {
        type Part = __m256i;
        const N_PARTS: usize = 1;
        const N_WORDS: usize = 4;

        #[inline(always)]
        unsafe fn load(from: *const u64) -> __m256i {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm256_load_si256(from.cast()) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u64) {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm256_store_si256(to.cast(), self) }
        }
        #[inline(always)]
        unsafe fn load_unaligned(from: *const u64) -> __m256i {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }
        #[inline(always)]
        unsafe fn store_unaligned(self, to: *mut u64) {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm256_storeu_si256(to.cast(), self) }
        }
        #[inline(always)]
        fn splat_word(word: u64) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_set1_epi64x(word as i64) }
        }
        #[inline(always)]
        fn splat(bit: bool) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_set1_epi64x(if bit { -1 } else { 0 }) }
        }
        #[inline(always)]
        fn and(self, other: __m256i) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_and_si256(self, other) }
        }
        #[inline(always)]
        fn and_not(self, other: __m256i) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_andnot_si256(other, self) }
        }
        #[inline(always)]
        fn or(self, other: __m256i) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_or_si256(self, other) }
        }
        #[inline(always)]
        fn xor(self, other: __m256i) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_xor_si256(self, other) }
        }
        #[inline(always)]
        fn is_zero(self) -> bool {
            // SAFETY: see the implementation.
            unsafe { _mm256_testz_si256(self, self) == 1 }
        }
        #[inline(always)]
        fn add_words(self, other: __m256i) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_add_epi64(self, other) }
        }
        #[inline(always)]
        fn shift_left<const N: i32>(self) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_slli_epi64::<N>(self) }
        }
        #[inline(always)]
        fn shift_right<const N: i32>(self) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_srli_epi64::<N>(self) }
        }
        #[inline(always)]
        fn rotate_left<const M: i32, const N: i32>(self) -> __m256i {
            // SAFETY: see the implementation.
            unsafe { _mm256_or_si256(_mm256_slli_epi64::<M>(self), _mm256_srli_epi64::<N>(self)) }
        }
        #[inline(always)]
        fn count_ones(self) -> u32 {
            // SAFETY: both are 256 bits.
            let w: [u64; 4] = unsafe { std::mem::transmute(self) };
            (w[0].count_ones() + w[1].count_ones()) + (w[2].count_ones() + w[3].count_ones())
        }
        #[inline(always)]
        fn fill(numbers: &mut [u32; 64], lanes: u64, value: u32) {
            let (eights, _) = numbers.as_chunks_mut::<8>();
            for (idx, eight) in eights.iter_mut().enumerate() {
                // SAFETY: eight numbers are a vector; see the implementation.
                unsafe {
                    let mask = spread((lanes >> (8 * idx)) as u8);
                    let at = eight.as_mut_ptr().cast();
                    let old = _mm256_loadu_si256(at);
                    let new = _mm256_blendv_epi8(old, _mm256_set1_epi32(value as i32), mask);
                    _mm256_storeu_si256(at, new);
                }
            }
        }
    }

    /// Spreads each bit to a 32-bit word, all ones or zero.
    #[inline(always)]
    fn spread(bits: u8) -> __m256i {
        // SAFETY: called only by methods of `__m256i`.
        unsafe {
            let places = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let bits = _mm256_set1_epi32(i32::from(bits));
            _mm256_cmpeq_epi32(_mm256_and_si256(bits, places), places)
        }
    }

    // SAFETY: used only if the CPU supports AVX-512F; every intrinsic below is part of it.
    unsafe impl Vector for __m512i {
        type Part = __m512i;
        const N_PARTS: usize = 1;
        const N_WORDS: usize = 8;

        #[inline(always)]
        unsafe fn load(from: *const u64) -> __m512i {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm512_load_si512(from.cast()) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u64) {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm512_store_si512(to.cast(), self) }
        }
        #[inline(always)]
        unsafe fn load_unaligned(from: *const u64) -> __m512i {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm512_loadu_epi64(from.cast()) }
        }
        #[inline(always)]
        unsafe fn store_unaligned(self, to: *mut u64) {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm512_storeu_epi64(to.cast(), self) }
        }
        #[inline(always)]
        fn splat_word(word: u64) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_set1_epi64(word as i64) }
        }
        #[inline(always)]
        fn splat(bit: bool) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_set1_epi64(if bit { -1 } else { 0 }) }
        }
        #[inline(always)]
        fn and(self, other: __m512i) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_and_si512(self, other) }
        }
        #[inline(always)]
        fn and_not(self, other: __m512i) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_andnot_si512(other, self) }
        }
        #[inline(always)]
        fn or(self, other: __m512i) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_or_si512(self, other) }
        }
        #[inline(always)]
        fn xor(self, other: __m512i) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_xor_si512(self, other) }
        }
        #[inline(always)]
        fn is_zero(self) -> bool {
            // SAFETY: see the implementation.
            unsafe { _mm512_test_epi64_mask(self, self) == 0 }
        }
        #[inline(always)]
        fn add_words(self, other: __m512i) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_add_epi64(self, other) }
        }
        #[inline(always)]
        fn shift_left<const N: i32>(self) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_sllv_epi64(self, _mm512_set1_epi64(N as i64)) }
        }
        #[inline(always)]
        fn shift_right<const N: i32>(self) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_srlv_epi64(self, _mm512_set1_epi64(N as i64)) }
        }
        #[inline(always)]
        fn rotate_left<const M: i32, const N: i32>(self) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_rol_epi64::<M>(self) }
        }
        #[inline(always)]
        fn count_ones(self) -> u32 {
            // SAFETY: both are 512 bits.
            let w: [u64; 8] = unsafe { std::mem::transmute(self) };
            ((w[0].count_ones() + w[1].count_ones()) + (w[2].count_ones() + w[3].count_ones()))
                + ((w[4].count_ones() + w[5].count_ones())
                    + (w[6].count_ones() + w[7].count_ones()))
        }
        #[inline(always)]
        fn fill(numbers: &mut [u32; 64], lanes: u64, value: u32) {
            let (sixteens, _) = numbers.as_chunks_mut::<16>();
            for (idx, sixteen) in sixteens.iter_mut().enumerate() {
                // SAFETY: sixteen numbers are a vector; see the implementation. Storing all of them is faster than
                // storing only some.
                unsafe {
                    let mask = (lanes >> (16 * idx)) as u16;
                    let at = sixteen.as_mut_ptr().cast();
                    let old = _mm512_loadu_epi32(at);
                    let new = _mm512_mask_set1_epi32(old, mask, value as i32);
                    _mm512_storeu_epi32(at, new);
                }
            }
        }

        // One instruction computes any function of three inputs; the constant is its truth table.

        #[inline(always)]
        fn select(self, other: __m512i, mask: __m512i) -> __m512i {
            // SAFETY: see the implementation.
            unsafe { _mm512_ternarylogic_epi64::<0xCA>(mask, self, other) }
        }
        #[inline(always)]
        fn full_add(self, other: __m512i, carry: __m512i) -> (__m512i, __m512i) {
            // SAFETY: see the implementation.
            unsafe {
                (
                    _mm512_ternarylogic_epi64::<0x96>(self, other, carry),
                    _mm512_ternarylogic_epi64::<0xE8>(self, other, carry),
                )
            }
        }
        #[inline(always)]
        fn full_subtract(self, other: __m512i, borrow: __m512i) -> (__m512i, __m512i) {
            // SAFETY: see the implementation.
            unsafe {
                (
                    _mm512_ternarylogic_epi64::<0x96>(self, other, borrow),
                    _mm512_ternarylogic_epi64::<0x8E>(self, other, borrow),
                )
            }
        }
    }
}

/// A matrix of rows, aligned for any vector.
pub(super) struct Rows {
    lines: Vec<Line>,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

impl Rows {
    /// A zeroed matrix with `n_rows` rows of `n_words` words.
    pub(super) fn new(n_rows: usize, n_words: usize) -> Rows {
        Rows {
            lines: vec![Line([0; 8]); (n_rows * n_words).div_ceil(8)],
        }
    }

    /// The first word of the first row.
    #[inline(always)]
    pub(super) fn pointer(&mut self) -> *mut u64 {
        self.lines.as_mut_ptr().cast()
    }

    /// All words.
    #[inline(always)]
    pub(super) fn words(&self) -> &[u64] {
        // SAFETY: a line is eight words without padding.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * 8) }
    }

    /// All words.
    #[inline(always)]
    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: a line is eight words without padding.
        unsafe {
            std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len() * 8)
        }
    }
}
