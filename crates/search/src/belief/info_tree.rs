//! A tree of information sets for each role, and UCB in them.
//!
//! A node is what a role knows; it has an edge for each move that was ever legal there. The moves that are legal may differ from
//! state to state, so an edge counts how often it was available, and UCB compares moves by that (subset-armed
//! bandits): `mean + c * sqrt(ln available / visits)`.
//!
//! - Cowling, Powley and Whitehouse 2012, Information Set Monte Carlo Tree Search

use agon_engine::{MoveId, RoleId};
use rustc_hash::FxHashMap;

use super::view::ViewKey;
use crate::random::Random;

/// A move at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InfoEdge {
    pub(crate) mv: MoveId,
    /// Simulations that made it, those in flight included.
    pub(crate) visits: u32,
    /// Simulations that could have made it.
    pub(crate) available: u32,
    /// What they were worth, 0 to 1 each.
    pub(crate) sum: f64,
    /// The squares of that.
    squares: f64,
}

impl InfoEdge {
    pub(crate) fn mean(&self) -> f64 {
        match self.visits {
            0 => 0.0,
            n => self.sum / f64::from(n),
        }
    }
}

/// How much UCB explores.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exploration {
    /// By this constant.
    Constant(f64),
    /// By this constant where simulations are worth 0 or 1 alike, and by less where they differ less: in proportion to their
    /// standard deviation at the node. A move that was unlucky at first gets more chances: each is made `CHANCES` times, as far as
    /// that takes no more than one in `SHARE` simulations.
    BySpread(f64),
}

impl Exploration {
    /// With a smaller spread than this share of the largest one, which few simulations show by accident, it is taken for this.
    const LEAST_SPREAD: f64 = 0.25;
    const CHANCES: u32 = 32;
    const SHARE: u32 = 8;

    /// A move with fewer visits comes first.
    fn least_visits(self, available: u32, n_moves: usize) -> u32 {
        match self {
            Exploration::Constant(_) => 1,
            Exploration::BySpread(_) => {
                let even = available / (Exploration::SHARE * n_moves.max(1) as u32);
                even.clamp(1, Exploration::CHANCES)
            }
        }
    }

    fn at(self, edges: &[InfoEdge]) -> f64 {
        let constant = match self {
            Exploration::Constant(constant) => return constant,
            Exploration::BySpread(constant) => constant,
        };
        let n: f64 = edges.iter().map(|edge| f64::from(edge.visits)).sum();
        let mean = edges.iter().map(|edge| edge.sum).sum::<f64>() / n.max(1.0);
        let square = edges.iter().map(|edge| edge.squares).sum::<f64>() / n.max(1.0);
        // The standard deviation of a fair coin is a half.
        let spread = 2.0 * (square - mean * mean).max(0.0).sqrt();
        constant * spread.clamp(Exploration::LEAST_SPREAD, 1.0)
    }
}

/// Where a role chose a move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) role: RoleId,
    node: u32,
    edge: u32,
}

/// The trees of all roles.
pub(crate) struct InfoTree {
    /// Per role.
    names: Vec<FxHashMap<ViewKey, u32>>,
    nodes: Vec<Vec<InfoEdge>>,
    n_edges: usize,
    most_bytes: usize,
}

