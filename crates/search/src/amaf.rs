//! AMAF, all moves as first: a simulation qualifies every move made in it, as if it had been made at once.
//!
//! A node has, for each of its moves, the mean over all times that its role made that move at this state or later. The tree
//! is descended by these means alone, unexplored moves first, and the final move is the one with the highest. Other than
//! RAVE a move counts as often as it is made, and moves that were never tried in the node learn too.
//!
//! In: the moves of a simulation. Out: means in the tree.
//!
//! - Brügmann 1993, Monte Carlo Go
//! - Méhat and Cazenave 2008, Monte-Carlo Tree Search for General Game Playing (Ary)

use crate::rave::Seen;
use crate::tree::{NodeId, Tree};

/// Teaches the moves of a node what was seen from it on.
pub(crate) fn update(tree: &mut Tree, node: NodeId, n_roles: usize, seen: &Seen) {
    for role in 0..n_roles {
        let span = tree.span(node, role);
        if span.len() == 1 {
            continue;
        }
        for edge in span {
            if let Some((count, value)) = seen.get(role, tree.edge(edge).of) {
                let later = tree.later_mut(edge);
                for _ in 0..count {
                    later.add(value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_engine::{MoveId, State};

    #[test]
    fn all_times_of_all_moves_count() {
        let mut tree = Tree::new(1, true, true);
        let node = tree.add_node(0, State::default(), 0);
        tree.add_moves(&[MoveId(0), MoveId(1), MoveId(2)]);
        let mut seen = Seen::new(1);
        for value in [100.0, 40.0] {
            seen.begin();
            seen.add(0, MoveId(1), value);
            if value == 100.0 {
                seen.add(0, MoveId(1), value);
                seen.add(0, MoveId(2), value);
            }
            update(&mut tree, node, 1, &seen);
        }
        // Move 1: twice 100 and once 40, which is 80.
        let later: Vec<(u32, f32)> = tree
            .later(0..3)
            .iter()
            .map(|l| (l.visits(), l.mean))
            .collect();
        assert_eq!(later, [(0, 0.0), (3, 80.0), (1, 100.0)]);
    }
}
