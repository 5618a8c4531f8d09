//! Which move a role tries in a state of the tree: the formulas.
//!
//! Each role chooses for itself by its own counts and means. Moves never tried come first, drawn by the playout policy or all
//! alike; then UCT takes the highest `Q + C · sqrt(ln N / n)`, with Q mixed with RAVE or replaced by AMAF where those
//! are on; what a heuristic says of moves is mixed in where there is one. Equal values are decided by chance. With urgency a
//! good move may come before those never tried. Moves of which nothing better can come than what is proven are passed over.
//! Where the playout policy leads, PUCT does all of that in its own way (`puct`).
//!
//! `sqrt` of the standard library is exact by IEEE 754 and so the same everywhere; `ln` is that of `libm`. Values of all
//! moves of a state are computed side by side (`scores`).
//!
//! - Kocsis and Szepesvári 2006, Bandit based Monte-Carlo Planning
//! - Tak, Lanctot and Winands 2014, MCTS Variants for Simultaneous Move Games (each role by itself)

use agon_engine::lanes::Choosing;
use agon_engine::{MoveId, RoleId};
use wide::f32x4;

use crate::params::{MastInTree, Params, RaveBonus, RaveKind};
use crate::policy::PlayoutPolicy;
use crate::random::Random;
use crate::scores::{Later, Scores};
use crate::techniques::puct::Puct;
use crate::techniques::{StateView, Techniques, heuristic, rave, urgency};
use crate::tree::{Edge, NodeId, RaveEntry, Tree};

/// Logarithms up to here are looked up.
const N_KNOWN: usize = 4096;

/// How moves are chosen in the tree.
pub(crate) struct Select {
    // Constant.
    params: Params,
    logs: Vec<f64>,
    // Changed now and then.
    puct: Option<Puct>,
    // Changed by each simulation: per role, the state whose statistics of later moves GRAVE uses.
    references: Vec<NodeId>,
    // Scratch: the moves of the state that were never tried, and what the reference knows of all.
    policy: PlayoutPolicy,
    fresh: Vec<u32>,
    moves: Vec<MoveId>,
    referred: Vec<RaveEntry>,
    scores: Scores,
}

impl Select {
    pub(crate) fn new(params: &Params, n_roles: usize, has_network: bool) -> Select {
        let puct = match has_network {
            true => Some(Puct::with_network(params)),
            false => Puct::new(params),
        };
        Select {
            params: params.clone(),
            puct: puct.filter(|_| n_roles > 1),
            logs: (0..N_KNOWN).map(|n| libm::log(n.max(1) as f64)).collect(),
            references: vec![NodeId::NONE; n_roles],
            policy: PlayoutPolicy::new(params),
            fresh: Vec::new(),
            moves: Vec::new(),
            referred: Vec::new(),
            scores: Scores::default(),
        }
    }

    /// How playouts choose from now on.
    pub(crate) fn learn(&mut self, choosing: &Choosing) {
        self.puct.iter_mut().for_each(|puct| puct.learn(choosing));
    }

    pub(crate) fn puct(&self) -> Option<&Puct> {
        self.puct.as_ref()
    }

    /// Whether PUCT chooses.
    #[inline]
    pub(crate) fn is_led(&self) -> bool {
        self.puct.as_ref().is_some_and(Puct::is_ready)
    }

    /// Moves of this node will be chosen.
    #[inline]
    pub(crate) fn stand(&mut self, tree: &mut Tree, node: NodeId, is_root: bool) {
        if self.params.rave == RaveKind::Grave {
            self.refer(tree, node, is_root);
        }
        if let Some(puct) = &mut self.puct {
            puct.stand(tree, node);
        }
    }

    /// Whether a state is one that those below it refer to: it has enough visits, and the role a choice, since where others move
    /// nothing is known of its moves.
    fn refer(&mut self, tree: &Tree, node: NodeId, is_root: bool) {
        let is_known = tree.node(node).visits >= self.params.grave_visits;
        for (role, reference) in self.references.iter_mut().enumerate() {
            if is_root || is_known && tree.has_choice(node, role) {
                *reference = node;
            }
        }
    }

