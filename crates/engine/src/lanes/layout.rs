//! The layout of one phase of a game: which nodes belong to which part of a step, and the row of each.

use super::choose::Leaves;
use super::code::Literal;
use super::emit::{Draft, Emitter, constant, finish};
use super::program::{
    Choice, DeferGoals, FIRST_BASE, GoalRow, Goals, LayoutOptions, ONES, Phase, RoleMoves, Side,
    Successors, TRASH, ZERO,
};
use crate::levels::{Levels, NONE};
use crate::network::{Network, Node, NodeId, Signal};
use crate::state::{Goal, MoveId, State};

/// State bits whose value is known from the phase.
pub(super) struct KnownBits {
    /// Per base: its value in each phase.
    pub(super) by_base: Vec<Option<Vec<bool>>>,
}

impl KnownBits {
    pub(super) fn new(networks: &[Network], initial: &State) -> KnownBits {
        let n_phases = networks.len();
        let known = |base: usize| {
            let mut values = vec![false; n_phases];
            for (phase, network) in networks.iter().enumerate() {
                values[(phase + 1) % n_phases] = network.next[base].constant()?;
            }
            let first = initial.words()[base / 64] >> (base % 64) & 1 == 1;
            (values[0] == first).then_some(values)
        };
        KnownBits {
            by_base: (0..networks[0].n_bases as usize).map(known).collect(),
        }
    }

    fn fixed_words(&self, phase: usize, n_words: usize) -> Vec<u64> {
        let mut words = vec![0; n_words];
        for (base, values) in self.by_base.iter().enumerate() {
            if values.as_ref().is_some_and(|values| values[phase]) {
                words[base / 64] |= 1 << (base % 64);
            }
        }
        words
    }
}

/// Inputs of roles that have several possible moves.
pub(super) fn chosen_inputs(network: &Network) -> Vec<bool> {
    let mut is_chosen = vec![false; network.n_inputs as usize];
    for role in &network.roles {
        let is_possible = |legal: &&Signal| **legal != Signal::FALSE;
        if role.legal.iter().filter(is_possible).count() < 2 {
            continue;
        }
        for (idx, legal) in role.legal.iter().enumerate() {
            is_chosen[role.first_input as usize + idx] = *legal != Signal::FALSE;
        }
    }
    is_chosen
}

/// The node of each loop.
pub(super) fn loop_nodes(network: &Network) -> Vec<NodeId> {
    let mut nodes = vec![NodeId(0); network.loops.len()];
    for node in network.nodes() {
        if let Node::Loop(idx) = network.node(node) {
            nodes[idx as usize] = node;
        }
    }
    nodes
}

/// Everything that is needed to lay out one phase.
pub(super) struct PhaseContext<'a> {
    pub(super) network: &'a Network,
    pub(super) levels: &'a Levels,
    pub(super) loop_nodes: Vec<NodeId>,
    pub(super) known: &'a KnownBits,
    pub(super) phase: usize,
    pub(super) base_rows: &'a [u32],
    pub(super) bases: &'a [u32],
    pub(super) does_rows: &'a [u32],
    pub(super) goal_values: &'a [Vec<Option<Goal>>],
    pub(super) options: &'a LayoutOptions,
}

/// A set of nodes that belong to a part of a step.
pub(super) type NodeSet = Vec<bool>;

