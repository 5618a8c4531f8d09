//! A circuit that evaluates formulas: gates with two inputs, in topological order.
//!
//! Wide conjunctions and disjunctions become balanced trees, so that a change of one part reaches the root through few gates.
//! Parts that do not depend on a move of the role are joined first. A move then changes only the gates above it, and all moves
//! of a state share the rest.
//!
//! Each move has a tape: the gates above it, in order. They read cells as they are before any move, or earlier results on the
//! tape. Moves whose tapes would be too long or contain loops have no tape; they change cells and restore them.
//!
//! The gates of a group of loops are consecutive and come after all cells that the group reads. In them a disjunction is a
//! maximum; see [`crate::fuzzy`].
//!
//! In: a graph of formulas with roots. Out: a [`Circuit`], immutable and shared.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use agon_engine::{MoveId, RoleId};

use crate::formula::{Formula, Formulas, Group, Node};

/// Stands for a missing leaf.
pub(crate) const NONE: u32 = u32::MAX;

/// The operation of a gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// Product.
    And,
    /// Probabilistic sum.
    Or,
    /// Product, within loops.
    LoopAnd,
    /// Maximum, within loops.
    LoopMax,
}

/// The value of a cell or one minus it: twice the number of the cell, plus one for the negation.
pub(crate) type Input = u32;

/// A gate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    pub(crate) operation: Operation,
    pub(crate) left: Input,
    pub(crate) right: Input,
}

/// Gates over leaves. The cells are the leaves, followed by the gates.
pub struct Circuit {
    pub(crate) n_leaves: usize,
    pub(crate) gates: Vec<Gate>,
    /// Per cell: the end of its part of `readers`.
    reader_ends: Vec<u32>,
    readers: Vec<u32>,
    /// Per fluent: its leaf.
    pub(crate) fluents: Vec<u32>,
    /// Per move of the role: its leaf.
    pub(crate) own: Vec<u32>,
    /// Per other role and move: its leaf; empty for roles without leaves.
    pub(crate) others: Vec<Vec<u32>>,
    /// The cells of each group of loops.
    pub(crate) groups: Vec<Range<u32>>,
    pub(crate) roots: Vec<Root>,
    /// Gates of all tapes. Inputs are cells, or positions on the tape, which are numbered after all cells.
    pub(crate) tapes: Vec<Gate>,
    /// Per move of the role: its part of `tapes`; empty for a move without a tape.
    pub(crate) tape_of: Vec<Range<u32>>,
    /// Per move of the role and root: the input that has the value of the root after the tape.
    pub(crate) tape_roots: Vec<Input>,
    /// Length of the longest tape.
    pub(crate) longest_tape: usize,
}

/// Maximum number of gates on all tapes of a role, and on one tape.
const MAX_TAPES: usize = 3_000_000;
const MAX_TAPE: usize = 20_000;

/// The root of a goal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub(crate) input: Input,
    pub(crate) weight: f64,
}

/// The sizes of a game.
pub(crate) struct Shape<'a> {
    pub(crate) role: RoleId,
    pub(crate) n_fluents: usize,
    /// Number of moves per role.
    pub(crate) n_moves: &'a [usize],
}

impl Circuit {
    /// Builds the circuit of these roots.
    pub(crate) fn new(formulas: &Formulas, roots: &[(Formula, f64)], shape: &Shape<'_>) -> Circuit {
        let is_needed = formulas.needed(&roots.iter().map(|&(root, _)| root).collect::<Vec<_>>());
        let mut layout = Layout {
            formulas,
            role: shape.role,
            is_needed,
            inputs: vec![NONE; formulas.n_nodes()],
            is_own: vec![false; formulas.n_nodes()],
            n_leaves: 1,
            gates: Vec::new(),
            depths: Vec::new(),
        };
        let mut circuit = layout.leaves(shape);
        layout.gates(&mut circuit);
        circuit.roots = roots
            .iter()
            .map(|&(root, weight)| Root {
                input: layout.input(root),
                weight,
            })
            .collect();
        circuit.gates = layout.gates;
        circuit.index();
        circuit.write_tapes();
        circuit
    }

