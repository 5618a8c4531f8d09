//! Emits code for the nodes of a network: each gate gets a row, in evaluation order.
//!
//! Straight-line segments alternate with components, the segments that are repeated ([`crate::levels`]). A row that is
//! computed in one segment and read in another must be written to memory; the others may stay in registers.

use rustc_hash::FxHashSet;

use super::code::{Code, Literal};
use super::kernel::Kernel;
use super::layout::{NodeSet, PhaseContext};
use super::program::{LayoutOptions, ONES, Segment, ZERO};
use crate::levels::NONE;
use crate::network::{Node, NodeId, Signal};

pub(super) fn constant(value: bool) -> Literal {
    Literal::new(ONES, !value)
}

/// Code before it becomes a kernel.
pub(super) struct Draft {
    code: Code,
    loops: Option<Vec<(u32, Literal)>>,
}

impl Draft {
    /// The rows that the last of some drafts computes, except some; none if it is repeated.
    pub(super) fn own_rows(drafts: &[Draft], except: &[u32]) -> FxHashSet<u32> {
        let Some(last) = drafts.last().filter(|last| last.loops.is_none()) else {
            return FxHashSet::default();
        };
        let gates = 0..last.code.n_gates();
        let mut rows: FxHashSet<u32> = gates.map(|gate| last.code.target(gate)).collect();
        for row in except {
            rows.remove(row);
        }
        rows
    }

    /// Allows a row of the last draft to be stored in the row of a base.
    pub(super) fn settle(drafts: &mut [Draft], row: u32, base: u32) {
        if let Some(last) = drafts.last_mut() {
            last.code.home(row, base);
        }
    }
}

/// Assigns rows to gates, in evaluation order.
pub(super) struct Emitter<'a> {
    context: &'a PhaseContext<'a>,
    pub(super) literals: Vec<Option<Literal>>,
    pub(super) next_row: u32,
    scratch: Vec<Literal>,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        context: &'a PhaseContext<'a>,
        literals: Vec<Option<Literal>>,
        next_row: u32,
    ) -> Emitter<'a> {
        Emitter {
            context,
            literals,
            next_row,
            scratch: Vec::new(),
        }
    }

    pub(super) fn literal(&self, signal: Signal) -> Literal {
        let literal =
            self.literals[signal.node().idx()].expect("every node is emitted before it is read");
        Literal(literal.0 ^ u32::from(signal.is_complement()))
    }

    fn new_row(&mut self) -> u32 {
        self.next_row += 1;
        self.next_row - 1
    }

    /// A row with the value of a signal, not complemented.
    pub(super) fn plain(&mut self, signal: Signal, drafts: &mut Vec<Draft>) -> u32 {
        let literal = self.literal(signal);
        match (literal.row(), literal.is_complement()) {
            (ONES, true) => ZERO,
            (row, false) => row,
            _ => self.copy(literal, drafts),
        }
    }

    /// A new row with the value of a literal.
    pub(super) fn copy(&mut self, literal: Literal, drafts: &mut Vec<Draft>) -> u32 {
        let row = self.new_row();
        if drafts.last().is_none_or(|draft| draft.loops.is_some()) {
            drafts.push(Draft {
                code: Code::new(),
                loops: None,
            });
        }
        if let Some(draft) = drafts.last_mut() {
            draft.code.and(row, &[literal]);
        }
        row
    }

    /// The code of some nodes: straight-line segments with components between them.
    pub(super) fn emit(&mut self, nodes: &NodeSet) -> Vec<Draft> {
        let (network, levels) = (self.context.network, self.context.levels);
        // A component is placed where it opens; at that level no gate outside reads it or is read by it.
        let mut order: Vec<(u32, u32, u32)> = Vec::new();
        for node in network.nodes().filter(|node| nodes[node.idx()]) {
            let component = levels.component[node.idx()];
            match (network.node(node), component) {
                (Node::And(_), NONE) => order.push((levels.level[node.idx()], NONE, node.0)),
                (Node::And(_) | Node::Loop(_), component) if component != NONE => {
                    order.push((
                        levels.components[component as usize].open,
                        component,
                        node.0,
                    ));
                }
                _ => {}
            }
        }
        // Members of a component stay in node order, in which gates follow what they read.
        order.sort_unstable_by_key(|&(level, component, node)| {
            (level, component.wrapping_add(1), node)
        });
        let mut drafts: Vec<Draft> = Vec::new();
        let mut current = NONE;
        for &(_, component, node) in &order {
            let is_new = drafts.is_empty() || component != current;
            if is_new {
                let loops = (component != NONE).then(|| self.open(component));
                drafts.push(Draft {
                    code: Code::new(),
                    loops,
                });
                current = component;
            }
            let Node::And(signals) = network.node(NodeId(node)) else {
                continue;
            };
            let mut literals = std::mem::take(&mut self.scratch);
            literals.clear();
            literals.extend(signals.iter().map(|&signal| self.literal(signal)));
            let row = self.new_row();
            if let Some(draft) = drafts.last_mut() {
                draft.code.and(row, &literals);
            }
            self.literals[node as usize] = Some(Literal::new(row, false));
            self.scratch = literals;
        }
        self.close(&mut drafts);
        drafts
    }

    /// Assigns rows to the loops of a component; their definitions are filled in when all gates have rows.
    fn open(&mut self, component: u32) -> Vec<(u32, Literal)> {
        let context = self.context;
        let mut rows = Vec::new();
        for &idx in &context.levels.components[component as usize].loops {
            let row = self.new_row();
            self.literals[context.loop_nodes[idx as usize].idx()] = Some(Literal::new(row, false));
            // A placeholder: the index of the loop.
            rows.push((row, Literal(idx)));
        }
        rows
    }

    fn close(&mut self, drafts: &mut [Draft]) {
        for (_, definition) in drafts
            .iter_mut()
            .flat_map(|draft| draft.loops.iter_mut().flatten())
        {
            *definition = self.literal(self.context.network.loops[definition.0 as usize]);
        }
    }
}

/// Makes kernels. A row must reach memory if it is read outside its segment.
pub(super) fn finish(
    mut drafts: Vec<Draft>,
    read: &[u32],
    options: &LayoutOptions,
) -> Vec<Segment> {
    let rows = drafts
        .iter()
        .map(|draft| draft.code.n_rows())
        .max()
        .unwrap_or(0);
    let mut writer = vec![NONE; rows];
    for (idx, draft) in drafts.iter().enumerate() {
        for gate in 0..draft.code.n_gates() {
            writer[draft.code.target(gate) as usize] = idx as u32;
        }
    }
    let mut outputs: Vec<u32> = read.to_vec();
    for (idx, draft) in drafts.iter().enumerate() {
        for gate in 0..draft.code.n_gates() {
            for literal in draft.code.literals(gate) {
                let from = writer[literal.row() as usize];
                if from != NONE && from != idx as u32 {
                    outputs.push(literal.row());
                }
            }
        }
        outputs.extend(
            draft
                .loops
                .iter()
                .flatten()
                .map(|&(_, definition)| definition.row()),
        );
    }
    outputs.sort_unstable();
    outputs.dedup();
    for row in outputs {
        if let Some(&from) = writer.get(row as usize).filter(|&&from| from != NONE) {
            drafts[from as usize].code.output(row);
        }
    }
    let segment = |draft: Draft| {
        let kernel = Kernel::new(&draft.code, options.simd, options.jit);
        match draft.loops {
            None => Segment::Straight(kernel),
            Some(loops) => Segment::Repeat { kernel, loops },
        }
    };
    drafts.into_iter().map(segment).collect()
}