impl PhaseContext<'_> {
    /// The phase, and the first unused row.
    pub(super) fn lay_out(&self, first_row: u32) -> (Phase, u32) {
        let network = self.network;
        let nothing = |_| false;
        let legal = network
            .roles
            .iter()
            .flat_map(|role| role.legal.iter().copied());
        let mut play = self.cone(legal.chain([network.terminal]), nothing);
        let goal_cone = self.cone(self.goals(), nothing);
        let next = self.cone(network.next.iter().copied(), nothing);
        let is_deferred = self.defers(&play, &goal_cone);
        if !is_deferred {
            for (is_play, is_goal) in play.iter_mut().zip(&goal_cone) {
                *is_play |= is_goal;
            }
        }
        let mut emitter = Emitter::new(self, self.given(), first_row);
        let mut drafts = emitter.emit(&play);
        let mut read = Vec::new();
        let terminal = emitter.plain(network.terminal, &mut drafts);
        read.push(terminal);
        let mut roles = Vec::new();
        let mut n_log_rows = 0;
        for role in 0..network.roles.len() {
            let moves = self.role_moves(role, &mut emitter, &mut drafts, &mut n_log_rows);
            match &moves {
                RoleMoves::None | RoleMoves::Only(_, None) => {}
                RoleMoves::Only(_, Some(row)) => read.push(*row),
                RoleMoves::Choice(choice) => read.extend(&choice.leaves.legal),
            }
            roles.push(moves);
        }
        let goals = if is_deferred {
            let side = self.side(&play, &goal_cone, &emitter);
            read.extend(
                side.side
                    .iter()
                    .flat_map(|side| side.park.iter().map(|&(from, _)| from)),
            );
            side
        } else {
            let rows = self.goal_rows(&mut emitter, &mut drafts);
            read.extend(rows.iter().flatten().map(|goal| goal.row));
            Goals::new(rows, None)
        };
        let n_play = drafts.len();
        let rest: NodeSet = next
            .iter()
            .zip(&play)
            .map(|(&next, &play)| next && !play)
            .collect();
        let mut next_drafts = emitter.emit(&rest);
        let mut step = self.successors(&mut emitter, &mut next_drafts, &read);
        drafts.append(&mut next_drafts);
        read.extend(step.plain.iter().map(|&(_, from)| from));
        let mut segments = finish(drafts, &read, self.options);
        let next = segments.split_off(n_play);
        step.settle(&next);
        let end = emitter.next_row;
        let phase = Phase {
            play: segments,
            next,
            terminal,
            roles,
            goals,
            step,
            fixed: self
                .known
                .fixed_words(self.phase, network.n_bases.div_ceil(64) as usize),
            n_log_rows,
        };
        (phase, end)
    }

    fn goals(&self) -> impl Iterator<Item = Signal> {
        self.network
            .roles
            .iter()
            .flat_map(|role| role.goals.iter().copied())
    }

    /// Everything below some signals, down to known nodes; components are included as a whole.
    fn cone(
        &self,
        roots: impl Iterator<Item = Signal>,
        is_known: impl Fn(NodeId) -> bool,
    ) -> NodeSet {
        let network = self.network;
        let mut is_in = vec![false; network.n_nodes()];
        let mut queue: Vec<NodeId> = roots.map(Signal::node).collect();
        let mut is_component_in = vec![false; self.levels.components.len()];
        while let Some(node) = queue.pop() {
            if is_known(node) || std::mem::replace(&mut is_in[node.idx()], true) {
                continue;
            }
            queue.extend(network.inputs_of(node).iter().map(|signal| signal.node()));
            let component = self.levels.component[node.idx()];
            if component != NONE
                && !std::mem::replace(&mut is_component_in[component as usize], true)
            {
                let members = network
                    .nodes()
                    .filter(|node| self.levels.component[node.idx()] == component);
                queue.extend(members);
                let loops = &self.levels.components[component as usize].loops;
                queue.extend(loops.iter().map(|&idx| network.loops[idx as usize].node()));
            }
        }
        is_in
    }

    /// The literals of given nodes: constants, bases, moves.
    fn given(&self) -> Vec<Option<Literal>> {
        let network = self.network;
        let mut literals = vec![None; network.n_nodes()];
        literals[0] = Some(constant(true));
        for base in 0..network.n_bases {
            literals[network.base(base).idx()] = Some(match &self.known.by_base[base as usize] {
                Some(values) => constant(values[self.phase]),
                None => Literal::new(self.base_rows[base as usize], false),
            });
        }
        for role in &network.roles {
            for (idx, &legal) in role.legal.iter().enumerate() {
                let input = role.first_input + idx as u32;
                let row = self.does_rows[input as usize];
                // A role with one possible move makes it; a move that is never legal is never made.
                literals[network.input(input).idx()] = Some(match row {
                    NONE => constant(legal != Signal::FALSE),
                    row => Literal::new(row, false),
                });
            }
        }
        literals
    }

    /// Whether separate evaluation of goals pays off: compares the gates that only goals need with the rows that must
    /// be parked.
    fn defers(&self, play: &NodeSet, goal_cone: &NodeSet) -> bool {
        let network = self.network;
        let only_goals = network
            .nodes()
            .filter(|node| goal_cone[node.idx()] && !play[node.idx()]);
        let n_literals: usize = only_goals.map(|node| network.inputs_of(node).len()).sum();
        match self.options.goals {
            DeferGoals::Always => true,
            DeferGoals::Never => false,
            DeferGoals::Auto => {
                let n_parked = self.frontier(play, goal_cone).len();
                n_literals > 64 + 3 * n_parked
            }
        }
    }

    /// The nodes to park: either the nodes that play computes and goals read, or the bases below goals, whichever are
    /// fewer.
    fn frontier(&self, play: &NodeSet, goal_cone: &NodeSet) -> Vec<NodeId> {
        let network = self.network;
        let is_base = |node: &NodeId| matches!(network.node(*node), Node::Base(_));
        let mut is_read = vec![false; network.n_nodes()];
        for role in &network.roles {
            for goal in &role.goals {
                is_read[goal.node().idx()] = true;
            }
        }
        for node in network
            .nodes()
            .filter(|node| goal_cone[node.idx()] && !play[node.idx()])
        {
            for signal in network.inputs_of(node) {
                is_read[signal.node().idx()] = true;
            }
            if let Node::Loop(idx) = network.node(node) {
                is_read[network.loops[idx as usize].node().idx()] = true;
            }
        }
        let is_computed = |node: &NodeId| is_base(node) || (play[node.idx()] && node.0 != 0);
        let read: Vec<NodeId> = network
            .nodes()
            .filter(|node| is_read[node.idx()] && is_computed(node))
            .collect();
        let bases: Vec<NodeId> = network
            .nodes()
            .filter(|node| goal_cone[node.idx()] && is_base(node))
            .collect();
        if read.len() <= bases.len() {
            read
        } else {
            bases
        }
    }

    fn side(&self, play: &NodeSet, goal_cone: &NodeSet, main: &Emitter<'_>) -> Goals {
        let network = self.network;
        let frontier = self.frontier(play, goal_cone);
        let mut literals: Vec<Option<Literal>> = self.given();
        for node in network.nodes() {
            // The side matrix has its own rows: only constants have the same meaning there.
            literals[node.idx()] = match network.node(node) {
                Node::Base(_) | Node::Input(_) => literals[node.idx()]
                    .filter(|literal| literal.row() == ONES)
                    .or(Some(constant(false))),
                _ => literals[node.idx()],
            };
        }
        let mut park = Vec::new();
        let mut row = FIRST_BASE;
        for &node in &frontier {
            let Some(from) = main.literals[node.idx()].filter(|from| from.row() != ONES) else {
                continue;
            };
            literals[node.idx()] = Some(Literal::new(row, from.is_complement()));
            park.push((from.row(), row));
            row += 1;
        }
        let is_parked = |node: NodeId| literals[node.idx()].is_some();
        let is_needed = self.cone(self.goals(), is_parked);
        let mut emitter = Emitter::new(self, literals, row);
        let mut drafts = emitter.emit(&is_needed);
        let roles = self.goal_rows(&mut emitter, &mut drafts);
        let read: Vec<u32> = roles.iter().flatten().map(|goal| goal.row).collect();
        let code = finish(drafts, &read, self.options);
        let side = Side {
            code,
            park,
            n_rows: emitter.next_row as usize,
        };
        Goals::new(roles, Some(side))
    }

    fn goal_rows(&self, emitter: &mut Emitter<'_>, drafts: &mut Vec<Draft>) -> Vec<Vec<GoalRow>> {
        let mut roles = Vec::new();
        for (role, signals) in self.network.roles.iter().enumerate() {
            let mut rows = Vec::new();
            for (idx, &signal) in signals.goals.iter().enumerate() {
                if signal != Signal::FALSE {
                    rows.push(GoalRow {
                        row: emitter.plain(signal, drafts),
                        idx: idx as u32,
                        value: self.goal_values[role][idx],
                        place: 0,
                    });
                }
            }
            roles.push(rows);
        }
        roles
    }

    fn role_moves(
        &self,
        role: usize,
        emitter: &mut Emitter<'_>,
        drafts: &mut Vec<Draft>,
        n_log_rows: &mut usize,
    ) -> RoleMoves {
        let signals = &self.network.roles[role];
        let possible: Vec<usize> = (0..signals.legal.len())
            .filter(|&idx| signals.legal[idx] != Signal::FALSE)
            .collect();
        match possible.as_slice() {
            [] => RoleMoves::None,
            [only] => {
                let legal = signals.legal[*only];
                let row = (legal != Signal::TRUE).then(|| emitter.plain(legal, drafts));
                RoleMoves::Only(MoveId(*only as u32), row)
            }
            several => {
                let mut rows = Vec::new();
                for &idx in several {
                    let legal = emitter.plain(signals.legal[idx], drafts);
                    rows.push((legal, self.does_rows[signals.first_input as usize + idx]));
                }
                // Rows to write follow each other, and there are some for whole eighths.
                let padding = rows.last().map_or(TRASH, |last| last.1 + 1)..;
                let n_words = self.options.simd.n_words();
                let leaves = Leaves::new(rows.into_iter(), padding, n_words);
                let first_log_row = *n_log_rows;
                *n_log_rows += leaves.tree.n_index_bits();
                RoleMoves::Choice(Box::new(Choice {
                    moves: several.iter().map(|&idx| MoveId(idx as u32)).collect(),
                    leaves,
                    first_log_row,
                }))
            }
        }
    }

    /// Where each base gets its next value: from a row of the last segment, which is stored in the row of the base if
    /// that is not read afterwards. `read` are the rows that are needed for other reasons.
    fn successors(
        &self,
        emitter: &mut Emitter<'_>,
        drafts: &mut Vec<Draft>,
        read: &[u32],
    ) -> Successors {
        let mut step = Successors::default();
        let changing = |base: &&u32| {
            let row = self.base_rows[**base as usize];
            emitter.literal(self.network.next[**base as usize]) != Literal::new(row, false)
        };
        let changing: Vec<u32> = self.bases.iter().filter(changing).copied().collect();
        let mut free = Draft::own_rows(drafts, read);
        for base in changing {
            let row = self.base_rows[base as usize];
            let from = match emitter.literal(self.network.next[base as usize]) {
                literal if literal == constant(false) => Literal::new(ZERO, false),
                literal => literal,
            };
            let is_own = !from.is_complement() && free.remove(&from.row());
            let from = if is_own {
                from.row()
            } else {
                emitter.copy(from, drafts)
            };
            step.plain.push((row, from));
            Draft::settle(drafts, from, row);
        }
        step
    }
}
