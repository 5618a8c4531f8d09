//! Evaluates formulas in fuzzy logic for 64 states at once, for playouts in the lanes.
//!
//! The values are those of [`crate::fuzzy`], up to rounding. Here each cell of the circuit is a row of numbers, one per state.
//! One pass computes the whole circuit for all states, followed by the tape of each move that is legal in some of them. Nothing
//! is updated incrementally, because the states of a block are unrelated.
//!
//! A disjunction is the negation of a product of negations. Cells of disjunctions therefore store the negated value, and every
//! gate is a product. Rows are half as long as a block, so that the cells of most games fit into the cache.
//!
//! In: for each fluent and move the states in which it holds or is legal, as bits. Out: values from 0 to 1.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents

use std::sync::Arc;

use agon_engine::{MoveId, RoleId};

use crate::circuit::{Circuit, Gate, Input, NONE, Operation};
use crate::fuzzy::UNKNOWN;
use crate::persist::Persistence;

/// Number of states of a block.
pub const BLOCK: usize = 64;
/// Number of states that are computed at once.
const WIDTH: usize = 32;

/// The bit of each state of half a block, so that testing all of them takes few instructions.
pub const BITS: [u32; WIDTH] = {
    let mut bits = [0; WIDTH];
    let mut at = 0;
    while at < WIDTH {
        bits[at] = 1 << at;
        at += 1;
    }
    bits
};

/// The values of a cell.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([f32; WIDTH]);

/// The product of two cells, or of one minus their values.
#[derive(Clone, Copy)]
struct Product {
    left: Input,
    right: Input,
}

/// The leaf of a fluent.
#[derive(Clone, Copy)]
struct Leaf {
    cell: u32,
    fluent: u32,
    /// Its value in states where it holds, and where it does not.
    high: f32,
    low: f32,
}

/// A legal move of another role.
#[derive(Clone, Copy, Debug)]
pub struct OtherMove {
    /// Whose move it is.
    pub role: RoleId,
    /// The move.
    pub mv: MoveId,
    /// The states in which it is legal.
    pub may: u64,
    /// The states in which it is the only legal move.
    pub must: u64,
}

/// Evaluates the formulas of one role: scratch memory of one thread.
#[derive(Clone)]
pub struct BlockEvaluator {
    // Constant.
    circuit: Arc<Circuit>,
    persistence: Arc<Persistence>,
    leaves: Vec<Leaf>,
    gates: Vec<Product>,
    tapes: Vec<Product>,
    roots: Vec<Input>,
    /// Per move and root.
    tape_roots: Vec<Input>,
    // The current block.
    /// Per leaf: the states in which it holds, and those in which it can never hold again.
    masks: Vec<(u64, u64)>,
    values: Vec<Row>,
}

impl BlockEvaluator {
    /// Returns `None` if the formulas have loops, or are too large for a tape per move.
    pub(crate) fn new(
        circuit: Arc<Circuit>,
        persistence: Arc<Persistence>,
        p: f64,
    ) -> Option<BlockEvaluator> {
        if !circuit.has_all_tapes() {
            return None;
        }
        let p = p as f32;
        let fluents = circuit.fluents.iter().enumerate();
        let leaves = fluents.filter(|&(_, &cell)| cell != NONE);
        let leaves = leaves.map(|(fluent, &cell)| {
            let fluent = fluent as u32;
            let high = if persistence.stays_true(fluent) {
                1.0
            } else {
                p
            };
            let stays_false = persistence.stays_false(fluent);
            let low = if stays_false { 0.0 } else { 1.0 - p };
            Leaf {
                cell,
                fluent,
                high,
                low,
            }
        });
        let leaves: Vec<Leaf> = leaves.collect();
        let n_cells = circuit.n_cells();
        let mut is_negated = vec![false; n_cells + circuit.longest_tape];
        let product = |gate: &Gate, is_negated: &[bool]| {
            let is_or = u32::from(gate.operation == Operation::Or);
            let input = |input: Input| input ^ is_or ^ u32::from(is_negated[input as usize / 2]);
            Product {
                left: input(gate.left),
                right: input(gate.right),
            }
        };
        let mut gates = Vec::with_capacity(circuit.gates.len());
        for (idx, gate) in circuit.gates.iter().enumerate() {
            gates.push(product(gate, &is_negated));
            is_negated[circuit.n_leaves + idx] = gate.operation == Operation::Or;
        }
        let read =
            |input: Input, is_negated: &[bool]| input ^ u32::from(is_negated[input as usize / 2]);
        let roots = circuit.roots.iter();
        let roots = roots.map(|root| read(root.input, &is_negated)).collect();
        let mut tapes = Vec::with_capacity(circuit.tapes.len());
        let mut tape_roots = Vec::with_capacity(circuit.tape_roots.len());
        let n_roots = circuit.roots.len();
        for (mv, tape) in circuit.tape_of.iter().enumerate() {
            let tape = tape.start as usize..tape.end as usize;
            for (idx, gate) in circuit.tapes[tape].iter().enumerate() {
                tapes.push(product(gate, &is_negated));
                is_negated[n_cells + idx] = gate.operation == Operation::Or;
            }
            let roots = circuit.tape_roots[mv * n_roots..][..n_roots].iter();
            tape_roots.extend(roots.map(|&root| read(root, &is_negated)));
        }
        let mut values = vec![Row([0.0; WIDTH]); n_cells + circuit.longest_tape];
        values[0] = Row([1.0; WIDTH]);
        Some(BlockEvaluator {
            masks: Vec::with_capacity(leaves.len()),
            circuit,
            persistence,
            leaves,
            gates,
            tapes,
            roots,
            tape_roots,
            values,
        })
    }