    /// Number of gates and leaves.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        self.n_leaves + self.gates.len()
    }

    /// Number of gates.
    #[must_use]
    pub fn n_gates(&self) -> usize {
        self.gates.len()
    }

    /// Mean length of a tape.
    pub(crate) fn mean_tape(&self) -> usize {
        let n_tapes = self.tape_of.iter().filter(|tape| !tape.is_empty()).count();
        self.tapes.len() / n_tapes.max(1)
    }

    /// Whether each relevant move has a tape and there are no loops.
    pub(crate) fn has_all_tapes(&self) -> bool {
        let mut moves = self.own.iter().zip(&self.tape_of);
        self.groups.is_empty()
            && moves.all(|(&leaf, tape)| {
                leaf == NONE || !tape.is_empty() || self.readers(leaf as usize).is_empty()
            })
    }

    /// The gates that read a cell.
    #[inline]
    pub(crate) fn readers(&self, cell: usize) -> &[u32] {
        let start = if cell == 0 {
            0
        } else {
            self.reader_ends[cell - 1]
        };
        &self.readers[start as usize..self.reader_ends[cell] as usize]
    }

    /// The group of loops that a cell belongs to.
    pub(crate) fn group(&self, cell: u32) -> Range<u32> {
        let at = self.groups.partition_point(|group| group.end <= cell);
        self.groups[at].clone()
    }

    /// Writes the tapes of all moves, within the limit.
    fn write_tapes(&mut self) {
        let n_cells = self.n_cells();
        // Per cell: its number among the cells and tape positions.
        let mut places: Vec<u32> = (0..n_cells as u32).collect();
        let mut is_above = vec![false; n_cells];
        let mut n_left = MAX_TAPES;
        for at in 0..self.own.len() {
            let start = self.tapes.len();
            let above = self.above(self.own[at], &mut is_above, &mut n_left);
            if let Some(above) = above {
                let leaf = self.own[at] as usize;
                // The move is made: its leaf has the value of cell 0, which is always 1.
                places[leaf] = 0;
                for &cell in &above {
                    let gate = self.gates[cell as usize - self.n_leaves];
                    let place = |input: Input| places[input as usize / 2] * 2 + (input & 1);
                    self.tapes.push(Gate {
                        operation: gate.operation,
                        left: place(gate.left),
                        right: place(gate.right),
                    });
                    places[cell as usize] = (n_cells + self.tapes.len() - 1 - start) as u32;
                }
                let roots = self.roots.iter().map(|root| root.input);
                let roots = roots.map(|input| places[input as usize / 2] * 2 + (input & 1));
                self.tape_roots.extend(roots);
                places[leaf] = leaf as u32;
                above.iter().for_each(|&cell| places[cell as usize] = cell);
            } else {
                let roots = self.roots.iter().map(|root| root.input);
                self.tape_roots.extend(roots);
            }
            self.longest_tape = self.longest_tape.max(self.tapes.len() - start);
            self.tape_of.push(start as u32..self.tapes.len() as u32);
        }
    }

    /// The cells above a leaf, in order. Returns `None` if there are too many, if they contain loops, or if the limit is
    /// reached. Failed attempts count towards the limit too, which bounds the time.
    fn above(&self, leaf: u32, is_above: &mut [bool], n_left: &mut usize) -> Option<Vec<u32>> {
        if leaf == NONE || *n_left < MAX_TAPE {
            return None;
        }
        let mut above = Vec::new();
        let mut open = vec![leaf];
        while let Some(cell) = open.pop() {
            for &reader in self.readers(cell as usize) {
                if !std::mem::replace(&mut is_above[reader as usize], true) {
                    above.push(reader);
                    open.push(reader);
                }
            }
            if above.len() > MAX_TAPE {
                break;
            }
        }
        above
            .iter()
            .for_each(|&cell| is_above[cell as usize] = false);
        *n_left -= above.len().min(MAX_TAPE);
        let is_loop = |&cell: &u32| {
            let operation = self.gates[cell as usize - self.n_leaves].operation;
            matches!(operation, Operation::LoopAnd | Operation::LoopMax)
        };
        let is_fit = above.len() <= MAX_TAPE && !above.iter().any(is_loop);
        above.sort_unstable();
        is_fit.then_some(above)
    }

    /// Computes the readers of each cell.
    fn index(&mut self) {
        let n_cells = self.n_cells();
        let mut ends = vec![0_u32; n_cells + 1];
        let inputs = |gate: &Gate| [gate.left / 2, gate.right / 2];
        for cell in self.gates.iter().flat_map(inputs) {
            ends[cell as usize + 1] += 1;
        }
        for cell in 0..n_cells {
            ends[cell + 1] += ends[cell];
        }
        let mut readers = vec![0; self.gates.len() * 2];
        for (idx, gate) in self.gates.iter().enumerate() {
            for cell in inputs(gate) {
                let at = &mut ends[cell as usize];
                readers[*at as usize] = (self.n_leaves + idx) as u32;
                *at += 1;
            }
        }
        ends.pop();
        self.reader_ends = ends;
        self.readers = readers;
    }
}

