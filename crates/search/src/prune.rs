//! What is dropped from a tree: everything that the match has left behind, and, when memory runs out, the nodes with the
//! fewest visits.
//!
//! Live nodes move down in their arenas, in order, and links follow them. A node that is dropped leaves its edge in its
//! parent with visits and mean, so that little is forgotten; it is made again when a simulation comes by.

use rustc_hash::FxHashMap;

use crate::solve::Bounds;
use crate::tree::{Edge, Later, NodeId, Tree};

/// So much of the memory limit is left in use after trimming.
const KEPT_SHARE: f64 = 0.6;

impl Tree {
    /// Keeps what can be reached from a node, which becomes the first one.
    pub(crate) fn keep_below(&mut self, root: NodeId) -> NodeId {
        self.keep(root, 0)
    }

    /// If the tree has more than `most_bytes`, drops nodes with few visits until it has clearly less. Tells where the root
    /// is now.
    pub(crate) fn trim(&mut self, root: NodeId, most_bytes: usize) -> NodeId {
        if self.bytes() <= most_bytes {
            return root;
        }
        let wanted = (most_bytes as f64 * KEPT_SHARE) as usize;
        let least_visits = self.threshold(wanted);
        self.keep(root, least_visits)
    }

    /// The number of visits below which nodes must go for the rest to fit.
    fn threshold(&self, wanted: usize) -> u32 {
        let mut sizes: Vec<(u32, usize)> = (0..self.nodes.len())
            .map(|idx| (self.nodes[idx].visits, self.bytes_of(idx)))
            .collect();
        sizes.sort_unstable_by_key(|&(visits, _)| std::cmp::Reverse(visits));
        let mut bytes = 0;
        for (visits, size) in sizes {
            bytes += size;
            if bytes > wanted {
                return visits.saturating_add(1);
            }
        }
        0
    }

    fn bytes_of(&self, idx: usize) -> usize {
        let n_edges = self.ends[(idx + 1) * self.n_roles - 1] as usize;
        self.bytes_per_node()
            + size_of_val(self.nodes[idx].state.words())
            + n_edges * self.bytes_per_edge()
    }

    /// Keeps what can be reached from the root through nodes with so many visits.
    fn keep(&mut self, root: NodeId, least_visits: u32) -> NodeId {
        let mut places = self.live(root, least_visits);
        self.compact(&mut places);
        self.relink(&places);
        places[root.idx()]
    }

    /// Marks what can be reached: anything but `NONE`.
    fn live(&self, root: NodeId, least_visits: u32) -> Vec<NodeId> {
        let mut marks = vec![NodeId::NONE; self.nodes.len()];
        let mut children: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        for (&key, &child) in &self.joints {
            if key >> 63 == 0 {
                children
                    .entry(NodeId((key >> 32) as u32))
                    .or_default()
                    .push(child);
            }
        }
        let mut open = vec![root];
        marks[root.idx()] = root;
        while let Some(node) = open.pop() {
            let joints = children.get(&node).map_or(&[][..], Vec::as_slice);
            let edges = match self.mover(node) {
                Some(mover) => self.edges(self.span(node, mover)),
                None => &[],
            };
            for child in edges.iter().map(Edge::child).chain(joints.iter().copied()) {
                let is_new = child != NodeId::NONE && marks[child.idx()] == NodeId::NONE;
                if is_new && self.nodes[child.idx()].visits >= least_visits {
                    marks[child.idx()] = child;
                    open.push(child);
                }
            }
        }
        marks
    }

    /// Moves live nodes down; marks become places.
    fn compact(&mut self, places: &mut [NodeId]) {
        let (mut n_nodes, mut n_edges) = (0, 0);
        for (idx, place) in places.iter_mut().enumerate() {
            if *place == NodeId::NONE {
                continue;
            }
            *place = NodeId(n_nodes as u32);
            let first = self.nodes[idx].first as usize;
            let end = first + self.ends[(idx + 1) * self.n_roles - 1] as usize;
            self.edges.copy_within(first..end, n_edges);
            if self.has_later {
                self.later.copy_within(first..end, n_edges);
            }
            let roles = idx * self.n_roles..(idx + 1) * self.n_roles;
            self.ends.copy_within(roles.clone(), n_nodes * self.n_roles);
            self.bounds.copy_within(roles, n_nodes * self.n_roles);
            self.nodes.swap(n_nodes, idx);
            self.nodes[n_nodes].first = n_edges as u32;
            n_nodes += 1;
            n_edges += end - first;
        }
        self.nodes.truncate(n_nodes);
        self.ends.truncate(n_nodes * self.n_roles);
        self.bounds.resize(n_nodes * self.n_roles, Bounds::OPEN);
        self.edges.truncate(n_edges);
        self.later
            .resize(if self.has_later { n_edges } else { 0 }, Later::default());
    }

