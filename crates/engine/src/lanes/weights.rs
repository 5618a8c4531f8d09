//! Weighted choice: weights per role and move, shared by all lanes, with other weights where certain fluents hold.
//!
//! *Proportional*: weights are rounded to sixteen classes (1, 2, 3, 4, 6, 8, …, 256, relative to the largest; weight
//! zero falls into the lowest class). Each class counts its legal moves as the uniform choice does. A random position
//! in the sum of all weights determines the class and the move within it ([`super::classes`]). With its rounded weight
//! w and the lightest class l, the probability of a move has a relative error below 2⁻⁸ · l / w. *Greedy*: uniform with
//! probability ε, otherwise the first legal move in the order of weights; equal weights keep the order of moves.
//!
//! A move may have another weight where a fluent holds. It then has several leaves, one for each class that it can fall
//! into, each legal where its case applies. Moves may be *urgent* where fluents hold: a role with a legal urgent move
//! chooses only among urgent ones ([`super::urgent`]).
//!
//! - Finnsson and Björnsson 2008, Simulation-Based Approach to General Game Playing (MAST)
//! - Finnsson and Björnsson 2010, Learning Simulation Control in General Game-Playing Agents (FAST, ε-greedy)

#![expect(unsafe_code, reason = "rows are read and written by pointer")]

use super::choose::Scratch;
use super::classes::{Classes, ClassesScratch, PLACE, class_of};
use super::program::{Choice, FIRST_BASE, LanesProgram, ONES, RoleMoves, ZERO};
use super::random::Random;
use super::scale::{WIDE, scale};
use super::urgent::{Urgent, UrgentScratch};
use super::vector::{Rows, Vector, get, put, row_ptr};
use crate::state::{MoveId, RoleId};

/// How playouts choose among legal moves.
#[derive(Clone, PartialEq, Debug)]
pub enum Choosing {
    /// With equal probability.
    Uniform,
    /// In proportion to weights, rounded to classes (see the module documentation).
    Proportional(Weights),
    /// The move with the greatest weight; with this probability, any move.
    Greedy(Weights, f64),
}

/// Weights of the moves of each role.
#[derive(Clone, PartialEq, Debug)]
pub struct Weights {
    roles: Vec<Vec<MoveWeight>>,
    scales: Vec<Scale>,
}

/// The weight of a move.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveWeight {
    /// Its weight; negative weights and NaN count as zero in a proportional choice.
    pub weight: f32,
    /// Other weights where fluents hold, by index in the ground program's list: the first fluent that holds counts.
    pub cases: Vec<(u32, f32)>,
    /// When the move is urgent, that is chosen before all moves that are not.
    pub urgency: Option<Urgency>,
}

/// A move is urgent where a fluent of the scale `on` holds, and its weight is multiplied by the factor of that fluent.
/// If there is a second scale `by`, it is also multiplied by the factor of the fluent that holds there, or by one if
/// none does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Urgency {
    /// Its weight relative to other urgent moves.
    pub weight: f32,
    /// When the move is urgent.
    pub on: ScaleId,
    /// A further factor.
    pub by: Option<ScaleId>,
}

/// A list of fluents with factors, of which the first that holds counts. Moves can share a scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScaleId(pub(super) u32);

/// Fluents with factors.
pub(super) type Scale = Vec<(u32, f32)>;

impl Weights {
    /// Weight 1 for all moves. `n_moves` is the number of moves of each role in the ground program.
    pub fn new(n_moves: impl IntoIterator<Item = usize>) -> Weights {
        let one = MoveWeight {
            weight: 1.0,
            cases: Vec::new(),
            urgency: None,
        };
        let role_weights = |n: usize| vec![one.clone(); n];
        Weights {
            roles: n_moves.into_iter().map(role_weights).collect(),
            scales: Vec::new(),
        }
    }

    /// Adds a scale for urgent moves: fluents, by index in the ground program's list, and factors.
    pub fn add_scale(&mut self, factors: Vec<(u32, f32)>) -> ScaleId {
        self.scales.push(factors);
        ScaleId(self.scales.len() as u32 - 1)
    }

    /// The weight of a move.
    #[must_use]
    pub fn get(&self, role: RoleId, mv: MoveId) -> &MoveWeight {
        &self.roles[role.idx()][mv.0 as usize]
    }

