//! Bit-sliced selection: every lane picks one of its legal moves uniformly, by operations on rows only.
//!
//! 1. *Count*: the number of legal moves in each subtree ([`super::tree`]), with adders over rows.
//! 2. *Scale*: the count times a random fraction, one bit of the fraction at a time; the integer part is the index of
//!    the picked move among the legal ones.
//! 3. *Descend*: at each inner node, compare with the count of the left half; go left, or subtract and go right. The
//!    mask of the lanes that arrive at a leaf is the row of the move. The directions are the move's number in binary.
//!
//! Subtrees without a legal move in any lane are skipped, and so are those that no lane enters.
//!
//! The fraction has 10 bits more than the count of all moves needs, legal or not: with n legal moves, the probability of
//! a move differs from 1/n by less than 2⁻¹⁰ / n, because at most one of the 2ᵏ equally likely fractions falls to a
//! neighbour. The number of random bits does not depend on the state, so that blocks draw the same numbers whichever
//! others are evaluated with them.

#![expect(unsafe_code, reason = "rows are read and written by pointer")]

use super::program::ZERO;
use super::random::Random;
use super::scale::scale;
use super::tree::{EIGHT, Item, Tree};
use super::vector::{IN_ORDER, Rows, Vector, get, get_eight, part_word, put, row_ptr};

/// Bits of the random fraction beyond those of the count.
pub(super) const EXTRA_BITS: usize = 10;

/// Maximum number of bits of a count.
const MAX_BITS: usize = 24;

/// The moves to choose from.
pub(super) struct Leaves {
    pub(super) tree: Tree,
    /// Per move: the row of its legality and the row to write; both padded to whole eighths.
    pub(super) legal: Vec<u32>,
    pub(super) does: Vec<u32>,
    /// The first words of these rows, for [`get_eight`] and, with marks, [`get_marked_eight`]. Rows of legality are often
    /// in another order, and marks on some of them only would be slower than none.
    ///
    /// [`get_marked_eight`]: super::vector::get_marked_eight
    legal_words: Vec<u32>,
    pub(super) does_words: Vec<u32>,
}

impl Leaves {
    /// Builds the leaves from rows of moves, each of `n_words` words, padded to whole eighths with the row `ZERO` and the
    /// rows from `padding` on.
    pub(super) fn new(
        moves: impl ExactSizeIterator<Item = (u32, u32)>,
        padding: impl Iterator<Item = u32>,
        n_words: usize,
    ) -> Leaves {
        let tree = Tree::new(moves.len());
        let (mut legal, mut does): (Vec<u32>, Vec<u32>) = moves.unzip();
        legal.resize(tree.n_leaves(), ZERO);
        does.extend(padding.take(tree.n_leaves() - does.len()));
        Leaves {
            legal_words: first_words(&legal, n_words),
            does_words: marked(first_words(&does, n_words), n_words),
            tree,
            legal,
            does,
        }
    }
}

/// The first words of rows of `n_words` words.
fn first_words(rows: &[u32], n_words: usize) -> Vec<u32> {
    let words = rows.iter().map(|&row| u64::from(row) * n_words as u64);
    let words = words.map(|word| u32::try_from(word).expect("the matrix fits into 32 GB"));
    words.collect()
}

/// Marks the eighths whose rows follow each other.
fn marked(mut words: Vec<u32>, n_words: usize) -> Vec<u32> {
    let (eighths, _) = words.as_chunks_mut::<EIGHT>();
    for eighth in eighths {
        if eighth
            .windows(2)
            .all(|pair| pair[0] + n_words as u32 == pair[1])
        {
            eighth[0] |= IN_ORDER;
        }
    }
    words
}

/// Scratch memory of a selection.
pub(super) struct Scratch {
    counts: Rows,
    /// Per depth: the masks of the lanes that arrive at the left and at the right half, and the bits of the remaining
    /// index in the right half.
    paths: Rows,
    /// Per item: whether some lane has a legal move there.
    is_live: Vec<bool>,
    /// One bit per eighth: whether rows of its moves may still be set from the last selection.
    dirty: Vec<u64>,
}

