//! The tree: nodes in an arena, equal states of the same depth merged.
//!
//! A node is a state at a depth, counted from the beginning of the match. For each role it has an edge per legal move, with
//! visits and mean of its own: roles choose independently, and the joint move leads to the child. Where one role
//! alone has a choice, its edge knows the child; where several have, a table from node and joint move does. Because equal
//! states are merged only within a depth, the graph has no cycles, whether a game counts its steps or not.
//!
//! Means are whole numbers of 2⁻²⁴ goal points, so that visits and mean of an edge are 64 bits and adding a simulation is
//! the same on every machine. A node has 40 bytes, its state, 6 per role, 16 per edge and, with RAVE or PUCT, 8 more; its place
//! in the table of states takes about 8.
//!
//! Not here: what is dropped from a tree (`prune`), which edge to take (`select`), what is proven (`solve`).

use agon_engine::{MoveId, State};
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use crate::solve::Bounds;

/// A node, by its place in the arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    /// No node.
    pub(crate) const NONE: NodeId = NodeId(u32::MAX >> 1);

    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A state in the tree.
pub(crate) struct Node {
    pub(crate) state: State,
    pub(super) hash: u64,
    /// Its first edge; those of all roles follow each other.
    pub(super) first: u32,
    /// Simulations that went through.
    pub(crate) visits: u32,
    /// Steps since the match began.
    pub(crate) depth: u32,
    /// The one role that has a choice, or `SEVERAL`.
    mover: u16,
    /// Whether the match ends here.
    pub(crate) is_terminal: bool,
    /// The lesson that the policy of its moves is from.
    pub(crate) lesson: u8,
}

const SEVERAL: u16 = u16::MAX;

/// What is known of a move of a role in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct Edge {
    pub(crate) of: MoveId,
    /// The child if this role alone has a choice; the highest bit says that nothing better than what is proven comes of it.
    child: u32,
    pub(crate) visits: u32,
    mean: u32,
}

const CLOSED: u32 = 1 << 31;

/// Units of a mean per goal point.
const UNITS: f64 = (1_u32 << 24) as f64;
/// A mean of 100.
const MOST_UNITS: u32 = 100 << 24;

impl Edge {
    /// A unit of the mean.
    pub(crate) const UNIT: f32 = 1.0 / UNITS as f32;
    /// No move; it is not to be chosen.
    pub(crate) const NONE: Edge = Edge {
        of: MoveId(0),
        child: NodeId::NONE.0 | CLOSED,
        visits: 0,
        mean: 0,
    };

    fn new(of: MoveId) -> Edge {
        Edge {
            of,
            child: NodeId::NONE.0,
            visits: 0,
            mean: 0,
        }
    }

    /// Mean value, 0 to 100.
    #[inline]
    pub(crate) fn mean(&self) -> f64 {
        f64::from(self.mean) * (1.0 / UNITS)
    }

    /// As words: move, child with the highest bit, visits, and the mean in units, which fill 31 bits.
    #[inline(always)]
    pub(crate) fn words(&self) -> [u32; 4] {
        [self.of.0, self.child, self.visits, self.mean]
    }

    #[inline]
    pub(crate) fn child(&self) -> NodeId {
        NodeId(self.child & !CLOSED)
    }

    pub(super) fn set_child(&mut self, child: NodeId) {
        self.child = self.child & CLOSED | child.0;
    }