    /// Points links and the table at the new places.
    fn relink(&mut self, places: &[NodeId]) {
        for edge in &mut self.edges {
            let child = edge.child();
            if child != NodeId::NONE {
                edge.set_child(places[child.idx()]);
            }
        }
        let joints = std::mem::take(&mut self.joints);
        for (key, child) in joints {
            // Links that are hashes cannot follow; their children are found by their states.
            if key >> 63 == 1 {
                continue;
            }
            let (node, child) = (places[(key >> 32) as usize], places[child.idx()]);
            if node != NodeId::NONE && child != NodeId::NONE {
                let key = u64::from(node.0) << 32 | key & u64::from(u32::MAX);
                self.joints.insert(key, child);
            }
        }
        self.table.clear();
        self.state_bytes = 0;
        let nodes = &self.nodes;
        for (idx, node) in nodes.iter().enumerate() {
            self.state_bytes += size_of_val(node.state.words());
            if self.merges {
                self.table
                    .insert_unique(node.hash, NodeId(idx as u32), |id| nodes[id.idx()].hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_engine::{MoveId, State};

    /// A tree of one role: a binary tree of so many levels, where a node has as many visits as there are leaves below.
    fn binary(levels: u32) -> Tree {
        let mut tree = Tree::new(1, true, true);
        for id in 0..(1 << levels) - 1_u32 {
            let depth = (id + 1).ilog2();
            let words = [u64::from(id)];
            let state = State::from_words(Box::new(words));
            let node = tree.add_node(Tree::hash(&words, depth), state, depth);
            tree.add_moves(&[MoveId(0), MoveId(1)]);
            tree.node_mut(node).visits = 1 << (levels - 1 - depth);
            if id > 0 {
                let parent = NodeId((id - 1) / 2);
                let edge = tree.span(parent, 0).start as u32 + (id - 1) % 2;
                tree.link(parent, &[edge], node);
                tree.edge_mut(edge as usize).visits = id;
            }
        }
        tree
    }

    /// The words of all states that can be reached, with the visits of the edges to them; in the order of a walk.
    fn walk(tree: &Tree, node: NodeId) -> Vec<(u64, u32)> {
        let mut found = vec![(tree.node(node).state.words()[0], tree.node(node).visits)];
        for edge in tree.edges(tree.span(node, 0)) {
            if edge.child() != NodeId::NONE {
                let below = walk(tree, edge.child());
                assert_eq!(
                    u64::from(edge.visits),
                    below[0].0,
                    "edges keep their children"
                );
                found.extend(below);
            }
        }
        found
    }

    #[test]
    fn what_the_match_left_behind_goes() {
        let mut tree = binary(4);
        let before = walk(&tree, NodeId(2));
        let root = tree.keep_below(NodeId(2));
        assert_eq!((root, tree.n_nodes()), (NodeId(0), 7));
        assert_eq!(walk(&tree, root), before);
        let found = tree.find(Tree::hash(&[5], 2), &[5], 2).expect("it stayed");
        assert_eq!(tree.node(found).state.words(), [5]);
        assert_eq!(tree.find(Tree::hash(&[3], 2), &[3], 2), None);
        let bytes = tree.bytes();
        assert_eq!(bytes, binary(3).bytes(), "nothing else is kept");
    }

    #[test]
    fn trimming_drops_those_with_the_fewest_visits() {
        let mut tree = binary(6);
        let most = tree.bytes() * 3 / 4;
        let root = tree.trim(NodeId(0), most);
        assert_eq!(root, NodeId(0));
        assert!(tree.bytes() < most * 2 / 3);
        assert!(
            walk(&tree, root).iter().all(|&(_, visits)| visits >= 4),
            "leaves and their parents went"
        );
        assert_eq!(tree.n_nodes(), 15);
        assert_eq!(tree.trim(root, usize::MAX), root);
        // The root stays whatever the limit is.
        let root = tree.trim(root, 1);
        assert_eq!((root, tree.n_nodes()), (NodeId(0), 1));
        assert_eq!(
            tree.edges(tree.span(root, 0))[1].visits,
            2,
            "what was learned of its moves stays"
        );
    }
}