impl InfoTree {
    pub(crate) fn new(n_roles: usize, most_bytes: usize) -> InfoTree {
        InfoTree {
            names: vec![FxHashMap::default(); n_roles],
            nodes: Vec::new(),
            n_edges: 0,
            most_bytes,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn clear(&mut self) {
        self.names.iter_mut().for_each(FxHashMap::clear);
        self.nodes.clear();
        self.n_edges = 0;
    }

    /// Whether there is no memory for more nodes.
    pub(crate) fn is_full(&self) -> bool {
        /// A name in its table, at most, and the list of edges.
        const NODE: usize = 96;
        self.nodes.len() * NODE + self.n_edges * size_of::<InfoEdge>() >= self.most_bytes
    }

    /// The moves at a node, if it is there.
    pub(crate) fn edges(&self, role: RoleId, view: ViewKey) -> Option<&[InfoEdge]> {
        let node = *self.names[role.idx()].get(&view)?;
        Some(&self.nodes[node as usize])
    }

    /// The node of a view; the second is whether it is new. `None` if it is not there and there is no room for it.
    pub(crate) fn node(&mut self, role: RoleId, view: ViewKey) -> Option<(u32, bool)> {
        if let Some(&node) = self.names[role.idx()].get(&view) {
            return Some((node, false));
        }
        if self.is_full() {
            return None;
        }
        let node = self.nodes.len() as u32;
        self.names[role.idx()].insert(view, node);
        self.nodes.push(Vec::new());
        Some((node, true))
    }

    /// Chooses one of the legal moves at a node by UCB, untried ones first. The simulation counts among the visits at once, as a
    /// loss until it is backed up.
    pub(crate) fn select(
        &mut self,
        role: RoleId,
        node: u32,
        legal: &[MoveId],
        exploration: Exploration,
        random: &mut Random,
    ) -> (Choice, MoveId) {
        let edges = &mut self.nodes[node as usize];
        let (by, exploration) = (exploration, exploration.at(edges));
        let n_before = edges.len();
        let (mut best, mut highest, mut n_ties) = (0, f64::NEG_INFINITY, 0);
        for (nth, &mv) in legal.iter().enumerate() {
            let edge_idx = place(edges, nth, mv);
            let edge = &mut edges[edge_idx];
            edge.available += 1;
            let least = by.least_visits(edge.available, legal.len());
            let value = match edge.visits {
                visits if visits < least => f64::INFINITY,
                visits => {
                    let ratio = libm::log(f64::from(edge.available)) / f64::from(visits);
                    edge.mean() + exploration * ratio.sqrt()
                }
            };
            if value > highest {
                (best, highest, n_ties) = (edge_idx, value, 1);
            } else if value == highest {
                n_ties += 1;
                if random.below(n_ties) == 0 {
                    best = edge_idx;
                }
            }
        }
        self.n_edges += edges.len() - n_before;
        let edge = &mut edges[best];
        edge.visits += 1;
        let choice = Choice {
            role,
            node,
            edge: best as u32,
        };
        (choice, edge.mv)
    }

    /// A simulation that made this choice was worth so much, 0 to 1.
    pub(crate) fn back_up(&mut self, choice: Choice, worth: f64) {
        let edge = &mut self.nodes[choice.node as usize][choice.edge as usize];
        edge.sum += worth;
        edge.squares += worth * worth;
    }

    /// A simulation that made this choice was given up.
    pub(crate) fn take_back(&mut self, choice: Choice) {
        self.nodes[choice.node as usize][choice.edge as usize].visits -= 1;
    }
}

/// The place of a move among edges, most probably `nth`; it is added if it is not there.
fn place(edges: &mut Vec<InfoEdge>, nth: usize, mv: MoveId) -> usize {
    if edges.get(nth).is_some_and(|edge| edge.mv == mv) {
        return nth;
    }
    if let Some(idx) = edges.iter().position(|edge| edge.mv == mv) {
        return idx;
    }
    edges.push(InfoEdge {
        mv,
        visits: 0,
        available: 0,
        sum: 0.0,
        squares: 0.0,
    });
    edges.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: Exploration = Exploration::Constant(0.5);

    #[test]
    fn a_good_move_that_failed_once_is_tried_again() {
        // The first move always brings a half, the other one everything, but nothing at the first try.
        let mut tree = InfoTree::new(1, 1 << 20);
        let mut random = Random::new(1);
        let (node, _) = tree.node(RoleId(0), ViewKey::START).expect("there is room");
        let legal = [MoveId(0), MoveId(1)];
        let mut visits = [0, 0];
        for _ in 0..500 {
            let by = Exploration::BySpread(0.7);
            let (choice, mv) = tree.select(RoleId(0), node, &legal, by, &mut random);
            let visits = &mut visits[mv.0 as usize];
            let is_first = std::mem::replace(visits, *visits + 1) == 0;
            let worth = match mv.0 {
                0 => 0.5,
                _ => f64::from(u8::from(!is_first)),
            };
            tree.back_up(choice, worth);
        }
        assert!(visits[1] > 400, "{visits:?}");
        let edges = tree.edges(RoleId(0), ViewKey::START).expect("it is there");
        // Now nearly all are worth the same, and there is less to explore.
        assert!(Exploration::BySpread(1.0).at(edges) < 0.5);
    }

    #[test]
    fn untried_moves_come_first_then_the_best_by_its_own_chances() {
        let mut tree = InfoTree::new(1, 1 << 20);
        let mut random = Random::new(1);
        let role = RoleId(0);
        let (node, is_new) = tree.node(role, ViewKey::START).expect("there is room");
        assert!(is_new);
        let legal = [MoveId(5), MoveId(7)];
        for _ in 0..2 {
            let (choice, mv) = tree.select(role, node, &legal, EVEN, &mut random);
            tree.back_up(choice, if mv == MoveId(7) { 1.0 } else { 0.0 });
        }
        let edges = tree.edges(role, ViewKey::START).expect("it is there");
        assert!(edges.iter().all(|edge| edge.visits == 1));
        let (_, mv) = tree.select(role, node, &legal, EVEN, &mut random);
        assert_eq!(mv, MoveId(7));
        // A move that was not there before is tried, and one that is not there now is not.
        let (_, mv) = tree.select(role, node, &[MoveId(9), MoveId(5)], EVEN, &mut random);
        assert_eq!(mv, MoveId(9));
        let edges = tree.edges(role, ViewKey::START).expect("it is there");
        let counts: Vec<_> = edges
            .iter()
            .map(|e| (e.mv.0, e.visits, e.available))
            .collect();
        assert_eq!(counts, [(5, 1, 4), (7, 2, 3), (9, 1, 1)]);
    }

    #[test]
    fn a_full_tree_does_not_grow() {
        let mut tree = InfoTree::new(1, 100);
        let views = (0..10).map(|n| ViewKey::START.after(MoveId(n), &[]));
        let n_made = views.filter_map(|view| tree.node(RoleId(0), view)).count();
        assert_eq!(n_made, 2);
    }
}