/// Rows of a path: the two masks, then the index.
const INDEX: usize = 2;
const PATH: usize = INDEX + MAX_BITS;

impl Scratch {
    pub(super) fn new(tree: &Tree, n_words: usize) -> Scratch {
        Scratch {
            counts: Rows::new(tree.n_counts, n_words),
            paths: Rows::new(tree.n_depths * PATH, n_words),
            is_live: vec![false; tree.items.len()],
            dirty: vec![0; tree.n_all_eighths().div_ceil(64)],
        }
    }

    /// Marks all rows as dirty, because other code wrote rows of moves.
    pub(super) fn soil(&mut self) {
        self.dirty.fill(u64::MAX);
    }

    /// Marks the row of a move as dirty, because other code wrote it.
    #[inline(always)]
    pub(super) fn soil_leaf(&mut self, leaf: u32) {
        let eighth = leaf as usize / EIGHT;
        self.dirty[eighth / 64] |= 1 << (eighth % 64);
    }

    /// One bit per eighth: whether rows of its moves may be set.
    pub(super) fn dirty(&self) -> &[u64] {
        &self.dirty
    }
}

/// The bits of the number of legal moves in each lane; `None` if no lane has any. [`count`] must have been called.
#[inline(always)]
pub(super) fn root_count(tree: &Tree, scratch: &mut Scratch, n_words: usize) -> Option<*const u64> {
    let root = tree.items.len() - 1;
    let counts = scratch.counts.pointer();
    if scratch.is_live[root] {
        Some(
            counts
                .wrapping_add(tree.items[root].count as usize * n_words)
                .cast_const(),
        )
    } else {
        None
    }
}

/// Descends to the moves with these indexes among the legal ones, and sets the rows of all moves. The bits of the index
/// beyond those of the count are zero in the lanes of the mask.
///
/// # Safety
/// As for [`count`], which must have been called; `number` has `WIDE` vectors.
#[inline(always)]
pub(super) unsafe fn find<V: Vector>(
    leaves: &Leaves,
    rows: *mut u64,
    scratch: &mut Scratch,
    mask: V,
    number: *const u64,
) {
    let items = &leaves.tree.items;
    let root = &items[items.len() - 1];
    // SAFETY: guaranteed by the caller; a path has room for the mask and `MAX_BITS` bits.
    unsafe {
        if mask.is_zero() {
            clear::<V>(root.eighths, &leaves.does_words, rows, &mut scratch.dirty);
        } else if items.len() == 1 {
            let counts = scratch.counts.pointer();
            let mask_row = scratch.paths.pointer();
            mask.store(mask_row);
            let dirty = &mut scratch.dirty;
            descend_group::<V>(leaves, root, (rows, dirty), mask_row, number, counts);
        } else {
            let path = scratch.paths.pointer();
            mask.store(path);
            for bit in 0..root.width as usize {
                put::<V>(path, INDEX + bit, get(number, bit));
            }
            descend::<V>(leaves, rows, scratch);
        }
    }
}

