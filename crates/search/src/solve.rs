//! What is proven: bounds on what each role gets, backed up from the ends of matches.
//!
//! A node has for each role the least that the role can be sure of, whatever the others do, and the most that it can
//! get. Ends of matches have both alike. Where one role chooses, it is sure of the best that it is sure of after any
//! of its moves, and can get the most that it can get after any; the others are sure of the worst after all of them. Where
//! several choose at once, a role is sure of the best of its moves against all joint moves of the others. A child that is not
//! in the tree bounds nothing. So bounds are sound in every game, without any thought about what others want.
//!
//! With two roles and values that add up to 100, which is so by construction where values are differences of goals, the
//! most that a role can get is 100 minus what the other is sure of. In games where roles take turns that is the proven
//! game value, and a proven win or loss is MCTS-Solver's.
//!
//! A move is closed if nothing better than what its role is sure of can come of it; selection passes it over. A node where
//! all roles' bounds meet is settled; simulations end there with its value.
//!
//! - Winands, Björnsson and Saito 2008, Monte-Carlo Tree Search Solver
//! - Cazenave and Saffidine 2010, Score Bounded Monte-Carlo Tree Search

use crate::bounds::{Bounds, MOST};
use crate::tree::{NodeId, Tree};

/// Bounds of nodes with more joint moves are not looked for where several roles choose.
const MOST_JOINTS: usize = 400;

/// Backs proven values up.
pub(crate) struct Solver {
    n_roles: usize,
    /// Whether there are two roles whose values add up to 100.
    is_mirrored: bool,
    // Scratch: per role and move, the worst case against all joint moves of the others.
    worst: Vec<Vec<u8>>,
    /// Per move of the second of two roles, the best case of the first.
    best: Vec<u8>,
    slots: Vec<u32>,
}

impl Solver {
    pub(crate) fn new(n_roles: usize, is_mirrored: bool) -> Solver {
        Solver {
            n_roles,
            is_mirrored,
            worst: vec![Vec::new(); n_roles],
            best: Vec::new(),
            slots: vec![0; n_roles],
        }
    }

    /// Looks at a node again after something was proven below it; tells whether anything is proven here now that was not.
    pub(crate) fn update(&mut self, tree: &mut Tree, node: NodeId) -> bool {
        if tree.node(node).is_terminal {
            return false;
        }
        match tree.mover(node) {
            Some(mover) => self.update_turn(tree, node, mover),
            None => self.update_joint(tree, node),
        }
    }

    /// One role chooses.
    fn update_turn(&mut self, tree: &mut Tree, node: NodeId, mover: usize) -> bool {
        let mut is_changed = false;
        if !tree.has_choice(node, mover) {
            return self.update_forced(tree, node);
        }
        let has_untried = tree.span(node, mover).has_untried();
        for role in 0..self.n_roles {
            if self.is_mirrored && role != mover {
                continue;
            }
            // A move without an edge bounds nothing.
            let mut found = Bounds {
                low: if role == mover || has_untried {
                    0
                } else {
                    MOST
                },
                high: if has_untried { MOST } else { 0 },
            };
            for edge in tree.edges(node, mover) {
                let below = bounds_below(tree, edge.child(), role);
                found.low = if role == mover {
                    found.low.max(below.low)
                } else {
                    found.low.min(below.low)
                };
                found.high = found.high.max(below.high);
            }
            is_changed |= self.narrow(tree, node, role, found);
        }
        self.close(tree, node, mover);
        is_changed
    }

    /// Nobody chooses.
    fn update_forced(&mut self, tree: &mut Tree, node: NodeId) -> bool {
        self.slots.fill(0);
        let child = tree.child(node, &self.slots);
        let mut is_changed = false;
        for role in 0..self.n_roles {
            let found = bounds_below(tree, child, role);
            is_changed |= self.narrow(tree, node, role, found);
        }
        is_changed
    }

    /// Closes moves of the one role that chooses.
    fn close(&self, tree: &mut Tree, node: NodeId, mover: usize) {
        let sure = tree.bounds(node, mover).low;
        // One move that reaches what is sure stays open unless it is settled: there must be a way to play on.
        let mut has_way = false;
        for slot in 0..tree.span(node, mover).n_edges() {
            let child = tree.edges(node, mover)[slot].child();
            if child == NodeId::NONE {
                continue;
            }
            let below = tree.bounds(child, mover);
            let is_way = !has_way && below.low == sure && !self.is_settled(tree, child);
            has_way |= is_way;
            let is_closed = below.high <= sure && !is_way;
            tree.edges_mut(node, mover)[slot].close(is_closed);
        }
    }

