//! Many simulations at once: leaves are chosen one after the other and played from together, in the lanes.
//!
//! A simulation that has left the tree and not come back is *in flight*. It counts among the visits of its path, and as half
//! a loss, so that the next one looks elsewhere; when it lands, that is taken back. What is settled in the tree needs no
//! flight and is backed up at once. The new nodes are made when their playouts land; the playouts begin there, and the first
//! moves of each count for the moves of the new node.
//!
//! How many leaves fly depends on the size of the tree, never on the clock: none as long as little is known, then a fixed share,
//! because leaves chosen without knowing what became of the others are chosen worse. Each is played from several times,
//! which costs little as long as there are free lanes, and more often where playouts are short beside the work in the tree. Since
//! playouts from one state tell less than as many from different ones, they may count as fewer visits, with the mean of all.
//! Where playouts are counted, only a small share of all flies at a time. So a small budget is spent one by one,
//! and the same seed gives the same tree.
//!
//! In: a tree, a batch. Out: paths to play from; what came of them, in the tree and everywhere else.
//!
//! - Chaslot, Winands and van den Herik 2008, Parallel Monte-Carlo Tree Search (playouts per leaf, one tree)
//! - Enzenberger and Müller 2010, A Lock-Free Multithreaded Monte-Carlo Tree Search Algorithm (virtual loss)

use agon_engine::{MoveId, State};

use crate::cutoff::Cutoff;
use crate::flight::Flight;
use crate::limits::Meter;
use crate::params::Backup;
use crate::sightings::Sightings;
use crate::solve::Bounds;
use crate::tree::{NodeId, Tree, Worth};
use crate::uct::UctBot;
use crate::value::Count;
use crate::workers::Crew;

/// Fewer playouts than this are faster one by one; a tree that allows fewer leaves than that is too small.
const LEAST: u64 = 16;
const LEAST_LEAVES: u64 = 16;
/// Without lanes, a thread takes so many simulations at a time, once the tree has so many nodes for each.
const SEVERAL: u64 = 4;
const NODES_OF_SEVERAL: u64 = 1024;
/// Where playouts are counted, one in so many of all may be in flight.
const BUDGET_SHARE: u64 = 1024;
/// Playouts that run at once, and how often a leaf is played from.
const LANES: u64 = 512;
const LEAST_EACH: u64 = 4;
const MOST_EACH: u64 = 16;
/// Gates, over all steps, of the playouts that cost about as much as choosing their leaf.
const CHEAP: u64 = 60_000;
/// Gates that drawing by weights takes for each move of a role, and gates, with these, of playouts that are too costly to have more
/// of them.
const GATES_PER_MOVE: u64 = 20;
const DEAR: u64 = 300_000;
/// Threads beyond these change nothing about a batch: one that takes long must not keep a search from ending in time.
const MOST_WAITING: u64 = 4;

/// Leaves in flight.
#[derive(Default)]
pub(crate) struct Batch {
    n_roles: usize,
    leaves: Vec<Leaf>,
    // Paths, one after the other: nodes, and per node and role edges and moves.
    nodes: Vec<NodeId>,
    edges: Vec<u32>,
    moves: Vec<MoveId>,
    /// Per leaf: the state before its last joint move; those behind are left from a larger batch.
    parents: Vec<State>,
    /// Scratch: what was seen from the leaf at hand. Each worker has its own, so that they do not take it from each other's caches.
    sightings: Option<Sightings>,
}

/// A leaf in flight.
#[derive(Clone, Copy)]
pub(crate) struct Leaf {
    /// The end of its path; it begins where that of the leaf before ends.
    end: u32,
    /// Its playouts.
    pub(crate) n: u32,
    /// The visits that they count as.
    visits: u32,
}

