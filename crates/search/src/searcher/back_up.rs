//! Steps 4 to 6 of the search: leaves become nodes, values go into the edges of their ways, what is certain flows up, and techniques
//! learn.

use agon_engine::MoveId;

use super::{Searcher, Way};
use crate::bounds::Bounds;
use crate::limits::Meter;
use crate::params::Backup;
use crate::plan::Load;
use crate::simulation::{Results, Simulation};
use crate::tree::NodeId;

impl Searcher {
    /// The way at hand ends in a settled node.
    pub(super) fn back_up_settled(&mut self, node: NodeId, n_playouts: u32, meter: &mut Meter<'_>) {
        // Without proofs what is known must be tried as often as what is not.
        let n = match self.params.solver {
            true => 1,
            false => self.planner.visits(n_playouts),
        };
        let n_roles = self.n_roles();
        let values: Vec<f64> = (0..n_roles)
            .map(|role| self.tree.bounds(node, role).low_value())
            .collect();
        let way = std::mem::take(&mut self.in_flight.way);
        if self.is_puzzle() {
            self.best_line.offer(values[0], &way.record);
        }
        let sums: Vec<f64> = values.iter().map(|value| value * f64::from(n)).collect();
        self.tree.node_mut(node).visits += n;
        self.back_up_way(&way, 0, n, &sums, values[0]);
        self.prove(&way);
        let results = Results::new(n_roles);
        self.learn(&way, node, n, &sums, (&results, 0), Some(&values));
        self.in_flight.way = way;
        self.count(n);
        meter.count_playouts(u64::from(n));
        // Or a limit in transitions would never come once the rest of the match is all in the tree.
        meter.count_transitions(u64::from(n));
    }

    /// Steps 4 to 6. Puts what came back into the tree.
    pub(crate) fn back_up(&mut self, results: &Results, meter: &mut Meter<'_>) -> Load {
        self.work.tree_time.start(true);
        // Some ask for all steps of a simulation.
        let deepest = self.work.deepest as usize;
        self.powers.reserve(results.most_steps() + deepest);
        let mut load = Load::default();
        for (idx, leaf) in results.leaves.iter().enumerate() {
            self.prefetch(results, idx);
            let ticket = leaf.ticket.0 as usize;
            let simulation = &mut self.in_flight.all[ticket];
            if !simulation.is_used {
                continue;
            }
            simulation.is_used = false;
            let (n_out, n_playouts) = (simulation.visits, simulation.n_playouts);
            let way = std::mem::take(&mut simulation.way);
            load.leaves += 1;
            load.playouts += u64::from(n_playouts);
            self.back_up_leaf(&way, n_out, results, idx, meter);
            self.in_flight.all[ticket].way = way;
            self.in_flight.free.push(ticket as u32);
        }
        for technique in self.techniques.all_mut() {
            technique.observe_all(results);
        }
        if let Some(cutoff) = &mut self.techniques.cutoff {
            cutoff.count(results.counts.cuts);
        }
        self.planner.count(&results.counts);
        meter.count_transitions(results.counts.steps);
        self.work.tree_time.stop();
        load
    }

    /// The ways of the next leaves will be walked soon: nodes first, then what is known of their moves.
    fn prefetch(&self, results: &Results, idx: usize) {
        let way = |ahead: usize| {
            let leaf = results.leaves.get(idx + ahead)?;
            Some(&self.in_flight.all[leaf.ticket.0 as usize].way)
        };
        for &node in way(2).iter().flat_map(|way| &way.nodes) {
            self.tree.prefetch(node);
        }
        for &node in way(1).iter().flat_map(|way| &way.nodes) {
            self.tree.prefetch_moves(node);
        }
    }

    fn back_up_leaf(
        &mut self,
        way: &Way,
        n_out: u32,
        results: &Results,
        idx: usize,
        meter: &mut Meter<'_>,
    ) {
        let leaf = &results.leaves[idx];
        let node = self.insert(way, results, idx);
        let n = match leaf.is_end {
            true if self.params.solver => 1,
            true => n_out,
            false => leaf.n.min(n_out),
        };
        let share = f64::from(n) / f64::from(leaf.n.max(1));
        let mut sums = std::mem::take(&mut self.in_flight.sums);
        sums.clear();
        sums.extend(results.sums(idx).iter().map(|sum| sum * share));
        self.tree.node_mut(node).visits += n;
        if self.is_puzzle() {
            self.offer_lines(way, results, idx);
        }
        self.back_up_way(way, n_out, n, &sums, leaf.best);
        let has_proof = self.params.solver && self.insert_ends(node, results, idx);
        if leaf.is_end || has_proof || self.solver.is_settled(&self.tree, node) {
            self.prove(way);
        }
        self.learn(way, node, n, &sums, (results, idx), None);
        self.in_flight.sums = sums;
        self.count(leaf.n);
        meter.count_playouts(u64::from(leaf.n));
    }