/// Counts legal moves; returns the lanes that have one.
///
/// # Safety
/// The rows of `legal` are below `rows`; the CPU supports `V`; the scratch was made for this tree and width.
#[inline(always)]
pub(super) unsafe fn count<V: Vector>(
    leaves: &Leaves,
    rows: *const u64,
    scratch: &mut Scratch,
) -> V {
    let counts = scratch.counts.pointer();
    let zero = V::splat(false);
    let Leaves {
        tree,
        legal_words: legal,
        ..
    } = leaves;
    // SAFETY: guaranteed by the caller; counts of an item lie within those of the tree.
    unsafe {
        for idx in 0..tree.items.len() {
            let item = tree.items.get_unchecked(idx);
            let to = item.count as usize;
            let Some((left, right)) = item.halves else {
                let is_live = count_group::<V>(tree.n_eighths, item, legal, rows, counts);
                *scratch.is_live.get_unchecked_mut(idx) = is_live;
                continue;
            };
            let is_left_live = *scratch.is_live.get_unchecked(left as usize);
            let is_right_live = *scratch.is_live.get_unchecked(right as usize);
            *scratch.is_live.get_unchecked_mut(idx) = is_left_live | is_right_live;
            let left = tree.items.get_unchecked(left as usize);
            let right = tree.items.get_unchecked(right as usize);
            let (left_count, left_width) = (left.count as usize, left.width as usize);
            let (right_count, right_width) = (right.count as usize, right.width as usize);
            let width = item.width as usize;
            if is_left_live && is_right_live {
                let mut carry = zero;
                let mut bit = 0;
                while bit < right_width {
                    let (sum, next) = get::<V>(counts, left_count + bit)
                        .full_add(get(counts, right_count + bit), carry);
                    put(counts, to + bit, sum);
                    carry = next;
                    bit += 1;
                }
                while bit < left_width {
                    let (sum, next) = get::<V>(counts, left_count + bit).half_add(carry);
                    put(counts, to + bit, sum);
                    carry = next;
                    bit += 1;
                }
                if bit < width {
                    put(counts, to + bit, carry);
                }
            } else if is_left_live || is_right_live {
                let (only, only_width) = if is_left_live {
                    (left_count, left_width)
                } else {
                    (right_count, right_width)
                };
                let mut bit = 0;
                while bit < width {
                    let value = if bit < only_width {
                        get(counts, only + bit)
                    } else {
                        zero
                    };
                    put(counts, to + bit, value);
                    bit += 1;
                }
            }
        }
        let root = tree.items.len() - 1;
        let mut any = zero;
        if scratch.is_live[root] {
            let mut bit = 0;
            while bit < tree.n_count_bits {
                any = any.or(get(counts, tree.items[root].count as usize + bit));
                bit += 1;
            }
        }
        any
    }
}

/// Counts a group; returns whether there is any legal move.
#[inline(always)]
unsafe fn count_group<V: Vector>(
    n_eighths: usize,
    item: &Item,
    legal: &[u32],
    rows: *const u64,
    counts: *mut u64,
) -> bool {
    let mut live_parts = 0_u32;
    for part in 0..V::N_PARTS {
        let first = part_word::<V>(part);
        let (rows, counts) = (rows.wrapping_add(first), counts.wrapping_add(first));
        // SAFETY: guaranteed by the caller.
        let is_live = unsafe {
            match n_eighths {
                1 => count_one::<V::Part>(item, legal, rows, counts),
                2 => count_two::<V::Part>(item, legal, rows, counts),
                _ => count_four::<V::Part>(item, legal, rows, counts),
            }
        };
        live_parts |= u32::from(is_live) << part;
    }
    if V::N_PARTS > 1 && n_eighths == 4 && live_parts != 0 {
        // Other parts are live: the counts of this one are read, too.
        for part in (0..V::N_PARTS).filter(|part| live_parts >> part & 1 == 0) {
            let counts = counts.wrapping_add(part_word::<V>(part));
            // SAFETY: guaranteed by the caller.
            unsafe { put_all(counts, item.count, &[V::Part::splat(false); N_COUNTS]) };
        }
    }
    live_parts != 0
}

/// Counts of a group of four eighths: of the group, its left half, and the left eighths of both halves.
const N_COUNTS: usize = 6 + 5 + 4 + 4;

/// Counts a group of one eighth; returns whether there is any legal move.
#[inline(always)]
unsafe fn count_one<V: Vector>(
    item: &Item,
    legal: &[u32],
    rows: *const u64,
    counts: *mut u64,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (count, any) = count_eight::<V>(legal, item.eighths.0, rows);
        put_all(counts, item.count, &count);
        !any.is_zero()
    }
}