    /// Whether it needs the legal moves of this other role.
    #[must_use]
    pub fn reads(&self, role: RoleId) -> bool {
        !self.circuit.others[role.idx()].is_empty()
    }

    /// Evaluates the formulas of moves. Row i of `values` is for the i-th move, which is given with the states in which it is
    /// legal; the values of other states are unspecified. `holds` has the states in which each fluent holds, `states` those
    /// to evaluate.
    pub fn evaluate(
        &mut self,
        (holds, states): (&[u64], u64),
        others: &[OtherMove],
        moves: &[(MoveId, u64)],
        values: &mut [[f32; BLOCK]],
    ) {
        self.masks.clear();
        for leaf in &self.leaves {
            let blockers = self.persistence.blockers(leaf.fluent).iter();
            let blocked = blockers.fold(0, |blocked, &(other, value)| {
                blocked | holds[other as usize] ^ if value { 0 } else { !0 }
            });
            self.masks.push((holds[leaf.fluent as usize], blocked));
        }
        for half in 0..BLOCK / WIDTH {
            let part = |states: u64| (states >> (half * WIDTH)) as u32;
            if part(states) == 0 {
                continue;
            }
            self.load(others, &part);
            for (&(mv, legal), values) in moves.iter().zip(&mut *values) {
                if part(legal & states) != 0 {
                    let values = &mut values[half * WIDTH..][..WIDTH];
                    self.play(mv, values.try_into().expect("half of a block"));
                }
            }
        }
    }

    /// Computes all cells for half of the block, before any move.
    fn load(&mut self, others: &[OtherMove], part: &dyn Fn(u64) -> u32) {
        for (leaf, &(holds, blocked)) in self.leaves.iter().zip(&self.masks) {
            let (holds, blocked) = (part(holds), part(blocked));
            let row = &mut self.values[leaf.cell as usize].0;
            for (value, bit) in row.iter_mut().zip(BITS) {
                let low = if blocked & bit == 0 { leaf.low } else { 0.0 };
                *value = if holds & bit == 0 { low } else { leaf.high };
            }
        }
        for &leaf in self.circuit.others.iter().flatten() {
            if leaf != NONE {
                self.values[leaf as usize] = Row([0.0; WIDTH]);
            }
        }
        for other in others {
            let leaves = &self.circuit.others[other.role.idx()];
            let Some(&leaf) = leaves
                .get(other.mv.0 as usize)
                .filter(|&&leaf| leaf != NONE)
            else {
                continue;
            };
            let (may, must) = (part(other.may), part(other.must));
            for (value, bit) in self.values[leaf as usize].0.iter_mut().zip(BITS) {
                let unknown = if may & bit == 0 { 0.0 } else { UNKNOWN as f32 };
                *value = if must & bit == 0 { unknown } else { 1.0 };
            }
        }
        let n_leaves = self.circuit.n_leaves;
        for (idx, &gate) in self.gates.iter().enumerate() {
            multiply(&mut self.values, n_leaves + idx, gate);
        }
    }

    /// Runs the tape of a move.
    fn play(&mut self, mv: MoveId, to: &mut [f32; WIDTH]) {
        let mv = mv.0 as usize;
        let n_cells = self.circuit.n_cells();
        let tape = self.circuit.tape_of[mv].clone();
        let tape = tape.start as usize..tape.end as usize;
        for (idx, &gate) in self.tapes[tape].iter().enumerate() {
            multiply(&mut self.values, n_cells + idx, gate);
        }
        let n_roots = self.roots.len();
        let inputs = match self.circuit.own[mv] {
            NONE => &self.roots[..],
            _ => &self.tape_roots[mv * n_roots..][..n_roots],
        };
        to.fill(0.0);
        for (root, &input) in self.circuit.roots.iter().zip(inputs) {
            let weight = root.weight as f32;
            let (factor, start) = match input & 1 {
                0 => (weight, 0.0),
                _ => (-weight, weight),
            };
            let row = &self.values[input as usize / 2].0;
            for (sum, value) in to.iter_mut().zip(row) {
                *sum += factor * value + start;
            }
        }
    }
}

/// Computes a cell from earlier cells.
#[inline]
fn multiply(values: &mut [Row], cell: usize, gate: Product) {
    let (before, rest) = values.split_at_mut(cell);
    let left = &before[gate.left as usize / 2].0;
    let right = &before[gate.right as usize / 2].0;
    let to = &mut rest[0].0;
    match (gate.left & 1, gate.right & 1) {
        (0, 0) => (0..WIDTH).for_each(|at| to[at] = left[at] * right[at]),
        (0, _) => (0..WIDTH).for_each(|at| to[at] = left[at] * (1.0 - right[at])),
        (_, 0) => (0..WIDTH).for_each(|at| to[at] = (1.0 - left[at]) * right[at]),
        _ => (0..WIDTH).for_each(|at| to[at] = (1.0 - left[at]) * (1.0 - right[at])),
    }
}
