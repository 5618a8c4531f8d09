//! Nodes of a network → code: each gate gets a row, in the order in which gates are evaluated.
//!
//! Straight pieces of code alternate with components, the pieces that are repeated ([`crate::levels`]). What one piece
//! computes and another one reads must reach memory; the rest may stay in registers.

use super::code::{Code, Literal};
use super::kernel::Kernel;
use super::layout::{NodeSet, PhaseContext};
use super::program::{LayoutOptions, ONES, Segment, ZERO};
use crate::levels::NONE;
use crate::network::{Node, NodeId, Signal};

pub(super) fn constant(value: bool) -> Literal {
    Literal::new(ONES, !value)
}

/// Code before it is made a kernel.
pub(super) struct Draft {
    code: Code,
    loops: Option<Vec<(u32, Literal)>>,
}

/// Gives gates their rows, in the order in which they are evaluated.
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
            self.literals[signal.node().idx()].expect("nodes are emitted before they are read");
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

    /// The code of some nodes: straight pieces, and components between them.
    pub(super) fn emit(&mut self, nodes: &NodeSet) -> Vec<Draft> {
        let (network, levels) = (self.context.network, self.context.levels);
        // A component stands where it opens; at that level no gate outside reads it or is read by it.
        let mut order: Vec<(u32, u32, u32)> = Vec::new();
        for node in network.nodes().filter(|node| nodes[node.idx()]) {
            let component = levels.component[node.idx()];
            match (network.node(node), component) {
                (Node::And(_), NONE) => order.push((levels.level[node.idx()], NONE, node.0)),
                (Node::And(_) | Node::Loop(_), of) if of != NONE => {
                    order.push((levels.components[of as usize].open, of, node.0));
                }
                _ => {}
            }
        }
        // Members of a component stay in the order of nodes, in which gates follow what they read.
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

    /// Rows for the loops of a component; their definitions are filled in when all gates have rows.
    fn open(&mut self, component: u32) -> Vec<(u32, Literal)> {
        let context = self.context;
        let mut rows = Vec::new();
        for &of in &context.levels.components[component as usize].loops {
            let row = self.new_row();
            self.literals[context.loop_nodes[of as usize].idx()] = Some(Literal::new(row, false));
            // The number of the loop for now.
            rows.push((row, Literal(of)));
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

/// Makes kernels. A row must reach memory if something outside of its piece reads it.
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