impl Batch {
    pub(crate) fn new(n_roles: usize, sightings: Option<Sightings>) -> Batch {
        Batch {
            n_roles,
            sightings,
            ..Batch::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    pub(crate) fn leaf(&self, idx: usize) -> Leaf {
        self.leaves[idx]
    }

    /// Playouts of all leaves.
    pub(crate) fn n_playouts(&self) -> u64 {
        self.leaves.iter().map(|leaf| u64::from(leaf.n)).sum()
    }

    /// The state before the last joint move of a leaf's path.
    pub(crate) fn parent(&self, leaf: usize) -> &State {
        &self.parents[leaf]
    }

    /// The last joint move of a leaf's path.
    pub(crate) fn last_moves(&self, leaf: usize) -> &[MoveId] {
        let end = self.leaves[leaf].end as usize * self.n_roles;
        &self.moves[end - self.n_roles..end]
    }

    fn clear(&mut self) {
        self.leaves.clear();
        self.nodes.clear();
        self.edges.clear();
        self.moves.clear();
    }

    /// Levels of a leaf's path.
    fn path(&self, leaf: usize) -> std::ops::Range<usize> {
        let start = match leaf {
            0 => 0,
            _ => self.leaves[leaf - 1].end,
        };
        start as usize..self.leaves[leaf].end as usize
    }
}

/// Simulations that land together, at the last move of their path.
struct Load<'a> {
    /// How many, and how many that flew do not come back.
    n: u32,
    n_lost: u32,
    is_from_flight: bool,
    /// Those whose moves are known.
    n_recorded: u32,
    /// What the best of them is worth, for the only role of a game.
    best: f64,
    /// Per role: the sum of values, of all and of those whose moves are known.
    sums: &'a mut [f64],
    recorded_sums: &'a mut [f64],
}

impl UctBot {
    /// How many leaves come next, with how many playouts each; `None` if single simulations do. So many playouts at most,
    /// with those that are in flight already.
    pub(crate) fn plan(
        &self,
        meter: &Meter<'_>,
        most: u64,
        n_in_flight: u64,
    ) -> Option<(u32, u32)> {
        let most = most.saturating_sub(n_in_flight);
        let is_watching = self.cutoff.as_ref().is_some_and(Cutoff::is_watching);
        if self.crew == Crew::Scalar {
            // A few at a time in a large tree, so that threads wait less for each other.
            let n_leaves = (self.tree.n_nodes() as u64 / NODES_OF_SEVERAL).clamp(1, SEVERAL);
            let n_leaves = n_leaves.min(most) as u32;
            return (n_leaves > 0 && !is_watching).then_some((n_leaves, 1));
        }
        let n_known = self.tree.n_nodes() as u64 / u64::from(self.params.batch_share);
        // Where playouts cost more than the tree, twice as many keep the lanes full when some last longer than others.
        let fold = if self.cost() > CHEAP / LEAST_EACH {
            2
        } else {
            1
        };
        let n_leaves = n_known.min(u64::from(self.params.batch_leaves) * fold);
        if n_leaves < LEAST_LEAVES || is_watching {
            return None;
        }
        let n_each = self.n_each(n_leaves);
        let mut n = match self.params.batch {
            Count::Auto => n_leaves * n_each,
            Count::Exactly(n) => u64::from(n).min(n_leaves * n_each),
        };
        // Playouts will be about as long as they were.
        let (sum, n_played) = self.lengths;
        let length = sum / n_played.max(1) + 1;
        if let Some(left) = meter.transitions_left() {
            n = n.min((left / length).saturating_sub(n_in_flight) / 2);
        }
        // Where playouts are counted, each of them matters.
        if let (Count::Auto, Some(budget)) = (self.params.batch, meter.budget(length)) {
            n = n.min(budget / BUDGET_SHARE);
        }
        n = n.min(most);
        if n < LEAST {
            return None;
        }
        let n_leaves = n.min(n_leaves);
        Some((n_leaves as u32, (n / n_leaves) as u32))
    }

    /// Gates of a playout, over all its steps.
    pub(crate) fn cost(&self) -> u64 {
        self.over_all_steps(self.gates_per_step)
    }

    /// So much per step, over all steps of a playout.
    fn over_all_steps(&self, per_step: u64) -> u64 {
        let (sum, n) = self.lengths;
        sum * per_step / n.max(1)
    }

    /// Whether most of the time goes into playouts.
    fn is_dear(&self) -> bool {
        let gates = self.gates_per_step + GATES_PER_MOVE * self.moves_per_role;
        self.over_all_steps(gates) > DEAR
    }

