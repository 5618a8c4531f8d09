//! RAVE, rapid action value estimation: what a move is worth here is also learned from simulations where its role made it
//! later.
//!
//! Each edge has a second mean, over simulations that went through its node and in which the role made the move at this
//! state or later. In selection the value of a move is `β · Q_RAVE + (1 − β) · Q` with `β = sqrt(k / (3 N + k))`, N being
//! the visits of the state: it begins with RAVE and ends with the tree. CadiaPlayer's program puts an exploration bonus on
//! both parts, each with its own counts, and leaves RAVE out when β falls below 0.01; the paper has one bonus on the mix.
//!
//! A simulation counts once per move, with the value of the last time it was made; only moves that were tried in the node
//! learn, because others are not chosen by value.
//!
//! GRAVE takes these statistics from the last state on the way that has enough visits, which below it serves all states with
//! few; there all moves learn. A move that is not legal there has none.
//!
//! In: the moves of a simulation and the values of its steps, last step first. Out: means in the tree; β.
//!
//! - Gelly and Silver 2007, Combining Online and Offline Knowledge in UCT
//! - Finnsson and Björnsson 2011, CadiaPlayer: Search-Control Techniques
//! - Cazenave 2015, Generalized Rapid Action Value Estimation (GRAVE)

use agon_engine::MoveId;

use crate::tree::{Edge, Later, NodeId, Tree};

/// Below this weight RAVE is left out.
pub(crate) const LEAST_BETA: f64 = 0.01;

/// The weight of RAVE in a state with so many visits.
#[inline]
pub(crate) fn beta(k: f64, visits: u32) -> f64 {
    (k / (3.0 * f64::from(visits) + k)).sqrt()
}

/// The moves that each role has made in the part of a simulation walked so far, from its end.
pub(crate) struct Seen {
    /// Per role and move.
    marks: Vec<Vec<Mark>>,
    simulation: u32,
}

#[derive(Clone, Copy, Default)]
struct Mark {
    simulation: u32,
    /// How often the move was made.
    count: u32,
    /// What it was worth the last time.
    value: f64,
}

impl Seen {
    pub(crate) fn new(n_roles: usize) -> Seen {
        Seen {
            marks: vec![Vec::new(); n_roles],
            simulation: 0,
        }
    }

    /// Nothing was made yet.
    pub(crate) fn begin(&mut self) {
        self.simulation = self.simulation.wrapping_add(1);
        if self.simulation == 0 {
            // Marks of 2³² simulations ago would look like new ones.
            self.marks.iter_mut().for_each(Vec::clear);
            self.simulation = 1;
        }
    }

    /// The role made this move, which was worth this much; later moves come first.
    #[inline]
    pub(crate) fn add(&mut self, role: usize, of: MoveId, value: f64) {
        let marks = &mut self.marks[role];
        let at = of.0 as usize;
        if at >= marks.len() {
            marks.resize((at + 1).next_power_of_two(), Mark::default());
        }
        let mark = &mut marks[at];
        if mark.simulation == self.simulation {
            mark.count += 1;
        } else {
            *mark = Mark {
                simulation: self.simulation,
                count: 1,
                value,
            };
        }
    }

    /// How often the role made this move and what it was worth the last time, if it did.
    #[inline]
    pub(crate) fn get(&self, role: usize, of: MoveId) -> Option<(u32, f64)> {
        let mark = self.marks[role].get(of.0 as usize)?;
        (mark.simulation == self.simulation).then_some((mark.count, mark.value))
    }
}

/// Teaches the moves of a node what was seen from it on: those that were tried there, or all of them.
pub(crate) fn update(tree: &mut Tree, node: NodeId, n_roles: usize, seen: &Seen, takes_all: bool) {
    for role in 0..n_roles {
        let span = tree.span(node, role);
        if span.len() == 1 {
            continue;
        }
        for edge in span {
            let tried = tree.edge(edge);
            if tried.visits == 0 && !takes_all {
                continue;
            }
            if let Some((_, value)) = seen.get(role, tried.of) {
                tree.later_mut(edge).add(value);
            }
        }
    }
}

/// What a state that is referred to knows of these moves of a role. Both lists of moves are usually in order; then each is
/// walked once.
pub(crate) fn refer(
    tree: &Tree,
    reference: NodeId,
    role: usize,
    edges: &[Edge],
    into: &mut Vec<Later>,
) {
    into.clear();
    let span = tree.span(reference, role);
    let known = tree.edges(span.clone());
    let later = tree.later(span);
    let mut at = 0;
    for edge in edges {
        let n_before = known[at.min(known.len())..]
            .iter()
            .take_while(|known| known.of < edge.of)
            .count();
        at += n_before;
        let is_here = known.get(at).is_some_and(|known| known.of == edge.of);
        into.push(if is_here { later[at] } else { Later::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_engine::State;

    #[test]
    fn beta_is_as_by_hand() {
        // k = 500: all RAVE at first, a half at 500 visits, sqrt(1/31) at 5000.
        assert_eq!(beta(500.0, 0), 1.0);
        assert_eq!(beta(500.0, 500), 0.5);
        assert!((beta(500.0, 5000) - 0.179_605).abs() < 1e-6);
        assert_eq!(beta(0.0, 1), 0.0);
    }

    #[test]
    fn only_later_moves_of_the_same_role_count_and_each_once() {
        let mut tree = Tree::new(2, true, true);
        let node = tree.add_node(0, State::default(), 0);
        tree.add_moves(&[MoveId(0), MoveId(1), MoveId(2), MoveId(3)]);
        tree.add_moves(&[MoveId(0), MoveId(1)]);
        for edge in [0, 1, 2, 4] {
            tree.edge_mut(edge).add(50.0);
        }
        let mut seen = Seen::new(2);
        seen.begin();
        // From the end: role 0 makes 1, then 2 and 1 before that, and 3, which was never tried here.
        seen.add(0, MoveId(1), 90.0);
        seen.add(0, MoveId(2), 80.0);
        seen.add(0, MoveId(1), 70.0);
        seen.add(0, MoveId(3), 60.0);
        seen.add(1, MoveId(1), 10.0);
        update(&mut tree, node, 2, &seen, false);
        let later: Vec<(u32, f32)> = tree
            .later(0..6)
            .iter()
            .map(|l| (l.visits, l.mean))
            .collect();
        let nothing = (0, 0.0);
        assert_eq!(
            later,
            [nothing, (1, 90.0), (1, 80.0), nothing, nothing, nothing]
        );
        seen.begin();
        assert_eq!(seen.get(0, MoveId(1)), None);
    }
}