    /// The move that a role with a choice takes in a node, by its place among its legal moves. `record` has the moves of the
    /// simulation so far.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        tree: &Tree,
        node: NodeId,
        role: usize,
        techniques: &mut Techniques,
        record: &[MoveId],
        random: &mut Random,
    ) -> usize {
        let rave_k = techniques.rave.as_ref().map_or(0.0, |rave| rave.k);
        let has_prior = match &mut techniques.heuristic {
            None => false,
            Some(heuristic) => heuristic.prior(tree, node, role).is_some(),
        };
        if !has_prior && let Some(best) = self.by_policy(tree, node, role, rave_k, random) {
            return best;
        }
        // Step 1. What was never tried comes first.
        let (edges, span) = (tree.edges(node, role), tree.span(node, role));
        let is_fresh = |edge: &Edge| edge.is_untried() && !edge.is_closed();
        let n_fresh: u32 = edges.iter().map(|edge| u32::from(is_fresh(edge))).sum();
        let n_fresh = n_fresh as usize + span.untried().len();
        let visits = tree.node(node).visits;
        let is_first = !self.params.urgency || visits < urgency::LEAST_VISITS;
        if n_fresh > 0 && (is_first || n_fresh == span.n_legal()) {
            return self.draw(tree, node, role, techniques, record, random);
        }
        // Step 2. The best of what was tried.
        if self.params.rave == RaveKind::Grave {
            rave::refer(tree, self.references[role], node, role, &mut self.referred);
        }
        let heuristic = techniques.heuristic.as_mut();
        let prior = heuristic.and_then(|heuristic| heuristic.prior(tree, node, role));
        let (best, value) = self.best(tree, node, role, rave_k, prior, random);
        // Step 3. Is it good enough to come before the others?
        if n_fresh > 0 {
            let urgency = urgency::urgency(
                self.params.exploration,
                self.ln(u64::from(visits)),
                n_fresh as f64 / span.n_legal() as f64,
                self.params.urgency_discount,
            );
            if f64::from(value) < urgency {
                return self.draw(tree, node, role, techniques, record, random);
            }
        }
        best
    }

    /// The move that PUCT takes, if it is asked.
    fn by_policy(
        &mut self,
        tree: &Tree,
        node: NodeId,
        role: usize,
        rave_k: f64,
        random: &mut Random,
    ) -> Option<usize> {
        let puct = self.puct.as_ref().filter(|puct| puct.is_ready())?;
        let beta = rave::beta(rave_k, tree.node(node).visits) as f32;
        let rave = match self.params.rave {
            RaveKind::Off | RaveKind::Amaf => (&[][..], 0.0),
            RaveKind::Rave => (tree.rave(node, role), beta),
            RaveKind::Grave => {
                rave::refer(tree, self.references[role], node, role, &mut self.referred);
                (&self.referred[..], beta)
            }
        };
        puct.choose(tree, node, role, rave, &mut self.scores, random)
    }

    /// One of the moves that were never tried.
    fn draw(
        &mut self,
        tree: &Tree,
        node: NodeId,
        role: usize,
        techniques: &mut Techniques,
        record: &[MoveId],
        random: &mut Random,
    ) -> usize {
        let (edges, span) = (tree.edges(node, role), tree.span(node, role));
        self.fresh.clear();
        for (slot, edge) in edges.iter().enumerate() {
            if edge.is_untried() && !edge.is_closed() {
                self.fresh.push(slot as u32);
            }
        }
        self.fresh.extend(edges.len() as u32..span.n_legal() as u32);
        let heuristic = techniques.heuristic.as_mut();
        if let Some(prior) = heuristic.and_then(|heuristic| heuristic.prior(tree, node, role)) {
            return highest(&self.fresh, prior, random);
        }
        if self.params.mast_in_tree == MastInTree::No || !techniques.has_policy() {
            return self.fresh[random.below(self.fresh.len() as u32) as usize] as usize;
        }
        self.moves.clear();
        let moves = self.fresh.iter();
        self.moves
            .extend(moves.map(|&slot| tree.legal(node, role, slot as usize)));
        let state = StateView {
            words: tree.state(node),
            record,
            legal: &[],
        };
        self.policy.stand(techniques, &state);
        let role = RoleId(role as u16);
        let chosen = self.policy.choose(techniques, role, &self.moves, random);
        self.fresh[chosen] as usize
    }

    /// The tried move with the highest value, and that value.
    fn best(
        &mut self,
        tree: &Tree,
        node: NodeId,
        role: usize,
        rave_k: f64,
        prior: Option<&[f32]>,
        random: &mut Random,
    ) -> (usize, f32) {
        let edges = tree.edges(node, role);
        let params = &self.params;
        let visits = tree.node(node).visits;
        let ln = self.ln(u64::from(visits));
        let prior = prior.map(|prior| (prior, heuristic::beta(params.heuristic_k, visits) as f32));
        // The bonus of a move is this over the root of its visits.
        let c = params.exploration;
        let spread = splat(c * ln.sqrt());
        let plain = |mean: f32x4, root: f32x4| (mean, spread * root);
        let scores = &mut self.scores;
        match params.rave {
            RaveKind::Off => scores.fill(edges, prior, plain),
            RaveKind::Amaf => {
                // Ary explores by trying every move once, and no further.
                let amaf = |_, _, later: Later| (later.mean, f32x4::ZERO);
                scores.fill_with_rave(edges, tree.rave(node, role), prior, amaf);
            }
            RaveKind::Rave | RaveKind::Grave => {
                let is_grave = params.rave == RaveKind::Grave;
                let rave = match is_grave {
                    true => &self.referred,
                    false => tree.rave(node, role),
                };
                let beta = rave::beta(rave_k, visits);
                if beta < rave::LEAST_BETA {
                    scores.fill(edges, prior, plain);
                    return scores.highest(edges, random);
                }
                let (beta, rest) = (splat(beta), splat(1.0 - beta));
                let mix = |mean: f32x4, later: &Later| {
                    let mix = beta * later.mean + rest * mean;
                    later.is_known.bitselect(mix, mean)
                };
                if params.rave_bonus == RaveBonus::Both && !is_grave {
                    let n_later: u64 = rave.iter().map(|entry| u64::from(entry.visits)).sum();
                    let later_spread = splat(c * ln_by(&self.logs, n_later).sqrt());
                    let both = |mean: f32x4, root: f32x4, later: Later| {
                        let bonus = beta * (later_spread * later.root) + rest * (spread * root);
                        let bonus = later.is_known.bitselect(bonus, spread * root);
                        (mix(mean, &later), bonus)
                    };
                    scores.fill_with_rave(edges, rave, prior, both);
                } else {
                    let one = |mean, root: f32x4, later: Later| (mix(mean, &later), spread * root);
                    scores.fill_with_rave(edges, rave, prior, one);
                }
            }
        }
        self.scores.highest(edges, random)
    }

    /// The natural logarithm, by its first twelve bits: to a thousandth.
    #[inline]
    fn ln(&self, n: u64) -> f64 {
        ln_by(&self.logs, n)
    }
}

