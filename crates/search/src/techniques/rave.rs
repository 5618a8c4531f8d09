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
//! AMAF, all moves as first, is the other extreme: the tree is descended by these means alone, unexplored moves first, and the
//! final move is the one with the highest. A move counts as often as it is made, and moves that were never tried learn too.
//!
//! In: the moves of the playouts of a leaf, and their values. Out: means in the tree; β, k.
//!
//! - Gelly and Silver 2007, Combining Online and Offline Knowledge in UCT
//! - Finnsson and Björnsson 2011, CadiaPlayer: Search-Control Techniques
//! - Cazenave 2015, Generalized Rapid Action Value Estimation (GRAVE)
//! - Silver 2009, Reinforcement Learning and Simulation-Based Search in Computer Go (the bias of RAVE)
//! - Brügmann 1993, Monte Carlo Go; Méhat and Cazenave 2008, Monte-Carlo Tree Search for General Game Playing (AMAF)

use agon_engine::{Game, MoveId};

use super::{Facts, Technique};
use crate::account::{RaveAccount, TechniqueAccount};
use crate::params::{Params, RaveKind};
use crate::simulation::Simulation;
use crate::tree::{NodeId, RaveEntry, Tree};

/// Below this weight RAVE is left out.
pub(crate) const LEAST_BETA: f64 = 0.01;

/// The weight of RAVE in a state with this number of visits.
#[inline]
pub(crate) fn beta(k: f64, visits: u32) -> f64 {
    (k / (3.0 * f64::from(visits) + k)).sqrt()
}

/// Least visits of the states that are looked at to fit k, and of the moves in them.
const KNOWN_STATE: u32 = 2000;
const KNOWN_MOVE: u32 = 50;
/// What was assumed at first counts as this number of moves that were looked at.
const ASSUMED: f64 = 4.0;
/// No k is lower.
const LEAST_K: f64 = 25.0;