/// Counts a group of two eighths.
#[inline(always)]
unsafe fn count_two<V: Vector>(
    item: &Item,
    legal: &[u32],
    rows: *const u64,
    counts: *mut u64,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (left, any_left) = count_eight::<V>(legal, item.eighths.0, rows);
        let (right, any_right) = count_eight::<V>(legal, item.eighths.0 + 1, rows);
        put_all(counts, item.count, &add_four(left, right));
        put_all(counts, item.count + 5, &left);
        !any_left.or(any_right).is_zero()
    }
}

/// Counts a group of up to four eighths.
#[inline(always)]
unsafe fn count_four<V: Vector>(
    item: &Item,
    legal: &[u32],
    rows: *const u64,
    counts: *mut u64,
) -> bool {
    let none = ([V::splat(false); 4], V::splat(false));
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (first, n) = (item.eighths.0, item.eighths.1 - item.eighths.0);
        let (mut b, mut c, mut d) = (none, none, none);
        let a = count_eight::<V>(legal, first, rows);
        if n > 1 {
            b = count_eight::<V>(legal, first + 1, rows);
        }
        if n > 2 {
            c = count_eight::<V>(legal, first + 2, rows);
        }
        if n > 3 {
            d = count_eight::<V>(legal, first + 3, rows);
        }
        if a.1.or(b.1).or(c.1.or(d.1)).is_zero() {
            return false;
        }
        let left = add_four(a.0, b.0);
        let right = add_four(c.0, d.0);
        let (s0, carry) = left[0].half_add(right[0]);
        let (s1, carry) = left[1].full_add(right[1], carry);
        let (s2, carry) = left[2].full_add(right[2], carry);
        let (s3, carry) = left[3].full_add(right[3], carry);
        let (s4, s5) = left[4].full_add(right[4], carry);
        put_all(counts, item.count, &[s0, s1, s2, s3, s4, s5]);
        put_all(counts, item.count + 6, &left);
        put_all(counts, item.count + 11, &a.0);
        put_all(counts, item.count + 15, &c.0);
        true
    }
}

/// The number of legal moves in an eighth, and the lanes that have any.
#[inline(always)]
unsafe fn count_eight<V: Vector>(legal: &[u32], eighth: u32, rows: *const u64) -> ([V; 4], V) {
    // SAFETY: guaranteed by the caller.
    let l: [V; EIGHT] = unsafe { get_eight(rows, legal.as_ptr().add(eighth as usize * EIGHT)) };
    // Full adders take away as many bits as possible.
    let (a, a1) = l[0].full_add(l[1], l[2]);
    let (b, b1) = l[3].full_add(l[4], l[5]);
    let (c, c1) = l[6].full_add(l[7], a);
    let (s0, d1) = b.half_add(c);
    let (e, a2) = a1.full_add(b1, c1);
    let (s1, b2) = d1.half_add(e);
    let (s2, s3) = a2.half_add(b2);
    ([s0, s1, s2, s3], s0.or(s1).or(s2.or(s3)))
}

/// The sum of two four-bit numbers.
#[inline(always)]
fn add_four<V: Vector>(a: [V; 4], b: [V; 4]) -> [V; 5] {
    let (s0, carry) = a[0].half_add(b[0]);
    let (s1, carry) = a[1].full_add(b[1], carry);
    let (s2, carry) = a[2].full_add(b[2], carry);
    let (s3, s4) = a[3].full_add(b[3], carry);
    [s0, s1, s2, s3, s4]
}

#[inline(always)]
unsafe fn put_all<V: Vector, const N: usize>(counts: *mut u64, first: u32, values: &[V; N]) {
    let mut idx = 0;
    while idx < N {
        // SAFETY: guaranteed by the caller.
        unsafe { put(counts, first as usize + idx, values[idx]) };
        idx += 1;
    }
}

