//! What regret minimisation knows of information sets: regrets, the average strategy, baselines.
//!
//! The current strategy at an information set is by regret matching: moves in proportion to their positive regrets, all alike if
//! there are none. The average of all strategies is what converges to an equilibrium.
//!
//! - Hart and Mas-Colell 2000, A Simple Adaptive Procedure Leading to Correlated Equilibrium (regret matching)
//! - Zinkevich, Johanson, Bowling and Piccione 2008, Regret Minimization in Games with Incomplete Information

use agon_engine::{MoveId, RoleId};
use rustc_hash::FxHashMap;

use super::view::ViewKey;

/// A move at an information set.
#[derive(Clone, Debug)]
pub(crate) struct RegretEdge {
    pub(crate) mv: MoveId,
    pub(crate) regret: f64,
    /// Sum of weighted probabilities.
    pub(crate) average: f64,
    pub(crate) visits: u64,
}

/// An information set.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegretNode {
    pub(crate) edges: Vec<RegretEdge>,
    /// Per move and role: a running mean of what simulations were worth, as a control variate.
    pub(crate) baselines: Vec<f64>,
    pub(crate) visits: u64,
}

impl RegretNode {
    /// The place of a move, most probably `nth`; it is added if it is not there.
    pub(crate) fn place(&mut self, nth: usize, mv: MoveId, n_roles: usize) -> usize {
        if self.edges.get(nth).is_some_and(|edge| edge.mv == mv) {
            return nth;
        }
        if let Some(idx) = self.edges.iter().position(|edge| edge.mv == mv) {
            return idx;
        }
        self.edges.push(RegretEdge {
            mv,
            regret: 0.0,
            average: 0.0,
            visits: 0,
        });
        self.baselines.extend(std::iter::repeat_n(0.5, n_roles));
        self.edges.len() - 1
    }

    /// The current strategy over the moves at these places.
    pub(crate) fn current(&self, places: &[usize], strategy: &mut Vec<f64>) {
        let regrets = places.iter().map(|&idx| self.edges[idx].regret.max(0.0));
        normalise(regrets, strategy);
    }
}

/// In proportion to these numbers; all alike if their sum is nothing.
pub(crate) fn normalise(numbers: impl ExactSizeIterator<Item = f64>, to: &mut Vec<f64>) {
    to.clear();
    to.extend(numbers);
    let sum: f64 = to.iter().sum();
    let even = 1.0 / to.len().max(1) as f64;
    to.iter_mut().for_each(|share| match sum > 0.0 {
        true => *share /= sum,
        false => *share = even,
    });
}

/// The information sets of all roles.
pub(crate) struct RegretTable {
    pub(crate) names: Vec<FxHashMap<ViewKey, u32>>,
    pub(crate) nodes: Vec<RegretNode>,
    n_roles: usize,
    n_edges: usize,
    most_bytes: usize,
}

impl RegretTable {
    pub(crate) fn new(n_roles: usize, most_bytes: usize) -> RegretTable {
        RegretTable {
            names: vec![FxHashMap::default(); n_roles],
            nodes: Vec::new(),
            n_roles,
            n_edges: 0,
            most_bytes,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        const NODE: usize = 160;
        let edge = size_of::<RegretEdge>() + 8 * self.n_roles;
        self.nodes.len() * NODE + self.n_edges * edge >= self.most_bytes
    }

    pub(crate) fn clear(&mut self) {
        self.names.iter_mut().for_each(FxHashMap::clear);
        self.nodes.clear();
        self.n_edges = 0;
    }

    pub(crate) fn get(&self, role: RoleId, view: ViewKey) -> Option<&RegretNode> {
        let node = *self.names[role.idx()].get(&view)?;
        Some(&self.nodes[node as usize])
    }

    /// The node of a view, made if there is room; the second is whether it is new.
    pub(crate) fn node(
        &mut self,
        role: RoleId,
        view: ViewKey,
        n_moves: usize,
    ) -> Option<(u32, bool)> {
        if let Some(&node) = self.names[role.idx()].get(&view) {
            return Some((node, false));
        }
        if self.is_full() {
            return None;
        }
        let node = self.nodes.len() as u32;
        self.names[role.idx()].insert(view, node);
        self.nodes.push(RegretNode::default());
        self.n_edges += n_moves;
        Some((node, true))
    }

    /// The average strategy over legal moves; `None` if nothing is known.
    pub(crate) fn average(
        &self,
        role: RoleId,
        view: ViewKey,
        legal: &[MoveId],
    ) -> Option<Vec<f64>> {
        let node = self.get(role, view)?;
        let find = |mv: &MoveId| node.edges.iter().find(|edge| edge.mv == *mv);
        let sums = legal
            .iter()
            .map(|mv| find(mv).map_or(0.0, |edge| edge.average));
        let mut shares = Vec::new();
        if sums.clone().sum::<f64>() > 0.0 {
            normalise(sums, &mut shares);
        } else {
            let regrets = legal
                .iter()
                .map(|mv| find(mv).map_or(0.0, |edge| edge.regret.max(0.0)));
            normalise(regrets, &mut shares);
        }
        Some(shares)
    }
}