    /// Whether every playout of a leaf is a visit. Where most of the time goes into playouts there are no more of them than
    /// fill the lanes, and they count: in Skirmish 65 % against cadia-2012 in batches at 0.25 s, with four visits at most 27 %.
    fn all_count(&self) -> bool {
        u64::from(self.params.batch_visits) >= MOST_EACH || self.is_dear()
    }

    /// The visits that so many playouts of a leaf count as.
    fn visits_of(&self, n_playouts: u32) -> u32 {
        match self.all_count() {
            true => n_playouts,
            false => n_playouts.min(self.params.batch_visits),
        }
    }

    /// How often each of so many leaves is played from: until the lanes are full, and more often where playouts cost little
    /// beside the tree. Where all of them count as visits it is not more often than leaves have moves to begin with; otherwise it
    /// is twice as often, unless most of the time goes into playouts, and more often still where several threads play for the tree,
    /// because all of them wait for it.
    fn n_each(&self, n_leaves: u64) -> u64 {
        if let Count::Exactly(n) = self.params.batch_each {
            return u64::from(n);
        }
        let all_count = self.all_count();
        let fold = if all_count { 1 } else { 2 };
        let cheap = (fold * CHEAP / self.cost().max(1)).clamp(fold * LEAST_EACH, MOST_EACH);
        let n_each = (LANES / n_leaves).clamp(1, MOST_EACH).max(cheap);
        let (sum, n) = self.breadths;
        match all_count {
            true => n_each.min((sum / n.max(1)).max(LEAST_EACH)),
            false => n_each * ((self.n_threads as u64).min(MOST_WAITING) + 2) / 3,
        }
    }

    /// Chooses so many leaves, to be played from so often each. What is settled is backed up at once.
    pub(crate) fn take_off(
        &mut self,
        batch: &mut Batch,
        root: NodeId,
        (n_leaves, n_each): (u32, u32),
        meter: &mut Meter<'_>,
    ) {
        batch.clear();
        for _ in 0..n_leaves {
            self.path.nodes.clear();
            self.path.edges.clear();
            self.record.clear();
            let mut node = root;
            loop {
                if self.solver.is_settled(&self.tree, node) {
                    // Without proofs what is known must be tried as often as what is not.
                    let n_visits = self.visits_of(n_each);
                    let n = if self.params.solver { 1 } else { n_visits };
                    self.land_settled(node, n, batch.sightings.as_mut());
                    meter.count_playouts(u64::from(n));
                    // See `UctBot::simulate`.
                    meter.count_transitions(u64::from(n));
                    break;
                }
                let edges = self.choose(node);
                let child = self.tree.child(node, &self.path.edges[edges..]);
                if child == NodeId::NONE {
                    self.fly(batch, n_each);
                    break;
                }
                node = child;
            }
            self.work.levels += self.path.nodes.len() as u64;
            self.work.descents += 1;
            self.work.timed_levels += self.path.nodes.len() as u64;
            self.work.deepest = self.work.deepest.max(self.path.nodes.len() as u32);
            if self.solver.is_settled(&self.tree, root) {
                break;
            }
        }
    }

    /// The path at hand takes off with so many playouts.
    fn fly(&mut self, batch: &mut Batch, n_playouts: u32) {
        let n_roles = self.n_roles;
        let n = self.visits_of(n_playouts);
        for (level, &node) in self.path.nodes.iter().enumerate() {
            self.tree.node_mut(node).visits += n;
            for role in 0..n_roles {
                // What leaves no choice is not chosen by its visits.
                if self.tree.span(node, role).len() > 1 {
                    let edge = self.path.edges[level * n_roles + role];
                    self.tree.take_off(edge as usize, n);
                }
            }
        }
        batch.nodes.extend_from_slice(&self.path.nodes);
        batch.edges.extend_from_slice(&self.path.edges);
        batch.moves.extend_from_slice(&self.record);
        let last = self.path.nodes[self.path.nodes.len() - 1];
        let parent = &self.tree.node(last).state;
        match batch.parents.get_mut(batch.leaves.len()) {
            Some(place) => place.set_words(parent.words()),
            None => batch.parents.push(parent.clone()),
        }
        let end = batch.nodes.len() as u32;
        batch.leaves.push(Leaf {
            end,
            n: n_playouts,
            visits: n,
        });
    }