#[inline(always)]
unsafe fn get_all<V: Vector, const N: usize>(counts: *const u64, first: u32) -> [V; N] {
    let mut values = [V::splat(false); N];
    let mut idx = 0;
    while idx < N {
        // SAFETY: guaranteed by the caller.
        values[idx] = unsafe { get(counts, first as usize + idx) };
        idx += 1;
    }
    values
}

#[inline(always)]
fn four<V: Vector>(l0: V, l1: V, l2: V, l3: V) -> (V, V, V) {
    let (a, a1) = l0.full_add(l1, l2);
    let (s0, b1) = a.half_add(l3);
    let (s1, s2) = a1.half_add(b1);
    (s0, s1, s2)
}

/// Picks a move in each lane of `mask` and sets the rows of all moves; `count` must have been called.
///
/// # Safety
/// As for [`count`].
#[inline(always)]
pub(super) unsafe fn choose<V: Vector>(
    leaves: &Leaves,
    rows: *mut u64,
    scratch: &mut Scratch,
    random: &mut Random<V>,
    mask: V,
) {
    let tree = &leaves.tree;
    let root = tree.items[tree.items.len() - 1];
    let path = scratch.paths.pointer();
    // SAFETY: guaranteed by the caller; the counts of the root lie within those of the tree, and a path has room for
    // the mask and `MAX_BITS` bits.
    unsafe {
        let from = row_ptr::<V>(scratch.counts.pointer(), root.count as usize);
        let n_draws = tree.n_count_bits + EXTRA_BITS;
        scale::<V>(
            from,
            path.add(INDEX * V::N_WORDS),
            tree.n_count_bits,
            n_draws,
            random,
        );
        for bit in tree.n_count_bits..root.width as usize {
            put(path, INDEX + bit, V::splat(false));
        }
        mask.store(path);
        descend::<V>(leaves, rows, scratch);
    }
}

/// Follows all lanes from the root, where their mask and index are, to the moves.
#[inline(always)]
unsafe fn descend<V: Vector>(leaves: &Leaves, rows: *mut u64, scratch: &mut Scratch) {
    let Scratch {
        counts,
        paths,
        is_live,
        dirty,
    } = scratch;
    let (counts, paths) = (counts.pointer(), paths.pointer());
    let Leaves {
        tree,
        does_words: does,
        ..
    } = leaves;
    // SAFETY: guaranteed by the caller; there is a path for each depth, left and right.
    unsafe {
        let mut idx = tree.items.len();
        while idx > 0 {
            let item = tree.items.get_unchecked(idx - 1);
            let path = path_of::<V>(paths, item.depth);
            let mask: V = get(path, usize::from(item.is_right));
            if mask.is_zero() || !*is_live.get_unchecked(idx - 1) {
                clear::<V>(item.eighths, does, rows, dirty);
                idx -= item.n_items as usize;
                continue;
            }
            idx -= 1;
            let number = row_ptr::<V>(path_of::<V>(paths, item.index_depth), INDEX);
            let Some((left, _)) = item.halves else {
                let mask_row = row_ptr::<V>(path, usize::from(item.is_right));
                let to = (rows, dirty.as_mut_slice());
                descend_group::<V>(leaves, item, to, mask_row, number, counts);
                continue;
            };
            let halves = path_of::<V>(paths, item.depth + 1);
            let to_right = row_ptr::<V>(halves, INDEX);
            let is_left_live = *is_live.get_unchecked(left as usize);
            let left = tree.items.get_unchecked(left as usize);
            let (left_count, width) = (left.count as usize, left.width as usize);
            let mut borrow = V::splat(false);
            // The index has one bit less than the count of this item: as many as the count of the left half.
            let mut bit = 0;
            if is_left_live {
                while bit < width {
                    let value: V = get(number, bit);
                    let (difference, next) =
                        value.full_subtract(get(counts, left_count + bit), borrow);
                    put(to_right, bit, difference);
                    borrow = next;
                    bit += 1;
                }
            } else {
                while bit < width {
                    put::<V>(to_right, bit, get(number, bit));
                    bit += 1;
                }
            }
            put(halves, 0, mask.and(borrow));
            put(halves, 1, mask.and_not(borrow));
        }
    }
}

