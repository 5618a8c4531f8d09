//! Choosing by weights: per role and move, shared by all lanes, optionally another weight where a fluent holds.
//!
//! *Proportional*: weights are rounded to sixteen classes (1, 2, 3, 4, 6, 8, …, 256, relative to the largest; a move of
//! weight zero falls into the lowest). Each class counts its legal moves as the uniform choice does; the class is drawn by
//! the sums of weights, then a move inside it uniformly. *Greedy*: with probability ε uniform, else the first legal move
//! in the order of weights; equal weights keep the order of moves.
//!
//! A move with a condition stands twice among the leaves, once legal with the fluent and once without it.
//!
//! - Finnsson and Björnsson 2008, Simulation-Based Approach to General Game Playing (MAST)
//! - Finnsson and Björnsson 2010, Learning Simulation Control in General Game-Playing Agents (FAST, ε-greedy)

#![expect(unsafe_code, reason = "rows are read and written by pointer")]

use super::choose::{Leaves, Scratch, WIDE, count, find, root_count, scale_wide};
use super::program::{Choice, FIRST_BASE, LanesProgram, ONES, RoleMoves, TRASH, ZERO};
use super::random::Random;
use super::vector::{Vector, get, put};
use crate::state::{MoveId, RoleId};

/// How playouts choose among legal moves.
#[derive(Clone, PartialEq, Debug)]
pub enum Choosing {
    /// All alike.
    Uniform,
    /// In proportion to weights, rounded to classes (see the module comment).
    Proportional(Weights),
    /// The move with the greatest weight; with this probability, any.
    Greedy(Weights, f64),
}

/// Weights of the moves of each role.
#[derive(Clone, PartialEq, Debug)]
pub struct Weights {
    roles: Vec<Vec<MoveWeight>>,
}

/// What a move weighs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveWeight {
    /// Its weight; negative weights and no numbers count as zero in a proportional choice.
    pub weight: f32,
    /// A fluent, by its place in the ground program's list, and the weight where it holds.
    pub condition: Option<(u32, f32)>,
}

impl Weights {
    /// All moves weigh 1. `n_moves` is the number of moves of each role in the ground program.
    pub fn new(n_moves: impl IntoIterator<Item = usize>) -> Weights {
        let one = MoveWeight {
            weight: 1.0,
            condition: None,
        };
        Weights {
            roles: n_moves.into_iter().map(|n| vec![one; n]).collect(),
        }
    }

    /// The weight of a move.
    #[must_use]
    pub fn get(&self, role: RoleId, of: MoveId) -> MoveWeight {
        self.roles[role.idx()][of.0 as usize]
    }

    /// The weight of a move, to be changed.
    pub fn get_mut(&mut self, role: RoleId, of: MoveId) -> &mut MoveWeight {
        &mut self.roles[role.idx()][of.0 as usize]
    }
}

/// Weights of the classes: as (one or three, times two to the power).
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

/// The choices of a program by weights: per phase and role that has a choice.
pub(super) struct Tables {
    phases: Vec<Vec<Option<Table>>>,
    /// Rows that they need beyond those of the program.
    pub(super) n_extra_rows: usize,
}

/// The choice of a role in a phase.
struct Table {
    /// Moves with conditions: the row of the move's legality, the fluent's row, and the rows for both cases.
    splits: Vec<Split>,
    /// Rows of moves that stand twice, and the two rows that are put together there.
    merges: Vec<(u32, u32, u32)>,
    how: How,
}

struct Split {
    legal: u32,
    fluent: u32,
    with: u32,
    without: u32,
}

enum How {
    Proportional {
        classes: Vec<Class>,
        n_total_bits: usize,
        n_count_bits: usize,
    },
    /// Leaves in the order of weights, and the probability of a uniform choice in 2⁻¹⁶.
    Greedy {
        order: Vec<(u32, u32)>,
        epsilon: u32,
    },
}

