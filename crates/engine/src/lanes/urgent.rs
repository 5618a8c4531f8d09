//! Urgent moves: a role with urgent moves chooses only among them.
//!
//! A move is urgent where it is legal and one of certain fluents holds. Example: a capture is urgent if a piece is on
//! its target. Its weight depends on which fluent holds, and on a second set of fluents, such as the capturing piece.
//! Usually few moves are urgent in any lane. They are gathered, each with its lanes, and processed one after the other:
//! once to sum their weights, and again to find the move at a random position in the sum. Weights are integers up to
//! 4096, rounded to their four leading bits.
//!
//! In: the rows of legal moves and fluents. Out: the lanes with urgent moves, and the rows of the chosen ones.

#![expect(unsafe_code, reason = "rows are read and written by pointer")]

use super::choose::Scratch;
use super::program::{Choice, ZERO};
use super::vector::{Rows, Vector, get, put};
use super::weights::{MoveWeight, Scale, Urgency};

/// The largest weight, and the number of leading bits of a weight that are kept.
const MAX_WEIGHT: f32 = 4096.0;
const N_FINE: u32 = 4;

/// The urgent moves of a choice.
#[derive(Default)]
pub(super) struct Urgent {
    /// The moves, with those of the same first scale adjacent.
    moves: Vec<Move>,
    /// Rows of fluents and factors, of all scales.
    factors: Vec<(u32, f32)>,
    /// Bits of the largest sum of weights.
    pub(super) n_bits: usize,
}

/// A move that can be urgent.
struct Move {
    legal: u32,
    does: u32,
    /// Its leaf in the uniform choice.
    leaf: u32,
    weight: f32,
    /// The ranges of the factors of its scales.
    on: (u32, u32),
    by: (u32, u32),
}

