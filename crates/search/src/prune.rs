//! What is dropped from a tree: everything that the match has left behind, and, when memory runs out, the nodes with the
//! fewest visits.
//!
//! Live nodes move down in their arenas, in order, and links follow them. A node that is dropped leaves its edge in its
//! parent with visits and mean, so that little is forgotten; it is made again when a simulation comes by. Nothing may be in
//! flight meanwhile.

use rustc_hash::FxHashMap;

use crate::tree::{Edge, NodeId, Tree};

/// This share of the memory limit stays in use after trimming.
const KEPT_SHARE: f64 = 0.6;

impl Tree {
    /// Keeps what can be reached from a node, which becomes the first one.
    pub(crate) fn keep_below(&mut self, root: NodeId) -> NodeId {
        self.keep(root, 0)
    }

    /// If the tree has more than `most_bytes`, drops nodes with few visits until it has clearly less. Returns where the
    /// root is now.
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
        let moves: usize = (0..self.n_roles())
            .map(|role| {
                let span = self.span(NodeId(idx as u32), role);
                span.n_legal() * self.bytes_per_move() + span.capacity() * self.bytes_per_edge()
            })
            .sum();
        self.bytes_per_node() + self.nodes[idx].n_words as usize * size_of::<u64>() + moves
    }

    /// Keeps what can be reached from the root through nodes with this number of visits.
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
                Some(mover) => self.edges(node, mover),
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
        let n_roles = self.n_roles();
        let (mut n_nodes, mut n_words, mut n_moves) = (0, 0, 0);
        let old_edges = std::mem::take(&mut self.edges);
        let old_rave = std::mem::take(&mut self.rave);
        self.free.iter_mut().for_each(Vec::clear);
        for (idx, place) in places.iter_mut().enumerate() {
            if *place == NodeId::NONE {
                continue;
            }
            *place = NodeId(n_nodes as u32);
            self.copy_node(idx, n_nodes);
            let node = &mut self.nodes[n_nodes];
            let first = node.first_word as usize;
            let end = first + node.n_words as usize;
            node.first_word = n_words as u32;
            self.words.copy_within(first..end, n_words);
            n_words += end - first;
            for role in 0..n_roles {
                let mut span = self.span(*place, role);
                self.legal.copy_within(span.moves(), n_moves);
                if self.options.has_priors {
                    self.priors.copy_within(span.moves(), n_moves);
                }
                span.legal = n_moves as u32;
                n_moves += span.n_legal();
                if span.n_edges > 0 {
                    let from = span.edges();
                    let to = self.find_room(span.capacity());
                    self.edges[to..to + from.len()].copy_from_slice(&old_edges[from.clone()]);
                    if self.options.has_rave {
                        self.rave[to..to + from.len()].copy_from_slice(&old_rave[from]);
                    }
                    span.edges = to as u32;
                } else {
                    span.edges = 0;
                }
                self.set_span(*place, role, span);
            }
            n_nodes += 1;
        }
        self.truncate(n_nodes);
        self.words.truncate(n_words);
        self.legal.truncate(n_moves);
        self.priors.truncate(n_moves);
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
        self.enter_all();
    }

    /// Statistics of moves made later that nothing was added to.
    #[cfg(test)]
    pub(crate) fn has_no_rave(&self) -> bool {
        self.rave.iter().all(|entry| entry.visits == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeOptions;
    use crate::tree::tests::add;

    /// A tree of one role: a binary tree of this number of levels, where a node has as many visits as there are leaves below.
    fn binary(levels: u32) -> Tree {
        let mut tree = Tree::new(TreeOptions::test(1));
        for id in 0..(1 << levels) - 1_u32 {
            let depth = (id + 1).ilog2();
            let node = add(&mut tree, u64::from(id), depth, &[2]);
            tree.try_move(node, 0, 0);
            tree.try_move(node, 0, 1);
            tree.node_mut(node).visits = 1 << (levels - 1 - depth);
            if id > 0 {
                let parent = NodeId((id - 1) / 2);
                let slot = (id - 1) % 2;
                tree.link(parent, &[slot], node);
                tree.edges_mut(parent, 0)[slot as usize].visits = id;
            }
        }
        tree
    }

    /// The words of all states that can be reached, with the visits of the edges to them; in the order of a walk.
    fn walk(tree: &Tree, node: NodeId) -> Vec<(u64, u32)> {
        let mut found = vec![(tree.state(node)[0], tree.node(node).visits)];
        for edge in tree.edges(node, 0) {
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
        let found = tree.find(&[5], 2).expect("it stayed");
        assert_eq!(tree.state(found), [5]);
        assert_eq!(tree.find(&[3], 2), None);
        assert!(tree.bytes() <= binary(3).bytes(), "nothing else is kept");
        assert!(tree.has_no_rave());
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
        assert_eq!(tree.trim(root, usize::MAX), root);
        // The root stays whatever the limit is.
        let root = tree.trim(root, 1);
        assert_eq!((root, tree.n_nodes()), (NodeId(0), 1));
        assert_eq!(
            tree.edges(root, 0)[1].visits,
            2,
            "what was learned of its moves stays"
        );
    }
}