/// The k that fits what the tree has seen, this one at most.
pub(crate) fn fitted_k(tree: &Tree, most: f64) -> f64 {
    // Squares of what RAVE is off by, chance apart; variances of simulations; how many of them are independent.
    let (mut squares, mut variances, mut n) = (0.0, 0.0, 0.0);
    for node in tree
        .ids()
        .filter(|&node| tree.node(node).visits >= KNOWN_STATE)
    {
        for role in 0..tree.n_roles() {
            let pairs = tree.edges(node, role).iter().zip(tree.rave(node, role));
            let known = pairs.filter(|(edge, later)| edge.visits.min(later.visits) >= KNOWN_MOVE);
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

/// Teaches moves of the tree what they were worth when they were made later.
#[derive(Clone)]
pub(crate) struct Rave {
    kind: RaveKind,
    /// k as it was set, whether it is fitted to the game, and as it is.
    most_k: f64,
    is_fitted: bool,
    pub(crate) k: f64,
    /// Per role and move: what was seen from the leaf at hand.
    marks: Vec<Vec<Mark>>,
    leaf: u32,
    sample: u32,
    /// Per role: the sum of the values of the samples at the level at hand.
    sums: Vec<f64>,
}

/// What was seen of a move from the leaf with this number, if it is the one at hand.
#[derive(Clone, Copy, Default)]
struct Mark {
    leaf: u32,
    /// The last sample in which it was made.
    sample: u32,
    n: u32,
    sum: f32,
}

impl Rave {
    pub(crate) fn new(kind: RaveKind, params: &Params, n_roles: usize) -> Rave {
        Rave {
            kind,
            most_k: params.rave_k,
            is_fitted: params.rave_fit && kind == RaveKind::Rave,
            k: params.rave_k,
            marks: vec![Vec::new(); n_roles],
            leaf: 0,
            sample: 0,
            sums: vec![0.0; n_roles],
        }
    }

    /// If the parameters ask for it.
    pub(crate) fn for_game(game: &Game, params: &Params) -> Option<Rave> {
        (params.rave != RaveKind::Off).then(|| Rave::new(params.rave, params, game.n_roles()))
    }

    /// Fits k to what the tree has seen, if it should be.
    pub(crate) fn fit(&mut self, tree: &Tree) {
        if self.is_fitted {
            self.k = fitted_k(tree, self.most_k);
        }
    }

    /// Another leaf: nothing was seen from it yet.
    fn begin(&mut self) {
        self.leaf = self.leaf.wrapping_add(1);
        if self.leaf == 0 {
            // Marks of 2³² leaves ago would look like new ones.
            self.marks.iter_mut().for_each(Vec::clear);
            self.leaf = 1;
        }
    }

    /// The role made this move in the sample at hand; later moves come first.
    #[inline]
    fn add(&mut self, role: usize, mv: MoveId, value: f32) {
        let (sample, is_once) = (self.sample, self.kind != RaveKind::Amaf);
        let mark = self.mark(role, mv);
        if is_once && mark.sample == sample {
            return;
        }
        mark.sample = sample;
        mark.n += 1;
        mark.sum += value;
    }

    /// The role made this move on the way to the leaf, so in all of `n` samples, whose values have this sum.
    #[inline]
    fn add_to_all(&mut self, role: usize, mv: MoveId, n: u32, sum: f32) {
        let is_once = self.kind != RaveKind::Amaf;
        let mark = self.mark(role, mv);
        if is_once {
            (mark.n, mark.sum) = (n, sum);
        } else {
            (mark.n, mark.sum) = (mark.n + n, mark.sum + sum);
        }
    }

    #[inline]
    fn mark(&mut self, role: usize, mv: MoveId) -> &mut Mark {
        let marks = &mut self.marks[role];
        let idx = mv.0 as usize;
        if idx >= marks.len() {
            marks.resize((idx + 1).next_power_of_two(), Mark::default());
        }
        let mark = &mut marks[idx];
        if mark.leaf != self.leaf {
            *mark = Mark {
                leaf: self.leaf,
                sample: self.sample.wrapping_sub(1),
                n: 0,
                sum: 0.0,
            };
        }
        mark
    }

    /// Teaches the moves of a node what was seen from it on: those that were tried there, or all of them.
    fn teach(&self, tree: &mut Tree, node: NodeId) {
        let takes_all = self.kind != RaveKind::Rave;
        for role in 0..tree.n_roles() {
            let marks = &self.marks[role];
            for (mv, edge, entry) in tree.with_rave(node, role) {
                if edge.is_untried() && !takes_all {
                    continue;
                }
                let mark = marks.get(mv.0 as usize);
                if let Some(mark) = mark.filter(|mark| mark.leaf == self.leaf) {
                    entry.add(mark.n, mark.sum);
                }
            }
        }
    }
}

impl Technique for Rave {
    fn observe(&mut self, tree: &mut Tree, simulation: &Simulation<'_>) {
        let n_roles = simulation.n_roles();
        self.begin();
        let mut n = 0;
        self.sums.fill(0.0);
        for (values, steps, made) in simulation.samples() {
            n += 1;
            self.sample = self.sample.wrapping_add(1);
            let factor = simulation.powers.get(steps as usize);
            for (sum, value) in self.sums.iter_mut().zip(values) {
                *sum += value * factor;
            }
            for made in made.iter().rev() {
                let role = usize::from(made.role);
                let value = values[role] * simulation.powers.get(usize::from(made.to_go));
                self.add(role, made.mv, value as f32);
            }
        }
        if simulation.settled.is_some() {
            n = simulation.visits;
            self.sums.copy_from_slice(simulation.sums);
        }
        if n == 0 {
            return;
        }
        self.teach(tree, simulation.leaf);
        for (level, &node) in simulation.nodes.iter().enumerate().rev() {
            for role in 0..n_roles {
                if tree.has_choice(node, role) {
                    let mv = simulation.record[level * n_roles + role];
                    self.add_to_all(role, mv, n, self.sums[role] as f32);
                }
            }
            self.teach(tree, node);
            let discount = simulation.powers.discount();
            self.sums.iter_mut().for_each(|sum| *sum *= discount);
        }
    }

    fn account(&self, facts: &Facts<'_>) -> TechniqueAccount {
        TechniqueAccount::Rave(RaveAccount {
            kind: self.kind,
            weight: beta(self.k, facts.tree.node(facts.root).visits),
            k: self.k,
        })
    }
}

/// What a state that is referred to knows of the moves of a role in another one, for GRAVE. Moves of both are in order, since
/// a tree with GRAVE is dense; each list is walked once.
pub(crate) fn refer(
    tree: &Tree,
    reference: NodeId,
    node: NodeId,
    role: usize,
    into: &mut Vec<RaveEntry>,
) {
    into.clear();
    let mut known = tree
        .legal_moves(reference, role)
        .zip(tree.rave(reference, role))
        .peekable();
    for mv in tree.legal_moves(node, role) {
        while known.next_if(|(known, _)| *known < mv).is_some() {}
        let here = known.peek().filter(|(known, _)| *known == mv);
        into.push(here.map_or(RaveEntry::default(), |(_, entry)| **entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeOptions;
    use crate::tree::tests::add;

    #[test]
    fn beta_is_as_by_hand() {
        // k = 500: all RAVE at first, a half at 500 visits, sqrt(1/31) at 5000.
        assert_eq!(beta(500.0, 0), 1.0);
        assert_eq!(beta(500.0, 500), 0.5);
        assert!((beta(500.0, 5000) - 0.179_605).abs() < 1e-6);
        assert_eq!(beta(0.0, 1), 0.0);
    }

    /// k fitted to a state with two moves, tried this many times each, with means of 40 and 60 and these of later moves.
    fn k_by(later: [f32; 2], n_tried: u32) -> f64 {
        let mut tree = Tree::new(TreeOptions::dense(1));
        let node = add(&mut tree, 0, 0, &[2]);
        tree.node_mut(node).visits = 2000;
        for (slot, mean) in [40.0, 60.0].into_iter().enumerate() {
            (0..n_tried).for_each(|_| tree.edges_mut(node, 0)[slot].add(1, mean));
        }
        for ((_, _, entry), mean) in tree.with_rave(node, 0).zip(later) {
            entry.add(n_tried, mean * n_tried as f32);
        }
        fitted_k(&tree, 500.0)
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

    fn entries(tree: &Tree, node: NodeId, role: usize) -> Vec<(u32, f32)> {
        let entries = tree.rave(node, role).iter();
        entries.map(|entry| (entry.visits, entry.mean)).collect()
    }

    #[test]
    fn only_later_moves_of_the_same_role_count_and_each_once() {
        let mut tree = Tree::new(TreeOptions::dense(2));
        let node = add(&mut tree, 0, 0, &[4, 2]);
        for (role, slot) in [(0, 0), (0, 1), (0, 2), (1, 0)] {
            tree.edges_mut(node, role)[slot].add(1, 50.0);
        }
        let mut rave = Rave::new(RaveKind::Rave, &Params::default(), 2);
        rave.begin();
        rave.sample = 1;
        // From the end: role 0 makes 1, then 2 and 1 before that, and 3, which was never tried here.
        rave.add(0, MoveId(1), 90.0);
        rave.add(0, MoveId(2), 80.0);
        rave.add(0, MoveId(1), 70.0);
        rave.add(0, MoveId(3), 60.0);
        rave.add(1, MoveId(1), 10.0);
        rave.teach(&mut tree, node);
        let nothing = (0, 0.0);
        let expected = [nothing, (1, 90.0), (1, 80.0), nothing];
        assert_eq!(entries(&tree, node, 0), expected);
        assert_eq!(entries(&tree, node, 1), [nothing; 2]);
        rave.begin();
        rave.teach(&mut tree, node);
        assert_eq!(entries(&tree, node, 0), expected, "another leaf");
    }

    #[test]
    fn with_amaf_all_times_of_all_moves_count() {
        let mut tree = Tree::new(TreeOptions::dense(1));
        let node = add(&mut tree, 0, 0, &[3]);
        let mut rave = Rave::new(RaveKind::Amaf, &Params::default(), 1);
        for value in [100.0, 40.0] {
            rave.begin();
            rave.sample += 1;
            rave.add(0, MoveId(1), value);
            if value == 100.0 {
                rave.add(0, MoveId(1), value);
                rave.add(0, MoveId(2), value);
            }
            rave.teach(&mut tree, node);
        }
        // Move 1: twice 100 and once 40, which is 80.
        assert_eq!(entries(&tree, node, 0), [(0, 0.0), (3, 80.0), (1, 100.0)]);
    }

    #[test]
    fn samples_are_put_together_before_the_way_is_walked() {
        // Two samples: the first makes move 1 twice and move 2, the second move 1; then move 2 is on the way.
        for (kind, expected) in [
            (RaveKind::Grave, [(0, 0.0), (2, 40.0), (2, 40.0)]),
            (
                RaveKind::Amaf,
                [(0, 0.0), (3, 140.0 / 3.0), (3, 140.0 / 3.0)],
            ),
        ] {
            let mut tree = Tree::new(TreeOptions::dense(1));
            let node = add(&mut tree, 0, 0, &[3]);
            let mut rave = Rave::new(kind, &Params::default(), 1);
            rave.begin();
            rave.sample = 1;
            for (mv, value) in [(1, 60.0), (2, 60.0), (1, 60.0)] {
                rave.add(0, MoveId(mv), value);
            }
            rave.sample = 2;
            rave.add(0, MoveId(1), 20.0);
            rave.add_to_all(0, MoveId(2), 2, 80.0);
            rave.teach(&mut tree, node);
            assert_eq!(entries(&tree, node, 0), expected, "{kind:?}");
        }
    }
}