struct Class {
    factor: u8,
    shift: u8,
    leaves: Leaves,
}

/// Scratch memory of a group for tables.
pub(super) struct TableScratch {
    phases: Vec<Vec<Vec<Scratch>>>,
}

impl TableScratch {
    /// Says that somebody else wrote rows of moves.
    pub(super) fn soil(&mut self) {
        self.phases
            .iter_mut()
            .flatten()
            .flatten()
            .for_each(Scratch::soil);
    }
}

/// A move, or one case of it.
struct Leaf {
    weight: f32,
    legal: u32,
    does: u32,
}

impl Tables {
    /// Tables for weights; none for the uniform choice.
    pub(super) fn new(program: &LanesProgram, choosing: &Choosing) -> Option<Tables> {
        let (weights, epsilon) = match choosing {
            Choosing::Uniform => return None,
            Choosing::Proportional(weights) => (weights, None),
            Choosing::Greedy(weights, epsilon) => (weights, Some(*epsilon)),
        };
        // Phases share no rows: a choice clears only what it wrote itself.
        let mut next_row = program.n_rows as u32;
        let mut phases = Vec::new();
        for phase_idx in 0..program.phases.len() {
            let mut roles = Vec::new();
            for (role, moves) in program.phases[phase_idx].roles.iter().enumerate() {
                let RoleMoves::Choice(choice) = moves else {
                    roles.push(None);
                    continue;
                };
                let fluent = |bit: u32| fluent_row(program, phase_idx, bit);
                let of_role = &weights.roles[role];
                roles.push(Some(Table::new(
                    choice,
                    of_role,
                    &fluent,
                    epsilon,
                    &mut next_row,
                )));
            }
            phases.push(roles);
        }
        Some(Tables {
            phases,
            n_extra_rows: next_row as usize - program.n_rows,
        })
    }

    pub(super) fn scratch(&self, n_words: usize) -> TableScratch {
        let of_table = |table: &Option<Table>| match table.as_ref().map(|table| &table.how) {
            Some(How::Proportional { classes, .. }) => classes
                .iter()
                .map(|class| Scratch::new(&class.leaves.tree, n_words))
                .collect(),
            _ => Vec::new(),
        };
        let of_phase = |roles: &Vec<Option<Table>>| roles.iter().map(of_table).collect();
        let mut scratch = TableScratch {
            phases: self.phases.iter().map(of_phase).collect(),
        };
        // Whoever chose before may have left rows of moves behind.
        scratch.soil();
        scratch
    }

    /// Whether a choice counts its legal moves by itself.
    pub(super) fn counts(&self, phase: usize, role: usize) -> bool {
        matches!(
            &self.phases[phase][role],
            Some(Table {
                how: How::Proportional { .. },
                ..
            })
        )
    }

    /// Counts legal moves; gives the lanes that have one.
    ///
    /// # Safety
    /// As for [`choose::count`](super::choose::count); the matrix has the extra rows.
    #[inline(always)]
    pub(super) unsafe fn count<V: Vector>(
        &self,
        phase: usize,
        role: usize,
        rows: *mut u64,
        scratch: &mut TableScratch,
    ) -> V {
        let mut any = V::splat(false);
        if let Some(Table {
            splits,
            how: How::Proportional { classes, .. },
            ..
        }) = &self.phases[phase][role]
        {
            // SAFETY: the caller's promise.
            unsafe {
                split::<V>(splits, rows);
                for (class, scratch) in classes.iter().zip(&mut scratch.phases[phase][role]) {
                    any = any.or(count::<V>(&class.leaves, rows, scratch));
                }
            }
        }
        any
    }