    /// Several roles choose at once.
    fn update_joint(&mut self, tree: &mut Tree, node: NodeId) -> bool {
        let n_legal = |role: usize| tree.span(node, role).n_legal();
        let sizes: Vec<usize> = (0..self.n_roles)
            .map(|role| match n_legal(role) {
                1 => 1,
                _ => tree.span(node, role).n_edges(),
            })
            .collect();
        let all = (0..self.n_roles).map(n_legal);
        if all.fold(1_usize, usize::saturating_mul) > MOST_JOINTS {
            return false;
        }
        // A joint move with a move that was never tried bounds nothing.
        let is_whole = |role: usize| sizes[role] == n_legal(role);
        for (role, &size) in sizes.iter().enumerate() {
            let others_whole = (0..self.n_roles).all(|other| other == role || is_whole(other));
            self.worst[role].clear();
            self.worst[role].resize(size, if others_whole { MOST } else { 0 });
        }
        self.best.clear();
        let best = if is_whole(0) { 0 } else { MOST };
        self.best.resize(sizes[self.n_roles - 1], best);
        let high = if (0..self.n_roles).all(is_whole) {
            0
        } else {
            MOST
        };
        let mut highs = vec![high; self.n_roles];
        self.slots.fill(0);
        for _ in 0..sizes.iter().product() {
            let child = tree.child(node, &self.slots);
            for (role, high) in highs.iter_mut().enumerate() {
                let below = bounds_below(tree, child, role);
                let worst = &mut self.worst[role][self.slots[role] as usize];
                *worst = below.low.min(*worst);
                *high = below.high.max(*high);
            }
            if self.is_mirrored {
                let best = &mut self.best[self.slots[1] as usize];
                *best = bounds_below(tree, child, 0).high.max(*best);
            }
            for (slot, &size) in self.slots.iter_mut().zip(&sizes) {
                *slot += 1;
                if (*slot as usize) < size {
                    break;
                }
                *slot = 0;
            }
        }
        let mut is_changed = false;
        let n_looked_at = if self.is_mirrored { 1 } else { self.n_roles };
        for (role, high) in highs.into_iter().enumerate().take(n_looked_at) {
            let low = self.worst[role].iter().copied().max().unwrap_or(0);
            let high = match self.is_mirrored {
                // The second role may hold the first one down by any of its moves.
                true => self.best.iter().copied().min().unwrap_or(MOST),
                false => high,
            };
            is_changed |= self.narrow(tree, node, role, Bounds { low, high });
        }
        is_changed
    }

    fn narrow(&self, tree: &mut Tree, node: NodeId, role: usize, found: Bounds) -> bool {
        let before = tree.bounds(node, role);
        let after = before.narrowed(found);
        if after == before {
            return false;
        }
        tree.set_bounds(node, role, after);
        if self.is_mirrored {
            tree.set_bounds(node, 1 - role, after.mirrored());
        }
        true
    }

    /// Whether all is proven in a node.
    #[inline]
    pub(crate) fn is_settled(&self, tree: &Tree, node: NodeId) -> bool {
        tree.bounds(node, 0).is_exact()
            && (self.is_mirrored
                || (1..self.n_roles).all(|role| tree.bounds(node, role).is_exact()))
    }

    /// What is proven of a move of a role, by its edge.
    pub(crate) fn bounds_of(&self, tree: &Tree, node: NodeId, role: usize, slot: usize) -> Bounds {
        match tree.mover(node) {
            Some(mover) if mover == role && tree.has_choice(node, role) => {
                let edge = tree.edges(node, role)[slot];
                let mut bounds = bounds_below(tree, edge.child(), role);
                if edge.is_closed() {
                    bounds.high = bounds.high.min(tree.bounds(node, role).low);
                }
                bounds
            }
            _ => Bounds::OPEN,
        }
    }
}