    /// The path at hand ends in a settled node.
    fn land_settled(&mut self, node: NodeId, n: u32, sightings: Option<&mut Sightings>) {
        let bounds = (0..self.n_roles).map(|role| self.tree.bounds(node, role));
        let mut sums: Vec<f64> = bounds
            .map(|bounds| bounds.low_value() * f64::from(n))
            .collect();
        let mut recorded_sums = sums.clone();
        if self.is_puzzle() {
            self.best_line.offer(sums[0] / f64::from(n), &self.record);
        }
        let sightings = sightings.map(Sightings::begin);
        let nodes = std::mem::take(&mut self.path.nodes);
        let edges = std::mem::take(&mut self.path.edges);
        let mut load = Load {
            n,
            n_lost: 0,
            is_from_flight: false,
            n_recorded: n,
            best: sums[0] / f64::from(n),
            sums: &mut sums,
            recorded_sums: &mut recorded_sums,
        };
        self.land_on(&nodes, &edges, &mut load, sightings);
        self.prove_on(&nodes);
        (self.path.nodes, self.path.edges) = (nodes, edges);
        self.work.simulations += u64::from(n);
    }

    /// A batch has landed: new nodes are made, and everybody learns.
    pub(crate) fn land(&mut self, batch: &mut Batch, flight: &mut Flight, meter: &mut Meter<'_>) {
        let n_roles = self.n_roles;
        let mut sightings = batch.sightings.take();
        let (mut sums, mut recorded_sums) = (vec![0.0; n_roles], vec![0.0; n_roles]);
        for idx in 0..batch.len() {
            let path = batch.path(idx);
            let nodes = &batch.nodes[path.clone()];
            let edges = &batch.edges[path.start * n_roles..path.end * n_roles];
            // Step 1. Make the node.
            let node = self.add_leaf(batch, flight, idx);
            let is_end = flight.leaves[idx].is_end;
            let n_out = batch.leaf(idx).visits;
            let (n_back, n_recorded) = match is_end {
                true if self.params.solver => (1, 1),
                true => (n_out, n_out),
                false => (flight.leaves[idx].n, flight.leaves[idx].n_recorded),
            };
            let n = n_back.min(n_out);
            // Step 2. Its own moves learn from the first moves of the playouts.
            sums.copy_from_slice(flight.sums(idx));
            recorded_sums.copy_from_slice(flight.recorded_sums(idx));
            if is_end {
                sums.iter_mut().for_each(|sum| *sum *= f64::from(n));
                recorded_sums.copy_from_slice(&sums);
            } else if let Some(node) = node {
                if n < n_back {
                    let share = f64::from(n) / f64::from(n_back);
                    sums.iter_mut().for_each(|sum| *sum *= share);
                }
                let breadth = (0..n_roles).map(|role| self.tree.span(node, role).len());
                self.breadths.0 += breadth.max().unwrap_or(0) as u64;
                self.breadths.1 += 1;
                self.land_firsts(node, flight, idx);
            }
            let best = match self.is_puzzle() {
                true => self.offer_lines(&batch.moves[path.clone()], flight, idx),
                false => 0.0,
            };
            // Step 3. The path learns.
            let learn_all = self.all_learn();
            if let Some(sightings) = &mut sightings {
                sightings.begin();
                flight.seen(idx).iter().for_each(|seen| sightings.put(seen));
            }
            if let (Some(node), Some(sightings)) = (node.filter(|_| !is_end), &sightings) {
                learn_later(&mut self.tree, node, n_roles, learn_all, sightings);
            }
            let mut load = Load {
                n,
                n_lost: n_out - n.min(n_out),
                is_from_flight: true,
                n_recorded,
                best,
                sums: &mut sums,
                recorded_sums: &mut recorded_sums,
            };
            self.land_on(nodes, edges, &mut load, sightings.as_mut());
            let is_proven = match node {
                Some(node) if self.params.solver && !is_end => self.add_ends(node, flight, idx),
                _ => is_end,
            };
            if is_proven {
                self.prove_on(nodes);
            }
            self.work.simulations += u64::from(n_back);
            meter.count_playouts(u64::from(n_back));
        }
        batch.sightings = sightings;
        // Step 4. Moves learn wherever they were made.
        if let (Some(mast), Some(tally)) = (&mut self.mast, &mut flight.tally) {
            tally.drain(|role, of, n, sum| mast.add_many(role, of, n, sum));
        }
        let fast = self.mast.as_mut().and_then(|mast| mast.fast.as_mut());
        if let (Some(fast), Some(replay)) = (fast, &mut flight.replay) {
            replay.teach(fast);
        }
        let n_steps = flight.n_steps - batch.len() as u64;
        self.work.playout_steps += n_steps;
        self.lengths.0 += n_steps;
        self.lengths.1 += flight.n_playouts() as u64;
        self.work.cuts += flight.n_cuts;
        meter.count_transitions(flight.n_steps);
    }