    /// Picks a move in each lane of `mask` and sets the rows of all moves.
    ///
    /// # Safety
    /// As for [`Tables::count`], which was called before if it counts.
    #[inline(always)]
    pub(super) unsafe fn choose<V: Vector>(
        &self,
        (phase, role): (usize, usize),
        choice: &Choice,
        rows: *mut u64,
        (uniform, scratch): (&mut Scratch, &mut TableScratch),
        random: &mut Random<V>,
        mask: V,
    ) {
        let Some(table) = &self.phases[phase][role] else {
            return;
        };
        // SAFETY: the caller's promise.
        unsafe {
            match &table.how {
                How::Proportional {
                    classes,
                    n_total_bits,
                    n_count_bits,
                } => {
                    proportional(
                        classes,
                        *n_total_bits,
                        *n_count_bits,
                        rows,
                        &mut scratch.phases[phase][role],
                        random,
                        mask,
                    );
                    merge::<V>(&table.merges, rows);
                    // The uniform choice must clear what it did not write.
                    uniform.soil();
                }
                How::Greedy { order, epsilon } => {
                    split::<V>(&table.splits, rows);
                    let is_random = below(random, *epsilon);
                    super::choose::choose::<V, false>(
                        &choice.leaves,
                        rows,
                        uniform,
                        random,
                        mask.and(is_random),
                        std::ptr::null_mut(),
                    );
                    let mut waiting = mask.and_not(is_random);
                    for &(legal, does) in order {
                        let taken = waiting.and(V::load(rows.add(legal as usize * V::N_WORDS)));
                        if taken.is_zero() {
                            continue;
                        }
                        waiting = waiting.and_not(taken);
                        let to = rows.add(does as usize * V::N_WORDS);
                        V::load(to).or(taken).store(to);
                        if waiting.is_zero() {
                            break;
                        }
                    }
                    uniform.soil();
                }
            }
        }
    }
}

/// The row of a fluent in a phase.
fn fluent_row(program: &LanesProgram, phase: usize, bit: u32) -> u32 {
    match program.bases.binary_search(&bit) {
        Ok(idx) => FIRST_BASE + idx as u32,
        Err(_) => {
            let word = program.phases[phase]
                .fixed
                .get(bit as usize / 64)
                .copied()
                .unwrap_or(0);
            if word >> (bit % 64) & 1 == 1 {
                ONES
            } else {
                ZERO
            }
        }
    }
}

impl Table {
    fn new(
        choice: &Choice,
        weights: &[MoveWeight],
        fluent: &dyn Fn(u32) -> u32,
        epsilon: Option<f64>,
        next_row: &mut u32,
    ) -> Table {
        let mut leaves = Vec::new();
        let (mut splits, mut merges) = (Vec::new(), Vec::new());
        let mut new_row = || {
            *next_row += 1;
            *next_row - 1
        };
        for (leaf, of) in choice.moves.iter().enumerate() {
            let (legal, does) = (choice.leaves.legal[leaf], choice.leaves.does[leaf]);
            let MoveWeight { weight, condition } = weights[of.0 as usize];
            let Some((bit, weight_with)) = condition else {
                leaves.push(Leaf {
                    weight,
                    legal,
                    does,
                });
                continue;
            };
            let (with, without) = (new_row(), new_row());
            splits.push(Split {
                legal,
                fluent: fluent(bit),
                with,
                without,
            });
            // A greedy choice ors into the row of the move; a proportional one sets a row for each case.
            let (does_with, does_without) = match epsilon {
                Some(_) => (does, does),
                None => (new_row(), new_row()),
            };
            if epsilon.is_none() {
                merges.push((does, does_with, does_without));
            }
            leaves.push(Leaf {
                weight: weight_with,
                legal: with,
                does: does_with,
            });
            leaves.push(Leaf {
                weight,
                legal: without,
                does: does_without,
            });
        }
        let how = match epsilon {
            Some(epsilon) => {
                leaves.sort_by(|a, b| b.weight.total_cmp(&a.weight));
                How::Greedy {
                    order: leaves.iter().map(|leaf| (leaf.legal, leaf.does)).collect(),
                    epsilon: (epsilon.clamp(0.0, 1.0) * 65536.0).round() as u32,
                }
            }
            None => proportions(&leaves),
        };
        Table {
            splits,
            merges,
            how,
        }
    }
}