    /// The weight of a move in a state, and whether it is urgent there.
    #[must_use]
    pub fn weight_in(&self, role: RoleId, mv: MoveId, words: &[u64]) -> (f32, bool) {
        let holds = |fluent: u32| words[fluent as usize / 64] >> (fluent % 64) & 1 == 1;
        let first = |scale: &[(u32, f32)]| {
            let found = scale.iter().find(|&&(fluent, _)| holds(fluent));
            found.map(|&(_, factor)| factor)
        };
        let weight = self.get(role, mv);
        if let Some(urgency) = weight.urgency
            && let Some(factor) = first(&self.scales[urgency.on.0 as usize])
        {
            let by = urgency.by.map(|by| &self.scales[by.0 as usize]);
            let by = by.and_then(|by| first(by)).unwrap_or(1.0);
            return (urgency.weight * factor * by, true);
        }
        (first(&weight.cases).unwrap_or(weight.weight), false)
    }

    /// The weight of a move, mutable.
    pub fn get_mut(&mut self, role: RoleId, mv: MoveId) -> &mut MoveWeight {
        &mut self.roles[role.idx()][mv.0 as usize]
    }
}

/// Bits of the random fraction of a proportional choice beyond those of the sum of weights.
const EXTRA_BITS: usize = 8;

/// The weighted choices of a program: per phase and role with a choice.
pub(super) struct Tables {
    phases: Vec<Vec<Option<Table>>>,
    /// Number of rows in addition to those of the program.
    pub(super) n_extra_rows: usize,
}

/// The choice of a role in a phase.
struct Table {
    splits: Vec<Split>,
    /// The cases of all splits.
    cases: Vec<SplitCase>,
    urgent: Urgent,
    how: How,
}

/// A move that has several leaves.
struct Split {
    /// The rows of the move.
    legal: u32,
    does: u32,
    /// The first of the leaf rows for legality, and of those for the choice.
    rows: u32,
    does_rows: u32,
    n_rows: u32,
    /// Its cases; the last one always applies.
    cases: (u32, u32),
}

struct SplitCase {
    fluent: u32,
    /// Row of the lanes where the move is legal in this case.
    row: u32,
    /// Whether no earlier case has the same row.
    is_first: bool,
}

enum How {
    Proportional(Classes),
    /// Leaves in the order of weights, and the probability of a uniform choice, in units of 2⁻¹⁶.
    Greedy {
        order: Vec<Leaf>,
        epsilon: u32,
    },
}

/// Scratch memory of a group for tables.
pub(super) struct TableScratch {
    phases: Vec<Vec<Option<OfTable>>>,
}

struct OfTable {
    /// For a proportional choice.
    classes: Option<ClassesScratch>,
    /// The sum of all weights.
    total: Rows,
    urgent: UrgentScratch,
    /// Per split: whether its rows may still be set from the last step.
    is_live: Vec<bool>,
}

impl TableScratch {
    /// Marks all rows as dirty, because other code wrote rows of moves.
    pub(super) fn soil(&mut self) {
        for scratch in self.phases.iter_mut().flatten().flatten() {
            scratch.classes.iter_mut().for_each(ClassesScratch::soil);
            scratch.is_live.fill(true);
        }
    }
}

/// A move, or some cases of it.
struct Leaf {
    /// The index of its class, or its weight in a greedy choice.
    rank: f32,
    legal: u32,
    does: u32,
    /// The leaf of the move in the uniform choice.
    of_move: u32,
}