    /// Whether nothing better than what is proven can come of it.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.child & CLOSED != 0
    }

    pub(crate) fn close(&mut self, is_closed: bool) {
        self.child = self.child & !CLOSED | if is_closed { CLOSED } else { 0 };
    }

    /// A simulation gave this value.
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let value = units(value);
        self.visits += 1;
        let step = (i64::from(value) - i64::from(self.mean)) as f64 / f64::from(self.visits);
        // Steps get smaller than a unit; rounded up as often as is their due, by multiples of the golden ratio, they still count.
        let due = f64::from(self.visits.wrapping_mul(0x9e37_79b9)) * (1.0 / 4_294_967_296.0);
        self.mean = (i64::from(self.mean) + floor(step + due)) as u32;
    }

    /// So many simulations more gave this sum of values; `n_before` had come back before.
    #[inline]
    fn land(&mut self, n_before: u32, n: u32, sum: f64) {
        let n_after = n_before + n;
        let step = (sum * UNITS - f64::from(n) * f64::from(self.mean)) / f64::from(n_after);
        let due = f64::from(n_after.wrapping_mul(0x9e37_79b9)) * (1.0 / 4_294_967_296.0);
        let mean = i64::from(self.mean) + floor(step + due);
        self.mean = mean.clamp(0, i64::from(MOST_UNITS)) as u32;
    }

    /// A simulation gave this value, of which the best counts.
    pub(crate) fn add_max(&mut self, value: f64) {
        self.visits += 1;
        self.mean = self.mean.max(units(value));
    }
}

/// The greatest whole number that is not above, without a call.
#[inline]
fn floor(value: f64) -> i64 {
    let whole = value as i64;
    whole - i64::from(whole as f64 > value)
}

fn units(value: f64) -> u32 {
    (value * UNITS).round_ties_even() as u32
}

/// Simulations that went through an edge and have not come back.
#[derive(Clone, Copy)]
struct Flying {
    n: u32,
    /// The mean of those that have; that of the edge is lower meanwhile.
    mean: u32,
}

impl Flying {
    /// The mean with losses, for an edge with so many visits.
    #[inline]
    fn lowered(self, visits: u32, loss: f64) -> u32 {
        let n_back = f64::from(visits - self.n);
        let n_lost = loss * f64::from(self.n);
        if self.n == visits {
            return self.mean;
        }
        (f64::from(self.mean) * (n_back / (n_back + n_lost))) as u32
    }
}

/// What simulations that land together were worth.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Worth {
    /// Their sum.
    Sum(f64),
    /// The best of them, which alone counts.
    Best(f64),
}

/// What is known of a move from simulations in which its role made it later; and the chance that the playout policy makes it,
/// which has room here.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Later {
    /// Simulations in 24 bits, and above them the chance: as many steps below 1 as a number with four binary places has.
    packed: u32,
    pub(crate) mean: f32,
}

/// More simulations than this are not counted.
const MOST_LATER: u32 = (1 << 24) - 1;
/// A number of 32 bits without these has four binary places.
const PLACES: u32 = 19;
/// 1 with four binary places.
const ONE: u32 = 1.0_f32.to_bits() >> PLACES;

impl Later {
    #[cfg(test)]
    pub(crate) fn new(visits: u32, mean: f32) -> Later {
        Later {
            packed: visits.min(MOST_LATER),
            mean,
        }
    }

    #[inline(always)]
    pub(crate) fn visits(self) -> u32 {
        self.packed & MOST_LATER
    }

    /// The chance that the playout policy makes the move, to 3 %, but not below 2⁻¹⁶.
    #[inline(always)]
    pub(crate) fn policy(self) -> f32 {
        f32::from_bits((ONE - (self.packed >> 24)) << PLACES)
    }

    #[inline]
    pub(crate) fn set_policy(&mut self, chance: f32) {
        let rounded = (chance.to_bits() + (1 << (PLACES - 1))) >> PLACES;
        let below = ONE.saturating_sub(rounded).min(0xff);
        self.packed = self.packed & MOST_LATER | below << 24;
    }

    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.add_many(1, value as f32);
    }

    /// So many simulations were worth this much together.
    #[inline]
    pub(crate) fn add_many(&mut self, n: u32, sum: f32) {
        let visits = self.visits().saturating_add(n).min(MOST_LATER);
        self.packed = self.packed & !MOST_LATER | visits;
        self.mean += (sum - n as f32 * self.mean) / visits as f32;
    }
}

/// Where the edges of a role in a node are.
pub(crate) type Span = std::ops::Range<usize>;