fn bounds_below(tree: &Tree, child: NodeId, role: usize) -> Bounds {
    if child == NodeId::NONE {
        Bounds::OPEN
    } else {
        tree.bounds(child, role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::add;
    use crate::tree::{Edge, TreeOptions};

    /// A node with this number of moves per role, and a child for each joint move with these bounds of all roles.
    fn parent(n_moves: &[u32], children: &[&[(u8, u8)]]) -> (Tree, NodeId) {
        let n_roles = n_moves.len();
        let mut tree = Tree::new(TreeOptions::dense(n_roles));
        let node = add(&mut tree, 0, 0, n_moves);
        for (idx, bounds) in children.iter().enumerate() {
            if bounds.is_empty() {
                continue;
            }
            let child = add(&mut tree, idx as u64, 1, &vec![1; n_roles]);
            for (role, &(low, high)) in bounds.iter().enumerate() {
                tree.set_bounds(child, role, Bounds { low, high });
            }
            let mut rest = idx;
            let mut slots = Vec::new();
            for &n in n_moves {
                slots.push((rest % n as usize) as u32);
                rest /= n as usize;
            }
            tree.link(node, &slots, child);
        }
        (tree, node)
    }

    fn check(
        n_moves: &[u32],
        is_mirrored: bool,
        children: &[&[(u8, u8)]],
        expected: &[(u8, u8)],
        closed: &[usize],
    ) {
        let (mut tree, node) = parent(n_moves, children);
        let mut solver = Solver::new(n_moves.len(), is_mirrored);
        solver.update(&mut tree, node);
        assert!(
            !solver.update(&mut tree, node),
            "a second look finds nothing new"
        );
        let bounds: Vec<(u8, u8)> = (0..n_moves.len())
            .map(|role| tree.bounds(node, role))
            .map(|bounds| (bounds.low, bounds.high))
            .collect();
        assert_eq!(bounds, expected);
        let roles = 0..n_moves.len();
        let edges = roles.flat_map(|role| match n_moves[role] {
            1 => &[Edge::NEW][..],
            _ => tree.edges(node, role),
        });
        let found: Vec<usize> = edges
            .enumerate()
            .filter(|(_, edge)| edge.is_closed())
            .map(|(idx, _)| idx)
            .collect();
        assert_eq!(found, closed);
    }

    #[test]
    fn a_proven_win_is_enough_and_a_loss_must_be_proven_everywhere() {
        let (win, loss) = (&[(200, 200), (0, 0)][..], &[(0, 0), (200, 200)][..]);
        let draw = &[(100, 100), (100, 100)][..];
        check(&[3, 1], true, &[&[], win, &[]], &[(200, 200), (0, 0)], &[1]);
        check(
            &[3, 1],
            true,
            &[loss, loss, &[]],
            &[(0, 200), (0, 200)],
            &[0, 1],
        );
        check(
            &[3, 1],
            true,
            &[loss, loss, loss],
            &[(0, 0), (200, 200)],
            &[0, 1, 2],
        );
        check(
            &[3, 1],
            true,
            &[loss, draw, &[]],
            &[(100, 200), (0, 100)],
            &[0, 1],
        );
        check(&[1, 2], true, &[loss, draw], &[(0, 0), (200, 200)], &[1, 2]);
    }

    #[test]
    fn others_are_sure_of_the_worst_only() {
        // Three roles, the second chooses; the last move is not in the tree, or is.
        let (a, b) = (
            &[(60, 60), (100, 100), (40, 40)][..],
            &[(80, 80), (120, 120), (0, 0)][..],
        );
        check(
            &[1, 3, 1],
            false,
            &[a, b, &[]],
            &[(0, 200), (120, 200), (0, 200)],
            &[1, 2],
        );
        check(
            &[1, 2, 1],
            false,
            &[a, b],
            &[(60, 80), (120, 120), (0, 40)],
            &[1, 2],
        );
    }

    #[test]
    fn choosing_at_once_is_bounded_by_pure_choices() {
        // Matching pennies proves nothing; a move that wins against all is proven.
        let (win, loss) = (&[(200, 200), (0, 0)][..], &[(0, 0), (200, 200)][..]);
        check(
            &[2, 2],
            true,
            &[win, loss, loss, win],
            &[(0, 200), (0, 200)],
            &[],
        );
        check(
            &[2, 2],
            true,
            &[win, loss, win, &[]],
            &[(200, 200), (0, 0)],
            &[],
        );
        check(
            &[2, 2],
            true,
            &[win, win, loss, loss],
            &[(0, 0), (200, 200)],
            &[],
        );
    }

    #[test]
    fn an_open_way_to_what_is_sure_stays_open() {
        // Role 0 has won after its first move, but what the others get there is not known yet.
        let won = &[(200, 200), (0, 200), (0, 200)][..];
        let (mut tree, node) = parent(&[2, 1, 1], &[won, won]);
        Solver::new(3, false).update(&mut tree, node);
        let closed = [0, 1].map(|slot| tree.edges(node, 0)[slot].is_closed());
        assert_eq!(closed, [false, true]);
    }

    #[test]
    fn moves_that_were_never_tried_bound_nothing() {
        let mut tree = Tree::new(TreeOptions::test(2));
        let node = add(&mut tree, 0, 0, &[2, 1]);
        let loss = add(&mut tree, 1, 1, &[1, 1]);
        tree.set_bounds(loss, 0, Bounds { low: 0, high: 0 });
        tree.set_bounds(loss, 1, Bounds::exactly(100.0));
        let mut solver = Solver::new(2, true);
        tree.try_move(node, 0, 0);
        tree.link(node, &[0, 0], loss);
        assert!(!solver.update(&mut tree, node));
        assert_eq!(tree.bounds(node, 0), Bounds::OPEN);
        tree.try_move(node, 0, 1);
        tree.link(node, &[1, 0], loss);
        assert!(solver.update(&mut tree, node));
        assert_eq!(tree.bounds(node, 0), Bounds::exactly(0.0));
        // Both choose at once, and one joint move of four was tried.
        let node = add(&mut tree, 2, 0, &[2, 2]);
        assert_eq!([0, 1].map(|role| tree.try_move(node, role, 0)), [0, 0]);
        tree.link(node, &[0, 0], loss);
        assert!(!solver.update(&mut tree, node));
        assert_eq!(tree.bounds(node, 1), Bounds::OPEN);
    }
}
