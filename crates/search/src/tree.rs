//! The tree: nodes in an arena, equal states of the same depth merged.
//!
//! A node is a state at a depth, counted from the beginning of the match. For each role it has the list of its legal moves,
//! and an edge with visits and a mean for each move that was tried: roles choose independently, and the joint move leads to
//! the child. The tried moves stand first in the list, in the order of their edges. Where one role alone has a choice, its edge
//! knows the child; where several have, a table from node and joint move does. A role with one legal move has no edges. Because
//! equal states are merged only within a depth, the graph has no cycles, whether a game counts its steps or not.
//!
//! An edge is made when its move is first tried, so that a node of a game with hundreds of moves costs little; in a *dense*
//! tree all edges are made with the node, for techniques that learn about moves that were never tried.
//!
//! Means are whole numbers of 2⁻²⁴ goal points, so that adding a simulation is the same on every machine. A simulation that
//! has not come back is *in flight* and counted apart from the visits of its edges.
//!
//! Not here: what is dropped from a tree (`prune`), which edge to take (`select`), what is proven (`solve`).

use agon_engine::{MoveId, prefetch};
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use crate::bounds::Bounds;
pub(crate) use crate::edge::{Edge, NodeId, RaveEntry};
use crate::legal::{LegalList, make_room};

/// Roles whose moves and bounds are kept in the node, so that one line of the cache has all that a walk needs to go on.
const NEAR: usize = 2;

/// A state in the tree.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Node {
    /// Where the words of its state begin, and how many there are.
    pub(super) first_word: u32,
    pub(super) n_words: u32,
    /// Simulations that went through or ended here, with those in flight.
    pub(crate) visits: u32,
    /// Steps since the match began.
    pub(crate) depth: u32,
    /// The one role that has a choice, or `SEVERAL`.
    pub(super) mover: u16,
    /// Whether the match ends here.
    pub(crate) is_terminal: bool,
    /// Bits of the number of visits when its priors were computed; 0 if they never were.
    pub(crate) prior_age: u8,
    /// Of the first roles.
    near: [Moves; NEAR],
}

/// The moves of a role in a node, and what is proven for it there.
#[derive(Clone, Copy)]
struct Moves {
    span: Span,
    bounds: Bounds,
}

impl Moves {
    const NONE: Moves = Moves {
        span: Span {
            legal: 0,
            n_legal: 0,
            edges: 0,
            n_edges: 0,
        },
        bounds: Bounds::OPEN,
    };
}

const SEVERAL: u16 = u16::MAX;

/// The moves of a role in a node.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span {
    pub(super) legal: u32,
    pub(super) n_legal: u32,
    pub(super) edges: u32,
    pub(super) n_edges: u32,
}

impl Span {
    pub(crate) fn n_legal(self) -> usize {
        self.n_legal as usize
    }

    pub(crate) fn n_edges(self) -> usize {
        self.n_edges as usize
    }

    /// Whether some legal move has no edge.
    pub(crate) fn has_untried(self) -> bool {
        self.n_edges < self.n_legal
    }

    /// Places of all legal moves.
    pub(crate) fn moves(self) -> std::ops::Range<usize> {
        self.legal as usize..(self.legal + self.n_legal) as usize
    }

    /// Places of the moves without an edge.
    pub(crate) fn untried(self) -> std::ops::Range<usize> {
        (self.legal + self.n_edges) as usize..(self.legal + self.n_legal) as usize
    }

    pub(super) fn edges(self) -> std::ops::Range<usize> {
        self.edges as usize..(self.edges + self.n_edges) as usize
    }

    /// Edges that there is room for.
    pub(super) fn capacity(self) -> usize {
        match self.n_edges {
            0 => 0,
            n => n.next_power_of_two() as usize,
        }
    }
}

/// What a tree keeps besides visits and means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeOptions {
    pub(crate) n_roles: usize,
    /// Statistics of moves made later.
    pub(crate) has_rave: bool,
    /// A prior per legal move.
    pub(crate) has_priors: bool,
    /// Whether equal states of a depth are one node.
    pub(crate) merges: bool,
    /// Whether all edges are made with their node.
    pub(crate) is_dense: bool,
    /// Whether moves have large numbers.
    pub(crate) has_wide_moves: bool,
}