/// The moves that are urgent now.
pub(super) struct UrgentScratch {
    live: Vec<Live>,
    /// Per live move: its lanes; grows on demand.
    lanes: Rows,
    n_words: usize,
    /// Rows that were set in the last step.
    made: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Live {
    /// Its index in `lanes`.
    idx: u32,
    does: u32,
    leaf: u32,
    weight: u32,
    rank: f32,
}

impl Urgent {
    /// The moves of a choice that can be urgent, by the rows of fluents.
    pub(super) fn new(
        choice: &Choice,
        weights: &[MoveWeight],
        scales: &[Scale],
        fluent: &dyn Fn(u32) -> u32,
    ) -> Urgent {
        // Step 1. Scales by rows; fluents that never hold are left out.
        let mut found = Urgent::default();
        let mut ranges = Vec::with_capacity(scales.len());
        for scale in scales {
            let first = found.factors.len() as u32;
            let rows = scale.iter().map(|&(idx, factor)| (fluent(idx), factor));
            found.factors.extend(rows.filter(|&(row, _)| row != ZERO));
            ranges.push((first, found.factors.len() as u32));
        }
        let factors = |(start, end): (u32, u32)| found.factors[start as usize..end as usize].iter();
        let largest = |range: (u32, u32)| {
            let factors = factors(range).map(|factor| factor.1);
            factors
                .filter(|factor| factor.is_finite())
                .fold(0.0, f32::max)
        };
        let largest_of: Vec<f32> = ranges.iter().map(|&range| largest(range)).collect();
        // Step 2. Moves, and the maximum weight of each.
        let mut moves: Vec<(Move, f32)> = Vec::new();
        for (leaf, mv) in choice.moves.iter().enumerate() {
            let Some(Urgency { weight, on, by }) = weights[mv.0 as usize].urgency else {
                continue;
            };
            // If no fluent of the second scale holds, its factor is one.
            let by_most = by.map_or(1.0, |by| largest_of[by.0 as usize].max(1.0));
            let most = weight * largest_of[on.0 as usize] * by_most;
            let urgent = Move {
                legal: choice.leaves.legal[leaf],
                does: choice.leaves.does[leaf],
                leaf: leaf as u32,
                weight,
                on: ranges[on.0 as usize],
                by: by.map_or((0, 0), |by| ranges[by.0 as usize]),
            };
            if urgent.on.0 < urgent.on.1 {
                moves.push((urgent, most));
            }
        }
        moves.sort_by_key(|(urgent, _)| urgent.on);
        // Step 3. Scale the weights so that the largest is `MAX_WEIGHT`.
        let weights = moves.iter().map(|(_, most)| *most);
        let largest = weights.filter(|most| most.is_finite()).fold(0.0, f32::max);
        let unit = if largest > 0.0 {
            MAX_WEIGHT / largest
        } else {
            1.0
        };
        let heaviest: u64 = moves
            .iter()
            .map(|(_, most)| u64::from(rounded(most * unit)))
            .sum();
        found.n_bits = (u64::BITS - heaviest.leading_zeros()) as usize;
        found
            .moves
            .extend(moves.into_iter().map(|(urgent, _)| Move {
                weight: urgent.weight * unit,
                ..urgent
            }));
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    pub(super) fn scratch(&self, n_words: usize) -> UrgentScratch {
        UrgentScratch {
            live: Vec::new(),
            lanes: Rows::new(self.moves.len().min(64), n_words),
            n_words,
            made: Vec::new(),
        }
    }

    /// Gathers the moves that are urgent now, and returns the lanes with any. Rows of moves made in the last step are
    /// cleared.
    ///
    /// # Safety
    /// The rows are those of the matrix, the scratch was made for this choice, and the CPU supports `V`.
    #[inline(always)]
    pub(super) unsafe fn gather<V: Vector>(
        &self,
        rows: *mut u64,
        scratch: &mut UrgentScratch,
    ) -> V {
        let zero = V::splat(false);
        // SAFETY: guaranteed by the caller.
        unsafe {
            for &row in &scratch.made {
                put(rows, row as usize, zero);
            }
            scratch.made.clear();
            scratch.live.clear();
            let (mut any, mut holds) = (zero, zero);
            let mut known = (0, 0);
            for mv in &self.moves {
                let legal: V = get(rows, mv.legal as usize);
                if legal.is_zero() {
                    continue;
                }
                let on = &self.factors[mv.on.0 as usize..mv.on.1 as usize];
                if mv.on != known {
                    known = mv.on;
                    holds = zero;
                    for &(fluent, _) in on {
                        holds = holds.or(get(rows, fluent as usize));
                    }
                }
                let mut rest = holds.and(legal);
                if rest.is_zero() {
                    continue;
                }
                any = any.or(rest);
                for &(fluent, factor) in on {
                    let mut here = rest.and(get(rows, fluent as usize));
                    if here.is_zero() {
                        continue;
                    }
                    rest = rest.and_not(here);
                    let weight = mv.weight * factor;
                    for &(fluent, factor) in &self.factors[mv.by.0 as usize..mv.by.1 as usize] {
                        let by = here.and(get(rows, fluent as usize));
                        if by.is_zero() {
                            continue;
                        }
                        here = here.and_not(by);
                        scratch.push(mv, weight * factor, by);
                    }
                    if !here.is_zero() {
                        scratch.push(mv, weight, here);
                    }
                }
            }
            any
        }
    }

    /// Adds the weights of the gathered moves to a sum, which has at least `n_bits` bits.
    ///
    /// # Safety
    /// As for [`Urgent::gather`], which must have been called.
    #[inline(always)]
    pub(super) unsafe fn add_up<V: Vector>(&self, scratch: &mut UrgentScratch, total: *mut u64) {
        let lanes = scratch.lanes.pointer();
        for live in &scratch.live {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let here: V = get(lanes, live.idx as usize);
                let mut carry = V::splat(false);
                let mut bit = live.weight.trailing_zeros() as usize;
                while bit < self.n_bits {
                    let before: V = get(total, bit);
                    let sum;
                    if live.weight >> bit & 1 == 1 {
                        (sum, carry) = before.full_add(here, carry);
                    } else {
                        if live.weight >> bit == 0 && carry.is_zero() {
                            break;
                        }
                        (sum, carry) = before.half_add(carry);
                    }
                    put(total, bit, sum);
                    bit += 1;
                }
            }
        }
    }

