//! Weight classes: moves of equal weight, so that a weighted choice counts them as a uniform one does.
//!
//! A weight is one or three times a power of two. [`Classes::add_up`] sums the weights of the legal moves, class by
//! class, and keeps the sum after each class. A random position in the whole sum lies in the first class whose sum is
//! above it; the difference to the sum before, divided by the weight, is the index of the move among the legal ones of
//! its class ([`Classes::choose`]).
//!
//! Classes are in the order of their powers of two. So a sum differs from the one before only in its higher bits, and
//! only those are added and compared.

#![expect(unsafe_code, reason = "rows are read and written by pointer")]

use super::program::TRASH;
use std::iter::repeat;

use super::choose::{Leaves, Scratch, count, find, root_count};
use super::scale::WIDE;
use super::vector::{Rows, Vector, get, put, row_ptr};

/// Weights of the classes: one or three, times a power of two.
const CLASSES: [(u8, u8); 16] = [
    (1, 0),
    (1, 1),
    (3, 0),
    (1, 2),
    (3, 1),
    (1, 3),
    (3, 2),
    (1, 4),
    (3, 3),
    (1, 5),
    (3, 4),
    (1, 6),
    (3, 5),
    (1, 7),
    (3, 6),
    (1, 8),
];

/// The class nearest to a weight, as a ratio. If all weights are zero, all are equal.
pub(super) fn class_of(weight: f32, largest: f32) -> usize {
    let weight = if largest > 0.0 {
        weight / largest * 256.0
    } else {
        256.0
    };
    if weight.is_nan() || weight <= 1.0 {
        return 0;
    }
    let value = |(factor, shift): (u8, u8)| f32::from(factor) * f32::from(1_u16 << shift);
    let next = |idx: &usize| value(CLASSES[*idx - 1]) * value(CLASSES[*idx]) <= weight * weight;
    (1..CLASSES.len()).take_while(next).last().unwrap_or(0)
}

/// The moves of a choice by class; see the module documentation.
pub(super) struct Classes {
    /// Those with moves, in the order of their powers of two.
    all: Vec<Class>,
    /// Bits of the largest sum of all weights.
    pub(super) n_bits: usize,
    /// Number of rows of all sums, and of the index of a move.
    n_sums: usize,
    n_number_bits: usize,
}

struct Class {
    factor: u8,
    shift: usize,
    /// Bits of the largest number of moves times the factor.
    width: usize,
    /// Bits of the largest sum of the weights of this class and the ones before.
    n_bits: usize,
    /// The first of the rows of this sum, which has the bit `shift`.
    first_sum: usize,
    leaves: Leaves,
}

/// Scratch memory for classes.
pub(super) struct ClassesScratch {
    trees: Vec<Scratch>,
    sums: Rows,
    /// Vectors of lanes, by the constants below.
    work: Rows,
}

/// Rows of `work`: a position in the sum, the lanes in which it has a bit at or above each of its bits, the difference
/// to a sum, the index of a move in its class, and the lanes of each class.
pub(super) const PLACE: usize = 0;
const HIGH: usize = PLACE + WIDE;
const DIFFERENCE: usize = HIGH + WIDE + 1;
const NUMBER: usize = DIFFERENCE + WIDE;
const MASKS: usize = NUMBER + WIDE;
const N_WORK: usize = MASKS + CLASSES.len();

impl Classes {
    /// Sorts leaves into classes, each with the index of its class and the rows of legality and choice, of `n_words`
    /// words each.
    pub(super) fn new(leaves: impl Iterator<Item = (usize, u32, u32)>, n_words: usize) -> Classes {
        let mut by_class: [Vec<(u32, u32)>; CLASSES.len()] = Default::default();
        leaves.for_each(|(class, legal, does)| by_class[class].push((legal, does)));
        let mut found: Vec<_> = CLASSES.iter().zip(by_class).collect();
        found.retain(|(_, leaves)| !leaves.is_empty());
        found.sort_by_key(|((factor, shift), _)| (*shift, *factor));
        // Only ratios count.
        let least = found.first().map_or(0, |((_, shift), _)| *shift);
        let mut classes = Classes {
            all: Vec::new(),
            n_bits: 1,
            n_sums: 0,
            n_number_bits: 0,
        };
        let bits_of = |number: u64| (u64::BITS - number.leading_zeros()) as usize;
        let mut heaviest = 0;
        for (&(factor, shift), leaves) in found {
            let shift = usize::from(shift - least);
            let most = u64::from(factor) * leaves.len() as u64;
            heaviest += most << shift;
            classes.n_bits = bits_of(heaviest);
            let leaves = Leaves::new(leaves.into_iter(), repeat(TRASH), n_words);
            let read = leaves.tree.n_root_bits().max(bits_of(most));
            classes.n_number_bits = classes.n_number_bits.max(read);
            classes.all.push(Class {
                factor,
                shift,
                width: bits_of(most),
                n_bits: classes.n_bits,
                first_sum: classes.n_sums,
                leaves,
            });
            classes.n_sums += classes.n_bits - shift;
        }
        classes
    }

