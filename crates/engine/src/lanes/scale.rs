//! Random fractions of bit-sliced numbers: a number per lane times a random fraction, with operations on rows only.

#![expect(unsafe_code, reason = "rows are read and written by pointer")]

use super::random::Random;
use super::vector::{Vector, get, part_word, put};

/// Maximum number of bits of a sum of weights.
pub(super) const WIDE: usize = 34;

/// Multiplies numbers of `n_bits` bits by a random fraction of `n_draws` bits, and rounds down. High bits that are zero
/// in all lanes cost nothing.
///
/// # Safety
/// There are `n_bits` vectors at `from` and at `to`, at most `WIDE`, and the CPU supports `V`.
#[inline(always)]
pub(super) unsafe fn scale<V: Vector>(
    from: *const u64,
    to: *mut u64,
    n_bits: usize,
    n_draws: usize,
    random: &mut Random<V>,
) {
    if V::N_PARTS == 1 {
        // SAFETY: guaranteed by the caller.
        unsafe { scale_part::<V>(from, to, n_bits, n_draws, random) };
        return;
    }
    let states = random.words();
    for part in 0..V::N_PARTS {
        let first = part_word::<V>(part);
        let states = states.wrapping_add(first);
        // SAFETY: guaranteed by the caller; parts of rows begin at their first word.
        unsafe {
            let mut random = Random::<V::Part>::load(states);
            let (from, to) = (from.wrapping_add(first), to.wrapping_add(first));
            scale_part::<V::Part>(from, to, n_bits, n_draws, &mut random);
            random.store(states);
        }
    }
}

#[inline(always)]
unsafe fn scale_part<V: Vector>(
    from: *const u64,
    to: *mut u64,
    n_bits: usize,
    n_draws: usize,
    random: &mut Random<V>,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut n_used = n_bits;
        while n_used > 1 && get::<V>(from, n_used - 1).is_zero() {
            n_used -= 1;
            put(to, n_used, V::splat(false));
        }
        match n_used {
            0 | 1 => scale_bits::<V, 1>(from, to, n_draws, random),
            2 => scale_bits::<V, 2>(from, to, n_draws, random),
            3 => scale_bits::<V, 3>(from, to, n_draws, random),
            4 => scale_bits::<V, 4>(from, to, n_draws, random),
            5 => scale_bits::<V, 5>(from, to, n_draws, random),
            6 => scale_bits::<V, 6>(from, to, n_draws, random),
            7 => scale_bits::<V, 7>(from, to, n_draws, random),
            8 => scale_bits::<V, 8>(from, to, n_draws, random),
            9 => scale_bits::<V, 9>(from, to, n_draws, random),
            10 => scale_bits::<V, 10>(from, to, n_draws, random),
            11 => scale_bits::<V, 11>(from, to, n_draws, random),
            12 => scale_bits::<V, 12>(from, to, n_draws, random),
            _ => scale_many(from, to, n_used, n_draws, random),
        }
    }
}

#[inline(always)]
unsafe fn scale_bits<V: Vector, const K: usize>(
    from: *const u64,
    to: *mut u64,
    n_draws: usize,
    random: &mut Random<V>,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let zero = V::splat(false);
        let mut count = [zero; K];
        let mut bit = 0;
        while bit < K {
            count[bit] = get(from, bit);
            bit += 1;
        }
        let mut sum = [zero; K];
        for _ in 0..n_draws {
            let random = random.bit();
            // (sum + count * bit) / 2; the lowest bit is dropped.
            let (_, mut carry) = sum[0].half_add(count[0].and(random));
            let mut bit = 1;
            while bit < K {
                (sum[bit - 1], carry) = sum[bit].full_add(count[bit].and(random), carry);
                bit += 1;
            }
            sum[K - 1] = carry;
        }
        let mut bit = 0;
        while bit < K {
            put(to, bit, sum[bit]);
            bit += 1;
        }
    }
}

/// The same for large numbers, in memory.
#[inline(always)]
unsafe fn scale_many<V: Vector>(
    from: *const u64,
    to: *mut u64,
    n_bits: usize,
    n_draws: usize,
    random: &mut Random<V>,
) {
    let mut sum = [V::splat(false); WIDE];
    // SAFETY: guaranteed by the caller.
    unsafe {
        for _ in 0..n_draws {
            let random = random.bit();
            let (_, mut carry) = sum[0].half_add(get::<V>(from, 0).and(random));
            let mut bit = 1;
            while bit < n_bits {
                let addend = get::<V>(from, bit).and(random);
                (sum[bit - 1], carry) = sum[bit].full_add(addend, carry);
                bit += 1;
            }
            sum[n_bits - 1] = carry;
        }
        let mut bit = 0;
        while bit < n_bits {
            put(to, bit, sum[bit]);
            bit += 1;
        }
    }
}