#[inline]
fn splat(value: f64) -> f32x4 {
    f32x4::splat(value as f32)
}

#[inline]
fn ln_by(logs: &[f64], n: u64) -> f64 {
    let n_bits = u64::BITS - n.leading_zeros();
    let shift = n_bits.saturating_sub(N_KNOWN.trailing_zeros());
    logs[(n >> shift) as usize] + f64::from(shift) * std::f64::consts::LN_2
}

/// The one of these moves with the highest value, by chance where several have it.
fn highest(slots: &[u32], values: &[f32], random: &mut Random) -> usize {
    let (mut best, mut highest, mut n_ties) = (0, f32::NEG_INFINITY, 0);
    for &slot in slots {
        let value = values[slot as usize];
        if value > highest {
            (best, highest, n_ties) = (slot, value, 1);
        } else if value == highest {
            n_ties += 1;
            if random.below(n_ties) == 0 {
                best = slot;
            }
        }
    }
    best as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::techniques::rave::Rave;
    use crate::tree::TreeOptions;
    use crate::tree::tests::add;

    /// A node of one role whose edges have these visits and means, with as many visits as they have together.
    fn tree(edges: &[(u32, f64)], later: &[(u32, f32)]) -> (Tree, NodeId) {
        let mut tree = Tree::new(TreeOptions::dense(1));
        let node = add(&mut tree, 0, 0, &[edges.len() as u32]);
        for (edge, &(visits, mean)) in tree.edges_mut(node, 0).iter_mut().zip(edges) {
            (0..visits).for_each(|_| edge.add(1, mean));
        }
        for ((_, _, entry), &(visits, mean)) in tree.with_rave(node, 0).zip(later) {
            *entry = RaveEntry { visits, mean };
        }
        tree.node_mut(node).visits = edges.iter().map(|&(visits, _)| visits).sum();
        (tree, node)
    }

    fn params(set: &[(&str, &str)]) -> Params {
        let mut params = Params::default();
        for (name, to) in set {
            params.set(name, to).expect("it can be set");
        }
        params
    }

    /// The best tried move and its value with these settings.
    fn check(
        set: &[(&str, &str)],
        edges: &[(u32, f64)],
        later: &[(u32, f32)],
        best: usize,
        value: f64,
    ) {
        let params = params(set);
        let (tree, node) = tree(edges, later);
        let mut select = Select::new(&params, 1, false);
        let found = select.best(&tree, node, 0, params.rave_k, None, &mut Random::new(1));
        assert_eq!(found.0, best);
        assert!(
            (f64::from(found.1) - value).abs() < 1e-4,
            "{} is not {value}",
            found.1
        );
    }

    #[test]
    fn uct_is_as_by_hand() {
        // N = 10, ln 10 = 2.302585. Means 60 of 8, 40 of 2: bonuses 21.4596 and 42.9193 at C = 40.
        check(&[], &[(8, 60.0), (2, 40.0)], &[], 1, 82.9193);
        check(
            &[("exploration", "10")],
            &[(8, 60.0), (2, 40.0)],
            &[],
            0,
            65.3649,
        );
        check(
            &[("exploration", "0")],
            &[(8, 60.0), (2, 40.0)],
            &[],
            0,
            60.0,
        );
    }

    #[test]
    fn rave_is_as_by_hand() {
        // N = 500, k = 500: β = 1/2. Without exploration: (60 + 20) / 2 against (40 + 70) / 2.
        let (edges, later) = ([(400, 60.0), (100, 40.0)], [(100, 20.0), (300, 70.0)]);
        let greedy = [("rave", "rave"), ("exploration", "0")];
        check(&greedy, &edges, &later, 1, 55.0);
        // ln 500 = 6.214608, over 400 and 100 its roots are 0.124646 and 0.249291; ln 400 = 5.991465, over 100 and 300 they
        // are 0.244774 and 0.141321. At C = 40 on both parts: 40 + 20 · 0.369420 and 55 + 20 · 0.390612.
        check(&[("rave", "rave")], &edges, &later, 1, 62.8122);
        check(
            &[("rave", "rave"), ("rave_bonus", "tree")],
            &edges,
            &later,
            1,
            64.9716,
        );
        check(&[("rave", "amaf")], &edges, &later, 1, 70.0);
    }

    /// GRAVE with k = 3 and no exploration.
    fn grave() -> Params {
        Params {
            rave: RaveKind::Grave,
            rave_k: 3.0,
            exploration: 0.0,
            ..Params::default()
        }
    }

    #[test]
    fn grave_asks_a_state_in_which_the_role_had_a_choice() {
        // Role 0 moves, then role 1, then role 0 again; all with enough visits, but for the last one.
        let mut tree = Tree::new(TreeOptions::dense(2));
        let mut word = 0;
        let nodes = [[3, 1], [1, 3], [3, 1]].map(|n_moves| {
            word += 1;
            add(&mut tree, word, 0, &n_moves)
        });
        nodes[..2]
            .iter()
            .for_each(|&node| tree.node_mut(node).visits = 60);
        let mut select = Select::new(&grave(), 2, false);
        for (idx, &node) in nodes.iter().enumerate() {
            select.refer(&tree, node, idx == 0);
        }
        assert_eq!(select.references, nodes[..2]);
    }

    #[test]
    fn grave_asks_the_last_state_with_enough_visits() {
        // Above: moves 0, 1 and 3, with statistics of 10 each. Below: moves 1, 2 and 3, each tried once.
        let mut tree = Tree::new(TreeOptions::dense(1));
        let moves = [0, 1, 3].map(MoveId);
        let (above, _) = tree.get_or_insert(&[0], 0, Some(&|_| &moves[..]));
        for ((_, _, entry), mean) in tree.with_rave(above, 0).zip([90.0, 20.0, 80.0]) {
            *entry = RaveEntry { visits: 10, mean };
        }
        let moves = [1, 2, 3].map(MoveId);
        let (below, _) = tree.get_or_insert(&[1], 1, Some(&|_| &moves[..]));
        tree.edges_mut(below, 0)
            .iter_mut()
            .for_each(|edge| edge.add(1, 50.0));
        tree.node_mut(above).visits = 60;
        tree.node_mut(below).visits = 3;
        let params = grave();
        let mut select = Select::new(&params, 1, false);
        let mut techniques = Techniques {
            rave: Some(Rave::new(RaveKind::Grave, &params, 1)),
            ..Techniques::none()
        };
        let mut random = Random::new(1);
        let mut best = |select: &mut Select| {
            let chosen = select.choose(&tree, below, 0, &mut techniques, &[], &mut random);
            let (_, value) = select.best(&tree, below, 0, 3.0, None, &mut random);
            (chosen, value)
        };
        select.refer(&tree, above, true);
        select.refer(&tree, below, false);
        // N = 3 and k = 3: β = 1/2. Move 3: (80 + 50) / 2; move 1: (20 + 50) / 2; move 2 is not known above.
        let (chosen, value) = best(&mut select);
        assert_eq!(chosen, 2);
        assert!((value - 65.0).abs() < 1e-4);
        // With enough visits a state knows for itself: nothing yet.
        select.params.grave_visits = 3;
        select.refer(&tree, below, false);
        assert_eq!(best(&mut select).1, 50.0);
    }

    fn choices(set: &[(&str, &str)], edges: &[(u32, f64)]) -> Vec<usize> {
        let (tree, node) = tree(edges, &[]);
        let mut select = Select::new(&params(set), 1, false);
        let mut random = Random::new(1);
        let mut techniques = Techniques::none();
        let mut found: Vec<usize> = (0..50)
            .map(|_| select.choose(&tree, node, 0, &mut techniques, &[], &mut random))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn what_was_never_tried_comes_first_in_any_order() {
        assert_eq!(choices(&[], &[(5, 100.0), (0, 0.0), (0, 0.0)]), [1, 2]);
        assert_eq!(
            choices(&[], &[(1, 50.0), (1, 50.0)]),
            [0, 1],
            "ties by chance"
        );
    }

    #[test]
    fn urgency_lets_a_good_move_come_first() {
        // N = 5, one of three left: 50 + 40 · sqrt(1.609438) / 3 = 66.9151. The best: 80 + 40 · sqrt(ln 5 / 3) = 109.3.
        let good = [(3, 80.0), (2, 0.0), (0, 0.0)];
        let bad = [(3, 20.0), (2, 0.0), (0, 0.0)];
        assert_eq!(choices(&[("urgency", "yes")], &good), [0]);
        assert_eq!(choices(&[("urgency", "yes")], &bad), [2]);
        assert_eq!(
            choices(&[("urgency", "yes")], &[(1, 100.0), (0, 0.0)]),
            [1],
            "from the second visit on"
        );
    }

    #[test]
    fn closed_moves_are_passed_over() {
        let (mut tree, node) = tree(&[(8, 90.0), (2, 10.0), (0, 0.0)], &[]);
        let mut select = Select::new(&Params::default(), 1, false);
        let mut techniques = Techniques::none();
        let mut random = Random::new(1);
        let mut choose =
            |tree: &Tree| select.choose(tree, node, 0, &mut techniques, &[], &mut random);
        tree.edges_mut(node, 0)[0].close(true);
        tree.edges_mut(node, 0)[2].close(true);
        assert_eq!(choose(&tree), 1);
        tree.edges_mut(node, 0)[1].close(true);
        assert_eq!(choose(&tree), 0);
    }
}
