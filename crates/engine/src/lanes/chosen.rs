//! The numbers of the chosen moves, bit-sliced: one row for each bit of a move's number.
//!
//! In: the rows of all moves, of which each lane has set one. Out: their numbers in binary. A bit of the number is the OR
//! of the rows whose numbers have it. Groups of 32 rows are combined as a binary counter counts: two that are complete
//! become one of twice the size, the right one of which sets the bit of its size. This takes about two operations per
//! move.

#![expect(unsafe_code, reason = "rows are read and written by pointer")]

use super::choose::Leaves;
use super::tree::EIGHT;
use super::vector::{Vector, get, get_marked_eight, put};

/// Eighths in a group, and the bits of a number inside one.
const FOUR: usize = 4;
const LOW: usize = 5;

/// Maximum number of levels above groups.
const MAX_LEVELS: usize = 20;

/// Writes the numbers of the chosen moves; lanes without one get zero. `dirty` has a bit for each eighth whose rows may
/// be set; without it, all may be.
///
/// # Safety
/// The rows are those of the matrix, `to` has a vector for each bit of a number, and the CPU supports `V`.
#[inline(always)]
pub(super) unsafe fn write_numbers<V: Vector>(
    leaves: &Leaves,
    rows: *const u64,
    dirty: Option<&[u64]>,
    to: *mut u64,
) {
    let zero = V::splat(false);
    let (n_eighths, n_bits) = (leaves.tree.n_all_eighths(), leaves.tree.n_index_bits());
    let mut low = [zero; LOW];
    let mut complete = [zero; MAX_LEVELS];
    // SAFETY: guaranteed by the caller; there are eight rows for each eighth.
    unsafe {
        for bit in LOW..n_bits {
            put(to, bit, zero);
        }
        let mut group = 0;
        while group * FOUR < n_eighths {
            let mut any = [zero; FOUR];
            let mut idx = 0;
            while idx < FOUR {
                let eighth = group * FOUR + idx;
                if eighth < n_eighths
                    && dirty.is_none_or(|dirty| dirty[eighth / 64] >> (eighth % 64) & 1 == 1)
                {
                    let r: [V; EIGHT] =
                        get_marked_eight(rows, leaves.does_words.as_ptr().add(eighth * EIGHT));
                    let (second, fourth) = (r[2].or(r[3]), r[6].or(r[7]));
                    let upper = r[4].or(r[5]).or(fourth);
                    low[0] = low[0].or(r[1]).or(r[3]);
                    low[0] = low[0].or(r[5]).or(r[7]);
                    low[1] = low[1].or(second).or(fourth);
                    low[2] = low[2].or(upper);
                    any[idx] = r[0].or(r[1]).or(second.or(upper));
                }
                idx += 1;
            }
            let upper = any[2].or(any[3]);
            low[3] = low[3].or(any[1]).or(any[3]);
            low[4] = low[4].or(upper);
            let mut any = any[0].or(any[1]).or(upper);
            let mut level = 0;
            while group >> level & 1 == 1 {
                put(to, LOW + level, get::<V>(to, LOW + level).or(any));
                any = any.or(complete[level]);
                level += 1;
            }
            complete[level] = any;
            group += 1;
        }
        // What is left: each part is to the right of all larger ones.
        let mut any = zero;
        for (level, &part) in complete.iter().enumerate().take(n_bits.saturating_sub(LOW)) {
            if group >> level & 1 == 1 {
                put(to, LOW + level, get::<V>(to, LOW + level).or(any));
                any = any.or(part);
            }
        }
        for (bit, &bits) in low.iter().enumerate().take(n_bits) {
            put(to, bit, bits);
        }
    }
}
