//! Evaluates formulas in fuzzy logic, for all legal moves of a role in a state.
//!
//! A conjunction is the product of its parts, a disjunction `a + b − a · b`, a negation `1 − a`. A fluent that holds has the
//! value p, another one 1 − p. Persistent fluents are certain: a fluent that holds and stays true has the value 1, and a fluent
//! that does not hold and stays false, or is blocked, has the value 0. With p = 1 this is two-valued logic, and the formula of
//! a move says whether it reaches the goal.
//!
//! If atoms depend on each other within one state, sums would count the same evidence again and again until everything is
//! true. There a disjunction is the maximum of its parts, and the least solution is the value of the best proof (Knuth 1977). In
//! connection games, for example, it is the value of the best chain of stones. With p = 1 it is the least model.
//!
//! The circuit is evaluated once per state before any move, incrementally from the last state. Then each move changes the
//! cells above it, either on its tape, or in place and restored afterwards.
//!
//! In: states as words, legal moves. Out: values from 0 to 1.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents
//! - Schiffel and Thielscher 2007, Fluxplayer (fuzzy goals)
//! - Knuth 1977, A Generalization of Dijkstra's Algorithm

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use agon_engine::{MoveId, RoleId};

use crate::circuit::{Circuit, Gate, NONE, Operation};
use crate::persist::Persistence;

/// The value of a move that another role may or may not make.
pub(crate) const UNKNOWN: f64 = 0.5;

/// Estimated number of gates that change with a fluent.
const GATES_PER_CHANGE: usize = 32;

/// Evaluates the formulas of one role: scratch memory of one thread.
#[derive(Clone)]
pub struct Evaluator {
    // Constant.
    circuit: Arc<Circuit>,
    persistence: Arc<Persistence>,
    p: f64,
    // The current state, before any move.
    words: Vec<u64>,
    /// Per role: its moves whose leaves are not 0.
    moves: Vec<Vec<MoveId>>,
    cells: Cells,
    is_new: bool,
    // Scratch: changed fluents, and changed leaves of other roles' moves.
    changed: Vec<u32>,
    moved: Vec<(u32, f64)>,
}

impl Evaluator {
    pub(crate) fn new(circuit: Arc<Circuit>, persistence: Arc<Persistence>, p: f64) -> Evaluator {
        Evaluator {
            p,
            words: Vec::new(),
            moves: vec![Vec::new(); circuit.others.len()],
            cells: Cells::new(&circuit),
            is_new: true,
            changed: Vec::new(),
            moved: Vec::new(),
            circuit,
            persistence,
        }
    }

    /// Whether it needs the legal moves of this other role.
    #[must_use]
    pub fn reads(&self, role: RoleId) -> bool {
        !self.circuit.others[role.idx()].is_empty()
    }

    /// Sets the legal moves of another role in the state that is loaded next. A role without a choice makes its only move; the
    /// move of other roles is unknown.
    pub fn set_moves(&mut self, role: RoleId, legal: &[MoveId]) {
        let before = std::mem::take(&mut self.moves[role.idx()]);
        if before == legal {
            self.moves[role.idx()] = before;
            return;
        }
        for mv in &before {
            self.set_move(role, *mv, 0.0);
        }
        let value = if legal.len() == 1 { 1.0 } else { UNKNOWN };
        for mv in legal {
            self.set_move(role, *mv, value);
        }
        let mut now = before;
        now.clear();
        now.extend_from_slice(legal);
        self.moves[role.idx()] = now;
    }

    fn set_move(&mut self, role: RoleId, mv: MoveId, value: f64) {
        let leaves = &self.circuit.others[role.idx()];
        if let Some(&leaf) = leaves.get(mv.0 as usize).filter(|&&leaf| leaf != NONE) {
            self.moved.push((leaf, value));
        }
    }