    fn takes_max(&self) -> bool {
        self.is_puzzle() && self.params.single_player == Backup::Max
    }

    /// The node of a leaf: new, or known from another way. None if nothing was learned of it.
    fn add_leaf(&mut self, batch: &Batch, flight: &mut Flight, idx: usize) -> Option<NodeId> {
        let n_roles = self.n_roles;
        let path = batch.path(idx);
        let parent = batch.nodes[path.end - 1];
        let edges = &batch.edges[(path.end - 1) * n_roles..path.end * n_roles];
        let child = self.tree.child(parent, edges);
        if child != NodeId::NONE {
            return Some(child);
        }
        let leaf = &mut flight.leaves[idx];
        if leaf.n == 0 && !leaf.is_end {
            return None;
        }
        let is_end = leaf.is_end;
        let depth = self.tree.node(parent).depth + 1;
        let state = std::mem::take(&mut leaf.state);
        let hash = Tree::hash(state.words(), depth);
        let node = match self.tree.find(hash, state.words(), depth) {
            Some(node) => node,
            None => {
                let node = self.tree.add_node(hash, state, depth);
                if is_end {
                    self.tree.end_node();
                    for role in 0..n_roles {
                        let bounds = Bounds::exactly(flight.sums(idx)[role]);
                        self.tree.set_bounds(node, role, bounds);
                    }
                } else {
                    for role in 0..n_roles {
                        self.tree.add_moves(flight.legal(idx, role));
                    }
                }
                node
            }
        };
        self.tree.link(parent, edges, node);
        Some(node)
    }

    /// The first moves of the playouts of a leaf count for the moves of its node, which are the legal ones of the leaf.
    fn land_firsts(&mut self, node: NodeId, flight: &Flight, idx: usize) {
        let takes_max = self.takes_max();
        for role in 0..self.n_roles {
            let span = self.tree.span(node, role);
            for (edge, first) in span.zip(flight.firsts(idx, role)) {
                let worth = match takes_max {
                    true => Worth::Best(first.best),
                    false => Worth::Sum(first.sum),
                };
                if first.n > 0 {
                    self.tree.land(edge, 0, first.n, worth);
                }
            }
        }
        self.tree.node_mut(node).visits += flight.leaves[idx].n;
    }

    /// Ends of the match right after a leaf become nodes, which prove what they are worth. Tells whether that proves
    /// something of the leaf.
    fn add_ends(&mut self, node: NodeId, flight: &Flight, idx: usize) -> bool {
        let n_roles = self.n_roles;
        let depth = self.tree.node(node).depth + 1;
        let mut is_any = false;
        for playout in flight.playouts(idx) {
            let Some((state, worths)) = flight.end(playout) else {
                continue;
            };
            self.path.edges.clear();
            for (role, &of) in flight.opening(playout).iter().enumerate() {
                let edge = self.tree.edge_of(node, role, of);
                self.path.edges.extend(edge.map(|edge| edge as u32));
            }
            let edges = &self.path.edges;
            if edges.len() < n_roles || self.tree.child(node, edges) != NodeId::NONE {
                continue;
            }
            let hash = Tree::hash(state.words(), depth);
            let end = match self.tree.find(hash, state.words(), depth) {
                Some(end) => end,
                None => {
                    let end = self.tree.add_node(hash, state.clone(), depth);
                    self.tree.end_node();
                    for (role, &worth) in worths.iter().enumerate() {
                        self.tree.set_bounds(end, role, Bounds::exactly(worth));
                    }
                    end
                }
            };
            self.tree.link(node, &self.path.edges, end);
            is_any = true;
        }
        is_any && self.solver.update(&mut self.tree, node)
    }