    /// In the waiting lanes, makes the move at each lane's position in the sum.
    ///
    /// # Safety
    /// As for [`Urgent::add_up`].
    #[inline(always)]
    pub(super) unsafe fn make<V: Vector>(
        &self,
        rows: *mut u64,
        scratch: &mut UrgentScratch,
        place: *mut u64,
        mut waiting: V,
    ) {
        let lanes = scratch.lanes.pointer();
        for live in &scratch.live {
            if waiting.is_zero() {
                break;
            }
            let mut borrow = V::splat(false);
            // SAFETY: guaranteed by the caller.
            unsafe {
                let here: V = get(lanes, live.idx as usize);
                let mut bit = live.weight.trailing_zeros() as usize;
                while bit < self.n_bits {
                    let bits: V = get(place, bit);
                    let difference;
                    if live.weight >> bit & 1 == 1 {
                        (difference, borrow) = bits.full_subtract(here, borrow);
                    } else {
                        if live.weight >> bit == 0 && borrow.is_zero() {
                            break;
                        }
                        (difference, borrow) = (bits.xor(borrow), borrow.and_not(bits));
                    }
                    put(place, bit, difference);
                    bit += 1;
                }
                let chosen = waiting.and(borrow);
                waiting = waiting.and_not(borrow);
                if !chosen.is_zero() {
                    or_into(rows, live.does, chosen);
                    scratch.made.push(live.does);
                }
            }
        }
    }

    /// Makes the heaviest move in the waiting lanes, and returns the lanes that have none. Rows that are set are marked as
    /// dirty in the scratch of the uniform choice.
    ///
    /// # Safety
    /// As for [`Urgent::gather`], which must have been called.
    #[inline(always)]
    pub(super) unsafe fn make_best<V: Vector>(
        &self,
        rows: *mut u64,
        scratch: &mut UrgentScratch,
        mut waiting: V,
        uniform: &mut Scratch,
    ) -> V {
        let lanes = scratch.lanes.pointer();
        let by_rank = |a: &Live, b: &Live| b.rank.total_cmp(&a.rank).then(a.does.cmp(&b.does));
        scratch.live.sort_unstable_by(by_rank);
        for live in &scratch.live {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let chosen = waiting.and(get(lanes, live.idx as usize));
                waiting = waiting.and_not(chosen);
                if !chosen.is_zero() {
                    or_into(rows, live.does, chosen);
                    uniform.soil_leaf(live.leaf);
                }
            }
        }
        waiting
    }
}

impl UrgentScratch {
    /// Adds a live move with its lanes.
    #[inline(always)]
    unsafe fn push<V: Vector>(&mut self, mv: &Move, weight: f32, lanes: V) {
        let idx = self.live.len();
        if self.lanes.words().len() < (idx + 1) * V::N_WORDS {
            self.grow();
        }
        // SAFETY: there is room now.
        unsafe { put(self.lanes.pointer(), idx, lanes) };
        self.live.push(Live {
            idx: idx as u32,
            does: mv.does,
            leaf: mv.leaf,
            weight: rounded(weight),
            rank: weight,
        });
    }

    /// Doubles the capacity.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let n = self.lanes.words().len();
        let mut more = Rows::new((2 * n / self.n_words).max(1), self.n_words);
        more.words_mut()[..n].copy_from_slice(self.lanes.words());
        self.lanes = more;
    }
}

/// Rounds a weight to an integer with few significant bits; at least one.
#[inline(always)]
fn rounded(weight: f32) -> u32 {
    let whole = weight.clamp(1.0, MAX_WEIGHT) as u32;
    let n_coarse = (u32::BITS - whole.leading_zeros()).saturating_sub(N_FINE);
    ((whole + (1 << n_coarse >> 1)) >> n_coarse) << n_coarse
}

#[inline(always)]
unsafe fn or_into<V: Vector>(rows: *mut u64, row: u32, lanes: V) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let before: V = get(rows, row as usize);
        put(rows, row as usize, before.or(lanes));
    }
}