    /// Loads a state.
    pub fn load(&mut self, words: &[u64]) {
        if self.is_new {
            self.is_new = false;
            self.words = vec![0; words.len()];
            for fluent in 0..self.circuit.fluents.len() as u32 {
                self.changed.push(fluent);
            }
            let n_leaves = self.circuit.n_leaves;
            let gates = n_leaves..self.circuit.n_cells();
            gates.for_each(|cell| self.cells.dirty.mark(cell as u32));
        }
        for (at, (old, &new)) in self.words.iter_mut().zip(words).enumerate() {
            let mut bits = *old ^ new;
            while bits != 0 {
                self.changed.push(at as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
            *old = new;
        }
        // If much has changed, computing all gates in order is faster than tracking which ones must change.
        let n_changed = self.changed.len() + self.moved.len();
        let is_straight =
            self.circuit.groups.is_empty() && n_changed * GATES_PER_CHANGE > self.circuit.n_gates();
        for (leaf, value) in self.moved.drain(..) {
            self.cells.set_leaf(&self.circuit, leaf, value, is_straight);
        }
        for &fluent in &self.changed {
            for &other in [fluent].iter().chain(self.persistence.blocks(fluent)) {
                let leaf = self.circuit.fluents[other as usize];
                if leaf != NONE {
                    let value = self.truth(other);
                    self.cells.set_leaf(&self.circuit, leaf, value, is_straight);
                }
            }
        }
        self.changed.clear();
        if is_straight {
            self.cells.compute_all(&self.circuit);
        } else {
            self.cells.settle(&self.circuit, false);
        }
    }

    fn holds(&self, fluent: u32) -> bool {
        self.words[fluent as usize / 64] >> (fluent % 64) & 1 == 1
    }

    fn is_blocked(&self, fluent: u32) -> bool {
        let mut blockers = self.persistence.blockers(fluent).iter();
        blockers.any(|&(other, value)| self.holds(other) == value)
    }

    /// The value of a fluent.
    fn truth(&self, fluent: u32) -> f64 {
        let known = &self.persistence;
        if self.holds(fluent) {
            if known.stays_true(fluent) {
                1.0
            } else {
                self.p
            }
        } else if known.stays_false(fluent) || self.is_blocked(fluent) {
            0.0
        } else {
            1.0 - self.p
        }
    }

    /// The value of the formula of a move in the loaded state.
    pub fn value(&mut self, mv: MoveId) -> f64 {
        let leaf = self.circuit.own[mv.0 as usize];
        if leaf == NONE {
            return self.root();
        }
        let tape = self.circuit.tape_of[mv.0 as usize].clone();
        if !tape.is_empty() {
            return self.play(mv, tape.start as usize..tape.end as usize);
        }
        self.cells.set_leaf(&self.circuit, leaf, 1.0, false);
        self.cells.settle(&self.circuit, true);
        let value = self.root();
        self.cells.restore();
        self.cells.put(leaf, 0.0);
        value
    }

    /// Runs the tape of a move.
    fn play(&mut self, mv: MoveId, tape: Range<usize>) -> f64 {
        let circuit = &*self.circuit;
        let values = &mut self.cells.values;
        let first = circuit.n_cells();
        for (idx, &gate) in circuit.tapes[tape].iter().enumerate() {
            run(values, first + idx, gate);
        }
        let n_roots = circuit.roots.len();
        let places = &circuit.tape_roots[mv.0 as usize * n_roots..][..n_roots];
        let roots = circuit.roots.iter().zip(places);
        roots
            .map(|(root, &place)| root.weight * values[place as usize])
            .sum()
    }

    fn root(&self) -> f64 {
        let roots = self.circuit.roots.iter();
        roots
            .map(|root| root.weight * self.cells.values[root.input as usize])
            .sum()
    }
}

/// The values of the cells of a circuit, and the cells to be recomputed.
#[derive(Clone)]
struct Cells {
    /// Two values per cell: its value v, and 1 − v.
    values: Vec<f64>,
    dirty: Dirty,
    /// Old values, to be restored.
    trail: Vec<(u32, [f64; 2])>,
    /// Cells of a group of loops that must be recomputed.
    queue: VecDeque<u32>,
    is_queued: Vec<bool>,
}

impl Cells {
    fn new(circuit: &Circuit) -> Cells {
        let n_cells = circuit.n_cells();
        let values = [0.0, 1.0].repeat(n_cells + circuit.longest_tape);
        let has_loops = !circuit.groups.is_empty();
        let mut cells = Cells {
            values,
            dirty: Dirty::new(n_cells),
            trail: Vec::new(),
            queue: VecDeque::new(),
            is_queued: vec![false; if has_loops { n_cells } else { 0 }],
        };
        cells.put(0, 1.0);
        cells
    }

    #[inline]
    fn get(&self, cell: u32) -> f64 {
        self.values[cell as usize * 2]
    }

    #[inline]
    fn pair(&self, cell: u32) -> [f64; 2] {
        let at = cell as usize * 2;
        [self.values[at], self.values[at + 1]]
    }

    #[inline]
    fn put(&mut self, cell: u32, value: f64) {
        self.values[cell as usize * 2] = value;
        self.values[cell as usize * 2 + 1] = 1.0 - value;
    }

    /// Sets a leaf and marks its readers, unless all gates are recomputed anyway.
    fn set_leaf(&mut self, circuit: &Circuit, leaf: u32, value: f64, is_all: bool) {
        if self.get(leaf) != value {
            self.put(leaf, value);
            if !is_all {
                self.dirty.mark_all(circuit.readers(leaf as usize));
            }
        }
    }

    /// Computes all gates of a circuit without loops.
    fn compute_all(&mut self, circuit: &Circuit) {
        for (cell, &gate) in (circuit.n_leaves..).zip(&circuit.gates) {
            run(&mut self.values, cell, gate);
        }
        self.dirty.clear();
    }

    /// Recomputes the dirty cells and everything that changes with them. With a trail, old values are recorded.
    fn settle(&mut self, circuit: &Circuit, has_trail: bool) {
        while let Some(cell) = self.dirty.pop() {
            let gate = circuit.gates[cell as usize - circuit.n_leaves];
            if matches!(gate.operation, Operation::LoopAnd | Operation::LoopMax) {
                self.settle_group(circuit, cell, has_trail);
                continue;
            }
            let old = self.pair(cell);
            run(&mut self.values, cell as usize, gate);
            if self.get(cell) != old[0] {
                if has_trail {
                    self.trail.push((cell, old));
                }
                self.dirty.mark_all(circuit.readers(cell as usize));
            }
        }
    }

    /// Restores the recorded values.
    fn restore(&mut self) {
        while let Some((cell, old)) = self.trail.pop() {
            self.values[cell as usize * 2..][..2].copy_from_slice(&old);
        }
    }

    /// Finds the least solution of a group of loops, whose first dirty cell is `first`. As long as values rise, it continues
    /// from the last solution; if one falls, it restarts from zero.
    fn settle_group(&mut self, circuit: &Circuit, first: u32, has_trail: bool) {
        let group = circuit.group(first);
        self.enqueue(first);
        while let Some(cell) = self.dirty.pop_below(group.end) {
            self.enqueue(cell);
        }
        while let Some(cell) = self.queue.pop_front() {
            self.is_queued[cell as usize] = false;
            let value = compute(
                &self.values,
                circuit.gates[cell as usize - circuit.n_leaves],
            );
            let old = self.get(cell);
            if value > old {
                self.change(circuit, cell, value, &group, has_trail);
            } else if value < old {
                for cell in group.clone() {
                    if self.get(cell) != 0.0 {
                        self.change(circuit, cell, 0.0, &group, has_trail);
                    }
                    self.enqueue(cell);
                }
            }
        }
    }

    fn change(
        &mut self,
        circuit: &Circuit,
        cell: u32,
        value: f64,
        group: &Range<u32>,
        has_trail: bool,
    ) {
        let old = self.pair(cell);
        self.put(cell, value);
        if has_trail {
            self.trail.push((cell, old));
        }
        for &reader in circuit.readers(cell as usize) {
            if group.contains(&reader) {
                self.enqueue(reader);
            } else {
                self.dirty.mark(reader);
            }
        }
    }

    fn enqueue(&mut self, cell: u32) {
        if !std::mem::replace(&mut self.is_queued[cell as usize], true) {
            self.queue.push_back(cell);
        }
    }
}

/// Computes a gate outside loops. A disjunction is the negation of a product of negations, so there is no branch.
#[inline]
fn run(values: &mut [f64], cell: usize, gate: Gate) {
    let is_or = u32::from(gate.operation == Operation::Or);
    let product = values[(gate.left ^ is_or) as usize] * values[(gate.right ^ is_or) as usize];
    let pair = &mut values[cell * 2..cell * 2 + 2];
    pair[is_or as usize] = product;
    pair[1 - is_or as usize] = 1.0 - product;
}

/// Computes a gate within loops.
fn compute(values: &[f64], gate: Gate) -> f64 {
    let (left, right) = (values[gate.left as usize], values[gate.right as usize]);
    match gate.operation {
        Operation::LoopMax => left.max(right),
        _ => left * right,
    }
}

/// A set of cells to be recomputed, lowest first.
#[derive(Clone)]
struct Dirty {
    bits: Vec<u64>,
    /// One bit per nonzero word of `bits`.
    words: Vec<u64>,
    /// All entries of `words` below this index are 0.
    low: usize,
}

impl Dirty {
    fn new(n_cells: usize) -> Dirty {
        let n_words = n_cells.div_ceil(64);
        Dirty {
            bits: vec![0; n_words],
            words: vec![0; n_words.div_ceil(64)],
            low: usize::MAX,
        }
    }

    #[inline]
    fn mark(&mut self, cell: u32) {
        let word = cell as usize / 64;
        self.bits[word] |= 1 << (cell % 64);
        self.words[word / 64] |= 1 << (word % 64);
        self.low = self.low.min(word / 64);
    }

    #[inline]
    fn mark_all(&mut self, cells: &[u32]) {
        cells.iter().for_each(|&cell| self.mark(cell));
    }

    fn clear(&mut self) {
        self.bits.fill(0);
        self.words.fill(0);
        self.low = usize::MAX;
    }

    #[inline]
    fn lowest(&mut self) -> Option<u32> {
        while self.low < self.words.len() {
            let words = self.words[self.low];
            if words != 0 {
                let word = self.low * 64 + words.trailing_zeros() as usize;
                return Some(word as u32 * 64 + self.bits[word].trailing_zeros());
            }
            self.low += 1;
        }
        self.low = usize::MAX;
        None
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let cell = self.lowest()?;
        self.unmark(cell);
        Some(cell)
    }

    fn pop_below(&mut self, end: u32) -> Option<u32> {
        let cell = self.lowest().filter(|&cell| cell < end)?;
        self.unmark(cell);
        Some(cell)
    }

    #[inline]
    fn unmark(&mut self, cell: u32) {
        let word = cell as usize / 64;
        self.bits[word] &= !(1 << (cell % 64));
        if self.bits[word] == 0 {
            self.words[word / 64] &= !(1 << (word % 64));
        }
    }
}
