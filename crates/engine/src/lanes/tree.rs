//! The tree of a choice: a binary tree over groups of 8, 16 or 32 moves.
//!
//! Leaves are moves, in order. A left subtree is always full, so the path to a leaf, as right and left turns, is the
//! leaf's number in binary. Items are listed after their children, and each subtree is contiguous: counting goes
//! forwards, descending backwards. Groups are counted and descended by straight-line code; the more moves, the larger
//! the groups. The last group has only as many eighths as its moves need.

/// Number of moves in an eighth, the unit of groups.
pub(super) const EIGHT: usize = 8;

/// The shape of a tree; see the module documentation.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) items: Vec<Item>,
    /// Eighths in a group: 1, 2 or 4.
    pub(super) n_eighths: usize,
    n_all_eighths: usize,
    n_index_bits: usize,
    /// Bits of the number of legal moves.
    pub(super) n_count_bits: usize,
    /// Total number of vectors for the counts of all items.
    pub(super) n_counts: usize,
    /// Maximum depth of an item, plus one.
    pub(super) n_depths: usize,
}

/// A group or an inner node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// The items of both halves; `None` for a group.
    pub(super) halves: Option<(u32, u32)>,
    /// The start of the bits of its count, and their number. Counts inside a group follow.
    pub(super) count: u32,
    pub(super) width: u32,
    /// Number of items in its subtree.
    pub(super) n_items: u32,
    /// Its eighths.
    pub(super) eighths: (u32, u32),
    /// Number of items above it.
    pub(super) depth: u32,
    pub(super) is_right: bool,
    /// The depth of the nearest item that is a right half, itself or above it; zero if there is none. Lanes that go left
    /// keep their index, so the index of this item is there.
    pub(super) index_depth: u32,
}

impl Tree {
    /// A tree with `n_leaves` leaves, at least one.
    pub(super) fn new(n_leaves: usize) -> Tree {
        let n_eighths = match n_leaves {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        };
        let n_all_eighths = n_leaves.div_ceil(EIGHT).max(1);
        let n_groups = n_all_eighths.div_ceil(n_eighths);
        let mut tree = Tree {
            items: Vec::new(),
            n_eighths,
            n_all_eighths,
            n_index_bits: (n_all_eighths * EIGHT).next_power_of_two().trailing_zeros() as usize,
            n_count_bits: (usize::BITS - n_leaves.leading_zeros()).max(1) as usize,
            n_counts: 0,
            n_depths: 0,
        };
        tree.add((0, n_groups as u32), 0, false, 0);
        tree
    }

    /// Number of leaves, including the padding of the last eighth.
    pub(super) fn n_leaves(&self) -> usize {
        self.n_all_eighths * EIGHT
    }

    /// Bits of the count of the root, whether moves are legal or not.
    pub(super) fn n_root_bits(&self) -> usize {
        self.items.last().map_or(0, |root| root.width as usize)
    }

    /// Number of eighths in all groups.
    pub(super) fn n_all_eighths(&self) -> usize {
        self.n_all_eighths
    }

    /// Bits of a leaf's number, at least three.
    pub(super) fn n_index_bits(&self) -> usize {
        self.n_index_bits
    }

    fn add(
        &mut self,
        (start, end): (u32, u32),
        depth: u32,
        is_right: bool,
        index_depth: u32,
    ) -> u32 {
        let n = end - start;
        let before = self.items.len();
        let halves = (n > 1).then(|| {
            let half = n.next_power_of_two() / 2;
            let left = self.add((start, start + half), depth + 1, false, index_depth);
            let right = (start + half, end);
            (left, self.add(right, depth + 1, true, depth + 1))
        });
        // A full eighth has a count of eight, which takes four bits; each level above may need one more.
        let n_eighths = self.n_eighths as u32;
        let width = 4 + (n.next_power_of_two() * n_eighths).trailing_zeros();
        self.items.push(Item {
            halves,
            count: self.n_counts as u32,
            width,
            n_items: (self.items.len() - before + 1) as u32,
            eighths: (
                start * n_eighths,
                (end * n_eighths).min(self.n_all_eighths as u32),
            ),
            depth,
            is_right,
            index_depth,
        });
        let n_inside = match (halves, n_eighths) {
            (None, 2) => 4,
            (None, 4) => 5 + 4 + 4,
            _ => 0,
        };
        self.n_counts += width as usize + n_inside;
        self.n_depths = self.n_depths.max(depth as usize + 1);
        self.items.len() as u32 - 1
    }
}