/// Nodes, edges, and where to find them.
pub(crate) struct Tree {
    pub(super) n_roles: usize,
    pub(super) has_later: bool,
    pub(super) merges: bool,
    pub(super) nodes: Vec<Node>,
    /// Per node and role: the end of its edges, counted from the first of the node.
    pub(super) ends: Vec<u32>,
    /// Per node and role: what is proven.
    pub(super) bounds: Vec<Bounds>,
    pub(super) edges: Vec<Edge>,
    /// Per edge, if anybody wants it.
    pub(super) later: Vec<Later>,
    pub(super) table: HashTable<NodeId>,
    /// Children of nodes where several roles have a choice.
    pub(super) joints: FxHashMap<u64, NodeId>,
    pub(super) state_bytes: usize,
    /// By edge.
    flying: FxHashMap<u32, Flying>,
    /// What a simulation in flight counts, in lost ones.
    loss: f64,
}

impl Tree {
    /// An empty tree for so many roles; `has_later` keeps statistics of moves made later, `merges` merges equal states.
    pub(crate) fn new(n_roles: usize, has_later: bool, merges: bool) -> Tree {
        Tree {
            n_roles,
            has_later,
            merges,
            nodes: Vec::new(),
            ends: Vec::new(),
            bounds: Vec::new(),
            edges: Vec::new(),
            later: Vec::new(),
            table: HashTable::new(),
            joints: FxHashMap::default(),
            state_bytes: 0,
            flying: FxHashMap::default(),
            loss: 0.0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.ends.clear();
        self.bounds.clear();
        self.edges.clear();
        self.later.clear();
        self.table.clear();
        self.joints.clear();
        self.state_bytes = 0;
        self.flying.clear();
    }

    /// A simulation in flight counts so many lost ones.
    pub(crate) fn set_virtual_loss(&mut self, loss: f64) {
        self.loss = loss;
    }

    /// Whether some simulations have not come back.
    #[cfg(test)]
    pub(crate) fn is_flown_over(&self) -> bool {
        !self.flying.is_empty()
    }

    /// Those that have not come back never will.
    pub(crate) fn forget_flying(&mut self) {
        for (edge, flying) in self.flying.drain() {
            let edge = &mut self.edges[edge as usize];
            edge.visits -= flying.n;
            edge.mean = flying.mean;
        }
    }

    /// So many simulations go through an edge, and count as lost in part until they come back.
    #[inline]
    pub(crate) fn take_off(&mut self, edge_idx: usize, n: u32) {
        let edge = &mut self.edges[edge_idx];
        let mean = edge.mean;
        let flying = self.flying.entry(edge_idx as u32);
        let flying = flying.or_insert(Flying { n: 0, mean });
        flying.n += n;
        edge.visits += n;
        edge.mean = flying.lowered(edge.visits, self.loss);
    }

    /// Simulations come back through an edge: so many took off, so many have come to an end.
    #[inline]
    pub(crate) fn land(&mut self, edge_idx: usize, n_off: u32, n: u32, worth: Worth) {
        let edge = &mut self.edges[edge_idx];
        let mut flying = None;
        if !self.flying.is_empty() {
            flying = self.flying.get_mut(&(edge_idx as u32));
        }
        let mut n_flying = 0;
        if let Some(flying) = &flying {
            edge.mean = flying.mean;
            n_flying = flying.n;
        }
        let n_before = edge.visits - n_flying;
        edge.visits = edge.visits - n_off + n;
        match worth {
            _ if n == 0 => {}
            Worth::Sum(sum) => edge.land(n_before, n, sum),
            Worth::Best(value) => edge.mean = edge.mean.max(units(value)),
        }
        if let Some(flying) = flying {
            flying.n -= n_off;
            flying.mean = edge.mean;
            if flying.n > 0 {
                edge.mean = flying.lowered(edge.visits, self.loss);
            } else {
                self.flying.remove(&(edge_idx as u32));
            }
        }
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes.
    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.len() * self.bytes_per_node()
            + self.state_bytes
            + self.edges.len() * self.bytes_per_edge()
            + self.joints.len() * 24
    }

    /// Without state and edges; the table of states holds 4 bytes and a tag at a load of a half or more.
    pub(super) fn bytes_per_node(&self) -> usize {
        size_of::<Node>() + self.n_roles * (size_of::<u32>() + size_of::<Bounds>()) + 8
    }

    pub(super) fn bytes_per_edge(&self) -> usize {
        size_of::<Edge>()
            + if self.has_later {
                size_of::<Later>()
            } else {
                0
            }
    }

    #[inline]
    pub(crate) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.idx()]
    }

    #[inline]
    pub(crate) fn node_mut(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node.idx()]
    }

    /// The role that alone has a choice, if there is such a role. One that has none counts as having it if nobody has.
    #[inline]
    pub(crate) fn mover(&self, node: NodeId) -> Option<usize> {
        let mover = self.nodes[node.idx()].mover;
        (mover != SEVERAL).then_some(mover as usize)
    }

    /// The edges of a role.
    #[inline]
    pub(crate) fn span(&self, node: NodeId, role: usize) -> Span {
        let first = self.nodes[node.idx()].first as usize;
        let at = node.idx() * self.n_roles + role;
        let start = if role == 0 { 0 } else { self.ends[at - 1] };
        first + start as usize..first + self.ends[at] as usize
    }

    /// The edge of a move of a role, which are in order.
    pub(crate) fn edge_of(&self, node: NodeId, role: usize, of: MoveId) -> Option<usize> {
        let span = self.span(node, role);
        if span.len() == 1 {
            return Some(span.start);
        }
        let edges = &self.edges[span.clone()];
        let at = edges.binary_search_by_key(&of, |edge| edge.of).ok()?;
        Some(span.start + at)
    }

    #[inline]
    pub(crate) fn edge(&self, edge: usize) -> &Edge {
        &self.edges[edge]
    }

    #[inline]
    pub(crate) fn edge_mut(&mut self, edge: usize) -> &mut Edge {
        &mut self.edges[edge]
    }

    #[inline]
    pub(crate) fn edges(&self, span: Span) -> &[Edge] {
        &self.edges[span]
    }

    #[inline]
    pub(crate) fn later(&self, span: Span) -> &[Later] {
        &self.later[span]
    }

    /// Edges, and what is known of each from later moves, to be changed.
    #[inline]
    pub(crate) fn with_later(&mut self, span: Span) -> impl Iterator<Item = (&Edge, &mut Later)> {
        self.edges[span.clone()].iter().zip(&mut self.later[span])
    }

    /// A node's state, and the edges of a role with what else is known of them.
    #[inline]
    pub(crate) fn for_policy(
        &mut self,
        node: NodeId,
        role: usize,
    ) -> (&State, &[Edge], &mut [Later]) {
        let span = self.span(node, role);
        let state = &self.nodes[node.idx()].state;
        (state, &self.edges[span.clone()], &mut self.later[span])
    }

    #[inline]
    pub(crate) fn later_mut(&mut self, edge: usize) -> &mut Later {
        &mut self.later[edge]
    }

    /// What is proven in a node for a role.
    #[inline]
    pub(crate) fn bounds(&self, node: NodeId, role: usize) -> Bounds {
        self.bounds[node.idx() * self.n_roles + role]
    }

    pub(crate) fn set_bounds(&mut self, node: NodeId, role: usize, bounds: Bounds) {
        self.bounds[node.idx() * self.n_roles + role] = bounds;
    }

    /// The child by these edges, one per role; `NONE` if it is not known.
    #[inline]
    pub(crate) fn child(&self, node: NodeId, edges: &[u32]) -> NodeId {
        match self.mover(node) {
            Some(mover) => self.edges[edges[mover] as usize].child(),
            None => {
                let key = self.joint_key(node, edges);
                self.joints.get(&key).copied().unwrap_or(NodeId::NONE)
            }
        }
    }

    /// Remembers the child by these edges.
    pub(crate) fn link(&mut self, node: NodeId, edges: &[u32], child: NodeId) {
        match self.mover(node) {
            Some(mover) => self.edges[edges[mover] as usize].set_child(child),
            None => {
                let key = self.joint_key(node, edges);
                self.joints.insert(key, child);
            }
        }
    }

    /// Node and joint move as one number: exact where a node has fewer than 2³² joint moves. Beyond that, two of them share
    /// a number by chance once in 2⁶⁴ pairs.
    fn joint_key(&self, node: NodeId, edges: &[u32]) -> u64 {
        let mut code = 0_u64;
        let mut product = 1_u64;
        let mut hash = 0_u64;
        for (role, &edge) in edges.iter().enumerate() {
            let span = self.span(node, role);
            let at = edge as u64 - span.start as u64;
            code = code.wrapping_mul(span.len() as u64).wrapping_add(at);
            hash = mix(hash ^ at);
            product = product.saturating_mul(span.len() as u64);
        }
        if product <= 1 << 32 {
            u64::from(node.0) << 32 | code
        } else {
            mix(hash ^ u64::from(node.0)) | 1 << 63
        }
    }

    /// The node of a state at a depth, if it is in the tree. The hash is that of [`Tree::hash`].
    pub(crate) fn find(&self, hash: u64, words: &[u64], depth: u32) -> Option<NodeId> {
        if !self.merges {
            return None;
        }
        let is_it = |&id: &NodeId| {
            let node = &self.nodes[id.idx()];
            node.hash == hash && node.depth == depth && node.state.words() == words
        };
        self.table.find(hash, is_it).copied()
    }

    /// The hash of a state at a depth.
    pub(crate) fn hash(words: &[u64], depth: u32) -> u64 {
        let start = u64::from(depth).wrapping_add(1);
        words
            .iter()
            .fold(mix(start), |hash, &word| mix(hash ^ word))
    }

    /// Begins a node; its edges follow by [`Tree::add_moves`], role by role.
    pub(crate) fn add_node(&mut self, hash: u64, state: State, depth: u32) -> NodeId {
        let node = NodeId(self.nodes.len() as u32);
        assert!(node < NodeId::NONE, "the tree has room for 2^31 nodes");
        self.state_bytes += size_of_val(state.words());
        make_room(&mut self.nodes, 1);
        make_room(&mut self.ends, self.n_roles);
        make_room(&mut self.bounds, self.n_roles);
        self.nodes.push(Node {
            state,
            hash,
            first: self.edges.len() as u32,
            visits: 0,
            depth,
            mover: 0,
            is_terminal: false,
            lesson: 0,
        });
        for _ in 0..self.n_roles {
            self.bounds.push(Bounds::OPEN);
        }
        if self.merges {
            let nodes = &self.nodes;
            self.table
                .insert_unique(hash, node, |id| nodes[id.idx()].hash);
        }
        node
    }

    /// The legal moves of the next role of the last node.
    pub(crate) fn add_moves(&mut self, moves: &[MoveId]) {
        let node = self.nodes.last_mut().expect("a node has begun");
        let first_end = self.bounds.len() - self.n_roles;
        let role = self.ends.len() - first_end;
        if moves.len() > 1 {
            let role_0_chooses = role > 0 && self.ends[first_end] > 1;
            let is_second = node.mover != 0 || role_0_chooses;
            node.mover = if is_second { SEVERAL } else { role as u16 };
        }
        make_room(&mut self.edges, moves.len());
        self.edges.extend(moves.iter().map(|&of| Edge::new(of)));
        if self.has_later {
            make_room(&mut self.later, moves.len());
            self.later.resize(self.edges.len(), Later::default());
        }
        self.ends.push(self.edges.len() as u32 - node.first);
    }

    /// The last node is the end of a match, or nobody can go on from it: it has no edges.
    pub(crate) fn end_node(&mut self) {
        let node = self.nodes.last_mut().expect("a node has begun");
        node.is_terminal = true;
        node.mover = 0;
        let first = node.first as usize;
        self.edges.truncate(first);
        self.later.truncate(if self.has_later { first } else { 0 });
        self.ends.truncate(self.bounds.len() - self.n_roles);
        self.ends.resize(self.bounds.len(), 0);
    }
}