    pub(super) fn scratch(&self, n_words: usize) -> ClassesScratch {
        let tree = |class: &Class| Scratch::new(&class.leaves.tree, n_words);
        ClassesScratch {
            trees: self.all.iter().map(tree).collect(),
            sums: Rows::new(self.n_sums, n_words),
            work: Rows::new(N_WORK, n_words),
        }
    }

    /// Counts legal moves; returns the lanes that have one.
    ///
    /// # Safety
    /// As for [`count`]; the scratch was made for these classes.
    #[inline(always)]
    pub(super) unsafe fn count<V: Vector>(
        &self,
        rows: *const u64,
        scratch: &mut ClassesScratch,
    ) -> V {
        let mut any = V::splat(false);
        for (class, scratch) in self.all.iter().zip(&mut scratch.trees) {
            // SAFETY: guaranteed by the caller.
            any = any.or(unsafe { count::<V>(&class.leaves, rows, scratch) });
        }
        any
    }

    /// Sums the weights of all legal moves, of which there are `n_bits` bits at `total`.
    ///
    /// # Safety
    /// As for [`Classes::count`], which must have been called.
    #[inline(always)]
    pub(super) unsafe fn add_up<V: Vector>(&self, scratch: &mut ClassesScratch, total: *mut u64) {
        let zero = V::splat(false);
        let sums = scratch.sums.pointer();
        // SAFETY: guaranteed by the caller; sums have rows from `shift` to `n_bits`.
        unsafe {
            for bit in 0..self.n_bits {
                put(total, bit, zero);
            }
            for (class, scratch) in self.all.iter().zip(&mut scratch.trees) {
                let Some(count) = root_count(&class.leaves.tree, scratch, V::N_WORDS) else {
                    continue;
                };
                let (total, sums) = (
                    row_ptr::<V>(total, class.shift),
                    row_ptr::<V>(sums, class.first_sum),
                );
                let n_count_bits = class.leaves.tree.n_count_bits;
                let mut carry = zero;
                // Three times a number is the number and twice the number.
                let (mut lower, mut inner) = (zero, zero);
                let mut bit = 0;
                while bit < class.width {
                    let mut addend = zero;
                    if bit < n_count_bits {
                        addend = get(count, bit);
                    }
                    if class.factor == 3 {
                        let single = addend;
                        (addend, inner) = single.full_add(lower, inner);
                        lower = single;
                    }
                    let (sum, next) = get::<V>(total, bit).full_add(addend, carry);
                    put(total, bit, sum);
                    put(sums, bit, sum);
                    carry = next;
                    bit += 1;
                }
                while bit < class.n_bits - class.shift {
                    let (sum, next) = get::<V>(total, bit).half_add(carry);
                    put(total, bit, sum);
                    put(sums, bit, sum);
                    carry = next;
                    bit += 1;
                }
            }
        }
    }

