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
//! GRAVE takes these statistics from the last state on the way that has enough visits and in which the role had a choice, which
//! below it serves all states with few; there all moves learn. A move that is not legal there has none.
//!
//! How soon the tree should be trusted depends on the game: where stones are put for good, a move is worth later about what it
//! is worth now; where pieces move about, it is another move. At k visits the means of RAVE are as far off by what they are about,
//! b², as those of the tree by chance, σ² / n. So k can be fitted: b² is seen where both are known well.
//!
//! In: the moves of a simulation and the values of its steps, last step first. Out: means in the tree; β, k.
//!
//! - Gelly and Silver 2007, Combining Online and Offline Knowledge in UCT
//! - Finnsson and Björnsson 2011, CadiaPlayer: Search-Control Techniques
//! - Cazenave 2015, Generalized Rapid Action Value Estimation (GRAVE)
//! - Silver 2009, Reinforcement Learning and Simulation-Based Search in Computer Go (the bias of RAVE)

use agon_engine::MoveId;

use crate::tree::{Edge, Later, NodeId, Tree};

/// Below this weight RAVE is left out.
pub(crate) const LEAST_BETA: f64 = 0.01;

/// The weight of RAVE in a state with so many visits.
#[inline]
pub(crate) fn beta(k: f64, visits: u32) -> f64 {
    (k / (3.0 * f64::from(visits) + k)).sqrt()
}

/// States with so many visits are looked at to fit k, and moves in them with so many.
const KNOWN_STATE: u32 = 2000;
const KNOWN_MOVE: u32 = 50;
/// What was assumed at first counts as so many moves that were looked at.
const ASSUMED: f64 = 4.0;
/// No k is lower.
const LEAST_K: f64 = 25.0;

/// The k that fits what the tree has seen, this one at most.
pub(crate) fn fitted_k(tree: &Tree, n_roles: usize, most: f64) -> f64 {
    // Squares of what RAVE is off by, chance apart; variances of simulations; how many of them are independent.
    let (mut squares, mut variances, mut n) = (0.0, 0.0, 0.0);
    for node in tree
        .ids()
        .filter(|&node| tree.node(node).visits >= KNOWN_STATE)
    {
        for role in 0..n_roles {
            let span = tree.span(node, role);
            let pairs = tree.edges(span.clone()).iter().zip(tree.later(span));
            let known = pairs.filter(|(edge, later)| edge.visits.min(later.visits()) >= KNOWN_MOVE);
            let known = known.map(|(edge, later)| {
                let mean = edge.mean();
                let variance = mean * (100.0 - mean);
                let by_chance = variance / f64::from(edge.visits);
                (f64::from(later.mean) - mean, variance, by_chance)
            });
            // What all are off by changes no choice.
            let (mut count, mut sum, mut square, mut chance) = (0.0, 0.0, 0.0, 0.0);
            let mut variance = 0.0;
            for (off, of_one, by_chance) in known {
                count += 1.0;
                sum += off;
                square += off * off;
                chance += by_chance;
                variance += of_one;
            }
            if count > 1.0 {
                let free = count - 1.0;
                squares += square - sum * sum / count - chance * free / count;
                variances += variance * free / count;
                n += free;
            }
        }
    }
    if n == 0.0 {
        return most;
    }
    let variance = variances / n;
    let assumed = variance / most.max(1.0);
    let bias = (squares.max(0.0) + ASSUMED * assumed) / (n + ASSUMED);
    (variance / bias).clamp(LEAST_K.min(most), most)
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

    /// k fitted to a state with two moves, tried 1000 times each, with means of 40 and 60 and these of later moves.
    fn k_by(later: [f32; 2], n_tried: u32) -> f64 {
        let mut tree = Tree::new(1, true, true);
        let node = tree.add_node(0, State::default(), 0);
        tree.add_moves(&[MoveId(0), MoveId(1)]);
        tree.node_mut(node).visits = 2000;
        for (edge, mean) in [(0, 40.0), (1, 60.0)] {
            (0..n_tried).for_each(|_| tree.edge_mut(edge).add(mean));
            *tree.later_mut(edge) = Later::new(n_tried, later[edge]);
        }
        fitted_k(&tree, 1, 500.0)
    }

    #[test]
    fn k_is_fitted_as_by_hand() {
        // Off by 15 and -15: squares of 450, of which chance is 2400 / 1000; variances are 2400, so 500 stands for a bias of 4.8.
        let expected = 2400.0 / ((447.6 + 4.0 * 4.8) / 5.0);
        let found = k_by([55.0, 45.0], 1000);
        assert!((found / expected - 1.0).abs() < 1e-3, "{found}, {expected}");
        // All off by the same, or nothing known: the k that was given.
        assert_eq!(k_by([70.0, 90.0], 1000), 500.0);
        assert_eq!(k_by([55.0, 45.0], 49), 500.0);
        assert_eq!(k_by([100.0, 0.0], 1000), LEAST_K);
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
            .map(|l| (l.visits(), l.mean))
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