/// Makes room for more. A list that grows is copied to fresh pages, which the system must clear first, all while nobody else can have
/// the tree: so a small one grows eightfold at a time. What is not written to takes no memory.
fn make_room<T>(list: &mut Vec<T>, n_more: usize) {
    const SMALL: usize = 16 << 20;
    if list.capacity() - list.len() < n_more && size_of_val(&list[..]) < SMALL {
        list.reserve_exact(n_more.max(list.len() * 7));
    }
}

fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^= x >> 32;
    x.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(tree: &mut Tree, word: u64, depth: u32, n_moves: &[u32]) -> NodeId {
        let state = State::from_words(Box::new([word]));
        let node = tree.add_node(Tree::hash(&[word], depth), state, depth);
        for &n in n_moves {
            let moves: Vec<MoveId> = (0..n).map(MoveId).collect();
            tree.add_moves(&moves);
        }
        node
    }

    #[test]
    fn sizes_are_as_promised() {
        assert_eq!(size_of::<Node>(), 40);
        assert_eq!(size_of::<Edge>(), 16);
        assert_eq!(size_of::<Later>(), 8);
        assert!(Tree::new(2, false, true).bytes_per_node() <= 64);
    }

    #[test]
    fn a_mean_is_exact_to_a_millionth() {
        let mut edge = Edge::new(MoveId(0));
        for value in [100.0, 0.0, 50.0, 99.9] {
            edge.add(value);
        }
        assert_eq!(edge.visits, 4);
        assert!((edge.mean() - 62.475).abs() < 1e-6);
        for _ in 0..1_000_000 {
            edge.add(25.0);
        }
        assert!((edge.mean() - 25.000_149_899).abs() < 1e-5);
        let mut best = Edge::new(MoveId(0));
        best.add_max(30.0);
        best.add_max(20.0);
        assert_eq!((best.visits, best.mean()), (2, 30.0));
    }

    #[test]
    fn states_are_merged_within_a_depth_only() {
        let mut tree = Tree::new(1, false, true);
        let node = add(&mut tree, 7, 3, &[1]);
        assert_eq!(tree.find(Tree::hash(&[7], 3), &[7], 3), Some(node));
        assert_eq!(tree.find(Tree::hash(&[7], 4), &[7], 4), None);
        // A hash alone proves nothing.
        assert_eq!(tree.find(Tree::hash(&[7], 3), &[8], 3), None);
        let mut plain = Tree::new(1, false, false);
        add(&mut plain, 7, 3, &[1]);
        assert_eq!(plain.find(Tree::hash(&[7], 3), &[7], 3), None);
    }

    #[test]
    fn a_node_knows_who_chooses() {
        let mut tree = Tree::new(3, false, true);
        let movers = [
            [1, 1, 1],
            [3, 1, 1],
            [1, 3, 1],
            [1, 1, 3],
            [3, 1, 2],
            [1, 2, 2],
            [2, 2, 2],
        ];
        let movers = movers.map(|n_moves| {
            let node = add(&mut tree, 0, 0, &n_moves);
            tree.mover(node)
        });
        let expected = [Some(0), Some(0), Some(1), Some(2), None, None, None];
        assert_eq!(movers, expected);
    }

    #[test]
    fn children_are_found_by_the_joint_move() {
        let mut tree = Tree::new(2, false, true);
        let alone = add(&mut tree, 0, 0, &[1, 3]);
        let both = add(&mut tree, 1, 1, &[2, 3]);
        assert_eq!(tree.span(both, 1), 6..9);
        let children: Vec<NodeId> = (0..6).map(|k| add(&mut tree, 10 + k, 2, &[1, 1])).collect();
        tree.link(alone, &[0, 2], both);
        assert_eq!(tree.child(alone, &[0, 2]), both);
        assert_eq!(tree.child(alone, &[0, 1]), NodeId::NONE);
        for (k, &child) in children.iter().enumerate() {
            let k = k as u32;
            tree.link(both, &[4 + k / 3, 6 + k % 3], child);
        }
        for (k, &child) in children.iter().enumerate() {
            let k = k as u32;
            assert_eq!(tree.child(both, &[4 + k / 3, 6 + k % 3]), child);
        }
    }
}
