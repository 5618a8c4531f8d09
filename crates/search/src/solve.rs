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

use crate::tree::{NodeId, Tree};

/// Bounds on what a role gets, in half goal points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bounds {
    pub(crate) low: u8,
    pub(crate) high: u8,
}

/// 100 goal points.
const MOST: u8 = 200;

/// Bounds of nodes with more joint moves are not looked for where several roles choose.
const MOST_JOINTS: usize = 400;

impl Bounds {
    /// Nothing is proven.
    pub(crate) const OPEN: Bounds = Bounds { low: 0, high: MOST };

    /// This value, 0 to 100, for sure.
    pub(crate) fn exactly(value: f64) -> Bounds {
        let halves = (value * 2.0).round_ties_even() as u8;
        Bounds {
            low: halves,
            high: halves,
        }
    }

    pub(crate) fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// The lower bound as a value.
    pub(crate) fn low_value(self) -> f64 {
        f64::from(self.low) / 2.0
    }

    /// The upper bound as a value.
    pub(crate) fn high_value(self) -> f64 {
        f64::from(self.high) / 2.0
    }

    /// Whether this is surely no worse than something with those bounds, and may be better.
    pub(crate) fn dominates(self, other: Bounds) -> bool {
        self.low >= other.high && self != other
    }

    /// The same for the other of two roles whose values add up to 100.
    fn mirrored(self) -> Bounds {
        Bounds {
            low: MOST - self.high,
            high: MOST - self.low,
        }
    }

    fn narrowed(self, by: Bounds) -> Bounds {
        Bounds {
            low: self.low.max(by.low),
            high: self.high.min(by.high),
        }
    }
}

/// Backs proven values up.
pub(crate) struct Solver {
    n_roles: usize,
    /// Whether there are two roles whose values add up to 100.
    is_mirrored: bool,
    // Scratch: per role and move, the worst case against all joint moves of the others.
    worst: Vec<Vec<u8>>,
    /// Per move of the second of two roles, the best case of the first.
    best: Vec<u8>,
    edges: Vec<u32>,
}

impl Solver {
    pub(crate) fn new(n_roles: usize, is_mirrored: bool) -> Solver {
        Solver {
            n_roles,
            is_mirrored,
            worst: vec![Vec::new(); n_roles],
            best: Vec::new(),
            edges: vec![0; n_roles],
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
        let span = tree.span(node, mover);
        let mut is_changed = false;
        for role in 0..self.n_roles {
            if self.is_mirrored && role != mover {
                continue;
            }
            let mut found = Bounds {
                low: if role == mover { 0 } else { MOST },
                high: 0,
            };
            for edge in tree.edges(span.clone()) {
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

    /// Closes moves of the one role that chooses.
    fn close(&self, tree: &mut Tree, node: NodeId, mover: usize) {
        let sure = tree.bounds(node, mover).low;
        // One move that reaches what is sure stays open unless it is settled: there must be a way to play on.
        let mut has_way = false;
        for at in tree.span(node, mover) {
            let child = tree.edge(at).child();
            if child == NodeId::NONE {
                continue;
            }
            let below = tree.bounds(child, mover);
            let is_way = !has_way && below.low == sure && !self.is_settled(tree, child);
            has_way |= is_way;
            let is_closed = below.high <= sure && !is_way;
            tree.edge_mut(at).close(is_closed);
        }
    }

    /// Several roles choose at once.
    fn update_joint(&mut self, tree: &mut Tree, node: NodeId) -> bool {
        let spans: Vec<_> = (0..self.n_roles)
            .map(|role| tree.span(node, role))
            .collect();
        let sizes = spans.iter().map(ExactSizeIterator::len);
        let n_joints = sizes.fold(1_usize, usize::saturating_mul);
        if n_joints > MOST_JOINTS {
            return false;
        }
        for (worst, span) in self.worst.iter_mut().zip(&spans) {
            worst.clear();
            worst.resize(span.len(), MOST);
        }
        self.best.clear();
        self.best.resize(spans[self.n_roles - 1].len(), 0);
        let mut highs = vec![0; self.n_roles];
        for (edge, span) in self.edges.iter_mut().zip(&spans) {
            *edge = span.start as u32;
        }
        for _ in 0..n_joints {
            let child = tree.child(node, &self.edges);
            for role in 0..self.n_roles {
                let below = bounds_below(tree, child, role);
                let worst = &mut self.worst[role][self.edges[role] as usize - spans[role].start];
                *worst = below.low.min(*worst);
                highs[role] = below.high.max(highs[role]);
            }
            if self.is_mirrored {
                let best = &mut self.best[self.edges[1] as usize - spans[1].start];
                *best = bounds_below(tree, child, 0).high.max(*best);
            }
            for (edge, span) in self.edges.iter_mut().zip(&spans) {
                *edge += 1;
                if (*edge as usize) < span.end {
                    break;
                }
                *edge = span.start as u32;
            }
        }
        let mut is_changed = false;
        let n_looked_at = if self.is_mirrored { 1 } else { self.n_roles };
        for (role, high) in highs.into_iter().enumerate().take(n_looked_at) {
            let low = self.worst[role].iter().copied().max().unwrap_or(0);
            let high = if self.is_mirrored {
                self.best.iter().copied().min().unwrap_or(MOST)
            } else {
                high
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

    /// What is proven of a move of a role.
    pub(crate) fn bounds_of(&self, tree: &Tree, node: NodeId, role: usize, edge: usize) -> Bounds {
        match tree.mover(node) {
            Some(mover) if mover == role => {
                let of = tree.edge(edge);
                let mut bounds = bounds_below(tree, of.child(), role);
                if of.is_closed() {
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
    use agon_engine::{MoveId, State};

    /// A node with so many moves per role, and a child for each joint move with these bounds of all roles.
    fn parent(n_moves: &[u32], children: &[&[(u8, u8)]]) -> (Tree, NodeId) {
        let n_roles = n_moves.len();
        let mut tree = Tree::new(n_roles, false, false);
        let node = tree.add_node(0, State::default(), 0);
        for &n in n_moves {
            let moves: Vec<MoveId> = (0..n).map(MoveId).collect();
            tree.add_moves(&moves);
        }
        for (idx, bounds) in children.iter().enumerate() {
            if bounds.is_empty() {
                continue;
            }
            let child = tree.add_node(0, State::default(), 1);
            (0..n_roles).for_each(|_| tree.add_moves(&[MoveId(0)]));
            for (role, &(low, high)) in bounds.iter().enumerate() {
                tree.set_bounds(child, role, Bounds { low, high });
            }
            let mut rest = idx;
            let mut edges = Vec::new();
            for (role, &n) in n_moves.iter().enumerate() {
                edges.push((tree.span(node, role).start + rest % n as usize) as u32);
                rest /= n as usize;
            }
            tree.link(node, &edges, child);
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
        let n_edges: u32 = n_moves.iter().sum();
        let found: Vec<usize> = (0..n_edges as usize)
            .filter(|&edge| tree.edge(edge).is_closed())
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
        let closed = [0, 1].map(|edge| tree.edge(edge).is_closed());
        assert_eq!(closed, [false, true]);
    }
}