impl Tables {
    /// Tables for weights; `None` for the uniform choice.
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
                let role_weights = &weights.roles[role];
                roles.push(Some(Table::new(
                    choice,
                    role_weights,
                    &weights.scales,
                    &fluent,
                    epsilon,
                    &mut next_row,
                    program.options.simd.n_words(),
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
        let table_scratch = |table: &Option<Table>| {
            let table = table.as_ref()?;
            let classes = match &table.how {
                How::Proportional(classes) => Some(classes.scratch(n_words)),
                How::Greedy { .. } => None,
            };
            Some(OfTable {
                total: Rows::new(if classes.is_some() { WIDE } else { 0 }, n_words),
                classes,
                urgent: table.urgent.scratch(n_words),
                is_live: vec![true; table.splits.len()],
            })
        };
        let phase_scratch = |roles: &Vec<Option<Table>>| roles.iter().map(table_scratch).collect();
        let mut scratch = TableScratch {
            phases: self.phases.iter().map(phase_scratch).collect(),
        };
        // The previous kind of choice may have left rows of moves set.
        scratch.soil();
        scratch
    }

    /// Whether a choice counts its legal moves itself.
    pub(super) fn counts(&self, phase: usize, role: usize) -> bool {
        matches!(
            &self.phases[phase][role],
            Some(Table {
                how: How::Proportional(_),
                ..
            })
        )
    }

    /// Counts legal moves; returns the lanes that have one.
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
        let (Some(table), Some(scratch)) =
            (&self.phases[phase][role], &mut scratch.phases[phase][role])
        else {
            return V::splat(false);
        };
        let (How::Proportional(classes), Some(class_scratch)) = (&table.how, &mut scratch.classes)
        else {
            return V::splat(false);
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            split::<V>(table, rows, &mut scratch.is_live);
            classes.count(rows, class_scratch)
        }
    }

    /// Picks a move in each lane of `mask` and sets the rows of all moves.
    ///
    /// # Safety
    /// As for [`Tables::count`], which must have been called if it counts.
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
        let (Some(table), Some(scratch)) =
            (&self.phases[phase][role], &mut scratch.phases[phase][role])
        else {
            return;
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            match &table.how {
                How::Proportional(classes) => {
                    proportional(table, classes, rows, scratch, random, mask);
                }
                How::Greedy { order, epsilon } => {
                    split::<V>(table, rows, &mut scratch.is_live);
                    let is_random = below(random, *epsilon);
                    let drawn = mask.and(is_random);
                    super::choose::choose(&choice.leaves, rows, uniform, random, drawn);
                    let mut waiting = mask.and_not(is_random);
                    if !table.urgent.is_empty() {
                        let urgent = &mut scratch.urgent;
                        table.urgent.gather::<V>(rows, urgent);
                        waiting = table.urgent.make_best(rows, urgent, waiting, uniform);
                    }
                    for leaf in order {
                        let taken = waiting.and(get(rows, leaf.legal as usize));
                        if taken.is_zero() {
                            continue;
                        }
                        waiting = waiting.and_not(taken);
                        let before: V = get(rows, leaf.does as usize);
                        put(rows, leaf.does as usize, before.or(taken));
                        uniform.soil_leaf(leaf.of_move);
                        if waiting.is_zero() {
                            break;
                        }
                    }
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
        scales: &[Scale],
        fluent: &dyn Fn(u32) -> u32,
        epsilon: Option<f64>,
        next_row: &mut u32,
        n_words: usize,
    ) -> Table {
        let urgent = Urgent::new(choice, weights, scales, fluent);
        // Step 1. The possible cases, each with the row of its condition. The last case of a move always applies.
        let mut cases: Vec<(u32, f32)> = Vec::new();
        let mut ends = Vec::with_capacity(choice.moves.len());
        for mv in &choice.moves {
            let MoveWeight {
                weight,
                cases: special,
                ..
            } = &weights[mv.0 as usize];
            let special = special.iter().map(|&(idx, weight)| (fluent(idx), weight));
            let all = special.chain([(ONES, *weight)]);
            let mut is_sure = false;
            cases.extend(
                all.filter(|&(row, _)| row != ZERO)
                    .take_while(|&(row, _)| !std::mem::replace(&mut is_sure, row == ONES)),
            );
            ends.push(cases.len());
        }
        // Step 2. A leaf for each rank that a move can have.
        let weights = cases.iter().map(|case| case.1);
        let largest = weights
            .filter(|weight| weight.is_finite())
            .fold(0.0, f32::max);
        let rank = |weight: f32| match epsilon {
            Some(_) => weight,
            None => class_of(weight, largest) as f32,
        };
        let mut leaves: Vec<Leaf> = Vec::with_capacity(cases.len());
        let (mut splits, mut split_cases) = (Vec::new(), Vec::new());
        let mut ranks: Vec<f32> = Vec::new();
        let mut start = 0;
        for (leaf, &end) in ends.iter().enumerate() {
            let (legal, does) = (choice.leaves.legal[leaf], choice.leaves.does[leaf]);
            ranks.clear();
            let first_case = split_cases.len() as u32;
            for &(fluent, weight) in &cases[start..end] {
                let rank = rank(weight);
                let known = ranks
                    .iter()
                    .position(|known| known.total_cmp(&rank).is_eq());
                split_cases.push(SplitCase {
                    fluent,
                    row: *next_row + known.unwrap_or(ranks.len()) as u32,
                    is_first: known.is_none(),
                });
                if known.is_none() {
                    ranks.push(rank);
                }
            }
            start = end;
            if let [rank] = ranks[..] {
                split_cases.truncate(first_case as usize);
                leaves.push(Leaf {
                    rank,
                    legal,
                    does,
                    of_move: leaf as u32,
                });
                continue;
            }
            let n_rows = ranks.len() as u32;
            // A greedy choice ORs into the row of the move; a proportional one sets a row for each leaf.
            let rows = *next_row;
            let does_rows = rows + n_rows;
            *next_row += n_rows * if epsilon.is_none() { 2 } else { 1 };
            leaves.extend(ranks.iter().zip(0..).map(|(&rank, at)| Leaf {
                rank,
                legal: rows + at,
                does: match epsilon {
                    Some(_) => does,
                    None => does_rows + at,
                },
                of_move: leaf as u32,
            }));
            splits.push(Split {
                legal,
                does,
                rows,
                does_rows,
                n_rows,
                cases: (first_case, split_cases.len() as u32),
            });
        }
        let how = match epsilon {
            Some(epsilon) => {
                leaves.sort_by(|a, b| b.rank.total_cmp(&a.rank));
                How::Greedy {
                    order: leaves,
                    epsilon: (epsilon.clamp(0.0, 1.0) * 65536.0).round() as u32,
                }
            }
            None => {
                let leaves = leaves.iter();
                let leaves = leaves.map(|leaf| (leaf.rank as usize, leaf.legal, leaf.does));
                How::Proportional(Classes::new(leaves, n_words))
            }
        };
        Table {
            splits,
            cases: split_cases,
            urgent,
            how,
        }
    }
}

/// Sets the rows of the leaves of moves with cases. Moves that are legal in no lane cost nothing if they were not
/// before.
#[inline(always)]
unsafe fn split<V: Vector>(table: &Table, rows: *mut u64, is_live: &mut [bool]) {
    for (split, is_live) in table.splits.iter().zip(is_live) {
        // SAFETY: the matrix has the extra rows.
        unsafe {
            let mut rest: V = get(rows, split.legal as usize);
            let was_live = std::mem::replace(is_live, !rest.is_zero());
            if !*is_live {
                if was_live {
                    for row in split.rows..split.rows + split.n_rows {
                        put(rows, row as usize, rest);
                    }
                    put(rows, split.does as usize, rest);
                }
                continue;
            }
            for case in &table.cases[split.cases.0 as usize..split.cases.1 as usize] {
                let fluent: V = get(rows, case.fluent as usize);
                let mut holds = rest.and(fluent);
                rest = rest.and_not(fluent);
                if !case.is_first {
                    holds = holds.or(get(rows, case.row as usize));
                }
                put(rows, case.row as usize, holds);
            }
        }
    }
}

/// Merges the leaves of moves with cases into the rows of the moves.
#[inline(always)]
unsafe fn merge<V: Vector>(splits: &[Split], rows: *mut u64, is_live: &[bool]) {
    for (split, is_live) in splits.iter().zip(is_live) {
        if !is_live {
            continue;
        }
        let mut made = V::splat(false);
        for row in split.does_rows..split.does_rows + split.n_rows {
            // SAFETY: the matrix has the extra rows.
            made = made.or(unsafe { get(rows, row as usize) });
        }
        // SAFETY: as before.
        unsafe { put(rows, split.does as usize, made) };
    }
}

/// Lanes whose 16-bit random number is below a limit.
#[inline(always)]
fn below<V: Vector>(random: &mut Random<V>, limit: u32) -> V {
    // From the lowest bit: whether the bits so far are below the limit, if the higher bits are equal.
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

/// Draws a position in the sum of weights, and finds its class and move. Urgent moves come first.
#[inline(always)]
unsafe fn proportional<V: Vector>(
    table: &Table,
    classes: &Classes,
    rows: *mut u64,
    scratch: &mut OfTable,
    random: &mut Random<V>,
    mask: V,
) {
    let OfTable {
        classes: Some(class_scratch),
        total,
        urgent,
        is_live,
    } = scratch
    else {
        return;
    };
    let total = total.pointer();
    let has_urgent = !table.urgent.is_empty();
    // SAFETY: guaranteed by the caller; sums have at most `WIDE` bits.
    unsafe {
        // Step 1. The weight of all legal moves, or of all urgent ones.
        classes.add_up::<V>(class_scratch, total);
        let mut n_bits = classes.n_bits;
        let mut is_urgent = V::splat(false);
        if has_urgent {
            n_bits = n_bits.max(table.urgent.n_bits);
            is_urgent = table.urgent.gather::<V>(rows, urgent);
            for bit in 0..n_bits {
                let sum = if bit < classes.n_bits {
                    get::<V>(total, bit).and_not(is_urgent)
                } else {
                    V::splat(false)
                };
                put(total, bit, sum);
            }
            table.urgent.add_up::<V>(urgent, total);
        }
        // Step 2. A position in it, and the move there.
        let place = row_ptr::<V>(class_scratch.work(), PLACE);
        scale(total, place, n_bits, n_bits + EXTRA_BITS, random);
        classes.choose(rows, class_scratch, n_bits, mask.and_not(is_urgent));
        merge::<V>(&table.splits, rows, is_live);
        if has_urgent {
            let waiting = mask.and(is_urgent);
            table.urgent.make(rows, urgent, place, waiting);
        }
    }
}