    /// The lines of a single-player game that were played from a leaf; tells what the best is worth.
    fn offer_lines(&mut self, path: &[MoveId], flight: &Flight, idx: usize) -> f64 {
        if flight.leaves[idx].is_end {
            let value = flight.sums(idx)[0];
            self.best_line.offer(value, path);
            return value;
        }
        let mut best = 0.0;
        for playout in flight.playouts(idx) {
            let (value, moves) = flight.line(playout);
            best = f64::max(best, value);
            if self.best_line.get().is_none_or(|(known, _)| value > known) {
                let line: Vec<MoveId> = path.iter().copied().chain(moves).collect();
                self.best_line.offer(value, &line);
            }
        }
        best
    }

    /// Backs up along a path, from below.
    fn land_on(
        &mut self,
        nodes: &[NodeId],
        edges: &[u32],
        load: &mut Load<'_>,
        mut sightings: Option<&mut Sightings>,
    ) {
        let n_roles = self.n_roles;
        let (takes_max, learn_all) = (self.takes_max(), self.all_learn());
        let (n, n_lost) = (load.n, load.n_lost);
        let n_off = if load.is_from_flight { n + n_lost } else { 0 };
        for (level, &node) in nodes.iter().enumerate().rev() {
            let of_node = self.tree.node_mut(node);
            of_node.visits = of_node.visits - n_off + n;
            for role in 0..n_roles {
                let edge = edges[level * n_roles + role] as usize;
                let worth = match takes_max {
                    true => Worth::Best(load.best),
                    false => Worth::Sum(load.sums[role]),
                };
                let has_choice = self.tree.span(node, role).len() > 1;
                let n_off = if has_choice { n_off } else { 0 };
                self.tree.land(edge, n_off, n, worth);
                if !has_choice || n == 0 {
                    continue;
                }
                let of = self.tree.edge(edge).of;
                if let Some(mast) = &mut self.mast {
                    mast.add_many(role, of, n, load.sums[role] as f32);
                }
                if let Some(sightings) = &mut sightings {
                    let sum = load.recorded_sums[role] as f32;
                    sightings.add_to_all(role, of, load.n_recorded, sum);
                }
            }
            if let Some(sightings) = sightings.as_ref().filter(|_| load.n_recorded > 0) {
                learn_later(&mut self.tree, node, n_roles, learn_all, sightings);
            }
            for role in 0..n_roles {
                load.sums[role] *= self.discount;
                load.recorded_sums[role] *= self.discount;
            }
        }
    }

    /// Backs up what is proven along a path.
    fn prove_on(&mut self, nodes: &[NodeId]) {
        if !self.params.solver {
            return;
        }
        for &node in nodes.iter().rev() {
            if !self.solver.update(&mut self.tree, node) {
                break;
            }
            self.work.proofs += 1;
        }
    }
}

/// Teaches the moves of a node what was seen from it on: all of them, or those that were tried.
fn learn_later(tree: &mut Tree, node: NodeId, n_roles: usize, all: bool, seen: &Sightings) {
    for role in 0..n_roles {
        let span = tree.span(node, role);
        if span.len() == 1 {
            continue;
        }
        for (edge, later) in tree.with_later(span) {
            if edge.visits == 0 && !all {
                continue;
            }
            if let Some((n, sum)) = seen.get(role, edge.of) {
                later.add_many(n, sum);
            }
        }
    }
}

#[cfg(test)]
mod tests;
