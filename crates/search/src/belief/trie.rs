//! Histories that share their beginnings: a tree of joint moves with the states between them.
//!
//! Leaves are the histories that are possible now. What no leaf descends from is dropped after each step, so the memory is
//! that of the leaves and of the beginnings in which they differ.

use agon_engine::{MoveId, State};

use super::view::ViewKey;

/// A history in the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct HistoryId(pub(crate) u32);

impl HistoryId {
    /// The empty history.
    pub(crate) const ROOT: HistoryId = HistoryId(0);

    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// The tree.
pub(crate) struct Trie {
    n_roles: usize,
    parents: Vec<HistoryId>,
    states: Vec<State>,
    /// Per history and role: the last joint move, and the views.
    moves: Vec<MoveId>,
    views: Vec<ViewKey>,
}

impl Trie {
    /// The empty history alone.
    pub(crate) fn new(initial: &State, n_roles: usize) -> Trie {
        Trie {
            n_roles,
            parents: vec![HistoryId::ROOT],
            states: vec![initial.clone()],
            moves: vec![MoveId(u32::MAX); n_roles],
            views: vec![ViewKey::START; n_roles],
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Bytes, about.
    pub(crate) fn n_bytes(&self) -> usize {
        let state = self.states[0].words().len() * 8 + 40;
        let per_role = size_of::<MoveId>() + size_of::<ViewKey>();
        self.len() * (state + per_role * self.n_roles)
    }

    pub(crate) fn push(
        &mut self,
        parent: HistoryId,
        moves: &[MoveId],
        state: State,
        views: &[ViewKey],
    ) -> HistoryId {
        let id = HistoryId(self.parents.len() as u32);
        self.parents.push(parent);
        self.states.push(state);
        self.moves.extend_from_slice(moves);
        self.views.extend_from_slice(views);
        id
    }

    pub(crate) fn parent(&self, id: HistoryId) -> HistoryId {
        self.parents[id.idx()]
    }

    pub(crate) fn state(&self, id: HistoryId) -> &State {
        &self.states[id.idx()]
    }

    /// The joint move that led here.
    pub(crate) fn moves(&self, id: HistoryId) -> &[MoveId] {
        &self.moves[id.idx() * self.n_roles..][..self.n_roles]
    }

    pub(crate) fn views(&self, id: HistoryId) -> &[ViewKey] {
        &self.views[id.idx() * self.n_roles..][..self.n_roles]
    }

    /// The history that goes on from another one by this joint move, if it is known. Looks at all histories.
    pub(crate) fn find(&self, parent: HistoryId, moves: &[MoveId]) -> Option<HistoryId> {
        let all = (1..self.parents.len() as u32).map(HistoryId);
        let mut children = all.filter(|&id| self.parent(id) == parent);
        children.find(|&id| self.moves(id) == moves)
    }

    /// The history that another one had after this number of steps, if it has `n_steps`.
    pub(crate) fn ancestor(&self, leaf: HistoryId, n_steps: usize, depth: usize) -> HistoryId {
        (depth..n_steps).fold(leaf, |id, _| self.parent(id))
    }

    /// Per history: those that go on from it.
    pub(crate) fn children(&self) -> Vec<Vec<HistoryId>> {
        let mut children = vec![Vec::new(); self.len()];
        for idx in 1..self.len() as u32 {
            let id = HistoryId(idx);
            children[self.parent(id).idx()].push(id);
        }
        children
    }

    /// Drops what none of these leaves descends from, and gives the leaves their new names.
    pub(crate) fn keep(&mut self, leaves: &mut [HistoryId]) {
        let mut is_kept = vec![false; self.len()];
        is_kept[0] = true;
        for &leaf in &*leaves {
            let mut id = leaf;
            while !is_kept[id.idx()] {
                is_kept[id.idx()] = true;
                id = self.parent(id);
            }
        }
        let mut names = vec![HistoryId::ROOT; self.len()];
        let mut n_kept = 0;
        for idx in (0..self.len()).filter(|&idx| is_kept[idx]) {
            names[idx] = HistoryId(n_kept as u32);
            self.parents[n_kept] = names[self.parents[idx].idx()];
            self.states.swap(n_kept, idx);
            let from = idx * self.n_roles..(idx + 1) * self.n_roles;
            self.moves.copy_within(from.clone(), n_kept * self.n_roles);
            self.views.copy_within(from, n_kept * self.n_roles);
            n_kept += 1;
        }
        self.parents.truncate(n_kept);
        self.states.truncate(n_kept);
        self.moves.truncate(n_kept * self.n_roles);
        self.views.truncate(n_kept * self.n_roles);
        for leaf in leaves {
            *leaf = names[leaf.idx()];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(word: u64) -> State {
        State::from_words([word].into())
    }

    #[test]
    fn dead_histories_are_dropped() {
        let mut trie = Trie::new(&state(0), 1);
        let views = [ViewKey::START];
        let mut push = |parent, mv, word| trie.push(parent, &[MoveId(mv)], state(word), &views);
        let a = push(HistoryId::ROOT, 1, 1);
        let b = push(HistoryId::ROOT, 2, 2);
        let a_a = push(a, 3, 3);
        let b_a = push(b, 4, 4);
        let b_b = push(b, 5, 5);
        assert_eq!(trie.ancestor(b_b, 2, 1), b);
        assert_eq!(trie.ancestor(a_a, 2, 0), HistoryId::ROOT);
        let mut leaves = [b_a, b_b];
        trie.keep(&mut leaves);
        assert_eq!(trie.len(), 4);
        let words: Vec<u64> = leaves.iter().map(|&id| trie.state(id).words()[0]).collect();
        assert_eq!(words, [4, 5]);
        assert_eq!(trie.moves(leaves[0]), [MoveId(4)]);
        let parent = trie.parent(leaves[1]);
        assert_eq!(trie.state(parent), &state(2));
        assert_eq!(trie.find(parent, &[MoveId(5)]), Some(leaves[1]));
        assert_eq!(trie.find(parent, &[MoveId(3)]), None);
        assert_eq!(trie.children()[parent.idx()], leaves);
    }
}