/// Sorts leaves into classes.
fn proportions(leaves: &[Leaf]) -> How {
    let value = |(factor, shift): (u8, u8)| f32::from(factor) * f32::from(1_u16 << shift);
    let largest = leaves
        .iter()
        .map(|leaf| leaf.weight)
        .filter(|weight| weight.is_finite())
        .fold(0.0, f32::max);
    let mut by_class: Vec<Vec<&Leaf>> = vec![Vec::new(); CLASSES.len()];
    for leaf in leaves {
        // The nearest class, as a ratio. If nothing weighs anything, all weigh the same.
        let weight = if largest > 0.0 {
            leaf.weight / largest * 256.0
        } else {
            256.0
        };
        let next = |idx: &usize| value(CLASSES[*idx - 1]) * value(CLASSES[*idx]) <= weight * weight;
        let class = if weight.is_nan() || weight <= 1.0 {
            0
        } else {
            (1..CLASSES.len()).take_while(next).last().unwrap_or(0)
        };
        by_class[class].push(leaf);
    }
    let mut classes = Vec::new();
    for (&(factor, shift), leaves) in CLASSES
        .iter()
        .zip(&by_class)
        .filter(|(_, leaves)| !leaves.is_empty())
    {
        let rows = leaves.iter().map(|leaf| (leaf.legal, leaf.does));
        let leaves = Leaves::new(rows, ZERO, TRASH);
        classes.push(Class {
            factor,
            shift,
            leaves,
        });
    }
    let heaviest: u64 = CLASSES
        .iter()
        .zip(&by_class)
        .map(|(&(factor, shift), leaves)| (u64::from(factor) << shift) * leaves.len() as u64)
        .sum();
    How::Proportional {
        n_total_bits: (u64::BITS - heaviest.leading_zeros()).max(1) as usize,
        n_count_bits: classes
            .iter()
            .map(|class| class.leaves.tree.n_count_bits)
            .max()
            .unwrap_or(1),
        classes,
    }
}

#[inline(always)]
unsafe fn split<V: Vector>(splits: &[Split], rows: *mut u64) {
    for split in splits {
        // SAFETY: the matrix has the extra rows.
        unsafe {
            let legal: V = get(rows, split.legal as usize);
            let fluent: V = get(rows, split.fluent as usize);
            put(rows, split.with as usize, legal.and(fluent));
            put(rows, split.without as usize, legal.and_not(fluent));
        }
    }
}

#[inline(always)]
unsafe fn merge<V: Vector>(merges: &[(u32, u32, u32)], rows: *mut u64) {
    for &(does, with, without) in merges {
        // SAFETY: the matrix has the extra rows.
        unsafe {
            let made = get::<V>(rows, with as usize).or(get(rows, without as usize));
            put(rows, does as usize, made);
        }
    }
}

/// Lanes whose random number of 16 bits is below a limit.
#[inline(always)]
fn below<V: Vector>(random: &mut Random<V>, limit: u32) -> V {
    // From the lowest bit: below so far, if the higher bits are equal.
    let mut is_below = V::splat(limit >= 1 << 16);
    for bit in 0..16 {
        let drawn = random.bit();
        let is_less = if limit >> bit & 1 == 1 {
            is_below.or(drawn.not())
        } else {
            is_below.and_not(drawn)
        };
        is_below = if limit >= 1 << 16 { is_below } else { is_less };
    }
    is_below
}