    /// In the lanes of the mask, picks the move at each lane's position in the sum, which has `n_bits` bits at `PLACE`;
    /// sets the rows of all moves.
    ///
    /// # Safety
    /// As for [`Classes::add_up`], which must have been called.
    #[inline(always)]
    pub(super) unsafe fn choose<V: Vector>(
        &self,
        rows: *mut u64,
        scratch: &mut ClassesScratch,
        n_bits: usize,
        mask: V,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.locate(scratch, n_bits, mask);
            let work = scratch.work.pointer();
            let number = row_ptr::<V>(work, NUMBER);
            for (idx, class) in self.all.iter().enumerate() {
                let mask: V = get(work, MASKS + idx);
                let tree = &mut scratch.trees[idx];
                find::<V>(&class.leaves, rows, tree, mask, number);
            }
        }
    }

    /// Finds the class of each lane, and the index of the move in it.
    #[inline(always)]
    unsafe fn locate<V: Vector>(&self, scratch: &mut ClassesScratch, n_bits: usize, mask: V) {
        let zero = V::splat(false);
        let work = scratch.work.pointer();
        let place = row_ptr::<V>(work, PLACE);
        let high = row_ptr::<V>(work, HIGH);
        let difference = row_ptr::<V>(work, DIFFERENCE);
        let number = row_ptr::<V>(work, NUMBER);
        let masks = row_ptr::<V>(work, MASKS);
        // SAFETY: guaranteed by the caller; no number has more than `WIDE` bits.
        unsafe {
            let mut any = zero;
            put(high, n_bits, zero);
            for bit in (0..n_bits).rev() {
                any = any.or(get(place, bit));
                put(high, bit, any);
            }
            for bit in 0..self.n_number_bits {
                put(number, bit, zero);
            }
            // Lanes that are at this class or beyond, and those that borrow below the power of two of the class before.
            let (mut reach, mut low) = (mask, zero);
            let mut before: Option<&Class> = None;
            let mut before_idx = 0;
            let (mut n_number_bits, mut is_third) = (0, zero);
            for (idx, class) in self.all.iter().enumerate() {
                put(masks, idx, zero);
                if root_count(&class.leaves.tree, &mut scratch.trees[idx], V::N_WORDS).is_none() {
                    continue;
                }
                let (shift, width) = (class.shift, class.width);
                let mut from = row_ptr::<V>(place, shift);
                if let Some(before) = before {
                    // Step 1. Compare with the sum before; its bits below the power of two are those of the sum before
                    // that one.
                    let sums = row_ptr::<V>(scratch.sums.pointer(), before.first_sum);
                    let end = before.n_bits;
                    let (mut bit, mut borrow) = (before.shift, low);
                    while bit < shift.min(end) {
                        let sum = get(sums, bit - before.shift);
                        borrow = get::<V>(place, bit).full_subtract(sum, borrow).1;
                        bit += 1;
                    }
                    while bit < shift {
                        borrow = borrow.and_not(get(place, bit));
                        bit += 1;
                    }
                    low = borrow;
                    while bit < shift + width {
                        let mut sum = zero;
                        if bit < end {
                            sum = get(sums, bit - before.shift);
                        }
                        let value: V;
                        (value, borrow) = get::<V>(place, bit).full_subtract(sum, borrow);
                        put(difference, bit - shift, value);
                        bit += 1;
                    }
                    while bit < end {
                        let sum = get(sums, bit - before.shift);
                        borrow = get::<V>(place, bit).full_subtract(sum, borrow).1;
                        bit += 1;
                    }
                    let below = borrow.and_not(get(high, bit));
                    // Step 2. Lanes below that sum are in the class before.
                    let here = reach.and(below);
                    reach = reach.and_not(below);
                    put(masks, before_idx, here);
                    if before.factor == 3 {
                        is_third = is_third.or(here);
                    }
                    if reach.is_zero() {
                        for idx in idx..self.all.len() {
                            put(masks, idx, zero);
                        }
                        break;
                    }
                    from = difference;
                }
                // Step 3. All others may be in this class.
                for bit in 0..width {
                    let value = get::<V>(from, bit).select(get(number, bit), reach);
                    put(number, bit, value);
                }
                for bit in width..n_number_bits {
                    put(number, bit, get::<V>(number, bit).and_not(reach));
                }
                n_number_bits = n_number_bits.max(width);
                (before, before_idx) = (Some(class), idx);
            }
            if let Some(last) = before {
                let here = reach.or(get(masks, before_idx));
                put(masks, before_idx, here);
                if last.factor == 3 {
                    is_third = is_third.or(reach);
                }
            }
            if !is_third.is_zero() {
                divide_by_three(number, n_number_bits, is_third);
            }
        }
    }
}

/// Divides numbers by three in some lanes, bit by bit from the highest.
#[inline(always)]
unsafe fn divide_by_three<V: Vector>(number: *mut u64, n_bits: usize, lanes: V) {
    let (mut one, mut two) = (V::splat(false), V::splat(false));
    for bit in (0..n_bits).rev() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let value: V = get(number, bit);
            // Twice the remainder and this bit: three or more if the remainder was two, or one and the bit is set.
            let quotient = two.or(one.and(value));
            let to_two = one.and_not(value).or(two.and(value));
            let to_one = two.and_not(value).or(value.and_not(one.or(two)));
            (one, two) = (to_one, to_two);
            put(number, bit, quotient.select(value, lanes));
        }
    }
}

impl ClassesScratch {
    /// The rows of lanes' positions and of other work.
    pub(super) fn work(&mut self) -> *mut u64 {
        self.work.pointer()
    }

    /// Marks all rows as dirty, because other code wrote rows of moves.
    pub(super) fn soil(&mut self) {
        self.trees.iter_mut().for_each(Scratch::soil);
    }
}