    /// The node of a leaf: new, or known from another way.
    fn insert(&mut self, way: &Way, results: &Results, idx: usize) -> NodeId {
        let n_roles = self.n_roles();
        let parent = way.nodes[way.nodes.len() - 1];
        let slots = &way.slots[way.slots.len() - n_roles..];
        let child = self.tree.child(parent, slots);
        if child != NodeId::NONE {
            return child;
        }
        let depth = self.tree.node(parent).depth + 1;
        let legal = |role: usize| results.legal(idx, role);
        let is_end = results.leaves[idx].is_end;
        let words = results.words(idx);
        let (node, is_new) = match is_end {
            true => self.tree.get_or_insert(words, depth, None),
            false => self.tree.get_or_insert(words, depth, Some(&legal)),
        };
        if is_new {
            self.work.new_nodes += 1;
        }
        if is_new && is_end {
            for (role, &worth) in results.sums(idx).iter().enumerate() {
                self.tree.set_bounds(node, role, Bounds::exactly(worth));
            }
        }
        self.tree.link(parent, slots, node);
        node
    }

    /// Ends of the match right after a leaf become nodes, which prove what they are worth. Returns whether that proves
    /// something of the leaf.
    fn insert_ends(&mut self, node: NodeId, results: &Results, idx: usize) -> bool {
        let n_roles = self.n_roles();
        let depth = self.tree.node(node).depth + 1;
        let mut slots = vec![0; n_roles];
        let mut is_any = false;
        for (moves, words, worth) in results.ends(idx) {
            for (role, &mv) in moves.iter().enumerate() {
                if self.tree.has_choice(node, role) {
                    let slot = self
                        .tree
                        .legal_moves(node, role)
                        .position(|legal| legal == mv);
                    let slot = slot.expect("a playout begins with a legal move");
                    slots[role] = self.tree.try_move(node, role, slot) as u32;
                }
            }
            if self.tree.child(node, &slots) != NodeId::NONE {
                continue;
            }
            let (end, is_new) = self.tree.get_or_insert(words, depth, None);
            if is_new {
                self.work.new_nodes += 1;
                for (role, &worth) in worth.iter().enumerate() {
                    self.tree.set_bounds(end, role, Bounds::exactly(worth));
                }
            }
            self.tree.link(node, &slots, end);
            is_any = true;
        }
        is_any && self.solver.update(&mut self.tree, node)
    }

    /// Adds visits with these sums of values to a way, of which `n_out` were in simulation.
    fn back_up_way(&mut self, way: &Way, n_out: u32, n: u32, sums: &[f64], best: f64) {
        let n_roles = self.n_roles();
        let takes_max = self.is_puzzle() && self.params.single_player == Backup::Max;
        let mut factor = 1.0;
        for (level, &node) in way.nodes.iter().enumerate().rev() {
            let visits = &mut self.tree.node_mut(node).visits;
            *visits = *visits - n_out + n;
            for (role, sum) in sums.iter().enumerate() {
                if !self.tree.has_choice(node, role) {
                    continue;
                }
                let slot = way.slots[level * n_roles + role] as usize;
                let edge = &mut self.tree.edges_mut(node, role)[slot];
                edge.in_flight -= n_out;
                match takes_max {
                    true => edge.add_max(n, best),
                    false => edge.add(n, sum * factor),
                }
            }
            factor *= self.powers.discount();
        }
        for (to, sum) in self.work.sums.iter_mut().zip(sums) {
            *to += sum * factor / self.powers.discount();
        }
        self.work.visits += u64::from(n);
    }

    /// The lines of a single-player game that were played from a leaf.
    fn offer_lines(&mut self, way: &Way, results: &Results, idx: usize) {
        if results.leaves[idx].is_end {
            self.best_line.offer(results.sums(idx)[0], &way.record);
            return;
        }
        for (values, moves) in results.lines(idx) {
            if self.best_line.get().is_none_or(|(known, _)| values > known) {
                let line: Vec<MoveId> = way.record.iter().copied().chain(moves).collect();
                self.best_line.offer(values, &line);
            }
        }
    }

    /// Step 5. What is certain flows up, as far as it proves something new.
    fn prove(&mut self, way: &Way) {
        if !self.params.solver {
            return;
        }
        for &node in way.nodes.iter().rev() {
            if !self.solver.update(&mut self.tree, node) {
                break;
            }
            self.work.proofs += 1;
        }
    }

    /// Step 6. Techniques see what the simulations of a leaf were worth.
    fn learn(
        &mut self,
        way: &Way,
        leaf: NodeId,
        visits: u32,
        sums: &[f64],
        results: (&Results, usize),
        settled: Option<&[f64]>,
    ) {
        self.powers.reserve(way.nodes.len());
        let simulation = Simulation::new(
            (&way.nodes, leaf),
            &way.record,
            (visits, sums),
            &self.powers,
            results,
            settled,
        );
        for technique in self.techniques.all_mut() {
            technique.observe(&mut self.tree, &simulation);
        }
    }

    fn count(&mut self, n: u32) {
        self.work.simulations += u64::from(n);
    }
}