/// Follows lanes from a group to its moves. The group lies within a word of `dirty`.
#[inline(always)]
unsafe fn descend_group<V: Vector>(
    leaves: &Leaves,
    item: &Item,
    (rows, dirty): (*mut u64, &mut [u64]),
    mask: *const u64,
    number: *const u64,
    counts: *const u64,
) {
    let first = item.eighths.0 as usize;
    let mut moves = Moves {
        legal: leaves.legal_words.as_ptr().wrapping_add(first * EIGHT),
        does: leaves.does_words.as_ptr().wrapping_add(first * EIGHT),
        n_eighths: (item.eighths.1 - item.eighths.0) as usize,
        rows,
        dirty: 0,
    };
    // SAFETY: guaranteed by the caller; there is a bit for each eighth.
    unsafe {
        let word = dirty.get_unchecked_mut(first / 64);
        moves.dirty = *word >> (first % 64);
        let mut set = 0;
        for part in 0..V::N_PARTS {
            let first = part_word::<V>(part);
            moves.rows = rows.wrapping_add(first);
            let counts = counts.wrapping_add(first);
            let number = number.wrapping_add(first);
            let mask: V::Part = get(mask.wrapping_add(first), 0);
            set |= match leaves.tree.n_eighths {
                1 => descend_eight(&moves, 0, mask, get_all(number, 0)),
                2 => {
                    let left: [V::Part; 4] = get_all(counts, item.count + 5);
                    descend_two(&moves, 0, mask, get_all(number, 0), left)
                }
                _ => descend_four_eighths(&moves, item.count, mask, get_all(number, 0), counts),
            };
        }
        let all = (1 << moves.n_eighths) - 1;
        *word = *word & !(all << (first % 64)) | set << (first % 64);
    }
}

/// Position of the masks and the index of a depth.
#[inline(always)]
fn path_of<V: Vector>(paths: *mut u64, depth: u32) -> *mut u64 {
    row_ptr::<V>(paths, depth as usize * PATH)
}

/// Clears the rows of moves that were set by the last selection.
#[inline(always)]
unsafe fn clear<V: Vector>(eighths: (u32, u32), does: &[u32], rows: *mut u64, dirty: &mut [u64]) {
    let (start, end) = (eighths.0 as usize, eighths.1 as usize);
    let mut eighth = start;
    while eighth < end {
        let word = dirty[eighth / 64] >> (eighth % 64);
        if word == 0 {
            eighth = (eighth / 64 + 1) * 64;
            continue;
        }
        eighth += word.trailing_zeros() as usize;
        if eighth >= end {
            break;
        }
        dirty[eighth / 64] &= !(1 << (eighth % 64));
        // SAFETY: guaranteed by the caller.
        unsafe {
            put_eight::<V>(
                rows,
                does.as_ptr().add(eighth * EIGHT),
                [V::splat(false); EIGHT],
            );
        };
        eighth += 1;
    }
}

#[inline(always)]
unsafe fn put_eight<V: Vector>(rows: *mut u64, words: *const u32, values: [V; EIGHT]) {
    // SAFETY: rows of moves are rows of the matrix.
    unsafe {
        let first = *words;
        let mut idx = 0;
        if first & IN_ORDER != 0 {
            let to = rows.wrapping_add((first - IN_ORDER) as usize);
            while idx < EIGHT {
                put(to, idx, values[idx]);
                idx += 1;
            }
            return;
        }
        while idx < EIGHT {
            values[idx].store(rows.wrapping_add(*words.add(idx) as usize));
            idx += 1;
        }
    }
}

/// The moves of a group: their rows by first words, and a bit for each eighth whose rows may still be set.
struct Moves {
    legal: *const u32,
    does: *const u32,
    n_eighths: usize,
    rows: *mut u64,
    dirty: u64,
}