/// Draws a class by the sums of weights, then a move inside it.
#[inline(always)]
unsafe fn proportional<V: Vector>(
    classes: &[Class],
    n_total_bits: usize,
    n_count_bits: usize,
    rows: *mut u64,
    scratch: &mut [Scratch],
    random: &mut Random<V>,
    mask: V,
) {
    let zero = V::splat(false);
    // SAFETY: the caller's promise.
    unsafe {
        // Step 1. The weight of all legal moves.
        let mut total = [zero; WIDE];
        for (class, scratch) in classes.iter().zip(scratch.iter_mut()) {
            if let Some(weight) = weight_of::<V>(class, scratch, n_total_bits) {
                let mut carry = zero;
                for bit in 0..n_total_bits {
                    (total[bit], carry) = total[bit].full_add(weight[bit], carry);
                }
            }
        }
        // Step 2. A place in it, and the class that it falls into.
        let mut place = scale_wide(&total, n_total_bits, random);
        let mut masks = [zero; CLASSES.len()];
        let mut chosen_count = [zero; WIDE];
        let mut waiting = mask;
        for (idx, (class, scratch)) in classes.iter().zip(scratch.iter_mut()).enumerate() {
            let Some(weight) = weight_of::<V>(class, scratch, n_total_bits) else {
                continue;
            };
            let mut borrow = zero;
            for bit in 0..n_total_bits {
                (place[bit], borrow) = place[bit].full_subtract(weight[bit], borrow);
            }
            let here = waiting.and(borrow);
            waiting = waiting.and_not(borrow);
            masks[idx] = here;
            if let Some(count) = root_count(&class.leaves.tree, scratch, V::N_WORDS) {
                let mut bit = 0;
                while bit < class.leaves.tree.n_count_bits {
                    chosen_count[bit] = chosen_count[bit].or(here.and(get(count, bit)));
                    bit += 1;
                }
            }
        }
        // Step 3. A move inside the class.
        let number = scale_wide(&chosen_count, n_count_bits, random);
        for (idx, (class, scratch)) in classes.iter().zip(scratch.iter_mut()).enumerate() {
            find::<V>(&class.leaves, rows, scratch, masks[idx], &number);
        }
    }
}

/// The number of legal moves of a class times its weight, if there are any.
#[inline(always)]
unsafe fn weight_of<V: Vector>(
    class: &Class,
    scratch: &mut Scratch,
    n_bits: usize,
) -> Option<[V; WIDE]> {
    let zero = V::splat(false);
    // SAFETY: the caller's promise.
    unsafe {
        let count = root_count(&class.leaves.tree, scratch, V::N_WORDS)?;
        let shift = class.shift as usize;
        let end = (shift + class.leaves.tree.n_count_bits).min(n_bits);
        let mut weight = [zero; WIDE];
        let mut bit = shift;
        while bit < end {
            weight[bit] = get(count, bit - shift);
            bit += 1;
        }
        if class.factor == 3 {
            let mut carry = zero;
            bit = shift + 1;
            while bit < n_bits {
                let is_inside = bit - 1 - shift < class.leaves.tree.n_count_bits;
                let twice = if is_inside {
                    get(count, bit - 1 - shift)
                } else {
                    zero
                };
                (weight[bit], carry) = weight[bit].full_add(twice, carry);
                bit += 1;
            }
        }
        Some(weight)
    }
}

/// The numbers of the moves made, in binary: ors the rows of all moves into the vectors of their bits.
///
/// # Safety
/// `log` has a vector for each bit of a leaf's number.
#[inline(always)]
pub(super) unsafe fn log_moves<V: Vector>(choice: &Choice, rows: *const u64, log: *mut u64) {
    for (leaf, &row) in choice
        .leaves
        .does
        .iter()
        .enumerate()
        .take(choice.moves.len())
    {
        // SAFETY: the caller's promise.
        unsafe {
            let made = V::load(rows.add(row as usize * V::N_WORDS));
            if made.is_zero() {
                continue;
            }
            for bit in super::block::bits(leaf as u64) {
                let to = log.add(bit * V::N_WORDS);
                V::load(to).or(made).store(to);
            }
        }
    }
}