struct Layout<'a> {
    formulas: &'a Formulas,
    role: RoleId,
    is_needed: Vec<bool>,
    /// Per node: its input.
    inputs: Vec<Input>,
    /// Per node: whether it depends on a move of the role.
    is_own: Vec<bool>,
    n_leaves: usize,
    gates: Vec<Gate>,
    /// Per gate: its distance from the leaves.
    depths: Vec<u32>,
}

impl Layout<'_> {
    /// Assigns cells to the leaves. Cell 0 is always 1.
    fn leaves(&mut self, shape: &Shape<'_>) -> Circuit {
        let mut circuit = Circuit {
            n_leaves: 0,
            gates: Vec::new(),
            reader_ends: Vec::new(),
            readers: Vec::new(),
            fluents: vec![NONE; shape.n_fluents],
            own: vec![NONE; shape.n_moves[shape.role.idx()]],
            others: vec![Vec::new(); shape.n_moves.len()],
            groups: Vec::new(),
            roots: Vec::new(),
            tapes: Vec::new(),
            tape_of: Vec::new(),
            tape_roots: Vec::new(),
            longest_tape: 0,
        };
        self.inputs[Formula::TRUE.node()] = 0;
        for node in 0..self.formulas.n_nodes() {
            if !self.is_needed[node] {
                continue;
            }
            let leaf = self.n_leaves as u32;
            match self.formulas.node(node) {
                Node::Fluent(fluent) => circuit.fluents[fluent as usize] = leaf,
                Node::Does(role, MoveId(mv)) if role == self.role => {
                    circuit.own[mv as usize] = leaf;
                    self.is_own[node] = true;
                }
                Node::Does(role, MoveId(mv)) => {
                    let leaves = &mut circuit.others[role.idx()];
                    leaves.resize(shape.n_moves[role.idx()], NONE);
                    leaves[mv as usize] = leaf;
                }
                _ => continue,
            }
            self.inputs[node] = leaf * 2;
            self.n_leaves += 1;
        }
        circuit.n_leaves = self.n_leaves;
        circuit
    }

    fn gates(&mut self, circuit: &mut Circuit) {
        let mut node = 0;
        for group in self.formulas.groups() {
            self.plain(node..group.nodes.start);
            if let Some(cells) = self.group(group) {
                circuit.groups.push(cells);
            }
            node = group.nodes.end;
        }
        self.plain(node..self.formulas.n_nodes());
    }

    /// Adds gates outside loops.
    fn plain(&mut self, nodes: Range<usize>) {
        let formulas = self.formulas;
        for node in nodes {
            if !self.is_needed[node] {
                continue;
            }
            if let Node::And(parts) | Node::Or(parts) = formulas.node(node) {
                self.is_own[node] = parts.iter().any(|part| self.is_own[part.node()]);
                let operation = match formulas.node(node) {
                    Node::And(_) => Operation::And,
                    _ => Operation::Or,
                };
                self.inputs[node] = self.tree(operation, parts);
            }
        }
    }

    /// Adds the gates of a group of loops. Returns the cells that depend on each other, if any are needed.
    fn group(&mut self, group: &Group) -> Option<Range<u32>> {
        let formulas = self.formulas;
        let loops = &formulas.loops()[group.loops.clone()];
        let needed: Vec<_> = loops
            .iter()
            .filter(|entry| self.is_needed[entry.node as usize])
            .collect();
        if needed.is_empty() {
            return None;
        }
        // Step 1. Find the nodes that depend on the loops. The others become ordinary gates.
        let mut is_inside = vec![false; group.nodes.len()];
        let first = group.nodes.start;
        let inside = |part: &Formula, is_inside: &[bool]| {
            let at = part.node().checked_sub(first);
            at.is_some_and(|at| is_inside.get(at).copied().unwrap_or(false))
        };
        for node in group.nodes.clone() {
            if !self.is_needed[node] {
                continue;
            }
            is_inside[node - first] = match formulas.node(node) {
                Node::Loop(_) => true,
                Node::And(parts) | Node::Or(parts) => {
                    parts.iter().any(|part| inside(part, &is_inside))
                }
                _ => false,
            };
            if !is_inside[node - first] {
                self.plain(node..node + 1);
            }
        }
        // Step 2. The inputs from outside come before all gates inside. All nodes inside count as dependent on a move,
        // because a group is always recomputed as a whole.
        let mut outer = vec![Vec::new(); group.nodes.len()];
        for node in group.nodes.clone() {
            if !is_inside[node - first] {
                continue;
            }
            self.is_own[node] = true;
            if let Node::And(parts) | Node::Or(parts) = formulas.node(node) {
                let others: Vec<Formula> = parts
                    .iter()
                    .copied()
                    .filter(|part| !inside(part, &is_inside))
                    .collect();
                if !others.is_empty() {
                    let operation = match formulas.node(node) {
                        Node::And(_) => Operation::And,
                        _ => Operation::Or,
                    };
                    outer[node - first].push(self.tree(operation, &others));
                }
            }
        }
        // Step 3. Add a cell for each loop, then the gates inside.
        let start = (self.n_leaves + self.gates.len()) as u32;
        for entry in &needed {
            self.inputs[entry.node as usize] = self.push(Operation::LoopMax, 1, 1);
        }
        for node in group.nodes.clone() {
            if let (true, Node::And(parts) | Node::Or(parts)) =
                (is_inside[node - first], formulas.node(node))
            {
                let mut inputs = std::mem::take(&mut outer[node - first]);
                let members = parts.iter().filter(|part| inside(part, &is_inside));
                inputs.extend(members.map(|&part| self.input(part)));
                let operation = match formulas.node(node) {
                    Node::And(_) => Operation::LoopAnd,
                    _ => Operation::LoopMax,
                };
                self.inputs[node] = self.join(operation, inputs);
            }
        }
        for entry in &needed {
            let gate = (self.inputs[entry.node as usize] / 2) as usize - self.n_leaves;
            let definition = self.input(entry.definition);
            self.gates[gate].left = definition;
            self.gates[gate].right = definition;
        }
        Some(start..(self.n_leaves + self.gates.len()) as u32)
    }

    /// A balanced tree over parts. Parts that no move of the role changes are joined first.
    fn tree(&mut self, operation: Operation, parts: &[Formula]) -> Input {
        let (own, rest): (Vec<Formula>, Vec<Formula>) =
            parts.iter().partition(|part| self.is_own[part.node()]);
        let mut inputs: Vec<Input> = own.iter().map(|&part| self.input(part)).collect();
        if !rest.is_empty() {
            let rest = rest.iter().map(|&part| self.input(part)).collect();
            inputs.push(self.join(operation, rest));
        }
        self.join(operation, inputs)
    }

    /// A tree over inputs, in which the inputs with the smallest depth are joined first.
    fn join(&mut self, operation: Operation, inputs: Vec<Input>) -> Input {
        let mut heap: BinaryHeap<Reverse<(u32, Input)>> = inputs
            .into_iter()
            .map(|input| Reverse((self.depth(input), input)))
            .collect();
        loop {
            let Reverse((_, left)) = heap.pop().expect("a gate has inputs");
            let Some(Reverse((_, right))) = heap.pop() else {
                return left;
            };
            let joined = self.push(operation, left, right);
            heap.push(Reverse((self.depth(joined), joined)));
        }
    }

    fn push(&mut self, operation: Operation, left: Input, right: Input) -> Input {
        let depth = self.depth(left).max(self.depth(right)) + 1;
        self.depths.push(depth);
        self.gates.push(Gate {
            operation,
            left,
            right,
        });
        (self.n_leaves + self.gates.len() - 1) as u32 * 2
    }

    fn depth(&self, input: Input) -> u32 {
        let gate = (input as usize / 2).checked_sub(self.n_leaves);
        gate.map_or(0, |gate| self.depths[gate])
    }

    fn input(&self, formula: Formula) -> Input {
        self.inputs[formula.node()] ^ u32::from(formula.is_negated())
    }
}