/// Follows lanes to the moves of a group; returns a bit for each eighth that lanes enter.
#[inline(always)]
unsafe fn descend_four_eighths<V: Vector>(
    moves: &Moves,
    count: u32,
    mask: V,
    number: [V; 5],
    counts: *const u64,
) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let left: [V; 5] = get_all(counts, count + 6);
        let borrow = left[0].and_not(number[0]);
        let d0 = number[0].xor(left[0]);
        let (d1, borrow) = number[1].full_subtract(left[1], borrow);
        let (d2, borrow) = number[2].full_subtract(left[2], borrow);
        let (d3, borrow) = number[3].full_subtract(left[3], borrow);
        let (_, is_left) = number[4].full_subtract(left[4], borrow);
        let (to_left, to_right) = (mask.and(is_left), mask.and_not(is_left));
        let number = [number[0], number[1], number[2], number[3]];
        let left = get_all(counts, count + 11);
        let mut set = descend_two(moves, 0, to_left, number, left);
        if moves.n_eighths > 2 {
            let left = get_all(counts, count + 15);
            set |= descend_two(moves, 2, to_right, [d0, d1, d2, d3], left);
        }
        set
    }
}

#[inline(always)]
unsafe fn descend_two<V: Vector>(
    moves: &Moves,
    first: usize,
    mask: V,
    number: [V; 4],
    left: [V; 4],
) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let borrow = left[0].and_not(number[0]);
        let d0 = number[0].xor(left[0]);
        let (d1, borrow) = number[1].full_subtract(left[1], borrow);
        let (d2, borrow) = number[2].full_subtract(left[2], borrow);
        let (_, is_left) = number[3].full_subtract(left[3], borrow);
        let (to_left, to_right) = (mask.and(is_left), mask.and_not(is_left));
        let mut set = descend_eight(moves, first, to_left, [number[0], number[1], number[2]]);
        if first + 1 < moves.n_eighths {
            set |= descend_eight(moves, first + 1, to_right, [d0, d1, d2]);
        }
        set
    }
}

#[inline(always)]
unsafe fn descend_eight<V: Vector>(moves: &Moves, eighth: usize, mask: V, number: [V; 3]) -> u64 {
    // SAFETY: rows of moves are rows of the matrix.
    unsafe {
        let does = moves.does.add(eighth * EIGHT);
        if mask.is_zero() {
            if moves.dirty >> eighth & 1 == 1 {
                put_eight(moves.rows, does, [mask; EIGHT]);
            }
            return 0;
        }
        let l: [V; EIGHT] = get_eight(moves.rows, moves.legal.add(eighth * EIGHT));
        let (c0, c1, c2) = four(l[0], l[1], l[2], l[3]);
        let borrow = c0.and_not(number[0]);
        let d0 = number[0].xor(c0);
        let (d1, borrow) = number[1].full_subtract(c1, borrow);
        let (_, is_left) = number[2].full_subtract(c2, borrow);
        let (left, right) = (mask.and(is_left), mask.and_not(is_left));
        let a = descend_half(left, number[0], number[1], [l[0], l[1], l[2]]);
        let b = descend_half(right, d0, d1, [l[4], l[5], l[6]]);
        put_eight(
            moves.rows,
            does,
            [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]],
        );
        1 << eighth
    }
}

/// The masks of four leaves.
#[inline(always)]
fn descend_half<V: Vector>(mask: V, n0: V, n1: V, l: [V; 3]) -> [V; 4] {
    let (c0, c1) = l[0].half_add(l[1]);
    let borrow = c0.and_not(n0);
    let d0 = n0.xor(c0);
    let (_, is_left) = n1.full_subtract(c1, borrow);
    let (left, right) = (mask.and(is_left), mask.and_not(is_left));
    let first = left.and(l[0]).and_not(n0);
    let third = right.and(l[2]).and_not(d0);
    [first, left.and_not(first), third, right.and_not(third)]
}