/// Nodes, edges, and where to find them.
pub(crate) struct Tree {
    pub(super) options: TreeOptions,
    pub(super) nodes: Vec<Node>,
    /// Per node and role that is not kept in the node.
    far: Vec<Moves>,
    /// The words of all states.
    pub(super) words: Vec<u64>,
    /// The legal moves of all nodes, and per legal move its prior, if there are priors.
    pub(super) legal: LegalList,
    pub(super) priors: Vec<u8>,
    pub(super) edges: Vec<Edge>,
    /// Per edge, if anybody wants it.
    pub(super) rave: Vec<RaveEntry>,
    /// By the logarithm of its size: where free room for edges is.
    pub(super) free: Vec<Vec<u32>>,
    pub(super) table: HashTable<NodeId>,
    /// Children of nodes where several roles have a choice.
    pub(super) joints: FxHashMap<u64, NodeId>,
}

impl Tree {
    /// An empty tree.
    pub(crate) fn new(options: TreeOptions) -> Tree {
        Tree {
            options,
            nodes: Vec::new(),
            far: Vec::new(),
            words: Vec::new(),
            legal: LegalList::new(options.has_wide_moves),
            priors: Vec::new(),
            edges: Vec::new(),
            rave: Vec::new(),
            free: vec![Vec::new(); 33],
            table: HashTable::new(),
            joints: FxHashMap::default(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.far.clear();
        self.words.clear();
        self.legal.clear();
        self.priors.clear();
        self.edges.clear();
        self.rave.clear();
        self.free.iter_mut().for_each(Vec::clear);
        self.table.clear();
        self.joints.clear();
    }

    pub(crate) fn n_roles(&self) -> usize {
        self.options.n_roles
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
            + self.words.len() * size_of::<u64>()
            + self.legal.len() * self.bytes_per_move()
            + self.edges.len() * self.bytes_per_edge()
            + self.joints.len() * 24
    }

    /// Without state, moves and edges; the table of states holds 4 bytes and a tag at a load of a half or more.
    pub(super) fn bytes_per_node(&self) -> usize {
        size_of::<Node>() + self.n_far() * size_of::<Moves>() + 8
    }

    pub(super) fn bytes_per_move(&self) -> usize {
        self.legal.bytes_per_move() + usize::from(self.options.has_priors)
    }

    pub(super) fn bytes_per_edge(&self) -> usize {
        size_of::<Edge>() + usize::from(self.options.has_rave) * size_of::<RaveEntry>()
    }

    #[inline]
    pub(crate) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.idx()]
    }

    #[inline]
    pub(crate) fn node_mut(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node.idx()]
    }

    /// The words of a node's state.
    #[inline]
    pub(crate) fn state(&self, node: NodeId) -> &[u64] {
        let node = &self.nodes[node.idx()];
        &self.words[node.first_word as usize..(node.first_word + node.n_words) as usize]
    }

    /// The role that alone has a choice, if there is such a role. The first one counts as having it if none has.
    #[inline]
    pub(crate) fn mover(&self, node: NodeId) -> Option<usize> {
        let mover = self.nodes[node.idx()].mover;
        (mover != SEVERAL).then_some(mover as usize)
    }

    /// Roles that are not kept in nodes.
    fn n_far(&self) -> usize {
        self.options.n_roles.saturating_sub(NEAR)
    }

    #[inline]
    fn moves(&self, node: NodeId, role: usize) -> &Moves {
        match role {
            0..NEAR => &self.nodes[node.idx()].near[role],
            _ => &self.far[node.idx() * self.n_far() + role - NEAR],
        }
    }

    #[inline]
    fn moves_mut(&mut self, node: NodeId, role: usize) -> &mut Moves {
        match role {
            0..NEAR => &mut self.nodes[node.idx()].near[role],
            _ => {
                let at = node.idx() * self.n_far() + role - NEAR;
                &mut self.far[at]
            }
        }
    }

    #[inline]
    pub(crate) fn span(&self, node: NodeId, role: usize) -> Span {
        self.moves(node, role).span
    }

    pub(super) fn set_span(&mut self, node: NodeId, role: usize, span: Span) {
        self.moves_mut(node, role).span = span;
    }

    /// Drops all nodes but the first ones.
    pub(super) fn truncate(&mut self, n_nodes: usize) {
        self.far.truncate(n_nodes * self.n_far());
        self.nodes.truncate(n_nodes);
    }

    /// Copies a node to another place.
    pub(super) fn copy_node(&mut self, from: usize, to: usize) {
        self.nodes[to] = self.nodes[from];
        let n_far = self.n_far();
        self.far
            .copy_within(from * n_far..(from + 1) * n_far, to * n_far);
    }

    /// The moves of a node will be looked at soon.
    #[inline]
    pub(crate) fn prefetch(&self, node: NodeId) {
        prefetch(&self.nodes, node.idx());
    }

    /// What is known of the moves of the role that chooses in a node will be looked at soon.
    #[inline]
    pub(crate) fn prefetch_moves(&self, node: NodeId) {
        let header = &self.nodes[node.idx()];
        let role = match header.mover {
            SEVERAL => 0,
            mover => mover as usize,
        };
        let span = self.span(node, role);
        prefetch(&self.edges, span.edges as usize);
        prefetch(&self.rave, span.edges as usize);
        prefetch(&self.priors, span.legal as usize);
        self.legal.prefetch(span.legal as usize);
        prefetch(&self.words, header.first_word as usize);
    }

    /// Whether a role has more than one legal move.
    #[inline]
    pub(crate) fn has_choice(&self, node: NodeId, role: usize) -> bool {
        self.span(node, role).n_legal > 1
    }

    /// A legal move of a role; the tried ones come first, in the order of their edges.
    #[inline]
    pub(crate) fn legal(&self, node: NodeId, role: usize, slot: usize) -> MoveId {
        self.legal.get(self.span(node, role).legal as usize + slot)
    }

    /// All legal moves of a role.
    pub(crate) fn legal_moves(
        &self,
        node: NodeId,
        role: usize,
    ) -> impl ExactSizeIterator<Item = MoveId> + Clone + '_ {
        self.legal.range(self.span(node, role).moves())
    }

    /// The edges of a role.
    #[inline]
    pub(crate) fn edges(&self, node: NodeId, role: usize) -> &[Edge] {
        &self.edges[self.span(node, role).edges()]
    }

    #[inline]
    pub(crate) fn edges_mut(&mut self, node: NodeId, role: usize) -> &mut [Edge] {
        let span = self.span(node, role);
        &mut self.edges[span.edges()]
    }

    /// What is known of the moves of the edges of a role from later moves.
    #[inline]
    pub(crate) fn rave(&self, node: NodeId, role: usize) -> &[RaveEntry] {
        &self.rave[self.span(node, role).edges()]
    }

    /// The moves of the edges of a role, with their edges and what is known of them from later moves, to be changed.
    #[inline]
    pub(crate) fn with_rave(
        &mut self,
        node: NodeId,
        role: usize,
    ) -> impl Iterator<Item = (MoveId, &Edge, &mut RaveEntry)> {
        let span = self.span(node, role);
        let moves = span.legal as usize..(span.legal + span.n_edges) as usize;
        let edges = self.edges[span.edges()].iter();
        let rave = self.rave[span.edges()].iter_mut();
        let pairs = self.legal.range(moves).zip(edges.zip(rave));
        pairs.map(|(mv, (edge, rave))| (mv, edge, rave))
    }

    /// The priors of all legal moves of a role.
    #[inline]
    pub(crate) fn priors(&self, node: NodeId, role: usize) -> &[u8] {
        &self.priors[self.span(node, role).moves()]
    }

    #[inline]
    pub(crate) fn priors_mut(&mut self, node: NodeId, role: usize) -> &mut [u8] {
        let span = self.span(node, role);
        &mut self.priors[span.moves()]
    }

    /// What is proven in a node for a role.
    #[inline]
    pub(crate) fn bounds(&self, node: NodeId, role: usize) -> Bounds {
        self.moves(node, role).bounds
    }

    pub(crate) fn set_bounds(&mut self, node: NodeId, role: usize, bounds: Bounds) {
        self.moves_mut(node, role).bounds = bounds;
    }

    /// Makes the edge of a legal move, unless it has one, and returns its place among the edges of the role.
    pub(crate) fn try_move(&mut self, node: NodeId, role: usize, slot: usize) -> usize {
        let span = self.span(node, role);
        if slot < span.n_edges() {
            return slot;
        }
        let new = span.n_edges();
        let legal = span.legal as usize;
        self.legal.swap(legal + slot, legal + new);
        if self.options.has_priors {
            self.priors.swap(legal + slot, legal + new);
        }
        if new == span.capacity() {
            self.move_edges(node, role, (new + 1).next_power_of_two());
        }
        let edge = self.span(node, role).edges as usize + new;
        self.edges[edge] = Edge::NEW;
        if self.options.has_rave {
            self.rave[edge] = RaveEntry::default();
        }
        self.moves_mut(node, role).span.n_edges += 1;
        new
    }

    /// Moves edges to a place with room for more.
    fn move_edges(&mut self, node: NodeId, role: usize, capacity: usize) {
        let span = self.span(node, role);
        let to = self.find_room(capacity);
        self.edges.copy_within(span.edges(), to);
        if self.options.has_rave {
            self.rave.copy_within(span.edges(), to);
        }
        if span.n_edges > 0 {
            self.free[span.capacity().ilog2() as usize].push(span.edges);
        }
        self.moves_mut(node, role).span.edges = to as u32;
    }

    /// Room for this number of edges, a power of two.
    pub(super) fn find_room(&mut self, capacity: usize) -> usize {
        if let Some(place) = self.free[capacity.ilog2() as usize].pop() {
            return place as usize;
        }
        let place = self.edges.len();
        make_room(&mut self.edges, capacity);
        self.edges.resize(place + capacity, Edge::NEW);
        if self.options.has_rave {
            make_room(&mut self.rave, capacity);
            self.rave.resize(place + capacity, RaveEntry::default());
        }
        place
    }

    /// The place of a move among the edges of a role.
    pub(crate) fn edge_of(&self, node: NodeId, role: usize, mv: MoveId) -> Option<usize> {
        let span = self.span(node, role);
        let tried = span.legal as usize..(span.legal + span.n_edges) as usize;
        self.legal.range(tried).position(|tried| tried == mv)
    }

    /// The child by these edges, one per role; `NONE` if it is not known.
    #[inline]
    pub(crate) fn child(&self, node: NodeId, slots: &[u32]) -> NodeId {
        match self.mover(node) {
            Some(mover) if self.has_choice(node, mover) => {
                let edges = self.edges(node, mover);
                edges
                    .get(slots[mover] as usize)
                    .map_or(NodeId::NONE, Edge::child)
            }
            _ => {
                let key = self.joint_key(node, slots);
                self.joints.get(&key).copied().unwrap_or(NodeId::NONE)
            }
        }
    }

    /// The child by a joint move; `NONE` if it is not known.
    pub(crate) fn child_by(&self, node: NodeId, joint: &[MoveId]) -> NodeId {
        let mut slots = Vec::with_capacity(joint.len());
        for (role, &mv) in joint.iter().enumerate() {
            let slot = match self.has_choice(node, role) {
                true => self.edge_of(node, role, mv),
                false => Some(0),
            };
            let Some(slot) = slot else {
                return NodeId::NONE;
            };
            slots.push(slot as u32);
        }
        self.child(node, &slots)
    }

    /// Remembers the child by these edges.
    pub(crate) fn link(&mut self, node: NodeId, slots: &[u32], child: NodeId) {
        match self.mover(node) {
            Some(mover) if self.has_choice(node, mover) => {
                self.edges_mut(node, mover)[slots[mover] as usize].set_child(child);
            }
            _ => {
                let key = self.joint_key(node, slots);
                self.joints.insert(key, child);
            }
        }
    }

    /// Node and joint move as one number: exact where a node has fewer than 2³² joint moves. Beyond that, two of them share
    /// a number by chance once in 2⁶⁴ pairs.
    fn joint_key(&self, node: NodeId, slots: &[u32]) -> u64 {
        let mut code = 0_u64;
        let mut product = 1_u64;
        let mut hash = 0_u64;
        for (role, &slot) in slots.iter().enumerate() {
            let n_legal = u64::from(self.span(node, role).n_legal);
            code = code.wrapping_mul(n_legal).wrapping_add(u64::from(slot));
            hash = mix(hash ^ u64::from(slot));
            product = product.saturating_mul(n_legal);
        }
        if product <= 1 << 32 {
            u64::from(node.0) << 32 | code
        } else {
            mix(hash ^ u64::from(node.0)) | 1 << 63
        }
    }

    /// The node of a state at a depth, if it is in the tree.
    #[cfg(test)]
    pub(crate) fn find(&self, words: &[u64], depth: u32) -> Option<NodeId> {
        self.find_by(hash(words, depth), words, depth)
    }

    fn find_by(&self, hash: u64, words: &[u64], depth: u32) -> Option<NodeId> {
        if !self.options.merges {
            return None;
        }
        let is_it = |&id: &NodeId| self.node(id).depth == depth && self.state(id) == words;
        self.table.find(hash, is_it).copied()
    }

    /// The node of a state at a depth, and whether it is new: then it has these legal moves, given role by role, or none if the
    /// match ends there.
    pub(crate) fn get_or_insert<'a>(
        &mut self,
        words: &[u64],
        depth: u32,
        legal: Option<&dyn Fn(usize) -> &'a [MoveId]>,
    ) -> (NodeId, bool) {
        let hash = hash(words, depth);
        if let Some(node) = self.find_by(hash, words, depth) {
            return (node, false);
        }
        let node = NodeId(self.nodes.len() as u32);
        assert!(node < NodeId::NONE, "the tree has room for 2^31 nodes");
        make_room(&mut self.nodes, 1);
        make_room(&mut self.words, words.len());
        let n_far = self.n_far();
        make_room(&mut self.far, n_far);
        self.nodes.push(Node {
            first_word: self.words.len() as u32,
            n_words: words.len() as u32,
            visits: 0,
            depth,
            mover: 0,
            is_terminal: legal.is_none(),
            prior_age: 0,
            near: [Moves::NONE; NEAR],
        });
        self.far.resize(self.nodes.len() * n_far, Moves::NONE);
        self.words.extend_from_slice(words);
        let mut mover = None;
        for role in 0..self.options.n_roles {
            let moves = legal.map_or(&[][..], |legal| legal(role));
            let span = self.add_moves(moves);
            self.set_span(node, role, span);
            if moves.len() > 1 {
                mover = Some(mover.map_or(role as u16, |_| SEVERAL));
            }
        }
        self.nodes[node.idx()].mover = mover.unwrap_or(0);
        self.enter(node, hash);
        (node, true)
    }

    /// Enters a node into the table of states, if equal states are merged.
    fn enter(&mut self, node: NodeId, hash: u64) {
        if self.options.merges {
            let Tree {
                nodes,
                words,
                table,
                ..
            } = self;
            table.insert_unique(hash, node, |id| hash_of(nodes, words, *id));
        }
    }

    /// Enters all nodes into the table of states anew.
    pub(super) fn enter_all(&mut self) {
        self.table.clear();
        for node in self.ids() {
            let hash = hash_of(&self.nodes, &self.words, node);
            self.enter(node, hash);
        }
    }

    /// The legal moves of a role of a new node.
    fn add_moves(&mut self, moves: &[MoveId]) -> Span {
        let legal = self.legal.len() as u32;
        self.legal.extend(moves);
        if self.options.has_priors {
            make_room(&mut self.priors, moves.len());
            self.priors.resize(self.legal.len(), 0);
        }
        let n_edges = match self.options.is_dense && moves.len() > 1 {
            true => moves.len(),
            false => 0,
        };
        let edges = match n_edges {
            0 => 0,
            n => self.find_room(n.next_power_of_two()),
        };
        self.edges[edges..edges + n_edges].fill(Edge::NEW);
        if self.options.has_rave {
            self.rave[edges..edges + n_edges].fill(RaveEntry::default());
        }
        Span {
            legal,
            n_legal: moves.len() as u32,
            edges: edges as u32,
            n_edges: n_edges as u32,
        }
    }
}

/// The hash of a state at a depth.
fn hash(words: &[u64], depth: u32) -> u64 {
    let start = u64::from(depth).wrapping_add(1);
    words
        .iter()
        .fold(mix(start), |hash, &word| mix(hash ^ word))
}

fn hash_of(nodes: &[Node], words: &[u64], id: NodeId) -> u64 {
    let node = &nodes[id.idx()];
    let words = &words[node.first_word as usize..(node.first_word + node.n_words) as usize];
    hash(words, node.depth)
}

fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^= x >> 32;
    x.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
pub(crate) mod tests;
